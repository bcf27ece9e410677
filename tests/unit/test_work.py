"""The work of one row: what is counted, and that engines take no longer than what is counted."""

import random

import polars as pl
import pytest

import discreet
from data_engines import ENGINES
from data_expressions import Expressions
from discreet.algebra import work_bounds
from discreet.algebra.aggregates import Aggregation, Total
from discreet.algebra.expression_checks import check_expression
from discreet.algebra.expressions import MOST_PARTS, Case, ColumnValue, InSet, Like, Literal, call
from discreet.algebra.functions import LONGEST_TEXT, WORK, F
from discreet.algebra.relations import (
    Derived,
    First,
    Fold,
    Folded,
    JoinKind,
    Named,
    PerUnit,
    PublicJoin,
    PublicScan,
    Scan,
    UnionAll,
    UnitJoin,
)
from discreet.algebra.work_bounds import MOST_WORK, check_length, cost_of
from discreet.core import Bounds, InvalidInput, Limit
from discreet.core.schema import Column, Kind
from discreet.data import measure_sql
from work_times import COLUMNS, ROWS, SCHEMA, calls, column, condition_on, seconds, steps_of, table_of

TEXT, NUMBER = ColumnValue("y", Kind.TEXT), ColumnValue("n", Kind.INTEGER)
#: An engine may take so many times longer than what is counted: machines are shared, and some are slow.
SLACK = 20
#: Seconds that are lost in all that a machine does besides.
UNSEEN = 0.05
#: Patterns that engines take long for.
PATTERNS = ("%b", "a%b", "%" + "a" * 200 + "b%", "%a" * 9 + "%b%", "%_" * 20 + "|", "%a_b%", "%a" + "_" * 30 + "c%")


# --- what is counted ---


def test_every_function_has_its_bound():
    assert set(WORK) == set(F)


@pytest.mark.parametrize("text", ["q0000.c", "q0009.c", "\x010009\x02c"])
def test_no_text_is_counted_as_a_column(text):
    assert measure_sql(call(F.EQ, TEXT, Literal.of(text)))[1] == measure_sql(call(F.EQ, TEXT, Literal.of("abc")))[1]


@pytest.mark.parametrize(
    ("expression", "letters"),
    [
        (TEXT, LONGEST_TEXT),
        (Literal.of("abc"), 3),
        (call(F.CONCAT, Literal.of("abc"), Literal.of("de")), 5),
        (call(F.CONCAT, TEXT, TEXT), LONGEST_TEXT),
        (call(F.UPPER, Literal.of("abc")), 9),
        (call(F.SUBSTRING, TEXT, Literal.of(3), Literal.of(7)), 7),
        (call(F.SUBSTRING, Literal.of("abc"), Literal.of(3), Literal.of(7)), 3),
        (call(F.RIGHT, TEXT, Literal.of(7)), 7),
        (call(F.SPLIT_PART, TEXT, Literal.of("-"), Literal.of(1)), LONGEST_TEXT),
        (call(F.SPLIT_PART, Literal.of("abcd"), Literal.of("-"), Literal.of(1)), 4),
        (call(F.REPLACE, Literal.of("abcd"), Literal.of("ab"), Literal.of("xyz")), 6),
        (call(F.REPLACE, Literal.of("abcd"), Literal.of("ab"), Literal.of("x")), 4),
        (call(F.REPLACE, TEXT, Literal.of("a"), Literal.of("bc")), LONGEST_TEXT),
        (call(F.TO_TEXT, NUMBER), 40),
        (call(F.COALESCE, Literal.of("a"), Literal.of("bcd")), 3),
        (Case(((call(F.IS_NULL, TEXT), Literal.of("ab")),), Literal.of("c")), 2),
        (call(F.LENGTH, TEXT), 0),
    ],
)
def test_the_longest_text_that_an_expression_can_be_is_known(expression, letters):
    assert cost_of(expression, {}).letters == letters


def test_what_is_looked_for_and_what_is_put_in_counts():
    short, long = (cost_of(call(F.POSITION, TEXT, Literal.of("a" * n)), {}).steps for n in (1, 101))
    assert long - short >= 4 * 100 * LONGEST_TEXT
    near, far = (cost_of(call(F.SPLIT_PART, TEXT, Literal.of("a" * n), Literal.of(1)), {}).steps for n in (1, 101))
    assert far - near >= 4 * 100 * LONGEST_TEXT
    same, grown = (cost_of(call(F.REPLACE, TEXT, Literal.of("a"), Literal.of(new)), {}).steps for new in ("b", "b" * 9))
    assert grown - same >= WORK[F.REPLACE].per_letter * 8 * LONGEST_TEXT


