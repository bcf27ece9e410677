"""The table on DuckDB: hostile values, ties, exact sums, locks, threads, and what nobody gets to see."""

import logging
import threading
from datetime import date, datetime

import numpy as np
import pyarrow as pa
import pytest

from discreet.algebra import row_hashes as marks
from discreet.algebra.aggregates import (
    Aggregation,
    Distinct,
    Frequencies,
    Key,
    Load,
    People,
    PeopleBy,
    PeopleCut,
    Present,
    Rows,
    Total,
)
from discreet.algebra.expressions import Literal, call, column
from discreet.algebra.functions import F
from discreet.core import Bounds, InvalidInput, Limit, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Kind
from discreet.data.duckdb import bounding as kernel
from discreet.data.duckdb import bounding as rounds
from discreet.data.duckdb import connection as engines
from discreet.data.duckdb import group_codes as groupings
from discreet.data.duckdb import table as module
from discreet.data.duckdb.batch import squares_by, sum_by
from discreet.data.duckdb.expressions import Scope, compile_sql
from discreet.data.engine_rules import EngineFailed, EngineSettings
from discreet.data.opening import open_table
from plain_engine import PlainTable

PERSON = PrivacyUnit(column="person")
EDGES = [-(2**63), 2**63 - 1, 0, None, -1, 2**53 + 1]


def opened(columns, unit=PERSON, **declared):
    frame = columns if isinstance(columns, pa.Table) else pa.table(columns)
    return open_table(frame, table="t", unit=unit, **declared)


def asked(*aggregates, where=None, keys=(), limit=None, salt=3):
    limit = limit or Limit(groups=2, rows_per_group=2)
    return Aggregation(where=where, keys=keys, aggregates=aggregates, limit=limit, salt=salt)


