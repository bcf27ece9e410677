"""Remote sessions: the questions of a session, answered by a service that holds the rows."""

import inspect
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import date
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, Unpack, cast

from discreet.core import Bounds, DiscreetError, InvalidInput, NotProved, Number, WrongType
from discreet.core.exact import exact, flag, whole
from discreet.core.limits import Matches
from discreet.core.schema import Kind, Value
from discreet.core.untrusted_text import read_fraction
from discreet.gate import one_line, plan_digest
from discreet.query import (
    Explanation,
    Frame,
    Participation,
    QueryRefused,
    Question,
    Result,
    explain,
    explain_public_question,
    find_public_answer,
    layout_of,
    predict_batch,
    saving_of,
    shape_of,
)
from discreet.session.answers.answer import Answer
from discreet.session.context import PreparedQuestion
from discreet.session.counters import Counter
from discreet.session.descriptions import Description, description
from discreet.session.facts.public_facts import PublicFacts
from discreet.session.options import QuestionOptions, ReleaseOptions
from discreet.session.previews import Preview, build_preview, preview_public_answer
from discreet.session.remote.refusals import refuse_reply
from discreet.session.remote.replanning import (
    BatchTerms,
    Misplanned,
    RemoteContext,
    find_form,
    guard,
    read_answer,
    read_batch_answer,
    read_limit_word,
    read_price_of,
    refuse_plan,
    write_batch,
    write_question,
)
from discreet.session.remote.words import AnswerReply, AskedShare, draw_request
from discreet.session.session import Session
from discreet.session.standings import AccountReply, ReleaseFacts
from discreet.session.workloads import (
    BatchAnswer,
    HierarchyAnswer,
    HierarchyOptions,
    TreeOptions,
    WorkloadPreview,
    batch_plan,
)

if TYPE_CHECKING:
    from discreet.query import BatchPlan
    from discreet.session.options import CheckedOptions
    from discreet.session.remote.client import ServiceClient

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])

#: Refusals that may come of public facts which have changed since they were read.
OF_FACTS = (QueryRefused, InvalidInput, NotProved, Misplanned)


def explained_as(method: Callable[..., Any]) -> Callable[[Method], Method]:
    """Return a decorator that gives a method the signature and the explanation of one of `Session`."""

    def explain_method(own: Method) -> Method:
        text = f"{inspect.getdoc(method)}\n\nHere: {inspect.getdoc(own)}"
        own.__doc__ = text
        cast("Any", own).__signature__ = inspect.signature(method)
        return own

    return explain_method


@dataclass(frozen=True, slots=True, kw_only=True)
class _Planned:
    """A question that was planned here, and its text."""

    context: RemoteContext
    ready: PreparedQuestion
    text: str

    @property
    def lacks_limit(self) -> bool:
        """Whether its accuracy needs a contribution bound that the service says."""
        ready = self.ready
        return self.context.lacks_limit(
            ready.question, self.context.facts(ready.question, ready.options), ready.options
        )


