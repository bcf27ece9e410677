"""`discreet ledger …` says and does the same at a path and at an address."""

import json

import pytest

from discreet.cli import main
from ledger_places import pay


@pytest.fixture
def run(capsys, place):
    """Run a verb on the ledger; return its status, its output and its errors."""

    def runner(verb, *words):
        status = main(["ledger", verb, place.address, *map(str, words), "--key", str(place.key)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return runner


@pytest.fixture
def born(run, place):
    status, out, _ = run("create", "--epsilon", "1", "--title", "clinic", "--json")
    assert status == 0
    ledger = place.open()
    ledger.release(pay(ledger, "r1", analyst="ann"), b"[1]")
    pay(ledger, "r2", analyst="bo")
    ledger.close()
    return json.loads(out)["ledger"]


def test_a_ledger_is_shown_and_verified(run, born):
    found = json.loads(run("show", "--json")[1])
    assert (found["ledger"], found["spent_exact"], found["payments"]) == (born, "1/20", 2)
    assert [paid["request"] for paid in found["unanswered"]] == ["r2"]
    assert run("verify")[0] == 0


def test_limits_move_and_stay(run, born):
    assert run("raise", "--to", "2", "--reason", "more", "--by", "eve")[0] == 0
    assert run("allow", "--analyst", "bo", "--to", "0.5", "--reason", "intern", "--by", "eve")[0] == 0
    assert run("disclose", "--cost", "pure(0.05)", "--reason", "press", "--by", "eve")[0] == 0
    assert run("annotate", "seen", "--by", "eve")[0] == 0
    found = json.loads(run("show", "--json")[1])
    assert (found["spent_exact"], found["limit_exact"]) == ("1/10", "2")
    assert run("lower", "--to", "1/2", "--reason", "less", "--by", "eve")[0] == 0
    assert json.loads(run("show", "--json")[1])["left_exact"] == "2/5"


def test_papers_are_checked_without_the_store(run, born, tmp_path, capsys):
    assert run("anchor", "--to", tmp_path / "far.anchor")[0] == 0
    assert run("show", "--anchor", tmp_path / "far.anchor")[0] == 0
    assert run("export", "--answers", "--output", tmp_path / "all.jsonl")[0] == 0
    assert run("certificate", "--request", "r1", "--output", tmp_path / "r1.json")[0] == 0
    words = ["ledger", "check", str(tmp_path / "r1.json"), "--ledger", born, "--export", str(tmp_path / "all.jsonl")]
    assert main(words) == 0
    assert "stand in it at their numbers" in capsys.readouterr().out


def test_a_store_that_was_tampered_with_is_not_sound(run, born, place):
    place.tamper("update entries set request = 'r9' where number = 4")
    status, out, _ = run("verify", "--json")
    assert (status, json.loads(out)["sound"]) == (3, False)


def test_a_ledger_is_not_begun_anew(run, born):
    status, out, err = run("create", "--epsilon", "9")
    assert (status, out) == (2, "")
    assert "already" in err
    assert json.loads(run("show", "--json")[1])["ledger"] == born


def test_a_table_is_begun_with_a_ledger_that_is_there(run, place, capsys, tmp_path, monkeypatch):
    assert run("create", "--epsilon", "1")[0] == 0
    monkeypatch.chdir(tmp_path)
    (tmp_path / "visits.csv").write_text("ward,stay\nA,1\nB,2\n")
    assert main(["init", "visits.csv", "--rows", "--ledger", place.address]) == 0
    said = capsys.readouterr().out
    assert "was there already" in said
    assert not place.server or place.address not in said
    assert main(["ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.5"]) == 0
    capsys.readouterr()
    assert json.loads(run("show", "--json")[1])["spent_exact"] == "1/2"


def test_an_address_is_not_repeated(run, born, place):
    """It may have a password in it."""
    said = "".join("".join(run(verb)[1:]) for verb in ("show", "verify", "export"))
    said += "".join(run("create", "--epsilon", "1")[1:])
    assert not place.server or place.address not in said


def test_a_server_needs_a_place_for_the_key(postgres_place, capsys):
    assert main(["ledger", "create", postgres_place.address, "--epsilon", "1"]) == 2
    said = capsys.readouterr().err
    assert "place for its key" in said
    assert postgres_place.address not in said


@pytest.mark.parametrize("verb", ["show", "verify"])
def test_a_server_that_is_not_there_is_refused(verb, capsys, tmp_path):
    address = f"postgresql:///postgres?host={tmp_path}&user=ada&password=secret&ledger=a"
    assert main(["ledger", verb, address]) == 2
    said = capsys.readouterr()
    assert (said.out, "secret" in said.err) == ("", False)
    assert "\n  fix: " in said.err
