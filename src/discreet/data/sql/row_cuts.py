"""The cuts of `discreet.algebra.row_caps` as SQL, for all engines.

Units above a cap are found by counting, and only their rows are numbered: all others pass as they are. That names a
relation several times. On an engine that writes a subquery out wherever it is named, the statement would grow with
every join by a factor of six; so there all rows are numbered, and a relation is named once, or twice for a join.
"""

# ruff: noqa: S608 - names are our own, and constants are written by the dialect
from collections.abc import Sequence
from dataclasses import replace
from math import isqrt
from typing import TYPE_CHECKING

from discreet.algebra.expressions import Literal
from discreet.algebra.row_caps import CAP_SALT, FanOut
from discreet.algebra.row_hashes import MASK, OTHERS, UNITS
from discreet.core.schema import Kind
from discreet.data.sql.dialect import Typed

if TYPE_CHECKING:
    from discreet.data.sql.relations import RelationSql, Writing


def capped(writing: "Writing", source: "RelationSql", most: int, *, once: bool) -> "RelationSql":
    """Return the rows of a relation of which each unit keeps at most so many; `once`: the relation is computed once."""
    if not writing.dialect.keeps_subqueries:
        held, most_text = writing.alias(), _whole(writing, most)
        thinned = _numbered(writing, source, held, None, (f"n <= {most_text}", most_text))
        return with_tables((writing.dialect.defined(held, source.text, once=once),), thinned)
    held, crowd = writing.alias(), writing.alias()
    units = ", ".join(one.text for one in source.units)
    counted = f"SELECT {units}, count(*) AS n FROM {held} GROUP BY {units} HAVING count(*) > {most}"
    tables = (
        writing.dialect.defined(held, source.text, once=once),
        writing.dialect.defined(crowd, counted, once=True),
    )
    return with_tables(tables, _thinned(writing, source, held, (crowd, "n", _whole(writing, most))))


def cut_pair(
    writing: "Writing", left: "RelationSql", right: "RelationSql", *, once: tuple[bool, bool]
) -> tuple[Sequence[str], "RelationSql", "RelationSql"]:
    """Return the two sides of a join of units with themselves, cut, and the subqueries that they name."""
    if not writing.dialect.keeps_subqueries:
        return _cut_pair_by_numbers(writing, left, right, once=once)
    cap, dialect = writing.facts.cap, writing.dialect
    sides, names = (left, right), (writing.alias(), writing.alias())
    crowd, one, other = writing.alias(), writing.alias(), writing.alias()
    counts = []
    for side, name, alias in zip(sides, names, (one, other), strict=True):
        units = ", ".join(each.text for each in side.units)
        counts.append(f"(SELECT {units}, count(*) AS n FROM {name} GROUP BY {units}) AS {alias}")
    own = ", ".join(f"{one}.{each.text} AS {each.text}" for each in left.units)
    same = " AND ".join(same_unit(_under(left.units, one), _under(right.units, other)))
    crowded = (
        f"SELECT {own}, {one}.n AS n, {other}.n AS m FROM {counts[0]} JOIN {counts[1]} ON {same}"
        f" WHERE {one}.n * {other}.n > {_whole(writing, cap)}"
    )
    tables = [
        *(dialect.defined(name, side.text, once=kept) for name, side, kept in zip(names, sides, once, strict=True)),
        dialect.defined(crowd, crowded, once=True),
    ]
    keep = [
        f"least({mine}, greatest({_whole(writing, isqrt(cap))}, {dialect.divided(_whole(writing, cap), theirs)}))"
        for mine, theirs in (("n", "m"), ("m", "n"))
    ]
    return (
        tables,
        _thinned(writing, left, names[0], (crowd, "n", keep[0])),
        _thinned(writing, right, names[1], (crowd, "m", keep[1])),
    )


def _cut_pair_by_numbers(
    writing: "Writing", left: "RelationSql", right: "RelationSql", *, once: tuple[bool, bool]
) -> tuple[Sequence[str], "RelationSql", "RelationSql"]:
    """Return the same as `cut_pair`, with each side named twice: for its rows, and for how many each unit has."""
    cap, dialect, sides, names = writing.facts.cap, writing.dialect, (left, right), (writing.alias(), writing.alias())
    tables = [dialect.defined(name, side.text, once=kept) for name, side, kept in zip(names, sides, once, strict=True)]
    most = _whole(writing, cap)
    keep = f"least(n, greatest({_whole(writing, isqrt(cap))}, {dialect.divided(most, 'm')}))"
    thinned = [
        _numbered(writing, mine, name, (others, other), (f"m IS NULL OR n * m <= {most} OR n <= {keep}", keep))
        for mine, name, others, other in ((left, names[0], right, names[1]), (right, names[1], left, names[0]))
    ]
    return tables, thinned[0], thinned[1]


