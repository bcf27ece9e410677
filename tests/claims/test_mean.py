"""The private mean: its guarantee and its error."""

import numpy as np
import pytest

from discreet.accounting import epsilon
from discreet.core import Bounds, Limit, Neighbours
from discreet.mechanisms import CentredTotal, Mean
from scripted import Seeded


@pytest.mark.parametrize("relation", list(Neighbours), ids=str)
def test_the_mean_costs_what_was_asked_for(relation):
    assert epsilon(Mean.for_epsilon(0.5, Bounds(0, 100), neighbours=relation).cost, 0) == 0.5


@pytest.mark.parametrize("people", [50, 2000])
def test_the_average_age_lies_within_its_stated_error(people):
    """Ages in [0, 100]: the error bar of each release, and the one told beforehand, hold as often as they say."""
    bounds = Bounds(0, 100)
    mechanism = Mean.for_epsilon(1, bounds)
    ages = np.random.default_rng(3).integers(18, 95, people)
    total, true = CentredTotal.of(ages, bounds), ages.mean()
    stream = Seeded(31)
    releases = [mechanism.perturb(total, entropy=stream) for _ in range(1500)]
    errors = np.array([abs(release.value - true) for release in releases])
    assert np.mean(errors <= [release.error for release in releases]) >= 0.95
    assert np.mean(errors <= mechanism.error(count=people)) >= 0.95
    # A bound, but not an idle one: it adds the worst of sum and count.
    assert np.quantile(errors, 0.95) > mechanism.error(count=people) / 6


def test_a_mean_of_nobody_is_no_error_and_stays_within_the_bounds():
    mechanism = Mean.for_epsilon(1, Bounds(0, 100))
    for _ in range(100):
        release = mechanism.perturb(CentredTotal.of([], Bounds(0, 100)))
        assert 0 <= release.value <= 100
        assert release.error <= 100


def test_values_are_counted_from_the_middle_so_that_the_sum_needs_half_the_noise():
    mechanism = Mean.for_epsilon(1, Bounds(0, 100, step=1))
    assert mechanism.sums.scale == 100  # radius 50 at ε = 1/2
    assert Mean.for_epsilon(1, Bounds(0, 100, step=1), neighbours=Neighbours.REPLACE).sums.scale == 200


def test_rows_per_person_widen_the_noise_on_sum_and_count():
    one, three = Mean.for_epsilon(1, Bounds(0, 100)), Mean.for_epsilon(1, Bounds(0, 100), limit=Limit(rows_per_group=3))
    assert three.sums.scale == 3 * one.sums.scale
    assert three.counts.scale == 3 * one.counts.scale


def test_a_total_is_exact_beyond_64_bits_and_keeps_its_secrets():
    bounds = Bounds(0, 2**53, step=1)
    values = np.full(5000, 2**53)
    values[0] = 7
    total = CentredTotal.of(values, bounds)
    assert total.steps == 4999 * 2**52 + 7 - 2**52
    assert total.count == 5000
    assert str(total.steps) not in repr(total)
    assert CentredTotal.of([1.5, float("nan"), 1e9, -4], Bounds(0, 10, step=1)).steps == (2 - 5) + 0 + 5 - 5
