"""Questions as calls: a frame is a table and what is asked of it so far. Each call gives a new one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from discreet.algebra.relations import PublicScan
from discreet.core import InvalidInput, WrongType
from discreet.core.exact import whole
from discreet.core.limits import Matches
from discreet.core.schema import Schema
from discreet.query.frames.terms import AggregateExpression, aggregate_sql
from discreet.query.names import make_unique_name
from discreet.query.questions import QueryRefused, Question
from discreet.query.sql_writing.expressions import PLAIN_NAME, quote_name

if TYPE_CHECKING:
    from discreet.query.sql.scope import Known, RowSource


class Asker(Protocol):
    """The interface of an object that answers questions: a session."""

    def release(self, question: Question, /, **terms: Any) -> Any:
        """Pay and answer."""
        ...

    def preview(self, question: Question, /, **terms: Any) -> Any:
        """Return the cost and the error of an answer."""
        ...

    def explain(self, question: Question, /, **terms: Any) -> Any:
        """Say how it would be answered."""
        ...


#: Characters of a question that are shown.
SHOWN = 240
Named = tuple[str | None, str]
#: Columns, or names and what they stand for.
Names = str | Sequence[str] | Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Frame:
    """A table, and the question about it so far.

    All texts are SQL: conditions, expressions, or names of columns and outputs. Each is read when it is given, so that
    an error comes from the line that it stands in.
    """

    schema: Schema
    asker: Asker
    #: The other tables that may be joined, and public ones.
    schemas: tuple[Schema, ...] = ()
    publics: tuple[PublicScan, ...] = ()
    matches: Matches | None = None
    #: The text after FROM; empty for the table alone.
    origin: str = ""
    conditions: tuple[str, ...] = ()
    groups: tuple[Named, ...] = ()
    outputs: tuple[Named, ...] = ()
    wanted: tuple[str, ...] = ()
    sorting: tuple[tuple[str, bool], ...] = ()
    most: int | None = None

    def join(self, other: "Frame | str", on: "Names | None" = None, *, how: str = "inner") -> "Frame":
        """Join rows with another table or frame: a private one on the person, and on columns; a public one on columns.

        Such as `join("patients")`, `join("wards", on={"ward": "code"}, how="left")`.
        """
        return _join_frames(self, other, on, how)

    def select(self, *columns: str, **expressions: str) -> "Frame":
        """Take some columns, or compute others; the person stays."""
        return _select_columns(self, columns, expressions)

    def per_person(self, *, by: "Names" = (), **aggregates: AggregateExpression | str) -> "Frame":
        """Make one row of all rows of a person, or of a person and each value of `by`.

        Such as `per_person(n=count(), by=["ward"])`.
        """
        return _group_per_person(self, aggregates, by)

    def distinct(self, *columns: str, **expressions: str) -> "Frame":
        """Take each person's different values of some columns, once."""
        return _select_distinct(self, columns, expressions)

    def union(self, other: "Frame | str") -> "Frame":
        """Put the rows of another table or frame behind these; both have the same columns."""
        return _unite_frames(self, other)

    def only(self, other: "Frame | str") -> "Frame":
        """Keep the rows of people who are in another table or frame."""
        return _filter_people(self, other, "IN")

    def without(self, other: "Frame | str") -> "Frame":
        """Keep the rows of people who are not in another table or frame."""
        return _filter_people(self, other, "NOT IN")

    def filter(self, *conditions: str) -> "Frame":
        """Keep rows for which all conditions are true."""
        return _need_answerable(replace(self, conditions=(*self.conditions, *conditions)))

    def group_by(self, *columns: str, **expressions: str) -> "Frame":
        """Answer for each value of columns, and of expressions with a name.

        Such as `group_by("ward", month="MONTH(day)")`.
        """
        added = (*((None, column) for column in columns), *expressions.items())
        return _need_answerable(replace(self, groups=(*self.groups, *added)))

    def agg(self, *aggregates: AggregateExpression | str, **named: AggregateExpression | str) -> "Frame":
        """Ask for something, with a name or without.

        Such as `agg(n=count(), stay=mean("stay"))`.
        """
        person = _person(self)
        added = (
            *((None, aggregate_sql(term, person)) for term in aggregates),
            *((name, aggregate_sql(term, person)) for name, term in named.items()),
        )
        return _need_answerable(replace(self, outputs=(*self.outputs, *added)))

    def having(self, *conditions: AggregateExpression | str) -> "Frame":
        """Keep groups of the private answer; free."""
        person = _person(self)
        added = tuple(aggregate_sql(condition, person) for condition in conditions)
        return _need_answerable(replace(self, wanted=(*self.wanted, *added)))

    def order_by(self, *terms: AggregateExpression | str, descending: bool = False) -> "Frame":
        """Sort the private answer; free."""
        person = _person(self)
        added = tuple((aggregate_sql(term, person), bool(descending)) for term in terms)
        return _need_answerable(replace(self, sorting=(*self.sorting, *added)))

    def limit(self, most: int) -> "Frame":
        """Keep so many groups of the private answer; free."""
        return _need_answerable(replace(self, most=whole(most, "limit")))

    @property
    def question(self) -> Question:
        """The question: the same value as that of the same SQL."""
        if not self.outputs:
            raise InvalidInput("Nothing is asked of the table yet.", fix="add .agg(n=count())")
        return read_frame(self)

    def release(self, **terms: Any) -> Any:
        """Pay and answer."""
        return self.asker.release(self.question, **terms)

    def preview(self, **terms: Any) -> Any:
        """Return the cost and the error of an answer; free, and no row is looked at."""
        return self.asker.preview(self.question, **terms)

    def explain(self, **terms: Any) -> Any:
        """Say how it would be answered; free, and no row is looked at."""
        return self.asker.explain(self.question, **terms)

    def __repr__(self) -> str:
        """Return the question so far, in a line or two. All of it was typed or declared."""
        if not self.outputs:
            return f"{_shorten(_describe_rows(self))}\n  nothing is asked yet: add .agg(n=count())"
        from discreet.query.sql_writing.question import question_sql  # noqa: PLC0415 - as for reading

        known = {schema.table: schema for schema in (self.schema, *self.schemas)}
        text = " ".join(question_sql(self.question, known).split())
        return f"Frame: {_shorten(text)}\n  .preview(epsilon=…) is free, .release(epsilon=…) pays and answers"


