"""Kill −9 at random moments: a process of its own, so that what it forks has one thread and everything loaded.

`python killing.py FOLDER KIND FIRST COUNT` prints a line of JSON for each run.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from discreet.core import DiscreetError
from discreet.gate import Gate, Ledger
from faults.checker import Findings, agreed, compared, examined, noted
from faults.spending import BUDGETS, draw_for, spawned

#: Who spends at the same time, and for how long they do at most, in seconds.
WORKERS, LONGEST = 8, 0.15


def run(folder: Path, kind: str, number: int) -> dict:
    """Let eight processes spend, kill some or all, once or twice; return what was found afterwards."""
    chance = random.Random(f"kill {number}")
    currency = sorted(BUDGETS)[number % len(BUDGETS)]
    os.environ["DISCREET_STATE"] = str(folder / "state")
    path = folder / "clinic.ledger"
    Ledger.create(path, BUDGETS[currency][0]).close()
    killed, unwell = 0, 0
    for generation in range(chance.choice([1, 1, 2])):
        children = [
            spawned(path, kind, currency, f"w{generation}{index}", f"{number} {generation} {index}")
            for index in range(WORKERS)
        ]
        one, other = _killed(chance, folder, children)
        killed, unwell = killed + one, unwell + other
    notes = noted(folder)
    found = examined(path)
    compared(found, notes)
    found.need(not unwell, "no worker hangs or dies of itself")
    errors = sorted({note["error"] for note in notes if note["kind"] == "failed"})
    found.violations += [f"no worker fails: {error}" for error in errors]
    report = {
        "number": number,
        "currency": currency,
        "killed": killed,
        "payments": len(found.payments),
        "releases": len(found.releases),
        "orphans": len(found.orphans),
        "refused": sum(note["kind"] == "refused" for note in notes),
    }
    _reopened(path, currency, found)
    return {**report, "violations": sorted(set(found.violations))}


def _killed(chance: random.Random, folder: Path, children: list) -> tuple:
    """Kill some or all after a while; return how many were, and how many of the others ended badly."""
    late = chance.random() < 0.8
    while late and not any(log.stat().st_size for log in folder.glob("*.log")):
        time.sleep(0.001)  # a slow machine should not make all kills early ones
    time.sleep(chance.uniform(0, LONGEST))
    doomed = chance.sample(children, chance.choice([WORKERS, WORKERS, WORKERS, 1, 3, 6]))
    for child in doomed:
        os.kill(child, signal.SIGKILL)
        time.sleep(chance.choice([0, 0, 0.001, 0.01]))
    ended = {child: os.waitpid(child, 0)[1] for child in children}
    by_us = sum(os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL for status in ended.values())
    unwell = [status for status in ended.values() if os.WIFSIGNALED(status) and os.WTERMSIG(status) != signal.SIGKILL]
    return by_us, len(unwell)


def _reopened(path: Path, currency: str, found: Findings) -> None:
    """Open what is left, and run what was paid for and not answered: for free, and once."""
    try:
        with Ledger.open(path) as ledger:
            agreed(path, found, ledger)
            before = ledger.spent
            ledger.review(by="steward", reason="workers were killed")
            gate = Gate(ledger, [1, 2, 3], analyst="team")
            for request in found.orphans:
                gate.release(draw_for(request, currency), request=request)
            found.need(ledger.spent == before, "an orphan is run again at no cost")
            found.need(not list(ledger.orphans()), "an orphan that was run is none")
            slots = [one for one in Path(f"{path}-queue").iterdir() if one.name.startswith("slot-")]
            found.need(len(slots) == 1 or not found.orphans, "the slots of the dead are swept")
    except DiscreetError as error:
        found.violations.append(f"the ledger opens: {error.problem}")
        return
    later = examined(path)
    found.violations += later.violations
    same = {number: later.answers.get(number) for number in found.answers} == found.answers
    found.need(same and not later.orphans, "what was answered stays as it was")


def main() -> None:
    place, kind, first, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    for number in range(first, first + count):
        folder = place / f"run-{number}"
        folder.mkdir(parents=True)
        report = run(folder, kind, number)
        print(json.dumps(report), flush=True)
        if not report["violations"]:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
