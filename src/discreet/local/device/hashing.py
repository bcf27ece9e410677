"""Local hashing: a category is hashed over a finite field, and its bucket reported by randomised response."""

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from discreet.core import InvalidInput, Number, whole
from discreet.core.canonical_text import Record, settle
from discreet.local.device.categories import need_epsilon, odds_below, respond
from discreet.local.device.reports import category_of, need_domain
from discreet.noise.coins import DEVICE, Coins, need_coins

# Finite fields of prime size and of powers of two, for hash functions.

#: Fields of up to this many numbers are used.
MOST = 256


@dataclass(frozen=True, slots=True)
class FiniteField:
    """The numbers 0, …, size − 1 with sums and products that can be undone. A field of 2^m has a polynomial."""

    size: int
    polynomial: int = 0

    def plus(self, first: int, second: int) -> int:
        """Return the sum."""
        return first ^ second if self.polynomial else (first + second) % self.size

    def times(self, first: int, second: int) -> int:
        """Return the product; of polynomials over two numbers, where the size is a power of two."""
        if not self.polynomial:
            return first * second % self.size
        product = 0
        for place in range(second.bit_length()):
            if second >> place & 1:
                product ^= first << place
        return _remainder(product, self.polynomial)


@lru_cache
def field_of(size: int) -> FiniteField | None:
    """Return the field of this size, or None if it is neither prime nor a power of two."""
    if size > 2 and size & (size - 1) == 0:
        return FiniteField(size, _irreducible(size.bit_length() - 1))
    return FiniteField(size) if size > 1 and all(size % part for part in range(2, int(size**0.5) + 1)) else None


@lru_cache
def field_sizes() -> tuple[int, ...]:
    """Return the sizes that are used, in rising order."""
    return tuple(size for size in range(2, MOST + 1) if field_of(size) is not None)


def _irreducible(degree: int) -> int:
    """Return the least polynomial of a degree that no smaller one divides."""
    return next(
        candidate
        for candidate in range(1 << degree, 2 << degree)
        if all(_remainder(candidate, part) for part in range(2, 2 << degree // 2))
    )


def _remainder(dividend: int, divisor: int) -> int:
    while (shift := dividend.bit_length() - divisor.bit_length()) >= 0:
        dividend ^= divisor << shift
    return dividend


#: Categories are numbers of up to so many bits: texts of 128 bytes, say.
MOST_BITS = 1024


@dataclass(frozen=True, slots=True, init=False)
class LocalHashing:
    """Local hashing: reports a random hash function and the bucket of the category, by randomised response.

    The category's digits to the base `buckets` are multiplied by the random digits of the `seed`, in the finite field
    of that size, and summed up. Two categories so collide with probability exactly 1/buckets, and estimates are exactly
    unbiased. Without a number of buckets, the one with the least variance is taken, close to e^ε + 1 (optimal local
    hashing). A report is seed·buckets + bucket, and supports the categories that its function takes to the bucket.

    Guarantee: ε-local differential privacy: the function is independent of the category.
    Reference: Wang, Blocki, Li, Jha 2017, Section 4.4; Carter, Wegman 1979 (universal hashing); Feldman and others 2022
    (hashing over a finite field).

    Args:
        domain: the number of categories.
        epsilon: ε of one report.
        buckets: the number of buckets, a prime or a power of two; chosen for the least variance if left out.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record(
        "LocalHashing", "domain", "epsilon", "buckets", unwritten=["odds", "finite", "digits"]
    )

    domain: int
    epsilon: Fraction
    buckets: int
    odds: Fraction = field(repr=False, compare=False)
    finite: FiniteField = field(repr=False, compare=False)
    digits: int = field(repr=False, compare=False)
    """The number of digits that a category has, and a seed."""

    def __init__(self, *, domain: int, epsilon: Number, buckets: int | None = None) -> None:
        count, target = need_domain(domain, most=1 << MOST_BITS), need_epsilon(epsilon)
        odds = odds_below(target)
        size = best_buckets(odds) if buckets is None else whole(buckets, "buckets", least=2, most=MOST)
        finite, digits = _need_field(size), _digits_of(count, size)
        settle(self, domain=count, epsilon=target, buckets=size, odds=odds, finite=finite, digits=digits)

    @property
    def seeds(self) -> int:
        """The number of hash functions."""
        return int(self.buckets**self.digits)

    @property
    def outputs(self) -> int:
        """A seed, and a bucket."""
        return self.seeds * self.buckets

    @property
    def kept(self) -> Fraction:
        """How likely the bucket is reported as it is."""
        return self.odds / (self.odds + self.buckets - 1)

    @property
    def others(self) -> Fraction:
        """Any other category is in the bucket that is told with this probability, whatever that is."""
        return Fraction(1, self.buckets)

    def bucket(self, seed: int, category: int) -> int:
        """Return the bucket that a hash function takes a category to."""
        total = 0
        while seed and category:
            seed, factor = divmod(seed, self.buckets)
            category, digit = divmod(category, self.buckets)
            total = self.finite.plus(total, self.finite.times(factor, digit))
        return total

    def encode(self, value: int, coins: Coins = DEVICE) -> int:
        """Return seed and bucket."""
        seed = need_coins(coins).below(self.seeds)
        truth = self.bucket(seed, category_of(value, self.domain))
        return seed * self.buckets + respond(truth, self.buckets, self.kept, coins)

    def supports(self, report: int, category: int) -> bool:
        """Whether the hash function takes a category to the bucket that was told."""
        seed, bucket = divmod(report, self.buckets)
        return self.bucket(seed, category) == bucket

    def probability(self, report: int, category: int) -> Fraction:
        """Return how likely a category is reported so."""
        lie = (1 - self.kept) / (self.buckets - 1)
        return (self.kept if self.supports(report, category) else lie) / self.seeds


def best_buckets(odds: Fraction) -> int:
    """Return the number of buckets with the least variance, (odds + g − 1)²/((odds − 1)²·(g − 1))."""
    return min(field_sizes(), key=lambda size: (odds + size - 1) ** 2 / (size - 1))


def _digits_of(domain: int, base: int) -> int:
    """Return the number of digits of the numbers below `domain`. Kept, as a server asks for it with every report."""
    count = 1
    while base**count < domain:
        count += 1
    return count


def _need_field(size: int) -> FiniteField:
    finite = field_of(size)
    if finite is None:
        raise InvalidInput(
            "buckets is neither a prime number nor a power of two.",
            fix="leave buckets out, or pass 2, 3, 4, 5, 7, 8, 11, 13, 16, …",
        )
    return finite
