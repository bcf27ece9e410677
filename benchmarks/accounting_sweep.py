"""A random sweep: ours beside the peers' accountants; where two disagree, the oracle says who is wrong."""

import argparse
import logging
import signal
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from accounting import OURS, ours_both
from accounting_draws import Draws
from accounting_peers import Answer, Google, Microsoft, Way, find_peers
from accounting_truth import ROUNDING, fault, true_epsilon
from accounting_workloads import Workload
from measure import Bar, Report, Table, finish, publish, say

from discreet.accounting import Composed, PrivacyLoss, RandomisedResponse, Repeated, epsilon

SEED, COUNT = 3, 300
#: Seconds of processor time for one question, to a peer or to the oracle.
PATIENCE = 20.0
#: Grid and error that the peers are asked for, as a share of ε; and the least of either.
GRID_SHARE, ERROR_SHARE, FINEST = 2e-4, 0.01, 1e-5


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
    except Exception:  # noqa: BLE001, a peer that fails has no say
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A mechanism, its truth where the oracle reaches, and who said what."""

    workload: Workload
    truth: float | None
    ours: Answer
    theirs: dict[str, Answer]


def sweep_ways(peers: list[object], guess: float) -> Iterator[Way]:
    """Yield the peers at settings that fit the size of the answer."""
    for each in peers:
        if isinstance(each, Google):
            grid = max(FINEST, guess * GRID_SHARE)
            yield Way(peer="dp_accounting PLD", setting="", ask=each.upper(grid))
            yield Way(peer="dp_accounting PLD", setting="optimistic", ask=each.lower(grid))
            yield Way(peer="dp_accounting RDP", setting="", ask=each.renyi)
        if isinstance(each, Microsoft):
            yield Way(peer="prv_accountant", setting="", ask=each.within(max(1e-3, guess * ERROR_SHARE)))


def examine(workload: Workload, peers: list[object]) -> Case:
    loss, delta = workload.loss, workload.delta
    mine = ours_both(loss, delta)
    answers = {way.name: patiently(lambda way=way: way.ask(loss, delta)) for way in sweep_ways(peers, mine.upper)}
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


def verdict(case: Case, answer: Answer) -> str:
    """Return who is wrong where an answer and ours are apart."""
    if case.truth is None:
        return "the oracle does not reach"
    said = ((OURS, case.ours), ("the peer", answer))
    wrong = [f"{who} {found}" for who, each in said if (found := fault(each, case.truth))]
    return ", ".join(wrong) or "neither, by the oracle"


def by_kind(cases: list[Case]) -> Table:
    rows = []
    for kind in dict.fromkeys(case.workload.name for case in cases):
        those = [case for case in cases if case.workload.name == kind]
        known = [case for case in those if case.truth]
        excess = [100 * (case.ours.upper / case.truth - 1) for case in known]
        width = [100 * (case.ours.upper / case.ours.lower - 1) for case in those if case.ours.lower]
        rows.append(
            (
                kind,
                str(len(those)),
                str(len(known)),
                str(sum(not fault(case.ours, case.truth) for case in known)),
                *((float(np.median(excess)), max(excess)) if known else (None, None)),
                *((float(np.median(width)), max(width)) if width else (None, None)),
            )
        )
    return Table(
        title="Ours",
        note="Per cent by which our ε exceeds the truth, and our lower bound: the median and the most.",
        columns=(
            "kind",
            "drawn",
            "known to the oracle",
            "truth in our bracket",
            "above truth",
            "most",
            "width",
            "most",
        ),
        rows=tuple(rows),
    )


def by_peer(cases: list[Case]) -> Table:
    rows = []
    for name in dict.fromkeys(name for case in cases for name in case.theirs):
        said = [(case, case.theirs[name]) for case in cases if name in case.theirs]
        known = [(case, answer) for case, answer in said if case.truth is not None]
        wrong = [fault(answer, case.truth) for case, answer in known]
        excess = [100 * (answer.upper / case.truth - 1) for case, answer in known if answer.upper and case.truth]
        rows.append(
            (
                name,
                str(len(said)),
                str(sum(apart(case.ours, answer) for case, answer in said)),
                str(wrong.count("understates")),
                str(wrong.count("overstates its lower bound")),
                *((float(np.median(excess)), max(excess)) if excess else (None, None)),
            )
        )
    return Table(
        title="Peers",
        note=f"Answers within {PATIENCE:g} s; how many contradict ours or the oracle; by how many % they exceed it.",
        columns=(
            "accountant",
            "answers",
            "contradict ours",
            "understate",
            "lower bound too high",
            "above truth, %",
            "most",
        ),
        rows=tuple(rows),
    )


def disagreements(cases: list[Case]) -> Table:
    rows = tuple(
        (
            f"{case.workload.loss} at δ = {case.workload.delta:g}",
            name,
            shown(answer),
            shown(case.ours),
            "–" if case.truth is None else f"{case.truth:.9g}",
            verdict(case, answer),
        )
        for case in cases
        for name, answer in case.theirs.items()
        if apart(case.ours, answer)
    )
    return Table(
        title="Disagreements",
        note="Every answer of a peer that cannot be right together with ours.",
        columns=("mechanism", "peer", "says", OURS, "truth", "wrong"),
        rows=rows,
    )


def shown(answer: Answer) -> str:
    lower, upper = ("" if each is None else f"{each:.9g}" for each in (answer.lower, answer.upper))
    return f"[{lower}, {upper}]"


def billing(peers: list[object]) -> Table:
    """Return what accountants bill for ten randomised responses, counted and listed."""
    leaf, delta = RandomisedResponse(0.75), 1e-6
    ten: PrivacyLoss = Repeated(leaf, 10)
    rows = [
        ("the truth", true_epsilon(leaf, delta), true_epsilon(ten, delta), true_epsilon(ten, delta)),
        (OURS, *(epsilon(loss, delta) for loss in (leaf, ten, Composed([leaf] * 10)))),
    ]
    for each in peers:
        if isinstance(each, Google):
            rows += list(google_bills(each, delta))
    return Table(
        title="Ten randomised responses",
        note=f"ε at δ = {delta:g} of one answer that is true with probability 3/4; of ten, by a count; of ten, listed.",
        columns=("accountant", "one", "ten, counted", "ten, listed"),
        rows=tuple(rows),
    )


def google_bills(google: Google, delta: float) -> Iterator[tuple[str, float, float, float]]:
    top = google.top
    # They answer at random with probability 1/2: the truth is then told 3 times in 4.
    one = top.RandomizedResponseDpEvent(0.5, 2)
    events = (one, top.SelfComposedDpEvent(one, 10), top.ComposedDpEvent([one] * 10))
    relation = top.NeighboringRelation.REPLACE_ONE
    for name, make in (("PLD", top.pld.PLDAccountant), ("RDP", top.rdp.RdpAccountant)):
        bills = (make(neighboring_relation=relation).compose(event).get_epsilon(delta) for event in events)
        yield (f"dp_accounting {name}", *bills)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=COUNT, help="how many mechanisms")
    parser.add_argument("--seed", type=int, default=SEED, help="where the draws start")
    parser.add_argument("--check", action="store_true", help="end with an error if a bar is missed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)  # the peers' remarks on their own rounding
    peers, draws = find_peers(), Draws(np.random.default_rng(options.seed))
    cases = []
    for number in range(options.count):
        cases.append(examine(draws.draw(), peers))
        if number % 20 == 19:
            say(f"{number + 1} of {options.count}")
    result = report(cases, peers, f"--count {options.count} --seed {options.seed}")
    publish(result, "accounting_sweep")
    finish(result, check=options.check)


def report(cases: list[Case], peers: list[object], options: str) -> Report:
    known = [case for case in cases if case.truth is not None]
    ours_wrong = sum(bool(fault(case.ours, case.truth)) for case in known)
    undecided = sum(
        apart(case.ours, answer) and not verdict(case, answer).startswith("the peer")
        for case in cases
        for answer in case.theirs.values()
    )
    return Report(
        title="Accounting, a random sweep",
        command=f"python benchmarks/accounting_sweep.py {options}",
        packages=("discreet", "numpy", "scipy", "dp-accounting", "prv-accountant"),
        tables=(by_kind(cases), by_peer(cases), disagreements(cases), billing(peers)),
        bars=(
            Bar(claim="mechanisms whose truth is outside our bracket", measured=float(ours_wrong), most=1),
            Bar(claim="disagreements in which not only the peer is wrong", measured=float(undecided), most=1),
        ),
    )


if __name__ == "__main__":
    main()
