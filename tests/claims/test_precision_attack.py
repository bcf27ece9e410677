"""The attack on the low bits of floating-point noise (Haney, Desfontaines, Hartman, Shrestha, Hay 2022)."""

from fractions import Fraction

import numpy as np
import pytest

from attack import epsilon_lower_bound, lowest_set_bit
from discreet.core import Bounds, counting_query
from discreet.mechanisms import CentredTotal, Gaussian, Laplace, Mean, OnGrid, Truncated, to_grid
from scripted import Seeded

DRAWS = 200_000
ALPHA = 1e-6
BOUNDS = Bounds(-1000, 1000)
#: A grid of binary fractions, where float outputs have low bits to look at.
FINE = Bounds(-1000, 1000, step=Fraction(1, 2**40))


def outputs(mechanism, answer, seed):
    if isinstance(mechanism, OnGrid):  # which releases one value at a time, as it was made for; here at once
        point = int(to_grid(answer, mechanism.bounds))
        noisy = mechanism.mechanism.perturb(np.full(DRAWS, point), entropy=Seeded(seed))
        return noisy.astype(np.float64) * float(mechanism.bounds.step)
    return mechanism.perturb(np.full(DRAWS, answer), entropy=Seeded(seed))


MECHANISMS = {
    "laplace": Laplace.for_epsilon(1, counting_query()),
    "gaussian": Gaussian.for_epsilon_delta(1, 1e-9, counting_query()),
    "truncated": Truncated(Laplace.for_epsilon(1, counting_query()), low=-50, high=50),
    "laplace on a decimal grid": OnGrid.laplace(1, BOUNDS, moves=1),
    "laplace on a binary grid": OnGrid.laplace(1, FINE, moves=1),
    "gaussian on a decimal grid": OnGrid.gaussian(1, 1e-9, BOUNDS, moves=1),
    "gaussian on a binary grid": OnGrid.gaussian(1, 1e-9, FINE, moves=1),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_lowest_set_bit_tells_no_more_than_epsilon(name):
    mechanism = MECHANISMS[name]
    found = epsilon_lower_bound(
        lowest_set_bit(outputs(mechanism, 0, 1)), lowest_set_bit(outputs(mechanism, 1, 2)), alpha=ALPHA
    )
    assert found <= 1


def test_the_lowest_set_bit_of_a_private_mean_tells_no_more_than_epsilon():
    mechanism = Mean.for_epsilon(1, Bounds(0, 1))
    ten = CentredTotal.of([0.5] * 10, mechanism.bounds)
    eleven = CentredTotal.of([0.5] * 10 + [1.0], mechanism.bounds)
    one, other = Seeded(1), Seeded(2)
    left = [mechanism.perturb(ten, entropy=one).value for _ in range(4_000)]
    right = [mechanism.perturb(eleven, entropy=other).value for _ in range(4_000)]
    assert epsilon_lower_bound(lowest_set_bit(left), lowest_set_bit(right), alpha=ALPHA) <= 1


@pytest.mark.parametrize("kind", ["laplace", "normal"])
def test_the_same_attack_breaks_numpys_float_noise(kind):
    """The control: the attack works, so passing it means something."""
    generator = np.random.default_rng(5)
    scale = 1.0 if kind == "laplace" else MECHANISMS["gaussian"].deviation
    noise = getattr(generator, kind)
    left, right = 0.0 + noise(0, scale, DRAWS), 1.0 + noise(0, scale, DRAWS)
    assert epsilon_lower_bound(lowest_set_bit(left), lowest_set_bit(right), alpha=ALPHA) > 5
