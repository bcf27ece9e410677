"""`make test` leaves slow cases to other targets, and no test to none."""

import re
from pathlib import Path

import pytest

from case_choice import SPARK_SAMPLE, is_sampled, needs_spark, read_table
from case_times import MOST, sampled

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("name", [*read_table(), *SPARK_SAMPLE])
def test_functions_that_are_listed_are_there(name):
    file, _, function = name.partition("[")[0].partition("::")
    assert re.search(rf"^def {function.split('::')[-1]}\(", (TESTS / file).read_text(), flags=re.MULTILINE)


def test_the_first_case_is_run_and_about_one_in_so_many():
    names = [f"unit/test_it.py::test_it[{number}]" for number in range(1000)]
    run = [is_sampled(name, number, 10) for number, name in enumerate(names)]
    assert run[0]
    assert 70 < sum(run) < 130
    assert not any(is_sampled(name, number, 0) for number, name in enumerate(names))


def test_functions_run_as_many_cases_as_fit_into_their_time():
    times = {
        "unit/a.py::quick": [MOST / 10] * 9,
        "unit/a.py::many": [MOST / 2] * 10,
        "attacks/a.py::many": [MOST / 2] * 10,
        "unit/a.py::long": [100.0],
        "unit/a.py::property": [MOST * 4],
    }
    assert sampled(times, {"unit/a.py::property"}) == {"unit/a.py::long": 0, "unit/a.py::many": 5}


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("unit/test_data_spark.py::test_it", True),
        ("contracts/test_relations.py::test_it[spark-LEFT]", True),
        ("attacks/test_it.py::test_it_on_spark", True),
        ("unit/test_cli_it.py::test_sparks_fly", False),
    ],
)
def test_tests_on_spark_are_known_by_name(name, needed):
    assert needs_spark(name) is needed
