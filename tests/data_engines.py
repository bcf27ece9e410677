"""The engines that pass the contract of tables: for each, how a table is made from a schema and plain rows."""

from functools import wraps

import pyarrow as pa
import pytest
from hypothesis import given, settings

from case_choice import ALL_EXAMPLES, EXAMPLES_ONE_IN
from discreet.core.schema import Kind

ARROW_TYPES = {
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}


def arrow_table(schema, rows):
    """Return plain rows as an Arrow table, in the order of the schema's columns."""
    return pa.table(
        {
            column.name: pa.array([row[column.name] for row in rows], ARROW_TYPES[column.kind])
            for column in schema.columns
        }
    )


def duck_table(schema, rows):
    """Return a table of the embedded engine."""
    from discreet.data.opening import open_table

    return open_table(
        arrow_table(schema, rows),
        table=schema.table,
        unit=schema.unit,
        bounds={column.name: column.bounds for column in schema.columns if column.bounds is not None},
        groups={column.name: column.groups for column in schema.columns if column.groups is not None},
        rows_per_person=schema.rows_per_person,
    )


def postgres_table(schema, rows):
    """Return a table of a PostgreSQL server, which is started once."""
    from postgres_tables import postgres_table

    return postgres_table(schema, rows)


def spark_table(schema, rows):
    """Return a table of a Spark, which is started once."""
    from spark_tables import spark_table

    return spark_table(schema, rows)


#: Whoever joins has to pass the same tests.
ENGINES = {"duckdb": duck_table, "postgres": postgres_table, "spark": spark_table}
#: Of so many random worlds as others pass, an engine passes one in so many, if each takes it long.
ONE_IN = {"postgres": 6, "spark": 100}
#: Worlds that `make test` draws of each property, if there are so many.
LEAST_WORLDS = 20
#: Of the cases of a test an engine passes the first, and then one in so many; the others wait for `make spark`.
CASES_ONE_IN = {"spark": 12}
#: Functions that an engine may round otherwise in the last digit: their grids are compared where that is allowed.
ROUNDED = {"spark": ("POWER", "LN", "LOG10", "EXP")}
#: Tests of which an engine leaves all cases to `make spark`: joins of a million rows, or dozens of aggregates.
LATER = {
    "spark": (
        "test_a_person_who_matches_a_million_public_rows_is_cut_to_the_limit",
        "test_a_person_whose_own_rows_match_a_million_times_is_cut_to_the_limit",
        "test_a_value_that_everybody_has_is_cut_to_the_limit_of_a_match",
        "test_the_order_of_rows_decides_what_is_kept_of_them",
        "test_rows_keep_their_order_where_an_engine_would_read_in_parallel",
        "test_an_attacker_moves_no_aggregate_farther_than_declared",
        "test_a_column_without_any_value_counts_as_nothing",
        "test_everything_is_asked_of_those_who_take_part",
        "test_if_nobody_takes_part_the_answer_is_that_of_no_rows",
        "test_asking_everybody_is_asking_nobody",
        "test_who_is_left_out_is_in_no_aggregate",
        "test_an_engine_asks_whom_the_plain_engine_asks_and_counts_the_same",
    )
}


def worlds_of(engines, one_in):
    """Return what makes a test in random worlds one for each engine; those that take long pass fewer.

    As of other properties, `make test` draws a part of the worlds, though some of each, and `make slow` all of them.
    """

    def in_worlds(most, **drawn):
        many = most if ALL_EXAMPLES else max(min(most, LEAST_WORLDS), most // EXAMPLES_ONE_IN)

        def for_each(test):
            @pytest.mark.hypothesis
            @pytest.mark.parametrize("name", engines)
            @wraps(test, updated=())
            def named(name):
                @settings(max_examples=-(-many // one_in.get(name, 1)))
                @given(**drawn)
                def drawing(**worlds):
                    test(engines[name], **worlds)

                drawing()

            del named.__wrapped__  # or pytest would look for the arguments that hypothesis gives
            return named

        return for_each

    return in_worlds


def sampled(make, worlds, engines=ENGINES):
    """Return those of many drawn worlds that an engine passes in one test: all, or one in so many."""
    name = next(name for name, engine in engines.items() if engine is make)
    return list(worlds)[:: CASES_ONE_IN.get(name, 1)]


def waiting(cases):
    """Return the places of cases that wait for `make spark`; a case is a test and the engine that it is about."""
    seen = {}
    for place, (test, engine) in enumerate(cases):
        if engine in CASES_ONE_IN:
            number = seen[test, engine] = seen.get((test, engine), -1) + 1
            if number % CASES_ONE_IN[engine] or test.endswith(LATER[engine]):
                yield place
