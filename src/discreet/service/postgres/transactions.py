"""The state of a connection: its transaction, which only settings take part in, and its settings.

An answer that was paid for stays paid, whatever becomes of the transaction: ROLLBACK returns nothing.
"""

from dataclasses import dataclass, field

from discreet.service.postgres.refusals import ABORTED, NO_SAVEPOINT, NO_TRANSACTION, SqlRefusal
from discreet.service.postgres.settings import ConnectionSettings

IDLE, OPEN, BROKEN = b"I", b"T", b"E"
#: Savepoints of one transaction.
MOST_MARKS = 100


@dataclass(slots=True)
class Transaction:
    """Settings, and what COMMIT and ROLLBACK make of them."""

    settings: ConnectionSettings
    status: bytes = IDLE
    #: What settings were when the transaction began, and what COMMIT leaves: without those of SET LOCAL.
    _before: ConnectionSettings | None = None
    _kept: ConnectionSettings | None = None
    _marks: list[tuple[str, ConnectionSettings, ConnectionSettings | None]] = field(default_factory=list)

    @property
    def is_open(self) -> bool:
        """Whether a transaction was begun."""
        return self.status != IDLE

    def need_working(self) -> None:
        """Refuse statements in a transaction that has failed."""
        if self.status == BROKEN:
            raise SqlRefusal.coded(
                ABORTED, "The transaction has failed: statements are refused until its end.", "write ROLLBACK"
            )

    def begin(self) -> None:
        """Begin a transaction, unless one was begun."""
        if not self.is_open:
            self.status, self._before, self._kept = OPEN, self.settings, self.settings

    def end(self, *, commit: bool) -> str:
        """End the transaction; return the tag: a transaction that failed is rolled back in any case."""
        commits = commit and self.status != BROKEN
        if self.is_open and self._before is not None and self._kept is not None:
            self.settings = self._kept if commits else self._before
        self.status, self._before, self._kept = IDLE, None, None
        self._marks.clear()
        return "COMMIT" if commits else "ROLLBACK"

    def fail(self) -> None:
        """Remember that a statement failed."""
        if self.is_open:
            self.status = BROKEN

    def change(self, settings: ConnectionSettings, kept: ConnectionSettings | None) -> None:
        """Change settings; `kept` are those that outlive the transaction."""
        self.settings = settings
        if self.is_open and kept is not None:
            self._kept = kept

    @property
    def kept(self) -> ConnectionSettings:
        """The settings that outlive the transaction."""
        return self._kept or self.settings

    def mark(self, act: str, name: str) -> str:
        """Set, forget or return to a savepoint; return the tag."""
        if not self.is_open:
            raise SqlRefusal.coded(NO_TRANSACTION, "Savepoints stand within transactions.", "write BEGIN before")
        if act == "SAVEPOINT":
            self.need_working()
            if len(self._marks) >= MOST_MARKS:
                raise SqlRefusal.coded("54000", "There are too many savepoints.", "release some")
            self._marks.append((name, self.settings, self._kept))
            return act
        place = next((at for at in reversed(range(len(self._marks))) if self._marks[at][0] == name), None)
        if place is None:
            raise SqlRefusal.coded(
                NO_SAVEPOINT, "There is no such savepoint.", "name one that was set and not released"
            )
        if act == "RELEASE":
            self.need_working()
            del self._marks[place:]
            return act
        _, self.settings, self._kept = self._marks[place]
        del self._marks[place + 1 :]
        self.status = OPEN
        return "ROLLBACK"
