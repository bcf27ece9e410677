"""Checks of stages against the answer that they are about: columns, functions, numbers. Public; sees no row.

The planner calls this for every question, in SQL or from a frame, so that nothing is paid for that cannot be shown.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from discreet.algebra.expressions import Call, Expression
from discreet.algebra.functions import F
from discreet.core import InvalidInput, WrongType, whole
from discreet.core.schema import Kind
from discreet.query import post_processing as post
from discreet.query.cell_functions import CELL_FUNCTIONS, takes_cells
from discreet.query.names import NEIGHBOURS, RANKINGS
from discreet.query.post_processing import JoinForm, Neighbour, Ranking, Stage, Summary, WindowFunction
from discreet.query.questions import LENIENT, STRICT, HistogramOf, Question
from discreet.query.shapes import Columns, columns_of_answer

#: The expressions that can be computed from the cells of one row of an answer.
STAGE_FUNCTIONS = frozenset((*STRICT, *LENIENT, *CELL_FUNCTIONS, F.NULLIF))
#: Summaries of an answer's rows, and those of them that need numbers.
NUMERIC_SUMMARIES = ("SUM", "AVG", "QUANTILE_CONT", "VAR_SAMP", "VAR_POP", "STDDEV_SAMP", "STDDEV_POP")
STAGE_SUMMARIES = ("COUNT", "MIN", "MAX", *NUMERIC_SUMMARIES)


def check_stages(question: Question) -> None:
    """Refuse stages that name what the table below does not have."""
    if question.numbers and not question.stages:
        raise InvalidInput("A question has numbers that no stage uses.", fix="leave them out")
    if not all(isinstance(number, Question) and has_one_cell(number) for number in question.numbers):
        raise InvalidInput("A number is asked for by a question with several cells.", fix="ask for one aggregate")
    tables = _check_tables(question)
    if not question.stages:
        return
    if any(isinstance(output.term, HistogramOf) for output in question.outputs):
        raise InvalidInput("A histogram has no stages.", fix="ask for it by itself")
    numbers = {post.number_name(index) for index in range(len(question.numbers))}
    below = need_columns(replace(question, stages=()))
    for stage in question.stages:
        names = _check_read_tables(stage, below, tables)
        _check_stage(stage, names | numbers, numbers)
        below = stage.columns


def _check_tables(question: Question) -> list[Columns]:
    """Return the columns of the tables that a question's stages read, or refuse tables that none reads."""
    read = {place for stage in question.stages for place in stage.appended}
    read |= {joined.place for stage in question.stages for joined in stage.joined}
    if read != set(range(len(question.tables))):
        raise InvalidInput("The tables of a question are not those that its stages read.", fix="build it with SQL")
    for table in question.tables:
        check_stages(table)
    return [need_columns(table) for table in question.tables]


def need_columns(question: Question) -> Columns:
    """Return the columns of a question's answer, or refuse a histogram, which is not a table of cells."""
    columns = columns_of_answer(question)
    if columns is None:
        raise InvalidInput("A histogram has no stages.", fix="ask for it by itself")
    return columns


def _check_read_tables(stage: Stage, below: Columns, tables: list[Columns]) -> set[str]:
    """Return the names that a stage's expressions may have, or refuse tables that do not fit."""
    for place in stage.appended:
        if fitting_kinds([kind for _, kind in below], [kind for _, kind in tables[place]]) is None:
            raise InvalidInput("Tables with other columns are appended.", fix="select columns of the same kinds")
    if len(stage.kinds) != (len(below) if stage.appended else 0):
        raise InvalidInput("The kinds of appended tables are not those of the columns.", fix="build it with SQL")
    names = {name for name, _ in below}
    for index, joined in enumerate(stage.joined):
        own = {post.joined_name(name, index) for name, _ in tables[joined.place]}
        if joined.columns != tables[joined.place]:
            raise InvalidInput("A joined table has other columns.", fix="build it with SQL")
        if not joined.pairs and joined.form is not JoinForm.CROSS:
            raise InvalidInput("Answers are joined where columns are equal.", fix="name a pair of columns")
        _check_names([mine for mine, _ in joined.pairs], names)
        _check_names([theirs for _, theirs in joined.pairs], own)
        names |= own
        _check_names([] if joined.condition is None else [joined.condition], names)
    return names


def fitting_kinds(one: Sequence[Kind], other: Sequence[Kind]) -> tuple[Kind, ...] | None:
    """Return the kinds of the columns of two tables one after the other; None if they do not fit."""
    if len(one) != len(other):
        return None
    kinds = [_fitting_kind(*pair) for pair in zip(one, other, strict=True)]
    return None if None in kinds else tuple(kind for kind in kinds if kind is not None)


def _fitting_kind(one: Kind, other: Kind) -> Kind | None:
    if one is other:
        return one
    return Kind.REAL if one.numeric and other.numeric else None


