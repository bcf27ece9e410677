"""The (ε, δ) sentence that a loss implies, rounded against us.

For losses that are fixed beforehand. Sessions, whose next question depends on the last answer, need a filter
(`discreet.accounting.filters`).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting.composites import Group, Parallel, PrivacyLoss, Shuffled, Subsampled, need_loss
from discreet.accounting.conversions import (
    approximate_of,
    concentrated_delta,
    concentrated_epsilon,
    concentrated_of,
    failure_masses,
)
from discreet.accounting.gaussian_curves import curve_delta, curve_epsilon, gaussian_delta, gaussian_epsilon
from discreet.accounting.interpretation import need_delta
from discreet.accounting.losses import DiscreteGaussianNoise
from discreet.accounting.pld.dominating_pairs import batches, flatten_loss, gaussian_mu, unwrap_loss
from discreet.accounting.pld.numeric import delta_above, delta_below, epsilon_above, epsilon_below
from discreet.accounting.renyi import renyi_delta, renyi_epsilon
from discreet.core import InvalidInput, Number, WrongType, exact, round_down, round_up
from discreet.core.exact import nearest_float, text_down, text_up

#: Brackets are worth a finer grid than a bound from above alone, and a still finer one until they are so narrow.
FINER, NARROW = (1e-5, 1e-6, 1e-7), 3e-4
#: An ε below this counts as 0.
LEAST = Fraction(1, 10**90)
#: e to a larger ε than this is not worked out.
STEEPEST = 500.0


@dataclass(frozen=True, slots=True)
class Guarantee:
    """No event's probability changes by more than the factor e^epsilon and the summand delta."""

    epsilon: float
    delta: float

    def __str__(self) -> str:
        return f"ε = {text_up(self.epsilon)}" + (f" at δ = {text_up(self.delta, 3)}" if self.delta else "")


@dataclass(frozen=True, slots=True)
class Bracket:
    """A number that is known to lie between two others, both proved."""

    lower: float
    upper: float

    def __str__(self) -> str:
        return f"{text_down(self.lower)} to {text_up(self.upper)}"


def guarantee(loss: PrivacyLoss, delta: Number = 0, *, people: int | None = None) -> Guarantee:
    """Return the guarantee of a loss at a δ of choice.

    With `people`, a δ that is not far below one in their number is refused.
    """
    if people is not None:
        need_delta(delta, people)
    return Guarantee(epsilon(loss, delta), round_up(exact(delta, "delta")))


def epsilon(loss: PrivacyLoss, delta: Number) -> float:
    """Return an ε such that the loss implies (ε, δ)-differential privacy; infinite where δ is too small.

    The best of what is proved for this loss: the sum of all ε, closed forms for Gaussians, the privacy-loss
    distribution where every part has a dominating pair, and else Rényi divergences.
    """
    need_loss(loss)
    allowed = _need_delta(delta)
    square = gaussian_mu(loss)
    if square is not None:
        return curve_epsilon(square, allowed)[1] if allowed else math.inf  # exact: no other method is below
    summed = _sum_epsilon(loss, allowed)
    if not allowed or summed == 0:
        return summed
    return min(summed, max(_worst_epsilon(alternative, allowed) for alternative in _alternatives(loss)))


def delta(loss: PrivacyLoss, epsilon: Number) -> float:
    """Return a δ such that the loss implies (ε, δ)-differential privacy; at most 1."""
    need_loss(loss)
    target = _need_epsilon(epsilon)
    square = gaussian_mu(loss)
    if square is not None:
        return curve_delta(square, target)[1]  # exact: no other method is below
    summed = _sum_delta(loss, target)
    if summed == 0:
        return 0.0
    return min(summed, max(_worst_delta(alternative, target) for alternative in _alternatives(loss)))


