"""Conversions: a loss to one (ε, δ), to its failure masses and to zCDP, and zCDP to (ε, δ). Exact, or rounded up."""

import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import assert_never

from discreet.accounting.composites import (
    Composed,
    Group,
    Parallel,
    PrivacyLoss,
    Repeated,
    Shuffled,
    Subsampled,
    need_loss,
)
from discreet.accounting.losses import (
    Approximate,
    BoundedRange,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RandomisedResponse,
    Renyi,
)
from discreet.core import round_up
from discreet.core.exact import exp_up, log_up, nearest_float

#: Larger groups than this are left to the formulas of `approximate_of` and `concentrated_of`.
MOST_PEOPLE = 10**12
#: Sums of more powers than this are bounded, not added up.
FEW = 64
#: e to a larger power than this promises nothing, and is not worked out.
STEEPEST = 500

EpsilonDelta = tuple[Fraction, Fraction]


def approximate_of(loss: PrivacyLoss) -> EpsilonDelta | None:  # noqa: C901, PLR0912 - one case a kind
    """Return an (ε, δ) of a loss by basic composition, or None if a part has no single such pair.

    Reference: Dwork, Roth 2014, Theorem 3.16 (sums) and 2.2 (groups); Balle, Barthe, Gaboardi 2018, Theorems 8 and 9
    (sampling); McSherry 2009, Theorem 4 (disjoint parts).
    """
    need_loss(loss)
    match loss:
        case Pure(epsilon) | BoundedRange(epsilon):
            return epsilon, Fraction(0)
        case LaplaceNoise(scale, sensitivity) | DiscreteLaplaceNoise(scale, sensitivity):
            return sensitivity / scale, Fraction(0)
        case Approximate(epsilon, delta):
            return epsilon, delta
        case RandomisedResponse(truth):
            return log_up(truth / loss.lie), Fraction(0)
        case DominatingPair(present, absent):
            return _bound_outcomes(present, absent)
        case Concentrated() | Renyi() | GaussianDP() | GaussianNoise() | DiscreteGaussianNoise():
            return None
        case Repeated(part, times):
            once = approximate_of(part)
            return None if once is None else (times * once[0], times * once[1])
        case Composed(parts):
            return _add_pairs([approximate_of(part) for part in parts])
        case Parallel(parts):
            return _worst([approximate_of(part) for part in parts])
        case Group(part, size):
            return approximate_of(part) if size == 1 else _group_pair(approximate_of(part), size)
        case Subsampled(part, rate):
            return amplify_by_sampling(approximate_of(part), rate)
        case Shuffled(part):
            return approximate_of(part)
        case _:
            assert_never(loss)


def concentrated_of(loss: PrivacyLoss) -> EpsilonDelta | None:  # noqa: C901, PLR0912 - one case a kind
    """Return (ρ, δ) such that the loss is δ-approximately ρ-zCDP, or None if none is known.

    Sampling and shuffling never raise a Rényi divergence (it is quasi-convex, and shuffling is post-processing), so
    that the part's own ρ stands. Reference: Bun, Steinke 2016, Propositions 1.4 (pure) and 1.9 (groups) and Section 8
    (approximate); Cesar, Rogers 2021 (bounded range); Canonne, Kamath, Steinke 2020, Theorem 14 (discrete Gaussian).
    """
    need_loss(loss)
    match loss:
        case BoundedRange(epsilon):
            return epsilon**2 / 8, Fraction(0)
        case Concentrated(rho, delta):
            return rho, delta
        case GaussianDP(mu):
            return mu**2 / 2, Fraction(0)
        case GaussianNoise(sigma, sensitivity):
            return (sensitivity / sigma) ** 2 / 2, Fraction(0)
        case DiscreteGaussianNoise(variance, sensitivity):
            return sensitivity.l2_squared / (2 * variance), Fraction(0)
        case Pure() | LaplaceNoise() | DiscreteLaplaceNoise() | Approximate() | RandomisedResponse():
            epsilon, delta = approximate_of(loss) or (Fraction(0), Fraction(0))
            return epsilon**2 / 2, delta
        case DominatingPair():
            pair = approximate_of(loss)
            return (pair[0] ** 2 / 2, Fraction(0)) if pair is not None and not pair[1] else None
        case Renyi():
            return None
        case Repeated(part, times):
            once = concentrated_of(part)
            return None if once is None else (times * once[0], times * once[1])
        case Composed(parts):
            return _add_pairs([concentrated_of(part) for part in parts])
        case Parallel(parts):
            return _worst([concentrated_of(part) for part in parts])
        case Group(part, size):
            once = concentrated_of(part)
            if size == 1 or once is None:
                return once
            return None if once[1] else (once[0] * size**2, Fraction(0))
        case Subsampled(part) | Shuffled(part):
            return concentrated_of(part)
        case _:
            assert_never(loss)


