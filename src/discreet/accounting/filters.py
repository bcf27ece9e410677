"""Privacy filters: how much an adaptive session may spend, when the next cost is chosen after the last answer.

A filter is a frozen value. `admit(loss)` returns the filter after a payment, or refuses; either way the decision
depends on the payments alone and is exact. The promise is for the whole session, however its payments were chosen and
whenever it stopped; proofs are in the documentation, `adaptive`.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import assert_never

from discreet.accounting.composites import Composed, PrivacyLoss, Repeated
from discreet.accounting.conversions import approximate_of, concentrated_of
from discreet.accounting.losses import Approximate, Concentrated, Pure
from discreet.accounting.odometers import Odometer, need_relation, not_negative, tidy
from discreet.core import (
    BudgetExceeded,
    InvalidInput,
    Neighbours,
    Number,
    WrongType,
    positive,
    probability,
)
from discreet.core.errors import kind_of
from discreet.core.exact import nearest_float
from discreet.core.frozen import settle
from discreet.core.units import need_neighbours

#: Where the orders of a Rényi filter lie around its favourite, in quarters of an octave of α − 1. Lower ones could
#: never be the one that fits, and towards the upper end the pure sum takes over.
QUARTERS = (-3, -2, -1, 0, 1, 2, 4, 8, 12, 16)
#: Sampled parts have no better bound than unsampled ones above this order.
HIGHEST = 1024
#: The text of a filter: see `filter_to_text`. Not \d, which takes the digits of all scripts.
HEAD = re.compile(r"filter/(?P<version>[1-9][0-9]{0,8}) (?P<kind>pure|concentrated|renyi)\((?P<fields>[^()]*)\)")
FIELD = re.compile(r"([a-z]+)=(\[[^\]]*\]|[^,\[]*)")
ORDER = re.compile(r"([0-9/]+) share ([0-9/]+) spent ([0-9/]+|unbounded)")
NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,1300})(?:/[1-9][0-9]{0,1300})?")
AS_WRITTEN = "pass what filter_to_text returned, complete and unchanged"
#: Room for a thousand orders with long sums.
MOST_CHARACTERS = 5_000_000
#: Doublings after which a cost counts as none.
MOST_DOUBLINGS = 200


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
        """What the whole session costs at most."""
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
            return PureFilter(
                self.epsilon, spent=min(tidy(self.spent + pair[0]), self.epsilon), neighbours=self.neighbours
            )
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
        """What the whole session costs at most."""
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
            return replace(self, spent=min(spent, self.rho), failed=min(failed, self.delta))
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
        kept = whole / 10 if reserve is None else not_negative(reserve, "reserve")
        if kept > whole:
            raise InvalidInput("reserve is more than delta.", fix="pass a part of delta, such as delta/10, or leave it")
        if orders is None:
            orders, shares = tuned_orders(budget, whole - kept)
        meter = Odometer(whole - kept, orders=orders, shares=shares, neighbours=neighbours)
        settle(self, epsilon=budget, reserve=kept, odometer=meter)

    @property
    def delta(self) -> Fraction:
        """The δ of the whole session."""
        return self.odometer.delta + self.reserve

    @property
    def promise(self) -> PrivacyLoss:
        """What the whole session costs at most."""
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
            return _resumed(self.epsilon, self.reserve, later)
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
        reading = odometer.epsilon
        return reading is not None and reading <= self.epsilon and odometer.failed <= self.reserve


Filter = PureFilter | ConcentratedFilter | RenyiFilter


def times_left(session: Filter, loss: PrivacyLoss) -> int:
    """Return how many times a loss still fits, one after another."""
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


def tuned_orders(epsilon: Fraction, delta: Fraction) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return orders for an (ε, δ) session, and their shares of δ: half for the order at which the most zCDP fits.

    Orders may be chosen by anything but the data, so that the floats here are a matter of taste, not of soundness.
    """
    if not delta:
        return (), ()
    target, log = nearest_float(epsilon), math.log(2 * delta.denominator) - math.log(delta.numerator)

    def capacity(a: float) -> float:
        return (target - (log - math.log1p(a)) / a + math.log1p(1 / a)) / (1 + a)

    favourite = max((2 ** (step / 8) for step in range(-32, 200)), key=capacity)
    kept = [step for step in QUARTERS if step <= 0 or favourite * 2 ** (step / 4) < HIGHEST]
    orders = tuple(Fraction(f"{1 + favourite * 2 ** (step / 4):.4g}") for step in kept)
    return orders, tuple(Fraction(1, 2) if step == 0 else Fraction(1, 2 * (len(kept) - 1)) for step in kept)


def _within(spent: Fraction, budget: Fraction) -> Fraction:
    if spent > budget:
        raise InvalidInput("More is spent than the budget allows.", fix="pass the state of a filter as it was")
    return spent


