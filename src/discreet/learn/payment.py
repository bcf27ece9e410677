"""Payment and budget of a fit: through a gate where there is a ledger; otherwise the caller has to keep account."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accounting import Composed, PrivacyLoss, Repeated, calibrate_concentrated
from discreet.core import InvalidInput, Neighbours, Number, Sensitivity, WrongType
from discreet.core.exact import flag
from discreet.gate import Gate, Ledger, Plan, Receipt
from discreet.mechanisms import Gaussian
from discreet.noise import SYSTEM


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """The answer of a plan, its cost, and the receipt if it was paid from a ledger."""

    answer: Any = field(repr=False)
    cost: PrivacyLoss
    receipt: Receipt | None


def buy(plan: Plan[Any], data: object, ledger: object, request: str | None, *, one_row_each: bool = False) -> Fitted:
    """Pay for a plan, run it on the data, and return what it gave.

    Every call is a draw of its own and is paid for: rows may differ from those of the last one, and no caller would
    notice. A request that was paid for before is handed out again, for nothing, whatever the rows.
    """
    if ledger is None:
        check = getattr(plan, "check", None)
        if check is not None:
            check(data)
        return Fitted(answer=plan.run(data, SYSTEM), cost=plan.cost, receipt=None)
    opened = ledger if isinstance(ledger, Ledger) else _open_ledger(ledger)
    try:
        need_rows(opened, one_row_each=flag(one_row_each, "one_row_each"))
        release = Gate(opened, data).release(plan, request=request, fresh=True)
    finally:
        if opened is not ledger:
            opened.close()
    return Fitted(answer=release.answer, cost=release.cost, receipt=release.receipt)


def _open_ledger(place: object) -> Ledger:
    if not isinstance(place, str | Path):
        raise WrongType("ledger is not a ledger.", fix="pass a Ledger, or the path of one that was created")
    return Ledger.open(place)


def need_rows(ledger: Ledger, *, one_row_each: bool) -> None:
    """Refuse a ledger whose units or neighbours are others than those that models are priced for."""
    unit = ledger.budget.unit
    if unit.neighbours is not Neighbours.ADD_REMOVE:
        raise InvalidInput(
            "Models are priced for a row that is added or removed; this ledger's units are replaced.",
            fix="pay from a ledger with add/remove units; replacing a row is removing one and adding one",
        )
    if unit.column is not None and not one_row_each:
        raise InvalidInput(
            f"Models are priced for one row; this ledger protects {unit}.",
            fix="pass one row per person, such as sums by person, and declare one_row_each=True",
        )


# The budget of a model: converts (ε, δ) to the ρ of zCDP that implies it, and divides it.


def affordable(epsilon: Number, delta: Number) -> Fraction:
    """Return the ρ of zCDP that implies (ε, δ)."""
    return calibrate_concentrated(epsilon, delta)


def noise_for(square: int, rho: Fraction) -> Gaussian:
    """Return the noise at ρ for sums of whole vectors of which one row adds one, of squared norm `square` at most."""
    return Gaussian.for_rho(rho, Sensitivity.l2_ball(square))


def total(parts: Sequence[tuple[Gaussian, int]]) -> PrivacyLoss:
    """Return the cost of several sums together, each with how many times it is released."""
    losses = [Repeated(noise.cost, times) if times > 1 else noise.cost for noise, times in parts]
    return losses[0] if len(losses) == 1 else Composed(losses)
