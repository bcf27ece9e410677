"""Planted bugs still have a place to be planted in."""

import pytest

from mutants import MUTANTS, SOURCE


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.bug)
def test_the_place_of_a_planted_bug_stands_exactly_once(mutant):
    assert (SOURCE / "discreet" / mutant.file).read_text().count(mutant.old) == 1
    assert mutant.old != mutant.new
