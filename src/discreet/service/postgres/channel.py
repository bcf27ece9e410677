"""A connection as bytes: a buffer that ends, reading and writing with patience, and TLS in the middle of it.

Guarantee: at most so many bytes of a client wait in memory; and nothing that came before TLS is read after it, so that
nobody on the way puts words into the mouth of a client (as in CVE-2021-23222).
"""

import asyncio
import ssl
from collections.abc import Callable
from typing import cast

#: Bytes that wait in memory before a client has to; more only while one message is read.
MOST_WAITING = 64 * 1024


class ChannelClosed(ConnectionError):
    """The other side is gone."""


class Channel(asyncio.Protocol):
    """One connection. `begin` is called with it as soon as it is there."""

    def __init__(self, begin: Callable[["Channel"], None]) -> None:
        self._begin = begin
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._wanted, self._arrived = 0, asyncio.Event()
        self._ended = self._paused = self.has_tls = False
        self._writable = asyncio.Event()
        self._writable.set()

    # What asyncio calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self._transport = cast("asyncio.Transport", transport)
        self._begin(self)

    def data_received(self, data: bytes) -> None:
        """Keep what came."""
        self._buffer += data
        self._arrived.set()
        if len(self._buffer) > max(MOST_WAITING, self._wanted) and not self._paused:
            self._paused = True
            self._open.pause_reading()

    def eof_received(self) -> bool:
        """Tell readers that nothing more comes; what they were asked before is still answered."""
        self._end()
        return not self.has_tls

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell readers and writers that the other side is gone."""
        del exc
        self._end()
        self._writable.set()

    def pause_writing(self) -> None:
        """Have writers wait: the other side does not read."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let writers go on."""
        self._writable.set()

    # What a connection does.

    @property
    def peer(self) -> str:
        """The address of the other side."""
        name = self._open.get_extra_info("peername")
        return str(name[0]) if isinstance(name, tuple) and name else ""

    @property
    def is_waiting(self) -> bool:
        """Whether bytes are there that were not read."""
        return bool(self._buffer)

    async def read(self, size: int) -> bytes:
        """Return so many bytes."""
        self._wanted = size
        while len(self._buffer) < size:
            if self._ended:
                raise ChannelClosed
            self._arrived.clear()
            if self._paused:
                self._paused = False
                self._open.resume_reading()
            await self._arrived.wait()
        content = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._wanted = 0
        return content

    def write(self, content: bytes) -> None:
        """Send bytes, some time."""
        if not self._open.is_closing():
            self._open.write(content)

    async def drain(self, seconds: float) -> None:
        """Wait until the other side has read most of what was sent; cut it off if it does not."""
        try:
            async with asyncio.timeout(seconds):
                await self._writable.wait()
        except TimeoutError:
            self.abort()
        if self._open.is_closing():
            raise ChannelClosed

    async def start_tls(self, context: ssl.SSLContext, seconds: float) -> None:
        """Go on in TLS. Nothing may wait to be read."""
        loop = asyncio.get_running_loop()
        if self._paused:
            self._paused = False
            self._open.resume_reading()
        self.has_tls = True
        transport = await loop.start_tls(
            self._open, self, context, server_side=True, ssl_handshake_timeout=seconds, ssl_shutdown_timeout=1
        )
        if transport is None:
            raise ChannelClosed
        self._transport = transport

    def close(self) -> None:
        """Send what is left, and end."""
        self._open.close()

    def abort(self) -> None:
        """End at once."""
        self._open.abort()

    @property
    def _open(self) -> asyncio.Transport:
        if self._transport is None:
            raise ChannelClosed
        return self._transport

    def _end(self) -> None:
        self._ended = True
        self._arrived.set()
