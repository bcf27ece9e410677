"""`discreet people`: tokens are printed once, shares become entries of the ledger, revocation is told."""

import pytest

from command_line import copy_begun, run_once
from discreet.gate import Ledger
from discreet.gate.ledger.views import analyst_gauge
from discreet.service import Registry


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Begin once, for all tests."""
    folder = tmp_path_factory.mktemp("people")
    (folder / "visits.csv").write_text("patient_id,ward\n" + "".join(f"p{n},{'AB'[n % 2]}\n" for n in range(20)))
    words = "init visits.csv --person patient_id --epsilon 3 --delta 1e-6 --limit total=1 --kinds-from-rows"
    return run_once(folder, words.split())


@pytest.fixture
def clinic(begun, tmp_path, state, run):
    return copy_begun(begun, tmp_path, state)


def registry_in(clinic):
    return Registry(next(clinic.glob("*.ledger.people")))


def test_a_person_is_added_with_a_share_and_a_token_that_admits_them(clinic, facts):
    added = facts("people", "add", "ada", "--role", "analyst", "--share", "0.5", "--team", "icu")
    principal = registry_in(clinic).authenticate(added["token"])
    assert (principal.name, principal.role.value, principal.team) == ("ada", "analyst", "icu")
    with Ledger.open(next(clinic.glob("*.ledger"))) as ledger:
        assert float(analyst_gauge(ledger, "ada").limit) == 0.5
    shown = facts("people", "list")["people"]
    assert [(one["name"], one["role"], one["team"], one["revoked"]) for one in shown] == [
        ("ada", "analyst", "icu", None)
    ]
    assert added["token"] not in str(shown)


def test_a_list_of_people_says_that_a_token_without_an_end_has_none(clinic, facts, run):
    facts("people", "add", "ada", "--role", "analyst")
    listed = run("people", "list")[1]
    assert "no end" in listed
    assert "revoked" not in listed


def test_a_token_is_rotated_and_revoked(clinic, facts, run):
    old = facts("people", "add", "ada", "--role", "steward", "--days", "30")["token"]
    new = facts("people", "rotate", "ada", "--overlap", "0")["token"]
    assert [registry_in(clinic).authenticate(token) is not None for token in (old, new)] == [False, True]
    assert run("people", "revoke", "ada")[0] == 0
    assert registry_in(clinic).authenticate(new) is None
    assert "revoked" in run("people", "list")[1]


def test_a_taken_name_gets_no_share_and_refusals_name_a_fix(clinic, facts, run):
    facts("people", "add", "ada", "--role", "analyst")
    ledger = next(clinic.glob("*.ledger"))
    with Ledger.open(ledger) as before:
        entries = before.state.number
    status, _, said = run("people", "add", "ada", "--role", "analyst", "--share", "1")
    assert status == 2
    assert "fix" in said
    with Ledger.open(ledger) as after:
        assert after.state.number == entries
    assert run("people", "add", "a/b", "--role", "analyst")[0] == 2
    assert run("people", "add", "eve", "--role", "king")[0] == 2
    assert run("people", "rotate", "eve")[0] == 2
