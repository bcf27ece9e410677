"""The arithmetic of the accounting benchmark and its sweep; no peer is needed for it."""

import math
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import integrate

from discreet.accounting import (
    BoundedRange,
    Composed,
    GaussianNoise,
    LaplaceNoise,
    RandomisedResponse,
    Repeated,
    Subsampled,
)

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
#: The children of `alone` are forked; Python 3.12 and later warn of it where a runner has threads.
FORKS = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(scope="module")
def rooms():
    """Return the benchmark's modules, found where they lie."""
    before = list(sys.path)
    sys.path.insert(0, str(BENCHMARKS))
    names = ("", "_peers", "_truth", "_alone", "_workloads", "_draws", "_cases", "_sweep")
    yield SimpleNamespace(**{name[1:] or "main": import_module(f"accounting{name}") for name in names})
    sys.path[:] = before


def way(rooms, answer=(None, 1.0), *, approximation=False):
    said = rooms.peers.Answer(*answer)
    return rooms.peers.Way(peer="peer", setting="", ask=lambda loss, delta: said, approximation=approximation)


def result(rooms, answer, seconds=1.0, *, approximation=False):
    asked = way(rooms, answer, approximation=approximation)
    return rooms.main.Result(way=asked, answer=asked.ask(None, 0), seconds=seconds)


def case(rooms, truth, ours, theirs):
    answers = {"peer": rooms.peers.Answer(*theirs)}
    workload = rooms.workloads.Workload(name="kind", loss=GaussianNoise(1))
    return rooms.cases.Case(workload=workload, truth=truth, ours=rooms.peers.Answer(*ours), theirs=answers)


def test_a_batch_is_flattened_with_every_count(rooms):
    nested = Repeated(Composed([Repeated(LaplaceNoise(2), 3), GaussianNoise(1)]), 5)
    assert rooms.peers.flat(nested) == [(LaplaceNoise(2), 15), (GaussianNoise(1), 5)]


def test_the_mix_has_a_thousand_mechanisms_of_four_kinds(rooms):
    parts = rooms.peers.flat(rooms.workloads.WORKLOADS[-1].loss)
    assert [times for _, times in parts] == [250] * 4
    assert len({type(leaf) for leaf, _ in parts}) == 4


def test_the_loss_of_bounded_range_has_the_curve_of_its_worst_case(rooms):
    """δ(x) = (1 − e^((x−ε)/2))²/(1 − e^−ε), as the integral of e^(x−y)·P[L > y] over y > x."""
    epsilon, x = 0.7, 0.2
    cdf = rooms.peers.range_cdf(epsilon)
    found = integrate.quad(lambda y: math.exp(x - y) * (1 - cdf(y)), x, epsilon)[0]
    assert found == pytest.approx((1 - math.exp((x - epsilon) / 2)) ** 2 / -math.expm1(-epsilon), rel=1e-9)
    assert (cdf(-epsilon), cdf(epsilon), cdf(9.0)) == (0, pytest.approx(1), pytest.approx(1))


def test_opacus_is_given_every_step(rooms):
    asked = SimpleNamespace(history=None, get_epsilon=lambda delta, **_: delta)
    meta = rooms.peers.Meta(SimpleNamespace(RDPAccountant=lambda: asked))
    meta.asked("RDPAccountant")(Repeated(Subsampled(GaussianNoise(2), 0.5), 7), 0.1)
    assert asked.history == [(2.0, 0.5, 7)]


def test_prv_is_given_every_count_and_asked_for_both_bounds(rooms):
    calls = {}

    class Accountant:
        def __init__(self, **settings):
            calls.update(settings)

        def compute_epsilon(self, delta, counts):
            return 1.0, 1.5, 2.0

    prv = SimpleNamespace(
        PRVAccountant=Accountant, LaplaceMechanism=lambda mu: ("laplace", mu), PureDPMechanism=lambda eps: ("pure", eps)
    )
    loss = Composed([Repeated(LaplaceNoise(10), 3), Repeated(RandomisedResponse(0.75), 4)])
    answer = rooms.peers.Microsoft(prv).within(0.01)(loss, 1e-5)
    assert answer == rooms.peers.Answer(1.0, 2.0)
    assert calls["prvs"] == [("laplace", 0.1), ("pure", pytest.approx(math.log(3)))]
    assert calls["max_self_compositions"] == [3, 4]


