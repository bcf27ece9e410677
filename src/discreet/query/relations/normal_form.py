"""The normal form of a relation, and of a question about it: the same for all names and selections on the way.

Unused columns are left out, selections that only rename are left out, filters that follow each other become
one, and columns are named by their contents, not by the names that an analyst gave them. So the same question is
the same plan, and an unused column may get bounds without changing it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from discreet.algebra.expressions import ColumnValue, Expression, call, columns_in, map_columns
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
    check_relation,
    columns_of,
)
from discreet.core.schema import Column, Schema
from discreet.query import questions as q
from discreet.query.names import make_unique_name, name_of
from discreet.query.post_processing import is_threshold
from discreet.query.relations.schemas import KEEPING, name_for, people_in, unit_of

#: The name of a folded column: a word, and the folded expression.
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


def rename_columns(expression: Expression, names: Names) -> Expression:
    """Return an expression over the same columns under other names."""
    return map_columns(expression, partial(_rename_column, names=names))


def _rename_column(value: ColumnValue, names: Names) -> Expression:
    # The answer to another question is not a column of the rows, and has the same name for any rows.
    return value if is_threshold(value.name) else replace(value, name=names[value.name])


def combine_conditions(first: Expression | None, second: Expression | None) -> Expression | None:
    """Return the condition that two conditions are together: one row of ANDs."""
    if first is None or second is None:
        return second if first is None else first
    return call(F.AND, *split_conditions(first), *split_conditions(second))


def split_conditions(condition: Expression) -> tuple[Expression, ...]:
    """Return the conditions that a row of ANDs is made of."""
    if getattr(condition, "function", None) is F.AND:
        return getattr(condition, "arguments", ())
    return (condition,)


def plain_columns(derived: Derived) -> Names | None:
    """Return the columns below those of a selection, if it computes nothing."""
    names: dict[str, str] = {}
    for output in derived.columns:
        if not isinstance(output.expression, ColumnValue):
            return None
        names[output.column.name] = output.expression.name
    return names


def pass_column(column: Column, name: str) -> Named:
    """Return a column under another name, as it came: the expression that names it clamps it."""
    return Named(replace(column, name=name), ColumnValue(column.name, column.kind))


def collect_columns(*expressions: Expression | None) -> frozenset[str]:
    """Return the columns that expressions name."""
    return frozenset(name for expression in expressions if expression is not None for name in columns_in(expression))


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
                return self._settle_derived(relation, needed)
            case PerUnit():
                return self._settle_per_unit(relation, needed)
            case First(source=source, rows=rows, by=by):
                inner = self.settle(source, needed | collect_columns(by))
                return Settled(First(inner.relation, rows, rename_columns(by, inner.names)), inner.names)
            case UnionAll():
                return self._settle_union(relation, needed)
            case PublicJoin() | UnitJoin() | MatchJoin():
                return self._settle_join(relation, needed)

    def _settle_derived(self, derived: Derived, needed: frozenset[str]) -> Settled:
        kept = tuple(output for output in derived.columns if output.column.name in needed)
        columns, where, source = self._merge_selection(replace(derived, columns=kept))
        merged = Derived(source, columns, where)
        below = plain_columns(merged)
        if below is not None:
            return Settled(source if where is None else _filter_rows(source, below, where), below)
        named = _name_outputs(columns)
        names = {old.column.name: new.column.name for old, new in zip(columns, named, strict=True)}
        return Settled(Derived(source, named, where), names)

    def _merge_selection(self, derived: Derived) -> tuple[tuple[Named, ...], Expression | None, Relation]:
        """Return the form of a selection above the form of its source; one with a filter that renames is taken in."""
        inner = self.settle(
            derived.source, collect_columns(derived.where, *(output.expression for output in derived.columns))
        )
        columns, where, source = _rename_inputs(derived.columns, inner.names), derived.where, inner.relation
        where = None if where is None else rename_columns(where, inner.names)
        below = plain_columns(source) if isinstance(source, Derived) else None
        if isinstance(source, Derived) and below is not None:
            where = combine_conditions(source.where, None if where is None else rename_columns(where, below))
            columns, source = _rename_inputs(columns, below), source.source
        return columns, where, source

    def _settle_per_unit(self, relation: PerUnit, needed: frozenset[str]) -> Settled:
        values = tuple(aggregate for aggregate in relation.values if aggregate.column.name in needed)
        wanted = collect_columns(*(key.expression for key in relation.keys), *(aggregate.value for aggregate in values))
        inner = self.settle(relation.source, wanted)
        keys = _name_outputs(_rename_inputs(relation.keys, inner.names))
        people = people_in(inner.relation, self.schemas)
        new_names = [key.column.name for key in keys]
        folded: list[Folded] = []
        for aggregate in values:
            value = None if aggregate.value is None else rename_columns(aggregate.value, inner.names)
            name = make_unique_name(_fold_name(aggregate.fold, value, people), new_names)
            new_names.append(name)
            folded.append(replace(aggregate, column=replace(aggregate.column, name=name), value=value))
        before = [*(key.column.name for key in relation.keys), *(aggregate.column.name for aggregate in values)]
        names = dict(zip(before, new_names, strict=True))
        return Settled(PerUnit(inner.relation, keys, tuple(folded)), names)

    def _settle_union(self, union: UnionAll, needed: frozenset[str]) -> Settled:
        kept = [place for place, column in enumerate(columns_of(union)) if column.name in needed]
        parts: list[Relation] = []
        names: list[str] = []
        for part in union.parts:
            outer = part if isinstance(part, Derived) else _pass_all_columns(part)
            chosen = replace(outer, columns=tuple(outer.columns[place] for place in kept))
            columns, where, source = self._merge_selection(chosen)
            names = names or [output.column.name for output in _name_outputs(columns)]
            columns = tuple(
                replace(output, column=replace(output.column, name=name))
                for output, name in zip(columns, names, strict=True)
            )
            selection = Derived(source, columns, where)
            parts.append(source if _says_nothing(selection) else selection)
        before = [columns_of(union)[place].name for place in kept]
        return Settled(UnionAll(tuple(parts)), dict(zip(before, names, strict=True)))

    def _settle_join(self, join: PublicJoin | UnitJoin | MatchJoin, needed: frozenset[str]) -> Settled:
        kind = JoinKind.INNER if isinstance(join, MatchJoin) else join.kind
        alone = kind in (JoinKind.SEMI, JoinKind.ANTI)
        on = collect_columns(*(side for pair in join.on for side in pair))
        left = self.settle(
            join.left, _restrict_names(join.left, needed | collect_columns(*(value for value, _ in join.on)))
        )
        wanted = collect_columns(*(value for _, value in join.on)) if alone else needed | on
        if isinstance(join, PublicJoin):
            kept = tuple(column for column in join.right.columns if column.name in wanted)
            public = replace(join.right, columns=kept)
            left = left if alone else _rename_apart(left, apart_from=columns_of(public))
            own = {column.name: column.name for column in kept}
            pairs = _rename_pairs(join.on, left.names, own)
            settled = Settled(replace(join, left=left.relation, right=public, on=pairs), {**own, **left.names})
            return _filter_last(settled, needed) if alone else settled
        right = self.settle(join.right, _restrict_names(join.right, wanted))
        right = right if alone else _rename_apart(right, apart_from=columns_of(left.relation))
        pairs = _rename_pairs(join.on, left.names, right.names)
        both_sides = replace(join, left=left.relation, right=right.relation, on=pairs)
        if alone:
            return _filter_last(Settled(both_sides, left.names), needed)
        return Settled(both_sides, {**left.names, **right.names})


def _filter_last(settled: Settled, needed: frozenset[str]) -> Settled:
    """Return a choice of people, or of public values, before a filter below it: they may change places."""
    join = settled.relation
    if not isinstance(join, PublicJoin | UnitJoin) or not isinstance(join.left, Derived):
        return settled
    below = plain_columns(join.left)
    if below is None:
        return settled
    names = {before: after for before, after in settled.names.items() if before in needed}
    columns = tuple(output for output in join.left.columns if output.column.name in names.values())
    pairs = tuple((rename_columns(left_value, below), right_value) for left_value, right_value in join.on)
    chosen = replace(join, left=join.left.source, on=pairs)
    return Settled(replace(join.left, source=chosen, columns=columns), names)


def _filter_rows(source: Relation, names: Names, where: Expression) -> Derived:
    """Return rows that fulfil a condition, with some columns, in their order and under their names."""
    columns = (column for column in columns_of(source) if column.name in names.values())
    return Derived(source, tuple(pass_column(column, column.name) for column in columns), where)


def _restrict_names(relation: Relation, names: frozenset[str]) -> frozenset[str]:
    return names & {column.name for column in columns_of(relation)}


def _rename_inputs(columns: Iterable[Named], names: Names) -> tuple[Named, ...]:
    return tuple(Named(output.column, rename_columns(output.expression, names)) for output in columns)


def _rename_pairs(pairs: tuple[Pair, ...], left: Names, right: Names) -> tuple[Pair, ...]:
    return tuple(
        (rename_columns(left_value, left), rename_columns(right_value, right)) for left_value, right_value in pairs
    )


def _name_outputs(columns: Iterable[Named]) -> tuple[Named, ...]:
    """Return columns called after what they are made of."""
    names: list[str] = []
    outputs: list[Named] = []
    for output in columns:
        names.append(make_unique_name(name_of(output.expression), names))
        outputs.append(replace(output, column=replace(output.column, name=names[-1])))
    return tuple(outputs)


def _fold_name(fold: Fold, value: Expression | None, people: frozenset[str]) -> str:
    if isinstance(value, ColumnValue) and fold in KEEPING and value.name in people:
        return value.name
    column = "value" if value is None else name_of(value)
    return FOLD_WORDS[fold] if column == "value" else f"{FOLD_WORDS[fold]}_{column}"


def _pass_all_columns(relation: Relation) -> Derived:
    return Derived(relation, tuple(pass_column(column, column.name) for column in columns_of(relation)))


def _says_nothing(derived: Derived) -> bool:
    """Whether a selection is its source, column by column."""
    same = tuple(output.column for output in derived.columns) == columns_of(derived.source)
    bare = all(
        isinstance(output.expression, ColumnValue) and output.expression.bounds is None for output in derived.columns
    )
    below = plain_columns(derived) or {}
    return derived.where is None and same and bare and all(name == below_name for name, below_name in below.items())


def _rename_apart(settled: Settled, *, apart_from: Iterable[Column]) -> Settled:
    """Return a relation none of whose columns is called like one of some others."""
    taken = [column.name for column in apart_from]
    own = [column.name for column in columns_of(settled.relation)]
    folded = {name.casefold() for name in taken}
    change: dict[str, str] = {}
    for name in own:
        change[name] = make_unique_name(name, [*taken, *own, *change.values()]) if name.casefold() in folded else name
    if all(old == new for old, new in change.items()):
        return settled
    names = {before: change[after] for before, after in settled.names.items()}
    return Settled(_rename_outputs(settled.relation, change), names)


def _rename_outputs(relation: Relation, change: Names) -> Relation:
    match relation:
        case Derived(columns=columns):
            return replace(relation, columns=tuple(_rename_output(output, change) for output in columns))
        case PerUnit(keys=keys, values=values):
            folded = tuple(replace(aggregate, column=_new(aggregate.column, change)) for aggregate in values)
            return replace(relation, keys=tuple(_rename_output(key, change) for key in keys), values=folded)
        case _:
            return Derived(relation, tuple(pass_column(column, change[column.name]) for column in columns_of(relation)))


def _rename_output(named: Named, change: Names) -> Named:
    return replace(named, column=_new(named.column, change))


def _new(column: Column, change: Names) -> Column:
    return replace(column, name=change[column.name])


# The one form of a question about a relation.

Change = Callable[[Expression], Expression]


def settle_question(question: q.Question, relation: Relation, schemas: Mapping[str, Schema]) -> q.Question:
    """Return the question of a relation, in its form. A filter right above a table is the question's own."""
    settled = Forms(schemas).settle(relation, collect_columns(*expressions_of(question)))
    question = change_question(question, lambda expression: rename_columns(expression, settled.names))
    source = settled.relation
    while isinstance(source, Derived) and (below := plain_columns(source)) is not None:
        question = change_question(question, lambda expression, below=below: rename_columns(expression, below))  # type: ignore[misc]
        question = replace(question, where=combine_conditions(source.where, question.where))
        source = source.source
    if isinstance(source, Scan):
        return replace(question, table=source.table, source=None)
    check_relation(source)
    unit_of(source, schemas)
    return replace(question, table=name_for(source), source=source)