def same_as_plain(table, columns, aggregation):
    """Whether a table says what the plain engine says of the same rows."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    expected = PlainTable(table.schema, rows).aggregate(aggregation)
    given = table.aggregate(aggregation)
    return given.groups == expected.groups and [a.tolist() for a in given.answers] == [
        a.tolist() for a in expected.answers
    ]


# --- hostile values ---


def test_extreme_integers_are_added_up_and_told_apart():
    columns = {"person": [1, 1, 2, 2, 3, 3], "n": EDGES}
    table = opened(columns)
    n = column(table.schema, "n")
    bounds = Bounds(-(2**53), 2**53, step=1)
    everything = asked(
        Rows(),
        Present(n),
        Distinct(n),
        Total(n, bounds),
        Total(n, bounds, centred=True),
        Total(n, bounds, squared=True),
        limit=Limit(groups=9, rows_per_group=9),
        keys=(Key(n),),
    )
    assert same_as_plain(table, columns, everything)


def test_no_row_raises_in_mixed_vectors():
    """Rows on which a function has no value stand beside rows on which it has one, in one vector of the engine."""
    x = [value for _ in range(700) for value in (0.0, -1.0, 1.0, 1e308, -1e308, None, 5e-324)]
    n = [value for _ in range(700) for value in (*EDGES, 7)]
    d = [
        value for _ in range(700) for value in (date(1, 1, 1), date(9999, 12, 31), None, date(1970, 1, 1)) + (None,) * 3
    ]
    table = opened({"person": list(range(len(x))), "x": x, "n": n, "d": pa.array(d, pa.date32())})
    real, whole, day = (column(table.schema, name) for name in "xnd")
    risky = [
        *(call(function, real) for function in (F.LN, F.SQRT, F.EXP, F.ABS, F.NEGATE, F.ROUND, F.TO_INTEGER)),
        *(call(function, whole) for function in (F.LN, F.SQRT, F.EXP, F.ABS, F.NEGATE, F.ROUND, F.TO_INTEGER)),
        *(
            call(f, a, b)
            for f in (F.ADD, F.MULTIPLY, F.DIVIDE, F.MODULO, F.POWER)
            for a in (real, whole)
            for b in (real, whole)
        ),
        *(call(F.ADD_DAYS, day, Literal.of(days)) for days in (1, -1, 10**9, -(10**30))),
        call(F.TRUNC_WEEK, day),
        call(F.DAYS_BETWEEN, day, Literal.of(date(1, 1, 1))),
    ]
    for where in (None, call(F.NOT, call(F.IS_NULL, risky[0]))):
        exact = table.aggregate(asked(*(Present(each) for each in risky), where=where, limit=Limit()))
        assert len(exact.answers) == len(risky)


def test_deep_arithmetic_stays_short():
    """Each guard needs its argument twice; written out, forty of them would be a text of terabytes."""
    table = opened({"person": [1, 2], "x": [1e300, -0.5]})
    deep = x = column(table.schema, "x")
    for _ in range(40):
        deep = call(F.DIVIDE, call(F.MULTIPLY, deep, x), x)
    assert len(compile_sql(deep, Scope({"x": "c1"})).text) < 20_000
    assert table.aggregate(asked(Present(deep), where=call(F.LT, deep, Literal.of(0.0)))).answers[0].tolist() == [1]


def test_texts_may_hold_anything():
    words = ["it's", '"', "😀", "a\x00b", "", " ", "$k0", "{}", "é", "e\u0301", None, "x" * 5000]
    columns = {"person": [str(i) for i in range(len(words))], "w": words}
    table = opened(columns)
    w = column(table.schema, "w")
    for key in (Key(w), Key(w, tuple(words[::-1])), Key(w, ("it's", None))):
        assert same_as_plain(table, columns, asked(Rows(), People(), Distinct(w), keys=(key,), limit=Limit(groups=99)))


def test_days_at_the_edges_are_groups():
    columns = {"person": [1, 2, 3, 4], "d": [date(1, 1, 1), date(9999, 12, 31), None, date(1970, 1, 1)]}
    table = opened(columns)
    assert same_as_plain(table, columns, asked(Rows(), People(), keys=(Key(column(table.schema, "d")),)))


def test_one_person_may_own_more_rows_than_a_piece_holds(monkeypatch):
    """The same choice, whether a unit is sorted by words or by columns."""
    rows = 900
    columns = {"person": [1] * (rows - 20) + list(range(2, 22)), "g": [i * i % 11 for i in range(rows)]}
    table = opened(columns)
    g = column(table.schema, "g")
    everything = (Rows(), People(), PeopleCut(), *(PeopleBy(load, 5) for load in Load))
    for limit in (Limit(groups=3, rows_per_group=7), TotalLimit(13), Limit(groups=99, rows_per_group=4)):
        for keys in ((), (Key(g),)):
            aggregation = asked(*everything, keys=keys, limit=limit)
            assert same_as_plain(table, columns, aggregation)
            with monkeypatch.context() as patch:
                patch.setattr(kernel, "PIECE", 64)
                assert same_as_plain(table, columns, aggregation)


def test_rows_fetched_bit_by_bit_are_the_same(monkeypatch):
    columns = {
        "person": [i % 37 for i in range(500)],
        "g": [i % 5 for i in range(500)],
        "w": [str(i % 9) for i in range(500)],
    }
    table = opened(columns)
    monkeypatch.setattr(module, "FETCHED", 16)
    g, w = column(table.schema, "g"), column(table.schema, "w")
    aggregates = (Rows(), People(), Distinct(w), PeopleCut(), Total(g, Bounds(0, 4, step=1), squared=True))
    where = call(F.NE, g, Literal.of(3))
    assert same_as_plain(table, columns, asked(*aggregates, keys=(Key(w), Key(g)), where=where))


# --- marks and ties ---


def test_groups_with_equal_marks_go_by_their_order(monkeypatch):
    """Two groups of one unit with one mark would be one run; they are told apart, and the first one stays."""
    columns = {"person": [1] * 8 + [2] * 3, "g": [3, 1, 2, 1, 3, 2, 2, 1, 7, 7, 1]}
    table = opened(columns)
    monkeypatch.setattr(marks, "mix_words", lambda words: words * np.uint32(0))
    monkeypatch.setattr(kernel, "mix_words", lambda words: words * np.uint32(0))
    limit = Limit(groups=2, rows_per_group=2)
    exact = table.aggregate(asked(Rows(), People(), keys=(Key(column(table.schema, "g")),), limit=limit))
    assert dict(zip(exact.groups, exact.answers[0].tolist(), strict=True)) == {(1,): 3, (2,): 2, (7,): 2}
    assert exact.answers[1].tolist() == [2, 1, 1]


def test_rows_without_a_condition_come_in_the_order_of_the_table(monkeypatch):
    """Which is what the engine promises, and what tells whose rows they are."""
    count = 400_000
    table = opened({"person": np.arange(count) // 7, "g": np.arange(count)})
    found = []
    monkeypatch.setattr(
        module.AggregationPass, "_add", lambda self, first, last, rows, columns: found.append((rows, columns))
    )
    for _ in range(3):
        table.aggregate(asked(Total(column(table.schema, "g"), Bounds(0, count, step=1))))
    assert len(found) == 3
    for rows, columns in found:
        assert len(columns) == 1
        assert np.array_equal(columns[0].data, rows)


def test_a_unit_adds_no_more_groups_than_it_may_touch():
    """Or one person with many keys could make a question too large to be answered."""
    table = opened(
        {"person": [1] * 500 + [2], "g": [f"g{number}" for number in range(500)] + ["other"], "x": [1] * 501}
    )
    values = Frequencies(column(table.schema, "x"), Bounds(0, 1000, step=1), 1)
    keys = (Key(column(table.schema, "g")),)
    exact = table.aggregate(asked(Rows(), values, keys=keys, limit=Limit(groups=3, rows_per_group=1)))
    assert len(exact.groups) == 4
    assert exact.answers[1].shape == (4, 1001)
    assert exact.answers[1].sum() == 4


def test_names_of_groups_are_those_of_marks(monkeypatch):
    """Counted off, listed by the engine, or public: a group has one name."""
    group = (12, "it's 😀", None, True, date(33, 4, 3))
    columns = {"person": [1], **{f"k{place}": [value] for place, value in enumerate(group)}}
    columns["k2"] = pa.array([None], pa.string())
    table = opened(columns)
    keys = tuple(Key(column(table.schema, f"k{place}")) for place in range(5))
    found = []
    original = groupings.build_group_codes
    monkeypatch.setattr(module, "build_group_codes", lambda *given: found.append(original(*given)) or found[-1])
    table.aggregate(asked(Rows(), keys=keys))
    (grouping,) = found
    expected = marks.name_of(group) * marks.OTHERS & marks.MASK
    assert grouping.words().tolist() == [expected]
    assert grouping.groups(np.arange(1)) == (group,)


def test_a_choice_does_not_depend_on_others():
    """A person's own rows decide what is kept of them, whoever else is there."""
    mine = {"person": [5] * 30, "g": [i % 6 for i in range(30)], "x": [2**i for i in range(30)]}
    others = {"person": [i % 4 for i in range(40)], "g": [i % 13 - 3 for i in range(40)], "x": [0] * 40}
    alone, together = opened(mine), opened({name: others[name] + mine[name] for name in mine})
    bounds = Bounds(0, 2**40, step=1)
    for limit in (Limit(groups=2, rows_per_group=3), TotalLimit(4)):
        totals = []
        for table in (alone, together):
            x, g = column(table.schema, "x"), column(table.schema, "g")
            exact = table.aggregate(asked(Total(x, bounds), keys=(Key(g),), limit=limit))
            totals.append({group: total for group, total in zip(exact.groups, exact.answers[0], strict=True) if total})
        assert totals[0] == totals[1]


