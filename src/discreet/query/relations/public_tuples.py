"""Public tuples: which combinations of group values a row can have, by public facts alone.

The cells of a question with public groups are the tuples that can have rows: those that stand in public tables, after
joins and the part of WHERE that is about their columns; a key that is a function of others adds none.

**Guarantee.** Tuples are a function of public tables, declarations and the question, never of private rows. Without
them the cells are all combinations of the keys' values; with them, some of those. The perturbed and shown vector is
then a part of the earlier one, so that no norm of its sensitivity grows. For every dataset the cells that are left out
are zero, as no row has their values:

* a `Factor` lists what rows have in some columns. A join with a public table gives its rows (and NULLs, if it is LEFT);
  a key that is a column gives its public values, as rows with others are left out; a column with bounds has what lies
  between them, or NULL. Every row has, in the columns of each factor, one of its tuples;
* a condition takes out tuples for which it is not true (`discreet.algebra.evaluation`); rows that have them are not
  asked about. A condition that cannot be evaluated takes out none;
* rows have combinations of what factors list, and keys are evaluated on these.

If public rows changed since they were read, or an engine disagreed on a value, rows would be left out, and no more.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from math import prod

from discreet.algebra import NotEvaluable, evaluate
from discreet.algebra.aggregates import Key
from discreet.algebra.expressions import (
    ColumnValue,
    Expression,
    Literal,
    children,
    columns_in,
)
from discreet.algebra.relations import (
    Derived,
    First,
    JoinKind,
    PublicJoin,
    PublicScan,
    Relation,
    UnitJoin,
)
from discreet.algebra.row_hashes import group_order
from discreet.core.schema import Kind, Schema, Value
from discreet.query.relations.normal_form import plain_columns, rename_columns, split_conditions
from discreet.query.relations.public_values import MOST_VALUES, list_values, put_names

Tuple = tuple[Value, ...]
#: Combinations of more rows than this are not looked at one by one: conditions on them take out nothing.
MOST_COMBINED = 200_000
#: An engine computes all combinations of the keys' values up to so many, even if few of them can have rows.
MOST_DENSE = 100_000


@dataclass(frozen=True, slots=True)
class Factor:
    """The values of every row in some columns: one of these tuples."""

    names: tuple[str, ...]
    rows: tuple[Tuple, ...]

    def filter(self, expression: Expression) -> "Factor":
        """Return the tuples for which a condition is true; all of them, if it cannot be evaluated."""
        try:
            kept = tuple(row for row in self.rows if evaluate(expression, self.named(row)) is True)
        except NotEvaluable:
            return self
        return Factor(self.names, kept)

    def named(self, row: Tuple) -> dict[str, Value]:
        """Return a tuple by names."""
        return dict(zip(self.names, row, strict=True))

    def project(self, names: Iterable[str]) -> "Factor":
        """Return some of the columns."""
        kept = tuple(name for name in self.names if name in set(names))
        places = [self.names.index(name) for name in kept]
        return Factor(kept, tuple(dict.fromkeys(tuple(row[place] for place in places) for row in self.rows)))

    def rename(self, names: Mapping[str, str]) -> "Factor":
        """Return the factor under other names."""
        return Factor(tuple(names[name] for name in self.names), self.rows)


@dataclass(frozen=True, slots=True)
class Matching:
    """A join with a public table: left values must equal right ones; or else, if `outer`, all of the right is NULL."""

    left: tuple[Expression, ...]
    right: tuple[Expression, ...]
    names: frozenset[str]
    outer: bool

    def columns(self) -> frozenset[str]:
        """Return the columns on the left."""
        return frozenset(name for expression in self.left for name in columns_in(expression))


@dataclass(frozen=True, slots=True)
class PossibleRows:
    """The public facts about the rows of a relation: factors, and joins on columns of which nothing is known yet."""

    factors: tuple[Factor, ...] = ()
    pending: tuple[Matching, ...] = ()

    def find(self, names: frozenset[str]) -> "list[Factor] | None":
        """Return the factors that some columns are in; None if one is in none."""
        found = [factor for factor in self.factors if not names.isdisjoint(factor.names)]
        return found if names <= {name for factor in found for name in factor.names} else None

    def place(self, found: list[Factor]) -> int:
        """Return the index of a factor; −1 for none."""
        return next((at for at, factor in enumerate(self.factors) if found and factor is found[0]), -1)

    def misses(self, name: str) -> bool:
        """Whether a column is in no factor."""
        return all(name not in factor.names for factor in self.factors)

    def add(self, name: str, values: Iterable[Value]) -> "PossibleRows":
        """Return the rows with one column more of which the values are known."""
        return replace(self, factors=(*self.factors, Factor((name,), tuple((value,) for value in values))))

    def put(self, old: list[Factor], new: Factor) -> "PossibleRows":
        """Return the rows with a factor in the place of others."""
        kept = tuple(factor for factor in self.factors if not any(factor is one for one in old))
        return replace(self, factors=(*kept, new))

    def combine(self, names: frozenset[str]) -> "tuple[PossibleRows, Factor] | None":
        """Return the rows with one factor for some columns; None if that is unknown, or too large."""
        found = self.find(names)
        if found == []:
            return self, Factor((), ((),))
        if found is None or prod(len(factor.rows) for factor in found) > MOST_COMBINED:
            return None
        if len(found) == 1:
            return self, found[0]
        joined = Factor(
            tuple(name for factor in found for name in factor.names),
            tuple(tuple(value for row in rows for value in row) for rows in product(*(one.rows for one in found))),
        )
        return self.put(found, joined), joined

    def filter(self, condition: Expression) -> "PossibleRows":
        """Return the rows for which a condition is true, as far as it can be evaluated."""
        names = frozenset(columns_in(condition))
        combined = self.combine(names) if names else None
        if combined is None:
            return self
        rows, factor = combined
        kept = factor.filter(condition)
        return self if kept is factor else rows.put([factor], kept)

    def match(self, matching: Matching) -> "PossibleRows | None":
        """Return the rows after a join; None if too little is known of its left side."""
        right = next((one for one in self.factors if matching.names <= set(one.names)), None)
        combined = self.combine(matching.columns()) if matching.columns() else (self, Factor((), ((),)))
        if right is None or combined is None or not matching.names.isdisjoint(combined[1].names):
            return None
        rows, left = combined
        try:
            joined = _join_factors(left, right, matching)
        except NotEvaluable:
            return None
        return None if joined is None else rows.put([left, right], joined)


def _join_factors(left: Factor, right: Factor, matching: Matching) -> Factor | None:
    """Return the tuples of two factors that a join puts side by side; None if there are too many."""
    partners: dict[Tuple, list[Tuple]] = {}
    missing: list[Tuple] = []
    for row in right.rows:
        named = right.named(row)
        if matching.outer and all(named[name] is None for name in matching.names):
            missing.append(row)
        values = tuple(evaluate(expression, named) for expression in matching.right)
        if None not in values:
            partners.setdefault(values, []).append(row)
    joined: list[Tuple] = []
    for row in left.rows:
        values = tuple(evaluate(expression, left.named(row)) for expression in matching.left)
        joined += [(*row, *other) for other in partners.get(values, missing if matching.outer else [])]
        if len(joined) > MOST_COMBINED:
            return None
    return Factor((*left.names, *right.names), tuple(joined))


def possible_rows(relation: Relation | None, publics: Mapping[str, Schema]) -> PossibleRows:
    """Return the public facts about the rows of a relation."""
    match relation:
        case First(source=source):
            return possible_rows(source, publics)
        case Derived():
            return _derive(relation, publics)
        case (
            UnitJoin(left=left, kind=JoinKind.SEMI | JoinKind.ANTI)
            | PublicJoin(left=left, kind=JoinKind.SEMI | JoinKind.ANTI)
        ):
            return possible_rows(left, publics)
        case UnitJoin(left=left, right=right, kind=kind):
            one, other = possible_rows(left, publics), possible_rows(right, publics)
            if kind is JoinKind.LEFT:
                return PossibleRows((*one.factors, *map(_with_nulls, other.factors)), one.pending)
            return PossibleRows((*one.factors, *other.factors), (*one.pending, *other.pending))
        case PublicJoin():
            return _join_public(relation, publics)
        case _:
            return PossibleRows()


def _with_nulls(factor: Factor) -> Factor:
    return Factor(factor.names, tuple(dict.fromkeys((*factor.rows, (None,) * len(factor.names)))))


def _derive(derived: Derived, publics: Mapping[str, Schema]) -> PossibleRows:
    """Return the factors after a condition and a selection. Computed columns are unknown."""
    rows = possible_rows(derived.source, publics)
    for condition in () if derived.where is None else split_conditions(derived.where):
        rows = rows.filter(condition)
    plain = replace(
        derived, columns=tuple(named for named in derived.columns if isinstance(named.expression, ColumnValue))
    )
    above: dict[str, str] = {}
    for name, below in (plain_columns(plain) or {}).items():
        above.setdefault(below, name)
    factors = [factor.project(above).rename(above) for factor in rows.factors]
    pending = (_rename_matching(matching, above) for matching in rows.pending)
    return PossibleRows(tuple(factors), tuple(matching for matching in pending if matching is not None))


def _rename_matching(matching: Matching, names: Mapping[str, str]) -> Matching | None:
    if not (matching.columns() | matching.names) <= set(names):
        return None
    return Matching(
        tuple(rename_columns(expression, names) for expression in matching.left),
        tuple(rename_columns(expression, names) for expression in matching.right),
        frozenset(names[name] for name in matching.names),
        matching.outer,
    )


def _join_public(join: PublicJoin, publics: Mapping[str, Schema]) -> PossibleRows:
    rows, own = possible_rows(join.left, publics), _list_rows(join.right, publics)
    if own is None:
        return rows
    outer = join.kind is JoinKind.LEFT
    own = _with_nulls(own) if outer else own
    rows = replace(rows, factors=(*rows.factors, own))
    matching = Matching(
        tuple(left for left, _ in join.on), tuple(right for _, right in join.on), frozenset(own.names), outer
    )
    return rows.match(matching) or replace(rows, pending=(*rows.pending, matching))


def _list_rows(scan: PublicScan, publics: Mapping[str, Schema]) -> Factor | None:
    """Return the rows of a public table; None if they were not read."""
    schema = next((one for name, one in publics.items() if name.casefold() == scan.table.casefold()), None)
    names = tuple(column.name for column in scan.columns)
    if schema is None or schema.rows is None or not names or not set(names) <= set(schema.rows.names):
        return None
    return Factor(schema.rows.names, schema.rows.rows).project(names)


# The tuples of a question.


@dataclass(frozen=True, slots=True)
class PublicCells:
    """The keys of a question, and its tuples; None if they are all combinations of the keys' values, or private."""

    keys: tuple[Key, ...]
    tuples: tuple[Tuple, ...] | None = None
    #: Their number, also where they are too many to be listed; None if they are private.
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the keys, by their places, and all that rows have in them together."""

    places: tuple[int, ...]
    tuples: tuple[Tuple, ...]


def public_cells(
    keys: tuple[Key, ...], where: Expression | None, source: Relation | None, publics: Mapping[str, Schema], most: int
) -> PublicCells:
    """Return the cells of a question, listed if they are at most so many."""
    rows, opaque = _add_keys(possible_rows(source, publics), keys, where)
    for matching in rows.pending:
        rows = rows.match(matching) or rows
    for condition in () if where is None else split_conditions(where):
        rows = rows.filter(put_names(condition, opaque))
    parts = _compute_parts(rows, keys, tuple(put_names(key.expression, opaque) for key in keys))
    if parts is None:
        return all_cells(keys)
    listed = tuple(_list_key(key, place, parts) for place, key in enumerate(keys))
    if any(key.values is None for key in listed):
        return PublicCells(listed)
    if any(not factor.rows for factor in rows.factors):
        return PublicCells(listed, (), 0)
    return _arrange(listed, parts, most)


def all_cells(keys: tuple[Key, ...]) -> PublicCells:
    """Return all combinations of the keys' values."""
    counts = [None if key.values is None else len(key.values) for key in keys]
    return PublicCells(keys, None, None if None in counts else prod(count or 0 for count in counts))


