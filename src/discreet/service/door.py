"""The door: all that a face may do for a person whose identity it has checked.

Faces (HTTP, PostgreSQL's protocol, assistants) speak to a `Door` and to nothing else. They see neither rows nor a
session. `LocalDoor` answers in this process, for tests and for one user; a server's door hands work to workers.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from discreet.core import DiscreetError, InvalidInput
from discreet.service.people import Principal, Role
from discreet.service.refusals import NotAllowed, NotFound, PaymentOff
from discreet.service.replies import (
    answer_reply,
    batch_options,
    batch_preview_reply,
    batch_reply,
    preview_reply,
    question_options,
    read_matches,
    read_share,
    schema_reply,
    share_request_facts,
)
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
from discreet.session import Session, certificate, list_payments, write_facts

T = TypeVar("T")

#: Who may ask questions, who may read what all have asked, and who may look at schema and account.
ASKING = (Role.ANALYST, Role.STEWARD)
READING_ALL = (Role.AUDITOR, Role.STEWARD)
DECIDING = (Role.STEWARD,)
LOOKING = (Role.ANALYST, Role.STEWARD, Role.AUDITOR)
#: Characters of a request id that an asker chooses.
MOST_REQUEST = 64


class Door(Protocol):
    """What a face may do. Every method refuses by a `DiscreetError` whose words may be shown as they are."""

    async def schema(self, who: Principal) -> SchemaReply:
        """Return the public facts of all tables. Free."""
        ...

    async def facts(self, who: Principal) -> str:
        """Return the public facts of all tables as `discreet.connect` reads them: `write_facts` of a session. Free."""
        ...

    async def shape(
        self, who: Principal, sql: str, *, bars: bool = False, matches: Mapping[str, int] | None = None
    ) -> tuple[AnswerColumn, ...]:
        """Return the names and kinds of what is asked, of error bars with `bars`. Free, and without a price."""
        ...

    async def explain(self, who: Principal, asked: Asked) -> tuple[str, ...]:
        """Return units, mechanisms and errors of a question as lines. Free."""
        ...

    async def preview(self, who: Principal, asked: Asked) -> PreviewReply:
        """Return the price of a question and its predicted errors. Free."""
        ...

    async def preview_batch(self, who: Principal, asked: AskedBatch) -> BatchPreviewReply:
        """Return the price of several questions together. Free."""
        ...

    async def ask(self, who: Principal, asked: Asked) -> AnswerReply:
        """Return the answer to a question, paid for once."""
        ...

    async def batch(self, who: Principal, asked: AskedBatch) -> BatchReply:
        """Return the answers to several questions, paid for once."""
        ...

    async def account(self, who: Principal) -> AccountReply:
        """Return what binds this person."""
        ...

    async def releases(self, who: Principal, most: int = 100) -> ReleasesReply:
        """Return the last payments: a person's own; of all for auditors and the steward."""
        ...

    async def certificate(self, who: Principal, request: str) -> str:
        """Return the signed certificate of a release, by the request id of its receipt."""
        ...

    async def ask_more(self, who: Principal, asked: AskedShare) -> ShareRequestsReply:
        """Ask the steward for a larger share; return the request."""
        ...

    async def share_requests(self, who: Principal) -> ShareRequestsReply:
        """Return requests for more: a person's own; of all for auditors and the steward."""
        ...

    async def decide(self, who: Principal, number: int, decided: AskedDecision) -> ShareRequestsReply:
        """Grant or decline a request for more; return it. For the steward."""
        ...

    async def close(self) -> None:
        """End; what is being run is finished first."""
        ...


def need_role(who: Principal, allowed: tuple[Role, ...]) -> None:
    """Refuse a role that may not do this."""
    if who.role not in allowed:
        raise NotAllowed(
            f"The role {who.role.value!r} does not include this.",
            fix=f"ask the steward for one of: {', '.join(role.value for role in allowed)}",
        )


def request_id(who: Principal, request: str | None) -> str:
    """Return the ledger's id of a request: the asker's name comes first, so that no two people share one.

    A request without an id is given one, under which it can be asked again.
    """
    if request is None:
        return f"{who.name}:auto-{os.urandom(16).hex()}"
    if not request or len(request) > MOST_REQUEST or not request.isprintable():
        raise InvalidInput(
            "The request id is empty, too long or unprintable.", fix=f"use 1 to {MOST_REQUEST} letters and digits"
        )
    return f"{who.name}:{request.removeprefix(f'{who.name}:')}"


