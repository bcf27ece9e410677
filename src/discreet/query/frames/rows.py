"""Frames of several tables: each step is written as SQL, and read by the same rules, so that both mean the same."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from discreet.core import InvalidInput, WrongType
from discreet.core.schema import Schema
from discreet.query.frames.frame import Frame
from discreet.query.frames.reading import read_frame, rows_of_frame
from discreet.query.frames.terms import Asked, asked_sql
from discreet.query.refusals import QueryRefused
from discreet.query.sql.names import unique
from discreet.query.sql.passes import read_piece
from discreet.query.sql_writing.expressions import PLAIN_NAME, quoted

Names = str | Sequence[str] | Mapping[str, str]
KINDS = {"inner": "JOIN", "left": "LEFT JOIN"}


def person_of(frame: Frame) -> str | None:
    """Return the SQL of who is protected; None if each row is."""
    source, known = rows_of_frame(frame)
    people = known.people(source.relation)
    for item in source.items:
        for seen in item.columns:
            if seen.column.name in people:
                return f"{quoted(item.qualifier)}.{quoted(seen.name)}" if item.qualifier else quoted(seen.name)
    return None


def joined(frame: Frame, other: Frame | str, on: Names | None, how: str) -> Frame:
    """Return rows joined with those of another table or frame."""
    if how not in KINDS:
        raise InvalidInput("Unknown join.", fix='pass how="inner" or how="left"')
    left = settled(frame, "joined")
    taken = [item.qualifier for item in rows_of_frame(left)[0].items]
    right, person, alias = _right(left, other, taken)
    tests = [] if person is None else [f"{_need_person(left)} = {quoted(alias)}.{person}"]
    if person is None and on is None:
        raise InvalidInput("A public table is joined on columns.", fix='name them: on="ward", or on={"ward": "code"}')
    tests += [f"{_left(left, one)} = {quoted(alias)}.{quoted(two)}" for one, two in _pairs(on)]
    text = f"{left.origin or quoted(left.schema.table)} {KINDS[how]} {right} ON {' AND '.join(tests)}"
    return checked(replace(left, origin=text))


def _right(frame: Frame, other: Frame | str, taken: list[str]) -> tuple[str, str | None, str]:
    """Return what is joined, the person's column there, and what it is called."""
    if isinstance(other, Frame):
        alias = unique("t", [*taken, *_tables(frame)])
        inner = settled(other, "joined")
        person = person_of(inner)
        if person is None:
            raise InvalidInput("The other frame has no privacy unit.", fix="open its table with person=…")
        name = person.rpartition(".")[2]
        return f"({_select(inner, '*')}) AS {quoted(alias)}", name, alias
    table = _named(frame, other)
    alias = unique(table, taken)
    text = quoted(table) if alias == table else f"{quoted(table)} AS {quoted(alias)}"
    person = next((schema.unit.column for schema in _schemas(frame) if schema.table == table), None)
    return text, None if person is None else quoted(person), alias


def _named(frame: Frame, name: object) -> str:
    if not isinstance(name, str):
        raise WrongType("This is neither a table nor a frame.", fix='pass a name, such as "patients", or a frame')
    found = next((table for table in _tables(frame) if table.casefold() == name.casefold()), None)
    if found is None:
        raise InvalidInput(f"There is no table {name!r}.", fix=f"use one of: {', '.join(_tables(frame))}")
    return found


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


def _left(frame: Frame, text: str) -> str:
    """Return the left side of a comparison: a column by its full name, or an expression."""
    source, _ = rows_of_frame(frame)
    found = [item for item in source.items for seen in item.columns if seen.name.casefold() == text.casefold()]
    if len(found) == 1 and found[0].qualifier:
        return f"{quoted(found[0].qualifier)}.{quoted(text)}"
    return f"({_piece(frame, text)})"


def _piece(frame: Frame, text: object) -> str:
    """Return a text, if it is one expression and nothing else."""
    if not isinstance(text, str):
        raise WrongType("This is not an expression.", fix='pass SQL, such as "ward"')
    read_piece(text, tuple(seen.name for seen in rows_of_frame(frame)[0].seen))
    return text


def _need_person(frame: Frame) -> str:
    person = person_of(frame)
    if person is None:
        raise InvalidInput(
            "With row=True no column names the person of a row.",
            fix="open each table with the column of its persons: person=…",
        )
    return person


