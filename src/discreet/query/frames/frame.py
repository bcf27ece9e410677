"""Questions as calls: a frame is a table and what is asked of it so far. Each call gives a new one."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

from discreet.algebra.relations import PublicScan
from discreet.core import InvalidInput
from discreet.core.exact import whole
from discreet.core.limits import Matches
from discreet.core.schema import Schema
from discreet.query.frames.terms import Asked, asked_sql
from discreet.query.questions import Question
from discreet.query.sql_writing.expressions import quoted


class Asker(Protocol):
    """Whoever can answer a question: a session."""

    def release(self, question: Question, /, **terms: Any) -> Any:
        """Pay and answer."""
        ...

    def preview(self, question: Question, /, **terms: Any) -> Any:
        """Say what it would cost and how good it would be."""
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
    """A table, and what is asked of it so far.

    All texts are SQL: conditions, expressions, or names of columns and outputs. Each is read when it is given, so that
    an error comes from the line that it stands in.
    """

    schema: Schema
    asker: Asker
    #: The other tables that may be joined, and public ones.
    schemas: tuple[Schema, ...] = ()
    publics: tuple[PublicScan, ...] = ()
    matches: Matches | None = None
    #: What stands after FROM; nothing for the table alone.
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
        return cast("Frame", _rows().joined(self, other, on, how))

    def select(self, *columns: str, **expressions: str) -> "Frame":
        """Take some columns, or compute others; the person stays."""
        return cast("Frame", _rows().selected(self, columns, expressions))

    def per_person(self, *, by: "Names" = (), **asked: Asked | str) -> "Frame":
        """Make one row of all rows of a person, or of a person and each value of `by`.

        Such as `per_person(n=count(), by=["ward"])`.
        """
        return cast("Frame", _rows().per_person(self, asked, by))

    def distinct(self, *columns: str, **expressions: str) -> "Frame":
        """Take each person's different values of some columns, once."""
        return cast("Frame", _rows().distinct(self, columns, expressions))

    def union(self, other: "Frame | str") -> "Frame":
        """Put the rows of another table or frame behind these; both have the same columns."""
        return cast("Frame", _rows().united(self, other))

    def only(self, other: "Frame | str") -> "Frame":
        """Keep the rows of people who are in another table or frame."""
        return cast("Frame", _rows().among(self, other, "IN"))

    def without(self, other: "Frame | str") -> "Frame":
        """Keep the rows of people who are not in another table or frame."""
        return cast("Frame", _rows().among(self, other, "NOT IN"))

    def filter(self, *conditions: str) -> "Frame":
        """Keep rows for which all conditions are true."""
        return _read(replace(self, conditions=(*self.conditions, *conditions)))

    def group_by(self, *columns: str, **expressions: str) -> "Frame":
        """Answer for each value of columns, and of expressions with a name.

        Such as `group_by("ward", month="MONTH(day)")`.
        """
        added = (*((None, each) for each in columns), *expressions.items())
        return _read(replace(self, groups=(*self.groups, *added)))

    def agg(self, *asked: Asked | str, **named: Asked | str) -> "Frame":
        """Ask for something, with a name or without.

        Such as `agg(n=count(), stay=mean("stay"))`.
        """
        person = _person(self)
        added = (
            *((None, asked_sql(each, person)) for each in asked),
            *((name, asked_sql(each, person)) for name, each in named.items()),
        )
        return _read(replace(self, outputs=(*self.outputs, *added)))

    def having(self, *conditions: Asked | str) -> "Frame":
        """Keep groups of the private answer; free."""
        person = _person(self)
        added = tuple(asked_sql(each, person) for each in conditions)
        return _read(replace(self, wanted=(*self.wanted, *added)))

    def order_by(self, *terms: Asked | str, descending: bool = False) -> "Frame":
        """Sort the private answer; free."""
        person = _person(self)
        added = tuple((asked_sql(each, person), bool(descending)) for each in terms)
        return _read(replace(self, sorting=(*self.sorting, *added)))

    def limit(self, most: int) -> "Frame":
        """Keep so many groups of the private answer; free."""
        return _read(replace(self, most=whole(most, "limit")))

    @property
    def question(self) -> Question:
        """What is asked: the same value as that of the same SQL."""
        if not self.outputs:
            raise InvalidInput("Nothing is asked of the table yet.", fix="add .agg(n=count())")
        return _reading()(self)

    def release(self, **terms: Any) -> Any:
        """Pay and answer."""
        return self.asker.release(self.question, **terms)

    def preview(self, **terms: Any) -> Any:
        """Say what it would cost and how good it would be; free, and no row is looked at."""
        return self.asker.preview(self.question, **terms)

    def explain(self, **terms: Any) -> Any:
        """Say how it would be answered; free, and no row is looked at."""
        return self.asker.explain(self.question, **terms)

    def __repr__(self) -> str:
        """Return what is asked so far, in a line or two. All of it was typed or declared."""
        if not self.outputs:
            return f"{_short(_so_far(self))}\n  nothing is asked yet: add .agg(n=count())"
        from discreet.query.sql_writing.question import question_sql  # noqa: PLC0415 - as for reading

        known = {schema.table: schema for schema in (self.schema, *self.schemas)}
        text = " ".join(question_sql(self.question, known).split())
        return f"Frame: {_short(text)}\n  .preview(epsilon=…) is free, .release(epsilon=…) pays and answers"


def _read(frame: Frame) -> Frame:
    """Return the frame, if what it asks can be asked; without outputs yet, with a count in their place."""
    _reading()(frame if frame.outputs else replace(frame, outputs=((None, "COUNT(*)"),), wanted=(), sorting=()))
    return frame


def _so_far(frame: Frame) -> str:
    """Return the rows that are meant, before anything is asked of them."""
    rows = f"Frame of {' '.join(frame.origin.split()) or frame.schema.table}"
    where = f" where {' and '.join(frame.conditions)}" if frame.conditions else ""
    by = f" by {', '.join(name or text for name, text in frame.groups)}" if frame.groups else ""
    return f"{rows}{where}{by}"


def _short(text: str) -> str:
    """Return a text that a terminal can show: not long, and nothing in it that commands the terminal."""
    shown = "".join(sign if sign.isprintable() else "?" for sign in text)
    return shown if len(shown) <= SHOWN else f"{shown[: SHOWN - 1]}…"


def _person(frame: Frame) -> str | None:
    """Return the SQL of who is protected."""
    if frame.origin:
        return cast("str | None", _rows().person_of(frame))
    return None if frame.schema.unit.column is None else quoted(frame.schema.unit.column)


def _rows() -> Any:
    from discreet.query.frames import rows as frame_rows  # noqa: PLC0415 - sqlglot takes a fifth of a second to load

    return frame_rows


def _reading() -> Callable[[Frame], Question]:
    from discreet.query.frames.reading import read_frame  # noqa: PLC0415 - sqlglot takes a fifth of a second to load

    return read_frame