def test_a_peer_without_the_word_is_left_out(rooms):
    with pytest.raises(rooms.peers.Unsupported):
        rooms.peers.Meta(None).step(LaplaceNoise(1), 1)
    with pytest.raises(rooms.peers.Unsupported):
        rooms.peers.Google(None).closed_form(LaplaceNoise(1), 1e-5)


@pytest.mark.parametrize(
    ("upper", "approximation", "tight"),
    [(6.001, False, True), (6.007, False, False), (5.999, False, False), (6.001, True, False), (None, False, False)],
)
def test_only_a_bound_within_a_thousandth_is_as_tight(rooms, upper, approximation, tight):
    assert result(rooms, (None, upper), approximation=approximation).tight(6.0) is tight


def test_the_fastest_peer_that_is_as_tight_sets_the_pace(rooms):
    ours = [result(rooms, (None, 6.001), 0.01), result(rooms, (5.999, 6.001), 0.02)]
    peers = [result(rooms, (None, 6.5), 0.02), result(rooms, (5.9, 6.004), 0.2), result(rooms, (None, 6.001), 0.9)]
    *_, lower, pace = rooms.main.bars("w", 6.0, ours + peers)
    assert pace.measured == pytest.approx(20)
    assert lower.measured == pytest.approx(0.101)


def test_a_bound_below_the_truth_misses_its_bar(rooms):
    ours = [result(rooms, (None, 5.9999)), result(rooms, (5.999, 5.9999))]
    first, *_ = rooms.main.bars("w", 6.0, ours)
    assert first.verdict == "FAIL"


def test_without_peers_their_bars_are_not_measured(rooms):
    bars = rooms.main.bars("w", 6.0, [result(rooms, (None, 6.001)), result(rooms, (5.999, 6.001))])
    assert [bar.verdict for bar in bars] == ["pass"] * 3 + ["not measured"] * 2


def test_who_fails_or_cannot_be_asked_does_not_run(rooms, capsys):
    def refuse(loss, delta):
        raise rooms.peers.Unsupported

    def fail(loss, delta):
        raise OverflowError("too far")

    workload = rooms.workloads.WORKLOADS[0]
    ways = [rooms.peers.Way(peer=name, setting="", ask=ask) for name, ask in (("a", refuse), ("b", fail))]
    assert [each.way.peer for each in rooms.main.run(workload, [*ways, way(rooms)])] == ["peer"]
    assert "too far" in capsys.readouterr().out


def nap(loss, delta):
    while True:
        time.process_time()


def hoard(loss, delta):
    return np.ones(2**31)


@FORKS
def test_an_answer_from_a_process_of_its_own_comes_with_time_and_memory(rooms):
    trial = rooms.alone.alone(way(rooms, (0.5, 1.0)).ask, None, 0.1)
    assert trial.answer == rooms.peers.Answer(0.5, 1.0)
    assert trial.seconds >= 0
    assert trial.megabytes >= 0


@FORKS
@pytest.mark.parametrize(("ask", "failure"), [(nap, "over 1 s"), (hoard, "over 4 GiB")])
def test_who_takes_too_long_or_too_much_is_ended(rooms, ask, failure):
    assert rooms.alone.alone(ask, None, 0.1, seconds=1).failure == failure


def test_the_oracle_knows_the_closed_forms(rooms):
    one = rooms.truth.true_epsilon(Repeated(RandomisedResponse(0.75), 1), 0.25)
    assert one == pytest.approx(math.log(2), rel=1e-9)  # 3/4 − e^ε/4 = 1/4
    laplace = rooms.truth.true_epsilon(LaplaceNoise(2), 0.1)
    assert laplace == pytest.approx(0.5 + 2 * math.log1p(-0.1), rel=1e-9)
    gauss = rooms.truth.true_epsilon(Repeated(GaussianNoise(50), 1000), 1e-5)
    assert gauss == pytest.approx(rooms.truth.true_epsilon(Repeated(GaussianNoise(5), 10), 1e-5), rel=1e-8)