# --- exact sums ---


@pytest.mark.parametrize("most", [1, 2**20, 2**45, 2**53, 2**62])
def test_sums_are_exact_beyond_what_floats_count(most):
    numbers = np.array([most, most - 1, -most, most, 1, most] * 500, dtype=np.int64)
    codes = np.arange(len(numbers)) % 4
    expected = [sum(int(n) for n, c in zip(numbers, codes, strict=True) if c == code) for code in range(4)]
    assert sum_by(codes, numbers, most, 4).tolist() == expected
    if most <= 2**53:
        squares = [sum(int(n) ** 2 for n, c in zip(numbers, codes, strict=True) if c == code) for code in range(4)]
        assert squares_by(codes, numbers, most, 4).tolist() == squares


def test_the_type_of_a_total_is_public():
    """Whether Python's integers are needed is said by the bounds, not by the rows."""
    bounds = Bounds(-(2**53), 2**53, step=1)
    for rows in (0, 1, 100):
        table = opened({"person": pa.array(range(rows), pa.int64()), "n": pa.array(range(rows), pa.int64())})
        n = column(table.schema, "n")
        totals = (Total(n, bounds, squared=True), Total(n, Bounds(0, 9, step=1)))
        assert [a.dtype for a in table.aggregate(asked(*totals)).answers] == [object, np.int64]


