"""Privacy odometers: the cost of an adaptive session so far, one sum per Rényi order, valid whenever it stops.

Theorem. Let payments be chosen one after another, each (its kind and its size) by all answers so far, and let the
session stop when it likes. For a history h let S_α(h) be the sum of the divergences of order α that were paid for,
S_∞(h) the sum of the pure ε's, and F(h) the sum of the failure masses δᵢ. Give each finite order α a share δ_α of δ,
with Σ δ_α ≤ δ, and let

    m_α  = ln(1/(α·δ_α))/(α − 1) − ln(α/(α − 1)),
    ε(h) = the least of S_∞(h) and of S_α(h) + m_α over all orders α.

Then for every d ≥ 0 and every set E of final histories with F ≤ d,

    P(E) ≤ Σ_{h in E} e^ε(h)·Q(h) + δ + d.

In words: had we only looked at sessions whose reading was at most (ε, δ + d), they would be (ε, δ + d)-private. The
proof is in the documentation, `adaptive`. Reference: ours in this form; Feldman, Zrnic 2021 (one order); Rogers, Roth,
Ullman, Vadhan 2016 (what an odometer is); Canonne, Kamath, Steinke 2020, Proposition 12 (the margin m_α).
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from discreet.accounting.composites import Composed, PrivacyLoss, Repeated, need_loss, neighbours_of
from discreet.accounting.conversions import approximate_of
from discreet.accounting.guarantees import Guarantee
from discreet.accounting.losses import Approximate, Pure
from discreet.accounting.renyi import renyi_of
from discreet.core import InvalidInput, Neighbours, Number, WrongType, exact, exp_up, log_up, need_neighbours, round_up
from discreet.core.canonical_text import settle
from discreet.core.exact import COST_STEP, LARGEST

#: α − 1 grows by √2: between two of these a Gaussian session loses at most three per cent.
DEFAULT_ORDERS = tuple(Fraction(f"{1 + 2 ** (step / 2) / 4:.4g}") for step in range(23))
#: More orders than this only make every share of δ smaller.
MOST_ORDERS = 1000
#: Sums are exact as long as their denominators have no more bits than this; what people type stays far below.
EXACT_BITS = 1024
#: A sum whose denominator grew longer is rounded up to a multiple of this.
FINEST = Fraction(1, 10**150)

Sums = tuple[Fraction | None, ...]


@dataclass(frozen=True, slots=True)
class RenyiPrice:
    """The increments of one payment: for each order (None: without bound), the last one ∞; and of the failure mass."""

    sums: Sums
    failed: Fraction


@dataclass(frozen=True, slots=True, init=False)
class Odometer:
    """The cost of a session so far, however its questions were chosen, and whenever it stops.

    Guarantee: the theorem above. `spent` has one sum per order and, at its end, the sum of the pure ε's; None stands
    for a sum without bound. With δ = 0 only that last sum is kept: the exact total of basic composition. Equal shares
    of δ, unless `shares` are given. A payment returns a new odometer; the old one is unchanged.
    """

    delta: Fraction
    orders: tuple[Fraction, ...]
    shares: tuple[Fraction, ...]
    neighbours: Neighbours
    spent: Sums
    failed: Fraction
    #: m_α of each order, worked out once for all payments.
    margins: tuple[Fraction, ...] = field(repr=False, compare=False)

    def __init__(
        self,
        delta: Number = 0,
        *,
        orders: Iterable[Number] = DEFAULT_ORDERS,
        shares: Iterable[Number] | None = None,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
        spent: Iterable[Number | None] | None = None,
        failed: Number = 0,
    ) -> None:
        allowed = exact(delta, "delta")
        if not 0 <= allowed < 1:
            raise InvalidInput("delta must lie in [0, 1).", fix="pass delta=0, or a small one such as 1e-9")
        used_orders = _orders(orders) if allowed else ()
        parts = _shares(shares, len(used_orders)) if allowed else ()
        settle(
            self,
            delta=allowed,
            orders=used_orders,
            shares=parts,
            neighbours=need_neighbours(neighbours),
            spent=_need_sums(spent, len(used_orders) + 1),
            failed=not_negative(failed, "failed"),
            margins=tuple(margin(a, allowed * part) for a, part in zip(used_orders, parts, strict=True)),
        )

    @property
    def readings(self) -> Sums:
        """The sum and the margin of each order; the last one is the pure sum."""
        return tuple(
            None if total is None else max(total + extra, Fraction(0))
            for total, extra in zip(self.spent, [*self.margins, Fraction(0)], strict=True)
        )

    @property
    def epsilon(self) -> Fraction | None:
        """The reading: the least ε that some order vouches for, exactly as it is compared; None if there is none."""
        totals = zip(self.spent, (*self.margins, Fraction(0)), strict=True)
        least = min((total + extra for total, extra in totals if total is not None), default=None)
        return None if least is None else max(least, Fraction(0))

    @property
    def guarantee(self) -> Guarantee:
        """The sentence about the session, if it stops here."""
        reading = self.epsilon
        total = min(self.delta + self.failed, Fraction(1))
        return Guarantee(math.inf if reading is None else round_up(reading), round_up(total))

    def after(self, loss: PrivacyLoss) -> "Odometer":
        """Return the odometer after one more payment."""
        need_relation(loss, self.neighbours)
        price = price_of(loss, self.orders)
        later = object.__new__(Odometer)
        settle(
            later,
            delta=self.delta,
            orders=self.orders,
            shares=self.shares,
            neighbours=self.neighbours,
            spent=_add_sums(self.spent, price.sums),
            failed=min(tidy(self.failed + price.failed), Fraction(1)),
            margins=self.margins,
        )
        return later


def price_of(loss: PrivacyLoss, orders: tuple[Fraction, ...]) -> RenyiPrice:
    """Return the increments by a payment of the sums of these orders, of the pure sum, and of the failure mass."""
    match loss:
        case Composed(parts):
            total = RenyiPrice((Fraction(0),) * (len(orders) + 1), Fraction(0))
            for part in parts:
                price = price_of(part, orders)
                total = RenyiPrice(_add_sums(total.sums, price.sums), tidy(total.failed + price.failed))
            return total
        case Repeated(part, times):
            once = price_of(part, orders)
            return RenyiPrice(
                tuple(None if value is None else times * value for value in once.sums), times * once.failed
            )
        case _:
            return _leaf_price(loss, orders)


@lru_cache(maxsize=4096)
def _leaf_price(loss: PrivacyLoss, orders: tuple[Fraction, ...]) -> RenyiPrice:
    if isinstance(loss, Approximate):
        # One split of P and Q into good and bad serves all orders: the good parts are ε-private (see the proof).
        return RenyiPrice((*_bounds(Pure(loss.epsilon), orders).sums, loss.epsilon), loss.delta)
    finite, pair = _bounds(loss, orders), approximate_of(loss)
    if pair is None:
        return RenyiPrice((*finite.sums, None), finite.failed)
    # The finite orders and ∞ may split P and Q in different ways, and then both bad parts have to be paid for.
    return RenyiPrice((*finite.sums, pair[0]), finite.failed + pair[1])


def _bounds(loss: PrivacyLoss, orders: tuple[Fraction, ...]) -> RenyiPrice:
    if not orders:
        return RenyiPrice((), Fraction(0))
    bound = renyi_of(loss, orders)
    return RenyiPrice(bound.values, bound.delta)


@lru_cache(maxsize=4096)
def margin(order: Fraction, delta: Fraction) -> Fraction:
    """Return m = ln(1/(αδ))/(α − 1) − ln(α/(α − 1)), rounded up: divergence S at order α implies (S + m, δ).

    Where αδ is above 1, its logarithm is taken for 0, which is on the safe side.
    """
    return log_up(max(1 / (order * delta), Fraction(1))) / (order - 1) - _log_down(order / (order - 1))


def _log_down(number: Fraction) -> Fraction:
    result = log_up(number)
    while exp_up(result) > number:
        result -= COST_STEP
    return result


def tidy(total: Fraction) -> Fraction:
    """Return a sum as it is or, where unlike fractions have made it unwieldy, rounded up by less than 10⁻¹⁵⁰."""
    if total.denominator.bit_length() <= EXACT_BITS:
        return total
    return math.ceil(total / FINEST) * FINEST


def _add_sums(totals: Sums, more: Sums) -> Sums:
    sums = [None if a is None or b is None else tidy(a + b) for a, b in zip(totals, more, strict=True)]
    return tuple(None if total is None or _huge(total) else total for total in sums)


def _huge(total: Fraction) -> bool:
    # Of most sums the lengths of their two numbers say that they are not.
    return total.numerator.bit_length() > total.denominator.bit_length() + 300 and total > LARGEST


def need_relation(loss: PrivacyLoss, neighbours: Neighbours) -> PrivacyLoss:
    """Return a loss that holds for these neighbours.

    The relation is fixed at birth: were it left to the first payment that needs one, one branch of a session could
    hold for one relation and another for the other, and the whole for neither.
    """
    tied = neighbours_of(need_loss(loss))
    if tied is not None and tied is not neighbours:
        raise InvalidInput(
            f"This cost holds for {tied.value} neighbours, and the session is accounted for {neighbours.value}.",
            fix="sample or split the table in the way that fits the session's neighbours, or open another session",
        )
    return loss


def not_negative(value: object, name: str) -> Fraction:
    """Return an exact number of zero or more. Sums may be tinier than what people type: the ρ of a tiny ε is."""
    number = value if isinstance(value, Fraction) else exact(value, name)
    if number < 0:
        raise InvalidInput(f"{name} must be 0 or more.", fix=f"pass {name}=0 for a new session")
    return number


def _orders(orders: object) -> tuple[Fraction, ...]:
    if not isinstance(orders, Iterable) or isinstance(orders, str):
        raise WrongType("orders is not a list of numbers.", fix="pass orders such as (2, 8, 32)")
    result = tuple(exact(order, "order") for order in orders)
    if any(order <= 1 for order in result) or any(a >= b for a, b in pairwise(result)):
        raise InvalidInput("The orders must be above 1, and rise.", fix="pass orders such as (2, 8, 32)")
    if len(result) > MOST_ORDERS:
        raise InvalidInput(f"There are more than {MOST_ORDERS} orders.", fix="pass twenty or so")
    return result


def _shares(shares: object, count: int) -> tuple[Fraction, ...]:
    if shares is None:
        return (Fraction(1, count),) * count if count else ()
    if not isinstance(shares, Iterable) or isinstance(shares, str):
        raise WrongType("shares is not a list of numbers.", fix="pass one share of delta for each order")
    result = tuple(exact(share, "share") for share in shares)
    if len(result) != count or any(share <= 0 for share in result) or sum(result) > 1:
        raise InvalidInput(
            "Each order needs a share of delta above 0, and together they may not exceed 1.",
            fix="leave shares out for equal ones",
        )
    return result


def _need_sums(spent: object, count: int) -> Sums:
    if spent is None:
        return (Fraction(0),) * count
    if not isinstance(spent, Iterable) or isinstance(spent, str):
        raise WrongType("spent is not a list of sums.", fix="pass one sum for each order, and the pure sum last")
    result = tuple(None if total is None else not_negative(total, "spent") for total in spent)
    if len(result) != count:
        raise InvalidInput("spent must have one sum for each order, and the pure sum last.", fix="leave it out for 0")
    return result
