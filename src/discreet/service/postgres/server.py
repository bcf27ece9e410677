"""Serves the PostgreSQL face on a socket: who may connect, how patiently clients are waited for, and how it ends.

    face = PostgresFace(doors={"clinic": guarded_door}, people={"clinic": Registry(place)}, pay_off=frozenset())
    server = PostgresServer(face, PostgresListening(port=5433, certificate=…, key=…))
    await server.start()            # returns when it listens; `server.port` is the port
    …
    await server.close()            # takes no connection any more, and lets statements end for `drain_seconds`

All of it runs on one event loop. `start` also takes a socket that is bound already. Doors, and the registries of
people, belong to whoever made them, who closes them afterwards. Without a certificate the server listens on loopback
only, unless `require_tls` is False on purpose; with one, clients on other machines have to use TLS.

Guarantee: a client that is slow, silent, hostile or gone takes memory, time and a place from itself, and from others no
more than one of `connections` places.
"""

import asyncio
import socket
import ssl
from contextlib import suppress
from pathlib import Path
from typing import Any

from discreet.core import InvalidInput
from discreet.core.operator_log import tell_operator
from discreet.service.postgres import frames, refusals
from discreet.service.postgres.channel import Channel
from discreet.service.postgres.connection import Connection, ConnectionKey
from discreet.service.postgres.listening import PostgresFace, PostgresListening
from discreet.service.postgres.refusals import SqlRefusal, words_of
from discreet.service.postgres.scram import binding_of


class PostgresServer:
    """A server on a socket: `start` it, and `close` it."""

    def __init__(self, face: PostgresFace, listening: PostgresListening | None = None) -> None:
        self.face = face
        self.listening = listening or PostgresListening()
        self.tls: ssl.SSLContext | None = None
        #: What a channel is bound to by the certificate; None without TLS, or for certificates that have no such hash.
        self.binding: bytes | None = None
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], Channel] = {}
        self._by_key: dict[ConnectionKey, Connection] = {}
        self._running: set[asyncio.Task[Any]] = set()
        self._closing = False

    @property
    def port(self) -> int:
        """The port on which the server listens."""
        if self._server is None:
            return self.listening.port
        return int(self._server.sockets[0].getsockname()[1])

    async def start(self, listener: socket.socket | None = None) -> None:
        """Begin to listen: at the address, or on a socket that is bound to one."""
        if self.listening.certificate is not None and self.listening.key is not None:
            self.tls, self.binding = load_tls(self.listening.certificate, self.listening.key)
        loop = asyncio.get_running_loop()
        if listener is not None:
            self._server = await loop.create_server(self._build_channel, sock=listener, backlog=128)
            return
        listening = self.listening
        self._server = await loop.create_server(self._build_channel, listening.host, listening.port, backlog=128)

    async def close(self) -> None:
        """Listen no more, let statements end, and close connections. What still runs then ends at its door."""
        self._closing = True
        seconds = self.listening.drain_seconds
        if self._server is not None:
            self._server.close()
        await asyncio.gather(*(connection.stop(seconds) for connection in list(self._by_key.values())))
        if self._running:
            await asyncio.wait(list(self._running), timeout=seconds)
        if self._connections:
            await asyncio.wait(list(self._connections), timeout=1)
        for task, channel in list(self._connections.items()):
            task.cancel()
            with suppress(ConnectionError):
                channel.abort()
        if self._connections:
            await asyncio.wait(list(self._connections), timeout=1)

    def keep_running(self, task: asyncio.Task[Any]) -> None:
        """Remember a question that runs, also when nobody waits for it any more."""
        self._running.add(task)
        task.add_done_callback(self._forget_task)

    def register(self, connection: Connection) -> ConnectionKey:
        """Return a key of its own for a connection, by which it can be cancelled."""
        while (key := ConnectionKey.draw()) in self._by_key:
            pass
        self._by_key[key] = connection
        return key

    def unregister(self, key: ConnectionKey) -> None:
        """Forget a connection."""
        self._by_key.pop(key, None)

    def cancel(self, key: ConnectionKey) -> None:
        """Cancel what a connection waits for. Nobody is told whether there is such a connection."""
        connection = self._by_key.get(key)
        if connection is not None:
            connection.cancel()

    def _forget_task(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # which nobody waits for, if the client cancelled

    def _build_channel(self) -> Channel:
        return Channel(self._begin)

    def _begin(self, channel: Channel) -> None:
        peer, others = channel.peer, self._connections.values()
        many = len(others) >= self.listening.connections
        if (
            self._closing
            or many
            or sum(other.peer == peer for other in others) >= self.listening.connections_per_client
        ):
            channel.write(frames.write_error(words_of(_refuse_many())))
            channel.close()
            return
        task = asyncio.get_running_loop().create_task(self._serve(channel))
        self._connections[task] = channel
        task.add_done_callback(lambda done: self._connections.pop(done, None))

    async def _serve(self, channel: Channel) -> None:
        connection = Connection(self, channel)
        try:
            await connection.serve()
        except (ConnectionError, OSError, asyncio.CancelledError):
            pass
        except Exception as error:  # noqa: BLE001 (the edge of the service)
            tell_operator("A connection of the PostgreSQL face failed.", error)
        finally:
            with suppress(ConnectionError):
                channel.close()


def _refuse_many() -> SqlRefusal:
    return SqlRefusal.coded(
        refusals.TOO_MANY_CONNECTIONS, "There are too many connections.", "close some, or try again later", fatal=True
    )


def load_tls(certificate: Path, key: Path) -> tuple[ssl.SSLContext, bytes | None]:
    """Return how TLS is spoken, and the channel binding of the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
        first = certificate.read_text(encoding="ascii")
        begin = first.index("-----BEGIN CERTIFICATE-----")
        end = first.index("-----END CERTIFICATE-----") + len("-----END CERTIFICATE-----")
        binding = binding_of(ssl.PEM_cert_to_DER_cert(first[begin:end]))
    except (OSError, ValueError):
        raise InvalidInput(
            "The certificate of TLS or its key cannot be read.",
            fix="give two files in PEM, the key without a passphrase",
        ) from None
    return context, binding
