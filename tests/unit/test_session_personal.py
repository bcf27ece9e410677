"""Sessions whose budget is each person's own: who pays, who is left out without a word, and that nobody is told."""

import re
from datetime import date, timedelta
from fractions import Fraction

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Limit, Matches
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, Neighbours, PrivacyUnit
from discreet.session.reports.report import write_report
from personal_model import Model, Part, Question

#: Patient n has 1, 2 or 3 visits, in wards A and B by turns: of 36 people half begin in each.
VISITS = [
    {
        "who": n,
        "ward": "AB"[(n + k) % 2],
        "town": f"t{n % 2}",
        "stay": float(n % 10),
        "cost": float(n % 7),
        "day": date(2024, 1 + k, 1) + timedelta(days=n % 20),
    }
    for n in range(36)
    for k in range(1 + n % 3)
]
ROWS = {n: [row for row in VISITS if row["who"] == n] for n in range(36)}
#: So much that noise rounds away; and what is enough for two such questions, and not for three.
SURE = 10**5
TWO = 25 * 10**4
COUNT = "SELECT COUNT(*) AS n FROM visits"
IN_A = "SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def opened(folder, rows=VISITS, name="visits", **changes):
    settings = {
        "table": "visits",
        "person": "who",
        "groups": {"ward": ["A", "B"]},
        "bounds": {"stay": (0, 10)},
        "budget": Budget(rho=TWO, delta=1e-6, per="person"),
        "ledger": folder / f"{name}.ledger",
        "limit": Limit(groups=2, rows_per_group=3),
        "anchors": [],
    }
    return discreet.open(pa.Table.from_pylist(rows), **{**settings, **changes})


@pytest.fixture
def clinic(tmp_path):
    with opened(tmp_path) as session:
        yield session


def charges(session, person):
    return [one.amount for one in session.ledger.statement(person).charges]


# Who pays


def test_only_those_who_are_in_an_answer_pay_for_it(clinic):
    assert clinic.sql(IN_A, rho=SURE).value == sum(row["ward"] == "A" for row in VISITS)
    for person, rows in ROWS.items():
        assert bool(charges(clinic, person)) is any(row["ward"] == "A" for row in rows)
    assert clinic.ledger.statement(999).charges == ()


MODELS = {
    "Gaussian": ({"rho": TWO}, {"rho": 1000}, "gaussian", "rho"),
    "Laplace in ε": ({"epsilon": 500}, {"epsilon": 10}, "laplace", "epsilon"),
    "Laplace in ρ": ({"rho": TWO}, {"epsilon": 10}, "laplace", "rho"),
}


@pytest.mark.parametrize("case", MODELS)
def test_a_statement_is_what_the_plain_model_charges(tmp_path, case):
    budget, price, kind, currency = MODELS[case]
    ((_, loss),) = price.items()
    # Of the limit: six rows in all where there are no groups, else three in each of two.
    reach, squares = (6, 6), (36, 18)
    asked = [(IN_A, lambda row: row["ward"] == "A", 0), (BY_WARD, lambda _row: True, 1)]
    with opened(tmp_path, budget=Budget(**budget, per="person")) as session:
        quantum = session.ledger.state.account.terms.quantum
        model = Model(2**31, currency=currency, quantum=quantum)
        for text, counts, place in asked:
            session.sql(text, **price)
            most = (squares if kind == "gaussian" else reach)[place]
            part = Part(kind, Fraction(loss), most, group=lambda row: row["ward"])  # of A alone, one group
            model.ask(Question((part,), counts), ROWS)
        for person in ROWS:
            found = session.ledger.statement(person).spent / quantum
            # Two questions, each of which may be rounded up once more.
            assert 0 <= found - model.spent.get(person, (0, 0))[0] <= 2


def test_the_same_question_again_is_free_and_charges_nobody(clinic):
    first = clinic.sql(IN_A, rho=SURE)
    before = [clinic.ledger.statement(person) for person in ROWS]
    again = clinic.sql(IN_A, rho=SURE)
    assert (again.fresh, again.value) == (False, first.value)
    assert [clinic.ledger.statement(person) for person in ROWS] == before
    clinic.sql(IN_A, rho=SURE, fresh=True)
    assert len(charges(clinic, 0)) == 2


