"""The OpenAPI document of the HTTP face, made of the words themselves: no field is said twice.

Reference: OpenAPI 3.1, whose schemas are JSON Schema 2020-12.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, cast, get_args, get_origin, get_type_hints

import discreet
from discreet.service.http.messages import (
    JSON,
    AuditReply,
    HealthReply,
    LinesReply,
    ShapeAsked,
    ShapeReply,
)
from discreet.service.http.problems import MEDIA
from discreet.service.words import (
    AccountReply,
    AnswerReply,
    AnswerTable,
    Asked,
    AskedBatch,
    AskedDecision,
    AskedShare,
    BatchPreviewReply,
    BatchReply,
    CertificateReply,
    DatasetsReply,
    PreviewReply,
    ReleasesReply,
    SchemaReply,
    ShareRequestsReply,
)

#: An exact amount as a text: 0.1, 3 or 1/10.
AMOUNT = {"type": "string", "pattern": r"^[0-9]{1,40}([.][0-9]{1,40}|/[0-9]{1,40})?$"}
#: Fields of requests that say more than their types.
FIELDS: Mapping[str, Mapping[str, Any]] = {
    "sql": {"description": "A SELECT statement; docs/sql.md lists the dialect."},
    "epsilon": {"description": "The price in ε. Pay with exactly one of epsilon, rho and within."},
    "rho": {"description": "The price in ρ of zero-concentrated differential privacy."},
    "within": {"description": "The error that is wanted, for all columns or by name; the least price is found."},
    "pay": {"description": "False: a stored answer, or a refusal that names the price."},
    "request": {"description": "An id under which nothing is paid for twice; Idempotency-Key is the same."},
}
AMOUNTS = frozenset({"epsilon", "rho", "within", "confidence", "weights", "share"})
#: What a refusal may be, and why.
REFUSALS = {
    400: "The request has not the form of one.",
    401: "There is no valid token.",
    402: "The price does not fit into the budget, or the request may not pay. Nothing was paid.",
    403: "The role does not include this, or the page of another origin asks.",
    404: "There is no such dataset or release.",
    408: "The body did not arrive in time.",
    409: "The same request runs, or its answer is not ready yet: ask again under the same id, which is free.",
    413: "The body is too large.",
    415: "The body is not JSON.",
    422: "The question is refused, with a fix. Nothing was paid.",
    429: "Somebody asks too often, or spends too fast. Nothing was paid.",
    500: "The service failed.",
    503: "The service, its data or its ledger cannot answer now.",
}
ALWAYS, OF_BODIES, OF_PAYMENTS = (400, 401, 403, 404, 422, 429, 500, 503), (408, 413, 415), (402, 409)
#: Refusals that say when to ask again.
WAITING = (409, 429, 503)
KEY_HEADER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    "description": "The ledger's id of this request, under the name of the person who asks.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One thing that may be asked."""

    path: str
    method: str
    title: str
    reply: type | None
    body: type | None = None
    parameters: tuple[Mapping[str, Any], ...] = ()
    refusals: tuple[int, ...] = ()
    closed: bool = True
    #: The name of the operation, where the last part of its path is not one.
    name: str = ""


def _of_dataset(act: str, title: str, reply: type, body: type | None = None, **more: Any) -> Operation:
    refusals = (*ALWAYS, *(OF_BODIES if body else ()), *(OF_PAYMENTS if act in ("ask", "batch") else ()))
    return Operation(
        path=f"/v1/datasets/{{dataset}}/{act}",
        method="post" if body else "get",
        title=title,
        reply=reply,
        body=body,
        refusals=refusals,
        **more,
    )


def _number(name: str, most: int) -> dict[str, Any]:
    schema = {"type": "integer", "minimum": 1, "maximum": most, "default": 100}
    return {"name": name, "in": "query", "required": False, "schema": schema}


