"""Attack: one person's lines have millions of cells, or cells of two million letters, and make the import fail.

A line has as many cells as it has delimiters, and no more than the columns of them are anything. The engine is given
those alone, so that a line is about as much work as its bytes are in lines of others.
"""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.algebra.functions import LONGEST_TEXT
from discreet.core import PrivacyUnit
from discreet.data.engine_rules import DEFAULT_SETTINGS
from discreet.data.opening import open_table
from discreet.data.reading import csv_lines
from discreet.data.reading.connecting import connect
from discreet.data.reading.csv_files import CsvFile
from discreet.data.reading.csv_format import CsvFormat
from discreet.data.reading.csv_lines import LINES_TABLE, LONG, LONGEST_LINE, SPARE, LineCut, load_lines

NAMES = "person,stay,note\n"
ORDINARY = "p1,3,fine and well and at home\n"
SIZE = LONGEST_LINE - 100
LINES = {
    "commas": "," * SIZE,
    "commas after a quoted cell": '"a"' + "," * (SIZE - 3),
    "quoted cells": '"a",' * (SIZE // 4),
    "quoted quotes": '"' + '""' * (SIZE // 2 - 1) + '"',
    "one cell": "x" * SIZE,
    "one quoted cell": '"' + "x" * (SIZE - 2) + '"',
    "an open quote": '"' + "x" * (SIZE - 1),
    "an open quote at the end": "," * (SIZE - 1) + '"',
}


def csv_file(path: Path, lines: str) -> Path:
    path.write_text(NAMES + lines)
    return path


@pytest.mark.parametrize("odd", LINES.values(), ids=LINES)
def test_the_engine_is_given_few_cells_and_no_long_ones(tmp_path, odd):
    path = csv_file(tmp_path / "visits.csv", ORDINARY + f"mallory,{odd}\n" + ORDINARY)
    file = CsvFile.of(path, CsvFormat())
    with connect(":memory:", DEFAULT_SETTINGS) as connection:
        load_lines(connection, path, file.form, file.cut)
        ((lines, letters, commas),) = connection.execute(
            f"SELECT count(*), max(length(line)), max(length(line) - length(replace(line, ',', ''))) FROM {LINES_TABLE}"
        ).fetchall()
    assert (lines, commas <= 3 + SPARE) == (3, True)
    assert letters <= max(LONG, 3 * (2 * LONGEST_TEXT + 6))


def test_a_person_with_such_lines_makes_the_import_no_slower_than_other_rows_of_as_many_bytes(tmp_path):
    """Before, they took eight times as long, and ten times the memory."""
    base = "".join(f"p{number},3,fine and well and at home\n" for number in range(5_000))
    odd = "".join(f"mallory,{LINES[name]}\n" for name in ("commas", "quoted cells", "one cell"))
    plain = ORDINARY * (len(odd) // len(ORDINARY))
    times = []
    for name, lines in (("plain", plain), ("odd", odd)):
        path = csv_file(tmp_path / f"{name}.csv", base + lines)
        start = time.process_time()
        with_rows = open_table(path, table="visits", unit=PrivacyUnit(column="person"))
        with_rows.load()
        times.append(time.process_time() - start)
        with_rows.close()
    assert times[1] < 1.5 * times[0]


PARTS = st.sampled_from(["a", "bc", ",", ",", ";", '"', '""', "'", "\r", " ", "é", "\U0001f926", "#", "x" * 7])


@pytest.fixture(scope="module")
def engine():
    with connect(":memory:", DEFAULT_SETTINGS) as connection:
        yield connection


@settings(deadline=None)
@given(
    lines=st.lists(st.lists(PARTS, max_size=14).map("".join), min_size=1, max_size=8),
    form=st.sampled_from([{}, {"quote": ""}, {"quote": "'"}, {"delimiter": ";"}, {"comment": "#"}, {"null": "a"}]),
    names=st.integers(1, 4),
)
def test_a_line_that_is_cut_has_the_values_that_it_had(engine, tmp_path_factory, lines, form, names):
    path = tmp_path_factory.getbasetemp() / "cut.csv"
    form = CsvFormat(**{"delimiter": ",", **{key: (value,) if key == "null" else value for key, value in form.items()}})
    path.write_text(form.delimiter.join("abcd"[:names]) + "\n" + "\n".join(lines), newline="")
    file = CsvFile.of(path, form)
    found = []
    for spare, long in ((SPARE, LONG), (0, 0)):
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(csv_lines, "SPARE", spare)
            patched.setattr(csv_lines, "LONG", long)
            load_lines(engine, path, form, file.cut)
            rows = engine.execute(f"SELECT * FROM {file.texts}").fetchall()
            found.append((rows, engine.execute(file.count_unmatched).fetchall()))
    assert found[0] == found[1]


@pytest.mark.parametrize("quote", ['"', ""])
def test_a_cell_that_is_too_long_is_still_too_long_and_one_that_is_not_is_whole(tmp_path, quote):
    long, short = "x" * (LONGEST_TEXT + 1), "y" * (LONGEST_TEXT - 1) + '""'
    line = ",".join(
        f"{quote}{cell}{quote}" for cell in ("ann", long, short if quote else "y" * LONGEST_TEXT, "z" * LONG)
    )
    cut = LineCut(",", quote, 3).cut_lines(line)
    assert len(cut) < len(line) - LONG + 10
    path = csv_file(tmp_path / "visits.csv", line + "\n")
    csv = {"quote": quote}
    table = open_table(path, table="visits", unit=PrivacyUnit(), csv=csv)
    table.load()
    ((person, stay, note),) = table._connection.execute("SELECT * FROM rows").fetchall()
    assert (person, stay) == ("ann", None)
    assert len(note) == LONGEST_TEXT
