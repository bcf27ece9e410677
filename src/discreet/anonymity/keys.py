"""Pseudonym keys: 32 bytes in a file that only its owner may read."""

import hashlib
import hmac
import os
from contextlib import suppress
from pathlib import Path

from discreet.core import InvalidInput
from discreet.noise import SYSTEM

BYTES, BLOCK = 32, 64


class PseudonymKey:
    """A secret that pseudonyms are made with. Whoever has it can link them to people: keep it apart, or destroy it."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != BYTES:
            raise InvalidInput(f"A pseudonym key must have {BYTES} bytes.", fix="make one: PseudonymKey.create(…)")
        self._secret = secret

    def __repr__(self) -> str:
        return "PseudonymKey(…)"

    def __reduce__(self) -> tuple[object, ...]:
        raise InvalidInput("A pseudonym key cannot be pickled.", fix="pass on the path of its file, and read it there")

    @classmethod
    def create(cls, path: str | Path) -> "PseudonymKey":
        """Create a key and write it to a new file that only its owner may read.

        Args:
            path: the new file.

        Returns:
            The key.

        Raises:
            DiscreetError: if the file exists.

        """
        secret = SYSTEM.bits(8 * BYTES).to_bytes(BYTES, "big")
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise InvalidInput(
                "A file already exists at the path of the key.", fix="choose another path, or read it"
            ) from None
        with os.fdopen(handle, "wb") as file:
            file.write(secret.hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return cls(secret)

    @classmethod
    def read(cls, path: str | Path) -> "PseudonymKey":
        """Return the key in a file."""
        with suppress(OSError, ValueError):
            return cls(bytes.fromhex(Path(path).read_text(encoding="ascii").strip()))
        raise InvalidInput("There is no pseudonym key at this path.", fix="make one: PseudonymKey.create(…)")

    @property
    def pads(self) -> tuple[bytes, bytes]:
        """What is hashed before the message, inside and outside, as RFC 2104 has it."""
        block = self._secret.ljust(BLOCK, b"\0")
        return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)

    def pseudonym(self, value: str, domain: str) -> str:
        """Return the pseudonym of one value, as `Pseudonym` writes it."""
        return hmac.new(self._secret, f"{domain}\x1f{value}".encode(), hashlib.sha256).hexdigest()[:32]
