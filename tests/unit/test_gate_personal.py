"""Budgets, terms and events of personal accounts: what is public about them."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.accounting import Approximate, Concentrated, GaussianNoise, Pure, Renyi, guarantee
from discreet.accounting.conversions import concentrated_epsilon
from discreet.accounting.personal import QUANTA, Currency, largest_rho, personal_limit
from discreet.core import BudgetExceeded, InvalidInput, LedgerDamaged, Neighbours, PrivacyUnit, WrongType
from discreet.gate import Budget, Ledger, PersonalAccount, Policy
from discreet.gate.accounts import personal_terms as personal_account
from discreet.gate.accounts.personal_terms import account_from_text, create_account
from discreet.gate.entries.events import Birth, Charged, Snapshot, from_body, kind_name, to_body
from personal_plans import UNIT, personal

POSITIVE = st.fractions(Fraction(1, 10**4), 50, max_denominator=10**6)
DELTAS = st.integers(3, 15).map(lambda power: Fraction(1, 10**power))
BUDGETS = st.one_of(
    st.builds(personal, POSITIVE),
    st.builds(personal, POSITIVE, DELTAS),
    st.builds(lambda rho, delta: personal(rho=rho, delta=delta), POSITIVE, DELTAS | st.just(Fraction(0))),
)
TEXTS = st.text(max_size=20)
NUMBERS = st.integers(0, 2**63)


def born(budget):
    return PersonalAccount.create(budget, Policy.SHARED)


# Limits in quanta.


@settings(max_examples=30)
@given(BUDGETS)
def test_a_limit_has_as_many_quanta_at_birth_and_is_never_above_the_budget(budget):
    limit = budget.personal_limit()
    assert limit.limit == QUANTA
    assert all(QUANTA % parts == 0 for parts in (*range(1, 17), 100, 1000))
    assert limit.failures <= budget.delta
    if budget.rho or not budget.delta:
        assert 0 <= budget.limit - limit.amount < limit.quantum


@settings(max_examples=30)
@given(POSITIVE, DELTAS)
def test_what_a_person_may_be_charged_implies_the_promised_epsilon_and_nearly_all_of_it(epsilon, delta):
    limit = personal_limit(epsilon, delta)
    assert limit.currency is Currency.RHO
    assert limit.failures <= delta / 10
    found = guarantee(limit.promise, delta)
    assert found.epsilon <= epsilon
    assert found.epsilon >= 0.999 * float(epsilon)
    # A little more would not do: the limit is not wasteful.
    assert concentrated_epsilon(limit.amount * Fraction(1001, 1000), delta - delta / 10) > epsilon


def test_a_reserve_is_what_failures_have_and_the_rest_is_for_rho():
    wide, narrow = personal(2, 1e-6, reserve=1e-8), personal(2, 1e-6, reserve=5e-7)
    assert wide.personal_limit().amount > narrow.personal_limit().amount
    assert narrow.personal_limit().failures <= Fraction(5, 10**7)
    with pytest.raises(InvalidInput, match="Nothing is left of delta"):
        personal(2, 1e-6, reserve=1e-6)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10**30), Fraction(1, 10**6), Fraction(10**4)])
def test_the_search_for_a_rho_ends_where_it_is_implied_also_far_out(epsilon):
    delta = Fraction(1, 10**9)
    assert 0 <= concentrated_epsilon(largest_rho(epsilon, delta), delta) <= epsilon


@settings(max_examples=30)
@given(BUDGETS, POSITIVE)
def test_a_price_is_never_below_the_cost(budget, cost):
    limit = budget.personal_limit()
    quanta, failures = limit.price(Pure(cost))
    worth = cost if limit.currency is Currency.EPSILON else cost**2 / 2
    assert worth <= quanta * limit.quantum < worth + limit.quantum
    assert failures == 0


def test_costs_without_a_price_in_the_currency_have_none():
    pure, rho = personal(1).personal_limit(), personal(rho=1).personal_limit()
    assert pure.price(Approximate(0.1, 1e-9)) is None
    assert pure.price(GaussianNoise(5)) is None
    assert rho.price(Renyi([(2, 0.1)])) is None
    assert rho.price(Approximate(1, 1e-9)) == (-(-Fraction(1, 2) // rho.quantum), 1)


# Budgets.


def test_a_budget_is_the_dataset_s_unless_it_says_otherwise():
    assert Budget(1).per == "dataset"
    assert not Budget(1).personal
    assert personal(1).personal
    assert Budget(1) != Budget(1, per="person")


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"per": "row"}, InvalidInput),
        ({"per": "person", "unit": PrivacyUnit()}, InvalidInput),
        ({"per": "person", "unit": PrivacyUnit(column="p", neighbours=Neighbours.REPLACE)}, InvalidInput),
        ({"most": 0.1}, InvalidInput),
        ({"total": Budget(3)}, InvalidInput),
        ({"per": "person", "total": 3}, WrongType),
        ({"per": "person", "total": Budget(3, per="person")}, InvalidInput),
        ({"per": "person", "most": 0}, InvalidInput),
    ],
)
def test_what_persons_cannot_have_accounts_for_is_refused(wrong, error):
    with pytest.raises(error) as caught:
        Budget(1, **wrong)
    assert caught.value.fix


def test_a_budget_keeps_all_it_says_when_it_gets_its_unit():
    budget = Budget(2, 1e-9, per="person", most=0.5, total=Budget(20, 1e-6), reserve=2e-10).about(UNIT)
    assert budget == personal(2, 1e-9, most=0.5, total=Budget(20, 1e-6, unit=UNIT), reserve=2e-10)
    assert budget.total.unit == UNIT


def test_rows_have_no_accounts_and_analysts_no_accounts_of_persons_for_themselves(tmp_path):
    with pytest.raises(InvalidInput, match="need a person"):
        Ledger.create(tmp_path / "a.ledger", Budget(1, per="person"))
    with pytest.raises(InvalidInput, match="together"):
        Ledger.create(tmp_path / "a.ledger", personal(1), policy=Policy.SEPARATE)
    assert not (tmp_path / "a.ledger").exists()


# Terms.


def test_a_payment_charges_nobody_and_is_refused_by_what_is_public_alone():
    account = born(personal(rho=1))
    for _ in range(50):
        account = account.admit(Concentrated(0.4), "ann")  # worst costs do not add up
    assert account.total.left == account.terms.amount - account.reserve * account.terms.quantum
    assert account.fits(Concentrated(5), "ann")  # nobody has to pay the worst
    with pytest.raises(BudgetExceeded, match="no cost in ρ"):
        account.admit(Renyi([(2, 0.1)]), "ann")


def test_the_worst_cost_of_one_question_is_capped_in_the_budget_s_currency():
    account = born(personal(2, 1e-9, most=0.5))
    worst = Concentrated(account.cap * account.terms.quantum)
    assert guarantee(worst, Fraction(9, 10**10)).epsilon <= 0.5
    assert account.fits(worst, "")
    with pytest.raises(BudgetExceeded, match="one question may cost at most"):
        account.admit(Concentrated(account.cap * account.terms.quantum + account.terms.quantum / 10), "")


def test_a_failure_mass_that_nobody_could_pay_is_refused_beforehand():
    account = born(personal(2, 1e-9))
    assert account.fits(Concentrated(0.01, 1e-11), "")
    with pytest.raises(BudgetExceeded, match="may fail"):
        account.admit(Concentrated(0.01, 1e-9), "")
    with pytest.raises(BudgetExceeded, match="may fail"):
        born(personal(rho=1)).admit(Concentrated(0.01, 1e-12), "")


def test_with_a_total_everybody_pays_besides():
    account = born(personal(rho=1, total=Budget(rho=1)))
    account = account.admit(Concentrated(0.6), "ann")
    assert account.everybody.total.left == Fraction(4, 10)
    assert account.binding("ann").left == Fraction(4, 10)
    with pytest.raises(BudgetExceeded, match="is left"):
        account.admit(Concentrated(0.6), "ann")
    assert account.resize(Fraction(1, 10), "bob").limits == {"bob": Fraction(1, 10)}
    with pytest.raises(InvalidInput, match="no shares"):
        born(personal(rho=1)).resize(Fraction(1, 10), "bob")


@settings(max_examples=30)
@given(st.lists(st.tuples(st.sampled_from("pld"), st.fractions(Fraction(1, 100), 1)), max_size=12))
def test_nobody_can_have_lost_more_than_is_promised(happened):
    """The worst person there can be: charged the worst of every payment as long as it fits."""
    account, own = born(personal(rho=1)), 0
    for kind, amount in happened:
        if account.closed:
            break
        if kind == "p":
            account = account.admit(Concentrated(amount), "")
            price = account.terms.price(Concentrated(amount))[0]
            own += min(price, max(account.terms.limit - own, 0))
        elif kind == "l":
            account = account.resize(2 * amount, None)
        else:
            account = account.disclose(Concentrated(amount))
            own += account.terms.price(Concentrated(amount))[0]
        assert own * account.terms.quantum <= account.promise.rho
        assert account.limit >= account.stated
        assert account.limit >= own * account.terms.quantum or own <= account.terms.limit


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_every_run_that_charged_persons_counts_in_the_promise(monkeypatch, data):
    """The worst person again, whom every run of every payment charges all that it may, and payments of long ago."""
    monkeypatch.setattr(personal_account, "KEPT", 2)
    account, own, prices = born(personal(rho=1)), 0, {}
    for number in range(2, 2 + data.draw(st.integers(1, 20))):
        kind = data.draw(st.sampled_from("prral"))
        amount = data.draw(st.fractions(Fraction(1, 100), Fraction(1, 5)))
        if kind == "l":
            account = replace(account.resize(5 * amount, None), settled=number)
        elif kind == "p" and account.fits(Concentrated(amount), ""):
            account = account.admit(Concentrated(amount), "").record_payment(number, Concentrated(amount))
            prices[number] = account.terms.price(Concentrated(amount))[0]
        elif kind in "ra" and prices:
            payment = data.draw(st.sampled_from(sorted(prices)))
            account = account.record_run(payment)
            own += min(prices[payment], max(account.terms.limit - own, 0))
            if kind == "a":
                account = account.record_answer(payment)
                del prices[payment]
        assert own <= account.reached[0]
        assert own * account.terms.quantum <= account.promise.rho
        assert len(account.unanswered) <= 2
        assert account_from_text(account.to_text(), account.budget, Policy.SHARED) == account


def test_a_run_counts_once_in_the_promise_and_each_further_one_once_more():
    account = born(personal(rho=1)).admit(Concentrated(0.1), "").record_payment(2, Concentrated(0.1))
    price = account.terms.price(Concentrated(0.1))[0]
    for runs in (1, 2, 3):
        account = account.record_run(2)
        assert account.reached == (account.reserve + runs * price, 0)
    assert account.unanswered == ((2, price, 0, 1),)
    assert account.record_answer(3) == account
    assert account.record_answer(2).unanswered == ()


def test_a_run_of_a_payment_of_long_ago_counts_as_the_dearest_of_its_day(monkeypatch):
    monkeypatch.setattr(personal_account, "KEPT", 1)
    account = born(personal(rho=1, delta=1e-6))
    costs = Concentrated(0.02), Concentrated(0.1, 1e-9), Concentrated(0.01, 1e-8), Concentrated(0.3)
    for number, cost in enumerate(costs, 2):
        account = account.admit(cost, "").record_payment(number, cost)
    dearest = account.terms.price(Concentrated(0.1))[0], account.terms.price(Concentrated(0.01, 1e-8))[1]
    assert account.forgotten == dearest
    assert [one.payment for one in account.unanswered] == [5]
    for payment in (2, 2, 4):
        later = account.record_run(payment)
        assert later.reached == tuple(now + more for now, more in zip(account.reached, dearest, strict=True))
        assert account_from_text(later.to_text(), later.budget, Policy.SHARED) == later
        account = later


def test_what_was_paid_for_under_a_lower_limit_and_charged_under_a_higher_one_counts_in_full():
    account = born(personal(rho=1))
    for number in (2, 3):
        account = account.admit(Concentrated(0.9), "").record_payment(number, Concentrated(0.9))
    raised = replace(account.resize(Fraction(2), None), settled=4).record_run(2).record_run(3)
    assert raised.resize(Fraction(1), None).promise.rho >= Fraction(18, 10)


def test_a_lowered_limit_is_kept_from_now_on_and_the_promise_stays_what_may_have_been_charged():
    account = born(personal(2, 1e-9))
    assert account.limit == 2
    assert account.resize(Fraction(1), None).limit == 1  # nobody was charged yet
    worn = account.admit(Concentrated(1), "").resize(Fraction(1), None)
    assert worn.stated == 1
    assert worn.terms.limit < account.terms.limit
    assert Fraction(19, 10) < worn.limit <= 2
    assert 1.9 < guarantee(worn.promise, Fraction(1, 10**9)).epsilon <= 2


def test_a_limit_that_quanta_cannot_count_is_refused():
    account = born(personal(1))
    assert account.resize(Fraction(3, 2), None).terms.amount == Fraction(3, 2)
    with pytest.raises(InvalidInput, match="too far"):
        account.resize(Fraction(100), None)


def test_what_became_known_elsewhere_is_charged_to_everybody_and_may_close_the_accounts():
    account = born(personal(rho=1)).disclose(Concentrated(0.75))
    assert account.total.left == account.terms.amount - Fraction(3, 4) - account.reserve * account.terms.quantum
    assert not account.closed
    assert account.disclose(Concentrated(0.25)).closed
    assert account.disclose(None).closed
    assert account.disclose(Renyi([(2, 0.1)])).closed
    with pytest.raises(BudgetExceeded, match="closed"):
        account.disclose(None).admit(Concentrated(0.1), "")


@settings(max_examples=30)
@given(BUDGETS, st.lists(POSITIVE, max_size=3), st.booleans())
def test_an_account_is_read_back_from_its_text(budget, costs, closed):
    account = born(budget)
    for cost in costs:
        account = account.admit(Pure(cost), "ann").record_payment(len(account.unanswered) + 2, Pure(cost))
    account = account.record_run(2).record_charges(7, "ab" * 32, afresh=False)
    account = account.disclose(None if closed else Pure(Fraction(1, 1000)))
    assert account_from_text(account.to_text(), budget, Policy.SHARED) == account


def test_a_text_of_another_budget_is_refused():
    account = born(personal(rho=1, total=Budget(3)))
    assert account_from_text(account.to_text(), account.budget, Policy.SHARED) == account
    for other in (personal(rho=1), personal(rho=1, total=Budget(4))):
        with pytest.raises(LedgerDamaged):
            account_from_text(account.to_text(), other, Policy.SHARED)
    with pytest.raises(LedgerDamaged):
        account_from_text(account.to_text().replace('"since":0', '"since":00'), account.budget, Policy.SHARED)
    assert create_account(Budget(1), Policy.SHARED) == account_from_text(
        create_account(Budget(1), Policy.SHARED).to_text(), Budget(1), Policy.SHARED
    )


# Events.


@settings(max_examples=30)
@given(
    st.one_of(
        st.builds(Charged, at=TEXTS, payment=NUMBERS, after=NUMBERS, settled=NUMBERS, people=TEXTS),
        st.builds(Snapshot, at=TEXTS, after=NUMBERS, people=TEXTS),
        st.builds(
            Birth,
            at=TEXTS,
            title=TEXTS,
            budget=BUDGETS | st.just(personal(2, 1e-9, most=0.5, total=Budget(20, 1e-6, reserve=1e-7))),
            policy=st.just(Policy.SHARED),
            key=TEXTS,
            nonce=TEXTS,
        ),
    )
)
def test_an_event_is_read_back_from_its_bytes(event):
    assert from_body(to_body(event)) == event
    assert kind_name(event) in ("charge", "snapshot", "birth")


def test_a_birth_of_a_dataset_s_budget_says_nothing_of_persons():
    birth = Birth(at="", title="", budget=Budget(1), policy=Policy.SHARED, key="", nonce="")
    assert not {b'"per"', b'"most"', b'"total"'} & set(to_body(birth).replace(b":", b",").split(b","))
    assert b'"per":"person"' in to_body(
        Birth(at="", title="", budget=personal(1), policy=Policy.SHARED, key="", nonce="")
    )


def test_the_chain_does_not_tell_how_many_persons_there_are():
    body = to_body(Charged(at="now", payment=2, after=0, settled=0, people="ab" * 32))
    assert b"size" not in body
