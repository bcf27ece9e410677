"""Questions about answers: SELECT over subqueries that sum up, from SQL to a question with stages.

A subquery that sums up for each person is rows, and part of a question. One that sums up otherwise is a question by
itself: it is planned and paid for as if it was asked alone, and what stands around it is computed from its answer.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import reduce

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression, Literal
from discreet.algebra.relations import PublicScan, matching
from discreet.core import DiscreetError
from discreet.query import post_processing as post
from discreet.query.post_processing import Stage
from discreet.query.questions import PublicQuestion, QueryRefused, Question
from discreet.query.relations.person_keys import holds_key
from discreet.query.relations.thresholds import kind_of_threshold
from discreet.query.shapes import Columns, columns_of_answer
from discreet.query.sql.answer_joins import AnswerJoins, Operand, keeps_unmatched_right
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.joins import split_conjuncts
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
from discreet.query.stage_checks import fitting_kinds, has_one_cell, makes_one_cell

NOT_ONE = "A question about public tables alone reads one of them, without joins and set operations."
ONE_PUBLIC = "ask for each public table by itself, and combine the answers; or join them with a private table"
NO_NUMBER = "A scalar subquery must be one number for sure."
ONE_NUMBER = "select one aggregate without GROUP BY, HAVING and scalar subqueries of its own: (SELECT COUNT(*) …)"
ONE_VALUE = "select one column of one row: (SELECT MAX(beds) FROM wards), or WHERE code = 'A'; or write IN (SELECT …)"
#: Reads one SELECT about private rows.
ReadQuestion = Callable[[exp.Select, Known], Question]


@dataclass(slots=True)
class BesideQuestions:
    """Questions whose numbers and answers stages use besides the first, each once, as they are met."""

    read: ReadQuestion
    asked: list[Question] = field(default_factory=list)
    tables: list[Question] = field(default_factory=list)

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

    def hold_table(self, node: exp.Expr, known: Known) -> tuple[int, Question, Columns]:
        """Return the place, question and columns of an answer that is joined or appended."""
        question = read_answer(node, known, self.read)
        if question not in self.tables:
            self.tables.append(question)
        return self.tables.index(question), question, need_columns(question, node, known)


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
    columns = question.stages[-1].columns
    if len(columns) != 1:
        raise known.refuse(select, "A scalar subquery must be one value for sure.", ONE_VALUE)
    if known.answer is None:
        raise known.refuse(
            select, "The rows of public tables are not known here.", "ask a session; or write the value itself"
        )
    try:
        values = known.answer(question)
    except DiscreetError as error:
        raise known.refuse(select, error.problem, error.fix) from None
    if len(values) > 1:
        raise known.refuse(select, "A scalar subquery must be one value, and this one has several rows.", ONE_VALUE)
    # Without a row, it is NULL, as in SQL.
    value = values[0] if values else None
    return Literal.of(None) if value is None else Literal(value, columns[0][1])


def read_outer_question(tree: exp.Select, known: Known, read: ReadQuestion) -> Question:
    """Return the question of a SELECT, with those whose numbers and answers it uses."""
    return read_answer(tree, known, read)


def read_answer(node: exp.Expr, known: Known, read: ReadQuestion) -> Question:
    """Return the question of a SELECT, or of several with UNION between them, with all that it uses."""
    beside = BesideQuestions(read)
    question = _read_below(node, known, beside)
    if not beside.asked and not beside.tables:
        return question
    return replace(question, numbers=tuple(beside.asked), tables=tuple(beside.tables))


def _read_below(node: exp.Expr, known: Known, beside: BesideQuestions) -> Question:
    """Return what a stage is about: the question of a SELECT, or of a UNION, which is a stage of its own."""
    if isinstance(node, exp.Select):
        return _read_nested(node, known, beside)
    question, scope, appended = _read_union(node, known, beside, "")
    star = exp.Select(expressions=[exp.Star()])
    star.meta.update({"start": start_of(node)})
    stage = replace(appended(read_stage(star, scope)), distinct=bool(node.args.get("distinct")))
    return replace(question, stages=(*question.stages, stage))


def _read_nested(tree: exp.Select, known: Known, beside: BesideQuestions) -> Question:
    """Return the question of a SELECT: about private rows, or about the answers to other questions."""
    tree = write_out_windows(tree, known)
    if tree.args.get("from_") is None and (number := tree.find(exp.Subquery)) is not None:
        return _read_numbers_alone(tree, number, known, beside)
    answers = _find_answers(tree, known)
    if not answers and is_outer(tree) and sums_up_beside_windows(tree):
        return _read_beside_windows(tree, known, beside)
    if not answers:
        check_no_windows(tree, known)
        return beside.read(tree, known)
    known.count_table(tree)
    inner, united = answers[0], isinstance(answers[0].select, exp.SetOperation)
    if len(answers) == 1 and united and not inner.select.args.get("distinct"):
        question, scope, appended = _read_union(inner.select, inner.known, beside, inner.alias)
        return replace(question, stages=(*question.stages, appended(read_stage(tree, replace(scope, known=known)))))
    question = _read_below(inner.select, inner.known, beside)
    columns = need_columns(question, tree.args["from_"].this, known)
    scope = StageScope(known, columns, inner.alias, beside)
    if len(answers) > 1:
        return _read_joined(tree, question, scope, answers[1:], beside)
    return replace(question, stages=(*question.stages, read_stage(tree, scope)))


def _read_numbers_alone(tree: exp.Select, number: exp.Subquery, known: Known, beside: BesideQuestions) -> Question:
    """Return the question of a SELECT without FROM: it is about the first of its scalar subqueries, with the others."""
    select = _need_select(number, known)
    question = _read_nested(select, add_with_names(select, known), beside)
    columns = columns_of_answer(question)
    if columns is None or not has_one_cell(question) or beside.asked or not columns[0][1].numeric:
        raise known.refuse(select, NO_NUMBER, ONE_NUMBER)
    column = exp.Column(this=exp.Identifier(this=columns[0][0], quoted=True))
    column.meta["start"] = start_of(number)
    number.replace(column)
    stage = read_stage(tree, StageScope(known, columns, "", beside))
    return replace(question, stages=(*question.stages, stage))


def need_columns(question: Question, node: exp.Expr, known: Known) -> Columns:
    """Return the columns of a question's answer, or refuse one that cannot stand in a subquery."""
    columns = columns_of_answer(question)
    if columns is None:
        raise known.refuse(
            node,
            "HISTOGRAM cannot stand in a subquery.",
            "ask for HISTOGRAM(…) by itself; or group by FLOOR(x / 10)",
        )
    return columns


