"""Keys that lead to the person: parents before children, and the columns that are compared. Public; sees no row.

A table may name its person by a key of another private table (`discreet.core.schema.ForeignKey`). Each engine adds the
person's column when tables are opened: by a join of the table's rows with the different pairs of key and person among
*all* rows of the parent that are somebody's. From there on it is a table like others.

**Why the result is owned.** Write O(P) for the keys of the rows that person P has in the parent. The rows of P in the
child are those whose key is in O(P), each once. So they follow from P's parent rows and from the child's source, which
is the same whoever is there; no other person's parent rows are read. By induction over the parents, taking P's rows
away from the tables that name people takes away P's rows in all children, and leaves those of others as they are. That
holds for any data. That the key is unique is needed for something else: that a child's row is of one person alone.
"""

from collections.abc import Sequence

from discreet.algebra.declarations import columns_in_any_case, need_column
from discreet.core import InvalidInput
from discreet.core.schema import KEY_FIX, Column, ForeignKey, Kind, Schema
from discreet.data.reading.table_sources import Declaration


def sort_by_parents(declarations: Sequence[Declaration]) -> tuple[int, ...]:
    """Return the places of tables, each behind the one whose key leads to its person; refuse keys that lead nowhere."""
    places = {declaration.table.casefold(): place for place, declaration in enumerate(declarations)}
    done: dict[int, None] = {}
    waiting = list(range(len(declarations)))
    while waiting:
        ready = [place for place in waiting if _parent_place(declarations[place], places) in (None, *done)]
        if not ready:
            raise InvalidInput(
                "The keys of some tables lead in a circle, and to no person.",
                fix="name the person's column of one of them",
            )
        done |= dict.fromkeys(ready)
        waiting = [place for place in waiting if place not in done]
    return tuple(done)


def _parent_place(declaration: Declaration, places: dict[str, int]) -> int | None:
    """Return the place of a table's parent; None if its own column names people."""
    via = declaration.via
    if via is None:
        return None
    if declaration.unit.window is not None:
        raise InvalidInput(
            f"Rows of {declaration.table!r} lead to a person by a key, and the privacy unit is a person in one period: "
            "a row of one period could hang on one of another.",
            fix="open the tables without a window; or put the person's column into the table",
        )
    if via.parent.casefold() not in places or declaration.table.casefold() == via.parent.casefold():
        raise InvalidInput(
            f"The key of {declaration.table!r} leads to {via.parent!r}, which is no private table.",
            fix="open that table, too, and say whose its rows are",
        )
    return places[via.parent.casefold()]


def children_of(place: int, declarations: Sequence[Declaration]) -> tuple[int, ...]:
    """Return the places of tables whose keys lead to a table."""
    table = declarations[place].table.casefold()
    return tuple(
        child
        for child, declaration in enumerate(declarations)
        if declaration.via is not None and declaration.via.parent.casefold() == table
    )


def key_columns(declaration: Declaration, parent: Schema) -> tuple[Column, ...]:
    """Return the columns of a parent that the key of a table is compared with."""
    known = columns_in_any_case(parent.columns)
    return tuple(need_column(other, known, f"is a key of {parent.table}") for _, other in _need_key(declaration).on)


def key_pairs(declaration: Declaration, own: Sequence[Column], parent: Schema) -> tuple[tuple[Column, Column], ...]:
    """Return the columns of a table and of its parent that are equal, or refuse what cannot be compared."""
    known = columns_in_any_case(own)
    mine = [need_column(name, known, "leads to the person") for name, _ in _need_key(declaration).on]
    pairs = tuple(zip(mine, key_columns(declaration, parent), strict=True))
    for left, right in pairs:
        if left.kind is not right.kind or left.kind is Kind.REAL:
            raise InvalidInput(
                f"{left.name!r} holds {left.kind.value} values, and the key {right.name!r} of {parent.table} holds "
                f"{right.kind.value} values: they cannot be compared.",
                fix="declare kinds of both that are the same: whole numbers, texts or days",
            )
    return pairs


def person_kind(parent: Schema) -> Kind:
    """Return what a table holds in the column of persons that its key leads to."""
    return next(column.kind for column in parent.columns if parent.is_person(column.name))


def _need_key(declaration: Declaration) -> ForeignKey:
    if declaration.via is None:
        raise InvalidInput(f"{declaration.table!r} leads to its person by no key.", fix=KEY_FIX)
    return declaration.via
