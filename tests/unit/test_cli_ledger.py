"""`discreet ledger …`: what a steward reads, what a program reads, what is refused, and that nothing gives back."""

import base64
import io
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import apsw
import pytest

from command_line import Terminal, options_of
from discreet import gate
from discreet.accounting import GaussianNoise, Pure, Repeated, loss_from_text
from discreet.cli import console, main
from discreet.cli.commands import discreet_command
from discreet.cli.commands.ledger import VERBS
from discreet.cli.console import Palette, Progress
from discreet.core import RunFailed
from discreet.gate import Gate, Ledger
from discreet.gate.ledger import verification
from questions import Question

#: What `run` and `facts` say before all else.
ROOM = ("ledger",)
ROOT = Path(__file__).resolve().parents[2]
PLAN = "ab" * 32


@pytest.fixture
def place(tmp_path, run):
    """Make a ledger with two answered payments and one that was not answered."""
    path = tmp_path / "clinic.ledger"
    words = ["--epsilon", "3", "--delta", "1e-9", "--person", "patient_id", "--title", "clinic"]
    assert run("create", path, *words)[0] == 0
    with Ledger.open(path) as ledger:
        for name, cost, analyst, answer in [
            ("march", Pure(0.5), "ann", b"[1]"),
            ("april", Repeated(Pure(0.1), 2), "bob", b"[2]"),
            ("may", Pure(0.1), "ann", None),
        ]:
            what = f"stay in {name}\n\x1b[31m"
            receipt = ledger.pay(cost, what=what, plan=PLAN, request=f"r-{name}", analyst=analyst)
            if answer is not None:
                ledger.release(receipt, answer)
    return path


def spent(place):
    with Ledger.open(place) as ledger:
        return ledger.spent


def name_of(place):
    with Ledger.open(place) as ledger:
        return ledger.identity


def tamper(place, statement, *arguments):
    connection = apsw.Connection(str(place))
    connection.execute(statement, arguments)
    connection.close()


def ask_more(place, *, team=""):
    """Give a share to ann, or to a team, and have her ask for more; return the number of the request."""
    with Ledger.open(place) as ledger:
        ledger.resize(1, by="eve", reason="a share", **({"team": team} if team else {"analyst": "ann"}))
        return ledger.shares.request_more(1.5, analyst="ann", team=team, reason="two more wards")


#: One call of each verb on the ledger of the fixture, or on one of persons; {place}, {own}, {name} and {folder} are
#: filled in.
CALLS = {
    "create": "create {folder}/other.ledger --epsilon 1",
    "show": "show {place}",
    "verify": "verify {place}",
    "raise": "raise {place} --to 4 --reason more --by eve",
    "lower": "lower {place} --to 2 --reason less --by eve",
    "allow": "allow {place} --analyst ann --to 1 --reason intern --by eve",
    "requests": "requests {place}",
    "grant": "grant {place} {number} --to 2 --reason agreed --by eve",
    "decline": "decline {place} {number} --reason later --by eve",
    "disclose": "disclose {place} --cost pure(0.1) --reason press --by eve",
    "annotate": "annotate {place} seen --by eve",
    "review": "review {place} --reason seen --by eve",
    "excuse": "excuse {place} --reason shutdown --by eve",
    "anchor": "anchor {place} --to {folder}/other.anchor",
    "export": "export {place} --output {folder}/export.jsonl --answers",
    "certificate": "certificate {place} --request r-march --output {folder}/march.json",
    "check": "check {folder}/april.json --ledger {name}",
    "person": "person {own} 7",
    "people": "people {own}",
}


@pytest.fixture
def words(place, tmp_path, run):
    """Return the words of a verb's call."""
    assert run("certificate", place, "--request", "r-april", "--output", tmp_path / "april.json")[0] == 0
    own = tmp_path / "own.ledger"
    assert run("create", own, "--epsilon", "1", "--person", "id", "--per", "person")[0] == 0

    def filled(verb):
        number = ask_more(place) if verb in ("requests", "grant", "decline") else 0
        filling = {"place": place, "own": own, "folder": tmp_path, "name": name_of(place), "number": number}
        return CALLS[verb].format(**filling).split()

    return filled


# What a person reads.


