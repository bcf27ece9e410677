"""An attack by the clock: it guesses whether a person with as many rows as anybody may have is in a served dataset.

Two datasets differ by that person. A guess by the time of an answer is right as often as the two distributions of
times differ. The same guess is tried through the connection of another analyst, who asks while a long run goes on.
"""

import pytest

from service_clock import (
    SETTINGS,
    advantage_of,
    chance_of,
    plant_no_slots,
    served_worlds,
    time_answers,
    time_others,
)

#: Answers in each dataset, in `make test` and in `make slow`. Chance alone passes the limit once in 100,000 tries.
QUICK, FULL = 10, 1000
#: Chance alone takes a server with slots for one without once in a thousand tries.
PLANTED = 1e-3


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clock")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DISCREET_STATE", str(folder / "state"))
        with served_worlds(folder, SETTINGS) as worlds:
            yield worlds


@pytest.mark.parametrize("samples", [QUICK, pytest.param(FULL, marks=pytest.mark.slow)])
def test_the_time_of_an_answer_does_not_tell_whether_somebody_with_all_rows_is_there(worlds, samples):
    without, present = time_answers(worlds, samples)
    assert advantage_of(without, present) <= chance_of(without, present)


@pytest.mark.parametrize("samples", [QUICK // 3, pytest.param(FULL // 4, marks=pytest.mark.slow)])
def test_a_long_run_does_not_move_the_answers_of_others(worlds, samples):
    without, present = time_others(worlds, samples)["answer"]
    assert advantage_of(without, present) <= chance_of(without, present)


def test_without_slots_the_same_attack_is_right(worlds, monkeypatch):
    plant_no_slots(monkeypatch)
    without, present = time_answers(worlds, QUICK + 6)
    assert advantage_of(without, present) > chance_of(without, present, alpha=PLANTED)
