"""Hostile frames against the PostgreSQL face: it answers or closes, tells nothing of its inside, and serves others."""

import os
import random
import struct
import time

import pytest

from service_postgres import (
    RawClient,
    ScriptedDoor,
    bind,
    describe,
    error_of,
    execute,
    frame,
    kinds_of,
    parse,
    serve_postgres,
    startup,
)

QUESTION = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
#: What no reply has: words of Python, of libraries and of this machine.
INSIDE = (b"Traceback", b"Error(", b"sqlglot", b"duckdb", b"/src/", b"object at 0x", b"asyncio")
#: What clients send after the login, to be bent.
HONEST = (
    frame(b"Q", f"{QUESTION}; SHOW ALL; SELECT relname FROM pg_class\0".encode()),
    frame(b"Q", b"BEGIN; SAVEPOINT a; ROLLBACK TO a; EXPLAIN SELECT 1; COPY (SELECT 1) TO STDOUT (FORMAT csv)\0"),
    parse("SELECT COUNT(*) AS n FROM visits WHERE ward = $1 AND age > $2", 25, 0) + bind(b"A", b"3") + describe(),
    parse(QUESTION, name="a") + describe("S", "a") + bind(name="a", portal="p", results=(1,)) + execute("p", 2),
    frame(b"C", b"Sa\0") + frame(b"H") + frame(b"S") + frame(b"F", b"\0\0\0\1") + frame(b"d", b"x") + frame(b"c"),
    frame(b"Q", b"/*+ discreet epsilon=0.1 */ SET discreet.limit = 'rows=3'; RESET ALL; DISCARD ALL\0"),
)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fuzzed")
    with serve_postgres(ScriptedDoor(), folder, login_seconds=1, message_seconds=1) as served:
        yield served


def bend(rng, content):
    """Return bytes with a few changed, left out, doubled or put in."""
    changed = bytearray(content)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(changed)) if changed else 0
        match rng.randrange(5):
            case 0:
                changed[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del changed[at : at + rng.randrange(1, 9)]
            case 2:
                changed[at:at] = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 9)))
            case 3:
                changed[at : at + 4] = struct.pack("!i", rng.choice((-1, 0, 3, 4, 2**31 - 1, 65_536)))
            case _:
                changed += changed[at : at + 40]
    return bytes(changed)


def read_all(client):
    """Return all that comes until the end of the connection."""
    content = b""
    while more := client.socket.recv(65_536):
        content += more
    return content


def attack(served, rng, frames):
    """Send bent frames on connections of their own, and return what came back of all of them."""
    replies, sent = [], 0
    while sent < frames:
        with RawClient(served.port, timeout=5) as client:
            client.log_in(served.tokens["ada"], options="-c discreet.epsilon=0.1")
            for _ in range(20):
                try:
                    client.send(bend(rng, rng.choice(HONEST)))
                except ConnectionError:
                    break
                sent += 1
            try:
                client.send(frame(b"X"))
                client.socket.shutdown(1)
                replies.append(read_all(client))
            except ConnectionError:
                replies.append(b"")
    return replies


def check_attack(served, seed, frames):
    rng = random.Random(seed)
    begun = time.monotonic()
    with RawClient(served.port) as other:
        other.log_in(served.tokens["bob"], user="bob", options="-c discreet.epsilon=0.1")
        for reply in attack(served, rng, frames):
            assert not any(word in reply for word in INSIDE), reply
        assert kinds_of(other.ask(QUESTION)) == "NNTDDDCZ"
    return time.monotonic() - begun


def test_bent_frames_are_answered_or_refused_and_others_are_served(served):
    check_attack(served, seed=7, frames=400)


@pytest.mark.slow
def test_ten_thousand_bent_frames_are_answered_or_refused_and_others_are_served(served):
    assert check_attack(served, seed=8, frames=10_000) < 300


def test_bent_openings_and_logins_are_closed_and_tell_nothing(served):
    rng = random.Random(9)
    openings = [
        os.urandom(50), b"\0" * 8, struct.pack("!II", 2**31 - 1, 196_608), struct.pack("!II", 9, 0) + b"x",
        b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01", struct.pack("!II", 8, 80877104) * 9,
        struct.pack("!II", 16, 80877102) + b"12345678", startup() + frame(b"p", b"abcd"), startup() + frame(b"X"),
        *(bend(rng, startup()) for _ in range(60)),
        *(startup() + bend(rng, frame(b"p", b"SCRAM-SHA-256\0\0\0\0\x0cn,,n=,r=abcd")) for _ in range(60)),
    ]  # fmt: skip
    for opening in openings:
        with RawClient(served.port, timeout=5) as client:
            client.send(opening)
            client.socket.shutdown(1)
            try:
                reply = read_all(client)
            except ConnectionError:
                reply = b""
            assert not any(word in reply for word in INSIDE), (opening, reply)
            assert b"Z\0\0\0\5" not in reply, opening
    with RawClient(served.port) as client:
        assert client.log_in(served.tokens["ada"])[-1] == (b"Z", b"I")


def test_frames_in_single_bytes_are_frames(served):
    with RawClient(served.port) as client:
        client.log_in(served.tokens["ada"], options="-c discreet.epsilon=0.1")
        for sign in frame(b"Q", b"SHOW discreet.pay\0"):
            client.send(bytes([sign]))
        assert kinds_of(client.read_until(b"Z")) == "TDCZ"
        client.send(frame(b"x"))
        assert error_of(client.read_until(b"Z"))["C"] == "08P01"
