"""Small worlds of personal accounts, walked whole: all data, all adaptive strategies, all answers with their odds.

A person has up to two rows, each "a" or "b" (or: one of table a, one of table b). An interaction is a tree: at every
history the adversary asks something of the menu, or stops; a system decides who takes part, charges them, and gives one
of its answers. What an adversary gains along a history is a product over its rounds, so that backward induction over
the balances of both worlds finds the best of all strategies.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product

from personal_model import Model, Question

ROWS = "ab"
#: All that one person may have; nothing is the same as not to be there.
HOLDINGS = [holding for size in range(3) for holding in combinations_with_replacement(ROWS, size)]


def worlds(people=3):
    """Yield all data with the person i and up to so many people, and the same data without i.

    The others' names do not matter, as all begin with the same account; so they are not permuted.
    """
    for own in HOLDINGS[1:]:
        for others in combinations_with_replacement(HOLDINGS, people - 1):
            rest = {name: rows for name, rows in zip("jkl", others, strict=False) if rows}
            yield {"i": own, **rest}, rest


# Noise, as exact odds.


@cache
def geometric(exact, ratio, low, high):
    """Return the odds of an integer with noise P(z) ∝ ratio^|z|, clamped: the ends take what lies beyond them."""

    def beyond(steps):
        """Return the probability that noise is at least so many steps up."""
        return ratio**steps / (1 + ratio) if steps > 0 else 1 - ratio ** (1 - steps) / (1 + ratio)

    ends = {low: beyond(exact - low), high: beyond(high - exact)}
    between = {y: ratio ** abs(y - exact) * (1 - ratio) / (1 + ratio) for y in range(low + 1, high)}
    return ends | between


@cache
def gaussian(exact, variance, low, high):
    """Return the odds of an integer with noise P(z) ∝ e^(−z²/2σ²), clamped; in floats."""
    odds = dict.fromkeys(range(low, high + 1), 0.0)
    span = range(-int(40 * variance**0.5), int(40 * variance**0.5) + 1)
    weights = [math.exp(-z * z / (2 * variance)) for z in span]
    for z, weight in zip(span, weights, strict=True):
        odds[min(max(exact + z, low), high)] += weight / math.fsum(weights)
    return odds


@cache
def response(exact, ratio):
    """Return the odds of randomised response about whether there is anything."""
    lie = ratio / (1 + ratio)
    return {1: 1 - lie, 0: lie} if exact else {1: lie, 0: 1 - lie}


@dataclass(frozen=True)
class Ask:
    """Something to ask: the model's question, the groups that are answered, and the odds of each answer."""

    question: Question
    odds: Callable
    groups: tuple = (None,)

    def answers(self, data):
        """Return the odds of all answers about these people's rows."""
        rows = [row for own in data.values() for row in own if self.question.counts(row)]
        parts = [(part, group) for part in self.question.parts for group in self.groups]
        exact = tuple(sum(part.value(row) for row in rows if part.group(row) == group) for part, group in parts)
        return joint(self.odds, exact)


@cache
def joint(odds, exact):
    """Return the odds of several answers with independent noise."""
    each = [odds(x).items() for x in exact]
    return {tuple(y for y, _ in some): math.prod(p for _, p in some) for some in product(*each)}


# A system: who takes part, what they pay, what is answered. And what an adversary gains from it.


class System:
    """The model in front of the data."""

    def __init__(self, limit, **settings):
        self.limit, self.settings = limit, settings
        self.charge = cache(Model(limit, **settings).charge)

    def model(self, spent):
        model = Model(self.limit, **self.settings)
        model.charge = self.charge  # which is worked out once, as it depends on no balance
        model.spent = dict(spent)
        return model

    def step(self, spent, ask, data):
        """Return all answers with their odds and the balances after them."""
        model = self.model(spent)
        admitted, _ = model.ask(ask.question, data)
        return self.answered(ask, {name: data[name] for name in admitted}, model.spent)

    @staticmethod
    def answered(ask, data, spent):
        after = frozenset(spent.items())
        return {answer: (p, after) for answer, p in ask.answers(data).items()}


def best(system, menu, rounds, pair, gather):
    """Return what the best strategy gains, where `gather` joins the answers of one round: (P, Q, gain after it)."""
    known, nothing = {}, frozenset()

    def gain(here, there, left):
        if (here, there, left) not in known:
            found = [gather([(Fraction(1), 1, None)])]
            for ask in menu if left else ():
                present, absent = system.step(here, ask, pair[0]), system.step(there, ask, pair[1])
                later = [
                    (p, absent[y][0], gain(after, absent[y][1], left - 1)) if y in absent else (p, 0, None)
                    for y, (p, after) in present.items()
                ]
                found.append(gather(later))
            known[here, there, left] = max(found) if gather is ratio else tuple(map(max, *found, found[0]))
        return known[here, there, left]

    return gain(nothing, nothing, rounds)


def ratio(answers):
    """Gather the largest ratio P/Q of one history: e^ε, exactly. None is the gain of nothing."""
    return max(p / q * (later or 1) if q else math.inf for p, q, later in answers if p)


def moments(orders):
    """Gather Σ P^α·Q^(1−α), for several α beside each other; each has a best strategy of its own."""

    @cache
    def term(p, q):
        return tuple(float(p) ** order * float(q) ** (1 - order) if q else math.inf for order in orders)

    def gathered(answers):
        sums = [0.0] * len(orders)
        for p, q, later in answers:
            for i, x in enumerate(term(p, q) if p else ()):
                sums[i] += x * later[i] if later else x
        return tuple(sums)

    return gathered


def best_delta(system, menu, rounds, pair, factor):
    """Return the largest δ of any strategy at e^ε = factor: Σ (P − e^ε·Q)₊ over its histories."""
    known, nothing = {}, frozenset()

    def gain(here, there, odds, left):
        # The gain at (P, Q) is P times the gain at (1, Q/P).
        key = here, there, odds, left
        if key not in known:
            found = [max(1 - factor * odds, 0)]
            for ask in menu if left else ():
                present, absent = system.step(here, ask, pair[0]), system.step(there, ask, pair[1])
                total = 0
                for y, (p, after) in present.items():
                    q, other = absent.get(y, (0, nothing))
                    total += p * gain(after, other, odds * q / p, left - 1) if p else 0
                found.append(total)
            known[key] = max(found)
        return known[key]

    return gain(nothing, nothing, Fraction(1), rounds)


def both(pair):
    """Return a pair of neighbours in both directions."""
    return (pair, pair[::-1])


# One strategy at a time: slower, and with nothing clever in it.


def every_strategy(menu, rounds):
    """Yield every decision tree: None stops; else something to ask, and a tree for each of its answers."""
    yield None
    for ask in menu if rounds else ():
        answers = list(ask.answers({}))
        for trees in product(list(every_strategy(menu, rounds - 1)), repeat=len(answers)):
            yield ask, dict(zip(answers, trees, strict=True))


def histories(strategy, system, data, spent=frozenset(), seen=()):
    """Return all final histories of one strategy on some data, with their probabilities."""
    if strategy is None:
        return {seen: Fraction(1)}
    ask, trees = strategy
    found = {}
    for answer, (p, after) in system.step(spent, ask, data).items():
        for history, odds in histories(trees[answer], system, data, after, (*seen, answer)).items():
            found[history] = p * odds
    return found
