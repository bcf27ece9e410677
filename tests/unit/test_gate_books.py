"""The book: all who read a ledger come to the same totals, whoever added up what, and when."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import Concentrated, GaussianNoise, Pure, RenyiFilter, Repeated, Subsampled, odometers, renyi
from discreet.accounting.filters import ConcentratedFilter, PureFilter, adds_exactly
from discreet.gate import Budget, Ledger


def primes(count, start=1009):
    found = []
    while len(found) < count:
        if all(start % divisor for divisor in range(2, int(start**0.5) + 1)):
            found.append(start)
        start += 2
    return found


def pay(ledger, cost, request, analyst=""):
    return ledger.pay(cost, what="a question", plan="00", request=request, analyst=analyst)


#: Fractions that have nothing in common: about a hundred of them are more than a sum is kept exactly for.
UNLIKE = [Fraction(1, prime) for prime in primes(130)]
LEAST = Fraction(1, 10_000)


@pytest.mark.parametrize(
    ("budget", "loss"),
    [
        (Budget(10, least=LEAST), Pure),
        (Budget(rho=10, least=LEAST), Concentrated),
        (Budget(10, 1e-6, least=LEAST), Pure),
    ],
    ids=["pure", "concentrated", "approximate"],
)
def test_sums_that_had_to_be_rounded_are_the_same_for_all_who_read_them(tmp_path, budget, loss):
    path = tmp_path / "clinic.ledger"
    with Ledger.create(path, budget) as one, Ledger.open(path) as other:
        for turn in range(2):
            for index, cost in enumerate(UNLIKE):
                pay(one, loss(cost), f"{turn}-{index}", "ann" if index % 3 else "")
        assert other.state.account == one.state.account
        other.checkpoint()
        assert one.state.totals() == other.state.totals()
        assert one.verify().sound
    with Ledger.open(path) as later:
        assert later.state.checkpoint == later.state.number
        assert later.verify().sound


LOTS = Repeated(Subsampled(GaussianNoise(Fraction(2, 5)), Fraction(1, 100)), 30)


def test_a_ledger_whose_checkpoint_was_counted_with_wider_bounds_opens_and_keeps_what_was_stated(tmp_path, monkeypatch):
    """Divergences of sampled noise were once interpolated between whole orders, and checkpoints state such sums."""
    path = tmp_path / "clinic.ledger"
    with monkeypatch.context() as earlier:
        earlier.setattr(renyi, "_bound_sampled_moments", lambda _, orders: [None] * len(orders))
        odometers._leaf_price.cache_clear()
        with Ledger.create(path, Budget(40, 1e-5)) as ledger:
            pay(ledger, LOTS, "one", "ann")
            ledger.checkpoint()
            before = ledger.state.account.total.spent
    odometers._leaf_price.cache_clear()
    with Ledger.open(path, anchors=[]) as unvouched:
        assert unvouched.state.account.total.spent == before
    with Ledger.open(path) as ledger:
        assert ledger.verify().sound
        pay(ledger, LOTS, "two", "ann")
        assert before < ledger.state.account.total.spent < 2 * before
        assert ledger.verify().sound


FILTERS = st.sampled_from([PureFilter(10**6), ConcentratedFilter(10**6), RenyiFilter(10**6, 1e-6)])
FEW = st.lists(st.fractions(Fraction(1, 10**4), 1, max_denominator=10**4), min_size=1, max_size=6)


@given(FILTERS, FEW, st.integers(2, 5))
def test_what_adds_exactly_adds_to_the_same_in_any_order(session, numbers, times):
    losses = list(map(Pure, numbers))
    assert adds_exactly(session, losses)
    one_by_one, at_once = session, session
    for loss in losses * times:
        one_by_one = one_by_one.admit(loss)
    for loss in reversed(losses):
        at_once = at_once.admit(Repeated(loss, times))
    assert one_by_one == at_once


def test_unlike_fractions_do_not_add_exactly():
    for session in (PureFilter(1), ConcentratedFilter(1), RenyiFilter(1, 1e-6)):
        assert not adds_exactly(session, list(map(Pure, UNLIKE)))
    assert adds_exactly(RenyiFilter(1, 1e-6), [GaussianNoise(3), Pure(0.1)])
    assert adds_exactly(PureFilter(1), [GaussianNoise(3)])  # which it would never admit
