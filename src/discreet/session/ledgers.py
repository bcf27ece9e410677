"""The ledger of a session: found again at its place, or begun there with a budget."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from discreet.core import InvalidInput, PrivacyUnit, WrongType, exact
from discreet.core.errors import kind_of
from discreet.gate import SERVER, Budget, Ledger

#: The number of questions with partition selection that the reserve of δ lasts for, by default.
SHARES = 100
#: A reserve that was left out is this part of δ.
TENTH = Fraction(1, 10)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerAt:
    """The place of the account, and its terms if it is new."""

    place: str | Path
    budget: Budget | None
    unit: PrivacyUnit
    #: The same people, as other tables name them.
    others: tuple[PrivacyUnit, ...] = ()
    title: str = ""
    anchors: Sequence[str | Path] | None = None
    key: str | Path | None = None

    def find_ledger(self) -> Ledger | None:
        """Return the ledger if there is one; refuse one that was begun with something else, or none and no budget.

        On a server a ledger is begun by its steward, and only opened here.
        """
        if isinstance(self.place, Path) and not self.place.exists():
            if self.budget is None:
                raise InvalidInput(
                    f"There is no ledger at {self._name}, and no budget to create one with.",
                    fix="pass budget=discreet.Budget(epsilon=3, delta=1e-9), the most that may ever be learned about "
                    "one person; or the path of an existing ledger",
                )
            return None
        ledger = Ledger.open(self.place, key=self.key, anchors=self.anchors)
        try:
            self._need_same(ledger.budget)
        except BaseException:
            ledger.close()
            raise
        return ledger

    def begin_ledger(self) -> Ledger:
        """Return a new ledger."""
        if self.budget is None:
            raise InvalidInput("There is no budget to create a ledger with.", fix="pass budget=discreet.Budget(…)")
        return Ledger.create(self.place, self.budget, title=self.title, key=self.key, anchors=self.anchors)

    def _need_same(self, born: Budget) -> None:
        """Refuse a ledger that was begun for others, or with another budget: it is fixed for life."""
        if not any(same_unit(born.unit, unit) for unit in (self.unit, *self.others)):
            raise InvalidInput(
                f"The ledger at {self._name} protects {born.unit}, but the table is opened for {self.unit}.",
                fix=f"{_format_unit(born.unit)}; or use another ledger, if these are other people",
            )
        if self.budget is not None and _terms(self.budget) != _terms(born):
            raise InvalidInput(
                f"The ledger at {self._name} has the budget {born}, for life; the budget given is {self.budget}.",
                fix="leave out budget, and that of the ledger is used; a steward may raise or lower its limit with "
                "`discreet ledger raise` or `lower`, which the ledger records",
            )

    @property
    def _name(self) -> str:
        return self.place.name if isinstance(self.place, Path) else "this address"


def read_budget(budget: object, unit: PrivacyUnit) -> Budget | None:
    """Return a budget for this unit. One that says nothing of a unit gets it; one that says another is refused."""
    if budget is None:
        return None
    if not isinstance(budget, Budget):
        raise WrongType(
            f"budget is {kind_of(budget)}, not a Budget.", fix="pass budget=discreet.Budget(epsilon=3, delta=1e-9)"
        )
    budget_unit = budget.unit
    if budget_unit.column is not None and not same_unit(budget_unit, unit):
        raise InvalidInput(
            f"The budget is for {budget_unit}, but the table is opened for {unit}.",
            fix=f"{_format_unit(budget_unit)}; or leave out the unit of the budget, and it gets the table's",
        )
    return budget.about(replace(unit, neighbours=budget_unit.neighbours))


def is_pattern(source: Path) -> bool:
    """Whether the name of a file stands for several."""
    return any(sign in source.name for sign in "*?[")


def ledger_beside(source: Path) -> Path:
    """Return the place of the ledger of a file or a folder: beside it; of a pattern of files, among them."""
    if is_pattern(source):
        return source.with_name(f"{source.absolute().parent.name or 'table'}.ledger")
    return source.with_suffix(".ledger")


def place_of(ledger: object, source: object) -> str | Path:
    """Return the place of the ledger: as named, or beside the file. A frame has no place, and a budget is for life."""
    if isinstance(ledger, str | Path) and str(ledger).strip():
        return ledger if isinstance(ledger, str) and ledger.startswith(SERVER) else Path(ledger)
    if ledger is not None:
        raise WrongType(
            f"ledger is {kind_of(ledger)}, not a place.", fix='pass ledger="clinic.ledger", or a PostgreSQL address'
        )
    if isinstance(source, Path) or (isinstance(source, str) and not source.startswith(SERVER)):
        return ledger_beside(Path(source))
    raise InvalidInput(
        "A frame or a database needs a ledger path: a budget is for life.",
        fix='pass ledger="clinic.ledger": it is created there and found again next time',
    )


def _terms(budget: Budget) -> tuple[object, ...]:
    """Return all that is for life about a budget, but for whom it protects."""
    total = None if budget.total is None else budget.total.filter()
    return budget.filter(), budget.per, budget.most, total


def _format_unit(unit: PrivacyUnit) -> str:
    """Return how one says whose presence is hidden."""
    who = "row=True" if unit.column is None else f"person={unit.column!r}"
    return f"pass {who}" if unit.window is None else f'pass {who}, window="{unit.window}"'


def same_unit(first: PrivacyUnit, second: PrivacyUnit) -> bool:
    """Whether two units are the same people, for the same stretch of time."""
    if not same_column(first.column, second.column) or (first.window is None) != (second.window is None):
        return False
    if first.window is None or second.window is None:
        return True
    return first.window.period is second.window.period and same_column(first.window.time, second.window.time)


def same_column(first: str | None, second: str | None) -> bool:
    """Whether two names are one column's; capitals do not matter, as in SQL."""
    return first == second or (first is not None and second is not None and first.casefold() == second.casefold())


def delta_for(budget: Budget, chosen: object) -> Fraction:
    """Return the δ that one question may use to buy groups: as given, or a hundredth of the budget's reserve."""
    reserve = _reserve(budget)
    if chosen is None:
        return reserve / SHARES
    delta = exact(chosen, "delta")
    if delta and not reserve:
        raise InvalidInput(
            "The budget has no δ, which partition selection needs.",
            fix="leave out delta, and list public groups; a new budget may have one: Budget(epsilon=3, delta=1e-9)",
        )
    if not 0 <= delta <= reserve:
        raise InvalidInput(
            f"delta must lie between 0 and the reserve of the budget, {float(reserve):.3g}.",
            fix=f"pass delta={float(reserve / SHARES):.3g} or so, which lasts for {SHARES} questions; or leave it out",
        )
    return delta


def _reserve(budget: Budget) -> Fraction:
    """Return the part of δ for releases that may fail; all of it beside a ρ."""
    if budget.epsilon is None:
        return budget.delta
    return budget.delta * TENTH if budget.reserve is None else budget.reserve
