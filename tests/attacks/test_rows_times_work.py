"""Attack: many rows of one person, and as much work as is allowed in each of them.

The work of one row was bounded, and so was the number of rows of one person, but not the product. Two rows of one
person, in a join of fourteen times the same table, are 10,000 rows; with 50 milliseconds of work in each, a question
failed at its deadline with that person, and answered in 0.2 seconds without. One row of a person and a public table of
2,000 rows that agree with it did the same in 18 seconds. Long texts made of such rows exhausted the memory. What one
person can take of an engine is now counted before payment (`discreet.data.unit_work`), and DuckDB spills rows.
"""

import re
import time

import pyarrow as pa
import pytest

import discreet
from discreet.core.errors import DiscreetError, OutOfRange
from ledger_bytes import written

#: The person whom the attack is about, and how many others there are.
TARGET, PEOPLE = 777_777, 50
#: The time of a question, the share of it that one person may take, and what a processor does besides.
SECONDS, SHARE, UNSEEN = 10, 1.0, 0.5

#: A text whose letters change their number with their case, which engines take longest for.
WIDE = "İŉΐ" * 1100
#: A text of four bytes a letter.
LONG = "𐐀" * 1240


def heavy(count):
    """Return conditions on a text t that each change its case twelve times."""
    terms = []
    for number in range(count):
        term = f"(t || '{number}')"
        for place in range(12):
            term = f"{'LOWER' if place % 2 else 'UPPER'}({term})"
        terms.append(f"{term} = 'x'")
    return " OR ".join(terms)


def counted(rows, text):
    """Return a question that does heavy work on a text of each row of the target, and of nobody else."""
    return (
        f"SELECT COUNT(*) AS n FROM (SELECT a.pid, a.note, {text} || '{WIDE}' AS t FROM {rows}) AS j WHERE "
        f"CASE WHEN pid = {TARGET} AND note LIKE 'HIV%' THEN {heavy(4)} ELSE FALSE END"
    )


JOINED = " ".join(f"JOIN visits AS v{n} ON a.pid = v{n}.pid" for n in range(13))
UNION = "(SELECT pid, note FROM visits UNION ALL SELECT pid, note FROM visits UNION ALL SELECT pid, note FROM visits)"
UNIONS = " ".join(f"JOIN {UNION} AS v{n} ON a.pid = v{n}.pid" for n in range(3))
ATTACKS = {
    "self-joins": counted(f"visits AS a {JOINED}", "SUBSTRING(v11.note, 1, 9) || SUBSTRING(v12.note, 1, 9)"),
    "unions": counted(f"{UNION} AS a {UNIONS}", "SUBSTRING(v1.note, 1, 9) || SUBSTRING(v2.note, 1, 9)"),
    "public-rows": counted("visits AS a JOIN days AS d ON a.one = d.one", "SUBSTRING(a.note, 1, 9) || d.day"),
}


def columns_of_long_texts(count):
    """Return a question that tells many long texts of the target apart, and of nobody else."""
    short = f"(SELECT pid, '{LONG}' AS big FROM visits) AS w"
    big = f"(SELECT pid, {' || '.join(['big'] * 8)} AS big FROM {short})"
    texts = ", ".join(
        f"CASE WHEN a.pid = {TARGET} AND a.note LIKE 'HIV%' THEN d.day || CAST(a.one + {n} AS VARCHAR) || b.big "
        f"ELSE '' END AS t{n}"
        for n in range(count)
    )
    counts = ", ".join(f"COUNT(DISTINCT t{n}) AS n{n}" for n in range(count))
    rows = f"visits AS a JOIN {big} AS b ON a.pid = b.pid JOIN days AS d ON a.one = d.one"
    return f"SELECT {counts} FROM (SELECT {texts} FROM {rows}) AS q"