def change_question(question: q.Question, change: Change) -> q.Question:
    """Return a question with all its expressions changed."""
    return replace(
        question,
        where=None if question.where is None else change(question.where),
        groups=tuple(replace(group, expression=change(group.expression)) for group in question.groups),
        outputs=tuple(replace(output, term=_change_term(output.term, change)) for output in question.outputs),
        having=None if question.having is None else _change_term(question.having, change),
        order=tuple(replace(order, term=_change_term(order.term, change)) for order in question.order),
    )


def _change_term(term: q.Term, change: Change) -> q.Term:
    match term:
        case q.Apply(arguments=arguments):
            return replace(term, arguments=tuple(_change_term(argument, change) for argument in arguments))
        case q.GroupValue() | q.RolledUp() | q.Constant() | q.Count() | q.CountPeople():
            return term
        case q.Joint(value=value, other=other):
            return replace(term, value=change(value), other=change(other))
        case _:
            return replace(term, value=change(term.value))


def expressions_of(question: q.Question) -> list[Expression]:
    """Return all that a question computes of rows."""
    terms = [*(output.term for output in question.outputs), *(order.term for order in question.order)]
    terms += [] if question.having is None else [question.having]
    measures = [measure for term in terms for measure in q.measures_in(term)]
    values = [value for measure in measures for value in q.values_of(measure)]
    expressions = [question.where, *(group.expression for group in question.groups), *values]
    return [expression for expression in expressions if expression is not None]
