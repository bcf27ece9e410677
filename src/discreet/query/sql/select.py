"""The SELECT statement: from sqlglot's parts to a question. SQL and frames both use it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression, Literal, columns_in
from discreet.algebra.functions import Function
from discreet.core.schema import Kind, Schema
from discreet.query import questions as q
from discreet.query.names import AGGREGATES, make_unique_name, name_of
from discreet.query.remedies import Edit, Fix, Never, quote_if_needed, replace_everywhere
from discreet.query.sql.aggregates import MeasurePlaceholders
from discreet.query.sql.computed_outputs import (
    ReadPart,
    ReadParts,
    ReadSorting,
    build_computed,
    is_computed,
    name_output,
)
from discreet.query.sql.expressions import build_call, read_expression
from discreet.query.sql.outputs import OutputTerms, as_whole, refuse_ungrouped
from discreet.query.sql.parsing.tokens import Page
from discreet.query.sql.parsing.tree_checks import start_of
from discreet.query.sql.scope import Item, Special, SqlScope, strip_numbers


def sums_up(node: exp.Expr) -> bool:
    """Whether there is a summary of rows in an expression. What a window computes of rows leaves them apart."""
    here = node.walk(prune=lambda inner: isinstance(inner, exp.Query))
    calls = (call for call in here if isinstance(call, exp.Anonymous))
    return any(call.name.upper() in AGGREGATES and not is_window_function(call) for call in calls)


def is_window_function(node: exp.Expr) -> bool:
    """Whether a function stands before OVER, with FILTER between them or not."""
    outer = node.parent if isinstance(node.parent, exp.Filter) and node.parent.this is node else node
    return isinstance(outer.parent, exp.Window) and outer.parent.this is outer


def group_nodes(select: exp.Select, page: Page, at: int) -> list[exp.Expr]:
    """Return what is grouped by. GROUP BY ALL means all outputs with a column that are not summed up."""
    part = select.args.get("group")
    if part is None:
        return []
    if not part.args.get("all"):
        return list(part.expressions)
    if part.expressions:
        raise page.refuse(at, "GROUP BY ALL cannot be combined with columns.", "leave out ALL, or the columns")
    outputs = [output.unalias() for output in select.expressions]
    return [
        node
        for node in outputs
        if node.find(exp.Column) is not None and not sums_up(node) and node.find(exp.Window) is None
    ]


def resolve_group(node: exp.Expr, select: exp.Select, scope: SqlScope) -> Any:
    """Return what GROUP BY 2 or GROUP BY month mean, if month is no column but the name of an output."""
    if isinstance(node, exp.Literal) and not node.is_string:
        if not node.name.isdecimal() or not 1 <= int(node.name) <= len(select.expressions):
            raise scope.refuse(node, f"There is no output {node.name[:20]}.", "write the name of a column")
        return select.expressions[int(node.name) - 1].unalias()
    if isinstance(node, exp.Column) and node.args.get("table") is None and not scope.find_columns(node.name):
        for output in select.expressions:
            if isinstance(output, exp.Alias) and output.alias.casefold() == node.name.casefold():
                return output.this
    return node


MOST_OUTPUTS = 200
#: Parts of a day, as DATE_TRUNC has them.
SHORT_PERIOD = re.compile(r"'(hour|minute|second)'", re.IGNORECASE)
MOST_GROUPS = 50
LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class SqlPiece:
    """A part of a question and the text that it stands in."""

    node: exp.Expr
    page: Page


@dataclass(frozen=True, slots=True)
class SortPiece:
    """What an answer is sorted by."""

    piece: SqlPiece
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A question, taken apart. `outputs` and `groups` have their names, where they were given one."""

    schema: Schema
    items: tuple[Item, ...]
    outputs: tuple[tuple[str | None, SqlPiece], ...]
    where: tuple[SqlPiece, ...] = ()
    groups: tuple[SqlPiece, ...] = ()
    having: tuple[SqlPiece, ...] = ()
    order: tuple[SortPiece, ...] = ()
    most: int | None = None
    skipped: int = 0
    distinct: bool = False
    #: By which of the groups, in turn, rows are grouped; None: by all of them, once.
    sets: tuple[tuple[int, ...], ...] | None = None
    #: Reads scalar subqueries among the conditions.
    special: Special | None = None

    @property
    def keys(self) -> tuple[SqlPiece, ...]:
        """What is grouped by. SELECT DISTINCT of rows groups by all its outputs."""
        outputs = tuple(piece for _, piece in self.outputs)
        if self.groups or not self.distinct or any(sums_up(piece.node) for piece in outputs):
            return self.groups
        return outputs

    def scope(self, piece: SqlPiece) -> SqlScope:
        """Return where a part stands."""
        return SqlScope(piece.page, self.schema, self.items)


