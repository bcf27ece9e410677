"""A question as SQL: the one text that it has. Reading it gives the same question again."""

from collections.abc import Mapping
from fractions import Fraction

from discreet.core import InvalidInput
from discreet.core.exact import nearest_float
from discreet.core.schema import Schema
from discreet.data.expressions import ColumnValue, Literal
from discreet.query import questions as q
from discreet.query.sql_writing import WHOLE, Written, expression_sql, function_sql, quoted, written


def question_sql(question: q.Question, schemas: Mapping[str, Schema]) -> str:
    """Return a question's one text: the same for the same question, however it was asked."""
    schema = next((each for each in schemas.values() if each.table == question.table), None)
    if schema is None:
        raise InvalidInput(f"There is no table {question.table!r}.", fix="pass the schema of the question's table")
    writer = _Writer(question, schema)
    lines = [f"SELECT {', '.join(map(writer.output, question.outputs))}", f"FROM {quoted(question.table)}"]
    if question.where is not None:
        lines.append(f"WHERE {expression_sql(question.where)}")
    if question.groups:
        lines.append(f"GROUP BY {', '.join(expression_sql(group.expression) for group in question.groups)}")
    if question.having is not None:
        lines.append(f"HAVING {writer.term(question.having)}")
    if question.order:
        lines.append(f"ORDER BY {', '.join(map(writer.order, question.order))}")
    if question.most is not None:
        lines.append(f"LIMIT {question.most}")
    return "\n".join(lines)


class _Writer:
    """Writes the terms of one question."""

    def __init__(self, question: q.Question, schema: Schema) -> None:
        self._question = question
        self._person = schema.unit.column
        self._names = {output.term: output.name for output in reversed(question.outputs)}

    def output(self, output: q.Output) -> str:
        """Return one output; a column that keeps its name needs no AS."""
        text = self.term(output.term)
        group = self._question.groups[output.term.index] if isinstance(output.term, q.GroupValue) else None
        kept = group is not None and isinstance(group.expression, ColumnValue) and group.expression.name == output.name
        return text if kept else f"{text} AS {quoted(output.name)}"

    def order(self, order: q.Order) -> str:
        """Return what is sorted by: the name of an output where it is one."""
        name = self._names.get(order.term)
        # A name here means an output first, and so columns are named with their table.
        text = self.term(order.term, self._question.table) if name is None else quoted(name)
        return f"{text} DESC" if order.descending else text

    def term(self, term: q.Term, qualifier: str = "") -> str:
        """Return a term."""
        return self._written(term, qualifier)[0]

    def _written(self, term: q.Term, qualifier: str) -> Written:
        match term:
            case q.GroupValue(index=index):
                return written(self._question.groups[index].expression, qualifier)
            case q.Constant(value=value):
                return written(Literal.of(value))
            case q.Apply(function=function, arguments=arguments):
                return function_sql(function, [self._written(each, qualifier) for each in arguments])
            case _:
                return self._measure(term), WHOLE

    def _measure(self, measure: q.Measure) -> str:
        match measure:
            case q.Count():
                return "COUNT(*)"
            case q.CountPeople():
                return f"COUNT(DISTINCT {quoted(self._person)})" if self._person is not None else "COUNT(*)"
            case q.CountDistinct(value=value):
                return f"COUNT(DISTINCT {expression_sql(value)})"
            case q.Quantile(value=value, level=level):
                text = expression_sql(value)
                return f"MEDIAN({text})" if 2 * level == 1 else f"QUANTILE({text}, {_number(level)})"
            case q.HistogramOf(value=value, edges=edges):
                return f"HISTOGRAM({', '.join([expression_sql(value), *map(_number, edges)])})"
            case _:
                return f"{_NAMES[type(measure), getattr(measure, 'sample', True)]}({expression_sql(measure.value)})"


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
