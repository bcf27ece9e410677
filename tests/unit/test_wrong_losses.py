"""Wrong calls to accounting: each gets our error with a fix, none a wrong number and none a traceback from inside."""

import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import accounting
from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    Group,
    LaplaceNoise,
    Parallel,
    Pure,
    RandomisedResponse,
    Renyi,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
    advanced_composition,
    advanced_composition_sharp,
    advantage,
    advised_delta,
    approximate_of,
    basic_composition,
    bracket,
    bracket_delta,
    calibrate_concentrated,
    calibrate_gaussian,
    concentrated_of,
    curve,
    delta,
    epsilon,
    group_privacy,
    group_privacy_sharp,
    guarantee,
    largest_share,
    least_noise,
    loss_distribution,
    loss_from_text,
    loss_to_text,
    most_times,
    need_delta,
    neighbours_of,
    optimal_composition,
    optimal_delta,
    optimal_delta_unequal,
    optimal_epsilon,
    posterior,
    power,
    renyi_of,
)
from discreet.core import DiscreetError, Neighbours, OutOfRange, Sensitivity, WrongType
from loss_strategies import WIDE, losses

ONE = Sensitivity.box(l0=1, linf=1)
HALF = Fraction(1, 2)

NOT_NUMBERS = [
    True,
    "1",
    None,
    1j,
    [1],
    (1,),
    {},
    b"1",
    np.array([1.0]),
    np.timedelta64(3),
    object(),
    Pure(1),
    math.nan,
    math.inf,
    -math.inf,
]
NOT_NUMBERS += [
    Decimal("NaN"),
    Decimal("Infinity"),
    np.float64("nan"),
    1e200,
    5e-324,
    Fraction(1, 10**101),
    Fraction(3, 2**4097),
]
NOT_POSITIVE = [0, -1, -0.5, Fraction(-1, 3), Decimal(0), np.int64(-2), *NOT_NUMBERS]
NOT_A_SHARE = [1, 2, 1.0000001, *NOT_POSITIVE]
NOT_A_DELTA = [1, 1.5, -1, -1e-9, *NOT_NUMBERS]
NOT_A_COUNT = [0, -1, 1.0, 2.5, "3", True, None, [2], math.nan, Fraction(3), Decimal(3), np.float64(2), Pure(1)]
NOT_A_LOSS = [
    None,
    1,
    0.5,
    "Pure(1)",
    Pure,
    [Pure(1)],
    (Pure(1),),
    {"epsilon": 1},
    b"x",
    np.array(1),
    ONE,
    Sampling.POISSON,
]
NOT_LOSSES = [
    None,
    1,
    Pure(1),
    "Pure",
    [1],
    [Pure(1), None],
    [[Pure(1)]],
    {1: Pure(1)},
    np.array(1),
    np.array([1.0]),
    Pure,
]
NOT_A_LIST = [None, 1, 1.5, "12", np.array(1), Pure(1), object()]
NOT_A_CURVE = [
    *NOT_A_LIST,
    [],
    [1],
    [(2,)],
    [(2, 1, 3)],
    [(1, 1)],
    [(0.5, 1)],
    [(2, -1)],
    [("2", 1)],
    [(2, None)],
    [(2, math.nan)],
]
NOT_A_CURVE += [[(2, 1), (2, 2)], {2: 0.1}, [(math.inf, 1)], [{2, 1}], np.array([[2, 0.1]]), [(2, 1), "ab"], b"ab"]
NOT_A_DISTRIBUTION = [
    *NOT_A_LIST,
    [],
    [0],
    [0.5],
    [0.5, 0.6],
    [2, -1],
    [1.5, -0.5],
    ["1"],
    [None, 1],
    [math.nan, 1],
    [True],
    [[1]],
    [0.1] * 9,
]
NOT_ORDERS = [None, 3, "x", [1], [0.5], [0], [-2], ["2"], [None], [math.nan], [math.inf], [2, 1], np.array(2), [True]]
NOT_EPSILONS = [-1, -0.1, *NOT_NUMBERS]
NOT_TEXTS = [None, 1, b"pure", "", "nonsense", "1", "{}", Pure(1), "Pure(1)"]
NOT_MADE = [None, 3, "x", Pure(1), [Pure]]
MADE_WRONG = [lambda _: None, lambda _: 3, lambda _: "Pure", lambda x: x]
PROMISES = [
    None,
    1,
    "ab",
    [1],
    [(1,)],
    [(1, 0, 0)],
    [(-1, 0)],
    [(1, 1)],
    [(1, -1)],
    [("1", 0)],
    [(1, math.nan)],
    np.array(1),
]

