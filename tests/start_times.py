"""CPU time of processes from their start, beside that of the libraries that they load, as machines differ."""

import os
import subprocess
import sys

#: What an answer loads at the least.
LIBRARIES = "import numpy, duckdb, sqlglot, apsw, cryptography.hazmat.primitives.ciphers"
#: An answer took two seconds where these libraries took a third of one.
TIMES = 9


def starts_in_time(words, folder):
    """Tell whether a first answer takes no longer than it may here; the least of up to three is the least disturbed."""
    answers, libraries = [], []
    for _ in range(3):
        answers.append(_seconds_of(words, folder))
        libraries.append(_seconds_of([sys.executable, "-c", LIBRARIES], folder))
        if min(answers) < TIMES * min(libraries):
            return True
    return False


def _seconds_of(words, folder):
    """Return CPU time, of all threads."""
    before = os.times()
    subprocess.run(words, cwd=folder, capture_output=True, check=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])
