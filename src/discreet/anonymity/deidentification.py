"""De-identification on DuckDB: a treatment for each column (drop, keep, mask, pseudonym, coarser), and keys."""

import hashlib
import hmac
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import TypeAlias, assert_never

from discreet.algebra.names import literal, quote_name
from discreet.anonymity.hierarchies import Hierarchy
from discreet.anonymity.reading import ROWS, Held, with_rows
from discreet.core import InvalidInput, Number, WrongType, exact, positive, whole
from discreet.core.canonical_text import settle
from discreet.core.errors import kind_of
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind
from discreet.noise import SYSTEM

# Pseudonym keys: 32 bytes in a file that only its owner may read.

BYTES, BLOCK = 32, 64


class PseudonymKey:
    """A secret that pseudonyms are made with. Its holder can link them to people: keep it apart, or destroy it."""

    __slots__ = ("_secret",)

    def __init__(self, secret: bytes) -> None:
        if not isinstance(secret, bytes) or len(secret) != BYTES:
            raise InvalidInput(f"A pseudonym key must have {BYTES} bytes.", fix="make one: PseudonymKey.create(…)")
        self._secret = secret

    def __repr__(self) -> str:
        return "PseudonymKey(…)"

    def __reduce__(self) -> tuple[object, ...]:
        raise InvalidInput("A pseudonym key cannot be pickled.", fix="pass on the path of its file, and read it there")

    @classmethod
    def create(cls, path: str | Path) -> "PseudonymKey":
        """Create a key and write it to a new file that only its owner may read.

        Args:
            path: the new file.

        Returns:
            The key.

        Raises:
            DiscreetError: if the file exists.

        """
        secret = SYSTEM.bits(8 * BYTES).to_bytes(BYTES, "big")
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise InvalidInput(
                "A file already exists at the path of the key.", fix="choose another path, or read it"
            ) from None
        with os.fdopen(handle, "wb") as file:
            file.write(secret.hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        return cls(secret)

    @classmethod
    def read(cls, path: str | Path) -> "PseudonymKey":
        """Return the key in a file."""
        with suppress(OSError, ValueError):
            return cls(bytes.fromhex(Path(path).read_text(encoding="ascii").strip()))
        raise InvalidInput("There is no pseudonym key at this path.", fix="make one: PseudonymKey.create(…)")

    @property
    def pads(self) -> tuple[bytes, bytes]:
        """The blocks hashed before the message, inside and outside, as in RFC 2104."""
        block = self._secret.ljust(BLOCK, b"\0")
        return bytes(byte ^ 0x36 for byte in block), bytes(byte ^ 0x5C for byte in block)

    def pseudonym(self, value: str, domain: str) -> str:
        """Return the pseudonym of one value, as `Pseudonym` writes it."""
        return hmac.new(self._secret, f"{domain}\x1f{value}".encode(), hashlib.sha256).hexdigest()[:32]


#: The replacement of the hidden part of a text: always the same, or it would reveal the length.
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
    under others; so any holder of tables can join them on it, and values can be counted. A holder of the key can find
    the pseudonym of any person whose value they know.

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


# De-identification: writes rows with a treatment for every column, on DuckDB, for tables of any size.
#
# Rows without names are still rows about people. The output is pseudonymous data, not anonymous data: no guarantee
# goes with it.

#: How files are written, by their endings.
FORMATS = {
    # Written in place: a file that is moved there afterwards would be readable by all.
    ".csv": "FORMAT csv, HEADER, USE_TMP_FILE false",
    ".parquet": "FORMAT parquet, USE_TMP_FILE false",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Deidentified:
    """The contents of the file: the number of rows, and the columns."""

    rows: int
    columns: tuple[str, ...]


def deidentify(
    source: object, destination: str | Path, treatments: Mapping[str, Treatment], *, gap_texts: tuple[str, ...] = ()
) -> Deidentified:
    """Write the rows of a file or frame to a new CSV or Parquet file, each column after its treatment.

    Every column needs a treatment, or it is refused: no column passes by oversight. Rows are written sorted by
    their published values, because the original order may identify people. Only the file's owner may read it.

    Args:
        source: a CSV, Parquet or DuckDB file, or a pandas, Polars or Arrow frame.
        destination: the new file, .csv or .parquet.
        treatments: a treatment for each column.
        gap_texts: strings that stand for missing values.

    Returns:
        The number of rows and the columns that were written.

    Raises:
        DiscreetError: if a column has no treatment, or the file exists or cannot be written.

    """
    if not isinstance(treatments, Mapping) or not all(
        isinstance(treatment, Treatment) for treatment in treatments.values()
    ):
        raise WrongType(
            "treatments is not a mapping from columns to treatments.", fix='pass {"name": Drop(), "age": Round(5)}'
        )
    place = need_new_file(destination)

    def use(engine: Held) -> Deidentified:
        engine.need(list(treatments))
        _need_all(engine, treatments)
        text, parameters, names = _statement(engine, treatments)
        with reserve_file(place):
            copy = f"COPY ({text}) TO {literal(str(place))} ({FORMATS[place.suffix.lower()]})"
            ((rows,),) = engine.connection.execute(copy, parameters).fetchall()
        return Deidentified(rows=rows, columns=names)

    return with_rows(source, use, gaps=gap_texts)


def _statement(engine: Held, treatments: Mapping[str, Treatment]) -> tuple[str, dict[str, object], tuple[str, ...]]:
    cells: dict[str, str] = {}
    parameters: dict[str, object] = {}
    for place, (name, kind) in enumerate(engine.kinds.items()):
        cell, needed = treat_column(name, kind, treatments[name], place)
        if cell is not None:
            cells[name] = cell
            parameters.update(needed)
    if not cells:
        raise InvalidInput("All columns are dropped.", fix="keep something, or write nothing")
    columns = ", ".join(f"{cell} AS {quote_name(name)}" for name, cell in cells.items())
    # S608: made of our own words and of names that are quoted.
    return f"SELECT {columns} FROM {ROWS} ORDER BY ALL", parameters, tuple(cells)  # noqa: S608


def _need_all(engine: Held, treatments: Mapping[str, Treatment]) -> None:
    lacking = [repr(name) for name in engine.kinds if name not in treatments]
    if lacking:
        raise InvalidInput(
            f"Columns without a treatment: {', '.join(lacking)}.",
            fix="give every column a treatment: Drop(), Keep() or another (--drop, --keep, …)",
        )


def need_new_file(destination: str | Path) -> Path:
    """Return the path of a file to write, which must not exist yet."""
    if not isinstance(destination, str | Path):
        raise WrongType(f"The destination is {kind_of(destination)}.", fix='pass a path such as "out.parquet"')
    place = Path(destination)
    if place.suffix.lower() not in FORMATS:
        raise InvalidInput("The destination is neither .csv nor .parquet.", fix='pass a path such as "out.parquet"')
    if place.exists():
        raise InvalidInput(f"The file {place.name!r} already exists.", fix="choose another path, or remove it")
    return place


@contextmanager
def reserve_file(place: Path) -> Iterator[None]:
    """Make a new file, for its owner alone, that is removed again if writing it fails."""
    try:
        os.close(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        raise InvalidInput(f"The file {place.name!r} already exists.", fix="choose another path") from None
    except OSError:
        raise InvalidInput(f"The file {place.name!r} cannot be written.", fix="check the folder") from None
    try:
        yield
    except BaseException:
        place.unlink(missing_ok=True)
        raise
