"""Imports that the command line keeps: used while nothing has changed, for their owner alone, one for each project."""

import os
import stat
import time

import pytest

from command_line import copy_begun, run_once
from discreet.cli.dataset import kept_imports
from discreet.core import PrivacyUnit
from discreet.core.private_files import WORKING, discard_abandoned, working_folder
from discreet.data import open_table
from discreet.data.duckdb import importing
from discreet.data.engine_rules import DEFAULT_SETTINGS
from discreet.data.reading import declare_table

COUNT = "SELECT COUNT(*) AS n FROM visits WHERE age = 20"
ROWS = "who,age\n" + "".join(f"p{number},{20 + number % 2}\n" for number in range(200))
INIT = ["--person", "who", "--epsilon", "1000000", "--delta", "1e-6", "--limit", "total=2", "--kinds", "age=integer"]


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    folder = tmp_path_factory.mktemp("begun")
    (folder / "visits.csv").write_text(ROWS)
    return run_once(folder, ["init", folder / "visits.csv", *INIT])


@pytest.fixture
def imports(begun, tmp_path, state, run, monkeypatch):
    """Go on with a project whose file counts as a large one; return a list that tells of each import."""
    copy_begun(begun, tmp_path, state)
    monkeypatch.setattr(kept_imports, "LEAST_BYTES", 0)
    seen, real = [], importing.import_tables

    def watch(connection, entering):
        seen.append(len(entering))
        return real(connection, entering)

    monkeypatch.setattr(importing, "import_tables", watch)
    monkeypatch.setattr("discreet.data.duckdb.deferred_import.import_tables", watch)
    return seen


def ask(facts, *options):
    return round(facts("ask", COUNT, "--epsilon", "10000", "--fresh", *options)["rows"][0]["n"])


def test_a_second_question_does_not_import_the_file_again_and_only_the_owner_may_read_the_copy(imports, facts):
    assert [ask(facts), ask(facts)] == [100, 100]
    assert imports == [1]
    (kept,) = kept_imports.list_imports()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert list(kept.parent.iterdir()) == [kept]


def test_an_edit_that_keeps_the_size_and_the_time_is_seen_and_the_old_import_is_replaced(imports, facts, tmp_path):
    source = tmp_path / "visits.csv"
    assert ask(facts) == 100
    before = source.stat()
    with source.open("r+") as file:  # the same file
        file.write(ROWS.replace(",21", ",20"))
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = source.stat()
    assert (after.st_ino, after.st_size, after.st_mtime_ns) == (before.st_ino, before.st_size, before.st_mtime_ns)
    assert ask(facts) == 200
    assert imports == [1, 1]
    assert len(kept_imports.list_imports()) == 1


def test_other_declarations_make_another_import_in_the_place_of_the_old_one(imports, facts, tmp_path):
    assert ask(facts) == 100
    settings = tmp_path / "discreet.toml"
    settings.write_text(settings.read_text(encoding="utf-8").replace('"integer"', '"real"'), encoding="utf-8")
    assert ask(facts) == 100
    assert imports == [1, 1]
    assert len(kept_imports.list_imports()) == 1


def test_nothing_is_kept_if_it_is_said_or_the_file_is_small_or_the_disk_has_no_room(
    imports, facts, tmp_path, monkeypatch
):
    assert ask(facts, "--no-cache") == 100
    with monkeypatch.context() as patch:
        patch.setattr(kept_imports, "LEAST_BYTES", 1 << 20)
        assert ask(facts) == 100
    with monkeypatch.context() as patch:
        patch.setattr(kept_imports, "ROOM", 1 << 80)
        assert ask(facts) == 100
    settings = tmp_path / "discreet.toml"
    settings.write_text("cache = false\n" + settings.read_text(encoding="utf-8"), encoding="utf-8")
    assert ask(facts) == 100
    assert (imports, kept_imports.list_imports()) == ([1] * 4, [])


def test_imports_are_counted_and_deleted_by_a_command(imports, facts, run):
    ask(facts)
    found = facts("cache")
    assert (found["kept"], found["deleted"]) == (1, 0)
    assert found["bytes"] > 0
    assert run("cache", "--clear")[1].startswith("Deleted: 1.")
    assert kept_imports.list_imports() == []
    assert facts("cache", "--clear")["deleted"] == 0
    assert ask(facts) == 100
    assert imports == [1, 1]


def test_old_imports_and_those_of_killed_processes_go_and_those_in_use_stay(imports, facts):
    ask(facts)
    (kept,) = kept_imports.list_imports()
    stranger, left = kept.with_name("stranger.rows"), kept.with_name(f"{WORKING}left")
    stranger.write_bytes(b"rows")
    past = time.time() - kept_imports.LONGEST - 60
    os.utime(stranger, (past, past))
    left.mkdir()
    (left / "import").write_bytes(b"half of the rows")
    with working_folder(kept.parent) as used:
        ask(facts)
        assert sorted(kept.parent.iterdir()) == sorted([kept, used])
        discard_abandoned(kept.parent)
        assert used.is_dir()


def test_a_file_that_is_no_whole_import_is_not_used(imports, facts):
    ask(facts)
    (kept,) = kept_imports.list_imports()
    kept.write_bytes(kept.read_bytes()[:5000])
    assert ask(facts) == 100
    assert imports == [1, 1]


def test_rows_are_those_of_the_own_import_also_if_another_process_puts_its_own_in_the_place(tmp_path, monkeypatch):
    """Between the writing of an import and its use, a process with other declarations writes the same file."""
    (tmp_path / "v.csv").write_text(ROWS)
    store, unit = tmp_path / "v.rows", PrivacyUnit(column="who")
    entering = declare_table("v", tmp_path / "v.csv", unit)
    real = importing.ImportFile.put_in_place

    def overtaken(file, fresh):
        real(file, fresh)
        other = tmp_path / "other.rows"
        table = open_table(tmp_path / "v.csv", table="v", unit=PrivacyUnit(), store=other)
        monkeypatch.setattr(importing.ImportFile, "put_in_place", real)
        table._tables.load()
        other.replace(store)

    monkeypatch.setattr(importing.ImportFile, "put_in_place", overtaken)
    connection, _ = importing.import_file([entering], store, DEFAULT_SETTINGS)
    assert connection.execute("SELECT count(*) FROM units").fetchall() == [(200,)]
    connection.close()
    current = importing.ImportFile(store, (entering.stamp,)).open_current(DEFAULT_SETTINGS)
    assert current is None
