"""Budgets and who pays: limits, policies, and what became known elsewhere."""

from contextlib import suppress
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.accounting import ConcentratedFilter, GaussianNoise, Pure, PureFilter, RenyiFilter
from discreet.core import BudgetExceeded, DiscreetError, LedgerDamaged, Neighbours, PrivacyUnit, WrongType
from discreet.gate import Budget, DatasetAccount, Policy
from discreet.gate.accounts.personal_terms import limit_of

TENTH = Pure(0.1)


def account(policy=Policy.SHARED, budget=None):
    return DatasetAccount.create(budget or Budget(1), policy)


def test_a_budget_has_one_currency():
    assert isinstance(Budget(1).filter(), PureFilter)
    assert isinstance(Budget(1, 1e-9).filter(), RenyiFilter)
    assert isinstance(Budget(rho=0.5).filter(), ConcentratedFilter)
    assert [Budget(2).limit, Budget(rho=0.5).limit] == [2, Fraction(1, 2)]
    assert [Budget(2).symbol, Budget(rho=0.5).symbol] == ["ε", "ρ"]


def test_a_budget_is_taken_as_it_was_typed():
    assert Budget(0.1, 1e-9) == Budget(Fraction(1, 10), Fraction(1, 10**9))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"epsilon": 1, "rho": 1},
        {"epsilon": 0},
        {"epsilon": -1},
        {"rho": 0},
        {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": -1e-9},
        {"epsilon": 1, "reserve": 0.1},
        {"rho": 1, "reserve": 0.1},
        {"epsilon": 1, "delta": 1e-6, "reserve": 1e-3},
        {"epsilon": float("nan")},
        {"epsilon": float("inf")},
        {"epsilon": 1, "delta": 0.1, "people": 1000},
        {"epsilon": "1"},
        {"epsilon": 1, "unit": "patient_id"},
    ],
)
def test_a_budget_that_promises_nothing_is_refused(arguments):
    with pytest.raises(DiscreetError):
        Budget(**arguments)


def test_a_budget_is_for_a_unit():
    unit = PrivacyUnit(column="patient_id", neighbours=Neighbours.REPLACE)
    assert Budget(1, unit=unit).filter().neighbours is Neighbours.REPLACE
    assert "patient_id" in str(Budget(1, unit=unit))
    with pytest.raises(WrongType):
        Budget(1, unit="patient_id")


def test_under_a_shared_budget_everybody_pays_from_one_purse():
    paid = account().admit(Pure(0.6), "ann")
    assert not paid.fits(Pure(0.5), "bob")
    with pytest.raises(BudgetExceeded):
        paid.admit(Pure(0.5), "bob")
    assert paid.admit(Pure(0.4), "bob").total.left == 0


def test_under_separate_budgets_each_has_a_purse():
    paid = account(Policy.SEPARATE).admit(Pure(0.6), "ann")
    assert paid.fits(Pure(1), "bob")
    assert not paid.fits(Pure(0.5), "ann")
    assert paid.total.spent == 0
    with pytest.raises(BudgetExceeded, match="one analyst"):
        paid.admit(Pure(0.5), "ann")


def test_nobody_in_particular_pays_from_the_total():
    paid = account().admit(TENTH, "")
    assert paid.total.spent == Fraction(1, 10)
    assert paid.analysts == {}


def test_a_limit_of_ones_own_binds_first():
    small = account().resize(Fraction(1, 5), "ann")
    assert small.fits(TENTH, "ann")
    assert not small.fits(Pure(0.3), "ann")
    assert small.fits(Pure(0.3), "bob")
    with pytest.raises(BudgetExceeded, match="own share"):
        small.admit(Pure(0.3), "ann")
    assert small.resize(None, "ann").fits(Pure(0.3), "ann")


def test_a_limit_of_ones_own_is_never_above_the_budget():
    assert not account().resize(Fraction(5), "ann").fits(Pure(2), "ann")
    assert not account(Policy.SEPARATE).resize(Fraction(5), "ann").fits(Pure(2), "ann")


