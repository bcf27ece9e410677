"""A random sweep: ours beside the peers' accountants; where two disagree, the oracle says who is wrong."""

import argparse
import logging
import warnings
from collections.abc import Iterator

import numpy as np
from accounting import OURS
from accounting_cases import PATIENCE, Case, apart, disputed, examine, verdict
from accounting_draws import Draws, told
from accounting_peers import Answer, Google, find_peers
from accounting_truth import fault, true_epsilon
from measure import Bar, Report, Table, finish, publish, say

from discreet.accounting import Composed, PrivacyLoss, RandomisedResponse, Repeated, epsilon

SEED, COUNT = 3, 300
#: So many of our loosest answers are listed.
LOOSEST = 10
REMARK = (
    "Mechanisms are drawn at random from a seed, in numbers of three digits. The peers are asked at settings that fit "
    "the size of the answer. The oracle is the contour integral in `tests/contour.py`, or an exact sum."
)


def excess(answer: Answer, truth: float | None) -> float | None:
    """Return by how many per cent an upper bound exceeds the truth."""
    return 100 * (answer.upper / truth - 1) if answer.upper is not None and truth else None


def spread(figures: list[float]) -> tuple[float | None, float | None]:
    """Return the median and the most."""
    return (float(np.median(figures)), max(figures)) if figures else (None, None)


def by_kind(cases: list[Case]) -> Table:
    rows = []
    for kind in dict.fromkeys(case.workload.name for case in cases):
        those = [case for case in cases if case.workload.name == kind]
        known = [case for case in those if case.truth is not None]
        over = [found for case in known if (found := excess(case.ours, case.truth)) is not None]
        width = [found for case in those if (found := excess(case.ours, case.ours.lower)) is not None]
        inside = sum(not fault(case.ours, case.truth) for case in known)
        rows.append((kind, str(len(those)), str(len(known)), str(inside), *spread(over), *spread(width)))
    return Table(
        title="Ours",
        note="By how many % our ε exceeds the truth, and our lower bound where it is not 0: the median and the most.",
        columns=("kind", "drawn", "oracle knows", "truth in bracket", "above truth", "most", "width", "most"),
        rows=tuple(rows),
    )


def by_peer(cases: list[Case]) -> Table:
    rows = []
    for name in dict.fromkeys(name for case in cases for name in case.theirs):
        said = [(case, case.theirs[name]) for case in cases if name in case.theirs]
        wrong = [fault(answer, case.truth) for case, answer in said if case.truth is not None]
        over = [found for case, answer in said if (found := excess(answer, case.truth)) is not None]
        clashes = sum(apart(case.ours, answer) for case, answer in said)
        counts = (len(said), clashes, wrong.count("understates"), wrong.count("overstates its lower bound"))
        rows.append((name, *map(str, counts), *spread(over)))
    return Table(
        title="Peers",
        note=f"Answers within {PATIENCE:g} s; how many contradict ours, or the oracle; by how many % they exceed it.",
        columns=("accountant", "answers", "contradict ours", "understate", "lower too high", "above truth", "most"),
        rows=tuple(rows),
    )


def disputes(cases: list[Case]) -> Table:
    rows = (
        (told(case.workload), name, shown(answer), shown(case.ours), shown_truth(case), verdict(case, answer))
        for case in cases
        for name, answer in case.theirs.items()
        if disputed(case, answer)
    )
    return Table(
        title="Disputes",
        note="Every answer of a peer that contradicts ours or the oracle.",
        columns=("mechanism", "peer", "says", OURS, "truth", "wrong"),
        rows=tuple(rows),
    )


def loosest(cases: list[Case]) -> Table:
    ranked = sorted(
        ((found, case) for case in cases if (found := excess(case.ours, case.truth)) is not None),
        key=lambda pair: -pair[0],
    )
    return Table(
        title="Our loosest answers",
        note="Where our ε exceeds the truth the most, in %.",
        columns=("mechanism", OURS, "truth", "above truth"),
        rows=tuple(
            (told(case.workload), shown(case.ours), shown_truth(case), found) for found, case in ranked[:LOOSEST]
        ),
    )


def shown(answer: Answer) -> str:
    lower, upper = ("" if each is None else f"{each:.9g}" for each in (answer.lower, answer.upper))
    return f"[{lower}, {upper}]"


def shown_truth(case: Case) -> str:
    return "–" if case.truth is None else f"{case.truth:.9g}"


def billing(peers: list[object]) -> Table:
    """Return what accountants bill for ten randomised responses, counted and listed."""
    leaf, delta = RandomisedResponse(0.75), 1e-2
    ten: PrivacyLoss = Repeated(leaf, 10)
    rows = [
        ("the truth", *(true_epsilon(loss, delta) for loss in (leaf, ten, ten))),
        (OURS, *(epsilon(loss, delta) for loss in (leaf, ten, Composed([leaf] * 10)))),
    ]
    for each in peers:
        if isinstance(each, Google):
            rows += google_bills(each, delta)
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


def report(cases: list[Case], peers: list[object], options: str) -> Report:
    outside = sum(case.truth is not None and bool(fault(case.ours, case.truth)) for case in cases)
    unsettled = sum(
        disputed(case, answer) and not verdict(case, answer).startswith("the peer")
        for case in cases
        for answer in case.theirs.values()
    )
    failed = sum(case.ours.upper is None for case in cases)
    return Report(
        title="Accounting, a random sweep",
        command=f"python benchmarks/accounting_sweep.py {options}",
        packages=("discreet", "numpy", "scipy", "dp-accounting", "prv-accountant"),
        tables=(by_kind(cases), by_peer(cases), disputes(cases), loosest(cases), billing(peers)),
        bars=(
            Bar(claim="mechanisms that we have no answer for", measured=float(failed), most=1),
            Bar(claim="mechanisms whose truth is outside our bracket", measured=float(outside), most=1),
            Bar(claim="disputes in which not only the peer is wrong", measured=float(unsettled), most=1),
        ),
        remarks=(REMARK,),
    )


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


if __name__ == "__main__":
    main()