def _read_joined(
    tree: exp.Select,
    question: Question,
    scope: StageScope,
    answers: list["InnerQuestion"],
    beside: BesideQuestions,
) -> Question:
    """Return the question of a SELECT about several answers, which stand beside each other."""
    where, nodes = tree.args.get("where"), tree.args["joins"]
    movable = where is not None and not any(map(keeps_unmatched_right, nodes))
    conditions = split_conjuncts(where.this) if movable and where is not None else []
    joins = AnswerJoins(replace(scope, items=(scope.first_item(),)), question, conditions)
    for node, answer in zip(nodes, answers, strict=True):
        place, other, columns = beside.hold_table(answer.select, answer.known)
        joins.join(Operand(node, other, columns, place, answer.alias))
    if movable:
        tree = _with_where(tree, joins.conditions)
    stage = replace(read_stage(tree, joins.scope), joined=tuple(joins.joined))
    return replace(question, stages=(*question.stages, stage))


def _with_where(tree: exp.Select, conditions: list[exp.Expr]) -> exp.Select:
    """Return a SELECT with these conditions, joined by AND, after WHERE."""
    kept = [condition.copy() for condition in conditions]
    tree = tree.copy()
    tree.set(
        "where", exp.Where(this=reduce(lambda one, other: exp.And(this=one, expression=other), kept)) if kept else None
    )
    return tree