def _need_answerable(frame: Frame) -> Frame:
    """Return the frame, if what it asks can be asked; without outputs yet, with a count in their place."""
    read_frame(frame if frame.outputs else replace(frame, outputs=((None, "COUNT(*)"),), wanted=(), sorting=()))
    return frame


def _describe_rows(frame: Frame) -> str:
    """Return the rows that are meant, before anything is asked of them."""
    rows = f"Frame of {' '.join(frame.origin.split()) or frame.schema.table}"
    where = f" where {' and '.join(frame.conditions)}" if frame.conditions else ""
    by = f" by {', '.join(name or text for name, text in frame.groups)}" if frame.groups else ""
    return f"{rows}{where}{by}"


def _shorten(text: str) -> str:
    """Return a text that a terminal can show: not long, and nothing in it that commands the terminal."""
    shown = "".join(sign if sign.isprintable() else "?" for sign in text)
    return shown if len(shown) <= SHOWN else f"{shown[: SHOWN - 1]}…"


def _person(frame: Frame) -> str | None:
    """Return the SQL of who is protected."""
    if frame.origin:
        return _person_of(frame)
    return None if frame.schema.unit.column is None else quote_name(frame.schema.unit.column)


def read_frame(frame: Frame) -> Question:
    """Return the question of a frame."""
    from discreet.query.sql.passes import question_about, read_piece  # noqa: PLC0415 - sqlglot takes a fifth of a second to load
    from discreet.query.sql.select import Parts, SortPiece  # noqa: PLC0415

    source, known = _read_rows(frame)
    names = tuple(column.name for column in source.seen)
    groups = tuple((name, read_piece(text, names)) for name, text in frame.groups)
    parts = Parts(
        schema=known.schema(source.relation),
        items=source.items,
        outputs=(*groups, *((name, read_piece(text, names)) for name, text in frame.outputs)),
        where=tuple(read_piece(text, names) for text in frame.conditions),
        groups=tuple(piece for _, piece in groups),
        having=tuple(read_piece(text, names) for text in frame.wanted),
        order=tuple(SortPiece(read_piece(text, names), descending) for text, descending in frame.sorting),
        most=frame.most,
    )
    return question_about(source, parts, known)


def _read_rows(frame: Frame) -> "tuple[RowSource, Known]":
    """Return the rows that a frame is about."""
    from discreet.query.sql.passes import read_rows  # noqa: PLC0415 - as above

    schemas = {schema.table: schema for schema in (*frame.schemas, frame.schema)}
    publics = {scan.table: scan for scan in frame.publics}
    try:
        return read_rows(frame.origin or quote_name(frame.schema.table), schemas, publics, frame.matches)
    except QueryRefused as error:
        # Its place is in a generated text.
        raise InvalidInput(error.plain, fix=error.fix) from None


KINDS = {"inner": "JOIN", "left": "LEFT JOIN"}


