"""Datasets that are served: what their settings say, and where their people and their logs are."""

import os
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from discreet.core import DiscreetError, InvalidInput
from discreet.core.private_files import open_private
from discreet.service.registry import Registry, registry_place
from discreet.service.settings import ServiceSettings, dataset_name, read_service_settings
from discreet.session import read_settings

#: Settings of the listener, which all datasets of a service share.
SHARED = ("host", "certificate", "key", "connections", "connections_per_client", "origins", "pay_off")
#: What the names of logs end with, beside the settings.
OPERATOR_LOG, AUDIT_LOG = ".operator.log", ".audit.log"


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSettings:
    """One dataset of a service."""

    name: str
    #: The settings, a `discreet.toml`.
    path: Path
    service: ServiceSettings
    #: The registry of people.
    people: Path

    @property
    def audit_log(self) -> Path:
        """Where it is written who asked what."""
        return self.path.with_suffix(AUDIT_LOG)

    @property
    def operator_log(self) -> Path:
        """Where details of failures are written, which may quote rows."""
        return operator_log_of(self.path)


def operator_log_of(path: str | Path) -> Path:
    """Return where the operator's log of a dataset is: beside its settings."""
    return Path(path).absolute().with_suffix(OPERATOR_LOG)


def open_operator_log(path: str | Path) -> int:
    """Open the operator's log of a dataset, for appending: only its owner may read it, as it may quote rows."""
    return open_private(operator_log_of(path), os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def read_datasets(paths: Sequence[str | Path]) -> tuple[DatasetSettings, ...]:
    """Return what the settings of all datasets say, checked: without a row, and without opening a ledger."""
    datasets = tuple(map(_read_dataset, paths))
    names = [dataset.name.casefold() for dataset in datasets]
    twice = next((dataset.name for dataset in datasets if names.count(dataset.name.casefold()) > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"Two datasets are called {twice}.", fix='below [service], write name = "…" in the settings of one of them'
        )
    first = datasets[0].service
    for dataset in datasets[1:]:
        for name in SHARED:
            if getattr(dataset.service, name) not in (getattr(first, name), getattr(ServiceSettings(), name)):
                raise InvalidInput(
                    f"The datasets {datasets[0].name} and {dataset.name} do not agree on {name}.",
                    fix=f"say {name} in the first settings only: it is of the service, and not of a dataset",
                )
    return datasets


def _read_dataset(path: str | Path) -> DatasetSettings:
    place = Path(path).absolute()
    settings = read_settings(place)
    try:
        service = read_service_settings(place)
        name = dataset_name(place, service)
    except DiscreetError as error:
        raise type(error)(f"{place.name}: {error.problem}", fix=error.fix) from None
    people = registry_place(place, settings.ledger)
    Registry(people).list_people()  # which refuses one that is not there, or cannot be read
    return DatasetSettings(name=name, path=place, service=service, people=people)


def need_private_address(host: str, *, encrypted: bool, behind_proxy: bool) -> None:
    """Refuse to send tokens and answers in the clear beyond this machine, unless a proxy in front encrypts them."""
    if encrypted or behind_proxy or is_loopback(host):
        return
    raise InvalidInput(
        f"{host} is not an address of this machine alone, and nothing encrypts what goes there.",
        fix='below [service], write certificate = "…" and key = "…"; or pass --behind-proxy, if a proxy in front '
        "encrypts, and no other machine can reach this address",
    )


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def load_certificate(service: ServiceSettings) -> ssl.SSLContext | None:
    """Return the TLS of a service, from its files; None without them."""
    if service.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(service.certificate, service.key)
    except (OSError, ValueError):
        raise InvalidInput(
            "The files of certificate and key cannot be used for TLS.",
            fix="name files in PEM that belong together, that the service may read, and that need no passphrase",
        ) from None
    return context
