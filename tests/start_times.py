"""CPU time of processes from their start, beside that of the libraries that they load, as machines differ."""

import os
import subprocess
import sys

#: What an answer loads at the least.
LIBRARIES = "import numpy, duckdb, sqlglot, apsw, cryptography.hazmat.primitives.ciphers"
#: An answer took two seconds where these libraries took a third of one.
TIMES = 9


def seconds_of(words, folder):
    """Return CPU time, of all threads; the least of three is the one least disturbed."""
    times = []
    for _ in range(3):
        before = os.times()
        subprocess.run(words, cwd=folder, capture_output=True, check=True)
        after = os.times()
        times.append(sum(after[2:4]) - sum(before[2:4]))
    return min(times)


def most_seconds(folder):
    """Return how long a first answer may take here."""
    return TIMES * seconds_of([sys.executable, "-c", LIBRARIES], folder)
