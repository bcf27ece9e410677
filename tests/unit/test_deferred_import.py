"""Files are open before their rows are read: rows come in when a question is paid for, and fail as its run fails."""

import gzip
import threading

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet
from clinic import BY_WARD, COUNT, opened, rows, write_visits
from discreet.cli import main
from discreet.core import DiscreetError, NotReady, RunFailed
from discreet.data.duckdb import deferred_import
from discreet.gate.gate import FAILED


@pytest.fixture
def imports(monkeypatch):
    """Return the tables whose rows were imported, in their order."""
    known, real = [], deferred_import.import_tables

    def noted(connection, entering):
        known.extend(table.declaration.table for table in entering)
        return real(connection, entering)

    monkeypatch.setattr(deferred_import, "import_tables", noted)
    return known


def test_nothing_free_reads_a_row_and_the_first_paid_question_reads_all_of_them_once(tmp_path, imports):
    with opened(tmp_path) as session:
        assert session.schema.lines()
        assert session.preview(BY_WARD, epsilon=1).fits
        assert session.explain(BY_WARD, epsilon=1)
        with pytest.raises(DiscreetError):
            session.sql(COUNT, epsilon=100)
        assert imports == []
        session.sql(COUNT, epsilon=1)
        session.sql(BY_WARD, epsilon=1)
        assert imports == ["visits"]
    with opened(tmp_path) as session:
        assert not session.sql(COUNT, epsilon=1).fresh
    assert imports == ["visits"]


def write_as(kind, folder):
    """Write rows as a source of a kind, and return its path."""
    frame = pd.DataFrame({"patient_id": ["ann", "bob"] * 500, "ward": ["A", "B"] * 500, "stay": range(1000)})
    path = folder / f"visits.{kind}"
    if kind in ("csv", "csv.gz"):
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    elif kind == "xlsx":
        frame.to_excel(path, index=False)
    elif kind == "duckdb":
        with duckdb.connect(str(path)) as connection:
            connection.register("frame", frame)
            connection.execute("CREATE TABLE visits AS FROM frame")
    else:
        path = folder / "visits"
        (path / "year=2024").mkdir(parents=True)
        frame.to_parquet(path / "year=2024" / "1.parquet") if kind == "folders of parquet" else frame.to_csv(
            path / "year=2024" / "1.csv", index=False
        )
        path = path if "folders" in kind else path / "year=2024" / "*.csv"
    return path


KINDS = ("csv", "csv.gz", "parquet", "xlsx", "duckdb", "folders of parquet", "folders of csv", "pattern")


@pytest.mark.parametrize("kind", KINDS)
def test_schema_preview_and_explain_open_no_row_of_any_source(kind, tmp_path, imports, monkeypatch, capsys):
    """Neither are lines or cells read, which are on their way to an import."""
    read = []
    for place in ("csv_lines.load_lines", "sources.load_lines", "sources.load_cells"):
        monkeypatch.setattr(f"discreet.data.reading.{place}", lambda *given, place=place: read.append(place))
    path = write_as(kind, tmp_path)
    declared = {"person": "patient_id", "groups": {"ward": ["A", "B"]}, "bounds": {"stay": (0, 1000)}}
    sql = "SELECT ward, AVG(stay) AS stay FROM visits GROUP BY ward"
    with discreet.open(path, **declared, table="visits", budget=discreet.Budget(epsilon=1), anchors=[]) as session:
        assert session.schema.lines()
        assert session.preview(sql, epsilon=1).fits
        assert session.explain(sql, epsilon=1)
        assert session.shape(sql)
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    words = ["--person", "patient_id", "--groups", "ward=A,B", "--bounds", "stay=0:1000", "--epsilon", "1"]
    ledger = ["--ledger", "other.ledger"]
    assert main(["init", str(path), "--table", "visits", *words, *ledger, "--project", "discreet.toml"]) == 0
    for command in (["schema"], ["preview", sql, "--epsilon", "0.5"], ["explain", sql, "--epsilon", "0.5"]):
        assert main([*command, "--project", "discreet.toml"]) == 0, capsys.readouterr().err
    assert (imports, read) == ([], [])


