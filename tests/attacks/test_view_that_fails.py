"""The attack: a view casts a text to a number, and one cell holds `n/a`.

Any question that reads the column fails if that row is there and is answered if it is not: an exact bit about one
person, for the price of a question that was never answered. The same holds for every expression
that stands in the source: in a view, a policy, a foreign table, or a frame of Spark.
"""

import pytest

import discreet
from discreet.cli import main
from discreet.core import DiscreetError, InvalidInput, PrivacyUnit
from discreet.data.postgres import catalogue as postgres_catalogue
from discreet.data.postgres.table import open_postgres
from postgres_tables import running, writer

UNIT = PrivacyUnit(column="pid")
BUDGET = discreet.Budget(epsilon=3)


def do(text):
    writer().connection.execute(text)


@pytest.fixture
def rows():
    """Keep a table whose text column holds one cell that is no number."""
    do("DROP SCHEMA IF EXISTS failing CASCADE; CREATE SCHEMA failing")
    do("CREATE TABLE failing.visits (pid bigint, stay text, n int); SET search_path = failing, public")
    do("INSERT INTO failing.visits VALUES (1, '3', 1), (2, '4', 2), (3, 'n/a', 3)")
    yield
    do("SET search_path TO DEFAULT; DROP SCHEMA failing CASCADE")


def opened(inner, **said):
    return open_postgres(running().plain, table="seen", inner=f"failing.{inner}", unit=UNIT, **said)


def session(place, **said):
    return discreet.open(
        running().plain,
        table=["failing.seen"],
        person="pid",
        bounds={"stay": (0, 9)},
        budget=BUDGET,
        ledger=place,
        **said,
    )


def attack(place):
    """Return whether a question about the view was answered: a bit about the person whose cell is no number."""
    with session(place) as clinic:
        try:
            clinic.sql("SELECT SUM(stay) AS stay FROM seen", epsilon=0.1, limit=1)
        except DiscreetError:
            return False
        return True


def test_whether_a_question_is_answered_told_of_one_cell(tmp_path, rows, monkeypatch):
    """What was: the outcome differs by the row of one person."""
    do("CREATE VIEW failing.seen AS SELECT pid, stay::int AS stay FROM failing.visits")
    monkeypatch.setattr(postgres_catalogue, "need_plain", lambda *_: None)
    assert attack(tmp_path / "with.ledger") is False
    do("DELETE FROM failing.visits WHERE stay = 'n/a'")
    assert attack(tmp_path / "without.ledger") is True


def test_a_view_that_may_fail_is_refused_whatever_its_rows_are(tmp_path, rows):
    do("CREATE VIEW failing.seen AS SELECT pid, stay::int AS stay FROM failing.visits")
    told = []
    for text in ("SELECT 1", "DELETE FROM failing.visits WHERE stay = 'n/a'", "DELETE FROM failing.visits"):
        do(text)
        with pytest.raises(InvalidInput, match="A row may make reading 'seen' fail") as caught:
            attack(tmp_path / "clinic.ledger")
        told.append(str(caught.value))
    assert len(set(told)) == 1
    assert "never_fails" in told[0]
    assert not (tmp_path / "clinic.ledger").exists()


COMPUTING = {
    "a cast": "SELECT pid, stay::int AS stay FROM failing.visits",
    "a cast below": "SELECT pid, s FROM (SELECT pid, stay::int AS s FROM failing.visits) AS below",
    "arithmetic": "SELECT pid, 7 / (n - 3) AS stay FROM failing.visits",
    "a condition": "SELECT pid, n FROM failing.visits WHERE stay::int > 2",
    "a condition that looks total": "SELECT pid, n FROM failing.visits WHERE n > 2",
    "a function": "SELECT pid, x.* FROM failing.visits, generate_series(1, n) AS x",
    "a join": "SELECT a.pid, b.n FROM failing.visits a JOIN failing.visits b ON a.stay::int = b.n",
    "two tables": "SELECT a.pid, b.n FROM failing.visits a, failing.visits b",
    "a union": "SELECT pid, n FROM failing.visits UNION ALL SELECT pid, n FROM failing.visits",
    "common rows": "WITH x AS MATERIALIZED (SELECT pid, stay::int FROM failing.visits) SELECT * FROM x",
    "groups": "SELECT pid, sum(n) AS n FROM failing.visits GROUP BY pid",
    "different rows": "SELECT DISTINCT pid, n FROM failing.visits",
    "an order": "SELECT pid, n FROM failing.visits ORDER BY stay::int",
    "a sample": "SELECT pid, n FROM failing.visits TABLESAMPLE BERNOULLI (50)",
    "a limit": "SELECT pid, n FROM failing.visits LIMIT 2",
    "a subquery in the list": "SELECT pid, (SELECT max(stay::int) FROM failing.visits) AS n FROM failing.visits",
    "a window": "SELECT pid, row_number() OVER (PARTITION BY pid) AS n FROM failing.visits",
    "a length": "SELECT pid, n, stay::varchar(2) AS stay FROM failing.visits",
    "a choice": "SELECT pid, CASE WHEN n > 2 THEN stay::int END AS stay FROM failing.visits",
    "the server's own view": "SELECT pid, backend_type AS n FROM pg_catalog.pg_stat_activity",
}


