"""Checks of stages against the answer that they are about: columns, functions, numbers. Public; sees no row.

The planner calls this for every question, whoever built it, so that nothing is paid for that cannot be shown.
"""

from collections.abc import Iterable

from discreet.algebra.expressions import Call, Expression
from discreet.algebra.functions import F
from discreet.core import InvalidInput, WrongType, whole
from discreet.core.schema import Kind
from discreet.query import post_processing as post
from discreet.query.cell_functions import CELL_FUNCTIONS, takes_cells
from discreet.query.names import NEIGHBOURS, RANKINGS
from discreet.query.post_processing import Neighbour, Ranking, Stage, Summary, WindowFunction
from discreet.query.questions import LENIENT, STRICT, HistogramOf, Question

#: What can be computed from the cells of one row of an answer.
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
    if not question.stages:
        return
    if any(isinstance(output.term, HistogramOf) for output in question.outputs):
        raise InvalidInput("A histogram has no stages.", fix="ask for it by itself")
    numbers = {post.number_name(index) for index in range(len(question.numbers))}
    names = {output.name for output in question.outputs}
    for stage in question.stages:
        _check_stage(stage, names | numbers, numbers)
        names = {output.name for output in stage.outputs}


def has_one_cell(question: Question) -> bool:
    """Whether the answer to a question has one row and one column for sure, and needs no other question."""
    if question.numbers or question.thresholds:
        return False
    if not question.stages:
        alone = len(question.outputs) == 1 and not isinstance(question.outputs[0].term, HistogramOf)
        kept = question.having is None and question.most != 0 and question.sets is None
        return alone and kept and not question.groups
    return makes_one_cell(question.stages[-1])


def makes_one_cell(stage: Stage) -> bool:
    """Whether the table that a stage makes has one row and one column for sure."""
    kept = stage.having is None and stage.qualify is None and stage.most != 0 and not stage.skipped
    return stage.grouped and not stage.groups and kept and len(stage.outputs) == 1


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
