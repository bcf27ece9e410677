"""A door that counts requests and writes them down before another door answers them; for all faces alike."""

import asyncio
from collections.abc import Mapping
from fractions import Fraction
from typing import Protocol
from weakref import WeakValueDictionary

from discreet.core import InvalidInput
from discreet.core.untrusted_text import read_fraction
from discreet.service.door import READING_ALL, Door, need_role
from discreet.service.limits import RateCounter
from discreet.service.log import AuditEvent, AuditLog
from discreet.service.people import Principal
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
)

#: Characters of the SQL of one request, and questions of a batch.
MOST_SQL, MOST_QUESTIONS = 100_000, 200
#: Free requests of one person that are worked on at once: a preview takes a third of a second of a thread.
MOST_AT_ONCE = 4
#: Requests of the audit log that are listed at most.
MOST_EVENTS = 1000


class _Priced(Protocol):
    """A request with a price."""

    @property
    def epsilon(self) -> str | None:
        """The ε that is offered."""
        ...

    @property
    def rho(self) -> str | None:
        """The ρ that is offered."""
        ...


class GuardedDoor:
    """A door with limits and an audit log in front of another one.

    Guarantee: no request reaches the other door unless it was written down, and is within the limits of its person.
    """

    def __init__(self, door: Door, *, dataset: str, rates: RateCounter, audit: AuditLog) -> None:
        self._door, self._dataset = door, dataset
        self._rates, self._audit = rates, audit
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def schema(self, who: Principal) -> SchemaReply:
        """Return the public facts of all tables."""
        self._admit(who, "schema")
        async with self._turn_of(who):
            return await self._door.schema(who)

    async def facts(self, who: Principal) -> str:
        """Return the public facts of all tables as a remote session reads them."""
        self._admit(who, "facts")
        async with self._turn_of(who):
            return await self._door.facts(who)

    async def shape(
        self, who: Principal, sql: str, *, bars: bool = False, matches: Mapping[str, int] | None = None
    ) -> tuple[AnswerColumn, ...]:
        """Return the names and kinds of what is asked."""
        self._admit(who, "shape", (sql,))
        async with self._turn_of(who):
            return await self._door.shape(who, sql, bars=bars, matches=matches)

    async def explain(self, who: Principal, asked: Asked) -> tuple[str, ...]:
        """Return units, mechanisms and errors of a question as lines."""
        self._admit(who, "explain", (asked.sql,), price=_price_of(asked))
        async with self._turn_of(who):
            return await self._door.explain(who, asked)

    async def preview(self, who: Principal, asked: Asked) -> PreviewReply:
        """Return the price of a question and its predicted errors."""
        self._admit(who, "preview", (asked.sql,), price=_price_of(asked))
        async with self._turn_of(who):
            return await self._door.preview(who, asked)

    async def preview_batch(self, who: Principal, asked: AskedBatch) -> BatchPreviewReply:
        """Return the price of several questions together."""
        _need_few(asked)
        self._admit(who, "preview_batch", asked.sql, price=_price_of(asked))
        async with self._turn_of(who):
            return await self._door.preview_batch(who, asked)

    async def ask(self, who: Principal, asked: Asked) -> AnswerReply:
        """Return the answer to a question, paid for once."""
        self._admit(who, "ask", (asked.sql,), request=asked.request or "", price=_price_of(asked))
        with self._rates.hold_place(who):
            if asked.pay and self._rates.limits.counts_spending:
                preview = await self._door.preview(who, asked)
                if preview.spend is not None and (asked.fresh or not preview.free):
                    self._rates.count_spending(who, str(preview.currency), Fraction(preview.spend), asked.request)
            return await self._door.ask(who, asked)

    async def batch(self, who: Principal, asked: AskedBatch) -> BatchReply:
        """Return the answers to several questions, paid for once."""
        _need_few(asked)
        self._admit(who, "batch", asked.sql, request=asked.request or "", price=_price_of(asked))
        with self._rates.hold_place(who):
            if asked.pay and self._rates.limits.counts_spending:
                # The price of a batch is the one that is offered; what turns out to be stored counts all the same.
                currency = "rho" if asked.epsilon is None else "epsilon"
                offered = asked.rho if asked.epsilon is None else asked.epsilon
                self._rates.count_spending(who, currency, read_fraction(offered), asked.request)
            return await self._door.batch(who, asked)

    async def account(self, who: Principal) -> AccountReply:
        """Return what binds this person."""
        self._admit(who, "account")
        async with self._turn_of(who):
            return await self._door.account(who)

    async def releases(self, who: Principal, most: int = 100) -> ReleasesReply:
        """Return the last payments that this person may see."""
        self._admit(who, "releases")
        async with self._turn_of(who):
            return await self._door.releases(who, most)

    async def certificate(self, who: Principal, request: str) -> str:
        """Return the signed certificate of a release."""
        self._admit(who, "certificate", request=request)
        async with self._turn_of(who):
            return await self._door.certificate(who, request)

    async def ask_more(self, who: Principal, asked: AskedShare) -> ShareRequestsReply:
        """Ask the steward for a larger share."""
        self._admit(who, "ask_more", price=f"share {asked.share}")
        async with self._turn_of(who):
            return await self._door.ask_more(who, asked)

    async def share_requests(self, who: Principal) -> ShareRequestsReply:
        """Return the requests for more that this person may see."""
        self._admit(who, "share_requests")
        async with self._turn_of(who):
            return await self._door.share_requests(who)

    async def decide(self, who: Principal, number: int, decided: AskedDecision) -> ShareRequestsReply:
        """Grant or decline a request for more."""
        self._admit(who, "decide", request=str(number))
        async with self._turn_of(who):
            return await self._door.decide(who, number, decided)

    async def close(self) -> None:
        """End the other door."""
        await self._door.close()

    def list_requests(self, who: Principal, most: int = 100) -> tuple[AuditEvent, ...]:
        """Return the last requests about this dataset, for auditors and the steward."""
        self._admit(who, "audit")
        need_role(who, READING_ALL)
        if not 0 < most <= MOST_EVENTS:
            raise InvalidInput(f"{most} is no number of requests.", fix=f"ask for 1 to {MOST_EVENTS}")
        events = [event for event in self._audit.list_recent(MOST_EVENTS) if event.dataset == self._dataset]
        return tuple(events[:most])

    def _turn_of(self, who: Principal) -> asyncio.Semaphore:
        """Return what bounds the free requests of one person that are worked on at once; the others wait."""
        return self._turns.setdefault(who.name, asyncio.Semaphore(MOST_AT_ONCE))

    def _admit(
        self, who: Principal, act: str, sql: tuple[str, ...] = (), *, request: str = "", price: str = ""
    ) -> None:
        characters = sum(map(len, sql))
        self._rates.count_request(who, min(characters, MOST_SQL))
        if characters > MOST_SQL:
            raise InvalidInput(f"The SQL is longer than {MOST_SQL} characters.", fix="ask for less at once")
        self._audit.record(who, self._dataset, act, sql=sql, request=request[:100], price=price[:100])


def _need_few(asked: AskedBatch) -> None:
    if len(asked.sql) > MOST_QUESTIONS:
        raise InvalidInput("There are too many questions in one batch.", fix=f"ask {MOST_QUESTIONS} at the most")


def _price_of(asked: _Priced) -> str:
    """Return the price that a request offers, as it was written."""
    if asked.epsilon is not None:
        return f"epsilon {asked.epsilon}"
    return "" if asked.rho is None else f"rho {asked.rho}"
