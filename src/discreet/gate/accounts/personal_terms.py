"""Terms of personal accounts, the most that any person can have been charged, and the protocol of accounts.

What single persons were charged is private, and kept elsewhere (`balances`). A payment names the worst that
the question can cost anybody; whether it is accepted depends on that alone, and nobody is charged by it: the charges
follow when the question is run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from hashlib import sha256
from typing import NamedTuple

from discreet.accounting import ConcentratedFilter, Currency, Filter, PersonalLimit, PrivacyLoss, PureFilter, guarantee
from discreet.core import BudgetExceeded, InvalidInput
from discreet.core.exact import text_down, text_up
from discreet.core.untrusted_text import read_fraction
from discreet.gate.accounts.dataset import Charges, DatasetAccount, limit_of
from discreet.gate.entries.budget import Budget, Policy
from discreet.gate.entries.chain import canonical, damage_error, parse_canonical
from discreet.gate.entries.runs import reserve_quanta

#: Quanta of ε or ρ, and quanta of failure mass.
Quanta = tuple[int, int]
#: Of so many payments that wait for an answer each price is kept; of those before them, the greatest.
KEPT = 256


class Unanswered(NamedTuple):
    """A payment that was not answered yet: its worst cost in quanta, and whether a run of it charged persons."""

    payment: int
    price: int
    failures: int
    charged: int = 0


@dataclass(frozen=True, slots=True)
class PersonalAccount:
    """The terms of personal accounts: what binds everybody alike, and all of it public.

    Guarantee: nobody has lost more than `reached`, what became known elsewhere included; so `promise` holds for every
    person, whatever limits there were before.
    """

    budget: Budget
    #: The limit of each person now, as it was stated, and in quanta.
    stated: Fraction
    terms: PersonalLimit
    #: What became known elsewhere: charged to everybody, also to those who come later.
    base: Quanta = (0, 0)
    #: No person has lost more, by what is public: the worst cost of every question, for each of its runs that charged
    #: persons, up to the limit of its day.
    reached: Quanta = (0, 0)
    #: Who pays for every question besides, if the budget has a total.
    everybody: DatasetAccount | None = None
    #: Whether what became known elsewhere leaves nothing to anybody.
    closed: bool = False
    #: The last entry that charged somebody or added all charges up, and the last that changed these terms.
    charged: int = 0
    settled: int = 0
    #: The hash of what all charges since the last snapshot, and that, have beside them; and how many there are.
    trail: str = ""
    since: int = 0
    #: The last payments without an answer, oldest first, and the greatest prices of those before them: what one more
    #: run of them adds to `reached`.
    unanswered: tuple[Unanswered, ...] = ()
    forgotten: Quanta = (0, 0)
    #: Quanta that are set aside in every account for runs that fail, which charge nobody.
    reserve: int = 0

    @classmethod
    def create(cls, budget: Budget, policy: Policy) -> "PersonalAccount":
        """Return accounts from which nothing was paid."""
        if budget.unit.column is None:
            raise InvalidInput(
                "A row has no account: personal accounts need a person.",
                fix='pass Budget(…, per="person", unit=PrivacyUnit(column="patient_id"))',
            )
        if policy is not Policy.SHARED:
            raise InvalidInput(
                "Personal accounts are charged for what all analysts learn together.",
                fix="leave out the policy: Policy.SHARED",
            )
        everybody = None if budget.total is None else DatasetAccount.create(budget.total, policy)
        # A ledger that was born before there was a least price has nothing set aside until its first review.
        reserve = 0 if budget.least is None else reserve_quanta(budget)
        return cls(
            budget, budget.limit, budget.personal_limit(), reached=(reserve, 0), everybody=everybody, reserve=reserve
        )

    @property
    def policy(self) -> Policy:
        """All analysts together."""
        return Policy.SHARED

    @property
    def analysts(self) -> Mapping[str, Filter]:
        """What each analyst has paid of the dataset's total, if there is one."""
        return {} if self.everybody is None else self.everybody.analysts

    @property
    def limits(self) -> Mapping[str, Fraction]:
        """Limits of single analysts, of the dataset's total."""
        return {} if self.everybody is None else self.everybody.limits

    @property
    def teams(self) -> Mapping[str, Filter]:
        """What each team has paid of the dataset's total, if there is one."""
        return {} if self.everybody is None else self.everybody.teams

    @property
    def team_limits(self) -> Mapping[str, Fraction]:
        """Shares of teams, of the dataset's total."""
        return {} if self.everybody is None else self.everybody.team_limits

    @property
    def symbol(self) -> str:
        """ε or ρ: what accounts are kept in."""
        return self.terms.currency.value

    @property
    def cap(self) -> int | None:
        """The most quanta that a question may cost anybody."""
        most = self.budget.most
        return None if most is None else self.budget.personal_limit(most, like=self.terms).limit

    def is_dear(self, cost: PrivacyLoss) -> bool:
        """Tell whether a question may cost a person more than anybody can have left; public."""
        price = self.terms.price(cost)
        return price is None or price[0] > self.terms.limit - self.aside[0]

    @property
    def aside(self) -> Quanta:
        """What nobody can be charged for an answer: what became known elsewhere, and the reserve for failures."""
        return self.base[0] + self.reserve, self.base[1]

    @property
    def total(self) -> Filter:
        """The account of a person who was not asked yet: all that is public about anybody's."""
        spent, failed = self._amounts((min(self.aside[0], self.terms.limit), min(self.base[1], self._most_failures)))
        if self.terms.currency is Currency.EPSILON:
            return PureFilter(self.terms.amount, spent=spent)
        return ConcentratedFilter(self.terms.amount, self.terms.failures, spent=spent, failed=failed)

    @property
    def promise(self) -> PrivacyLoss:
        """What everything together costs any one person, at most."""
        return self.terms.at_least(*self.reached).promise

    @property
    def limit(self) -> Fraction:
        """The ε or ρ that is promised: as stated, or what somebody may have been charged before it was lowered."""
        if self.reached[0] <= self.terms.limit:
            return self.stated
        if self.budget.epsilon is None or not self.budget.delta:
            return self._amounts(self.reached)[0]
        epsilon = guarantee(self.promise, self.budget.delta).epsilon
        return max(self.stated, Fraction(repr(epsilon)))

    def filter_of(self, analyst: str) -> Filter:
        """Return what an analyst has paid of the dataset's total; without one, the account of a new person."""
        return self.total if self.everybody is None else self.everybody.filter_of(analyst)

    def filter_of_team(self, team: str) -> Filter:
        """Return what a team has paid of the dataset's total; without one, the account of a new person."""
        return self.total if self.everybody is None else self.everybody.filter_of_team(team)

    def binding(self, analyst: str, team: str = "") -> Filter:
        """Return the filter that leaves this analyst the least, of those that are public."""
        return self.total if self.everybody is None else self.everybody.binding(analyst, team)

    def has_share(self, analyst: str, team: str = "") -> bool:
        """Tell whether the analyst, or the team, has a share of the dataset's total."""
        return self.everybody is not None and self.everybody.has_share(analyst, team)

    def left_of(self, session: Filter) -> Fraction:
        """Return what is left of a filter of this account: nothing if the account is closed."""
        return Fraction(0) if self.closed else session.left

    def fits(self, cost: PrivacyLoss, analyst: str, team: str = "") -> bool:
        """Tell whether a payment would be admitted."""
        try:
            self.admit(cost, analyst, team)
        except BudgetExceeded:
            return False
        return True

    def admit(self, cost: PrivacyLoss, analyst: str, team: str = "") -> "PersonalAccount":
        """Return the account after a payment of this worst cost, or raise `BudgetExceeded`."""
        everybody = None if self.everybody is None else self.everybody.admit(cost, analyst, team)
        return self._admit_many(cost, 1, everybody)

    def copy(self, cost: PrivacyLoss, analyst: str, team: str = "") -> "PersonalAccount":
        """Return the account after a copy: shares of the total are charged, and no person is charged again."""
        return replace(self, everybody=self._need_total().copy(cost, analyst, team))

    def adds_exactly(self, costs: Sequence[tuple[str, str, PrivacyLoss]]) -> bool:
        """Tell whether payments and copies add up to the same in any order."""
        return self.everybody is None or self.everybody.adds_exactly(costs)

    def admit_run(self, costs: Charges, copies: Charges) -> "PersonalAccount":
        """Return the account after payments and copies, so many of each; or raise `BudgetExceeded`."""
        account = self
        for (_, _, cost), times in costs.items():
            account = account._admit_many(cost, times, account.everybody)
        total = self._need_total() if copies else self.everybody
        return replace(account, everybody=None if total is None else total.admit_run(costs, copies))

    def resize(self, limit: Fraction | None, analyst: str | None, team: str = "") -> "PersonalAccount":
        """Return the account under another limit for each person, or for an analyst or a team of the dataset's total.

        What was charged stays. Whoever was charged more than a lowered limit pays nothing more, and is left out.
        """
        if analyst is not None or team:
            return replace(self, everybody=self._need_total().resize(limit, analyst, team))
        if limit is None:
            return self
        return replace(self, stated=limit, terms=self.budget.personal_limit(limit, like=self.terms))

    def disclose(self, cost: PrivacyLoss | None) -> "PersonalAccount":
        """Return the account after something became known elsewhere; closed if that leaves nothing to anybody.

        It is charged to everybody. Who had less left is over the limit then, and nobody knows who: so the promise is
        what anybody can have been charged.
        """
        everybody = None if self.everybody is None else self.everybody.disclose(cost)
        price = None if cost is None else self.terms.price(cost)
        if price is None:
            return replace(self, everybody=everybody, closed=True)
        base, reached = _add_quanta(self.base, price), _add_quanta(self.reached, price)
        closed = self.closed or base[0] + self.reserve >= self.terms.limit or reached[1] > self._most_failures
        return replace(self, everybody=everybody, base=base, reached=reached, closed=closed)

    def renew_reserve(self) -> "PersonalAccount":
        """Return the account with a new reserve for failures; refuse where somebody may not have that much left."""
        more = reserve_quanta(self.budget)
        reached = self.reached[0] + more, self.reached[1]
        if self.closed or reached[0] > self.terms.limit:
            raise BudgetExceeded(
                "A review of all failures sets a new reserve aside in every account, and one may have less left.",
                fix="raise the limit first, with a reason; or review the failures of one analyst",
            )
        return replace(self, reached=reached, reserve=self.reserve + more)

    def record_charges(self, number: int, people: str, *, afresh: bool) -> "PersonalAccount":
        """Return the account after an entry that charged persons, or that added up all charges (`afresh`)."""
        trail = extend_trail("" if afresh else self.trail, people)
        return replace(self, charged=number, trail=trail, since=0 if afresh else self.since + 1)

    def record_payment(self, payment: int, cost: PrivacyLoss) -> "PersonalAccount":
        """Return the account that knows what an admitted payment may cost anybody, until it is answered."""
        price, waiting, forgotten = self._need_price(cost), self.unanswered, self.forgotten
        if len(waiting) >= KEPT:
            forgotten = max(forgotten[0], waiting[0].price), max(forgotten[1], waiting[0].failures)
            waiting = waiting[1:]
        return replace(self, unanswered=(*waiting, Unanswered(payment, *price)), forgotten=forgotten)

    def record_answer(self, payment: int) -> "PersonalAccount":
        """Return the account after the answer to a payment: no more runs of it are charged."""
        return replace(self, unanswered=tuple(pending for pending in self.unanswered if pending.payment != payment))

    def record_run(self, payment: int) -> "PersonalAccount":
        """Return the account after one more run of a payment charged persons.

        The first one was counted when it was paid for, under the limit of that moment. Any other is counted here, and
        so is the first one after the terms were changed. What is not known of a payment is taken for the worst.
        """
        known = next((pending for pending in self.unanswered if pending.payment == payment), None)
        if known is None:
            return replace(self, reached=self._add_to_reached(self.forgotten))
        again = known.charged or payment < self.settled
        unanswered = tuple(pending._replace(charged=1) if pending == known else pending for pending in self.unanswered)
        reached = self._add_to_reached((known.price, known.failures)) if again else self.reached
        return replace(self, reached=reached, unanswered=unanswered)

    def to_text(self) -> str:
        """Return the one text of this account, for a checkpoint."""
        return canonical(
            {
                "limit": str(self.stated),
                "base": list(self.base),
                "reached": list(self.reached),
                "everybody": None if self.everybody is None else self.everybody.to_text(),
                "closed": self.closed,
                "charged": self.charged,
                "settled": self.settled,
                "trail": self.trail,
                "since": self.since,
                "unanswered": [list(pending) for pending in self.unanswered],
                "forgotten": list(self.forgotten),
                **({"reserve": self.reserve} if self.reserve else {}),
            }
        ).decode("ascii")

    @classmethod
    def from_text(cls, text: str, budget: Budget) -> "PersonalAccount":
        """Return the account that a text stands for, of a ledger that was born with a budget."""
        try:
            fields, beginning = parse_canonical(text.encode("ascii")), cls.create(budget, Policy.SHARED)
            everybody, stated = fields["everybody"], read_fraction(fields["limit"])
            account = cls(
                budget,
                stated,
                budget.personal_limit(stated, like=beginning.terms),
                _quanta(fields["base"]),
                _quanta(fields["reached"]),
                None if everybody is None else DatasetAccount.from_text(everybody),
                fields["closed"] is True,
                int(fields["charged"]),
                int(fields["settled"]),
                str(fields["trail"]),
                int(fields["since"]),
                tuple(Unanswered(*map(int, numbers)) for numbers in fields["unanswered"]),
                _quanta(fields["forgotten"]),
                int(fields.get("reserve", 0)),
            )
        except (ValueError, KeyError, AttributeError, TypeError, InvalidInput):
            account = None
        if account is None or account.to_text() != text:
            raise damage_error("The totals of a checkpoint are not readable.")
        total = None if account.everybody is None else account.everybody.empty
        if total != (None if budget.total is None else budget.total.filter()):
            raise damage_error("The totals of a checkpoint are not those of this ledger's budget.")
        return account

    def _need_total(self) -> DatasetAccount:
        if self.everybody is None:
            raise InvalidInput(
                "Analysts have no shares of personal accounts.",
                fix="leave out the analyst: the limit is a person's; or give the budget a total",
            )
        return self.everybody

    @property
    def _most_failures(self) -> int:
        return self.terms.failures_limit

    def _amounts(self, quanta: Quanta) -> tuple[Fraction, Fraction]:
        return quanta[0] * self.terms.quantum, quanta[1] * self.terms.failures_quantum

    def _admit_many(self, cost: PrivacyLoss, times: int, everybody: DatasetAccount | None) -> "PersonalAccount":
        return replace(self, reached=self._add_to_reached(self._need_price(cost), times), everybody=everybody)

    def _add_to_reached(self, price: Quanta, times: int = 1) -> Quanta:
        """Return what anybody can have lost after so many charges of a price more."""
        # Nobody is charged beyond the limit of the day; who is over it already, as it was lowered, is not charged.
        most = (self.terms.limit, self._most_failures)
        sums = zip(self.reached, price, most, strict=True)
        return _quanta([max(now, min(now + times * charge, top)) for now, charge, top in sums])

    def _need_price(self, cost: PrivacyLoss) -> Quanta:
        """Return the worst that a question costs anybody; refuse what may not be asked, whoever has how much left."""
        if self.closed:
            raise BudgetExceeded(
                "The accounts are closed: what they protect became known elsewhere.",
                fix="reuse an earlier release: asking for it again is free",
            )
        price, cap, symbol = self.terms.price(cost), self.cap, self.symbol
        if price is None:
            raise BudgetExceeded(
                f"This has no cost in {symbol}, in which personal accounts are kept.",
                fix="ask with a mechanism that has one: Laplace noise, or with a ρ or δ in the budget Gaussian noise",
            )
        if cap is not None and price[0] > cap:
            worst, least = text_up(self._amounts(price)[0]), text_down(cap * self.terms.quantum)
            raise BudgetExceeded(
                f"This may cost one person {symbol}={worst}; one question may cost at most {symbol}={least}.",
                fix=f"ask for something that costs {symbol}={least} or less",
            )
        if self.base[1] + price[1] > self._most_failures:
            raise BudgetExceeded(
                "This may fail with a larger δ than any account has for it.",
                fix="ask with a smaller delta, or for groups that are public",
            )
        return price


def extend_trail(trail: str, people: str) -> str:
    """Return the trail after one more hash of persons; a snapshot begins it anew."""
    return sha256(f"{trail} {people}".encode()).hexdigest()


def _add_quanta(first: Quanta, second: Quanta) -> Quanta:
    return first[0] + second[0], first[1] + second[1]


def _quanta(numbers: list[int]) -> Quanta:
    first, second = map(int, numbers)
    return first, second


# The two kinds of accounts: one for the dataset, or one for each person.

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
