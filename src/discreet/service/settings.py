"""Settings of the service: the heading `[service]` of a `discreet.toml`.

[service]
name = "clinic"            # of the dataset, as its askers know it
workers = 4                # processes that hold the rows
rows = 1_000_000           # about how many rows there are: declared, public, never counted
slot = "100ms"             # the time of one pass over a million rows
memory = "8GB"             # of one worker
host = "127.0.0.1"         # the address to listen on
certificate = "tls.pem"    # with a key: TLS
key = "tls.key"
connections = 2000         # of all clients; connections_per_client = 200 of one address
origins = []               # web pages whose requests are served
pay_off = ["grafana"]      # people and teams whose statements of PostgreSQL pay nothing unless they say so
requests_per_minute = 600  # of one person; questions_at_once = 4
epsilon_per_hour = 1       # of one person; or rho_per_hour

[service.oidc]             # tokens of an identity provider are taken, too
issuer = "https://login.hospital.example"
audience = "discreet"      # what the provider calls this service
keys = "jwks.json"         # or the address of the provider's keys, https://…
claim = "sub"              # which says the name of the registry
algorithms = ["RS256", "ES256"]
"""

import re
import tomllib
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from discreet.core import InvalidInput
from discreet.core.canonical_text import settle
from discreet.core.exact import whole
from discreet.service.limits import RateLimits
from discreet.service.people import need_name
from discreet.service.slots import MILLION, Slots, read_duration
from discreet.session import Engine

