"""HTTP on a socket: slow clients and many connections are closed, and others are served meanwhile."""

import asyncio
import json
import socket
import time
from contextlib import AsyncExitStack, suppress

import pytest

pytest.importorskip("uvicorn", reason="discreet[service] is not installed")

from discreet.service.http.app import HttpFace, build_app
from discreet.service.http.messages import BodyLimits
from discreet.service.http.server import Listening, build_server
from discreet.service.people import Principal, Role

HEALTH = b"GET /v1/health HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n"
ADA = Principal(name="ada", role=Role.ANALYST)


class Anybody:
    """Everybody is Ada."""

    def authenticate(self, text):
        return ADA


class AnyDoor:
    """A door that is never reached."""


def served(test, **settings):
    """Run a test against a server on a free port."""

    async def run():
        face = HttpFace(doors={"clinic": AnyDoor()}, people={"clinic": Anybody()}, limits=BodyLimits(seconds=0.1))
        server = build_server(build_app(face), Listening(port=0, **settings))
        with socket.create_server(("127.0.0.1", 0)) as listener:
            task = asyncio.create_task(server.serve([listener]))
            try:
                async with asyncio.timeout(20), AsyncExitStack() as stack:
                    return await test(listener.getsockname()[1], stack)
            finally:
                server.should_exit = True
                await task

    return asyncio.run(run())


async def connect(port, stack):
    """Return a connection that is closed at the end."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    async def close():
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    stack.push_async_callback(close)
    return reader, writer


async def exchange(port, stack, content):
    """Send bytes, and return all that comes back; nothing, if the connection is cut."""
    reader, writer = await connect(port, stack)
    writer.write(content)
    with suppress(ConnectionError):
        return await reader.read()
    return b""


def test_a_client_that_sends_its_head_slowly_is_closed_and_others_are_served():
    async def test(port, stack):
        slow = [await connect(port, stack) for _ in range(20)]
        for _, writer in slow:
            writer.write(b"GET /v1/health HTTP/1.1\r\nHost: ")
        replies = [await exchange(port, stack, HEALTH) for _ in range(3)]
        return replies, [await reader.read() for reader, _ in slow]

    replies, ends = served(test, head_seconds=0.2)
    assert all(b"200 OK" in reply for reply in replies)
    assert ends == [b""] * 20


def test_one_byte_at_a_time_does_not_prolong_the_head():
    async def test(port, stack):
        reader, writer = await connect(port, stack)
        begun = time.monotonic()
        # What is sent after the end is answered by a reset, which is no end of the stream.
        while not reader.at_eof() and reader.exception() is None and time.monotonic() < begun + 5:
            writer.write(b"G")
            await asyncio.sleep(0.02)
        return time.monotonic() - begun

    assert served(test, head_seconds=0.2) < 4


def test_a_body_that_does_not_arrive_gets_408():
    head = b"POST /v1/datasets/clinic/ask HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer x\r\n"
    head += b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
    reply = served(lambda port, stack: exchange(port, stack, head))
    assert b" 408 " in reply.splitlines()[0]
    assert json.loads(reply.partition(b"\r\n\r\n")[2])["fix"]


def test_one_address_has_so_many_connections_and_no_more():
    async def test(port, stack):
        held = [await connect(port, stack) for _ in range(3)]
        one_more = await exchange(port, stack, HEALTH)
        held[0][1].close()
        await asyncio.sleep(0.05)
        return one_more, await exchange(port, stack, HEALTH)

    refused, after = served(test, connections_per_client=3)
    assert refused == b""
    assert b"200 OK" in after


def test_what_is_no_http_is_refused_and_names_no_software():
    replies = [
        served(lambda port, stack, sent=sent: exchange(port, stack, sent)) for sent in (b"\x16\x03\x01\r\n\r\n", HEALTH)
    ]
    assert b" 400 " in replies[0].splitlines()[0]
    assert all(b"uvicorn" not in reply.lower() for reply in replies)


def test_a_server_that_cannot_listen_does_not_wait_for_connections_for_ever():
    async def begin():
        server = build_server(build_app(HttpFace(doors={}, people={})), Listening(port=0))
        with socket.socket() as listener:  # it is closed before the server begins
            listener.close()
            async with asyncio.timeout(10):
                running = await server.begin(listener)
        return running.exception()

    assert isinstance(asyncio.run(begin()), (OSError, ValueError))
