"""Where a ledger's signing key is: named, or beside the ledger."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.core import InvalidInput
from discreet.gate.ledger.opening import SERVER
from discreet.gate.proofs.signing import SigningKey


@contextmanager
def key_for_birth(place: str | Path, key: str | Path | None) -> Iterator[SigningKey]:
    """Read the named key, or make one; one that was made is removed again if the ledger could not be born."""
    path = _beside(place) if key is None else Path(key)
    if path is None:
        raise InvalidInput("A ledger on a server needs a place for its key.", fix='pass key="clinic.key"')
    if key is not None and path.exists():
        yield SigningKey.read(path)
        return
    made = SigningKey.create(path)
    try:
        yield made
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def key_at_hand(place: str | Path, key: str | Path | None) -> SigningKey | None:
    """Return the named key, or the one beside the ledger if this process may read it."""
    if key is not None:
        return SigningKey.read(Path(key))
    path = _beside(place)
    return SigningKey.read(path) if path is not None and os.access(path, os.R_OK) else None


def fitting(key: SigningKey | None, public: str, *, demanded: bool) -> SigningKey | None:
    """Return a key if it is the ledger's; one that was named has to be."""
    if key is None or key.public == public:
        return key
    if demanded:
        raise InvalidInput("The key is not this ledger's.", fix="pass the key that it was created with")
    return None


def _beside(place: str | Path) -> Path | None:
    return None if str(place).startswith(SERVER) else Path(f"{place}.key")
