"""Plans of questions about several answers: what their tables measure, at one price, with one payment."""

from collections.abc import Callable
from dataclasses import replace

from discreet.core import InvalidInput
from discreet.query.planning.plans import QueryPlan
from discreet.query.planning.spending import PlanningContext, Spend, Within, split_evenly
from discreet.query.questions import Question, questions_in
from discreet.query.sql_writing.question import question_sql
from discreet.query.stage_checks import check_stages

#: Plans one question at a price.
PlanOne = Callable[[Question, PlanningContext, Spend], QueryPlan]


def plan_tables(
    question: Question, facts: PlanningContext, spend: Spend | Within, plan_one: PlanOne, *, bias: bool
) -> QueryPlan:
    """Return the plan of a question about several answers: all are measured, each for the same part of the price.

    Guarantee: the split is public, as it depends on the questions alone, and the cost is that of all measurements
    together. What is joined is released, and so joining it costs nothing.
    Questions that measure the same are one, and measured once. The order in which answers are named does not matter.
    """
    check_stages(question)
    if isinstance(spend, Within):
        raise refuse_accuracy()
    if bias:
        raise InvalidInput(
            "The bias is estimated for one question at a time.",
            fix="leave bias out; or ask for each answer by itself with bias=True",
        )
    asked = questions_in(question)
    texts = [plan_one(one, facts, spend).canonical() for one in asked]
    different = sorted(set(texts))
    share = split_evenly(spend, len(different))
    first, *others = (plan_one(asked[texts.index(text)], facts, share) for text in different)
    # The first may be run after plans of its own, whose numbers its conditions compare with: these stay in front.
    place = {text: at and at + len(first.others) for at, text in enumerate(different)}
    return replace(
        first,
        spend=spend,
        what=question_sql(question, facts.about(question).tables),
        others=(*first.others, *others),
        places=tuple(place[text] for text in texts),
    )


def refuse_accuracy() -> InvalidInput:
    """Return the refusal of `within` where several numbers are computed from answers."""
    return InvalidInput(
        "within is about the errors of a question, not of what is computed from its answer.",
        fix="ask the question inside FROM (…) by itself with within=…, and then this one at the price that it "
        "cost, with epsilon=… or rho=…: it is free",
    )
