"""Questions of a connection: asked at a door with the connection's settings, and answered with tables and notices.

A question gets a request id of its own, which is kept until it is answered: the same statement on the same connection
goes on under the same id, so that a question that failed, was late or was cancelled is not paid for twice.
"""

import asyncio
import os
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Protocol, TypeVar

from discreet.core import DiscreetError, InvalidInput
from discreet.core.untrusted_text import read_fraction
from discreet.service.guarded_door import GuardedDoor
from discreet.service.people import Principal
from discreet.service.postgres.copies import CopyOptions
from discreet.service.postgres.parameters import blank_literals, fill, infer_types
from discreet.service.postgres.refusals import BAD_PARAMETER, NOT_SUPPORTED, SQLSTATES, SqlRefusal
from discreet.service.postgres.settings import OURS, ConnectionSettings
from discreet.service.postgres.values import TEXT, TYPES, Cell, PgColumn, Table, fit_cell
from discreet.service.postgres.words import PieceKind, StatementText
from discreet.service.refusals import NotYet, PaymentOff, Refusal
from discreet.service.words import AnswerReply, Asked, SchemaReply, write_text

T = TypeVar("T")

#: Decimals of an amount that is shown with a point.
MOST_DECIMALS = 12
#: Questions whose request ids are kept until they are answered.
MOST_OPEN = 64
NO_PRICE = "Pass exactly one of epsilon, rho and within; neither"
HOW_TO_PAY = (
    "SET discreet.epsilon = 0.1; or options='-c discreet.epsilon=0.1' when connecting; or /*+ discreet epsilon=0.1 */ "
    "before SELECT; rho and within in the same way. EXPLAIN SELECT … shows price and error, free"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a statement is answered with: its tag, a table if it has one, and notices with their hints."""

    tag: str
    table: Table | None = None
    notices: tuple[tuple[str, str], ...] = ()
    copy: CopyOptions | None = None


class Catalogue(Protocol):
    """What answers questions about pg_catalog and information_schema, from public facts alone."""

    async def take_turn(self, who: str, act: Callable[[], T]) -> T:
        """Return what an act returns, in a thread of the catalogue; one person has one of them at a time."""
        ...

    @property
    def kinds(self) -> Mapping[str, str]:
        """What the columns of its tables hold, by name."""
        ...

    def is_about(self, question: StatementText, schema: SchemaReply) -> bool:
        """Tell whether a question is one about the catalogue, and none about declared tables."""
        ...

    async def answer(self, sql: str, schema: SchemaReply, settings: Mapping[str, str]) -> Table:
        """Return what the catalogue says, or refuse what it does not know."""
        ...


class Desk:
    """Asks for one person at one dataset."""

    def __init__(self, who: Principal, dataset: str, door: GuardedDoor, catalogue: Catalogue | None) -> None:
        self.who, self.dataset = who, dataset
        self._door, self._catalogue = door, catalogue
        self._schema: SchemaReply | None = None
        self._open: OrderedDict[bytes, str] = OrderedDict()

    async def ask(self, question: StatementText, literals: Sequence[str], settings: ConnectionSettings) -> Reply:
        """Return the answer to a question, paid for once; or what the catalogue says."""
        if await self._is_catalogue(question):
            table = await self._look(question, literals, settings)
            return Reply(tag=f"SELECT {len(table.rows)}", table=table)
        sql = fill(question, literals)
        asked = _build_question(question, sql, settings)
        key = write_text(asked)
        request = asked.request or self._open.setdefault(key, f"pg-{os.urandom(16).hex()}")
        self._forget()
        try:
            answer = await self._door.ask(self.who, replace(asked, request=request))
        except DiscreetError as error:
            raise refine(error, question, literals, request) from None
        self._open.pop(key, None)
        return Reply(tag=f"SELECT {len(answer.table.rows)}", table=read_table(answer), notices=_list_notices(answer))

    async def explain(
        self, question: StatementText, literals: Sequence[str], settings: ConnectionSettings, *, verbose: bool
    ) -> Reply:
        """Return the preview of a question; with `verbose`, its explanation. Both are free."""
        if await self._is_catalogue(question):
            lines: Sequence[str] = ("The catalogue answers this from public facts; it is free.",)
        else:
            sql = fill(question, literals)
            asked = _build_question(question, sql, settings)
            try:
                if verbose:
                    lines = await self._door.explain(self.who, asked)
                else:
                    lines = (await self._door.preview(self.who, asked)).lines
            except DiscreetError as error:
                raise refine(error, question, literals, "") from None
        table = Table(columns=PLAN, rows=[(line,) for line in lines])
        return Reply(tag="EXPLAIN", table=table)

    async def describe(
        self, question: StatementText, literals: Sequence[str], settings: ConnectionSettings
    ) -> tuple[PgColumn, ...]:
        """Return the columns of an answer, free and before any price."""
        if await self._is_catalogue(question):
            return (await self._look(question, literals, settings)).columns
        sql = fill(question, literals)
        matches = _build_question(question, sql, settings).matches
        try:
            columns = await self._door.shape(self.who, sql, bars=True, matches=matches)
        except DiscreetError as error:
            raise refine(error, question, literals, "") from None
        return tuple(PgColumn(column.name, TYPES.get(column.kind, TEXT)) for column in columns)

    async def find_types(self, question: StatementText, declared: Sequence[int]) -> tuple[int, ...]:
        """Return the types of a statement's parameters."""
        if not question.parameters:
            return ()
        schema = await self._need_schema()
        kinds = {column.name.lower(): column.kind for table in schema.tables for column in table.columns}
        if self._catalogue is not None and await self._is_catalogue(question):
            kinds = {**self._catalogue.kinds}
        return await asyncio.to_thread(infer_types, question, declared, kinds)

    async def find_account(self, name: str) -> str:
        """Return what SHOW discreet.left and SHOW discreet.account say."""
        account = await self._door.account(self.who)
        return account.words if name == "account" else show_amount(account.left or "")

    async def _look(self, question: StatementText, literals: Sequence[str], settings: ConnectionSettings) -> Table:
        if self._catalogue is None:
            raise SqlRefusal.coded(NOT_SUPPORTED, "There is no catalogue here.", "ask about the declared tables")
        known = {"user": self.who.name, "database": self.dataset, **dict(settings.list_all())}
        return await self._catalogue.answer(fill(question, literals, plain=False), await self._need_schema(), known)

    async def _is_catalogue(self, question: StatementText) -> bool:
        if self._catalogue is None or not _may_be_catalogue(question):
            return False
        act = partial(self._catalogue.is_about, question, await self._need_schema())
        return await self._catalogue.take_turn(self.who.name, act)

    async def _need_schema(self) -> SchemaReply:
        if self._schema is None:
            self._schema = await self._door.schema(self.who)
        return self._schema

    def _forget(self) -> None:
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)


