"""The most that may ever be learned about one unit, and what that means for several analysts."""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.accounting import ConcentratedFilter, Filter, PureFilter, RenyiFilter, need_delta
from discreet.core import InvalidInput, Number, PrivacyUnit, WrongType, exact, positive
from discreet.core.frozen import settle


class Policy(Enum):
    """What several analysts may learn together."""

    SHARED = "shared"
    """The budget is for all of them together, so that it holds whoever talks to whom. The default."""

    SEPARATE = "separate"
    """Each analyst may learn as much as the budget says. It is kept against each of them alone, and only as long as
    they do not pool what they learned: k analysts together may learn k times as much."""


@dataclass(frozen=True, slots=True, init=False)
class Budget:
    """The most that may ever be learned about one unit: an ε, an (ε, δ), or a ρ of zCDP.

    Which of the three, δ, the unit and its neighbour relation are fixed when a ledger is born with it. A `reserve` is
    the part of δ for releases that may fail (a tenth if left out; see the documentation, `adaptive`).
    """

    epsilon: Fraction | None
    delta: Fraction
    rho: Fraction | None
    reserve: Fraction | None
    unit: PrivacyUnit

    def __init__(
        self,
        epsilon: Number | None = None,
        delta: Number = 0,
        *,
        rho: Number | None = None,
        reserve: Number | None = None,
        unit: PrivacyUnit | None = None,
        people: int | None = None,
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
        )
        self.filter()  # what it refuses, a ledger could not begin with

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
        return f"{self.symbol} = {float(self.limit):.6g}{beside}, for {self.unit}"