@pytest.mark.parametrize("policy", Policy)
def test_lowering_below_what_is_spent_leaves_nothing(policy):
    paid = account(policy).admit(Pure(0.6), "ann")
    lowered = paid.resize(Fraction(1, 10), None)
    assert not lowered.fits(Pure(0.01), "ann")
    assert lowered.filter_of("ann").left == 0
    assert lowered.filter_of("ann").spent == Fraction(6, 10)
    raised = lowered.resize(Fraction(1), None)
    assert raised.fits(Pure(0.4), "ann")
    assert not raised.fits(Pure(0.41), "ann")


def test_lowering_an_analyst_below_what_is_spent_leaves_them_nothing():
    lowered = account().admit(Pure(0.6), "ann").resize(Fraction(1, 10), "ann")
    assert not lowered.fits(Pure(0.01), "ann")
    assert lowered.fits(Pure(0.4), "bob")


def test_raising_does_not_forget():
    raised = account().admit(Pure(0.6), "ann").resize(Fraction(2), None)
    assert (limit_of(raised.total), raised.total.spent) == (2, Fraction(6, 10))
    assert raised.fits(Pure(1.4), "ann")
    assert not raised.fits(Pure(1.5), "ann")


@pytest.mark.parametrize("policy", Policy)
def test_what_became_known_elsewhere_is_charged_to_all(policy):
    known = account(policy).admit(Pure(0.3), "ann").disclose(Pure(0.5))
    assert not known.fits(Pure(0.3), "ann")
    assert known.fits(Pure(0.2), "ann")
    assert not known.fits(Pure(0.6), "newcomer")


@pytest.mark.parametrize("policy", Policy)
@pytest.mark.parametrize("cost", [None, Pure(2), GaussianNoise(1)])
def test_more_than_was_left_closes_the_account_for_good(policy, cost):
    closed = account(policy).admit(TENTH, "ann").disclose(cost)
    assert closed.closed
    for analyst in ("", "ann", "newcomer"):
        assert not closed.fits(Pure(0.01), analyst)
        with pytest.raises(BudgetExceeded, match="closed"):
            closed.admit(Pure(0.01), analyst)
    assert closed.resize(Fraction(100), None).closed


def test_the_filter_that_leaves_least_is_named():
    paid = account().resize(Fraction(1, 5), "ann").admit(TENTH, "bob")
    assert paid.binding("ann").left == Fraction(1, 5)
    assert paid.binding("bob").left == Fraction(9, 10)


def test_a_payment_leaves_the_old_account_as_it_was():
    before = account()
    before.admit(TENTH, "ann")
    assert before == account()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("pay"), st.sampled_from(["", "ann", "bob"]), st.fractions(Fraction(1, 100), 1)),
        st.tuples(st.just("limit"), st.sampled_from([None, "ann", "bob"]), st.fractions(Fraction(1, 100), 3)),
        st.tuples(st.just("known"), st.just(None), st.fractions(Fraction(1, 100), 1)),
    ),
    max_size=12,
)


def lived(steps, policy, budget):
    life = account(policy, budget)
    for verb, who, number in steps:
        if verb == "pay" and life.fits(Pure(number), who):
            life = life.admit(Pure(number), who)
        elif verb == "limit":
            life = life.resize(number, who)
        elif verb == "known":
            life = life.disclose(Pure(number))
    return life


@given(STEPS, st.sampled_from(Policy), st.sampled_from([Budget(2), Budget(rho=1), Budget(2, 1e-6)]))
def test_an_account_is_read_back_from_its_text(steps, policy, budget):
    life = lived(steps, policy, budget)
    assert DatasetAccount.from_text(life.to_text()) == life


def test_a_changed_text_of_an_account_is_refused_or_another_account():
    text = account().admit(TENTH, "ann").to_text()
    for place in range(len(text)):
        changed = f"{text[:place]}7{text[place + 1 :]}"
        with suppress(LedgerDamaged):
            assert DatasetAccount.from_text(changed).to_text() == changed


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "ä"])
def test_a_text_that_no_account_has_is_refused(text):
    with pytest.raises(DiscreetError):
        DatasetAccount.from_text(text)