def test_two_tables_are_charged_to_one_account(tmp_path):
    patients = pa.Table.from_pylist([{"id": n, "sex": "fm"[n % 2]} for n in range(36)])
    with discreet.open(
        {"visits": pa.Table.from_pylist(VISITS), "patients": patients},
        person={"visits": "who", "patients": "id"},
        groups={"visits": {"ward": ["A", "B"]}, "patients": {"sex": ["f", "m"]}},
        budget=Budget(rho=TWO, per="person"),
        ledger=tmp_path / "both.ledger",
        limit=Limit(rows_per_group=3),
        anchors=[],
    ) as session:
        session.sql(COUNT, rho=SURE)
        session.sql("SELECT COUNT(*) AS n FROM patients", rho=SURE, limit=Limit())
        session.sql("SELECT sex, COUNT(*) AS n FROM visits JOIN patients ON who = id GROUP BY sex", rho=SURE)
        assert len(charges(session, 5)) == 2  # of three visits, so that the third question is too much
        assert len(charges(session, 0)) == 3
        assert session.ledger.distribution().people == 36


def test_a_window_has_accounts_of_its_own(tmp_path):
    with opened(tmp_path, window="month of day") as session:
        session.sql(f"{COUNT} WHERE day < DATE '2024-02-01'", rho=SURE)
        assert len(session.ledger.statement(5, date(2024, 1, 1)).charges) == 1
        assert session.ledger.statement(5, date(2024, 2, 1)).charges == ()
        assert session.ledger.statement(5).charges == ()


PATHS = [("A", "t0"), ("A", "t1"), ("B", "t0"), ("B", "t1")]
ASKED = {
    "batch": lambda one: one.batch([COUNT, BY_WARD], rho=10),
    "hierarchy": lambda one: one.hierarchy(["ward", "town"], PATHS, rho=10),
    "bounds": lambda one: one.buy_bounds("cost", epsilon=4),
    "median": lambda one: one.sql("SELECT MEDIAN(stay) AS m FROM visits", epsilon=4),
    "private groups": lambda one: one.sql("SELECT town, COUNT(*) AS n FROM visits GROUP BY town", rho=10),
    "within": lambda one: one.sql(COUNT, within=3),
    "a contribution bound that is chosen": lambda one: one.for_analyst("ada").sql(COUNT, rho=10),
    "average": lambda one: one.sql("SELECT ward, AVG(stay) AS s FROM visits GROUP BY ward", rho=10),
}


@pytest.mark.parametrize("what", ASKED)
def test_whatever_can_be_asked_is_charged_to_those_in_it_and_never_above_its_price(tmp_path, what):
    limit = None if "limit" in what else Limit(groups=2, rows_per_group=3)
    with opened(tmp_path, limit=limit) as session:
        ASKED[what](session)
        quantum = session.ledger.state.account.terms.quantum
        paid = {receipt.number: receipt.cost for receipt in session.ledger.recent(9)}
        for person in (0, 5):
            found = session.ledger.statement(person)
            assert {one.payment for one in found.charges} == set(paid)
            for one in found.charges:
                worst = session.ledger.state.account.terms.price(paid[one.payment])
                # Every pass over the rows is rounded up for itself; there are few.
                assert 0 < one.amount <= (worst[0] + 4) * quantum
                assert one.failures <= worst[1] * session.ledger.state.account.terms.failures_quantum
        assert session.ledger.statement(999).charges == ()
        assert session.ledger.verify().sound


# Who is left out


def drained(folder, name):
    """Ask two questions that use up the accounts of those with three visits, and theirs alone."""
    with opened(folder, name=name) as session:
        session.sql(COUNT, rho=SURE, limit=Limit(rows_per_group=3))
        session.sql(f"{COUNT} WHERE stay >= 0", rho=SURE, limit=Limit(rows_per_group=3))


def third(folder, name, rows=VISITS):
    with opened(folder, rows=rows, name=name) as session:
        return session.sql(f"{COUNT} WHERE stay < 100", rho=SURE, limit=Limit(rows_per_group=3)).value


def test_whoever_has_nothing_left_is_left_out_as_if_they_were_not_in_the_table(tmp_path):
    """The same answer with their rows and without them; and not the answer of everybody."""
    drained(tmp_path, "with")
    drained(tmp_path, "without")
    found = third(tmp_path, "with")
    others = [row for row in VISITS if row["who"] % 3 != 2]
    assert found == third(tmp_path, "without", others) == len(others) < len(VISITS)
    with opened(tmp_path, name="with") as session:
        assert len(charges(session, 5)) == 2
        assert len(charges(session, 0)) == 3


def test_nothing_that_an_analyst_sees_tells_that_somebody_left(tmp_path):
    """What is shown before everybody's accounts are used up, and after: the same but for what was asked."""
    with opened(tmp_path, budget=Budget(rho=TWO, per="person", most=2 * SURE)) as session:
        shown = [_seen(session)]
        for place in range(9):
            session.sql(f"{COUNT} WHERE stay < {100 + place}", rho=SURE, limit=Limit(rows_per_group=3))
        assert session.ledger.statement(5).left < SURE
        shown.append(_seen(session))
    assert shown[0] == shown[1]


