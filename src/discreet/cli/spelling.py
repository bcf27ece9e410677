"""Losses as people write them on a command line, read strictly, with errors that point at the place.

    subsampled(gaussian(sigma=1), 0.01) x 10000 + laplace(scale=10)

The grammar; blanks may stand between any two words and signs:

    text   = sum
    sum    = term { "+" term }                   releases about the same people
    term   = factor { ("x" | "*") whole }        so many times; binds closer than "+"
    factor = "(" sum ")" | name "(" [ item { "," item } ] ")"
    item   = [ field "=" ] value                 without their names first, in the order of the kind's fields
    value  = number | sum | sampling | "[" [ entry { "," entry } ] "]"
    entry  = number | number ":" number          a probability; or an order of a Rényi curve and its ε

Names and fields: `discreet.cli.kinds`. Numbers: `discreet.cli.typed`. A text that starts with "loss/" is canonical and
read as `discreet.accounting.loss_from_text` reads it, but for blanks around it. Reading evaluates nothing.
"""

import difflib
import re
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import NoReturn, TypeVar

from discreet.accounting import Composed, PrivacyLoss, Repeated, Sampling, loss_from_text, loss_to_text
from discreet.cli.kinds import KINDS, Kind, Value
from discreet.cli.refusals import Misspelt
from discreet.cli.typed import match_number
from discreet.core import DiscreetError

#: Longer texts are made by programs, which can write the canonical form.
MOST_CHARACTERS = 100_000
#: Brackets in brackets; what they hold may be as deep as the accounting room allows.
DEEPEST = 64

BLANKS = re.compile(r"[ \t\r\n]*")
WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
FIELD = re.compile(r"([A-Za-z][A-Za-z0-9_]*)[ \t\r\n]*=")
TIMES = re.compile(r"x(?![A-Za-z_])|\*")
SAMPLINGS = {
    "poisson": Sampling.POISSON,
    "without_replacement": Sampling.WITHOUT_REPLACEMENT,
}
EXAMPLE = "write a loss such as 'gaussian(sigma=1)', 'pure(0.1) x 100' or 'subsampled(gaussian(1), 0.01) x 10000'"
Entry = TypeVar("Entry")


def read_loss(text: str) -> PrivacyLoss:
    """Return the loss that a text means; refuses what it does not understand, and points at it."""
    if text.strip().startswith("loss/"):
        return loss_from_text(text.strip())
    if len(text) > MOST_CHARACTERS:
        raise Misspelt(
            f"The loss has more than {MOST_CHARACTERS} characters.",
            fix="write equal parts once with 'x', or write the canonical form, which may be longer",
        )
    loss = _Reader(text).all()
    loss_to_text(loss)  # refuses what has no canonical text, before anything is worked out
    return loss


