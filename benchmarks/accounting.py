"""Accounting: ε of five workloads and five hard cases, by ours and the peers' accountants, in one run."""

import argparse
import logging
import os
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from accounting_alone import Trial, alone
from accounting_peers import Answer, Unsupported, Way, find_peers
from accounting_truth import ROUNDING, fault, true_epsilon
from accounting_workloads import HARD, WORKLOADS, Workload
from measure import ALLOWANCE, Bar, Contestant, Report, Table, finish, publish, race, ratio, say

from discreet.accounting import PrivacyLoss, bracket, epsilon

OURS = "discreet"
#: A bound is as tight as wanted if it exceeds the true ε by less than this share.
TIGHT, FASTER = 1e-3, 10
#: Works that are shorter than this, in seconds, are done once before each turn, whosever they are.
BRIEF = 0.05
#: How many per cent a bound may seem to be on the wrong side of the truth, which the oracle knows to so many digits.
LEAST = -100 * ROUNDING
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
TERMS = (
    "Processor time of one thread, best of several turns, all in one process, everything computed afresh; whoever "
    "takes less than 50 ms does it once, untimed, before each turn. The true ε "
    "is that of the contour integral in `tests/contour.py`, which shares nothing with any accountant. The peers have "
    "no word for the exponential mechanism: they get the distribution function of its privacy loss by their own means "
    "of extension. The last column says which bounds the oracle finds wrong. A dash: not said, or not supported."
)
#: What is asked of the hard cases: each peer's defaults, and one finer setting.
HARD_SETTINGS = ("", "grid 0.001", "grid 0.0001", "error 0.1", "error 0.01", "more orders")


def ours(loss: PrivacyLoss, delta: float) -> Answer:
    return Answer(None, epsilon(loss, delta))


def ours_both(loss: PrivacyLoss, delta: float) -> Answer:
    found = bracket(loss, delta)
    return Answer(found.lower, found.upper)