def keys_of_pass(keys: tuple[Key, ...], tuples: tuple[Tuple, ...] | None) -> tuple[Key, ...]:
    """Return the keys that an engine groups by: with a constant besides if it shall list only groups that occur.

    Where some combinations are left out, all of them may be far too many. A key whose values are not listed makes an
    engine return the groups that it finds.
    """
    every = prod(len(key.values or ()) for key in keys)
    return keys if tuples is None or every <= MOST_DENSE else (*keys, Key(Literal.of(0)))


def _add_keys(
    rows: PossibleRows, keys: tuple[Key, ...], where: Expression | None
) -> tuple[PossibleRows, dict[Expression, ColumnValue]]:
    """Return the rows with a factor for each public key that has none yet, and what keys are called that have one."""
    opaque: dict[Expression, ColumnValue] = {}
    for key in keys:
        expression = key.expression
        if isinstance(expression, ColumnValue) and key.values is not None and rows.misses(expression.name):
            rows = rows.add(expression.name, key.values)
    for place, key in enumerate(keys):
        rows = _add_columns(rows, key.expression, keys, where)
        unknown = rows.find(frozenset(columns_in(key.expression))) is None
        if unknown and key.values is not None and key.expression not in opaque:
            name = f"\0group {place}"  # no column is called so
            opaque[key.expression] = ColumnValue(name, key.expression.kind)
            rows = rows.add(name, key.values)
    return rows, opaque


