"""A question with its price: the Plan that goes through the gate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cached_property
from hashlib import sha256
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Composed, PrivacyLoss
from discreet.algebra.aggregates import (
    Aggregate,
    Aggregation,
    Exact,
    GroupAggregate,
    Key,
    People,
    PeopleCut,
    PeopleWhere,
    Table,
)
from discreet.algebra.expressions import Expression, Literal
from discreet.algebra.relations import Relation
from discreet.algebra.row_hashes import salt_of, value_text
from discreet.core import Limit
from discreet.core.canonical_text import canonical_name, canonical_text
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.schema import Kind, Schema, Value
from discreet.gate import Prospect
from discreet.noise import Entropy
from discreet.query.planning.charging import UNSALTED, PassCost, can_be_charged, check_pass, choose_aggregate
from discreet.query.planning.chosen_limits import ChosenLimit
from discreet.query.planning.grouping_sets import SetCells
from discreet.query.planning.measurements import Blueprint, DistinctTotal, End, KeySelection, Levels, Noisy, Part
from discreet.query.planning.pricing import Pricing
from discreet.query.planning.spending import ReadNumber, Spend
from discreet.query.questions import Question, all_measures
from discreet.query.relations.public_tuples import keys_of_pass
from discreet.query.relations.schemas import cap_text
from discreet.query.relations.thresholds import build_constant, fill_thresholds, sample_constants

#: Changes whenever the same text would no longer give the same distribution of answers.
FORM = "discreet query 2"


@dataclass(frozen=True, slots=True)
class Threshold:
    """A number in the conditions of a plan: its question, its kind, and which of the `others` measures it, from 0.

    `text` is the question's one text: with the plan that measures it, it says what is compared with.
    """

    question: Question
    kind: Kind
    place: int
    text: str
    read: ReadNumber

    def constant(self, plans: Sequence["QueryPlan"], answers: Sequence[Any]) -> Literal:
        """Return its noisy value."""
        return build_constant(self.read(self.question, plans[self.place], answers[self.place]), self.kind)


@dataclass(frozen=True, kw_only=True)
class QueryPlan:
    """One question: which rows, which groups, what is measured, and the share of the price that each part gets.

    Guarantee: the composition of its parts, `cost`. Every part perturbs exact integers whose sensitivity follows from
    the limits (`algebra.aggregates.sensitivity_of`). Private groups: think of noise on all groups there could ever be,
    and of one bit for each that says whether it is shown, which is 0 wherever nobody is; both are paid for. What is
    released is post-processing: the noisy values where the bit is 1. Whether the others had noise nobody can tell.
    A relation is either owned, and then limited like a table, or people are joined with each other in it, and then the
    limit is how many rows one unit moves (`discreet.algebra.relations.MatchJoin`).
    Others are run before this plan if its conditions compare with their noisy numbers, and after it if not. Costs are
    the same whatever these numbers are (`discreet.query.relations.thresholds`).
    Reference: Dwork, Roth 2014, Theorem 3.16 (composition), Proposition 2.1 (post-processing).
    """

    schema: Schema
    where: Expression | None
    keys: tuple[Key, ...]
    parts: tuple[Part, ...]
    shares: tuple[Fraction, ...]
    limit: AnyLimit | ChosenLimit
    spend: Spend
    what: str
    #: None: the rows of the schema's own table.
    source: Relation | None = None
    #: The public groups, where they are not all combinations of the keys' values (`query.relations.public_tuples`).
    tuples: tuple[tuple[Value, ...], ...] | None = None
    #: Plans of other questions that are paid for together with this one (`query.questions.Question.numbers`).
    others: tuple["QueryPlan", ...] = ()
    #: Which of this plan and the others, counted from 0, measures each of the questions that are asked together
    #: (`query.questions.questions_in`); empty if there is one.
    places: tuple[int, ...] = ()
    #: Numbers in `where` that some of the others measure, before this plan is run (`query.relations.thresholds`).
    thresholds: tuple[Threshold, ...] = ()
    #: By which of the keys, in turn, rows are grouped; None: by all of them, once.
    sets: tuple[tuple[int, ...], ...] | None = None

    @property
    def public(self) -> bool:
        """Whether all groups are known beforehand."""
        return all(key.values is not None for key in self.keys)

    @property
    def cost(self) -> PrivacyLoss:
        """What it costs, all parts together."""
        known = None if isinstance(self.limit, ChosenLimit) else self.limit
        pricing = self.pricing(known)
        losses = [pricing.loss(part, share) for part, share in zip(self.parts, self.shares, strict=True)]
        if isinstance(self.limit, ChosenLimit):
            losses += self.limit.losses(pricing)
        losses += [other.cost for other in self.others]
        return losses[0] if len(losses) == 1 else Composed(losses)

    def pricing(self, limit: AnyLimit | None) -> Pricing:
        """Return the mechanisms of the parts under a limit; without one, only what holds for all limits."""
        if self.sets is None:
            return Pricing(self.spend, limit, self.schema.unit.neighbours)
        coarser = sum(len(keys) < len(self.keys) for keys in self.sets)
        return Pricing(self.spend, limit, self.schema.unit.neighbours, (coarser < len(self.sets), coarser))

    @property
    def personal(self) -> bool:
        """Whether each person can be charged for what it takes from that person."""
        # Who can still pay is asked before each step. That the second is chosen by the first is not proved for them.
        alone = can_be_charged(self.source) and not self.thresholds
        return alone and all(other.personal for other in self.others)

    def describe(self) -> str:
        """Return what is asked, as SQL."""
        return self.what

    def canonical(self) -> str:
        """Return all that decides how answers are distributed, and nothing else."""
        return self._canonical

    @cached_property
    def _canonical(self) -> str:
        """The canonical text. The digest and the salt are both made of it, and it is long."""
        fields = (self.schema.table, self.schema.unit, self.where, self.keys, self.parts, self.shares, self.limit)
        source = () if self.source is None else (self.source,)
        sets = () if self.sets is None else (f"sets={canonical_text(self.sets)}",)
        cap = (*cap_text(self.schema, (self.source,)), *self._tuples_text(), *sets, *self._others_text())
        return "\n".join([FORM, canonical_name(self.spend), *map(canonical_text, (*fields, *source)), *cap])

    def _tuples_text(self) -> tuple[str, ...]:
        """Return what the canonical text says about tuples: a line, or none if all combinations are shown."""
        if self.tuples is None:
            return ()
        return (f"tuples={len(self.tuples)} {sha256(canonical_text(self.tuples).encode()).hexdigest()}",)

    def _others_text(self) -> tuple[str, ...]:
        """Return what the canonical text says about plans that are paid for together with this one; mostly nothing."""
        others = (f"and {sha256(other.canonical().encode()).hexdigest()}" for other in self.others)
        # What is measured does not say what is compared with: AVG(x) and AVG(x) + 1 are made of the same numbers.
        thresholds = (f"by {one.place} {sha256(one.text.encode()).hexdigest()}" for one in self.thresholds)
        return (*others, *thresholds)

    @property
    def salt(self) -> int:
        """What this plan's choice of rows is seeded with; public."""
        return salt_of(self.canonical())

    def check(self, data: Table | Prospect, /) -> None:
        """Refuse, before anything is paid, tables that cannot be asked this now. Reads no row."""
        where = self._fill(sample_constants(threshold.kind for threshold in self.thresholds)).where
        limit = self.limit
        if isinstance(limit, ChosenLimit):
            check_pass(data, limit.passing(where, self.pass_keys, UNSALTED, self.source, self.schema.table))
            limit = Limit()
        check_pass(data, replace(self._aggregation(limit, tuple(self.aggregates()), UNSALTED), where=where))
        for other in self.others:
            other.check(data)

    def run(self, data: Table, entropy: Entropy, /) -> dict[str, Any]:
        """Return noisy integers for all parts, the groups, and the limit they were measured under."""
        # The numbers that rows are compared with come first. Their noisy values are constants of the condition alone.
        first = [other.run(data, entropy) for other in self.others] if self.thresholds else []
        where = self._fill([threshold.constant(self.others, first) for threshold in self.thresholds]).where
        limit = self._limit(data, where, entropy)
        aggregate = choose_aggregate(data, lambda: self.costs(limit))
        aggregation = replace(self._aggregation(limit, tuple(self.aggregates()), self.salt), where=where)
        exact = self._pick_tuples(aggregate(aggregation))
        answers = dict(zip(self.aggregates(), exact.answers, strict=True))
        answer = self._perturb_parts(exact, answers, limit, entropy)
        others = first or [other.run(data, entropy) for other in self.others]
        return answer | ({"others": others} if others else {})

    def _fill(self, constants: Sequence[Literal]) -> "QueryPlan":
        """Return this plan with constants in place of its thresholds. Nothing else of it depends on them."""
        if not self.thresholds:
            return self
        return replace(self, where=fill_thresholds(self.where, constants), thresholds=(), others=(), places=())

    @property
    def pass_keys(self) -> tuple[Key, ...]:
        """The keys that an engine groups by. What it finds stays inside: `_pick_tuples` fills in other groups."""
        return keys_of_pass(self.keys, self.tuples)

    def _pick_tuples(self, exact: Exact) -> Exact:
        """Return exact answers for the tuples, in their order: zeros for those that no row has.

        Picking entries of a vector moves none of the norms of its sensitivity up.
        """
        if self.tuples is None:
            return exact
        found = {group[: len(self.keys)]: place for place, group in enumerate(exact.groups)}
        places = np.array([found.get(group, -1) for group in self.tuples], dtype=np.int64)
        picked = [
            _pick_entries(answer, places) if isinstance(aggregate, GroupAggregate) else answer
            for aggregate, answer in zip(self.aggregates(), exact.answers, strict=True)
        ]
        return Exact(groups=self.tuples, answers=tuple(picked))

    def _perturb_parts(
        self, exact: Exact, answers: dict[Aggregate, NDArray[Any]], limit: AnyLimit, entropy: Entropy
    ) -> dict[str, Any]:
        """Return what leaves: of private groups, those whose bit is 1. The others need no noise, as nobody sees it."""
        pricing, priced = self.pricing(limit), list(zip(self.parts, self.shares, strict=True))
        bits = [pricing.perturb(part, share, answers[People()], entropy) for part, share in priced if is_keys(part)]
        chosen = bits[0] if bits else None

        def perturb_part(part: Part, share: Fraction) -> Any:
            exactly = answers[aggregate_of(part)]
            if self.set_cells is not None and by_group(part):
                exactly = self.set_cells.add_up(exactly)
            shown = exactly if chosen is None or not by_group(part) else exactly[chosen]
            return None if is_keys(part) else pack_answer(pricing.perturb(part, share, shown, entropy))

        groups = [] if chosen is None else [exact.groups[index] for index in np.flatnonzero(chosen)]
        return {
            "limit": [limit.rows] if isinstance(limit, TotalLimit) else [limit.groups, limit.rows_per_group],
            "groups": [[encode_group_value(value) for value in group] for group in groups],
            "parts": [perturb_part(part, share) for part, share in priced],
        }

    def _limit(self, data: Table, where: Expression | None, entropy: Entropy) -> AnyLimit:
        if not isinstance(self.limit, ChosenLimit):
            return self.limit
        passing = self.limit.passing(where, self.pass_keys, self.salt, self.source, self.schema.table)
        return self.limit.choose(data, passing, self.pricing(None), entropy)

    def costs(self, limit: AnyLimit) -> list[PassCost]:
        """Return what the parts cost a person, with personal accounts."""
        pricing = self.pricing(limit)
        return [pricing.pass_cost(part, share) for part, share in zip(self.parts, self.shares, strict=True)]

    def share_of(self, part: Part) -> Fraction:
        """Return the share of a part."""
        return self.shares[self.parts.index(part)]

    def aggregates(self) -> list[Aggregate]:
        """Return what is measured exactly, each once."""
        return list(dict.fromkeys(aggregate_of(part) for part in self.parts))

    def _aggregation(self, limit: AnyLimit, aggregates: tuple[Aggregate, ...], salt: int | None = None) -> Aggregation:
        return Aggregation(
            where=self.where,
            keys=self.pass_keys,
            aggregates=aggregates,
            limit=limit,
            salt=self.salt if salt is None else salt,
            source=self.source,
            table=self.schema.table,
        )

    def groups(self, answer: dict[str, Any]) -> tuple[tuple[Value, ...], ...]:
        """Return the groups that an answer is for."""
        return self._finest(answer) if self.set_cells is None else self.set_cells.groups

    @cached_property
    def set_cells(self) -> SetCells | None:
        """The rows of an answer with grouping sets."""
        return None if self.sets is None else SetCells.of(self._finest({}), self.sets)

    def _finest(self, answer: dict[str, Any]) -> tuple[tuple[Value, ...], ...]:
        if self.tuples is not None:
            return self.tuples
        if self.public:
            return tuple(product(*(key.values or () for key in self.keys)))
        kinds = [key.expression.kind for key in self.keys]
        return tuple(
            tuple(decode_group_value(value, kind) for value, kind in zip(group, kinds, strict=True))
            for group in answer["groups"]
        )

    def limit_of(self, answer: dict[str, Any]) -> AnyLimit:
        """Return the limit that an answer was measured under."""
        numbers = answer["limit"]
        if len(numbers) == 1:
            return TotalLimit(numbers[0])
        return Limit(groups=numbers[0], rows_per_group=numbers[1])


