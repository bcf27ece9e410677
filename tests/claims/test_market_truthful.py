"""Exact truthfulness: every report of another declared type costs something, and the least is as computed."""

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import BoundedRange
from discreet.core import InvalidInput, NotProved
from discreet.market import FacilityLine, Plane, Sale, TruthfulChoice, best_epsilon, most_gain
from discreet.market.commitments import tables_of

#: What sums of floats behind `probabilities` may be off by.
ROUNDING = 1e-11

SMALL = [
    (FacilityLine(4), 3),
    (FacilityLine(5), 3),
    (FacilityLine(3, facilities=3), 3),
    (Plane(2, 2), 3),
    (Plane(3, 2), 2),
    (Plane(3, 3), 2),
    (Sale(3), 4),
    (Sale(5), 3),
]
EPSILONS = [Fraction(1, 20), Fraction(1, 2), Fraction(2)]
CASES = pytest.mark.parametrize(("setting", "people"), SMALL)


def profiles(choice, people):
    """Yield every profile of others, in one order, as only how many there are of a type matters."""
    return itertools.combinations_with_replacement(choice.setting.types, people - 1)


def worst_lie(choice, people):
    """Return the least that any lie costs anybody, whatever others report."""
    tables, types = choice.tables, list(choice.setting.types)
    least = np.inf
    for others in profiles(choice, people):
        laws = np.stack([choice.probabilities([report, *others]) for report in types])
        # [type, report]: what somebody of a type has after a report.
        have = np.einsum("rs,trs->tr", laws, tables.utilities) / choice.setting.unit
        costs = have.diagonal()[:, None] - have
        np.fill_diagonal(costs, np.inf)
        least = min(least, float(costs.min()))
    return least


@CASES
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_every_lie_costs_everybody_something_whatever_others_report(setting, people, epsilon):
    choice = TruthfulChoice(setting, epsilon=epsilon)
    assert worst_lie(choice, people) > ROUNDING
    assert choice.truthfulness().bound == 0


@CASES
def test_a_margin_that_was_asked_for_is_kept(setting, people):
    margin = tables_of(setting).gap / 2
    choice = TruthfulChoice(setting, epsilon=Fraction(1, 5), margin=margin)
    assert worst_lie(choice, people) > margin
    assert choice.mixing > TruthfulChoice(setting, epsilon=Fraction(1, 5)).mixing


@CASES
def test_the_mixing_probability_is_the_least_that_the_theorem_allows(setting, people):
    choice, tables = TruthfulChoice(setting, epsilon=Fraction(1, 2)), tables_of(setting)
    gain = tables.reach * most_gain(BoundedRange(Fraction(1, 2)))
    assert choice.mixing * tables.gap >= (1 - choice.mixing) * gain
    less = choice.mixing - Fraction(1, 10**9)
    assert less * tables.gap < (1 - less) * gain


@CASES
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_report_moves_the_outcome_by_more_than_epsilon(setting, people, epsilon):
    choice, worst = TruthfulChoice(setting, epsilon=epsilon), 0.0
    for others in profiles(choice, people):
        reports = [[], *([report] for report in setting.types)]  # gone, or replaced by any other
        logs = [np.log(choice.probabilities([*report, *others])) for report in reports]
        pure = [np.log(choice.mechanism.probabilities(choice.scores([*report, *others]))) for report in reports]
        for one, other in itertools.combinations(range(len(reports)), 2):
            assert np.ptp(logs[one] - logs[other]) <= float(choice.cost.epsilon) + ROUNDING
            worst = max(worst, float(np.ptp(pure[one] - pure[other])))
    assert 0.9 * float(epsilon) <= worst <= float(epsilon) + ROUNDING  # the first branch uses what is paid for


@CASES
def test_no_lie_gains_more_in_the_first_branch_than_the_proof_allows(setting, people):
    choice, tables = TruthfulChoice(setting, epsilon=1), tables_of(setting)
    bound, best = float(tables.reach * most_gain(BoundedRange(1))), 0.0
    truthful = tables.utilities[np.arange(len(tables.index)), np.arange(len(tables.index))] / setting.unit
    for others in profiles(choice, people):
        laws = np.stack([choice.mechanism.probabilities(choice.scores([r, *others])) for r in setting.types])
        have = laws @ truthful.T  # [report, type], each treated as they are
        best = max(best, float((have - have.diagonal()).max()))
    assert best <= bound + ROUNDING
    if isinstance(setting, Sale):
        assert best > 0.1 * bound  # here a lie does pay


def plain_gap(setting):
    """Return the gap by walking all types, lies and outcomes."""
    weights = {s: setting.punishment(s) for s in setting.outcomes}
    total = sum(weights.values())
    return min(
        sum(w * Fraction(setting.utility(t, s, t) - setting.utility(t, s, r), setting.unit) for s, w in weights.items())
        / total
        for t, r in itertools.permutations(setting.types, 2)
    )


