"""Rényi divergences of losses, their sums, and the tight way from them to (ε, δ).

The Rényi divergence of order α of P from Q is ln(E_P[e^((α−1)L)])/(α − 1), with L = ln(P/Q). Divergences of independent
releases add up, also if each release is chosen after seeing the last (Mironov 2017, Proposition 1), which is why
filters keep them.

All values are upper bounds, rational, and hold for both orders of P and Q.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import assert_never

import numpy as np

from discreet.accounting.composites import (
    Composed,
    Group,
    Parallel,
    PrivacyLoss,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
    need_loss,
    parts_of,
)
from discreet.accounting.conversions import approximate_of, concentrated_of, group_loss, order_delta, order_epsilon
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
from discreet.accounting.pld.atoms import Atoms
from discreet.accounting.pld.cells import UNIT, Floats
from discreet.accounting.pld.continuous_noise import laplace_pair
from discreet.accounting.pld.dominating_pairs import atoms_of, gaussian_mu
from discreet.accounting.pld.lattice import outwards
from discreet.accounting.sampled_gaussian import sampled_gaussian_moment, sampled_list_moment
from discreet.core import DiscreetError, InvalidInput, Number, WrongType, exact, round_up
from discreet.core.exact import nearest_float

#: Orders at which a curve is looked at when no others are asked for.
# fmt: off - a table
ORDERS = tuple(
    map(
        Fraction,
        (
            "1.01",
            "1.02",
            "1.05",
            "1.1",
            "1.15",
            "1.2",
            "1.25",
            "1.3",
            "1.35",
            "1.4",
            "1.45",
            "1.5",
            "1.55",
            "1.6",
            "1.65",
            "1.7",
            "1.8",
            "1.9",
            "2",
            "2.2",
            "2.5",
            "2.75",
            "3",
            "3.5",
            "4",
            "5",
            "6",
            "7",
            "8",
            "9",
            "10",
            "11",
            "12",
            "14",
            "16",
            "18",
            "20",
            "22",
            "24",
            "28",
            "32",
            "40",
            "48",
            "64",
            "96",
            "128",
            "192",
            "256",
            "384",
            "512",
            "768",
            "1024",
        ),
    )
)
# fmt: on
#: Of the orders that losses list themselves, so many are looked at too.
MOST_LISTED = 1000
#: And only between these: floats cannot tell orders nearer to 1 from it.
FLOATING = 1 + Fraction(1, 10**6), Fraction(10**6)
#: Relative accuracy of the float formulas below.
SLACK = 1e-11
#: Sums over powers of sampled parts are worked out up to this order.
HIGHEST_SAMPLED = 1024
#: Laplace noise on Poisson-sampled batches is rounded to so many losses on either side of 0, of at most so much.
LAPLACE_CELLS, GONE = 1024, 300.0


@dataclass(frozen=True, slots=True)
class RenyiBound:
    """A bound on the divergence at each order asked for (None: unbounded), which holds up to an event of mass δ.

    That is, P = (1−δ)P′ + δP″ and Q = (1−δ)Q′ + δQ″, and the bounds are on the divergence of P′ from Q′ and of Q′ from
    P′.
    """

    values: tuple[Fraction | None, ...]
    delta: Fraction


def renyi_of(loss: PrivacyLoss, orders: Iterable[Number] = ORDERS) -> RenyiBound:
    """Return bounds on the Rényi divergences of a loss at several orders above 1.

    Reference: Mironov 2017, Propositions 5 to 7 (closed forms); Mironov, Talwar, Zhang 2019, Theorems 4 and 5
    (sampling).
    """
    return _bound_divergences(need_loss(loss), orders if orders is ORDERS else _need_orders(orders))


def _need_orders(orders: object) -> tuple[Fraction, ...]:
    try:
        listed = tuple(exact(order, "order") for order in orders)  # type: ignore[attr-defined]
    except TypeError as error:
        if isinstance(error, DiscreetError):
            raise
        raise WrongType("orders is not a list of numbers.", fix="pass orders such as (2, 8, 32)") from None
    if not listed or min(listed) <= 1:
        raise InvalidInput("Orders must be above 1.", fix="pass orders such as (2, 8, 32)")
    return listed


def _bound_divergences(loss: PrivacyLoss, orders: tuple[Fraction, ...]) -> RenyiBound:  # noqa: C901 - one case a kind
    match loss:
        case Composed(parts):
            return _add_bounds([_bound_divergences(part, orders) for part in parts], len(orders))
        case Repeated(part, times):
            once = _bound_divergences(part, orders)
            return RenyiBound(tuple(None if v is None else times * v for v in once.values), times * once.delta)
        case Parallel(parts):
            return _worst([_bound_divergences(part, orders) for part in parts], len(orders))
        case Group(part, size):
            simpler = group_loss(part, size)
            return (
                _bound_divergences(simpler, orders)
                if simpler is not None
                else RenyiBound((None,) * len(orders), Fraction(0))
            )
        case Subsampled(part):
            # Sampling never raises a divergence: it is quasi-convex in its two arguments together.
            return _least(_least(_bound_sampled(loss, orders), _bound_divergences(part, orders)), _simple(loss, orders))
        case Renyi(curve):
            return RenyiBound(tuple(_read(curve, order) for order in orders), Fraction(0))
        case Pure() | Approximate() | LaplaceNoise() | RandomisedResponse() | BoundedRange() | DiscreteLaplaceNoise():
            return _least(_bound_by_formula(loss, orders), _simple(loss, orders))
        case Shuffled() | DominatingPair():
            return _least(_bound_atoms(atoms_of(loss), orders), _simple(loss, orders))
        case Concentrated() | GaussianDP() | GaussianNoise() | DiscreteGaussianNoise():
            return _simple(loss, orders)
        case _:
            assert_never(loss)


def renyi_epsilon(loss: PrivacyLoss, delta: Fraction) -> float:
    """Return the least ε at δ > 0 that the Rényi curve of a loss gives; infinite if none."""
    orders = _choose_orders(loss)
    bound = renyi_of(loss, orders)
    room = delta - bound.delta
    if room <= 0:
        return math.inf
    return min(
        (order_epsilon(a, v, room) for a, v in zip(orders, bound.values, strict=True) if v is not None),
        default=math.inf,
    )


def renyi_delta(loss: PrivacyLoss, epsilon: Fraction) -> float:
    """Return the least δ at ε that the Rényi curve of a loss gives; at most 1."""
    orders = _choose_orders(loss)
    bound = renyi_of(loss, orders)
    known = ((a, v) for a, v in zip(orders, bound.values, strict=True) if v is not None)
    least = min((order_delta(a, v, epsilon) for a, v in known), default=1.0)
    return min(1.0, math.nextafter(least + round_up(bound.delta), math.inf))


def _choose_orders(loss: PrivacyLoss) -> tuple[Fraction, ...]:
    """Return the usual orders, and those that curves in a loss list: at these they promise most."""
    listed = sorted(order for order in _collect_orders(loss) - set(ORDERS) if FLOATING[0] < order < FLOATING[1])
    return tuple(sorted((*ORDERS, *listed[:MOST_LISTED]))) if listed else ORDERS


def _collect_orders(loss: PrivacyLoss) -> set[Fraction]:
    own = {order for order, _ in loss.curve} if isinstance(loss, Renyi) else set[Fraction]()
    return own.union(*(_collect_orders(part) for part in dict.fromkeys(parts_of(loss))))


def _simple(loss: PrivacyLoss, orders: tuple[Fraction, ...]) -> RenyiBound:
    """Return the better of αρ from zCDP and ε from pure privacy, if their δ agree."""
    rho, pair = concentrated_of(loss), approximate_of(loss)
    if rho is None:
        if pair is None or pair[1]:
            return RenyiBound((None,) * len(orders), Fraction(0))
        return RenyiBound((pair[0],) * len(orders), Fraction(0))
    values = [order * rho[0] for order in orders]
    # Only where neither fails: bounds that hold up to different events do not hold together.
    if pair is not None and not pair[1] and not rho[1]:
        values = [min(value, pair[0]) for value in values]
    return RenyiBound(tuple(values), rho[1])


def _bound_by_formula(loss: PrivacyLoss, orders: tuple[Fraction, ...]) -> RenyiBound:
    """Return the divergence of the worst pair of a purely private leaf, by its formula."""
    match loss:
        case Approximate(epsilon, delta):
            return RenyiBound(tuple(_response(a, epsilon) for a in orders), delta)
        case LaplaceNoise(scale, sensitivity):
            return RenyiBound(tuple(_laplace(a, sensitivity / scale) for a in orders), Fraction(0))
        case RandomisedResponse() | DiscreteLaplaceNoise():
            return _bound_atoms(atoms_of(loss), orders)
        case _:
            pair = approximate_of(loss)
            return RenyiBound(tuple(_response(a, pair[0]) if pair else None for a in orders), Fraction(0))


def _response(order: Fraction, epsilon: Fraction) -> Fraction:
    """Return the divergence of the worst ε-private pair: losses ±ε with probabilities e^ε and 1 over 1 + e^ε."""
    reach, power = nearest_float(epsilon), nearest_float(order) - 1
    # ln((e^(ε + cε) + e^(−cε))/(1 + e^ε)), with e^(ε + cε) taken out.
    top = math.log1p(math.exp(-(2 * power + 1) * reach)) - math.log1p(math.exp(-reach))
    return _up(power * reach + top, power, power * reach + 1)


def _laplace(order: Fraction, reach: Fraction) -> Fraction:
    """Return the divergence of Laplace noise, ln(α/(2α−1)·e^((α−1)r) + (α−1)/(2α−1)·e^(−αr))/(α−1)."""
    r, a = nearest_float(reach), nearest_float(order)
    rest = (a - 1) / (2 * a - 1)
    log = (a - 1) * r + math.log1p(rest * math.expm1(-(2 * a - 1) * r))
    return _up(log, a - 1, (a - 1) * r + 1)


def _bound_atoms(atoms: Atoms | None, orders: tuple[Fraction, ...]) -> RenyiBound:
    """Return the divergences of a listed pair, on the outcomes that both sides share."""
    if atoms is None:
        return RenyiBound((None,) * len(orders), Fraction(0))
    shared = (atoms.present > 0) & (atoms.absent > 0)
    outside = max(
        float(atoms.present[~shared].sum()) + atoms.lost_present, float(atoms.absent[~shared].sum()) + atoms.lost_absent
    )
    present, absent = atoms.present[shared], atoms.absent[shared]
    if outside >= 0.5 or not len(present):
        return RenyiBound((None,) * len(orders), Fraction(0))
    levels = np.log(present) - np.log(absent)
    values = []
    for order in orders:
        power = nearest_float(order) - 1
        logs = [_log_sum(np.log(present) + power * levels), _log_sum(np.log(absent) - power * levels)]
        # Conditioning on the shared outcomes divides P by 1 − δ at most.
        log = max(logs) - (power + 1) * math.log1p(-outside)
        values.append(_up(log + (power + 1) * 4 * atoms.slack, power, power * float(np.abs(levels).max()) + 1))
    return RenyiBound(tuple(values), Fraction(round_up(Fraction(outside))) * (1 + Fraction(1, 10**12)))


def _bound_sampled(loss: Subsampled, orders: tuple[Fraction, ...]) -> RenyiBound:
    """Return the divergences under Poisson sampling, each by the best way there is for its order.

    For pairs that are the same in both orders, removing a person is the worse direction.
    """
    if loss.sampling is not Sampling.POISSON or not _symmetric(loss.part):
        return RenyiBound((None,) * len(orders), Fraction(0))
    sharp = _bound_sampled_moments(loss, orders)
    missing = tuple(order for order, value in zip(orders, sharp, strict=True) if value is None)
    rest = iter(_by_whole_orders(loss, missing)) if missing else iter(())
    return RenyiBound(tuple(next(rest) if value is None else value for value in sharp), Fraction(0))


def _bound_sampled_moments(loss: Subsampled, orders: tuple[Fraction, ...]) -> list[Fraction | None]:
    """Return the divergences of a sampled Gaussian, Laplace noise or list by its moments (see `sampled_gaussian`)."""
    square, atoms = gaussian_mu(loss.part), None
    rate = nearest_float(loss.rate) * (1 + 4 * UNIT)
    if rate >= 1:
        return [None] * len(orders)
    if square is None:
        match loss.part:
            case LaplaceNoise(scale, sensitivity):
                atoms = _laplace_list(nearest_float(sensitivity / scale) * (1 + 4 * UNIT))
            case RandomisedResponse() | Pure() | DiscreteLaplaceNoise():
                atoms = _list(atoms_of(loss.part))
        if atoms is None:
            return [None] * len(orders)
    values: list[Fraction | None] = []
    for order in orders:
        # Moments grow with the order.
        above = nearest_float(order) * (1 + 2 * UNIT)
        if atoms is not None:
            log: float | None = sampled_list_moment(*atoms, rate, above)
        else:
            log = sampled_gaussian_moment(math.sqrt(nearest_float(square or 0)) * (1 + 4 * UNIT), rate, above)
        values.append(None if log is None else Fraction(log / nearest_float(order - 1) * (1 + 8 * UNIT)))
    return values


def _list(atoms: Atoms | None) -> tuple[Floats, Floats, Floats] | None:
    """Return losses, Q-masses and roundings of a list, if no outcome tells for certain."""
    if atoms is None or atoms.lost_present or atoms.lost_absent or not (atoms.present.all() and atoms.absent.all()):
        return None
    logs = np.log(atoms.present), np.log(atoms.absent)
    rounding = 4 * UNIT * (1 - logs[0] - logs[1]) + 4 * atoms.slack
    return logs[0] - logs[1], atoms.absent * (1 + 2 * atoms.slack), rounding


def _laplace_list(reach: float) -> tuple[Floats, Floats, Floats] | None:
    """Return Laplace noise, rounded outwards to a list of losses; a pair that dominates it diverges by more."""
    if not 1e-6 < reach < GONE:
        return None
    edges = np.linspace(-reach, reach, 2 * LAPLACE_CELLS + 1)
    masses = outwards(laplace_pair(reach).cells(edges), 0)
    kept = masses.masses > 0
    levels = edges[kept]
    return levels, masses.masses[kept] * np.exp(-levels) * (1 + 8 * UNIT), 8 * UNIT * (reach + np.abs(levels))


def _by_whole_orders(loss: Subsampled, orders: tuple[Fraction, ...]) -> tuple[Fraction | None, ...]:
    """Return the divergences of any sampled part: at whole orders exact, in between by convexity.

    For whole α, E_Q[(1−q+q·e^L)^α] = Σ_k C(α,k)·(1−q)^(α−k)·q^k·e^((k−1)·D_k), where D_k is the part's divergence of
    order k. (α−1)·D_α is convex in α and 0 at 1.
    """
    highest = min(math.ceil(max(orders)), HIGHEST_SAMPLED)
    whole = tuple(Fraction(k) for k in range(2, highest + 1))
    part = _bound_divergences(loss.part, whole)
    if None in part.values or part.delta:
        return (None,) * len(orders)
    inner = np.array(
        [0.0, 0.0, *((k - 1) * nearest_float(v or Fraction(0)) for k, v in zip(whole, part.values, strict=True))]
    )
    inner *= 1 + 1e-15
    cumulants = [0.0, 0.0] + [_binomial_moment(k, nearest_float(loss.rate), inner) for k in range(2, highest + 1)]
    return tuple(_between(cumulants, a) if a <= highest else None for a in orders)


def _symmetric(part: PrivacyLoss) -> bool:
    match part:
        case Composed(parts):
            return all(map(_symmetric, parts))
        case Repeated(inner):
            return _symmetric(inner)
        case GaussianNoise() | GaussianDP() | LaplaceNoise() | DiscreteLaplaceNoise() | RandomisedResponse() | Pure():
            return True
        case _:
            return False


def _binomial_moment(order: int, rate: float, inner: Floats) -> float:
    k = np.arange(order + 1)
    factorials = _log_factorials()[: order + 1]
    logs = factorials[-1] - factorials - factorials[::-1]
    if rate < 1:
        logs = logs + k * math.log(rate) + (order - k) * math.log1p(-rate) + inner[: order + 1]
        return _log_sum(logs) + SLACK * (1 + order)
    return float(inner[order])


@cache
def _log_factorials() -> Floats:
    return np.array([math.lgamma(k + 1) for k in range(HIGHEST_SAMPLED + 1)])


def _between(cumulants: list[float], order: Fraction) -> Fraction:
    """Return the chord of the convex (α−1)·D_α between whole orders, over α − 1."""
    low = math.floor(order)
    share = nearest_float(order - low)
    log = (1 - share) * cumulants[low] + (share * cumulants[low + 1] if share else 0.0)
    return _up(max(log, 0.0), nearest_float(order) - 1, 1.0)


def _read(curve: tuple[tuple[Fraction, Fraction], ...], order: Fraction) -> Fraction | None:
    """Return the bound of the least listed order that is not below this one: divergences grow with the order."""
    return next((value for listed, value in curve if listed >= order), None)


def _up(log: float, power: float, size: float) -> Fraction:
    """Return log/power as a Fraction, rounded up by more than floats can be off."""
    return Fraction(max(0.0, (log + SLACK * 1e-2 * size) / power * (1 + 1e-14)))


def _log_sum(logs: Floats) -> float:
    top = float(logs.max())
    return top + math.log(float(np.exp(logs - top).sum()))


def _add_bounds(bounds: list[RenyiBound], count: int) -> RenyiBound:
    totals: list[Fraction | None] = [Fraction(0)] * count
    for bound in bounds:
        totals = [None if a is None or b is None else a + b for a, b in zip(totals, bound.values, strict=True)]
    return RenyiBound(tuple(totals), sum((bound.delta for bound in bounds), Fraction(0)))


def _worst(bounds: list[RenyiBound], count: int) -> RenyiBound:
    worst: list[Fraction | None] = [Fraction(0)] * count
    for bound in bounds:
        worst = [None if a is None or b is None else max(a, b) for a, b in zip(worst, bound.values, strict=True)]
    return RenyiBound(tuple(worst), max((bound.delta for bound in bounds), default=Fraction(0)))


def _least(first: RenyiBound, second: RenyiBound) -> RenyiBound:
    """Return the better of two bounds order by order, if they hold up to the same event.

    Else the one that holds further.
    """
    if first.delta != second.delta:
        return first if second.values.count(None) >= first.values.count(None) and None not in first.values else second
    pairs = zip(first.values, second.values, strict=True)
    return RenyiBound(tuple(b if a is None else a if b is None else min(a, b) for a, b in pairs), first.delta)
