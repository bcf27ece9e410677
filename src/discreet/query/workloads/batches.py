"""Many questions as one plan: what they share is measured once, and the price is split over all of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, cast

from discreet.accounting import Composed, PrivacyLoss
from discreet.algebra.aggregates import Table
from discreet.algebra.row_hashes import salt_of
from discreet.core import InvalidInput, Number, positive
from discreet.core.canonical_text import canonical_name, canonical_text
from discreet.core.exact import flag
from discreet.core.limits import AnyLimit
from discreet.core.schema import Schema
from discreet.gate import MOST_WORDS, Prospect
from discreet.mechanisms import Axes
from discreet.noise import Entropy
from discreet.query.planning.charging import can_be_charged
from discreet.query.planning.chosen_limits import ChosenLimit
from discreet.query.planning.measurements import ONE, KeySelection, Part, is_additive
from discreet.query.planning.planning import plan_question
from discreet.query.planning.plans import QueryPlan, blueprint_of
from discreet.query.planning.spending import PlanningContext, Spend, split
from discreet.query.questions import Question, all_measures
from discreet.query.relations.schemas import cap_text
from discreet.query.workloads.batch_passes import BatchPass, Measured, check_spend

#: Changes whenever the same text would no longer give the same distribution of answers.
FORM = "discreet batch 1"
#: The place of a measurement: the pass, and the place in it.
Place = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchItem:
    """One question of a batch: the plan that it would have alone, and where its parts are measured instead."""

    question: Question
    alone: QueryPlan
    #: One for each part of the plan.
    places: tuple[Place, ...]
    #: The places of the totals of parts over all groups, shown or not: for the rest over hidden groups.
    totals: tuple[tuple[Part, Place], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPlan:
    """Several questions about one table, fixed beforehand, and paid for together.

    Guarantee: the composition of all that is measured, `cost`. No part of a batch depends on an answer in it, so that
    the privacy-loss distribution of the whole is that of its parts, convolved.
    Reference: Dwork, Roth 2014, Theorem 3.16; for the distribution, Sommer, Meiser, Mohammadi 2019.
    """

    schema: Schema
    items: tuple[BatchItem, ...]
    passes: tuple[BatchPass, ...]
    spend: Spend

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of all questions together."""
        losses = [loss for batch_pass in self.passes for loss in batch_pass.losses]
        return losses[0] if len(losses) == 1 else Composed(losses)

    @property
    def personal(self) -> bool:
        """Whether each person can be charged for what it takes from that person."""
        return all(can_be_charged(batch_pass.source) for batch_pass in self.passes)

    def describe(self) -> str:
        """Return the questions, as SQL."""
        text = "; ".join(item.alone.what for item in self.items)
        return text if len(text) <= MOST_WORDS else f"{len(self.items)} questions about {self.schema.table}"

    def canonical(self) -> str:
        """Return all that decides how answers are distributed, and nothing else."""
        fields = [
            (batch_pass.where, batch_pass.keys, batch_pass.limit, batch_pass.measured, batch_pass.source)
            for batch_pass in self.passes
        ]
        cap = cap_text(self.schema, (batch_pass.source for batch_pass in self.passes))
        texts = map(canonical_text, [self.schema.table, self.schema.unit, *fields])
        return "\n".join([FORM, canonical_name(self.spend), *texts, *cap])

    def check(self, data: Table | Prospect, /) -> None:
        """Refuse, before anything is paid, tables that cannot be asked this now. Reads no row."""
        for batch_pass in self.passes:
            batch_pass.check(data)

    def run(self, data: Table, entropy: Entropy, /) -> dict[str, Any]:
        """Return noisy integers for all passes."""
        salt = salt_of(self.canonical())
        return {"passes": [batch_pass.run(data, entropy, salt) for batch_pass in self.passes]}


def plan_batch(
    questions: Sequence[Question],
    facts: PlanningContext,
    spend: Spend,
    *,
    weights: Sequence[Number] | None = None,
    consistent: bool = True,
    other: bool = False,
) -> BatchPlan:
    """Return the plan of several questions at one price.

    Parts that two questions share are measured once. The price is split over all parts by least total error, the errors
    of a question counted `weights` times. If `consistent`, counts and sums by some of the keys of a finer question, all
    of them public, are taken from the finer one's rows and measured beside it, and made to agree. With `other`,
    questions about private groups also buy the totals over all groups, so that the total of hidden groups is known.
    """
    check_spend(spend)
    if any(question.sets is not None for question in questions):
        raise InvalidInput(
            "A batch takes questions with one grouping each.", fix="ask the question by itself, or list its groupings"
        )
    if any(question.stages or question.thresholds for question in questions):
        raise InvalidInput(
            "A batch takes questions about rows, not about answers.",
            fix="put the question inside FROM (…) into the batch, and compute the rest from its answer",
        )
    alone = [plan_question(question, facts, spend, every_combination=True) for question in questions]
    if any(plan.source is None and plan.schema.table != facts.schema.table for plan in alone):
        # The text of a batch names one table: a question about another would have the text of one about a third.
        raise InvalidInput(
            "The questions of a batch are about several tables.", fix="ask one batch for each table, or about a join"
        )
    wanted = [ONE] * len(alone) if weights is None else [positive(weight, "weights") for weight in weights]
    if not alone or len(wanted) != len(alone):
        raise InvalidInput(
            "A batch needs at least one question, and one weight for each.", fix="pass questions, and as many weights"
        )
    if any(isinstance(plan.limit, ChosenLimit) for plan in alone):
        raise InvalidInput(
            "A batch needs a contribution bound: its price depends on it.",
            fix="pass limit=Limit(groups=…, rows_per_group=…), here or when the dataset is opened",
        )
    draft = BatchDraft(alone, agree=flag(consistent, "consistent"))
    items = []
    for question, plan, weight in zip(questions, alone, wanted, strict=True):
        own = _weights(question, plan)
        places = tuple(draft.place(plan, part, weight * own[part]) for part in plan.parts)
        left_over = (
            [part for part in plan.parts if is_additive(part)] if flag(other, "other") and not plan.public else []
        )
        totals = tuple((part, draft.total(plan, part, weight * own[part])) for part in left_over)
        items.append(BatchItem(question=question, alone=plan, places=places, totals=totals))
    return BatchPlan(schema=facts.schema, items=tuple(items), passes=draft.passes(spend), spend=spend)


