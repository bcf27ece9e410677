"""Stages from SQL: one SELECT over the answer to another question, or over a public table."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression
from discreet.core import PrivacyUnit
from discreet.core.schema import Column, Kind, Schema
from discreet.query import post_processing as post
from discreet.query import questions as q
from discreet.query.names import make_unique_name, name_of
from discreet.query.post_processing import Neighbour, Ranking, Sorting, Stage, StageOutput, Summary, WindowFunction
from discreet.query.shapes import Columns
from discreet.query.sql.aggregates import read_measure
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.parsing.tree_checks import start_of
from discreet.query.sql.scope import Item, Known, SqlScope, strip_numbers
from discreet.query.sql.select import LONGEST_NAME, MOST_OUTPUTS, group_nodes, need_one_set, resolve_group, sums_up
from discreet.query.sql.windows import WindowReader, place_nulls, sums_up_beside_windows
from discreet.query.stage_checks import find_odd_function

MOST_ROWS = 10**9


class HoldsNumbers(Protocol):
    """Whoever knows what the scalar subqueries of stages ask."""

    def hold(self, node: exp.Subquery, known: Known) -> Expression:
        """Return the column that holds the number of a scalar subquery, or the constant that it is."""


@dataclass(frozen=True, slots=True)
class StageScope:
    """The table that a stage is about: where it stands, its columns, and what it is called.

    If answers are joined, it is about all of them: `items`. A name alone means what USING `merged` under it.
    """

    known: Known
    columns: Columns
    alias: str
    numbers: HoldsNumbers
    items: tuple[Item, ...] = ()
    merged: Mapping[str, Expression] = field(default_factory=dict)

    def first_item(self) -> Item:
        """Return what can be named of the columns."""
        return Item.of(self.alias, tuple(Column(name=name, kind=kind) for name, kind in self.columns))

    def plain(self) -> SqlScope:
        """Return where expressions about its rows stand."""
        items = self.items or (self.first_item(),)
        columns = tuple(seen.column for item in items for seen in item.columns)
        schema = Schema(table=self.alias or "the subquery", columns=columns, unit=PrivacyUnit())
        return SqlScope(self.known.page, schema, items, special=self._find_merged if self.merged else None)

    def _find_merged(self, node: exp.Expr, _scope: SqlScope) -> Expression | None:
        alone = isinstance(node, exp.Column) and node.args.get("table") is None
        return self.merged.get(node.name.casefold()) if alone else None

    def hold_number(self, node: exp.Subquery) -> Expression:
        """Return the column that holds the number of a scalar subquery, or the constant that it is."""
        return self.numbers.hold(node, self.known)

    def listed(self, star: exp.Expr) -> list[tuple[str, exp.Column]]:
        """Return all columns that a star stands for; those that USING merged once."""
        table = star.args.get("table") if isinstance(star, exp.Column) else None
        items = self.items or (self.first_item(),)
        named = [item for item in items if table is None or item.qualifier.casefold() == table.name.casefold()]
        listed: list[tuple[str, exp.Column]] = []
        for item in named:
            for seen in item.columns:
                alone = not seen.merged and len(items) == 1
                shared = table is None and seen.merged
                if not shared or seen.name.casefold() not in {name.casefold() for name, _ in listed}:
                    qualifier = "" if alone or shared else item.qualifier
                    listed.append((seen.name, _named_column(seen.name, star, qualifier)))
        return listed


@dataclass(slots=True)
class StageParts:
    """Summaries and windows that expressions of a stage hold, as they are met."""

    scope: SqlScope
    grouped: bool
    hold_number: Callable[[exp.Subquery], Expression]
    groups: tuple[Expression, ...] = ()
    summaries: list[Summary] = field(default_factory=list)
    windows: list[WindowFunction] = field(default_factory=list)

    def read(self, node: exp.Expr, names: dict[str, Expression], *, over: bool = False) -> Expression:
        """Return an expression with columns in place of its summaries, and of windows where they may stand (`over`).

        `names` are outputs that it may speak of.
        """

        def special(inner: exp.Expr, here: SqlScope) -> Expression | None:
            if isinstance(inner, exp.Column) and inner.args.get("table") is None:
                output = names.get(inner.name.casefold())
                if output is not None:
                    return output
            if isinstance(inner, exp.Window):
                return self._hold_window(inner, names, over=over)
            if isinstance(inner, exp.Subquery):
                return self.hold_number(inner)
            ends = _read_end_of_texts(inner, replace(here, special=self.scope.special))
            if ends is not None:
                return self._hold(ends)
            measure = read_measure(inner, replace(here, special=self.scope.special))
            if measure is not None:
                return self._hold(_summary_of(measure, inner, here))
            return None if self.scope.special is None else self.scope.special(inner, here)

        return self._settle(read_expression(node, replace(self.scope, special=special)), node)

    def hide_names(self, names: dict[str, Expression]) -> dict[str, Expression]:
        """Return outputs that may be spoken of beside columns: a column is meant before an output of its name."""
        seen = (column.name for item in self.scope.items for column in item.columns)
        columns = {name for group in self.groups for name in post.names_in(group)} if self.grouped else set(seen)
        folded = {strip_numbers(name).casefold() for name in columns}
        return {name: expression for name, expression in names.items() if name not in folded}

    def _hold_window(self, node: exp.Window, names: dict[str, Expression], *, over: bool) -> ColumnValue:
        if not over:
            raise self.scope.refuse(
                node, "A window cannot stand here.", "write it after SELECT, QUALIFY or ORDER BY, not in another window"
            )

        beside = self.hide_names(names)

        def read(part: exp.Expr) -> Expression:
            expression = self.read(part, beside)
            if any(name.startswith(post.window_name(0)[:-1]) for name in post.names_in(expression)):
                raise self.scope.refuse(
                    part, "A window cannot be about another one.", "compute the inner one in a subquery after FROM"
                )
            return expression

        def summarise(part: exp.Expr) -> Summary:
            # What is summed up may be a summary of each group: SUM(SUM(n)) OVER ().
            measure = read_measure(part, replace(self.scope, special=lambda inner, _here: self._read_part(inner, read)))
            if measure is None:
                raise TypeError
            return _summary_of(measure, part, self.scope)

        window = WindowReader(self.scope, read, summarise).window(node)
        if window not in self.windows:
            self.windows.append(window)
        return ColumnValue(post.window_name(self.windows.index(window)), window.kind)

    @staticmethod
    def _read_part(node: exp.Expr, read: Callable[[exp.Expr], Expression]) -> Expression | None:
        return None if isinstance(node, exp.Star) else read(node)

    def _hold(self, summary: Summary) -> ColumnValue:
        if summary not in self.summaries:
            self.summaries.append(summary)
        return ColumnValue(post.summary_name(self.summaries.index(summary)), summary.kind)

    def _settle(self, expression: Expression, node: exp.Expr) -> Expression:
        """Return an expression over groups and summaries, or refuse columns that are neither, and odd functions."""
        check_functions(expression, node, self.scope)
        if not self.grouped:
            return expression
        keys = {group: ColumnValue(post.key_name(index), group.kind) for index, group in enumerate(self.groups)}
        settled = post.replace_parts(expression, keys)
        for name in sorted(post.names_in(settled)):
            if not name.startswith(post.MARK):
                name = strip_numbers(name)  # noqa: PLW2901 - as it is written
                places = [column for column in node.find_all(exp.Column) if column.name.casefold() == name.casefold()]
                raise self.scope.refuse(
                    places[0] if places else node,
                    f"{name!r} is neither aggregated nor grouped by.",
                    f"write GROUP BY {name}, or MAX({name}) or the like",
                )
        return settled


def _read_end_of_texts(node: exp.Expr, scope: SqlScope) -> Summary | None:
    """Return MIN or MAX of texts: of private rows it would be one row's value, of an answer's keys it is free."""
    if not isinstance(node, exp.Anonymous) or node.name.upper() not in ("MIN", "MAX") or len(node.expressions) != 1:
        return None
    if isinstance(node.expressions[0], exp.Distinct):
        return None
    value = read_expression(node.expressions[0], scope)
    return Summary(function=node.name.upper(), value=value) if value.kind is Kind.TEXT else None


def _summary_of(measure: q.Measure, node: exp.Expr, scope: SqlScope) -> Summary:
    """Return the summary of an answer's rows that a measure would be of private ones."""
    match measure:
        case q.Count():
            return Summary(function="COUNT")
        case q.CountOf(value=value):
            return Summary(function="COUNT", value=value)
        case q.CountDistinct(value=value):
            return Summary(function="COUNT", value=value, distinct=True)
        case q.Quantile(value=value, level=level) if value.kind.numeric:
            return Summary(function="QUANTILE_CONT", value=value, level=level)
        case q.Variance(value=value, sample=sample):
            return Summary(function="VAR_SAMP" if sample else "VAR_POP", value=value)
        case q.Deviation(value=value, sample=sample):
            return Summary(function="STDDEV_SAMP" if sample else "STDDEV_POP", value=value)
        case q.Sum() | q.Average() | q.Smallest() | q.Largest():
            return Summary(function=SUMMARIES[type(measure)], value=measure.value)
        case _:
            raise scope.refuse(
                node,
                "This summary cannot be computed from an answer.",
                "use COUNT, SUM, AVG, MIN, MAX, MEDIAN or STDDEV; or compute it from the answer afterwards",
            )