OUR_WAYS = (
    Way(peer=OURS, setting="", ask=ours),
    Way(peer=OURS, setting="with lower bound", ask=ours_both),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one way said about a workload, and how long it took."""

    way: Way
    answer: Answer
    seconds: float

    def tight(self, truth: float) -> bool:
        """Whether it is a bound, and close to the truth."""
        upper = self.answer.upper
        return not self.way.approximation and upper is not None and -ROUNDING <= upper / truth - 1 <= TIGHT


def run(workload: Workload, ways: Iterable[Way]) -> list[Result]:
    """Ask everybody who can answer; those who are quick enough race for their best times."""
    first = [result for way in ways if (result := once(way, workload))]
    quick = [each.way for each in first if each.seconds < ALLOWANCE]
    works = [Contestant(name=way.name, work=partial(way.ask, workload.loss, workload.delta)) for way in quick]
    best = race(works, warm=BRIEF)
    return [
        Result(way=each.way, answer=each.answer, seconds=best.get(each.way.name, each.seconds * 1e9) / 1e9)
        for each in first
    ]


def once(way: Way, workload: Workload) -> Result | None:
    start = time.process_time()
    try:
        answer = way.ask(workload.loss, workload.delta)
    except Unsupported:
        return None
    except Exception as error:  # noqa: BLE001, one peer's failure is no reason to stop
        say(f"  {way.name}: {type(error).__name__}: {error}")
        return None
    return Result(way=way, answer=answer, seconds=time.process_time() - start)


def digits(number: float | None) -> str | None:
    """Return a figure with the digits that the comparison is about."""
    return None if number is None else f"{number:.5f}"


def above(upper: float | None, truth: float) -> str | None:
    """Return by how many per cent a bound exceeds the truth, as text."""
    return None if upper is None else f"{100 * (upper / truth - 1):+.4f} %".replace("-", "−")


def compare(workload: Workload, peers: Sequence[Way]) -> tuple[Table, list[Bar]]:
    say(workload.name)
    truth = true_epsilon(workload.loss, workload.delta)
    results = run(workload, (*OUR_WAYS, *peers))
    mine = results[0].seconds
    rows = tuple(
        (
            each.way.name + ", an approximation" * each.way.approximation,
            digits(each.answer.lower),
            digits(each.answer.upper),
            above(each.answer.upper, truth),
            each.seconds * 1e3,
            each.seconds / mine,
            fault(each.answer, truth),
        )
        for each in results
    )
    table = Table(
        title=workload.name,
        note=f"δ = {workload.delta:g}. The true ε is {truth:.6f}.",
        columns=("accountant", "ε at least", "ε at most", "above the truth", "ms", f"÷ {OURS}", "oracle"),
        rows=rows,
    )
    return table, bars(workload.name, truth, results)


def bars(name: str, truth: float, results: Sequence[Result]) -> list[Bar]:
    """Return the bars of a workload: tight, inside its bracket, above all lower bounds, and fast."""
    quick, both, *others = results
    upper, lower = quick.answer.upper, both.answer.lower
    lowers = [each.answer.lower for each in others if each.answer.lower is not None and not fault(each.answer, truth)]
    fastest = min((each.seconds for each in others if each.tight(truth)), default=None)
    most = 100 * TIGHT
    return [
        Bar(claim=f"{name}: our ε above the truth, %", measured=share(upper, truth), least=LEAST, most=most),
        Bar(claim=f"{name}: our ε above our lower bound, %", measured=share(upper, lower), least=0, most=most),
        Bar(claim=f"{name}: the truth above our lower bound, %", measured=share(truth, lower), least=LEAST),
        Bar(claim=f"{name}: our ε less the peers' best lower bound", measured=_less(upper, lowers), least=0),
        Bar(claim=f"{name}: fastest peer as tight ÷ {OURS}", measured=ratio(fastest, quick.seconds), least=FASTER),
    ]


def share(greater: float | None, smaller: float | None) -> float | None:
    """Return by how many per cent one figure exceeds another."""
    return 100 * (greater / smaller - 1) if greater is not None and smaller else None


def _less(upper: float, lowers: Sequence[float]) -> float | None:
    return upper - max(lowers) if lowers else None


def compare_hard(workload: Workload, peers: Sequence[Way]) -> tuple[Table, list[Bar]]:
    say(workload.name)
    truth = true_epsilon(workload.loss, workload.delta)
    asked = [*OUR_WAYS, *(way for way in peers if way.setting in HARD_SETTINGS)]
    trials = [(way, alone(way.ask, workload.loss, workload.delta)) for way in asked]
    table = Table(
        title=f"Hard: {workload.name}",
        note=f"δ = {workload.delta:g}. The true ε is {truth:.6f}. Each in a process of its own.",
        columns=("accountant", "ε at least", "ε at most", "above the truth", "seconds", "MB", "oracle"),
        rows=tuple(hard_row(way, trial, truth) for way, trial in trials if trial.failure != "not supported"),
    )
    found, name = trials[1][1].answer, f"hard, {workload.name}"
    return table, [
        Bar(claim=f"{name}: our ε above the truth, %", measured=share(found.upper, truth), least=LEAST),
        Bar(claim=f"{name}: the truth above our lower bound, %", measured=share(truth, found.lower), least=LEAST),
    ]


def hard_row(way: Way, trial: Trial, truth: float) -> tuple[str | float | None, ...]:
    name = way.name + ", an approximation" * way.approximation
    if trial.failure:
        return (name, None, None, trial.failure, None, None, "")
    answer = trial.answer
    return (
        name,
        digits(answer.lower),
        digits(answer.upper),
        above(answer.upper, truth),
        trial.seconds,
        trial.megabytes,
        fault(answer, truth),
    )


def on_one_thread() -> None:
    """Start again with one thread for each library, or the processor time would be that of the cores at hand."""
    if any(os.environ.get(name) != "1" for name in THREADS):
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | dict.fromkeys(THREADS, "1"))  # noqa: S606


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="end with an error if a bar is missed")
    parser.add_argument("--quick", action="store_true", help="only settings that are done in a few seconds")
    options = parser.parse_args()
    on_one_thread()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)  # the peers' remarks on their own rounding
    ways = [way for each in find_peers() for way in each.ways()]
    if options.quick:
        ways = [way for way in ways if not way.setting.endswith(("e-05", "error 0.003", "error 0.001"))]
    # The hard cases first: what this process has freed again would be lent to its children, and not be counted there.
    hard = [compare_hard(workload, ways) for workload in HARD]
    parts = [compare(workload, ways) for workload in WORKLOADS] + hard
    result = Report(
        title="Accounting",
        command="python benchmarks/accounting.py" + " --quick" * options.quick,
        packages=("discreet", "numpy", "scipy", "dp-accounting", "prv-accountant", "opacus", "torch"),
        tables=tuple(table for table, _ in parts),
        bars=tuple(bar for _, bars in parts for bar in bars),
        remarks=(TERMS,),
    )
    publish(result, "accounting")
    finish(result, check=options.check)


if __name__ == "__main__":
    main()
