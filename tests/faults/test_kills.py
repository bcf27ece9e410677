"""Kill −9 with eight spending processes; and three ledgers that are wrong on purpose, which the same suite catches."""

import pytest

from faults.scripts import reports_of

#: Runs in `make test`, and in `make faults`, where they are split so that two processors share them.
QUICK, FULL, PART = 4, 1_000, 50
#: More are made where none was worth something.
MOST = 40


def killed(folder, kind, first, count):
    reports = reports_of("killing.py", folder, kind, first, count)
    assert len(reports) == count
    return reports


def test_nothing_is_lost_and_nothing_is_free_when_spenders_are_killed(tmp_path):
    reports = []
    # The runs are worth something: some were cut off between payment and answer, and some ran out of budget.
    while not _shows_both(reports) and len(reports) < MOST:
        reports += killed(tmp_path, "real", len(reports), QUICK)
    assert [report for report in reports if report["violations"]] == []
    assert sum(report["killed"] for report in reports) >= len(reports)
    assert _shows_both(reports)


def _shows_both(reports):
    return all(any(report[what] for report in reports) for what in ("orphans", "refused"))


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
