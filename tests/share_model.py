"""Shares by the simplest arithmetic: what the ledger has to say after asks, crashes, grants, and changes of teams."""

from dataclasses import dataclass, field
from fractions import Fraction

from discreet.core import BudgetExceeded
from discreet.gate import Gate, Ledger
from questions import Question


@dataclass
class Bought:
    """What was paid for once: which plan, whether it was answered, and who was charged for it."""

    plan: str
    payer: str
    answered: bool = False
    analysts: set[str] = field(default_factory=set)
    teams: set[str] = field(default_factory=set)


@dataclass
class ShareModel:
    """Balances of a dataset, its teams and its analysts, in ε."""

    budget: Fraction
    costs: dict[str, Fraction]
    bought: list[Bought] = field(default_factory=list)
    shares: dict[str, Fraction] = field(default_factory=dict)
    team_shares: dict[str, Fraction] = field(default_factory=dict)
    spent: dict[str, Fraction] = field(default_factory=dict)
    team_spent: dict[str, Fraction] = field(default_factory=dict)
    #: Open requests: who asks, for which team or for themselves, and how much.
    requests: dict[tuple[str, str], Fraction] = field(default_factory=dict)

    @property
    def total(self) -> Fraction:
        return sum((self.costs[one.plan] for one in self.bought), Fraction(0))

    def ask(self, analyst: str, team: str, plan: str, *, crash: bool) -> tuple[str, bool]:
        """Say how an ask ends (free, run, copied, paid or refused), and whether it is answered; a run may crash."""
        sharing = analyst in self.shares or team in self.team_shares
        mine = [one for one in self.bought if one.plan == plan and analyst in one.analysts]
        open_to = mine if sharing else [one for one in self.bought if one.plan == plan]
        if any(one.answered for one in open_to):
            return "free", True
        waiting = [one for one in mine if sharing or one.payer == analyst]
        if waiting:
            waiting[0].answered = not crash
            return "run", not crash
        found = [one for one in self.bought if one.plan == plan] if sharing else []
        found.sort(key=lambda one: (analyst not in one.analysts, team not in one.teams, not one.answered))
        there = found[0] if found else Bought(plan, analyst)
        if not self._charge(there, analyst, team, paid=bool(found)):
            return "refused", False
        if not found:
            self.bought.append(there)
        there.answered = there.answered or not crash
        return ("copied" if found else "paid"), there.answered

    def _charge(self, one: Bought, analyst: str, team: str, *, paid: bool) -> bool:
        cost = self.costs[one.plan]
        if not paid and self.total + cost > self.budget:
            return False
        analysts = {analyst} - one.analysts
        teams = {team} - {""} - one.teams
        for names, spent, shares in ((analysts, self.spent, self.shares), (teams, self.team_spent, self.team_shares)):
            for name in names:
                if spent.get(name, Fraction(0)) + cost > min(shares.get(name, self.budget), self.budget):
                    return False
        for names, spent in ((analysts, self.spent), (teams, self.team_spent)):
            for name in names:
                spent[name] = spent.get(name, Fraction(0)) + cost
        one.analysts |= analysts
        one.teams |= teams
        return True

    def decide(self, who: tuple[str, str], limit: Fraction | None) -> None:
        """Decide about an open request: a grant sets the share."""
        del self.requests[who]
        analyst, team = who
        if limit is not None:
            (self.team_shares if team else self.shares)[team or analyst] = limit


def ask_all(address: str, analyst: str, names: list[str]) -> dict[str, bytes | None]:
    """Ask several questions in a process of its own, whatever is refused; return the answers."""
    found: dict[str, bytes | None] = {}
    with Ledger.open(address) as ledger:
        for name in names:
            try:
                found[name] = Gate(ledger, [], analyst=analyst, team="icu").release(Question(name)).stored
            except BudgetExceeded:
                found[name] = None
    return found