#: For each name, the calls: one for each argument, and what is wrong there.
TABLE = {
    Pure: [(Pure, NOT_POSITIVE)],
    BoundedRange: [(BoundedRange, NOT_POSITIVE)],
    Approximate: [(lambda v: Approximate(v, 1e-6), NOT_POSITIVE), (lambda v: Approximate(1, v), NOT_A_SHARE)],
    Concentrated: [(Concentrated, NOT_POSITIVE), (lambda v: Concentrated(1, v), NOT_A_DELTA)],
    Renyi: [(Renyi, NOT_A_CURVE)],
    GaussianDP: [(GaussianDP, NOT_POSITIVE)],
    LaplaceNoise: [(LaplaceNoise, NOT_POSITIVE), (lambda v: LaplaceNoise(1, v), NOT_POSITIVE)],
    GaussianNoise: [(GaussianNoise, NOT_POSITIVE), (lambda v: GaussianNoise(1, v), NOT_POSITIVE)],
    DiscreteLaplaceNoise: [(DiscreteLaplaceNoise, NOT_POSITIVE), (lambda v: DiscreteLaplaceNoise(1, v), NOT_A_COUNT)],
    DiscreteGaussianNoise: [
        (lambda v: DiscreteGaussianNoise(v, ONE), NOT_POSITIVE),
        (lambda v: DiscreteGaussianNoise(1, v), [1, 1.0, None, "l2", (1, 1), Pure(1)]),
    ],
    RandomisedResponse: [
        (RandomisedResponse, [0.4, 0.49, *NOT_A_SHARE]),
        (lambda v: RandomisedResponse(0.9, v), [1, *NOT_A_COUNT]),
        (lambda v: RandomisedResponse(v, 3), [0.2, Fraction(333, 1000)]),
    ],
    DominatingPair: [
        (lambda v: DominatingPair(v, [1]), [*NOT_A_DISTRIBUTION, [HALF, HALF]]),
        (lambda v: DominatingPair([1], v), [*NOT_A_DISTRIBUTION, [HALF, HALF]]),
        (
            lambda v: DominatingPair(v, v),
            [
                [Fraction(1, 100_001)] * 100_001,
                [Fraction(1, 3), Fraction(1, 3), 0.3333333333333333],
                [Fraction(1, 2**4000 + 1 + 2 * k) for k in range(30)],
            ],
        ),
    ],
    Composed: [(Composed, NOT_LOSSES)],
    Parallel: [(Parallel, NOT_LOSSES)],
    Repeated: [(lambda v: Repeated(v, 2), NOT_A_LOSS), (lambda v: Repeated(Pure(1), v), NOT_A_COUNT)],
    Group: [(lambda v: Group(v, 2), NOT_A_LOSS), (lambda v: Group(Pure(1), v), NOT_A_COUNT)],
    Subsampled: [
        (lambda v: Subsampled(v, 0.5), NOT_A_LOSS),
        (lambda v: Subsampled(Pure(1), v), [1.0000001, 2, 100, *NOT_POSITIVE]),
        (
            lambda v: Subsampled(Pure(1), 0.5, v),
            ["poisson", "shuffled", "cyclic", None, True, 1, Neighbours.REPLACE, Sampling],
        ),
    ],
    Shuffled: [
        (
            lambda v: Shuffled(v, 10),
            [*NOT_A_LOSS, Approximate(1, 1e-9), GaussianNoise(1), LaplaceNoise(1), Composed([])],
        ),
        (lambda v: Shuffled(Pure(1), v), NOT_A_COUNT),
    ],
    neighbours_of: [(neighbours_of, NOT_A_LOSS)],
    approximate_of: [(approximate_of, NOT_A_LOSS)],
    concentrated_of: [(concentrated_of, NOT_A_LOSS)],
    renyi_of: [(renyi_of, NOT_A_LOSS), (lambda v: renyi_of(Pure(1), v), NOT_ORDERS)],
    epsilon: [(lambda v: epsilon(v, 1e-6), NOT_A_LOSS), (lambda v: epsilon(Pure(1), v), NOT_A_DELTA)],
    delta: [(lambda v: delta(v, 1), NOT_A_LOSS), (lambda v: delta(Pure(1), v), NOT_EPSILONS)],
    bracket: [(lambda v: bracket(v, 1e-6), NOT_A_LOSS), (lambda v: bracket(Pure(1), v), NOT_A_DELTA)],
    bracket_delta: [(lambda v: bracket_delta(v, 1), NOT_A_LOSS), (lambda v: bracket_delta(Pure(1), v), NOT_EPSILONS)],
    curve: [
        (lambda v: curve(v, [1]), NOT_A_LOSS),
        (lambda v: curve(v, []), NOT_A_LOSS),
        (lambda v: curve(Pure(1), v), [None, 1, 0.5, np.array(1), Pure(1), [-1], ["1"], [math.nan], "12", [1, None]]),
    ],
    guarantee: [
        (lambda v: guarantee(v, 1e-6), NOT_A_LOSS),
        (lambda v: guarantee(Pure(1), v), NOT_A_DELTA),
        (
            lambda v: guarantee(Pure(1), 1e-6, people=v),
            [10**5 * 3, 10**6, 10**19, *(v for v in NOT_A_COUNT if v is not None)],
        ),
        (lambda v: guarantee(Pure(1), v, people=1000), [1e-3, 5.1e-4, *NOT_A_DELTA]),
    ],
    need_delta: [
        (lambda v: need_delta(v, 1000), [1e-3, *NOT_A_DELTA]),
        (lambda v: need_delta(1e-9, v), [10**9, *NOT_A_COUNT]),
    ],
    advised_delta: [(advised_delta, [10**19, *NOT_A_COUNT])],
    loss_distribution: [
        (loss_distribution, [*NOT_A_LOSS, Concentrated(1), Renyi([(2, 1)]), Composed([Concentrated(1), Pure(1)])]),
        (lambda v: loss_distribution(Pure(1), v), [1, 10**7, *NOT_A_COUNT]),
    ],
    loss_to_text: [(loss_to_text, NOT_A_LOSS)],
    loss_from_text: [(loss_from_text, NOT_TEXTS)],
    calibrate_concentrated: [
        (lambda v: calibrate_concentrated(v, 1e-6), NOT_POSITIVE),
        (lambda v: calibrate_concentrated(1, v), NOT_A_SHARE),
    ],
    calibrate_gaussian: [
        (lambda v: calibrate_gaussian(v, 1e-6, ONE), NOT_POSITIVE),
        (lambda v: calibrate_gaussian(1, v, ONE), NOT_A_SHARE),
        (lambda v: calibrate_gaussian(1, 1e-6, v), [1, None, "l2", (1, 1)]),
    ],
    least_noise: [
        (lambda v: least_noise(v, 1), [*NOT_MADE, *MADE_WRONG]),
        (lambda v: least_noise(LaplaceNoise, v), NOT_POSITIVE),
        (lambda v: least_noise(LaplaceNoise, 1, v), NOT_A_DELTA),
        (lambda v: least_noise(GaussianNoise, rho=v), NOT_POSITIVE),
        (lambda v: least_noise(GaussianNoise, 1, 1e-6, rho=v), [1, 0.5]),
        (lambda v: least_noise(GaussianNoise, rho=1, delta=v), [1e-6, "x", None]),
    ],
    largest_share: [
        (lambda v: largest_share(v, 1), [*NOT_MADE, *MADE_WRONG]),
        (lambda v: largest_share(Pure, v), NOT_POSITIVE),
        (lambda v: largest_share(Pure, 1, v), NOT_A_DELTA),
        (lambda v: largest_share(Concentrated, rho=v), NOT_POSITIVE),
    ],
    most_times: [
        (lambda v: most_times(v, 1), NOT_A_LOSS),
        (lambda v: most_times(Pure(0.1), v), NOT_POSITIVE),
        (lambda v: most_times(Pure(0.1), 1, v), NOT_A_DELTA),
        (lambda v: most_times(Concentrated(0.1), rho=v), NOT_POSITIVE),
    ],
    basic_composition: [(basic_composition, PROMISES)],
    optimal_delta_unequal: [
        (lambda v: optimal_delta_unequal(v, 1), PROMISES),
        (lambda v: optimal_delta_unequal([(1, 0)], v), NOT_EPSILONS),
    ],
    **{
        theorem: [
            (lambda v, theorem=theorem: theorem(v, 0, 10, 1e-6), NOT_EPSILONS),
            (lambda v, theorem=theorem: theorem(1, v, 10, 1e-6), NOT_A_DELTA),
            (lambda v, theorem=theorem: theorem(1, 0, v, 1e-6), NOT_A_COUNT),
            (lambda v, theorem=theorem: theorem(1, 0, 10, v), last),
        ]
        for theorem, last in (
            (advanced_composition, NOT_A_SHARE),
            (advanced_composition_sharp, NOT_A_SHARE),
            (optimal_composition, NOT_A_DELTA),
            (optimal_epsilon, NOT_A_DELTA),
            (optimal_delta, NOT_EPSILONS),
        )
    },
    **{
        theorem: [
            (lambda v, theorem=theorem: theorem(v, 0, 3), NOT_EPSILONS),
            (lambda v, theorem=theorem: theorem(1, v, 3), NOT_A_DELTA),
            (lambda v, theorem=theorem: theorem(1, 0, v), NOT_A_COUNT),
        ]
        for theorem in (group_privacy, group_privacy_sharp)
    },
    posterior: [
        (lambda v: posterior(v, 1), NOT_A_SHARE),
        (lambda v: posterior(0.5, v), NOT_EPSILONS),
        (lambda v: posterior(0.5, 1, v), NOT_A_DELTA),
    ],
    power: [
        (lambda v: power(v, 1), [1.5, -0.1, *NOT_NUMBERS]),
        (lambda v: power(0.1, v), NOT_EPSILONS),
        (lambda v: power(0.1, 1, v), NOT_A_DELTA),
    ],
    advantage: [(advantage, NOT_EPSILONS), (lambda v: advantage(1, v), NOT_A_DELTA)],
}
#: Results, which nobody makes by hand; names of types; and sessions, whose wrong calls have tests of their own.
ELSEWHERE = {"Bracket", "Guarantee", "LossDistribution", "RenyiBound", "Sampling", "PrivacyLoss", "Filter"}
SESSIONS = {
    "PureFilter",
    "ConcentratedFilter",
    "RenyiFilter",
    "Odometer",
    "filter_from_text",
    "filter_to_text",
    "times_left",
    "with_limit",
}