def _seen(session):
    """Return all that shows how much is spent or left, less the counts of payments and entries."""
    with pytest.raises(BudgetExceeded) as refused:
        session.sql(BY_WARD, rho=3 * SURE)
    ledger = repr(session.ledger).splitlines()[:-1]
    meters = re.findall(r"<meter.*?>", session.ledger._repr_html_())
    return [
        repr(session),
        ledger,
        meters,
        repr(session.preview(BY_WARD, rho=SURE)),
        session.preview(BY_WARD, rho=SURE)._repr_html_(),
        repr(session.preview_batch([COUNT, BY_WARD], rho=SURE)),
        repr(session.preview_hierarchy(["ward", "town"], PATHS, rho=SURE)),
        repr(session.explain(BY_WARD, rho=SURE)),
        str(refused.value),
        (session.ledger.left, session.ledger.spent),
    ]


# What is shown


def test_a_session_tells_the_terms_and_no_balance(clinic):
    clinic.sql(COUNT, rho=SURE)
    for text in (repr(clinic), repr(clinic.ledger)):
        assert "budget of ρ = 250000" in text.replace(",", "")
        assert "█" not in text
        assert "░" not in text
        assert "spent" not in text
        assert "%" not in text
    assert "fits; each participant is charged" in repr(clinic.preview_batch([IN_A, BY_WARD], rho=1))
    assert "what is left" not in repr(clinic.preview_batch([IN_A, BY_WARD], rho=1))


def test_a_total_beside_is_shown_as_it_is_everybodys(tmp_path):
    budget = Budget(rho=TWO, per="person", total=Budget(rho=4 * SURE))
    with opened(tmp_path, budget=budget) as session:
        session.sql(COUNT, rho=SURE)
        assert re.search(r"ρ = 100000 of 400000 spent, 300000 left", repr(session))
        assert "each person" in repr(session)
        with pytest.raises(BudgetExceeded) as refused:
            session.sql(IN_A, rho=3.5 * SURE)
        assert "ask with rho=300000" in refused.value.fix


def test_a_refusal_by_the_worst_cost_says_what_may_be_asked(tmp_path):
    with opened(tmp_path, budget=Budget(rho=TWO, per="person", most=SURE)) as session:
        with pytest.raises(BudgetExceeded) as refused:
            session.sql(COUNT, rho=2 * SURE)
        assert re.search(r"ask with rho=(100000|99900)\b", refused.value.fix)
        assert session.ledger.state.payments == 0
    with opened(tmp_path, name="small", budget=Budget(rho=9, per="person", most=1)) as session:
        with pytest.raises(BudgetExceeded) as refused:
            session.sql(COUNT, epsilon=3)
        assert "epsilon=" not in refused.value.fix  # a ρ is no ε