def has_one_cell(question: Question) -> bool:
    """Whether the answer to a question has one row and one column for sure, and needs no other question."""
    if question.numbers or question.thresholds or question.tables:
        return False
    if not question.stages:
        alone = len(question.outputs) == 1 and not isinstance(question.outputs[0].term, HistogramOf)
        return alone and _has_one_row(question)
    return len(question.stages[-1].outputs) == 1 and _has_one_row(question)


def _has_one_row(question: Question) -> bool:
    """Whether the answer to a question has one row for sure."""
    one = question.having is None and question.most != 0 and question.sets is None and not question.groups
    for stage in question.stages:
        plain = stage.where is None and not stage.joined and not stage.appended and not stage.grouped
        one = _keeps_one_row(stage) and ((stage.grouped and not stage.groups) or (plain and one))
    return one


def makes_one_cell(stage: Stage) -> bool:
    """Whether the table that a stage makes has one row and one column for sure."""
    return stage.grouped and not stage.groups and _keeps_one_row(stage) and len(stage.outputs) == 1


def _keeps_one_row(stage: Stage) -> bool:
    return stage.having is None and stage.qualify is None and stage.most != 0 and not stage.skipped


def _check_stage(stage: Stage, below: set[str], numbers: set[str]) -> None:
    if not isinstance(stage, Stage) or not stage.outputs:
        raise WrongType("A stage has no outputs.", fix="build it with SQL: SELECT … FROM (SELECT …) AS t")
    rows = [] if stage.where is None else [stage.where]
    rows += [*stage.groups, *(value for summary in stage.summaries for value in _values_of(summary))]
    _check_names(rows, below)
    inner = {post.key_name(index) for index in range(len(stage.groups))} if stage.grouped else set(below)
    inner |= numbers
    if stage.grouped:
        inner |= {post.summary_name(index) for index in range(len(stage.summaries))}
    _check_names([] if stage.having is None else [stage.having], inner)
    for window in stage.windows:
        _check_window(window)
        _check_names(window.expressions, inner)
    inner |= {post.window_name(index) for index in range(len(stage.windows))}
    shown = [output.expression for output in stage.outputs]
    shown += [] if stage.qualify is None else [stage.qualify]
    _check_names([*shown, *(sorting.expression for sorting in stage.order)], inner)
    whole(stage.skipped, "skipped", least=0)
    if stage.most is not None:
        whole(stage.most, "most", least=0)


def _check_window(window: WindowFunction) -> None:
    match window.function:
        case Summary():
            _values_of(window.function)
        case Ranking(function=function, tiles=tiles):
            if function not in RANKINGS or (tiles is None) is (function == "NTILE"):
                raise InvalidInput("A stage has an unknown window.", fix=f"use one of: {', '.join(RANKINGS)}")
            whole(1 if tiles is None else tiles, "tiles", least=1)
        case Neighbour(function=function, distance=distance):
            if function not in NEIGHBOURS:
                raise InvalidInput("A stage has an unknown window.", fix=f"use one of: {', '.join(NEIGHBOURS)}")
            whole(distance, "distance", least=0)
        case _:
            raise WrongType("A stage has an unknown window.", fix="build it with SQL: RANK() OVER (ORDER BY n)")


def _values_of(summary: Summary) -> tuple[Expression, ...]:
    if summary.function not in STAGE_SUMMARIES or (summary.value is None and summary.function != "COUNT"):
        raise InvalidInput("A stage has an unknown summary.", fix=f"use one of: {', '.join(STAGE_SUMMARIES)}")
    value = summary.value
    if value is not None and summary.function in NUMERIC_SUMMARIES and not value.kind.numeric:
        raise WrongType(f"{summary.function} takes numbers, not {value.kind.value} values.", fix="count them instead")
    return () if value is None else (value,)


def _check_names(expressions: Iterable[Expression], known: set[str]) -> None:
    for expression in expressions:
        unknown = post.names_in(expression) - known
        if unknown:
            raise InvalidInput("A stage names a column that the table below does not have.", fix="name one that it has")
        odd = find_odd_function(expression)
        if odd is not None:
            raise InvalidInput(
                f"{odd} cannot be applied to the columns of an answer.",
                fix="apply it to rows, before they are grouped, or to the answer afterwards",
            )


def find_odd_function(expression: Expression) -> str | None:
    """Return the name of a function that is not computed from answers, if there is one in an expression."""
    for part in post.parts_of(expression):
        if not isinstance(part, Call):
            continue
        arithmetic = part.function in (F.ADD, F.SUBTRACT) and Kind.DATE in {
            argument.kind for argument in part.arguments
        }
        if part.function not in STAGE_FUNCTIONS or arithmetic or not takes_cells(part):
            return str(part.function.value)
    return None
