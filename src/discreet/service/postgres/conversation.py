"""A conversation after the login: simple and extended queries, one message after the other.

Guarantee: each message is answered as the protocol says, also where it is refused; what is refused in the extended
protocol is passed over until Sync; and nothing but the words of `refusals.words_of` is told of an error.
Reference: PostgreSQL 17, section 53.2 (message flow).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from discreet.core import DiscreetError
from discreet.core.operator_log import tell_operator
from discreet.service.guarded_door import MOST_SQL
from discreet.service.postgres import frames, refusals
from discreet.service.postgres import statements as st
from discreet.service.postgres.copies import CopyFormat, write_copy
from discreet.service.postgres.desk import PLAN, Desk, Reply, blanks_of, fit_table
from discreet.service.postgres.parameters import write_literal
from discreet.service.postgres.refusals import SqlRefusal, refuse_violation, words_of
from discreet.service.postgres.settings import OURS, READ_ONLY_NAMES, ConnectionSettings, reported_of
from discreet.service.postgres.transactions import IDLE, Transaction
from discreet.service.postgres.values import PgColumn, Table, write_binary, write_text
from discreet.service.postgres.words import StatementText, split_statements

T = TypeVar("T")

#: Prepared statements and portals of a connection, characters of all statements, and of all values, and statements of
#: one text.
MOST_STATEMENTS, MOST_PORTALS, MOST_CHARACTERS, MOST_AT_ONCE = 1000, 100, 4_000_000, 200
#: Words and signs of all statements: each takes a hundred bytes. Texts from so many characters on are read in a thread.
MOST_PIECES, LONG_TEXT = 100_000, 2_000
#: Rows between two looks at whether the client reads them.
ROWS_AT_ONCE = 500
NO_REFUND = "Answers that were paid for stay paid: ROLLBACK returns nothing."


class Line(Protocol):
    """Where replies go."""

    def write(self, content: bytes) -> None:
        """Send bytes."""
        ...

    async def drain(self) -> None:
        """Wait until the client has read most of them."""
        ...


@dataclass(slots=True, kw_only=True)
class Prepared:
    """A statement that was parsed; without one, if the text is empty."""

    source: StatementText
    statement: st.Statement | None
    oids: tuple[int, ...]
    #: What a client was told of its answer, if it asked.
    columns: tuple[PgColumn, ...] | None = None


@dataclass(slots=True, kw_only=True)
class Portal:
    """A statement with values, and what of its answer was sent."""

    prepared: Prepared
    literals: tuple[str, ...]
    formats: tuple[int, ...]
    columns: tuple[PgColumn, ...] | None = None
    reply: Reply | None = None
    sent: int = 0


@dataclass(slots=True)
class _Kept:
    """What a connection keeps between messages."""

    statements: dict[str, Prepared] = field(default_factory=dict)
    portals: dict[str, Portal] = field(default_factory=dict)

    def has_room(self, name: str, source: StatementText) -> bool:
        """Tell whether one more statement may be kept, in the place of one of that name."""
        sources = [source, *(one.source for other, one in self.statements.items() if other != name)]
        few = len(sources) <= MOST_STATEMENTS and sum(len(one.pieces) for one in sources) <= MOST_PIECES
        return few and sum(one.size for one in sources) <= MOST_CHARACTERS

    def has_room_for_values(self, name: str, literals: Sequence[str]) -> bool:
        """Tell whether one more portal may be kept, in the place of one of that name."""
        values = [literals, *(portal.literals for other, portal in self.portals.items() if other != name)]
        return len(values) <= MOST_PORTALS and sum(len(text) for one in values for text in one) <= MOST_CHARACTERS


class Conversation:
    """Answers the messages of one client."""

    def __init__(
        self, desk: Desk, settings: ConnectionSettings, line: Line, keep: Callable[[asyncio.Task[Any]], None]
    ) -> None:
        self._desk, self._line, self._keep_running = desk, line, keep
        self._transaction = Transaction(settings)
        self._kept = _Kept()
        self._skips = False
        self._canceled: asyncio.Event | None = None
        self._told = reported_of(settings)

    def cancel(self) -> None:
        """Stop waiting for what runs now, if anything does. It runs to its end, and its answer is stored."""
        if self._canceled is not None:
            self._canceled.set()

    async def answer(self, kind: bytes, content: bytes) -> None:
        """Answer one message; raise what ends the connection."""
        if kind == b"S":
            self._finish_batch(content)
            return
        if self._skips and kind in EXTENDED:
            return
        handler = HANDLERS.get(kind)
        if handler is None:
            raise refuse_violation("A message of this kind is not expected here.")
        try:
            await handler(self, content)
        except DiscreetError as error:
            self._refuse(error, kind)
        except Exception as error:  # noqa: BLE001 (the edge of the service: whatever it is, its words may quote rows)
            tell_operator("The service failed on a statement.", error)
            self._refuse(error, kind)
        if kind in (b"Q", b"F"):
            self._ready()

    def _refuse(self, error: Exception, kind: bytes) -> None:
        if isinstance(error, SqlRefusal) and error.fatal:
            raise error
        self._transaction.fail()
        self._line.write(frames.write_error(words_of(error)))
        self._skips = kind in EXTENDED

    def _ready(self) -> None:
        told = reported_of(self._transaction.settings)
        for name, value in told.items():
            if self._told[name] != value:
                self._line.write(frames.write_setting(name, value))
        self._told = told
        if self._transaction.status == IDLE:
            self._kept.portals.clear()
        self._line.write(frames.write_ready(self._transaction.status))

    def _finish_batch(self, content: bytes) -> None:
        frames.Body(content).finish()
        self._skips = False
        self._ready()

    # Simple queries.

    async def _query(self, content: bytes) -> None:
        statements = await _split(frames.read_text(content))
        if not statements:
            self._line.write(frames.EMPTY)
        if len(statements) > MOST_AT_ONCE:
            raise SqlRefusal.coded(
                refusals.TOO_LARGE, "There are too many statements in one text.", f"send {MOST_AT_ONCE}"
            )
        for source in statements:
            reply = await self._run(st.read_statement(source), ())
            self._tell(reply)
            if reply.copy is not None:
                await self._copy(reply)
            elif reply.table is not None:
                self._line.write(frames.write_columns(reply.table.columns))
                await self._send_rows(reply.table, (), reply.table.rows)
                self._line.write(frames.write_done(reply.tag))
            else:
                self._line.write(frames.write_done(reply.tag))

    # Extended queries.

    async def _parse(self, content: bytes) -> None:
        parse = frames.read_parse(content)
        if parse.name and parse.name in self._kept.statements:
            raise SqlRefusal.coded(refusals.TAKEN_STATEMENT, "A prepared statement has this name.", "close it before")
        statements = await _split(parse.text)
        if len(statements) > 1:
            raise SqlRefusal.coded(
                refusals.BAD_SYNTAX, "A prepared statement is one statement.", "send several one after the other"
            )
        if not statements:
            prepared = Prepared(source=StatementText(()), statement=None, oids=())
        else:
            statement = st.read_statement(statements[0])
            question = _question_of(statement)
            if question is None and parse.oids and statements[0].parameters:
                raise SqlRefusal.coded(
                    refusals.NOT_SUPPORTED, "Only questions have parameters.", "write the value itself"
                )
            oids = () if question is None else await self._desk.find_types(question, parse.oids)
            prepared = Prepared(source=statements[0], statement=statement, oids=oids)
        if not self._kept.has_room(parse.name, prepared.source):
            raise SqlRefusal.coded(
                refusals.TOO_LARGE, "There are too many prepared statements.", "write DEALLOCATE ALL"
            )
        self._kept.statements[parse.name] = prepared
        self._line.write(frames.PARSED)

    async def _bind(self, content: bytes) -> None:
        bind = frames.read_bind(content)
        prepared = self._find_statement(bind.statement)
        if bind.portal and bind.portal in self._kept.portals:
            raise SqlRefusal.coded(refusals.TAKEN_PORTAL, "A portal has this name.", "close it before")
        if len(bind.values) != len(prepared.oids):
            raise SqlRefusal.coded(
                refusals.VIOLATION, "The statement has another number of parameters.", "pass one value for each"
            )
        literals = tuple(
            write_literal(value, oid, frames.format_at(bind.formats, place))
            for place, (value, oid) in enumerate(zip(bind.values, prepared.oids, strict=True))
        )
        if not self._kept.has_room_for_values(bind.portal, literals):
            raise SqlRefusal.coded(refusals.TOO_LARGE, "There are too many portals.", "close some, or send Sync")
        self._kept.portals[bind.portal] = Portal(prepared=prepared, literals=literals, formats=bind.result_formats)
        self._line.write(frames.BOUND)

    async def _describe(self, content: bytes) -> None:
        target = frames.read_target(content)
        if target.is_statement:
            prepared = self._find_statement(target.name)
            prepared.columns = columns = await self._columns_of(prepared, blanks_of(prepared.oids))
            self._line.write(frames.write_parameters(prepared.oids))
            self._line.write(frames.NO_COLUMNS if columns is None else frames.write_columns(columns))
            return
        portal = self._find_portal(target.name)
        portal.columns = await self._columns_of(portal.prepared, portal.literals)
        if portal.columns is None:
            self._line.write(frames.NO_COLUMNS)
            return
        _check_formats(portal)
        self._line.write(frames.write_columns(portal.columns, portal.formats))

    async def _execute(self, content: bytes) -> None:
        name, most = frames.read_execute(content)
        portal = self._find_portal(name)
        if portal.prepared.statement is None:
            self._line.write(frames.EMPTY)
            return
        if portal.reply is None:
            await self._run_portal(portal)
        reply = portal.reply
        if reply is None or reply.table is None or reply.copy is not None:
            self._line.write(frames.write_done("" if reply is None else reply.tag))
            return
        end = len(reply.table.rows) if most == 0 else min(portal.sent + most, len(reply.table.rows))
        rows = reply.table.rows[portal.sent : end]
        await self._send_rows(reply.table, portal.formats, rows)
        is_whole = most == 0 or portal.sent + most > len(reply.table.rows)
        portal.sent = end
        if is_whole:
            tag = f"SELECT {len(rows)}" if reply.tag.startswith("SELECT") else reply.tag
            self._line.write(frames.write_done(tag))
        else:
            self._line.write(frames.SUSPENDED)

    async def _run_portal(self, portal: Portal) -> None:
        """Run a portal for the first time: afterwards its answer is there, and is not asked for again."""
        if portal.prepared.statement is None:
            return
        reply = await self._run(portal.prepared.statement, portal.literals)
        if reply.table is not None and reply.copy is None:
            columns = portal.columns or portal.prepared.columns
            table = fit_table(reply.table, columns) if columns is not None else reply.table
            portal.columns = table.columns
            _check_formats(portal)
            reply = Reply(tag=reply.tag, table=table, notices=reply.notices)
        portal.reply = reply
        self._tell(reply)
        if reply.copy is not None:
            await self._copy(reply)

    async def _close(self, content: bytes) -> None:
        target = frames.read_target(content)
        if target.is_statement:
            self._kept.statements.pop(target.name, None)
        else:
            self._kept.portals.pop(target.name, None)
        self._line.write(frames.CLOSED)

    async def _flush(self, content: bytes) -> None:
        frames.Body(content).finish()

    async def _call(self, content: bytes) -> None:
        del content
        raise SqlRefusal.coded(refusals.NOT_SUPPORTED, "Functions are not called here.", "ask with SELECT")

    async def _ignore(self, content: bytes) -> None:
        """Pass over the data of a copy that was refused."""
        del content

    def _find_statement(self, name: str) -> Prepared:
        found = self._kept.statements.get(name)
        if found is None:
            raise SqlRefusal.coded(refusals.NO_STATEMENT, "There is no such prepared statement.", "prepare it before")
        return found

    def _find_portal(self, name: str) -> Portal:
        found = self._kept.portals.get(name)
        if found is None:
            raise SqlRefusal.coded(refusals.NO_PORTAL, "There is no such portal.", "bind it before")
        return found

    async def _columns_of(self, prepared: Prepared, literals: Sequence[str]) -> tuple[PgColumn, ...] | None:
        settings = self._transaction.settings
        match prepared.statement:
            case st.Ask(question):
                self._transaction.need_working()
                return await self._wait_for(self._desk.describe(question, literals, settings))
            case st.ExplainPlan():
                return PLAN
            case st.ShowOption(name):
                return _show_columns(name)
            case _:
                return None

    # Statements.

    async def _run(self, statement: st.Statement, literals: Sequence[str]) -> Reply:
        """Return what a statement is answered with."""
        transaction = self._transaction
        match statement:
            case st.End(commit=commit, chain=chain):
                return self._end(commit=commit, chain=chain)
            case st.Mark(act=act, name=name):
                return Reply(tag=transaction.mark(act, name))
        transaction.need_working()
        settings = transaction.settings
        match statement:
            case st.Ask(question):
                reply = await self._wait_for(self._desk.ask(question, literals, settings))
                self._forget_request()
                return reply
            case st.ExplainPlan(question, verbose):
                return await self._wait_for(self._desk.explain(question, literals, settings, verbose=verbose))
            case st.CopyOut(question, options):
                reply = await self._wait_for(self._desk.ask(question, literals, settings))
                self._forget_request()
                rows = 0 if reply.table is None else len(reply.table.rows)
                return Reply(tag=f"COPY {rows}", table=reply.table, notices=reply.notices, copy=options)
            case _:
                return await self._run_command(statement)

    async def _run_command(self, statement: st.Statement) -> Reply:
        match statement:
            case st.SetOption(name, value, local):
                return self._set(name, value, local=local)
            case st.ResetOption(name):
                return self._reset(name)
            case st.ShowOption(name):
                return await self._show(name)
            case st.Begin():
                self._transaction.begin()
                return Reply(tag="BEGIN")
            case st.Deallocate(name):
                return self._deallocate(name)
            case st.Discard(what):
                self._discard(what)
                return Reply(tag=f"DISCARD {what}")
            case st.Nothing(tag):
                return Reply(tag=tag)
            case _:
                raise refuse_violation("This statement is not expected here.")

    def _forget_request(self) -> None:
        """Forget the id that was set for one question, once it is answered."""
        if self._transaction.settings.ours.get("request"):
            self._set(f"{OURS}request", "", local=False)

    def _end(self, *, commit: bool, chain: bool) -> Reply:
        was_open = self._transaction.is_open
        tag = self._transaction.end(commit=commit)
        if chain and was_open:
            self._transaction.begin()
        return Reply(tag=tag, notices=((NO_REFUND, ""),) if tag == "ROLLBACK" and was_open else ())

    def _set(self, name: str, value: str | None, *, local: bool) -> Reply:
        transaction = self._transaction
        changed = transaction.settings.set(name, value)
        if local and not transaction.is_open:
            return Reply(
                tag="SET", notices=(("SET LOCAL has an effect within transactions only.", "write BEGIN before"),)
            )
        transaction.change(changed, None if local else transaction.kept.set(name, value))
        return Reply(tag="SET")

    def _reset(self, name: str | None) -> Reply:
        transaction = self._transaction
        if name is None:
            transaction.change(transaction.settings.reset(), transaction.kept.reset())
        else:
            transaction.change(transaction.settings.set(name, None), transaction.kept.set(name, None))
        return Reply(tag="RESET")

    async def _show(self, name: str | None) -> Reply:
        columns = _show_columns(name)
        settings = self._transaction.settings
        if name is None:
            return Reply(tag="SHOW", table=Table(columns=columns, rows=[(*pair, "") for pair in settings.list_all()]))
        own = name.removeprefix(OURS)
        if name.startswith(OURS) and own in READ_ONLY_NAMES:
            value = await self._wait_for(self._desk.find_account(own))
        else:
            value = settings.find(name)
        return Reply(tag="SHOW", table=Table(columns=columns, rows=[(value,)]))

    def _deallocate(self, name: str | None) -> Reply:
        if name is None:
            self._kept.statements.clear()
            return Reply(tag="DEALLOCATE ALL")
        self._find_statement(name)
        del self._kept.statements[name]
        return Reply(tag="DEALLOCATE")

    def _discard(self, what: str) -> None:
        if what == "ALL":
            if self._transaction.is_open:
                raise SqlRefusal.coded(
                    refusals.IN_TRANSACTION, "DISCARD ALL stands outside of transactions.", "write COMMIT"
                )
            self._kept.statements.clear()
            self._reset(None)

    async def _wait_for(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what a door answers, unless the client cancels: then the door goes on, and the client does not wait.

        When a client is told of its cancellation follows from the client alone, and from no run.
        """
        canceled = self._canceled = asyncio.Event()
        task = asyncio.ensure_future(work)
        self._keep_running(task)
        cancellation = asyncio.ensure_future(canceled.wait())
        try:
            await asyncio.wait((task, cancellation), return_when=asyncio.FIRST_COMPLETED)
        finally:
            cancellation.cancel()
            self._canceled = None
        if canceled.is_set():
            raise SqlRefusal.coded(
                refusals.CANCELED,
                "Nobody waits for this statement any more. A question that was paid for is answered and stored.",
                "send the same statement again on this connection, which is never paid for twice",
            )
        return task.result()

    # Replies.

    def _tell(self, reply: Reply) -> None:
        if self._transaction.settings.shows_notices:
            for message, hint in reply.notices:
                self._line.write(frames.write_notice(message, hint))

    async def _send_rows(self, table: Table, formats: Sequence[int], rows: Sequence[Sequence[Any]]) -> None:
        for number, row in enumerate(rows, 1):
            cells = [
                write_binary(cell, column.oid) if frames.format_at(formats, place) else write_text(cell)
                for place, (cell, column) in enumerate(zip(row, table.columns, strict=True))
            ]
            self._line.write(frames.write_row(cells))
            if number % ROWS_AT_ONCE == 0:
                await self._line.drain()

    async def _copy(self, reply: Reply) -> None:
        table, options = reply.table, reply.copy
        if table is None or options is None:
            return
        self._line.write(frames.write_copy_start(len(table.columns), binary=options.form is CopyFormat.BINARY))
        for number, row in enumerate(write_copy(table, options), 1):
            self._line.write(frames.frame(b"d", row))
            if number % ROWS_AT_ONCE == 0:
                await self._line.drain()
        self._line.write(frames.COPY_END)
        self._line.write(frames.write_done(reply.tag))


