"""The last act of the story: the hospital behind a service, asked once, and stopped."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from discreet.cli.formatting import columns
from discreet.cli.parsing import PROJECT
from discreet.core import NotReady
from discreet.core.private_files import STATE
from discreet.service import Principal, Registry, Role, registry_place
from discreet.session import read_settings

#: What the service needs, and what it is called for people.
NEEDED, EXTRA = ("starlette", "uvicorn"), "pip install 'discreet[service]'"
ANALYST, SQL, EPSILON = "ada", "SELECT ward, COUNT(*) AS visits FROM visits WHERE age >= 80 GROUP BY ward", "0.05"
#: Seconds that a start and an answer may take.
PATIENCE = 60.0


def is_installed() -> bool:
    """Whether the service can be started here."""
    return all(find_spec(name) is not None for name in NEEDED)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked in which way, and the answer as lines; or why it was not asked."""

    way: str
    lines: Sequence[str]


def ask_service(folder: Path) -> tuple[Asked, Asked]:
    """Start the service on the settings in a folder, ask it over HTTP and as psql does, and stop it."""
    path = folder / PROJECT
    token = Registry(registry_place(path, read_settings(path).ledger)).add(Principal(name=ANALYST, role=Role.ANALYST))
    with _serving(path) as told:
        answer = _ask(f"{told['http']}/v1/datasets/{told['datasets'][0]}/ask", token)
        table = answer["table"]
        lines = columns([[column["name"] for column in table["columns"]], *table["rows"]])
        end = f"{answer['caption']} · left of the budget: ε = {answer['left']}"
        over_postgres = _ask_postgres(told["postgres"], told["datasets"][0], token)
    return Asked(f"curl …/ask -d '{json.dumps({'sql': SQL, 'epsilon': EPSILON})}'", [*lines, end]), over_postgres


def _ask_postgres(address: str, dataset: str, token: str) -> Asked:
    """Ask the same over PostgreSQL's protocol, where a client is installed; it is stored by now, and free."""
    host, _, port = address.rpartition(":")
    way = f"psql 'host={host} port={port} user={ANALYST} dbname={dataset}' -c '/*+ discreet epsilon={EPSILON} */ …'"
    if find_spec("psycopg") is None:
        return Asked(way, ["Left out, as no client is installed: pip install 'discreet[postgres]'"])
    psycopg = import_module("psycopg")
    options = f"-c discreet.epsilon={EPSILON}"
    with psycopg.connect(host=host, port=port, user=ANALYST, password=token, dbname=dataset, options=options) as client:
        answer = client.execute(SQL)
        names = [column.name for column in answer.description]
        return Asked(way, columns([names, *([str(cell) for cell in row] for row in answer.fetchall())]))


@contextmanager
def _serving(path: Path) -> Iterator[dict[str, Any]]:
    """Run `discreet serve` on a free port, and return what it tells of itself."""
    process = subprocess.Popen(  # noqa: S603 - this program
        [sys.executable, "-m", "discreet", "serve", str(path), "--http-port", "0", "--pg-port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, STATE: str(path.parent / "state")},  # nothing of a demo is left outside of its folder
    )
    with process:
        try:
            line = process.stdout.readline() if process.stdout else b""
            if not line:
                raise NotReady("The service did not start.", fix=f"see why: discreet serve {path}")
            yield json.loads(line)
        finally:
            process.terminate()
            process.wait(PATIENCE)


def _ask(address: str, token: str) -> dict[str, Any]:
    body = json.dumps({"sql": SQL, "epsilon": EPSILON, "request": "demo"}).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urlopen(Request(address, body, headers), timeout=PATIENCE) as reply:  # noqa: S310 - an address on loopback
        answer: dict[str, Any] = json.loads(reply.read())
    return answer