PLAN = (PgColumn("QUERY PLAN", TEXT),)


def blanks_of(oids: Sequence[int]) -> list[str]:
    """Return literals for a description before values are known."""
    return blank_literals(oids)


def _may_be_catalogue(question: StatementText) -> bool:
    """Tell whether a text may be about the catalogue: it names something of it, or no table at all."""
    words = [
        piece.text.strip('"').lower() for piece in question.words if piece.kind in (PieceKind.WORD, PieceKind.NAME)
    ]
    named = any(word.startswith("pg_") or word == "information_schema" for word in words)
    return named or "from" not in words


def _build_question(question: StatementText, sql: str, settings: ConnectionSettings) -> Asked:
    """Return a question with the options of the connection, of hints, and without a price if its text has one."""
    words = [piece.upper for piece in question.words[:40]]
    own = words[1:3] == ["WITH", "DIFFERENTIAL_PRIVACY"] and "EPSILON" in words
    return (settings.without_price() if own else settings).with_hints(question.hints).asked(sql, None)


def refine(error: DiscreetError, question: StatementText, literals: Sequence[str], request: str) -> DiscreetError:
    """Return an error with what to do about it in SQL, and where in the text it is."""
    if isinstance(error, NotYet):
        return SqlRefusal.coded(
            SQLSTATES["NotYet"],
            error.problem,
            "send the same statement again on this connection, which is free; on another one, first "
            f"SET {OURS}request = '{request}'. The next slot takes {error.seconds} seconds",
        )
    if isinstance(error, PaymentOff):
        fix = f"SET {OURS}pay = on; or ask for an answer that is stored, at the same price"
        return SqlRefusal.coded(SQLSTATES["PaymentOff"], error.problem, fix)
    if isinstance(error, InvalidInput) and error.problem.startswith(NO_PRICE):
        return SqlRefusal.coded(BAD_PARAMETER, "No price is set: an answer about people costs ε or ρ.", HOW_TO_PAY)
    refusal = Refusal.of(error)
    if refusal.line and not literals:
        lines = question.text.splitlines(keepends=True)[: refusal.line]
        at = sum(map(len, lines[:-1])) + refusal.column
        return SqlRefusal.coded(
            SQLSTATES.get(refusal.kind, "42000"), refusal.problem, refusal.fix, position=question.start + at
        )
    return error


def read_table(answer: AnswerReply) -> Table:
    """Return the table of an answer in PostgreSQL's types."""
    columns = tuple(PgColumn(column.name, TYPES.get(column.kind, TEXT)) for column in answer.table.columns)
    return Table(columns=columns, rows=answer.table.rows)


def fit_table(table: Table, columns: tuple[PgColumn, ...]) -> Table:
    """Return a table with the columns that were told before; what it has not of them is NULL."""
    places = {column.name: place for place, column in enumerate(table.columns)}
    if len(columns) == len(table.columns):
        order: list[int | None] = list(range(len(columns)))
    else:
        order = [places.get(column.name) for column in columns]
    rows: list[tuple[Cell, ...]] = [
        tuple(
            None if place is None else fit_cell(row[place], column.oid)
            for place, column in zip(order, columns, strict=True)
        )
        for row in table.rows
    ]
    return Table(columns=columns, rows=rows)


def _list_notices(answer: AnswerReply) -> tuple[tuple[str, str], ...]:
    left = "" if answer.left is None else f"left: {show_amount(answer.left)}"
    return ((answer.caption, left), *((note, "") for note in answer.notes))


def show_amount(text: str) -> str:
    """Return an exact amount with a decimal point, if it has few decimals; or else as it is: 29/10 is 2.9."""
    number = read_fraction(text) if text else Fraction(0)
    for places in range(MOST_DECIMALS + 1):
        scaled = number * 10**places
        if text and scaled.denominator == 1:
            whole, part = divmod(abs(int(scaled)), 10**places)
            sign = "-" if number < 0 else ""
            return f"{sign}{whole}" + (f".{part:0{places}}" if places else "")
    return text