def question_of(parts: Parts) -> q.Question:
    """Return the question that parts make, or refuse it."""
    _check_size(parts)
    read = _read_groups(parts)
    groups = tuple(dict.fromkeys(group for group in read if group is not None))
    sets = _settle_sets(parts.sets, [None if group is None else groups.index(group) for group in read])
    terms = OutputTerms(MeasurePlaceholders(), groups, sets is not None)
    shown = _read_shown(parts, terms)
    _check_histogram(parts, shown)
    where = _read_where(parts)
    if not is_computed(shown):
        return replace(_build_plain(parts, shown, where), sets=sets)
    return build_computed(
        shown,
        lambda groups, outputs: q.Question(
            table=parts.schema.table, where=where, groups=groups, sets=sets, outputs=outputs
        ),
    )


def _build_plain(parts: Parts, shown: ReadParts, where: Expression | None) -> q.Question:
    """Return a question whose outputs are keys, measures, and arithmetic on such."""
    terms = shown.terms
    settled = [_settle(part, terms) for part in shown.outputs]
    conditions = [condition for part in shown.having for condition in _split_condition(_settle(part, terms))]
    return q.Question(
        table=parts.schema.table,
        where=where,
        groups=_build_groupings(terms.groups, settled, shown.names),
        outputs=tuple(q.Output(name, term) for name, term in zip(shown.names, settled, strict=True)),
        having=q.Apply(Function.AND, tuple(conditions)) if len(conditions) > 1 else next(iter(conditions), None),
        order=tuple(order for sorting in shown.order for order in _settle_order(sorting, terms)),
        most=parts.most,
    )


def _settle(part: ReadPart, terms: OutputTerms) -> q.Term:
    return terms.settle(part.expression, part.node, part.scope)


def _split_condition(term: q.Term) -> tuple[q.Term, ...]:
    return term.arguments if isinstance(term, q.Apply) and term.function is Function.AND else (term,)


def _settle_order(sorting: ReadSorting, terms: OutputTerms) -> tuple[q.Order, ...]:
    term = _settle(sorting.part, terms)
    order = q.Order(term, sorting.descending)
    # NULL is sorted last. Whether there is none is known of each row, and so it can be put first.
    return (q.Order(q.Apply(Function.IS_NULL, (term,)), descending=True), order) if sorting.nulls_first else (order,)


def _read_shown(parts: Parts, terms: OutputTerms) -> ReadParts:
    """Return what is shown of the answer, with names."""
    read = _read_outputs(parts, terms)
    names = _choose_names(parts, read, terms)
    aliases = {name.casefold(): expression for name, expression in zip(names, read, strict=True)}
    outputs = tuple(
        ReadPart(expression, piece.node, parts.scope(piece))
        for expression, (_, piece) in zip(read, parts.outputs, strict=True)
    )
    return ReadParts(
        terms=terms,
        names=tuple(names),
        outputs=outputs,
        having=_read_having(parts, terms, aliases),
        order=tuple(_read_order(sorting, parts, terms, aliases) for sorting in parts.order),
        most=parts.most,
        skipped=parts.skipped,
        # Groups differ, and so do rows that show all of them.
        distinct=parts.distinct and not set(terms.groups) <= set(read),
    )


def _read_outputs(parts: Parts, terms: OutputTerms) -> list[Expression]:
    """Return all outputs; each may speak of those before it by name, where no column is called so."""
    known: dict[str, Expression] = {}
    outputs: list[Expression] = []
    for name, piece in parts.outputs:
        scope = parts.scope(piece)
        outputs.append(terms.read(piece.node, scope, known))
        if name is not None and not scope.find_columns(name):
            known[name.casefold()] = outputs[-1]
    return outputs


