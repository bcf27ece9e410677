"""Refusals over HTTP: problem details (RFC 9457) with a `fix`, and the status of each kind.

Guarantee: a reply quotes the words of a `DiscreetError`, which quote no data, or a constant. What an engine, a library
or Python says of a failure is in the operator's log only.
Reference: RFC 9457 (problem details), RFC 9110 (statuses), RFC 6585 (429), RFC 6750 (bearer tokens).
"""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import Response

from discreet.core import DiscreetError
from discreet.core.operator_log import HOW_TO_READ
from discreet.service.refusals import Refusal

MEDIA = "application/problem+json"
#: The status of each kind of refusal; a test sees that none is missing.
STATUSES: Mapping[str, int] = {
    "DiscreetError": 422,
    "InvalidInput": 422,
    "OutOfRange": 422,
    "WrongType": 422,
    "NotProved": 422,
    "QueryRefused": 422,
    "BudgetExceeded": 402,
    "PaymentOff": 402,
    "NotAllowed": 403,
    "NotFound": 404,
    "Finished": 409,
    "StillRunning": 409,
    "NotYet": 409,
    "TooMany": 429,
    "LedgerDamaged": 503,
    "LedgerUnavailable": 503,
    "ReviewNeeded": 503,
    "NotReady": 503,
    "RunFailed": 503,
    "Busy": 503,
}
#: Kinds after which the same request may be sent again, in so many seconds if the error does not say it.
WAITS: Mapping[str, int] = {"StillRunning": 1, "NotYet": 1, "Busy": 1}
#: In place of the name of a logger, which means something to whoever holds the process.
FOR_STEWARDS = "the steward finds details in the operator's log"


class HttpRefusal(DiscreetError):
    """A request is refused for its form: its token, its path, its method, its size or its type.

    `status` is that of the reply, and `headers` those that the status calls for.
    """

    status: int = 400
    headers: Mapping[str, str] = {}

    @classmethod
    def with_status(
        cls, status: int, problem: str, fix: str, headers: Mapping[str, str] | None = None
    ) -> "HttpRefusal":
        """Return a refusal with a status."""
        error = cls(problem, fix=fix)
        error.status, error.headers = status, headers or {}
        return error


def refuse_unauthenticated() -> HttpRefusal:
    """Return the one reply to all who have no valid token: none, misspelt, unknown, expired or revoked."""
    return HttpRefusal.with_status(
        401,
        "There is no valid token with this request.",
        "send the header Authorization: Bearer TOKEN; the steward gives tokens with: discreet people add or rotate",
        {"WWW-Authenticate": 'Bearer realm="discreet"'},
    )


def problem_response(error: DiscreetError) -> Response:
    """Return the reply to what was refused."""
    if isinstance(error, HttpRefusal):
        fields = _fields(error.status, "HttpRefusal", error.problem, error.fix)
        return _respond(error.status, fields, error.headers)
    refusal = Refusal.of(error)
    status = STATUSES.get(refusal.kind, 422)
    fields = _fields(status, refusal.kind, refusal.problem, refusal.fix.replace(HOW_TO_READ, FOR_STEWARDS))
    fields |= {
        name: getattr(refusal, name) for name in ("line", "column", "request", "seconds") if getattr(refusal, name)
    }
    wait = refusal.seconds or WAITS.get(refusal.kind, 0)
    return _respond(status, fields, {"Retry-After": str(wait)} if wait else {})


def failure_response() -> Response:
    """Return the constant reply to what nobody expected."""
    fields = _fields(
        500,
        "Failure",
        "The service failed on this request; no answer is given.",
        "ask again under the same id, which is never paid for twice; the steward finds details in the operator's log",
    )
    return _respond(500, fields, {})


def _fields(status: int, kind: str, problem: str, fix: str) -> dict[str, Any]:
    return {
        "type": f"urn:discreet:problem:{kind}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": problem,
        "fix": fix,
        "kind": kind,
    }


def _respond(status: int, fields: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    content = json.dumps(fields, ensure_ascii=False).encode("utf-8", "backslashreplace")
    return Response(content, status_code=status, headers=dict(headers), media_type=MEDIA)
