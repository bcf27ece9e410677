"""Ledgers in SQLite and in PostgreSQL, each with an anchor of its own."""

from itertools import count

import pytest

from ledger_places import Place
from postgres_server import server

NAMES = count(1)


@pytest.fixture(autouse=True)
def state(tmp_path_factory, monkeypatch):
    """Keep anchors out of the user's state."""
    place = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("DISCREET_STATE", str(place))
    return place


@pytest.fixture(scope="session")
def postgres():
    """One server for all tests of a worker; each ledger has a schema of its own."""
    with server() as found:
        yield found


@pytest.fixture
def sqlite_place(tmp_path):
    place = Place(str(tmp_path / "a.ledger"), tmp_path / "a.key")
    yield place
    place.close()


@pytest.fixture
def postgres_place(tmp_path, postgres):
    place = Place(postgres.address(f"ledger_{next(NAMES)}"), tmp_path / "b.key")
    yield place
    place.close()


@pytest.fixture(params=["sqlite", "postgres"])
def place(request):
    """Either store."""
    return request.getfixturevalue(f"{request.param}_place")
