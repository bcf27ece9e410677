"""One contestant in a process of its own, which is ended when it takes too long or too much."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
#: Seconds of processor time, and gibibytes, that one contestant may use for loading and asking on one size.
SECONDS, GIBIBYTES = 300, 16.0
#: Seconds between looks at the process.
BETWEEN = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a contestant told: processor seconds to load and to ask, the most memory held, or why there is nothing."""

    seconds: float | None = None
    loading: float | None = None
    gibibytes: float | None = None
    failure: str = ""
    told: dict = field(default_factory=dict)


def alone(
    arguments: Sequence[str | Path],
    python: str | Path = sys.executable,
    *,
    seconds: int = SECONDS,
    most: float = GIBIBYTES,
) -> Trial:
    """Run a script of this folder; its last line is what it tells."""
    process = subprocess.Popen(  # noqa: S603 - a script of ours
        [python, HERE / arguments[0], *arguments[1:]],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
    over = _watched(process, most)
    output, errors = process.communicate()
    if over:
        return Trial(failure=f"over {most:g} GiB")
    if process.returncode in (-24, -9):  # SIGXCPU, SIGKILL: the limit of processor time
        return Trial(failure=f"over {seconds} s")
    if process.returncode:
        return Trial(failure=_reason(errors))
    told = json.loads(output.splitlines()[-1])
    return Trial(seconds=told["seconds"], loading=told["loading"], gibibytes=told["gibibytes"], told=told)


def _watched(process: subprocess.Popen, most: float) -> bool:
    """Wait for the end of a process; end it, and say so, if it holds too much."""
    page = os.sysconf("SC_PAGE_SIZE")
    while process.poll() is None:
        try:
            resident = int(Path(f"/proc/{process.pid}/statm").read_text(encoding="ascii").split()[1]) * page
        except (OSError, IndexError):  # it has just ended, or this is no Linux
            resident = 0
        if resident > most * 2**30:
            process.kill()
            return True
        time.sleep(BETWEEN)
    return False


def _reason(errors: str) -> str:
    """Return the last line of what a process complained about, without paths."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return lines[-1].split("/")[0][:120] if lines else "failed"
