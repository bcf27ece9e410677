"""Attack: a cell of one's own, such as a note, holds a character that begins a row of another person.

The attacker writes `note = "…<sign>victim,…"` and looks for a row of the victim, or for one person more. Only a line
feed ends a line, so that what stands behind any other sign stays in the attacker's own cell.
"""

import gzip
from pathlib import Path

import pytest

from discreet.anonymity.reading import with_rows
from discreet.core import InvalidInput, PrivacyUnit
from discreet.core.schema import Kind
from discreet.data.opening import open_table
from discreet.data.reading.csv_finding import offer_kinds
from discreet.data.reading.csv_lines import LONGEST_LINE, PIECE

SIGNS = {
    "a carriage return": "\r",
    "two carriage returns": "\r\r",
    "a vertical tab": "\v",
    "a form feed": "\f",
    "NEL": "\x85",
    "a line separator": "\u2028",
    "a paragraph separator": "\u2029",
    "a record separator": "\x1e",
    "a unit separator": "\x1f",
    "NUL": "\0",
    "a carriage return and NUL": "\r\0",
    "an open quote": '"\r',
    "quotes closed": '""\r"',
}
KINDS = {"person": "text", "note": "text"}


def forged_rows(path: Path, content: bytes, *, row: bool = False) -> list[tuple]:
    """Import a file and return the rows that came in."""
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    unit = PrivacyUnit() if row else PrivacyUnit(column="person")
    table = open_table(path, table="visits", unit=unit, kinds=KINDS)
    return table._connection.execute("SELECT * FROM rows ORDER BY rowid").fetchall()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["visits.csv", "visits.csv.gz"])
@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
def test_no_sign_in_a_cell_begins_a_row_of_another(tmp_path, sign, name, end):
    lines = ["person,note", "ann,fine", f"mallory,x{sign}victim,ill", "bob,fine"]
    found = forged_rows(tmp_path / name, (end.join(lines) + end).encode())
    assert {row[0] for row in found} <= {"ann", "mallory", "bob"}
    assert [row for row in found if row[0] != "mallory"] == [("ann", "fine"), ("bob", "fine")]
    assert len(found) <= 3


@pytest.mark.parametrize("sign", SIGNS.values(), ids=SIGNS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one_line_is_never_two_units_where_rows_are_protected(tmp_path, sign, end):
    """A second row of one line would move an answer twice as far as is paid for."""
    own = f"mallory,x{sign}victim,ill"
    others = ["person,note", "ann,fine", "bob,fine"]
    for ending in ("\n", "\r\n"):
        content = end.join(others) + end + own + ending + "cat,fine" + end
        found = forged_rows(tmp_path / "visits.csv", content.encode(), row=True)
        assert len(found) <= 4
        assert {("ann", "fine"), ("bob", "fine"), ("cat", "fine")} <= set(found)


def test_lines_that_end_otherwise_than_others_are_one_row_each(tmp_path):
    content = b"person,note\r\nann,1\nbob,2\r\ncat,3\n\n\r\ndan,4\r\r\neve,5"
    expected = [("ann", "1"), ("bob", "2"), ("cat", "3"), ("dan", "4"), ("eve", "5")]
    assert forged_rows(tmp_path / "visits.csv", content, row=True) == expected


def test_a_first_line_with_a_carriage_return_is_refused_and_not_quoted(tmp_path):
    """Otherwise a whole file of such lines would be the names of its columns, which are public."""
    path = tmp_path / "visits.csv"
    path.write_bytes(b"person,note\rvictim,ill\rann,fine\r")
    with pytest.raises(InvalidInput, match="carriage return within it") as told:
        open_table(path, table="visits", unit=PrivacyUnit(column="person"), kinds=KINDS)
    assert "victim" not in str(told.value)


def test_a_line_that_does_not_fit_a_piece_spoils_no_other(tmp_path):
    odd = b"mallory," + b"x\rvictim,ill" * (LONGEST_LINE // 6)
    filler = b"".join(b"p%d,fine\n" % number for number in range(PIECE // 8))
    found = forged_rows(tmp_path / "visits.csv", b"person,note\n" + filler + odd + b"\nbob,fine\n" + odd)
    assert len(found) == PIECE // 8 + 1
    assert {row[0] for row in found} == {f"p{number}" for number in range(PIECE // 8)} | {"bob"}


def test_a_line_that_is_no_utf_8_spoils_no_other(tmp_path):
    content = b"person,note\nann,fine\nmallory,\xff\rvictim,ill\nbob,\xc3\xa9\n\xff"
    assert forged_rows(tmp_path / "visits.csv", content) == [("ann", "fine"), ("bob", "é")]


@pytest.mark.parametrize("sign", [b"\0", b"'", b"''", b"$piece", b"\\"])
def test_a_line_of_many_odd_signs_spoils_no_other(tmp_path, sign):
    content = b"person,note\nann,fine\nmallory," + sign * 5000 + b"\nbob,fine\n"
    people = [row[0] for row in forged_rows(tmp_path / "visits.csv", content)]
    assert sorted(people) == ["ann", "bob", "mallory"]


def test_kinds_that_are_offered_do_not_see_forged_rows(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_bytes(b"person,stay,note\n1,2,fine\n2,3,x\rnobody,long,ill\n3,4,fine\n")
    assert offer_kinds(path) == {"person": Kind.INTEGER, "stay": Kind.INTEGER, "note": Kind.TEXT}


def test_a_table_to_be_made_coarser_has_no_forged_rows(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_bytes(b"person,note\nann,fine\nmallory,x\rvictim,ill\n")
    assert with_rows(path, lambda held: held.ask("SELECT count(*) FROM people")) == [(2,)]