def _numbered(
    writing: "Writing",
    source: "RelationSql",
    held: str,
    partner: tuple["RelationSql", str] | None,
    rule: tuple[str, str],
) -> "RelationSql":
    """Return what stays of a relation that is held under a name, with all of its rows numbered.

    `partner` is the other side of a join; `rule` says when all rows of a unit stay, and else how many, in terms of the
    unit's number of rows n, and m on the other side.
    """
    passes, keep = rule
    rows, other, numbered = writing.alias(), writing.alias(), writing.alias()
    names = list(dict.fromkeys(one.text for one in (*source.units, *source.order, *source.columns.values())))
    units = _under(source.units, rows)
    number = writing.numbered(units, _under(source.order or source.units, rows))
    total = f"count(*) OVER (PARTITION BY {', '.join(one.text for one in units)})"
    items = [*(f"{rows}.{name} AS {name}" for name in names), f"{number} - 1 AS p", f"{total} AS n"]
    tail = f"FROM {held} AS {rows}"
    if partner is not None:
        theirs = ", ".join(one.text for one in partner[0].units)
        same = " AND ".join(same_unit(units, _under(partner[0].units, other)))
        items.append(f"{other}.m AS m")
        tail += f" LEFT JOIN (SELECT {theirs}, count(*) AS m FROM {partner[1]} GROUP BY {theirs}) AS {other} ON {same}"
    stays = f"(p * {keep} + n - {_start(writing, source)} % n) % n < {keep}"
    text = f"SELECT {', '.join(names)} FROM (SELECT {', '.join(items)} {tail}) AS {numbered} WHERE {passes} OR {stays}"
    return replace(source, text=text)


def _start(writing: "Writing", source: "RelationSql") -> str:
    """Return where the choice of a unit's n rows begins, before it is taken modulo n."""
    return writing.dialect.mixed(f"({CAP_SALT} + {writing.name(source.units)} * {UNITS} + (n & {MASK}) * {OTHERS})")


def with_tables(tables: Sequence[str], source: "RelationSql") -> "RelationSql":
    """Return a SELECT behind the subqueries that it names."""
    return replace(source, text=f"WITH {', '.join(tables)} {source.text}") if tables else source


def _thinned(writing: "Writing", source: "RelationSql", held: str, crowd: tuple[str, str, str]) -> "RelationSql":
    """Return what stays of a relation that is held under a name.

    `crowd` is the table of units above their caps, and how many rows each has and may keep, in terms of its columns.
    """
    table, total, keep = crowd
    rows, over, numbered = writing.alias(), writing.alias(), writing.alias()
    names = list(dict.fromkeys(one.text for one in (*source.units, *source.order, *source.columns.values())))
    listed = ", ".join(f"{rows}.{name} AS {name}" for name in names)
    same = " AND ".join(same_unit(_under(source.units, rows), _under(source.units, over)))
    number = writing.numbered(_under(source.units, rows), _under(source.order or source.units, rows))
    facts = f"SELECT {', '.join(one.text for one in source.units)}, {total} AS n, {keep} AS k FROM {table}"
    inner = (
        f"SELECT {listed}, {number} - 1 AS p, {over}.n AS n, {over}.k AS k"
        f" FROM {held} AS {rows} JOIN ({facts}) AS {over} ON {same}"
    )
    stays = f"(p * k + n - {_start(writing, source)} % n) % n < k"
    return replace(
        source,
        text=f"SELECT {listed} FROM {held} AS {rows} WHERE NOT EXISTS (SELECT 1 FROM {table} AS {over} WHERE {same})"
        f" UNION ALL SELECT {', '.join(names)} FROM ({inner}) AS {numbered} WHERE n <= k OR {stays}",
    )


def first_of_each(writing: "Writing", source: "RelationSql", values: Sequence[Typed], most: int) -> "RelationSql":
    """Return the first rows of a public table of those that agree in some values of it."""
    apart = f"PARTITION BY {', '.join(one.text for one in values)} " if values else ""
    place = Typed(f"ROW_NUMBER() OVER ({apart}{writing.sorted_by(source.order)})", Kind.INTEGER)
    numbered = writing.select((), (place, *source.order), source.columns, f"FROM {source.text}").under(writing.alias())
    tail = f"FROM {numbered.text} WHERE {numbered.order[0].text} <= {most}"
    return writing.select((), numbered.order[1:], numbered.columns, tail)


def fan_out_sql(writing: "Writing", fan_out: FanOut) -> str:
    """Return the most rows of a public table that agree in what is joined on, as a SELECT of one number."""
    source = writing.below(fan_out.table)
    values = [agreeing(writing, fan_out, place, source) for place in range(len(fan_out.values))]
    where = f" WHERE {' AND '.join(f'{one.text} IS NOT NULL' for one in values)}" if values else ""
    rows = writing.select((), values, {}, f"FROM {source.text}{where}").under(writing.alias())
    by = f" GROUP BY {', '.join(one.text for one in rows.order)}" if values else ""
    return _most(writing, f"SELECT count(*) AS n FROM {rows.text}{by}")


def agreeing(writing: "Writing", fan_out: FanOut, place: int, source: "RelationSql") -> Typed:
    """Return a value of a public row, such that rows that are equal to one other value agree in it."""
    value = writing.valued(fan_out.values[place], source)
    if value.kind is Kind.INTEGER and fan_out.compared[place] is Kind.REAL:
        return Typed(writing.dialect.real(value.text), Kind.REAL)
    return value


def _most(writing: "Writing", counted: str) -> str:
    return f"SELECT coalesce(max(n), 0) AS n FROM ({counted}) AS {writing.alias()}"


def same_unit(left: Sequence[Typed], right: Sequence[Typed]) -> list[str]:
    """Return the tests that two rows are one unit's. Nobody's person is NULL, but a window may be."""
    tests = [f"{left[0].text} = {right[0].text}"]
    for one, other in zip(left[1:], right[1:], strict=True):
        tests.append(f"{one.text} IS NOT DISTINCT FROM {other.text}")
    return tests


def _under(pieces: Sequence[Typed], alias: str) -> list[Typed]:
    return [Typed(f"{alias}.{one.text}", one.kind) for one in pieces]


def _whole(writing: "Writing", number: int) -> str:
    return writing.dialect.value(Literal(number, Kind.INTEGER), {})
