"""Ed25519 keys: who may sign checkpoints, anchors and certificates of a ledger.

The public key is part of a ledger's birth, so that a ledger's name (the hash of its birth) vouches for it. The private
key is a file that only its owner may read; it need not be where the ledger is, and paying does not need it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from discreet.core import InvalidInput
from discreet.core.private_files import open_private
from discreet.gate.entries.chain import LedgerEntry
from discreet.gate.entries.events import Checkpoint, from_body, to_body
from discreet.gate.stores.protocol import SERVER

#: What a signature is about comes first in what is signed, so that none can be passed off as another.
CHECKPOINT, ANCHOR, CERTIFICATE = b"discreet checkpoint 1\0", b"discreet anchor 1\0", b"discreet certificate 1\0"
EXPORT = b"discreet export 1\0"


class SigningKey:
    """A private key."""

    __slots__ = ("_key",)

    def __init__(self, key: Ed25519PrivateKey) -> None:
        self._key = key

    @classmethod
    def create(cls, path: Path) -> "SigningKey":
        """Make a key and write it where there is no file yet; only its owner may read it."""
        key = Ed25519PrivateKey.generate()
        try:
            handle = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            raise InvalidInput("There is a file where the key should go.", fix="choose another path") from None
        with os.fdopen(handle, "wb") as file:
            file.write(key.private_bytes_raw().hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return cls(key)

    @classmethod
    def read(cls, path: Path) -> "SigningKey":
        """Return the key in a file."""
        with suppress(OSError, ValueError):
            return cls(Ed25519PrivateKey.from_private_bytes(bytes.fromhex(path.read_text().strip())))
        raise InvalidInput("There is no signing key at this path.", fix="pass the file that was written at creation")

    @property
    def public(self) -> str:
        """The public key, in hexadecimal."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, purpose: bytes, message: bytes) -> str:
        """Return a signature, in hexadecimal."""
        return self._key.sign(purpose + message).hex()

    def __repr__(self) -> str:
        return f"SigningKey(public={self.public!r})"

    def __reduce__(self) -> str:
        raise InvalidInput("A signing key is not copied.", fix="read it from its file where it is needed")


def verify_signature(public: str, signature: str, purpose: bytes, message: bytes) -> bool:
    """Tell whether a signature is this key's, about this message."""
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), purpose + message)
    except (InvalidSignature, ValueError, TypeError):
        return False
    return True


def checkpoint_message(number: int, previous: bytes, plain: bytes) -> bytes:
    """Return what the signature of a checkpoint covers: its place in the chain, and its bytes before it was signed."""
    return number.to_bytes(8, "big") + previous + plain


def is_signed(entry: LedgerEntry, previous: bytes, public: str) -> bool:
    """Tell whether an entry after this head is a checkpoint that the owner of a key signed."""
    event = from_body(entry.body)
    if not isinstance(event, Checkpoint) or not event.signature:
        return False
    message = checkpoint_message(entry.number, previous, to_body(replace(event, signature="")))
    return verify_signature(public, event.signature, CHECKPOINT, message)


@contextmanager
def key_for_birth(place: str | Path, key: str | Path | None) -> Iterator[SigningKey]:
    """Read the named key, or make one; one that was made is removed again if the ledger could not be born."""
    path = _beside(place) if key is None else Path(key)
    if path is None:
        raise InvalidInput("A ledger on a server needs a place for its key.", fix='pass key="clinic.key"')
    if key is not None and path.exists():
        yield SigningKey.read(path)
        return
    new_key = SigningKey.create(path)
    try:
        yield new_key
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def key_at_hand(place: str | Path, key: str | Path | None) -> SigningKey | None:
    """Return the named key, or the one beside the ledger if this process may read it."""
    if key is not None:
        return SigningKey.read(Path(key))
    path = _beside(place)
    return SigningKey.read(path) if path is not None and os.access(path, os.R_OK) else None


def match_key(key: SigningKey | None, public: str, *, demanded: bool) -> SigningKey | None:
    """Return a key if it is the ledger's; one that was named has to be."""
    if key is None or key.public == public:
        return key
    if demanded:
        raise InvalidInput("The key is not this ledger's.", fix="pass the key that it was created with")
    return None


def _beside(place: str | Path) -> Path | None:
    return None if str(place).startswith(SERVER) else Path(f"{place}.key")
