"""Where Spark is not like other engines: settings of sessions, types, scans of files, and what it says of failures."""

import logging
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from contribution_checks import Recorder, everybody
from discreet import Budget
from discreet.algebra.aggregates import Aggregation, Key, People, PeopleCut, Rows, Total
from discreet.algebra.expressions import Literal, call, column
from discreet.algebra.functions import F
from discreet.algebra.relations import Scan, UnitJoin
from discreet.core import Bounds, InvalidInput, Limit, OutOfRange, PrivacyUnit, WrongType
from discreet.core.operator_log import OPERATOR
from discreet.core.schema import Kind
from discreet.data.engine_rules import EngineFailed
from discreet.data.spark.personal import bundling_of
from discreet.data.spark.sessions import LOUD, spark_session
from discreet.data.spark.table import open_spark
from spark_tables import frame_of, session

BY_ROW = PrivacyUnit(column=None)
BY_PERSON = PrivacyUnit(column="person")
WIDE = Limit(groups=1000, rows_per_group=1000)
SECRET = "hunter2"


def opened(frame, unit=BY_ROW, **said):
    return open_spark(frame, table="t", unit=unit, never_fails=True, **said)


def counted(table, *keys, where=None):
    """Return how many rows there are in each group of some expressions."""
    asked = Aggregation(where=where, keys=tuple(map(Key, keys)), aggregates=(Rows(),), limit=WIDE, salt=0)
    exact = table.aggregate(asked)
    return dict(zip(exact.groups, exact.answers[0].tolist(), strict=True))


def names_in(table, name):
    return column(table.schema, name)


@pytest.fixture
def setting():
    """Set the session to something, until the test is over."""
    before = {}

    def change(name, value):
        before.setdefault(name, session().conf.get(name))
        session().conf.set(name, value)

    yield change
    for name, value in before.items():
        session().conf.set(name, value)


# --- scans of files ---


@pytest.fixture
def spoilt(tmp_path):
    """Return a Parquet file whose statistics know nothing of NaN, with three values in each of two row groups."""
    values = [float("nan"), 1.0, 9.0, 2.0, float("nan"), float("inf")]
    table = pa.table({"n": pa.array(range(6)), "x": pa.array(values)})
    pq.write_table(table, tmp_path / "spoilt.parquet", row_group_size=3, write_statistics=True)
    return session().read.parquet(str(tmp_path / "spoilt.parquet"))


def test_a_condition_on_a_real_is_decided_after_nan_has_gone(spoilt, capsys):
    table = opened(spoilt)
    x = names_in(table, "x")
    above = call(F.GT, x, Literal.of(5.0))
    assert counted(table, names_in(table, "n"), where=above) == {(2,): 1}
    assert counted(table, call(F.IS_NULL, x)) == {(False,): 3, (True,): 3}
    assert counted(table, where=call(F.NOT, call(F.LE, x, Literal.of(5.0)))) == {(): 1}


def test_no_condition_on_a_real_is_pushed_into_a_scan(spoilt, monkeypatch):
    seen = []
    kind = type(session())
    asked = kind.sql
    monkeypatch.setattr(kind, "sql", lambda self, text: seen.append(text) or asked(self, text))
    plans = []
    frame = type(spoilt)
    given = frame.toArrow
    monkeypatch.setattr(frame, "toArrow", lambda self: plans.append(plan_of(self)) or given(self))
    table = opened(spoilt)
    counted(table, where=call(F.GT, names_in(table, "x"), Literal.of(5.0)))
    assert len(seen) == len(plans) == 1
    assert "PushedFilters: []" in plans[0]


def plan_of(frame):
    return frame._jdf.queryExecution().executedPlan().toString()


# --- settings of sessions ---


def test_the_time_zone_of_a_session_changes_nothing(setting):
    texts = ("2024-03-10 02:30:15.123456", "1969-12-31 23:59:59.999999", "0001-01-01 00:00:00.000001")
    pairs = ", ".join(f"(TIMESTAMP_LTZ'{text}Z', TIMESTAMP_NTZ'{text}')" for text in texts)
    frame = session().sql(f"SELECT * FROM VALUES {pairs}, (NULL, NULL) AS t(zoned, plain)")
    expected = None
    for zone in ("UTC", "America/New_York", "Asia/Kolkata"):
        setting("spark.sql.session.timeZone", zone)
        table = opened(frame)
        parts = [call(f, names_in(table, name)) for name in ("zoned", "plain") for f in (F.TRUNC_DAY, F.HOUR, F.MINUTE)]
        same = call(F.EQ, names_in(table, "zoned"), names_in(table, "plain"))
        found = counted(table, *parts, same)
        expected = found if expected is None else expected
        assert found == expected
    assert (date(2024, 3, 10), 2, 30, date(2024, 3, 10), 2, 30, True) in expected
    assert (date(1969, 12, 31), 23, 59, date(1969, 12, 31), 23, 59, True) in expected


