"""The two kinds of accounts: one for the dataset, or one for each person."""

from discreet.gate.accounts.dataset import DatasetAccount, limit_of
from discreet.gate.accounts.personal_terms import PersonalAccount
from discreet.gate.ledger.budget import Budget, Policy
from discreet.gate.ledger.chain import damaged

Account = DatasetAccount | PersonalAccount

__all__ = ["Account", "DatasetAccount", "PersonalAccount", "account_born", "account_from_text", "limit_of"]


def account_born(budget: Budget, policy: Policy) -> Account:
    """Return the account that a ledger begins with."""
    return PersonalAccount.born(budget, policy) if budget.personal else DatasetAccount.born(budget, policy)


def account_from_text(text: str, budget: Budget, policy: Policy) -> Account:
    """Return the account that the text of a checkpoint stands for; refuse one of another budget."""
    if budget.personal:
        return PersonalAccount.from_text(text, budget)
    account = DatasetAccount.from_text(text)
    if account.policy is not policy or account.empty != budget.filter():
        raise damaged("The totals of a checkpoint are not those of this ledger's budget.")
    return account
