"""Scenes that are scripts: a process of their own, as what forks should have one thread."""

import json
import os
import subprocess
import sys
from pathlib import Path

#: Parts of the full profile take about half a minute on two processors.
SECONDS = 900


def reports_of(script, folder, *words):
    """Return what the runs of a script in this folder found: a line each."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(script)), str(folder), *map(str, words)],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert not done.returncode, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
