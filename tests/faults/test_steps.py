"""Kill −9 while a stream goes on: no step is lost that was handed out, none is answered twice, and none is paid for."""

import pytest

from faults.scripts import reports_of

#: Runs in `make test`, and in `make faults`.
QUICK, FULL = 4, 200


@pytest.mark.parametrize(
    ("step", "moment", "stored"),
    [(0, "running", 0), (0, "drawn", 0), (0, "stored", 1), (3, "running", 3), (3, "drawn", 3), (3, "stored", 4)],
)
def test_a_step_that_was_killed_is_run_again_unless_it_was_stored(tmp_path, step, moment, stored):
    assert reports_of("stepping.py", tmp_path, "moment", step, moment) == [
        {"steps": stored, "told": 0, "violations": []}
    ]


def test_nothing_is_lost_when_those_who_ask_for_steps_are_killed(tmp_path):
    reports = reports_of("stepping.py", tmp_path, "random", 0, QUICK)
    assert [report["violations"] for report in reports] == [[]] * QUICK
    assert any(0 < report["steps"] < 25 for report in reports)  # some were cut off in the middle
    assert all(report["told"] for report in reports)


@pytest.mark.faults
def test_hundreds_of_kills_break_no_stream(tmp_path):
    reports = reports_of("stepping.py", tmp_path, "random", QUICK, FULL)
    assert [report["violations"] for report in reports] == [[]] * FULL
