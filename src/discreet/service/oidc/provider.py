"""Tokens of an identity provider: checked in full, and of people whom the registry knows.

A token says who its holder is, and not what they may do: role and team are those of the registry, and whoever is not in
it, or was revoked there, is nobody.
Reference: OpenID Connect Core 1.0, section 3.1.3.7; RFC 7519 (JWT), RFC 8725 (its best practices), RFC 9068.
"""

import base64
import binascii
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from discreet.core import DiscreetError, InvalidInput
from discreet.core.untrusted_text import read_json
from discreet.service.people import NAME, Principal
from discreet.service.registry import Registry
from discreet.service.settings import OidcSettings

try:
    import jwt

    from discreet.service.oidc.key_sets import KeyAddress, KeyFile, KeySource, SigningKey
except ImportError:
    raise InvalidInput("Identity providers need PyJWT.", fix="pip install 'discreet[oidc]'") from None

#: Characters of a token, and of its head.
MOST_TOKEN, MOST_HEAD = 16_384, 4096
#: Seconds by which clocks may differ, and that a token may be valid in all.
LEEWAY, MOST_LIFE = 30, 86_400
#: What a token may call itself; others, such as those of a logout, say something else.
TYPES = frozenset({"jwt", "at+jwt", "application/at+jwt"})
#: The library checks the signature, and that these claims are there; what they have to say is checked here.
OPTIONS: Any = {
    "require": ["iss", "aud", "exp", "iat"],
    **dict.fromkeys(("verify_aud", "verify_iss", "verify_exp", "verify_nbf", "verify_iat"), False),
}


class IdentityProvider:
    """The tokens of one issuer, for one audience.

    Guarantee: a token names somebody only if a key of the provider signed it, by an algorithm of the list that the key
    is for; its issuer and its only audience are those of the settings; it has begun, has not ended, and lives a day
    at most; and it is bound to no key of its holder, whose proof nobody would ask for here.
    """

    def __init__(self, settings: OidcSettings, keys: KeySource, *, clock: Callable[[], float] = time.time) -> None:
        self._settings, self._keys, self._clock = settings, keys, clock

    def find_name(self, token: str) -> str | None:
        """Return the name of the registry that a token is for; None for any that is not valid now."""
        if len(token) > MOST_TOKEN:
            return None
        head = _read_head(token)
        if head is None or not self._is_head(head):
            return None
        key = self._find_key(head)
        claims = None if key is None else self._read_claims(token, key, str(head["alg"]))
        return None if claims is None else self._name_in(claims)

    def _is_head(self, head: Mapping[str, Any]) -> bool:
        """Tell whether a head asks for nothing that is not done here."""
        kind = head.get("typ", "JWT")
        usual = isinstance(kind, str) and kind.lower() in TYPES
        return usual and head.get("alg") in self._settings.algorithms and "crit" not in head

    def _find_key(self, head: Mapping[str, Any]) -> SigningKey | None:
        """Return the one key that a head means. Keys that stand in a head, or at an address in it, are nobody's."""
        identity, algorithm = head.get("kid"), head["alg"]
        keys = [key for key in self._keys.list_keys() if algorithm in key.algorithms]
        if identity is not None:
            keys = [key for key in keys if key.identity == identity]
        if not keys:
            self._keys.look_again()  # the provider may have a new one
        return keys[0] if len(keys) == 1 else None

    def _read_claims(self, token: str, key: SigningKey, algorithm: str) -> dict[str, Any] | None:
        try:
            claims = jwt.decode(
                token,
                key=key.key,
                algorithms=[algorithm],
                options=OPTIONS,
            )
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            return None
        settings = self._settings
        alone = claims.get("aud") in (settings.audience, [settings.audience])
        return claims if alone and claims.get("iss") == settings.issuer and self._is_now(claims) else None

    def _is_now(self, claims: Mapping[str, Any]) -> bool:
        now, begun, ends = self._clock(), claims.get("iat"), claims.get("exp")
        starts = claims.get("nbf", begun)
        if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in (begun, ends, starts)):
            return False
        return begun - LEEWAY <= now and starts - LEEWAY <= now < ends + LEEWAY and ends - begun <= MOST_LIFE  # type: ignore[operator]

    def _name_in(self, claims: Mapping[str, Any]) -> str | None:
        """Return the name that a claim says. An address that nobody has confirmed is whatever its holder typed."""
        if "cnf" in claims or (self._settings.claim == "email" and claims.get("email_verified") is not True):
            return None
        name = claims.get(self._settings.claim)
        return name if isinstance(name, str) and NAME.fullmatch(name) else None


class OidcPeople:
    """People with tokens of the service's own, or of an identity provider."""

    def __init__(self, registry: Registry, provider: IdentityProvider) -> None:
        self._registry, self._provider = registry, provider

    def authenticate(self, text: str) -> Principal | None:
        """Return who has this token; None for any that is not valid now, without a word why."""
        if text.count(".") != 2 or text.startswith("dsc1."):
            return self._registry.authenticate(text)
        try:
            name = self._provider.find_name(text)
        except DiscreetError:
            return None  # keys that cannot be read sign nobody in
        return None if name is None else self._registry.find_member(name)


def build_people(registry: Registry, settings: OidcSettings) -> OidcPeople:
    """Return the people of a dataset with an identity provider, whose keys are read or fetched now."""
    keys: KeySource
    if isinstance(settings.keys, Path):
        keys = KeyFile(settings.keys)
    else:
        keys = KeyAddress(settings.keys)
        keys.refresh()  # one that is away is tried again later, and told of in the operator's log
    return OidcPeople(registry, IdentityProvider(settings, keys))


def _read_head(token: str) -> dict[str, Any] | None:
    """Return the head of a token; None if it is none, before any library looks at it."""
    head = token.partition(".")[0]
    if len(head) > MOST_HEAD or not token.isascii():
        return None
    try:
        fields = read_json(base64.b64decode(f"{head}{'=' * (-len(head) % 4)}", altchars=b"-_", validate=True))
    except (binascii.Error, ValueError):
        return None
    return fields if isinstance(fields, dict) else None