def _check_size(parts: Parts) -> None:
    """Refuse long lists before anything is done with them: names are compared with each other."""
    if len(parts.outputs) > MOST_OUTPUTS:
        piece = parts.outputs[MOST_OUTPUTS][1]
        raise parts.scope(piece).refuse(
            piece.node, f"There are more than {MOST_OUTPUTS} outputs.", "ask several questions"
        )
    if len(parts.keys) > MOST_GROUPS:
        piece = parts.keys[MOST_GROUPS]
        raise parts.scope(piece).refuse(
            piece.node, f"There are more than {MOST_GROUPS} groupings.", "group by fewer things"
        )


def _read_where(parts: Parts) -> Expression | None:
    conditions: list[Expression] = []
    for piece in parts.where:
        condition = read_expression(piece.node, replace(parts.scope(piece), special=parts.special))
        if condition.kind is not Kind.BOOLEAN:
            raise parts.scope(piece).refuse(piece.node, "WHERE needs a condition.", "write a comparison: age >= 40")
        conditions.append(condition)
    if len(conditions) > 1:
        return build_call(Function.AND, *conditions)
    return conditions[0] if conditions else None


def _settle_sets(
    sets: tuple[tuple[int, ...], ...] | None, places: list[int | None]
) -> tuple[tuple[int, ...], ...] | None:
    """Return sets of different groups, each set once; None if rows are grouped by all groups alone."""
    if sets is None:
        return None
    known = [{place for index in keys if (place := places[index]) is not None} for keys in sets]
    settled = tuple(dict.fromkeys(tuple(sorted(keys)) for keys in known))
    return None if settled == (tuple(sorted(set().union(*known))),) else settled


def _read_groups(parts: Parts) -> list[Expression | None]:
    """Return what each part after GROUP BY means; None where it is a constant output."""
    groups: list[Expression | None] = []
    for piece in parts.keys:
        scope = parts.scope(piece)
        resolved = _resolve_group(piece, parts)
        expression = read_expression(resolved, scope)
        if isinstance(expression, Literal) and resolved is not piece.node:
            groups.append(None)
            continue  # GROUP BY 1, where the first output is a constant
        expression = as_whole(expression) or expression
        if any(parts.schema.is_person(name) for name in columns_in(expression)):
            raise scope.refuse(
                piece.node,
                "Grouping by the privacy unit would single people out.",
                Fix(
                    "group by something else, and count people with COUNT(DISTINCT "
                    f"{quote_if_needed(strip_numbers(parts.schema.unit.column or ''))})",
                    Never.PEOPLE,
                ),
            )
        if not columns_in(expression):
            raise scope.refuse(piece.node, "This expression is constant.", "group by a column")
        if not expression.kind.groupable:
            raise scope.refuse(
                piece.node,
                f"Groups cannot be {expression.kind.value} values: nearly every row would have its own.",
                _suggest_bins(piece, expression, parts),
            )
        groups.append(expression)
    return groups


def _suggest_bins(piece: SqlPiece, expression: Expression, parts: Parts) -> str:
    """Return how values are put into bins: in all places where a column is shown or grouped by."""
    if not isinstance(expression, ColumnValue) or not isinstance(piece.node, exp.Column):
        if expression.kind is Kind.TIMESTAMP:
            return _suggest_days(piece.page)
        return _suggest_whole(_resolve_group(piece, parts), piece.page)
    name = strip_numbers(expression.name)
    written = ".".join(quote_if_needed(part) for part in (piece.node.table, name) if part)
    bins = f"FLOOR({written} / 10)" if expression.kind.numeric else f"DATE_TRUNC('day', {written})"
    pieces = [*(output for _, output in parts.outputs), *parts.groups, *(sorting.piece for sorting in parts.order)]
    starts = [
        start_of(node)
        for other in pieces
        for node in other.node.find_all(exp.Column)
        if node.name.casefold() == name.casefold() and node.find_ancestor(exp.Anonymous) is None
    ]
    return replace_everywhere(piece.page.text, starts, f"write {bins} in its place, or other bins", bins)


def _suggest_days(page: Page) -> str:
    """Return how moments are put into groups: of a day, and of its hours apart from it."""
    words = "write DATE_TRUNC('day', …), and HOUR(…) beside it where hours are wanted"
    days = SHORT_PERIOD.sub("'day'", page.text)
    return words if days == page.text else Fix(words, Edit(0, len(page.text), days))


