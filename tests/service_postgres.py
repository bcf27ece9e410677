"""The PostgreSQL face for tests: a session or a door behind it, on a loop in a thread, and people with tokens."""

import asyncio
import base64
import hashlib
import hmac
import socket
import struct
import threading
from contextlib import contextmanager

from discreet.service import LocalDoor, Principal, Registry, Role
from discreet.service.guarded_door import GuardedDoor
from discreet.service.limits import RateCounter, RateLimits
from discreet.service.log import AuditLog
from discreet.service.postgres.listening import PostgresFace, PostgresListening
from discreet.service.postgres.server import PostgresServer
from discreet.service.words import (
    AccountReply,
    AnswerColumn,
    AnswerReply,
    AnswerTable,
    ColumnFacts,
    PreviewReply,
    SchemaReply,
    TableFacts,
)

PEOPLE = (
    Principal(name="ada", role=Role.ANALYST),
    Principal(name="bob", role=Role.ANALYST, team="boards"),
    Principal(name="eve", role=Role.AUDITOR),
    Principal(name="pia", role=Role.PERSON),
)


class ServedPostgres:
    """A door behind PostgreSQL's protocol on a free port."""

    def __init__(self, door, folder, *, face=None, **listening):
        self.registry = Registry(folder / "clinic.people")
        self.tokens = {one.name: self.registry.add(one) for one in PEOPLE}
        self.audit = AuditLog(folder / "audit.jsonl")
        rates = RateCounter(RateLimits(requests=1_000_000, at_once=100))
        guarded = GuardedDoor(door, dataset="clinic", rates=rates, audit=self.audit)
        self.face = PostgresFace(doors={"clinic": guarded}, people=self.registry, **(face or {}))
        self.server = PostgresServer(self.face, PostgresListening(port=0, **listening))
        self.loop = asyncio.new_event_loop()

    @property
    def port(self):
        return self.server.port

    def run(self, coroutine, timeout=30):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout=timeout)

    def address(self, who="ada", **more):
        """Return what libpq connects with."""
        options = {"epsilon": "0.1", **more.pop("options", {})}
        words = {
            "host": "127.0.0.1",
            "port": self.port,
            "user": who,
            "password": self.tokens.get(who, "dsc1.unknown"),
            "dbname": "clinic",
            "options": " ".join(f"-c discreet.{name}={value}" for name, value in options.items() if value is not None),
            **more,
        }
        return " ".join(f"{name}='{value}'" for name, value in words.items())


@contextmanager
def serve_postgres(door, folder, **settings):
    """Serve a door until the end of the block."""
    served = ServedPostgres(door, folder, **settings)
    thread = threading.Thread(target=served.loop.run_forever)
    thread.start()
    try:
        served.run(served.server.start())
        try:
            yield served
        finally:
            served.run(served.server.close())
    finally:
        served.loop.call_soon_threadsafe(served.loop.stop)
        thread.join()
        served.loop.close()


@contextmanager
def serve_session(session, folder, **settings):
    """Serve a session until the end of the block."""
    with serve_postgres(LocalDoor(session), folder, **settings) as served:
        yield served


# A client of plain sockets: what libraries hide is seen, and what they never send is sent.


def frame(kind, body=b""):
    return kind + struct.pack("!I", len(body) + 4) + body


def startup(user="ada", database="clinic", version=3 << 16, **more):
    words = {"user": user, "database": database, **more}
    body = b"".join(f"{name}\0{value}\0".encode() for name, value in words.items()) + b"\0"
    return struct.pack("!II", len(body) + 8, version) + body


class RawClient:
    """One connection."""

    def __init__(self, port, timeout=10):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.key = None
        self.settings = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, content):
        self.socket.sendall(content)

    def read_exactly(self, size):
        content = b""
        while len(content) < size:
            more = self.socket.recv(size - len(content))
            if not more:
                raise ConnectionError(content)
            content += more
        return content

    def read(self):
        """Return the next message; None at the end."""
        try:
            kind = self.read_exactly(1)
            return kind, self.read_exactly(int.from_bytes(self.read_exactly(4), "big") - 4)
        except ConnectionError:
            return None

    def read_until(self, *kinds):
        """Return messages up to one of these kinds, or to the end."""
        messages = []
        while (message := self.read()) is not None:
            messages.append(message)
            if message[0] in kinds:
                break
        return messages

    def log_in(self, token, user="ada", *, plus=None, flag=b"n", **more):
        """Log in; return the messages up to ReadyForQuery or to the end."""
        self.send(startup(user, **more))
        return self.prove(token, plus=plus, flag=flag)

    def prove(self, token, *, plus=None, flag=b"n"):
        messages = self.read_until(b"R", b"E")
        if messages[-1][0] == b"E":
            return messages
        header = flag + b",," if plus is None else b"p=tls-server-end-point,,"
        bare = b"n=,r=abcdefgh"
        first = header + bare
        name = b"SCRAM-SHA-256" if plus is None else b"SCRAM-SHA-256-PLUS"
        self.send(frame(b"p", name + b"\0" + struct.pack("!I", len(first)) + first))
        messages += self.read_until(b"R", b"E")
        if messages[-1][0] == b"E":
            return messages
        answer = messages[-1][1][4:]
        said = dict(part.split(b"=", 1) for part in answer.split(b","))
        salted = hashlib.pbkdf2_hmac("sha256", token.encode(), base64.b64decode(said[b"s"]), int(said[b"i"]))
        client = hmac.digest(salted, b"Client Key", "sha256")
        bound = b"c=" + base64.b64encode(header + (plus or b"")) + b",r=" + said[b"r"]
        signature = hmac.digest(hashlib.sha256(client).digest(), b",".join((bare, answer, bound)), "sha256")
        proof = bytes(one ^ other for one, other in zip(client, signature, strict=True))
        self.send(frame(b"p", bound + b",p=" + base64.b64encode(proof)))
        messages += self.read_until(b"Z", b"E")
        for kind, body in messages:
            if kind == b"K":
                self.key = body
            if kind == b"S":
                name, value = body.split(b"\0")[:2]
                self.settings[name.decode()] = value.decode()
        return messages

    def ask(self, sql):
        """Return the messages that answer a simple query."""
        self.send(frame(b"Q", sql.encode() + b"\0"))
        return self.read_until(b"Z")

    def sync(self, *messages):
        """Send messages of an extended query and Sync; return the replies."""
        self.send(b"".join(messages) + frame(b"S"))
        return self.read_until(b"Z")


