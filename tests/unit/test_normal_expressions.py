"""Normal forms have the values of what was written, NULL included, in every row; what has other values stays apart.

A wrong merge hands out the answer to another question for ever. So the laws are tried on all small trees, on random
large ones over values that attack, and on an engine beside the plain one.
"""

from itertools import product
from math import isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data_worlds import Worlds
from discreet.algebra.expressions import Case, ColumnValue, InSet, Like, Literal, call
from discreet.algebra.functions import COMPARISONS, F
from discreet.algebra.normal_expressions import normalise, normalise_condition
from discreet.core import Bounds
from discreet.core.canonical_text import canonical_text
from discreet.core.schema import Kind
from plain_values import read, value_of

WHOLE, REAL = ColumnValue("i", Kind.INTEGER), ColumnValue("x", Kind.REAL)
NARROW = ColumnValue("i", Kind.INTEGER, Bounds(0, 1))
ONE, OTHER = ColumnValue("b", Kind.BOOLEAN), ColumnValue("c", Kind.BOOLEAN)
TRUE, FALSE, NULL = Literal.of(True), Literal.of(False), Literal.of(None)
#: Whole numbers around the ends of what floats and engines hold exactly.
WHOLES = (None, 0, 1, 2, 50, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, -(2**63))
REALS = (None, -0.0, 0.5, 1.0, 49.5, 2.0**53, 5e-324, float("nan"))


def same(expression, form, rows, *, truth=False):
    """Return whether two expressions have the same value in all rows; with `truth`, only whether they are true."""
    for row in rows:
        one, other = value_of(expression, row), value_of(form, row)
        if (one is True) != (other is True) if truth else (type(one), one) != (type(other), other):
            return False
    return True


def text_after(expression):
    """Return the text of a normal form, which is its own normal form, and of the kind of what was written."""
    form = normalise(expression)
    assert form.kind is expression.kind
    assert canonical_text(normalise(form)) == canonical_text(form)
    return canonical_text(form)


@pytest.mark.parametrize("column", [WHOLE, NARROW, REAL], ids=["whole", "narrow", "real"])
def test_comparisons_with_constants_keep_their_values(column):
    rows = [{"i": value} for value in WHOLES] if column.name == "i" else [{"x": value} for value in REALS]
    values = [value for value in (*WHOLES, *REALS) if value is not None and not isnan(value)]
    for function, value in product(COMPARISONS, values):
        for sides in ((column, Literal.of(value)), (Literal.of(value), column)):
            expression = call(function, *sides)
            assert same(expression, normalise(expression), rows), expression
            assert same(call(F.NOT, expression), normalise(call(F.NOT, expression)), rows), expression


@pytest.mark.parametrize("column", [WHOLE, REAL], ids=["whole", "real"])
def test_lists_of_constants_keep_their_values(column):
    rows = [{column.name: value, "b": truth} for value in (None, 0.5, 1, 2) for truth in (True, None)]
    rows = [row for row in rows if column is REAL or row["i"] != 0.5]
    links = [
        InSet(column, (Literal.of(2), Literal.of(1), Literal.of(2))),
        InSet(column, (Literal.of(0.5), Literal.of(1.0))),
    ]
    links += [call(F.EQ, column, Literal.of(1)), call(F.NE, column, Literal.of(2.0)), call(F.EQ, column, NULL), ONE]
    for function, one, other in product((F.AND, F.OR), links, links):
        expression = call(function, one, call(F.NOT, other))
        text_after(expression)
        assert same(expression, normalise(expression), rows), expression


def grown(parts):
    """Return all trees of logic that are one level higher than some."""
    for part in parts:
        yield from (call(F.NOT, part), call(F.EQ, part, TRUE), call(F.NE, TRUE, part), call(F.EQ, part, FALSE))
        yield from (call(F.COALESCE, part, FALSE), call(F.COALESCE, part, TRUE), call(F.IS_NULL, part))
    for one, other in product(parts, parts):
        yield from (call(F.AND, one, other), call(F.OR, one, other))


def test_logic_keeps_its_three_values():
    """All trees up to a height, in all rows: TRUE, FALSE and NULL for either column."""
    rows = [{"b": one, "c": other} for one, other in product((True, False, None), repeat=2)]
    low = [OTHER, NULL, call(F.NOT, ONE), call(F.COALESCE, ONE, FALSE), call(F.AND, ONE, OTHER), call(F.OR, TRUE, ONE)]
    trees = list(grown(low))
    for tree in trees:
        text_after(tree)
        assert same(tree, normalise(tree), rows), tree
        assert same(tree, normalise_condition(tree), rows, truth=True), tree
    assert len(trees) > 100


def drawn(seed, count):
    """Return random expressions, each of which is made of the functions of the allow-list, and rows for them."""
    world = Worlds(seed, depth=3)
    kinds = [Kind.BOOLEAN, *(world.rng.choice(list(Kind)) for _ in range(count - 1))]
    return world, [world.expressions.of(kind, 4) for kind in kinds], world.draw_rows(6)


def check_world(seed):
    _, expressions, rows = drawn(seed, 4)
    for expression in expressions:
        text_after(expression)
        assert same(expression, normalise(expression), rows), expression
        if expression.kind is Kind.BOOLEAN:
            assert same(expression, normalise_condition(expression), rows, truth=True), expression


