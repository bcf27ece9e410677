"""Attack: hand somebody a text whose numbers take hours to write out, or that two readers understand differently.

`Fraction("1e999999999")` computes a power of ten of a billion digits and cannot be interrupted. A certificate said so
before its signature was looked at. Each text is read in a process of its own with a time limit: what hangs is ended.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import discreet
from discreet.core import DiscreetError, InvalidInput
from discreet.core.untrusted_text import read_fraction, read_json
from discreet.gate import Budget, Gate, Ledger, certificate, check_certificate, check_export, export_lines
from discreet.gate.entries.chain import GENESIS, head_after
from discreet.gate.ledger.anchors import Anchor, read_anchors
from discreet.session.ledger_notes import BOUNDS_PREFIX, note_of
from questions import Question

LONG = "1e999999999"
#: Far more than reading a text of a few thousand letters takes.
SECONDS = 40


#: Checks every file of a folder, and says of each what is wrong with it.
CHECKS = """
import sys
from pathlib import Path
from discreet.core import DiscreetError
from discreet.gate import check_certificate, check_export
for place in sorted(Path(sys.argv[1]).iterdir()):
    try:
        if place.suffix == ".json":
            check_certificate(place.read_text(), ledger=sys.argv[2])
        else:
            check_export(place.read_text().splitlines())
    except DiscreetError as error:
        print(error.problem)
"""


def said_of(folder, ledger):
    """Check all files of a folder in a process that must end in time; return what is said of each."""
    words = [sys.executable, "-c", CHECKS, str(folder), ledger.identity]
    where = {**os.environ, "PYTHONPATH": str(Path(discreet.__file__).parents[1])}
    done = subprocess.run(words, timeout=SECONDS, capture_output=True, check=True, text=True, env=where)
    return done.stdout.splitlines()


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "clinic.ledger", Budget(1)) as ledger:
        Gate(ledger, None).release(Question(), request="r")
        yield ledger


def forgeries(facts):
    """Yield the certificate with a long number wherever one is read."""
    yield {**facts, "limit": LONG}
    for part, field in (("payment", "number"), ("birth", "number")):
        yield {**facts, part: {**facts[part], field: LONG}}
        yield {**facts, part: {**facts[part], field: 10**4000}}
    birth = json.loads(facts["birth"]["body"])
    body = json.dumps({**birth, "epsilon": LONG}, sort_keys=True, separators=(",", ":"))
    yield {**facts, "birth": {**facts["birth"], "body": body}}


def test_no_certificate_and_no_export_hangs_whoever_checks_it(ledger, tmp_path):
    text = certificate(ledger, "r")
    assert check_certificate(text, ledger=ledger.identity).limit == 1
    folder = tmp_path / "forged"
    folder.mkdir()
    for number, facts in enumerate(forgeries(json.loads(text))):
        (folder / f"{number}.json").write_text(json.dumps(facts))
    first = json.loads(next(iter(export_lines(ledger))))
    for field in ("epsilon", "delta"):
        body = json.dumps({**json.loads(first["body"]), field: LONG}, sort_keys=True, separators=(",", ":"))
        head = head_after(GENESIS, 1, body.encode()).hex()  # a chain of its own, which nobody has signed
        (folder / f"{field}.jsonl").write_text(json.dumps({**first, "body": body, "head": head}))
    said = said_of(folder, ledger)
    assert len(said) == 8
    assert all("proves nothing" in one for one in said)


def test_a_certificate_is_read_after_its_signature(ledger, monkeypatch):
    """What is not signed is not even parsed: of a forged certificate only the birth is, whose hash is the name."""
    from discreet.gate.proofs import certificates

    text = certificate(ledger, "r")
    read = []
    whole = certificates.from_body
    monkeypatch.setattr(certificates, "from_body", lambda body: read.append(body) or whole(body))
    facts = json.loads(text)
    with pytest.raises(InvalidInput, match="not signed"):
        check_certificate(json.dumps({**facts, "asked": "something else"}), ledger=ledger.identity)
    assert len(read) == 1
    read.clear()
    with pytest.raises(InvalidInput, match="not of this ledger"):
        check_certificate(text, ledger="00" * 32)
    assert read == []


@pytest.mark.parametrize("text", [LONG, "1E9", "1e2", " 1", "1_0", "", "1/0", "0x10", "٣", "9" * 5000, None, 1, "+1"])
def test_no_number_is_read_that_we_do_not_write(text):
    with pytest.raises(InvalidInput):
        read_fraction(text)


def twice(text, key):
    """Return a JSON text with a key that stands twice, the false one first."""
    return text.replace(f'"{key}":', f'"{key}": "false", "{key}":', 1)


def test_a_key_that_stands_twice_is_refused_everywhere(ledger, tmp_path):
    text = certificate(ledger, "r")
    for key in ("limit", "asked", "signature", "body"):
        with pytest.raises(InvalidInput, match="proves nothing"):
            check_certificate(twice(text, key), ledger=ledger.identity)
    lines = list(export_lines(ledger))
    for key in ("number", "head", "body"):
        with pytest.raises(InvalidInput, match="proves nothing"):
            check_export([twice(lines[0], key), *lines[1:]])
    place = tmp_path / "an.anchor"
    line = Anchor("a", 1, "b").to_line().decode()
    place.write_text(line)
    assert len(read_anchors(place)) == 1
    place.write_text(twice(line, "number"))
    assert read_anchors(place) == []
    note = BOUNDS_PREFIX + '{"column": "x", "epsilon": "1", "release": 3}'
    assert note_of(note) is not None
    assert note_of(note.replace('"release"', '"release": 2, "release"')) is None
    assert note_of(note.replace('"1"', f'"{LONG}"')) is None


@pytest.mark.parametrize(
    "text", ['{"a":1,"a":1}', '{"b":{"a":1,"a":2}}', "NaN", "[Infinity]", "1e999", "[" * 500 + "]" * 500, "[" * 10**5]
)
def test_json_with_two_meanings_or_none_is_refused(text):
    with pytest.raises(DiscreetError):
        read_json(text)


@pytest.mark.parametrize(
    "line",
    [
        '{"head":"b","ledger":"a","number":"1","signature":""}',
        '{"head":"b","ledger":"a","number":true,"signature":""}',
        '{"head":"b","ledger":"a","number":-1,"signature":""}',
        '{"head":null,"ledger":"a","number":1,"signature":""}',
        "[" * 10**5,
        '{"head":"b","ledger":"a","number":' + "9" * 4000 + ',"signature":""}',
    ],
)
def test_a_line_that_is_no_anchor_is_skipped(tmp_path, line):
    place = tmp_path / "an.anchor"
    place.write_text(line + "\n")
    assert read_anchors(place) == []


def test_settings_that_are_nested_without_end_are_refused(tmp_path):
    from discreet.session.settings.file import read_settings

    place = tmp_path / "discreet.toml"
    for text in ("person = " + "[" * 20_000, "budget = {epsilon = " + "9" * 5000 + "}", "delta = 1e999999999"):
        place.write_text(f'source = "x.csv"\n{text}\n')
        with pytest.raises(InvalidInput):
            read_settings(place)