def refuse_unpaid(preview: PreviewReply) -> PaymentOff:
    """Return the error that refuses to pay, and names the price."""
    return PaymentOff(
        f"The answer is not stored, and this request may not pay. It costs {preview.cost}.",
        fix="turn payment on for this request; or ask for an answer that is stored",
    )


class LocalDoor:
    """A door that answers in this process, in threads, with the rows at hand. Replies leave when they are ready.

    For tests and for one user: time is not hidden here.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def _of(self, who: Principal) -> Session:
        return self._session.for_analyst(who.name, team=who.team)

    async def _answer(self, who: Principal, allowed: tuple[Role, ...], act: Callable[[], T]) -> T:
        need_role(who, allowed)
        return await asyncio.to_thread(act)

    async def schema(self, who: Principal) -> SchemaReply:
        """Return the public facts of all tables."""
        return await self._answer(who, LOOKING, lambda: schema_reply(self._of(who).schema))

    async def facts(self, who: Principal) -> str:
        """Return the public facts of all tables as a remote session reads them."""
        return await self._answer(who, LOOKING, lambda: write_facts(self._of(who).facts))

    async def shape(
        self, who: Principal, sql: str, *, bars: bool = False, matches: Mapping[str, int] | None = None
    ) -> tuple[AnswerColumn, ...]:
        """Return the names and kinds of what is asked."""
        return await self._answer(who, LOOKING, lambda: shape_columns(self._of(who), sql, bars=bars, matches=matches))

    async def explain(self, who: Principal, asked: Asked) -> tuple[str, ...]:
        """Return units, mechanisms and errors of a question as lines."""
        return await self._answer(who, LOOKING, lambda: explain_lines(self._of(who), asked))

    async def preview(self, who: Principal, asked: Asked) -> PreviewReply:
        """Return the price of a question and its predicted errors."""
        return await self._answer(who, ASKING, lambda: preview_asked(self._of(who), asked))

    async def preview_batch(self, who: Principal, asked: AskedBatch) -> BatchPreviewReply:
        """Return the price of several questions together."""
        return await self._answer(who, ASKING, lambda: preview_asked_batch(self._of(who), asked))

    async def ask(self, who: Principal, asked: Asked) -> AnswerReply:
        """Return the answer to a question, paid for once."""
        return await self._answer(
            who, ASKING, lambda: release_asked(self._of(who), asked, request_id(who, asked.request))
        )

    async def batch(self, who: Principal, asked: AskedBatch) -> BatchReply:
        """Return the answers to several questions, paid for once."""
        return await self._answer(
            who, ASKING, lambda: release_batch(self._of(who), asked, request_id(who, asked.request))
        )

    async def account(self, who: Principal) -> AccountReply:
        """Return what binds this person."""
        return await self._answer(who, LOOKING, self._of(who).account)

    async def releases(self, who: Principal, most: int = 100) -> ReleasesReply:
        """Return the last payments."""
        return await self._answer(who, LOOKING, lambda: list_releases(self._of(who), who, most))

    async def certificate(self, who: Principal, request: str) -> str:
        """Return the signed certificate of a release."""
        return await self._answer(who, LOOKING, lambda: certify(self._of(who), who, request))

    async def ask_more(self, who: Principal, asked: AskedShare) -> ShareRequestsReply:
        """Ask the steward for a larger share."""
        return await self._answer(who, ASKING, lambda: request_share(self._of(who), who, asked))

    async def share_requests(self, who: Principal) -> ShareRequestsReply:
        """Return requests for more."""
        return await self._answer(who, LOOKING, lambda: list_share_requests(self._of(who), who))

    async def decide(self, who: Principal, number: int, decided: AskedDecision) -> ShareRequestsReply:
        """Grant or decline a request for more."""
        return await self._answer(who, DECIDING, lambda: decide_share(self._of(who), who, number, decided))

    async def close(self) -> None:
        """Close the session."""
        await asyncio.to_thread(self._session.close)


# What a door does with a session; the front of a server does the same with one that has no rows.


def shape_columns(
    session: Session, sql: str, *, bars: bool = False, matches: Mapping[str, int] | None = None
) -> tuple[AnswerColumn, ...]:
    """Return the names and kinds of what is asked; with `bars`, those of error bars, too."""
    shape = session.shape(sql, bars=bars, matches=read_matches(matches))
    return tuple(AnswerColumn(name=name, kind=kind) for name, kind in shape.items())


def explain_lines(session: Session, asked: Asked) -> tuple[str, ...]:
    """Return an explanation as lines."""
    return tuple(str(session.explain(asked.sql, **question_options(asked))).splitlines())


def preview_asked(session: Session, asked: Asked) -> PreviewReply:
    """Return the preview of a question."""
    return preview_reply(session.preview(asked.sql, **question_options(asked)))


def preview_asked_batch(session: Session, asked: AskedBatch) -> BatchPreviewReply:
    """Return the price of several questions together."""
    return batch_preview_reply(session.preview_batch(list(asked.sql), **batch_options(asked)))


def release_asked(session: Session, asked: Asked, request: str) -> AnswerReply:
    """Return the answer to a question under a request id; a stored one only, if the request may not pay."""
    options = question_options(asked)
    if not asked.pay:
        preview = preview_asked(session, asked)
        if asked.fresh or not preview.free:
            raise refuse_unpaid(preview)
    return answer_reply(session.sql(asked.sql, **options, fresh=asked.fresh, request=request), session)


def release_batch(session: Session, asked: AskedBatch, request: str) -> BatchReply:
    """Return the answers of a batch under a request id; stored ones only, if the request may not pay."""
    options, questions = batch_options(asked), list(asked.sql)
    if not asked.pay and (asked.fresh or session.preview_batch(questions, **options).price.stored is None):
        raise PaymentOff(
            "These answers are not stored, and this request may not pay.",
            fix="turn payment on for this request; or ask for answers that are stored",
        )
    answers = session.batch(questions, **options, fresh=asked.fresh, request=request)
    return batch_reply(answers, session)


def list_releases(session: Session, who: Principal, most: int) -> ReleasesReply:
    """Return the last payments that a person may see."""
    releases = list_payments(session.ledger, session.analyst, most, of_all=who.role in READING_ALL)
    return ReleasesReply(releases=releases)


def certify(session: Session, who: Principal, request: str) -> str:
    """Return the certificate of a release that a person may see; others' are as if they were not there."""
    ledger, missing = session.ledger, NotFound("There is no such release.", fix="use the request id of its receipt")
    try:
        receipt = ledger.find_receipt(request)
    except DiscreetError:
        raise missing from None
    if receipt is None or ledger.release_of(receipt.payment) is None:
        raise missing
    if who.role not in READING_ALL and receipt.analyst != who.name:
        raise missing
    return certificate(ledger, request)


