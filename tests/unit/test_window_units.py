"""Units that are a person's month: whose rows they are, what is promised, and that it is kept."""

from dataclasses import replace
from datetime import date, timedelta

import pytest

import discreet
from data_checks import mismatches
from data_engines import arrow_table, duck_table
from data_worlds import World
from discreet.algebra.aggregates import Aggregation, Key, Load, People, PeopleBy, PeopleCut, Rows, Total, sensitivity_of
from discreet.algebra.expressions import ColumnValue
from discreet.core import Bounds, InvalidInput, Limit, Period, PrivacyUnit, Window, WrongType
from discreet.core.schema import Column, Kind, Schema
from discreet.data.opening import open_table
from discreet.gate import Budget
from discreet.gate.entries.budget import Policy
from discreet.gate.entries.events import from_body, to_body
from discreet.gate.ledger.state import build_birth

WINDOW = Window(period=Period.MONTH, time="day")
UNIT = PrivacyUnit(column="who", window=WINDOW)
SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="who", kind=Kind.INTEGER),
        Column(name="day", kind=Kind.DATE),
        Column(name="x", kind=Kind.INTEGER),
    ),
    unit=UNIT,
)
X = ColumnValue("x", Kind.INTEGER)
DAYS = [None if n % 17 == 0 else date(2023, 12, 20) + timedelta(days=n * 7 % 90) for n in range(200)]
ROWS = tuple({"who": n % 5, "day": DAYS[n], "x": n * 7 % 11} for n in range(200))
EVERYTHING = (Rows(), People(), Total(X, Bounds(0, 10, step=1)), PeopleBy(Load.ROWS, 9), PeopleCut())


BY_X = (Key(X),)


def asked(limit, *, keys=BY_X):
    return Aggregation(where=None, keys=keys, aggregates=EVERYTHING, limit=limit, salt=4)


def months(rows):
    return {(row["who"], row["day"] and row["day"].replace(day=1)) for row in rows}


@pytest.mark.parametrize("period", Period)
@pytest.mark.parametrize("limit", [Limit(groups=2, rows_per_group=1), Limit(groups=99, rows_per_group=99)], ids=str)
def test_the_engine_tells_windows_apart_as_the_plain_one_does(period, limit):
    unit = replace(UNIT, window=Window(period=period, time="day"))
    assert not mismatches(duck_table, World(replace(SCHEMA, unit=unit), ROWS, asked(limit)))


def test_a_unit_is_a_persons_month():
    exact = duck_table(SCHEMA, ROWS).aggregate(asked(Limit(groups=1, rows_per_group=1), keys=()))
    assert exact.answers[0].tolist() == [len(months(ROWS))]
    assert exact.answers[1].tolist() == [len(months(ROWS))]


def test_taking_a_persons_month_away_moves_nothing_farther_than_declared():
    limit = Limit(groups=2, rows_per_group=1)
    whole = duck_table(SCHEMA, ROWS).aggregate(asked(limit, keys=()))
    for who, month in months(ROWS):
        left = tuple(r for r in ROWS if (r["who"], r["day"] and r["day"].replace(day=1)) != (who, month))
        less = duck_table(SCHEMA, left).aggregate(asked(limit, keys=()))
        for aggregate, one, other in zip(EVERYTHING, whole.answers, less.answers, strict=True):
            assert abs(one - other).sum() <= sensitivity_of(aggregate, limit).l1


def test_taking_a_whole_life_away_may_move_more_and_is_not_what_is_promised():
    limit = Limit(groups=1, rows_per_group=1)
    whole = duck_table(SCHEMA, ROWS).aggregate(asked(limit, keys=()))
    less = duck_table(SCHEMA, tuple(row for row in ROWS if row["who"])).aggregate(asked(limit, keys=()))
    assert whole.answers[0][0] - less.answers[0][0] > 1


def test_the_promise_is_in_words():
    assert str(UNIT) == "all rows of one who in one month of day, added or removed"
    assert Window.of("month of day") == WINDOW
    assert str(WINDOW) == "month of day"


