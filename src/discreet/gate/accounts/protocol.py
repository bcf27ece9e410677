"""The two kinds of accounts: one for the dataset, or one for each person."""

from discreet.gate.accounts.dataset import DatasetAccount, limit_of
from discreet.gate.accounts.personal_terms import PersonalAccount
from discreet.gate.ledger.budget import Budget, Policy
from discreet.gate.ledger.chain import damage_error

Account = DatasetAccount | PersonalAccount

__all__ = ["Account", "DatasetAccount", "PersonalAccount", "account_from_text", "create_account", "limit_of"]


def create_account(budget: Budget, policy: Policy) -> Account:
    """Return the account that a ledger begins with."""
    return PersonalAccount.create(budget, policy) if budget.personal else DatasetAccount.create(budget, policy)


def account_from_text(text: str, budget: Budget, policy: Policy) -> Account:
    """Return the account that the text of a checkpoint stands for; refuse one of another budget."""
    if budget.personal:
        return PersonalAccount.from_text(text, budget)
    account = DatasetAccount.from_text(text)
    if account.policy is not policy or account.empty != budget.filter():
        raise damage_error("The totals of a checkpoint are not those of this ledger's budget.")
    return account
