"""Runs the tests that guard a claim against copies of the package that break it.

Whatever tests import besides the package is loaded once: the tests of each bug run in a child process that begins with
it, and that has not seen the package.
"""

import atexit
import importlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from mutants.mutant import Mutant, NoPlace

HERE = Path(__file__).resolve().parent.parent
SOURCE = HERE.parent / "src"
sys.path.append(str(HERE.parent))
hatch_build = importlib.import_module("hatch_build")
#: A mutant that makes a draw run for ever is caught, too.
SECONDS = 240
#: A mutant that takes all memory is caught, too, and leaves the other trials theirs.
MOST_MEMORY = 6 << 30
#: Hypothesis is loaded before pytest looks for it, which pytest warns of.
LOADED = "ignore:Module already imported:pytest.PytestAssertRewriteWarning"
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-W", LOADED)
#: What takes longest to load of all that tests import. Nothing here may start a thread, or know the package.
BEFOREHAND = ("numpy", "hypothesis.strategies", "mpmath", "duckdb", "pyarrow", "pandas", "sqlglot", "apsw", "torch")


class Trial:
    """One planted bug, and the process that runs its tests."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant, self.begun = mutant, time.monotonic()
        self.folder = Path(tempfile.mkdtemp())
        self.output = self.folder / "output"
        copy = self.folder / "src"
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        plant(mutant, copy)
        sys.stdout.flush()
        self.process = os.fork()
        if not self.process:
            self._run_tests(copy)

    def _run_tests(self, copy: Path) -> None:
        """Run the tests in this process, which was made for them, and end it."""
        status = 4
        try:
            os.setsid()  # so that whatever the tests start can be ended with them
            resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
            os.chdir(HERE.parent)
            descriptor = os.open(self.output, os.O_WRONLY | os.O_CREAT)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            sys.path.insert(0, str(copy))
            sys.dont_write_bytecode = True
            os.environ |= {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", "DISCREET_CASES": "all"}
            tests = [str(HERE / name) for name in self.mutant.tests.split()]
            # A folder of its own: in a shared one, tests that run at the same time clear up after each other.
            status = pytest.main([*OPTIONS, "--basetemp", str(self.folder / "tests"), *tests])
            atexit._run_exitfuncs()
        except BaseException:  # noqa: BLE001 - this process ends here, whatever it is
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(status))

    def ended(self) -> tuple[bool, float] | None:
        """Return whether the bug was caught, and how long it took; None while the tests run."""
        seconds = time.monotonic() - self.begun
        if seconds > SECONDS:
            os.killpg(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            status = 1
        else:
            process, waited = os.waitpid(self.process, os.WNOHANG)
            if not process:
                return None
            status = os.waitstatus_to_exitcode(waited)
        told = self.output.read_text(errors="replace") if self.output.exists() else ""
        shutil.rmtree(self.folder, ignore_errors=True)
        # 1 is "tests failed"; 2 and more, "could not run", would be a broken mutant rather than a caught one.
        if status not in (0, 1):
            raise SystemExit(f"{self.mutant.bug}: its tests could not run\n{told[-3000:]}")
        return status == 1, seconds


def plant(mutant: Mutant, copy: Path) -> None:
    """Change the one place in a copy of the package."""
    path = copy / "discreet" / mutant.file
    try:
        path.write_text(mutant.plant(path.read_text()))
    except NoPlace as error:
        raise SystemExit(str(error)) from None
    # A library that was made of another text is not used.
    if path.suffix == ".c" and (why := hatch_build.compile_file(path)):
        raise SystemExit(f"{mutant.bug}: {why}\nfix: run `make compiler`, then `make setup`")


def run_trials(chosen: Sequence[Mutant], seconds: float) -> Iterator[tuple[Mutant, bool, float]]:
    """Run the tests of some bugs, as many at a time as there are processors, and begin no more after some seconds."""
    end = time.monotonic() + seconds
    for name in BEFOREHAND:
        importlib.import_module(name)
    waiting, running = list(reversed(chosen)), list[Trial]()
    while waiting or running:
        if time.monotonic() > end:
            waiting.clear()
        while waiting and len(running) < (os.cpu_count() or 1):
            running.append(Trial(waiting.pop()))
        time.sleep(0.02)
        for trial in list(running):
            ended = trial.ended()
            if ended is not None:
                running.remove(trial)
                yield (trial.mutant, *ended)
