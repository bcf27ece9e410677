"""Wrong calls to noise and the additive mechanisms: each gets our error with a fix, none a wrong answer."""

import math
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet import noise
from discreet.accounting import calibrate_gaussian
from discreet.core import (
    Bounds,
    DiscreetError,
    Neighbours,
    Sensitivity,
    bounded_sum,
    bounded_sums,
    counting_queries,
    counting_query,
    histogram,
)
from discreet.mechanisms import (
    CentredTotal,
    Gaussian,
    Laplace,
    Mean,
    OnGrid,
    RandomisedResponse,
    Truncated,
    grid_l1,
    grid_l2,
    to_grid,
)

ONE = counting_query()
COUNT = Laplace.for_epsilon(1, ONE)
REAL = OnGrid.laplace(1, Bounds(0, 1), moves=1, size=2)
COIN = RandomisedResponse.fair_coin()
MEAN = Mean.for_epsilon(1, Bounds(0, 1))

NOT_POSITIVE = [
    0,
    -1,
    -0.5,
    math.nan,
    math.inf,
    -math.inf,
    5e-324,
    1e200,
    1e-200,
    True,
    "1",
    None,
    1j,
    [1],
    Decimal("NaN"),
]
NOT_A_SIZE = [-1, 1.0, "3", True, (2, -1), (2.0,), [3], 1 << 50]
NOT_INTEGERS = [
    1.0,
    math.nan,
    "1",
    None,
    True,
    1j,
    [1.5],
    [1, "2"],
    [True],
    [None],
    [[1], [2]],
    {"a": 1},
    np.array([1.0]),
    np.array([True]),
    np.array(["a"]),
    np.array([1 + 2j]),
    np.array([1, 2.5, None], object),
    np.array(["2020-01-01"], "datetime64[D]"),
    Fraction(1, 2),
    b"abc",
]


def emptied():
    choice = noise.ExpChoice(np.array([1, 2]))
    choice.remove(0)
    choice.remove(1)
    return choice