class _Reader:
    """A text, how far it has been read, and inside of how many brackets."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def all(self) -> PrivacyLoss:
        """Read the whole text as one loss."""
        loss = self._sum()
        if self._at < len(self._text):
            self._refuse("The end, '+' or 'x' is wanted", fix="write 'a + b' for two losses, 'a x 100' for a hundred")
        return loss

    def _sum(self) -> PrivacyLoss:
        start = self._place()
        parts = [self._term()]
        while self._met("+"):
            parts.append(self._term())
        return parts[0] if len(parts) == 1 else self._made(lambda: Composed(parts), start, "pure(0.1) + gaussian(10)")

    def _term(self) -> PrivacyLoss:
        start = self._place()
        loss = self._factor()
        while sign := TIMES.match(self._text, self._place()):
            self._at = sign.end()
            times = self._whole("the number after 'x'")
            loss = self._made(partial(Repeated, loss, times), start, "gaussian(10) x 100")
        return loss

    def _factor(self) -> PrivacyLoss:
        self._depth += 1
        if self._depth > DEEPEST:
            self._refuse(f"No more than {DEEPEST} brackets may be open", fix="write parts side by side, with '+'")
        if self._met("("):
            loss = self._sum()
            self._take(")")
        else:
            loss = self._kind()
        self._depth -= 1
        return loss

    def _kind(self) -> PrivacyLoss:
        start = self._place()
        name = WORD.match(self._text, start)
        if name is None:
            self._refuse("The name of a loss is wanted", fix=EXAMPLE)
        kind = KINDS.get(name[0])
        if kind is None:
            close = difflib.get_close_matches(name[0].lower(), KINDS, n=1, cutoff=0.5)
            meant = f"did you mean {close[0]}? " if close else ""
            self._refuse("No kind of loss has the name", fix=f"{meant}The kinds are {', '.join(KINDS)}")
        self._at = name.end()
        self._take("(")
        values = {"parts": self._losses()} if Value.LOSSES in kind.fields.values() else self._fields(kind)
        return self._made(lambda: kind.make(**values), start, kind.example)

    def _losses(self) -> list[PrivacyLoss]:
        losses: list[PrivacyLoss] = []
        while not self._met(")"):
            if losses:
                self._separate(")")
            losses.append(self._sum())
        return losses

    def _fields(self, kind: Kind) -> dict[str, object]:
        values: dict[str, object] = {}
        named = False
        while not self._met(")"):
            if values:
                self._separate(")")
            place = self._place()
            name = FIELD.match(self._text, place)
            named = named or name is not None
            field: str = name[1] if name else next((one for one in kind.fields if one not in values), "")
            if field not in kind.fields or field in values or (named and name is None):
                self._refuse(
                    "No such field, or no second one, is wanted",
                    fix=f"write {kind.example}; its fields: {', '.join(kind.fields)}",
                )
            self._at = name.end() if name else place
            values[field] = self._value(kind.fields[field], field)
        if missing := [field for field in kind.needed if field not in values]:
            self._at -= 1
            self._refuse(f"{missing[0]} is missing", fix=f"write {kind.example}")
        return values

    def _value(self, wanted: Value, name: str) -> object:
        match wanted:
            case Value.NUMBER:
                return self._number(name)
            case Value.WHOLE:
                return self._whole(name)
            case Value.LOSS | Value.LOSSES:
                return self._sum()
            case Value.SAMPLING:
                return self._sampling()
            case Value.CURVE:
                return self._listed(self._point)
            case Value.TABLE:
                return self._listed(lambda: self._number("a probability"))

    def _number(self, name: str) -> Fraction:
        start = self._place()
        found = self._made(lambda: match_number(self._text, start, name), start, "")
        if found is None:
            self._refuse(f"A number for {name} is wanted", fix="write it without a sign, such as 2, 0.01, 1e-6 or 1/3")
        self._at = found[1]
        return found[0]

    def _whole(self, name: str) -> int:
        start = self._place()
        number = self._number(name)
        if number.denominator != 1:
            self._at = start
            self._refuse(f"A whole number for {name} is wanted", fix="write one such as 1000 or 1e4")
        return number.numerator

    def _sampling(self) -> Sampling:
        word = WORD.match(self._text, self._place())
        if word is None or word[0] not in SAMPLINGS:
            self._refuse("A way of sampling is wanted", fix=f"write {' or '.join(SAMPLINGS)}")
        self._at = word.end()
        return SAMPLINGS[word[0]]

    def _point(self) -> tuple[Fraction, Fraction]:
        order = self._number("an order")
        self._take(":")
        return order, self._number("the ε of an order")

    def _listed(self, read: Callable[[], Entry]) -> list[Entry]:
        self._take("[")
        entries: list[Entry] = []
        while not self._met("]"):
            if entries:
                self._separate("]")
            entries.append(read())
        return entries

    def _place(self) -> int:
        """Skip blanks, and return where we are."""
        blanks = BLANKS.match(self._text, self._at)
        self._at = blanks.end() if blanks else self._at
        return self._at

    def _met(self, sign: str) -> bool:
        met = self._text.startswith(sign, self._place())
        self._at += len(sign) if met else 0
        return met

    def _take(self, sign: str) -> None:
        if not self._met(sign):
            self._refuse(f"'{sign}' is wanted", fix=EXAMPLE)

    def _separate(self, closing: str) -> None:
        if not self._met(","):
            self._refuse(f"',' or '{closing}' is wanted", fix=EXAMPLE)

    def _made(self, make: Callable[[], Entry], start: int, example: str) -> Entry:
        """Make a value, and point at its text if it is refused."""
        try:
            return make()
        except Misspelt:
            raise
        except DiscreetError as error:
            also = f"; for example {example}" if example else ""
            raise Misspelt(error.problem, fix=error.fix + also, text=self._text, at=start) from error

    def _refuse(self, problem: str, *, fix: str) -> NoReturn:
        raise Misspelt(f"{problem} at character {self._at + 1}.", fix=fix, text=self._text, at=self._at)
