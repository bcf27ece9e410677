"""Stages as SQL: a question about an answer has one text. Reading it gives the same stages again."""

from collections.abc import Sequence

from discreet.algebra.expressions import Call, ColumnValue, Expression
from discreet.algebra.functions import F
from discreet.core.exact import nearest_float
from discreet.query import post_processing as post
from discreet.query.post_processing import (
    JoinedAnswer,
    Neighbour,
    Ranking,
    Sorting,
    Stage,
    StageOutput,
    Summary,
    WindowFrame,
    WindowFunction,
)
from discreet.query.sql_writing.expressions import expression_sql, quote_name

#: What the table below is called in a stage.
BELOW = "answer"


def stage_sql(stage: Stage, below: str, numbers: Sequence[str] = (), tables: Sequence[str] = ()) -> str:
    """Return a stage around the text of what it is about.

    `numbers` and `tables` are the texts of questions whose numbers and answers it uses.
    """
    writer = _StageWriter(stage, numbers)
    if stage.appended:
        below = "\nUNION ALL\n".join(f"(\n{text}\n)" for text in (below, *(tables[place] for place in stage.appended)))
    distinct = "DISTINCT " if stage.distinct else ""
    lines = [f"SELECT {distinct}{', '.join(map(writer.output, stage.outputs))}", f"FROM (\n{below}\n) AS {BELOW}"]
    lines += [writer.join(joined, index, tables[joined.place]) for index, joined in enumerate(stage.joined)]
    groups = ", ".join(writer.write(group) for group in stage.groups)
    clauses = (
        ("WHERE", None if stage.where is None else writer.write(stage.where)),
        ("GROUP BY", groups or None),
        ("HAVING", None if stage.having is None else writer.write(stage.having, BELOW)),
        ("QUALIFY", None if stage.qualify is None else writer.write(stage.qualify, BELOW)),
    )
    lines += [f"{word} {text}" for word, text in clauses if text is not None]
    if stage.order:
        lines.append(f"ORDER BY {', '.join(map(writer.sorting, stage.order))}")
    if stage.most is not None:
        lines.append(f"LIMIT {stage.most}")
    if stage.skipped:
        lines.append(f"OFFSET {stage.skipped}")
    return "\n".join(lines)


class _StageWriter:
    """Writes the expressions of one stage."""

    def __init__(self, stage: Stage, numbers: Sequence[str]) -> None:
        self._stage = stage
        self._numbers = numbers
        self._names = {output.expression: output.name for output in reversed(stage.outputs)}

    def join(self, joined: JoinedAnswer, index: int, table: str) -> str:
        """Return a joined answer, and what it is joined on."""
        on = [f"{self.write(mine)} = {self.write(theirs)}" for mine, theirs in joined.pairs]
        on += [] if joined.condition is None else [_in_parentheses(joined.condition, self.write(joined.condition))]
        condition = f" ON {' AND '.join(on)}" if on else ""
        return f"{joined.form.value} (\n{table}\n) AS {name_beside(index)}{condition}"

    def output(self, output: StageOutput) -> str:
        """Return one output; a column that keeps its name needs no AS."""
        text = self.write(output.expression)
        keeps_name = text in (quote_name(output.name), f"{BELOW}.{quote_name(output.name)}")
        return text if keeps_name else f"{text} AS {quote_name(output.name)}"

    def sorting(self, sorting: Sorting) -> str:
        """Return what is sorted by: the name of an output where it is one."""
        name = self._names.get(sorting.expression)
        text = self.write(sorting.expression, BELOW) if name is None else quote_name(name)
        return f"{text} DESC" if sorting.descending else text

    def write(self, expression: Expression, qualifier: str = "") -> str:
        """Return an expression, with what its columns hold: their names, in quotes, stand nowhere else."""
        names = post.names_in(expression)
        held = [name for name in names if name.startswith(post.MARK)]
        qualifier = BELOW if self._stage.joined else qualifier
        beside = [name for name in names if post.BESIDE in name]
        plain = {name: qualifier for name in names if name not in (*held, *beside)}
        text = expression_sql(expression, plain)
        for name in beside:
            column, _, index = name.partition(post.BESIDE)
            text = text.replace(quote_name(name), f"{name_beside(int(index))}.{quote_name(column)}")
        for name in held:
            inside = self._write_held(name, qualifier)
            alone = isinstance(expression, ColumnValue) or name[1] != "k" or inside.isidentifier()
            text = text.replace(quote_name(name), inside if alone else f"({inside})")
        return text

    def _write_held(self, name: str, qualifier: str) -> str:
        index = int(name[2:])
        if name[1] == "k":
            return self.write(self._stage.groups[index], qualifier)
        if name[1] == "q":
            return f"({self._numbers[index]})"
        if name[1] == "w":
            return self._write_window(self._stage.windows[index], qualifier)
        return self._write_summary(self._stage.summaries[index], qualifier)

    def _write_window(self, window: WindowFunction, qualifier: str) -> str:
        partition = ", ".join(self.write(expression, qualifier) for expression in window.partition)
        order = ", ".join(
            f"{self.write(sorting.expression, qualifier)}{' DESC' if sorting.descending else ''}"
            for sorting in window.order
        )
        parts = [f"PARTITION BY {partition}" if partition else "", f"ORDER BY {order}" if order else ""]
        parts.append("" if window.frame is None else _write_frame(window.frame))
        return f"{self._write_function(window.function, qualifier)} OVER ({' '.join(filter(None, parts))})"

    def _write_function(self, function: Summary | Ranking | Neighbour, qualifier: str) -> str:
        match function:
            case Summary():
                return self._write_summary(function, qualifier)
            case Ranking(function=name, tiles=tiles):
                return f"{name}({'' if tiles is None else tiles})"
            case Neighbour(function=name, value=value, distance=distance, default=default):
                texts = [self.write(value, qualifier)]
                texts += [str(distance)] if default is not None or distance != 1 else []
                texts += [] if default is None else [expression_sql(default)]
                return f"{name}({', '.join(texts)})"

    def _write_summary(self, summary: Summary, qualifier: str) -> str:
        if summary.value is None:
            return f"{summary.function}(*)"
        value = self.write(summary.value, qualifier)
        level = "" if summary.level is None else f", {nearest_float(summary.level)!r}"
        return f"{summary.function}({'DISTINCT ' if summary.distinct else ''}{value}{level})"


def name_beside(index: int) -> str:
    """Return what a joined answer is called in a stage; they are counted from 0."""
    return f"{BELOW}_{index + 2}"


def _in_parentheses(condition: Expression, text: str) -> str:
    return text if isinstance(condition, Call) and condition.function is F.AND else f"({text})"


def _write_frame(frame: WindowFrame) -> str:
    unit = "RANGE" if frame.peers else "ROWS"
    start = "UNBOUNDED PRECEDING" if frame.start is None else _write_end(frame.start)
    end = "UNBOUNDED FOLLOWING" if frame.end is None else _write_end(frame.end)
    return f"{unit} BETWEEN {start} AND {end}"


def _write_end(rows: int) -> str:
    if rows == 0:
        return "CURRENT ROW"
    return f"{-rows} PRECEDING" if rows < 0 else f"{rows} FOLLOWING"
