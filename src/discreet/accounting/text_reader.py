"""Reads the text of a loss, from left to right, once. The grammar stands in `discreet.accounting.texts`."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final, NoReturn, TypeVar

from discreet.accounting.composites import (
    DEEPEST,
    Composed,
    Group,
    Parallel,
    PrivacyLoss,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
)
from discreet.accounting.losses import (
    MOST_OUTCOMES,
    Approximate,
    BoundedRange,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RandomisedResponse,
    Renyi,
)
from discreet.core import InvalidInput, OutOfRange, Sensitivity

#: Room for two lists of 100,000 probabilities of 20 digits each.
MOST_CHARACTERS = 10_000_000
#: Parts, probabilities or points in one list.
MOST_ENTRIES = MOST_OUTCOMES
#: Digits of a number of 4,096 bits, the longest that a parameter may have.
MOST_DIGITS = 1234
#: Each part is looked at again on every level above it: this many looks are a second or two.
MOST_VISITS = 400_000

WORD = re.compile(r"[a-z][a-z0-9_]*")
DIGITS = re.compile(r"[0-9]+")
Entry = TypeVar("Entry")
ASTRAY = "pass what loss_to_text returned, complete and unchanged"


class TextReader:
    """A text, how far it has been read, and how deep inside of parts."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._at = start
        self._depth = 0
        self._visits = 0

    def all(self) -> PrivacyLoss:
        """Read the rest of the text, all of it, as one loss."""
        loss = self.loss()
        if self._at < len(self._text):
            self._refuse("the end of the text")
        return loss

    def loss(self) -> PrivacyLoss:
        """Read a loss with all its parts."""
        self._depth += 1
        self._visits += self._depth
        if self._depth > DEEPEST or self._visits > MOST_VISITS:
            raise OutOfRange("The text has more parts, or deeper ones, than a loss may have.", fix=ASTRAY)
        form = self._form()
        values: list[object] = []
        for field, read in form.fields.items():
            self._take(f", {field}" if values else field)
            values.append(read(self))
        self._take(")")
        self._depth -= 1
        return form.make(*values)

    def losses(self) -> list[PrivacyLoss]:
        """Read parts, up to the bracket that closes their list."""
        return [] if self._text.startswith(")", self._at) else self._read_entries(self.loss)

    def number(self) -> Fraction:
        """Read an exact number."""
        numerator = self.whole()
        if not self._accept_literal("/"):
            return Fraction(numerator)
        denominator = self.whole()
        if not denominator:
            self._refuse("no denominator of 0")
        return Fraction(numerator, denominator)

    def whole(self) -> int:
        """Read a number without a fraction."""
        digits = DIGITS.match(self._text, self._at)
        if digits is None:
            self._refuse("a number")
        if digits.end() - digits.start() > MOST_DIGITS:
            raise OutOfRange(f"A number of the text has more than {MOST_DIGITS} digits.", fix=ASTRAY)
        self._at = digits.end()
        return int(digits[0])

    def probabilities(self) -> list[Fraction]:
        """Read a list of numbers."""
        return self._read_list(self.number)

    def curve(self) -> list[tuple[Fraction, Fraction]]:
        """Read the points of a Rényi curve; their orders rise, so that nothing has to be sorted."""
        points = self._read_list(self._point)
        if any(order >= following for (order, _), (following, _) in pairwise(points)):
            self._refuse("a curve of rising orders, up to here,")
        return points

    def sampling(self) -> Sampling:
        """Read how a batch is sampled."""
        if self._accept_literal("poisson"):
            return Sampling.POISSON
        self._take("without_replacement")
        return Sampling.WITHOUT_REPLACEMENT

    def _form(self) -> "Form":
        name = WORD.match(self._text, self._at)
        form = FORMS.get(name[0]) if name else None
        if name is None or form is None:
            raise InvalidInput(
                f"No kind of loss has the name that starts at character {self._at + 1}.",
                fix=f"the kinds are {', '.join(FORMS)}; a later release may know more",
            )
        self._at = name.end()
        self._take("(")
        return form

    def _point(self) -> tuple[Fraction, Fraction]:
        order = self.number()
        self._take(": ")
        return order, self.number()

    def _read_list(self, read: Callable[[], Entry]) -> list[Entry]:
        self._take("[")
        entries = [] if self._text.startswith("]", self._at) else self._read_entries(read)
        self._take("]")
        return entries

    def _read_entries(self, read: Callable[[], Entry]) -> list[Entry]:
        entries = [read()]
        while self._accept_literal(", "):
            entries.append(read())
            check_length(entries)
        return entries

    def _accept_literal(self, literal: str) -> bool:
        met = self._text.startswith(literal, self._at)
        self._at += len(literal) if met else 0
        return met

    def _take(self, literal: str) -> None:
        if not self._accept_literal(literal):
            self._refuse(repr(literal))

    def _refuse(self, wanted: str) -> NoReturn:
        raise InvalidInput(
            f"The text of a loss goes astray at character {self._at + 1}: {wanted} is wanted.", fix=ASTRAY
        )


