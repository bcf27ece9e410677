"""Reading entries by SQL that SQLite and PostgreSQL have in common."""

from collections.abc import Callable, Iterator
from typing import Any

from discreet.gate.entries.chain import LedgerEntry, damage_error
from discreet.gate.stores.protocol import NEWEST, Keys

#: Rows of a query with ? for its arguments.
Rows = Callable[..., list[tuple[Any, ...]]]
#: As many rows are fetched at once: nothing is locked for long, and memory stays small.
PAGE = 5000


class SqlLedgerReader:
    """Entries of one ledger, by whatever runs a query."""

    def __init__(self, rows: Rows, check: str | None = None) -> None:
        #: `check` says "ok" if all is well.
        self._rows, self._check = rows, check

    def newest(self) -> LedgerEntry | None:
        """Return the last entry."""
        return self._entry("select number, body, head from entries order by number desc limit 1")

    def entry(self, number: int) -> LedgerEntry | None:
        """Return one entry."""
        return self._entry("select number, body, head from entries where number = ?", number)

    def entries(self, after: int) -> Iterator[LedgerEntry]:
        """Return all entries after a number, in order."""
        pages = "select number, body, head from entries where number > ? order by number limit ?"
        for number, body, head in self._read_pages(pages, after):
            yield LedgerEntry(number, _blob(body), _blob(head))

    def last_checkpoint(self, most: int = NEWEST) -> int | None:
        """Return the number of the last checkpoint, of those up to a number."""
        return self._number("select max(number) from entries where kind = 'checkpoint' and number <= ?", most)

    def payment_of(self, request: str) -> int | None:
        """Return the number of the payment of a request."""
        return self._number("select number from entries where kind = 'payment' and request = ?", request)

    def copy_of(self, request: str) -> int | None:
        """Return the number of the copy that was made for a request."""
        return self._number("select number from entries where kind = 'copy' and request = ?", request)

    def copies_of(self, payment: int) -> list[int]:
        """Return the numbers of all copies of a payment's answer, in order."""
        rows = self._rows("select number from entries where kind = 'copy' and payment = ? order by number", payment)
        return [number for (number,) in rows]

    def release_of(self, payment: int, step: int = 0) -> int | None:
        """Return the number of the release of a payment, or of a later step of it."""
        if not step:
            return self._number("select number from entries where kind = 'release' and payment = ?", payment)
        query = "select number from entries where kind = 'continuation' and payment = ? and request = ?"
        return self._number(query, payment, str(step))

    def continuations(self, payment: int) -> int:
        """Return the number of steps of a payment that were answered after the first."""
        query = "select count(*) from entries where kind = 'continuation' and payment = ?"
        return self._number(query, payment) or 0

    def payments_of_plan(self, plan: str) -> Iterator[int]:
        """Return the released payments of a plan, oldest first."""
        pages = (
            "select paid.number from entries paid join entries given on given.payment = paid.number "
            "and given.kind = 'release' where paid.kind = 'payment' and paid.number > ? and paid.plan = ? "
            "order by paid.number limit ?"
        )
        return (number for (number,) in self._read_pages(pages, 0, plan))

    def list_unanswered(self, plan: str) -> Iterator[int]:
        """Return the payments of a plan that have no release, oldest first."""
        pages = (
            "select number from entries paid where kind = 'payment' and number > ? and plan = ? and not exists "
            "(select 1 from entries given where given.kind = 'release' and given.payment = paid.number) "
            "order by number limit ?"
        )
        return (number for (number,) in self._read_pages(pages, 0, plan))

    def recent_payments(self, count: int) -> list[int]:
        """Return the numbers of the last payments and copies, newest first."""
        query = "select number from entries where kind in ('payment', 'copy') order by number desc limit ?"
        return [number for (number,) in self._rows(query, count)]

    def list_unreleased(self) -> Iterator[int]:
        """Return the payments that have no release, in order."""
        pages = (
            "select number from entries paid where kind = 'payment' and number > ? and not exists "
            "(select 1 from entries given where given.kind = 'release' and given.payment = paid.number) "
            "order by number limit ?"
        )
        return (number for (number,) in self._read_pages(pages, 0))

    def answer(self, release: int) -> bytes | None:
        """Return the answer stored with a release."""
        rows = self._rows("select answer from answers where number = ?", release)
        return _blob(rows[0][0]) if rows else None

    def charge_of(self, payment: int) -> int | None:
        """Return the number of the last entry that charged persons for a payment."""
        return self._number("select max(number) from entries where kind = 'charge' and payment = ?", payment)

    def charges_of(self, payment: int) -> list[int]:
        """Return the numbers of all entries that charged persons for a payment, in order."""
        query = "select number from entries where kind = 'charge' and payment = ? order by number"
        return [number for (number,) in self._rows(query, payment)]

    def people(self, number: int, most: int | None = None) -> bytes | None:
        """Return the persons stored beside a charge or a snapshot; the first bytes, if so many are enough."""
        if most is None:
            rows = self._rows("select piece from pieces where number = ? order by part", number)
            return b"".join(_blob(piece) for (piece,) in rows) if rows else None
        pieces: list[bytes] = []
        while most > 0:
            rows = self._rows("select piece from pieces where number = ? and part = ?", number, len(pieces))
            if not rows:
                break
            pieces.append(_blob(rows[0][0])[:most])
            most -= len(pieces[-1]) or most
        return b"".join(pieces) if pieces else None

    def whole(self) -> bool:
        """Tell whether the store finds its own files in order."""
        return self._check is None or self._rows(self._check) == [("ok",)]

    def read_with_keys(self, after: int) -> Iterator[tuple[LedgerEntry, Keys]]:
        """Return all entries after a number with the keys they are found by."""
        pages = (
            "select number, body, head, kind, request, plan, payment from entries where number > ? "
            "order by number limit ?"
        )
        for number, body, head, kind, request, plan, payment in self._read_pages(pages, after):
            yield LedgerEntry(number, _blob(body), _blob(head)), Keys(kind, request, plan, payment)

    def _read_pages(self, query: str, after: int, *arguments: object) -> Iterator[tuple[Any, ...]]:
        while page := self._rows(query, after, *arguments, PAGE):
            yield from page
            after = page[-1][0]

    def _entry(self, query: str, *arguments: object) -> LedgerEntry | None:
        rows = self._rows(query, *arguments)
        return LedgerEntry(rows[0][0], _blob(rows[0][1]), _blob(rows[0][2])) if rows else None

    def _number(self, query: str, *arguments: object) -> int | None:
        rows = self._rows(query, *arguments)
        number = rows[0][0] if rows else None
        return None if number is None else int(number)


def _blob(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise damage_error("A row has something else where bytes should be.")
    return value