def test_names_are_read_alike_in_every_session(setting):
    frame = frame_of(pa.table({"a.b": [1, 2], "x`y": [3, 4], "Größe": [5, 6], "select": [7, 7]}))
    for regular in ("false", "true"):
        setting("spark.sql.parser.quotedRegexColumnNames", regular)
        setting("spark.sql.caseSensitive", regular)
        table = opened(frame)
        keys = [names_in(table, name) for name in ("a.b", "x`y", "größe", "SELECT")]
        assert counted(table, *keys) == {(1, 3, 5, 7): 1, (2, 4, 6, 7): 1}


def test_texts_are_read_alike_in_every_session(setting):
    frame = frame_of(pa.table({"x": ["a\\b", "it's", "a\nb", "%"]}))
    for escaped in ("false", "true"):
        setting("spark.sql.parser.escapedStringLiterals", escaped)
        table = opened(frame)
        for text in ("a\\b", "it's", "a\nb", "%"):
            assert counted(table, where=call(F.EQ, names_in(table, "x"), Literal.of(text))) == {(): 1}


def test_a_question_leaves_no_view_and_no_setting_behind():
    before = dict(session().conf.getAll)
    table = opened(frame_of(pa.table({"x": [1, 2]})))
    counted(table)
    broken = opened(failing_frame())
    with pytest.raises(EngineFailed):
        counted(broken, names_in(broken, "x"))
    assert session().catalog.listTables() == []
    assert dict(session().conf.getAll) == before
    assert not session().getTags()


# --- types ---


def test_each_type_becomes_one_of_six_kinds():
    frame = session().sql(
        "SELECT 1Y AS tiny, 1S AS small, 1 AS whole, 1L AS large, 1.5F AS single, 2.5D AS double, 1.25BD AS money,"
        " 'a' AS text, true AS truth, DATE'2024-01-01' AS day, TIMESTAMP_LTZ'2024-01-01 00:00:00Z' AS at,"
        " TIMESTAMP_NTZ'2024-01-01 00:00:00' AS plain, array(1) AS list, X'00' AS bytes, struct(1) AS both"
    )
    table = opened(frame)
    kinds = {each.name: each.kind for each in table.schema.columns}
    assert [kinds[name] for name in ("tiny", "small", "whole", "large")] == [Kind.INTEGER] * 4
    assert [kinds[name] for name in ("single", "double", "money")] == [Kind.REAL] * 3
    assert [kinds[name] for name in ("text", "truth", "day")] == [Kind.TEXT, Kind.BOOLEAN, Kind.DATE]
    assert [kinds[name] for name in ("at", "plain")] == [Kind.TIMESTAMP] * 2
    assert set(table.left_out["t"]) == {"list", "bytes", "both"}


def test_people_who_differ_in_the_last_digit_are_two(setting):
    ids = [Decimal("12345678901234567890.10"), Decimal("12345678901234567890.11"), Decimal("0.00")]
    frame = frame_of(pa.table({"person": pa.array(ids, pa.decimal128(30, 2))}))
    for ansi in ("true", "false"):
        setting("spark.sql.ansi.enabled", ansi)
        table = opened(frame, BY_PERSON)
        asked = Aggregation(where=None, keys=(), aggregates=(People(),), limit=Limit(), salt=0)
        assert table.schema.find("person").kind is Kind.TEXT
        assert table.aggregate(asked).answers[0].tolist() == [3]


def test_collations_and_padding_do_not_put_values_together():
    frame = session().sql("SELECT x COLLATE UTF8_LCASE AS x FROM VALUES ('a'), ('A'), ('á') AS t(x)")
    table = opened(frame)
    assert counted(table, names_in(table, "x")) == {("A",): 1, ("a",): 1, ("á",): 1}
    session().sql("CREATE OR REPLACE TEMP VIEW padded AS SELECT CAST('a' AS CHAR(3)) AS x")
    padded = session().table("padded")
    metadata = {"__CHAR_VARCHAR_TYPE_STRING": "char(3)"}
    table = opened(padded.selectExpr("rpad(x, 3, ' ') AS x").withMetadata("x", metadata))
    session().catalog.dropTempView("padded")
    assert counted(table, names_in(table, "x")) == {("a",): 1}