REQUEST_QUERY = {
    "name": "request",
    "in": "query",
    "required": True,
    "schema": {"type": "string", "pattern": "^[A-Za-z0-9._@:-]{1,200}$"},
    "description": "The request id of a receipt.",
}
OPERATIONS = (
    _of_dataset("preview", "The price of a question and its predicted errors. Free.", PreviewReply, Asked),
    _of_dataset("ask", "The answer to a question, paid for once.", AnswerReply, Asked, parameters=(KEY_HEADER,)),
    _of_dataset("batch", "Several questions at one price.", BatchReply, AskedBatch, parameters=(KEY_HEADER,)),
    _of_dataset("preview_batch", "The price of several questions together. Free.", BatchPreviewReply, AskedBatch),
    _of_dataset("shape", "The columns of an answer. Free, and without a price.", ShapeReply, ShapeAsked),
    _of_dataset("explain", "How a question would be answered. Free.", LinesReply, Asked),
    _of_dataset("schema", "What is public about the tables.", SchemaReply),
    _of_dataset("facts", "What is public about the tables, as `discreet.connect` reads it.", dict),
    _of_dataset("account", "What binds the person who asks.", AccountReply),
    _of_dataset("releases", "The last payments.", ReleasesReply, parameters=(_number("most", 1000),)),
    _of_dataset("certificate", "Proof of a release.", CertificateReply, parameters=(REQUEST_QUERY,)),
    _of_dataset("audit", "Who asked what, for auditors.", AuditReply, parameters=(_number("most", 1000),)),
    _of_dataset("requests", "Requests for larger shares: one's own, or of all for stewards.", ShareRequestsReply),
    _of_dataset("requests", "Ask for a larger share.", ShareRequestsReply, AskedShare, name="ask_more"),
    _of_dataset(
        "requests/{number}",
        "Decide about a request, for stewards.",
        ShareRequestsReply,
        AskedDecision,
        name="decide",
    ),
    Operation(
        path="/v1/datasets",
        method="get",
        title="The names of the datasets.",
        reply=DatasetsReply,
        refusals=(400, 401, 403, 500, 503),
    ),
    Operation(
        path="/v1/metrics",
        method="get",
        title="How many requests arrived, for auditors, as Prometheus reads it.",
        reply=None,
        refusals=(400, 401, 403, 500, 503),
    ),
    Operation(
        path="/v1/health",
        method="get",
        title="That the service is there.",
        reply=HealthReply,
        refusals=(400, 403, 500),
        closed=False,
    ),
)


@lru_cache(maxsize=1)
def write_openapi() -> bytes:
    """Return the document as JSON."""
    return json.dumps(build_openapi(), ensure_ascii=False).encode()


