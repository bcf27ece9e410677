"""Plants bugs and says which are caught: `make mutants`, `make quick-mutants`.

A bug changes one place in a copy of the package. A planted bug that survives is a claim without a test.
"""

import math
import sys
from collections.abc import Sequence

from mutants.changed_code import make_bugs
from mutants.choice import choose
from mutants.compiled import COMPILED_MUTANTS
from mutants.mutant import Mutant
from mutants.planted import PLANTED
from mutants.trials import SOURCE, hatch_build, run_trials

#: A quick run plants no more bugs after so many seconds; the order is drawn by the commit.
QUICK_SECONDS = 8 * 60
#: A run of all bugs tries so many at random besides.
RANDOM_BUGS = 30


def main(words: list[str]) -> int:
    """Plant the bugs whose description holds the given words, all of them without words.

    `--quick` plants a choice, `--random N` makes bugs at random in code that has changed.
    """
    match words:
        case ["--quick"]:
            chosen, why = choose(PLANTED)
            print(f"{len(chosen)} of {len(PLANTED)} planted bugs: {why}", flush=True)
            return _report(chosen, QUICK_SECONDS)
        case ["--random", number]:
            return _try_random(int(number))
        case []:
            return _report(PLANTED, math.inf) or _try_random(RANDOM_BUGS)
        case _:
            return _report([mutant for mutant in PLANTED if " ".join(words) in mutant.bug], math.inf)


def _report(chosen: Sequence[Mutant], seconds: float) -> int:
    """Plant bugs, print which are caught, and return 1 if one is not."""
    if not any(hatch_build.library_of(path).exists() for path in SOURCE.rglob("*.c")):
        print("Nothing is compiled: bugs in compiled parts are left out. fix: make compiler, then make setup")
        chosen = [mutant for mutant in chosen if mutant not in COMPILED_MUTANTS]
    survivors, planted = _plant_all(chosen, seconds)
    if planted < len(chosen):
        print(f"{len(chosen) - planted} of the chosen bugs were not planted: a quick run takes {seconds} seconds")
    print(f"{planted - len(survivors)} passed, {len(survivors)} failed")
    return 1 if survivors or not chosen else 0


def _try_random(count: int) -> int:
    """Make bugs at random and list those that no test of their files has caught."""
    bugs, why = make_bugs(PLANTED, count)
    print(why, flush=True)
    survivors, planted = _plant_all(bugs, math.inf)
    print(f"{planted - len(survivors)} caught, {len(survivors)} to be looked at: a hole, or nothing to be observed")
    return 0


def _plant_all(chosen: Sequence[Mutant], seconds: float) -> tuple[list[Mutant], int]:
    """Plant bugs for some seconds, print each outcome, and return those that survived and how many were planted."""
    survivors, planted = [], 0
    for mutant, caught, duration in run_trials(chosen, seconds):
        planted += 1
        if not caught:
            survivors.append(mutant)
        print(f"{'caught  ' if caught else 'SURVIVED'} {duration:5.1f} s  {mutant.bug}", flush=True)
    for mutant in survivors:  # once more, at the end, where they are seen
        print(f"SURVIVED  {mutant.bug}: {mutant.place}, guarded by {mutant.tests}")
    return survivors, planted


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