def test_a_ledger_is_born_with_what_was_typed(tmp_path, run, facts):
    status, out, err = run("create", tmp_path / "a.ledger", "--epsilon", "0.3", "--delta", "1e-9", "--title", "A")
    assert (status, err) == (0, "")
    assert "ε = 0.3 at δ = 1e-09 for one row, added or removed" in out
    assert str(tmp_path / "a.ledger.key") in out
    assert ".anchor" in out
    words = ["--rho", "1/3", "--person", "id", "--replace", "--policy", "separate", "--key", tmp_path / "b.key"]
    found = facts("create", tmp_path / "b.ledger", *words, "--anchor", tmp_path / "b.anchor", tmp_path / "c.anchor")
    assert (found["currency"], found["birth_limit_exact"], found["delta_exact"]) == ("rho", "1/3", "0")
    assert (found["person"], found["neighbours"], found["policy"]) == ("id", "replace", "separate")
    assert found["anchors"] == [str(tmp_path / "b.anchor"), str(tmp_path / "c.anchor")]
    with Ledger.open(tmp_path / "b.ledger", key=tmp_path / "b.key", anchors=found["anchors"]) as ledger:
        assert ledger.budget.rho == Fraction(1, 3)
        assert found["ledger"] == ledger.identity


def test_a_delta_is_held_against_the_people(tmp_path, run, facts):
    status, _, err = run("create", tmp_path / "a.ledger", "--epsilon", "1", "--delta", "1e-5", "--people", "1e5")
    assert (status, "not far below 1/n" in err, "--delta" in err) == (2, True, True)
    assert list(tmp_path.iterdir()) == []
    found = facts("create", tmp_path / "a.ledger", "--epsilon", "1", "--people", "1e5")
    assert (found["delta_exact"], found["people"]) == ("31/10000000", 100_000)


def test_show_has_gauges_payments_and_what_was_not_answered(place, run):
    status, out, err = run("show", place)
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "ledger    clinic"
    assert lines[1] == f"name      {name_of(place)}"
    assert any(re.fullmatch(r"all together  █{8}░{22}  ε = 0\.8 of 3 spent, 2\.2 left \(73\.3 %\)", x) for x in lines)
    assert any(re.fullmatch(r"ann           █{6}░{24}  ε = 0\.6 of 3 spent, 2\.2 left \(73\.3 %\)", x) for x in lines)
    assert any(re.search(r"^2 +\S+ \S+ +ann +stay in march \?\[31m +ε = 0\.5 +entry 3$", x) for x in lines)
    assert any(re.search(r"^6 +\S+ \S+ +ann .* ε = 0\.1 +not yet$", x) for x in lines)
    assert lines[-1] == "6      r-may"


def test_show_can_be_of_one_analyst_and_of_few_payments(place, run, facts):
    out = run("show", place, "--analyst", "bob")[1]
    assert ("stay in april" in out, "stay in march" in out, "r-may" in out) == (True, False, False)
    assert [paid["request"] for paid in facts("show", place, "--last", "1")["recent"]] == ["r-may"]
    assert [paid["request"] for paid in facts("show", place, "--last", "1", "--analyst", "bob")["recent"]] == [
        "r-april"
    ]
    assert facts("show", place, "--last", "0")["recent"] == []
    assert "No payments by this analyst." in run("show", place, "--analyst", "carl")[1]


def test_show_names_the_limits_of_analysts(place, run, facts):
    assert run("allow", place, "--analyst", "carl", "--to", "0.25", "--reason", "intern")[0] == 0
    assert re.search(
        r"^carl .* ε = 0 of 0\.25 spent, 0\.25 left \(100 %\), a limit of their own$",
        run("show", place)[1],
        re.MULTILINE,
    )
    found = {one["name"]: one for one in facts("show", place)["analysts"]}
    assert {name: one["own_limit"] for name, one in found.items()} == {"ann": False, "bob": False, "carl": True}
    assert run("allow", place, "--analyst", "carl", "--no-limit", "--reason", "boss")[0] == 0
    assert facts("show", place, "--analyst", "carl")["analysts"][0]["limit_exact"] == "3"


def test_a_team_has_a_share_of_its_own(place, run, facts):
    found = facts("allow", place, "--team", "icu", "--to", "0.5", "--reason", "a study")
    assert (found["team"], found["analyst"], found["after"]["limit_exact"]) == ("icu", None, "1/2")
    assert "team icu" in run("show", place)[1]
    assert run("allow", place, "--team", "icu", "--no-limit", "--reason", "done")[0] == 0
    assert "team icu" not in run("show", place)[1]
    assert run("allow", place, "--team", "icu", "--analyst", "ann", "--to", "1", "--reason", "both")[0] == 2


