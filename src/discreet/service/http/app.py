"""The HTTP face: routes over the doors of datasets, for people with bearer tokens.

There are no cookies, so that no other page can ask in somebody's name, and no headers of cross-origin sharing. A
request of a page of another origin is refused before it is looked at.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import discreet
from discreet.core import DiscreetError
from discreet.core.operator_log import tell_operator
from discreet.service.door import READING_ALL, need_role
from discreet.service.guarded_door import MOST_EVENTS, GuardedDoor
from discreet.service.http.messages import (
    JSON,
    AuditReply,
    BodyLimits,
    HealthReply,
    LinesReply,
    ShapeAsked,
    ShapeReply,
    check_query,
    read_message,
    read_number,
    under_key,
)
from discreet.service.http.openapi import write_openapi
from discreet.service.http.problems import HttpRefusal, failure_response, problem_response, refuse_unauthenticated
from discreet.service.people import Principal
from discreet.service.refusals import NotFound
from discreet.service.words import (
    Asked,
    AskedBatch,
    AskedDecision,
    AskedShare,
    CertificateReply,
    DatasetsReply,
    write_text,
)
from discreet.session import MOST_RELEASES

#: On every reply. Nothing here is a page, and nothing may be kept or framed.
HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
}
#: Digits of the number of a request for more.
MOST_DIGITS = 18
#: Characters of a request id in an address.
MOST_ID = 200


class Authenticator(Protocol):
    """Who has a token; `discreet.service.registry` has one."""

    def authenticate(self, text: str) -> Principal | None:
        """Return who has this token; None for any that is not valid now."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpFace:
    """What the HTTP face serves: by the names of datasets, their doors, and the people who have tokens for them."""

    doors: Mapping[str, GuardedDoor]
    people: Mapping[str, Authenticator]
    limits: BodyLimits = field(default_factory=BodyLimits)
    #: Pages whose requests are served, such as https://tools.example.org; none, if left out.
    origins: frozenset[str] = frozenset()
    #: Requests that arrived, by dataset (empty for those of none that is there) and act: nothing here depends on how
    #: they ended.
    arrived: Counter[tuple[str, str]] = field(default_factory=Counter)


def build_app(face: HttpFace) -> ASGIApp:
    """Return the application that uvicorn, or another server of ASGI, runs."""
    routes = [
        Route("/openapi.json", _open(face, "openapi", _openapi), methods=["GET"]),
        Route("/v1/health", _open(face, "health", _health), methods=["GET"]),
        Route("/v1/datasets", _closed(face, "datasets", _datasets), methods=["GET"]),
        Route("/v1/metrics", _closed(face, "metrics", _metrics), methods=["GET"]),
        *(_dataset_route(face, act, ["POST"], handler) for act, handler in POSTED.items()),
        *(_dataset_route(face, act, ["GET"], handler) for act, handler in GOTTEN.items()),
        _dataset_route(face, "requests", ["GET", "POST"], _requests),
        _dataset_route(face, "requests/{number}", ["POST"], _decide),
    ]
    handlers: Mapping[Any, Any] = {HTTPException: _refuse_route}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return Guard(app, face.origins)


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """One request of somebody who was authenticated, with the door of the dataset that it names."""

    request: Request
    who: Principal
    door: GuardedDoor
    limits: BodyLimits


Handler = Callable[[Visit], Awaitable[object]]


# What is asked of a dataset. Each returns a reply of words, or a response that is ready.


async def _preview(visit: Visit) -> object:
    asked = await read_message(visit.request, Asked, visit.limits)
    return await visit.door.preview(visit.who, asked)


async def _preview_batch(visit: Visit) -> object:
    asked = await read_message(visit.request, AskedBatch, visit.limits)
    return await visit.door.preview_batch(visit.who, asked)


async def _explain(visit: Visit) -> object:
    asked = await read_message(visit.request, Asked, visit.limits)
    return LinesReply(lines=await visit.door.explain(visit.who, asked))


async def _shape(visit: Visit) -> object:
    asked = await read_message(visit.request, ShapeAsked, visit.limits)
    return ShapeReply(columns=await visit.door.shape(visit.who, asked.sql))


async def _ask(visit: Visit) -> object:
    asked = await read_message(visit.request, Asked, visit.limits)
    return await visit.door.ask(visit.who, under_key(visit.request, asked))


