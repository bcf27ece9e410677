"""What a verb answers: facts for a program, lines for a person."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

#: Of the JSON: keys may be added to a version, but none leaves it or changes its meaning.
VERSION = 1

Fact = None | bool | int | float | str | list["Fact"] | dict[str, "Fact"]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer in both forms."""

    verb: str
    facts: Mapping[str, Fact]
    lines: tuple[str, ...]
    #: The exit status: not 0 where the answer is that something is wrong.
    status: int = 0
    #: Lines that are too many to be held, and are written as they come instead of either form.
    stream: Iterable[str] | None = None

    def to_json(self) -> str:
        """Return the object for a program."""
        return as_json({"verb": self.verb, **self.facts})

    def to_text(self) -> str:
        """Return the lines for a person."""
        return "\n".join(self.lines)


def as_json(facts: Mapping[str, object]) -> str:
    """Return one JSON object, in ASCII; NaN and infinities, which are no JSON, would be an error."""
    return json.dumps({"version": VERSION, **facts}, indent=2, allow_nan=False)


def exactly(name: str, number: Fraction, rounded: float) -> dict[str, Fact]:
    """Return an exact number as JSON's number, rounded as the caller says, and as the text that loses nothing."""
    return {name: rounded, f"{name}_exact": str(number)}


def bound(name: str, number: float) -> dict[str, Fact]:
    """Return a bound that may be infinite, for which JSON has no number."""
    infinite = math.isinf(number)
    return {name: None if infinite else number, f"{name}_infinite": infinite}