def _resumed(epsilon: Fraction, reserve: Fraction, odometer: Odometer) -> RenyiFilter:
    result = object.__new__(RenyiFilter)
    settle(result, epsilon=epsilon, reserve=reserve, odometer=odometer)
    return result


def _over(symbol: str, cost: Fraction, spent: Fraction, budget: Fraction) -> BudgetExceeded:
    left = _shown(budget - spent, ROUND_FLOOR)
    return BudgetExceeded(
        f"This costs {symbol}={_shown(cost, ROUND_CEILING)}; {symbol}={_shown(spent, ROUND_CEILING)} of "
        f"{_shown(budget, ROUND_FLOOR)} is spent, {left} is left.",
        fix=f"ask for something that costs {symbol}={left} or less, or reuse an earlier release"
        if left != "0"
        else "reuse an earlier release: asking for it again is free",
    )


def _shown(number: Fraction, rounding: str) -> str:
    context = Context(prec=6, rounding=rounding)
    return f"{float(context.divide(Decimal(number.numerator), Decimal(number.denominator))):.6g}"


def filter_to_text(session: Filter) -> str:
    """Return the one text of a filter and of what was spent, which `filter_from_text` reads back.

    Equal filters have equal texts. A change in how a filter is written, or in what it admits, makes a new version.
    """
    match session:
        case PureFilter(epsilon, spent, neighbours):
            fields = f"pure(epsilon={epsilon}, spent={spent}, neighbours={neighbours.name.lower()})"
        case ConcentratedFilter(rho, delta, spent, failed, neighbours):
            paid = f"spent={spent}, failed={failed}"
            fields = f"concentrated(rho={rho}, delta={delta}, {paid}, neighbours={neighbours.name.lower()})"
        case RenyiFilter(epsilon, reserve, meter):
            *sums, pure = ["unbounded" if one is None else str(one) for one in meter.spent]
            orders = [f"{a} share {b} spent {c}" for a, b, c in zip(meter.orders, meter.shares, sums, strict=True)]
            paid = f"failed={meter.failed}, pure={pure}, orders=[{'; '.join(orders)}]"
            budget = f"epsilon={epsilon}, delta={session.delta}, reserve={reserve}"
            fields = f"renyi({budget}, {paid}, neighbours={meter.neighbours.name.lower()})"
        case _:
            assert_never(session)
    return f"filter/1 {fields}"


def filter_from_text(text: str) -> Filter:
    """Return the filter that a text stands for; refuses any text that `filter_to_text` would not have written."""
    if not isinstance(text, str):
        raise WrongType(f"The text of a filter is {kind_of(text)}, not a str.", fix=AS_WRITTEN)
    head = HEAD.fullmatch(text) if len(text) <= MOST_CHARACTERS else None
    if head is None:
        raise InvalidInput("This is not the text of a filter.", fix=AS_WRITTEN)
    if head["version"] != "1":
        raise InvalidInput(
            "The filter is written in another version than this release reads, which is 1.",
            fix="read it with the release of discreet that wrote it, or a later one",
        )
    result = _read(head["kind"], dict(FIELD.findall(head["fields"])))
    if filter_to_text(result) != text:
        raise InvalidInput("The text says a filter, but not in its canonical form.", fix=AS_WRITTEN)
    return result


def _read(kind: str, fields: dict[str, str]) -> Filter:
    def number(name: str) -> Fraction:
        return _number(fields.get(name, ""))

    neighbours = Neighbours.REPLACE if fields.get("neighbours") == "replace" else Neighbours.ADD_REMOVE
    if kind == "pure":
        return PureFilter(number("epsilon"), spent=number("spent"), neighbours=neighbours)
    if kind == "concentrated":
        budget, paid = (number("rho"), number("delta")), (number("spent"), number("failed"))
        return ConcentratedFilter(*budget, spent=paid[0], failed=paid[1], neighbours=neighbours)
    reserve = not_negative(number("reserve"), "reserve")
    rows = [ORDER.fullmatch(row) for row in fields.get("orders", "[]")[1:-1].split("; ") if row]
    found = [row.groups() for row in rows if row is not None]
    sums = [*(spent for _, _, spent in found), fields.get("pure", "")]
    meter = Odometer(
        probability(number("delta"), "delta") - reserve,
        orders=[_number(order) for order, _, _ in found],
        shares=[_number(share) for _, share, _ in found],
        neighbours=neighbours,
        spent=[None if one == "unbounded" else _number(one) for one in sums],
        failed=number("failed"),
    )
    return _checked(_resumed(positive(number("epsilon"), "epsilon"), reserve, meter))


def _checked(session: RenyiFilter) -> RenyiFilter:
    if not session.fits(Composed([])):
        raise InvalidInput("More is spent than the budget allows.", fix=AS_WRITTEN)
    return session


def _number(text: str) -> Fraction:
    if NUMBER.fullmatch(text) is None:
        raise InvalidInput("A number of the filter is missing or misspelt.", fix=AS_WRITTEN)
    return Fraction(text)