def _add_columns(
    rows: PossibleRows, expression: Expression, keys: tuple[Key, ...], where: Expression | None
) -> PossibleRows:
    """Return the rows with the columns of a key that have bounds, where something else is said of them as well."""
    others = [key.expression for key in keys if key.expression != expression] + ([] if where is None else [where])
    for column in sorted(_columns(expression), key=lambda column: column.name):
        named = any(column.name in columns_in(other) for other in others)
        values = _list_column(column) if named and rows.misses(column.name) else None
        if values is not None:
            rows = rows.add(column.name, (*values, None))
    return rows


def _list_column(column: ColumnValue) -> Tuple | None:
    if column.kind is Kind.BOOLEAN:
        return (False, True)
    return None if column.bounds is None else list_values(column)


def _columns(expression: Expression) -> set[ColumnValue]:
    if isinstance(expression, ColumnValue):
        return {expression}
    return {column for child in children(expression) for column in _columns(child)}


def _compute_parts(rows: PossibleRows, keys: tuple[Key, ...], named: tuple[Expression, ...]) -> list[Part] | None:
    """Return the keys in parts that are independent of each other; None if one of them is private."""
    alone: list[int] = []
    for place, expression in enumerate(named):
        combined = rows.combine(frozenset(columns_in(expression)))
        if combined is not None:
            rows = combined[0]
        if combined is None or not _is_evaluable(expression, combined[1]):
            alone.append(place)
    together: dict[int, list[int]] = {}
    for place, expression in enumerate(named):
        if place not in alone:
            found = rows.find(frozenset(columns_in(expression))) or []
            together.setdefault(rows.place(found), []).append(place)
    if any(keys[place].values is None for place in alone):
        return None
    parts = [Part((place,), tuple((value,) for value in keys[place].values or ())) for place in alone]
    for index, places in together.items():
        factor = rows.factors[index] if index >= 0 else Factor((), ((),))
        parts.append(Part(tuple(places), _evaluate_keys(factor, [named[place] for place in places])))
    return parts