def test_requests_for_more_are_granted_and_declined_for_a_reason(place, run, facts):
    first, second = ask_more(place), ask_more(place, team="icu")
    out = run("requests", place)[1]
    assert re.search(rf"^{first} .* ann +their own +1\.5 +two more wards +open$", out, re.MULTILINE)
    assert re.search(rf"^{second} .* ann +team icu +1\.5 ", out, re.MULTILINE)
    status, out, _ = run("grant", place, str(first), "--reason", "agreed", "--by", "eve")
    assert status == 0
    assert re.search(r"^after +ann .* of 1\.5 spent", out, re.MULTILINE)
    assert run("decline", place, str(second), "--reason", "later", "--by", "eve")[0] == 0
    assert run("requests", place)[1] == "No requests.\n"
    decided = facts("requests", place, "--all")["requests"]
    assert [(one["granted_exact"], one["decision"], one["decided_by"]) for one in decided] == [
        ("3/2", "agreed", "eve"),
        (None, "later", "eve"),
    ]
    assert run("grant", place, str(first), "--reason", "twice")[0] == 2


def test_a_raise_shows_before_and_after_and_what_it_means(place, run, facts):
    status, out, _ = run("raise", place, "--to", "4", "--reason", "second study", "--by", "eve")
    assert status == 0
    assert re.search(r"^before .* ε = 0\.8 of 3 spent", out, re.MULTILINE)
    assert re.search(r"^after .* ε = 0\.8 of 4 spent, 3\.2 left", out, re.MULTILINE)
    assert "54.6 times that on the other, plus 1e-09" in out
    assert "no longer hold" in out
    assert "ε = 4 at δ = 1e-09 (3 at birth)" in run("show", place)[1]
    found = facts("lower", place, "--to", "1/3", "--reason", "less", "--by", "eve")
    assert (found["before"]["limit_exact"], found["after"]["limit_exact"]) == ("4", "4/5")
    assert (found["after"]["spent_exact"], found["after"]["left_exact"]) == ("4/5", "0")


def test_lowering_below_what_is_spent_says_so(place, run):
    assert "More than 0.1 was spent already" in run("lower", place, "--to", "0.1", "--reason", "stop")[1]


@pytest.mark.parametrize(("verb", "limit", "said"), [("raise", 2, "lower"), ("lower", 4, "raise")])
def test_raise_does_not_lower_and_lower_does_not_raise(place, run, verb, limit, said):
    status, _, err = run(verb, place, "--to", limit, "--reason", "slip")
    assert (status, f"use discreet ledger {said}" in err) == (2, True)
    assert "is 3 already" in run(verb, place, "--to", "3.0", "--reason", "slip")[2]


def test_what_became_known_is_charged_and_too_much_closes_only_when_told(place, run, facts):
    found = facts("disclose", place, "--cost", "pure(0.2)", "--reason", "press")
    assert (found["after"]["spent_exact"], found["closed"]) == ("1", False)
    status, _, err = run("disclose", place, "--cost", "pure(5)", "--reason", "press")
    assert (status, "--all" in err) == (2, True)
    assert "CLOSED for good" in run("disclose", place, "--all", "--reason", "leak")[1]
    assert "CLOSED for good" in run("show", place)[1]
    assert facts("show", place)["left_exact"] == "0"
    assert run("raise", place, "--to", "9", "--reason", "more")[0] == 2


def test_a_separate_ledger_says_what_it_does_not_promise(tmp_path, run):
    assert "k times as much" in run("create", tmp_path / "a.ledger", "--epsilon", "1", "--policy", "separate")[1]


def test_a_rho_is_shown_by_an_example(tmp_path, run, facts):
    assert "for example, ε = " in run("create", tmp_path / "a.ledger", "--rho", "0.5")[1]
    assert facts("show", tmp_path / "a.ledger")["promise"]["delta_exact"] == "1/1000000000"


# What a program reads.