def _pick_entries(answer: NDArray[Any], places: NDArray[np.int64]) -> NDArray[Any]:
    """Return entries at some places; zeros at place −1."""
    nothing = np.zeros((1, *answer.shape[1:]), dtype=answer.dtype)
    picked: NDArray[Any] = np.concatenate([answer, nothing])[places]
    return picked


def aggregate_of(part: Part) -> Aggregate:
    """Return the exact answer that a part perturbs."""
    match part:
        case Noisy(aggregate=aggregate):
            return aggregate
        case Levels(aggregate=aggregate) | End(aggregate=aggregate):
            return aggregate
        case DistinctTotal():
            return part.aggregate
        case KeySelection():
            return People()


def is_keys(part: Part) -> bool:
    """Whether a part is the choice of groups."""
    return isinstance(part, KeySelection)


def by_group(part: Part) -> bool:
    """Whether a part has one answer for each group."""
    return not (isinstance(part, Noisy) and isinstance(part.aggregate, PeopleCut | PeopleWhere))


def pack_answer(answer: NDArray[Any]) -> Any:
    """Return an answer as the gate stores it: an array, or a list where numbers need more than 64 bits."""
    return answer.tolist() if answer.dtype == object else answer


def encode_group_value(value: Value) -> Value:
    """Return a group's value for the store: days as texts."""
    return value if value is None or isinstance(value, bool | int | str) else value_text(value)


def decode_group_value(value: Value, kind: Kind) -> Value:
    """Return a group's value from the store."""
    return date.fromisoformat(value) if kind is Kind.DATE and isinstance(value, str) else value


def blueprint_of(question: Question, plan: QueryPlan) -> Blueprint:
    """Return how the measures of a question are made of parts."""
    many = not plan.public or len(plan.groups({"groups": []})) > 1
    return Blueprint.of(all_measures(question), many=many, schema=plan.schema)
