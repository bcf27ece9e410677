"""A PostgreSQL server for as long as a test needs it: real, empty, reached by a socket in its own folder."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

#: With this set, as .ci/run does, a missing server fails the tests instead of skipping them.
NEEDED = "DISCREET_NEEDS_POSTGRES"
MISSING = "no PostgreSQL server on this machine: install the package postgresql, and these tests run"
#: Seconds that a server may take to begin or to end.
PATIENCE = 60
SETTINGS = {
    "listen_addresses": "",
    "max_connections": "60",
    "shared_buffers": "16MB",
    "recovery_init_sync_method": "syncfs",  # what is on the disk is ours, and little
    "lc_messages": "C",
    "log_min_messages": "error",
}


class Server:
    """One data folder, with or without a server on it."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder, self._programs = folder, programs
        self._running: subprocess.Popen | None = None
        self._log = folder / "log"
        # PostgreSQL refuses to run as root.
        self._as = {"user": _owner(), "group": _owner(), "extra_groups": []} if os.geteuid() == 0 else {}
        if self._as:
            shutil.chown(folder, *[_owner()] * 2)
        self._call("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    def address(self, ledger: str) -> str:
        """Return the address of a ledger on this server."""
        return f"postgresql:///postgres?host={self.folder}&user=postgres&ledger={ledger}"

    @property
    def plain(self) -> str:
        """The address without a ledger, for tests that reach inside."""
        return f"postgresql:///postgres?host={self.folder}&user=postgres"

    def start(self) -> None:
        """Begin, and wait until it answers."""
        given = {**SETTINGS, "unix_socket_directories": str(self.folder)}
        options = [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            # If this process is killed, the server ends as well, where there is a way to say so.
            wrap = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []
            with self._log.open("ab") as log:
                command = [*wrap, str(self._programs / "postgres"), "-D", str(self._data), *options]
                self._running = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **self._as)
            if self._answers(deadline):
                return
            time.sleep(0.1)  # the processes of one that was killed are still ending
        raise RuntimeError(self._log.read_text())

    def kill(self) -> None:
        """Kill -9 the first process; the others find it gone, and end without tidying up."""
        self._end(signal.SIGKILL)

    def stop_immediately(self) -> None:
        """Do what `pg_ctl stop -m immediate` does: all processes end where they are."""
        self._end(signal.SIGQUIT)

    def stop(self) -> None:
        """End it in order."""
        self._end(signal.SIGINT)

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _answers(self, deadline: float) -> bool:
        import psycopg

        while time.monotonic() < deadline and self._running is not None and self._running.poll() is None:
            with suppress(psycopg.OperationalError), psycopg.connect(self.plain):
                return True
            time.sleep(0.02)
        return False

    def _end(self, how: signal.Signals) -> None:
        if self._running is not None:
            self._running.send_signal(how)
            self._running.wait(PATIENCE)
            self._running = None

    def _call(self, name: str, *arguments: object) -> None:
        command = [str(self._programs / name), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, cwd="/", **self._as)


@contextmanager
def server() -> Iterator[Server]:
    """Run a server on a new folder; skip the test, or fail it where one is needed, if there is none."""
    programs = _programs()
    if programs is None:
        if os.environ.get(NEEDED):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    # Not pytest's own folder: that one is closed to other users. And a socket's path has to be short.
    with tempfile.TemporaryDirectory(prefix="discreet-pg-", ignore_cleanup_errors=True) as folder:
        found = Server(Path(folder), programs)
        found.start()
        try:
            yield found
        finally:
            found.stop()


def _programs() -> Path | None:
    """Return the folder with the newest server's programs."""
    beside = shutil.which("postgres")
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[4]))
    found = [Path(path).resolve().parent for path in (beside, *reversed(debian)) if path]
    return next((folder for folder in found if (folder / "initdb").exists()), None)


def _owner() -> str:
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"
