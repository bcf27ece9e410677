"""Privacy budgets for life: the most that may be learned about one privacy unit; and their stored form."""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Literal

from discreet.accounting import (
    ConcentratedFilter,
    Filter,
    PersonalLimit,
    PureFilter,
    RenyiFilter,
    need_delta,
    personal_limit,
)
from discreet.core import (
    NEIGHBOUR_WORDS,
    InvalidInput,
    Neighbours,
    Number,
    PrivacyUnit,
    Window,
    WrongType,
    exact,
    positive,
)
from discreet.core.canonical_text import settle
from discreet.core.exact import text_down
from discreet.core.untrusted_text import read_fraction
from discreet.gate.entries.chain import Fields, canonical, parse_canonical

#: Who pays: everybody alike, or each person for what an answer took from that person.
Payers = Literal["dataset", "person"]
#: A fresh question costs at least one part in so many of the budget, and no more than this ε or ρ where a budget is
#: very large, unless the steward chooses another least price.
PARTS, ALWAYS_ENOUGH = 10_000, Fraction(1, 1000)


class Policy(Enum):
    """What several analysts may learn together."""

    SHARED = "shared"
    """The budget is for all of them together, so that it holds whoever talks to whom. The default."""

    SEPARATE = "separate"
    """Each analyst may learn as much as the budget says. It is kept against each of them alone, and only as long as
    they do not pool what they learned: k analysts together may learn k times as much."""


