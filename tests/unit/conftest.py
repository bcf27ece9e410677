"""Settings that the tests of single parts share."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from command_line import Terminal, reader, runner

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


@pytest.fixture
def run(capsys, monkeypatch, tmp_path, request):
    """Run a command in a folder of its own, in the ROOM of a module that has one; see `command_line`."""
    monkeypatch.chdir(tmp_path)
    return runner(capsys, getattr(request.module, "ROOM", ()))


@pytest.fixture
def facts(run):
    """Run a command for a program, and return its object."""
    return reader(run)


@pytest.fixture
def answer(monkeypatch, run):
    """Answer the questions of the command, line by line."""

    def runner(lines, *words):
        errors = Terminal()
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{line}\n" for line in lines)))
        monkeypatch.setattr(sys, "stderr", errors)
        status = run(*words)[0]
        return status, errors.getvalue()

    return runner
