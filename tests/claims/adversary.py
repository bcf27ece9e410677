"""An adversary that knows both tables and tries every adaptive strategy, against filters good and bad.

A session is a tree: at every history the adversary asks for a part of the menu, or stops; the filter admits or
refuses; an admitted part gives one of its outcomes. What a strategy gains at factor e^ε is the sum over its final
histories of (P − e^ε·Q)₊, which is exactly the δ of the whole interaction at ε. Gains of different subtrees add up,
so the best choice at a history does not depend on what is done elsewhere, and backward induction finds the best of
all strategies. A refusal is seen by the adversary, but it could be foreseen: the state stays as it is.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

from discreet.accounting.composites import PrivacyLoss
from discreet.accounting.losses import DominatingPair
from discreet.accounting.odometers import Odometer, margin, price_of
from discreet.core import BudgetExceeded, exp_down, log_up


@dataclass(frozen=True)
class Part:
    """A finite mechanism on two neighbours, and the cost that it claims."""

    loss: PrivacyLoss
    present: tuple[Fraction, ...]
    absent: tuple[Fraction, ...]

    @property
    def reversed(self):
        return Part(self.loss, self.absent, self.present)


def pair(present, absent):
    """Return a part whose cost is its own pair."""
    loss = DominatingPair(present, absent)
    return Part(loss, loss.present, loss.absent)


def hit(probability, ratio):
    """Return a part with one telling outcome, `ratio` times as likely on one side, and one that says little."""
    seen = Fraction(probability)
    return pair((seen, 1 - seen), (seen / Fraction(ratio), 1 - seen / Fraction(ratio)))


def response(ratio):
    """Return randomised response: each answer is `ratio` times as likely where it is true."""
    return pair(
        (Fraction(ratio, ratio + 1), Fraction(1, ratio + 1)), (Fraction(1, ratio + 1), Fraction(ratio, ratio + 1))
    )


def failing(loss, ratio, delta):
    """Return the worst (ln ratio, δ)-private part: it tells with probability δ, and else responds at random."""
    rest = (1 - Fraction(delta)) / (ratio + 1)
    return Part(
        loss, (Fraction(delta), ratio * rest, rest, Fraction(0)), (Fraction(0), rest, ratio * rest, Fraction(delta))
    )


def best_gain(session, menu, rounds, factor_of: Callable[[object], Fraction]):
    """Return the most that any strategy of so many rounds gains, P from Q; the factor may depend on the final state."""
    known: dict[object, Fraction] = {}

    def gain(state, ratio, left):
        # The gain at (P, Q) is P times the gain at (1, Q/P).
        key = state, ratio, left
        if key not in known:
            best = max(1 - factor_of(state) * ratio, Fraction(0))
            for part in menu if left else ():
                if not state.fits(part.loss):
                    continue
                later = state.admit(part.loss)
                outcomes = zip(part.present, part.absent, strict=True)
                best = max(best, sum(p * gain(later, ratio * q / p, left - 1) for p, q in outcomes if p))
            known[key] = best
        return known[key]

    return gain(session, Fraction(1), rounds)


def best_delta(session, menu, rounds, epsilon):
    """Return the δ of the best strategy at ε, in the worse direction; e^ε is rounded down by a part in 2⁶⁰."""
    factor = exp_down(epsilon)
    turned = [part.reversed for part in menu]
    return max(best_gain(session, parts, rounds, lambda _: factor) for parts in (menu, turned))


def best_moment(session, menu, rounds, order):
    """Return the largest Σ P^α·Q^(1−α) of any strategy, P from Q: Rényi divergence, before the logarithm."""
    known: dict[object, float] = {}

    def moment(state, left):
        if (state, left) not in known:
            best = 1.0
            for part in menu if left else ():
                if not state.fits(part.loss):
                    continue
                once = sum(
                    float(p) ** order * float(q) ** (1 - order) for p, q in zip(part.present, part.absent, strict=True)
                )
                best = max(best, once * moment(state.admit(part.loss), left - 1))
            known[state, left] = best
        return known[state, left]

    return moment(session, rounds)


def every_strategy(session, menu, rounds):
    """Yield every decision tree against a filter: None stops; a part with one tree per thing that is seen goes on."""
    yield None
    for part in menu if rounds else ():
        if session.fits(part.loss):
            below = list(every_strategy(session.admit(part.loss), menu, rounds - 1))
            yield from ((part, answers) for answers in product(below, repeat=len(part.present)))
        else:
            yield from ((part, (after,)) for after in every_strategy(session, menu, rounds - 1))


def gain_of(strategy, session, factor, present=Fraction(1), absent=Fraction(1)):
    """Return what one strategy gains, walking its tree and taking refusals as they come."""
    if strategy is None:
        return max(present - factor * absent, Fraction(0))
    part, trees = strategy
    try:
        later = session.admit(part.loss)
    except BudgetExceeded:
        return gain_of(trees[0], session, factor, present, absent)
    outcomes = zip(trees, part.present, part.absent, strict=True)
    return sum(gain_of(tree, later, factor, present * p, absent * q) for tree, p, q in outcomes)


@dataclass(frozen=True)
class Metered:
    """A session without a budget: an odometer that runs, up to a failure mass; the adversary stops when it likes it."""

    odometer: Odometer
    failures: Fraction = Fraction(0)

    def fits(self, loss):
        return self.odometer.after(loss).failed <= self.failures

    def admit(self, loss):
        return Metered(self.odometer.after(loss), self.failures)

    @property
    def factor(self):
        return exp_down(self.odometer.epsilon)


@dataclass(frozen=True)
class Control:
    """A filter that is made wrong on purpose: it keeps the payments, and a rule looks at all of them."""

    rule: Callable[[tuple[PrivacyLoss, ...]], bool]
    paid: tuple[PrivacyLoss, ...] = ()

    def fits(self, loss):
        return self.rule((*self.paid, loss))

    def admit(self, loss):
        return Control(self.rule, (*self.paid, loss))


def kinder(epsilon, delta, orders):
    """Return the control that takes the kinder accountant at each step: each order may use all of δ."""
    margins = [margin(order, delta) for order in orders]

    def rule(paid):
        prices = [price_of(loss, orders).sums for loss in paid]
        return any(sum(price[i] for price in prices) + extra <= epsilon for i, extra in enumerate(margins))

    return Control(rule)


def plain_margin(order, delta):
    """Return ln(1/δ)/(α−1), the margin without the gain of the tight conversion."""
    return log_up(1 / delta) / (order - 1)


def moving_reserve(epsilon, delta, orders, margin_of=plain_margin):
    """Return the control whose failure masses come off δ as they are paid, so that each branch has a rest of its own.

    It is careful otherwise: the rest is split over all orders, ∞ too, and by default the margin is the plain one.
    """

    def rule(paid):
        prices = [price_of(loss, orders) for loss in paid]
        rest = delta - sum(price.failed for price in prices)
        sums = [None if None in sums else sum(sums) for sums in zip(*(price.sums for price in prices), strict=True)]
        if rest <= 0 or (sums[-1] is not None and sums[-1] <= epsilon):
            return rest >= 0 and sums[-1] is not None and sums[-1] <= epsilon
        margins = [margin_of(order, rest / (len(orders) + 1)) for order in orders]
        return any(a is not None and a + b <= epsilon for a, b in zip(sums, margins, strict=False))

    return Control(rule)


def as_if_fixed(epsilon, delta):
    """Return the control that asks for the exact δ of the payments so far, as if they had been fixed beforehand."""
    factor = exp_down(epsilon)

    def rule(paid):
        masses = [(Fraction(1), Fraction(1))]
        for loss in paid:
            outcomes = list(zip(loss.present, loss.absent, strict=True))
            masses = [(p * a, q * b) for p, q in masses for a, b in outcomes]
        return (
            max(sum(max(p - factor * q, 0) for p, q in masses), sum(max(q - factor * p, 0) for p, q in masses)) <= delta
        )

    return Control(rule)
