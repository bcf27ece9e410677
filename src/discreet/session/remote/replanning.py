"""Replies of a service become what a local session returns: by public facts, the same question and the same plan.

A service sends the stored bytes of an answer, its receipt and the hash of its plan. The question is read and planned
here, and the plan has to have that hash: so the table is drawn by the rules of the very plan that was paid for, and an
answer to anything else is refused. Tables, error bars and pictures are made here.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from discreet.accounting import loss_from_text
from discreet.core import DiscreetError, InvalidInput, Limit, Number, TotalLimit, exact
from discreet.core.limits import AnyLimit
from discreet.core.untrusted_text import read_fraction, read_json
from discreet.gate import Price, Receipt, Release, decode, plan_digest
from discreet.query import (
    BatchPlan,
    Epsilon,
    Frame,
    PlanningContext,
    QueryRefused,
    Question,
    Result,
    Rho,
    Within,
    find_limit,
    question_sql,
    saving_of,
    view,
)
from discreet.session.answers.answer import Answer
from discreet.session.context import PreparedQuestion, QuestionContext
from discreet.session.datasets import DescribedTables
from discreet.session.facts.public_facts import PublicFacts
from discreet.session.options import CheckedOptions, QuestionOptions
from discreet.session.remote.refusals import clean_words, refuse_reply
from discreet.session.remote.words import (
    AnswerReply,
    Asked,
    AskedBatch,
    BatchPreviewReply,
    PaymentReceipt,
    PreviewReply,
)
from discreet.session.workloads import BatchAnswer, batch_answer

T = TypeVar("T")


class RemoteContext(QuestionContext):
    """The public facts of a dataset that is elsewhere, for one analyst."""

    def __init__(self, facts: PublicFacts, analyst: str) -> None:
        tables = DescribedTables(
            schemas={schema.table: schema for schema in facts.tables},
            publics={schema.table: schema for schema in facts.publics},
            limit=facts.limit,
            delta=facts.delta,
            left_out=facts.left_out,
            paths=facts.paths,
        )
        super().__init__(tables, facts.known, facts.budget, analyst)
        self.public = facts

    def prepare(
        self,
        query: "str | Question | Frame",
        raw_options: QuestionOptions,
        kind: type = QuestionOptions,
        *,
        bought: AnyLimit | None = None,
    ) -> PreparedQuestion:
        """Return a question with its plan as it was written. `bought` is a bound that an accuracy needed.

        Without it, the smallest bound is assumed: what is refused under that is refused under any.
        """

        def resolve(question: Question, options: CheckedOptions) -> PlanningContext:
            facts = self.facts(question, options)
            return replace(facts, limit=bought or Limit()) if self.lacks_limit(question, facts, options) else facts

        return self.plan(query, raw_options, resolve, kind)

    def lacks_limit(self, question: Question, facts: PlanningContext, options: CheckedOptions) -> bool:
        """Tell whether the accuracy that is wanted needs a contribution bound, which the service buys or has bought."""
        return isinstance(options.spend, Within) and find_limit(question, facts) is None

    def write_text(self, query: "str | Question | Frame", options: CheckedOptions) -> str:
        """Return the SQL of a question: as it was written; of a frame its one text, if that is read as the same."""
        if isinstance(query, str):
            return str(self.split(query)[0])
        question = self.question(query, options)
        try:
            text = question_sql(question, self.known)
            if self.read(text, options.matches) == question:
                return text
        except QueryRefused:
            pass
        raise InvalidInput(
            "This question has no SQL that is read as the same question, and only SQL is sent to a service.",
            fix="ask it in SQL; where people are joined with each other, pass matches=, too",
        )


# Questions on their way out.


def write_question(text: str, options: CheckedOptions, *, request: str | None, pay: bool) -> Asked:
    """Return a question as it is sent. Amounts are exact."""
    return Asked(
        sql=text,
        **_prices(options),
        within=_within(options.spend),
        confidence=str(options.confidence),
        simultaneous=options.simultaneous,
        size=options.size,
        limit=_write_limit(options.limit),
        bias=options.bias,
        matches=_write_matches(options),
        request=request,
        fresh=options.fresh,
        pay=pay,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTerms:
    """How the questions of a batch belong together; `Session.batch` explains each."""

    weights: Sequence[Number] | None
    consistent: bool
    other: bool


def write_batch(
    texts: Sequence[str], options: CheckedOptions, terms: BatchTerms, *, request: str | None, pay: bool
) -> AskedBatch:
    """Return several questions as they are sent; they were planned, and so their options are good."""
    weights = terms.weights
    return AskedBatch(
        sql=tuple(texts),
        **_prices(options),
        confidence=str(options.confidence),
        simultaneous=options.simultaneous,
        limit=_write_limit(options.limit),
        matches=_write_matches(options),
        weights=None if weights is None else tuple(str(exact(weight, "weights")) for weight in weights),
        consistent=terms.consistent,
        other=terms.other,
        request=request,
        fresh=options.fresh,
        pay=pay,
    )


def _prices(options: CheckedOptions) -> dict[str, str]:
    match options.spend:
        case Epsilon(epsilon=amount):
            return {"epsilon": str(amount)}
        case Rho(rho=amount):
            return {"rho": str(amount)}
        case Within():
            return {}


def _within(spend: Epsilon | Rho | Within) -> str | dict[str, str] | None:
    if not isinstance(spend, Within):
        return None
    named = {name: str(error) for name, error in spend.error if name is not None}
    return named or str(spend.error[0][1])


def _write_limit(limit: AnyLimit | None) -> dict[str, int] | None:
    match limit:
        case TotalLimit(rows=rows):
            return {"rows": rows}
        case Limit(groups=groups, rows_per_group=rows):
            return {"groups": groups, "rows_per_group": rows}
        case None:
            return None


def _write_matches(options: CheckedOptions) -> dict[str, int] | None:
    matches = options.matches
    return None if matches is None else {"rows": matches.rows, "matches": matches.matches}


# Replies on their way in. What does not fit is refused, whatever it was.


def guard(make: Callable[[], T]) -> T:
    """Return what is made of a reply; what breaks on the way was no reply of ours."""
    try:
        return make()
    except DiscreetError:
        raise
    except Exception:  # noqa: BLE001 - bytes of a stranger may break anything, and what broke says nothing
        raise refuse_reply() from None


def read_limit_word(limit: Mapping[str, int] | None) -> AnyLimit | None:
    """Return the contribution bound of a plan, as a reply says it."""
    if limit is None:
        return None
    if set(limit) == {"rows"}:
        return TotalLimit(limit["rows"])
    if set(limit) == {"groups", "rows_per_group"}:
        return Limit(groups=limit["groups"], rows_per_group=limit["rows_per_group"])
    raise refuse_reply()


class Misplanned(DiscreetError):
    """The plan that was paid for is not the one that is made here: facts have changed, or versions differ."""


def refuse_plan(request: str) -> Misplanned:
    """Return the error of an answer to another plan."""
    where = f" The answer is stored under the request {request!r}." if request else ""
    return Misplanned(
        f"The service planned this question in another way than is done here.{where}",
        fix="connect again; use the same version of discreet on both sides",
    )


def find_form(context: RemoteContext, ready: PreparedQuestion, digest: str, request: str = "") -> PreparedQuestion:
    """Return a question in the form that was paid for; one that has another plan in all its forms is refused."""
    if plan_digest(ready.plan) == digest:
        return ready
    for form in context.list_forms(ready)[1:]:
        if plan_digest(form.plan) == digest:
            return form
    raise refuse_plan(request)


def read_release(context: RemoteContext, reply: AnswerReply, plan: Any) -> Release:
    """Return the release of a reply, as the gate hands it out."""
    if reply.stored is None or reply.receipt is None or reply.release is None:
        raise refuse_reply()
    stored = reply.stored
    read_json(stored)  # one meaning, and not nested without end
    return Release(
        stored=stored,
        answer=decode(stored),
        receipt=_read_receipt(context, reply.receipt),
        number=reply.release,
        head=clean_words(reply.head),
        fresh=reply.fresh,
        error=getattr(plan, "error", None),
    )


def _read_receipt(context: RemoteContext, receipt: PaymentReceipt) -> Receipt:
    if receipt.ledger != context.public.ledger:
        raise InvalidInput(
            "This answer was paid for in another ledger than that of the dataset.", fix="connect again; ask the steward"
        )
    return Receipt(
        ledger=receipt.ledger,
        number=receipt.number,
        head=clean_words(receipt.head),
        request=clean_words(receipt.request),
        analyst=clean_words(receipt.analyst),
        plan=receipt.plan,
        what=receipt.what,
        cost=loss_from_text(receipt.cost),
        team=clean_words(receipt.team),
        copied=receipt.copied,
    )


def read_answer(context: RemoteContext, ready: PreparedQuestion, reply: AnswerReply) -> Answer:
    """Return the answer that a local session would have returned."""
    if reply.receipt is None:
        raise refuse_plan("")
    form = find_form(context, ready, reply.receipt.plan, clean_words(reply.receipt.request))
    options = form.options

    def make() -> tuple[Release, Result]:
        release = read_release(context, reply, form.plan)
        result = view(
            form.question,
            form.plan,
            release.answer,
            confidence=options.confidence,
            simultaneous=options.simultaneous,
        )
        return release, result

    release, result = guard(make)
    return Answer(form.question, form.plan, release, result, personal=context.personal)


def read_batch_answer(
    context: RemoteContext, plan: BatchPlan, options: CheckedOptions, answers: Sequence[AnswerReply]
) -> BatchAnswer:
    """Return the answers of a batch that a local session would have returned; all have one release."""
    first = answers[0] if answers else None
    if first is None or first.receipt is None:
        raise refuse_reply()
    if plan_digest(plan) != first.receipt.plan:
        raise refuse_plan(clean_words(first.receipt.request))

    def make() -> BatchAnswer:
        return batch_answer(
            plan,
            read_release(context, first, plan),
            saving_of(plan, context.delta),
            options.confidence,
            simultaneous=options.simultaneous,
            personal=context.personal,
        )

    return guard(make)


def read_price_of(context: RemoteContext, plan: Any, reply: PreviewReply | BatchPreviewReply) -> Price:
    """Return the price of a plan: its cost as it is planned here, and what is left as the service says."""
    left, then = (reply.total_left, reply.total_then) if context.personal else (reply.left, reply.then)
    if left is None:
        raise refuse_reply()
    return guard(
        lambda: Price(
            what=plan.describe(),
            cost=plan.cost,
            delta=context.budget.delta,
            left=read_fraction(left),
            then=None if then is None else read_fraction(then),
            stored=reply.stored,
        )
    )