def bracket(loss: PrivacyLoss, delta: Number) -> Bracket:
    """Return bounds on the ε at δ that the dominating pairs of a loss have: what is promised, and what is not kept.

    Where one mechanism attains its pair for all releases at once (noise, randomised response, Poisson sampling of
    these), the lower bound is also one on the true cost. For bounded range and sampling without replacement, used more
    than once, no single mechanism does. The lower bound is 0 where none is known: for losses without a pair, shuffled
    reports, and most groups.
    """
    need_loss(loss)
    allowed = _need_delta(delta)
    square = gaussian_mu(loss)
    if square is not None and allowed:
        return Bracket(*curve_epsilon(square, allowed))
    upper = epsilon(loss, delta)
    if not allowed or upper == 0 or not math.isfinite(upper):
        return Bracket(0.0, upper)
    below, above = batches(loss, inwards=True), batches(loss)
    if not below or not above or not all(batch.pairs for batch in (*below, *above)):
        return Bracket(0.0, upper)
    lower = 0.0
    for accuracy in FINER:
        upper = min(upper, max(epsilon_above(batch, round_down(allowed), accuracy) for batch in above))
        before, lower = lower, max(lower, *(epsilon_below(batch, round_up(allowed), accuracy) for batch in below))
        if upper - lower < NARROW * upper or lower - before < NARROW * upper:
            break
    return Bracket(min(lower, upper), upper)


def bracket_delta(loss: PrivacyLoss, epsilon: Number) -> Bracket:
    """Return bounds on the δ at ε that the dominating pairs of a loss have; see `bracket`."""
    need_loss(loss)
    target = _need_epsilon(epsilon)
    upper = delta(loss, epsilon)
    pair_batches = batches(loss, inwards=True)
    if not pair_batches or upper == 0 or not all(batch.pairs for batch in pair_batches):
        return Bracket(0.0, upper)
    square = gaussian_mu(loss)
    if square is not None:
        return Bracket(curve_delta(square, target)[0], upper)
    lower = max(delta_below(batch, round_up(target), FINER[0]) for batch in pair_batches)
    return Bracket(min(lower, upper), upper)


def curve(loss: PrivacyLoss, epsilons: Iterable[Number]) -> list[Guarantee]:
    """Return the privacy curve of a loss: the δ that it implies at each ε."""
    need_loss(loss)
    try:
        listed = list(epsilons)
    except TypeError:
        raise WrongType("epsilons is not a list.", fix="pass a list such as [0.1, 1, 10]") from None
    return [Guarantee(round_up(_need_epsilon(value)), delta(loss, value)) for value in listed]


def _alternatives(loss: PrivacyLoss) -> list[PrivacyLoss]:
    """Return the losses whose worst is sought: a person is in one part of a `Parallel`, and nothing was asked before.

    Within a composition the part may be chosen by earlier answers, and the composition is one alternative. Groups and
    samples stay as they are, as there is more to say about them.
    """
    match unwrap_loss(loss):
        case Parallel(parts) if parts:
            return [alternative for part in dict.fromkeys(parts) for alternative in _alternatives(part)]
        case Group() | Subsampled() as whole:
            return [whole]
        case other:
            return [flatten_loss(other)]


def _worst_epsilon(loss: PrivacyLoss, allowed: Fraction) -> float:
    """Return the least ε of all methods for a loss without alternatives."""
    bounds = [_sum_epsilon(loss, allowed), _best_epsilon(loss, allowed)]
    match loss:
        case Group(_, size) if size > 1:
            bounds.append(_group_epsilon(loss, allowed))
        case Subsampled():
            bounds.append(_amplify_epsilon(loss, allowed))
        case Shuffled(part):
            bounds.append(_best_epsilon(part, allowed))  # shuffling is post-processing
    return min(bounds)


def _worst_delta(loss: PrivacyLoss, target: Fraction) -> float:
    bounds = [_sum_delta(loss, target), _best_delta(loss, target)]
    match loss:
        case Group(_, size) if size > 1:
            bounds.append(_group_delta(loss, target))
        case Subsampled():
            bounds.append(_amplify_delta(loss, target))
        case Shuffled(part):
            bounds.append(_best_delta(part, target))
    return min(bounds)


def _sum_epsilon(loss: PrivacyLoss, allowed: Fraction) -> float:
    """Return the sum of all ε, if δ is at least the mass of all failures together; both are exact."""
    total = failure_masses(loss)
    return round_up(total[0]) if total is not None and max(total[1:]) <= allowed else math.inf


def _sum_delta(loss: PrivacyLoss, target: Fraction) -> float:
    """Return the mass of all failures together, if ε is at least the sum of all."""
    total = failure_masses(loss)
    return round_up(min(max(total[1:]), Fraction(1))) if total is not None and total[0] <= target else 1.0


