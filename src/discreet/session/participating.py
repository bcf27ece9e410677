"""How many people still take part in a question, with personal accounts."""

from discreet.core import InvalidInput, Number
from discreet.core.exact import flag
from discreet.query import Epsilon, Frame, Participation, ParticipationPlan, Question, Rho, plan_question
from discreet.session.asking import Asking
from discreet.session.context import Desk


def participation_of(
    desk: Desk, what: "str | Question | Frame", asked: Asking, price: Number, *, fresh: bool, request: str | None
) -> Participation:
    """Return the two counts, paid for by those who are counted."""
    if not desk.ledger.budget.personal:
        raise InvalidInput(
            "Everybody takes part here: the budget is the dataset's.",
            fix='ask; people leave only where each has an account, with Budget(…, per="person")',
        )
    question = desk.question(what, asked)
    plan = plan_question(question, desk.limited(question, asked), asked.spend, bias=asked.bias)
    desk.ledger.book.account.admit(plan.cost, desk.analyst)  # what would be refused, nobody takes part in
    counted = ParticipationPlan(plan, Rho(price) if isinstance(plan.spend, Rho) else Epsilon(price))
    answer = desk.gate(question).release(counted, request=request, fresh=flag(fresh, "fresh")).answer
    return Participation(answer["asked"], answer["taking part"], counted.error(asked.confidence), asked.confidence)
