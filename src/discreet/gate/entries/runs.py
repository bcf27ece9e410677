"""Runs without an answer: counted, few, and reset by the steward alone; and the least price of a query.

Whether a run fails may depend on private rows, and no price makes a sure failure private. So failures are bounded in
number. An analyst may cause `ANALYST_FAILURES` of them and all analysts together `LEDGER_FAILURES`; then they are
given stored answers only, until the steward has reviewed what failed. A run counts from the moment it is begun: it is
taken off when it is answered, and becomes a failure when it raises, is interrupted, or its process is gone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from discreet.accounting import PrivacyLoss, Repeated, approximate_of, concentrated_of
from discreet.core import DiscreetError, InvalidInput, ReviewNeeded, StillRunning
from discreet.core.exact import text_down
from discreet.gate.entries.budget import Budget
from discreet.gate.entries.chain import canonical, damage_error, parse_canonical
from discreet.gate.entries.cost_text import cost_words

#: Failures that one analyst may cause, and that all may cause together, before the steward has to look. Runs that are
#: still going on count towards both: so neither is ever exceeded, however many are begun at once.
ANALYST_FAILURES, LEDGER_FAILURES = 3, 20
#: How a run can end without an answer: it raised; somebody interrupted it; its process is gone; it was not done at the
#: end of its slot. What is late may go on, as another run.
FAILED, INTERRUPTED, GONE, LATE = "failed", "interrupted", "gone", "late"
ENDINGS = (FAILED, INTERRUPTED, GONE, LATE)


class OpenRun(NamedTuple):
    """A run that was begun and has not ended, as far as the ledger knows."""

    #: The entry that began it: the payment's own, or that of a `Begun`.
    number: int
    payment: int
    step: int
    analyst: str
    #: Who runs it: the handle of a ledger, and a number of its own.
    runner: str
    #: Whether a supervisor noted beforehand that it will be stopped.
    excused: int = 0


@dataclass(frozen=True, slots=True)
class RunState:
    """Runs that are open, and failures since the steward last looked. A frozen value: all public."""

    open: tuple[OpenRun, ...] = ()
    #: Failures of each analyst since that analyst was reviewed.
    failures: Mapping[str, int] = field(default_factory=dict)
    #: Failures of all analysts since all were reviewed.
    total: int = 0

    @property
    def counted(self) -> tuple[OpenRun, ...]:
        """The open runs that no supervisor has excused."""
        return tuple(run for run in self.open if not run.excused)

    def need_room(self, analyst: str) -> None:
        """Refuse a new run where too many have failed, or could have failed once all open runs have ended.

        An excused run keeps its place until it ends: if it raises an error of its own, it is a failure all the same.
        """
        self._need_few_failures(analyst)
        mine = sum(run.analyst == analyst for run in self.open)
        if self.failures.get(analyst, 0) + mine >= ANALYST_FAILURES:
            raise StillRunning(
                f"Of one analyst's questions, at most {ANALYST_FAILURES} are answered at the same time; "
                "each that failed since the last review leaves room for one less. Nothing was paid.",
                fix="ask again when one of them is done",
            )
        if self.total + len(self.open) >= LEDGER_FAILURES:
            raise _too_many()

    def record_begin(self, run: OpenRun) -> "RunState":
        """Return the state after one more run was begun.

        Earlier releases counted open runs less strictly than `need_room` does. What they wrote is accepted here.
        """
        self._need_few_failures(run.analyst)
        if self.total + len(self.counted) >= LEDGER_FAILURES:
            raise _too_many()
        return replace(self, open=(*self.open, run))

    def _need_few_failures(self, analyst: str) -> None:
        if self.failures.get(analyst, 0) >= ANALYST_FAILURES:
            raise ReviewNeeded(
                f"{ANALYST_FAILURES} runs of this analyst have failed. Only stored answers are given out.",
                fix="ask the steward to review them: discreet ledger review, or Ledger.review",
            )
        if self.total >= LEDGER_FAILURES:
            raise ReviewNeeded(
                f"{LEDGER_FAILURES} runs of this ledger have failed. Only stored answers are given out.",
                fix="ask the steward to review them: discreet ledger review, or Ledger.review",
            )

    def has_failures(self, analyst: str | None) -> bool:
        """Tell whether a review of one analyst, or (None) of all, would change a count."""
        return bool(self.total or self.failures) if analyst is None else bool(self.failures.get(analyst))

    def record_answer(self, number: int) -> "RunState":
        """Return the state after the run that was begun at an entry was answered."""
        return replace(self, open=tuple(run for run in self.open if run.number != number))

    def record_end(self, number: int, how: str) -> "RunState":
        """Return the state after a run ended without an answer; an excused one counts only if it failed by itself."""
        run = self.find(number)
        rest = self.record_answer(number)
        if run.excused and how not in (FAILED, LATE):
            return rest
        failures = {**self.failures, run.analyst: self.failures.get(run.analyst, 0) + 1}
        return replace(rest, failures=failures, total=self.total + 1)

    def record_excuse(self, number: int) -> "RunState":
        """Return the state after a supervisor noted that it will stop a run."""
        run = self.find(number)
        return replace(
            self, open=tuple(run._replace(excused=1) if open_run == run else open_run for open_run in self.open)
        )

    def record_review(self, analyst: str | None) -> "RunState":
        """Return the state after the steward looked at all failures, or at those of one analyst.

        A review of one analyst leaves the count of all as it is.
        """
        if analyst is None:
            return RunState(self.open)
        return replace(self, failures={name: count for name, count in self.failures.items() if name != analyst})

    def is_open(self, number: int) -> bool:
        """Tell whether the run that was begun at an entry has not ended."""
        return any(run.number == number for run in self.open)

    def find(self, number: int) -> OpenRun:
        """Return the open run that was begun at an entry."""
        for run in self.open:
            if run.number == number:
                return run
        raise InvalidInput("This run is not open: it has ended.", fix="see discreet ledger show")

    def to_text(self) -> str:
        """Return the one text of this state, for a checkpoint; empty where there is nothing to say."""
        if self == RunState():
            return ""
        fields = {"open": [list(run) for run in self.open], "failures": dict(self.failures), "total": self.total}
        return canonical(fields).decode("ascii")

    @classmethod
    def from_text(cls, text: str) -> "RunState":
        """Return the state that a text stands for."""
        if not text:
            return cls()
        try:
            fields = parse_canonical(text.encode("ascii"))
            state = cls(
                tuple(OpenRun(*values) for values in fields["open"]),
                {name: int(count) for name, count in fields["failures"].items()},
                int(fields["total"]),
            )
        except (ValueError, KeyError, AttributeError, TypeError):
            state = None
        if state is None or state.to_text() != text:
            raise damage_error("The open runs of a checkpoint are not readable.")
        return state


def _too_many() -> StillRunning:
    return StillRunning(
        "Too many questions are being answered at the same time, given how many have failed. Nothing was paid.",
        fix="ask again when one of them is done",
    )


# The least price of a fresh query: a lower cost is refused before payment.
#
# Without one, questions that cost next to nothing could be asked for ever, and whether each of them failed would be
# told for nothing. The least price is fixed at a ledger's birth. In a budget of ε or ρ it is that much of it. In one
# of (ε, δ) it is what a purely private question of that ε costs, by whichever sum charges more. Where persons have
# accounts it is the same part of a person's limit, in the account's own currency.


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