def _suggest_whole(node: exp.Expr, page: Page) -> str:
    """Return how a quotient becomes an integer: some databases divide integers so anyway."""
    division = node.find(exp.Div)
    if division is None:
        return "write FLOOR(… / 10) around it, or DATE_TRUNC('day', …)"
    words = "write // in place of /, or FLOOR(…) around it"
    at = page.text.find("/", start_of(division))
    return words if at < 0 else Fix(words, Edit(at, at + 1, "//"))


def _resolve_group(piece: SqlPiece, parts: Parts) -> exp.Expr:
    """Return what GROUP BY 2 or GROUP BY month mean, if month is no column but the name of an output."""
    node = piece.node
    if isinstance(node, exp.Literal) and not node.is_string:
        return parts.outputs[_position(node, piece, parts)][1].node
    if (
        isinstance(node, exp.Column)
        and node.args.get("table") is None
        and not parts.scope(piece).find_columns(node.name)
    ):
        for name, output in parts.outputs:
            if name is not None and name.casefold() == node.name.casefold():
                return output.node
    return node


def _position(node: exp.Expr, piece: SqlPiece, parts: Parts) -> int:
    if not node.name.isdecimal() or not 1 <= int(node.name) <= len(parts.outputs):
        raise parts.scope(piece).refuse(
            node, f"There is no output {node.name[:20]}.", f"write a number from 1 to {len(parts.outputs)}, or a name"
        )
    return int(node.name) - 1


def _choose_names(parts: Parts, read: list[Expression], terms: OutputTerms) -> list[str]:
    """Return the outputs' names: as given, else made up so that they differ from all others."""
    taken: list[str] = []
    for name, piece in parts.outputs:
        if name is None:
            continue
        if name.casefold() in {other.casefold() for other in taken}:
            raise parts.scope(piece).refuse(piece.node, f"Two outputs are called {name!r}.", "give each its own name")
        if not name.strip() or len(name) > LONGEST_NAME:
            raise parts.scope(piece).refuse(
                piece.node, f"A name has 1 to {LONGEST_NAME} characters.", "give it a name such as n"
            )
        taken.append(name)
    names: list[str] = []
    for (name, _), expression in zip(parts.outputs, read, strict=True):
        chosen = make_unique_name(name_output(expression, terms), taken) if name is None else name
        taken.append(chosen)
        names.append(chosen)
    return names


def _build_groupings(
    groups: tuple[Expression, ...], settled: list[q.Term], names: tuple[str, ...]
) -> tuple[q.Grouping, ...]:
    """Return groupings, called like the output that shows them, if there is one."""
    outputs: dict[int, str] = {}
    for term, name in zip(settled, names, strict=True):
        if isinstance(term, q.GroupValue):
            outputs.setdefault(term.index, name)
    taken = list(names)
    groupings: list[q.Grouping] = []
    for index, group in enumerate(groups):
        name = outputs.get(index) or make_unique_name(strip_numbers(name_of(group)), taken)
        taken.append(name)
        groupings.append(q.Grouping(name, group))
    return tuple(groupings)


def _read_having(parts: Parts, terms: OutputTerms, aliases: dict[str, Expression]) -> tuple[ReadPart, ...]:
    # A column that is grouped by is meant before an output of the same name, as in SQL.
    grouped = {strip_numbers(name).casefold() for group in terms.groups for name in columns_in(group)}
    names = {name: expression for name, expression in aliases.items() if name not in grouped}
    conditions: list[ReadPart] = []
    for piece in parts.having:
        scope, node = parts.scope(piece), piece.node
        condition = terms.read(node, scope, names)
        if condition.kind is not Kind.BOOLEAN:
            raise scope.refuse(node, "HAVING needs a condition.", "write a comparison: COUNT(*) >= 10")
        conditions.append(ReadPart(condition, node, scope))
    return tuple(conditions)


def _read_order(sorting: SortPiece, parts: Parts, terms: OutputTerms, aliases: dict[str, Expression]) -> ReadSorting:
    piece = sorting.piece
    scope, node = parts.scope(piece), piece.node
    if isinstance(node, exp.Literal):
        index = _position(node, piece, parts)
        expression: Expression = list(aliases.values())[index]
    else:
        expression = terms.read(node, scope, aliases)
    if isinstance(expression, Literal):
        raise scope.refuse(
            node, "ORDER BY needs an output, not a constant.", "write the number or the name of an output"
        )
    return ReadSorting(ReadPart(expression, node, scope), sorting.descending, sorting.nulls_first)


