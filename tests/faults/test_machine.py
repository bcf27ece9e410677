"""Any life at all: payments, answers, stewards, crashes, in any order."""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from faults.machine import LedgerMachine

#: Steps of the full profile.
FULL = 10_000


def lived(lives, steps):
    """Let a machine live; return how many steps it took."""
    LedgerMachine.steps = 0
    run_state_machine_as_test(
        LedgerMachine,
        settings=settings(
            max_examples=lives,
            stateful_step_count=steps,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],  # a life of a hundred steps takes minutes to shorten
        ),
    )
    return LedgerMachine.steps


def test_a_ledger_says_what_a_few_sums_say():
    assert lived(6, 40) > 100


@pytest.mark.faults
def test_a_ledger_says_what_a_few_sums_say_for_ten_thousand_steps():
    assert lived(110, 120) > FULL