def _read_union(
    node: exp.Expr, known: Known, beside: BesideQuestions, alias: str
) -> tuple[Question, StageScope, Callable[[Stage], Stage]]:
    """Return the first question of a UNION, its columns, and what appends the others to a stage about it."""
    first, *others = _parts_of_union(node, known)
    question = _read_below(first, add_with_names(first, known), beside)
    columns = need_columns(question, first, known)
    kinds, places = tuple(kind for _, kind in columns), list[int]()
    for other in others:
        known.count_table(other)
        place, _, theirs = beside.hold_table(other, add_with_names(other, known))
        fitting = fitting_kinds(kinds, [kind for _, kind in theirs])
        if fitting is None:
            raise known.refuse(
                other,
                "The parts of UNION have different columns.",
                "select as many in each, of the same kinds and in the same order; CAST(… AS …) makes them alike",
            )
        kinds = fitting
        places.append(place)
    scope = StageScope(
        known, tuple((name, kind) for (name, _), kind in zip(columns, kinds, strict=True)), alias, beside
    )
    return question, scope, lambda stage: replace(stage, appended=tuple(places), kinds=kinds)


def _parts_of_union(node: exp.Expr, known: Known) -> list[exp.Expr]:
    """Return the parts of UNION ALL, or of UNION, from left to right."""
    parts: list[exp.Expr] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        while isinstance(part, exp.Subquery) and not part.alias:
            part = part.this
        if isinstance(part, exp.Intersect | exp.Except):
            raise known.refuse(
                part.expression,
                f"{type(part).__name__.upper()} of two answers is not supported.",
                "join them: FROM (…) AS a LEFT JOIN (…) AS b USING (x) WHERE b.n IS NULL",
            )
        plain = part is node or not (part.args.get("order") or part.args.get("limit"))
        if isinstance(part, exp.Union) and plain and (node.args.get("distinct") or not part.args.get("distinct")):
            waiting += [part.expression, part.this]
        else:
            parts.append(part)
    return parts


def _read_beside_windows(tree: exp.Select, known: Known, numbers: BesideQuestions) -> Question:
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
    if not isinstance(origin.select, exp.Select):
        raise known.refuse(tree, NOT_ONE, ONE_PUBLIC)
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
    return InnerQuestion(node, add_with_names(node, known), alias)


@dataclass(frozen=True, slots=True)
class InnerQuestion:
    """A subquery that is a question by itself: its SELECT or UNION, what is known there, and its name outside."""

    select: exp.Expr
    known: Known
    alias: str


def _find_answers(tree: exp.Select, known: Known) -> list[InnerQuestion]:
    """Return the questions that a SELECT is about; none if it is about rows."""
    clause = tree.args.get("from_")
    if clause is None:
        return []
    nodes = [clause.this, *(join.this for join in tree.args.get("joins") or [])]
    found = [(node, _find_answer(node, known)) for node in nodes]
    answers = [answer for _, answer in found if answer is not None]
    for node, answer in found:
        if answers and answer is None and isinstance(node, exp.Table) and known.public(node.name) is not None:
            raise known.refuse(
                node,
                "An answer is joined with other answers, and not with a public table.",
                "join the public table inside of the question: FROM (SELECT … FROM visits JOIN wards ON …) AS q",
            )
    return answers if len(answers) == len(found) else []


def _find_answer(node: exp.Expr, known: Known) -> InnerQuestion | None:
    """Return the question that stands after FROM or JOIN, or None if it is about rows."""
    alias = node.alias
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        given = known.given.get(node.name.casefold())
        if given is None:
            return None
        alias = alias or node.name
        node, known = given.node.this, replace(given.known, numbers=known.numbers)
        found = known.numbers.answers
        # Names that double each other would be looked at 2ⁿ times.
        if id(given.node) not in found:
            found[id(given.node)] = is_answer(_unwrap(node), known)
        is_one = found[id(given.node)]
    else:
        is_one = is_answer(_unwrap(node), known)
    select = _unwrap(node)
    return InnerQuestion(select, add_with_names(select, known), alias) if is_one else None


def _unwrap(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Subquery):
        node = node.this
    return node


def is_answer(node: exp.Expr, known: Known) -> bool:
    """Whether a subquery is a question by itself: it sums up, and not for each person, or is about such an answer."""
    if isinstance(node, exp.SetOperation):
        parts, inside = [_unwrap(node.this), _unwrap(node.expression)], add_with_names(node, known)
        return all(is_answer(part, inside) for part in parts)
    if not isinstance(node, exp.Select):
        return False
    inside = add_with_names(node, known)
    return bool(_find_answers(node, inside)) or _sums_up_for_all(node, inside)


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