SUMMARIES: dict[type[q.Measure], str] = {q.Sum: "SUM", q.Average: "AVG", q.Smallest: "MIN", q.Largest: "MAX"}


def check_functions(expression: Expression, node: exp.Expr, scope: SqlScope) -> None:
    """Refuse functions that are not computed from answers."""
    odd = find_odd_function(expression)
    if odd is not None:
        raise scope.refuse(
            node,
            f"{odd} cannot be applied to the columns of an answer.",
            "apply it to rows, inside the subquery, before they are grouped; or to the answer afterwards",
        )


def read_stage(tree: exp.Select, over: StageScope) -> Stage:
    """Return the stage that a SELECT over an answer is."""
    scope = over.plain()
    grouped = sums_up_beside_windows(tree)
    parts = StageParts(scope, grouped, over.hold_number, _read_groups(tree, scope))
    names = _read_outputs(tree, over, parts)
    aliases = {output.name.casefold(): output.expression for output in names}
    hidden = parts.hide_names(aliases)
    having = _read_condition(tree, "having", parts, hidden)
    qualify = _read_condition(tree, "qualify", parts, hidden)
    order = tuple(
        sorting
        for node in _order_nodes(tree, scope)
        for sorting in place_nulls(_read_sorting(node, tree, parts, names, aliases), node)
    )
    return Stage(
        outputs=names,
        where=_read_condition(tree, "where", StageParts(scope, grouped=False, hold_number=over.hold_number), {}),
        grouped=grouped,
        groups=parts.groups,
        summaries=tuple(parts.summaries),
        having=having,
        windows=tuple(parts.windows),
        qualify=qualify,
        distinct=tree.args.get("distinct") is not None,
        order=order,
        most=_read_number(tree, "limit", scope),
        skipped=_read_number(tree, "offset", scope) or 0,
    )


