"""What rows are made of, in words: what is joined with what, and what there is one row for each person of."""

from dataclasses import dataclass

from discreet.algebra.expressions import Literal
from discreet.algebra.relations import (
    Derived,
    First,
    JoinKind,
    MatchJoin,
    Pair,
    PerUnit,
    PublicJoin,
    PublicScan,
    Relation,
    Scan,
    UnionAll,
    UnitJoin,
)
from discreet.query.planning.measurements import words_of

JOINED = {
    JoinKind.INNER: "joined with",
    JoinKind.LEFT: "joined, where there is a match, with",
    JoinKind.SEMI: "those that are also in",
    JoinKind.ANTI: "those that are not in",
}


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of the tree, and what hangs on it."""

    text: str
    below: tuple["Branch", ...] = ()


def rows_branch(relation: Relation) -> Branch:
    """Return the rows that a question is about, in words."""
    return Branch("rows", (_branch(relation),))


def _branch(relation: Relation | PublicScan) -> Branch:
    match relation:
        case Scan(table=table):
            return Branch(f"{table}")
        case PublicScan(table=table):
            return Branch(f"{table}, which is public")
        case Derived(source=source, where=where):
            kept = "columns computed from" if where is None else f"where {words_of(where)}, of"
            return Branch(kept, (_branch(source),))
        case PerUnit(source=source, keys=keys):
            each = "".join(f" and {words_of(key.expression)}" for key in keys)
            return Branch(f"one for each person{each}, from", (_branch(source),))
        case First(source=source, rows=rows):
            return Branch(f"the first {rows:,} of each person, from", (_branch(source),))
        case UnionAll(parts=parts):
            return Branch("all of", tuple(_branch(part) for part in parts))
        case _:
            return _join(relation)


def _join(join: PublicJoin | UnitJoin | MatchJoin) -> Branch:
    sides = (_branch(join.left), _branch(join.right))
    match join:
        case PublicJoin(kind=kind):
            return Branch(f"{JOINED[kind]} a public table, {_equal(join.on)}", sides)
        case UnitJoin(kind=kind, on=on):
            besides = f", and {_equal(on)}" if on else ""
            return Branch(f"{JOINED[kind]} the same person's rows{besides}", sides)
        case MatchJoin(rows=rows, matches=matches, moved=moved):
            limits = f"at most {rows:,} rows of a person on each side, with at most {matches:,} partners each"
            return Branch(
                f"people joined with each other, {_equal(join.on)}: {limits}; one moves {moved:,} rows", sides
            )


def _equal(pairs: tuple[Pair, ...]) -> str:
    return "where " + " and ".join(map(_pair, pairs))


def _pair(pair: Pair) -> str:
    """Return what is equal; a condition on one side alone is equal to TRUE."""
    alone = [words_of(side) for side in pair if not (isinstance(side, Literal) and side.value is True)]
    return " = ".join(alone)
