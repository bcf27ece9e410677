"""Filters and odometers as values: exact sums, refusals, what is charged, texts that a ledger keeps."""

import math
from fractions import Fraction
from functools import reduce

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting.calibrate import calibrate_concentrated
from discreet.accounting.composites import Composed, Parallel, Repeated, Sampling, Subsampled
from discreet.accounting.filter_texts import filter_from_text, filter_to_text
from discreet.accounting.filters import (
    ConcentratedFilter,
    PureFilter,
    RenyiFilter,
    states_no_less,
    times_left,
)
from discreet.accounting.losses import (
    Approximate,
    BoundedRange,
    Concentrated,
    DominatingPair,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    Renyi,
)
from discreet.accounting.odometers import FINEST, Odometer, margin, price_of
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, Neighbours, WrongType

MILLIONTH = Fraction(1, 10**6)


# Exactness.


def repeated(session, loss, times):
    return reduce(lambda state, _: state.admit(loss), range(times), session)


@pytest.mark.parametrize(
    ("session", "part", "crumb"),
    [
        (PureFilter(1), Pure(0.1), Pure(1e-30)),
        (ConcentratedFilter(1), Concentrated(0.1), Concentrated(1e-30)),
        (ConcentratedFilter(5, 1e-6), Approximate(0.1, 1e-7), Approximate(0.1, 1e-30)),
        (RenyiFilter(1, 1e-9, reserve=1e-9), Pure(0.1), Pure(1e-30)),
        (RenyiFilter(5, 1e-6, reserve=1e-6), Approximate(0.1, 1e-7), Approximate(0.1, 1e-30)),
    ],
)
def test_a_tenth_fits_ten_times_and_a_crumb_more_does_not(session, part, crumb):
    full = repeated(session, part, 10)
    assert session.fits(Repeated(part, 10))
    assert times_left(session, part) == 10
    assert not full.fits(crumb)
    assert repeated(session, part, 9).fits(part)


def test_a_refused_payment_changes_nothing_and_a_smaller_one_still_fits():
    session = PureFilter(3).admit(Pure(2.7))
    with pytest.raises(BudgetExceeded) as refusal:
        session.admit(Pure(0.5))
    assert refusal.value.problem == "This costs ε=0.5; ε=2.7 of 3 is spent, 0.3 is left."
    assert "ε=0.3 or less" in refusal.value.fix
    assert session.admit(Pure(0.3)).left == 0


@pytest.mark.parametrize(
    ("session", "loss", "words"),
    [
        (PureFilter(1), Concentrated(0.1), "no pure ε"),
        (PureFilter(1), Approximate(0.1, 1e-9), "no pure ε"),
        (PureFilter(1).admit(Pure(1)), Pure(1e-30), "0 is left"),
        (ConcentratedFilter(1), Concentrated(2), "ρ=2; ρ=0 of 1"),
        (ConcentratedFilter(1), Approximate(0.1, 1e-9), "δ=1e-09; δ=0 of 0"),
        (ConcentratedFilter(1), Renyi([(2, 0.1)]), "no zCDP cost"),
        (RenyiFilter(1, 1e-6), GaussianNoise(1), "ε="),
        (RenyiFilter(1, 1e-6), Approximate(0.1, 1e-6), "δ=1e-06; δ=0 of 1e-07"),
        (RenyiFilter(1, 1e-6, reserve=1e-6), GaussianNoise(100), "no bound at any order"),
    ],
)
def test_a_refusal_says_what_is_missing(session, loss, words):
    assert not session.fits(loss)
    with pytest.raises(BudgetExceeded) as refusal:
        session.admit(loss)
    assert words in refusal.value.problem
    assert refusal.value.fix


@pytest.mark.parametrize("order", [Fraction(101, 100), Fraction(3, 2), Fraction(2), Fraction(33), Fraction(1000)])
@pytest.mark.parametrize("delta", [Fraction(1, 10), MILLIONTH, Fraction(1, 10**30)])
def test_a_margin_is_the_tight_conversion_rounded_up(order, delta):
    with mpmath.workdps(60):
        a, d = mpmath.mpf(order.numerator) / order.denominator, mpmath.mpf(delta.numerator) / delta.denominator
        true = mpmath.log((1 - 1 / a) ** a / (a - 1) / d) / (a - 1)
        stated = margin(order, delta)
        above = mpmath.mpf(stated.numerator) / stated.denominator - true
        assert above >= 0
        if order * delta <= 1:
            # Two logarithms, each within two steps of 1e-15, over α − 1.
            assert above <= 4e-15 * (1 + 1 / (a - 1))