def group_loss(loss: PrivacyLoss, size: int) -> PrivacyLoss | None:
    """Return a simpler loss that holds for groups of a size, or None if none is known.

    Noise on an answer that moves by Δ for one person moves by kΔ for k; log-ratios and their ranges add up along a
    chain of k neighbours; (ε, δ) and ρ by `approximate_of` and `concentrated_of`. Disjoint parts are left to those two:
    a group may spread over parts.
    """
    if size == 1 or size > MOST_PEOPLE:
        return loss if size == 1 else None
    match loss:
        case GaussianDP() | LaplaceNoise() | GaussianNoise() | DiscreteLaplaceNoise():
            return scale_sensitivity(loss, size)
        case Pure(epsilon):
            return Pure(size * epsilon)
        case BoundedRange(epsilon):
            return BoundedRange(size * epsilon)
        case Group(part, inner):
            return group_loss(part, size * inner)
        case Repeated(part, times):
            once = group_loss(part, size)
            return None if once is None else Repeated(once, times)
        case Composed(parts):
            known = [simpler for simpler in (group_loss(part, size) for part in parts) if simpler is not None]
            return Composed(known) if len(known) == len(parts) else None
        case _:
            return _group_by_conversion(Group(loss, size))


def scale_sensitivity(loss: PrivacyLoss, size: int) -> PrivacyLoss | None:
    """Return the loss of noise whose answer moves so many times as far.

    What a group pays, exactly; None if not noise.
    """
    match loss:
        case GaussianDP(mu):
            return GaussianDP(size * mu)
        case LaplaceNoise(scale, sensitivity):
            return LaplaceNoise(scale, size * sensitivity)
        case GaussianNoise(sigma, sensitivity):
            return GaussianNoise(sigma, size * sensitivity)
        case DiscreteLaplaceNoise(scale, sensitivity):
            return DiscreteLaplaceNoise(scale, size * sensitivity)
        case _:
            return None


def _group_by_conversion(loss: Group) -> PrivacyLoss | None:
    pair, rho = approximate_of(loss), concentrated_of(loss)
    if pair is not None and not any(pair):
        return Composed([])
    if rho is not None and (pair is None or rho[0] < pair[0] ** 2 / 2):
        return Concentrated(*rho)
    if pair is None or pair[1] >= 1:
        return None
    return Approximate(*pair) if pair[1] else Pure(pair[0])


def _add_pairs(pairs: list[EpsilonDelta | None]) -> EpsilonDelta | None:
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    return sum((pair[0] for pair in known), Fraction(0)), sum((pair[1] for pair in known), Fraction(0))


def _worst(pairs: list[EpsilonDelta | None]) -> EpsilonDelta | None:
    known = [pair for pair in pairs if pair is not None]
    if len(known) < len(pairs):
        return None
    return max((pair[0] for pair in known), default=Fraction(0)), max((pair[1] for pair in known), default=Fraction(0))


def _group_pair(pair: EpsilonDelta | None, size: int) -> EpsilonDelta | None:
    """Return (kε, (1 + e^ε + … + e^((k−1)ε))·δ), long sums bounded by k times their last term."""
    if pair is None or not pair[1]:
        return None if pair is None else (size * pair[0], Fraction(0))
    steepest = (size - 1) * pair[0]
    if steepest > STEEPEST:
        return None
    powers = (exp_up(i * pair[0]) for i in range(1, size))
    delta = (1 + sum(powers) if size <= FEW else size * exp_up(steepest)) * pair[1]
    return (size * pair[0], delta) if delta < 1 else None


