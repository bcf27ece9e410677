"""One connection: TLS, the login, and then messages until the client leaves or is too slow.

Guarantee: before the proof of a token nothing but the login is done. Whoever fails to log in learns neither whether the
name is known nor whether the dataset exists. Whoever is revoked, or whose token is not valid any more, is refused from
the next statement on.
"""

import asyncio
import os
import ssl
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from discreet.service.people import Principal
from discreet.service.postgres import frames, refusals
from discreet.service.postgres.channel import Channel
from discreet.service.postgres.conversation import Conversation
from discreet.service.postgres.desk import Desk
from discreet.service.postgres.listening import Credentials, PostgresFace, PostgresListening
from discreet.service.postgres.refusals import SqlRefusal, refuse_violation, words_of
from discreet.service.postgres.scram import BOUND, PLAIN, ScramExchange, refuse_login
from discreet.service.postgres.settings import ConnectionSettings, begin_settings, reported_of
from discreet.service.tokens import ScramKeys

#: Bytes of a first message, and of one of the login.
LARGEST_STARTUP, LARGEST_LOGIN = 10_000, 4_096
#: Requests for TLS or GSS before the first message.
MOST_REQUESTS = 4


@dataclass(frozen=True, slots=True)
class ConnectionKey:
    """By what a client cancels: the number of a process, as it were, and a secret."""

    process: int
    secret: int

    @classmethod
    def draw(cls) -> "ConnectionKey":
        """Draw one."""
        return cls(int.from_bytes(os.urandom(4), "big") >> 1, int.from_bytes(os.urandom(4), "big"))