GAUGE = {"spent", "spent_exact", "limit", "limit_exact", "left", "left_exact"}
LEDGER = {"version", "verb", "ledger", "title"}
BIRTH = LEDGER | {
    "currency",
    "birth_limit",
    "birth_limit_exact",
    "delta",
    "window",
    "delta_exact",
    "person",
    "neighbours",
    "policy",
    "per",
    "least",
    "least_exact",
}
CHANGE = LEDGER | {"currency", "by", "reason", "before", "after"}
PAID = {"entry", "at", "request", "analyst", "what", "cost", "cost_words", "release", "copied", "continued"}
KEYS = {
    "create": BIRTH | {"promise", "people", "key", "anchors"},
    "show": BIRTH
    | GAUGE
    | {
        "closed",
        "promise",
        "analysts",
        "payments",
        "releases",
        "entries",
        "head",
        "recent",
        "unanswered",
        "accounts",
        "runs",
    },
    "verify": {"version", "verb", "ledger"}
    | {
        "sound",
        "faults",
        "entries",
        "payments",
        "releases",
        "unanswered",
        "continued",
        "checkpoints",
        "signed",
        "anchors",
    },
    "raise": CHANGE | {"promise"},
    "lower": CHANGE | {"promise"},
    "allow": CHANGE | {"analyst", "team", "own_limit"},
    "requests": LEDGER | {"requests"},
    "grant": CHANGE | {"analyst", "team", "request"},
    "decline": LEDGER | {"by", "reason", "request", "analyst", "team"},
    "disclose": CHANGE | {"closed"},
    "annotate": LEDGER | {"by", "text"},
    "review": LEDGER | {"by", "reason", "analyst", "before", "after"},
    "excuse": LEDGER | {"by", "reason", "runs"},
    "anchor": LEDGER | {"file", "entry", "head", "signed"},
    "export": LEDGER | {"file", "entries", "head", "answers", "signed"},
    "certificate": LEDGER | {"request", "file", "certificate"},
    "check": {"version", "verb", "ledger", "sound", "certificate", "export"},
    "person": LEDGER
    | GAUGE
    | {"account", "closed", "currency", "everybody", "everybody_exact", "charges", "reserve", "reserve_exact"}
    | {"failures_limit", "failures_limit_exact"},
    "people": LEDGER | {"people", "parts"},
}


@pytest.mark.parametrize("verb", CALLS)
def test_the_keys_of_an_object_are_pinned(facts, words, verb):
    found = facts(*words(verb))
    assert set(found) == KEYS[verb]
    assert (found["version"], found["verb"]) == (1, verb)


def test_the_keys_inside_are_pinned(facts, place, words):
    found = facts(*words("show"))
    assert set(found["analysts"][0]) == GAUGE | {"name", "own_limit"}
    assert set(found["recent"][0]) == PAID
    assert set(found["unanswered"][0]) == PAID
    assert set(found["promise"]) == {"epsilon", "epsilon_infinite", "delta", "delta_exact"}
    assert set(facts(*words("raise"))["before"]) == GAUGE


def test_numbers_are_exact_beside_floats_on_the_safe_side(tmp_path, run, facts):
    run("create", tmp_path / "a.ledger", "--epsilon", "1/3")
    with Ledger.open(tmp_path / "a.ledger") as ledger:
        ledger.pay(Pure(Fraction(1, 7)), what="x", plan=PLAN, request="r")
    found = facts("show", tmp_path / "a.ledger")
    assert [found[f"{name}_exact"] for name in ("spent", "limit", "left")] == ["1/7", "1/3", "4/21"]
    assert Fraction(found["spent"]) >= Fraction(1, 7)
    assert Fraction(found["left"]) <= Fraction(4, 21)
    assert Fraction(found["limit"]) <= Fraction(1, 3)


def test_a_cost_comes_back_as_a_loss(facts, place):
    costs = [loss_from_text(paid["cost"]) for paid in facts("show", place)["recent"]]
    assert costs == [Pure(0.1), Repeated(Pure(0.1), 2), Pure(0.5)]


# Verifying.


def test_a_sound_ledger_is_told_so(place, run, facts):
    status, out, _ = run("verify", place)
    assert (status, out.splitlines()[0]) == (0, "Sound.")
    found = facts("verify", place)
    assert (found["sound"], found["faults"], found["payments"], found["unanswered"]) == (True, [], 3, 1)
    assert found["anchors"] == 2  # one for the ledger, one for its path


def test_a_changed_entry_is_a_fault_and_status_3(place, run, facts):
    tamper(place, "update entries set body = cast(replace(body, 'ann', 'eve') as blob) where number = 2")
    status, out, err = run("verify", place)
    assert (status, err) == (3, "")
    assert out.startswith("NOT SOUND.")
    assert "Entry 2 does not continue the chain" in out
    assert facts("verify", place, status=3)["faults"] != []


def test_a_changed_answer_and_moved_keys_are_all_listed(place, facts):
    tamper(place, "update answers set answer = x'00' where number = 3")
    tamper(place, "update entries set request = 'r-june' where number = 6")
    assert len(facts("verify", place, status=3)["faults"]) == 2