class RemoteSession(AbstractContextManager["RemoteSession"]):
    """A session whose rows are behind a service. Made by `discreet.connect`; it has the methods of `Session`.

    Guarantee: what arrives is public facts, stored answers and their receipts; no row does, and none is here. What is
    sent is SQL and its options; the service plans it by itself. An answer whose plan is not the one that is made here
    is refused.
    """

    def __init__(self, client: "ServiceClient", dataset: str, *, pay: bool = True) -> None:
        self._client, self._name, self._pay = client, dataset, pay
        self._context = RemoteContext(client.facts(), guard(lambda: client.account().analyst))

    # What is public

    @property
    def facts(self) -> PublicFacts:
        """All that is public about the tables and the budget, as it was last read; no row of a private table."""
        self._context.need_open()
        return self._context.public

    @property
    def schema(self) -> Description:
        """What is public about the tables, to look at."""
        return description(self._context.dataset, self._context.known)

    @property
    def analyst(self) -> str:
        """Who pays: whose token it is."""
        return self._context.analyst

    @property
    def team(self) -> str:
        """The team whose share pays besides, as the service knows it now; empty without one."""
        return self.account().team

    @property
    def ledger(self) -> NoReturn:
        """Refuse: the ledger is with the service."""
        raise _refuse("The ledger is with the service.", "use account(), releases() and certificate(request)")

    @explained_as(Session.account)
    def account(self) -> AccountReply:
        """Ask the service."""
        self._context.need_open()
        return self._client.account()

    @explained_as(Session.request_more)
    def request_more(self, share: Number, *, reason: str, team: bool = False) -> int:
        """Ask the service, whose steward decides."""
        self._context.need_open()
        asked = AskedShare(share=str(exact(share, "share")), reason=reason, team=flag(team, "team"))
        return self._client.request_more(asked)

    @explained_as(Session.releases)
    def releases(self, most: int = 100) -> tuple[ReleaseFacts, ...]:
        """Ask the service; auditors and stewards see the payments of all."""
        self._context.need_open()
        return self._client.releases(whole(most, "most")).releases

    @explained_as(Session.certificate)
    def certificate(self, request: str) -> str:
        """Ask the service; releases of others are refused as if they were not there."""
        self._context.need_open()
        return self._client.certificate(self._context.need_text(request))

    # Questions

    @explained_as(Session.sql)
    def sql(self, text: str, **options: Unpack[ReleaseOptions]) -> Answer:
        """Ask the service; if the connection is lost, ask again under the same request id."""
        return self.release(self._context.need_text(text), **options)

    @explained_as(Session.release)
    def release(self, what: "str | Question | Frame", /, **options: Unpack[ReleaseOptions]) -> Answer:
        """Ask the service; of a frame, its SQL is sent."""
        planned = self._on_facts(lambda context: _plan(context, what, options, ReleaseOptions))
        if isinstance(planned, Result):
            return Answer(None, None, None, planned)
        checked = planned.ready.options
        request = checked.request or draw_request()
        reply = self._client.ask(write_question(planned.text, checked, request=request, pay=self._pay))
        return self._on_facts(lambda context: _draw_answer(context, planned, what, options, reply))

    @explained_as(Session.shape)
    def shape(
        self, what: "str | Question | Frame", /, *, matches: Matches | None = None, bars: bool = False
    ) -> dict[str, str]:
        """Follow public facts; nothing is sent."""

        def find(context: RemoteContext) -> dict[str, str]:
            asked = context.find_public(what, {"matches": matches})
            if isinstance(asked, Result):
                return {column.name: (column.kind or Kind.TEXT).value for column in asked.columns}
            question = asked.question if isinstance(asked, Frame) else asked
            return {name: kind.value for name, kind in (layout_of(question) if bars else shape_of(question))}

        return self._on_facts(find)

    @explained_as(Session.preview)
    def preview(self, what: "str | Question | Frame", /, **options: Unpack[QuestionOptions]) -> Preview:
        """Ask the service what is left; errors are predicted here."""
        planned = self._on_facts(lambda context: _plan(context, what, options, QuestionOptions))
        if isinstance(planned, Result):
            account = self._client.account()
            left = read_fraction(account.limit if account.left is None else account.left)
            return preview_public_answer(planned, self._context.budget, left)
        reply = self._client.preview(write_question(planned.text, planned.ready.options, request=None, pay=self._pay))
        if reply.plan is None:
            raise refuse_plan("")
        digest = reply.plan

        def draw(context: RemoteContext) -> Preview:
            ready = _replan(context, planned, what, options, QuestionOptions, reply.limit)
            form = find_form(context, ready, digest)
            price = read_price_of(context, form.plan, reply)
            return build_preview(form, price, context.budget, release=reply.release, dear=reply.dear)

        return self._on_facts(draw)

    @explained_as(Session.explain)
    def explain(self, what: "str | Question | Frame", /, **options: Unpack[QuestionOptions]) -> Explanation:
        """Follow public facts, unless the service has to say a contribution bound."""
        public = self._on_facts(lambda context: context.find_public_question(what))
        if public is not None:
            return explain_public_question(public)
        planned = self._on_facts(lambda context: _plan(context, what, options, QuestionOptions, free=False))
        if isinstance(planned, Result):
            raise refuse_reply()
        ready = planned.ready
        if planned.lacks_limit:
            asked = write_question(planned.text, ready.options, request=None, pay=self._pay)
            ready = planned.context.prepare(what, options, bought=read_limit_word(self._client.preview(asked).limit))
        return explain(ready.question, ready.plan, confidence=ready.options.confidence, size=ready.options.size)

    @explained_as(Session.table)
    def table(self, name: str | None = None) -> Frame:
        """Follow public facts; nothing is sent."""
        self._context.need_open()
        return self._on_facts(lambda context: context.frame(context.dataset.need_table(name), self))

    # Many questions at once

    @explained_as(Session.batch)
    def batch(
        self,
        questions: "Sequence[str | Question | Frame]",
        *,
        weights: Sequence[Number] | None = None,
        consistent: bool = True,
        other: bool = False,
        **options: Unpack[ReleaseOptions],
    ) -> BatchAnswer:
        """Ask the service; of frames, their SQL is sent."""
        terms = BatchTerms(weights=weights, consistent=consistent, other=other)
        _, checked, texts = self._on_facts(lambda context: _plan_batch(context, questions, options, terms))
        request = checked.request or draw_request()
        reply = self._client.batch(write_batch(texts, checked, terms, request=request, pay=self._pay))

        def draw(context: RemoteContext) -> BatchAnswer:
            plan, checked, _ = _plan_batch(context, questions, options, terms)
            return read_batch_answer(context, plan, checked, reply.answers)

        return self._on_facts(draw)

    @explained_as(Session.preview_batch)
    def preview_batch(
        self,
        questions: "Sequence[str | Question | Frame]",
        *,
        weights: Sequence[Number] | None = None,
        consistent: bool = True,
        other: bool = False,
        **options: Unpack[QuestionOptions],
    ) -> WorkloadPreview:
        """Ask the service what is left; errors are predicted here."""
        terms = BatchTerms(weights=weights, consistent=consistent, other=other)
        _, checked, texts = self._on_facts(lambda context: _plan_batch(context, questions, options, terms))
        reply = self._client.preview_batch(write_batch(texts, checked, terms, request=None, pay=self._pay))

        def draw(context: RemoteContext) -> WorkloadPreview:
            plan, checked, _ = _plan_batch(context, questions, options, terms, reply.plan)
            predicted = predict_batch(plan, checked.confidence, simultaneous=checked.simultaneous)
            price, saving = read_price_of(context, plan, reply), saving_of(plan, context.delta)
            return WorkloadPreview(price, plan, predicted, context.personal, saving)

        return self._on_facts(draw)

    # What is done where the rows are

    @explained_as(Session.hierarchy)
    def hierarchy(
        self, keys: Sequence[str], paths: Sequence[Sequence[Value]], **options: Unpack[HierarchyOptions]
    ) -> HierarchyAnswer:
        """Refuse: a service does not answer hierarchies."""
        del keys, paths, options
        raise _refuse(
            "A service does not answer hierarchies.", "ask for each level with batch(), which shares measurements"
        )

    @explained_as(Session.preview_hierarchy)
    def preview_hierarchy(
        self, keys: Sequence[str], paths: Sequence[Sequence[Value]], **options: Unpack[TreeOptions]
    ) -> WorkloadPreview:
        """Refuse: a service does not answer hierarchies."""
        del keys, paths, options
        raise _refuse("A service does not answer hierarchies.", "preview each level with preview_batch()")

    @explained_as(Session.counter)
    def counter(  # noqa: PLR0913 - as in `Session`
        self,
        day: str,
        *,
        start: date,
        steps: int,
        every: str = "day",
        limit: int = 1,
        where: str | None = None,
        table: str | None = None,
        epsilon: Number | None = None,
        rho: Number | None = None,
        request: str | None = None,
    ) -> Counter:
        """Refuse: counters run where the rows are."""
        del day, start, steps, every, limit, where, table, epsilon, rho, request
        raise _refuse(
            "Counters run where the rows are.", "ask the steward to run it: discreet counter; or ask a question by days"
        )

    @explained_as(Session.participation)
    def participation(
        self,
        what: "str | Question | Frame",
        /,
        *,
        price: Number,
        fresh: bool = True,
        request: str | None = None,
        **options: Unpack[QuestionOptions],
    ) -> Participation:
        """Refuse: a service does not sell these counts."""
        del what, price, fresh, request, options
        raise _refuse("A service does not tell how many people still take part.", "ask the steward to buy the counts")

    @explained_as(Session.buy_bounds)
    def buy_bounds(
        self, column: str, *, epsilon: Number | None = None, rho: Number | None = None, fresh: bool = False
    ) -> Bounds:
        """Refuse: bounds are bought where the rows are. Bounds that were bought are found."""
        del column, epsilon, rho, fresh
        raise _refuse(
            "Bounds are bought where the rows are.", "ask the steward to declare or to buy them; then ask again here"
        )

    @explained_as(Session.for_analyst)
    def for_analyst(self, analyst: str, *, team: str = "") -> "RemoteSession":
        """Refuse: the token says who asks."""
        del analyst, team
        raise _refuse("The token says who asks.", "connect with the token of the other analyst")

    def warm_up(self) -> None:
        """Do nothing: a service reads its rows before it is asked."""
        self._context.need_open()

    def show_progress(self, tell: Callable[[float], None] | None = None) -> None:
        """Do nothing: how far a service is with its rows is told to nobody who asks it."""
        del tell
        self._context.need_open()

    def close(self) -> None:
        """Close the connections; what was answered stays."""
        self._context.dataset.closed = True
        self._client.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        known, context = ", ".join(self._context.known), self._context
        head = f"Session on {one_line(known)}, protecting {one_line(context.unit)} · analyst {one_line(self.analyst)}"
        where = f"{one_line(self._name)} at {self._client.connections.address}"
        return f"{head}\n{where}{' · closed' if context.dataset.closed else ''}"

    def __reduce__(self) -> str:
        raise WrongType("A session cannot be copied.", fix="connect where it is needed")

    # Facts may change: bounds are bought.

    def _on_facts(self, act: Callable[[RemoteContext], T]) -> T:
        """Return what follows from public facts; if they refuse it and have changed meanwhile, from those of now."""
        self._context.need_open()
        context = self._context
        try:
            return act(context)
        except OF_FACTS as error:
            refusal: DiscreetError = error
        except DiscreetError as error:
            raise error from None
        changed = self._learn(context)
        if changed is None:
            raise refusal
        return act(changed)

    def _learn(self, context: RemoteContext) -> RemoteContext | None:
        """Return the facts of now, if they are others."""
        with suppress(DiscreetError):
            facts = self._client.facts()
            if facts != context.public:
                self._context = RemoteContext(facts, context.analyst)
                return self._context
        return None


