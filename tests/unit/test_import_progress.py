"""The share of an import that is done: for the program that has the rows, growing, and in no answer."""

import io
import threading

import pandas as pd
import pytest

import discreet
from discreet.cli.console import Patience
from discreet.core import DiscreetError
from discreet.data.reading import import_progress

ROWS = 20_000


@pytest.fixture(params=["csv", "csv.gz", "parquet"])
def visits(request, tmp_path):
    path = tmp_path / f"visits.{request.param}"
    frame = pd.DataFrame({"who": [f"p{i % 1000}" for i in range(ROWS)], "stay": range(ROWS)})
    frame.to_parquet(path) if request.param == "parquet" else frame.to_csv(path, index=False)
    return path


@pytest.fixture
def often(monkeypatch):
    monkeypatch.setattr(import_progress, "PAUSE", 0.001)


def opened(path, **more):
    return discreet.open(path, person="who", budget=discreet.Budget(epsilon=100), anchors=[], **more)


def test_the_first_question_tells_growing_shares_and_ends_with_one(visits, often, tmp_path, capfd):
    for name, more in (("a", {}), ("b", {"store": tmp_path / "rows"})):
        told = []
        with opened(visits, ledger=tmp_path / name, **more) as session:
            session.show_progress(told.append)
            assert session.preview("SELECT COUNT(*) FROM visits", epsilon=1).fits
            assert told == []  # nothing was imported
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=50)
            assert told[0] == 0
            assert told[-1] == 1
            assert told == sorted(told)
            assert len(set(told)) >= 2
            shares = len(told)
            session.sql("SELECT COUNT(DISTINCT who) AS n FROM visits", epsilon=50)
            assert len(told) == shares  # it was imported already
    assert capfd.readouterr() == ("", "")


def test_nothing_is_told_unless_it_is_asked_for_and_no_thread_is_left(visits, often, capfd):
    before = threading.active_count()
    with opened(visits) as session:
        session.warm_up()
    assert threading.active_count() == before
    assert capfd.readouterr() == ("", "")


def test_a_line_on_standard_error_goes_when_it_is_done(visits, often, capsys):
    with opened(visits) as session:
        session.show_progress()
        session.warm_up()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("\rimporting rows:   0%\rimporting rows:")
    assert captured.err.endswith(f"\r{' ' * 20}\r")


def test_a_function_that_fails_fails_no_import(visits, often):
    def fail(share):
        raise RuntimeError(share)

    with opened(visits) as session:
        session.show_progress(fail)
        assert round(session.sql("SELECT COUNT(DISTINCT who) AS n FROM visits", epsilon=100).value) == 1000


def test_an_import_that_fails_does_not_tell_where(tmp_path, often, monkeypatch):
    (tmp_path / "visits.csv").write_text("who,stay\nann,1\n", encoding="utf-8")
    monkeypatch.setattr("discreet.data.duckdb.importing.cluster_statements", None)
    told, before = [], threading.active_count()
    with opened(tmp_path / "visits.csv") as session:
        session.show_progress(told.append)
        with pytest.raises(DiscreetError, match="fail"):
            session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    assert told[-1] == 1
    assert threading.active_count() == before


def test_a_terminal_shows_the_share_beside_the_clock(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr("discreet.cli.console.SECOND", 0.01)
    shown = threading.Event()
    with Patience("answering") as line:
        assert line.on
        line.note(0.42)
        shown.wait(0.1)
        line.note(1)
        shown.wait(0.1)
    assert "answering … 0 s, 42% of the import" in screen.getvalue()
    assert "100%" not in screen.getvalue()


def test_shares_are_those_of_the_steps_and_of_what_was_noted():
    watch = import_progress.ImportWatch(4)
    found = [watch.share()]
    for noted in (0.0, 0.5, 1.0, 7.0):
        watch.begin(None)
        watch.note(noted)
        found.append(watch.share())
    assert found == [0, 0, 0.375, 0.75, 1]
