"""`make test` leaves slow cases to other targets, and no test to none."""

import re
from pathlib import Path

import pytest

from case_choice import SPARK_SAMPLE, choose_cases, needs_spark, read_table
from case_times import MOST, sampled
from room_times import BUDGETS, HOUSE, MOST_OF_ALL, NEW_ROOM, by_room, room_of, to_table

TESTS = Path(__file__).parents[1]


def test_functions_that_are_listed_are_there():
    listed = {name.partition("[")[0] for name in (*read_table(), *SPARK_SAMPLE)}
    defined = {
        f"{file}::{function}"
        for file in {name.partition("::")[0] for name in listed}
        for function in re.findall(r"^def (\w+)\(", (TESTS / file).read_text(), flags=re.MULTILINE)
    }
    assert not listed - defined


def test_about_one_case_in_so_many_is_run_and_at_least_one():
    many, few = ([f"unit/test_it.py::{name}[{number}]" for number in range(1000)] for name in ("many", "few"))
    table = {"unit/test_it.py::many": 10, "unit/test_it.py::few": 10**9, "unit/test_it.py::none": 0}
    assert 70 < len(choose_cases(many, table)) < 130
    assert choose_cases(few, table) == {few[0]}
    assert choose_cases(["unit/test_it.py::none", "unit/test_it.py::quick"], table) == {"unit/test_it.py::quick"}


def test_the_first_case_of_a_contract_is_run():
    cases = [f"contracts/test_it.py::many[{number}]" for number in range(1000)]
    drawn = choose_cases([name.replace("contracts", "unit") for name in cases], {"unit/test_it.py::many": 10})
    assert cases[0].replace("contracts", "unit") not in drawn
    assert cases[0] in choose_cases(cases, {"contracts/test_it.py::many": 10})


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


@pytest.mark.parametrize(
    ("name", "text", "room"),
    [
        ("test_gate_views.py", "from discreet.query import Epsilon", "gate"),
        ("test_sql_laws.py", "from discreet.core import Fix\nfrom discreet.query.sql import read_sql", "query"),
        (
            "test_attack.py",
            "import discreet.data\n    from discreet.data import open_table\nimport discreet.gate",
            "data",
        ),
        ("test_docs.py", "import discreet\nimport pathlib", HOUSE),
    ],
)
def test_a_file_belongs_to_the_room_of_its_name_or_of_most_of_its_imports(name, text, room):
    assert room_of(name, text) == room


def test_times_are_added_by_room():
    rooms = by_room(
        [(1.5, "unit/test_gate_views.py::test_it[a]"), (2.0, "unit/test_gate.py::test_it"), (4.0, "README.md")]
    )
    assert rooms == {"gate": [1.5, 2.0], HOUSE: [4.0]}
    assert to_table(rooms, 90).splitlines()[2:] == [
        "| collecting, starting |  | **90** | 85 |",
        "| the house | 1 | 4 | 70 |",
        "| gate | 2 | 4 | 70 |",
        "| all | 3 | 98 | 680 |",
    ]


def test_the_page_of_times_says_what_rooms_may_take_and_one_more_room_fits():
    page = (TESTS.parent / "docs" / "ci-times.md").read_text()
    rows = re.findall(r"^\| (.+?) \| [\d,]* \| \d+ \| (\d+) \|$", page, flags=re.MULTILINE)
    told = {room: int(most) for room, most in rows}
    assert told.pop("all") == MOST_OF_ALL
    assert told == BUDGETS
    assert sum(BUDGETS.values()) + NEW_ROOM <= MOST_OF_ALL