# --- what an engine may do, and what gets out ---


@pytest.fixture
def table():
    return opened({"person": ["Ann", "Bob"], "x": [123456, 2]})


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_csv('/etc/hostname')",
        "SET memory_limit = '1TB'",
        "SET enable_external_access = true",
        "COPY rows TO 'out.csv'",
        "INSTALL spatial",
        "ATTACH 'other.db'",
        "INSERT INTO rows SELECT * FROM rows",
        "DROP TABLE rows",
    ],
)
def test_a_locked_engine_reads_its_own_rows_and_nothing_else(table, statement, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with (
        pytest.raises(Exception, match=r"disabled|locked|read-only|Cannot"),
        module.open_cursor(table._connection, EngineSettings()) as cursor,
    ):
        cursor.ask(statement, {})
    assert not list(tmp_path.iterdir())


def test_a_failure_says_one_constant_sentence_and_carries_no_rows(table, monkeypatch):
    def broken(*_):
        secret = "Ann has 123456"
        raise ValueError(secret)

    heard = []
    handler = logging.Handler()
    handler.emit = lambda record: heard.append(record.exc_info[1])
    logging.getLogger("discreet.operator").addHandler(handler)
    monkeypatch.setattr(module.Bounding, "bound", broken)
    try:
        with pytest.raises(EngineFailed) as caught:
            table.aggregate(asked(Rows()))
    finally:
        logging.getLogger("discreet.operator").removeHandler(handler)
    error = caught.value
    assert error.problem == "The engine could not answer."
    assert error.__context__ is None
    assert error.__cause__ is None
    assert "123456" not in str(error)
    assert [str(each) for each in heard] == ["Ann has 123456"]


def test_a_bound_that_does_not_hold_stops_everything(monkeypatch):
    table = opened({"person": [1] * 9, "g": [1] * 5 + [2] * 4})
    for place in (kernel, rounds):
        monkeypatch.setattr(place, "choose_rows", lambda salt, names, lengths, most: np.arange(int(lengths.sum())))
    for keys in ((), (Key(column(table.schema, "g")),)):
        for few in (0, 6):
            monkeypatch.setattr(kernel, "FEW", few)
            with pytest.raises(EngineFailed):
                table.aggregate(asked(Rows(), keys=keys, limit=Limit(groups=1, rows_per_group=3)))


def test_a_public_mistake_is_told(table):
    wrong = call(F.CLAMP, column(table.schema, "x"), column(table.schema, "x"), Literal.of(3))
    with pytest.raises(InvalidInput, match="constant"):
        table.aggregate(asked(Present(wrong)))


def test_a_question_has_its_time_and_no_more():
    table = opened({"person": list(range(1000)), "x": [1] * 1000}, settings=EngineSettings(seconds=1e-9))
    with pytest.raises(EngineFailed):
        table.aggregate(asked(Present(column(table.schema, "x"))))


def test_a_question_that_was_not_interrupted_in_time_asks_no_further(monkeypatch):
    class Never:
        def __init__(self, *_):
            self.daemon = True

        def start(self):
            """Do not even begin to wait."""

        cancel = start

    monkeypatch.setattr(engines.threading, "Timer", Never)
    test_a_question_has_its_time_and_no_more()


def test_a_table_shows_no_row_and_no_number_of_rows(table):
    assert repr(table) == "DuckTable(['t'], public=[])"


def test_several_threads_may_ask_at_once():
    rows = 20_000
    table = opened({"person": [i % 999 for i in range(rows)], "w": [str(i % 50) for i in range(rows)]})
    w = column(table.schema, "w")
    aggregation = asked(Rows(), Distinct(w), keys=(Key(w),))
    expected = [a.tolist() for a in table.aggregate(aggregation).answers]
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append([a.tolist() for a in table.aggregate(aggregation).answers]))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 6


def test_moments_are_compared_with_days_at_midnight():
    moments = [datetime(2024, 1, 1), datetime(2024, 1, 1, 0, 0, 0, 1), None]  # noqa: DTZ001 - as in the table
    table = opened({"person": [1, 2, 3], "t": pa.array(moments, pa.timestamp("us"))})
    later = call(F.GT, column(table.schema, "t"), Literal(date(2024, 1, 1), Kind.DATE))
    assert table.aggregate(asked(Rows(), where=later)).answers[0].tolist() == [1]