CALLS = [
    pytest.param(call, values, id=f"{name.__name__}, argument {place}")
    for name, calls in TABLE.items()
    for place, (call, values) in enumerate(calls)
]


def test_every_public_name_has_its_wrong_calls():
    assert {name.__name__ for name in TABLE} == set(accounting.__all__) - ELSEWHERE - SESSIONS
    assert sum(len(values) for calls in TABLE.values() for _, values in calls) > 1500


@pytest.mark.parametrize(("call", "values"), CALLS)
def test_a_wrong_call_is_refused_with_a_fix(call, values):
    for value in values:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(DiscreetError) as caught:
                call(value)
        assert caught.value.fix
        assert caught.value.problem.endswith(".")


@pytest.mark.parametrize("kind", [TypeError, ValueError])
def test_refusals_are_also_the_errors_that_python_would_raise(kind):
    wrong = {TypeError: lambda: Pure("1"), ValueError: lambda: Pure(-1)}[kind]
    with pytest.raises(kind):
        wrong()


def test_a_refused_loss_is_not_half_made():
    for call in (
        lambda: Composed([Pure(1), 2]),
        lambda: Repeated(Pure(1), 0),
        lambda: DominatingPair([1], [HALF, HALF]),
    ):
        with pytest.raises(DiscreetError):
            call()
    with pytest.raises(WrongType):
        Composed(part for part in [Pure(1), None])


