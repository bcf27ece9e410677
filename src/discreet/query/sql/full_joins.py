"""FULL JOIN of people's rows: what a LEFT JOIN makes, and behind it the rows of the right that have no partner.

Both parts are made of one person's rows each, and so is the union of them: whoever is taken away takes away the rows of
both parts that are that person's, and no others (`discreet.algebra.relations`).
"""

from dataclasses import replace

from discreet.algebra.expressions import ColumnValue, Expression
from discreet.algebra.relations import UnitJoin, columns_of
from discreet.core.schema import Column
from discreet.query.sql.row_unions import build_nothing, select_columns, unite_rows
from discreet.query.sql.scope import Item, Known, RowSource, SeenColumn


def join_all_rows(
    left: RowSource,
    right: RowSource,
    parts: tuple[UnitJoin, UnitJoin],
    merged: dict[str, tuple[str, str]],
    known: Known,
) -> RowSource:
    """Return the rows of both sides: those of a LEFT JOIN, and those of the right that have no partner, in `parts`.

    `merged` are columns that USING names, by their names: those on the left and on the right. Their values are those of
    the side that is there.
    """
    kept, rest = parts
    mine, theirs = columns_of(left.relation), columns_of(right.relation)
    shared = {name: (_find(mine, names[0]), _find(theirs, names[1])) for name, names in merged.items()}
    matched = [(column.name, _bare(column)) for column in (*mine, *theirs)]
    matched += [(name, _bare(first)) for name, (first, _) in shared.items()]
    alone: list[tuple[str, Expression]] = [(column.name, build_nothing(column.kind)) for column in mine]
    alone += [(column.name, _bare(column)) for column in theirs]
    alone += [(name, _bare(second)) for name, (_, second) in shared.items()]
    united = unite_rows([select_columns(kept, matched, None, known), select_columns(rest, alone, None, known)], known)
    made = dict(zip((name for name, _ in matched), (seen.column for seen in united.seen), strict=True))
    hidden = {name for names in merged.values() for name in names}

    def show(seen: SeenColumn) -> SeenColumn:
        return replace(seen, column=made[seen.column.name], merged=seen.merged or seen.column.name in hidden)

    items = [Item(item.qualifier, tuple(map(show, item.columns))) for item in (*left.items, *right.items)]
    first = [Item("", tuple(SeenColumn(name, made[name]) for name in shared))] if shared else []
    return RowSource(united.relation, (*first, *items))


def _bare(column: Column) -> ColumnValue:
    """Return a column as it came: whoever names the new one clamps it."""
    return ColumnValue(column.name, column.kind, column.bounds)


def _find(columns: tuple[Column, ...], name: str) -> Column:
    return next(column for column in columns if column.name == name)
