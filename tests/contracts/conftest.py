"""Ledgers in SQLite and in PostgreSQL, each with an anchor of its own."""

from itertools import count

import pytest

from data_engines import ENGINES, ROUNDED, waiting
from ledger_places import Place
from postgres_server import server

NAMES = count(1)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Leave most cases on Spark to `make spark` even where `case_choice` leaves none, as for planted bugs."""
    given = [item.callspec.params.values() if hasattr(item, "callspec") else () for item in items]
    engines = [next((one for one in values if isinstance(one, str) and one in ENGINES), None) for values in given]
    tests = [item.nodeid.partition("[")[0] for item in items]
    for place in waiting(zip(tests, engines, strict=True)):
        items[place].add_marker(pytest.mark.spark)
    for item, engine in zip(items, engines, strict=True):
        if engine == "spark" and item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.spark)
        function = item.callspec.params.get("function") if engine in ROUNDED else None
        if function is not None and function.name in ROUNDED[engine]:
            item.add_marker(pytest.mark.skip(reason="compared within two units in the last place, in test_data_spark"))


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
