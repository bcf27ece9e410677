"""Plans: frozen values that know their cost before they see data. Each is read once before it is paid for."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Protocol, TypeVar, runtime_checkable

from discreet.accounting import PrivacyLoss
from discreet.core import DiscreetError, InvalidInput, NotReady, WrongType
from discreet.core.errors import is_interrupt
from discreet.core.operator_log import HOW_TO_READ, tell_operator
from discreet.gate.accounts.charges import Prospect, cannot_be_charged
from discreet.noise import Entropy

Data_contra = TypeVar("Data_contra", contravariant=True)
#: Labels are shown in tables; what is asked may take a few lines.
MOST_LABEL, MOST_WORDS = 200, 10_000


@runtime_checkable
class Plan(Protocol[Data_contra]):
    """A private question. Its author owns its `cost`: it has to cover all that `run` reveals.

    A plan may have a method `check(data, /)`: the gate calls it before anything is paid, unless the answer is stored.
    It refuses, with a `DiscreetError`, data on which `run` would fail. It may depend on public facts only (types,
    names, kinds, sessions) and never on rows: the analyst sees its refusals, which cost nothing. If persons have
    accounts, it is given a `gate.accounts.charges.Prospect` in place of the table.
    """

    @property
    def cost(self) -> PrivacyLoss:
        """The cost; may not depend on data."""
        ...

    def describe(self) -> str:
        """Return the question, in words for people; public."""
        ...

    def canonical(self) -> str:
        """Return a text that says all that decides how answers are distributed; equal texts are the same question."""
        ...

    def run(self, data: Data_contra, entropy: Entropy, /) -> Any:
        """Return an answer: the only method that is given the data."""
        ...


@runtime_checkable
class PersonalPlan(Plan[Data_contra], Protocol[Data_contra]):
    """A private question that can be charged to each person: `run` takes a `ChargedTable` as data.

    The author of a plan owns what its passes charge: `ChargedTable.aggregate_for` is told what a pass costs each person
    who has a row that counts, at least the loss of all that is made of the pass, on tables that differ in that person.
    `cost` covers the cost of all passes together to any person.
    """

    @property
    def personal(self) -> bool:
        """Whether every pass states its cost to each person."""
        ...


@runtime_checkable
class SteppedPlan(Protocol[Data_contra]):
    """A private question that is answered in steps, 0, 1, 2, …, as data arrives, and paid for in one piece.

    Its author owns its `cost`: it has to cover all that all steps reveal together, each of them run once on the data of
    its day, against every adversary who sees each answer before the next step. Then other questions may come
    between the steps: costs of interactive mechanisms add up, however they are interleaved, and filters hold for them.
    Reference: Lyu 2022 (Rényi losses); Haney, Shoemate, Tian, Vadhan, Vyrros, Xu, Zhang 2023 (with filters).
    """

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of all steps together; may not depend on data."""
        ...

    @property
    def steps(self) -> int:
        """The number of steps; fixed beforehand."""
        ...

    def describe(self) -> str:
        """Return the question, in words for people; public."""
        ...

    def canonical(self) -> str:
        """Return a text that says all that decides how answers are distributed; equal texts are the same question."""
        ...

    def run_step(self, data: Data_contra, entropy: Entropy, step: int, before: Sequence[Any], /) -> Any:
        """Return the answer of one step, given the answers of all before it: the only method that is given the data."""
        ...


AnyPlan = Plan[Data_contra] | SteppedPlan[Data_contra]


def plan_digest(plan: AnyPlan[Any]) -> str:
    """Return the hash by which a plan is known; one in steps is never taken for one that is answered at once."""
    text = need_words(plan.canonical(), "The canonical text of a plan", most=None)
    if not hasattr(plan, "run"):
        text = f"in {plan.steps} steps\n{text}"
    return sha256(text.encode()).hexdigest()


def need_label(value: object, name: str, *, empty: bool = False) -> str:
    """Return a short printable text."""
    text = need_words(value, name, most=MOST_LABEL)
    if not text.isprintable() or not (text.strip() or empty):
        raise InvalidInput(f"{name} is empty or has unprintable signs.", fix="pass a short text of letters and digits")
    return text


def need_words(value: object, name: str, *, most: int | None = MOST_WORDS) -> str:
    """Return a text that is not too long."""
    if not isinstance(value, str):
        raise WrongType(f"{name} is not a text.", fix="pass a str")
    if most is not None and len(value) > most:
        raise InvalidInput(f"{name} is longer than {most} characters.", fix="shorten it")
    return value


# Reads a plan once and checks that its data source is ready, before anything is paid.

#: Members that can be looked up without computing anything: `cost` may take seconds, and is read once.
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
    """Refuse a value that is not a plan, without computing its cost."""
    if not all(hasattr(plan, name) for name in METHODS):
        raise _no_plan()


def _no_plan() -> WrongType:
    return WrongType("This is not a plan.", fix="pass an object with cost, describe(), canonical() and run(…)")


def need_stepped(plan: object) -> None:
    """Refuse a value that is not a plan in steps."""
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
