"""Attack: rewrite the payments of an export, compute all heads anew, and have it pass as the ledger's.

A small ledger has no signed checkpoint, and the chain alone vouches for nothing but the birth. An export's end is
signed now, and what nobody vouches for is named, and is not called sound.
"""

import json
from dataclasses import replace

import pytest

from command_line import reader, runner
from discreet.accounting import Pure
from discreet.core import InvalidInput
from discreet.gate import Budget, Gate, Ledger, check_export, export_lines
from discreet.gate.entries.chain import GENESIS, canonical, head_after
from discreet.gate.entries.events import Payment, from_body, to_body
from questions import Question


@pytest.fixture
def place(tmp_path):
    place = tmp_path / "clinic.ledger"
    with Ledger.create(place, Budget(1)) as ledger:
        for number in range(3):
            Gate(ledger, None).release(Question(f"question {number}", cost=Pure(0.3)))
    return place


def exported(place, **more):
    with Ledger.open(place, **more) as ledger:
        return ledger.identity, list(export_lines(ledger))


def forge(lines):
    """Return the export with every payment a hundred times as cheap, all heads as they follow, and no end."""
    head, forged = GENESIS, []
    for line in map(json.loads, lines):
        if "body" not in line:
            continue
        event = from_body(line["body"].encode())
        body = to_body(replace(event, cost=Pure(0.003)) if isinstance(event, Payment) else event)
        head = head_after(head, line["number"], body)
        forged.append(canonical({"number": line["number"], "head": head.hex(), "body": body.decode()}).decode())
    return forged


def test_a_true_export_is_vouched_for_to_its_end(place):
    name, lines = exported(place)
    found = check_export(lines, ledger=name)
    assert found.whole
    assert found.vouched == found.state.number == len(lines) - 1


def test_a_forged_export_is_vouched_for_by_nobody(place):
    name, lines = exported(place)
    found = check_export(forge(lines), ledger=name)
    assert not found.whole
    assert found.vouched == 0


def test_a_forged_export_has_no_end_that_fits(place, tmp_path):
    name, lines = exported(place)
    other = tmp_path / "other.ledger"
    with Ledger.create(other, Budget(1)) as ledger:
        foreign = list(export_lines(ledger))[-1]
    forged = forge(lines)
    signed = json.loads(lines[-1])
    resigned = canonical({**signed, "head": json.loads(forged[-1])["head"]}).decode()
    for end in (lines[-1], foreign, resigned, canonical({**signed, "signature": ""}).decode()):
        with pytest.raises(InvalidInput, match="end"):
            check_export([*forged, end], ledger=name)


def test_nothing_follows_an_end(place):
    name, lines = exported(place)
    for more in (lines[-1], lines[-2], lines[0]):
        with pytest.raises(InvalidInput):
            check_export([*lines, more], ledger=name)
    with pytest.raises(InvalidInput):
        check_export([*lines[:-2], lines[-1]], ledger=name)


def test_an_old_export_can_be_read_and_is_not_vouched_for(place):
    """Those of earlier releases have no end."""
    name, lines = exported(place)
    found = check_export(lines[:-1], ledger=name)
    assert found.state.payments == 3
    assert not found.whole


def test_a_signed_checkpoint_vouches_up_to_itself(place):
    with Ledger.open(place) as ledger:
        ledger.checkpoint()
        number = ledger.state.number
        Gate(ledger, None).release(Question("one more", cost=Pure(0.01)))
    name, lines = exported(place)
    found = check_export(lines[:-1], ledger=name)
    assert found.vouched == number
    assert not found.whole


def test_without_the_key_an_export_has_no_end(place):
    (place.parent / f"{place.name}.key").rename(place.parent / "elsewhere.key")
    name, lines = exported(place)
    assert "end" not in json.loads(lines[-1])
    assert not check_export(lines, ledger=name).whole


def test_the_command_line_does_not_call_a_forged_export_sound(place, tmp_path, capsys):
    run = runner(capsys, ("ledger",))
    name, lines = exported(place)
    true, forged = tmp_path / "true.jsonl", tmp_path / "forged.jsonl"
    true.write_text("\n".join(lines))
    forged.write_text("\n".join(forge(lines)))
    status, out, _ = run("check", "--export", true, "--ledger", name)
    assert status == 0
    assert "all 7 entries, by the ledger's key" in out
    status, out, _ = run("check", "--export", forged, "--ledger", name)
    assert status == 3
    assert "Not vouched for" in out
    assert "may be written by anyone" in out
    assert reader(run)("check", "--export", forged, "--ledger", name, status=3)["sound"] is False


def test_a_file_of_an_export_is_its_owners_and_no_link_is_followed(place, tmp_path, capsys):
    run = runner(capsys, ("ledger",))
    output = tmp_path / "all.jsonl"
    assert run("export", place, "--output", output)[0] == 0
    assert output.stat().st_mode & 0o777 == 0o600
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "not there")
    assert run("export", place, "--output", link)[0] == 2
    assert not (tmp_path / "not there").exists()