@given(st.integers(0, 2**32))
@settings(max_examples=8)
def test_a_normal_form_has_the_value_of_what_was_written(seed):
    check_world(seed)


@pytest.mark.slow
def test_a_normal_form_has_the_value_of_what_was_written_in_many_worlds():
    for seed in range(4_000):
        check_world(seed)


def compare_on_duckdb(seed, count):
    """Return the expressions whose normal forms have other values in DuckDB: all are computed by one statement."""
    duckdb = pytest.importorskip("duckdb")
    from discreet.data.duckdb.expressions import TYPES, Scope, compile_sql

    world, expressions, rows = drawn(seed, count)
    columns = world.schema.columns
    scope = Scope({column.name: f"c{place}" for place, column in enumerate(columns)})
    database = duckdb.connect()
    database.execute(f"CREATE TABLE t ({', '.join(f'c{p} {TYPES[c.kind]}' for p, c in enumerate(columns))})")
    marks = ", ".join("?" * len(columns))
    for row in rows:
        database.execute(f"INSERT INTO t VALUES ({marks})", [read(row[one.name], one.kind) for one in columns])
    pairs = [(expression, normalise(expression)) for expression in expressions]
    tests = [f"({compile_sql(a, scope).text}) IS DISTINCT FROM ({compile_sql(b, scope).text})" for a, b in pairs]
    wrong = database.execute(f"SELECT {', '.join(f'bool_or({test})' for test in tests)} FROM t", scope.parameters)
    return [expression for expression, bad in zip(expressions, wrong.fetchone(), strict=True) if bad]


def test_an_engine_computes_the_same_of_both():
    assert not compare_on_duckdb(7, 5)


@pytest.mark.slow
def test_an_engine_computes_the_same_of_both_in_many_worlds():
    assert not [seed for seed in range(300) if compare_on_duckdb(seed, 12)]


# Forms that must stay apart, although they look alike.

APART = {
    "a strict comparison of reals": (call(F.GT, REAL, Literal.of(49)), call(F.GE, REAL, Literal.of(50))),
    "an integer beyond what floats hold": (
        call(F.EQ, WHOLE, Literal.of(2**53)),
        call(F.EQ, WHOLE, Literal.of(2.0**53)),
    ),
    "a cast that clips": (
        call(F.GT, call(F.TO_INTEGER, WHOLE), Literal.of(2**53)),
        call(F.GT, WHOLE, Literal.of(2**53)),
    ),
    "what NULL is taken for": (call(F.NOT, call(F.COALESCE, ONE, FALSE)), call(F.NOT, ONE)),
    "a comparison that knows NULL": (
        call(F.COALESCE, call(F.EQ, ONE, OTHER), call(F.AND, call(F.IS_NULL, ONE), call(F.IS_NULL, OTHER))),
        call(F.EQ, ONE, OTHER),
    ),
    "the values of CASE": (Case(((ONE, OTHER),), None), call(F.AND, ONE, OTHER)),
    "CASE with and without ELSE": (Case(((ONE, TRUE),), FALSE), Case(((ONE, TRUE),), None)),
    "the order of a difference": (call(F.SUBTRACT, WHOLE, REAL), call(F.SUBTRACT, REAL, WHOLE)),
    "the order of three floats": (
        call(F.ADD, call(F.ADD, REAL, Literal.of(0.1)), Literal.of(0.2)),
        call(F.ADD, REAL, call(F.ADD, Literal.of(0.1), Literal.of(0.2))),
    ),
    "other bounds": (call(F.GE, WHOLE, Literal.of(1)), call(F.GE, NARROW, Literal.of(1))),
    "a pattern": (Like(ColumnValue("t", Kind.TEXT), "a"), Like(ColumnValue("t", Kind.TEXT), "a", folded=True)),
    "a condition that is always NULL": (call(F.EQ, WHOLE, NULL), FALSE),
}


@pytest.mark.parametrize("name", APART)
def test_forms_with_other_values_stay_apart(name):
    one, other = APART[name]
    assert text_after(one) != text_after(other)
    if one.kind is Kind.BOOLEAN and name != "a condition that is always NULL":
        assert canonical_text(normalise_condition(one)) != canonical_text(normalise_condition(other))


def test_null_guards_count_where_a_value_is_made():
    """WHERE and WHEN take NULL for FALSE. A value that is counted, or shown, does not."""
    guarded = call(F.COALESCE, call(F.AND, ONE, OTHER), FALSE)
    assert normalise(guarded) == guarded
    assert normalise_condition(call(F.AND, guarded, ONE)) == call(F.AND, ONE, OTHER)
    assert normalise(Case(((guarded, guarded),), None)) == Case(((call(F.AND, ONE, OTHER), guarded),), None)


def test_a_form_that_would_be_too_long_is_left_as_it_was_written():
    likes = [Like(ColumnValue("t", Kind.TEXT), f"{place}%") for place in range(1_400)]
    negated = call(F.NOT, call(F.AND, *likes))
    assert normalise(negated) is negated
    assert normalise_condition(negated) is negated
