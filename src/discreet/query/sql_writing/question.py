"""A question as SQL: the one text that it has. Reading it gives the same question again."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce

from discreet.algebra.expressions import ColumnValue, Expression, Literal
from discreet.algebra.relations import Scan
from discreet.core.exact import nearest_float
from discreet.core.schema import Schema
from discreet.query import questions as q
from discreet.query.post_processing import threshold_name
from discreet.query.relations.schemas import table_schema
from discreet.query.sql_writing.expressions import (
    WHOLE,
    Qualifier,
    Written,
    expression_sql,
    function_sql,
    quote_name,
    write_expression,
)
from discreet.query.sql_writing.relation import From, RelationWriter
from discreet.query.sql_writing.stages import stage_sql


def question_sql(question: q.Question, schemas: Mapping[str, Schema]) -> str:
    """Return a question's one text: the same for the same question, however it was asked."""
    base = _base(question, schemas)
    writer = _Writer(question, base)
    lines = [f"SELECT {', '.join(map(writer.output, question.outputs))}", f"FROM {base.text}"]
    where = base.where(question.where)
    if where:
        lines.append(_write_thresholds(where, [question_sql(one, schemas) for one in question.thresholds]))
    if question.groups:
        groups = (expression_sql(group.expression, base.needed) for group in question.groups)
        lines.append(f"GROUP BY {_groups_sql(list(groups), question.sets)}")
    if question.having is not None:
        lines.append(f"HAVING {writer.term(question.having)}")
    if question.order:
        lines.append(f"ORDER BY {', '.join(map(writer.order, question.order))}")
    if question.most is not None:
        lines.append(f"LIMIT {question.most}")
    numbers = [question_sql(number, schemas) for number in question.numbers]
    tables = [question_sql(table, schemas) for table in question.tables]
    return reduce(lambda below, stage: stage_sql(stage, below, numbers, tables), question.stages, "\n".join(lines))


def _write_thresholds(text: str, thresholds: Sequence[str]) -> str:
    """Return a condition with subqueries in place of their names, which stand nowhere else in a text."""
    for index, threshold in enumerate(thresholds):
        text = text.replace(quote_name(threshold_name(index)), f"({threshold})")
    return text


def _groups_sql(groups: list[str], sets: tuple[tuple[int, ...], ...] | None) -> str:
    """Return what stands after GROUP BY."""
    if sets is None:
        return ", ".join(groups)
    written = (f"({', '.join(groups[index] for index in keys)})" for keys in sets)
    return f"GROUPING SETS ({', '.join(written)})"


def _base(question: q.Question, schemas: Mapping[str, Schema]) -> From:
    """Return what stands after FROM."""
    if question.source is not None:
        return RelationWriter(schemas).source(question.source)
    schema = table_schema(question.table, schemas)
    return RelationWriter(schemas).source(Scan(schema.table, schema.columns))


class _Writer:
    """Writes the terms of one question."""

    def __init__(self, question: q.Question, base: From) -> None:
        self._question = question
        self._base = base
        self._names = {output.term: output.name for output in reversed(question.outputs)}

    def output(self, output: q.Output) -> str:
        """Return one output; a column that keeps its name needs no AS."""
        text = self.term(output.term)
        group = self._question.groups[output.term.index] if isinstance(output.term, q.GroupValue) else None
        keeps_name = (
            group is not None and isinstance(group.expression, ColumnValue) and group.expression.name == output.name
        )
        return text if keeps_name else f"{text} AS {quote_name(output.name)}"

    def order(self, order: q.Order) -> str:
        """Return what is sorted by: the name of an output where it is one."""
        name = self._names.get(order.term)
        # A name here means an output first, and so columns are named with their table.
        text = self.term(order.term, self._base.qualifiers) if name is None else quote_name(name)
        return f"{text} DESC" if order.descending else text

    def term(self, term: q.Term, qualifier: Qualifier | None = None) -> str:
        """Return a term."""
        return self._write_term(term, self._base.needed if qualifier is None else qualifier)[0]

    def _write_term(self, term: q.Term, qualifier: Qualifier) -> Written:
        match term:
            case q.GroupValue(index=index):
                return write_expression(self._question.groups[index].expression, qualifier)
            case q.RolledUp(indices=indices):
                keys = (self._question.groups[index].expression for index in indices)
                return f"GROUPING({', '.join(expression_sql(key, qualifier) for key in keys)})", WHOLE
            case q.Constant(value=value):
                return write_expression(Literal.of(value))
            case q.Apply(function=function, arguments=arguments):
                return function_sql(function, [self._write_term(argument, qualifier) for argument in arguments])
            case _:
                return self._measure(term), WHOLE

    def _measure(self, measure: q.Measure) -> str:
        match measure:
            case q.Count():
                return "COUNT(*)"
            case q.CountPeople():
                return f"COUNT(DISTINCT {self._base.own[0].text})" if self._base.own else "COUNT(*)"
            case q.CountDistinct(value=value):
                return f"COUNT(DISTINCT {self._value(value)})"
            case q.Quantile(value=value, level=level):
                text = self._value(value)
                return f"MEDIAN({text})" if 2 * level == 1 else f"QUANTILE({text}, {_number(level)})"
            case q.OfDistinct(value=value, form=distinct):
                return f"{distinct.value}(DISTINCT {self._value(value)})"
            case q.Joint(value=value, other=other, form=form):
                return f"{form.value}({self._value(value)}, {self._value(other)})"
            case q.HistogramOf(value=value, edges=edges):
                return f"HISTOGRAM({', '.join([self._value(value), *map(_number, edges)])})"
            case _:
                return f"{_NAMES[type(measure), getattr(measure, 'sample', True)]}({self._value(measure.value)})"

    def _value(self, value: Expression) -> str:
        return expression_sql(value, self._base.needed)


#: Measures of one value; the second says whether it is the sample's variance.
_NAMES: dict[tuple[type[q.Measure], bool], str] = {
    (q.CountOf, True): "COUNT",
    (q.Sum, True): "SUM",
    (q.Average, True): "AVG",
    (q.Variance, True): "VAR_SAMP",
    (q.Variance, False): "VAR_POP",
    (q.Deviation, True): "STDDEV_SAMP",
    (q.Deviation, False): "STDDEV_POP",
    (q.Smallest, True): "MIN",
    (q.Largest, True): "MAX",
}


def _number(number: Fraction) -> str:
    """Return an exact number as people write it."""
    if number.denominator == 1:
        return str(number.numerator)
    return repr(nearest_float(number))  # levels and edges were read from such a text