@pytest.mark.parametrize(
    "wrong",
    [
        call(F.POSITION, TEXT, Literal.of("")),
        call(F.POSITION, TEXT, TEXT),
        call(F.REPLACE, TEXT, Literal.of(""), Literal.of("a")),
        call(F.REPLACE, TEXT, TEXT, Literal.of("a")),
        call(F.REPLACE, TEXT, Literal.of("a"), Literal.of("b" * 11)),
        call(F.RIGHT, TEXT, Literal.of(-1)),
        call(F.SPLIT_PART, TEXT, Literal.of(""), Literal.of(1)),
        call(F.SPLIT_PART, TEXT, TEXT, Literal.of(1)),
        call(F.SPLIT_PART, TEXT, Literal.of("-"), Literal.of(0)),
    ],
)
def test_what_is_looked_for_is_a_constant_and_what_is_put_in_is_not_much_longer(wrong):
    with pytest.raises(InvalidInput):
        check_expression(wrong, {"y": Column(name="y", kind=Kind.TEXT)})


def test_parts_are_counted_as_often_as_they_stand():
    twice = call(F.ADD, NUMBER, NUMBER)
    four = call(F.ADD, twice, twice)
    assert [each.parts for each in (NUMBER, twice, four, InSet(four, (Literal.of(1), Literal.of(2))))] == [1, 3, 7, 8]
    assert cost_of(four, {}).parts == four.parts
    assert Case(((call(F.IS_NULL, TEXT), TEXT),), Literal.of("a")).parts == 5
    assert Like(TEXT, "%a%").parts == 2


def check_work(relation, expressions):
    """Check a question as sessions do: by the longest SQL of all engines."""
    work_bounds.check_work(relation, expressions, measure_sql)


def scan():
    return Scan("t", (Column(name="y", kind=Kind.TEXT), Column(name="n", kind=Kind.INTEGER)))


def doubled(relation, times):
    for _ in range(times):
        twice = Named(Column(name="n", kind=Kind.INTEGER), call(F.ADD, NUMBER, NUMBER))
        relation = Derived(relation, (Named(Column(name="y", kind=Kind.TEXT), TEXT), twice))
    return relation


CONDITION = call(F.GT, NUMBER, Literal.of(1))
PUBLIC = PublicScan("p", (Column(name="code", kind=Kind.INTEGER),))
COMPUTED = ColumnValue("code", Kind.INTEGER)


@pytest.mark.parametrize(
    "relation",
    [
        lambda inner: inner,
        lambda inner: Derived(inner, (Named(Column(name="n", kind=Kind.INTEGER), NUMBER),), CONDITION),
        lambda inner: UnionAll((doubled(scan(), 1), inner)),
        lambda inner: First(inner, 2, Literal.of(1)),
        lambda inner: PublicJoin(inner, PUBLIC, ((NUMBER, COMPUTED),)),
        lambda inner: UnitJoin(inner, Derived(scan(), (Named(PUBLIC.columns[0], NUMBER),)), ()),
        lambda inner: UnitJoin(scan(), inner, ((NUMBER, NUMBER),), JoinKind.SEMI),
        lambda inner: PerUnit(inner, (), (Folded(Column(name="n", kind=Kind.INTEGER), Fold.MOST, NUMBER),)),
    ],
)
def test_a_column_counts_with_all_that_it_is_made_of_whatever_stands_between(relation):
    check_work(relation(doubled(scan(), 4)), (CONDITION,))
    with pytest.raises(InvalidInput, match="more than 4,000 parts once columns of subqueries are written out"):
        check_work(relation(doubled(scan(), 200)), (CONDITION,))


def test_what_is_folded_is_computed_once():
    folded = PerUnit(doubled(scan(), 3), (), (Folded(Column(name="n", kind=Kind.INTEGER), Fold.MOST, NUMBER),))
    check_work(doubled(folded_as_rows(folded), 3), (CONDITION,))
    with pytest.raises(InvalidInput, match="characters of SQL"):
        check_work(doubled(doubled(scan(), 3), 3), (CONDITION,))


def folded_as_rows(folded):
    empty = Named(Column(name="y", kind=Kind.TEXT), Literal.of("a"))
    return Derived(folded, (empty, Named(Column(name="n", kind=Kind.INTEGER), NUMBER)))


def test_the_most_work_is_allowed_and_more_is_not():
    each = cost_of(call(F.UPPER, TEXT), {}).steps
    allowed = MOST_WORK // each
    check_work(None, [call(F.UPPER, TEXT)] * allowed)
    with pytest.raises(InvalidInput, match="too much work in a single row"):
        check_work(None, [call(F.UPPER, TEXT)] * (allowed + 1))
    assert allowed < MOST_PARTS


def test_a_column_counts_as_often_as_sql_names_it():
    """Clamping names a value three times: of ten parts each, subqueries of one another would be 3¹² pieces of SQL."""
    relation, clamped = scan(), call(F.CLAMP, NUMBER, Literal.of(0), Literal.of(9))
    for _ in range(4):
        relation = Derived(relation, (Named(Column(name="n", kind=Kind.INTEGER), clamped),))
    check_work(relation, (CONDITION,))
    for _ in range(8):
        relation = Derived(relation, (Named(Column(name="n", kind=Kind.INTEGER), clamped),))
    with pytest.raises(InvalidInput, match="2,000,000 characters of SQL once columns of subqueries are written out"):
        check_work(relation, (CONDITION,))


