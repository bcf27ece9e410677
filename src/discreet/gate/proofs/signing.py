"""Ed25519 keys: who may sign checkpoints, anchors and certificates of a ledger.

The public key is part of a ledger's birth, so that a ledger's name (the hash of its birth) vouches for it. The private
key is a file that only its owner may read; it need not be where the ledger is, and paying does not need it.
"""

import os
from contextlib import suppress
from pathlib import Path

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from discreet.core import InvalidInput
from discreet.core.private_files import open_private

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


def signed_by(public: str, signature: str, purpose: bytes, message: bytes) -> bool:
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
