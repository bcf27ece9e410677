"""Which groups are shown: no neighbour is told apart by more than (ε, δ), and nothing is given away."""

import itertools
import math
import time
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from coins import SPARE, threshold
from discreet.accounting import Approximate, Concentrated, approximate_of, concentrated_of
from discreet.accounting.gaussian_curves import tail
from discreet.core import DiscreetError, exp_minus
from discreet.mechanisms import (
    GaussianThreshold,
    LaplaceThreshold,
    TruncatedGeometricSelection,
    best_selection,
)
from discreet.mechanisms.partition_selection import keep_table
from scripted import Scripted, Seeded

#: Bits to which e^ε is known here: more than the tables use.
PRECISE = 300
TARGETS = pytest.mark.parametrize(
    ("epsilon", "delta"),
    [
        (Fraction(1), Fraction(1, 10**9)),
        (Fraction(1, 10), Fraction(1, 10**5)),
        (Fraction(5), Fraction(1, 3)),
        (Fraction(1, 3), Fraction(1, 10**40)),
        (Fraction(1, 100), Fraction(1, 10)),
    ],
)


def exponentials(epsilon):
    """Return bounds on e^ε."""
    low, high = exp_minus(epsilon, PRECISE)
    return Fraction(1 << PRECISE, high), Fraction(1 << PRECISE, low)


def chances(epsilon, delta):
    table = keep_table(epsilon, delta)
    return [table.chance(people) for people in range(len(table.weights) + 1)]


@TARGETS
def test_the_optimal_rule_keeps_both_inequalities_exactly(epsilon, delta):
    least = exponentials(epsilon)[0]
    odds = chances(epsilon, delta)
    assert odds[0] == 0
    assert odds[-1] == 1
    for before, after in itertools.pairwise(odds):
        assert before < after
        assert after <= least * before + delta
        assert 1 - before <= least * (1 - after) + delta


@TARGETS
def test_the_optimal_rule_gives_nothing_away(epsilon, delta):
    most = exponentials(epsilon)[1]
    for before, after in itertools.pairwise(chances(epsilon, delta)):
        best = min(most * before + delta, 1 - (1 - before - delta) / most, Fraction(1))
        assert best - after < Fraction(1, 1 << 60)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_the_cost_adds_up_to_what_was_asked_for(groups):
    for rule in (TruncatedGeometricSelection, LaplaceThreshold):
        cost = rule(epsilon=Fraction(1, 2), delta=Fraction(1, 10**6), groups=groups).cost
        assert approximate_of(cost) == (Fraction(1, 2), Fraction(1, 10**6))
    assert GaussianThreshold(rho=1, delta=1e-6, groups=groups).cost == Concentrated(1, 1e-6)
    assert GaussianThreshold.for_epsilon_delta(1, 1e-6, groups=groups).cost == Approximate(1, 1e-6)


def outcomes(rule, counts):
    """Return the exact probability of every set of groups shown."""
    each = [
        rule.chance(count) if isinstance(rule, TruncatedGeometricSelection) else Fraction(rule.keep_probability(count))
        for count in counts
    ]
    return {
        shown: math.prod(chance if here else 1 - chance for chance, here in zip(each, shown, strict=True))
        for shown in itertools.product((False, True), repeat=len(counts))
    }


def hockey_stick(left, right, factor):
    return sum(max(Fraction(0), left[one] - factor * right[one]) for one in left)


RULES = {
    "optimal": TruncatedGeometricSelection,
    "Laplace": LaplaceThreshold,
    "Gaussian": lambda *, epsilon, delta, groups: GaussianThreshold.for_epsilon_delta(epsilon, delta, groups=groups),
}


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize(("groups", "epsilon", "delta"), [(1, 1, "0.01"), (2, 1, "0.05"), (3, 2, "0.1")])
def test_no_neighbour_is_told_apart_by_more_than_epsilon_and_delta(kind, groups, epsilon, delta):
    """All counts up to some, and every set of groups that a person may be in; exact for the optimal rule."""
    allowed = Fraction(delta)
    rule = RULES[kind](epsilon=epsilon, delta=allowed, groups=groups)
    factor = exponentials(Fraction(epsilon))[0]
    top = 12 if groups == 1 else 5
    worst = Fraction(0)
    for counts in itertools.product(range(top), repeat=groups):
        before = outcomes(rule, counts)
        for more in itertools.product((0, 1), repeat=groups):
            after = outcomes(rule, [a + b for a, b in zip(counts, more, strict=True)])
            worst = max(worst, hockey_stick(before, after, factor), hockey_stick(after, before, factor))
    assert worst <= allowed
    if kind == "optimal" and groups == 1:
        assert worst * Fraction(101, 100) >= allowed


