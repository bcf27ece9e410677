"""Attack: the public settings of two neighbouring CSV files, with and without one person, tell them apart by a kind.

`discreet init` used to read the kinds of columns off all rows, and one cell made `integer` a `text`.
"""

import sys

import pytest

from command_line import Terminal, runner

OTHERS = [f"p{number},{number % 60},2024-01-{1 + number % 28:02}" for number in range(40)]
#: Her stay is no number, and her day is no day.
VICTIM = "ann,unknown,n/a"
SAID = ["--person", "patient", "--epsilon", "1"]


@pytest.fixture
def begin(tmp_path, monkeypatch, capsys):
    """Begin with a file, and return the public settings and all that was said."""
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path / "state"))
    places = iter(range(100))

    def begun(rows, *words, lines=None):
        place = tmp_path / str(next(places))
        place.mkdir()
        (place / "visits.csv").write_text("\n".join(["patient,stay,day", *rows, ""]))
        monkeypatch.chdir(place)
        errors = Terminal()
        if lines is not None:
            monkeypatch.setenv("TERM", "xterm")
            monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{line}\n" for line in lines)))
            monkeypatch.setattr(sys, "stderr", errors)
        status, out, err = runner(capsys, ())("init", "visits.csv", *words)
        assert status == 0, err + errors.getvalue()
        text = (place / "discreet.toml").read_text()
        return text, [line for line in out.splitlines() if "ledger" not in line]

    return begun


def told_apart(begin, *words, lines=None):
    """Whether what everybody may see differs between the neighbours."""
    return begin(OTHERS, *words, lines=lines) != begin([*OTHERS, VICTIM], *words, lines=lines)


@pytest.mark.parametrize("said", [(), ("--bounds", "stay=0:60"), ("--bounds", "day=2024-01-01:2024-12-31")])
def test_what_init_writes_unasked_depends_on_no_row(begin, said):
    assert not told_apart(begin, *SAID, *said)


def test_declared_kinds_depend_on_no_row(begin):
    assert not told_apart(begin, *SAID, "--kinds", "stay=integer", "--kinds", "day=date")


def test_who_says_no_at_the_terminal_publishes_nothing_of_the_rows(begin):
    assert not told_apart(begin, lines=["n", "", "", "", "", "1", "0", "", "y"])


@pytest.mark.parametrize(("words", "lines"), [((*SAID, "--kinds-from-rows"), None), ((), ["y", *[""] * 8, "y"])])
def test_kinds_read_off_rows_are_marked_as_such(begin, words, lines):
    """That is the control: the steward agreed, and the file says what it is."""
    assert told_apart(begin, *words, lines=lines)
    text, _ = begin([*OTHERS, VICTIM], *words, lines=lines)
    assert "read off all rows" in text
    assert "read off all rows" not in begin(OTHERS, *SAID)[0]
