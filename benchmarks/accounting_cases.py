"""One random mechanism, what everybody says of it, and who is wrong where two disagree."""

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from accounting import OURS, ours_both
from accounting_peers import Answer, Google, Microsoft, Way
from accounting_truth import ROUNDING, fault, true_epsilon
from accounting_workloads import Workload

#: Seconds of processor time for one question, to a peer or to the oracle.
PATIENCE = 15.0
#: Grid and error that the peers are asked for, as a share of ε; and the least of each.
GRID_SHARE, ERROR_SHARE = 2e-4, 0.01
FINEST_GRID, FINEST_ERROR = 1e-5, 1e-3
#: What the settings fit where we have no answer.
GUESS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A mechanism, its truth where the oracle reaches, and who said what."""

    workload: Workload
    truth: float | None
    ours: Answer
    theirs: dict[str, Answer]


class TooSlow(Exception):
    """Patience ran out."""


def patiently(work: Callable[[], object]) -> object | None:
    """Return what the work returns, or None if it takes too long, fails or cannot be asked."""

    def give_up(*_):
        raise TooSlow

    signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        return work()
    except Exception:  # noqa: BLE001, who fails has no say, and is counted
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def sweep_ways(peers: list[object], guess: float) -> Iterator[Way]:
    """Yield the peers at settings that fit the size of the answer."""
    for each in peers:
        if isinstance(each, Google):
            grid = max(FINEST_GRID, guess * GRID_SHARE)
            yield Way(peer="dp_accounting PLD", setting="", ask=each.upper(grid))
            yield Way(peer="dp_accounting PLD", setting="optimistic", ask=each.lower(grid))
            yield Way(peer="dp_accounting RDP", setting="", ask=each.renyi)
        if isinstance(each, Microsoft):
            yield Way(peer="prv_accountant", setting="", ask=each.within(max(FINEST_ERROR, guess * ERROR_SHARE)))


def examine(workload: Workload, peers: list[object]) -> Case:
    loss, delta = workload.loss, workload.delta
    mine = patiently(lambda: ours_both(loss, delta)) or Answer(None, None)
    ways = sweep_ways(peers, mine.upper or GUESS)
    answers = {way.name: patiently(lambda way=way: way.ask(loss, delta)) for way in ways}
    return Case(
        workload=workload,
        truth=patiently(lambda: true_epsilon(loss, delta)),
        ours=mine,
        theirs={name: answer for name, answer in answers.items() if answer is not None},
    )


def apart(first: Answer, second: Answer) -> bool:
    """Return whether two answers cannot both be right."""
    pairs = ((first.lower, second.upper), (second.lower, first.upper))
    return any(a is not None and b is not None and a > b + ROUNDING * max(b, 1) for a, b in pairs)


def disputed(case: Case, answer: Answer) -> bool:
    """Return whether an answer of a peer contradicts ours or the oracle."""
    return apart(case.ours, answer) or (case.truth is not None and bool(fault(answer, case.truth)))


def verdict(case: Case, answer: Answer) -> str:
    """Return who is wrong."""
    if case.truth is None:
        return "the oracle does not reach"
    said = ((OURS, case.ours), ("the peer", answer))
    wrong = [f"{who} {found}" for who, each in said if (found := fault(each, case.truth))]
    return ", ".join(wrong) or "neither, by the oracle"