def _person_of(frame: Frame) -> str | None:
    """Return the SQL of who is protected; None if each row is."""
    source, known = _read_rows(frame)
    people = known.people(source.relation)
    for item in source.items:
        for seen in item.columns:
            if seen.column.name in people:
                return (
                    f"{quote_name(item.qualifier)}.{quote_name(seen.name)}" if item.qualifier else quote_name(seen.name)
                )
    return None


def _join_frames(frame: Frame, other: Frame | str, on: Names | None, how: str) -> Frame:
    """Return rows joined with those of another table or frame."""
    if how not in KINDS:
        raise InvalidInput("Unknown join.", fix='pass how="inner" or how="left"')
    left = _settle_filters(frame, "joined")
    qualifiers = [item.qualifier for item in _read_rows(left)[0].items]
    right, person, alias = _write_right_side(left, other, qualifiers)
    tests = [] if person is None else [f"{_need_person(left)} = {quote_name(alias)}.{person}"]
    if person is None and on is None:
        raise InvalidInput("A public table is joined on columns.", fix='name them: on="ward", or on={"ward": "code"}')
    tests += [
        f"{_write_left_side(left, left_column)} = {quote_name(alias)}.{quote_name(right_column)}"
        for left_column, right_column in _pairs(on)
    ]
    text = f"{left.origin or quote_name(left.schema.table)} {KINDS[how]} {right} ON {' AND '.join(tests)}"
    return _need_readable_rows(replace(left, origin=text))


def _write_right_side(frame: Frame, other: Frame | str, taken_names: list[str]) -> tuple[str, str | None, str]:
    """Return the joined relation, the person's column there, and its name."""
    if isinstance(other, Frame):
        alias = make_unique_name("t", [*taken_names, *_tables(frame)])
        inner = _settle_filters(other, "joined")
        person = _person_of(inner)
        if person is None:
            raise InvalidInput("The other frame has no privacy unit.", fix="open its table with person=…")
        name = person.rpartition(".")[2]
        return f"({_write_select(inner, '*')}) AS {quote_name(alias)}", name, alias
    table = _need_table(frame, other)
    alias = make_unique_name(table, taken_names)
    text = quote_name(table) if alias == table else f"{quote_name(table)} AS {quote_name(alias)}"
    person = next((schema.unit.column for schema in _schemas(frame) if schema.table == table), None)
    return text, None if person is None else quote_name(person), alias


def _need_table(frame: Frame, name: object) -> str:
    if not isinstance(name, str):
        raise WrongType("This is neither a table nor a frame.", fix='pass a name, such as "patients", or a frame')
    match = next((table for table in _tables(frame) if table.casefold() == name.casefold()), None)
    if match is None:
        raise InvalidInput(f"There is no table {name!r}.", fix=f"use one of: {', '.join(_tables(frame))}")
    return match


def _schemas(frame: Frame) -> list[Schema]:
    return list({schema.table: schema for schema in (*frame.schemas, frame.schema)}.values())


def _tables(frame: Frame) -> list[str]:
    return [*(schema.table for schema in _schemas(frame)), *(scan.table for scan in frame.publics)]


def _pairs(on: Names | None) -> Iterable[tuple[str, str]]:
    if on is None:
        return ()
    if isinstance(on, str):
        return ((on, on),)
    return on.items() if isinstance(on, Mapping) else ((name, name) for name in on)


def _write_left_side(frame: Frame, text: str) -> str:
    """Return the left side of a comparison: a column by its full name, or an expression."""
    source, _ = _read_rows(frame)
    holders = [item for item in source.items for column in item.columns if column.name.casefold() == text.casefold()]
    if len(holders) == 1 and holders[0].qualifier:
        return f"{quote_name(holders[0].qualifier)}.{quote_name(text)}"
    return f"({_need_expression(frame, text)})"


def _need_expression(frame: Frame, text: object) -> str:
    """Return a text, if it is one expression and nothing else."""
    from discreet.query.sql.passes import read_piece  # noqa: PLC0415 - as above

    if not isinstance(text, str):
        raise WrongType("This is not an expression.", fix='pass SQL, such as "ward"')
    read_piece(text, tuple(column.name for column in _read_rows(frame)[0].seen))
    return text


def _need_person(frame: Frame) -> str:
    person = _person_of(frame)
    if person is None:
        raise InvalidInput(
            "With row=True no column names the person of a row.",
            fix="open each table with the column of its persons: person=…",
        )
    return person


def _settle_filters(frame: Frame, action: str) -> Frame:
    """Return a frame whose filters are part of its rows; one that asks something already is refused."""
    if frame.groups or frame.outputs or frame.wanted or frame.sorting or frame.most is not None:
        raise InvalidInput(
            f"Rows must be {action} before they are grouped or aggregated.",
            fix="call group_by, agg and the like after it",
        )
    if not frame.conditions:
        return frame
    return _replace_rows(frame, _write_select(frame, "*"))


