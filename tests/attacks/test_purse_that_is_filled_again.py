"""Attack: make a device tell more than its purse allows, or make it destroy what is somebody else's.

Lines of a purse are tied to each other by a hash without a key, so whoever writes the file can write any line. A
negative payment, a payment of nothing, a second and smaller payment of the same question, or a number that takes hours
to write out, must not be believed. And creating a purse must not follow a link or overwrite a file.
"""

import hashlib
import json
import os
import subprocess
import sys
from fractions import Fraction

import pytest

from discreet.core import DiscreetError, InvalidInput, LedgerDamaged
from discreet.local import KaryResponse, Purse

YES = KaryResponse(domain=2, epsilon=Fraction(1, 2))
SPENT = {"kind": "paid", "question": "a", "encoder": repr(YES), "epsilon": "1"}


def forged(path, *records):
    """Write a purse of ε = 1 with any lines, each with the right mark."""
    head, lines = "discreet purse 1", []
    for record in ({"kind": "purse", "epsilon": "1"}, *records):
        text = record if isinstance(record, str) else json.dumps(record, sort_keys=True)
        head = hashlib.blake2b(f"{head} {text}".encode(), digest_size=16).hexdigest()
        lines.append(f"{head} {text}\n")
    path.write_text("".join(lines))
    return path


def test_the_forger_writes_what_a_purse_writes(tmp_path):
    Purse.create(tmp_path / "true", epsilon=1)
    assert forged(tmp_path / "forged").read_bytes() == (tmp_path / "true").read_bytes()
    assert Purse.open(forged(tmp_path / "spent", SPENT)).left == 0


@pytest.mark.parametrize(
    "more",
    [
        {**SPENT, "question": "b", "epsilon": "-5"},
        {**SPENT, "question": "b", "epsilon": "0"},
        {**SPENT, "epsilon": "1/1000"},
        {**SPENT, "question": "b", "epsilon": "1/2"},
        {**SPENT, "question": "b", "epsilon": "1e-9"},
        {**SPENT, "question": "b", "epsilon": "1/0"},
        {**SPENT, "question": "b", "epsilon": 1},
        {"kind": "purse", "epsilon": "5"},
        {"kind": "kept", "question": "c", "encoder": repr(YES), "report": "0x1"},
        {"kind": "kept", "question": "a", "encoder": repr(YES), "report": "-0x1"},
        json.dumps(SPENT)[:-1] + ', "epsilon": "-1"}',
        "[" * 10_000 + "]" * 10_000,
        "not JSON",
    ],
    ids=lambda one: str(one)[:40],
)
def test_no_line_fills_a_purse_again(tmp_path, more):
    purse = Purse.open(forged(tmp_path / "purse", SPENT, more))
    with pytest.raises(LedgerDamaged):
        purse.answer("d", YES, 1)
    with pytest.raises(LedgerDamaged):
        assert purse.left <= 0


def test_a_long_number_takes_no_time(tmp_path):
    """In a process of its own: what hangs in a big number cannot be interrupted."""
    path = forged(tmp_path / "purse", {**SPENT, "epsilon": "1e999999999"})
    attack = f"from discreet.local import Purse\nPurse.open({str(path)!r}).left\n"
    ended = subprocess.run([sys.executable, "-c", attack], timeout=60, capture_output=True, check=False, text=True)
    assert "LedgerDamaged" in ended.stderr


@pytest.mark.parametrize("content", [b"", b"dear diary", b"dear diary\n", b"c3d6"])
def test_a_link_is_not_followed(tmp_path, content):
    mine = tmp_path / "diary"
    mine.write_bytes(content)
    mine.chmod(0o644)
    for link, target in (("one", mine), ("two", tmp_path / "not there yet")):
        (tmp_path / link).symlink_to(target)
        with pytest.raises(DiscreetError):
            Purse.create(tmp_path / link, epsilon=1)
        with pytest.raises(DiscreetError):
            Purse.open(tmp_path / link)
    assert mine.read_bytes() == content
    assert mine.stat().st_mode & 0o777 == 0o644
    assert not (tmp_path / "not there yet").exists()


def test_a_pipe_does_not_hang_a_device(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DiscreetError):
        Purse.create(tmp_path / "pipe", epsilon=1)


def test_a_purse_is_its_owners_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        Purse.create(tmp_path / "purse", epsilon=1)
    finally:
        os.umask(before)
    assert (tmp_path / "purse").stat().st_mode & 0o777 == 0o600


def test_a_foreign_file_is_not_overwritten(tmp_path):
    path = tmp_path / "diary"
    path.write_bytes(b"no end of line")
    with pytest.raises(InvalidInput):
        Purse.create(path, epsilon=1)
    assert path.read_bytes() == b"no end of line"