@pytest.mark.parametrize("text", COMPUTING.values(), ids=COMPUTING)
def test_a_view_that_computes_is_refused(rows, text):
    do(f"CREATE VIEW failing.seen AS {text}")
    do("CREATE VIEW failing.above AS SELECT * FROM failing.seen")
    for name in ("seen", "above"):
        with pytest.raises(InvalidInput, match="A row may make reading 'seen' fail"):
            opened(name)
        opened(name, never_fails=True).close()


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM failing.visits",
        'SELECT pid, n AS "x{FUNCEXPR y" FROM failing.visits AS "{OPEXPR"',
        "SELECT pid, below.n FROM (SELECT pid, n FROM failing.visits) AS below",
        "SELECT pid, stay::varchar AS stay FROM failing.visits",
    ],
)
def test_a_view_of_plain_columns_is_opened(rows, text):
    do(f"CREATE VIEW failing.seen AS {text}")
    do("CREATE VIEW failing.above AS SELECT * FROM failing.seen")
    for name in ("seen", "above"):
        opened(name).close()


def test_what_is_stored_is_opened(rows):
    """A materialized view was computed when it was made; partitions are tables."""
    do("CREATE MATERIALIZED VIEW failing.seen AS SELECT pid, n + 1 AS n FROM failing.visits")
    do("CREATE TABLE failing.parted (pid bigint, n int) PARTITION BY RANGE (n)")
    do("CREATE TABLE failing.part PARTITION OF failing.parted FOR VALUES FROM (0) TO (9)")
    do("CREATE TABLE failing.made (pid bigint, n int, twice int GENERATED ALWAYS AS (n * 2) STORED)")
    for name in ("visits", "seen", "parted", "part", "made"):
        opened(name).close()


@pytest.mark.parametrize(
    "kind", ["PARTITION OF failing.parted DEFAULT", "(pid bigint, n int) INHERITS (failing.old)", ""]
)
def test_a_foreign_table_and_what_has_one_among_its_parts_are_refused(rows, kind):
    """PostgreSQL makes foreign tables without any wrapper being there that reads them."""
    do("DROP FOREIGN DATA WRAPPER IF EXISTS nowhere CASCADE; CREATE FOREIGN DATA WRAPPER nowhere")
    do("CREATE SERVER nobody FOREIGN DATA WRAPPER nowhere")
    do("CREATE TABLE failing.parted (pid bigint, n int) PARTITION BY RANGE (n)")
    do("CREATE TABLE failing.old (pid bigint, n int)")
    do(f"CREATE FOREIGN TABLE failing.far {kind or '(pid bigint, n int)'} SERVER nobody")
    name = "parted" if "parted" in kind else "old" if kind else "far"
    do(f"CREATE VIEW failing.above AS SELECT * FROM failing.{name}")
    try:
        for one in (name, "above"):
            with pytest.raises(InvalidInput, match="foreign table"):
                opened(one)
    finally:
        do("DROP FOREIGN DATA WRAPPER nowhere CASCADE")


def test_a_table_with_policies_is_refused(rows):
    do("ALTER TABLE failing.visits ENABLE ROW LEVEL SECURITY")
    do("CREATE POLICY mine ON failing.visits USING (stay::int > 0)")
    do("CREATE VIEW failing.above AS SELECT * FROM failing.visits")
    for name in ("visits", "above"):
        with pytest.raises(InvalidInput, match="row-level security"):
            opened(name)


def test_virtual_columns_are_refused():
    """Servers before PostgreSQL 18 have none: the catalogue of one that does is written out."""
    asked = {
        "'7'": [("v", False, False, "{QUERY {RANGETBLREF :relid 8 }}", None)],
        "'8'": [("r", False, True, None, None)],
    }
    ask = lambda text: next(rows for number, rows in asked.items() if f"{number}::oid" in text)  # noqa: E731
    with pytest.raises(InvalidInput, match="virtual generated columns"):
        postgres_catalogue.need_plain(ask, 7, "seen")


def test_a_relation_that_is_gone_meanwhile_is_refused():
    with pytest.raises(InvalidInput, match="not in the catalogue"):
        postgres_catalogue.need_plain(lambda _: [], 7, "seen")


