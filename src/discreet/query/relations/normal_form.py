"""The one form that a relation has, whatever its parts were called and whatever else was selected on the way.

Columns that nobody needs are left out, selections that only rename are left out, filters that follow each other become
one, and columns are called after what they are made of, not after the names that somebody gave them. So the same
question is the same plan, and a column that nobody asks for may get bounds without changing it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from discreet.algebra.expressions import ColumnValue, Expression, call, changed, columns_in
from discreet.algebra.functions import F
from discreet.algebra.relations import (
    Derived,
    First,
    Fold,
    Folded,
    JoinKind,
    MatchJoin,
    Named,
    Pair,
    PerUnit,
    PublicJoin,
    Relation,
    Scan,
    UnionAll,
    UnitJoin,
    columns_of,
)
from discreet.core.schema import Column, Schema
from discreet.query.names import name_of, unique
from discreet.query.relations.schemas import KEEPING, people_in

#: What a folded column is called: a word, and what was folded.
FOLD_WORDS = {
    Fold.ROWS: "count",
    Fold.PRESENT: "count",
    Fold.DISTINCT: "distinct",
    Fold.TOTAL: "sum",
    Fold.MEAN: "avg",
    Fold.LEAST: "min",
    Fold.MOST: "max",
}

Names = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Settled:
    """A relation in its form, and what its columns are called now, by what they were called before."""

    relation: Relation
    names: Names


def renamed(expression: Expression, names: Names) -> Expression:
    """Return an expression over the same columns under other names."""
    return changed(expression, partial(_called, names=names))


def _called(value: ColumnValue, names: Names) -> Expression:
    return replace(value, name=names[value.name])


def both(first: Expression | None, second: Expression | None) -> Expression | None:
    """Return the condition that two conditions are together: one row of ANDs."""
    if first is None or second is None:
        return second if first is None else first
    return call(F.AND, *links(first), *links(second))


def links(condition: Expression) -> tuple[Expression, ...]:
    """Return the conditions that a row of ANDs is made of."""
    if getattr(condition, "function", None) is F.AND:
        return getattr(condition, "arguments", ())
    return (condition,)


def plain_columns(derived: Derived) -> Names | None:
    """Return the columns below those of a selection, if it computes nothing."""
    found: dict[str, str] = {}
    for one in derived.columns:
        if not isinstance(one.expression, ColumnValue):
            return None
        found[one.column.name] = one.expression.name
    return found


def passed(column: Column, name: str) -> Named:
    """Return a column under another name, as it came: whoever names it clamps it."""
    return Named(replace(column, name=name), ColumnValue(column.name, column.kind))


def used(*expressions: Expression | None) -> frozenset[str]:
    """Return the columns that expressions name."""
    return frozenset(name for each in expressions if each is not None for name in columns_in(each))


@dataclass(frozen=True, slots=True)
class Forms:
    """How relations over some tables are settled."""

    schemas: Mapping[str, Schema]

    def settle(self, relation: Relation, needed: frozenset[str]) -> Settled:
        """Return the form of a relation of which some columns are needed."""
        match relation:
            case Scan(table=table, columns=columns):
                kept = tuple(column for column in columns if column.name in needed)
                return Settled(Scan(table, kept), {column.name: column.name for column in kept})
            case Derived():
                return self._derived(relation, needed)
            case PerUnit():
                return self._per_unit(relation, needed)
            case First(source=source, rows=rows, by=by):
                inner = self.settle(source, needed | used(by))
                return Settled(First(inner.relation, rows, renamed(by, inner.names)), inner.names)
            case UnionAll():
                return self._union(relation, needed)
            case PublicJoin() | UnitJoin() | MatchJoin():
                return self._join(relation, needed)

    def _derived(self, derived: Derived, needed: frozenset[str]) -> Settled:
        kept = tuple(one for one in derived.columns if one.column.name in needed)
        columns, where, source = self._merged(replace(derived, columns=kept))
        made = Derived(source, columns, where)
        below = plain_columns(made)
        if below is not None:
            return Settled(source if where is None else _kept(source, below, where), below)
        named = _named(columns)
        names = {one.column.name: new.column.name for one, new in zip(columns, named, strict=True)}
        return Settled(Derived(source, named, where), names)

    def _merged(self, derived: Derived) -> tuple[tuple[Named, ...], Expression | None, Relation]:
        """Return what a selection becomes above the form of its source; one with a filter that renames is taken in."""
        inner = self.settle(derived.source, used(derived.where, *(one.expression for one in derived.columns)))
        columns, where, source = _over(derived.columns, inner.names), derived.where, inner.relation
        where = None if where is None else renamed(where, inner.names)
        below = plain_columns(source) if isinstance(source, Derived) else None
        if isinstance(source, Derived) and below is not None:
            where = both(source.where, None if where is None else renamed(where, below))
            columns, source = _over(columns, below), source.source
        return columns, where, source

    def _per_unit(self, relation: PerUnit, needed: frozenset[str]) -> Settled:
        values = tuple(one for one in relation.values if one.column.name in needed)
        wanted = used(*(key.expression for key in relation.keys), *(one.value for one in values))
        inner = self.settle(relation.source, wanted)
        keys = _named(_over(relation.keys, inner.names))
        people = people_in(inner.relation, self.schemas)
        taken = [key.column.name for key in keys]
        folded: list[Folded] = []
        for one in values:
            value = None if one.value is None else renamed(one.value, inner.names)
            name = unique(_fold_name(one.fold, value, people), taken)
            taken.append(name)
            folded.append(replace(one, column=replace(one.column, name=name), value=value))
        before = [*(key.column.name for key in relation.keys), *(one.column.name for one in values)]
        names = dict(zip(before, taken, strict=True))
        return Settled(PerUnit(inner.relation, keys, tuple(folded)), names)

    def _union(self, union: UnionAll, needed: frozenset[str]) -> Settled:
        kept = [place for place, column in enumerate(columns_of(union)) if column.name in needed]
        parts: list[Relation] = []
        names: list[str] = []
        for part in union.parts:
            outer = part if isinstance(part, Derived) else _passing(part)
            chosen = replace(outer, columns=tuple(outer.columns[place] for place in kept))
            columns, where, source = self._merged(chosen)
            names = names or [one.column.name for one in _named(columns)]
            columns = tuple(
                replace(one, column=replace(one.column, name=name)) for one, name in zip(columns, names, strict=True)
            )
            made = Derived(source, columns, where)
            parts.append(source if _says_nothing(made) else made)
        before = [columns_of(union)[place].name for place in kept]
        return Settled(UnionAll(tuple(parts)), dict(zip(before, names, strict=True)))

    def _join(self, join: PublicJoin | UnitJoin | MatchJoin, needed: frozenset[str]) -> Settled:
        kind = JoinKind.INNER if isinstance(join, MatchJoin) else join.kind
        alone = kind in (JoinKind.SEMI, JoinKind.ANTI)
        on = used(*(side for pair in join.on for side in pair))
        left = self.settle(join.left, _of(join.left, needed | used(*(one for one, _ in join.on))))
        wanted = used(*(other for _, other in join.on)) if alone else needed | on
        if isinstance(join, PublicJoin):
            kept = tuple(column for column in join.right.columns if column.name in wanted)
            public = replace(join.right, columns=kept)
            left = left if alone else _relabelled(left, apart_from=columns_of(public))
            own = {column.name: column.name for column in kept}
            pairs = _pairs(join.on, left.names, own)
            made = Settled(replace(join, left=left.relation, right=public, on=pairs), {**own, **left.names})
            return _filtered_last(made, needed) if alone else made
        right = self.settle(join.right, _of(join.right, wanted))
        right = right if alone else _relabelled(right, apart_from=columns_of(left.relation))
        pairs = _pairs(join.on, left.names, right.names)
        both_sides = replace(join, left=left.relation, right=right.relation, on=pairs)
        if alone:
            return _filtered_last(Settled(both_sides, left.names), needed)
        return Settled(both_sides, {**left.names, **right.names})


def _filtered_last(settled: Settled, needed: frozenset[str]) -> Settled:
    """Return a choice of people, or of public values, before a filter below it: they may change places."""
    join = settled.relation
    if not isinstance(join, PublicJoin | UnitJoin) or not isinstance(join.left, Derived):
        return settled
    below = plain_columns(join.left)
    if below is None:
        return settled
    names = {before: after for before, after in settled.names.items() if before in needed}
    columns = tuple(one for one in join.left.columns if one.column.name in names.values())
    pairs = tuple((renamed(one, below), other) for one, other in join.on)
    chosen = replace(join, left=join.left.source, on=pairs)
    return Settled(replace(join.left, source=chosen, columns=columns), names)


def _kept(source: Relation, names: Names, where: Expression) -> Derived:
    """Return rows that fulfil a condition, with some columns, in their order and under their names."""
    columns = (column for column in columns_of(source) if column.name in names.values())
    return Derived(source, tuple(passed(column, column.name) for column in columns), where)


def _of(relation: Relation, names: frozenset[str]) -> frozenset[str]:
    return names & {column.name for column in columns_of(relation)}


def _over(columns: Iterable[Named], names: Names) -> tuple[Named, ...]:
    return tuple(Named(one.column, renamed(one.expression, names)) for one in columns)


def _pairs(pairs: tuple[Pair, ...], left: Names, right: Names) -> tuple[Pair, ...]:
    return tuple((renamed(one, left), renamed(other, right)) for one, other in pairs)


def _named(columns: Iterable[Named]) -> tuple[Named, ...]:
    """Return columns called after what they are made of."""
    taken: list[str] = []
    found: list[Named] = []
    for one in columns:
        taken.append(unique(name_of(one.expression), taken))
        found.append(replace(one, column=replace(one.column, name=taken[-1])))
    return tuple(found)


def _fold_name(fold: Fold, value: Expression | None, people: frozenset[str]) -> str:
    if isinstance(value, ColumnValue) and fold in KEEPING and value.name in people:
        return value.name
    column = "value" if value is None else name_of(value)
    return FOLD_WORDS[fold] if column == "value" else f"{FOLD_WORDS[fold]}_{column}"


def _passing(relation: Relation) -> Derived:
    return Derived(relation, tuple(passed(column, column.name) for column in columns_of(relation)))


def _says_nothing(derived: Derived) -> bool:
    """Whether a selection is its source, column by column."""
    same = tuple(one.column for one in derived.columns) == columns_of(derived.source)
    bare = all(isinstance(one.expression, ColumnValue) and one.expression.bounds is None for one in derived.columns)
    below = plain_columns(derived) or {}
    return derived.where is None and same and bare and all(name == one for name, one in below.items())


def _relabelled(settled: Settled, *, apart_from: Iterable[Column]) -> Settled:
    """Return a relation none of whose columns is called like one of some others."""
    taken = [column.name for column in apart_from]
    own = [column.name for column in columns_of(settled.relation)]
    folded = {name.casefold() for name in taken}
    change: dict[str, str] = {}
    for name in own:
        change[name] = unique(name, [*taken, *own, *change.values()]) if name.casefold() in folded else name
    if all(old == new for old, new in change.items()):
        return settled
    names = {before: change[after] for before, after in settled.names.items()}
    return Settled(_with_names(settled.relation, change), names)


def _with_names(relation: Relation, change: Names) -> Relation:
    match relation:
        case Derived(columns=columns):
            return replace(relation, columns=tuple(_with_name(one, change) for one in columns))
        case PerUnit(keys=keys, values=values):
            folded = tuple(replace(one, column=_new(one.column, change)) for one in values)
            return replace(relation, keys=tuple(_with_name(key, change) for key in keys), values=folded)
        case _:
            return Derived(relation, tuple(passed(column, change[column.name]) for column in columns_of(relation)))


def _with_name(named: Named, change: Names) -> Named:
    return replace(named, column=_new(named.column, change))


def _new(column: Column, change: Names) -> Column:
    return replace(column, name=change[column.name])
