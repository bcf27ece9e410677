"""Bounds of computed columns: refuses sums over a subquery whose columns are unbounded."""

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, columns_in
from discreet.algebra.relations import (
    Derived,
    Fold,
    PerUnit,
    PublicScan,
    Relation,
    Scan,
    columns_of,
    matching,
    sources_of,
)
from discreet.core import InvalidInput
from discreet.core.schema import Kind
from discreet.query import questions as q
from discreet.query.planning.question_checks import check_matched
from discreet.query.questions import QueryRefused
from discreet.query.relations.public_values import bounds_of
from discreet.query.remedies import quote_if_needed, replace_path
from discreet.query.sql.outputs import WORDS
from discreet.query.sql.parsing.tree_checks import start_of
from discreet.query.sql.scope import strip_numbers
from discreet.query.sql.select import Parts, SqlPiece

#: Measures that need to know between which ends values lie.
BOUNDED = (q.Sum, q.Average, q.Variance, q.Deviation, q.Quantile, q.Smallest, q.Largest, q.Joint, q.OfDistinct)


def check_question(question: q.Question, relation: Relation, parts: Parts) -> None:
    """Refuse what a relation cannot answer, where it stands."""
    terms = [*(output.term for output in question.outputs), *(order.term for order in question.order)]
    terms += [] if question.having is None else [question.having]
    measures = [measure for term in terms for measure in q.measures_in(term)]
    _, first = parts.outputs[0]
    if matching(relation) is not None:
        try:
            check_matched(question, parts.schema)
        except InvalidInput as error:
            raise parts.scope(first).place_error(first.node, error) from None
    for measure in measures:
        if isinstance(measure, BOUNDED):
            _check_bounds(measure, relation, parts)


def _check_bounds(measure: q.Measure, relation: Relation, parts: Parts) -> None:
    """Refuse to add up what was computed in a subquery and may be of any size: nobody can declare bounds of it."""
    for value in q.values_of(measure):
        try:
            bounds_of(value, "")
        except InvalidInput:
            for name in sorted(columns_in(value)):
                if not _is_declared(name, relation):
                    raise _refuse_unbounded(measure, name, parts) from None


def _is_declared(name: str, relation: Relation) -> bool:
    """Whether a column is one of a table, under whatever name: its bounds can be declared."""
    match relation:
        case Scan():
            return True
        case Derived(source=source, columns=columns):
            expression = next(output.expression for output in columns if output.column.name == name)
            return isinstance(expression, ColumnValue) and _is_declared(expression.name, source)
        case PerUnit(keys=keys, values=values, source=source):
            kept = [
                aggregate.value
                for aggregate in values
                if aggregate.column.name == name and aggregate.fold in (Fold.LEAST, Fold.MOST)
            ]
            kept += [key.expression for key in keys if key.column.name == name]
            return any(isinstance(value, ColumnValue) and _is_declared(value.name, source) for value in kept)
        case _:
            below = [child for child in sources_of(relation) if name in {column.name for column in columns_of(child)}]
            return all(isinstance(child, PublicScan) or _is_declared(name, child) for child in below)


def _refuse_unbounded(measure: q.Measure, name: str, parts: Parts) -> QueryRefused:
    name = strip_numbers(name)
    for _, piece in parts.outputs:
        for node in piece.node.find_all(exp.Column):
            if node.name.casefold() == name.casefold() and not _is_clamped(node):
                return _refuse_column(measure, node, piece, parts)
    _, first = parts.outputs[0]
    return parts.scope(first).refuse(first.node, f"There are no bounds for {name!r}.", f"write CLAMP({name}, 0, …)")


def _is_clamped(node: exp.Column) -> bool:
    call = node.find_ancestor(exp.Anonymous)
    return call is not None and call.name.upper() == "CLAMP"


def _refuse_column(measure: q.Measure, node: exp.Column, piece: SqlPiece, parts: Parts) -> QueryRefused:
    day = getattr(measure, "value").kind is Kind.DATE  # noqa: B009 - all of these have one
    ends = "'2020-01-01', '2029-12-31'" if day else "0, 100"
    meant = "first and last day" if day else "least and greatest value"
    written = ".".join(quote_if_needed(name) for name in (node.table, node.name) if name)
    clamped = f"CLAMP({written}, {ends})"
    distinct = "DISTINCT " if isinstance(measure, q.OfDistinct) else ""
    words = f"write {_word(measure)}({distinct}{clamped}{_rest(measure)}), with your own {meant}"
    fix = replace_path(piece.page.text, start_of(node), words, clamped)
    return parts.scope(piece).refuse(node, f"{_word(measure)} needs bounds for {node.name!r}, a computed column.", fix)


def _word(measure: q.Measure) -> str:
    if isinstance(measure, q.Joint):
        return measure.form.value
    if isinstance(measure, q.OfDistinct):
        return measure.form.value
    median = isinstance(measure, q.Quantile) and 2 * measure.level == 1
    return "MEDIAN" if median else WORDS[type(measure)].upper()


def _rest(measure: q.Measure) -> str:
    if isinstance(measure, q.Joint):
        return ", …"
    return f", {float(measure.level)}" if isinstance(measure, q.Quantile) and 2 * measure.level != 1 else ""
