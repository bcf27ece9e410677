"""Accuracy first: the least ε for a wanted error."""

from fractions import Fraction

import pytest

from discreet import counting_query
from discreet.core import DiscreetError
from discreet.mechanisms import ExponentialMechanism, Gaussian, Laplace, RandomisedResponse, least_epsilon


@pytest.mark.parametrize(
    ("make", "within", "size"),
    [
        (lambda eps: Laplace.for_epsilon(eps, counting_query()), 25, {}),
        (lambda eps: Laplace.for_epsilon(eps, counting_query()), 25, {"size": 10}),
        (lambda eps: Gaussian.for_epsilon_delta(eps, 1e-6, counting_query()), 40, {}),
        (RandomisedResponse.for_epsilon, 500, {"people": 10_000}),
        (lambda eps: ExponentialMechanism(epsilon=eps), 7, {"candidates": 100}),
    ],
)
def test_the_least_epsilon_reaches_the_error_and_a_smaller_one_does_not(make, within, size):
    found = least_epsilon(make, within, 0.95, **size)
    assert make(found).error(0.95, **size) <= within
    assert make(found * Fraction(98, 100)).error(0.95, **size) > within * 0.97


def test_any_error_will_do_where_even_the_least_epsilon_reaches_it():
    assert least_epsilon(lambda eps: Laplace.for_epsilon(eps, counting_query()), 10**12) < Fraction(1, 10**8)


@pytest.mark.parametrize(
    "call",
    [
        lambda: least_epsilon(3, 1),
        lambda: least_epsilon(lambda eps: Laplace.for_epsilon(eps, counting_query()), 0),
        lambda: least_epsilon(lambda eps: Laplace.for_epsilon(eps, counting_query()), 1, 2),
        lambda: least_epsilon(lambda _: Laplace.for_epsilon(1, counting_query()), 1e-3),
    ],
)
def test_wrong_calls_are_refused_with_a_fix(call):
    with pytest.raises(DiscreetError) as caught:
        call()
    assert caught.value.fix