def test_an_old_copy_is_a_fault_and_stays_as_it_is(place, tmp_path, facts, run):
    """It would refuse to open; it is looked at all the same, and nothing is written that would make it the newest."""
    with Ledger.open(place) as ledger:
        ledger.checkpoint()
    copy = tmp_path / "copy.ledger"
    connection = apsw.Connection(str(place))
    connection.execute("vacuum into ?", [str(copy)])
    connection.close()
    connection = apsw.Connection(str(copy))
    connection.execute("pragma journal_mode = wal")
    connection.close()
    assert facts("verify", copy)["sound"] is True
    assert run("annotate", place, "later")[0] == 0
    assert run("show", copy)[0] == 2
    assert "was seen at entry" in facts("verify", copy, status=3)["faults"][0]
    assert facts("verify", place)["sound"] is True


def test_what_is_no_ledger_is_a_fault_and_what_is_not_there_is_refused(tmp_path, run, facts):
    (tmp_path / "text").write_text("not a ledger " * 1000)
    assert facts("verify", tmp_path / "text", status=3)["ledger"] is None
    assert run("verify", tmp_path / "nothing")[0] == 2
    assert not (tmp_path / "nothing").exists()


def test_a_missing_anchor_and_a_wrong_key_are_faults(place, tmp_path, facts, run):
    found = facts("verify", place, "--anchor", tmp_path / "none.anchor", status=3)
    assert found["faults"] == ["there is no anchor in a place that was named for one"]
    run("create", tmp_path / "b.ledger", "--epsilon", "1")
    found = facts("verify", place, "--key", tmp_path / "b.ledger.key", status=3)
    assert found["faults"] == ["the key is not this ledger's"]
    assert facts("verify", place, "--key", f"{place}.key")["sound"] is True


# Proof outside.


def test_an_anchor_is_signed_and_an_older_copy_is_refused_with_it(place, tmp_path, run, facts):
    found = facts("anchor", place, "--to", tmp_path / "far.anchor")
    assert found["signed"] is True
    assert run("show", place, "--anchor", tmp_path / "far.anchor")[0] == 0
    (tmp_path / "far.anchor").write_text((tmp_path / "far.anchor").read_text().replace(found["head"], "00" * 32))
    assert run("show", place, "--anchor", tmp_path / "far.anchor")[0] == 2


@pytest.mark.parametrize("suffix", ["", ".key", "-wal", "-shm", "-journal"])
def test_nothing_of_a_ledger_is_written_over(place, run, suffix):
    file = Path(f"{place}{suffix}")
    before = file.read_bytes() if suffix == ".key" else None
    assert run("export", place, "--output", file)[0] == 2
    assert run("certificate", place, "--request", "r-march", "--output", file)[0] == 2
    assert run("anchor", place, "--to", file)[0] == 2
    if file.exists():
        assert run("create", f"{place}.new", "--epsilon", "1", "--anchor", file)[0] == 2
    assert run("create", place, "--epsilon", "1")[0] == 2
    assert before in (None, file.read_bytes() if file.exists() else b"")
    assert run("verify", place)[0] == 0
    assert spent(place) == Fraction(4, 5)


