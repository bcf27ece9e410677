"""Slots: when an answer leaves, from public facts alone.

How long a run takes may depend on rows. So an answer is stored, and leaves, at the end of a slot, whose length follows
from the plan and from declared sizes. What is not done then gets a constant reply, and another chance after a slot that
is twice as long. There are three; each that is missed counts as a failure in the ledger, because missing it may depend
on rows.

Guarantee: the time of every reply to a question, and of every entry of the ledger that its run causes, is a function of
public facts and of the number of chances that were missed.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from discreet.core import InvalidInput
from discreet.core.canonical_text import settle
from discreet.core.exact import whole
from discreet.session import Work

#: How often an answer may be looked for. Each slot is twice as long as the one before.
CHANCES = 3
#: Rows that a scale is said for.
MILLION = 10**6
#: Seconds that a question takes beside its rows, and for each cell of its answer; generous on purpose.
FLOOR, CELL = Fraction(1, 25), Fraction(1, 50_000)
#: Lengths of slots: 1, 2 and 5 times a power of ten.
DIGITS = (1, 2, 5)
DURATION = re.compile(r"([0-9]{1,6}) ?(ms|s)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Slots:
    """The lengths of slots. `scale` is in seconds for a million rows and one pass; `rows` is declared, not counted."""

    scale: Fraction = Fraction(1, 10)
    rows: int = MILLION

    def __post_init__(self) -> None:
        if not isinstance(self.scale, Fraction) or self.scale <= 0:
            raise InvalidInput("The scale of slots is not a time.", fix='write slot = "100ms"')
        settle(self, rows=whole(self.rows, "rows"))

    def seconds(self, work: Work) -> Fraction:
        """Return the length of the first slot of a plan, in seconds: a fixed step."""
        return next_step(FLOOR + self.scale * work.passes * Fraction(self.rows, MILLION) + CELL * work.cells)


def next_step(seconds: Fraction) -> Fraction:
    """Return the smallest of 1, 2, 5, 10, 20, 50, … milliseconds that is not below a time."""
    power = Fraction(1, 1000)
    while True:
        for digit in DIGITS:
            if digit * power >= seconds:
                return digit * power
        power *= 10


def read_duration(text: object) -> Fraction:
    """Return a duration such as 100ms or 2s, in seconds."""
    match = DURATION.fullmatch(text.strip()) if isinstance(text, str) else None
    if match is None or not int(match[1]):
        raise InvalidInput("slot is not a duration.", fix='write slot = "100ms", or slot = "2s"')
    return Fraction(int(match[1]), 1000 if match[2] == "ms" else 1)