def _read_groups(tree: exp.Select, scope: SqlScope) -> tuple[Expression, ...]:
    groups: list[Expression] = []
    for node in need_one_set(group_nodes(tree, scope.page, start_of(tree)), scope.page):
        expression = read_expression(resolve_group(node, tree, scope), scope)
        check_functions(expression, node, scope)
        if not post.names_in(expression):
            raise scope.refuse(node, "This expression is constant.", "group by a column")
        groups.append(expression)
    return tuple(dict.fromkeys(groups))


def _read_condition(
    tree: exp.Select, clause: str, parts: StageParts, names: dict[str, Expression]
) -> Expression | None:
    node = tree.args.get(clause)
    if node is None:
        return None
    if clause == "where" and sums_up(node):
        raise parts.scope.refuse(node.this, "WHERE cannot sum up.", "write the condition after HAVING")
    condition = parts.read(node.this, names, over=clause == "qualify")
    if condition.kind is not Kind.BOOLEAN:
        raise parts.scope.refuse(node.this, f"{clause.upper()} needs a condition.", "write a comparison: n >= 10")
    return condition


def _read_outputs(tree: exp.Select, over: StageScope, parts: StageParts) -> tuple[StageOutput, ...]:
    """Return all outputs; each may speak of those before it by name, where no column is called so."""
    if not tree.expressions:
        raise parts.scope.refuse(tree, "SELECT has no columns.", "name columns")
    columns = {seen.name.casefold() for item in parts.scope.items for seen in item.columns}
    known: dict[str, Expression] = {}
    read: list[tuple[str | None, Expression, exp.Expr]] = []
    for node in tree.expressions:
        if _is_star(node, parts.scope):
            taken = {name.casefold() for name, _, _ in read if name is not None}
            for name, column in over.listed(node):
                # Both of two answers may have a column of this name.
                read.append((None if name.casefold() in taken else name, parts.read(column, known), node))
                taken.add(name.casefold())
            continue
        alias = node.alias if isinstance(node, exp.Alias) else None
        read.append((alias, parts.read(node.unalias(), known, over=True), node))
        if alias is not None and alias.casefold() not in columns:
            known[alias.casefold()] = read[-1][1]
    return _name_outputs(read, parts)


