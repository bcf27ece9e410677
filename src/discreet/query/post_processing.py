"""Questions about an answer: what is computed from a private table once it is paid for, stage by stage. Free.

A stage reads the table below it and makes another one, as a SELECT does. Its expressions name columns of the table
below, and what is computed over several rows stands in them as a column whose name no text can spell: `summary_name`
for a summary, `key_name` for what rows are grouped by, `window_name` for a window, `number_name` for the one number
that another question answers. So do the columns of other answers that are joined with the table below, `joined_name`.

Guarantee: a stage sees nothing but a released table and public constants. By closure under post-processing it costs
nothing, whatever it computes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.algebra.expressions import ColumnValue, Expression, Literal, children, map_children
from discreet.core.schema import Kind

#: No text holds these characters, and so no name does. The second stands before the number of a joined answer.
MARK, BESIDE = "\0", "\1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """A summary of the rows of a table, such as SUM(n). COUNT(*) has no value, and only a quantile has a level."""

    function: str
    value: Expression | None = None
    distinct: bool = False
    level: Fraction | None = None

    @property
    def kind(self) -> Kind:
        """The kind of its result."""
        if self.function == "COUNT" or self.value is None:
            return Kind.INTEGER
        return self.value.kind if self.function in ("SUM", "MIN", "MAX") else Kind.REAL


@dataclass(frozen=True, slots=True)
class Sorting:
    """The sort key of rows; NULL is always sorted last."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, slots=True)
class WindowFrame:
    """The rows of a window, from `start` to `end` counted from the current one; None is the end of its partition.

    With `peers`, as in RANGE, 0 means all rows that are sorted alike, and there are no other numbers.
    """

    start: int | None = None
    end: int | None = 0
    peers: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The place of a row in its window, such as RANK(). Only NTILE has a number of `tiles`."""

    function: str
    tiles: int | None = None

    @property
    def kind(self) -> Kind:
        """The kind of its result."""
        return Kind.REAL if self.function in ("PERCENT_RANK", "CUME_DIST") else Kind.INTEGER


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A value from another row of a window: LAG and LEAD by a `distance`, FIRST_VALUE and LAST_VALUE without."""

    function: str
    value: Expression
    distance: int = 1
    default: Literal | None = None

    @property
    def kind(self) -> Kind:
        """The kind of its result."""
        return self.value.kind


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowFunction:
    """A function OVER (PARTITION BY … ORDER BY … frame) of a stage's rows, after they are grouped."""

    function: Summary | Ranking | Neighbour
    partition: tuple[Expression, ...] = ()
    order: tuple[Sorting, ...] = ()
    frame: WindowFrame | None = None

    @property
    def kind(self) -> Kind:
        """The kind of its result."""
        return self.function.kind

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """All that it is computed from."""
        value = None if isinstance(self.function, Ranking) else self.function.value
        return (*(() if value is None else (value,)), *self.partition, *(sorting.expression for sorting in self.order))


@dataclass(frozen=True, slots=True)
class StageOutput:
    """One column of the table that a stage makes."""

    name: str
    expression: Expression


class JoinForm(Enum):
    """How the rows of two answers are put beside each other. The value of a member is how SQL writes it."""

    INNER = "JOIN"
    LEFT = "LEFT JOIN"
    RIGHT = "RIGHT JOIN"
    FULL = "FULL JOIN"
    CROSS = "CROSS JOIN"


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinedAnswer:
    """Another answer whose rows stand beside those of the table below, where pairs are equal and the condition holds.

    NULL is equal to nothing. `place` counts the tables of the question, from 0.
    """

    place: int
    form: JoinForm
    columns: tuple[tuple[str, Kind], ...]
    pairs: tuple[tuple[Expression, Expression], ...] = ()
    condition: Expression | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One SELECT over a private table. If `grouped`, it has one row for each group, or one if there are none.

    It may be about several tables: the rows of `appended` ones follow those of the table below, and `joined` ones
    stand beside them. Both are other questions' answers.
    """

    outputs: tuple[StageOutput, ...]
    joined: tuple[JoinedAnswer, ...] = ()
    #: Places of the tables whose rows follow, and the kinds of all columns together.
    appended: tuple[int, ...] = ()
    kinds: tuple[Kind, ...] = ()
    where: Expression | None = None
    grouped: bool = False
    groups: tuple[Expression, ...] = ()
    summaries: tuple[Summary, ...] = ()
    having: Expression | None = None
    windows: tuple[WindowFunction, ...] = ()
    qualify: Expression | None = None
    distinct: bool = False
    order: tuple[Sorting, ...] = ()
    most: int | None = None
    skipped: int = 0

    @property
    def columns(self) -> tuple[tuple[str, Kind], ...]:
        """The names and kinds of the columns that it makes."""
        return tuple((output.name, output.expression.kind) for output in self.outputs)


def summary_name(index: int) -> str:
    """Return the name of a stage's summary inside its expressions."""
    return f"{MARK}s{index}"


def key_name(index: int) -> str:
    """Return the name of what a stage groups by inside its expressions."""
    return f"{MARK}k{index}"


def window_name(index: int) -> str:
    """Return the name of a stage's window inside its expressions."""
    return f"{MARK}w{index}"


def number_name(index: int) -> str:
    """Return the name of the number that another question answers, inside the expressions of stages."""
    return f"{MARK}q{index}"


def joined_name(name: str, index: int) -> str:
    """Return the name that a column of a stage's joined answer has inside its expressions; they are counted from 0."""
    return f"{name}{BESIDE}{index}"


