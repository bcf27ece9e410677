"""A dataset that is served: nursery, workers and the front's door, started and stopped together."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from discreet.service.datasets import open_operator_log
from discreet.service.front import FrontDoor
from discreet.service.nursery import Nursery
from discreet.service.settings import ServiceSettings, read_service_settings
from discreet.service.workers import Workers
from discreet.session import Ledger, PublicFacts, Session, find_constants, read_facts, read_settings


@asynccontextmanager
async def serve_dataset(
    path: str | Path, settings: ServiceSettings | None = None, nursery: Nursery | None = None
) -> AsyncIterator[FrontDoor]:
    """Start the processes of a dataset, and give its door; stop them at the end.

    The front learns what is public from a worker, and opens the ledger. It never opens a source of rows. Without a
    nursery, one is started here.
    """
    found = read_service_settings(path) if settings is None else settings
    workers = Workers(start_nursery(path, found) if nursery is None else nursery, found.workers)
    try:
        # The modules of the first question are loaded here while the nursery loads its own.
        _, told = await asyncio.gather(asyncio.to_thread(find_constants, "SELECT 1"), workers.start())
        facts = read_facts(told)
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


def start_nursery(path: str | Path, settings: ServiceSettings, *, has_threads: bool = True) -> Nursery:
    """Start the process that forks workers; whatever they write beside frames goes to the operator's log."""
    log, start = open_operator_log(path), Nursery.spawn if has_threads else Nursery.split_off
    try:
        return start(Path(path).absolute(), settings.memory, log)
    finally:
        os.close(log)
