"""People of the service: tokens that are shown once, stored as hashes, and refused as soon as they are revoked."""

import hashlib
import hmac
import os
import stat

import pytest

from discreet.core import InvalidInput
from discreet.core.errors import NotReady
from discreet.service import tokens
from discreet.service.people import Principal, Role
from discreet.service.registry import Registry, read_people, registry_place
from discreet.service.tokens import ITERATIONS, Token

ADA = Principal(name="ada", role=Role.ANALYST, team="icu")
BOB = Principal(name="bob", role=Role.AUDITOR)


class Clock:
    """A clock that the test moves."""

    def __init__(self, now=1_000_000):
        self.now = now

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def registry(tmp_path, clock):
    return Registry(tmp_path / "clinic.ledger.people", clock=clock)


def other_token(text):
    """Return a token with the same identity and another secret."""
    return text[:-1] + ("A" if text[-1] != "A" else "B")


def scram_proof_passes(verifier, password):
    """Run SCRAM's arithmetic as a client and a server do (RFC 5802, section 3)."""
    message = b"n=ada,r=x,r=xy,s=salt,i=4096,c=biws,r=xy"
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), verifier.salt, verifier.iterations)
    client_key = hmac.digest(salted, b"Client Key", "sha256")
    signature = hmac.digest(hashlib.sha256(client_key).digest(), message, "sha256")
    proof = bytes(one ^ other for one, other in zip(client_key, signature, strict=True))
    passed = []
    for keys in verifier.keys:
        expected = hmac.digest(keys.stored_key, message, "sha256")
        recovered = bytes(one ^ other for one, other in zip(proof, expected, strict=True))
        passed.append(hmac.compare_digest(hashlib.sha256(recovered).digest(), keys.stored_key))
    return any(passed) and verifier.known


def test_a_token_admits_its_owner_and_no_other_text_does(registry):
    ada, bob = registry.add(ADA), registry.add(BOB)
    assert (registry.authenticate(ada), registry.authenticate(bob)) == (ADA, BOB)
    mixed = f"dsc1.{Token.find(ada).identity}.{Token.find(bob).secret}"
    refused = ["", "ada", other_token(ada), ada + "A", ada.upper(), mixed, Token.draw().write(), f" {ada}", f"{ada}\n"]
    assert [text for text in refused if registry.authenticate(text) is not None] == []


def test_a_token_has_256_random_bits_and_is_stored_nowhere(registry, tmp_path):
    text = registry.add(ADA)
    assert len(Token.find(text).secret) * 6 >= 256
    assert len({Token.draw().write() for _ in range(50)}) == 50
    everything = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert Token.find(text).secret.encode() not in everything
    assert "secret" not in repr(Token.find(text))


def test_both_files_are_their_owners_alone(registry, tmp_path):
    before = os.umask(0)
    try:
        registry.add(ADA)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"clinic.ledger.people": 0o600, "clinic.ledger.people.key": 0o600}


def test_a_file_of_tokens_admits_nobody_under_another_key(registry, tmp_path):
    text = registry.add(ADA)
    (tmp_path / "clinic.ledger.people.key").write_bytes(b"00" * 32)
    assert Registry(registry.place).authenticate(text) is None


def test_a_revoked_token_is_refused_at_once_by_a_server_that_has_read_the_file(registry, clock):
    text = registry.add(ADA)
    server = Registry(registry.place, clock=clock)
    assert server.authenticate(text) == ADA
    registry.revoke("ada")
    assert server.authenticate(text) is None
    assert server.find_principal("ada") is None
    assert not server.scram_verifier("ada").known


def test_a_person_who_is_readmitted_has_a_new_token_and_the_old_one_stays_refused(registry):
    old = registry.add(ADA)
    registry.revoke("ada")
    new = registry.add(ADA)
    assert (registry.authenticate(old), registry.authenticate(new)) == (None, ADA)


def test_a_token_is_refused_from_the_second_in_which_it_expires(registry, clock):
    text = registry.add(ADA, seconds=60)
    clock.now += 59
    assert registry.authenticate(text) == ADA
    clock.now += 1
    assert registry.authenticate(text) is None
    assert not registry.scram_verifier("ada").known


