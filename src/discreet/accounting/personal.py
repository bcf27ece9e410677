"""Personal budgets, in whole quanta: the charges that one person's account allows, and its promise.

With personal accounts, each person pays for what an answer takes from that person, and leaves when that is more than is
left. Losses are added up in ε, or in ρ of zCDP with failure masses beside: the two currencies whose sums, each bounded
for a person on every history, bound the whole session for that person (Ebadi, Sands, Schneider 2015; Feldman, Zrnic
2021; with failures as in `adaptive`). An (ε, δ) is kept in ρ: δ_r-approximate ρ-zCDP implies (ε, δ) if ρ-zCDP implies
(ε, δ − δ_r), where δ_r is the reserve for failures.

An account is two whole numbers below 2³². A quantum is fixed at birth: the limit has 1,729,728,000 of them, a number
that can be divided by all numbers up to 16, by 100 and by 1000, so that ten questions of a tenth fit. Later limits are
rounded down, charges up: so sums of quanta are exact, and err against us.
"""

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import lru_cache

from discreet.accounting.composites import PrivacyLoss
from discreet.accounting.conversions import approximate_of, concentrated_epsilon, concentrated_of
from discreet.accounting.losses import Concentrated, Pure
from discreet.accounting.odometers import need_relation
from discreet.core import InvalidInput, Neighbours

#: Quanta of a limit at birth, 2⁹·3³·5³·7·11·13, and the most that an account can count.
QUANTA, MOST = 1_729_728_000, 2**32 - 1
#: Steps by which ρ is searched for: each halves what is not known of it.
HALVINGS = 60


class Currency(Enum):
    """The currency of personal accounts."""

    EPSILON = "ε"
    RHO = "ρ"


@dataclass(frozen=True, slots=True)
class PersonalLimit:
    """The limits of one person's charges: whole quanta of ε or ρ, and of failure mass.

    Guarantee: a person whose charges, each at least the loss of its mechanism for that person, stay within `limit` and
    `failures_limit` on every history, is protected by `promise` against the whole of it.
    """

    currency: Currency
    quantum: Fraction
    limit: int
    failures_quantum: Fraction
    failures_limit: int

    @property
    def amount(self) -> Fraction:
        """The limit as an ε or ρ."""
        return self.limit * self.quantum

    @property
    def failures(self) -> Fraction:
        """The limit of the failure masses."""
        return self.failures_limit * self.failures_quantum

    @property
    def promise(self) -> PrivacyLoss:
        """The largest cost of all charges within the limits."""
        return Pure(self.amount) if self.currency is Currency.EPSILON else Concentrated(self.amount, self.failures)

    def price(self, loss: PrivacyLoss) -> tuple[int, int] | None:
        """Return the cost of a loss in quanta, rounded up; None if it has no cost in this currency."""
        need_relation(loss, Neighbours.ADD_REMOVE)
        pair = concentrated_of(loss) if self.currency is Currency.RHO else approximate_of(loss)
        if pair is None or (pair[1] and self.currency is Currency.EPSILON):
            return None
        return _up(pair[0], self.quantum), _up(pair[1], self.failures_quantum)

    def at_least(self, quanta: int, failures: int) -> "PersonalLimit":
        """Return limits that are no lower than these."""
        return replace(self, limit=max(self.limit, quanta), failures_limit=max(self.failures_limit, failures))


def personal_limit(
    epsilon: Fraction | None,
    delta: Fraction = Fraction(0),
    *,
    rho: Fraction | None = None,
    reserve: Fraction | None = None,
    like: PersonalLimit | None = None,
) -> PersonalLimit:
    """Return the limit of an ε, an (ε, δ) or a ρ; in the quanta of another where `like` is given."""
    currency, amount, failures = _worth(epsilon, delta, rho, reserve)
    if like is None:
        quantum, failing = amount / QUANTA, failures / QUANTA if failures else Fraction(1)
    else:
        quantum, failing = like.quantum, like.failures_quantum
    limit = amount // quantum
    if not 0 < limit <= MOST:
        raise InvalidInput(
            "This limit is too far from the one at birth to be counted in its quanta.",
            fix="choose one nearer to it: up to 2.4 times the limit at birth fits",
        )
    return PersonalLimit(currency, quantum, limit, failing, failures // failing)


def _worth(
    epsilon: Fraction | None, delta: Fraction, rho: Fraction | None, reserve: Fraction | None
) -> tuple[Currency, Fraction, Fraction]:
    """Return the currency, its limit, and the limit of failure mass beside."""
    if rho is not None:
        return Currency.RHO, rho, delta
    if epsilon is None:
        raise InvalidInput("There is neither an epsilon nor a rho.", fix="pass one of the two")
    if not delta:
        return Currency.EPSILON, epsilon, Fraction(0)
    reserved = delta / 10 if reserve is None else reserve
    if not 0 <= reserved < delta:
        raise InvalidInput(
            "Nothing is left of delta beside the reserve.", fix="pass a part of delta, such as delta/10, or leave it"
        )
    return Currency.RHO, largest_rho(epsilon, delta - reserved), reserved


@lru_cache(maxsize=256)
def largest_rho(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return a ρ such that ρ-zCDP implies (ε, δ), the largest but for some 2⁻⁶⁰ of it.

    Each ρ that is returned was checked by itself; the search relies on nothing.
    """
    low, high = Fraction(0), epsilon
    while concentrated_epsilon(high, delta) <= epsilon:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if concentrated_epsilon(middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
    if not low:
        raise InvalidInput("This epsilon is too small to be kept in zCDP.", fix="pass a larger one, or leave out delta")
    return _binary(low)


def _binary(number: Fraction) -> Fraction:
    """Return a number rounded down to 64 bits, so that its fraction stays short; what implies ε still does."""
    step = Fraction(2) ** (number.numerator.bit_length() - number.denominator.bit_length() - 64)
    return (number // step) * step


def _up(amount: Fraction, quantum: Fraction) -> int:
    return -(-amount // quantum)