def test_where_the_oracle_does_not_reach_it_says_so(rooms):
    assert rooms.truth.true_epsilon(Subsampled(BoundedRange(1), 0.1), 1e-5) is None


@pytest.mark.parametrize(
    ("truth", "ours", "theirs", "wrong"),
    [
        (1.0, (0.99, 1.01), (None, 0.9), "the peer understates"),
        (1.0, (0.99, 1.01), (1.1, 1.2), "the peer overstates its lower bound"),
        (1.0, (0.8, 0.9), (0.95, 1.1), "discreet understates"),
        (None, (0.8, 0.9), (0.95, 1.1), "the oracle does not reach"),
    ],
)
def test_the_oracle_says_who_is_wrong(rooms, truth, ours, theirs, wrong):
    drawn = case(rooms, truth, ours, theirs)
    answer = drawn.theirs["peer"]
    assert rooms.cases.apart(drawn.ours, answer)
    assert rooms.cases.verdict(drawn, answer) == wrong


def test_answers_that_overlap_do_not_disagree(rooms):
    said = rooms.peers.Answer
    assert not rooms.cases.apart(said(0.9, 1.0), said(None, 0.95))
    assert not rooms.cases.apart(said(0.9, 1.0), said(1.0, None))
    assert not rooms.cases.apart(said(0.9, 1.0), said(None, math.inf))


def test_our_own_mistake_misses_the_bar_of_the_sweep(rooms):
    right, wrong = case(rooms, 1.0, (0.9, 1.1), (None, 1.2)), case(rooms, 1.0, (0.8, 0.9), (0.95, 1.1))
    silent = case(rooms, None, (None, None), (None, 1.2))
    assert [bar.passed for bar in rooms.sweep.report([right], [], "").bars] == [True, True, True]
    assert [bar.passed for bar in rooms.sweep.report([right, wrong], [], "").bars] == [True, False, False]
    assert [bar.passed for bar in rooms.sweep.report([right, silent], [], "").bars] == [False, True, True]


def test_a_peer_that_only_the_oracle_contradicts_is_listed(rooms):
    drawn = case(rooms, 1.0, (0.9, 1.1), (None, 0.95))
    (row,) = rooms.sweep.disputes([drawn]).rows
    assert row[-1] == "the peer understates"


def test_our_failure_does_not_end_the_sweep(rooms, monkeypatch):
    def fail(loss, delta):
        raise ValueError

    monkeypatch.setattr(rooms.cases, "ours_both", fail)
    workload = rooms.workloads.Workload(name="Gaussian", loss=GaussianNoise(2))
    found = rooms.cases.examine(workload, [])
    assert found.ours == rooms.peers.Answer(None, None)
    assert found.truth > 0


def test_a_mechanism_is_told_in_few_words(rooms):
    loss = Repeated(Composed([Subsampled(GaussianNoise(2), 0.1), RandomisedResponse(0.75)]), 3)
    words = rooms.draws.told(rooms.workloads.Workload(name="mix", loss=loss))
    assert words == "Gaussian σ = 2 at rate 0.1 × 3, response 0.75 of 2, ε = 1.1 × 3 at δ = 1e-05"


def test_a_seed_draws_the_same_mechanisms_and_every_kind(rooms):
    first, second = ([rooms.draws.Draws(np.random.default_rng(1)).draw() for _ in range(1)] for _ in range(2))
    assert first == second
    draws = rooms.draws.Draws(np.random.default_rng(2))
    assert len(Counter(draws.draw().name for _ in range(100))) == 6


def test_patience_ends(rooms, monkeypatch):
    monkeypatch.setattr(rooms.cases, "PATIENCE", 0.05)
    assert rooms.cases.patiently(lambda: nap(None, None)) is None
    assert rooms.cases.patiently(lambda: 3) == 3