async def _batch(visit: Visit) -> object:
    asked = await read_message(visit.request, AskedBatch, visit.limits)
    return await visit.door.batch(visit.who, under_key(visit.request, asked))


async def _schema(visit: Visit) -> object:
    check_query(visit.request)
    return await visit.door.schema(visit.who)


async def _facts(visit: Visit) -> object:
    check_query(visit.request)
    return Response(await visit.door.facts(visit.who), media_type=JSON)


async def _account(visit: Visit) -> object:
    check_query(visit.request)
    return await visit.door.account(visit.who)


async def _releases(visit: Visit) -> object:
    check_query(visit.request, "most")
    return await visit.door.releases(visit.who, read_number(visit.request, "most", 100, MOST_RELEASES))


async def _certificate(visit: Visit) -> object:
    check_query(visit.request, "request")
    request = visit.request.query_params.get("request", "")
    if not 0 < len(request) <= MOST_ID or not request.isprintable():
        raise HttpRefusal.with_status(400, "The address names no request.", "write ?request=ID, as a receipt has it")
    return CertificateReply(certificate=await visit.door.certificate(visit.who, request))


async def _audit(visit: Visit) -> object:
    check_query(visit.request, "most")
    most = read_number(visit.request, "most", 100, MOST_EVENTS)
    return AuditReply(events=visit.door.list_requests(visit.who, most))


async def _requests(visit: Visit) -> object:
    """Ask for more by POST; otherwise list what was asked for."""
    if visit.request.method == "POST":
        return await visit.door.ask_more(visit.who, await read_message(visit.request, AskedShare, visit.limits))
    check_query(visit.request)
    return await visit.door.share_requests(visit.who)


async def _decide(visit: Visit) -> object:
    number = visit.request.path_params["number"]
    if not (number.isascii() and number.isdigit() and len(number) <= MOST_DIGITS):
        raise NotFound("There is no such request.", fix="see the requests of the dataset")
    decided = await read_message(visit.request, AskedDecision, visit.limits)
    return await visit.door.decide(visit.who, int(number), decided)


POSTED: Mapping[str, Handler] = {
    "preview": _preview,
    "preview_batch": _preview_batch,
    "ask": _ask,
    "batch": _batch,
    "shape": _shape,
    "explain": _explain,
}
GOTTEN: Mapping[str, Handler] = {
    "schema": _schema,
    "facts": _facts,
    "account": _account,
    "releases": _releases,
    "certificate": _certificate,
    "audit": _audit,
}


# What is asked of the service itself.

#: Whose a token is, by the names of the datasets that it is for.
Known: TypeAlias = Mapping[str, Principal]


def _openapi(face: HttpFace, request: Request) -> Response:
    del face
    check_query(request)
    return Response(write_openapi(), media_type=JSON)


def _health(face: HttpFace, request: Request) -> Response:
    del face
    check_query(request)
    return _respond(HealthReply())


def _datasets(face: HttpFace, request: Request, known: Known) -> Response:
    """Return the names of the datasets that the token is for, and of no others."""
    del face
    check_query(request)
    return _respond(DatasetsReply(datasets=tuple(sorted(known)), version=discreet.__version__))


def _metrics(face: HttpFace, request: Request, known: Known) -> Response:
    """Return how many requests arrived, for auditors and stewards: what others ask is nobody else's business."""
    check_query(request)
    read = {name for name, who in known.items() if who.role in READING_ALL}
    if not read:
        need_role(next(iter(known.values())), READING_ALL)
    counts = sorted((of, act, count) for (of, act), count in face.arrived.items() if of in ("", *read))
    lines = ["# HELP discreet_requests Requests that arrived, by act.", "# TYPE discreet_requests counter"]
    lines += [f'discreet_requests{{dataset="{of}",act="{act}"}} {count}' for of, act, count in counts]
    return PlainTextResponse("\n".join([*lines, ""]), media_type="text/plain; version=0.0.4")


# Requests on their way to a handler.

Endpoint = Callable[[Request], Awaitable[Response]]


def _open(face: HttpFace, act: str, handler: Callable[[HttpFace, Request], Response]) -> Endpoint:
    """Return an endpoint that needs no token."""

    async def answer(request: Request) -> Response:
        face.arrived["", act] += 1
        return await _guarded(lambda: handler(face, request))

    return answer


