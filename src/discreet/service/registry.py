"""The registry of people: one private file of names, roles and hashed tokens, which a running server reads again.

The file lies beside the ledger, with the key under which its tokens are hashed. Each change is written to a new file
and put in place of the old one, durably, so that a reader sees the registry before a change or after it. Whoever
changes it holds a lock on the key's file meanwhile.
"""

import fcntl
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.core import InvalidInput
from discreet.core.errors import NotReady
from discreet.core.private_files import open_private, open_regular
from discreet.core.untrusted_text import read_json
from discreet.service.people import Principal, Role, need_name
from discreet.service.tokens import ITERATIONS, ScramKeys, ScramVerifier, Token, TokenKey

#: Of the file: another version is refused.
VERSION = 1
#: How long a token that was replaced is still valid, unless the steward says otherwise: a day.
OVERLAP = 24 * 60 * 60
#: Bytes of a file that are read: some 50,000 people.
LARGEST = 64 * 2**20
#: What a file's name ends with, and that of its key.
SUFFIX, KEY_SUFFIX = ".people", ".key"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredToken:
    """What is kept of a token: enough to know it again, and not enough to use it."""

    identity: str
    digest: bytes = field(repr=False)
    scram: ScramKeys = field(repr=False)
    made: int
    #: The second from which it is refused; None if it is valid until it is replaced or revoked.
    expires: int | None

    def is_valid(self, now: float) -> bool:
        """Tell whether it is still accepted."""
        return self.expires is None or now < self.expires


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonRecord:
    """Somebody in the registry."""

    principal: Principal
    added: int
    #: The second since which nothing of theirs is accepted; None if they are welcome.
    revoked: int | None
    tokens: tuple[StoredToken, ...]

    def list_valid(self, now: float) -> tuple[StoredToken, ...]:
        """Return the tokens that are accepted now."""
        return () if self.revoked is not None else tuple(token for token in self.tokens if token.is_valid(now))


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """The registry as one version of the file says it, by name and by the identity of tokens."""

    stamp: tuple[int, ...]
    people: Mapping[str, PersonRecord]
    owners: Mapping[str, tuple[PersonRecord, StoredToken]]


class Registry:
    """People and their tokens, in one file.

    Guarantee: a token is accepted if and only if the file, as it is now, has its hash, unexpired, with a person who is
    not revoked. Of names that nobody has, a client learns what it would learn of others: a salt, and that its proof
    is wrong.
    """

    def __init__(self, place: Path, *, clock: Callable[[], float] = time.time) -> None:
        self.place = place
        self._clock = clock
        self._key_place = place.with_name(place.name + KEY_SUFFIX)
        self._key: TokenKey | None = None
        self._kept: _Snapshot | None = None

    def list_people(self) -> tuple[PersonRecord, ...]:
        """Return everybody who was ever added, by name."""
        people = self._snapshot().people
        return tuple(people[name] for name in sorted(people))

    def authenticate(self, text: str) -> Principal | None:
        """Return who has this token; None for any that is not valid now, without a word why."""
        token = Token.find(text)
        if token is None:
            return None
        snapshot, key = self._snapshot(), self._need_key()
        found = snapshot.owners.get(token.identity)
        digest = key.mock_digest() if found is None else found[1].digest
        if not key.is_token(token, digest) or found is None:
            return None
        person, stored = found
        return person.principal if stored in person.list_valid(self._clock()) else None

    def find_principal(self, name: str) -> Principal | None:
        """Return somebody by name, if they have a token that is valid now."""
        person = self._snapshot().people.get(name)
        return person.principal if person is not None and person.list_valid(self._clock()) else None

    def find_member(self, name: str) -> Principal | None:
        """Return somebody by name, unless they were revoked: for those whose identity was checked elsewhere."""
        person = self._snapshot().people.get(name)
        return person.principal if person is not None and person.revoked is None else None

    def scram_verifier(self, name: str) -> ScramVerifier:
        """Return what a proof of SCRAM is checked with; of a name that nobody has, what no proof passes."""
        person, key = self._snapshot().people.get(name), self._need_key()
        valid = () if person is None else person.list_valid(self._clock())
        mock = (key.mock_keys(name),)  # made in any case, so that the time is the same
        keys = tuple(token.scram for token in valid) or mock
        return ScramVerifier(salt=key.salt_of(name), iterations=ITERATIONS, keys=keys, known=bool(valid))

    def need_free(self, name: str) -> None:
        """Refuse a name that somebody has who was not revoked."""
        if self.place.exists():
            _need_free(self._snapshot().people, name)

    def add(self, principal: Principal, *, seconds: int | None = None) -> str:
        """Add somebody, or readmit somebody who was revoked, and return their token, which is not stored.

        Args:
            principal: Name, role and team.
            seconds: How long the token is valid; until it is replaced or revoked, if left out.

        Returns:
            The token. Nobody can read it again.

        Raises:
            InvalidInput: The name is taken.

        """
        self.place.parent.mkdir(parents=True, exist_ok=True)
        TokenKey.create(self._key_place)
        with self._change() as people:
            _need_free(people, principal.name)
            token, now = Token.draw(), int(self._clock())
            stored = self._store(token, principal.name, now, seconds)
            people[principal.name] = PersonRecord(principal=principal, added=now, revoked=None, tokens=(stored,))
        return token.write()

    def rotate(self, name: str, *, overlap: int = OVERLAP, seconds: int | None = None) -> str:
        """Give somebody a new token; older ones are valid for `overlap` more seconds, and not longer than before."""
        with self._change() as people:
            person = _need_person(people, name)
            if person.revoked is not None:
                raise InvalidInput(f"{name} is revoked.", fix="readmit them with: discreet people add")
            token, now = Token.draw(), int(self._clock())
            end = now + overlap
            older = tuple(
                replace(old, expires=end if old.expires is None else min(end, old.expires))
                for old in person.list_valid(now)
            )
            stored = self._store(token, name, now, seconds)
            people[name] = replace(person, tokens=(*(old for old in older if old.is_valid(now)), stored))
        return token.write()

    def revoke(self, name: str) -> None:
        """Refuse all tokens of somebody from now on. The name stays: the ledger knows it for ever."""
        with self._change() as people:
            person = _need_person(people, name)
            people[name] = replace(person, revoked=int(self._clock()), tokens=())

    def _store(self, token: Token, name: str, now: int, seconds: int | None) -> StoredToken:
        key = self._need_key()
        return StoredToken(
            identity=token.identity,
            digest=key.hash_token(token),
            scram=key.derive_keys(token, name),
            made=now,
            expires=None if seconds is None else now + seconds,
        )

    def _need_key(self) -> TokenKey:
        if self._key is None:
            self._key = TokenKey.read(self._key_place)
        return self._key

    @contextmanager
    def _change(self) -> Iterator[dict[str, PersonRecord]]:
        """Hand out the newest registry, and write what became of it, while nobody else does."""
        try:
            lock = open_regular(self._key_place, os.O_RDONLY)
        except OSError:
            raise _refuse_missing(self.place) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            people = dict(self._snapshot().people) if self.place.exists() else {}
            yield people
            _replace_file(self.place, write_people(people))
        finally:
            os.close(lock)

    def _snapshot(self) -> _Snapshot:
        """Return the registry as the file is now; it is read again only if it was replaced."""
        try:
            stamp = _stamp_of(self.place)
            if self._kept is None or self._kept.stamp != stamp:
                self._kept = _read_snapshot(self.place)
        except OSError:
            raise _refuse_missing(self.place) from None
        return self._kept


