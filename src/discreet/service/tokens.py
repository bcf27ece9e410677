"""Access tokens: drawn at random, shown once, and known again without being stored.

A token has 256 random bits, so that no list of likely ones exists: a keyed hash of one pass is enough to store it by,
and takes microseconds to check. PostgreSQL's clients prove that they have the same token by SCRAM-SHA-256, for which
two keys are stored beside the hash.

Reference: RFC 5802 and RFC 7677 (SCRAM-SHA-256); RFC 6750 (bearer tokens).
"""

import hashlib
import hmac
import os
import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from pathlib import Path

from discreet.core import NotReady
from discreet.core.private_files import open_private, open_regular

#: Random bytes of a token's secret, of its public identity, and of the server's key.
SECRET_BYTES, IDENTITY_BYTES, KEY_BYTES, SALT_BYTES = 32, 6, 32, 16
#: How often SCRAM hashes: what RFC 7677 asks for at least, as the secret cannot be guessed however fast one tries.
ITERATIONS = 4096
#: A token as it is written: a word by which scanners of leaked secrets know it, its identity, its secret.
FORM = re.compile(r"dsc1\.([0-9a-f]{12})\.([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as its holder has it. The identity is public; the secret is not."""

    identity: str
    secret: str = field(repr=False)

    @classmethod
    def draw(cls) -> "Token":
        """Draw a new token from the randomness of the system."""
        secret = urlsafe_b64encode(os.urandom(SECRET_BYTES)).rstrip(b"=").decode("ascii")
        return cls(identity=os.urandom(IDENTITY_BYTES).hex(), secret=secret)

    @classmethod
    def find(cls, text: str) -> "Token | None":
        """Return the token that a text is; None if it is written as none of ours."""
        match = FORM.fullmatch(text)
        return None if match is None else cls(identity=match[1], secret=match[2])

    def write(self) -> str:
        """Return the text that its holder keeps."""
        return f"dsc1.{self.identity}.{self.secret}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramKeys:
    """What SCRAM checks a proof with, and proves the server with (RFC 5802, section 3)."""

    stored_key: bytes = field(repr=False)
    server_key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScramVerifier:
    """What the PostgreSQL face asks a name for. An unknown name has a salt and keys, too, and `known` is false.

    While a token is being replaced there are two pairs of keys under one salt: a client proves either.
    """

    salt: bytes
    iterations: int
    keys: tuple[ScramKeys, ...]
    known: bool


class TokenKey:
    """The server's key, under which tokens are hashed: a file of tokens is worth nothing without it.

    Guarantee: comparisons take the same time wherever two hashes differ first.
    """

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        self._key = key

    @classmethod
    def create(cls, path: Path) -> None:
        """Write a new key, durably, to a file of mode 0600; one that is there already is kept."""
        try:
            handle = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            return
        with os.fdopen(handle, "wb") as file:
            file.write(os.urandom(KEY_BYTES).hex().encode("ascii") + b"\n")
            file.flush()
            os.fsync(file.fileno())

    @classmethod
    def read(cls, path: Path) -> "TokenKey":
        """Return the key in a file."""
        try:
            with os.fdopen(open_regular(path, os.O_RDONLY), "rb") as file:
                key = bytes.fromhex(file.read(2 * KEY_BYTES + 2).decode("ascii").strip())
        except (OSError, ValueError):
            key = b""
        if len(key) != KEY_BYTES:
            raise NotReady(
                f"The key of the tokens, {path.name}, is missing or unreadable.",
                fix="restore it from a backup, with the file of people; or remove both and add all people again",
            )
        return cls(key)

    def hash_token(self, token: Token) -> bytes:
        """Return what a token is stored as."""
        return self._hash(b"token", token.write())

    def is_token(self, token: Token, digest: bytes) -> bool:
        """Tell whether a token is the one that was stored as `digest`."""
        return hmac.compare_digest(self.hash_token(token), digest)

    def mock_digest(self) -> bytes:
        """Return a hash that no token has, to compare with where an identity is unknown."""
        return self._hash(b"nobody", "")

    def salt_of(self, name: str) -> bytes:
        """Return the salt of a name, which is the same for ever, whether or not somebody has the name."""
        return self._hash(b"salt", name)[:SALT_BYTES]

    def mock_keys(self, name: str) -> ScramKeys:
        """Return keys that nobody can prove, for a name that nobody has."""
        return ScramKeys(stored_key=self._hash(b"stored", name), server_key=self._hash(b"server", name))

    def derive_keys(self, token: Token, name: str) -> ScramKeys:
        """Return what SCRAM stores of a token, which a client sends as the password of `name`."""
        salted = hashlib.pbkdf2_hmac("sha256", token.write().encode("ascii"), self.salt_of(name), ITERATIONS)
        client_key = hmac.digest(salted, b"Client Key", "sha256")
        server_key = hmac.digest(salted, b"Server Key", "sha256")
        return ScramKeys(stored_key=hashlib.sha256(client_key).digest(), server_key=server_key)

    def _hash(self, purpose: bytes, text: str) -> bytes:
        return hmac.digest(self._key, purpose + b"\0" + text.encode(), "sha256")