def request_share(session: Session, who: Principal, asked: AskedShare) -> ShareRequestsReply:
    """Ask the steward for a larger share, of the asker's own or of their team."""
    if asked.team and not who.team:
        raise InvalidInput("You are in no team.", fix="leave out team: the share is your own")
    share = read_share(asked.share)
    number = session.ledger.shares.request_more(
        share, analyst=who.name, reason=asked.reason, team=who.team if asked.team else ""
    )
    return _one_request(session, number)


def list_share_requests(session: Session, who: Principal) -> ShareRequestsReply:
    """Return the requests for more that a person may see."""
    requests = session.ledger.shares.list_requests()
    shown = [one for one in requests if who.role in READING_ALL or one.request.analyst == who.name]
    return ShareRequestsReply(requests=tuple(map(share_request_facts, shown)))


def decide_share(session: Session, who: Principal, number: int, decided: AskedDecision) -> ShareRequestsReply:
    """Grant or decline a request for more; the ledger has the steward's name."""
    shares = session.ledger.shares
    if not decided.grant and decided.share is not None:
        raise InvalidInput("A request that is declined has no share.", fix="leave out share, or grant it")
    if all(request.number != number for request in shares.open):
        raise NotFound("No request with this number awaits a decision.", fix="see the requests of the dataset")
    if decided.grant:
        limit = None if decided.share is None else read_share(decided.share)
        shares.grant(number, by=who.name, reason=decided.reason, limit=limit)
    else:
        shares.decline(number, by=who.name, reason=decided.reason)
    return _one_request(session, number)


def _one_request(session: Session, number: int) -> ShareRequestsReply:
    found = [one for one in session.ledger.shares.list_requests() if one.number == number]
    return ShareRequestsReply(requests=tuple(map(share_request_facts, found)))