@pytest.mark.parametrize("text", ["month", "fortnight of day", "", "month of ", "of day"])
def test_a_window_that_says_nothing_is_refused(text):
    with pytest.raises(InvalidInput):
        Window.of(text)


def test_a_window_needs_a_person_and_a_column_of_times():
    with pytest.raises(InvalidInput):
        PrivacyUnit(window=WINDOW)
    with pytest.raises(WrongType):
        PrivacyUnit(column="who", window="month of day")
    with pytest.raises(WrongType):
        Window(period="month", time="day")
    with pytest.raises(InvalidInput):
        open_table(arrow_table(SCHEMA, ROWS), table="visits", unit=replace(UNIT, window=Window.of("month of x")))
    with pytest.raises(InvalidInput):
        open_table(arrow_table(SCHEMA, ROWS), table="visits", unit=replace(UNIT, window=Window.of("month of nothing")))


def test_a_ledger_is_born_with_its_window():
    birth = build_birth("t", Budget(epsilon=1, unit=UNIT), Policy.SHARED, "")
    assert from_body(to_body(birth)).budget.unit == UNIT
    assert b"window" not in to_body(
        build_birth("t", Budget(epsilon=1, unit=PrivacyUnit(column="who")), Policy.SHARED, "")
    )


def opened(folder, **more):
    settings = {"person": "who", "window": "month of day", "bounds": {"x": (0, 10)}, "limit": Limit(), **more}
    return discreet.open(arrow_table(SCHEMA, ROWS), table="visits", ledger=folder / "v.ledger", **settings)


def test_a_session_protects_months(tmp_path):
    budget = discreet.Budget(epsilon=10**4)
    with opened(tmp_path, budget=budget) as visits:
        assert "in one month of day" in repr(visits)
        answer = visits.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1000)
        assert answer.rows()[0]["n"] == len(months(ROWS))
    with opened(tmp_path) as visits:
        assert visits.ledger.budget.unit == UNIT


@pytest.mark.parametrize("window", [None, "year of day", "month of x"])
def test_a_ledger_for_months_is_for_nothing_else(tmp_path, window):
    opened(tmp_path, budget=discreet.Budget(epsilon=1)).close()
    with pytest.raises(InvalidInput, match="protects all rows"):
        opened(tmp_path, window=window)


def test_rows_are_in_the_declared_order_however_they_come(tmp_path):
    schema = replace(SCHEMA, unit=PrivacyUnit(column="who"))
    answers = []
    for rows in (ROWS, ROWS[::-1], ROWS[50:] + ROWS[:50]):
        numbered = [{**row, "n": ROWS.index(row)} for row in rows]
        frame = arrow_table(replace(schema, columns=(*schema.columns, Column(name="n", kind=Kind.INTEGER))), numbered)
        table = open_table(frame, table="visits", unit=schema.unit, order="N")
        answers.append(table.aggregate(asked(Limit(groups=1, rows_per_group=3), keys=())).answers[2].tolist())
    assert answers[0] == answers[1] == answers[2]
    with pytest.raises(InvalidInput):
        open_table(arrow_table(schema, ROWS), table="visits", unit=schema.unit, order="nothing")


def test_people_are_counted_within_a_month_only(tmp_path):
    with opened(tmp_path, budget=discreet.Budget(epsilon=10**4, delta=1e-9)) as visits:
        with pytest.raises(InvalidInput, match="person in one month"):
            visits.sql("SELECT COUNT(DISTINCT who) AS n FROM visits", epsilon=1)
        with pytest.raises(InvalidInput, match="person in one month"):
            visits.hierarchy(("x",), [(n,) for n in range(11)], people=True, epsilon=1)
        by_month = "SELECT DATE_TRUNC('month', day) AS m, COUNT(DISTINCT who) AS n FROM visits GROUP BY 1"
        found = {row["m"]: row["n"] for row in visits.sql(by_month, epsilon=1000).rows()}
        assert all(count == len([one for one in months(ROWS) if one[1] == month]) for month, count in found.items())
        assert found
