"""How many people still take part in a question: for a price, from those who can pay it."""

from fractions import Fraction

import pandas as pd
import pytest

import discreet
from discreet.core import BudgetExceeded, InvalidInput
from discreet.gate import Budget
from discreet.query import Epsilon, ParticipationPlan

COUNT = "SELECT COUNT(*) AS n FROM visits"
#: Everybody has one visit, and every tenth person nine more.
VISITS = pd.DataFrame({"patient": [n for n in range(1000) for _ in range(1 if n % 10 else 10)]}).assign(ward="A")
LIMIT = discreet.Limit(rows_per_group=10)


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Return what opens the visits with a budget."""
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    sessions = []

    def opening(budget):
        ledger = tmp_path / f"{len(sessions)}.ledger"
        sessions.append(
            discreet.open(VISITS, person="patient", table="visits", limit=LIMIT, budget=budget, ledger=ledger)
        )
        return sessions[-1]

    yield opening
    for session in sessions:
        session.close()


def near(found, expected):
    return abs(found - expected) < 100


def test_people_leave_by_their_own_accounts(opened):
    """A question costs those with ten visits a hundred times as much as the others, so that they leave first."""
    session = opened(Budget(rho=1, per="person"))
    before = session.participation(COUNT, rho=0.7, price=0.05)
    assert near(before.asked, 1000)
    assert near(before.taking_part, 1000)
    session.sql(COUNT, rho=0.7)
    after = session.participation(COUNT, rho=0.7, price=0.05)
    assert near(after.asked, 1000)
    assert near(after.taking_part, 900)


def test_whoever_is_counted_pays_for_that_and_not_for_the_question(opened):
    session = opened(Budget(rho=1, per="person"))
    session.participation(COUNT, rho=0.7, price=0.05)
    assert 0.05 <= float(session.ledger.statement(0).spent) < 0.0501
    session.sql(COUNT, rho=0.7)
    spent = float(session.ledger.statement(0).spent)
    # Half of the price is too much beside what the question would take: counted once, and once not.
    session.participation(COUNT, rho=0.7, price=0.05)
    assert 0.025 <= float(session.ledger.statement(0).spent) - spent < 0.0251


def test_who_cannot_pay_to_be_counted_is_in_neither(opened):
    session = opened(Budget(rho=1, per="person"))
    session.sql(COUNT, rho=0.99)
    found = session.participation(COUNT, rho=0.5, price=0.05)
    assert near(found.asked, 900)
    assert near(found.taking_part, 900)


def test_it_is_counted_anew_each_time_unless_wanted_otherwise(opened):
    session = opened(Budget(rho=1, per="person"))
    first = session.participation(COUNT, rho=0.5, price=0.01, request="monday")
    assert session.participation(COUNT, rho=0.5, price=0.01, request="monday") == first
    assert session.participation(COUNT, rho=0.5, price=0.01, fresh=False) == first
    assert len(list(session.ledger.orphans())) == 0
    again = session.participation(COUNT, rho=0.5, price=0.01)
    assert session.ledger.state.payments == 2
    assert "people take part" in str(again)


def test_in_epsilon_the_price_is_one(opened):
    session = opened(Budget(epsilon=1, per="person"))
    found = session.participation(COUNT, epsilon=0.2, price=0.2)
    assert near(found.asked, 1000)
    assert float(session.ledger.statement(0).spent) == pytest.approx(0.2, abs=1e-6)


def test_where_nobody_leaves_there_is_nothing_to_buy(opened):
    session = opened(Budget(epsilon=1))
    with pytest.raises(InvalidInput, match="Participation is complete here"):
        session.participation(COUNT, epsilon=0.2, price=0.2)
    assert session.ledger.spent == 0


def test_a_limit_that_is_not_chosen_yet_is_refused_before_anything_is_paid(tmp_path, monkeypatch):
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    budget = Budget(rho=1, per="person")
    with discreet.open(VISITS, person="patient", table="visits", budget=budget, ledger=tmp_path / "a") as session:
        with pytest.raises(InvalidInput, match="a contribution bound that is chosen when it is asked"):
            session.participation(COUNT, rho=0.2, price=0.2)
        assert session.ledger.state.payments == 0
        plan = session.preview(COUNT, rho=0.2, limit=LIMIT).plan
        assert ParticipationPlan(plan, Epsilon(1)).personal


def test_questions_that_take_all_that_the_reserve_leaves_fit(opened):
    session = opened(Budget(epsilon=1, per="person", least=0.001))  # of which 0.02 are the reserve
    for part, price in enumerate([0.1] * 9 + [0.08]):
        found = session.sql(f"SELECT COUNT(DISTINCT patient) AS n FROM visits WHERE patient >= -{part}", epsilon=price)
        assert near(found.value, 1000)
    assert session.ledger.statement(0).left == 0
    assert "may exceed a person's account" in repr(session.preview(COUNT, epsilon=0.99))
    assert "may exceed a person's account" not in repr(session.preview(COUNT, epsilon=0.98))


def test_what_is_refused_nobody_takes_part_in(opened):
    session = opened(Budget(epsilon=1, per="person", most=0.1))
    with pytest.raises(BudgetExceeded, match="one question may cost at most"):
        session.participation(COUNT, epsilon=0.2, price=0.1)
    assert session.ledger.state.payments == 0


def test_who_has_no_failure_mass_left_does_not_take_part(opened):
    session = opened(Budget(rho=10, delta=1e-6, per="person"))
    groups = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
    plan = session.preview(groups, rho=0.5).plan
    mass = sum(part.delta for part in plan.parts if hasattr(part, "delta"))
    assert mass > 0
    before = session.participation(groups, rho=0.5, price=0.1)
    assert near(before.taking_part, 1000)
    for _ in range(int(Fraction(1, 10**6) / mass)):
        session.sql(groups, rho=0.05, fresh=True)
    after = session.participation(groups, rho=0.5, price=0.1)
    assert near(after.asked, 1000)
    assert near(after.taking_part, 0)