@pytest.mark.parametrize("groups", [1, 3, 40])
@pytest.mark.parametrize("delta", [Fraction(1, 100), Fraction(1, 10**9)])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(3)])
def test_the_laplace_threshold_is_the_least_that_one_person_passes_rarely(epsilon, delta, groups):
    rule = LaplaceThreshold(epsilon=epsilon, delta=delta, groups=groups)

    def passing(reach):
        low, high = exp_minus(epsilon / groups * (reach - 1), PRECISE)
        base = exp_minus(epsilon / groups, PRECISE)
        return Fraction(low, (1 << PRECISE) + base[1]), Fraction(high, (1 << PRECISE) + base[0])

    assert passing(rule.threshold)[1] * groups <= delta
    assert rule.threshold == 2 or passing(rule.threshold - 1)[0] * groups > delta
    assert rule.keep_probability(1) == pytest.approx(float(passing(rule.threshold)[1]), rel=1e-9)


@pytest.mark.parametrize("groups", [1, 3, 40])
@pytest.mark.parametrize("rho", [Fraction(1, 1000), Fraction(1, 2)])
def test_the_gaussian_threshold_is_the_least_that_one_person_passes_rarely(rho, groups):
    rule = GaussianThreshold(rho=rho, delta=1e-9, groups=groups)
    assert rule.variance == groups / (2 * rho)
    width = math.sqrt(rule.variance)
    assert tail(width, rule.threshold - 1)[1] * groups <= 1e-9
    assert tail(width, rule.threshold - 2)[0] * groups > 1e-9


def test_half_of_delta_is_for_the_gaussian_noise_and_half_for_the_threshold():
    rule = GaussianThreshold.for_epsilon_delta(1, 1e-6, groups=4)
    width = math.sqrt(rule.variance)
    assert tail(width, rule.threshold - 1)[1] * 4 <= 0.5e-6 < tail(width, rule.threshold - 2)[0] * 4


@pytest.mark.parametrize("people", [1, 2, 3, 5, 7])
def test_the_optimal_rule_draws_exactly_what_it_states(people):
    rule = TruncatedGeometricSelection(epsilon=1, delta=Fraction(1, 1000))
    words = threshold(lambda word: bool(rule.select([people], entropy=Scripted([word, *SPARE]))[0]))
    assert abs(Fraction(words, 1 << 64) - rule.chance(people)) <= Fraction(1, 1 << 64)


def test_a_word_that_equals_a_chance_is_decided_by_further_bits():
    rule = TruncatedGeometricSelection(epsilon=1, delta=Fraction(1, 1000))
    chance = rule.chance(3) * (1 << 64)
    word, rest = math.floor(chance), chance - math.floor(chance)
    assert rest > 0
    assert rule.select([3], entropy=Scripted([word, 0]))[0]
    assert not rule.select([3], entropy=Scripted([word, (1 << 64) - 1]))[0]


def test_who_is_sure_is_shown_whatever_the_word():
    rule = TruncatedGeometricSelection(epsilon=1, delta=Fraction(1, 1000))
    sure = len(keep_table(Fraction(1), Fraction(1, 1000)).weights)
    assert rule.keep_probability(sure) == 1 > rule.keep_probability(sure - 1)
    assert rule.select([sure, sure + 1, 10**15], entropy=Scripted([(1 << 64) - 1] * 3)).all()


@pytest.mark.parametrize("kind", RULES)
def test_an_empty_group_is_never_shown(kind):
    rule = RULES[kind](epsilon=1, delta=Fraction(1, 3), groups=1)
    shown = rule.select(np.tile([0, -3, 1000], 20_000), entropy=Seeded(4)).reshape(-1, 3)
    assert not shown[:, :2].any()
    assert shown[:, 2].all()
    assert rule.keep_probability(0) == 0