CALLS = {
    **{f"laplace scale {v!r}": lambda v=v: noise.laplace(v) for v in NOT_POSITIVE},
    **{f"gaussian variance {v!r}": lambda v=v: noise.gaussian(v, 3) for v in NOT_POSITIVE},
    **{f"geometric scale {v!r}": lambda v=v: noise.geometric(v) for v in NOT_POSITIVE[:6]},
    **{f"laplace size {v!r}": lambda v=v: noise.laplace(1, v) for v in NOT_A_SIZE},
    **{f"below size {v!r}": lambda v=v: noise.below(5, v) for v in NOT_A_SIZE},
    **{f"below {v!r}": lambda v=v: noise.below(v) for v in (0, -3, 2.0, "5", None, True)},
    **{f"coin {v!r}": lambda v=v: noise.bernoulli(v) for v in (-0.1, 1.1, math.nan, "1/2", None, True)},
    **{f"exponential coin {v!r}": lambda v=v: noise.bernoulli_exp(v) for v in (-1, math.inf, math.nan, "x", None)},
    **{
        f"weights {v!r}": lambda v=v: noise.choose(v)
        for v in ([], [0, 0], [-1, 2], [1.5], ["a"], [True], np.ones((2, 2), int), np.array([0.5]), None, 3)
    },
    **{
        f"scores {v!r}": lambda v=v: noise.choose_exp(v)
        for v in (
            np.array([]),
            np.array([math.nan]),
            np.array([1.0, math.inf]),
            np.array([-math.inf, 0.0]),
            np.ones((2, 2)),
            np.array(["a"]),
            np.array([True]),
            np.array([1j]),
            np.array([None], object),
            np.array([0.5], object),
            [1, 2],
            None,
            3,
        )
    },
    **{f"rate {v!r}": lambda v=v: noise.choose_exp(np.array([1, 2]), v) for v in (0, -1, math.nan, "1", True)},
    **{f"toss rate {v!r}": lambda v=v: noise.toss_exp(np.array([1, 2]), v) for v in (0, -1, math.nan, "1", True)},
    **{f"epsilon {v!r}": lambda v=v: Laplace.for_epsilon(v, ONE) for v in NOT_POSITIVE},
    **{f"Laplace scale {v!r}": lambda v=v: Laplace(scale=v, sensitivity=ONE) for v in NOT_POSITIVE[:8]},
    **{f"sensitivity {v!r}": lambda v=v: Laplace.for_epsilon(1, v) for v in (1, 1.0, None, "1", Bounds(0, 1))},
    **{f"Gaussian sensitivity {v!r}": lambda v=v: Gaussian.for_rho(1, v) for v in (1, None, "l2")},
    **{f"rho {v!r}": lambda v=v: Gaussian.for_rho(v, ONE) for v in NOT_POSITIVE[:8]},
    **{
        f"delta {v!r}": lambda v=v: Gaussian.for_epsilon_delta(1, v, ONE) for v in (0, 1, -1, 2, math.nan, "1e-9", True)
    },
    **{f"classic {v!r}": lambda v=v: Gaussian.classic(v, 1e-6, ONE) for v in (1, 5, 0, -1, math.nan)},
    **{f"Laplace answer {v!r}": lambda v=v: COUNT.perturb(v) for v in NOT_INTEGERS},
    **{f"truncated answer {v!r}": lambda v=v: Truncated(COUNT, low=0, high=9).perturb(v) for v in NOT_INTEGERS},
    **{f"category {v!r}": lambda v=v: COIN.perturb(v) for v in NOT_INTEGERS},
    **{f"confidence {v!r}": lambda v=v: COUNT.error(v) for v in (0, 1, -1, 1.5, 95, math.nan, "0.95", True)},
    **{f"error size {v!r}": lambda v=v: COUNT.error(0.95, size=v) for v in (0, -1, 1.5, "3", True)},
    **{f"noise value {v!r}": lambda v=v: COUNT.pmf(v) for v in (0.5, "1", None, True, math.nan)},
    **{f"distance {v!r}": lambda v=v: COUNT.tail(v) for v in (0, -1, 0.5, None)},
    **{
        f"real {v!r}": lambda v=v: REAL.perturb(v)
        for v in ("1", None, True, 1j, ["a"], [True], np.array([1j]), np.array(["a"]))
    },
    **{
        f"range {v!r}": lambda v=v: Truncated(COUNT, low=v[0], high=v[1])
        for v in ((1, 1), (2, 1), (0.0, 1), (0, 1 << 70))
    },
    "a choice from nobody": lambda: emptied().draw(),
    "removing a stranger": lambda: noise.ExpChoice(np.array([1, 2])).remove(2),
    "truncated nothing": lambda: Truncated("laplace", low=0, high=1),
    "grid of nothing": lambda: OnGrid(bounds=Bounds(0, 1), mechanism="laplace", moves=1),
    "grid without bounds": lambda: OnGrid(bounds=(0, 1), mechanism=COUNT, moves=1),
    "grid in the wrong unit": lambda: OnGrid(bounds=Bounds(0, 10), mechanism=COUNT, moves=1),
    "Gaussian grid in the wrong unit": lambda: OnGrid(
        bounds=Bounds(0, 10), mechanism=Gaussian.for_rho(1, ONE), moves=1
    ),
    "grid that forgets how many values move": lambda: OnGrid(
        bounds=Bounds(0, 10), mechanism=Laplace.for_epsilon(1, grid_l1(1, Bounds(0, 10))), moves=1, size=5
    ),
    "more values than the grid is made for": lambda: REAL.perturb([0.1, 0.2, 0.3]),
    "masked values": lambda: REAL.perturb(np.ma.MaskedArray([0.1, 0.2], mask=[0, 1])),
    "masked answers": lambda: COUNT.perturb(np.ma.MaskedArray([1, 2], mask=[0, 1])),
    "masked categories": lambda: COIN.perturb(np.ma.MaskedArray([1, 0], mask=[0, 1])),
    "masked totals": lambda: CentredTotal.of(np.ma.MaskedArray([1, 0], mask=[0, 1]), Bounds(0, 1)),
    "truth for certain": lambda: RandomisedResponse.for_epsilon(1e30),
    "truth all but certain": lambda: RandomisedResponse.for_epsilon(257),
    "grid that moves nothing": lambda: OnGrid.laplace(1, Bounds(0, 1), moves=0),
    "grid l1 of nothing": lambda: grid_l1(0, Bounds(0, 1)),
    "grid l1 without bounds": lambda: grid_l1(1, (0, 1)),
    "grid l2 of nobody": lambda: grid_l2(1, Bounds(0, 1), size=0),
    "mean without bounds": lambda: Mean.for_epsilon(1, (0, 100)),
    "mean of a number": lambda: MEAN.perturb(1),
    "mean of values": lambda: MEAN.perturb([0.5, 0.5]),
    "mean with other bounds": lambda: MEAN.perturb(CentredTotal.of([0.5], Bounds(0, 2))),
    "total of a float": lambda: CentredTotal(steps=1.5, count=10, bounds=Bounds(0, 1)),
    "total of a float count": lambda: CentredTotal(steps=1, count=10.0, bounds=Bounds(0, 1)),
    "total of fewer than nobody": lambda: CentredTotal(steps=1, count=-1, bounds=Bounds(0, 1)),
    "total without bounds": lambda: CentredTotal.of([1, 2], (0, 1)),
    "total of words": lambda: CentredTotal.of(["a"], Bounds(0, 1)),
    "limit of a number": lambda: counting_query(limit=5),
    "histogram limit of a number": lambda: histogram(limit=2),
    "sum without bounds": lambda: bounded_sum((0, 100)),
    "sums without bounds": lambda: bounded_sums((0, 100), neighbours=Neighbours.REPLACE),
    "mean limit of a number": lambda: Mean.for_epsilon(1, Bounds(0, 1), limit=3),
    "grid without its bounds": lambda: to_grid([1], (0, 100)),
    "calibration without sensitivity": lambda: calibrate_gaussian(1, 1e-6, 1),
    "mean with too little noise": lambda: Mean(bounds=Bounds(0, 100), sums=COUNT, counts=COUNT),
    "mean without mechanisms": lambda: Mean(bounds=Bounds(0, 100), sums=1, counts=2),
    "truth of a half": lambda: RandomisedResponse(truth=0.5),
    "truth below a third": lambda: RandomisedResponse(truth=0.2, categories=3),
    "truth of one": lambda: RandomisedResponse(truth=1),
    "one category": lambda: RandomisedResponse.for_epsilon(1, categories=1),
    "half a category": lambda: RandomisedResponse.for_epsilon(1, categories=2.5),
    "too few counts": lambda: COIN.estimate(counts=[3]),
    "too many counts": lambda: COIN.estimate(counts=[3, 4, 5]),
    "negative counts": lambda: COIN.estimate(counts=[3, -4]),
    "counts of floats": lambda: COIN.estimate(counts=np.array([0.5, 0.5])),
    "negative people": lambda: COIN.error(people=-1),
    "queries of no number": lambda: counting_queries(0),
    "sensitivity of nothing": lambda: Sensitivity.box(l0=0, linf=1),
    "sensitivity of a float": lambda: Sensitivity.l1_ball(1.5),
    "histogram of a word": lambda: histogram(neighbours="replace"),
    "mean of a word": lambda: Mean.for_epsilon(1, Bounds(0, 1), neighbours="replace"),
    "grid of a dictionary": lambda: to_grid({"a": 1}, Bounds(0, 1)),
    "neighbours of nobody": lambda: Mean.for_epsilon(1, Bounds(0, 1), neighbours=None),
}