async def _split(text: str) -> list[StatementText]:
    """Return the statements of a text. The longest takes most of a second, in which others are answered."""
    if len(text) > MOST_SQL:
        raise SqlRefusal.coded(
            refusals.TOO_LARGE, f"The SQL is longer than {MOST_SQL} characters.", "ask for less at once"
        )
    return await asyncio.to_thread(split_statements, text) if len(text) >= LONG_TEXT else split_statements(text)


def _question_of(statement: st.Statement) -> StatementText | None:
    match statement:
        case st.Ask(question) | st.ExplainPlan(question):
            return question
        case _:
            return None


def _show_columns(name: str | None) -> tuple[PgColumn, ...]:
    if name is None:
        return PgColumn("name"), PgColumn("setting"), PgColumn("description")
    return (PgColumn(name),)


def _check_formats(portal: Portal) -> None:
    many = 0 if portal.columns is None else len(portal.columns)
    if len(portal.formats) not in (0, 1, many):
        raise refuse_violation("The formats of a Bind message fit to nothing.")


#: Messages that are passed over after an error, until Sync.
EXTENDED = (b"P", b"B", b"D", b"E", b"C", b"H")
HANDLERS: Mapping[bytes, Callable[[Conversation, bytes], Awaitable[None]]] = {
    b"Q": Conversation._query,  # noqa: SLF001 (a table of this module's own methods)
    b"P": Conversation._parse,  # noqa: SLF001
    b"B": Conversation._bind,  # noqa: SLF001
    b"D": Conversation._describe,  # noqa: SLF001
    b"E": Conversation._execute,  # noqa: SLF001
    b"C": Conversation._close,  # noqa: SLF001
    b"H": Conversation._flush,  # noqa: SLF001
    b"F": Conversation._call,  # noqa: SLF001
    **dict.fromkeys((b"d", b"c", b"f"), Conversation._ignore),  # noqa: SLF001
}
