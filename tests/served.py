"""A dataset that is served by real processes, for tests that are written without `await`."""

import asyncio
import threading
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

from clinic import write_visits
from discreet.service import Principal, Role
from discreet.service.serving import serve_dataset
from discreet.service.settings import ServiceSettings

ADA = Principal(name="ada", role=Role.ANALYST)
BOB = Principal(name="bob", role=Role.ANALYST)
EVE = Principal(name="eve", role=Role.AUDITOR)
#: Slots of half a second, which a busy machine keeps, too; and the shortest there are.
CALM = ServiceSettings(workers=2, rows=10_000, slot=Fraction(10))
FAST = ServiceSettings(workers=2, rows=10_000, slot=Fraction(1, 10))

TOML = """\
source = "visits.csv"
table = "visits"
person = "patient_id"
[budget]
epsilon = 1000
delta = 1e-9
[limit]
groups = 3
rows_per_group = 5
[bounds]
stay = [0, 60]
age = [0, 110]
[groups]
ward = ["A", "B", "C"]
[kinds]
stay = "integer"
age = "integer"
"""


def write_dataset(folder, toml=TOML):
    """Write the visits of the clinic and their settings; return the path of the settings."""
    write_visits(folder)
    path = Path(folder) / "discreet.toml"
    path.write_text(toml, encoding="utf-8")
    return path


class Served:
    """A door behind a loop in a thread of its own."""

    def __init__(self, loop, door, path):
        self.loop, self.door, self.path = loop, door, path

    def run(self, coroutine):
        """Return what a coroutine of the door returns."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout=60)

    def run_all(self, coroutines):
        """Return what several return at once; errors as values."""

        async def gather():
            return await asyncio.gather(*coroutines, return_exceptions=True)

        return self.run(gather())

    @property
    def ledger(self):
        """The front's own handle."""
        return self.door._session.ledger


@contextmanager
def served(path, settings=CALM):
    """Serve a dataset until the end of the block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        serving = serve_dataset(path, settings)
        door = asyncio.run_coroutine_threadsafe(serving.__aenter__(), loop).result(timeout=60)
        try:
            yield Served(loop, door, path)
        finally:
            asyncio.run_coroutine_threadsafe(serving.__aexit__(None, None, None), loop).result(timeout=60)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
