"""What people paid for a run that crashed: when it may count towards the next run, and when it may not.

The answer of a crashed run was seen by nobody. But its charges stay, and decide who takes part later. Where charges
hang on people's own rows alone, as in one pass, that tells nothing new. Where a second pass is chosen by what the first
one drew, charges tell what was drawn; and then the first run has to be paid for as if it had been seen.
"""

from collections import defaultdict
from fractions import Fraction
from functools import partial

import pytest

from claims.personal_worlds import Ask, System, both, geometric, response, worlds
from personal_model import Part, Question

HALF = Fraction(1, 2)
#: In units of ln 2 each. First: is there a b? And if the answer is yes: how many rows a?
ANY_B = Ask(Question((Part("other", Fraction(1)),), lambda row: row == "b"), partial(response, ratio=HALF))
ROWS_A = Ask(
    Question((Part("laplace", Fraction(1)),), lambda row: row == "a"), partial(geometric, ratio=HALF, low=0, high=3)
)


def one_pass(system, spent, data):
    """Yield all that may come of a plan of one pass: odds, what is seen, and the balances after it."""
    for answer, (p, after) in system.step(spent, ANY_B, data).items():
        yield p, answer, after


def two_passes(system, spent, data):
    """Yield all that may come of a plan whose second pass depends on the first."""
    for p, first, after in one_pass(system, spent, data):
        if not any(first):
            yield p, first, after
            continue
        for second, (q, later) in system.step(after, ROWS_A, data).items():
            yield p * q, (first, second), later


class Credited(System):
    """What a person paid for the crashed run is credited: only what the next one costs more is charged."""

    def again(self, plan, before, crashed, data):
        """Yield the run after the crash, on balances from before it; each then owes the larger of both charges."""
        paid = dict(crashed)
        for p, seen, after in plan(self, before, data):
            now = dict(after)
            larger = {name: max(now.get(name, (0, 0)), paid.get(name, (0, 0))) for name in now | paid}
            yield p, seen, frozenset(larger.items())


class PaidTwice(System):
    """The crashed run is paid for, and the next one too."""

    def again(self, plan, before, crashed, data):
        yield from plan(self, crashed, data)


def histories(system, plan, data):
    """Return the odds of all that is seen where the first run crashed after its charges, and ROWS_A is asked later."""
    odds = defaultdict(Fraction)
    nothing = frozenset()
    for p, _, crashed in plan(system, nothing, data):  # what it drew is not seen
        for q, seen, after in system.again(plan, nothing, crashed, data):
            for later, (r, _) in system.step(after, ROWS_A, data).items():
                odds[seen, later] += p * q * r
    return odds


def worst(system, plan):
    found = []
    for pair in worlds():
        for way in both(pair):
            present, absent = (histories(system, plan, data) for data in way)
            assert sum(present.values()) == sum(absent.values()) == 1
            found.append(max(present[seen] / absent[seen] for seen in present))
    return max(found)


@pytest.mark.parametrize("limit", [1, 2])
def test_a_crashed_run_of_one_pass_may_be_credited(limit):
    """Charges hang on nothing that was drawn, so that the same are due again."""
    assert worst(Credited(limit, currency="epsilon"), one_pass) == 2**limit


@pytest.mark.parametrize("limit", [1, 2, 3])
@pytest.mark.parametrize("plan", [one_pass, two_passes])
def test_a_crashed_run_that_is_paid_for_as_if_it_was_seen_is_within_the_limit(plan, limit):
    assert worst(PaidTwice(limit, currency="epsilon"), plan) <= 2**limit


def test_crediting_a_crashed_run_whose_second_pass_hung_on_the_first_tells_too_much():
    """Who has a row a leaves or stays by what the crashed run drew about b: the later answer tells both draws."""
    assert worst(Credited(1, currency="epsilon"), two_passes) > 2
