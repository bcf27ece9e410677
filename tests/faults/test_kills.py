"""Kill −9 with eight spending processes; and three ledgers that are wrong on purpose, which the same suite catches."""

import pytest

from faults.scripts import reports_of

#: Runs in `make test`, and in `make faults`, where they are split so that two processors share them.
QUICK, FULL, PART = 12, 1_000, 50


def killed(folder, kind, first, count):
    reports = reports_of("killing.py", folder, kind, first, count)
    assert len(reports) == count
    return reports


def test_nothing_is_lost_and_nothing_is_free_when_spenders_are_killed(tmp_path):
    reports = killed(tmp_path, "real", 0, QUICK)
    assert [report for report in reports if report["violations"]] == []
    # The runs are worth something: some were cut off between payment and answer, and some ran out of budget.
    assert sum(report["killed"] for report in reports) >= QUICK
    assert any(report["orphans"] for report in reports)
    assert any(report["refused"] for report in reports)


@pytest.mark.faults
@pytest.mark.parametrize("first", range(QUICK, QUICK + FULL, PART))
def test_a_thousand_kills_break_nothing(tmp_path, first):
    reports = killed(tmp_path, "real", first, PART)
    assert [report for report in reports if report["violations"]] == []


@pytest.mark.parametrize(
    ("kind", "claim"),
    [
        ("release before payment", "nothing runs without an earlier durable payment"),
        ("check then spend", "payments never exceed the budget"),
        ("run without review", "failures of an analyst never exceed their number"),
    ],
)
def test_a_broken_ledger_is_caught_by_the_same_suite(tmp_path, kind, claim):
    # One run is enough to show it, most of the time.
    reports = (report for first in range(0, 40, 4) for report in killed(tmp_path, kind, first, 4))
    assert any(claim in report["violations"] for report in reports)