def test_declared_kinds_are_read_or_null():
    frame = frame_of(
        pa.table({"x": ["1", " 22 ", "1.5", "x", "2024-02-30", "2024-02-29", "2024-02-29 10:00:00+02:00"]})
    )
    found = {}
    for kind in ("integer", "real", "date", "timestamp"):
        table = opened(frame, kinds={"x": kind})
        found[kind] = counted(table, call(F.IS_NULL, names_in(table, "x")))[(False,)]
    assert found == {"integer": 2, "real": 3, "date": 1, "timestamp": 2}


def test_what_is_no_table_is_refused():
    rates = session().readStream.format("rate").load()
    for frame, error in ((rates, InvalidInput), (pa.table({"x": [1]}), WrongType), (None, WrongType)):
        with pytest.raises(error):
            opened(frame)
    with pytest.raises(InvalidInput, match="same name"):
        opened(session().sql("SELECT 1 AS a, 2 AS a"))
    with pytest.raises(InvalidInput, match="but for capitals"):
        opened(frame_of(pa.table({"a": [1], "A": [2]})))


# --- failures ---


def failing_frame():
    """Return a frame that fails on a row, and quotes it."""
    return session().sql(f"SELECT raise_error(concat('no good: ', x)) AS x FROM VALUES ('{SECRET}'), ('b') AS t(x)")


def test_nothing_is_read_when_a_table_is_opened():
    assert opened(failing_frame()).schema.names == ("x",)


def test_a_failure_tells_nothing_of_rows(capfd):
    table = opened(failing_frame())
    with pytest.raises(EngineFailed) as caught:
        counted(table, names_in(table, "x"))
    assert caught.value.__context__ is None
    assert SECRET not in str(caught.value)
    told = capfd.readouterr()
    assert SECRET not in told.out + told.err


def test_loggers_of_pyspark_are_quiet_while_a_question_is_asked(monkeypatch):
    """Some versions of PySpark log what an engine's error says, and some do not."""
    from pyspark.logger import PySparkLogger

    frame = frame_of(pa.table({"x": [1]}))
    table, logger = opened(frame), PySparkLogger.getLogger(LOUD[0])
    heard, handler = [], logging.Handler()
    handler.emit = lambda record: heard.append(record.getMessage())

    def failing(self):
        logger.error(SECRET)
        raise ValueError(SECRET)

    monkeypatch.setattr(type(frame), "toArrow", failing)
    logger.addHandler(handler)
    try:
        with pytest.raises(EngineFailed):
            counted(table)
        assert not heard
        logger.error("of somebody else's")
        assert len(heard) == 1
    finally:
        logger.removeHandler(handler)


def test_the_operator_hears_what_went_wrong():
    heard = []
    handler = logging.Handler()
    handler.emit = heard.append
    OPERATOR.addHandler(handler)
    try:
        table = opened(failing_frame())
        with pytest.raises(EngineFailed):
            counted(table, names_in(table, "x"))
    finally:
        OPERATOR.removeHandler(handler)
    assert SECRET in str(heard[0].exc_info[1])


# --- what comes here ---


def test_only_sums_of_groups_are_collected(monkeypatch):
    rows = pa.table({"person": [n % 500 for n in range(5000)], "x": [n % 3 for n in range(5000)]})
    table = opened(frame_of(rows), BY_PERSON, bounds={"x": (0, 2)})
    kind, sizes = type(frame_of(rows)), []
    given = kind.toArrow
    monkeypatch.setattr(kind, "toArrow", lambda self: sizes.append(given(self)) or sizes[-1])
    for name in ("collect", "toPandas", "toLocalIterator", "take", "first", "head"):
        monkeypatch.setattr(kind, name, lambda *_: pytest.fail("rows are collected"))
    x = names_in(table, "x")
    aggregates = (Rows(), People(), Total(x, x.bounds))
    asked = Aggregation(where=None, keys=(Key(x),), aggregates=aggregates, limit=Limit(groups=2), salt=5)
    exact = table.aggregate(asked)
    assert [found.num_rows for found in sizes] == [3]
    assert exact.answers[1].sum() == 1000


