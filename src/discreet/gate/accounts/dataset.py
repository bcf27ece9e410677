"""The dataset account charges everybody alike: one filter for all analysts, or one for each; and shares below it.

A frozen value: a payment returns a new account or is refused.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.accounting import (
    ConcentratedFilter,
    Filter,
    PrivacyLoss,
    Repeated,
    adds_exactly,
    filter_from_text,
    filter_to_text,
    states_no_less,
    with_limit,
)
from discreet.core import BudgetExceeded, InvalidInput
from discreet.core.untrusted_text import read_fraction
from discreet.gate.entries.budget import Budget, Policy
from discreet.gate.entries.chain import canonical, damage_error, parse_canonical

#: How often each analyst, in a team or in none (empty), was charged what.
Charges = Mapping[tuple[str, str, PrivacyLoss], int]


@dataclass(frozen=True, slots=True)
class DatasetAccount:
    """What everybody together, each team and each analyst has paid."""

    policy: Policy
    #: A filter from which nothing was paid.
    empty: Filter
    #: What all have paid, under `Policy.SHARED`; what became known elsewhere, under `Policy.SEPARATE`. In either case
    #: its limit is the budget's.
    total: Filter
    #: What each analyst has paid.
    analysts: Mapping[str, Filter] = field(default_factory=dict)
    #: Limits of single analysts; the others have the budget's.
    limits: Mapping[str, Fraction] = field(default_factory=dict)
    #: Whether all there is has become known elsewhere.
    closed: bool = False
    #: What the members of each team have paid while they were in it, each release once; and shares of teams.
    teams: Mapping[str, Filter] = field(default_factory=dict)
    team_limits: Mapping[str, Fraction] = field(default_factory=dict)

    @classmethod
    def create(cls, budget: Budget, policy: Policy) -> "DatasetAccount":
        """Return an account from which nothing was paid."""
        return cls(policy, budget.filter(), budget.filter())

    @property
    def symbol(self) -> str:
        """ε or ρ: what the account is kept in."""
        return "ρ" if isinstance(self.total, ConcentratedFilter) else "ε"

    @property
    def promise(self) -> PrivacyLoss:
        """What everything together costs at most."""
        return self.total.promise

    @property
    def limit(self) -> Fraction:
        """The ε or ρ that the budget allows now."""
        return limit_of(self.total)

    def filter_of(self, analyst: str) -> Filter:
        """Return what an analyst has paid, under the limit that binds now."""
        own = self.analysts.get(analyst, self._beginner)
        return _apply_limit(own, min(self.limits.get(analyst, self.limit), self.limit))

    def filter_of_team(self, team: str) -> Filter:
        """Return what a team has paid, under the limit that binds now."""
        paid = self.teams.get(team, self.empty)
        return _apply_limit(paid, min(self.team_limits.get(team, self.limit), self.limit))

    def binding(self, analyst: str, team: str = "") -> Filter:
        """Return the filter that leaves this analyst the least."""
        own = self._own(analyst)
        if self.policy is Policy.SEPARATE:
            return own
        least = own if own is self.total or own.left < self.total.left else self.total
        theirs = self.filter_of_team(team) if team else least
        return theirs if theirs.left < least.left else least

    def has_share(self, analyst: str, team: str = "") -> bool:
        """Tell whether the analyst, or the team, may spend less than everybody: then copies are charged to them."""
        return self.policy is Policy.SHARED and (analyst in self.limits or team in self.team_limits)

    def states_no_less(self, counted: "DatasetAccount") -> bool:
        """Tell whether this is another account, with sums that an earlier version of this library rounded up more."""
        return (
            replace(self, total=self.empty, analysts={}, teams={})
            == replace(counted, total=counted.empty, analysts={}, teams={})
            and _states_no_less_each(self.analysts, counted.analysts)
            and _states_no_less_each(self.teams, counted.teams)
            and states_no_less(self.total, counted.total)
        )

    def left_of(self, session: Filter) -> Fraction:
        """Return what is left of a filter of this account: nothing if the account is closed."""
        return Fraction(0) if self.closed else session.left

    def fits(self, cost: PrivacyLoss, analyst: str, team: str = "") -> bool:
        """Tell whether a payment would be admitted."""
        shared = self.policy is Policy.SHARED
        room = not self.closed and (not shared or self.total.fits(cost)) and self._own(analyst).fits(cost)
        return room and (not team or (shared and self.filter_of_team(team).fits(cost)))

    def admit(self, cost: PrivacyLoss, analyst: str, team: str = "") -> "DatasetAccount":
        """Return the account after a payment, or raise `BudgetExceeded`: all are charged, or nobody is."""
        if self.closed:
            raise BudgetExceeded(
                "The account is closed: what it protects became known elsewhere.",
                fix="reuse an earlier release: asking for it again is free",
            )
        shared = self.policy is Policy.SHARED
        total = self.total.admit(cost) if shared else self.total
        return replace(self, total=total).charge(cost, analyst, team)

    def copy(self, cost: PrivacyLoss, analyst: str, team: str = "") -> "DatasetAccount":
        """Return the account after an analyst and a team (empty: not charged) are given what the dataset paid for."""
        if self.policy is not Policy.SHARED:
            raise not_shared()
        return self.charge(cost, analyst, team)

    def charge(self, cost: PrivacyLoss, analyst: str, team: str) -> "DatasetAccount":
        """Return the account after an analyst and a team (empty: not charged) pay from their shares alone."""
        account = self
        if analyst or self.policy is Policy.SEPARATE:
            whose = (
                "the analyst's own share: the steward can grant a larger one"
                if analyst in self.limits
                else "what one analyst may learn"
            )
            own = _admit_as(self._own(analyst), cost, whose)
            account = replace(account, analysts={**account.analysts, analyst: own})
        if team:
            if self.policy is not Policy.SHARED:
                raise not_shared()
            whose = (
                "the share of the analyst's team: the steward can grant a larger one"
                if team in self.team_limits
                else "what one team may learn"
            )
            theirs = _admit_as(self.filter_of_team(team), cost, whose)
            account = replace(account, teams={**account.teams, team: theirs})
        return account

    def adds_exactly(self, costs: Sequence[tuple[str, str, PrivacyLoss]]) -> bool:
        """Tell whether payments and copies add up to the same in any order: nothing is rounded."""
        analysts = {name: self.analysts.get(name, self._beginner) for name, _, _ in costs}
        teams = {team: self.teams.get(team, self.empty) for _, team, _ in costs if team}
        return adds_exactly(self.total, [cost for *_, cost in costs], *analysts.values(), *teams.values())

    def admit_run(self, costs: Charges, copies: Charges) -> "DatasetAccount":
        """Return the account after payments and copies that add up exactly; or raise `BudgetExceeded`."""
        account, sums = self, Counter[PrivacyLoss]()
        shared = self.policy is Policy.SHARED
        if copies and not shared:
            raise not_shared()
        for (_, _, cost), times in costs.items():
            sums[cost] += times
        if self.closed and sums:
            return account.admit(next(iter(sums)), "")  # which is refused
        total = account.total
        for cost, times in sums.items() if shared else ():
            total = total.admit(_repeat_cost(cost, times))
        for (analyst, team, cost), times in (*costs.items(), *copies.items()):
            account = account.charge(_repeat_cost(cost, times), analyst, team)
        return replace(account, total=total)

    def resize(self, limit: Fraction | None, analyst: str | None, team: str = "") -> "DatasetAccount":
        """Return the account under another limit: the budget's, an analyst's or a team's (None: no limit of their own).

        Where more is spent already, the limit becomes what is spent, and nothing is left.
        """
        if team:
            if self.policy is not Policy.SHARED:
                raise not_shared()
            rest = {name: share for name, share in self.team_limits.items() if name != team}
            return replace(self, team_limits=rest if limit is None else {**rest, team: limit})
        if analyst is not None:
            others = {name: own_limit for name, own_limit in self.limits.items() if name != analyst}
            return replace(self, limits=others if limit is None else {**others, analyst: limit})
        if limit is None:
            return self
        # No less than what anybody has learned: the limit is what is promised.
        most = max((own.spent for own in self.analysts.values()), default=Fraction(0))
        return replace(self, total=_apply_limit(self.total, max(limit, most)))

    def disclose(self, cost: PrivacyLoss | None) -> "DatasetAccount":
        """Return the account after something became known elsewhere; closed if that is more than was left."""
        everybody = {name: self.filter_of(name) for name in self.analysts} if self.policy is Policy.SEPARATE else {}
        if cost is None or not all(affected.fits(cost) for affected in (self.total, *everybody.values())):
            return replace(self, closed=True)
        analysts = {**self.analysts, **{name: own.admit(cost) for name, own in everybody.items()}}
        return replace(self, total=self.total.admit(cost), analysts=analysts)

    @property
    def _beginner(self) -> Filter:
        """An analyst who has asked nothing yet knows what everybody knows."""
        return self.total if self.policy is Policy.SEPARATE else self.empty

    def _own(self, analyst: str) -> Filter:
        # Without names there is only the total.
        return self.total if self.policy is Policy.SHARED and not analyst else self.filter_of(analyst)

    def to_text(self) -> str:
        """Return the one text of this account, for a checkpoint."""
        return canonical(
            {
                "policy": self.policy.value,
                "empty": filter_to_text(self.empty),
                "total": filter_to_text(self.total),
                "analysts": {name: filter_to_text(own) for name, own in self.analysts.items()},
                "limits": _limits_text(self.limits),
                "closed": self.closed,
                **({"teams": {name: filter_to_text(paid) for name, paid in self.teams.items()}} if self.teams else {}),
                **({"team_limits": _limits_text(self.team_limits)} if self.team_limits else {}),
            }
        ).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> "DatasetAccount":
        """Return the account that a text stands for."""
        try:
            fields = parse_canonical(text.encode("ascii"))
            account = cls(
                Policy(fields["policy"]),
                filter_from_text(fields["empty"]),
                filter_from_text(fields["total"]),
                {name: filter_from_text(own) for name, own in fields["analysts"].items()},
                {name: read_fraction(limit) for name, limit in fields["limits"].items()},
                fields["closed"] is True,
                {name: filter_from_text(paid) for name, paid in fields.get("teams", {}).items()},
                {name: read_fraction(limit) for name, limit in fields.get("team_limits", {}).items()},
            )
        except (ValueError, KeyError, AttributeError, TypeError):
            account = None
        if account is None or account.to_text() != text:
            raise damage_error("The totals of a checkpoint are not readable.")
        return account


def not_shared() -> InvalidInput:
    """Return the error that refuses shares of teams, and copies, where each analyst has the whole budget."""
    return InvalidInput(
        "Each analyst has the whole budget here: there are no teams, and no copies.",
        fix="create the ledger with Policy.SHARED, which is the default",
    )


def _admit_as(session: Filter, cost: PrivacyLoss, whose: str) -> Filter:
    try:
        return session.admit(cost)
    except BudgetExceeded as error:
        raise BudgetExceeded(f"{error.problem} (This is {whose}.)", fix=error.fix) from None


def _limits_text(limits: Mapping[str, Fraction]) -> dict[str, str]:
    return {name: str(limit) for name, limit in limits.items()}


def _states_no_less_each(stated: Mapping[str, Filter], counted: Mapping[str, Filter]) -> bool:
    same = stated.keys() == counted.keys()
    return same and all(states_no_less(paid, counted[name]) for name, paid in stated.items())


def _repeat_cost(cost: PrivacyLoss, times: int) -> PrivacyLoss:
    return Repeated(cost, times) if times > 1 else cost


def limit_of(session: Filter) -> Fraction:
    """Return the ε or ρ of a filter."""
    return session.rho if isinstance(session, ConcentratedFilter) else session.epsilon


def _apply_limit(session: Filter, limit: Fraction) -> Filter:
    now = limit_of(session)
    if limit == now:
        return session
    return with_limit(session, limit if limit > now else max(limit, session.spent))
