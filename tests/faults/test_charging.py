"""Kill −9 while persons are charged: no answer without its charges, no charge twice, and nothing torn."""

import pytest

from faults.charging import MOMENTS
from faults.scripts import reports_of

#: Runs in `make test`, and in `make faults`, where they are split so that two processors share them.
QUICK, FULL, PART = 5, 500, 50
#: More are made where none was worth something.
MOST = 40


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_kill_at_any_moment_charges_nobody_twice_and_nothing_is_answered_for_free(tmp_path, moment):
    (report,) = reports_of("charging.py", tmp_path, "moment", moment, 0)
    assert report["violations"] == []
    assert report["answers"] == (1 if moment == "enrolling" else 2)


def test_killed_chargers_leave_no_answer_without_its_charges(tmp_path):
    reports = []
    # The runs are worth something: some were cut off before they were answered.
    while not any(report["orphans"] for report in reports) and len(reports) < MOST:
        more = reports_of("charging.py", tmp_path, "random", len(reports), QUICK)
        assert len(more) == QUICK
        reports += more
    assert [report for report in reports if report["violations"]] == []
    assert any(report["orphans"] for report in reports)


@pytest.mark.faults
@pytest.mark.parametrize("first", range(QUICK, QUICK + FULL, PART))
def test_five_hundred_kills_charge_nobody_twice(tmp_path, first):
    reports = reports_of("charging.py", tmp_path, "random", first, PART)
    assert [report for report in reports if report["violations"]] == []