def test_public_frames_are_known():
    wards = frame_of(pa.table({"ward": ["B", "A", None], "beds": [10, 30, 20]}))
    table = open_spark(frame_of(pa.table({"x": [1]})), table="t", unit=BY_ROW, public={"wards": wards})
    found = table.publics["wards"]
    assert found.find("ward").groups == (None, "A", "B")
    assert not found.find("ward").complete
    assert (found.find("beds").bounds.low, found.find("beds").bounds.high) == (10, 30)


def test_a_session_that_runs_is_taken():
    assert spark_session() is session()


def test_compiled_statements_say_the_same(setting):
    rows = pa.table({"person": [n % 7 for n in range(90)], "x": [n * n % 11 - 0.5 for n in range(90)]})
    answers = []
    for compiled in ("false", "true"):
        setting("spark.sql.codegen.wholeStage", compiled)
        setting("spark.sql.codegen.factoryMode", "FALLBACK" if compiled == "true" else "NO_CODEGEN")
        setting("spark.sql.adaptive.enabled", compiled)
        table = opened(frame_of(rows), BY_PERSON, bounds={"x": (0, 9)})
        x = names_in(table, "x")
        asked = Aggregation(
            where=call(F.LT, x, Literal.of(8.0)),
            keys=(Key(call(F.FLOOR, x)),),
            aggregates=(Rows(), People(), Total(x, x.bounds, squared=True)),
            limit=Limit(groups=2, rows_per_group=2),
            salt=3,
        )
        exact = table.aggregate(asked)
        answers.append((exact.groups, [answer.tolist() for answer in exact.answers]))
    assert answers[0] == answers[1]


# --- personal accounts ---


def people_of(frame, **said):
    return opened(frame, BY_PERSON, **said)


def asking(table, *aggregates, limit=WIDE):
    keys = (Key(names_in(table, "y")),)
    return Aggregation(where=None, keys=keys, aggregates=aggregates, limit=limit, salt=3)


def answer_of(exact):
    return dict(zip(exact.groups, exact.answers[0].tolist(), strict=True))


def kept():
    """Return how many sets of rows the session keeps."""
    return session().sparkContext._jsc.getPersistentRDDs().size()