def check_length(entries: Sequence[object]) -> None:
    """Refuse a list that is too long."""
    if len(entries) > MOST_ENTRIES:
        raise OutOfRange(f"A list of this loss has more than {MOST_ENTRIES} entries.", fix="merge some of them")


def _discrete_gaussian(variance: Fraction, l0: int, linf: int, l1: int, l2_squared: int) -> DiscreteGaussianNoise:
    return DiscreteGaussianNoise(variance, Sensitivity(l0=l0, linf=linf, l1=l1, l2_squared=l2_squared))


@dataclass(frozen=True, slots=True)
class Form:
    """How one kind of loss is made from what its brackets hold, in this order."""

    make: Callable[..., PrivacyLoss]
    fields: Mapping[str, Callable[[TextReader], object]]


_NUMBER, _WHOLE, _LOSS = TextReader.number, TextReader.whole, TextReader.loss

FORMS: Final[Mapping[str, Form]] = {
    "pure": Form(Pure, {"epsilon=": _NUMBER}),
    "bounded_range": Form(BoundedRange, {"epsilon=": _NUMBER}),
    "approximate": Form(Approximate, {"epsilon=": _NUMBER, "delta=": _NUMBER}),
    "concentrated": Form(Concentrated, {"rho=": _NUMBER, "delta=": _NUMBER}),
    "renyi": Form(Renyi, {"curve=": TextReader.curve}),
    "gaussian_dp": Form(GaussianDP, {"mu=": _NUMBER}),
    "laplace_noise": Form(LaplaceNoise, {"scale=": _NUMBER, "sensitivity=": _NUMBER}),
    "gaussian_noise": Form(GaussianNoise, {"sigma=": _NUMBER, "sensitivity=": _NUMBER}),
    "discrete_laplace_noise": Form(DiscreteLaplaceNoise, {"scale=": _NUMBER, "sensitivity=": _WHOLE}),
    "discrete_gaussian_noise": Form(
        _discrete_gaussian, {"variance=": _NUMBER, "l0=": _WHOLE, "linf=": _WHOLE, "l1=": _WHOLE, "l2_squared=": _WHOLE}
    ),
    "randomised_response": Form(RandomisedResponse, {"truth=": _NUMBER, "categories=": _WHOLE}),
    "dominating_pair": Form(
        DominatingPair, {"present=": TextReader.probabilities, "absent=": TextReader.probabilities}
    ),
    "composed": Form(Composed, {"": TextReader.losses}),
    "repeated": Form(Repeated, {"": _LOSS, "times=": _WHOLE}),
    "parallel": Form(Parallel, {"": TextReader.losses}),
    "group": Form(Group, {"": _LOSS, "size=": _WHOLE}),
    "subsampled": Form(Subsampled, {"": _LOSS, "rate=": _NUMBER, "sampling=": TextReader.sampling}),
    "shuffled": Form(Shuffled, {"": _LOSS, "people=": _WHOLE}),
}