def _closed(face: HttpFace, act: str, handler: Callable[[HttpFace, Request, Known], Response]) -> Endpoint:
    """Return an endpoint for people with a token."""

    async def answer(request: Request) -> Response:
        face.arrived["", act] += 1
        return await _guarded(lambda: handler(face, request, need_known(face.people, request)))

    return answer


def _dataset_route(face: HttpFace, act: str, methods: list[str], handler: Handler) -> Route:
    async def reply(request: Request) -> Response:
        known, name = need_known(face.people, request), request.path_params["dataset"]
        if name not in known:
            raise NotFound("There is no such dataset.", fix="see the names at /v1/datasets")
        visit = Visit(request=request, who=known[name], door=face.doors[name], limits=face.limits)
        return _respond(await handler(visit))

    async def answer(request: Request) -> Response:
        name = request.path_params["dataset"]
        face.arrived[name if name in face.doors else "", act.partition("/")[0]] += 1
        return await _guarded(lambda: reply(request))

    return Route(f"/v1/datasets/{{dataset}}/{act}", answer, methods=methods)


async def _guarded(act: Callable[[], Response | Awaitable[Response]]) -> Response:
    """Return a reply, or the problem that was in its way."""
    try:
        reply = act()
        return reply if isinstance(reply, Response) else await reply
    except DiscreetError as error:
        return problem_response(error)
    except Exception as error:  # noqa: BLE001 (the edge of the service: whatever it is, its words may quote rows)
        tell_operator("The service failed on a request.", error)
        return failure_response()


def need_known(people: Mapping[str, Authenticator], request: Request) -> Known:
    """Return who sends a request; all who have no valid token get the same refusal.

    A token is for the datasets whose registries have it. Others are, for whoever sends it, as if they were not there.
    """
    headers = request.headers.getlist("authorization")
    scheme, _, token = headers[0].partition(" ") if len(headers) == 1 else ("", "", "")
    text = token.strip() if scheme.lower() == "bearer" else ""
    known, unread = dict[str, Principal](), None
    for name, registry in people.items():
        try:
            principal = registry.authenticate(text)
        except DiscreetError as error:  # of this registry: that of another dataset may be well
            unread = error
            continue
        if principal is not None:
            known[name] = principal
    if not known:
        raise unread or refuse_unauthenticated()
    return known


def _respond(reply: object) -> Response:
    return reply if isinstance(reply, Response) else Response(write_text(reply), media_type=JSON)


def _refuse_route(request: Request, error: Exception) -> Response:
    """Return the problem of a path or a method that is not served."""
    if isinstance(error, HTTPException) and error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "GET, POST")
        refusal = HttpRefusal.with_status(
            405, f"{request.method[:20]} is not served here.", f"use one of: {allowed}", {"Allow": allowed}
        )
    else:
        refusal = HttpRefusal.with_status(404, "There is nothing at this address.", "see /openapi.json")
    return problem_response(refusal)


class Guard:
    """Sets the headers of every reply, refuses pages of other origins, and lets no exception out."""

    def __init__(self, app: ASGIApp, origins: frozenset[str]) -> None:
        self._app, self._origins = app, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = False

        async def send_guarded(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                message = {**message, "headers": _guard_headers(message.get("headers", ()))}
            await send(message)

        try:
            if self._is_foreign(scope):
                refusal = HttpRefusal.with_status(
                    403,
                    "Requests of this page are not served.",
                    "ask from a program, or have the steward allow the page",
                )
                await problem_response(refusal)(scope, receive, send_guarded)
                return
            await self._app(scope, receive, send_guarded)
        except Exception as error:  # noqa: BLE001 (as above)
            tell_operator("The service failed on a request.", error)
            if not begun:
                await failure_response()(scope, receive, send_guarded)

    def _is_foreign(self, scope: Scope) -> bool:
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        return any(origin not in self._origins for origin in origins)


def _guard_headers(headers: Any) -> list[tuple[bytes, bytes]]:
    own = [(name, value) for name, value in headers if name.decode("latin-1").lower() not in HEADERS]
    return [*own, *((name.encode(), value.encode()) for name, value in HEADERS.items())]
