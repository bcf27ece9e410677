"""Batches and hierarchies: questions that are asked, paid for and shown together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from discreet.core import InvalidInput, Number, WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import Value
from discreet.gate import Price, Release, one_line
from discreet.query import (
    BatchPlan,
    Frame,
    HierarchyLevel,
    HierarchyPlan,
    HierarchyResult,
    Predicted,
    Question,
    Result,
    Saving,
    plan_batch,
    plan_hierarchy,
    view_batch,
    view_hierarchy,
    view_others,
)
from discreet.session.answers.answer import MAY_HAVE_LEFT, Answer, percent
from discreet.session.answers.cells import TextColumn, error_text, html_lines, html_table, text_table
from discreet.session.context import QuestionContext
from discreet.session.options import CheckedOptions, QuestionOptions, ReleaseOptions, need_price
from discreet.session.previews import WHO_PAYS

#: Nodes of a level that a terminal and a notebook show.
NODES, NODES_HTML = 10, 100


@dataclass(frozen=True, eq=False, repr=False)
class BatchAnswer(Sequence[Answer]):
    """The answers to several questions that were asked together, in their order. All further processing is free."""

    plan: BatchPlan
    release: Release
    answers: tuple[Answer, ...]
    #: For each question about private groups, what its groups that are not shown come to, if that was bought.
    others: tuple[Result | None, ...]
    #: The saving compared with asking one by one.
    saving: Saving

    def __len__(self) -> int:
        return len(self.answers)

    def __getitem__(self, index: Any) -> Any:
        return self.answers[index]

    @property
    def fresh(self) -> bool:
        """Whether it was paid for now."""
        return self.release.fresh

    def lines(self) -> list[str]:
        """Return the text for a terminal."""
        lines = []
        for answer, other in zip(self.answers, self.others, strict=True):
            lines += [answer.what, *answer.lines(), *([] if other is None else _describe_left_over(other)), ""]
        return [*lines, str(self.saving)]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        tables = "".join(
            f"{html_lines([answer.what])}{answer._repr_html_()}"
            f"{'' if other is None else html_lines(_describe_left_over(other))}"
            for answer, other in zip(self.answers, self.others, strict=True)
        )
        return f"<div>{tables}{html_lines([str(self.saving)])}</div>"


def _describe_left_over(other: Result) -> list[str]:
    """Return the total of all groups that are not shown."""
    shown = [
        f"{column.name} {column.values[0]:,.6g} (from {column.low[0]:,.6g} to {column.high[0]:,.6g})"
        for column in other.columns
        if column.low is not None and column.high is not None and column.low[0] is not None
    ]
    return [f"groups that are not shown: {', '.join(shown)}"] if shown else []


def batch_plan(
    context: QuestionContext,
    questions: "Sequence[str | Question | Frame]",
    options: CheckedOptions,
    weights: Sequence[Number] | None,
    *,
    consistent: bool,
    other: bool,
) -> BatchPlan:
    """Return the plan of several questions."""
    if isinstance(questions, str) or not isinstance(questions, Sequence):
        raise WrongType(f"The questions are {kind_of(questions)}, not a list.", fix='pass ["SELECT …", "SELECT …"]')
    read = [context.question(question, options) for question in questions]
    first = need_one_table(read)
    return plan_batch(
        read, context.facts(first, options), need_price(options), weights=weights, consistent=consistent, other=other
    )


class TreeOptions(QuestionOptions, total=False):
    """The keywords of counts at every level of a tree. `Session.hierarchy` explains each."""

    table: str | None
    where: str | None
    people: bool
    weights: Sequence[Number] | None
    even: bool
    total: int | None


class HierarchyOptions(TreeOptions, ReleaseOptions, total=False):
    """The same, for counts that are released: also whether to draw new noise, and a request id."""


#: The options that the plan of a tree takes as they were given.
COUNTED = ("people", "weights", "even", "total")


def hierarchy_plan(
    context: QuestionContext,
    keys: Sequence[str],
    paths: Sequence[Sequence[Value]],
    raw_options: TreeOptions | HierarchyOptions,
    kind: type,
) -> tuple[HierarchyPlan, CheckedOptions]:
    """Return the plan of counts at every level of a tree, and its options."""
    options = context.check(raw_options, kind)
    values: dict[str, Any] = dict(raw_options)
    name = context.dataset.need_table(values.get("table"))
    plan = plan_hierarchy(
        context.known[name],
        keys=keys,
        paths=paths,
        spend=need_price(options),
        limit=context.dataset.limit if options.limit is None else options.limit,
        where=context.condition(name, values.get("where")),
        **{option: values[option] for option in COUNTED if option in values},
    )
    return plan, options


def batch_answer(
    plan: BatchPlan,
    release: Release,
    saving: Saving,
    confidence: Number,
    *,
    simultaneous: bool,
    personal: bool = False,
) -> BatchAnswer:
    """Return the releases of a batch, as tables."""
    results = view_batch(plan, release.answer, confidence, simultaneous=simultaneous)
    answers = tuple(
        Answer(item.question, item.alone, release, result, partial(_view_again, plan, release, place), personal)
        for place, (item, result) in enumerate(zip(plan.items, results, strict=True))
    )
    others = view_others(plan, release.answer, confidence, simultaneous=simultaneous)
    return BatchAnswer(plan, release, answers, tuple(others), saving)


def _view_again(plan: BatchPlan, release: Release, place: int, confidence: Number, simultaneous: bool) -> Result:  # noqa: FBT001
    return view_batch(plan, release.answer, confidence, simultaneous=simultaneous)[place]


@dataclass(frozen=True, slots=True, repr=False)
class WorkloadPreview:
    """The cost of a batch, and the error of each of its tables. Nothing was paid."""

    price: Price
    plan: BatchPlan | HierarchyPlan
    #: One tuple for each question, or one for each level.
    predicted: tuple[tuple[Predicted, ...], ...]
    #: Whether each person has an account: then the rest is shown to no analyst.
    personal: bool = False
    #: Of a batch: what is saved over asking one by one.
    saving: Saving | None = None

    @property
    def fits(self) -> bool:
        """Whether it could be paid for."""
        return self.price.fits

    def lines(self) -> list[str]:
        """Return the text for a terminal."""
        lines = [
            f"Preview of {one_line(self.price.what, 200)}",
            f"price: {self.plan.spend}, alone {self.price.guarantee}",
        ]
        lines += [
            f"{column.name}: {column.words if column.error is None else f'± {error_text(column.error)}'}"
            for group in self.predicted
            for column in group
        ]
        return [*lines, *([] if self.saving is None else [str(self.saving)]), self._fate()]

    def _fate(self) -> str:
        fits = "fits" if self.fits else "does not fit"
        return f"{fits}; {WHO_PAYS}" if self.personal else f"{fits} the remaining budget"

    def __repr__(self) -> str:
        return "\n".join(self.lines())


@dataclass(frozen=True, eq=False, repr=False)
class HierarchyAnswer:
    """Counts at every level of a tree that add up, whole and not negative, each with its error bar."""

    plan: HierarchyPlan = field(repr=False)
    release: Release
    result: HierarchyResult
    #: Whether each person has an account.
    personal: bool = field(repr=False, default=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes that belong to the numbers."""
        return (*self.result.notes, MAY_HAVE_LEFT) if self.personal else self.result.notes

    @property
    def fresh(self) -> bool:
        """Whether it was paid for now."""
        return self.release.fresh

    @property
    def levels(self) -> tuple[HierarchyLevel, ...]:
        """The levels, from the top down."""
        return self.result.levels

    def level(self, name: str) -> HierarchyLevel:
        """Return a level by the name of its key; the top is called "all"."""
        names = [level.name for level in self.levels]
        if name not in names:
            raise InvalidInput("Unknown level.", fix=f"use one of: {', '.join(names)}")
        return self.result.level(name)

    def confidence(self, confidence: Number, *, simultaneous: bool = False) -> "HierarchyAnswer":
        """Return the same with error bars of another confidence. Free."""
        result = view_hierarchy(self.plan, self.release.answer, confidence, simultaneous=simultaneous)
        return HierarchyAnswer(self.plan, self.release, result, self.personal)

    def rows(self) -> list[dict[str, Value]]:
        """Return one dictionary a node, from the top down."""
        return self.result.rows

    def to_pandas(self) -> Any:
        """Return the table of `rows` as a pandas frame."""
        return self.result.to_pandas()

    def lines(self) -> list[str]:
        """Return the text for a terminal."""
        lines = [self.plan.describe()]
        for level in self.levels:
            lines += [f"{level.name}: {len(level.nodes):,} counts", *text_table(_cells(level), NODES)]
        return [*lines, *self.notes, self._caption()]

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        tables = "".join(html_lines([level.name]) + html_table(_cells(level), NODES_HTML) for level in self.levels)
        return f"<div>{tables}{html_lines([*self.notes, self._caption()])}</div>"

    def _caption(self) -> str:
        how = "all cells at once" if self.result.simultaneous else "per cell"
        paid = "paid now" if self.release.fresh else "paid before, free now"
        return (
            f"± at {percent(self.result.confidence)} confidence, {how} · {self.plan.spend}, {paid} · "
            f"release #{self.release.number}"
        )


def _cells(level: HierarchyLevel) -> list[TextColumn]:
    return [
        TextColumn("", [" → ".join(map(str, node)) or "all" for node in level.nodes]),
        TextColumn("count", [f"{count:,}" for count in level.count.tolist()], right=True),
        TextColumn("±", [f"± {error:,.1f}" for error in level.error.tolist()]),
    ]


def need_one_table(questions: Sequence[Question]) -> Question:
    """Return the question that says which table is meant; refuse a batch about several, unless they are joined."""
    if not questions:
        raise InvalidInput("The question is empty.", fix='pass a list: ["SELECT COUNT(*) FROM visits", …]')
    alone = {question.table: question for question in questions if question.source is None}
    if len(alone) > 1:
        raise InvalidInput(
            "The questions of a batch are about several tables.", fix="ask one batch for each table, or about a join"
        )
    return next(iter(alone.values()), questions[0])