def _check_histogram(parts: Parts, shown: ReadParts) -> None:
    """Refuse a question that measures nothing, and a histogram that is not alone."""
    _, first = parts.outputs[0]
    scope, measures = parts.scope(first), shown.terms.places.held
    if not measures and not shown.terms.groups:
        for part in shown.all:
            for name in columns_in(part.expression):
                raise refuse_ungrouped(name, part.node, part.scope)
        raise scope.refuse(first.node, "The question has no aggregate.", "add COUNT(*)")
    if not any(isinstance(measure, q.HistogramOf) for measure in measures):
        return
    held = isinstance(shown.outputs[0].expression, ColumnValue)
    alone = held and len(shown.all) == 1 and not shown.terms.groups and shown.most is None
    if not alone or shown.skipped or shown.distinct:
        raise scope.refuse(
            first.node,
            "HISTOGRAM must be the only output.",
            "ask for HISTOGRAM(…) by itself, with WHERE but without GROUP BY, HAVING, ORDER BY and LIMIT",
        )


# ROLLUP, CUBE and GROUPING SETS: what stands after GROUP BY as a list of keys, and the sets that are made of them.

Sets = list[tuple[exp.Expr, ...]]
#: What makes several sets.
SEVERAL = (exp.Rollup, exp.Cube, exp.GroupingSets)
#: Keys of CUBE.
MOST_CUBED = 6


def split_sets(nodes: Sequence[exp.Expr], page: Page) -> tuple[list[exp.Expr], tuple[tuple[int, ...], ...] | None]:
    """Return the keys, and the sets as places among them; None where all keys make one set."""
    if not any(isinstance(node, SEVERAL) for node in nodes):
        return list(nodes), None
    choices = [_sets_of(node, page) for node in nodes]
    count = 1
    for sets in choices:
        count *= len(sets)
        if count > q.MOST_SETS:
            raise page.refuse(start_of(nodes[0]), f"There are more than {q.MOST_SETS} grouping sets.", "use fewer keys")
    chosen = [tuple(key for keys in combination for key in keys) for combination in product(*choices)]
    places: dict[int, int] = {}
    keys: list[exp.Expr] = []
    for node in (key for group in chosen for key in group):
        if id(node) not in places:
            places[id(node)] = len(keys)
            keys.append(node)
    return keys, tuple(tuple(places[id(key)] for key in group) for group in chosen)


def need_one_set(nodes: list[exp.Expr], page: Page) -> list[exp.Expr]:
    """Return the keys of a SELECT that groups once, or refuse others."""
    for node in nodes:
        if isinstance(node, SEVERAL):
            raise page.refuse(
                start_of(node),
                "ROLLUP, CUBE and GROUPING SETS cannot be used here.",
                "use them where rows are grouped, in a question of its own; here write GROUP BY with keys",
            )
    return nodes


def _sets_of(node: exp.Expr, page: Page) -> Sets:
    """Return the sets of one element of GROUP BY."""
    match node:
        case exp.Rollup():
            columns = [_columns(item) for item in node.expressions]
            return [_join(columns[:end]) for end in range(len(columns), -1, -1)]
        case exp.Cube():
            columns = [_columns(item) for item in node.expressions]
            if len(columns) > MOST_CUBED:
                raise page.refuse(start_of(node), f"CUBE takes at most {MOST_CUBED} keys.", "use ROLLUP, or fewer keys")
            sizes = range(len(columns), -1, -1)
            return [_join(picked) for size in sizes for picked in combinations(columns, size)]
        case exp.GroupingSets():
            return [keys for item in node.expressions for keys in _sets_of(item, page)]
        case _:
            return [_columns(node)]


def _columns(node: exp.Expr) -> tuple[exp.Expr, ...]:
    """Return the keys of (a, b), (a), a or ()."""
    match node:
        case exp.Tuple():
            return tuple(node.expressions)
        case exp.Paren():
            return _columns(node.this)
        case _:
            return (node,)


def _join(columns: Sequence[tuple[exp.Expr, ...]]) -> tuple[exp.Expr, ...]:
    return tuple(key for group in columns for key in group)
