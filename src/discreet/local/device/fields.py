"""Finite fields of prime size and of powers of two, for hash functions."""

from dataclasses import dataclass
from functools import lru_cache

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
