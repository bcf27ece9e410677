"""Settings of the service: the heading `[service]` of a `discreet.toml`.

[service]
workers = 4              # processes that hold the rows
rows = 1_000_000         # about how many rows there are: declared, public, never counted
slot = "100ms"           # the time of one pass over a million rows
memory = "8GB"           # of one worker
host = "127.0.0.1"       # the address to listen on
certificate = "tls.pem"  # with a key: TLS
key = "tls.key"
"""

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.core import InvalidInput
from discreet.core.canonical_text import settle
from discreet.core.exact import whole
from discreet.service.slots import MILLION, Slots, read_duration
from discreet.session import Engine

#: Workers at most: each has a copy of the rows.
MOST_WORKERS = 256
KNOWN = ("workers", "rows", "slot", "memory", "host", "certificate", "key", "catalogue")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """How a dataset is served."""

    workers: int = 2
    rows: int = MILLION
    slot: Fraction = Fraction(1, 10)
    memory: int = 8 * 10**9
    host: str = "127.0.0.1"
    #: Files of TLS; both or none.
    certificate: Path | None = None
    key: Path | None = None
    #: The address of an empty PostgreSQL that answers questions about the catalogue.
    catalogue: str | None = None

    def __post_init__(self) -> None:
        settle(self, workers=whole(self.workers, "workers", most=MOST_WORKERS), rows=whole(self.rows, "rows"))
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
        fields = tomllib.loads(place.read_text(encoding="utf-8")).get("service", {})
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


def _read_fields(fields: dict[str, Any], folder: Path) -> dict[str, Any]:
    read = {name: value for name, value in fields.items() if name in ("workers", "rows")}
    if "slot" in fields:
        read["slot"] = read_duration(fields["slot"])
    if "memory" in fields:
        read["memory"] = Engine(memory=fields["memory"]).memory
    for name in ("host", "catalogue"):
        if name in fields:
            read[name] = _text(fields[name], name)
    for name in ("certificate", "key"):
        if name in fields:
            read[name] = folder / _text(fields[name], name)
    return read


def _text(value: object, name: str) -> str:
    if isinstance(value, str) and value:
        return value
    raise InvalidInput(f"{name} is not a text.", fix=f'write {name} = "…"')