def test_an_old_token_is_valid_for_the_overlap_and_not_longer_than_before(registry, clock):
    first = registry.add(ADA, seconds=50)
    second = registry.rotate("ada", overlap=100)
    third = registry.rotate("ada", overlap=10)
    tokens_in_force = {9: [first, second, third], 10: [third], 60: [third]}
    start, found = clock.now, {}
    for seconds in tokens_in_force:
        clock.now = start + seconds
        found[seconds] = [text for text in (first, second, third) if registry.authenticate(text)]
    assert found == tokens_in_force


def test_a_rotation_without_overlap_refuses_the_old_token_at_once(registry):
    old = registry.add(ADA)
    new = registry.rotate("ada", overlap=0)
    assert (registry.authenticate(old), registry.authenticate(new)) == (None, ADA)


def test_the_same_token_passes_scram_as_a_password_also_while_it_is_replaced(registry):
    old = registry.add(ADA)
    new = registry.rotate("ada")
    verifier = registry.scram_verifier("ada")
    passed = [scram_proof_passes(verifier, password) for password in (old, new, other_token(new), "")]
    assert passed == [True, True, False, False]


def test_an_unknown_name_looks_like_a_known_one_until_its_proof_is_wrong(registry):
    registry.add(ADA)
    known, unknown = registry.scram_verifier("ada"), registry.scram_verifier("eve")
    assert (len(unknown.salt), unknown.iterations, len(unknown.keys)) == (len(known.salt), ITERATIONS, 1)
    assert unknown.salt == registry.scram_verifier("eve").salt  # asked twice, a random one would tell
    assert unknown.salt != known.salt
    registry.add(Principal(name="eve", role=Role.PERSON))
    assert registry.scram_verifier("eve").salt == unknown.salt  # nor does a name change its salt when it is given
    assert not unknown.known


def test_an_unknown_identity_is_compared_too(registry, monkeypatch):
    registry.add(ADA)
    compared = []
    real = hmac.compare_digest
    monkeypatch.setattr(tokens.hmac, "compare_digest", lambda one, other: compared.append(1) or real(one, other))
    registry.authenticate(Token.draw().write())
    assert compared == [1]


def test_names_stay_unique_and_refusals_name_a_fix(registry):
    registry.add(ADA)
    with pytest.raises(InvalidInput, match="already"):
        registry.add(ADA)
    with pytest.raises(InvalidInput, match="not in the registry"):
        registry.revoke("eve")
    registry.revoke("ada")
    with pytest.raises(InvalidInput, match="revoked"):
        registry.rotate("ada")


def test_a_missing_or_damaged_registry_admits_nobody(registry, tmp_path):
    with pytest.raises(NotReady):
        registry.authenticate(Token.draw().write())
    text = registry.add(ADA)
    whole = registry.place.read_bytes()
    for end in range(0, len(whole) - 1, 7):
        registry.place.write_bytes(whole[:end])
        with pytest.raises(NotReady):
            Registry(registry.place).authenticate(text)


def test_a_registry_reads_back_as_it_was_written_and_refuses_another_version(registry):
    registry.add(ADA, seconds=60)
    registry.add(BOB)
    registry.revoke("bob")
    people = read_people(registry.place.read_bytes())
    assert tuple(people[name] for name in ("ada", "bob")) == Registry(registry.place).list_people()
    with pytest.raises(NotReady, match="version"):
        read_people(b'{"version": 2, "people": []}')


def test_a_crash_while_writing_leaves_the_registry_as_it_was(registry, monkeypatch, tmp_path):
    text = registry.add(ADA)
    monkeypatch.setattr("discreet.service.registry.os.fsync", lambda handle: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        registry.revoke("ada")
    assert registry.authenticate(text) == ADA
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clinic.ledger.people", "clinic.ledger.people.key"]


def test_the_registry_lies_beside_the_ledger_or_the_settings(tmp_path):
    settings = tmp_path / "discreet.toml"
    assert registry_place(settings, tmp_path / "a" / "clinic.ledger") == tmp_path / "a" / "clinic.ledger.people"
    assert registry_place(settings, "postgresql://host/db") == tmp_path / "discreet.toml.people"