def _is_evaluable(expression: Expression, factor: Factor) -> bool:
    try:
        for row in factor.rows:
            evaluate(expression, factor.named(row))
    except NotEvaluable:
        return False
    return True


def _evaluate_keys(factor: Factor, keys: list[Expression]) -> tuple[Tuple, ...]:
    named = map(factor.named, factor.rows)
    return tuple(dict.fromkeys(tuple(evaluate(key, row) for key in keys) for row in named))


def _list_key(key: Key, place: int, parts: list[Part]) -> Key:
    """Return a key with its values: those that it was given, or those that rows can have."""
    if key.values is not None:
        return key
    part = next(part for part in parts if place in part.places)
    values = {one[part.places.index(place)] for one in part.tuples}
    if len(values) > MOST_VALUES:
        return key
    return Key(key.expression, tuple(sorted(values, key=lambda value: group_order((value,)))))


def _arrange(keys: tuple[Key, ...], parts: list[Part], most: int) -> PublicCells:
    """Return all combinations of what parts have, in the order of the keys' values."""
    orders = [{value: at for at, value in enumerate(key.values or ())} for key in keys]
    choices = [
        [one for one in part.tuples if all(value in orders[at] for value, at in zip(one, part.places, strict=True))]
        for part in parts
    ]
    count, every = prod(map(len, choices)), prod(map(len, orders))
    if count in (0, every) or count > most:
        return PublicCells(keys, None if count else (), count)
    places = [place for part in parts for place in part.places]
    back = [places.index(place) for place in range(len(keys))]
    cells = []
    for combination in product(*choices):
        flat = [value for one in combination for value in one]
        cells.append(tuple(flat[place] for place in back))
    cells.sort(key=lambda cell: [order[value] for order, value in zip(orders, cell, strict=True)])
    return PublicCells(keys, tuple(cells), count)