def test_sums_of_unlike_fractions_stay_short_and_never_fall_short():
    sizes = [Fraction(1, prime) for prime in range(10**9 + 1, 10**9 + 400, 2)]
    session, odometer = PureFilter(1), Odometer(0)
    for size in sizes:
        session, odometer = session.admit(Pure(size)), odometer.after(Pure(size))
    assert sum(sizes) <= session.spent <= sum(sizes) + len(sizes) * FINEST
    assert session.spent == odometer.epsilon
    assert session.spent.denominator.bit_length() < 2000


def test_a_sum_beyond_all_bounds_is_refused_and_not_an_accident():
    endless = Repeated(Pure(10**90), 10**30)
    assert not PureFilter(1).fits(endless)
    assert not RenyiFilter(1, 1e-6).fits(endless)
    assert Odometer(1e-6).after(endless).guarantee.epsilon == math.inf


def test_a_sum_tinier_than_anything_one_may_type_is_kept():
    session = ConcentratedFilter(1).admit(Pure(1e-90))
    assert session.spent == Fraction(1, 2 * 10**180)
    assert filter_from_text(filter_to_text(session)) == session


# What is charged.


def test_a_payment_costs_the_same_in_one_piece_and_part_by_part():
    losses = [GaussianNoise(30), Pure(0.1), Approximate(0.1, 1e-9), BoundedRange(0.2), LaplaceNoise(20)]
    session = RenyiFilter(3, 1e-6)
    assert session.admit(Composed([Repeated(Composed(losses), 2)])) == reduce(
        lambda state, loss: state.admit(loss), losses * 2, session
    )
    assert session.admit(Composed([])) == session


def test_two_ways_of_splitting_off_a_failure_are_both_paid_for():
    """Only for an (ε, δ) part is one split known to serve the pure sum and the finite orders alike."""
    orders = (Fraction(2),)
    assert price_of(Approximate(1, 1e-6), orders).failed == MILLIONTH
    listed = DominatingPair((0.001, 0.9, 0.099, 0), (0, 0.8, 0.199, 0.001))
    assert price_of(listed, orders).failed >= Fraction(2, 1000)
    assert price_of(listed, ()).failed == Fraction(1, 1000)


def test_unused_reserve_is_not_lent_to_the_orders():
    small, large = RenyiFilter(1, 1e-6, reserve=0, orders=(16,)), RenyiFilter(1, 1e-6, reserve=5e-7, orders=(16,))
    assert times_left(large, GaussianNoise(100)) < times_left(small, GaussianNoise(100))
    assert large.delta == small.delta == MILLIONTH


@pytest.mark.parametrize("session", [PureFilter(9), ConcentratedFilter(9), RenyiFilter(9, 1e-6)])
def test_a_session_is_accounted_for_one_kind_of_neighbours(session):
    lots = Subsampled(Pure(1), 0.1, Sampling.WITHOUT_REPLACEMENT)
    assert session.fits(Parallel([Pure(0.1), Pure(0.2)]))
    for refused in (session.fits, session.admit):
        with pytest.raises(InvalidInput, match="replace neighbours"):
            refused(lots)
    assert type(session)(9, *([1e-6] if isinstance(session, RenyiFilter) else []), neighbours=Neighbours.REPLACE).fits(
        lots
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1, 1e-6), (1, 1e-9), (3, 1e-9), (8, 1e-5)])
def test_the_union_of_orders_loses_little_against_the_best_single_order(epsilon, delta):
    """Half of δ for the favourite order, and a tenth of δ in reserve, cost a Gaussian session at most a tenth."""
    noise = GaussianNoise(1000)
    alone = [
        RenyiFilter(epsilon, delta, reserve=0, orders=(1 + Fraction(2 ** (k / 4)).limit_denominator(99),))
        for k in range(44)
    ]
    best = max(times_left(session, noise) for session in alone)
    concentrated = times_left(ConcentratedFilter(calibrate_concentrated(epsilon, delta)), noise)
    assert Fraction(9, 10) * best <= times_left(RenyiFilter(epsilon, delta), noise) <= best <= concentrated


