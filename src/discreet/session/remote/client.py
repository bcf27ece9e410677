"""Requests to a service: sent again where that is free, waited for as long as allowed, with refusals as errors."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

import discreet
from discreet.core import DiscreetError, InvalidInput, StillRunning
from discreet.core.untrusted_text import read_json
from discreet.session.facts.codec import read_facts
from discreet.session.facts.public_facts import PublicFacts
from discreet.session.remote.connection import Connections, HttpReply
from discreet.session.remote.refusals import (
    KINDS,
    Busy,
    NotAllowed,
    NotFound,
    NotYet,
    Refusal,
    TooMany,
    Unreachable,
    clean_words,
    refuse_reply,
)
from discreet.session.remote.words import (
    AnswerReply,
    Asked,
    AskedBatch,
    AskedShare,
    BatchPreviewReply,
    BatchReply,
    CertificateReply,
    DatasetsReply,
    PreviewReply,
    ReleasesReply,
    SchemaReply,
    ShareRequestsReply,
    read_text,
    write_text,
)
from discreet.session.standings import AccountReply

Reply = TypeVar("Reply")

#: Seconds between tries after a connection was lost; then it is given up.
PAUSES = (0.1, 0.5, 1.5, 3.0)
#: Seconds before what is not ready is asked for again, at first and at most. The service holds the reply until it is.
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 2.0
#: Statuses of proxies whose service is gone, or did not answer them.
GONE = (502, 504)
PROBLEM = "application/problem+json"
#: Bytes of a problem on its way.
MOST_PROBLEM = 1 << 20


@dataclass(slots=True, kw_only=True)
class Clock:
    """The time, and how to wait; tests have another."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class ServiceClient:
    """What a service says, typed. Every request may be sent twice: questions have an id, and the rest is free."""

    def __init__(self, connections: Connections, *, patience: float, clock: Clock | None = None) -> None:
        self.connections = connections
        self.patience = patience
        self._clock = clock or Clock()
        self._tries = 0  # the first request is not sent again: the address may be wrong
        self._dataset = ""

    def choose_dataset(self, name: str | None) -> str:
        """Return the dataset that is meant: the only one needs no name. Its service has the version of this client."""
        reply = self._get(DatasetsReply, "/v1/datasets")
        self._tries = len(PAUSES)
        if reply.version != discreet.__version__:
            shown = reply.version if _is_version(reply.version) else "of another kind"
            raise InvalidInput(
                f"The service runs discreet {shown}, and this is discreet {discreet.__version__}: they may plan "
                "questions in different ways.",
                fix=f"install the version of the service: pip install discreet=={shown}",
            )
        if name is None and len(reply.datasets) == 1:
            name = reply.datasets[0]
        if name not in reply.datasets:
            listed = ", ".join(map(clean_words, reply.datasets)) or "none"
            problem = "The service has several datasets." if name is None else "There is no such dataset."
            raise NotFound(problem, fix=f"pass dataset=, one of: {listed}")
        self._dataset = f"/v1/datasets/{quote(name, safe='')}"
        return name

    def facts(self) -> PublicFacts:
        """Return what is public about the dataset."""
        body = self._send("GET", f"{self._dataset}/facts", None, {})
        try:
            return read_facts(body.decode("utf-8"))
        except UnicodeDecodeError:
            raise refuse_reply() from None

    def schema(self) -> SchemaReply:
        """Return what is public about the tables, in words."""
        return self._get(SchemaReply, f"{self._dataset}/schema")

    def account(self) -> AccountReply:
        """Return what binds whoever asks."""
        return self._get(AccountReply, f"{self._dataset}/account")

    def request_more(self, asked: AskedShare) -> int:
        """Ask for a larger share; return the number of the request."""
        requests = self._post(ShareRequestsReply, "requests", asked, {}).requests
        if len(requests) != 1:
            raise refuse_reply()
        return requests[0].number

    def releases(self, most: int) -> ReleasesReply:
        """Return the last payments."""
        return self._get(ReleasesReply, f"{self._dataset}/releases?{urlencode({'most': most})}")

    def certificate(self, request: str) -> str:
        """Return the certificate of a release."""
        reply = self._get(CertificateReply, f"{self._dataset}/certificate?{urlencode({'request': request})}")
        return reply.certificate

    def preview(self, asked: Asked) -> PreviewReply:
        """Return the price of a question."""
        return self._post(PreviewReply, "preview", asked, {})

    def preview_batch(self, asked: AskedBatch) -> BatchPreviewReply:
        """Return the price of several questions together."""
        return self._post(BatchPreviewReply, "preview_batch", asked, {})

    def ask(self, asked: Asked) -> AnswerReply:
        """Return the answer to a question, which has a request id."""
        return self._pay(AnswerReply, "ask", asked)

    def batch(self, asked: AskedBatch) -> BatchReply:
        """Return the answers to several questions, which have a request id."""
        return self._pay(BatchReply, "batch", asked)

    def close(self) -> None:
        """Close all connections."""
        self.connections.close()

    def _get(self, kind: type[Reply], path: str) -> Reply:
        return _read_reply(kind, self._send("GET", path, None, {}))

    def _post(
        self, kind: type[Reply], act: str, asked: Asked | AskedBatch | AskedShare, headers: dict[str, str]
    ) -> Reply:
        headers = {"Content-Type": "application/json", **headers}
        return _read_reply(kind, self._send("POST", f"{self._dataset}/{act}", write_text(asked), headers))

    def _pay(self, kind: type[Reply], act: str, asked: Asked | AskedBatch) -> Reply:
        request = asked.request or ""
        try:
            return self._post(kind, act, asked, {"Idempotency-Key": request} if _is_key(request) else {})
        except Unreachable as error:
            raise Unreachable(
                f"{error.problem} The question may have been paid for.",
                fix=f"ask again with request={request!r}: nothing is paid for twice under one id",
            ) from None

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        """Return the body of the reply to a request, which is sent again as often as that may help."""
        deadline, lost, early = self._clock.now() + self.patience, 0, FIRST_PAUSE
        headers = {"Accept": f"application/json, {PROBLEM}", "User-Agent": AGENT, **headers}
        while True:
            try:
                reply = self.connections.exchange(method, path, body, headers, deadline)
                if reply.status == 200:
                    return reply.body
                error = read_refusal(reply)
            except Unreachable as caught:
                error = caught
            if isinstance(error, Unreachable):
                pause = PAUSES[lost] if error.again and lost < self._tries else None
                lost += 1
            elif isinstance(error, NotYet):
                pause, early = early, min(2 * early, LONGEST_PAUSE)
            else:
                pause = pause_after(error, reply)
            if pause is None or self._clock.now() + pause >= deadline:
                raise error
            self._clock.sleep(pause)


