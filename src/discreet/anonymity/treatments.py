"""Treatments of a column in de-identification: drop, keep, mask, pseudonym, coarser. Written as SQL of DuckDB."""

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TypeAlias, assert_never

from discreet.algebra.names import literal, quote_name
from discreet.anonymity.hierarchies import Hierarchy
from discreet.anonymity.keys import PseudonymKey
from discreet.core import InvalidInput, Number, WrongType, exact, positive, whole
from discreet.core.errors import kind_of
from discreet.core.exact import nearest_float
from discreet.core.frozen import settle
from discreet.core.schema import Kind

#: What stands for the part of a text that is not told: always the same, or its length would be.
MASK = "***"
#: The sign between a pseudonym's domain and what it is of.
BETWEEN = "\x1f"


class DatePart(Enum):
    """How much of a day is kept."""

    YEAR = "year"
    QUARTER = "quarter"
    MONTH = "month"
    WEEK = "week"


@dataclass(frozen=True, slots=True)
class Drop:
    """The column is not passed on."""


@dataclass(frozen=True, slots=True)
class Keep:
    """The column is passed on as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """Only the first and the last signs of a text are kept; `***` stands for the rest, however long it is."""

    first: int = 0
    last: int = 0

    def __post_init__(self) -> None:
        settle(self, first=whole(self.first, "first", least=0), last=whole(self.last, "last", least=0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pseudonym:
    """A keyed hash in place of a value: HMAC-SHA256, of which 128 bits are told, in hexadecimal.

    The same value has the same pseudonym under the same key and `domain` (the column's name, if left out), and another
    under others; so tables can be joined on it by whoever has them, and values can be counted. Whoever has the key can
    find the pseudonym of anybody whose value they know.

    Reference: Krawczyk, Bellare, Canetti, RFC 2104.
    """

    key: PseudonymKey = field(repr=False)
    domain: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.key, PseudonymKey):
            raise WrongType(f"key is {kind_of(self.key)}, not a PseudonymKey.", fix="make one: PseudonymKey.create(…)")
        if self.domain is not None and not (self.domain and self.domain.isprintable()):
            raise InvalidInput("domain is empty or has unprintable characters.", fix='pass a name such as "patient"')


@dataclass(frozen=True, slots=True, init=False)
class Round:
    """A number is rounded down to a multiple of `width`."""

    width: Fraction

    def __init__(self, width: Number) -> None:
        settle(self, width=positive(width, "width"))


@dataclass(frozen=True, slots=True, init=False)
class Clip:
    """Numbers outside of an interval become its ends: ages above 89 are 90."""

    low: Fraction
    high: Fraction

    def __init__(self, low: Number, high: Number) -> None:
        settle(self, low=exact(low, "low"), high=exact(high, "high"))
        if self.low > self.high:
            raise InvalidInput("The lower end is above the upper end.", fix="pass low <= high, such as Clip(0, 90)")


@dataclass(frozen=True, slots=True)
class DayTo:
    """Of a day or moment only its year, quarter, month or week is told: by the first day of it."""

    part: DatePart

    def __post_init__(self) -> None:
        if not isinstance(self.part, DatePart):
            raise WrongType(f"part is {kind_of(self.part)}, not a DatePart.", fix="pass DatePart.YEAR or another")


@dataclass(frozen=True, slots=True)
class Label:
    """A value is replaced by its label at a level of a hierarchy; by `*` if the hierarchy has no place for it."""

    hierarchy: Hierarchy
    level: int

    def __post_init__(self) -> None:
        if not isinstance(self.hierarchy, Hierarchy):
            raise WrongType(f"hierarchy is {kind_of(self.hierarchy)}.", fix="make it a Hierarchy, or read_hierarchy")
        whole(self.level, "level", least=0, most=self.hierarchy.height)


Treatment: TypeAlias = Drop | Keep | Mask | Pseudonym | Round | Clip | DayTo | Label


def treat_column(name: str, kind: Kind, treatment: Treatment, place: int) -> tuple[str | None, dict[str, object]]:
    """Return the SQL of a column after its treatment, and its parameters; None if the column is dropped."""
    column = quote_name(name)
    match treatment:
        case Drop():
            return None, {}
        case Keep():
            return column, {}
        case Mask(first=first, last=last):
            return _mask_text(f"{column}::VARCHAR", first, last), {}
        case Pseudonym(key=key, domain=domain):
            return _pseudonym(column, key, domain or name, place)
        case Label(hierarchy=hierarchy, level=level):
            return _label(column, hierarchy, level, place)
        case Round() | Clip() | DayTo():
            return _coarser(name, kind, treatment), {}
        case _:
            assert_never(treatment)


def _coarser(name: str, kind: Kind, treatment: Round | Clip | DayTo) -> str:
    column = quote_name(name)
    match treatment:
        case Round(width=width):
            _need(kind.numeric, name, "numbers", "Round")
            rounded = f"floor({column} / {_number(width)}) * {_number(width)}"
            return f"({rounded})::BIGINT" if kind is Kind.INTEGER and width.denominator == 1 else rounded
        case Clip(low=low, high=high):
            _need(kind.numeric, name, "numbers", "Clip")
            clipped = f"least(greatest({column}, {_number(low)}), {_number(high)})"
            return f"CASE WHEN {column} IS NOT NULL THEN {clipped} END"  # or what is missing would become the lower end
        case DayTo(part=part):
            _need(kind.temporal, name, "days", "DayTo")
            return f"date_trunc('{part.value}', {column})::DATE"
        case _:
            assert_never(treatment)


def _mask_text(text: str, first: int, last: int) -> str:
    """Return a masked text. One that would be told whole, in two pieces, is not told at all."""
    shown = f"left({text}, {first}) || '{MASK}'" + (f" || right({text}, {last})" if last else "")
    return f"CASE WHEN {text} IS NULL THEN NULL WHEN length({text}) > {first + last} THEN {shown} ELSE '{MASK}' END"


def _pseudonym(column: str, key: PseudonymKey, domain: str, place: int) -> tuple[str, dict[str, object]]:
    """HMAC in the engine: sha256(outer pad ‖ sha256(inner pad ‖ message)). The key is a parameter, and in no text."""
    message = f"encode({literal(domain + BETWEEN)} || {column}::VARCHAR)"
    inner, outer = key.pads
    hashed = f"sha256($outer{place} || unhex(sha256($inner{place} || {message})))"
    return f"CASE WHEN {column} IS NOT NULL THEN left({hashed}, 32) END", {
        f"inner{place}": inner,
        f"outer{place}": outer,
    }


def _label(column: str, hierarchy: Hierarchy, level: int, place: int) -> tuple[str, dict[str, object]]:
    known = f"map($leaves{place}::VARCHAR[], $labels{place}::VARCHAR[])"
    label = f"coalesce({known}[{column}::VARCHAR], '*')"
    parameters: dict[str, object] = {
        f"leaves{place}": list(hierarchy.leaves),
        f"labels{place}": list(hierarchy.levels[level]),
    }
    return f"CASE WHEN {column} IS NOT NULL THEN {label} END", parameters


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else repr(nearest_float(value))


def _need(fits: bool, name: str, wanted: str, treatment: str) -> None:  # noqa: FBT001 - the answer itself
    if not fits:
        raise InvalidInput(
            f"{treatment} is for {wanted}, which {name!r} does not hold.",
            fix="choose another treatment, such as Mask or Drop",
        )
