"""Frames of a Spark session, and what is public about them: only the names and types of their columns are read.

Rows of a frame are computed anew whenever it is asked, so it has to say the same each time: read files, name columns,
filter rows. A frame that draws at random or leaves rows out by their number (`sample`, `limit`) does not; and one that
puts rows of several people together (a join, a `groupBy`) holds rows that are nobody's alone.

Statements name frames as views, which exist for as long as they are asked, and no longer.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from discreet.algebra.declarations import need_column
from discreet.algebra.names import table_named
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import Column, Kind, Schema
from discreet.data.reading.column_rules import cast_columns
from discreet.data.reading.column_types import Casting
from discreet.data.reading.table_sources import Declaration
from discreet.data.spark.column_types import RULES, reason_left_out

#: The modules of Spark's frames; nothing of them is loaded here.
FRAMES = ("pyspark.sql.dataframe", "pyspark.sql.classic.dataframe", "pyspark.sql.connect.dataframe")
#: Where a column of a table says that it is a CHAR.
CHAR = "__CHAR_VARCHAR_TYPE_STRING"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SparkFrame:
    """One frame, with columns called f0, f1, …, and what they become."""

    frame: Any
    schema: Schema
    #: What the schema's columns become, in their order.
    castings: tuple[Casting, ...]
    #: What a unit's rows are ordered by: places of castings. Leaves no tie but of rows that are equal in all columns.
    order: tuple[int, ...]
    left_out: Mapping[str, str]
    #: The engine's type of each column by its folded name; all texts are one.
    types: Mapping[str, str]

    @property
    def spelling(self) -> str:
        """What ids are written from: texts of one type, and those that were written from another, are not alike."""
        person = self.schema.unit.column
        if person is None:
            return ""
        casting = self.castings[self.schema.names.index(person)]
        return self.types[person.casefold()] if casting.kind is Kind.TEXT else casting.kind.value


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SparkFrames:
    """All frames of one session, private and public ones, by the names of their tables."""

    private: Mapping[str, SparkFrame]
    public: Mapping[str, SparkFrame]

    def need_private(self, table: str) -> SparkFrame:
        """Return a private table."""
        return table_named(table, self.private)

    def need_public(self, table: str) -> SparkFrame:
        """Return a public table."""
        return table_named(table, self.public)


def is_spark_frame(source: object) -> bool:
    """Whether something is a frame of Spark, classic or Connect."""
    return any(kind.__module__ in FRAMES and kind.__name__ == "DataFrame" for kind in type(source).__mro__)


def private_frame(frame: object, declaration: Declaration) -> SparkFrame:
    """Return a private frame as it was declared."""
    person = "" if declaration.unit.column is None else declaration.unit.column.casefold()
    types = types_of(frame)
    known = {name.casefold(): Column(name=name, kind=Kind.TEXT) for name in types}
    wanted = {need_column(name, known, "has a kind").name: kind for name, kind in declaration.kinds.items()}
    casts = {
        name: RULES.column(name, f"f{place}", kind, wanted.get(name), is_person=name.casefold() == person)
        for place, (name, kind) in enumerate(types.items())
    }
    columns = cast_columns(casts)
    schema = declaration.schema(columns)
    first = declaration.order_in(columns)
    places = range(len(columns))
    return _build_frame(frame, schema, casts, tuple(sorted(places, key=lambda place: columns[place].name != first)))


def _build_frame(frame: Any, schema: Schema, casts: Mapping[str, Casting | None], order: tuple[int, ...]) -> SparkFrame:
    """Return a frame whose columns are called f0, f1, …."""
    castings = tuple(cast for cast in casts.values() if cast is not None)
    types = types_of(frame)
    left_out = {name: reason_left_out(types[name]) for name, cast in casts.items() if cast is None}
    renamed = frame.toDF(*[f"f{place}" for place in range(len(types))])
    texts = ("string", "varchar(", "char(", "void")
    folded = {name.casefold(): "text" if kind.startswith(texts) else kind for name, kind in types.items()}
    return SparkFrame(renamed, schema, castings, order, left_out, folded)


def need_frame(frame: object) -> None:
    """Refuse what is no frame of Spark, or has no end."""
    if not is_spark_frame(frame):
        raise WrongType(
            f"The source is {kind_of(frame)}, no frame of Spark.", fix='pass spark.table("visits") or the like'
        )
    if frame.isStreaming:  # type: ignore[attr-defined]
        raise InvalidInput("The frame is a stream, which has no end.", fix="pass spark.read…, not spark.readStream…")


def types_of(frame: Any) -> dict[str, str]:
    """Return the engine's type of each column."""
    types = {
        field.name: str((field.metadata or {}).get(CHAR) or field.dataType.simpleString())
        for field in frame.schema.fields
    }
    if len({name.casefold() for name in types}) < len(frame.schema.fields):
        raise InvalidInput("Two columns have the same name, but for capitals.", fix="rename one of them: frame.toDF(…)")
    return types


@contextmanager
def views(frames: Mapping[str, SparkFrame], names: Mapping[str, str]) -> Iterator[None]:
    """Let statements name frames, for as long as this lasts."""
    try:
        for table, frame in frames.items():
            frame.frame.createTempView(names[table])
        yield
    finally:
        for table, frame in frames.items():
            with suppress(Exception):  # a session that is gone has no views
                frame.frame.sparkSession.catalog.dropTempView(names[table])
