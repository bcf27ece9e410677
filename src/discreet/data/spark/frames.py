"""Frames of a Spark session, and what is public about them: names and types of columns; refuses what computes.

Rows of a frame are computed anew whenever it is asked, so it has to say the same each time: read files, name columns,
filter rows. A frame that draws at random or leaves rows out by their number (`sample`, `limit`) does not; and one that
puts rows of several people together (a join, a `groupBy`) holds rows that belong to no single person.

Statements name frames as views, which exist for as long as they are asked, and no longer.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from discreet.algebra.declarations import need_column
from discreet.algebra.names import table_named
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import Column, Kind, Schema
from discreet.data.reading.column_types import Casting, cast_columns
from discreet.data.reading.foreign_keys import children_of, key_pairs, person_kind, sort_by_parents
from discreet.data.reading.sources import is_spark_frame
from discreet.data.reading.table_sources import Declaration, Entering
from discreet.data.spark.column_types import RULES, reason_left_out

#: The key under which a column of a table says that it is a CHAR.
CHAR = "__CHAR_VARCHAR_TYPE_STRING"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SparkFrame:
    """One frame, with columns called f0, f1, …, and what they become."""

    frame: Any
    schema: Schema
    #: The expressions of the schema's columns, in their order.
    castings: tuple[Casting, ...]
    #: The sort key of a unit's rows: places of castings. Leaves no tie but of rows that are equal in all columns.
    order: tuple[int, ...]
    left_out: Mapping[str, str]
    #: The engine's type of each column by its folded name; all texts are one.
    types: Mapping[str, str]

    def casting(self, name: str) -> Casting:
        """Return the expression of a column."""
        return self.castings[self.schema.names.index(name)]

    @property
    def spelling(self) -> str:
        """The types that ids are written from: texts of one type differ from those that were written from another."""
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


def private_frames(entering: Sequence[Entering]) -> dict[str, SparkFrame]:
    """Return private frames as they were declared, each behind the one whose key leads to its person."""
    declarations = [entry.declaration for entry in entering]
    frames: dict[int, SparkFrame] = {}
    parents: dict[int, SparkFrame] = {}
    for place in sort_by_parents(declarations):
        frames[place] = private_frame(entering[place].source, declarations[place], parents.get(place))
        parents |= dict.fromkeys(children_of(place, declarations), frames[place])
    return {declaration.table: frames[place] for place, declaration in enumerate(declarations)}


def private_frame(frame: object, declaration: Declaration, parent: SparkFrame | None = None) -> SparkFrame:
    """Return a private frame as it was declared."""
    person = "" if declaration.person is None else declaration.person.casefold()
    types = types_of(frame)
    known = {name.casefold(): Column(name=name, kind=Kind.TEXT) for name in types}
    wanted = {need_column(name, known, "has a kind").name: kind for name, kind in declaration.kinds.items()}
    casts = {
        name: RULES.column(name, f"f{place}", kind, wanted.get(name), is_person=name.casefold() == person)
        for place, (name, kind) in enumerate(types.items())
    }
    columns = cast_columns(casts)
    led = () if parent is None else (declaration.person_column(columns, person_kind(parent.schema)),)
    schema = declaration.schema((*columns, *led))
    first = declaration.order_in(columns)
    places = range(len(columns))
    order = tuple(sorted(places, key=lambda place: columns[place].name != first))
    alone = _build_frame(frame, schema, casts, order)
    return alone if parent is None else _add_person(alone, declaration, columns, parent)


def _add_person(alone: SparkFrame, declaration: Declaration, own: tuple[Column, ...], parent: SparkFrame) -> SparkFrame:
    """Return a frame with the person that its key leads to: see `discreet.data.reading.foreign_keys`."""
    pairs = key_pairs(declaration, own, parent.schema)
    names = [column.name for column in own]
    owner = str(parent.schema.unit.column)
    keys = [f"{parent.casting(key.name).text} AS k{place}" for place, (_, key) in enumerate(pairs)]
    owners = parent.frame.selectExpr(*keys, f"{parent.casting(owner).text} AS p").where("p IS NOT NULL").distinct()
    mine = [f"{alone.castings[names.index(key.name)].text} AS k{place}" for place, (key, _) in enumerate(pairs)]
    fields = [*alone.frame.columns, "p"]
    same = [f"k{place}" for place in range(len(pairs))]
    joined = alone.frame.selectExpr("*", *mine).join(owners, same).selectExpr(*fields)
    person = str(alone.schema.unit.column).casefold()
    return replace(
        alone,
        frame=joined.toDF(*[f"f{place}" for place in range(len(fields))]),
        castings=(*alone.castings, Casting(parent.casting(owner).kind, f"f{len(fields) - 1}")),
        types={**alone.types, person: parent.types[owner.casefold()]},
    )


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
    """Refuse a value that is not a frame of Spark, or has no end."""
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


# Plain frames of Spark: they compute nothing that a row could make fail.
#
# A cast in a frame (`frame.selectExpr("CAST(stay AS INT) AS stay")`, in ANSI mode) fails for one cell, and the failure
# tells of that row. So the analysed plan of a frame is read, which Spark has made from names and types alone: files in
# columns, rows that are held, plain columns under other names, and conditions that have a value for every row are
# taken; everything else is not. Of a session of Spark Connect the plan is on the server, and cannot be read.

CATALYST = "org.apache.spark.sql.catalyst."
#: Nodes that hold rows, or count them: nothing is computed from a value. The origin of an RDD is not known.
HELD = frozenset(
    {
        f"{CATALYST}plans.logical.LocalRelation",
        f"{CATALYST}plans.logical.Range",
        "org.apache.spark.sql.execution.LogicalRDD",
    }
)
FILES = "org.apache.spark.sql.execution.datasources.LogicalRelation"
#: Formats whose values have types: no text of a row has to be understood.
FORMATS = frozenset(
    {
        "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat",
        "org.apache.spark.sql.execution.datasources.orc.OrcFileFormat",
    }
)
#: Nodes that have rows of one other plan, each as it was, or not at all.
NAMING = frozenset({f"{CATALYST}plans.logical.{name}" for name in ("Project", "Filter", "SubqueryAlias", "View")})
#: Expressions that have a value for every row: columns, constants, comparisons and what joins them.
TOTAL = frozenset(
    f"{CATALYST}expressions.{name}"
    for name in (
        *("AttributeReference", "Alias", "Literal", "And", "Or", "Not", "IsNull", "IsNotNull", "In"),
        *("EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual"),
    )
)


def need_plain_frame(frame: Any, table: str) -> None:
    """Refuse a private frame that computes something: a row may make that fail."""
    reason = next(_reasons(frame), None)
    if reason is None:
        return
    raise InvalidInput(
        f"A row may make reading {table!r} fail, and a failure tells of that row: {reason}.",
        fix="pass a frame that reads Parquet or ORC files and names columns (what columns hold is declared by kinds=…, "
        "and what does not fit is NULL); or, if you know that no row that can ever be there makes it fail, promise "
        f"that: never_fails=[{table!r}]",
    )


def _reasons(frame: Any) -> Iterator[str]:
    """Yield why computing a frame may fail."""
    if not hasattr(frame, "_jdf"):
        yield "what a frame of Spark Connect computes is known to its server alone"
        return
    waiting = [frame._jdf.queryExecution().analyzed()]  # noqa: SLF001 - PySpark has no other way to a plan
    while waiting:
        plan = waiting.pop()
        kind = plan.getClass().getName()
        if kind == FILES:
            yield from _reasons_of_files(plan.relation())
        elif kind in NAMING:
            yield from (
                reason for expression in _list_items(plan.expressions()) for reason in _reasons_of_value(expression)
            )
            waiting += _list_items(plan.children())
        elif kind not in HELD:
            yield f"the frame is made by {plan.nodeName()}, which is more than naming columns and comparing them"


def _reasons_of_files(relation: Any) -> Iterator[str]:
    """Yield why reading a source may fail."""
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        yield "the frame is read from a source that may compute something"
    elif relation.fileFormat().getClass().getName() not in FORMATS:
        yield "the frame is read from files that are neither Parquet nor ORC, and are understood row by row"


def _reasons_of_value(expression: Any) -> Iterator[str]:
    """Yield why an expression may have no value."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if node.getClass().getName() not in TOTAL:
            yield f"the frame computes {node.prettyName()}"
        waiting += _list_items(node.children())


def _list_items(sequence: Any) -> list[Any]:
    """Return the elements of a sequence of the JVM."""
    return [sequence.apply(place) for place in range(sequence.size())]