def test_a_report_shows_terms_and_no_gauge(clinic, tmp_path):
    answer = clinic.sql(BY_WARD, rho=SURE)
    write_report(clinic, [answer], tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "The budget, each person" in page
    assert "left out silently" in page
    assert '<svg class="gauge"' not in page
    assert "spent, " not in page


def test_closed_accounts_say_so(clinic):
    clinic.ledger.disclose(None, by="eve", reason="a leak")
    assert "the account is closed" in repr(clinic)
    assert clinic.ledger.statement(5).left == 0


# What is refused


def test_a_counter_is_refused_with_what_to_do(clinic):
    counter = clinic.counter("day", start=date(2024, 1, 1), steps=30, rho=1)
    with pytest.raises(InvalidInput, match="cannot be charged to each person") as refused:
        counter.refresh(date(2024, 2, 1))
    assert "ask for each day by itself" in refused.value.fix
    assert clinic.ledger.state.payments == 0


def test_joins_of_people_with_each_other_are_refused_before_anything_is_paid(clinic):
    text = "SELECT COUNT(*) AS n FROM visits AS a JOIN visits AS b ON a.town = b.town"
    with pytest.raises(InvalidInput, match="cannot be charged to each person"):
        clinic.sql(text, rho=1, matches=Matches(rows=2, matches=2))
    assert clinic.ledger.state.payments == 0


@pytest.mark.parametrize(
    ("unit", "changes", "problem"),
    [
        (None, {"person": None, "row": True, "limit": None}, "A row has no account"),
        (PrivacyUnit(column="who", neighbours=Neighbours.REPLACE), {}, "add/remove"),
    ],
)
def test_rows_and_people_who_are_replaced_have_no_accounts(tmp_path, unit, changes, problem):
    with pytest.raises(DiscreetError, match=problem):
        opened(tmp_path, budget=Budget(rho=1, per="person", unit=unit), **changes)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_of_persons_is_not_gone_on_with_as_one_of_all(tmp_path):
    opened(tmp_path).close()
    with pytest.raises(InvalidInput, match="has the budget"):
        opened(tmp_path, budget=Budget(rho=TWO, delta=1e-6))
    with opened(tmp_path, budget=None) as session:
        assert session.ledger.budget.personal


# One name for life


def ids(values, kind):
    return pa.table({"who": pa.array(values, kind), "x": [1] * len(values)})


def named(folder, frame, **changes):
    """Open a frame whose ids are given."""
    settings = {"table": "visits", "person": "who", "budget": Budget(rho=TWO, per="person"), "anchors": []}
    return discreet.open(frame, **{**settings, "ledger": folder / "names.ledger", **changes})


def test_ids_that_become_reals_give_nobody_a_second_account(tmp_path):
    """As pandas makes them where one is missing; declared whole numbers, everybody has the account of before."""
    whole, real = ids([3, 3, 4], pa.int64()), ids([3.0, 3.0, 4.0, None], pa.float64())
    with named(tmp_path, whole) as session:
        session.sql(COUNT, rho=SURE, limit=Limit(rows_per_group=2))
    with pytest.raises(InvalidInput, match="two accounts of one person") as refused:
        named(tmp_path, real)
    assert 'kinds={"who": "integer"}' in refused.value.fix
    with named(tmp_path, real, kinds={"who": "integer"}) as session:
        assert session.sql(f"{COUNT} WHERE x = 1", rho=SURE, limit=Limit(rows_per_group=2)).value == 3
        assert len(charges(session, 3)) == 2
        assert session.ledger.distribution().people == 2


UNSTABLE = {
    "reals": (ids([3.0, 4.0], pa.float64()), {}),
    "reals as texts": (ids([3.0, 4.0], pa.float32()), {"kinds": {"who": "text"}}),
    "decimals": (ids([3, 4], pa.decimal128(9, 2)), {}),
    "moments": (ids([1, 2], pa.timestamp("us")), {}),
    "moments with a zone": (ids([1, 2], pa.timestamp("us", "UTC")), {}),
}


@pytest.mark.parametrize("what", UNSTABLE)
def test_ids_whose_text_may_change_begin_no_ledger(tmp_path, what):
    frame, said = UNSTABLE[what]
    with pytest.raises(InvalidInput, match="timestamps" if "moments" in what else "two accounts"):
        named(tmp_path, frame, **said)
    assert list(tmp_path.iterdir()) == []
    named(tmp_path, frame, **said, budget=Budget(rho=TWO)).close()  # one account for all has no names


def test_of_several_tables_it_is_said_which_is_declared(tmp_path):
    frames = {"visits": ids([3.0], pa.float64()), "stays": ids([3.0], pa.float64())}
    with pytest.raises(InvalidInput) as refused:
        named(tmp_path, frames, table=None)
    assert 'kinds={"visits": {"who": "integer"}}' in refused.value.fix


STABLE = {
    "whole numbers": ids([3, 4], pa.int32()),
    "large ones": ids([3, 4], pa.uint64()),
    "decimals without a fraction": ids([3, 4], pa.decimal128(20, 0)),
    "texts": ids(["3", "4"], pa.string()),
    "categories": ids(["3", "4"], pa.dictionary(pa.int8(), pa.string())),
}


def test_whole_numbers_and_texts_share_names(tmp_path):
    for place, frame in enumerate(STABLE.values()):
        with named(tmp_path, frame) as session:
            session.sql(f"{COUNT} WHERE x > {place - 9}", rho=1, limit=Limit())
            assert len(charges(session, 3)) == len(charges(session, "4")) == place + 1
            assert session.ledger.distribution().people == 2


@pytest.mark.parametrize("table", ["visits", "stays"])
def test_people_who_are_named_by_another_kind_than_before_are_refused(tmp_path, table):
    """Whatever the table is called: accounts are the ledger's."""
    days = ids([date(2024, 1, 1), date(2024, 1, 2)], pa.date32())
    named(tmp_path, days).close()
    with named(tmp_path, days) as session:
        session.sql(COUNT, rho=1, limit=Limit())
        assert len(charges(session, date(2024, 1, 1))) == 1
        size = len(list(session.ledger.entries()))
    for other in (STABLE["texts"], STABLE["whole numbers"], ids([True, False], pa.bool_())):
        with pytest.raises(InvalidInput, match="would get a second"):
            named(tmp_path, other, table=table)
    with named(tmp_path, days) as session:
        assert len(list(session.ledger.entries())) == size
