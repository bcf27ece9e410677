"""Privacy filters: how much an adaptive session may spend, when the next cost is chosen after the last answer.

A filter is a frozen value. `admit(loss)` returns the filter after a payment, or refuses; either way the decision
depends on the payments alone and is exact. The promise is for the whole session, however its payments were chosen and
whenever it stopped; proofs are in the documentation, `adaptive`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, assert_never

from discreet.accounting.composites import PrivacyLoss, Repeated
from discreet.accounting.conversions import approximate_of, concentrated_of
from discreet.accounting.losses import Approximate, Concentrated, Pure
from discreet.accounting.odometers import EXACT_BITS, Odometer, Sums, need_relation, not_negative, price_of, tidy
from discreet.core import (
    BudgetExceeded,
    InvalidInput,
    Neighbours,
    Number,
    need_neighbours,
    positive,
    probability,
)
from discreet.core.canonical_text import settle
from discreet.core.exact import nearest_float, text_down, text_up

#: The places of the orders of a Rényi filter around its favourite, in quarters of an octave of α − 1. Lower ones could
#: never be the one that fits, and towards the upper end the pure sum takes over.
QUARTERS = (-3, -2, -1, 0, 1, 2, 4, 8, 12, 16)
#: Sampled parts have no better bound than unsampled ones above this order.
HIGHEST = 1024
#: Doublings after which a cost counts as none.
MOST_DOUBLINGS = 200


Additive = TypeVar("Additive", "PureFilter", "ConcentratedFilter")


@dataclass(frozen=True, slots=True, init=False)
class PureFilter:
    """Pure differential privacy: the ε's add up, exactly.

    Guarantee: the whole session is ε-differentially private. Reference: Rogers, Roth, Ullman, Vadhan 2016 (basic
    composition as a filter).
    """

    epsilon: Fraction
    spent: Fraction
    neighbours: Neighbours

    def __init__(self, epsilon: Number, *, spent: Number = 0, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> None:
        budget, paid = positive(epsilon, "epsilon"), not_negative(spent, "spent")
        settle(self, epsilon=budget, spent=_within(paid, budget), neighbours=need_neighbours(neighbours))

    @property
    def promise(self) -> PrivacyLoss:
        """The cost of the whole session at most."""
        return Pure(self.epsilon)

    @property
    def left(self) -> Fraction:
        """The ε that may still be paid."""
        return self.epsilon - self.spent

    def fits(self, loss: PrivacyLoss) -> bool:
        """Tell whether a payment would be admitted."""
        pair = approximate_of(need_relation(loss, self.neighbours))
        return pair is not None and not pair[1] and pair[0] <= self.left

    def admit(self, loss: PrivacyLoss) -> "PureFilter":
        """Return the filter after a payment, or raise `BudgetExceeded`."""
        fits, pair = self.fits(loss), approximate_of(loss)
        if pair is None or pair[1]:
            raise BudgetExceeded(
                "This has no pure ε, and the session promises one.",
                fix="ask with Laplace noise or another purely private mechanism, or open the session with a delta",
            )
        if fits:
            return _replace_sums(self, spent=min(tidy(self.spent + pair[0]), self.epsilon))
        raise _over("ε", pair[0], self.spent, self.epsilon)


@dataclass(frozen=True, slots=True, init=False)
class ConcentratedFilter:
    """zCDP: the ρ's add up exactly, and beside them the failure masses of approximate parts.

    Guarantee: the whole session is δ-approximately ρ-zCDP, so that `guarantee(filter.promise, δ)` and all other
    conversions hold for it. Reference: Feldman, Zrnic 2021 (every order at once); Whitehouse, Ramdas, Rogers, Wu 2023
    (approximate zCDP).
    """

    rho: Fraction
    delta: Fraction
    spent: Fraction
    failed: Fraction
    neighbours: Neighbours

    def __init__(
        self,
        rho: Number,
        delta: Number = 0,
        *,
        spent: Number = 0,
        failed: Number = 0,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> None:
        promise = Concentrated(rho, delta)
        settle(
            self,
            rho=promise.rho,
            delta=promise.delta,
            spent=_within(not_negative(spent, "spent"), promise.rho),
            failed=_within(not_negative(failed, "failed"), promise.delta),
            neighbours=need_neighbours(neighbours),
        )

    @property
    def promise(self) -> PrivacyLoss:
        """The cost of the whole session at most."""
        return Concentrated(self.rho, self.delta)

    @property
    def left(self) -> Fraction:
        """The ρ that may still be paid."""
        return self.rho - self.spent

    def fits(self, loss: PrivacyLoss) -> bool:
        """Tell whether a payment would be admitted."""
        price = concentrated_of(need_relation(loss, self.neighbours))
        return price is not None and price[0] <= self.left and self.failed + price[1] <= self.delta

    def admit(self, loss: PrivacyLoss) -> "ConcentratedFilter":
        """Return the filter after a payment, or raise `BudgetExceeded`."""
        fits, price = self.fits(loss), concentrated_of(loss)
        if price is None:
            raise BudgetExceeded(
                "This has no zCDP cost, and the session is accounted in it.",
                fix="ask with a mechanism that has one, or open the session with a RenyiFilter",
            )
        if fits:
            spent, failed = tidy(self.spent + price[0]), tidy(self.failed + price[1])
            return _replace_sums(self, spent=min(spent, self.rho), failed=min(failed, self.delta))
        if price[0] > self.left:
            raise _over("ρ", price[0], self.spent, self.rho)
        raise _over("δ", price[1], self.failed, self.delta)


@dataclass(frozen=True, slots=True, init=False)
class RenyiFilter:
    """(ε, δ): an odometer that may not pass ε, and a part of δ set aside for parts that may fail.

    Guarantee: the whole session is (ε, δ)-differentially private: payments are admitted while some Rényi order, or the
    pure sum, vouches for ε at its share of δ − reserve, and while the failure masses stay within the reserve. The
    reserve is fixed at birth; what is not used of it is not free for the orders, see `adaptive`. With reserve = δ this
    is basic composition. Reference: the theorem of `discreet.accounting.odometers`.
    """

    epsilon: Fraction
    reserve: Fraction
    odometer: Odometer

    def __init__(
        self,
        epsilon: Number,
        delta: Number,
        *,
        reserve: Number | None = None,
        orders: Iterable[Number] | None = None,
        shares: Iterable[Number] | None = None,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> None:
        budget, whole = positive(epsilon, "epsilon"), probability(delta, "delta")
        reserved = whole / 10 if reserve is None else not_negative(reserve, "reserve")
        if reserved > whole:
            raise InvalidInput("reserve is more than delta.", fix="pass a part of delta, such as delta/10, or leave it")
        if orders is None:
            orders, shares = tune_orders(budget, whole - reserved)
        meter = Odometer(whole - reserved, orders=orders, shares=shares, neighbours=neighbours)
        settle(self, epsilon=budget, reserve=reserved, odometer=meter)

    @property
    def delta(self) -> Fraction:
        """The δ of the whole session."""
        return self.odometer.delta + self.reserve

    @property
    def promise(self) -> PrivacyLoss:
        """The cost of the whole session at most."""
        return Approximate(self.epsilon, self.delta)

    @property
    def spent(self) -> Fraction:
        """The ε that the odometer shows."""
        reading = self.odometer.epsilon
        return self.epsilon if reading is None else reading  # a filter never gets to a reading without bound

    @property
    def left(self) -> Fraction:
        """The rest of ε. A purely private part of at most this still fits; often much more does."""
        return self.epsilon - self.spent

    def fits(self, loss: PrivacyLoss) -> bool:
        """Tell whether a payment would be admitted."""
        return self._holds(self.odometer.after(loss))

    def admit(self, loss: PrivacyLoss) -> "RenyiFilter":
        """Return the filter after a payment, or raise `BudgetExceeded`."""
        later = self.odometer.after(loss)
        if self._holds(later):
            return resume_filter(self.epsilon, self.reserve, later)
        reading = later.epsilon
        if reading is None:
            raise BudgetExceeded(
                "This has no bound at any order of the filter.",
                fix="ask with a mechanism of bounded cost: Laplace or Gaussian noise",
            )
        if reading > self.epsilon:
            raise _over("ε", reading - self.spent, self.spent, self.epsilon)
        raise _over("δ", later.failed - self.odometer.failed, self.odometer.failed, self.reserve)

    def _holds(self, odometer: Odometer) -> bool:
        """Tell whether some order, or the pure sum, vouches for ε: as `odometer.epsilon` ≤ ε says, sooner."""
        margins = (*odometer.margins, Fraction(0))
        within_budget = (
            total is not None and total <= self.epsilon - extra
            for total, extra in zip(reversed(odometer.spent), reversed(margins), strict=True)
        )
        return odometer.failed <= self.reserve and any(within_budget)


Filter = PureFilter | ConcentratedFilter | RenyiFilter


def with_limit(session: Filter, limit: Number) -> Filter:
    """Return a filter with another ε, or ρ, and the same payments; a limit below what is spent is refused.

    Orders, shares and δ stay, so that the new limit, if it is higher, would have admitted all that the old one did. By
    the theorem of `odometers` the guarantee then holds for the histories that end under this limit, no matter how or
    when it was set.
    """
    most = positive(limit, "limit")
    match session:
        case PureFilter(_, spent, neighbours):
            return PureFilter(most, spent=spent, neighbours=neighbours)
        case ConcentratedFilter():
            return ConcentratedFilter(
                most, session.delta, spent=session.spent, failed=session.failed, neighbours=session.neighbours
            )
        case RenyiFilter(_, reserve, meter):
            later = resume_filter(most, reserve, meter)
            _within(later.spent, most)
            return later
        case _:
            assert_never(session)


def adds_exactly(session: Filter, losses: Iterable[PrivacyLoss], *others: Filter) -> bool:
    """Tell whether these can be paid in any order and number, and the sums would never be rounded on the way.

    Also for others of the same kind, with the same orders.
    """
    rows = [*map(_sums, (session, *others)), *(_price(session, loss) for loss in dict.fromkeys(losses))]
    denominators = [[1 if total is None else total.denominator for total in row] for row in rows]
    return all(math.lcm(*column).bit_length() <= EXACT_BITS for column in zip(*denominators, strict=True))


def states_no_less(stated: Filter, counted: Filter) -> bool:
    """Tell whether two filters agree, but for sums of Rényi orders of which the stated ones may be larger.

    Bounds on divergences get sharper from version to version. Sums that an earlier version wrote down are then larger
    than what the same payments come to now, and hold as well.
    """
    if not (isinstance(stated, RenyiFilter) and isinstance(counted, RenyiFilter)):
        return stated == counted
    stated_meter, counted_meter = stated.odometer, counted.odometer
    alike = (
        stated.epsilon,
        stated.reserve,
        stated_meter.delta,
        stated_meter.orders,
        stated_meter.shares,
        stated_meter.neighbours,
        stated_meter.failed,
    ) == (
        (
            counted.epsilon,
            counted.reserve,
            counted_meter.delta,
            counted_meter.orders,
            counted_meter.shares,
            counted_meter.neighbours,
            counted_meter.failed,
        )
    )
    larger = (
        a is None or (b is not None and a >= b)
        for a, b in zip(stated_meter.spent[:-1], counted_meter.spent[:-1], strict=False)
    )
    return alike and stated_meter.spent[-1:] == counted_meter.spent[-1:] and all(larger)


def _sums(session: Filter) -> Sums:
    match session:
        case PureFilter():
            return (session.spent,)
        case ConcentratedFilter():
            return session.spent, session.failed
        case RenyiFilter():
            return *session.odometer.spent, session.odometer.failed
        case _:
            assert_never(session)


def _price(session: Filter, loss: PrivacyLoss) -> Sums:
    """Return the increment of each of the sums by a payment; nothing if it would not be admitted."""
    match session:
        case PureFilter():
            pair = approximate_of(loss)
            return (None if pair is None else pair[0],)
        case ConcentratedFilter():
            return concentrated_of(loss) or (None, None)
        case RenyiFilter():
            price = price_of(loss, session.odometer.orders)
            return *price.sums, price.failed
        case _:
            assert_never(session)


def times_left(session: Filter, loss: PrivacyLoss) -> int:
    """Return the number of times that a loss still fits, one after another."""
    if not session.fits(loss):
        return 0
    low, high = 1, 2
    while session.fits(Repeated(loss, high)):
        low, high = high, 2 * high
        if high >> MOST_DOUBLINGS:
            raise InvalidInput("This costs nothing, so that it fits without end.", fix="pass a loss above 0")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if session.fits(Repeated(loss, middle)) else (low, middle)
    return low


def tune_orders(epsilon: Fraction, delta: Fraction) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return orders for an (ε, δ) session, and their shares of δ: half for the order at which the most zCDP fits.

    Orders may be chosen by anything but the data, so that the floats here are a matter of taste, not of soundness.
    """
    if not delta:
        return (), ()
    target, log = nearest_float(epsilon), math.log(2 * delta.denominator) - math.log(delta.numerator)

    def capacity(a: float) -> float:
        return (target - (log - math.log1p(a)) / a + math.log1p(1 / a)) / (1 + a)

    favourite = max((2 ** (step / 8) for step in range(-32, 200)), key=capacity)
    steps = [step for step in QUARTERS if step <= 0 or favourite * 2 ** (step / 4) < HIGHEST]
    orders = tuple(Fraction(f"{1 + favourite * 2 ** (step / 4):.4g}") for step in steps)
    return orders, tuple(Fraction(1, 2) if step == 0 else Fraction(1, 2 * (len(steps) - 1)) for step in steps)


def _replace_sums(session: Additive, **sums: Fraction) -> Additive:
    """Return a filter with other sums, which were just compared with its limits."""
    later = object.__new__(type(session))
    settle(later, **{name: getattr(session, name) for name in session.__slots__})
    settle(later, **sums)
    return later


def _within(spent: Fraction, budget: Fraction) -> Fraction:
    if spent > budget:
        raise InvalidInput("More is spent than the budget allows.", fix="pass the state of a filter as it was")
    return spent


def resume_filter(epsilon: Fraction, reserve: Fraction, odometer: Odometer) -> RenyiFilter:
    """Return the filter of a session that has begun."""
    result = object.__new__(RenyiFilter)
    settle(result, epsilon=epsilon, reserve=reserve, odometer=odometer)
    return result


def _over(symbol: str, cost: Fraction, spent: Fraction, budget: Fraction) -> BudgetExceeded:
    left = text_down(budget - spent)
    return BudgetExceeded(
        f"This costs {symbol}={text_up(cost)}; {symbol}={text_up(spent)} of "
        f"{text_down(budget)} is spent, {left} is left.",
        fix=f"ask for something that costs {symbol}={left} or less, or reuse an earlier release"
        if left != "0"
        else "reuse an earlier release: asking for it again is free",
    )
