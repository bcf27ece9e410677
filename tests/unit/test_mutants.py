"""Planted bugs still have a place to be planted in."""

import pytest

from mutants.mutant import Mutant, NoPlace, undefined_names
from mutants.planted import PLANTED
from mutants.trials import SOURCE

CODE = """def first():
    return 1


class Second:
    @property
    def inside(self):
        return max(
            1,
        )
"""


def test_the_place_of_every_planted_bug_stands_exactly_once():
    for mutant in sorted(PLANTED, key=lambda one: one.file):  # each file is parsed once
        text = (SOURCE / "discreet" / mutant.file).read_text()
        assert mutant.plant(text) != text, mutant.bug


@pytest.mark.slow
def test_no_planted_bug_is_caught_for_a_name_that_nothing_defines():
    for mutant in PLANTED:
        if mutant.file.endswith(".py"):
            text = (SOURCE / "discreet" / mutant.file).read_text()
            assert undefined_names(mutant.plant(text)) <= undefined_names(text), mutant.bug


def test_names_that_nothing_defines_are_found():
    assert undefined_names(CODE) == set()
    assert undefined_names(CODE.replace("return 1", "return [one + two for one in three]")) == {"two", "three"}


def test_a_bug_is_planted_in_its_definition_however_it_is_laid_out():
    planted = Mutant("", "room/code.py::Second.inside", "return max( 1,", "return min(1,", "").plant(CODE)
    assert planted == CODE.replace("max(\n            1,", "min(1,")
    planted = Mutant("", "room/code.py::first", "return 1", "return 2", "").plant(CODE)
    assert planted == CODE.replace("return 1", "return 2")


@pytest.mark.parametrize(
    ("place", "old"),
    [("::first", "max"), ("::Second.first", "return"), ("::third", "return"), ("", "return"), ("", "nowhere")],
)
def test_a_bug_without_one_place_is_refused(place, old):
    with pytest.raises(NoPlace):
        Mutant("", f"room/code.py{place}", old, "", "").plant(CODE)