def _replace_rows(frame: Frame, select: str) -> Frame:
    """Return a frame of a selection. It keeps its name, if it has one."""
    items = _read_rows(frame)[0].items
    alias = items[0].qualifier if len(items) == 1 and items[0].qualifier else make_unique_name("t", _tables(frame))
    return _need_readable_rows(replace(frame, origin=f"({select}) AS {quote_name(alias)}", conditions=()))


def _write_select(frame: Frame, columns: str, rest: str = "") -> str:
    origin = frame.origin or quote_name(frame.schema.table)
    where = " AND ".join(f"({_need_expression(frame, text)})" for text in frame.conditions)
    text = f"SELECT {columns} FROM {origin}"  # noqa: S608 - it is read, not run
    return " ".join(filter(None, [text, f"WHERE {where}" if where else "", rest]))


def _select_columns(frame: Frame, columns: Sequence[str], named: Mapping[str, str]) -> Frame:
    """Return rows with other columns; the person stays."""
    _settle_filters(frame, "selected")
    person = _person_of(frame)
    return _replace_rows(
        frame, _write_select(frame, ", ".join([*_own(person), *_write_columns(frame, columns, named)]))
    )


def _own(person: str | None) -> list[str]:
    return [] if person is None else [person]


def _write_columns(frame: Frame, columns: Sequence[str], named: Mapping[str, str]) -> list[str]:
    own = (_person_of(frame) or "").rpartition(".")[2]
    plain = [_need_expression(frame, text) for text in columns if quote_name(text) != own]
    return [*plain, *(f"({_need_expression(frame, text)}) AS {quote_name(name)}" for name, text in named.items())]


def _group_per_person(frame: Frame, aggregates: Mapping[str, AggregateExpression | str], by: Names) -> Frame:
    """Return one row for each person, or for each person and key."""
    _settle_filters(frame, "put together")
    person = _need_person(frame)
    window = frame.schema.unit.window
    period = (
        []
        if window is None
        else [(window.period.value, f"DATE_TRUNC('{window.period.value}', {quote_name(window.time)})")]
    )
    keys = [*period, *((name, _need_expression(frame, text)) for name, text in _pairs(by))]
    shown = [person, *(_write_alias(name, text) for name, text in keys)]
    shown += [
        f"({_need_expression(frame, aggregate_sql(term, person))}) AS {quote_name(name)}"
        for name, term in aggregates.items()
    ]
    groups = ", ".join([person, *(text for _, text in keys)])
    return _replace_rows(frame, _write_select(frame, ", ".join(shown), f"GROUP BY {groups}"))


def _write_alias(name: str, text: str) -> str:
    return text if text == name and PLAIN_NAME.fullmatch(name) else f"({text}) AS {quote_name(name)}"


def _select_distinct(frame: Frame, columns: Sequence[str], named: Mapping[str, str]) -> Frame:
    """Return each person's different values, once."""
    _settle_filters(frame, "put together")
    shown = ", ".join([_need_person(frame), *_write_columns(frame, columns, named)])
    return _replace_rows(frame, _write_select(frame, f"DISTINCT {shown}"))


def _unite_frames(frame: Frame, other: Frame | str) -> Frame:
    """Return the rows of both."""
    first, second = _settle_filters(frame, "put together"), _settle_filters(_need_frame(frame, other), "put together")
    return _replace_rows(first, f"{_write_select(first, '*')} UNION ALL {_write_select(second, '*')}")


def _filter_people(frame: Frame, other: Frame | str, word: str) -> Frame:
    """Return the rows of people who are, or are not, in another table or frame."""
    _settle_filters(frame, "chosen")
    inner = _settle_filters(_need_frame(frame, other), "chosen")
    test = f"{_need_person(frame)} {word} ({_write_select(inner, _need_person(inner))})"
    where = " AND ".join([*(f"({_need_expression(frame, text)})" for text in frame.conditions), test])
    return _replace_rows(frame, f"SELECT * FROM {frame.origin or quote_name(frame.schema.table)} WHERE {where}")  # noqa: S608


def _need_frame(frame: Frame, other: Frame | str) -> Frame:
    if isinstance(other, Frame):
        return other
    return replace(frame, origin=quote_name(_need_table(frame, other)), conditions=())


def _need_readable_rows(frame: Frame) -> Frame:
    """Return a frame, if its rows can be asked of; places in a generated text are left out of refusals."""
    try:
        read_frame(replace(frame, outputs=((None, "COUNT(*)"),)))
    except QueryRefused as error:
        raise InvalidInput(error.plain, fix=error.fix) from None
    return frame