def test_a_renyi_filter_is_no_worse_than_the_pure_sum_less_its_reserve():
    assert times_left(RenyiFilter(1, 1e-6), Pure(0.5)) == 2
    assert times_left(RenyiFilter(1, 1e-6), Pure(0.01)) > 400


# A value that a ledger keeps.

STATES = [
    (PureFilter(3).admit(Pure(2.7)), "filter/1 pure(epsilon=3, spent=27/10, neighbours=add_remove)"),
    (
        ConcentratedFilter(0.5, 1e-6, neighbours=Neighbours.REPLACE).admit(Approximate(0.5, 1e-7)),
        "filter/1 concentrated(rho=1/2, delta=1/1000000, spent=1/8, failed=1/10000000, neighbours=replace)",
    ),
    (
        RenyiFilter(3, 1e-6, orders=(2, 8), reserve=1e-7).admit(Concentrated(0.125)),
        (
            "filter/1 renyi(epsilon=3, delta=1/1000000, reserve=1/10000000, failed=0, pure=unbounded, "
            "orders=[2 share 1/2 spent 1/4; 8 share 1/2 spent 1], neighbours=add_remove)"
        ),
    ),
    (
        RenyiFilter(1, 1e-6, reserve=1e-6).admit(Pure(0.1)),
        (
            "filter/1 renyi(epsilon=1, delta=1/1000000, reserve=1/1000000, failed=0, pure=1/10, orders=[], "
            "neighbours=add_remove)"
        ),
    ),
]


@pytest.mark.parametrize(("session", "text"), STATES)
def test_the_text_of_a_filter_is_pinned_and_reads_back(session, text):
    assert filter_to_text(session) == text
    assert filter_from_text(text) == session


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([Pure(0.05), GaussianNoise(40), Approximate(0.1, 1e-9), LaplaceNoise(30)]), max_size=8))
def test_a_session_that_is_stored_and_read_back_goes_on_as_if_nothing_had_happened(losses):
    kept = stored = RenyiFilter(3, 1e-6)
    for loss in losses:
        kept, stored = kept.admit(loss), filter_from_text(filter_to_text(stored)).admit(loss)
    assert kept == stored