def parse(sql, *oids, name=""):
    return frame(b"P", f"{name}\0{sql}\0".encode() + struct.pack(f"!H{len(oids)}I", len(oids), *oids))


def bind(*values, name="", portal="", formats=(), results=()):
    parts = [f"{portal}\0{name}\0".encode(), struct.pack(f"!H{len(formats)}h", len(formats), *formats)]
    parts.append(struct.pack("!H", len(values)))
    parts += [b"\xff\xff\xff\xff" if value is None else struct.pack("!I", len(value)) + value for value in values]
    return frame(b"B", b"".join(parts) + struct.pack(f"!H{len(results)}h", len(results), *results))


def describe(what="P", name=""):
    return frame(b"D", f"{what}{name}\0".encode())


def execute(portal="", most=0):
    return frame(b"E", portal.encode() + b"\0" + struct.pack("!I", most))


def kinds_of(messages):
    """Return the kinds of messages as one text."""
    return b"".join(kind for kind, _ in messages).decode()


def error_of(messages):
    """Return the fields of the first error among messages."""
    return next(fields_of(body) for kind, body in messages if kind == b"E")


def fields_of(body):
    return {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}


def rows_of(messages):
    """Return the cells of rows in text."""
    rows = []
    for kind, body in messages:
        if kind == b"D":
            many, at, cells = int.from_bytes(body[:2], "big"), 2, []
            for _ in range(many):
                size = int.from_bytes(body[at : at + 4], "big", signed=True)
                cells.append(None if size < 0 else body[at + 4 : at + 4 + size].decode())
                at += 4 + max(size, 0)
            rows.append(tuple(cells))
    return rows


def columns_of(messages):
    """Return names, types and formats of the columns that were told."""
    columns = []
    for kind, body in messages:
        if kind == b"T":
            many, at = int.from_bytes(body[:2], "big"), 2
            for _ in range(many):
                end = body.index(b"\0", at)
                _, _, oid, _, _, form = struct.unpack("!IHIhiH", body[end + 1 : end + 19])
                columns.append((body[at:end].decode(), oid, form))
                at = end + 19
    return columns


class ScriptedDoor:
    """A door that answers from memory, and remembers what it was asked."""

    def __init__(self):
        self.asked, self.wait, self.error = [], None, None

    async def schema(self, who):
        columns = (("ward", "text"), ("age", "integer"), ("admitted", "date"), ("cost", "real"))
        facts = tuple(ColumnFacts(name=name, kind=kind) for name, kind in columns)
        return SchemaReply(tables=(TableFacts(name="visits", public=False, unit="", columns=facts),), lines=())

    async def shape(self, who, sql, *, bars=False, matches=None):
        self.asked.append(("shape", sql))
        if self.error is not None:
            raise self.error
        return TABLE.columns

    async def preview(self, who, asked):
        self.asked.append(("preview", asked))
        return PreviewReply(
            what="", fits=True, free=False, cost="ε = 0.1", spend=asked.epsilon, currency="epsilon", left=None,
            release=None, errors=(), lines=("cost ε = 0.1",),
        )  # fmt: skip

    async def explain(self, who, asked):
        self.asked.append(("explain", asked))
        return ("first line", "second line")

    async def account(self, who):
        return AccountReply(analyst=who.name, symbol="ε", spent="1", limit="3", left="2", words="ε = 1 of 3 spent")

    async def ask(self, who, asked):
        self.asked.append(("ask", asked))
        if self.wait is not None:
            await self.wait.wait()
        if self.error is not None:
            raise self.error
        return AnswerReply(what="", table=TABLE, caption="paid now", notes=("a note",), cost="ε = 0.1", left="2")

    def questions(self):
        """Return what was asked and had to be paid for."""
        return [asked for act, asked in self.asked if act == "ask"]


TABLE = AnswerTable(
    columns=tuple(
        AnswerColumn(name=name, kind=kind)
        for name, kind in (("ward", "text"), ("n", "integer"), ("n_low", "real"), ("n_high", "real"))
    ),
    rows=(("A", 12, 3.5, 20.0), ("B", -1, None, 7.25), (None, 5, 0.0, None)),
)
