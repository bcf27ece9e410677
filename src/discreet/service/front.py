"""The front's door: it holds no rows. It previews, hands out stored answers, and gives the rest to workers."""

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from discreet.core import DiscreetError, InvalidInput
from discreet.core.operator_log import tell_operator
from discreet.service.door import (
    ASKING,
    DECIDING,
    LOOKING,
    certify,
    decide_share,
    explain_lines,
    list_releases,
    list_share_requests,
    need_role,
    preview_asked,
    preview_asked_batch,
    release_asked,
    release_batch,
    request_id,
    request_share,
    shape_columns,
)
from discreet.service.people import Principal, Role
from discreet.service.refusals import Busy
from discreet.service.replies import schema_reply
from discreet.service.runs import PacedRun, Question
from discreet.service.slots import Slots
from discreet.service.words import (
    AccountReply,
    AnswerColumn,
    AnswerReply,
    Asked,
    AskedBatch,
    AskedDecision,
    AskedShare,
    BatchPreviewReply,
    BatchReply,
    PreviewReply,
    ReleasesReply,
    SchemaReply,
    ShareRequestsReply,
    write_word,
)
from discreet.service.workers import Workers
from discreet.session import ANALYST_FAILURES, NoRows, Session, write_facts

T = TypeVar("T")

#: Seconds that a question waits for a worker, or for a place among those of its analyst.
PATIENCE = 10.0