def visits(mine):
    """Return one row of each person, and some of the target."""
    ids = [*range(PEOPLE), *[TARGET] * mine]
    return pa.table({"pid": ids, "one": [1] * len(ids), "note": ["fine"] * PEOPLE + ["HIV+"] * mine})


DAYS = pa.table({"one": [1] * 2000, "day": [f"{n:04}" for n in range(2000)]})


def on_duckdb(mine):
    """Return what opens the rows on DuckDB."""
    return {"source": {"visits": visits(mine)}, "public": {"days": DAYS}}


def on_postgres(mine):
    """Return what opens the rows on PostgreSQL."""
    from postgres_tables import running, writer

    name = f"worked_{mine}"
    with writer().connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} (pid bigint, one bigint, note text)")
        with cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in zip(*(column.to_pylist() for column in visits(mine)), strict=True):
                copy.write_row(row)
    return {"source": running().plain, "table": name, "public": {"days": DAYS}}


def asked(given, question, folder, **settings):
    """Return how a question ends, and the seconds that this process works on it. A refusal is written nowhere."""
    place = folder / f"{time.monotonic_ns()}.ledger"
    with discreet.open(
        **given,
        person="pid",
        budget=discreet.Budget(epsilon=10, delta=1e-9),
        ledger=place,
        limit=discreet.Limit(groups=1, rows_per_group=5),
        anchors=[],
        **{"seconds": SECONDS, **settings},
    ) as session:
        before, begun = written(session.ledger, place), time.process_time()
        try:
            session.sql(question.replace("visits", given.get("table", "visits")), epsilon=0.1)
            outcome = "answered"
        except OutOfRange as error:
            outcome = str(error)
            assert written(session.ledger, place) == before
        except DiscreetError as error:
            outcome = type(error).__name__
        return outcome, time.process_time() - begun


def told(make, question, folder, mine=2, **settings):
    """Return how the question ends without and with the target, and the seconds of work, which are DuckDB's alone."""
    (before, quick), (after, slow) = (asked(make(rows), question, folder, **settings) for rows in (0, mine))
    return before, after, quick, slow


@pytest.fixture(params=[on_duckdb, on_postgres], ids=lambda make: make.__name__)
def make(request):
    """How the rows are opened on an engine."""
    return request.param


@pytest.mark.parametrize("attack", ATTACKS)
def test_rows_with_much_work_are_refused_before_payment_whoever_is_there(make, attack, tmp_path):
    before, after, _, _ = told(make, ATTACKS[attack], tmp_path)
    assert before == after
    assert "seconds of the engine" in before
    assert "rows_per_person=" in before


@pytest.mark.parametrize("attack", ATTACKS)
def test_with_the_cap_that_is_named_one_person_takes_no_more_than_the_share(make, attack, tmp_path):
    refused, _ = asked(make(0), ATTACKS[attack], tmp_path)
    cap = int(re.search("rows_per_person=([0-9]+)", refused)[1])
    before, after, quick, slow = told(make, ATTACKS[attack], tmp_path, rows_per_person=cap)
    assert (before, after) == ("answered", "answered")
    assert slow <= quick + SHARE + UNSEEN


def test_texts_that_do_not_fit_the_memory_are_refused_before_payment_whoever_is_there(tmp_path):
    question = columns_of_long_texts(3)
    before, after, _, _ = told(on_duckdb, question, tmp_path, memory="512MB", seconds=600, rows_per_person=2000)
    assert before == after
    assert "MB of memory" in before


def test_texts_that_are_allowed_fit_the_memory(tmp_path):
    question, settings = columns_of_long_texts(2), {"memory": "128MB", "seconds": 600}
    refused, _ = asked(on_duckdb(0), question, tmp_path, **settings)
    cap = int(re.search("rows_per_person=([0-9]+)", refused)[1])
    before, after, _, _ = told(on_duckdb, question, tmp_path, **settings, rows_per_person=cap)
    assert (before, after) == ("answered", "answered")
