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

Names and fields: `KINDS`. The canonical names and fields of `discreet.accounting.texts` are among them, so that a part
of a canonical text may be copied. Numbers: `discreet.cli.numbers`. A text that starts with "loss/" is canonical and
read as `discreet.accounting.loss_from_text` reads it, but for blanks around it. Reading evaluates nothing.
"""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from functools import partial
from typing import Final, NoReturn, TypeVar

from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    Group,
    LaplaceNoise,
    Parallel,
    PrivacyLoss,
    Pure,
    RandomisedResponse,
    Renyi,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
    loss_from_text,
    loss_to_text,
)
from discreet.cli.numbers import match_number
from discreet.cli.output import Misspelt
from discreet.core import DiscreetError, Sensitivity


class Value(Enum):
    """The values that a field accepts."""

    NUMBER = auto()
    WHOLE = auto()
    LOSS = auto()
    LOSSES = auto()
    SAMPLING = auto()
    CURVE = auto()
    TABLE = auto()


@dataclass(frozen=True, slots=True)
class LossKind:
    """How one kind of loss is made from its fields, which are in the order in which they may stand without a name."""

    make: Callable[..., PrivacyLoss]
    fields: Mapping[str, Value]
    example: str
    optional: frozenset[str] = frozenset()

    @property
    def needed(self) -> list[str]:
        """The fields that may not be left out."""
        return [field for field in self.fields if field not in self.optional]


def discrete_gaussian(sigma: Fraction, sensitivity: int = 1) -> DiscreteGaussianNoise:
    """Return discrete Gaussian noise on one integer answer that moves by at most the sensitivity."""
    return DiscreteGaussianNoise(sigma**2, Sensitivity.box(l0=1, linf=sensitivity))


def _discrete_gaussian_noise(variance: Fraction, **norms: int) -> DiscreteGaussianNoise:
    return DiscreteGaussianNoise(variance, Sensitivity(**norms))


_SENSITIVITY = frozenset({"sensitivity"})
_EPSILON = {"epsilon": Value.NUMBER}
_GAUSSIAN = LossKind(
    GaussianNoise, {"sigma": Value.NUMBER, "sensitivity": Value.NUMBER}, "gaussian(sigma=1)", _SENSITIVITY
)
_LAPLACE = LossKind(
    LaplaceNoise, {"scale": Value.NUMBER, "sensitivity": Value.NUMBER}, "laplace(scale=10)", _SENSITIVITY
)
_DISCRETE_LAPLACE = LossKind(
    DiscreteLaplaceNoise,
    {"scale": Value.NUMBER, "sensitivity": Value.WHOLE},
    "discrete_laplace(scale=10)",
    _SENSITIVITY,
)
_CONCENTRATED = LossKind(
    Concentrated, {"rho": Value.NUMBER, "delta": Value.NUMBER}, "concentrated(rho=0.1)", frozenset({"delta"})
)
_BOUNDED_RANGE = LossKind(BoundedRange, _EPSILON, "bounded_range(epsilon=0.1)")
_GAUSSIAN_DP = LossKind(GaussianDP, {"mu": Value.NUMBER}, "gaussian_dp(mu=0.5)")

KINDS: Final[Mapping[str, LossKind]] = {
    "pure": LossKind(Pure, _EPSILON, "pure(epsilon=0.1)"),
    "approximate": LossKind(
        Approximate, {"epsilon": Value.NUMBER, "delta": Value.NUMBER}, "approximate(epsilon=0.1, delta=1e-8)"
    ),
    "bounded_range": _BOUNDED_RANGE,
    "exponential": _BOUNDED_RANGE,  # what the exponential mechanism costs
    "concentrated": _CONCENTRATED,
    "zcdp": _CONCENTRATED,
    "renyi": LossKind(Renyi, {"curve": Value.CURVE}, "renyi(curve=[2: 0.1, 8: 0.5])"),
    "gaussian_dp": _GAUSSIAN_DP,
    "gdp": _GAUSSIAN_DP,
    "gaussian": _GAUSSIAN,
    "gaussian_noise": _GAUSSIAN,
    "laplace": _LAPLACE,
    "laplace_noise": _LAPLACE,
    "discrete_laplace": _DISCRETE_LAPLACE,
    "discrete_laplace_noise": _DISCRETE_LAPLACE,
    "discrete_gaussian": LossKind(
        discrete_gaussian,
        {"sigma": Value.NUMBER, "sensitivity": Value.WHOLE},
        "discrete_gaussian(sigma=10)",
        _SENSITIVITY,
    ),
    "discrete_gaussian_noise": LossKind(
        _discrete_gaussian_noise,
        {"variance": Value.NUMBER, **dict.fromkeys(("l0", "linf", "l1", "l2_squared"), Value.WHOLE)},
        "discrete_gaussian_noise(variance=100, l0=1, linf=1, l1=1, l2_squared=1)",
    ),
    "randomised_response": LossKind(
        RandomisedResponse,
        {"truth": Value.NUMBER, "categories": Value.WHOLE},
        "randomised_response(truth=3/4)",
        frozenset({"categories"}),
    ),
    "dominating_pair": LossKind(
        DominatingPair,
        {"present": Value.TABLE, "absent": Value.TABLE},
        "dominating_pair(present=[0.6, 0.4], absent=[0.4, 0.6])",
    ),
    "composed": LossKind(Composed, {"parts": Value.LOSSES}, "composed(pure(0.1), gaussian(10))"),
    "parallel": LossKind(Parallel, {"parts": Value.LOSSES}, "parallel(pure(0.1), gaussian(10))"),
    "repeated": LossKind(Repeated, {"part": Value.LOSS, "times": Value.WHOLE}, "repeated(gaussian(10), times=100)"),
    "group": LossKind(Group, {"part": Value.LOSS, "size": Value.WHOLE}, "group(pure(0.1), size=4)"),
    "subsampled": LossKind(
        Subsampled,
        {"part": Value.LOSS, "rate": Value.NUMBER, "sampling": Value.SAMPLING},
        "subsampled(gaussian(1), rate=0.01)",
        frozenset({"sampling"}),
    ),
    "shuffled": LossKind(Shuffled, {"part": Value.LOSS, "people": Value.WHOLE}, "shuffled(pure(1), people=10000)"),
}


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
        while self._try_take("+"):
            parts.append(self._term())
        return (
            parts[0]
            if len(parts) == 1
            else self._build_value(lambda: Composed(parts), start, "pure(0.1) + gaussian(10)")
        )

    def _term(self) -> PrivacyLoss:
        start = self._place()
        loss = self._factor()
        while sign := TIMES.match(self._text, self._place()):
            self._at = sign.end()
            times = self._whole("the number after 'x'")
            loss = self._build_value(partial(Repeated, loss, times), start, "gaussian(10) x 100")
        return loss

    def _factor(self) -> PrivacyLoss:
        self._depth += 1
        if self._depth > DEEPEST:
            self._refuse(f"No more than {DEEPEST} brackets may be open", fix="write parts side by side, with '+'")
        if self._try_take("("):
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
        return self._build_value(lambda: kind.make(**values), start, kind.example)

    def _losses(self) -> list[PrivacyLoss]:
        losses: list[PrivacyLoss] = []
        while not self._try_take(")"):
            if losses:
                self._separate(")")
            losses.append(self._sum())
        return losses

    def _fields(self, kind: LossKind) -> dict[str, object]:
        values: dict[str, object] = {}
        named = False
        while not self._try_take(")"):
            if values:
                self._separate(")")
            place = self._place()
            name = FIELD.match(self._text, place)
            named = named or name is not None
            field: str = (
                name[1] if name else next((candidate for candidate in kind.fields if candidate not in values), "")
            )
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
                return self._read_list(self._point)
            case Value.TABLE:
                return self._read_list(lambda: self._number("a probability"))

    def _number(self, name: str) -> Fraction:
        start = self._place()
        match = self._build_value(lambda: match_number(self._text, start, name), start, "")
        if match is None:
            self._refuse(f"A number for {name} is wanted", fix="write it without a sign, such as 2, 0.01, 1e-6 or 1/3")
        self._at = match[1]
        return match[0]

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

    def _read_list(self, read: Callable[[], Entry]) -> list[Entry]:
        self._take("[")
        entries: list[Entry] = []
        while not self._try_take("]"):
            if entries:
                self._separate("]")
            entries.append(read())
        return entries

    def _place(self) -> int:
        """Skip blanks, and return where we are."""
        blanks = BLANKS.match(self._text, self._at)
        self._at = blanks.end() if blanks else self._at
        return self._at

    def _try_take(self, sign: str) -> bool:
        met = self._text.startswith(sign, self._place())
        self._at += len(sign) if met else 0
        return met

    def _take(self, sign: str) -> None:
        if not self._try_take(sign):
            self._refuse(f"'{sign}' is wanted", fix=EXAMPLE)

    def _separate(self, closing: str) -> None:
        if not self._try_take(","):
            self._refuse(f"',' or '{closing}' is wanted", fix=EXAMPLE)

    def _build_value(self, make: Callable[[], Entry], start: int, example: str) -> Entry:
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