@CASES
def test_the_punishment_is_strict_and_its_gap_is_what_a_plain_walk_finds(setting, people):
    assert tables_of(setting).gap == plain_gap(setting) > 0


def test_gaps_that_the_docstrings_state():
    assert [tables_of(FacilityLine(places)).gap for places in (2, 5, 11)] == [1, Fraction(1, 16), Fraction(1, 100)]
    assert tables_of(Sale(5)).gap == Fraction(1, 5) * Fraction(1, 10)
    # Of the (w−1)h + w(h−1) pairs, those that part two neighbours are as many as the side they are parted across.
    assert tables_of(Plane(4, 3)).gap == Fraction(3, 9 + 8) / 5


@pytest.mark.parametrize("setting", [FacilityLine(5, facilities=1), Plane(3, 3, facilities=1)])
def test_where_no_lie_can_be_punished_truth_is_not_promised(setting):
    with pytest.raises(NotProved, match="costs nothing"):
        TruthfulChoice(setting, epsilon=1)


class OnValues(Sale):
    """Prices that are values: buying at one's value is worth nothing, and a lie of one step costs nothing."""

    def utility(self, type_, outcome, report, /):
        return 2 * (type_ - outcome) if report >= outcome else 0


def test_prices_on_values_have_no_gap():
    with pytest.raises(NotProved, match="costs nothing"):
        TruthfulChoice(OnValues(4), epsilon=1)


class Envious(FacilityLine):
    """Sends everybody to the facility that is farthest from the report: most would rather be somebody else."""

    def utility(self, type_, outcome, report, /):
        sent = max(outcome, key=lambda place: (abs(place - report), place))
        return self.unit - abs(sent - type_)


def test_a_treatment_that_is_not_best_for_the_report_is_refused():
    with pytest.raises(NotProved, match="another type"):
        TruthfulChoice(Envious(4), epsilon=1)


@pytest.mark.parametrize("epsilon", [Fraction(2), Fraction(20)])
def test_without_the_punishment_some_lie_pays(epsilon):
    """The control: with nothing mixed in, or a tenth of what is computed, the same eyes find a lie that gains."""
    choice, weak = (TruthfulChoice(Sale(3), epsilon=epsilon) for _ in range(2))
    assert worst_lie(choice, 4) > 0
    for share in (0, choice.mixing / 10):
        object.__setattr__(weak, "mixing", Fraction(share))
        assert worst_lie(weak, 4) < -0.01


@CASES
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(20)])
def test_scores_are_as_near_the_best_as_stated(setting, people, epsilon):
    choice = TruthfulChoice(setting, epsilon=epsilon)
    stated, mean = choice.quality(Fraction(9, 10)), choice.mean_quality(people)
    for reports in itertools.combinations_with_replacement(setting.types, people):
        scores, law = choice.scores(list(reports)), choice.probabilities(list(reports))
        fine = scores >= scores.max() - float(stated.bound)
        assert float(law[fine].sum()) >= float(stated.probability) - ROUNDING
        assert float(law @ scores) >= scores.max() - float(mean.bound) - ROUNDING


def test_the_chosen_epsilon_has_the_best_bound_and_shrinks_with_people():
    few, many = best_epsilon(FacilityLine(5), 10**3), best_epsilon(FacilityLine(5), 10**7)
    assert many < few

    def bound(price):
        return TruthfulChoice(FacilityLine(5), epsilon=price).mean_quality(10**3).bound

    assert bound(few) <= min(bound(few * 2), bound(few / 2))


def test_what_each_person_loses_vanishes_with_their_number():
    each = []
    for people in (10**3, 10**5, 10**7):
        choice = TruthfulChoice(FacilityLine(5), epsilon=best_epsilon(FacilityLine(5), people))
        each.append(choice.mean_quality(people).bound / (people * choice.setting.unit))
    assert each[0] > 5 * each[1] > 25 * each[2]


@dataclass(frozen=True)
class Odd:
    """A sale whose utilities and scores are made odd."""

    utilities: Fraction | float = 1
    points: int | float = 1
    types, outcomes, unit = Sale(3).types, Sale(3).outcomes, 6

    def utility(self, type_, outcome, report):
        return Sale(3).utility(type_, outcome, report) * self.utilities

    def score(self, report, outcome):
        return Sale(3).score(report, outcome) * self.points

    def punishment(self, outcome):
        return 1


@pytest.mark.parametrize("odd", [Odd(utilities=0.75), Odd(points=0.5), Odd(points=2**62), Odd(points=2**61 // 5)])
def test_utilities_that_would_be_rounded_and_scores_whose_sums_would_wrap_are_refused(odd):
    """Of 0.75 steps nothing would be left, and two people's scores of 2⁶¹·… would be a negative one."""
    assert TruthfulChoice(Odd(), epsilon=1).mixing == TruthfulChoice(Sale(3), epsilon=1).mixing
    with pytest.raises(InvalidInput, match="whole number"):
        TruthfulChoice(odd, epsilon=1)
