"""Measures the processor time of every test, and writes `sampled_cases.txt`: `python tests/case_times.py`.

The file says which test functions are too slow to run all their cases in `make test`; see `case_choice`. Pytest loads
this module as a plugin in all of its processes; each writes what it measured into a folder that DISCREET_TIMES names.
"""

import math
import os
import resource
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from case_choice import EXAMPLES_ONE_IN, TABLE, needs_spark

ROOT = Path(__file__).resolve().parent.parent
FOLDER = "DISCREET_TIMES"
#: Seconds of processor time that the cases of one function may take in `make test`, and that a single case may.
MOST, MOST_OF_ONE = 0.15, 2.0
#: Attacks, what all engines and stores promise, and processes that are killed, may take so many times as much.
LONGER = {"attacks/": 8, "contracts/": 6, "faults/": 8}
#: The first promise of all engines, and what the pages say, are checked whatever it takes.
ALWAYS = ("contracts/test_data_engines.py::test_an_engine_says_what_the_plain_engine_says", "unit/test_docs.py::")
HEAD = """\
# Test functions whose cases take long: `make test` runs one in so many of them (0: none), `make slow` the others.
# Measured and written by `python tests/case_times.py`.
"""


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Write down how much processor time a test took, its children's included, and whether it is a property."""
    before = _spent()
    yield
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    with Path(os.environ[FOLDER], worker).open("a") as file:
        is_property = item.get_closest_marker("hypothesis") is not None
        file.write(f"{_spent() - before:.3f}\t{int(is_property)}\t{item.nodeid.removeprefix('tests/')}\n")


def _spent() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def sampled(times: dict[str, list[float]], properties: set[str]) -> dict[str, int]:
    """Return one in how many cases of each slow function may be run; 0: none."""
    table = {}
    for function, each in times.items():
        longer = next((factor for folder, factor in LONGER.items() if function.startswith(folder)), 1)
        seconds = [one / longer / (EXAMPLES_ONE_IN if function in properties else 1) for one in each]
        if sum(seconds) <= MOST:
            continue
        mean = sum(seconds) / len(seconds)
        if mean > MOST_OF_ONE:
            table[function] = 0
        elif len(seconds) > 1:
            table[function] = math.ceil(len(seconds) / max(1, math.floor(MOST / mean)))
    return {
        function: number
        for function, number in sorted(table.items())
        if number != 1 and not function.startswith(ALWAYS)
    }


def measure(words: list[str], settings: dict[str, str]) -> tuple[int, list[tuple[float, bool, str]]]:
    """Run pytest in two processes; return its status, and of each test its seconds, if a property, and its name."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, FOLDER: folder, "PYTHONPATH": str(Path(__file__).parent), **settings}
        command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", "-p", "case_times", *words]
        status = subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode
        lines = [line.split("\t", 2) for path in Path(folder).iterdir() for line in path.read_text().splitlines()]
    return status, [(float(seconds), is_property == "1", name) for seconds, is_property, name in lines]


def main(words: list[str]) -> int:
    """Run all tests but those marked by hand, and write the table."""
    status, lines = measure(words, {"DISCREET_CASES": "all"})
    times, properties = defaultdict[str, list[float]](list), set[str]()
    for seconds, is_property, name in lines:
        function = name.partition("[")[0]
        if not needs_spark(name):
            times[function].append(seconds)
        if is_property:
            properties.add(function)
    table = sampled(times, properties)
    TABLE.write_text(HEAD + "".join(f"{number:3} {function}\n" for function, number in table.items()))
    print(f"{len(table)} of {len(times)} functions are sampled; {sum(map(sum, times.values())):.0f} s if none were")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
