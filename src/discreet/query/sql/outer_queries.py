"""Questions about answers: SELECT over a subquery that sums up, from SQL to a question with stages.

A subquery that sums up for each person is rows, and part of a question. One that sums up otherwise is a question by
itself: it is planned and paid for as if it was asked alone, and what stands around it is computed from its answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression, Literal
from discreet.algebra.relations import PublicScan, matching
from discreet.core import DiscreetError
from discreet.query import post_processing as post
from discreet.query.post_processing import Stage
from discreet.query.questions import PublicQuestion, QueryRefused, Question
from discreet.query.relations.person_keys import holds_key
from discreet.query.relations.thresholds import kind_of_threshold
from discreet.query.shapes import columns_of_answer
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.parsing.tree_checks import start_of
from discreet.query.sql.queries import add_with_names, read_rows_of
from discreet.query.sql.scope import Known, Numbers, SqlScope
from discreet.query.sql.select import (
    group_nodes,
    resolve_group,
    split_sets,
    sums_up,
)
from discreet.query.sql.stages import StageScope, read_stage
from discreet.query.sql.windows import (
    Lifting,
    check_no_windows,
    is_outer,
    sums_up_beside_windows,
    write_out_windows,
)
from discreet.query.stage_checks import has_one_cell, makes_one_cell

NOT_ONE = "A question about public tables alone reads one of them, without joins and set operations."
ONE_PUBLIC = "ask for each public table by itself, and combine the answers; or join them with a private table"
NO_NUMBER = "A scalar subquery must be one number for sure."
ONE_NUMBER = "select one aggregate without GROUP BY, HAVING and scalar subqueries of its own: (SELECT COUNT(*) …)"
#: Reads one SELECT about private rows.
ReadQuestion = Callable[[exp.Select, Known], Question]


@dataclass(slots=True)
class ScalarQuestions:
    """Questions whose numbers stages use, each once, as they are met."""

    read: ReadQuestion
    asked: list[Question] = field(default_factory=list)

    def hold(self, node: exp.Subquery, known: Known) -> Expression:
        """Return the column that holds the number of a scalar subquery, or the constant that it is."""
        select = _need_select(node, known)
        constant = find_public_constant(select, known)
        if constant is not None:
            return constant
        question = read_outer_question(select, add_with_names(select, known), self.read)
        columns = columns_of_answer(question)
        if columns is None or not has_one_cell(question) or not columns[0][1].numeric:
            raise known.refuse(select, NO_NUMBER, ONE_NUMBER)
        if question not in self.asked:
            self.asked.append(question)
        return ColumnValue(post.number_name(self.asked.index(question)), columns[0][1])


@dataclass(slots=True)
class ThresholdQuestions:
    """Questions that the conditions on private rows compare with, each once, as they are met."""

    read: ReadQuestion
    known: Known
    asked: list[Question] = field(default_factory=list)

    def find(self, node: exp.Expr, scope: SqlScope) -> Expression | None:
        """Return what stands for the number of a scalar subquery: a name, or the constant that it is."""
        if not isinstance(node, exp.Subquery):
            return None
        select, known = _need_select(node, self.known), self.known
        _check_not_correlated(select, scope)
        constant = find_public_constant(select, known)
        if constant is not None:
            return constant
        question = read_outer_question(select, add_with_names(select, known), self.read)
        kind = kind_of_threshold(question)
        if kind is None:
            raise known.refuse(select, NO_NUMBER, ONE_NUMBER)
        if question not in self.asked:
            self.asked.append(question)
        return ColumnValue(post.threshold_name(self.asked.index(question)), kind)


def _need_select(node: exp.Subquery, known: Known) -> exp.Select:
    select = node.unnest()
    if not isinstance(select, exp.Select):
        raise known.refuse(node, "A scalar subquery is one SELECT.", "write (SELECT COUNT(*) FROM …)")
    return select


def _check_not_correlated(select: exp.Select, scope: SqlScope) -> None:
    """Refuse a subquery that speaks of the row around it: it would be another question for each row."""
    inside = {table.alias_or_name.casefold() for table in select.find_all(exp.Table, exp.Subquery)}
    outside = {item.qualifier.casefold() for item in scope.items if item.qualifier} - inside
    for column in select.find_all(exp.Column):
        table = column.args.get("table")
        if table is not None and table.name.casefold() in outside:
            raise scope.refuse(
                column,
                "A scalar subquery cannot speak of the rows around it.",
                "sum up for each person in a subquery after JOIN, and compare with its column: JOIN (SELECT "
                "patient_id, AVG(x) AS m FROM … GROUP BY patient_id) AS t ON … WHERE x > t.m",
            )


def find_public_constant(select: exp.Select, known: Known) -> Literal | None:
    """Return the value of a scalar subquery about public tables alone, exactly; None if it is about any other."""
    if not is_about_public_tables(select, known):
        return None
    question = read_public_question(select, add_with_names(select, known))
    if not makes_one_cell(question.stages[-1]):
        raise known.refuse(select, "A scalar subquery must be one value for sure.", ONE_NUMBER)
    if known.answer is None:
        raise known.refuse(
            select, "The rows of public tables are not known here.", "ask a session; or write the value itself"
        )
    try:
        value = known.answer(question)
    except DiscreetError as error:
        raise known.refuse(select, error.problem, error.fix) from None
    return Literal.of(None) if value is None else Literal(value, question.stages[-1].columns[0][1])


def read_outer_question(tree: exp.Select, known: Known, read: ReadQuestion) -> Question:
    """Return the question of a SELECT, with those whose numbers it uses."""
    numbers = ScalarQuestions(read)
    question = _read_nested(tree, known, numbers)
    return replace(question, numbers=tuple(numbers.asked)) if numbers.asked else question


def _read_nested(tree: exp.Select, known: Known, numbers: ScalarQuestions) -> Question:
    """Return the question of a SELECT: about private rows, or about the answer to another question."""
    tree = write_out_windows(tree, known)
    inner = _find_inner(tree, known)
    if inner is None and is_outer(tree) and sums_up_beside_windows(tree):
        return _read_beside_windows(tree, known, numbers)
    if inner is None:
        check_no_windows(tree, known)
        return numbers.read(tree, known)
    known.count_table(tree)
    question = _read_nested(inner.select, inner.known, numbers)
    columns = columns_of_answer(question)
    if columns is None:
        raise known.refuse(
            tree.args["from_"].this,
            "HISTOGRAM cannot stand in a subquery.",
            "ask for HISTOGRAM(…) by itself; or group by FLOOR(x / 10)",
        )
    stage = read_stage(tree, StageScope(known, columns, inner.alias, numbers))
    return replace(question, stages=(*question.stages, stage))


def _read_beside_windows(tree: exp.Select, known: Known, numbers: ScalarQuestions) -> Question:
    """Return the question of a SELECT whose windows are about its own aggregates."""
    lifting = Lifting(tree, known)
    inner, outer = lifting.split()
    question = numbers.read(inner, known)
    columns = columns_of_answer(question)
    if columns is None:
        raise known.refuse(tree, "HISTOGRAM cannot stand beside a window.", "ask for HISTOGRAM(…) by itself")
    lifting.name_places([name for name, _ in columns])
    stage = read_stage(outer, StageScope(known, columns, "", numbers))
    return replace(question, stages=(*question.stages, stage))


@dataclass(slots=True)
class PublicNumbers:
    """Questions about public tables whose numbers stages use, each once, as they are met."""

    asked: list[PublicQuestion] = field(default_factory=list)

    def hold(self, node: exp.Subquery, known: Known) -> Expression:
        """Return the column that holds the number of a scalar subquery."""
        select = _need_select(node, known)
        question = read_public_question(select, add_with_names(select, known))
        last = question.stages[-1]
        if question.numbers or not makes_one_cell(last) or not last.columns[0][1].numeric:
            raise known.refuse(select, NO_NUMBER, ONE_NUMBER)
        if question not in self.asked:
            self.asked.append(question)
        return ColumnValue(post.number_name(self.asked.index(question)), last.columns[0][1])


def is_about_public_tables(tree: exp.Select, known: Known) -> bool:
    """Whether all tables that a question names, at any depth, are public."""
    given = {cte.alias.casefold() for cte in tree.find_all(exp.CTE)}
    named = {table.name.casefold() for table in tree.find_all(exp.Table)} - given
    return bool(named) and all(known.public(name) is not None for name in named)


def read_public_question(tree: exp.Select, known: Known) -> PublicQuestion:
    """Return the question of a SELECT all of whose tables are public."""
    numbers = PublicNumbers()
    table, stages = _read_public_stages(tree, known, numbers)
    return PublicQuestion(table=table, stages=stages, numbers=tuple(numbers.asked))


def _read_public_stages(tree: exp.Select, known: Known, numbers: PublicNumbers) -> tuple[str, tuple[Stage, ...]]:
    """Return the public table that a SELECT reads at last, and all SELECTs on it from the inside out."""
    tree = write_out_windows(tree, known)
    known.count_table(tree)
    clause = tree.args.get("from_")
    if clause is None or tree.args.get("joins"):
        raise known.refuse(tree, NOT_ONE, ONE_PUBLIC)
    origin = _find_public_origin(clause.this, known)
    if isinstance(origin, PublicScan):
        columns = tuple((column.name, column.kind) for column in origin.columns)
        alias = clause.this.alias or origin.table
        return origin.table, (read_stage(tree, StageScope(known, columns, alias, numbers)),)
    table, stages = _read_public_stages(origin.select, origin.known, numbers)
    return table, (*stages, read_stage(tree, StageScope(known, stages[-1].columns, origin.alias, numbers)))


def _find_public_origin(node: exp.Expr, known: Known) -> "PublicScan | InnerQuestion":
    """Return what stands after FROM where all tables are public: one of them, or a SELECT."""
    alias = node.alias
    if isinstance(node, exp.Table):
        given, scan = known.given.get(node.name.casefold()), known.public(node.name)
        if given is None and scan is not None:
            return scan
        if given is not None:
            alias = alias or node.name
            node, known = given.node.this, replace(given.known, numbers=known.numbers)
    while isinstance(node, exp.Subquery):
        node = node.this
    if not isinstance(node, exp.Select):
        raise known.refuse(node, NOT_ONE, ONE_PUBLIC)
    return InnerQuestion(node, add_with_names(node, known), alias)


@dataclass(frozen=True, slots=True)
class InnerQuestion:
    """A subquery that is a question by itself: its SELECT, what is known there, and what it is called outside."""

    select: exp.Select
    known: Known
    alias: str


def _find_inner(tree: exp.Select, known: Known) -> InnerQuestion | None:
    """Return the question that a SELECT is about, or None if it is about rows."""
    clause = tree.args.get("from_")
    if clause is None or tree.args.get("joins"):
        return None
    node, alias = clause.this, clause.this.alias
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        given = known.given.get(node.name.casefold())
        if given is None:
            return None
        node, known, alias = given.node.this, replace(given.known, numbers=known.numbers), alias or node.name
    while isinstance(node, exp.Subquery):
        node = node.this
    if not isinstance(node, exp.Select) or node.args.get("distinct") is not None:
        return None
    inside = add_with_names(node, known)
    is_answer = _find_inner(node, inside) is not None or _sums_up_for_all(node, inside)
    return InnerQuestion(node, inside, alias) if is_answer else None


def _sums_up_for_all(node: exp.Select, known: Known) -> bool:
    """Whether a SELECT sums up, and not for each person. What cannot be read is left to whoever reads rows."""
    clauses = node.args.get("group") is not None or node.args.get("having") is not None
    if not clauses and not any(map(sums_up, node.expressions)):
        return False
    known = replace(known, numbers=Numbers())
    try:
        source, _ = read_rows_of(node, known)
        if matching(source.relation) is not None:
            return False
        people, scope = known.people(source.relation), known.scope(source)
        groups, _ = split_sets(group_nodes(node, known.page, start_of(node)), known.page)
        keys = [read_expression(resolve_group(group, node, scope), scope) for group in groups]
    except QueryRefused:
        return False
    for_each = any(isinstance(key, ColumnValue) and key.name in people for key in keys)
    return not for_each and not holds_key(keys, source.relation, known.schemas)
