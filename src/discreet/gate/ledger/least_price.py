"""The least price of a fresh query: a lower cost is refused before payment.

Without one, questions that cost next to nothing could be asked for ever, and whether each of them failed would be told
for nothing. The least price is fixed at a ledger's birth. In a budget of ε or ρ it is that much of it. In one of
(ε, δ) it is what a purely private question of that ε costs, by whichever sum charges more. Where persons have accounts
it is the same part of a person's limit, in the account's own currency.
"""

from functools import lru_cache

from discreet.accounting import PrivacyLoss, Repeated
from discreet.accounting.conversions import approximate_of, concentrated_of
from discreet.core import DiscreetError, InvalidInput
from discreet.core.exact import text_down
from discreet.gate.ledger.budget import Budget
from discreet.gate.ledger.cost_text import cost_words
from discreet.gate.ledger.runs import LEDGER_FAILURES


def need_least_price(budget: Budget, cost: PrivacyLoss) -> None:
    """Refuse a cost that is below the least price of a budget."""
    if _is_below(budget, cost):
        least = f"{budget.symbol} = {text_down(budget.least_price)}"
        raise InvalidInput(
            f"This costs {cost_words(cost)}. A question costs at least {least} here; a smaller price is not taken.",
            fix="ask with a larger epsilon or rho: the answer is more accurate, too",
        )


def least_quanta(budget: Budget) -> int:
    """Return the least price in quanta of a personal account, rounded up."""
    return -(-budget.personal_limit().limit * budget.least_price // budget.limit)


def reserve_quanta(budget: Budget) -> int:
    """Return what is set aside for failures in every personal account: each at the least price."""
    return LEDGER_FAILURES * least_quanta(budget)


@lru_cache(maxsize=4096)
def _is_below(budget: Budget, cost: PrivacyLoss) -> bool:
    """Tell whether a cost is below the least price; what has no cost in the budget's currency is refused elsewhere."""
    if budget.personal:
        price = budget.personal_limit().price(cost)
        return price is not None and price[0] < least_quanta(budget)
    least, pure, concentrated = budget.least_price, approximate_of(cost), concentrated_of(cost)
    if budget.epsilon is None:
        enough = concentrated is not None and concentrated[0] >= least
    else:
        enough = pure is not None and pure[0] >= least
        if budget.delta:
            enough = enough or (concentrated is not None and concentrated[0] >= least**2 / 2)
    return not enough and _fits_too_often(budget, cost)


def _fits_too_often(budget: Budget, cost: PrivacyLoss) -> bool:
    """Tell whether the budget pays for more such questions than for questions of the least price."""
    try:
        return budget.filter().fits(Repeated(cost, budget.most_questions + 1))
    except DiscreetError:
        return False