def registry_place(settings: Path, ledger: str | Path) -> Path:
    """Return where the registry of a dataset lies: beside its ledger; beside its settings, if that is on a server."""
    beside = ledger if isinstance(ledger, Path) else settings
    return beside.with_name(beside.name + SUFFIX)


# The file.


def write_people(people: Mapping[str, PersonRecord]) -> bytes:
    """Return the text of a registry."""
    records = [_person_fields(people[name]) for name in sorted(people)]
    return json.dumps({"version": VERSION, "people": records}, indent=1).encode("ascii") + b"\n"


def read_people(text: bytes) -> dict[str, PersonRecord]:
    """Return the registry that a text says; anything else is an error, so that half a file admits nobody."""
    try:
        fields = read_json(text)
        if fields["version"] != VERSION:
            raise NotReady("The registry is of another version.", fix="use the version of discreet that wrote it")
        people = [_read_person(record) for record in fields["people"]]
    except (KeyError, TypeError, ValueError):
        raise NotReady("The registry of people is damaged.", fix="restore it from a backup") from None
    return {person.principal.name: person for person in people}


def _person_fields(person: PersonRecord) -> dict[str, Any]:
    return {
        "name": person.principal.name,
        "role": person.principal.role.value,
        "team": person.principal.team,
        "added": person.added,
        "revoked": person.revoked,
        "tokens": [
            {
                "identity": token.identity,
                "digest": token.digest.hex(),
                "stored_key": token.scram.stored_key.hex(),
                "server_key": token.scram.server_key.hex(),
                "made": token.made,
                "expires": token.expires,
            }
            for token in person.tokens
        ],
    }


def _read_person(fields: Any) -> PersonRecord:
    return PersonRecord(
        principal=Principal(name=fields["name"], role=Role(fields["role"]), team=fields["team"]),
        added=int(fields["added"]),
        revoked=_read_second(fields["revoked"]),
        tokens=tuple(map(_read_token, fields["tokens"])),
    )


def _read_token(fields: Any) -> StoredToken:
    return StoredToken(
        identity=str(fields["identity"]),
        digest=bytes.fromhex(fields["digest"]),
        scram=ScramKeys(stored_key=bytes.fromhex(fields["stored_key"]), server_key=bytes.fromhex(fields["server_key"])),
        made=int(fields["made"]),
        expires=_read_second(fields["expires"]),
    )


def _read_second(value: Any) -> int | None:
    return None if value is None else int(value)


def _read_snapshot(place: Path) -> _Snapshot:
    with os.fdopen(open_regular(place, os.O_RDONLY), "rb") as file:
        stamp = _stamp(os.fstat(file.fileno()))  # of the file that is read, whatever is put in its place meanwhile
        people = read_people(file.read(LARGEST))
    owners = {token.identity: (person, token) for person in people.values() for token in person.tokens}
    return _Snapshot(stamp, people, owners)


def _stamp_of(place: Path) -> tuple[int, ...]:
    return _stamp(place.stat(follow_symlinks=False))


def _stamp(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size


def _replace_file(place: Path, content: bytes) -> None:
    """Put a new file in the place of another, durably: after a crash there is one or the other."""
    temporary = place.with_name(f"{place.name}.{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with os.fdopen(open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(place)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    folder = os.open(place.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _need_free(people: Mapping[str, PersonRecord], name: str) -> None:
    if name in people and people[name].revoked is None:
        raise InvalidInput(
            f"{name} is in the registry already.",
            fix="choose another name; or give a new token with: discreet people rotate",
        )


def _need_person(people: Mapping[str, PersonRecord], name: str) -> PersonRecord:
    if name not in people:
        raise InvalidInput(f"{need_name(name, 'name')} is not in the registry.", fix="see discreet people list")
    return people[name]


def _refuse_missing(place: Path) -> NotReady:
    return NotReady(
        f"There is no registry of people at {place.name}.",
        fix="add a person with: discreet people add NAME --role ROLE",
    )