@dataclass(frozen=True, slots=True, init=False)
class Budget:
    """The privacy budget: the most that may ever be learned about one privacy unit, as ε, (ε, δ), or ρ of zCDP.

    All of it is fixed when a ledger is created with it, but for the limit, which `Ledger.resize` changes.

    Args:
        epsilon: The limit in ε; or `rho`.
        delta: The δ of (ε, δ). 0 is pure ε: groups cannot be selected privately then.
        rho: The limit in ρ of zero-concentrated differential privacy.
        reserve: The part of δ for releases that may fail; a tenth, if left out (see the page on adaptive questions).
        unit: The privacy unit; `discreet.open` sets it.
        people: The number of people, if it is public: a δ that is too large for so many is refused.
        per: "dataset" for one account that every question charges, or "person" for an account of each person, who is
            charged for what an answer takes from them, and is left out when too little is left.
        most: With `per="person"`, the most that one question may cost any person, in the ε or ρ of the budget.
        total: With `per="person"`, the budget of a dataset account that pays for every question besides.
        least: The least price of a new question, in the ε or ρ of the budget, so that failures cannot be had for
            nothing; a ten-thousandth of the limit, or 0.001 if that is less, if left out.

    Raises:
        InvalidInput: The parts contradict each other, or δ is too large.
        WrongType: An argument is of a wrong type.

    Example:
        >>> print(discreet.Budget(epsilon=3, delta=1e-9))
        ε = 3 at δ = 1e-09, for one row, added or removed

    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    reserve: Fraction | None
    unit: PrivacyUnit
    per: Payers
    most: Fraction | None
    total: "Budget | None"
    #: None in ledgers that were born before there was a least price; see `runs`.
    least: Fraction | None

    def __init__(  # noqa: PLR0913 - all that is fixed for life, by name
        self,
        epsilon: Number | None = None,
        delta: Number = 0,
        *,
        rho: Number | None = None,
        reserve: Number | None = None,
        unit: PrivacyUnit | None = None,
        people: int | None = None,
        per: Payers = "dataset",
        most: Number | None = None,
        total: "Budget | None" = None,
        least: Number | None = None,
    ) -> None:
        if (epsilon is None) == (rho is None):
            raise InvalidInput(
                "A budget is an epsilon or a rho, and not both.",
                fix="pass epsilon=3, delta=1e-9 for (ε, δ), epsilon=1 for pure ε, or rho=0.5 for zCDP",
            )
        if unit is not None and not isinstance(unit, PrivacyUnit):
            raise WrongType("unit is not a PrivacyUnit.", fix='pass PrivacyUnit(column="patient_id"), or leave it out')
        if people is not None and delta:
            need_delta(delta, people)
        settle(
            self,
            epsilon=None if epsilon is None else positive(epsilon, "epsilon"),
            delta=exact(delta, "delta"),
            rho=None if rho is None else positive(rho, "rho"),
            reserve=None if reserve is None else exact(reserve, "reserve"),
            unit=PrivacyUnit() if unit is None else unit,
            per=per,
            most=None if most is None else positive(most, "most"),
            total=None,
            least=None,
        )
        self.filter()  # what it refuses, a ledger could not begin with
        settle(self, least=self.least_price if least is None else positive(least, "least"))
        _need_payers(self, total, said=unit is not None)
        settle(self, total=None if total is None else total.about(self.unit))
        _need_least(self)

    @property
    def personal(self) -> bool:
        """Whether each person has an account."""
        return self.per == "person"

    def about(self, unit: PrivacyUnit) -> "Budget":
        """Return the same budget for another privacy unit.

        Args:
            unit: The privacy unit.

        Returns:
            The budget.

        """
        budget = Budget(
            self.epsilon,
            self.delta,
            rho=self.rho,
            reserve=self.reserve,
            unit=unit,
            per=self.per,
            most=self.most,
            total=self.total,
            least=self.least,
        )
        return budget if self.least is not None else budget.without_least()

    @property
    def least_price(self) -> Fraction:
        """The least price of a fresh question, in the ε or ρ of the budget."""
        return least_by_default(self.limit) if self.least is None else self.least

    @property
    def most_questions(self) -> int:
        """How many questions of the least price the budget pays for, at birth."""
        return int(self.limit // self.least_price)

    def without_least(self) -> "Budget":
        """Return a new budget as one of a ledger that was born before there was a least price."""
        settle(self, least=None)
        return self

    def personal_limit(self, limit: Fraction | None = None, like: PersonalLimit | None = None) -> PersonalLimit:
        """Return what one person may be charged, at this limit or at another."""
        amount = self.limit if limit is None else limit
        if self.epsilon is None:
            return personal_limit(None, self.delta, rho=amount, like=like)
        return personal_limit(amount, self.delta, reserve=self.reserve, like=like)

    @property
    def symbol(self) -> str:
        """ε or ρ: what the limit counts."""
        return "ρ" if self.epsilon is None else "ε"

    @property
    def limit(self) -> Fraction:
        """The ε or ρ."""
        return self.rho or Fraction(0) if self.epsilon is None else self.epsilon

    def filter(self) -> Filter:
        """Return the filter of a session that has not begun."""
        neighbours = self.unit.neighbours
        if self.epsilon is None:
            if self.reserve is not None:
                raise InvalidInput("A rho has no reserve: its delta is one.", fix="pass delta, or leave out reserve")
            return ConcentratedFilter(self.limit, self.delta, neighbours=neighbours)
        if self.delta:
            return RenyiFilter(self.epsilon, self.delta, reserve=self.reserve, neighbours=neighbours)
        if self.reserve:
            raise InvalidInput("There is no delta to reserve a part of.", fix="pass a delta, or leave out reserve")
        return PureFilter(self.epsilon, neighbours=neighbours)

    def __str__(self) -> str:
        beside = f" at δ = {float(self.delta):.3g}" if self.delta else ""
        whose = ", each person's own" if self.personal else ""
        return f"{self.symbol} = {float(self.limit):.6g}{beside}, for {self.unit}{whose}"


def _need_payers(budget: Budget, total: object, *, said: bool) -> None:
    """Refuse what does not go with who pays."""
    if budget.per not in ("dataset", "person"):
        raise InvalidInput("per is neither dataset nor person.", fix='pass per="person", or leave it out')
    if budget.personal:
        _need_persons(budget, total, said=said)
    elif budget.most is not None or total is not None:
        raise InvalidInput("most and total go with accounts of persons.", fix='pass per="person", or leave it out')


def least_by_default(limit: Fraction) -> Fraction:
    """Return the least price of a question where the steward chose none."""
    return min(limit / PARTS, ALWAYS_ENOUGH)


def _need_least(budget: Budget) -> None:
    """Refuse a least price that leaves too little to ask."""
    most = budget.limit / 100
    if budget.least is not None and budget.least > most:
        raise InvalidInput(
            f"The least price is more than a hundredth of the budget, {budget.symbol}={text_down(most)}.",
            fix="pass a smaller least, or leave it out: it is a ten-thousandth of the budget then",
        )


def _need_persons(budget: Budget, total: object, *, said: bool) -> None:
    """Refuse what persons cannot have accounts for."""
    if said and budget.unit.column is None:
        raise InvalidInput(
            "A row has no account: personal accounts need a person.", fix='pass unit=PrivacyUnit(column="patient_id")'
        )
    if budget.unit.neighbours is not Neighbours.ADD_REMOVE:
        raise InvalidInput(
            "Personal accounts need add/remove neighbours: with replacement, two people share one change.",
            fix='leave out neighbours, or per="person"',
        )
    if total is not None and not isinstance(total, Budget):
        raise WrongType("total is not a Budget.", fix="pass total=Budget(epsilon=20, delta=1e-6)")
    if total is not None and total.personal:
        raise InvalidInput("total is the budget of the dataset.", fix='leave out per="person" in total')
    limit = budget.personal_limit()
    if budget.most is not None:
        budget.personal_limit(budget.most, like=limit)


# A budget as fields of a birth. What came later is left out where a budget lacks it: old births read as ever.

#: The relations by their words.
RELATIONS = {word: relation for relation, word in NEIGHBOUR_WORDS.items()}
NUMBERS = ("epsilon", "delta", "rho", "reserve")


def budget_fields(budget: Budget) -> Fields:
    """Return the fields of a budget."""
    return {
        **_numbers(budget),
        "unit": budget.unit.column,
        "neighbours": NEIGHBOUR_WORDS[budget.unit.neighbours],
        **({} if budget.unit.window is None else {"window": str(budget.unit.window)}),
        **({"per": budget.per} if budget.personal else {}),
        **({} if budget.most is None else {"most": str(budget.most)}),
        **({} if budget.least is None else {"least": str(budget.least)}),
        **({} if budget.total is None else {"total": canonical(_numbers(budget.total)).decode("ascii")}),
    }


def budget_of(fields: Fields) -> Budget:
    """Take the fields of a budget out of others, and return it."""
    unit = PrivacyUnit(
        column=fields.pop("unit"),
        neighbours=RELATIONS[fields.pop("neighbours")],
        window=Window.of(fields.pop("window")) if "window" in fields else None,
    )
    total = parse_canonical(fields.pop("total").encode("ascii")) if "total" in fields else None
    epsilon, delta, rho, reserve = (number_of(fields.pop(name)) for name in NUMBERS)
    least = number_of(fields.pop("least", None))
    budget = Budget(
        epsilon,
        delta or Fraction(0),
        rho=rho,
        reserve=reserve,
        unit=unit,
        per=fields.pop("per", "dataset"),
        most=number_of(fields.pop("most", None)),
        total=None if total is None else _total(**total),
        least=least,
    )
    return budget if least is not None else budget.without_least()


def text_of(number: Fraction | None) -> str | None:
    """Return the text of a number."""
    return None if number is None else str(number)


def number_of(text: str | None) -> Fraction | None:
    """Return the number that a text says."""
    return None if text is None else read_fraction(text)


def _numbers(budget: Budget) -> Fields:
    return {name: text_of(getattr(budget, name)) for name in NUMBERS}


def _total(*, epsilon: str | None, delta: str, rho: str | None, reserve: str | None) -> Budget:
    return Budget(number_of(epsilon), read_fraction(delta), rho=number_of(rho), reserve=number_of(reserve))