class FrontDoor:
    """A door whose questions are answered by workers, at the ends of slots.

    Guarantee: the session here has no rows, so that whatever it computes is public. The replies of workers are told by
    the clock of `PacedRun`.
    """

    def __init__(self, session: Session, workers: Workers, slots: Slots) -> None:
        self._session, self._workers, self._slots = session, workers, slots
        self._running = dict[str, PacedRun]()
        self._tasks = set[asyncio.Task[None]]()
        self._places = dict[str, asyncio.Semaphore]()
        self._closing = False

    async def schema(self, who: Principal) -> SchemaReply:
        """Return the public facts of all tables."""
        return await self._look(who, LOOKING, lambda session: schema_reply(session.schema))

    async def facts(self, who: Principal) -> str:
        """Return the public facts of all tables as `discreet.connect` reads them."""
        return await self._look(who, LOOKING, lambda session: write_facts(session.facts))

    async def shape(
        self, who: Principal, sql: str, *, bars: bool = False, matches: Mapping[str, int] | None = None
    ) -> tuple[AnswerColumn, ...]:
        """Return the names and kinds of what is asked."""
        return await self._look(who, LOOKING, lambda session: shape_columns(session, sql, bars=bars, matches=matches))

    async def explain(self, who: Principal, asked: Asked) -> tuple[str, ...]:
        """Return units, mechanisms and errors of a question as lines."""
        return await self._look(who, LOOKING, lambda session: explain_lines(session, asked))

    async def preview(self, who: Principal, asked: Asked) -> PreviewReply:
        """Return the price of a question and its predicted errors."""
        return await self._look(who, ASKING, lambda session: preview_asked(session, asked))

    async def preview_batch(self, who: Principal, asked: AskedBatch) -> BatchPreviewReply:
        """Return the price of several questions together."""
        return await self._look(who, ASKING, lambda session: preview_asked_batch(session, asked))

    async def account(self, who: Principal) -> AccountReply:
        """Return what binds this person."""
        return await self._look(who, LOOKING, Session.account)

    async def releases(self, who: Principal, most: int = 100) -> ReleasesReply:
        """Return the last payments."""
        return await self._look(who, LOOKING, lambda session: list_releases(session, who, most))

    async def certificate(self, who: Principal, request: str) -> str:
        """Return the signed certificate of a release."""
        return await self._look(who, LOOKING, lambda session: certify(session, who, request))

    async def ask_more(self, who: Principal, asked: AskedShare) -> ShareRequestsReply:
        """Ask the steward for a larger share."""
        return await self._look(who, ASKING, lambda session: request_share(session, who, asked))

    async def share_requests(self, who: Principal) -> ShareRequestsReply:
        """Return requests for more."""
        return await self._look(who, LOOKING, lambda session: list_share_requests(session, who))

    async def decide(self, who: Principal, number: int, decided: AskedDecision) -> ShareRequestsReply:
        """Grant or decline a request for more."""
        return await self._look(who, DECIDING, lambda session: decide_share(session, who, number, decided))

    async def ask(self, who: Principal, asked: Asked) -> AnswerReply:
        """Return the answer to a question, paid for once."""
        need_role(who, ASKING)
        request = request_id(who, asked.request)
        question = Question(kind="ask", analyst=who.name, team=who.team, request=request, asked=write_word(asked))
        reply = await self._answer(question, lambda session: release_asked(session, asked, request))
        return cast("AnswerReply", reply)

    async def batch(self, who: Principal, asked: AskedBatch) -> BatchReply:
        """Return the answers to several questions, paid for once."""
        need_role(who, ASKING)
        request = request_id(who, asked.request)
        question = Question(kind="batch", analyst=who.name, team=who.team, request=request, asked=write_word(asked))
        reply = await self._answer(question, lambda session: release_batch(session, asked, request))
        return cast("BatchReply", reply)

    async def drain(self, patience: float = 3.5) -> None:
        """Begin nothing more, and wait a few seconds for what runs. The rest is noted beforehand, and is no failure."""
        self._closing = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=patience)
        if self._tasks:
            await asyncio.to_thread(self._excuse_runs)
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def close(self) -> None:
        """End, with all processes of the dataset; what is being run has a few seconds to finish."""
        await self.drain()
        await self._workers.close()
        await asyncio.to_thread(self._session.close)

    @property
    def is_orphaned(self) -> bool:
        """Whether the process that forks workers is gone, so that none is replaced any more."""
        return not self._workers.has_nursery

    async def _look(self, who: Principal, allowed: tuple[Role, ...], act: Callable[[Session], T]) -> T:
        """Return what follows from public facts and the ledger."""
        need_role(who, allowed)
        return await asyncio.to_thread(lambda: act(self._session.for_analyst(who.name, team=who.team)))

    async def _answer(
        self, question: Question, find: Callable[[Session], AnswerReply | BatchReply]
    ) -> AnswerReply | BatchReply:
        """Return a stored answer, or join the run of this request, or begin one."""
        run = self._running.get(question.request)
        if run is None:
            try:
                return await asyncio.to_thread(lambda: find(self._of(question)))
            except NoRows:
                run = self._running.get(question.request)  # another may have begun it meanwhile
        if run is None:
            run = self._begin(question)
        elif run.question != question:
            raise InvalidInput(
                "This request id is in use for another question.", fix="choose a new request id for a new question"
            )
        return await run.reply()

    def _of(self, question: Question) -> Session:
        return self._session.for_analyst(question.analyst, team=question.team)

    def _begin(self, question: Question) -> PacedRun:
        if self._closing:
            raise refuse_closing()
        run = PacedRun(question, self._slots, self._note_late)
        self._running[question.request] = run
        task = asyncio.get_running_loop().create_task(self._drive(run))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return run

    async def _drive(self, run: PacedRun) -> None:
        """Have a question answered; one analyst's questions take as many workers as may fail, and no more."""
        place = self._places.setdefault(run.question.analyst, asyncio.Semaphore(ANALYST_FAILURES))
        try:
            async with place:
                await run.drive(self._workers, PATIENCE)
        except Exception as error:  # noqa: BLE001 - told to the operator; whoever asked was told that it failed
            tell_operator("A run of the service failed.", error)
        finally:
            self._running.pop(run.question.request, None)

    async def _note_late(self, run: int) -> int:
        return await asyncio.to_thread(self._session.ledger.runs.note_late, run)

    def _excuse_runs(self) -> None:
        ledger = self._session.ledger
        mine = {run.request for run in (running.question for running in self._running.values())}
        for run in ledger.runs.state.open:
            # Of a copy, the request is the one of whoever runs what another has paid for.
            if ledger.shares.receipt_for(run.payment, run.analyst).request in mine:
                try:
                    ledger.excuse(run.number, by="service", reason="the service stops")
                except DiscreetError:
                    continue  # it has ended


def refuse_closing() -> Busy:
    """Return the error that refuses questions while the service stops."""
    return Busy("The service is stopping. Nothing was paid.", fix="ask again in a minute")
