"""Settings that the tests of single parts share."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def state(tmp_path_factory, monkeypatch):
    """Keep anchors out of the user's state."""
    place = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("DISCREET_STATE", str(place))
    return place


@pytest.fixture(scope="module")
def room():
    """Let the benchmarks find each other by name."""
    sys.path.insert(0, str(BENCHMARKS))
    yield import_module
    sys.path.remove(str(BENCHMARKS))