def test_an_export_is_checked_without_the_ledger(place, tmp_path, run, facts):
    status, out, _ = run("export", place)
    *lines, end = [json.loads(line) for line in out.splitlines()]
    assert (end["end"], end["head"]) == (lines[-1]["number"], lines[-1]["head"])
    assert (status, [line["number"] for line in lines]) == (0, list(range(1, len(lines) + 1)))
    assert not any("answer" in line for line in lines)
    (tmp_path / "export.jsonl").write_text(out)
    name = name_of(place)
    assert lines[0]["head"] == name
    found = facts("check", "--export", tmp_path / "export.jsonl", "--ledger", name)["export"]
    assert (found["payments"], found["releases"], found["answers"]) == (3, 2, 0)
    run("export", place, "--answers", "--output", tmp_path / "all.jsonl")
    answers = [json.loads(line).get("answer") for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert [base64.b64decode(answer) for answer in answers if answer] == [b"[1]", b"[2]"]
    place.unlink()
    assert "an unbroken chain" in run("check", "--export", tmp_path / "all.jsonl", "--ledger", name)[1]
    assert run("check", "--export", tmp_path / "all.jsonl", "--ledger", "00" * 32)[0] == 2


def test_a_certificate_is_checked_without_the_ledger(place, tmp_path, run, facts):
    text = run("certificate", place, "--request", "r-april")[1]
    (tmp_path / "april.json").write_text(text)
    (tmp_path / "answer").write_bytes(b"[2]")
    run("export", place, "--output", tmp_path / "all.jsonl")
    words = ["check", tmp_path / "april.json", "--ledger", name_of(place)]
    out = run(*words, "--answer", tmp_path / "answer", "--export", tmp_path / "all.jsonl")[1]
    assert "stay in april ?[31m" in out
    assert "2 × (ε = 0.1); alone it promises ε = 0.2" in out
    assert "the file is it" in out
    assert "stand in it at their numbers" in out
    found = facts(*words)["certificate"]
    assert (found["payment"], found["release"], found["answer_checked"]) == (4, 5, False)
    (tmp_path / "answer").write_bytes(b"[3]")
    assert "the answer is another one" in run(*words, "--answer", tmp_path / "answer")[2]
    assert "not of this ledger" in run("check", tmp_path / "april.json", "--ledger", "00" * 32)[2]
    (tmp_path / "april.json").write_text(text.replace("r-april", "r-march"))
    assert run(*words)[0] == 2


def test_a_certificate_of_another_ledgers_release_is_not_in_an_export(place, tmp_path, run):
    run("export", place, "--output", tmp_path / "early.jsonl")
    with Ledger.open(place) as ledger:
        ledger.release(ledger.receipt(6), b"[3]")
    run("certificate", place, "--request", "r-may", "--output", tmp_path / "may.json")
    words = ["check", tmp_path / "may.json", "--ledger", name_of(place)]
    assert run(*words)[0] == 0
    assert "before what the certificate is about" in run(*words, "--export", tmp_path / "early.jsonl")[2]


# That nothing spends, and nothing gives back.


def test_the_verbs_are_these_and_none_resets_or_spends():
    assert set(VERBS) == set(CALLS)
    assert not {"reset", "spend", "pay", "release", "refund", "delete", "move"} & set(VERBS)


@pytest.mark.parametrize("verb", CALLS)
def test_no_verb_pays_or_takes_back_what_was_paid(facts, words, place, verb):
    with Ledger.open(place) as ledger:
        before = (ledger.state.payments, ledger.state.releases, ledger.spent, list(ledger.entries()))
    facts(*words(verb))
    with Ledger.open(place) as ledger:
        assert (ledger.state.payments, ledger.state.releases) == before[:2]
        assert ledger.spent >= before[2]
        assert (ledger.spent > before[2]) is (verb == "disclose")
        assert list(ledger.entries())[: len(before[3])] == before[3]


def test_a_review_says_whether_there_was_something_to_review(place, run):
    words = ("review", place, "--reason", "seen", "--by", "eve")
    assert "Nothing to review" in run(*words)[1]
    with Ledger.open(place) as ledger, pytest.raises(RunFailed):
        Gate(ledger, None, analyst="ada").release(Question(doing=lambda _: 1 / 0))
    told = run(*words)[1]
    assert "Reviewed" in told
    assert "the failed runs of all analysts" in told
    assert "Nothing to review" in run(*words)[1]


def test_a_failed_birth_leaves_nothing(tmp_path, run):
    for words in (["--title", "\x1b"], ["--anchor", ROOT / "README.md"], ["--delta", "1"], ["--person", " "]):
        assert run("create", tmp_path / "a.ledger", "--epsilon", "1", *words)[0] == 2
        assert list(tmp_path.iterdir()) == []
    assert run("create", tmp_path / "a.ledger", "--epsilon", "1")[0] == 0


# What is refused.

BAD = [
    ("create {folder}/a", "--epsilon or --rho"),
    ("create {folder}/a --epsilon 1 --rho 1", "not allowed with"),
    ("create {folder}/a --epsilon 0", "--epsilon must be above 0"),
    ("create {folder}/a --epsilon -1", "--epsilon"),
    ("create {folder}/a --rho 1 --reserve 0.1", "no reserve"),
    ("create {folder}/a --epsilon 1 --reserve 0.1", "no delta to reserve"),
    ("create {folder}/a --epsilon 1 --policy both", "both"),
    ("create {folder}/no/such/a --epsilon 1", ""),
    ("create {place} --epsilon 1", "never begun anew"),
    ("show {folder}/nothing", "no ledger at this path"),
    ("show {place} --last x", "--last is not a number"),
    ("show {place} --last 1e9", "--last must be at most"),
    ("show {place} --analyst \x1b", "--analyst is empty or has unprintable"),
    ("show {place} --key {folder}/nothing", "no signing key"),
    ("show {place} --anchor {folder}/nothing", "no anchor in a place"),
    ("raise {place} --to 4", "--reason"),
    ("raise {place} --reason x", "--to"),
    ("raise {place} --to 0 --reason x", "--to must be above 0"),
    ("raise {place} --to four --reason x", "--to is not a number"),
    ("raise {place} --to 4 --reason \n", "reason is empty"),
    ("raise {place} --to 4 --reason x --by \n", "by is empty"),
    ("allow {place} --analyst ann --reason x", "--to or --no-limit"),
    ("allow {place} --analyst \n --to 1 --reason x", "--analyst is empty"),
    ("disclose {place} --reason x", "--cost or --all"),
    ("disclose {place} --cost pur(1) --reason x", "No kind of loss"),
    ("annotate {place}", "TEXT"),
    ("review {place}", "--reason"),
    ("excuse {place} --run 99 --reason x", "not open"),
    ("excuse {place} --run one --reason x", "--run"),
    ("create {folder}/new.ledger --epsilon 1 --least 0.5", "more than a hundredth"),
    ("anchor {place}", "--to"),
    ("anchor {place} --to {folder}", "An anchor could not be"),
    ("anchor {place} --to {place}-wal", "a part of the ledger"),
    ("export {place} --output {folder}/no/such/file", "cannot be read or written"),
    ("certificate {place}", "--request"),
    ("certificate {place} --request r-june", "Nothing was released"),
    ("certificate {place} --request r-may", "Nothing was released"),
    ("check", "--ledger"),
    ("check --ledger clinic", "64 hexadecimal"),
    (f"check --ledger {'0' * 64}", "nothing to check"),
    (f"check --ledger {'0' * 64} --answer {{place}} --export {{place}}", "checked by its certificate"),
    (f"check {{folder}}/nothing --ledger {'0' * 64}", "cannot be read"),
    (f"check {{place}} --ledger {'0' * 64}", ""),
    (f"check --export {{place}} --ledger {'0' * 64}", ""),
    ("reset {place}", "reset"),
    ("", "VERB"),
]


@pytest.mark.parametrize(("line", "reason"), BAD, ids=lambda value: ascii(value)[:60])
def test_bad_input_is_refused_with_its_reason_and_a_fix(run, place, tmp_path, line, reason):
    words = [word.format(place=place, folder=tmp_path) for word in line.split(" ") if word]
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert reason in err
    assert re.search(r"\n  fix: .", err)
    assert all(sign.isprintable() or sign == "\n" for sign in err)
    status, out, err = run(*words, "--json")
    assert (status, out) == (2, "")
    assert json.loads(err)["error"]["fix"]
    assert spent(place) == Fraction(4, 5)


def test_a_path_that_is_no_path_is_refused(run):
    assert run("show", "a\0b")[0] == 2
    assert run("create", "a\0b", "--epsilon", "1")[0] == 2


def test_who_it_was_is_the_user_if_it_is_not_said(place, facts, run, monkeypatch):
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    assert facts("annotate", place, "seen")["by"] == "ada"

    def nobody():
        raise KeyError("uid not found")

    monkeypatch.setattr("getpass.getuser", nobody)
    status, _, err = run("annotate", place, "seen")
    assert (status, "--by" in err) == (2, True)
    assert facts("annotate", place, "seen", "--by", "ada")["by"] == "ada"


# On a terminal, and on what is none.


@pytest.fixture
def see(monkeypatch):
    """Run the command before somebody's eyes; return its status and what is seen on both streams."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def runner(*words, errors=Terminal):
        with monkeypatch.context() as patch:
            both = Terminal(), errors()
            patch.setattr(sys, "stdout", both[0])
            patch.setattr(sys, "stderr", both[1])
            status = main(["ledger", *map(str, words)])
        return status, both[0].getvalue(), both[1].getvalue()

    return runner


@pytest.fixture
def often(monkeypatch):
    """Tell progress at every entry."""
    monkeypatch.setattr(verification, "PROGRESS_EVERY", 1)
    monkeypatch.setattr(console, "PAUSE", 0)


def test_a_gauge_is_in_colour_on_a_terminal(place, see):
    status, out, _ = see("show", place)
    assert status == 0
    assert re.search(r"all together  \x1b\[32m█+░+\x1b\[0m  ε = 0.8", out)


def test_a_gauge_that_is_almost_used_up_is_red(place, see):
    out = see("lower", place, "--to", "0.85", "--reason", "enough")[1]
    assert re.search(r"after .*\x1b\[31m█{28}░░\x1b\[0m", out)
    assert re.search(r"before .*\x1b\[32m█{8}░{22}\x1b\[0m", out)


def test_a_verdict_is_in_colour_on_a_terminal(place, see):
    assert see("verify", place)[1].startswith("\x1b[32mSound.\x1b[0m\n")
    tamper(place, "update answers set answer = x'00' where number = 3")
    assert see("verify", place)[1].startswith("\x1b[31mNOT SOUND.")


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_there_is_no_colour_where_none_is_wanted(place, see, monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    assert "\x1b" not in see("show", place)[1] + see("verify", place)[1]


def test_an_empty_no_color_is_none(see, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "")
    assert Palette.of(Terminal()).on


def test_there_is_no_colour_in_a_file_and_none_for_a_program(place, see):
    assert "\x1b" not in see("show", place, "--json")[1]
    assert not Palette.of(io.StringIO()).on


def test_a_terminal_without_blocks_reads_signs_that_it_has(place, monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    assert main(["ledger", "show", str(place)]) == 0
    text = raw.getvalue().decode("ascii")
    assert f"{'#' * 8}{'.' * 22}  epsilon = 0.8 of 3 spent" in text
    assert "2 x (epsilon = 0.1)" in text


def test_progress_is_one_line_that_goes_away(place, see, often):
    status, _, said = see("verify", place)
    assert (status, "\n" in said) == (0, False)
    assert "\rverifying: 6 of 6 (100 %) entries" in said
    assert said.split("\r")[-1] == ""
    assert said.split("\r")[-2].strip() == ""


def test_progress_is_told_at_most_every_fifth_of_a_second(monkeypatch, see):
    clock, stream = iter([0.0, 0.1, 0.3, 0.35, 0.49, 0.51]), Terminal()
    monkeypatch.setattr(console.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(sys, "stderr", stream)
    progress = Progress("verifying")
    for number in range(1, 6):
        progress(number, 5)
    assert re.findall(r"\rverifying: (\d)", stream.getvalue()) == ["2", "2", "5", "5"]


@pytest.mark.parametrize("quiet", ["json", "file", "dumb"])
def test_there_is_no_progress_for_a_program_or_a_file(place, see, often, monkeypatch, quiet):
    if quiet == "dumb":
        monkeypatch.setenv("TERM", "dumb")
    words = ["--json"] if quiet == "json" else []
    assert see("verify", place, *words, errors=io.StringIO if quiet == "file" else Terminal)[2] == ""


def test_progress_is_taken_away_when_it_fails(place, see, often, monkeypatch):
    def failing(*_, progress, **__):
        progress(1, 2)
        raise OSError("broken")

    monkeypatch.setattr(gate, "inspect_ledger", failing)
    status, _, said = see("verify", place)
    assert status == 2
    assert "\r" + " " * len("verifying: 1 of 2 (50 %) entries") + "\r" in said
    assert "broken" not in said


# The command as a process.


def test_help_comes_without_numpy_or_the_gate():
    code = (
        "import sys; from discreet.cli import main; print(main(['ledger', '--help']));"
        "print(main(['ledger', 'verify', '--help'])); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1].split()
    assert not {"numpy", "apsw", "cryptography", "discreet.accounting", "discreet.gate"} & set(loaded)
    assert "3 if it is not" in done.stdout


def test_a_reader_that_goes_away_is_no_fault(place):
    """As in `discreet ledger export … | head -1`."""
    words = [sys.executable, "-m", "discreet", "ledger", "export", str(place)]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(words, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (130, b"")


# The page.


def test_the_page_shows_every_verb_every_option_and_every_key():
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert [verb for verb in VERBS if f"### {verb}" not in page] == []
    assert {option for option in options_of(discreet_command) if option not in page} <= {"--version", "--help"}
    keys = {key for listed in KEYS.values() for key in listed} | GAUGE | PAID
    exact = {key for key in keys if key.endswith("_exact")}
    assert [key for key in sorted(keys - exact) if f"`{key}`" not in page] == []


def test_a_gaussian_cost_is_told_in_words(place, run):
    with Ledger.open(place) as ledger:
        ledger.pay(GaussianNoise(20), what="x", plan=PLAN, request="g")
    assert "Gaussian noise, σ = 20" in run("show", place)[1]
