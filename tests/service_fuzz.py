"""Requests that no program would send, and a way to send them to an application without a socket."""

import asyncio
import json
import random

#: Seconds after which a request hangs.
HANGS = 20
#: Valid bodies, which are changed at random.
SEEDS = (
    {"sql": "SELECT ward, COUNT(*) AS n, AVG(stay) AS m FROM visits GROUP BY ward", "epsilon": "0.001"},
    {"sql": "SELECT COUNT(*) AS n FROM visits WHERE note LIKE '%x%'", "rho": "1/1000", "fresh": True},
    {"sql": "SELECT MAX(age) FROM visits", "within": {"n": "25"}, "confidence": "0.9", "pay": False},
    {"sql": ["SELECT COUNT(*) AS n FROM visits", "SELECT SUM(stay) AS s FROM visits"], "epsilon": "0.01"},
    {"sql": "SELECT ward FROM visits", "limit": {"rows": 3}, "matches": {"rows": 2}, "size": 10, "bias": True},
)
FIELDS = ("sql", "epsilon", "rho", "within", "confidence", "simultaneous", "size", "limit", "bias", "matches", "fresh")
FIELDS = (*FIELDS, "pay", "request", "style", "", "\u0000", "__class__", "sql ")
VALUES = (
    *(None, True, False, 0, -1, 1e308, -0.0, 2**63, 10**40, "", " ", "0.1", "1/0", "1e999", "NaN", "-inf", "∞", "٣"),
    *("\u0000", "\ud800", "\U0001f600", "a" * 5000, "'; DROP TABLE visits; --", "SELECT 1", "{}", [], {}, [[]], [None]),
    *({"rows": -1}, {"groups": 10**9}, {"a": {"b": {"c": []}}}, ["0.1"] * 50, {"n": None}),
)
PIECES = (
    *("SELECT", "FROM visits", "COUNT(*)", "(", ")", "((((((((", "'", '"', "--", "/*", "*/", ";", "\\", "NULL"),
    *("JOIN visits v ON", "WITH RECURSIVE r AS (", "UNION ALL SELECT", "OVER ()", "LIMIT 1e9", "CAST(note AS INT)"),
    *("read_csv('visits.csv')", "pg_sleep(9)", "COPY visits TO 'x'", "ATTACH 'x'", "PRAGMA version", "$1", "::int"),
    *("GROUP BY", "?", "é"),
)
ACTS = ("preview", "ask", "batch", "shape", "explain")


def draw_body(draw, act):
    """Return the bytes of a body: valid JSON that is changed, or no JSON at all."""
    kind = draw.random()
    if kind < 0.1:
        return draw.randbytes(draw.randrange(200))
    fields = dict(draw.choice([seed for seed in SEEDS if isinstance(seed["sql"], list) == (act == "batch")]))
    if act == "shape":
        fields = {"sql": fields["sql"]}
    for _ in range(draw.randrange(3)):
        fields[draw.choice(FIELDS)] = draw.choice(VALUES)
    if kind < 0.4:
        fields["sql"] = " ".join(draw.choices(PIECES, k=draw.randrange(1, 25)))
    text = json.dumps(draw.choice((*[fields] * 20, [fields], fields.get("sql"))), allow_nan=True).encode()
    if kind > 0.85 and text:
        place = draw.randrange(len(text))
        text = text[:place] + draw.randbytes(draw.randrange(4)) + text[place + draw.randrange(6) :]
    return b"[" * 3000 + text if kind > 0.99 else text


def draw_headers(draw, token):
    """Return headers, most of them as they should be."""
    headers = [(b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")]
    if draw.random() < 0.2:
        headers.append((b"idempotency-key", draw.randbytes(draw.randrange(90))))
    if draw.random() < 0.05:
        headers.append((b"content-length", draw.choice((b"-1", b"\xb2", b"9" * 40, b"", b"1e3"))))
    if draw.random() < 0.05:
        headers[draw.randrange(2)] = (draw.choice(headers)[0], draw.randbytes(20))
    return headers


async def send_raw(app, act, body, headers):
    """Send a request to an application past every client; return its status and its body."""
    parts, status = [{"type": "http.request", "body": body, "more_body": False}], []
    told = bytearray()

    async def receive():
        return parts.pop() if parts else {"type": "http.disconnect"}

    async def send(message):
        if message["type"] == "http.response.start":
            status.append(message["status"])
        else:
            told.extend(message.get("body", b""))

    path = f"/v1/datasets/clinic/{act}"
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    async with asyncio.timeout(HANGS):
        await app(scope, receive, send)
    return status[0], bytes(told)


def fuzz(app, token, count, seed):
    """Send so many requests; return the statuses and all that was told."""
    draw = random.Random(seed)

    async def run():
        acts = draw.choices(ACTS, k=count)
        return [await send_raw(app, act, draw_body(draw, act), draw_headers(draw, token)) for act in acts]

    return asyncio.run(run())