@pytest.mark.parametrize("kind", RULES)
def test_groups_are_shown_as_often_as_stated(kind):
    """Seed 9, 40,000 draws at each of five counts, Bonferroni at 1e-4."""
    rule = RULES[kind](epsilon=1, delta=Fraction(1, 1000), groups=2)
    middle = rule.least_kept()
    for people in (middle - 5, middle - 1, middle, middle + 1, middle + 4):
        shown = int(rule.select(np.full(40_000, people), entropy=Seeded(9 + people)).sum())
        assert stats.binomtest(shown, 40_000, rule.keep_probability(people)).pvalue > 1e-4 / 5


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("chance", [0.01, 0.5, 0.95])
def test_the_least_group_shown_so_often_is_the_least(kind, chance):
    rule = RULES[kind](epsilon=1, delta=1e-6, groups=3)
    people = rule.least_kept(chance)
    assert rule.keep_probability(people) >= chance > rule.keep_probability(people - 1)
    assert rule.error(chance) == people


@pytest.mark.parametrize("kind", ["Laplace", "Gaussian"])
def test_noisy_counts_are_told_only_of_groups_that_are_shown(kind):
    rule = RULES[kind](epsilon=1, delta=1e-3, groups=1)
    shown, noisy = rule.select_with_counts(np.full(5000, rule.least_kept()), entropy=Seeded(3))
    assert 0 < shown.sum() < 5000
    assert (noisy[shown] >= rule.threshold).all()
    assert (noisy[~shown] == 0).all()


def test_a_million_groups_are_decided_within_50_milliseconds():
    rule = TruncatedGeometricSelection(epsilon=1, delta=1e-9)
    counts = np.arange(10**6) % 60
    rule.select(counts)
    seconds = []
    for _ in range(5):
        start = time.process_time()
        rule.select(counts)
        seconds.append(time.process_time() - start)
    assert min(seconds) < 0.05


@pytest.mark.parametrize("epsilon", [0.1, 1])
@pytest.mark.parametrize("groups", [1, 3, 10, 100])
def test_the_best_rule_shows_the_smallest_groups(epsilon, groups):
    best = best_selection(epsilon=epsilon, delta=1e-9, groups=groups)
    every = [make(epsilon=epsilon, delta=1e-9, groups=groups) for make in RULES.values()]
    assert best.least_kept() == min(rule.least_kept() for rule in every)
    assert isinstance(best, TruncatedGeometricSelection if groups < 10 else GaussianThreshold)


@pytest.mark.parametrize(
    ("rho", "delta", "groups", "kind"),
    [
        (0.005, 1e-9, 1, GaussianThreshold),
        (2, 1e-9, 30, GaussianThreshold),
        (0.02, 0.1, 1, TruncatedGeometricSelection),
        (0.02, 0.1, 2, TruncatedGeometricSelection),
    ],
)
def test_the_best_rule_for_rho_costs_no_more_than_rho(rho, delta, groups, kind):
    rule = best_selection(rho=rho, delta=delta, groups=groups)
    spent, missed = concentrated_of(rule.cost)
    assert isinstance(rule, kind)
    assert Fraction(str(rho)) * Fraction(99, 100) <= spent <= Fraction(str(rho))
    assert missed <= Fraction(str(delta))


def test_a_rule_that_cannot_be_built_is_left_out():
    with pytest.raises(DiscreetError, match="more than"):
        TruncatedGeometricSelection(epsilon=1e-6, delta=1e-9)
    assert best_selection(epsilon=1e-6, delta=1e-9).least_kept() > 10**6


@pytest.mark.parametrize(
    ("terms", "say"),
    [
        ({"epsilon": 1, "rho": 1, "delta": 1e-9}, "One target"),
        ({"delta": 1e-9}, "One target"),
        ({"epsilon": 0, "delta": 1e-9}, "epsilon must be above 0"),
        ({"epsilon": 1, "delta": 0}, "delta must lie"),
        ({"epsilon": 1, "delta": 1e-9, "groups": 0}, "groups must be at least 1"),
        ({"rho": 1, "delta": 1e-9, "groups": 1.5}, "groups is a float"),
    ],
)
def test_a_target_that_makes_no_sense_is_refused_with_a_fix(terms, say):
    with pytest.raises(DiscreetError, match=say) as refused:
        best_selection(**terms)
    assert refused.value.fix


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("counts", [[1.5], "12", np.array([0.5]), None, [True]])
def test_counts_that_are_not_whole_are_refused_without_being_quoted(kind, counts):
    with pytest.raises(DiscreetError) as refused:
        RULES[kind](epsilon=1, delta=1e-9, groups=1).select(counts)
    assert "people are in each group" in refused.value.fix