def threshold_name(index: int) -> str:
    """Return the name of the number that another question answers, inside the conditions on private rows."""
    return f"{MARK}t{index}"


def is_threshold(name: str) -> bool:
    """Whether a name is that of a number in the conditions on private rows, and not of a column of theirs."""
    return name.startswith(f"{MARK}t")


def replace_parts(expression: Expression, parts: Mapping[Expression, Expression]) -> Expression:
    """Return an expression with others in place of some of its parts, the largest parts first."""
    if expression in parts:
        return parts[expression]
    return map_children(expression, lambda child: replace_parts(child, parts))


def parts_of(expression: Expression) -> list[Expression]:
    """Return an expression and everything below it."""
    return [expression, *(part for child in children(expression) for part in parts_of(child))]


def names_in(expression: Expression) -> set[str]:
    """Return the names of all columns in an expression, those that hold summaries among them."""
    return {part.name for part in parts_of(expression) if isinstance(part, ColumnValue)}


# The use that a stage makes of the table below: whether its error bars have to hold for all cells at once.

#: Of each other table: its columns, in their order, and those of them that depend on noisy values.
Measured = tuple[tuple[str, ...], frozenset[str]]


def needs_all_cells(
    stages: Sequence[Stage], measured: set[str], columns: Sequence[str] = (), tables: Sequence[Measured] = ()
) -> bool:
    """Whether error bars must hold for all cells at once: some stage selects by noisy values, or combines them."""
    for stage in stages:
        read = read_by(stage, columns, measured, tables)
        if picks_or_combines(stage, read):
            return True
        columns, measured = [output.name for output in stage.outputs], measured_outputs(stage, read)
    return False


def measured_at_last(
    stages: Sequence[Stage], measured: set[str], columns: Sequence[str], tables: Sequence[Measured] = ()
) -> Measured:
    """Return the columns of the last table, and those of them that depend on noisy values."""
    for stage in stages:
        measured = measured_outputs(stage, read_by(stage, columns, measured, tables))
        columns = [output.name for output in stage.outputs]
    return tuple(columns), frozenset(measured)


def read_by(stage: Stage, columns: Sequence[str], measured: set[str], tables: Sequence[Measured]) -> set[str]:
    """Return which of the columns that a stage reads depend on noisy values, those of joined answers among them."""
    read = set(measured)
    for at, joined in enumerate(stage.joined):
        read |= {joined_name(name, at) for name in tables[joined.place][1]}
    for place in stage.appended:
        names, noisy = tables[place]
        read |= {own for own, name in zip(columns, names, strict=True) if name in noisy}
    return read


def picks_or_combines(stage: Stage, measured: set[str]) -> bool:
    """Whether noisy values select rows, or several of them make one cell.

    A bar that holds for each cell by itself does not hold for the largest of them, nor for a sum of them.
    """
    conditions = [part for part in (stage.where, stage.having, stage.qualify) if part is not None]
    for joined in stage.joined:
        conditions += [side for pair in joined.pairs for side in pair]
        conditions += [] if joined.condition is None else [joined.condition]
    # Of rows that look alike, DISTINCT shows the first: whether they do may be the noise's doing.
    limited = stage.most is not None or bool(stage.skipped) or stage.distinct
    touched = _touched_names(stage)
    # A stage that takes the first rows takes them in an order that noise may have made, here or in a table below.
    picks = (limited and bool(measured)) or any(
        _expand_names(condition, touched) & measured for condition in (*conditions, *stage.groups)
    )
    combines = any(_names_of(summary) & measured for summary in stage.summaries) or any(
        touched[window_name(index)] & measured for index in range(len(stage.windows))
    )
    mixes = any(len(_expand_names(output.expression, touched) & measured) > 1 for output in stage.outputs)
    return picks or combines or mixes


def measured_outputs(stage: Stage, measured: set[str]) -> set[str]:
    """Return which columns of a stage depend on noisy values."""
    touched = _touched_names(stage)
    return {output.name for output in stage.outputs if _expand_names(output.expression, touched) & measured}


def _touched_names(stage: Stage) -> dict[str, set[str]]:
    """Return the columns below that summaries, keys and windows are computed from."""
    touched = {summary_name(index): _names_of(summary) for index, summary in enumerate(stage.summaries)}
    touched |= {key_name(index): names_in(group) for index, group in enumerate(stage.groups)}
    for index, window in enumerate(stage.windows):
        expanded = [_expand_names(expression, touched) for expression in window.expressions]
        touched[window_name(index)] = set().union(*expanded)
    return touched


def _names_of(summary: Summary) -> set[str]:
    return set() if summary.value is None else names_in(summary.value)


def _expand_names(expression: Expression, touched: dict[str, set[str]]) -> set[str]:
    return {name for held in names_in(expression) for name in touched.get(held, {held})}


def find_origin(stages: Sequence[Stage], name: str) -> str | None:
    """Return the column of the first table that a column of the last one is, unchanged; None if it is computed."""
    for stage in reversed(stages):
        if stage.appended:
            return None
        expression = next(output.expression for output in stage.outputs if output.name == name)
        if isinstance(expression, ColumnValue) and expression.name.startswith(MARK) and expression.name[1] == "k":
            expression = stage.groups[int(expression.name[2:])]
        if not isinstance(expression, ColumnValue) or MARK in expression.name or BESIDE in expression.name:
            return None
        name = expression.name
    return name
