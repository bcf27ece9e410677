"""Chooses the cases that `make test` runs: all of quick tests, some of slow ones, and a few on Spark.

`make test` answers within minutes, so that it is run after every change. A test function that takes long runs one in so
many of its cases there; `sampled_cases.txt` lists these functions, with figures that `python tests/case_times.py`
measures. `make slow` runs the other cases, and properties with all their examples; `make spark` runs the tests on
Spark that `make test` leaves out; `make mutants` runs all cases but those marked slow, faults or spark by hand. With
DISCREET_CASES=all no case is left to another target; with DISCREET_CASES=slow properties draw all their examples.
"""

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import settings

HERE = Path(__file__).resolve().parent
TABLE = HERE / "sampled_cases.txt"
#: Whether every case is run, and whether with all examples.
ALL = os.environ.get("DISCREET_CASES") == "all"
ALL_EXAMPLES = os.environ.get("DISCREET_CASES") in ("all", "slow")
#: One in so many examples of a property is drawn otherwise.
EXAMPLES_ONE_IN = 4
#: Where the first case is always run: that of the engine, and of the store, that most people have.
ALL_FIRST = "contracts/"
#: Files in which all tests need Spark; elsewhere a test or its case names it.
SPARK_FILES = tuple(
    f"test_{each}.py"
    for each in ("data_spark", "spark_connect", "spark_deadlines", "spark_lost", "spark_personal", "spark_traps")
)
NAMES_SPARK = re.compile(r"(?<![a-z])spark(?![a-z])")
#: Tests on Spark that `make test` runs: answers of the contract's first cases, silence about rows, failures, payments.
SPARK_SAMPLE = (
    "contracts/test_data_engines.py::test_an_engine_says_what_the_plain_engine_says[spark]",
    "contracts/test_data_spark.py::test_a_private_group_without_a_row_that_counts_is_not_in_the_answer",
    "contracts/test_data_spark.py::test_under_a_limit_of_all_people_count_in_each_group",
    "contracts/test_relations.py::test_an_engine_computes_relations_as_the_plain_engine_does[spark]",
    "unit/test_data_spark.py::test_a_failure_tells_nothing_of_rows",
    "unit/test_data_spark.py::test_nothing_is_read_when_a_table_is_opened",
    "unit/test_data_spark.py::test_a_session_on_spark_charges_those_who_are_in_an_answer_and_leaves_out_who_cannot_pay",
)


#: Tests of real processes, a module of which shares one service.
SERVED = "contracts/test_service_"


def read_table(path: Path = TABLE) -> dict[str, int]:
    """Return one in how many cases of a test function is run; 0: none."""
    lines = [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {name: int(number) for number, name in lines}


def leave_to_others(items: list[pytest.Item]) -> None:
    """Mark the tests that `make slow` and `make spark` run in place of `make test`."""
    names = [item.nodeid.removeprefix("tests/") for item in items]
    run = choose_cases((name for name in names if not needs_spark(name)), read_table())
    for item, name in zip(items, names, strict=True):
        if name == item.nodeid:  # a page of the documentation
            continue
        if name.startswith(SERVED):  # the processes of a service are started once
            item.add_marker(pytest.mark.xdist_group(name.partition("::")[0]))
        if needs_spark(name):
            item.add_marker(pytest.mark.xdist_group("spark"))
            if name not in SPARK_SAMPLE and not ALL:
                item.add_marker(pytest.mark.spark)
            continue
        if not ALL and name not in run:
            item.add_marker(pytest.mark.slow)
        if not ALL_EXAMPLES:
            draw_fewer_examples(item)


def choose_cases(names: Iterable[str], one_in: Mapping[str, int]) -> set[str]:
    """Return the cases that `make test` runs: of a function that is listed, one in so many, drawn by their names.

    Of each such function that runs at all it is at least one, and among engines and stores the first one besides.
    """
    cases = defaultdict[str, list[str]](list)
    for name in names:
        cases[name.partition("[")[0]].append(name)
    chosen = set[str]()
    for function, own in cases.items():
        every = one_in.get(function, 1)
        drawn = [name for name in own if every and crc32(name.encode()) % every == 0]
        if every and (not drawn or function.startswith(ALL_FIRST)):
            drawn.append(own[0])
        chosen.update(drawn)
    return chosen


def needs_spark(name: str) -> bool:
    """Tell whether a test needs Spark, by its file, its own name or that of its case."""
    file, _, rest = name.partition("::")
    return file.endswith(SPARK_FILES) or ("spark" in rest and NAMES_SPARK.search(rest) is not None)


def draw_fewer_examples(item: pytest.Item) -> None:
    """Let a property that says itself how many examples it needs draw some of them."""
    function = getattr(item, "function", None)
    own = getattr(function, "_hypothesis_internal_use_settings", None)
    if own is None or getattr(function, "draws_fewer", False):
        return
    function.draws_fewer = True
    fewer = settings(own, max_examples=max(1, own.max_examples // EXAMPLES_ONE_IN))
    function._hypothesis_internal_use_settings = fewer
