"""Requests and replies that HTTP has beside those of the door, and how a body is read.

Bodies are JSON objects of at most so many bytes, sent within so many seconds. What is not known is refused.
"""

import asyncio
from dataclasses import dataclass, replace
from typing import TypeVar

from starlette.requests import ClientDisconnect, Request

from discreet.core import DiscreetError, InvalidInput
from discreet.service.http.problems import HttpRefusal
from discreet.service.log import AuditEvent
from discreet.service.words import AnswerColumn, Asked, AskedBatch, read_text

Message = TypeVar("Message")
Question = TypeVar("Question", Asked, AskedBatch)

JSON = "application/json"
#: The header whose value is the ledger's id of a request, under the name of the person who asks.
IDEMPOTENCY = "idempotency-key"


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyLimits:
    """How large a body may be, and how long it may take to arrive."""

    size: int = 256 * 1024
    seconds: float = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeAsked:
    """A question whose columns are asked for."""

    sql: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeReply:
    """The columns of an answer."""

    columns: tuple[AnswerColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesReply:
    """An explanation, line by line."""

    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReply:
    """The last requests, newest first."""

    events: tuple[AuditEvent, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthReply:
    """That the front is there."""

    status: str = "ok"


async def read_message(request: Request, kind: type[Message], limits: BodyLimits) -> Message:
    """Return the body of a request as a message of a kind."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != JSON:
        raise HttpRefusal.with_status(415, "The body is not JSON.", f"send the header Content-Type: {JSON}")
    body = await _read_body(request, limits)
    try:
        return read_text(kind, body)
    except DiscreetError as error:  # what is no message at all is a fault of its form
        raise HttpRefusal.with_status(400, error.problem, error.fix) from None


def under_key(request: Request, asked: Question) -> Question:
    """Return a question under the id that a header gives it."""
    keys = request.headers.getlist(IDEMPOTENCY)
    if not keys:
        return asked
    if len(keys) > 1 or asked.request not in (None, keys[0]):
        raise HttpRefusal.with_status(422, "The request has two different ids.", "send one Idempotency-Key")
    return replace(asked, request=keys[0])


def read_number(request: Request, name: str, default: int, most: int) -> int:
    """Return a whole number of the query."""
    text = request.query_params.get(name, str(default))
    if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most:
        return int(text)
    raise InvalidInput(f"{name} is no whole number from 1 to {most}.", fix=f"write ?{name}={default}")


def check_query(request: Request, *known: str) -> None:
    """Refuse a parameter that is not known, or that stands twice."""
    names = [name for name, _ in request.query_params.multi_items()]
    if set(names) - set(known) or len(set(names)) < len(names):
        listed = ", ".join(known) or "none"
        raise HttpRefusal.with_status(
            400, "The address has a parameter that is not known here, or one twice.", f"use at most: {listed}"
        )


async def _read_body(request: Request, limits: BodyLimits) -> bytes:
    too_large = HttpRefusal.with_status(413, f"The body has more than {limits.size} bytes.", "ask for less at once")
    declared = request.headers.get("content-length", "0")
    if not (declared.isascii() and declared.isdigit()) or int(declared[:20]) > limits.size:
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(limits.seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > limits.size:
                    raise too_large
    except TimeoutError:
        raise HttpRefusal.with_status(
            408,
            f"The body did not arrive within {limits.seconds:g} seconds.",
            "send it faster",
            {"Connection": "close"},
        ) from None
    except ClientDisconnect:
        raise HttpRefusal.with_status(400, "The body ended early.", "send it again") from None
    return bytes(body)