AGENT = f"discreet/{discreet.__version__}"


def _is_key(request: str) -> bool:
    """Tell whether an id can be a header; others are in the body alone."""
    return request.isascii() and request.isprintable()


def _is_version(text: str) -> bool:
    return 0 < len(text) <= 40 and text.isascii() and all(sign.isalnum() or sign in ".+-" for sign in text)


def pause_after(error: DiscreetError, reply: HttpReply) -> float | None:
    """Return the seconds after which a refused request may be sent again; None if that does not help."""
    match error:
        case TooMany():
            return float(error.seconds) or None
        case Busy() | StillRunning():
            return float(reply.retry_after or 1)
        case _ if type(error) is DiscreetError and reply.status in (429, 503) and reply.retry_after is not None:
            return float(reply.retry_after or 1)  # a proxy, and not the service
        case _:
            return None


# What comes back is the text of a stranger: of one form, shown without what would command a terminal.


def _read_reply(kind: type[Reply], body: bytes) -> Reply:
    try:
        return read_text(kind, body)
    except DiscreetError:
        raise refuse_reply() from None


def read_refusal(reply: HttpReply) -> DiscreetError:
    """Return the error that a reply tells; of what is no problem of ours, its status."""
    fields = _read_problem(reply)
    if fields is None:
        return _refuse_status(reply)
    texts = [clean_words(fields[name]) for name in ("kind", "detail", "fix")]
    numbers = {name: _number(fields.get(name)) for name in ("line", "column", "seconds")}
    refusal = Refusal(
        kind=texts[0], problem=texts[1], fix=texts[2], request=clean_words(fields.get("request", "")), **numbers
    )
    if refusal.kind in KINDS:
        return refusal.error()
    kind: type[DiscreetError] = {401: NotAllowed, 403: NotAllowed, 404: NotFound}.get(reply.status, DiscreetError)
    return kind(refusal.problem, fix=refusal.fix)


def _read_problem(reply: HttpReply) -> dict[str, Any] | None:
    """Return the fields of a problem; None if it is none of ours."""
    if reply.media != PROBLEM or len(reply.body) > MOST_PROBLEM:
        return None
    try:
        fields = read_json(reply.body)
    except ValueError:
        return None
    if not isinstance(fields, dict) or not all(isinstance(fields.get(name), str) for name in ("kind", "detail", "fix")):
        return None
    return fields if isinstance(fields.get("request", ""), str) else None


def _refuse_status(reply: HttpReply) -> DiscreetError:
    if 300 <= reply.status < 400:
        return Unreachable(
            "The service sends to another address, which is not followed: the token is for this one.",
            fix="connect to the address of the service itself",
        )
    if reply.status in GONE:
        return Unreachable.lost()
    if reply.status in (429, 503):
        return DiscreetError(f"The service cannot answer now (status {reply.status}).", fix="ask again later")
    return Unreachable(
        f"What answered is not a service of discreet (status {reply.status}).", fix="check the address of the service"
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**6 else 0
