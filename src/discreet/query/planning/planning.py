"""The planner: from a question to a plan by a visible tuple of steps, none of which sees a row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from discreet.algebra import check_work
from discreet.algebra.aggregates import Key, PeopleCut, PeopleWhere, Total
from discreet.algebra.expressions import ColumnValue, Expression, Literal, call, children
from discreet.algebra.functions import F
from discreet.algebra.relations import (
    Derived,
    JoinKind,
    PublicJoin,
    Relation,
    Scan,
    check_relation,
    matching,
    most_rows,
)
from discreet.algebra.row_caps import unit_keys
from discreet.core import InvalidInput, OutOfRange
from discreet.core.canonical_text import canonical_text
from discreet.core.exact import text_up
from discreet.core.limits import AnyLimit, Limit, TotalLimit
from discreet.core.schema import Schema
from discreet.query.error_bars import RULES
from discreet.query.planning.chosen_limits import ChosenLimit, LimitsPlan
from discreet.query.planning.grouping_sets import check_sets
from discreet.query.planning.measurements import ONE, Blueprint, KeySelection, Noisy, Part
from discreet.query.planning.plans import QueryPlan, Threshold
from discreet.query.planning.predictions import predict
from discreet.query.planning.question_checks import check_matched, check_question
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho, Spend, Within, split, split_evenly
from discreet.query.planning.tables import plan_tables, refuse_accuracy
from discreet.query.questions import (
    LENIENT,
    STRICT,
    Apply,
    CountPeople,
    Joint,
    Question,
    Term,
    all_measures,
    values_of,
)
from discreet.query.relations.normal_form import expressions_of
from discreet.query.relations.public_tuples import PublicCells, all_cells, keys_of_pass, public_cells
from discreet.query.relations.public_values import public_values
from discreet.query.relations.thresholds import fill_with_samples, need_threshold_kind
from discreet.query.sql_writing.question import question_sql
from discreet.query.stage_checks import check_stages

#: The parts of the price for choosing limits, where none are given, and for estimating biases, where that is asked.
LIMIT_SHARE, BIAS_SHARE = Fraction(1, 10), Fraction(1, 20)
#: Limits are chosen among so many groups, and rows in each.
MOST_GROUPS, MOST_ROWS = 100, 1000
#: A table with more groups than this is refused where they are public; it would be mostly noise.
MOST_CELLS = 1_000_000
#: Prices that accuracy is looked for among.
LEAST_PRICE, MOST_PRICE = Fraction(1, 10**6), Fraction(10**4)
#: How close to the least price the price comes that is found.
CLOSE = Fraction(1, 200)


def plan_question(
    question: Question,
    facts: PlanningContext,
    spend: Spend | Within,
    *,
    bias: bool = False,
    every_combination: bool = False,
) -> QueryPlan:
    """Return the plan of a question at a price; with `Within`, at the least price that is accurate enough.

    Its public cells are those that can have rows, or every combination of the keys' values.
    """
    if question.tables:
        return plan_tables(
            question, facts, spend, partial(plan_question, every_combination=every_combination), bias=bias
        )
    if question.numbers or question.thresholds:
        return _plan_together(question, facts, spend, bias=bias, every_combination=every_combination)
    return _plan_alone(question, facts, spend, bias=bias, every_combination=every_combination)


def _plan_alone(
    question: Question, facts: PlanningContext, spend: Spend | Within, *, bias: bool, every_combination: bool
) -> QueryPlan:
    """Return the plan of a question without the others that are paid for together with it."""
    facts, probe = facts.about(question), fill_with_samples(question)
    for check in CHECKS:
        check(probe, facts)
    if isinstance(spend, Within):
        return _plan_least_price(question, facts, spend, bias=bias)
    cells = all_cells(_keys(question, facts)) if every_combination else _find_cells(question, facts)
    draft = _build_draft(question, facts, cells, bias=bias)
    return _price_draft(question, facts, draft, spend)


def _plan_together(
    question: Question, facts: PlanningContext, spend: Spend | Within, *, bias: bool, every_combination: bool
) -> QueryPlan:
    """Return the plan of a question and of the numbers that it uses, at one price, which all get the same part of.

    Questions that measure the same are one, and measured once. The split is public: it depends on the questions alone.
    """
    check_stages(question)
    if isinstance(spend, Within):
        raise refuse_accuracy()
    own, numbers = replace(question, numbers=(), stages=()), (*question.numbers, *question.thresholds)

    def plan(at: int, price: Spend) -> QueryPlan:
        if at:
            return plan_question(numbers[at - 1], facts, price)
        return _plan_alone(own, facts, price, bias=bias, every_combination=every_combination)

    texts = [plan(at, spend).canonical() for at in range(len(numbers) + 1)]
    # In an order of their own, so that the same measurements are the same plan however they are written.
    different = [texts[0], *sorted(set(texts[1:]) - {texts[0]})]
    share = split_evenly(spend, len(different))
    priced = [plan(texts.index(text), share) for text in different]
    places = tuple(different.index(text) for text in texts)
    return replace(
        priced[0],
        spend=spend,
        what=question_sql(question, facts.about(question).tables),
        others=tuple(priced[1:]),
        places=places[: len(question.numbers) + 1],
        thresholds=_build_thresholds(question, places[len(question.numbers) + 1 :], facts),
    )


def _build_thresholds(question: Question, places: Sequence[int], facts: PlanningContext) -> tuple[Threshold, ...]:
    """Return the thresholds of a plan: which of the others measure them, and how they are read."""
    read = facts.read_number
    if question.thresholds and read is None:
        raise InvalidInput(
            "A condition compares with the answer to another question. A batch or a stream cannot ask it first.",
            fix="ask a session; or pass PlanningContext(…, read_number=discreet.query.read_number)",
        )
    kinds = map(need_threshold_kind, question.thresholds)
    texts = [question_sql(one, facts.about(one).tables) for one in question.thresholds]
    return tuple(
        Threshold(one, kind, place - 1, text, read)
        for one, kind, place, text in zip(question.thresholds, kinds, places, texts, strict=True)
        if read is not None
    )


@dataclass(frozen=True, slots=True)
class Draft:
    """All of a plan but its price."""

    cells: PublicCells
    parts: tuple[Part, ...]
    weights: tuple[Fraction, ...]
    biases: tuple[Part, ...]
    limit: AnyLimit | None


def _build_draft(question: Question, facts: PlanningContext, cells: PublicCells, *, bias: bool) -> Draft:
    _check_size(question, cells)
    weights = _weights(question, many=cells.count != 1, schema=facts.schema)
    check_sets(question, tuple(weights), cells.count)
    if cells.count is None:
        weights[KeySelection(_need_delta(facts))] = ONE
    limit = find_limit(question, facts)
    if isinstance(limit, Limit):
        limit = _fit_limit(limit, cells)
    biases = _biases(question, facts, tuple(weights)) if bias else ()
    return Draft(cells, tuple(weights), tuple(weights.values()), biases, limit)


def find_limit(question: Question, facts: PlanningContext) -> AnyLimit | None:
    """Return the limit that a question is asked with; None if it has to be chosen.

    Where people are joined with each other, it is how many rows one unit moves. Where a unit has one row, none is left
    out.
    """
    source = question.source
    match = None if source is None else matching(source)
    if match is not None:
        return TotalLimit(match.moved)
    single = source is not None and most_rows(source) == 1
    return Limit() if single or facts.about(question).schema.unit.column is None else facts.limit


def _keys(question: Question, facts: PlanningContext) -> tuple[Key, ...]:
    return tuple(Key(group.expression, public_values(group.expression, facts.schema)) for group in question.groups)


def _find_cells(question: Question, facts: PlanningContext) -> PublicCells:
    publics = {schema.table: schema for schema in facts.publics}
    return public_cells(_keys(question, facts), question.where, question.source, publics, MOST_CELLS)


def _fit_limit(limit: Limit, cells: PublicCells) -> Limit:
    """Return the limit for these groups: without any, all of a unit's rows are in one; and nobody is in more."""
    if not cells.keys:
        return Limit(groups=1, rows_per_group=limit.rows)
    count = cells.count
    return limit if count is None else Limit(groups=min(limit.groups, count), rows_per_group=limit.rows_per_group)


