"""Where the PostgreSQL face listens, what it serves there, to whom, and how patiently."""

import ipaddress
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from discreet.core import InvalidInput
from discreet.service.guarded_door import GuardedDoor
from discreet.service.people import Principal
from discreet.service.postgres.catalogue.public import PublicCatalogue
from discreet.service.postgres.desk import Catalogue
from discreet.service.tokens import ScramVerifier


class Credentials(Protocol):
    """Who may log in; `discreet.service.registry.Registry` says it."""

    def scram_verifier(self, name: str) -> ScramVerifier:
        """Return what a proof is checked with, also of a name that nobody has."""
        ...

    def find_principal(self, name: str) -> Principal | None:
        """Return somebody by name, if a token of theirs is valid now."""
        ...


@dataclass(frozen=True, slots=True)
class _Nobody:
    """Who may log in to a dataset that is not there: each name has a salt of its own, as with one that is there."""

    dataset: str
    others: Credentials

    def scram_verifier(self, name: str) -> ScramVerifier:
        """Return what no proof passes. Texts of the protocol have no zero byte, so that nobody asks for this name."""
        return self.others.scram_verifier(f"{self.dataset}\0{name}")

    def find_principal(self, _name: str) -> Principal | None:
        """Return nobody."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresFace:
    """What the PostgreSQL face serves: doors by the names of their datasets, which clients name as the database."""

    doors: Mapping[str, GuardedDoor]
    #: One registry for all datasets, or one for each of them.
    people: Credentials | Mapping[str, Credentials]
    #: People and teams whose connections begin with discreet.pay = off, such as those of dashboards.
    pay_off: frozenset[str] = frozenset()
    #: What answers questions about pg_catalog, from public facts; None: they are refused.
    catalogue: Catalogue | None = field(default_factory=PublicCatalogue)
    #: Connections that arrived, by dataset: nothing here depends on how they ended.
    arrived: Counter[str] = field(default_factory=Counter)

    def credentials_for(self, dataset: str) -> Credentials:
        """Return who may log in; for an unknown dataset nobody, by a login that tells nothing."""
        if isinstance(self.people, Mapping):
            return self.people.get(dataset) or _Nobody(dataset, next(iter(self.people.values())))
        return self.people

    def pays(self, who: Principal) -> bool:
        """Tell whether connections of a person pay until they say otherwise."""
        return who.name not in self.pay_off and who.team not in self.pay_off


@dataclass(frozen=True, slots=True, kw_only=True)
class PostgresListening:
    """Where the protocol is served, and how patiently."""

    host: str = "127.0.0.1"
    #: 0 takes any that is free.
    port: int = 5433
    #: Files of a TLS certificate and its key, in PEM.
    certificate: Path | None = None
    key: Path | None = None
    #: Whether clients without TLS are refused; None: unless the server listens on loopback.
    require_tls: bool | None = None
    #: Seconds for a login, for a message that has begun, between messages, and for a client that does not read.
    login_seconds: float = 10.0
    message_seconds: float = 30.0
    idle_seconds: float = 3600.0
    write_seconds: float = 30.0
    #: Seconds for statements that run when the server ends.
    drain_seconds: float = 5.0
    #: Connections of one address, and of all together.
    connections_per_client: int = 100
    connections: int = 500
    #: Bytes of one message: 100,000 characters of SQL, and room for values.
    largest: int = 1 << 20

    def __post_init__(self) -> None:
        if (self.certificate is None) != (self.key is None):
            raise InvalidInput("TLS needs a certificate and a key.", fix="give both, or none")
        if self.certificate is None and self.needs_tls:
            raise InvalidInput(
                "Clients on other machines need TLS, and there is no certificate.",
                fix="give certificate and key; or listen on 127.0.0.1, behind a tunnel",
            )

    @property
    def needs_tls(self) -> bool:
        """Whether clients without TLS are refused."""
        return not is_loopback(self.host) if self.require_tls is None else self.require_tls


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can connect to an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