def amplify_by_sampling(pair: EpsilonDelta | None, rate: Fraction) -> EpsilonDelta | None:
    """Return (ln(1 + q(e^ε − 1)), qδ)."""
    if pair is None or pair[0] > STEEPEST:
        return pair
    return min(pair[0], log_up(1 + rate * (exp_up(pair[0]) - 1))), rate * pair[1]


def _bound_outcomes(present: tuple[Fraction, ...], absent: tuple[Fraction, ...]) -> EpsilonDelta:
    ratio = max((max(p / q, q / p) for p, q in zip(present, absent, strict=True) if p and q), default=Fraction(1))
    lost = sum((p for p, q in zip(present, absent, strict=True) if not q), Fraction(0))
    gained = sum((q for p, q in zip(present, absent, strict=True) if not p), Fraction(0))
    return log_up(ratio), max(lost, gained)


# The ε and the exact failure masses of a composition: the boundary at which a δ is just large enough.
#
# Theorem. Let P and Q be the two distributions of a release, and P = A + B with A ≤ e^ε·Q and B of a mass of at most
# δ; this is what (ε, δ) says in the direction from P to Q. Then releases with (εᵢ, δᵢ), each chosen after seeing the
# earlier answers, have (Σεᵢ, 1 − Π(1 − δᵢ)) in that direction. Proof. Enlarge each B to a mass of δᵢ exactly. Along a
# history the product of all A's is at most e^(Σεᵢ) times that of all Q's, and it has a mass of Π(1 − δᵢ). The rest is
# what B's took part in. ∎
#
# Basic composition has Σδᵢ in its place. Both directions are kept apart, as outcomes may tell for certain in one only.

#: Powers whose exact numerators have at most this many bits are not rounded at all.
EXACT_BITS = 1 << 16
#: Fractional bits of probabilities that are rounded.
BITS = 2048

#: ε, and the failure masses of removing and of adding a person.
Masses = tuple[Fraction, Fraction, Fraction]


def failure_masses(loss: PrivacyLoss) -> Masses | None:
    """Return an ε and the failure masses at it in both directions, or None if a part has no single such pair."""
    match loss:
        case Composed(parts):
            entries = [(failure_masses(part), times) for part, times in Counter(parts).items()]
            known = [(masses, times) for masses, times in entries if masses is not None]
            return _compose_masses(known) if len(known) == len(entries) else None
        case Repeated(part, times):
            once = failure_masses(part)
            return None if once is None else _compose_masses([(once, times)])
        case Parallel(parts):
            all_masses = [failure_masses(part) for part in dict.fromkeys(parts)]
            known_masses = [masses for masses in all_masses if masses is not None]
            zero = Fraction(0)
            worst = (max((masses[place] for masses in known_masses), default=zero) for place in range(3))
            return (next(worst), next(worst), next(worst)) if len(known_masses) == len(all_masses) else None
        case Subsampled(part, rate):
            once = failure_masses(part)
            pair = amplify_by_sampling(None if once is None else (once[0], max(once[1:])), rate)
            return None if pair is None else (pair[0], pair[1], pair[1])
        case DominatingPair(present, absent):
            pair = approximate_of(loss)
            lost = sum((p for p, q in zip(present, absent, strict=True) if not q), Fraction(0))
            gained = sum((q for p, q in zip(present, absent, strict=True) if not p), Fraction(0))
            return None if pair is None else (pair[0], lost, gained)
        case _:
            pair = approximate_of(loss)
            return None if pair is None else (pair[0], pair[1], pair[1])


def survival(delta: Fraction, times: int) -> Fraction:
    """Return (1 − δ)^times, rounded down where the exact number would be long."""
    if times * delta.denominator.bit_length() <= EXACT_BITS:
        return (1 - delta) ** times
    result, power = 1 << BITS, ((1 - delta).numerator << BITS) // delta.denominator
    while times:
        if times & 1:
            result = result * power >> BITS
        power, times = power * power >> BITS, times >> 1
    return Fraction(result, 1 << BITS)


def _compose_masses(entries: list[tuple[Masses, int]]) -> Masses:
    epsilon, surviving = Fraction(0), [Fraction(1), Fraction(1)]
    for masses, times in entries:
        epsilon += times * masses[0]
        surviving = [_short(share * survival(mass, times)) for share, mass in zip(surviving, masses[1:], strict=True)]
    return epsilon, 1 - surviving[0], 1 - surviving[1]


