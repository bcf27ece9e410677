"""Other spellings mean what they mean elsewhere, and never another table than the one that was named."""

import pytest

from discreet.core import Bounds, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema
from discreet.query import Frame, count, count_distinct, mean, quantile
from discreet.query.questions import QueryRefused
from discreet.query.sql import read_sql
from sql_corpus import PUBLICS, SCHEMAS, asked, outcome


def read(text, **paths):
    return read_sql(text, SCHEMAS, PUBLICS, paths=paths)


def test_a_schema_in_front_of_a_table_has_to_be_the_declared_one():
    plain = read("SELECT COUNT(*) FROM visits")
    for schema in ("public", "db.public", "PUBLIC", "`db`.[public]"):
        assert read(f"SELECT COUNT(*) FROM {schema}.visits", visits="public.visits") == plain
    assert read("SELECT COUNT(*) FROM visits", visits="public.visits") == plain
    for schema in ("sales", "public.sales"):
        with pytest.raises(QueryRefused, match=r"The table is 'public\.visits', not"):
            read(f"SELECT COUNT(*) FROM {schema}.visits", visits="public.visits")
    with pytest.raises(QueryRefused, match=r"The table is 'db.public.visits', not"):
        read("SELECT COUNT(*) FROM other.public.visits", visits="db.public.visits")


def test_a_schema_in_front_of_a_column_has_to_be_that_of_its_table():
    plain = read("SELECT COUNT(*) FROM visits WHERE visits.age > 3")
    assert read("SELECT COUNT(*) FROM db.public.visits WHERE public.visits.age > 3") == plain
    for text in ("a.visits WHERE b.visits.age > 3", "visits WHERE a.visits.age > 3", "a.visits v WHERE a.v.age > 3"):
        with pytest.raises(QueryRefused, match="There is no table"):
            read(f"SELECT COUNT(*) FROM {text}")


def test_a_name_of_with_has_no_schema():
    with pytest.raises(QueryRefused, match=r"There is no table 'main\.q'"):
        read("WITH q AS (SELECT age FROM visits) SELECT COUNT(*) FROM q JOIN main.q AS p ON q.age = p.age")


def test_a_column_list_gives_names_and_changes_nothing_inside():
    """With ORDER BY, HAVING, or names that change places, the new names could be meant where the old ones were."""
    listed = asked("WITH q(a, b) AS (SELECT ward, stay FROM visits) SELECT a, AVG(b) FROM q GROUP BY a")
    written = asked("WITH q AS (SELECT ward AS a, stay AS b FROM visits) SELECT a, AVG(b) FROM q GROUP BY a")
    assert listed == written
    for inside in (
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY ward LIMIT 1",
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 1",
        "SELECT ward AS b, stay AS a FROM visits",
    ):
        assert outcome(f"WITH q(a, b) AS ({inside}) SELECT COUNT(*) FROM q").startswith("These names would change")


def test_nulls_first_is_said_by_the_order_alone():
    """Sorting is free, and belongs to no measurement."""
    first = asked("SELECT ward, AVG(stay) AS s FROM visits GROUP BY ward ORDER BY s NULLS FIRST")
    last = asked("SELECT ward, AVG(stay) AS s FROM visits GROUP BY ward ORDER BY s NULLS LAST")
    assert last.order == first.order[1:]
    assert last.outputs == first.outputs


def test_a_frame_takes_the_name_of_a_column_as_it_is():
    schema = Schema(
        table="Körper",
        unit=PrivacyUnit(column="Person Nr."),
        columns=(
            Column(name="Person Nr.", kind=Kind.INTEGER),
            Column(name="Größe in cm", kind=Kind.INTEGER, bounds=Bounds(0, 250)),
            Column(name="order", kind=Kind.TEXT),
            Column(name="a, b", kind=Kind.REAL, bounds=Bounds(0, 1)),
        ),
    )
    frame = Frame(schema=schema, asker=None)
    asked = frame.group_by("order", "größe in cm").agg(
        m=mean("Größe in cm"), d=count_distinct("Größe in cm"), q=quantile("a, b", 0.9), r=mean("a, b") / count("order")
    )
    written = read_sql(
        """SELECT "order", "Größe in cm", AVG("Größe in cm") AS m, COUNT(DISTINCT "Größe in cm") AS d,
        QUANTILE("a, b", 0.9) AS q, AVG("a, b") / COUNT("order") AS r FROM Körper GROUP BY "order", "Größe in cm" """,
        {"Körper": schema},
    )
    assert asked.question == written
    assert frame.filter("\"order\" = '(order)'").agg(count()).question.where.arguments[1].value == "(order)"


def test_errors_show_names_as_they_were_typed():
    for text, shown in (
        ("SELECT größe(age) FROM visits", "größe is not"),
        ("SELECT AVG(Größe) FROM visits", "'Größe'"),
        ("SELECT COUNT(*) FROM visits WHERE Index > 3", "'Index' is a reserved word"),
    ):
        with pytest.raises(QueryRefused, match=shown):
            read(text)


def test_a_number_in_quotes_is_a_number_beside_numbers():
    assert asked("SELECT COUNT(*) FROM visits WHERE stay > '5.5'") == asked(
        "SELECT COUNT(*) FROM visits WHERE stay > 5.5"
    )
    for text in ("stay > 'five'", "stay > '1e5'", "stay > ''"):
        with pytest.raises(QueryRefused, match="side by side"):
            asked(f"SELECT COUNT(*) FROM visits WHERE {text}")
    assert asked("SELECT COUNT(*) FROM visits WHERE ward > '5'").where.arguments[1].value == "5"


def test_bounds_of_rows_in_the_syntax_of_bigquery_clamp_rows():
    text = (
        "SELECT SUM(stay, contribution_bounds_per_row => (0, 10)), AVG(cost, contribution_bounds_per_row => (-1, 2.5))"
    )
    assert asked(f"{text} FROM visits") == asked(
        "SELECT SUM(CLAMP(stay, 0, 10)), AVG(CLAMP(cost, -1, 2.5)) FROM visits"
    )
    many = ", ".join(["SUM(stay, contribution_bounds_per_row => (0, 1))"] * 150)
    assert len(asked(f"SELECT {many} FROM visits").outputs) == 150


def test_options_and_bounds_of_groups_in_the_syntax_of_bigquery_are_refused_with_what_they_are_here():
    """What one person adds to a group is not what a row adds; and who reads a text alone has no price to pay."""
    options = "WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 10, max_groups_contributed=2, privacy_unit_column=id)"
    with pytest.raises(QueryRefused) as caught:
        read(f"SELECT {options} ward, COUNT(*) FROM visits GROUP BY ward")
    assert "epsilon=10, limit=discreet.Limit(groups=2)" in caught.value.fix
    for measure in (
        "SUM(stay, contribution_bounds_per_group => (0, 10))",
        "COUNT(*, contribution_bounds_per_group => (0, 9))",
    ):
        with pytest.raises(QueryRefused, match="bounds what one person adds to a group"):
            read(f"SELECT {measure} FROM visits")
