"""The nursery: a process that has loaded all modules and nothing else, and forks workers.

Loading modules takes a second of processor time, and a fork takes a millisecond. The nursery holds no rows and no
ledger. It hears commands on a socket: `fork`, with the descriptors that a worker is given, and `end`, with the process
id of a worker. When the front is gone, it kills all workers and ends.
"""

import gc
import os
import signal
import socket
import subprocess
import sys
import traceback
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from discreet.core import NotReady

#: Commands, and bytes of a process id.
FORK, END, PID = b"f", b"e", 8
#: Libraries of linear algebra start threads when they are loaded, which a fork would lose.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Nursery:
    """The front's end: starts workers and ends them. Calls block for milliseconds."""

    def __init__(self, settings: str | Path, memory: int, log: int) -> None:
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
            self._process = subprocess.Popen(  # noqa: S603 - our own module
                command,
                pass_fds=[other.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **ONE_THREAD},
                start_new_session=True,  # Ctrl-C is for the front, which drains
            )
        self._socket = mine

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
    """Load modules, then serve."""
    load_modules()
    gc.freeze()  # so that collections in workers leave the shared pages alone
    number, settings, memory = sys.argv[1:]
    with socket.socket(fileno=int(number)) as commands:
        serve_nursery(commands, settings, int(memory))


if __name__ == "__main__":
    main()