@pytest.mark.parametrize(
    "text",
    [
        "",
        "filter/1",
        "filter/2 pure(epsilon=3, spent=27/10, neighbours=add_remove)",
        "filter/01 pure(epsilon=3, spent=27/10, neighbours=add_remove)",
        "filter/1 pure(epsilon=3, spent=27/10, neighbours=add_remove) ",
        "filter/1 pure(epsilon=3,spent=27/10, neighbours=add_remove)",
        "filter/1 pure(epsilon=3, spent=27/10)",
        "filter/1 pure(epsilon=3, spent=27/10, neighbours=both)",
        "filter/1 pure(epsilon=3, spent=54/20, neighbours=add_remove)",
        "filter/1 pure(epsilon=3, spent=2.7, neighbours=add_remove)",
        "filter/1 pure(epsilon=3, spent=-1, neighbours=add_remove)",
        "filter/1 pure(epsilon=3, spent=1/0, neighbours=add_remove)",
        "filter/1 pure(epsilon=3, spent=４, neighbours=add_remove)",
        "filter/1 pure(epsilon=3, spent=31/10, neighbours=add_remove)",
        "filter/1 pure(epsilon=3, spent=0, spent=0, neighbours=add_remove)",
        f"filter/1 pure(epsilon=3, spent=1/1{'0' * 5000}, neighbours=add_remove)",
        "filter/1 mixed(epsilon=3, spent=0, neighbours=add_remove)",
        STATES[1][1].replace("failed=1/10000000", "failed=1/100000"),
        STATES[2][1].replace("; ", ";"),
        STATES[2][1].replace("spent 1]", "spent 3]").replace("spent 1/4", "spent 3"),
        STATES[2][1].replace("share 1/2 spent 1/4", "share 2/3 spent 1/4"),
        STATES[2][1].replace("reserve=1/10000000", "reserve=1"),
        STATES[2][1].replace("pure=unbounded", "pure=infinite"),
        STATES[2][1].replace("orders=[2", "orders=[1"),
        STATES[3][1].replace("orders=[]", "orders=[2 share 1 spent 0]"),
    ],
)
def test_any_other_text_is_refused(text):
    with pytest.raises(InvalidInput):
        filter_from_text(text)


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: PureFilter(0),
        lambda: PureFilter("1"),
        lambda: PureFilter(1, spent=2),
        lambda: PureFilter(1, spent=-1),
        lambda: PureFilter(1, neighbours="replace"),
        lambda: PureFilter(1).admit(0.1),
        lambda: PureFilter(1).fits("Pure(1)"),
        lambda: ConcentratedFilter(-1),
        lambda: ConcentratedFilter(1, 1),
        lambda: ConcentratedFilter(1, 1e-6, failed=1e-5),
        lambda: RenyiFilter(1, 0),
        lambda: RenyiFilter(1, 1e-6, reserve=1e-5),
        lambda: RenyiFilter(1, 1e-6, reserve=-1e-7),
        lambda: RenyiFilter(1, 1e-6, orders=(1, 2)),
        lambda: RenyiFilter(1, 1e-6, orders=(3, 2)),
        lambda: RenyiFilter(1, 1e-6, orders=(2, 2)),
        lambda: RenyiFilter(1, 1e-6, orders="2"),
        lambda: RenyiFilter(1, 1e-6, orders=2),
        lambda: RenyiFilter(1, 1e-6, orders=range(2, 2000)),
        lambda: RenyiFilter(1, 1e-6, orders=(2, 3), shares=(0.9, 0.2)),
        lambda: RenyiFilter(1, 1e-6, orders=(2, 3), shares=(1, 0)),
        lambda: RenyiFilter(1, 1e-6, orders=(2, 3), shares=(1,)),
        lambda: RenyiFilter(1, 1e-6, orders=(2, 3), shares=1),
        lambda: Odometer(1),
        lambda: Odometer(-0.1),
        lambda: Odometer(1e-6, orders=(2,), spent=(0,)),
        lambda: Odometer(1e-6, orders=(2,), spent=3),
        lambda: Odometer(1e-6, orders=(2,), spent=(-1, 0)),
        lambda: Odometer(1e-6).after(None),
        lambda: times_left(PureFilter(1), Composed([])),
        lambda: filter_from_text(None),
    ],
)
def test_bad_input_is_refused_with_a_fix(attempt):
    with pytest.raises(DiscreetError) as refusal:
        attempt()
    assert isinstance(refusal.value, InvalidInput | WrongType)
    assert refusal.value.fix


# Odometers.


def test_without_a_delta_an_odometer_shows_the_exact_sum():
    odometer = reduce(lambda meter, _: meter.after(Pure(0.1)), range(10), Odometer())
    assert odometer.epsilon == 1
    assert odometer.after(Approximate(0.5, 1e-9)).guarantee.delta == 1e-9
    assert odometer.after(GaussianNoise(1)).guarantee.epsilon == math.inf


def test_a_reading_is_never_above_what_any_single_order_or_the_sum_says():
    meter = Odometer(1e-6, orders=(2, 16)).after(Repeated(Pure(0.01), 400))
    assert meter.epsilon == min(meter.readings) < 4
    assert meter.readings[-1] == 4
    assert meter.after(Pure(1)).epsilon > meter.epsilon


def test_a_filter_admits_exactly_while_its_odometer_stays_within_epsilon():
    session = RenyiFilter(1, 1e-6)
    most = times_left(session, GaussianNoise(100))
    assert session.odometer.after(Repeated(GaussianNoise(100), most)).epsilon <= 1
    assert session.odometer.after(Repeated(GaussianNoise(100), most + 1)).epsilon > 1


def test_sums_that_are_stated_may_be_larger_at_renyi_orders_only():
    """Sums that an earlier version stated with wider bounds are believed; smaller ones, and other sums, are not."""
    empty = RenyiFilter(9, 1e-6)
    less, more = empty.admit(GaussianNoise(20)), empty.admit(GaussianNoise(10))
    assert states_no_less(more, less)
    assert states_no_less(less, less)
    assert not states_no_less(less, more)
    assert not states_no_less(empty.admit(Pure(0.2)), empty.admit(Pure(0.1)))
    assert not states_no_less(empty.admit(Concentrated(0.1, 1e-8)), empty.admit(Concentrated(0.1)))
    assert not states_no_less(RenyiFilter(8, 1e-6), empty)
    assert not states_no_less(PureFilter(1, spent=0.2), PureFilter(1, spent=0.1))