class BatchDraft:
    """A batch in the making: passes, what is measured in each, and its weight."""

    def __init__(self, alone: Sequence[QueryPlan], *, agree: bool) -> None:
        self._alone = alone
        self._agree = agree
        self._hosts: list[QueryPlan] = []
        self._measured: list[dict[tuple[Part, Axes], Fraction]] = []

    def place(self, plan: QueryPlan, part: Part, weight: Fraction) -> Place:
        """Return the place of a question's part."""
        host = self._find_finest(plan, part)
        axes = tuple(sorted(host.keys.index(key) for key in plan.keys)) if host is not plan else _all_axes(plan)
        return self._add(host, part, axes, weight)

    def total(self, plan: QueryPlan, part: Part, weight: Fraction) -> Place:
        """Return the place of the total of a part over all groups of a question."""
        return self._add(plan, part, (), weight)

    def _find_finest(self, plan: QueryPlan, part: Part) -> QueryPlan:
        """Return the question by whose groups a part is counted: of those that ask for it, the one with most keys."""
        if not (self._agree and is_additive(part) and _is_cube(plan)):
            return plan
        alike = [
            other
            for other in self._alone
            if part in other.parts and _rows_of(other) == _rows_of(plan) and _is_cube(other)
        ]
        finer = [other for other in alike if set(plan.keys) <= set(other.keys)]
        return max(finer, key=lambda other: len(other.keys))  # of equal ones the first

    def _add(self, host: QueryPlan, part: Part, axes: Axes, weight: Fraction) -> Place:
        index = next((at for at, known in enumerate(self._hosts) if _groups_of(known) == _groups_of(host)), None)
        if index is None:
            index = len(self._hosts)
            self._hosts.append(host)
            self._measured.append({})
        weights = self._measured[index]
        weights[part, axes] = weights.get((part, axes), Fraction(0)) + weight
        return index, list(weights).index((part, axes))

    def passes(self, spend: Spend) -> tuple[BatchPass, ...]:
        """Return the passes, with the price split over all that is measured."""
        shares = iter(split(spend, [weight for weights in self._measured for weight in weights.values()]))
        return tuple(
            BatchPass(
                schema=host.schema,
                where=host.where,
                keys=host.keys,
                limit=_known_limit(host),
                measured=tuple(Measured(part, axes, next(shares)) for part, axes in weights),
                spend=spend,
                source=host.source,
            )
            for host, weights in zip(self._hosts, self._measured, strict=True)
        )


def _rows_of(plan: QueryPlan) -> tuple[Any, ...]:
    """Return the fields that decide which rows a question is about."""
    return plan.schema.table, plan.where, plan.source


def _groups_of(plan: QueryPlan) -> tuple[Any, ...]:
    """Return the fields that decide which rows count, and in which groups."""
    return (*_rows_of(plan), plan.keys, plan.limit)


def _is_cube(plan: QueryPlan) -> bool:
    return plan.public and len(set(plan.keys)) == len(plan.keys)


def _all_axes(plan: QueryPlan) -> Axes:
    return tuple(range(len(plan.keys)))


def _known_limit(plan: QueryPlan) -> AnyLimit:
    return cast("AnyLimit", plan.limit)  # others were refused


def _weights(question: Question, plan: QueryPlan) -> dict[Part, Fraction]:
    """Return the sum of each part's weights in the outputs of a question; the choice of groups weighs as one."""
    blueprint = blueprint_of(question, plan)
    weights: dict[Part, Fraction] = {
        part: ONE if isinstance(part, KeySelection) else Fraction(0) for part in plan.parts
    }
    for measure in all_measures(question):
        sources = blueprint.sources(measure)
        for part, weight in zip(sources.parts, sources.weights, strict=True):
            if part in weights:  # what weighs nothing is not measured
                weights[part] += weight
    return weights