def settled(frame: Frame, what: str) -> Frame:
    """Return a frame whose filters are part of its rows; one that asks something already is refused."""
    if frame.groups or frame.outputs or frame.wanted or frame.sorting or frame.most is not None:
        raise InvalidInput(
            f"Rows must be {what} before they are grouped or aggregated.",
            fix="call group_by, agg and the like after it",
        )
    if not frame.conditions:
        return frame
    return _replaced(frame, _select(frame, "*"))


def _replaced(frame: Frame, select: str) -> Frame:
    """Return a frame of a selection. It keeps its name, if it has one."""
    items = rows_of_frame(frame)[0].items
    alias = items[0].qualifier if len(items) == 1 and items[0].qualifier else unique("t", _tables(frame))
    return checked(replace(frame, origin=f"({select}) AS {quoted(alias)}", conditions=()))


def _select(frame: Frame, what: str, rest: str = "") -> str:
    origin = frame.origin or quoted(frame.schema.table)
    where = " AND ".join(f"({_piece(frame, text)})" for text in frame.conditions)
    text = f"SELECT {what} FROM {origin}"  # noqa: S608 - it is read, not run
    return " ".join(filter(None, [text, f"WHERE {where}" if where else "", rest]))


def selected(frame: Frame, columns: Sequence[str], named: Mapping[str, str]) -> Frame:
    """Return rows with other columns; the person stays."""
    settled(frame, "selected")
    person = person_of(frame)
    return _replaced(frame, _select(frame, ", ".join([*_own(person), *_listed(frame, columns, named)])))


def _own(person: str | None) -> list[str]:
    return [] if person is None else [person]


def _listed(frame: Frame, columns: Sequence[str], named: Mapping[str, str]) -> list[str]:
    own = (person_of(frame) or "").rpartition(".")[2]
    plain = [_piece(frame, text) for text in columns if quoted(text) != own]
    return [*plain, *(f"({_piece(frame, text)}) AS {quoted(name)}" for name, text in named.items())]


def per_person(frame: Frame, asked: Mapping[str, Asked | str], by: Names) -> Frame:
    """Return one row for each person, or for each person and key."""
    settled(frame, "put together")
    person = _need_person(frame)
    window = frame.schema.unit.window
    period = (
        [] if window is None else [(window.period.value, f"DATE_TRUNC('{window.period.value}', {quoted(window.time)})")]
    )
    keys = [*period, *((name, _piece(frame, text)) for name, text in _pairs(by))]
    shown = [person, *(_called(name, text) for name, text in keys)]
    shown += [f"({_piece(frame, asked_sql(each, person))}) AS {quoted(name)}" for name, each in asked.items()]
    groups = ", ".join([person, *(text for _, text in keys)])
    return _replaced(frame, _select(frame, ", ".join(shown), f"GROUP BY {groups}"))


def _called(name: str, text: str) -> str:
    return text if text == name and PLAIN_NAME.fullmatch(name) else f"({text}) AS {quoted(name)}"


def distinct(frame: Frame, columns: Sequence[str], named: Mapping[str, str]) -> Frame:
    """Return each person's different values, once."""
    settled(frame, "put together")
    shown = ", ".join([_need_person(frame), *_listed(frame, columns, named)])
    return _replaced(frame, _select(frame, f"DISTINCT {shown}"))


def united(frame: Frame, other: Frame | str) -> Frame:
    """Return the rows of both."""
    first, second = settled(frame, "put together"), settled(_framed(frame, other), "put together")
    return _replaced(first, f"{_select(first, '*')} UNION ALL {_select(second, '*')}")


def among(frame: Frame, other: Frame | str, word: str) -> Frame:
    """Return the rows of people who are, or are not, in another table or frame."""
    settled(frame, "chosen")
    inner = settled(_framed(frame, other), "chosen")
    test = f"{_need_person(frame)} {word} ({_select(inner, _need_person(inner))})"
    where = " AND ".join([*(f"({_piece(frame, text)})" for text in frame.conditions), test])
    return _replaced(frame, f"SELECT * FROM {frame.origin or quoted(frame.schema.table)} WHERE {where}")  # noqa: S608


def _framed(frame: Frame, other: Frame | str) -> Frame:
    if isinstance(other, Frame):
        return other
    return replace(frame, origin=quoted(_named(frame, other)), conditions=())


def checked(frame: Frame) -> Frame:
    """Return a frame, if its rows can be asked of; places in a text that nobody wrote are left out of refusals."""
    try:
        read_frame(replace(frame, outputs=((None, "COUNT(*)"),)))
    except QueryRefused as error:
        raise InvalidInput(error.plain, fix=error.fix) from None
    return frame
