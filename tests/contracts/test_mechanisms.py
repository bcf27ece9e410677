"""What every mechanism must honour, whatever it perturbs."""

import dataclasses
import inspect
import pickle
import re

import numpy as np
import pytest

from discreet import mechanisms
from discreet.accounting import PrivacyLoss, calibrate_concentrated, epsilon
from discreet.core import Bounds, DiscreetError, counting_query, histogram
from discreet.mechanisms import (
    AboveThreshold,
    CentredTotal,
    ExponentialMechanism,
    Extreme,
    FactorisationCounter,
    Gaussian,
    GaussianThreshold,
    Laplace,
    LaplaceThreshold,
    LimitChoice,
    ManyQuantiles,
    Mean,
    NoiseKind,
    NumericSparse,
    OnGrid,
    PermuteAndFlip,
    QuantileChoice,
    QuantileMethod,
    RandomisedResponse,
    RangeChoice,
    ReportNoisyMax,
    Sparse,
    TopK,
    TopKMethod,
    TreeCounter,
    Truncated,
    TruncatedGeometricSelection,
)
from scripted import Seeded

SECRET = 31_415_926
BOUNDS = Bounds(0, 10)

#: A mechanism and a way to use it once on data in which the secret stands.
CASES = {
    "Laplace": (Laplace.for_epsilon(1, histogram()), lambda m, e: m.perturb([SECRET, 1, 2], entropy=e)),
    "Gaussian": (
        Gaussian.for_epsilon_delta(1, 1e-9, histogram()),
        lambda m, e: m.perturb(np.array([SECRET, 1, 2]), entropy=e),
    ),
    "Truncated": (
        Truncated(Laplace.for_epsilon(1, counting_query()), low=0, high=10),
        lambda m, e: m.perturb(SECRET, entropy=e),
    ),
    "OnGrid": (
        OnGrid.laplace(1, BOUNDS, moves=1, size=2),
        lambda m, e: m.perturb([float(SECRET), 2.0], entropy=e),
    ),
    "Mean": (Mean.for_epsilon(1, BOUNDS), lambda m, e: m.perturb(CentredTotal.of([SECRET, 2], BOUNDS), entropy=e)),
    "RandomisedResponse": (RandomisedResponse.for_epsilon(1, categories=4), lambda m, e: m.perturb([3, 0], entropy=e)),
    "ExponentialMechanism": (ExponentialMechanism(epsilon=1), lambda m, e: m.choose([SECRET, 2, 3], entropy=e)),
    "PermuteAndFlip": (PermuteAndFlip(epsilon=1), lambda m, e: m.choose([SECRET, 2, 3], entropy=e)),
    **{
        f"ReportNoisyMax {kind.name}": (
            ReportNoisyMax(epsilon=1, noise=kind),
            lambda m, e: m.choose([SECRET, 2, 3], entropy=e),
        )
        for kind in NoiseKind
    },
    **{
        f"TopK {method.name}": (TopK(k=2, epsilon=1, method=method), lambda m, e: m.choose([SECRET, 2, 3], entropy=e))
        for method in TopKMethod
    },
    "TruncatedGeometricSelection": (
        TruncatedGeometricSelection(epsilon=1, delta=1e-9),
        lambda m, e: m.select([SECRET, 21, 22], entropy=e),
    ),
    "LaplaceThreshold": (LaplaceThreshold(epsilon=1, delta=1e-9), lambda m, e: m.select([SECRET, 22], entropy=e)),
    "GaussianThreshold": (
        GaussianThreshold.for_epsilon_delta(1, 1e-9),
        lambda m, e: m.select_with_counts([SECRET, 36], entropy=e),
    ),
    "QuantileChoice": (QuantileChoice(level=0.5, epsilon=1), lambda m, e: m.choose([3, SECRET, 3], entropy=e)),
    "Extreme": (Extreme(upper=True, offset=5, epsilon=1), lambda m, e: m.choose([3, SECRET, 3], entropy=e)),
    **{
        f"ManyQuantiles {method.name}": (
            ManyQuantiles(levels=[0.5], epsilon=1, cells=3, method=method),
            lambda m, e: m.choose([3, SECRET, 3], entropy=e),
        )
        for method in QuantileMethod
    },
    "RangeChoice": (
        RangeChoice(epsilon=1, cells=3, upper=True),
        lambda m, e: m.choose([3, SECRET, 3], entropy=e),
    ),
    "LimitChoice": (LimitChoice(epsilon=1, most=3), lambda m, e: m.choose([3, SECRET, 3], entropy=e)),
    "AboveThreshold": (AboveThreshold(epsilon=1, threshold=5), lambda m, e: m.start(entropy=e).ask(SECRET)),
    "Sparse": (Sparse(epsilon=1, threshold=5, answers=2), lambda m, e: m.start(entropy=e).ask(SECRET)),
    "TreeCounter": (TreeCounter(steps=4, epsilon=1), lambda m, e: m.measure(2, [3, 1, SECRET], entropy=e)),
    "FactorisationCounter": (
        FactorisationCounter(steps=4, rho=calibrate_concentrated(1, 1e-9)),
        lambda m, e: m.measure(2, [3, 1, SECRET], entropy=e),
    ),
    "NumericSparse": (NumericSparse(epsilon=1, threshold=5, answers=2), lambda m, e: m.start(entropy=e).ask(SECRET)),
}

each_mechanism = pytest.mark.parametrize("name", CASES)


def test_no_mechanism_is_left_out():
    made = {type(mechanism).__name__ for mechanism, _ in CASES.values()}
    exported = {name for name in mechanisms.__all__ if hasattr(getattr(mechanisms, name), "cost")}
    assert made == exported


@each_mechanism
def test_the_cost_is_a_privacy_loss_that_is_known_before_any_data(name):
    mechanism, _ = CASES[name]
    assert isinstance(mechanism.cost, PrivacyLoss)
    assert mechanism.cost == mechanism.cost
    assert epsilon(mechanism.cost, 1e-9) <= 1
    assert epsilon(mechanism.cost, 1e-9) >= 0.9


@each_mechanism
def test_the_docstring_states_the_guarantee_and_names_the_theorem(name):
    text = inspect.getdoc(type(CASES[name][0]))
    assert re.search(r"Guarantee:", text)
    assert re.search(r"Reference:", text)
    assert re.search(r"\b(19|20)\d\d\b", text)


@each_mechanism
def test_a_mechanism_is_a_frozen_value(name):
    mechanism, _ = CASES[name]
    assert dataclasses.is_dataclass(mechanism)
    with pytest.raises((dataclasses.FrozenInstanceError, AttributeError, TypeError)):
        mechanism.epsilon = 5
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert hash(mechanism) == hash(pickle.loads(pickle.dumps(mechanism)))


@each_mechanism
def test_using_a_mechanism_leaves_no_trace_of_the_data_in_it(name):
    mechanism, use = CASES[name]
    before = repr(mechanism)
    use(mechanism, Seeded(1))
    assert repr(mechanism) == before
    assert str(SECRET) not in repr(mechanism)


@each_mechanism
def test_noise_is_fresh_each_time_and_comes_from_the_given_stream(name):
    mechanism, use = CASES[name]
    assert str(use(mechanism, Seeded(5))) == str(use(mechanism, Seeded(5)))
    with pytest.raises(DiscreetError):
        use(mechanism, np.random.default_rng(1))


@each_mechanism
def test_the_error_is_known_beforehand(name):
    mechanism, _ = CASES[name]
    assert callable(mechanism.error)
    assert "confidence" in inspect.signature(mechanism.error).parameters
