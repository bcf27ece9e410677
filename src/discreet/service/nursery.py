"""The nursery: a process that has loaded all modules and nothing else, and forks workers.

Loading modules takes a second of processor time, and a fork takes a millisecond. The nursery holds no rows and no
ledger. It hears commands on a socket: `fork`, with the descriptors that a worker is given, and `end`, with the process
id of a worker. When the front is gone, it kills all workers and ends.
"""

import gc
import math
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Never, Self

from discreet.core import NotReady
from discreet.core.single_thread import ONE_THREAD

#: Commands, and bytes of a process id.
FORK, END, PID = b"f", b"e", 8
#: The first descriptor after those of standard input, output and errors.
FIRST_FREE = 3


class Nursery:
    """The front's end: starts workers and ends them. Calls block for milliseconds."""

    def __init__(self, process: "subprocess.Popen[bytes] | ForkedProcess", commands: socket.socket) -> None:
        self._process, self._socket = process, commands

    @classmethod
    def spawn(cls, settings: str | Path, memory: int, log: int) -> Self:
        """Start a nursery as a new process, which loads the modules once more: for fronts that have threads."""
        mine, other = socket.socketpair()
        with other:
            command = [
                sys.executable,
                "-m",
                "discreet.service.nursery",
                str(other.fileno()),
                str(settings),
                str(memory),
            ]
            process = subprocess.Popen(  # noqa: S603 - our own module
                command,
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **ONE_THREAD},
                start_new_session=True,  # Ctrl-C is for the front, which drains
            )
        return cls(process, mine)

    @classmethod
    def split_off(cls, settings: str | Path, memory: int, log: int) -> Self:
        """Start a nursery as a copy of this process, whose modules it has: for fronts that have no threads yet.

        Whatever this process has read, the copy has, too. So this comes before keys and ledgers are opened.
        """
        mine, other = socket.socketpair()
        with other:
            pid = os.fork()
            if not pid:
                _become_nursery(other.fileno(), str(settings), memory, log)
        return cls(ForkedProcess(pid), mine)

    def fork(self, reading: int, writing: int) -> int:
        """Start a worker that reads and writes frames there; return its process id."""
        try:
            socket.send_fds(self._socket, [FORK], [reading, writing])
            answer = self._socket.recv(PID, socket.MSG_WAITALL)
        except OSError:
            answer = b""
        if len(answer) < PID:
            raise NotReady("The process that starts workers is gone.", fix="start the service again")
        return int.from_bytes(answer, "big")

    def end(self, pid: int) -> None:
        """Kill a worker, if it lives, and let go of it."""
        with suppress(OSError):
            self._socket.sendall(END + pid.to_bytes(PID, "big"))

    def close(self) -> None:
        """End all workers and the nursery."""
        self._socket.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def lives(self) -> bool:
        """Whether the process lives."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The process id of the nursery."""
        return self._process.pid


class ForkedProcess:
    """A process that was forked, with the methods of one of `subprocess`."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._status: int | None = None

    def poll(self) -> int | None:
        """Return the exit status, or None while it runs."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status

    def wait(self, timeout: float = math.inf) -> int:
        """Return the exit status as soon as it has ended."""
        end, pause = time.monotonic() + timeout, 1e-3
        while (status := self.poll()) is None:
            if time.monotonic() > end:
                raise subprocess.TimeoutExpired("the nursery", timeout)
            time.sleep(pause)
            pause = min(2 * pause, 0.05)
        return status

    def kill(self) -> None:
        """Kill it."""
        if self.poll() is None:
            os.kill(self.pid, signal.SIGKILL)


def _become_nursery(commands: int, settings: str, memory: int, log: int) -> Never:
    """Turn this copy of a front into a nursery: nothing of the front stays open, and nothing of its code runs on."""
    code = 1
    try:
        os.setsid()  # Ctrl-C is for the front, which drains
        nothing = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((nothing, 0), (log, 1), (log, 2), (commands, FIRST_FREE)):
            os.dup2(source, target, inheritable=target < FIRST_FREE)
        os.closerange(FIRST_FREE + 1, os.sysconf("SC_OPEN_MAX"))
        run_nursery(FIRST_FREE, settings, memory)
        code = 0
    except BaseException:  # noqa: BLE001 - standard error is the operator's log
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def run_nursery(commands: int, settings: str, memory: int) -> None:
    """Be a nursery, until the front is gone."""
    load_modules()
    gc.freeze()  # so that collections in workers leave the shared pages alone
    with socket.socket(fileno=commands) as connection:
        serve_nursery(connection, settings, memory)


def serve_nursery(commands: socket.socket, settings: str, memory: int) -> None:
    """Fork and end workers until the front is gone."""
    children = set[int]()
    while True:
        command, descriptors, _, _ = socket.recv_fds(commands, 1, 2)
        if command == FORK and len(descriptors) == 2:
            children.add(_fork_worker(commands, descriptors, settings, memory))
            for descriptor in descriptors:
                os.close(descriptor)
        elif command == END:
            pid = int.from_bytes(commands.recv(PID, socket.MSG_WAITALL), "big")
            if pid in children:
                children.discard(pid)
                _end(pid)
        else:
            break
    for pid in children:
        _end(pid)


def _end(pid: int) -> None:
    """Kill a child and let go of it. It is ours until it is waited for: no other process can have its number."""
    with suppress(OSError):
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _fork_worker(commands: socket.socket, descriptors: list[int], settings: str, memory: int) -> int:
    from discreet.service.worker import run_worker  # noqa: PLC0415 - loaded before the first fork

    parent = os.getpid()
    pid = os.fork()
    if pid:
        commands.sendall(pid.to_bytes(PID, "big"))
        return pid
    code = 1
    try:
        commands.close()
        gc.unfreeze()
        reading, writing = descriptors
        run_worker(reading, writing, settings, memory=memory, parent=parent)
        code = 0
    except BaseException:  # noqa: BLE001 - it may quote rows: standard error is the operator's log
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


#: Libraries that an engine loads by itself at its first statement, where they are installed.
LOADED_LATE = ("duckdb", "pandas", "pyarrow", "apsw")


def load_modules() -> None:
    """Load what workers need, here once for all of them. Nothing is opened: neither rows nor a ledger."""
    import discreet.service.worker  # noqa: F401, PLC0415
    from discreet.session import find_constants  # noqa: PLC0415

    find_constants("SELECT 1")  # which loads the parser
    for name in LOADED_LATE:
        with suppress(ImportError):
            import_module(name)


def main() -> None:
    """Be the nursery that a front has spawned."""
    number, settings, memory = sys.argv[1:]
    run_nursery(int(number), settings, int(memory))


if __name__ == "__main__":
    main()
