"""Exact coins for a device: from the operating system, in plain Python, without NumPy and without a cipher."""

import os
from fractions import Fraction

from discreet.core import WrongType
from discreet.core.errors import kind_of

WORD = 64


class Coins:
    """Random integers and coins, as few as one person needs, straight from the operating system.

    There is no state and no seed: nothing is kept that a fork, a copy or a restored snapshot could repeat.
    """

    __slots__ = ()

    def bits(self, count: int) -> int:
        """Return a random integer of `count` bits."""
        size = (count + 7) // 8
        return int.from_bytes(os.urandom(size), "big") >> (8 * size - count)

    def below(self, limit: int) -> int:
        """Return an integer that is uniform on 0, …, limit − 1."""
        count = (limit - 1).bit_length()
        while True:
            value = self.bits(count)
            if value < limit:
                return value

    def toss(self, chance: Fraction) -> bool:
        """Return True with probability exactly `chance`, any rational number from 0 to 1.

        A uniform real number is compared with it, 64 bits at a time, until they differ: nearly always at once.
        """
        above, whole = chance.numerator, chance.denominator
        while True:
            limit, above = divmod(above << WORD, whole)
            word = self.bits(WORD)
            if word != limit:
                return word < limit
            if not above:
                return False

    def tosses(self, chance: Fraction, count: int) -> int:
        """Return an integer whose lowest `count` bits are independent coins, each set with probability `chance`.

        All are tossed side by side: bit by bit, `count` uniform numbers are compared with the chance.
        """
        above, whole = chance.numerator, chance.denominator
        heads, undecided = 0, (1 << count) - 1
        while undecided and above:
            digit, above = divmod(2 * above, whole) if above < whole else (1, above)
            zeros = undecided & self.bits(count)  # where the random number has a 0
            if digit:
                heads |= zeros
                undecided ^= zeros
            else:
                undecided = zeros
        return heads


#: The sources that a device draws from.
DEVICE = Coins()


def need_coins(source: object) -> Coins:
    """Return `source` if it is a Coins; anything else could be a generator that repeats itself."""
    if not isinstance(source, Coins):
        raise WrongType(
            f"{kind_of(source)} is not a source of coins.".capitalize(),
            fix="leave coins out; other generators cannot be used",
        )
    return source
