"""Frames: messages between a front and a worker, over two pipes. A length of four bytes, then a JSON object.

front → worker   ask, batch      a question, for whom and under which request id
                 store           the run may end: its answer is stored now
worker → front   facts           what is public, as soon as the tables are open
                 ready           the rows are read
                 began           a run begins: its entry in the ledger, and its public amount of work
                 computed        the run is done, or has failed; it waits for `store`
                 reply, refused  the outcome of the question
"""

import asyncio
import json
import os
from dataclasses import dataclass
from typing import Any, Self

from discreet.core.untrusted_text import read_json
from discreet.service.words import MOST_BYTES

#: Bytes of the length before a frame.
HEAD = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One message."""

    kind: str
    fields: dict[str, Any]

    def to_bytes(self) -> bytes:
        """Return the frame as it goes through a pipe."""
        body = json.dumps({"kind": self.kind, **self.fields}, separators=(",", ":")).encode()
        return len(body).to_bytes(HEAD, "big") + body

    @classmethod
    def from_body(cls, body: bytes) -> Self:
        """Return the frame that a body says."""
        fields = read_json(body)
        return cls(kind=fields.pop("kind"), fields=fields)


class Pipe:
    """The worker's end: two file descriptors, read and written by one thread."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = os.fdopen(reading, "rb"), os.fdopen(writing, "wb")

    def send(self, kind: str, **fields: Any) -> None:
        """Send a frame."""
        self._writing.write(Frame(kind=kind, fields=fields).to_bytes())
        self._writing.flush()

    def read(self) -> Frame | None:
        """Return the next frame; None when the other end is closed."""
        head = self._reading.read(HEAD)
        if len(head) < HEAD:
            return None
        size = int.from_bytes(head, "big")
        body = self._reading.read(size)
        return Frame.from_body(body) if len(body) == size else None


async def read_frame(reader: asyncio.StreamReader) -> Frame | None:
    """Return the next frame of a worker; None if the worker is gone, or says what is no frame."""
    try:
        size = int.from_bytes(await reader.readexactly(HEAD), "big")
        return Frame.from_body(await reader.readexactly(size)) if size <= MOST_BYTES else None
    except (asyncio.IncompleteReadError, OSError, ValueError, KeyError):
        return None
