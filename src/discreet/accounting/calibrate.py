"""Calibration: the least noise that reaches a target, and the largest share or number of releases that fits in one.

Every search ends on the safe side of the rule it inverts.
"""

from collections.abc import Callable
from fractions import Fraction

from discreet.accounting.composites import PrivacyLoss, Repeated, need_loss
from discreet.accounting.conversions import approximate_of, concentrated_epsilon, concentrated_of
from discreet.accounting.gaussian_curves import solve_variance
from discreet.accounting.guarantees import epsilon as epsilon_of
from discreet.core import (
    InvalidInput,
    NotProved,
    Number,
    OutOfRange,
    Sensitivity,
    WrongType,
    exact,
    need_sensitivity,
    positive,
    probability,
    round_down,
    round_up,
)

#: Searches stop when they know the answer to this, relative to itself.
CLOSE = Fraction(1, 10**4)
#: Parameters outside of this range are given up on.
LEAST, MOST = Fraction(1, 10**9), Fraction(10**12)
#: More repetitions than this are not counted.
MOST_TIMES = 10**9

Make = Callable[[Fraction], PrivacyLoss]


def calibrate_concentrated(epsilon: Number, delta: Number) -> Fraction:
    """Return the largest ρ found such that ρ-zCDP implies (ε, δ)-differential privacy."""
    target, allowed = round_down(positive(epsilon, "epsilon")), probability(delta, "delta")
    low, high = Fraction(0), Fraction(target)
    while high - low > high / 10**12 and high > Fraction(1, 10**90):
        middle = (low + high) / 2
        if concentrated_epsilon(middle, allowed) <= target:
            low = middle
        else:
            high = middle
    if not low:
        raise OutOfRange(
            "No noise is found that reaches so small an epsilon at this delta.",
            fix="pass an epsilon of 1e-9 or more, or use Laplace noise, which reaches any",
        )
    return Fraction(round_down(low))


def calibrate_gaussian(epsilon: Number, delta: Number, sensitivity: Sensitivity) -> Fraction:
    """Return the least variance found for which discrete Gaussian noise is (ε, δ)-differentially private.

    Reference: Balle, Wang 2018, for the idea of inverting the exact curve; `discreet.accounting.gaussian_curves`
    for the curve on the integers.
    """
    enough = need_sensitivity(sensitivity).l2_squared / (2 * calibrate_concentrated(epsilon, delta))
    return solve_variance(positive(epsilon, "epsilon"), probability(delta, "delta"), sensitivity, enough)


def least_noise(make: Make, epsilon: Number | None = None, delta: Number = 0, *, rho: Number | None = None) -> Fraction:
    """Return the least parameter found for which `make(parameter)` keeps (ε, δ), or ρ-zCDP; more must cost less.

    For example `least_noise(lambda sigma: Repeated(Subsampled(GaussianNoise(sigma), 0.01), 10_000), 2, 1e-6)`.
    """
    fits, make = _target(epsilon, delta, rho), _need_make(make)
    low, high = Fraction(0), Fraction(1)
    while not fits(need_loss(make(high))):
        low, high = high, 2 * high
        if high > MOST:
            raise OutOfRange("No noise is found that reaches the target.", fix="allow a larger epsilon or delta")
    while not low:
        low, high = (Fraction(0), high / 2) if fits(make(high / 2)) else (high / 2, high)
        if high < LEAST:
            raise OutOfRange(
                "The cost does not fall with more noise.", fix="pass a parameter that costs less when larger"
            )
    return _narrow_bracket(lambda parameter: fits(make(parameter)), low, high, up=True)


def largest_share(
    make: Make, epsilon: Number | None = None, delta: Number = 0, *, rho: Number | None = None
) -> Fraction:
    """Return the largest parameter found for which `make(parameter)` keeps (ε, δ), or ρ-zCDP; more must cost more.

    For example the ε of each of ten sparse vectors: `largest_share(lambda each: Repeated(Pure(each), 10), 1, 1e-9)`.
    """
    fits, make = _target(epsilon, delta, rho), _need_make(make)
    low, high = Fraction(1), Fraction(2)
    while not fits(need_loss(make(low))):
        low, high = low / 2, low
        if low < LEAST:
            raise OutOfRange("Nothing is found that fits in the target.", fix="allow a larger epsilon or delta")
    while fits(make(high)):
        low, high = high, 2 * high
        if high > MOST:
            raise OutOfRange(
                "The cost does not grow with the parameter.", fix="pass a parameter that costs more when larger"
            )
    return _narrow_bracket(lambda parameter: fits(make(parameter)), low, high, up=False)


def most_times(
    part: PrivacyLoss, epsilon: Number | None = None, delta: Number = 0, *, rho: Number | None = None
) -> int:
    """Return a number of releases of a kind, fixed beforehand, that fit in (ε, δ) or ρ; 0 if none is found."""
    fits = _target(epsilon, delta, rho)
    need_loss(part)
    if not fits(part):
        return 0
    low, high = _start(part, epsilon, delta, fits)
    while fits(Repeated(part, high)):
        low, high = high, 2 * high
        if high > MOST_TIMES:
            raise OutOfRange("More than a billion fit.", fix="pass a smaller budget, or a part that costs more")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(Repeated(part, middle)) else (low, middle)
    return low


def _start(
    part: PrivacyLoss, epsilon: Number | None, delta: Number, fits: Callable[[PrivacyLoss], bool]
) -> tuple[int, int]:
    """Return a number of times that fits, and a larger one: zCDP has a good guess."""
    pair = concentrated_of(part)
    if epsilon is None or not exact(delta, "delta") or pair is None or pair[1] or not pair[0]:
        return 1, 2
    guess = min(int(calibrate_concentrated(epsilon, delta) / pair[0]), MOST_TIMES)
    return (guess, guess + max(1, guess // 4)) if guess > 1 and fits(Repeated(part, guess)) else (1, 2)


def _need_make(make: object) -> Make:
    if not callable(make):
        raise WrongType("make is not a function.", fix="pass a function such as lambda sigma: GaussianNoise(sigma)")
    return make


def _target(epsilon: Number | None, delta: Number, rho: Number | None) -> Callable[[PrivacyLoss], bool]:
    """Return the test that a loss keeps the target."""
    if (epsilon is None) == (rho is None) or (rho is not None and exact(delta, "delta")):
        raise InvalidInput("The target must be ε and δ, or ρ.", fix="pass epsilon=… and delta=…, or rho=…")
    if rho is not None:
        most = positive(rho, "rho")
        return lambda loss: _rho(loss) <= most
    target, allowed = positive(epsilon, "epsilon"), exact(delta, "delta")
    if allowed:
        probability(delta, "delta")
        return lambda loss: epsilon_of(loss, allowed) <= round_down(target)
    return lambda loss: (
        (approximate_of(loss) or (target + 1, 0))[0] <= target and epsilon_of(loss, 0) <= round_up(target)
    )


def _rho(loss: PrivacyLoss) -> Fraction:
    pair = concentrated_of(loss)
    if pair is None or pair[1]:
        raise NotProved("This loss has no ρ of its own.", fix="state the target as epsilon and delta")
    return pair[0]


def _narrow_bracket(fits: Callable[[Fraction], bool], low: Fraction, high: Fraction, *, up: bool) -> Fraction:
    """Narrow a bracket, and return the end that fits, as a float's text says it."""
    while high - low > CLOSE * high:
        middle = Fraction(f"{float((low + high) / 2):.6g}")
        if not low < middle < high:
            break
        low, high = (low, middle) if fits(middle) == up else (middle, high)
    return high if up else low
