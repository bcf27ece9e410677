"""Arithmetic on constants in a question: exact as in SQL, and rounded once, whatever engine sees the rows."""

import operator
from fractions import Fraction
from random import Random

import duckdb
import pytest

from discreet.algebra.expressions import Literal
from discreet.core.schema import Kind
from discreet.query.sql import read_sql
from sql_corpus import SCHEMAS

OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def ask_duckdb(texts):
    return [
        float(value) for value in duckdb.sql(f"SELECT {', '.join(f'({text})::DOUBLE' for text in texts)}").fetchone()
    ]


def ask_postgres(texts):
    from postgres_tables import writer

    columns = ", ".join(f"({text})::float8" for text in texts)
    return list(writer().connection.execute(f"SELECT {columns}").fetchone())


def ask_spark(texts):
    from spark_tables import session

    columns = ", ".join(f"CAST(({text}) AS DOUBLE)" for text in texts)
    return list(session().sql(f"SELECT {columns}").collect()[0])


def constant_of(text):
    """Return the constant of a question that compares a column of reals with what is written."""
    question = read_sql(f"SELECT COUNT(*) FROM visits WHERE cost < {text}", SCHEMAS)
    (constant,) = [node for node in walk(question) if isinstance(node, Literal) and node.kind is not Kind.TEXT]
    return float(constant.value)


def walk(node):
    yield node
    for name in getattr(type(node), "__dataclass_fields__", {}):
        child = getattr(node, name)
        for part in child if isinstance(child, tuple) else (child,):
            yield from walk(part)


def expressions(seed, count):
    """Yield texts of arithmetic on decimals, each with its value."""
    random = Random(seed)

    def draw(depth):
        if depth == 0 or random.random() < 0.25:
            number = Fraction(random.randrange(1, 1000), 10 ** random.randrange(1, 4))
            return f"{float(number):.3f}", number
        sign = random.choice("+-*")
        (left, first), (right, second) = draw(depth - 1), draw(depth - 1)
        return f"({left} {sign} {right})", OPERATORS[sign](first, second)

    return [draw(2) for _ in range(count)]


@pytest.mark.parametrize("ask", [ask_duckdb, ask_postgres, pytest.param(ask_spark, id="spark")])
def test_constants_are_computed_as_engines_compute_them(ask):
    drawn = expressions(7, 300)
    computed = [constant_of(text) for text, _ in drawn]
    assert computed == [float(value) for _, value in drawn]
    assert computed == ask([text for text, _ in drawn])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.06 - 0.01", 0.05),
        ("0.06 + 0.01", 0.07),
        ("0.1 + 0.2", 0.3),
        ("3 * 0.1", 0.3),
        ("1 / 3.0 * 3", 1.0),
        ("-(0.1 + 0.2)", -0.3),
        ("0.1 - 0.1", 0.0),
        ("1e-1 + 2e-1", 0.3),
    ],
)
def test_decimals_are_exact_and_rounded_once(text, value):
    assert constant_of(text) == value
    plain = f"SELECT COUNT(*) FROM visits WHERE cost < {value}"
    assert read_sql(plain, SCHEMAS) == read_sql(f"SELECT COUNT(*) FROM visits WHERE cost < {text}", SCHEMAS)


def test_a_number_that_was_made_a_float_is_computed_with_as_a_float():
    assert constant_of("CAST(0.1 AS DOUBLE) + CAST(0.2 AS DOUBLE)") == 0.1 + 0.2


@pytest.mark.parametrize("zero", ["0e999999999", "0.0e-999999999", "-0e999999999"])
def test_a_zero_with_an_enormous_exponent_is_a_zero_at_once(zero):
    assert constant_of(zero) == 0


def test_a_number_of_many_digits_is_read():
    assert constant_of("1." + "0" * 5000) == 1