def build_openapi() -> dict[str, Any]:
    """Return the document."""
    schemas: dict[str, Any] = {"Problem": _problem_schema()}
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _operation(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "discreet",
            "version": discreet.__version__,
            "description": "Answers about people, with noise, error bars and a budget. Amounts are texts, exactly.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    reply = operation.reply
    content = {"text/plain": {"schema": {"type": "string"}}}
    if reply is dict:
        content = {JSON: {"schema": {"type": "object"}}}
    elif reply is not None:
        content = {JSON: {"schema": _reference(reply, schemas, asked=False)}}
    found: dict[str, Any] = {
        "operationId": operation.name or operation.path.rsplit("/", 1)[1],
        "summary": operation.title,
        "responses": {
            "200": {"description": "The reply.", "content": content},
            **{str(status): _refusal(status) for status in sorted(operation.refusals)},
        },
    }
    parameters = [dict(parameter) for parameter in operation.parameters]
    if "{dataset}" in operation.path:
        parameters.insert(0, {"name": "dataset", "in": "path", "required": True, "schema": {"type": "string"}})
    if "{number}" in operation.path:
        schema = {"type": "string", "pattern": "^[0-9]{1,18}$"}
        parameters.append({"name": "number", "in": "path", "required": True, "schema": schema})
    if parameters:
        found["parameters"] = parameters
    if operation.body is not None:
        schema = _reference(operation.body, schemas, asked=True)
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    if not operation.closed:
        found["security"] = []
    return found


def _refusal(status: int) -> dict[str, Any]:
    content = {MEDIA: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    found: dict[str, Any] = {"description": REFUSALS[status], "content": content}
    if status in WAITING:
        found["headers"] = {"Retry-After": {"schema": {"type": "string", "pattern": "^[0-9]+$"}, "required": False}}
    if status == 401:
        found["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}, "required": True}}
    return found


def _problem_schema() -> dict[str, Any]:
    text, number = {"type": "string"}, {"type": "integer"}
    needed = {"type": text, "title": text, "status": number, "detail": text, "fix": text, "kind": text}
    more = {"line": number, "column": number, "request": text, "seconds": number}
    return _object({**needed, **more}, list(needed), "A problem (RFC 9457), and what to do next.")


# Schemas of words, by their fields.


def _reference(kind: type, schemas: dict[str, Any], *, asked: bool) -> dict[str, Any]:
    name = kind.__name__
    if name not in schemas:
        schemas[name] = {}  # or a word inside itself would be written without end
        schemas[name] = _schema_of(kind, schemas, asked=asked)
    return {"$ref": f"#/components/schemas/{name}"}


def _schema_of(kind: type, schemas: dict[str, Any], *, asked: bool) -> dict[str, Any]:
    hints = get_type_hints(kind)
    parts: tuple[Field[Any], ...] = fields(cast("Any", kind))
    properties = {part.name: _property(part.name, hints[part.name], schemas, asked=asked) for part in parts}
    if kind is AnswerTable:
        cell = {"type": ["string", "boolean", "null"]}
        properties["rows"] = {"type": "array", "items": {"type": "array", "items": cell}}
    needed = [part.name for part in parts if not asked or _is_needed(part)]
    words = (kind.__doc__ or "").partition("\n")[0]
    return _object(properties, needed, words)


def _property(name: str, hint: Any, schemas: dict[str, Any], *, asked: bool) -> dict[str, Any]:
    schema = _type_schema(hint, schemas, asked=asked)
    if asked and name in AMOUNTS:
        schema = _with_amounts(schema)
    return {**schema, **FIELDS.get(name, {})} if asked else schema


def _with_amounts(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a schema whose texts are amounts."""
    if schema.get("type") == "string":
        return dict(AMOUNT)
    if "anyOf" in schema:
        return {"anyOf": [_with_amounts(one) for one in schema["anyOf"]]}
    if schema.get("type") == "array":
        return {**schema, "items": _with_amounts(schema["items"])}
    if isinstance(schema.get("additionalProperties"), dict):
        return {**schema, "additionalProperties": _with_amounts(schema["additionalProperties"])}
    return schema


SIMPLE: Mapping[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    bool: {"type": "boolean"},
    bytes: {"type": "string", "contentEncoding": "base64"},
    NoneType: {"type": "null"},
}


def _type_schema(hint: Any, schemas: dict[str, Any], *, asked: bool) -> dict[str, Any]:
    if hint in SIMPLE:
        return dict(SIMPLE[hint])
    if is_dataclass(hint):
        return _reference(cast("type", hint), schemas, asked=asked)
    inner = get_args(hint)
    if get_origin(hint) is UnionType:
        return {"anyOf": [_type_schema(one, schemas, asked=asked) for one in inner]}
    if get_origin(hint) is tuple:
        return {"type": "array", "items": _type_schema(inner[0], schemas, asked=asked)}
    if get_origin(hint) is None:
        return {}  # a cell, which its table says more of
    return {"type": "object", "additionalProperties": _type_schema(inner[1], schemas, asked=asked)}


def _object(properties: dict[str, Any], needed: list[str], words: str) -> dict[str, Any]:
    return {
        "type": "object",
        "description": words,
        "properties": properties,
        "required": needed,
        "additionalProperties": False,
    }


def _is_needed(part: Field[Any]) -> bool:
    return part.default is MISSING and part.default_factory is MISSING