def _refuse(problem: str, fix: str) -> InvalidInput:
    return InvalidInput(problem, fix=fix)


def _plan(
    context: RemoteContext,
    what: "str | Question | Frame",
    options: Any,
    kind: type,
    *,
    free: bool = True,
) -> "_Planned | Result":
    """Return a question planned here; or its answer, if that follows from public facts and `free`."""
    if free and isinstance(what, str):
        asked = context.find_public(what, options)
        if isinstance(asked, Result):
            return asked
    ready = context.prepare(what, options, kind)
    if free and not isinstance(what, str):
        # Sent as SQL, it would be answered for nothing.
        answer = find_public_answer(ready.question)
        if answer is not None:
            return answer
    return _Planned(context=context, ready=ready, text=context.write_text(what, ready.options))


def _replan(
    context: RemoteContext,
    planned: _Planned,
    what: "str | Question | Frame",
    options: Any,
    kind: type,
    limit: Any,
) -> PreparedQuestion:
    """Return the plan of a question by the facts of now, and by the contribution bound that the service said."""
    if context is planned.context and not planned.lacks_limit:
        return planned.ready
    return context.prepare(what, options, kind, bought=guard(lambda: read_limit_word(limit)))


def _draw_answer(
    context: RemoteContext, planned: _Planned, what: "str | Question | Frame", options: Any, reply: AnswerReply
) -> Answer:
    """Return the answer that is made of a reply."""
    if reply.receipt is None:  # the service knows that it follows from public facts
        result = _plan(context, planned.text, options, ReleaseOptions)
        if isinstance(result, Result):
            return Answer(None, None, None, result)
        raise refuse_plan("")
    return read_answer(context, _replan(context, planned, what, options, ReleaseOptions, reply.limit), reply)


def _plan_batch(
    context: RemoteContext,
    questions: "Sequence[str | Question | Frame]",
    options: Any,
    terms: BatchTerms,
    digest: str | None = None,
) -> "tuple[BatchPlan, CheckedOptions, list[str]]":
    """Return the plan of a batch, its options and the texts of its questions; refuse a plan with another hash."""
    checked = context.check(options, ReleaseOptions)
    plan = batch_plan(context, questions, checked, terms.weights, consistent=terms.consistent, other=terms.other)
    if digest is not None and plan_digest(plan) != digest:
        raise refuse_plan("")
    return plan, checked, [context.write_text(question, checked) for question in questions]