def _is_star(node: exp.Expr, scope: SqlScope) -> bool:
    if isinstance(node, exp.Star):
        return True
    if not (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        return False
    table, aliases = node.args.get("table"), {item.qualifier.casefold() for item in scope.items}
    if table is None or table.name.casefold() not in aliases:
        raise scope.refuse(node, "The question has no such table.", "name the columns")
    return True


def _named_column(name: str, node: exp.Expr, qualifier: str = "") -> exp.Column:
    column = exp.Column(this=exp.Identifier(this=name, quoted=True))
    if qualifier:
        column.set("table", exp.Identifier(this=qualifier, quoted=True))
    column.meta.update(node.meta)
    return column


def _name_outputs(read: list[tuple[str | None, Expression, exp.Expr]], parts: StageParts) -> tuple[StageOutput, ...]:
    """Return outputs with their names: as given, else made up so that they differ from all others."""
    if len(read) > MOST_OUTPUTS:
        raise parts.scope.refuse(read[-1][2], f"There are more than {MOST_OUTPUTS} outputs.", "select fewer columns")
    taken: list[str] = []
    for name, _, node in read:
        if name is not None and name.casefold() in {other.casefold() for other in taken}:
            raise parts.scope.refuse(node, f"Two outputs are called {name!r}.", "give each its own name")
        if name is not None and (not name.strip() or len(name) > LONGEST_NAME):
            raise parts.scope.refuse(node, f"A name has 1 to {LONGEST_NAME} characters.", "give it a name such as n")
        taken += [] if name is None else [name]
    outputs: list[StageOutput] = []
    for name, expression, _ in read:
        chosen = make_unique_name(_name_of(expression, parts), taken) if name is None else name
        taken.append(chosen)
        outputs.append(StageOutput(chosen, expression))
    return tuple(outputs)


def _name_of(expression: Expression, parts: StageParts) -> str:
    """Return what an output is called without AS: its column, or its only summary with its column."""
    names = {name for name in post.names_in(expression) if name[:2] != post.number_name(0)[:2]}
    held = sorted(name for name in names if name.startswith(post.MARK))
    if not names:
        return "value"
    if len(held) != 1:
        return "value" if held else strip_numbers(name_of(expression))
    index, what = int(held[0][2:]), held[0][1]
    if what == "k":
        return strip_numbers(name_of(parts.groups[index])) if isinstance(expression, ColumnValue) else "value"
    if what == "w":
        return _name_function(parts.windows[index].function, parts)
    return _name_function(parts.summaries[index], parts)


def _name_function(function: Summary | Ranking | Neighbour, parts: StageParts) -> str:
    if isinstance(function, Ranking):
        return function.function.lower()
    distinct = isinstance(function, Summary) and function.distinct
    word = "distinct" if distinct else WORDS.get(function.function, function.function.lower())
    column = "value" if function.value is None else _name_of(function.value, parts)
    return word if column == "value" else f"{word}_{column}"


WORDS = {"VAR_SAMP": "variance", "VAR_POP": "variance", "STDDEV_SAMP": "stddev", "STDDEV_POP": "stddev"} | {
    "QUANTILE_CONT": "quantile"
}


def _order_nodes(tree: exp.Select, scope: SqlScope) -> list[exp.Expr]:
    order = tree.args.get("order")
    if order is not None and not order.expressions:
        raise scope.refuse(order, "ORDER BY names nothing.", "name a column, or leave it out")
    return [] if order is None else list(order.expressions)


def _read_sorting(
    node: exp.Expr,
    tree: exp.Select,
    parts: StageParts,
    outputs: tuple[StageOutput, ...],
    aliases: dict[str, Expression],
) -> Sorting:
    inner, descending = node.this, bool(node.args.get("desc"))
    if not isinstance(inner, exp.Literal):
        return Sorting(_read_sorted(inner, parts, aliases), descending)
    if inner.is_string or not inner.name.isdecimal() or not 1 <= int(inner.name) <= len(outputs):
        raise parts.scope.refuse(
            inner,
            f"There is no output {inner.name[:20]}.",
            f"write a number from 1 to {len(tree.expressions)}, or a name",
        )
    return Sorting(outputs[int(inner.name) - 1].expression, descending)


def _read_sorted(node: exp.Expr, parts: StageParts, aliases: dict[str, Expression]) -> Expression:
    """Return what is sorted by. An output's expression is settled already, and nothing else may be."""
    if isinstance(node, exp.Column) and node.args.get("table") is None and node.name.casefold() in aliases:
        return aliases[node.name.casefold()]
    return parts.read(node, aliases, over=True)


def _read_number(tree: exp.Select, clause: str, scope: SqlScope) -> int | None:
    """Return the number of LIMIT or OFFSET."""
    part = tree.args.get(clause)
    if part is None:
        return None
    node, word = part.expression, clause.upper()
    if not isinstance(node, exp.Literal) or not node.name.isdecimal() or int(node.name) > MOST_ROWS:
        raise scope.refuse(part, f"{word} needs a whole number of at least 0.", f"write {word} 10")
    return int(node.name)
