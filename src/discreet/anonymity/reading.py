"""Reads microdata from a file or a frame, by way of DuckDB."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.names import quote_name
from discreet.anonymity.engine import ROWS, Held, with_rows
from discreet.anonymity.hierarchies import Hierarchy, need_hierarchies
from discreet.anonymity.microdata import Attribute, Microdata, order_values
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import Kind

#: Types of which a double, or a microsecond, does not hold every value.
WIDE = ("DECIMAL", "HUGEINT", "UHUGEINT", "UBIGINT", "TIMESTAMP_NS")


class Gaps(Enum):
    """What to do with rows that lack a value: refuse the table, or leave those rows out."""

    REFUSE = "refuse"
    LEAVE_OUT = "leave out"


def read_microdata(
    source: object,
    *,
    columns: Sequence[str] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    gaps: Gaps = Gaps.REFUSE,
    gap_texts: Sequence[str] = (),
) -> Microdata:
    """Read rows from a CSV, Parquet or DuckDB file, or from a pandas, Polars or Arrow frame.

    In a CSV file a column is one of numbers or days if all its cells are written so; 007 is a text. Blanks around a
    cell do not count there. Cells that are empty or one of `gap_texts`, such as "?", are missing. A row that lacks a
    value in one of `columns` (all, if left out) is refused or left out, and then counted: `Microdata.left_out`.

    Args:
        source: a CSV, Parquet or DuckDB file, or a pandas, Polars or Arrow frame.
        columns: the columns to read; all if left out.
        hierarchies: hierarchies by column.
        gaps: whether rows with missing values are refused or left out.
        gap_texts: strings that stand for missing values.

    Returns:
        The rows.

    Raises:
        DiscreetError: if the source cannot be read, or values are missing and refused.

    """
    known = need_hierarchies(hierarchies or {})
    if not isinstance(gaps, Gaps):
        raise WrongType(f"gaps is {kind_of(gaps)}, not a Gaps.", fix="pass Gaps.REFUSE or Gaps.LEAVE_OUT")

    def use(engine: Held) -> Microdata:
        names = list(engine.kinds) if columns is None else list(columns)
        engine.need([*names, *known])
        _need_apart(engine, names)
        return _encode_columns(engine, names, known, _need_complete_rows(engine, names, gaps))

    return with_rows(source, use, gaps=gap_texts)


def _need_complete_rows(engine: Held, names: Sequence[str], gaps: Gaps) -> str:
    """Return the condition of rows that lack nothing; refuse the others if that is wanted."""
    whole = " AND ".join(f"NOT {_lacks(name, engine.kinds[name])}" for name in names)
    if gaps is Gaps.LEAVE_OUT:
        return whole
    # S608, here and below: names are quoted.
    lacking = ", ".join(f"bool_or({_lacks(name, engine.kinds[name])})" for name in names)
    (answers,) = engine.ask(f"SELECT {lacking} FROM {ROWS}")  # noqa: S608
    missing = [repr(name) for name, lacks in zip(names, answers, strict=True) if lacks]
    if missing:
        raise InvalidInput(
            f"Values are missing in {', '.join(missing)}.",
            fix="pass gaps=Gaps.LEAVE_OUT to leave such rows out, or leave out the columns",
        )
    return whole


def _need_apart(engine: Held, names: Sequence[str]) -> None:
    """Refuse columns of which two values would become one: a class would look larger than it is."""
    types = {str(name): str(kind) for name, kind, *_ in engine.ask(f"DESCRIBE {ROWS}")}
    for name in names:
        if not types[name].startswith(WIDE):
            continue
        column, kind = quote_name(name), engine.kinds[name]
        ((here, there),) = engine.ask(
            f"SELECT count(DISTINCT {column}), count(DISTINCT {column}::{_plain(kind)}) FROM {ROWS}"  # noqa: S608
        )
        if here != there:
            raise InvalidInput(
                f"Column {name!r} has values that are too close to be distinguished.",
                fix="convert them to strings, or round them",
            )


def _lacks(name: str, kind: Kind) -> str:
    column = quote_name(name)
    return f"({column} IS NULL OR isnan({column}::DOUBLE))" if kind is Kind.REAL else f"({column} IS NULL)"


def _encode_columns(engine: Held, names: Sequence[str], hierarchies: Mapping[str, Hierarchy], where: str) -> Microdata:
    """Return columns as codes. Texts are numbered by the engine, so that they are not made objects row by row."""
    cells = []
    for place, name in enumerate(names):
        column, kind = quote_name(name), engine.kinds[name]
        if kind.numeric or kind.temporal:
            cells.append(f"{column}::{_plain(kind)} AS c{place}")
            continue
        engine.connection.execute(
            f"CREATE TYPE t{place} AS ENUM (SELECT DISTINCT {column}::VARCHAR FROM {ROWS} WHERE {where} ORDER BY 1)"  # noqa: S608
        )
        cells.append(f"enum_code({column}::VARCHAR::t{place})::BIGINT AS c{place}")
    arrays = engine.connection.execute(f"SELECT {', '.join(cells)} FROM {ROWS} WHERE {where}").fetchnumpy()  # noqa: S608
    attributes = []
    for place, name in enumerate(names):
        cell, kind = np.ma.getdata(arrays[f"c{place}"]), engine.kinds[name]
        texts = None if kind.numeric or kind.temporal else _texts(engine, place)
        attributes.append(_attribute(name, cell, texts, hierarchies.get(name)))
    ((rows,),) = engine.ask(f"SELECT count(*) FROM {ROWS}")  # noqa: S608
    table = Microdata.from_attributes(attributes)
    return replace(table, left_out=int(str(rows)) - table.rows)


def _texts(engine: Held, place: int) -> NDArray[Any]:
    ((texts,),) = engine.ask(f"SELECT enum_range(NULL::t{place})")
    return np.array(texts, dtype=object)


def _attribute(name: str, cells: NDArray[Any], texts: NDArray[Any] | None, hierarchy: Hierarchy | None) -> Attribute:
    if texts is not None:
        return order_values(Attribute(name, cells.astype(np.int64), texts, measured=False, hierarchy=hierarchy))
    if cells.dtype.kind == "M" and np.array_equal(cells, cells.astype("datetime64[D]")):
        cells = cells.astype("datetime64[D]")  # days, told without an hour
    return Attribute.of(name, cells, hierarchy)


def _plain(kind: Kind) -> str:
    match kind:
        case Kind.INTEGER:
            return "BIGINT"
        case Kind.REAL:
            return "DOUBLE"
        case _:
            return "TIMESTAMP"
