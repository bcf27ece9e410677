"""Conversions of a loss to one (ε, δ) and to zCDP. Exact, or rounded up."""

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
from discreet.core.exponential import exp_up, log_up

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