def test_the_table_of_wrong_calls_is_long():
    assert len(CALLS) > 200
    assert Neighbours.REPLACE


@pytest.mark.parametrize("name", CALLS)
def test_a_wrong_call_is_refused_with_a_fix(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DiscreetError) as caught:
            CALLS[name]()
    assert caught.value.fix
    assert caught.value.problem.endswith(".")


@pytest.mark.parametrize("secret", [123456789, -987654321])
def test_no_refusal_quotes_a_value(secret):
    """Types and names are public; what stands in the answer is not."""
    for call in (
        lambda: COUNT.perturb([secret, "x"]),
        lambda: COUNT.perturb(float(secret)),
        lambda: COUNT.perturb([float(secret)]),
        lambda: COUNT.perturb([str(secret)]),
        lambda: COIN.perturb([str(secret)]),
        lambda: COUNT.perturb(np.array([secret, 0.5], object)),
        lambda: COUNT.perturb(str(secret)),
        lambda: COIN.estimate(counts=[secret, secret, secret]),
        lambda: noise.choose([secret, "x"]),
        lambda: noise.choose_exp(np.array([secret, None], object)),
        lambda: REAL.perturb([secret, "x"]),
    ):
        with pytest.raises(DiscreetError) as caught:
            call()
        assert str(abs(secret)) not in str(caught.value)