def test_damaged_rows_of_a_parquet_file_are_met_by_a_paid_question_alone(tmp_path):
    path = write_as("parquet", tmp_path)
    content = bytearray(path.read_bytes())
    content[8 : len(content) // 4] = bytes(len(content) // 4 - 8)  # pages, and no footer
    path.write_bytes(content)
    with discreet.open(path, person="patient_id", budget=discreet.Budget(epsilon=1), anchors=[]) as session:
        assert session.preview("SELECT COUNT(*) AS n FROM visits", epsilon=1).fits
        with pytest.raises(RunFailed):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
        assert session.ledger.spent == 1


def test_rows_that_cannot_be_read_fail_a_run_that_was_paid_for_and_nothing_before(tmp_path):
    """A file whose end is missing: whether it is, may be a fact of rows, and is told by no free call."""
    whole = gzip.compress(write_visits(tmp_path).read_bytes() * 50)
    path = tmp_path / "cut.csv.gz"
    path.write_bytes(whole[: len(whole) // 2])
    declared = {"person": "patient_id", "groups": {"ward": ["A"]}, "budget": discreet.Budget(epsilon=3, delta=1e-9)}
    with discreet.open(path, table="visits", anchors=[], **declared) as session:
        assert session.preview(COUNT, epsilon=1).fits
        with pytest.raises(RunFailed) as caught:
            session.sql(COUNT, epsilon=1)
        assert caught.value.problem == FAILED
        assert session.ledger.spent == 1
        assert session.ledger.runs.state.total == 1
        with pytest.raises(RunFailed):
            session.sql(COUNT, epsilon=1)
        path.write_bytes(whole)
        with pytest.raises(NotReady, match="has changed since it was opened"):
            session.sql(COUNT, epsilon=1)
    with discreet.open(path, table="visits", anchors=[], **declared) as session:
        assert session.sql(COUNT, epsilon=1).fresh
        assert session.ledger.spent == 1


def test_a_file_that_changed_or_went_after_opening_is_refused_before_payment(tmp_path):
    with opened(tmp_path) as session:
        path = tmp_path / "visits.csv"
        text = path.read_text(encoding="utf-8")
        path.write_text(text + "p01,A,1,30,2024-01-01,plain,5\n", encoding="utf-8")
        with pytest.raises(NotReady, match=r"changed since it was opened, or is gone\. Nothing was paid"):
            session.sql(COUNT, epsilon=1)
        path.unlink()
        with pytest.raises(NotReady, match="Nothing was paid"):
            session.sql(COUNT, epsilon=1)
        assert session.preview(COUNT, epsilon=1).fits
        assert session.ledger.spent == 0


def test_a_file_that_changes_while_it_is_read_is_not_used(tmp_path, monkeypatch):
    real = deferred_import.import_tables

    def meddled(connection, entering):
        path = tmp_path / "visits.csv"
        path.write_text(path.read_text(encoding="utf-8") + "p01,A,1,30,2024-01-01,plain,5\n", encoding="utf-8")
        return real(connection, entering)

    monkeypatch.setattr(deferred_import, "import_tables", meddled)
    with opened(tmp_path) as session, pytest.raises(RunFailed):
        session.sql(COUNT, epsilon=1)


def test_an_import_that_was_interrupted_is_made_again(tmp_path, monkeypatch):
    real, tries = deferred_import.read_holding, []

    def failing(*arguments):
        tries.append(1)
        if len(tries) == 1:
            raise MemoryError
        return real(*arguments)

    monkeypatch.setattr(deferred_import, "read_holding", failing)
    with opened(tmp_path) as session:
        with pytest.raises(RunFailed):
            session.sql(COUNT, epsilon=1)
        assert session.sql(COUNT, epsilon=1).fresh
        assert session.ledger.spent == 1


def test_two_threads_that_ask_first_read_the_rows_once(tmp_path, imports):
    with opened(tmp_path) as session:
        questions = [COUNT, BY_WARD]
        threads = [threading.Thread(target=session.sql, args=(text,), kwargs={"epsilon": 1}) for text in questions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(session.ledger.runs.state.open) == 0
        assert session.ledger.spent == 2
    assert imports == ["visits"]


def test_a_frame_is_taken_over_as_it_is_when_it_is_opened(tmp_path):
    frame = pd.DataFrame({"x": [1, 2, 3]})
    budget = discreet.Budget(epsilon=10**6)
    with discreet.open(frame, row=True, budget=budget, ledger=tmp_path / "f.ledger", anchors=[]) as session:
        frame.loc[0, "x"] = 10
        answer = session.sql("SELECT COUNT(*) AS n FROM data WHERE x = 1", epsilon=10**5)
        assert round(answer.rows()[0]["n"]) == 1


def test_a_kept_import_is_made_when_rows_are_needed_and_by_nothing_else(tmp_path):
    pq.write_table(pa.table({"x": [1, 2], "who": ["a", "b"]}), tmp_path / "t.parquet")
    public = pd.DataFrame({"x": [1, 2], "name": ["one", "two"]})
    store = tmp_path / "t.rows"
    declared = {"person": "who", "public": {"names": public}, "store": store, "ledger": tmp_path / "t.ledger"}
    asked = "SELECT name, COUNT(*) AS n FROM t JOIN names ON t.x = names.x GROUP BY name"
    with discreet.open(tmp_path / "t.parquet", budget=discreet.Budget(epsilon=9), anchors=[], **declared) as session:
        assert session.preview(asked, epsilon=1).fits
        assert not store.exists()
        assert len(session.sql(asked, epsilon=1)) == 2
        assert store.exists()


def test_the_time_of_an_import_is_not_the_time_of_a_question(tmp_path, monkeypatch):
    """Or the first question would fail where the table is large, and the second would not."""
    moments = iter([True])
    real = deferred_import.import_tables

    def slow(connection, entering):
        if next(moments, False):
            threading.Event().wait(0.3)
        return real(connection, entering)

    monkeypatch.setattr(deferred_import, "import_tables", slow)
    monkeypatch.setattr("discreet.data.duckdb.table.check_unit_work", lambda *_: None)
    with opened(tmp_path, seconds=0.25) as session:
        assert session.sql(COUNT, epsilon=1).fresh
    assert len(rows()) == 61


@pytest.mark.parametrize("address", ["s3://bucket/visits.parquet", "https://me:secret@host/v.csv", "gs://b/v.csv"])
def test_an_address_elsewhere_is_refused_with_a_fix_and_without_its_password(address, tmp_path, monkeypatch, capsys):
    with pytest.raises(DiscreetError, match="not opened") as caught:
        discreet.open(address, row=True, budget=discreet.Budget(epsilon=1), ledger=tmp_path / "a.ledger", anchors=[])
    assert "download the file" in caught.value.fix
    assert "secret" not in str(caught.value)
    monkeypatch.chdir(tmp_path)
    assert main(["init", address, "--rows", "--epsilon", "1"]) == 2
    error = capsys.readouterr().err
    assert "download the file" in error
    assert "secret" not in error
