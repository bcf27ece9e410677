"""Public keys of an identity provider: from a file, or from its address, which is asked again now and then.

Only keys that sign are taken, of kinds and sizes that are safe. Keys from an address are fetched in a thread of their
own: no request waits for them, and no token makes the service ask the provider more than once a minute.
Reference: RFC 7517 (JSON Web Key), RFC 7518 (algorithms).
"""

import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

import jwt

from discreet.core import DiscreetError, InvalidInput, NotReady
from discreet.core.operator_log import tell_operator
from discreet.core.untrusted_text import read_json

#: Algorithms by the kinds of keys that they take. None of them has a secret that the service would have to hold.
ALGORITHMS: Mapping[str, frozenset[str]] = {
    "RSA": frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}),
    "EC": frozenset({"ES256", "ES384", "ES512"}),
    "OKP": frozenset({"EdDSA"}),
}
#: Bits of an RSA key at least (NIST SP 800-131A).
LEAST_BITS = 2048
#: Bytes of a set of keys, and keys of it that are looked at.
LARGEST, MOST_KEYS = 1 << 20, 100
#: Seconds until keys are fetched again, between two attempts at least, until they are no longer used, and of a fetch.
FRESH, PAUSE, STALE, FETCHING = 600.0, 60.0, 86_400.0, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """One public key, and what it may be used for."""

    identity: str | None
    algorithms: frozenset[str]
    key: Any = field(repr=False)


class KeySource(Protocol):
    """Where public keys come from."""

    def list_keys(self) -> tuple[SigningKey, ...]:
        """Return the keys that are known now."""
        ...

    def look_again(self) -> None:
        """Say that a token names a key which is not known."""
        ...


def read_keys(text: bytes) -> tuple[SigningKey, ...]:
    """Return the keys of a set that may sign; refuse what is no set."""
    try:
        listed = read_json(text)["keys"]
    except (ValueError, KeyError, TypeError):
        raise InvalidInput("This is no set of keys.", fix="take the file that the provider calls jwks_uri") from None
    if not isinstance(listed, list):
        raise InvalidInput("This is no set of keys.", fix="take the file that the provider calls jwks_uri")
    keys = (_read_key(fields) for fields in listed[:MOST_KEYS])
    return tuple(key for key in keys if key is not None)


def _read_key(fields: Any) -> SigningKey | None:
    """Return a key that may sign; None for any other, as sets hold keys of many kinds."""
    if not isinstance(fields, dict) or fields.get("use", "sig") != "sig" or "verify" not in _uses(fields):
        return None
    named, identity = fields.get("alg"), fields.get("kid")
    possible = ALGORITHMS.get(str(fields.get("kty")), frozenset()) & _of_curve(fields)
    possible = possible if named is None else possible & {str(named)}
    # A private key is no longer one once it was given away.
    if not possible or not (identity is None or isinstance(identity, str)) or "d" in fields:
        return None
    try:
        # The algorithm says only how the numbers are read.
        key = jwt.PyJWK.from_dict(fields, algorithm=min(possible)).key
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return None
    if fields["kty"] == "RSA" and key.key_size < LEAST_BITS:
        return None
    return SigningKey(identity=identity, algorithms=possible, key=key)


def _uses(fields: Mapping[str, Any]) -> Any:
    uses = fields.get("key_ops", ["verify"])
    return uses if isinstance(uses, list) else ()


CURVES: Mapping[str, str] = {"P-256": "ES256", "P-384": "ES384", "P-521": "ES512", "Ed25519": "EdDSA", "Ed448": "EdDSA"}


def _of_curve(fields: Mapping[str, Any]) -> frozenset[str]:
    """Return the algorithms of a key's curve; all of RSA."""
    if fields.get("kty") == "RSA":
        return ALGORITHMS["RSA"]
    return frozenset({CURVES.get(str(fields.get("crv")), "")})


class KeyFile:
    """Keys in a file, which is read again when it was replaced."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._stamp: tuple[int, ...] = ()
        self._keys: tuple[SigningKey, ...] = ()
        self.list_keys()

    def list_keys(self) -> tuple[SigningKey, ...]:
        """Return the keys of the file as it is now."""
        try:
            status = self._place.stat()
            stamp = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                with self._place.open("rb") as file:
                    self._keys = read_keys(file.read(LARGEST))
                self._stamp = stamp
        except OSError:
            raise NotReady(
                "The file of the provider's keys cannot be read.", fix="check keys = … of [service.oidc]"
            ) from None
        return self._keys

    def look_again(self) -> None:
        """Do nothing: a file is looked at every time."""


class KeyAddress:
    """Keys at an address of the provider, fetched when they are wanted and then every ten minutes.

    Guarantee: redirects are not followed, TLS is checked for the very host, and a set that cannot be read leaves the
    earlier one in its place, for a day at most.
    """

    def __init__(
        self, url: str, *, fetch: Callable[[str], bytes] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        need_https(url)
        self._url, self._fetch, self._clock = url, fetch or fetch_keys, clock
        self._keys: tuple[SigningKey, ...] = ()
        self._fetched = self._tried = float("-inf")
        self._lock = threading.Lock()

    def list_keys(self) -> tuple[SigningKey, ...]:
        """Return the keys of the last set; older ones are fetched anew meanwhile."""
        age = self._clock() - self._fetched
        if age > FRESH:
            self.look_again()
        return self._keys if age <= STALE else ()

    def look_again(self) -> None:
        """Fetch the keys in a thread, unless that was tried within the last minute."""
        with self._lock:
            if self._clock() - self._tried < PAUSE:
                return
            self._tried = self._clock()
        threading.Thread(target=self.refresh, name="discreet-keys", daemon=True).start()

    def refresh(self) -> bool:
        """Fetch the keys now; tell the operator if that fails."""
        self._tried = self._clock()
        try:
            self._keys = read_keys(self._fetch(self._url))
        except (DiscreetError, OSError, HTTPException) as error:
            tell_operator("The keys of the identity provider could not be fetched.", error)
            return False
        self._fetched = self._clock()
        return True


def need_https(url: str) -> tuple[str, int, str]:
    """Return host, port and path of an address that may be asked for keys."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port or 443
    except ValueError:
        host, port, parts = None, 443, urlsplit("")
    if parts.scheme != "https" or not host or parts.username is not None or parts.fragment or not url.isprintable():
        raise InvalidInput(
            "The address of the provider's keys is not one of https.",
            fix='below [service.oidc], write keys = "https://…", as the provider says jwks_uri; or the path of a file',
        )
    return host, port, f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"


def fetch_keys(url: str) -> bytes:
    """Return what an address says, if it says it at once, in full and without sending elsewhere."""
    host, port, path = need_https(url)
    connection = HTTPSConnection(host, port, timeout=FETCHING, context=ssl.create_default_context())
    try:
        connection.request("GET", path, headers={"Accept": "application/json"})
        reply = connection.getresponse()
        text = reply.read(LARGEST + 1)
    finally:
        connection.close()
    if reply.status != 200 or len(text) > LARGEST:
        raise NotReady("The address of the provider's keys gave none.", fix="check keys = … of [service.oidc]")
    return text
