"""Prefixes for frequent texts: each device reports one prefix of its text, of a random length."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from discreet.core import InvalidInput, Number, WrongType, whole
from discreet.core.canonical_text import Record, settle
from discreet.core.errors import kind_of
from discreet.local.device.categories import need_epsilon, odds_below
from discreet.local.device.hashing import LocalHashing, best_buckets
from discreet.noise.coins import DEVICE, Coins, need_coins

#: Texts have up to so many bytes.
LONGEST = 64
BYTE = 256


@dataclass(frozen=True, slots=True, init=False)
class PrefixTree:
    """Local privacy for texts: reports a prefix, of a random length from 1 to `length` bytes, by local hashing.

    A server finds frequent texts byte by byte: prefixes that many people report are gone on with. Texts are taken as
    UTF-8, cut off after `length` bytes, and filled up with zero bytes, so that all prefixes are there. In the category
    of a prefix each byte has digits of its own, the first byte the lowest.

    Guarantee: ε-local differential privacy: the length is independent of the text, and one prefix is told.
    Reference: Bassily, Nissim, Stemmer, Thakurta 2017 (TreeHist); Wang, Li, Jha 2021 (PEM, one report a person).

    Args:
        length: the number of bytes after which texts are cut off.
        epsilon: ε of one report.

    Raises:
        DiscreetError: if a value is out of range.

    """

    __canonical__: ClassVar[Record] = Record("PrefixTree", "length", "epsilon", unwritten=["levels"])

    length: int
    epsilon: Fraction
    levels: tuple[LocalHashing, ...] = field(repr=False, compare=False)

    def __init__(self, *, length: int, epsilon: Number) -> None:
        deep, target = whole(length, "length", most=LONGEST), need_epsilon(epsilon)
        buckets = best_buckets(odds_below(target))
        width = next(digits for digits in range(1, 9) if buckets**digits >= BYTE)
        levels = (
            LocalHashing(domain=buckets ** (width * level), epsilon=target, buckets=buckets)
            for level in range(1, deep + 1)
        )
        settle(self, length=deep, epsilon=target, levels=tuple(levels))

    @property
    def width(self) -> int:
        """The number of digits that a byte has."""
        return self.levels[0].digits

    @property
    def outputs(self) -> int:
        """The reports of all levels, those of the shortest prefixes first."""
        return sum(level.outputs for level in self.levels)

    def bytes_of(self, text: str | bytes) -> bytes:
        """Return a text as all texts are compared: cut off or filled up."""
        if not isinstance(text, str | bytes):
            raise WrongType(f"text is {kind_of(text)}, not a string.", fix="pass a str, or bytes")
        data = text.encode("utf-8", "replace") if isinstance(text, str) else text
        return data[: self.length].ljust(self.length, b"\0")

    def category(self, prefix: bytes) -> int:
        """Return the number of a prefix among those of its length."""
        radix = self.levels[0].seeds
        return sum(byte * radix**place for place, byte in enumerate(prefix))

    def encode(self, text: str | bytes, coins: Coins = DEVICE) -> int:
        """Return a report about one prefix of a text."""
        data = self.bytes_of(text)
        which = need_coins(coins).below(self.length)
        report = self.levels[which].encode(self.category(data[: which + 1]), coins)
        return sum(level.outputs for level in self.levels[:which]) + report

    def part(self, report: int) -> tuple[int, int]:
        """Return which level a report is about, from 0 on, and the report of that level."""
        for which, level in enumerate(self.levels):
            if report < level.outputs:
                return which, report
            report -= level.outputs
        raise InvalidInput("Some reports cannot come from this encoder.", fix="leave them out")
