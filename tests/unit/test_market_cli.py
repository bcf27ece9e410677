"""`discreet market …`: free previews, prices that are paid for before a bid is read, files as they come."""

from fractions import Fraction

import numpy as np
import pytest

from command_line import reader, runner
from discreet.cli.commands.market import market_command
from discreet.core import InvalidInput, PrivacyUnit, Window
from discreet.gate import Budget, Ledger
from discreet.market import Auction, BidFile, PriceGrid
from discreet.noise import SYSTEM

AUCTION = ("--epsilon", "0.5", "--top", "20", "--bidders", "1000")


@pytest.fixture
def run(capsys):
    return runner(capsys, ("market",))


@pytest.fixture
def facts(run):
    return reader(run)


@pytest.fixture
def bids(tmp_path):
    path = tmp_path / "bids.csv"
    path.write_text("who,bid\nann,7\nbob,15.99\nann,3\ncy,none\n")
    return path


@pytest.fixture
def place(tmp_path, capsys):
    path = tmp_path / "sale.ledger"
    assert runner(capsys, ("ledger",))("create", path, "--epsilon", "1")[0] == 0
    return path


def left(place):
    with Ledger.open(place) as ledger:
        return ledger.left


def test_a_preview_says_what_is_promised_and_reads_nothing(run, facts):
    status, out, _ = run("preview", *AUCTION)
    assert status == 0
    assert "500 prices" in out
    assert "No person whose utility lies in [0, 1] gains more than 0.1244 by a lie." in out
    stated = facts("preview", *AUCTION, "--confidence", "0.99")["statements"]
    assert stated["revenue"]["probability"] == 0.99
    assert stated["collusion"]["bound"] >= stated["truthfulness"]["bound"]


def test_an_auction_is_paid_for_once(run, facts, bids, place):
    words = ("auction", bids, "--column", "bid", *AUCTION, "--ledger", place)
    first = facts(*words)
    assert Fraction(first["price_exact"]) in Auction.for_bidders(1000, epsilon=0.5, top=20).grid.prices
    assert first["fresh"]
    assert left(place) == Fraction(first["left_exact"]) == Fraction(1, 2)
    again = facts(*words)
    assert (again["price"], again["fresh"], left(place)) == (first["price"], False, Fraction(1, 2))
    assert "paid before" in run(*words)[1]
    assert facts(*words, "--fresh")["fresh"]
    status, _, err = run(*words, "--fresh")
    assert (status, left(place)) == (2, 0)
    assert "BudgetExceeded" in err or "is left" in err


def test_no_row_is_read_before_it_is_paid_for(run, bids, place, monkeypatch):
    read = []
    monkeypatch.setattr(BidFile, "bids", lambda self: read.append(1) or [])
    words = ("auction", bids, "--column", "bid", "--epsilon", "2", "--bidders", "10", "--ledger", place)
    assert run(*words)[0] == 2
    assert read == []


def test_each_person_has_one_bid_where_the_ledger_protects_persons(run, bids, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(PriceGrid, "levels_paid_for", lambda _, given: seen.extend(given.tolist()) or np.zeros(0, int))
    place = tmp_path / "people.ledger"
    Ledger.create(place, Budget(epsilon=1, unit=PrivacyUnit(column="who"))).close()
    assert run("auction", bids, "--column", "bid", *AUCTION, "--ledger", place)[0] == 0
    assert sorted(seen) == [0, 7, 15.99]


def test_a_ledger_of_windows_is_refused(run, bids, tmp_path):
    place = tmp_path / "months.ledger"
    Ledger.create(place, Budget(epsilon=1, unit=PrivacyUnit(column="who", window=Window.of("month of day")))).close()
    status, _, err = run("auction", bids, "--column", "bid", *AUCTION, "--ledger", place)
    assert status == 2
    assert "stretch of time" in err


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("auction",),
        ("preview",),
        ("preview", "--epsilon", "0", "--bidders", "10"),
        ("preview", "--epsilon", "1", "--bidders", "ten"),
        ("preview", "--epsilon", "1", "--bidders", "10", "--steps", "0"),
        ("preview", "--epsilon", "1", "--bidders", "10", "--confidence", "1"),
        ("auction", "nowhere.csv", "--column", "bid", *AUCTION, "--ledger", "nowhere.ledger"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_fix(run, words):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert "fix:" in err


def test_every_verb_has_help(run):
    for verb in market_command.modules:
        assert run(verb, "--help")[0] == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("bid\n1\n2.5\n", [1, 2.5]),
        ("\ufeffbid,x\r\n1,a\r\n", [1]),
        ('x,bid\n"a\nb",3\nshort\n,-4\n,nan\n,"1,5"\n', [0, 3, 0, 0, 0, 0]),
        ("bid\n" + "9" * 200_000 + "\n1e999\n1\r2\n", [0, float("inf"), 0]),
        ("bid\n\x00\n7\n", [0, 7]),
        ("bid\n", []),
    ],
)
def test_a_file_is_read_whatever_its_rows_hold(text, found, tmp_path):
    path = tmp_path / "bids.csv"
    path.write_bytes(text.encode())
    read = BidFile(path=str(path), column="bid").bids()
    assert read.tolist() == found
    assert Auction(grid=PriceGrid(4), epsilon=1).run(BidFile(path=str(path), column="bid"), SYSTEM) > 0


@pytest.mark.parametrize("cell", ['"', '"""', '"9', "9\r", "\x00", "9,9,9", "\ufeff9", '9"9', "x" * 300_000])
def test_no_cell_moves_the_bid_of_another_row(cell, tmp_path):
    """An open quote, an end of a line, too many cells: the rows after it are what they are without it."""
    path = tmp_path / "bids.csv"
    path.write_text(f"who,bid\nann,1\nbob,{cell}\ncy,3\ndan,4\n", newline="")
    for person in (None, "who"):
        read = BidFile(path=str(path), column="bid", person=person).bids().tolist()
        assert (read[0], read[-2:], len(read)) == (1, [3, 4], 4)


def test_bytes_that_are_no_text_are_no_bid(tmp_path):
    path = tmp_path / "bids.csv"
    path.write_bytes(b"bid\n\xff\xfe\n7\n")
    assert BidFile(path=str(path), column="bid").bids().tolist() == [0, 7]


@pytest.mark.parametrize("text", ["", "x\n1\n", "bid,bid\n1,2\n"])
def test_a_file_without_the_column_is_refused_before_anything_is_paid(text, tmp_path):
    path = tmp_path / "bids.csv"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="column"):
        BidFile(path=str(path), column="bid")
    with pytest.raises(InvalidInput, match="cannot be read"):
        BidFile(path=str(tmp_path / "other.csv"), column="bid")