def clamped_often(column, times):
    """Return a relation of the engines' rows with a column that is clamped over and over."""
    relation, value = Scan(SCHEMA.table, SCHEMA.columns), ColumnValue(column, Kind.INTEGER)
    for _ in range(times):
        clamped = call(F.CLAMP, value, Literal.of(0), Literal.of(9))
        relation = Derived(relation, (Named(Column(name=column, kind=Kind.INTEGER), clamped),))
    return relation


def test_an_engine_refuses_sql_that_is_too_long_before_it_is_paid_for(table):
    value = ColumnValue("integer", Kind.INTEGER)

    def asked(times, values):
        aggregates = tuple(Total(value, Bounds(0, most, step=1)) for most in range(1, values + 1))
        relation = clamped_often("integer", times)
        return Aggregation(where=None, keys=(), aggregates=aggregates, limit=Limit(), salt=0, source=relation)

    table.check(asked(4, 1))
    with pytest.raises(InvalidInput, match="2,000,000 characters of SQL once columns of subqueries are written out"):
        table.check(asked(12, 1))


def test_the_aggregates_of_a_batch_are_measured_one_by_one():
    """Questions that are allowed alone are allowed in one pass."""
    relation, value = clamped_often("integer", 8), ColumnValue("integer", Kind.INTEGER)
    check_length(relation, [(value,)] * 40, measure_sql)
    with pytest.raises(InvalidInput, match="characters of SQL"):
        check_length(relation, [(value,) * 40], measure_sql)


def test_a_planner_that_knows_no_engine_leaves_the_length_to_it():
    work_bounds.check_work(clamped_often("integer", 12), (ColumnValue("integer", Kind.INTEGER),))


def test_a_preview_refuses_what_every_engine_would_write_at_length(tmp_path):
    frame = pl.DataFrame({"pid": [1, 2, 3], "n": [1, 2, 3]})

    def asked(times):
        rows = "data"
        for _ in range(times):
            rows = f"(SELECT pid, CLAMP(n, 0, 9) AS n FROM {rows})"
        return f"SELECT COUNT(*) FROM {rows} WHERE n > 1"

    ledger, budget = tmp_path / "ledger", discreet.Budget(epsilon=3)
    with discreet.open(frame, person="pid", ledger=ledger, budget=budget, bounds={"n": (0, 10)}, limit=1) as session:
        assert session.preview(asked(2), epsilon=1).fits
        with pytest.raises(InvalidInput, match="characters of SQL"):
            session.preview(asked(12), epsilon=1)


def test_the_sql_that_names_a_column_most_often_counts():
    value = call(F.CLAMP, NUMBER, Literal.of(0), Literal.of(9))
    length, named = measure_sql(value)
    assert named == {"n": 3}
    assert length > 50
    assert measure_sql(call(F.EQ, TEXT, Literal.of("\0")))[1] == {"y": 1}  # which PostgreSQL refuses


# --- what is measured ---


@pytest.fixture(scope="module", params=["duckdb", "postgres", pytest.param("spark", marks=pytest.mark.spark)])
def table(request):
    """Return a table whose rows are as bad as can be."""
    return table_of(ENGINES[request.param])


def too_slow(table, named, rounds=2):
    """Return what takes longer than it may, with how many times longer."""
    base, found = seconds(table, condition_on(column("integer"))), {}
    for name, expression in named:
        condition = condition_on(expression)
        # A pause of the machine is not the expression's: what is slow is slow again.
        for tried in (rounds, 4 * rounds):
            taken = seconds(table, condition, tried) - base - UNSEEN
            times = taken * 1e9 / ROWS / steps_of(condition)
            if times <= SLACK:
                break
        else:
            found[name] = times
    return found


def test_no_function_takes_longer_than_its_bound(table):
    texts = [(name, each) for name, each in calls() if "text" in name]
    others = [(name, each) for name, each in calls() if "text" not in name]
    assert not too_slow(table, random.Random(1).sample(texts, 40) + others[::3], rounds=1)


@pytest.mark.slow
def test_no_function_takes_longer_than_its_bound_of_any_value(table):
    assert not too_slow(table, calls())


@pytest.mark.parametrize("folded", [False, True])
def test_no_pattern_takes_longer_than_its_bound(table, folded):
    texts = ("text a", "text ab", "text 😀")
    likes = [(f"{each} {text}", Like(column(text), each, folded=folded)) for each in PATTERNS for text in texts]
    assert not too_slow(table, likes, rounds=1)


def drawn(seed, count):
    """Yield random expressions over the worst values, whose work is allowed."""
    rng = random.Random(seed)
    made, kinds = Expressions(rng, SCHEMA, plain_texts=True), list(Kind)
    while count:
        expression = made.of(rng.choice(kinds), 4)
        if steps_of(condition_on(expression)) <= MOST_WORK:
            count -= 1
            yield str(expression), expression


def test_nothing_that_is_allowed_takes_longer_than_its_bound(table):
    assert not too_slow(table, drawn(1, 25), rounds=1)


@pytest.mark.slow
def test_nothing_that_is_allowed_takes_longer_than_its_bound_in_many_worlds(table):
    assert not too_slow(table, drawn(2, 1500))


def test_the_worst_values_are_of_every_kind():
    assert {kind for kind, _ in COLUMNS.values()} == set(Kind)