def _weights(question: Question, *, many: bool, schema: Schema) -> dict[Part, Fraction]:
    """Return all parts, each with the sum of its weights in the outputs."""
    weights: dict[Part, Fraction] = {}
    blueprint = Blueprint.of(all_measures(question), many=many, schema=schema)
    for measure in all_measures(question):
        sources = blueprint.sources(measure)
        for part, weight in zip(sources.parts, sources.weights, strict=True):
            weights[part] = weights.get(part, Fraction(0)) + weight
    # In an order of their own, so that the same measurement is the same plan however its outputs are arranged.
    return {part: weights[part] for part in sorted(weights, key=canonical_text) if weights[part]}


def _biases(question: Question, facts: PlanningContext, parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Return counts of people who lose rows to the limit, and of people who have values beyond bounds."""
    source = question.source
    if source is not None and matching(source) is not None:
        raise InvalidInput(
            "The bias cannot be estimated where people are joined with each other.", fix="leave bias out"
        )
    cut = facts.schema.unit.column is not None and (source is None or most_rows(source) != 1)
    biases: list[Part] = [Noisy(PeopleCut())] if cut else []
    beyond = [
        condition
        for part in parts
        if isinstance(part, Noisy) and isinstance(part.aggregate, Total)
        for condition in _beyond(part.aggregate.value)
    ]
    conditions = tuple(dict.fromkeys(beyond))
    if conditions:
        biases.append(Noisy(PeopleWhere(conditions[0] if len(conditions) == 1 else call(F.OR, *conditions))))
    return tuple(biases)


def _beyond(expression: Expression) -> tuple[Expression, ...]:
    """Return conditions that say that a bounded column, as it came, lies beyond its bounds."""
    if isinstance(expression, ColumnValue):
        bounds = expression.bounds
        if bounds is None or not expression.kind.numeric:
            return ()
        raw = replace(expression, bounds=None)
        ends = (Literal.of(float(bounds.low)), Literal.of(float(bounds.high)))
        return (call(F.OR, call(F.LT, raw, ends[0]), call(F.GT, raw, ends[1])),)
    return tuple(condition for child in children(expression) for condition in _beyond(child))


def _price_draft(question: Question, facts: PlanningContext, draft: Draft, spend: Spend) -> QueryPlan:
    """Return the plan of a draft, with the price split over its parts."""
    rest, limit = spend.amount, draft.limit
    chosen: AnyLimit | ChosenLimit
    if limit is None:
        chosen = _build_limit_choice(spend.amount * LIMIT_SHARE, draft.cells)
        rest -= chosen.share
    else:
        chosen = limit
    extra = [spend.amount * BIAS_SHARE / len(draft.biases) for _ in draft.biases]
    rest -= sum(extra, Fraction(0))
    shares = split(Rho(rest) if isinstance(spend, Rho) else Epsilon(rest), draft.weights)
    return QueryPlan(
        schema=facts.schema,
        where=question.where,
        keys=draft.cells.keys,
        parts=(*draft.parts, *draft.biases),
        shares=(*shares, *extra),
        limit=chosen,
        spend=spend,
        what=question_sql(question, facts.tables),
        source=question.source,
        tuples=draft.cells.tuples,
        sets=question.sets,
    )


def _build_limit_choice(share: Fraction, cells: PublicCells) -> ChosenLimit:
    groups = cells.count
    return ChosenLimit(share, MOST_GROUPS if groups is None else min(groups, MOST_GROUPS), MOST_ROWS)


def plan_limits(question: Question, facts: PlanningContext, spend: Spend) -> LimitsPlan:
    """Return the plan that chooses limits for a question, before it is asked with an accuracy."""
    if question.source is not None and find_limit(question, replace(facts, limit=None)) is not None:
        raise InvalidInput("The contribution bound of this question is already known.", fix="ask the question directly")
    if question.thresholds:
        raise refuse_accuracy()
    facts = facts.about(question)
    for check in CHECKS:
        check(question, facts)
    cells = _find_cells(question, facts)
    _check_size(question, cells)
    return LimitsPlan(
        schema=facts.schema,
        where=question.where,
        keys=keys_of_pass(cells.keys, cells.tuples),
        chosen=_build_limit_choice(spend.amount, cells),
        spend=spend,
        what=question_sql(question, facts.tables),
        source=question.source,
    )


def _plan_least_price(question: Question, facts: PlanningContext, wanted: Within, *, bias: bool) -> QueryPlan:
    """Return the plan with the least price found whose predicted errors are small enough."""
    if question.stages:
        raise refuse_accuracy()
    if find_limit(question, facts) is None:
        raise InvalidInput(
            "The error cannot be predicted before the contribution bound is known.",
            fix="pass limit=Limit(groups=…, rows_per_group=…), here or when the dataset is opened; or ask with epsilon",
        )
    draft = _build_draft(question, facts, _find_cells(question, facts), bias=bias)

    def plan(price: Fraction) -> QueryPlan:
        return _price_draft(question, facts, draft, Rho(price) if wanted.rho else Epsilon(price))

    return plan(least_price(lambda price: _reaches(question, plan(price), wanted)))


def least_price(reached: Callable[[Fraction], bool]) -> Fraction:
    """Return the least price, to three digits, that reaches something; more must not reach less."""
    high = Fraction(1)
    while not reached(high):
        high *= 4
        if high > MOST_PRICE:
            raise OutOfRange("No price reaches this accuracy.", fix="allow a larger error")
    while high > LEAST_PRICE and reached(high / 4):
        high /= 4
    low = high / 4
    while high - low > CLOSE * high:
        middle = Fraction(text_up((low + high) / 2, 3))
        if not low < middle < high:
            break
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _reaches(question: Question, plan: QueryPlan, wanted: Within) -> bool:
    predicted = {
        prediction.name: prediction
        for prediction in predict(
            question, plan, confidence=wanted.confidence, simultaneous=wanted.simultaneous, size=wanted.size
        )
    }
    for name, error in wanted.error:
        if name is not None and name not in predicted:
            raise InvalidInput(f"There is no output {name!r}.", fix=f"use one of: {', '.join(predicted)}")
        for prediction in predicted.values() if name is None else [predicted[name]]:
            if prediction.error is None:
                raise InvalidInput(
                    f"The error of {prediction.name!r} cannot be predicted: {prediction.words}.",
                    fix='name the outputs, as in within={"n": 25}, give size=…, or ask with epsilon=…',
                )
            if prediction.error > error:
                return False
    return True


def _check_size(question: Question, cells: PublicCells) -> None:
    if cells.count is not None and cells.count > MOST_CELLS:
        raise OutOfRange(
            f"The public groups make a table of {cells.count:,} rows.",
            fix="group by fewer or coarser keys, such as DATE_TRUNC",
        )
    if cells.count == 0:
        names = ", ".join(repr(group.name) for group in question.groups)
        raise InvalidInput(
            f"No row can count: none of the public values of {names} fulfils the conditions.",
            fix="compare the constants after WHERE and ON with the groups that the schema shows",
        )


def _need_delta(facts: PlanningContext) -> Fraction:
    if not facts.delta:
        raise InvalidInput(
            "The groups of this question are private, and partition selection needs a delta.",
            fix='declare them when the dataset is opened, as in groups={"ward": ["A", "B"]}, or open it with a budget '
            "that has a delta",
        )
    return facts.delta


def _check_keys(question: Question, _facts: PlanningContext) -> None:
    for group in question.groups:
        if not group.expression.kind.groupable:
            raise InvalidInput(
                f"Rows cannot be grouped by {group.name!r}, which is {group.expression.kind.value}.",
                fix="group by FLOOR(…) or ROUND(…) of a number, or DATE_TRUNC('day', …) of a timestamp",
            )


def _check_measures(question: Question, _facts: PlanningContext) -> None:
    if not all_measures(question):
        raise InvalidInput(
            "The question has no aggregate.", fix="ask for COUNT(*), SUM(…), AVG(…) or another aggregate"
        )


def _check_people_countable(question: Question, facts: PlanningContext) -> None:
    """Refuse to count people where units are their months: who came in three months would be three."""
    window = facts.schema.unit.window
    if window is None or not any(isinstance(measure, CountPeople) for measure in all_measures(question)):
        return
    of_unit = unit_keys(facts.schema)[1:] if facts.schema.people is None else ()
    if not any(group.expression in of_unit for group in question.groups):
        period = window.period.value
        raise InvalidInput(
            f"The privacy unit is a person in one {period}, so people cannot be counted over several.",
            fix=f"group by DATE_TRUNC('{period}', {window.time}), or count rows",
        )


def _check_functions(question: Question, _facts: PlanningContext) -> None:
    for output in question.outputs:
        for function in _functions(output.term):
            if function not in RULES:
                raise InvalidInput(
                    f"{function.value} cannot be applied to noisy answers in {output.name!r}.",
                    fix="apply it to rows, inside COUNT, SUM or AVG, or to the answer afterwards",
                )
    for term in [*([] if question.having is None else [question.having]), *(order.term for order in question.order)]:
        for function in _functions(term):
            if function not in STRICT and function not in LENIENT:
                raise InvalidInput(
                    f"{function.value} cannot be used in HAVING or ORDER BY.",
                    fix="sort and filter the answer afterwards",
                )


def _check_rows(question: Question, facts: PlanningContext) -> None:
    """Refuse a relation that has no meaning, and what cannot be asked of it."""
    source = question.source
    if source is None:
        return
    check_relation(source)
    if matching(source) is not None:
        check_matched(question, facts.schema)
    if facts.schema.unit.column is None and not _is_row_by_row(source):
        raise InvalidInput(
            "With row=True a question cannot combine rows.",
            fix="open each table with the column of its persons: person=…",
        )


def _is_row_by_row(relation: Relation) -> bool:
    """Whether each row of a relation is made of one row of a table, and no two of the same."""
    match relation:
        case Scan():
            return True
        case Derived(source=source):
            return _is_row_by_row(source)
        case PublicJoin(left=left, kind=JoinKind.SEMI | JoinKind.ANTI):
            return _is_row_by_row(left)
        case _:
            return False


def _functions(term: Term) -> list[F]:
    if not isinstance(term, Apply):
        return []
    return [term.function, *(function for argument in term.arguments for function in _functions(argument))]


def _check_work_limit(question: Question, facts: PlanningContext) -> None:
    """Refuse a question whose rows make more work than a public limit, before anything is paid for it."""
    joint = [value for measure in all_measures(question) if isinstance(measure, Joint) for value in values_of(measure)]
    # A measure of two values is made of both, of each where the other is there, and of their product.
    check_work(question.source, [*expressions_of(question), *joint, *joint, *joint], facts.measure_sql)


#: What a question must satisfy, in the order in which it is said.
CHECKS: tuple[Callable[[Question, PlanningContext], None], ...] = (
    lambda question, _facts: check_stages(question),
    _check_rows,
    check_question,
    _check_work_limit,
    _check_measures,
    _check_keys,
    _check_people_countable,
    _check_functions,
)