def _best_epsilon(loss: PrivacyLoss, allowed: Fraction) -> float:
    """Return the least ε that the sharpest method for a loss gives."""
    square = gaussian_mu(loss)
    if square is not None:
        return curve_epsilon(square, allowed)[1]
    bounds = [math.inf]
    pair_batches = batches(loss)
    if pair_batches is not None:
        bounds.append(
            max((epsilon_above(batch, round_down(allowed)) for batch in pair_batches if batch.pairs), default=0.0)
        )
    if math.isinf(bounds[-1]):
        bounds.append(renyi_epsilon(loss, allowed))
        rho = concentrated_of(loss)
        if rho is not None and rho[1] < allowed:
            bounds.append(concentrated_epsilon(rho[0], allowed - rho[1]))
    if isinstance(loss, DiscreteGaussianNoise):
        bounds.append(gaussian_epsilon(loss.variance, loss.sensitivity, allowed))
    return min(bounds)


def _best_delta(loss: PrivacyLoss, target: Fraction) -> float:
    square = gaussian_mu(loss)
    if square is not None:
        return curve_delta(square, target)[1]
    bounds = [1.0]
    pair_batches = batches(loss)
    if pair_batches is not None:
        bounds.append(
            max((delta_above(batch, round_down(target)) for batch in pair_batches if batch.pairs), default=0.0)
        )
    else:
        bounds.append(renyi_delta(loss, target))
        rho = concentrated_of(loss)
        if rho is not None:
            bounds.append(math.nextafter(concentrated_delta(rho[0], target) + round_up(rho[1]), math.inf))
    if isinstance(loss, DiscreteGaussianNoise):
        bounds.append(gaussian_delta(loss.variance, loss.sensitivity, target))
    return min(bounds)


def _amplify_epsilon(loss: Subsampled, allowed: Fraction) -> float:
    """Return ln(1 + q(e^ε − 1)) for the part's ε at δ/q. Reference: Balle, Barthe, Gaboardi 2018, Theorems 8 and 9."""
    if allowed >= loss.rate:
        return 0.0
    inner = epsilon(loss.part, Fraction(round_down(allowed / loss.rate)))
    if inner > STEEPEST:
        return inner
    return math.log1p(nearest_float(loss.rate) * math.expm1(inner)) * (1 + 1e-14)


def _amplify_delta(loss: Subsampled, target: Fraction) -> float:
    """Return q·δ of the part at ln(1 + (e^ε − 1)/q)."""
    rate, rise = nearest_float(loss.rate), nearest_float(target)
    inner = math.log1p(math.expm1(min(rise, STEEPEST)) / rate) * (1 - 1e-14)
    return min(1.0, rate * delta(loss.part, Fraction(max(inner, 0.0))) * (1 + 1e-14))


def _group_delta(loss: Group, target: Fraction) -> float:
    """Return (1 + e^η + … + e^((k−1)η))·δ(η) at η = ε/k.

    K steps from neighbour to neighbour. Reference: Vadhan 2017, Lemma 2.2.
    """
    per_step = target / loss.size if target > loss.size * LEAST else Fraction(0)
    once = approximate_of(loss.part)
    if once is not None:
        per_step = min(per_step, once[0])  # a larger η would not lower δ(η)
    rise = nearest_float(per_step) * (1 + 1e-15)
    if rise * loss.size > STEEPEST:
        return 1.0
    factor = math.expm1(loss.size * rise) / math.expm1(rise) if rise else loss.size
    return min(1.0, delta(loss.part, per_step) * factor * (1 + 1e-12))


def _group_epsilon(loss: Group, allowed: Fraction) -> float:
    """Return the least ε found at which `_group_delta` is at most δ, by bisection that ends on the safe side."""
    target = round_down(allowed)
    low, high = 0.0, 1.0
    if _group_delta(loss, Fraction(0)) <= target:
        return 0.0
    while _group_delta(loss, Fraction(high)) > target:
        low, high = high, 2 * high
        if high > STEEPEST:
            return math.inf
    while high - low > 1e-4 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if _group_delta(loss, Fraction(middle)) <= target else (middle, high)
    return high


def _need_delta(delta: Number) -> Fraction:
    allowed = exact(delta, "delta")
    if not 0 <= allowed < 1:
        raise InvalidInput("delta must lie in [0, 1).", fix="pass delta=0, or a small one such as 1e-9")
    return allowed


def _need_epsilon(epsilon: Number) -> Fraction:
    target = exact(epsilon, "epsilon")
    if target < 0:
        raise InvalidInput("epsilon must be 0 or more.", fix="pass epsilon=0 for the total variation distance")
    return target
