"""Advice where the budget does not allow a question: ask for less, or reuse an earlier answer."""

from fractions import Fraction

from discreet.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    PrivacyLoss,
    Pure,
    Repeated,
)
from discreet.core import BudgetExceeded, DiscreetError
from discreet.core.exact import text_down
from discreet.gate import Ledger, PersonalAccount, Receipt, plan_digest
from discreet.query import Epsilon, QueryPlan, Rho, plan_question, predict
from discreet.session.answers.cells import error_text
from discreet.session.context import PreparedQuestion

#: The number of payments that are searched for an earlier answer.
LOOKED = 200


def advise(
    error: BudgetExceeded, prepared: PreparedQuestion, ledger: Ledger, analyst: str, team: str
) -> BudgetExceeded:
    """Return the refusal of a question with advice: only alternatives that were found to work."""
    adviser = _Adviser(prepared, ledger, analyst, team)
    alternatives = [advice for advice in (adviser.find_cheaper(), adviser.find_earlier()) if advice is not None]
    return BudgetExceeded(error.problem, fix=", or ".join(alternatives) if alternatives else error.fix)


class _Adviser:
    def __init__(self, prepared: PreparedQuestion, ledger: Ledger, analyst: str, team: str) -> None:
        self.question, self.plan = prepared.question, prepared.plan
        self.facts, self.options = prepared.facts, prepared.options
        self.ledger, self.analyst, self.team = ledger, analyst, team

    def find_cheaper(self) -> str | None:
        """Return the largest price that fits, and what it does to the error."""
        room = self._room()
        left = Fraction(0) if room is None else Fraction(text_down(room, 3))
        other = self._plan_at(left) if 0 < left < self.plan.spend.amount else None
        if other is None or not self.ledger.fits(other.cost, self.analyst, self.team):
            return None
        return f"ask with {_words(other.spend)}{self._compare_errors(other)}"

    def _room(self) -> Fraction | None:
        """Return the most that may be asked for, in the currency of the plan, if it is counted in that.

        With personal accounts it is what any question may cost, and what is left of the dataset's total. Both are
        public; what is left to persons is not, and nothing is refused because of it.
        """
        account = self.ledger.state.account
        if not isinstance(account, PersonalAccount):
            same = self._counts(self.ledger.budget.symbol)
            return account.left_of(account.binding(self.analyst, self.team)) if same else None
        rooms = []
        if account.cap is not None and self._counts(account.symbol):
            rooms.append(account.cap * account.terms.quantum)
        if account.budget.total is not None and self._counts(account.budget.total.symbol):
            rooms.append(account.left_of(account.binding(self.analyst, self.team)))
        return min(rooms, default=None)

    def _counts(self, symbol: str) -> bool:
        """Whether the plan is paid for in this currency."""
        return (symbol == "ρ") == isinstance(self.plan.spend, Rho)

    def _compare_errors(self, other: QueryPlan) -> str:
        for now, then in zip(self._errors(self.plan), self._errors(other), strict=True):
            if now is not None and then is not None:
                return f" (error ±{error_text(then)} instead of ±{error_text(now)})"
        return ""

    def _errors(self, plan: QueryPlan) -> list[float | None]:
        options = self.options
        predictions = predict(
            self.question, plan, confidence=options.confidence, simultaneous=options.simultaneous, size=options.size
        )
        return [prediction.error for prediction in predictions]

    def find_earlier(self) -> str | None:
        """Return the last answer to the same question at another price."""
        for receipt in self.ledger.recent(LOOKED):
            if not self._may_know(receipt) or receipt.what != self.plan.what:
                continue
            number, paid = self.ledger.release_of(receipt.payment), _find_amount(receipt.cost)
            other = None if number is None or paid is None else self._plan_at(paid)
            if other is not None and plan_digest(other) == receipt.plan:
                return f"reuse release #{number}, which answers this for free: ask with {_words(other.spend)} as before"
        return None

    def _may_know(self, receipt: Receipt) -> bool:
        """Whether the answer is the analyst's own, or another's."""
        return receipt.analyst == self.analyst or self.ledger.shares.is_open_to(self.analyst, self.team)

    def _plan_at(self, amount: Fraction) -> QueryPlan | None:
        spend = Rho(amount) if isinstance(self.plan.spend, Rho) else Epsilon(amount)
        try:
            return plan_question(self.question, self.facts, spend, bias=self.options.bias)
        except DiscreetError:
            return None


def _words(spend: Epsilon | Rho) -> str:
    """Return a price as one types it."""
    word = "epsilon" if isinstance(spend, Epsilon) else "rho"
    shown = f"{float(spend.amount):.12g}"
    return f"{word}={shown}" if Fraction(shown) == spend.amount else f"{word}=Fraction({str(spend.amount)!r})"


def _find_amount(loss: PrivacyLoss) -> Fraction | None:
    """Return the ε or ρ that a question was asked with, as its parts add up; a guess, which is checked."""
    match loss:
        case Pure(amount) | Approximate(amount, _) | BoundedRange(amount) | Concentrated(amount, _):
            return amount
        case Composed(parts):
            amounts = [_find_amount(part) for part in parts]
            return None if None in amounts else sum((share for share in amounts if share is not None), Fraction(0))
        case Repeated(part, times):
            once = _find_amount(part)
            return None if once is None else once * times
        case _:
            return None