#: Workers at most: each has a copy of the rows.
MOST_WORKERS = 256
#: Names of datasets: one part of an address, and the name of a database of PostgreSQL.
DATASET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
#: A page as browsers name it.
ORIGIN = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+", re.ASCII)
#: How the settings of a dataset are usually called; then the name of their folder says more.
USUAL = "discreet"
#: Settings that are limits of one person, and their fields.
LIMITS = {
    "requests_per_minute": "requests",
    "questions_at_once": "at_once",
    "epsilon_per_hour": "epsilon_per_hour",
    "rho_per_hour": "rho_per_hour",
}
NUMBERS, TEXTS, PATHS = (
    ("workers", "rows", "connections", "connections_per_client"),
    ("host",),
    ("certificate", "key"),
)
KNOWN = ("name", *NUMBERS, "slot", "memory", *TEXTS, *PATHS, "origins", "pay_off", *LIMITS, "oidc")
#: Algorithms of signatures that a provider may use: none with a secret that both sides hold.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
USUAL_ALGORITHMS = ("RS256", "ES256")
OIDC = ("issuer", "audience", "keys", "claim", "algorithms")


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcSettings:
    """An identity provider whose tokens are taken."""

    issuer: str
    audience: str
    #: A file, or an address that begins with https://.
    keys: Path | str
    claim: str = "sub"
    algorithms: tuple[str, ...] = USUAL_ALGORITHMS

    def __post_init__(self) -> None:
        for name in ("issuer", "audience", "claim"):
            _text(getattr(self, name), name)
        if not self.issuer.startswith("https://"):
            raise InvalidInput("The issuer is no address of https.", fix='write it as the provider does: "https://…"')
        wrong = [one for one in self.algorithms if one not in ALGORITHMS]
        if wrong or not self.algorithms:
            raise InvalidInput(
                "An algorithm of [service.oidc] is not one that is safe here.",
                fix=f"use some of: {', '.join(ALGORITHMS)}",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """How a dataset is served."""

    #: What askers call the dataset; None: as its file or its folder is called.
    name: str | None = None
    workers: int = 2
    rows: int = MILLION
    slot: Fraction = Fraction(1, 10)
    memory: int = 8 * 10**9
    host: str = "127.0.0.1"
    #: Files of TLS; both or none.
    certificate: Path | None = None
    key: Path | None = None
    #: Connections of all clients, and of one address.
    connections: int = 2000
    connections_per_client: int = 200
    #: Web pages whose requests are served.
    origins: tuple[str, ...] = ()
    #: People and teams whose connections of PostgreSQL begin with discreet.pay = off.
    pay_off: frozenset[str] = frozenset()
    #: What one person may do in a time.
    limits: RateLimits = field(default_factory=RateLimits)
    #: Whose tokens are taken beside the service's own; nobody's, if left out.
    oidc: OidcSettings | None = None

    def __post_init__(self) -> None:
        settle(self, workers=whole(self.workers, "workers", most=MOST_WORKERS), rows=whole(self.rows, "rows"))
        for name in ("connections", "connections_per_client"):
            settle(self, **{name: whole(getattr(self, name), name)})
        if self.name is not None:
            need_dataset_name(self.name)
        if (self.certificate is None) != (self.key is None):
            raise InvalidInput("TLS needs a certificate and a key.", fix='write certificate = "…" and key = "…"')

    @property
    def slots(self) -> Slots:
        """The lengths of slots."""
        return Slots(scale=self.slot, rows=self.rows)


def read_service_settings(path: str | Path) -> ServiceSettings:
    """Return what a `discreet.toml` says about the service; defaults where it says nothing."""
    place = Path(path)
    try:
        text = place.read_text(encoding="utf-8")
        fields = tomllib.loads(text, parse_float=Decimal).get("service", {})
    except (OSError, ValueError):
        raise InvalidInput(
            f"{place.name} cannot be read.", fix="check the path; write it as discreet init does"
        ) from None
    if not isinstance(fields, dict):
        raise InvalidInput("service is no heading.", fix="write [service], and settings below it")
    for name in fields:
        if name not in KNOWN:
            raise InvalidInput(f"Unknown setting {name!r} below [service].", fix=f"use some of: {', '.join(KNOWN)}")
    return ServiceSettings(**_read_fields(fields, place.absolute().parent))


def need_dataset_name(name: object) -> str:
    """Return the name of a dataset, or refuse it."""
    if isinstance(name, str) and DATASET_NAME.fullmatch(name):
        return name
    raise InvalidInput(
        "The name of the dataset cannot stand in an address.",
        fix='below [service], write name = "clinic", or another one of letters, digits, dots, hyphens and underscores',
    )


def dataset_name(path: str | Path, settings: ServiceSettings) -> str:
    """Return what askers call a dataset: as its settings say, or as the file, or its folder, is called."""
    if settings.name is not None:
        return settings.name
    place = Path(path).absolute()
    return need_dataset_name(place.parent.name if place.stem == USUAL else place.stem)


def _read_fields(fields: dict[str, Any], folder: Path) -> dict[str, Any]:
    readers: dict[str, Any] = {
        "slot": read_duration,
        "memory": lambda value: Engine(memory=value).memory,
        "origins": _read_origins,
        "pay_off": _read_names,
        "oidc": lambda value: _read_oidc(value, folder),
        **{name: partial(_text, name=name) for name in TEXTS},
        **{name: lambda value, name=name: folder / _text(value, name) for name in PATHS},
    }
    read = {name: value for name, value in fields.items() if name in (*NUMBERS, "name")}
    read |= {name: reader(fields[name]) for name, reader in readers.items() if name in fields}
    limits = {LIMITS[name]: value for name, value in fields.items() if name in LIMITS}
    return {**read, "limits": RateLimits(**limits)}


def _read_names(value: object) -> frozenset[str]:
    if isinstance(value, list):
        return frozenset(need_name(name, "name in pay_off") for name in value)
    raise InvalidInput("pay_off is no list of names.", fix='write pay_off = ["grafana"]')


def _read_oidc(fields: object, folder: Path) -> OidcSettings:
    if not isinstance(fields, dict):
        raise InvalidInput("oidc is no heading.", fix="write [service.oidc], and settings below it")
    for name in fields:
        if name not in OIDC:
            raise InvalidInput(f"Unknown setting {name!r} below [service.oidc].", fix=f"use some of: {', '.join(OIDC)}")
    for name in OIDC[:3]:
        if name not in fields:
            raise InvalidInput(f"{name} is missing below [service.oidc].", fix=f'write {name} = "…"')
    keys = _text(fields["keys"], "keys")
    algorithms = fields.get("algorithms", list(USUAL_ALGORITHMS))
    if not isinstance(algorithms, list) or not all(isinstance(one, str) for one in algorithms):
        raise InvalidInput("algorithms are no list.", fix='write algorithms = ["RS256"]')
    more = {"claim": _text(fields["claim"], "claim")} if "claim" in fields else {}
    return OidcSettings(
        issuer=_text(fields["issuer"], "issuer"),
        audience=_text(fields["audience"], "audience"),
        keys=keys if "://" in keys else folder / keys,
        algorithms=tuple(algorithms),
        **more,
    )


def _read_origins(value: object) -> tuple[str, ...]:
    if isinstance(value, list) and all(isinstance(one, str) and ORIGIN.fullmatch(one) for one in value):
        return tuple(value)
    raise InvalidInput("origins are no web pages.", fix='write origins = ["https://tools.example.org"]')


def _text(value: object, name: str) -> str:
    if isinstance(value, str) and value:
        return value
    raise InvalidInput(f"{name} is not a text.", fix=f'write {name} = "…"')
