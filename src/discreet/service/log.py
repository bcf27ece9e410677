"""Logs of the service: who asked what, for auditors; and details of failures, for the operator alone.

The audit log is written when a request arrives, and says nothing of how it ended: an ending may depend on rows. What
was paid and released is in the ledger. Both files are private to their owner.
"""

import json
import logging
import os
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from discreet.core import DiscreetError, NotReady
from discreet.core.operator_log import tell_operator
from discreet.core.private_files import PRIVATE_FOLDER, open_private
from discreet.service.people import Principal

#: Bytes of an audit log, after which it is set aside and another begun.
LARGEST = 64 << 20
#: Requests that are kept at hand, for auditors who ask through the service.
AT_HAND = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """One request, as it arrived."""

    at: str
    who: str
    role: str
    dataset: str
    act: str
    #: What was asked, and under which id; empty where nothing was.
    sql: tuple[str, ...] = ()
    request: str = ""
    #: The price as it was offered, such as `epsilon 0.1`; empty if none was.
    price: str = ""


class AuditLog:
    """Requests in the order in which they arrived, as lines of JSON in a private file; without one, in memory alone."""

    def __init__(self, place: Path | None, *, clock: Callable[[], float] = time.time) -> None:
        self.place = place
        self._clock = clock
        self._recent: deque[AuditEvent] = deque(maxlen=AT_HAND)

    def record(
        self,
        who: Principal,
        dataset: str,
        act: str,
        *,
        sql: tuple[str, ...] = (),
        request: str = "",
        price: str = "",
    ) -> None:
        """Write down a request before anything is done for it; what cannot be written down is refused."""
        event = AuditEvent(
            at=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._clock())),
            who=who.name,
            role=who.role.value,
            dataset=dataset,
            act=act,
            sql=sql,
            request=request,
            price=price,
        )
        if self.place is not None and not self._append(self.place, event):
            raise NotReady(
                "The request could not be written to the audit log, so that nothing was done.",
                fix="ask the steward to look at the operator's log",
            )
        self._recent.append(event)

    def list_recent(self, most: int) -> tuple[AuditEvent, ...]:
        """Return the last requests that this process has written down, newest first."""
        return tuple(reversed(self._recent))[:most]

    def _append(self, place: Path, event: AuditEvent) -> bool:
        line = json.dumps(asdict(event), ensure_ascii=True).encode("ascii") + b"\n"
        try:
            handle = open_private(place, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            try:
                whole = os.write(handle, line) == len(line)
                large = os.fstat(handle).st_size > LARGEST
            finally:
                os.close(handle)
            if large:
                place.replace(place.with_name(f"{place.name}.{int(self._clock())}"))
        except (OSError, DiscreetError) as error:
            tell_operator("The audit log could not be written.", error)
            return False
        return whole


class OperatorFile(logging.Handler):
    """Appends records of the operator's log to a file that only its owner may read."""

    def __init__(self, place: Path) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
        self.place = place

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; a log that fails has nothing to tell."""
        with suppress(Exception):
            self.place.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
            handle = open_private(self.place, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            with os.fdopen(handle, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{self.format(record)}\n")