class Host(Protocol):
    """What a connection needs of its server."""

    face: PostgresFace
    listening: PostgresListening
    tls: ssl.SSLContext | None
    #: What a channel is bound to by the certificate.
    binding: bytes | None

    def register(self, connection: "Connection") -> ConnectionKey:
        """Return a key of its own for a connection."""
        ...

    def unregister(self, key: ConnectionKey) -> None:
        """Forget a connection."""
        ...

    def cancel(self, key: ConnectionKey) -> None:
        """Cancel what another connection waits for."""
        ...

    def keep_running(self, task: asyncio.Task[Any]) -> None:
        """Remember a question that runs, also when nobody waits for it any more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Login:
    """Who logged in, by which token, and what they said at first."""

    who: Principal
    startup: frames.Startup
    credentials: Credentials
    keys: ScramKeys

    @property
    def is_valid(self) -> bool:
        """Whether person and token are valid now: a token that leaked is of no use as soon as it is replaced."""
        name = self.who.name
        return (
            self.credentials.find_principal(name) == self.who
            and self.keys in self.credentials.scram_verifier(name).keys
        )


class Connection:
    """Serves one client from its first byte to its last."""

    def __init__(self, server: Host, channel: Channel) -> None:
        self._server, self._channel = server, channel
        self._conversation: Conversation | None = None
        self._idle = asyncio.Event()
        self._idle.set()

    def cancel(self) -> None:
        """Stop waiting for what runs now."""
        if self._conversation is not None:
            self._conversation.cancel()

    async def stop(self, seconds: float) -> None:
        """Let a statement end, tell the client that the server stops, and end."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._idle.wait()
        with suppress(ConnectionError):
            self._tell(
                SqlRefusal.coded(
                    refusals.STOPPING,
                    "The service stops.",
                    "connect again in a minute; an answer that was paid for is stored",
                    fatal=True,
                )
            )
            self._channel.close()

    # What a conversation writes to.

    def write(self, content: bytes) -> None:
        """Send bytes."""
        self._channel.write(content)

    async def drain(self) -> None:
        """Wait until the client has read most of them."""
        await self._channel.drain(self._server.listening.write_seconds)

    async def serve(self) -> None:
        """Serve the client until its end."""
        try:
            try:
                async with asyncio.timeout(self._server.listening.login_seconds):
                    logged_in = await self._log_in()
            except TimeoutError:
                return
            except ssl.SSLError:
                return
            if logged_in is not None:
                await self._converse(logged_in)
        except SqlRefusal as error:
            self._tell(error)

    def _tell(self, error: SqlRefusal) -> None:
        self._channel.write(frames.write_error(words_of(error)))

    # The login.

    async def _log_in(self) -> "_Login | None":
        """Return who logged in, and what they said at first; None for a client that only cancels."""
        startup = await self._read_startup()
        if startup is None:
            return None
        if self._server.listening.needs_tls and not self._channel.has_tls:
            raise SqlRefusal.coded(
                refusals.NO_LOGIN, "Only connections with TLS are served.", "connect with sslmode=require", fatal=True
            )
        if startup.minor > frames.MINOR or startup.extensions:
            self.write(frames.write_negotiation(startup.extensions))
        name, dataset = startup.parameters.get("user", ""), _dataset_of(startup)
        credentials = self._server.face.credentials_for(dataset)
        keys = await self._prove(ScramExchange(credentials.scram_verifier(name), self._binding))
        who = credentials.find_principal(name)
        if who is None:
            raise refuse_login()
        return _Login(who=who, startup=startup, credentials=credentials, keys=keys)

    @property
    def _binding(self) -> bytes | None:
        return self._server.binding if self._channel.has_tls else None

    async def _read_startup(self) -> frames.Startup | None:
        for _ in range(MOST_REQUESTS):
            size = int.from_bytes(await self._channel.read(4), "big")
            if not 8 <= size <= LARGEST_STARTUP:
                raise refuse_violation("The first message has an impossible size.")
            content = await self._channel.read(size - 4)
            code = int.from_bytes(content[:4], "big")
            match code:
                case frames.CANCEL:
                    self._cancel_other(content[4:])
                    return None
                case frames.TLS:
                    await self._answer_tls()
                case frames.GSS:
                    self.write(b"N")
                case _ if code >> 16 == frames.MAJOR:
                    return frames.read_startup(code, content[4:])
                case _:
                    raise SqlRefusal.coded(
                        refusals.NOT_SUPPORTED, "This protocol is not spoken here.", "use protocol 3.0", fatal=True
                    )
        raise refuse_violation("The first message does not come.")

    async def _answer_tls(self) -> None:
        if self._server.tls is None or self._channel.has_tls:
            self.write(b"N")
            return
        if self._channel.is_waiting:
            raise refuse_violation("Something was sent before TLS began.")
        self.write(b"S")
        await self._channel.start_tls(self._server.tls, self._server.listening.login_seconds)

    def _cancel_other(self, content: bytes) -> None:
        body = frames.Body(content)
        key = ConnectionKey(body.oid(), body.oid())
        body.finish()
        self._server.cancel(key)

    async def _prove(self, exchange: ScramExchange) -> ScramKeys:
        """Have the client prove that it has a token of the name it gave; return the keys of that token."""
        offered = [PLAIN] if self._binding is None else [BOUND, PLAIN]
        self.write(frames.write_authentication(10, b"".join(map(frames.zero_ended, offered)) + b"\0"))
        mechanism, first = frames.read_sasl_choice(await self._read_login())
        self.write(frames.write_authentication(11, exchange.begin(mechanism, first)))
        proof = exchange.finish(await self._read_login())
        if exchange.proved is None:
            raise refuse_login()
        self.write(frames.write_authentication(12, proof))
        return exchange.proved

    async def _read_login(self) -> bytes:
        kind, content = await self._read_frame(LARGEST_LOGIN)
        if kind != b"p":
            raise refuse_violation("A message of the login is expected.")
        return content

    # Messages.

    async def _converse(self, login: "_Login") -> None:
        face, who, startup = self._server.face, login.who, login.startup
        dataset = _dataset_of(startup)
        door = face.doors.get(dataset)
        if door is None:
            names = ", ".join(sorted(face.doors))
            raise SqlRefusal.coded(
                refusals.NO_DATASET, "There is no such dataset.", f"connect to one of: {names}", fatal=True
            )
        face.arrived[dataset] += 1
        settings = _begin(startup, who.name, pays=face.pays(who))
        self._conversation = Conversation(
            Desk(who, dataset, door, face.catalogue), settings, self, self._server.keep_running
        )
        key = self._server.register(self)
        try:
            self.write(frames.write_authentication(0))
            for name, value in reported_of(settings).items():
                self.write(frames.write_setting(name, value))
            self.write(frames.write_key(key.process, key.secret) + frames.write_ready(b"I"))
            await self._answer_messages(self._conversation, login)
        finally:
            self._server.unregister(key)

    async def _answer_messages(self, conversation: Conversation, login: "_Login") -> None:
        listening = self._server.listening
        while True:
            await self.drain()
            await asyncio.sleep(0)  # others have their turn, however many messages wait here
            try:
                async with asyncio.timeout(listening.idle_seconds):
                    kind = await self._channel.read(1)
            except TimeoutError:
                raise SqlRefusal.coded(
                    refusals.TOO_IDLE, "The connection was idle for too long.", "connect again", fatal=True
                ) from None
            try:
                async with asyncio.timeout(listening.message_seconds):
                    content = await self._read_content(listening.largest)
            except TimeoutError:
                raise refuse_violation("A message did not arrive in time.") from None
            if kind == b"X":
                return
            if not login.is_valid:
                raise SqlRefusal.coded(
                    refusals.NO_LOGIN, "The login is not valid any more.", "ask the steward for a token", fatal=True
                )
            self._idle.clear()
            try:
                await conversation.answer(kind, content)
            finally:
                self._idle.set()

    async def _read_frame(self, largest: int) -> tuple[bytes, bytes]:
        return await self._channel.read(1), await self._read_content(largest)

    async def _read_content(self, largest: int) -> bytes:
        size = int.from_bytes(await self._channel.read(4), "big")
        if size < 4:
            raise refuse_violation("A message has an impossible size.")
        if size > largest:
            raise SqlRefusal.coded(
                refusals.TOO_LARGE, f"A message has more than {largest} bytes.", "ask for less at once", fatal=True
            )
        return await self._channel.read(size - 4)


def _dataset_of(startup: frames.Startup) -> str:
    return startup.parameters.get("database") or startup.parameters.get("user", "")


def _begin(startup: frames.Startup, name: str, *, pays: bool) -> ConnectionSettings:
    """Return the settings of a new connection; one that cannot be read ends it."""
    try:
        return begin_settings(startup.parameters, name, pays=pays)
    except SqlRefusal as error:
        error.fatal = True
        raise
