"""A dataset that is served: nursery, workers and the front's door, started and stopped together."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from discreet.service.front import FrontDoor
from discreet.service.nursery import Nursery
from discreet.service.settings import ServiceSettings, read_service_settings
from discreet.service.workers import Workers
from discreet.session import Ledger, PublicFacts, Session, read_facts, read_settings


@asynccontextmanager
async def serve_dataset(path: str | Path, settings: ServiceSettings | None = None) -> AsyncIterator[FrontDoor]:
    """Start the processes of a dataset, and give its door; stop them at the end.

    The front learns what is public from a worker, and opens the ledger. It never opens a source of rows.
    """
    found = read_service_settings(path) if settings is None else settings
    workers = Workers(start_nursery(path, found), found.workers)
    try:
        facts = read_facts(await workers.start())
        session = await asyncio.to_thread(_open_front, path, facts)
    except BaseException:
        await workers.close()
        raise
    door = FrontDoor(session, workers, found.slots)
    try:
        yield door
    finally:
        await door.close()


def _open_front(path: str | Path, facts: PublicFacts) -> Session:
    ledger = Ledger.open(read_settings(path).ledger)
    return Session.on_facts(facts, ledger)


def start_nursery(path: str | Path, settings: ServiceSettings) -> Nursery:
    """Start the process that forks workers; whatever they write beside frames goes to the operator's log."""
    log = open_operator_log(path)
    try:
        return Nursery(Path(path).absolute(), settings.memory, log)
    finally:
        os.close(log)


def open_operator_log(path: str | Path) -> int:
    """Open the operator's log beside the settings, for appending: only its owner may read it, as it may quote rows."""
    place = Path(path).absolute().with_suffix(".operator.log")
    return os.open(place, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
