"""Serves the HTTP face on uvicorn: loopback unless told otherwise, TLS by files, and patience that ends.

A client that sends the head of a request slowly, or holds many connections, takes these from itself and not from
others. uvicorn writes no access log: what was asked is in the audit log.
"""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Bytes of the head of a request.
LARGEST_HEAD = 32 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where HTTP is served, and how patiently."""

    host: str = "127.0.0.1"
    port: int = 8417
    #: Files of a TLS certificate and its key, in PEM; without them, put a proxy with TLS in front.
    certificate: Path | None = None
    key: Path | None = None
    #: Seconds for the head of a request, for a connection without one, and for the last replies at the end.
    head_seconds: float = 10.0
    idle_seconds: int = 30
    drain_seconds: int = 4
    #: Connections of one address, and of all together. Behind a proxy all come from one address.
    connections_per_client: int = 200
    connections: int = 2000


class PatientProtocol(H11Protocol):
    """HTTP/1.1 for clients that send the head of a request in time, and do not hold all connections."""

    listening: ClassVar[Listening] = Listening()
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's own
        """Begin to wait for a request; close at once what is one connection too many."""
        super().connection_made(transport)
        # Head and body are two packets, and the second would wait 40 ms for the first to be acknowledged. asyncio sees
        # to that for sockets of its own, but not for one that was handed over.
        with suppress(OSError):  # of a socket that is none of TCP
            transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._is_too_many():
            transport.abort()
            return
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Read what came; as long as it is no whole head, the time for it goes on."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._deadline is None:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _is_too_many(self) -> bool:
        address = None if self.client is None else self.client[0]
        others = [one.client for one in self.connections if isinstance(one, H11Protocol)]
        same = sum(other is not None and other[0] == address for other in others)
        return len(others) > self.listening.connections or same > self.listening.connections_per_client

    def _expect_head(self) -> None:
        self._deadline = self.loop.call_later(self.listening.head_seconds, self._close_late)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _close_late(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self.transport.close()


class HttpServer(uvicorn.Server):
    """A server that leaves signals to whoever started it: set `should_exit`, and it drains and ends."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        #: Set as soon as connections are taken.
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to take connections."""
        await super().startup(sockets)
        self.ready.set()

    async def begin(self, listener: socket.socket) -> asyncio.Task[None]:
        """Serve on a socket, and return the task of it as soon as connections are taken, or it has failed."""
        running = asyncio.create_task(self.serve([listener]))
        ready = asyncio.create_task(self.ready.wait())
        await asyncio.wait({running, ready}, return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        return running

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def build_server(app: ASGIApp, listening: Listening) -> HttpServer:
    """Return a server; its `serve()` runs until `should_exit` is set."""
    protocol = type("BoundProtocol", (PatientProtocol,), {"listening": listening})
    config = uvicorn.Config(
        app,
        host=listening.host,
        port=listening.port,
        http=protocol,
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=listening.idle_seconds,
        timeout_graceful_shutdown=listening.drain_seconds,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        ssl_certfile=None if listening.certificate is None else str(listening.certificate),
        ssl_keyfile=None if listening.key is None else str(listening.key),
    )
    return HttpServer(config)
