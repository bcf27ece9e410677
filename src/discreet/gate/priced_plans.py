"""Reads a plan once and checks that its data source is ready, before anything is paid."""

from dataclasses import dataclass
from typing import Any

from discreet.accounting import PrivacyLoss
from discreet.core import DiscreetError, InvalidInput, NotReady, WrongType
from discreet.core.errors import is_interrupt
from discreet.core.operator_log import HOW_TO_READ, tell_operator
from discreet.gate.accounts.charges import Prospect, cannot_be_charged
from discreet.gate.plans import need_words, plan_digest

#: What can be looked up without computing anything: `cost` may take seconds, and is read once.
METHODS, STEPPED_METHODS = ("describe", "canonical", "run"), ("describe", "canonical", "run_step", "steps")


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedPlan:
    """A plan with its cost, digest and description, each computed once; the ledger is given these values."""

    plan: Any
    cost: PrivacyLoss
    digest: str
    what: str


def price_plan(plan: Any, digest: str | None = None) -> PricedPlan:
    """Return a plan with everything that its payment states; no data is read."""
    if digest is None:
        digest = plan_digest(plan)
    what = need_words(plan.describe(), "what a plan describes")
    try:
        cost = plan.cost
    except AttributeError:
        raise _no_plan() from None
    return PricedPlan(plan=plan, cost=cost, digest=digest, what=what)


def check_ready(plan: Any, data: Any, *, personal: bool) -> None:
    """Let a plan refuse before payment, by public facts about the data; a plan without `check` refuses nothing.

    A `DiscreetError` reaches the caller in its own words. Any other error becomes one constant sentence, and its
    details go to the operator's log: they may quote an engine. No error carries a frame that refers to the data.
    """
    check = getattr(plan, "check", None)
    if check is None:
        return
    failure: BaseException | None = None
    try:
        check(Prospect(data) if personal else data)
    except BaseException as error:  # noqa: BLE001 - raised again below, without its frames
        failure = error
    if failure is None:
        return
    if isinstance(failure, DiscreetError):
        raise type(failure).of(failure.problem, failure.fix)
    if is_interrupt(failure):
        raise KeyboardInterrupt
    tell_operator("The data source could not be checked before payment.", failure)
    del failure
    raise NotReady(
        "The data source could not be checked. Nothing was paid.",
        fix=f"check that the source can still be read, and ask again; {HOW_TO_READ}",
    )


def is_stepped(plan: object) -> bool:
    """Return whether a plan is answered in steps, without computing its cost."""
    return all(hasattr(plan, name) for name in STEPPED_METHODS)


def need_plan(plan: object) -> None:
    """Refuse what is not a plan, without computing its cost."""
    if not all(hasattr(plan, name) for name in METHODS):
        raise _no_plan()


def _no_plan() -> WrongType:
    return WrongType("This is not a plan.", fix="pass an object with cost, describe(), canonical() and run(…)")


def need_stepped(plan: object) -> None:
    """Refuse what is not a plan in steps."""
    if not is_stepped(plan):
        raise WrongType(
            "This is not a plan in steps.",
            fix="pass an object with cost, steps, describe(), canonical() and run_step(…); others go to release",
        )


def need_personal(plan: object) -> None:
    """Refuse, before anything is paid, a plan that cannot be charged to each person."""
    if not getattr(plan, "personal", False):
        raise cannot_be_charged()


def not_in_steps() -> InvalidInput:
    """Return the error for a plan in steps where persons have accounts."""
    return InvalidInput(
        "What is answered in steps is paid for in one piece, and cannot be charged to each person.",
        fix="ask for each day by itself, or ask a ledger whose budget is the dataset's",
    )