def test_the_steward_may_promise_by_the_name_in_sql(tmp_path, rows):
    do(
        "CREATE VIEW failing.seen AS "
        "SELECT pid, CASE WHEN stay ~ '^[0-9]$' THEN stay::int END AS stay FROM failing.visits"
    )
    with session(tmp_path / "clinic.ledger", never_fails=["Seen"]) as clinic:
        assert clinic.sql("SELECT SUM(stay) AS stay FROM seen", epsilon=0.1, limit=1)


def test_the_terminal_takes_the_promise(tmp_path, rows, capsys):
    do("CREATE VIEW failing.seen AS SELECT pid, n + 1 AS n FROM failing.visits")
    address = running().plain if "://" in running().plain else running().address
    words = ["init", address, "--table", "failing.seen", "--person", "pid", "--epsilon", "3", "--project"]
    words = [*words, str(tmp_path / "discreet.toml"), "--ledger", str(tmp_path / "clinic.ledger")]
    assert main(words) != 0
    assert "A row may make reading 'seen' fail" in "".join(capsys.readouterr())
    assert main([*words, "--never-fails", "seen"]) == 0
    assert 'never_fails = ["seen"]' in (tmp_path / "discreet.toml").read_text()
    discreet.open(tmp_path / "discreet.toml").close()


@pytest.mark.parametrize("given", ["visits", 5, ["other"], [5]])
def test_a_promise_names_private_tables(tmp_path, rows, given):
    do("CREATE VIEW failing.seen AS SELECT pid, n FROM failing.visits")
    with pytest.raises(DiscreetError, match="never_fails"):
        session(tmp_path / "clinic.ledger", never_fails=given)


# --- frames of Spark ---


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    """Keep files whose text column holds one cell that is no number."""
    from spark_tables import session as spark

    place = str(tmp_path_factory.mktemp("visits") / "rows")
    spark().createDataFrame([(1, "3", 1), (2, "n/a", 2)], "pid long, stay string, n int").write.parquet(place)
    return spark().read.parquet(place)


def on_spark(frame, place, **said):
    return discreet.open(frame, table="seen", person="pid", budget=BUDGET, ledger=place, **said)


FRAMES = {
    "a cast": lambda rows: rows.selectExpr("pid", "CAST(stay AS INT) AS stay"),
    "a cast below": lambda rows: rows.selectExpr("pid", "CAST(stay AS INT) AS stay").select("pid", "stay"),
    "a condition": lambda rows: rows.filter("CAST(stay AS INT) > 2"),
    "arithmetic": lambda rows: rows.selectExpr("pid", "7 / (n - 2) AS stay"),
    "a limit": lambda rows: rows.limit(1),
    "groups": lambda rows: rows.groupBy("pid").count(),
    "a join": lambda rows: rows.crossJoin(rows.select("n").toDF("m")),
    "a subquery": lambda rows: rows.filter("n > (SELECT raise_error('x'))"),
    "a view": lambda rows: viewed(rows.selectExpr("pid", "CAST(stay AS INT) AS stay")),
}


def viewed(frame):
    frame.createOrReplaceTempView("viewed_rows")
    return frame.sparkSession.table("viewed_rows")


@pytest.mark.spark
@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_a_frame_that_computes_is_refused(tmp_path, visits, make):
    with pytest.raises(InvalidInput, match="A row may make reading 'seen' fail"):
        on_spark(make(visits), tmp_path / "spark.ledger")
    assert not (tmp_path / "spark.ledger").exists()
    on_spark(make(visits), tmp_path / "spark.ledger", never_fails=["seen"]).close()


def test_a_text_file_on_spark_is_refused(tmp_path, visits):
    """Told to (`mode` FAILFAST), Spark fails for one line that it does not understand."""
    visits.write.csv(str(tmp_path / "lines"))
    lines = visits.sparkSession.read.schema("pid long, stay int, n int").option("mode", "FAILFAST")
    with pytest.raises(InvalidInput, match="neither Parquet nor ORC"):
        on_spark(lines.csv(str(tmp_path / "lines")), tmp_path / "spark.ledger")


@pytest.mark.spark
def test_frames_of_plain_columns_are_opened(tmp_path, visits):
    visits.write.orc(str(tmp_path / "orc"))
    for place, frame in enumerate(
        [
            visits,
            visits.select("pid", "stay").toDF("pid", "x"),
            visits.filter("stay = '3' AND (n > 1 OR n IS NULL)"),
            viewed(visits),
            visits.cache(),
            visits.sparkSession.read.orc(str(tmp_path / "orc")),
            visits.sparkSession.createDataFrame([(1, "a")], "pid long, b string"),
        ]
    ):
        on_spark(frame, tmp_path / f"{place}.ledger").close()