def _short(share: Fraction) -> Fraction:
    """Return a probability, rounded down where its exact form is long."""
    if share.denominator.bit_length() <= EXACT_BITS:
        return share
    return Fraction(math.floor(share * (1 << BITS)), 1 << BITS)


# From zCDP to (ε, δ), as tightly as Rényi divergences of all orders allow.
#
# For every order α > 1, ρ-zCDP implies (ε, δ)-differential privacy with
#
#     δ = e^((α−1)(αρ−ε)) · (1 − 1/α)^α / (α − 1).
#
# Any α gives a true statement, so that a numeric search for the best one cannot make a false one; only the last
# evaluation has to be rounded up. Reference: Canonne, Kamath, Steinke 2020, Proposition 12.

#: Float evaluation of the formulas below, whose terms stay below 10⁴ where they matter, is this accurate.
SLACK = 1e-11


def concentrated_delta(rho: Fraction, epsilon: Fraction) -> float:
    """Return a δ that ρ-zCDP implies at ε, rounded up; 1 where nothing better is known."""
    if rho == 0:
        return 0.0
    rate, target = round_up(rho), float(epsilon)
    # ln δ is a sum of terms that may be large and cancel, so the slack is relative to their size.
    lowest, order = _minimise(lambda a: _log_delta(a, rate, target))
    terms = (order - 1) * (order * rate + target) + abs(math.log(order - 1)) + 1
    return min(1.0, math.exp(min(lowest + SLACK * terms, 0.0)))


def concentrated_epsilon(rho: Fraction, delta: Fraction) -> float:
    """Return an ε that ρ-zCDP implies at δ > 0, rounded up."""
    if rho == 0:
        return 0.0
    rate, log_delta = round_up(rho), _log(delta)
    lowest, order = _minimise(lambda a: _epsilon(a, rate, log_delta))
    terms = order * rate + (abs(log_delta) + abs(math.log(order)) + 1) / (order - 1) + 1
    return max(0.0, lowest + SLACK * terms)


def order_delta(order: Fraction, divergence: Fraction, epsilon: Fraction) -> float:
    """Return a δ that a Rényi divergence of one order implies at ε, rounded up."""
    alpha, value, target = nearest_float(order), round_up(divergence), float(epsilon)
    log = _log_delta(alpha, value / alpha, target)
    terms = (alpha - 1) * (value + target) + abs(math.log(alpha - 1)) + 1
    return math.exp(min(log + SLACK * terms, 0.0))


def order_epsilon(order: Fraction, divergence: Fraction, delta: Fraction) -> float:
    """Return an ε that a Rényi divergence of one order implies at δ > 0, rounded up."""
    alpha, value, log_delta = nearest_float(order), round_up(divergence), _log(delta)
    epsilon = _epsilon(alpha, value / alpha, log_delta)
    terms = value + (abs(log_delta) + abs(math.log(alpha)) + 1) / (alpha - 1) + 1
    return max(0.0, epsilon + SLACK * terms)


def _log_delta(order: float, rho: float, epsilon: float) -> float:
    return (order - 1) * (order * rho - epsilon) + order * math.log1p(-1 / order) - math.log(order - 1)


def _epsilon(order: float, rho: float, log_delta: float) -> float:
    gain = (order - 1) * math.log1p(-1 / order) - math.log(order)
    return order * rho + (gain - log_delta) / (order - 1)


def _minimise(function: Callable[[float], float]) -> tuple[float, float]:
    """Return the least value of a function of α > 1 and where it lies, by golden section in ln(α − 1)."""
    ratio = (math.sqrt(5) - 1) / 2
    low, high = math.log(1e-6), math.log(1e12)

    def at(point: float) -> float:
        return function(1 + math.exp(point))

    while high - low > 1e-7:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        if at(left) < at(right):
            high = right
        else:
            low = left
    return at(low), 1 + math.exp(low)


def _log(number: Fraction) -> float:
    # Of numerator and denominator apart: their ratio may be too small for a float.
    return math.log(number.numerator) - math.log(number.denominator)