def test_trees_too_deep_or_too_large_are_refused_when_they_are_made():
    loss = Pure(1)
    for _ in range(60):
        loss = Repeated(loss, 1)
    assert epsilon(loss, 1e-6) == 1
    for _ in range(3):
        loss = Composed([loss])
    with pytest.raises(DiscreetError, match="nested"):
        Composed([loss])
    wide = Composed([Pure(1)] * 500)
    with pytest.raises(DiscreetError, match="parts"):
        Composed([Composed([wide] * 400)] * 2)


def test_numbers_are_taken_as_they_were_typed():
    assert Pure(0.1) == Pure(Fraction(1, 10)) == Pure(Decimal("0.1")) == Pure(np.float64(0.1))
    assert Approximate(1, 1e-9).delta == Fraction(1, 10**9)
    assert Subsampled(Pure(1), 0.01).rate == Fraction(1, 100)
    assert RandomisedResponse(0.75).lie == Fraction(1, 4)
    assert Repeated(Pure(1), np.int64(3)).times == 3
    assert Renyi([[8, 0.5], (2, Decimal("0.1"))]).curve == ((2, Fraction(1, 10)), (8, HALF))


@pytest.mark.parametrize(
    "loss",
    [
        Repeated(Pure(1e-9), 10**400),
        Repeated(Pure(1e-9), 10**30),
        Repeated(LaplaceNoise(10**16), 10**30),
        Repeated(GaussianNoise(1), 10**400),
        Repeated(Subsampled(GaussianNoise(1), 1e-90), 10**80),
        Repeated(RandomisedResponse(HALF + Fraction(1, 10**30)), 10**50),
        Group(Pure(1), 10**200),
        Group(Approximate(1, 1e-90), 10**6),
        Group(Subsampled(GaussianNoise(1), 0.1), 10**30),
        Shuffled(Pure(1e-9), 10**30),
        Shuffled(Pure(1e90), 10),
        Pure(1e100),
        Pure(1e-100),
        LaplaceNoise(1e-100, 1e100),
        GaussianNoise(1e100, 1e-100),
        Subsampled(LaplaceNoise(1e-90), 1e-90),
        Subsampled(GaussianNoise(1e-50), 1 - Fraction(1, 10**60)),
        DominatingPair([1, 0], [0, 1]),
        DominatingPair([1 - Fraction(1, 10**80), Fraction(1, 10**80)], [Fraction(1, 10**90), 1 - Fraction(1, 10**90)]),
        Renyi([(1 + Fraction(1, 10**50), 1e90), (1e90, 1e95)]),
        Concentrated(1e-90, 1e-90),
        Composed([Parallel([Composed([]), LaplaceNoise(1)]), Pure(1e-50)]),
    ],
    ids=lambda loss: type(loss).__name__,
)
def test_extreme_losses_give_bounds_and_no_traceback(loss):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for allowed in (0, Fraction(1, 10**90), 1e-6, 0.999):
            assert epsilon(loss, allowed) >= 0
        for eps in (0, Fraction(1, 10**90), 1, 10**90):
            assert 0 <= delta(loss, eps) <= 1
        bound = renyi_of(loss, (Fraction(11, 10), Fraction(64)))
        assert all(value is None or value >= 0 for value in bound.values)
        found = bracket(loss, 1e-6)
        assert 0 <= found.lower <= found.upper


@settings(max_examples=40)
@given(
    losses(WIDE),
    st.sampled_from([Fraction(1, 10**3), Fraction(1, 10**40)]),
    st.sampled_from([Fraction(0), Fraction(3)]),
)
def test_what_was_accepted_can_be_accounted_for(loss, allowed, eps):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert epsilon(loss, allowed) >= 0
        assert 0 <= delta(loss, eps) <= 1
        assert renyi_of(loss, (Fraction(2), Fraction(32))).delta >= 0


def test_numbers_beyond_reason_are_refused_as_such():
    for call in (lambda: Pure(1e101), lambda: Approximate(1, Fraction(1, 10**101)), lambda: advised_delta(10**19)):
        with pytest.raises(OutOfRange):
            call()