#: What is asked in each of the ways in which units are asked: bundles come here, bundles are kept, rows are kept.
WAYS = {
    "bundles": ((Rows(),), Limit(groups=2, rows_per_group=9)),
    "kept bundles": ((Rows(),), WIDE),
    "kept rows": ((Rows(), PeopleCut()), Limit(groups=2, rows_per_group=9)),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("largest", ["1g", "1", "100m", None])
def test_a_session_that_limits_results_is_refused_before_anybody_is_asked(way, largest, monkeypatch):
    """Failing costs nobody, and would tell to the person how many answer a condition."""
    table = people_of(frame_of(pa.table({"person": ["p1", "p2"], "y": [1, 2]})))
    aggregates, limit = WAYS[way]
    recorder, asked = Recorder(), asking(table, *aggregates, limit=limit)
    conf, told = type(session().conf), session().conf.get
    found = {"spark.driver.maxResultSize": largest} if largest else {}

    def get(_self, name, *default):
        return found.get(name, *default) if name == "spark.driver.maxResultSize" else told(name, *default)

    with monkeypatch.context() as context:
        context.setattr(conf, "get", get)
        with pytest.raises(InvalidInput, match=r"Personal accounts need spark\.driver\.maxResultSize=0"):
            table.aggregate_among(asked, recorder)
    assert not recorder.asked
    assert answer_of(table.aggregate_among(asked, recorder)) == {(1,): 1, (2,): 1}


def test_groups_that_whoever_asks_can_make_long_stay_on_spark():
    table = people_of(frame_of(pa.table({"person": ["p1", "p2"], "y": [1, 2], "place": ["a", "b"]})))
    place = names_in(table, "place")
    limit = Limit(groups=2, rows_per_group=9)
    for key, comes in ((place, True), (call(F.CONCAT, place, place), False), (call(F.LENGTH, place), True)):
        asked = Aggregation(where=None, keys=(Key(key),), aggregates=(Rows(),), limit=limit, salt=0)
        *_, rows = table._cap_rows(asked, *table._name_views(asked))
        assert (bundling_of(asked, rows) is not None) == comes
        assert answer_of(table.aggregate_among(asked, Recorder())) == answer_of(table.aggregate(asked))


def test_bytes_that_are_no_text_are_null_and_make_nothing_fail():
    """Where failing costs nobody, one such id would tell whether its row answers a condition."""
    bad = session().sql(
        "SELECT CAST(p AS STRING) AS person, CAST(g AS STRING) AS place, 1 AS y FROM VALUES "
        "(X'FF', X'61'), (X'6162', X'C3'), (X'C3A9', X'61'), (X'63', NULL) AS t(p, g)"
    )
    table = people_of(bad)
    asked = Aggregation(where=None, keys=(Key(names_in(table, "place")),), aggregates=(Rows(),), limit=Limit(), salt=0)
    assert counted(table, names_in(table, "place")) == {(None,): 2, ("a",): 1}
    for aggregation in (asked, replace(asked, limit=WIDE), replace(asked, aggregates=(Rows(), PeopleCut()))):
        assert answer_of(table.aggregate_among(aggregation, Recorder())) == {(None,): 2, ("a",): 1}


@pytest.mark.parametrize("way", WAYS)
def test_rows_count_as_they_were_when_units_were_asked(tmp_path, way):
    """Two jobs may see two versions of a source: whoever comes in between was not asked, and does not count."""
    place = tmp_path / "visits.csv"
    before, after = ("".join(f"p{n},{y}\n" for n in range(1, 5) for y in of) for of in ("12", "17"))
    place.write_text(before)
    table = people_of(session().read.schema("person STRING, y INT").csv(str(place)))
    aggregates, limit = WAYS[way]
    asked = asking(table, *aggregates, limit=limit)

    class Meanwhile(Recorder):
        def admit(self, accounts, contributions, /):
            place.write_text(after)
            return super().admit(accounts, contributions)

    recorder = Recorder()
    table.aggregate_among(asked, recorder)
    first = min(recorder.asked)
    for rule, many in ((everybody, 4), (lambda name, told: name == first, 1)):
        place.write_text(before)
        assert answer_of(table.aggregate_among(asked, Meanwhile(rule))) == {(1,): many, (2,): many}
        assert answer_of(table.aggregate(asked)) == {(1,): 4, (7,): 4}, "the source has changed"


@pytest.mark.parametrize("way", WAYS)
def test_nothing_of_those_who_were_asked_stays_behind(way):
    rows = pa.table({"person": [n % 9 for n in range(50)], "y": [n % 4 for n in range(50)]})
    table, broken = people_of(frame_of(rows)), people_of(failing_people())
    aggregates, limit = WAYS[way]
    before = kept()

    class Failing(Recorder):
        def admit(self, accounts, contributions, /):
            assert kept() == before + (way != "bundles")
            raise ValueError(SECRET)

    table.aggregate_among(asking(table, *aggregates, limit=limit), Recorder(lambda name, told: name[0] % 2 == 0))
    for failing, admission in ((table, Failing()), (broken, Recorder())):
        with pytest.raises(EngineFailed):
            failing.aggregate_among(asking(failing, *aggregates, limit=limit), admission)
    assert session().catalog.listTables() == []
    assert kept() == before
    assert not session().getTags()


@pytest.mark.parametrize("way", ["kept bundles", "kept rows"])
def test_what_was_kept_and_is_lost_fails_the_question(way):
    """It is not made anew: by then the source may say something else."""
    rows = pa.table({"person": [n % 9 for n in range(50)], "y": [n % 4 for n in range(50)]})
    table = people_of(frame_of(rows))
    aggregates, limit = WAYS[way]

    class Losing(Recorder):
        def admit(self, accounts, contributions, /):
            for one in session().sparkContext._jsc.getPersistentRDDs().values():
                one.unpersist(True)
            return super().admit(accounts, contributions)

    with pytest.raises(EngineFailed):
        table.aggregate_among(asking(table, *aggregates, limit=limit), Losing())
    assert session().catalog.listTables() == []


def failing_people():
    return session().sql(f"SELECT person, raise_error('{SECRET}') AS y FROM VALUES ('a') AS t(person)")


@pytest.mark.parametrize(
    ("aggregates", "columns"),
    [
        (lambda _: (Rows(),), 3),
        (lambda x: (Rows(), Total(x, x.bounds)), 4),
        (lambda _: (PeopleCut(),), 6),
    ],
    ids=["bundles", "bundles with sums", "rows"],
)
def test_only_columns_that_are_asked_about_are_kept_while_units_are_asked(monkeypatch, aggregates, columns):
    """Of a bundle its unit, its group and its numbers; of a row its unit, and all columns, which it is ordered by."""
    rows = pa.table({"person": [1, 1, 2], "y": [1, 2, 1], "x": [5, 6, 7], "long": ["a", "b", "c"]})
    table, seen = people_of(frame_of(rows), bounds={"x": (0, 9)}), []
    kind = type(frame_of(rows))
    given = kind.localCheckpoint
    monkeypatch.setattr(kind, "localCheckpoint", lambda self, eager: seen.append(self.columns) or given(self, eager))
    limit = Limit(groups=9, rows_per_group=1)
    table.aggregate_among(asking(table, *aggregates(names_in(table, "x")), limit=limit), Recorder())
    assert [len(names) for names in seen] == [columns]


@pytest.mark.parametrize("ansi", ["true", "false"])
@pytest.mark.parametrize("rows", [4, 10**8], ids=["squares are too wide", "so are sums"])
def test_numbers_that_no_decimal_holds_are_told_a_little_above(setting, ansi, rows):
    setting("spark.sql.ansi.enabled", ansi)
    wide = Bounds(-(2**53), 2**53, step=1)
    values = [(n % 31, n % 3, 2**53 - 1 - n * n * 7919) for n in range(180)]
    arrow = pa.table({name: [value[place] for value in values] for place, name in enumerate(("person", "y", "x"))})
    table = people_of(frame_of(arrow))
    forms = [Total(names_in(table, "x"), wide, **form) for form in ({}, {"squared": True})]
    recorder = Recorder()
    table.aggregate_among(asking(table, *forms, limit=Limit(groups=3, rows_per_group=rows)), recorder)
    told = sorted(recorder.asked.values())
    exact = sorted(own_sums(values, person, wide) for person in range(31))
    for (sums, squares), (true_sums, true_squares) in zip(told, exact, strict=True):
        for found, true in zip((*sums, *squares), (*true_sums, *true_squares), strict=True):
            assert true <= Fraction(found) <= true * (1 + Fraction(1, 10**12))


def own_sums(values, person, bounds):
    """Return reach and square of one person's totals: of values, and of squares, centred as `Total` says."""
    totals = {}
    for who, y, x in values:
        if who == person:
            sums = totals.setdefault(y, [0, 0])
            sums[0] += x
            sums[1] += (x - bounds.centre) ** 2 - bounds.radius**2 // 2
    return tuple(
        (sum(abs(sums[place]) for sums in totals.values()), sum(sums[place] ** 2 for sums in totals.values()))
        for place in range(2)
    )


def test_a_session_on_spark_charges_those_who_are_in_an_answer_and_leaves_out_who_cannot_pay(tmp_path):
    visits = {"visit": range(60), "who": [n % 20 for n in range(60)], "ward": ["AB"[n % 20 % 2] for n in range(60)]}
    session_on_spark = discreet.open(
        frame_of(pa.table({name: list(values) for name, values in visits.items()})),
        table="visits",
        person="who",
        groups={"ward": ["A", "B"]},
        budget=Budget(rho=15 * 10**4, delta=1e-6, per="person"),
        ledger=tmp_path / "visits.ledger",
        limit=Limit(rows_per_group=3),
        anchors=[],
    )
    with session_on_spark as clinic:
        assert clinic.sql("SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'", rho=10**5).value == 30
        assert [len(clinic.ledger.statement(who).charges) for who in (0, 1)] == [1, 0]
        assert clinic.ledger.statement(0).spent >= 10**5
        # Those of A have not so much left, and leave without a word.
        by_ward = clinic.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", rho=10**5)
        assert [row["n"] for row in by_ward.rows()] == [0, 30]
        assert [len(clinic.ledger.statement(who).charges) for who in (0, 1)] == [1, 1]
    assert session().catalog.listTables() == []


def test_joins_that_spark_would_plan_for_too_long_are_refused_before_they_are_paid_for():
    table = opened(frame_of(pa.table({"pid": [1, 2]})), PrivacyUnit(column="pid"))
    scan = Scan("t", ())
    chain = scan
    for _ in range(6):
        chain = UnitJoin(chain, scan)
    asked = Aggregation(where=None, keys=(), aggregates=(Rows(),), limit=Limit(), salt=0, source=chain)
    table.check(asked)
    with pytest.raises(OutOfRange, match="plan for too long"):
        table.check(replace(asked, source=UnitJoin(chain, scan)))
