"""Requests to a service: the token stays where it belongs, nothing is paid for twice, and replies are a stranger's."""

import asyncio
import json
import os
import socket
import time

import pytest

import discreet
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, RunFailed, StillRunning
from discreet.session import Busy, NotAllowed, NotFound, NotYet, TooMany, Unreachable
from discreet.session.remote import client as clients
from discreet.session.remote import connection
from discreet.session.remote.client import Clock, ServiceClient
from discreet.session.remote.connection import AccessToken, Connections, HttpReply, ServiceAddress
from discreet.session.remote.refusals import Refusal, clean_words
from discreet.session.remote.words import Asked, DatasetsReply, write_text
from scripted_http import certify, http, scripted

SECRET = "dsc1.0123456789ab." + "S" * 43
ACCOUNT = {"analyst": "ada", "symbol": "ε", "spent": "0", "limit": "3", "left": "3", "words": "w"}


# Addresses and tokens


def test_an_address_is_that_of_a_service_over_tls_or_on_this_machine():
    read = ServiceAddress.read
    assert read("https://data.hospital.example/") == ServiceAddress(secure=True, host="data.hospital.example", port=443)
    assert read("https://data.hospital.example:8443/discreet").path == "/discreet"
    for host in ("localhost", "127.0.0.1", "127.8.9.10", "[::1]"):
        assert not read(f"http://{host}:8417").secure
        assert str(read(f"http://{host}:8417")) == f"http://{host}:8417"
    assert str(read("https://a.example:443/x/")) == "https://a.example/x"


@pytest.mark.parametrize(
    "url",
    [
        "http://data.hospital.example",
        "http://127.0.0.1.evil.example",
        "http://localhost.evil.example",
        "http://10.0.0.1",
        "http://0.0.0.0",
        "http://[::ffff:10.0.0.1]",
        "ftp://localhost",
        "file:///etc/passwd",
        "data.hospital.example",
        "https://",
        "https://:8417",
        "https://a b.example",
        "https://a.example:port",
        "https://a.example:99999",
        "https://a.example/?token=SECRETSECRET",
        "https://a.example/#SECRETSECRET",
        "https://ada:SECRETSECRET@a.example",
        "https://SECRETSECRET@a.example",
        "https://a.example/\r\nX: y",
        "https://a.example/a b",
        "https://a.example/../admin?",
        "https://a\u0430.example",
        "http://localhost@evil.example",
        "http://evil.example\\@localhost",
        7,
        None,
    ],
)
def test_other_addresses_are_refused_and_not_quoted(url):
    with pytest.raises(DiscreetError) as caught:
        ServiceAddress.read(url)
    assert caught.value.fix
    assert "SECRETSECRET" not in str(caught.value)


def test_a_token_is_passed_or_in_a_file_or_in_the_environment(tmp_path, monkeypatch):
    file = tmp_path / "token"
    file.write_text(f"{SECRET}\n")
    for name in (connection.TOKEN, connection.TOKEN_FILE):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidInput, match="no token"):
        AccessToken.find(None)
    assert AccessToken.find(SECRET).header == AccessToken.find(file).header == f"Bearer {SECRET}"
    monkeypatch.setenv(connection.TOKEN_FILE, str(file))
    assert AccessToken.find(None).header == f"Bearer {SECRET}"
    monkeypatch.setenv(connection.TOKEN, "other")
    assert AccessToken.find(None).header == "Bearer other"
    assert AccessToken.find(SECRET).header == f"Bearer {SECRET}"


def test_what_is_no_token_is_refused_and_not_quoted(tmp_path):
    for text in ("", "SECRET one", "SECRET\r\nX-Other: 1", "SECRETä", "SECRET\x00", "S" * 20_000, f"Bearer {SECRET}"):
        with pytest.raises(InvalidInput) as caught:
            AccessToken.find(text)
        assert "SECRET" not in str(caught.value)
    for wrong in (7, b"x", tmp_path / "none", tmp_path):
        with pytest.raises(DiscreetError):
            AccessToken.find(wrong)
    token = AccessToken(SECRET)
    assert SECRET not in repr(token) + str(token) + repr([token])
    assert not hasattr(token, "__dict__")


# A client of a server that replies as it is told


def problem(error, status, **headers):
    """Return the reply that refuses, as the service writes it."""
    refusal = Refusal.of(error)
    fields = {"type": "urn", "title": "t", "status": status, "kind": refusal.kind}
    fields |= {"detail": refusal.problem, "fix": refusal.fix, "request": refusal.request, "seconds": refusal.seconds}
    return http(status, fields, "application/problem+json", **headers)


class Waiting:
    """A clock that only sleeping moves, and that remembers how long each sleep was."""

    def __init__(self):
        self.slept = []
        self.extra = 0.0

    def now(self):
        return time.monotonic() + self.extra

    def sleep(self, seconds):
        self.slept.append(seconds)


def client_of(server, patience=30.0, *, tries=True, secure=False, authorities=None):
    """Return a client of a scripted server, and its clock."""
    address = ServiceAddress(secure=secure, host="127.0.0.1" if not secure else "localhost", port=server.port)
    clock = Waiting()
    client = ServiceClient(
        Connections(address, AccessToken(SECRET), authorities),
        patience=patience,
        clock=Clock(now=clock.now, sleep=clock.sleep),
    )
    server.clients.append(client)
    client._tries = len(clients.PAUSES) if tries else 0
    client._dataset = "/v1/datasets/clinic"
    return client, clock


OK = http(body=ACCOUNT)
ASKED = Asked(sql="SELECT 1", epsilon="1", request="mine")


def test_the_token_is_in_one_header_and_a_connection_is_used_again():
    with scripted(OK) as server:
        client, _ = client_of(server)
        assert client.account().analyst == client.account().analyst == "ada"
        client.close()
    assert server.accepted == 1
    text, _ = server.requests[0]
    assert text.count(SECRET) == 1
    assert f"Authorization: Bearer {SECRET}\r\n" in text
    assert SECRET not in text.splitlines()[0]


def test_a_question_is_sent_again_under_its_id_when_the_connection_is_lost():
    with scripted(None, http(502, b"gone", "text/html"), None, http(200, b"{}")) as server:
        client, clock = client_of(server)
        with pytest.raises(Unreachable, match="not a service"):  # the last reply is empty
            client.ask(ASKED)
    assert [("Idempotency-Key: mine\r\n" in text, body) for text, body in server.requests] == [
        (True, write_text(ASKED))
    ] * 4
    assert clock.slept == [0.1, 0.5]  # what was kept of the proxy is closed, which is no failure


def test_a_connection_that_is_lost_for_good_says_that_it_may_have_been_paid():
    with scripted(None) as server:
        client, _ = client_of(server)
        with pytest.raises(Unreachable, match="may have been paid") as caught:
            client.ask(ASKED)
        assert "'mine'" in caught.value.fix
        assert len(server.requests) == 1 + len(clients.PAUSES)
        with pytest.raises(Unreachable) as free:
            client.account()
        assert "paid" not in str(free.value)
    assert SECRET not in str(caught.value)


def test_the_first_request_of_all_is_tried_once():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(Unreachable, match="cannot be reached"):
        discreet.connect(f"http://127.0.0.1:{port}", token=SECRET)
    with pytest.raises(Unreachable):
        discreet.connect("https://no-such-host.invalid", token=SECRET)


def test_a_kept_connection_that_was_closed_meanwhile_is_no_failure():
    with scripted(OK, None, OK) as server:
        client, clock = client_of(server)
        client.account()
        assert client.account().analyst == "ada"
    assert clock.slept == []
    assert server.accepted == 2


def test_what_is_not_ready_is_asked_for_again_under_the_same_id():
    replies = [problem(NotYet.under("ada:mine", 2), 409, Retry_After=2)] * 3
    replies += [
        problem(StillRunning("p", fix="f"), 409, Retry_After=1),
        problem(Busy("p", fix="f"), 503, Retry_After=2),
    ]
    replies += [problem(TooMany.wait("p", seconds=7), 429, Retry_After=7), http(429, b"", "text/plain", Retry_After=3)]
    with scripted(*replies, http(body=b"[]")) as server:
        client, clock = client_of(server)
        with pytest.raises(Unreachable):
            client.ask(ASKED)
    assert clock.slept == [0.05, 0.1, 0.2, 1, 2, 7, 3]
    assert {body for _, body in server.requests} == {write_text(ASKED)}


def test_patience_ends():
    with scripted(problem(NotYet.under("ada:mine", 2), 409, Retry_After=2)) as server:
        client, clock = client_of(server, patience=5.0)
        sleep = clock.sleep

        def sleep_on(seconds):
            sleep(seconds)
            clock.extra += seconds

        client._clock.sleep = sleep_on
        with pytest.raises(NotYet) as caught:
            client.ask(ASKED)
        assert (caught.value.request, caught.value.seconds) == ("ada:mine", 2)
        assert sum(clock.slept) <= 5
        assert max(clock.slept) <= clients.LONGEST_PAUSE
    with scripted(problem(TooMany.wait("p", seconds=60), 429, Retry_After=60)) as server:
        client, clock = client_of(server, patience=5.0)
        with pytest.raises(TooMany):
            client.account()
        assert clock.slept == []


@pytest.mark.parametrize(
    ("error", "status"),
    [(RunFailed("p", fix="f"), 503), (BudgetExceeded("p", fix="f"), 402), (TooMany("p", fix="f"), 429)],
)
def test_what_waiting_does_not_help_is_raised_at_once(error, status):
    """A failed run is asked for again by whoever decides that: each failure counts."""
    with scripted(problem(error, status, Retry_After=60)) as server:
        client, clock = client_of(server, patience=2.0)
        with pytest.raises(type(error)):
            client.ask(ASKED)
        assert clock.slept == []
        assert len(server.requests) == 1


# Replies of a stranger


def test_a_redirect_is_not_followed():
    with scripted(http(200, {"analyst": "eve"})) as other:
        location = f"http://127.0.0.1:{other.port}/v1"
        for status in (301, 302, 303, 307, 308):
            with scripted(http(status, b"", Location=location)) as server:
                client, _ = client_of(server)
                with pytest.raises(Unreachable, match="not followed"):
                    client.account()
        assert other.requests == []


def test_replies_that_are_none_are_refused():
    words = {
        "html": http(200, b"<html>", "text/html"),
        "list": http(200, b"[]"),
        "deep": http(200, b"[" * 100_000),
        "twice": http(200, b'{"analyst": "a", "analyst": "b"}'),
        "more": http(200, {**ACCOUNT, "more": 1}),
        "less": http(200, {"analyst": "ada"}),
        "utf-8": http(200, b'{"analyst": "\xff"}'),
        "packed": http(200, OK, Content_Encoding="gzip"),
        "status": http(418, b"{}"),
        "500": http(500, b"Traceback", "text/plain"),
        "problem": http(409, b"[]", "application/problem+json"),
        "kind": http(409, {"kind": 1, "detail": [], "fix": {}}, "application/problem+json"),
        "no http": b"SSH-2.0-OpenSSH\r\n\r\n",
        "short": b"HTTP/1.1 200 X\r\nContent-Length: 50\r\nConnection: close\r\n\r\n{}",
        "chunk": b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nzz\r\n",
        "long head": b"HTTP/1.1 200 X\r\nA: " + b"x" * 100_000 + b"\r\n\r\n",
        "many heads": b"HTTP/1.1 200 X\r\n" + b"A: b\r\n" * 1000 + b"\r\n",
    }
    for name, reply in words.items():
        with scripted(reply) as server:
            client, _ = client_of(server, tries=False)
            with pytest.raises(DiscreetError) as caught:
                client.account()
            assert caught.value.fix, name


def test_no_more_is_read_than_is_allowed(monkeypatch):
    monkeypatch.setattr(connection, "MOST_BYTES", 1000)
    endless = b"HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n" + b"3E8\r\n" + b" " * 1000 + b"\r\n3E8\r\n"
    for reply in (http(200, b" " * 1001), endless + b" " * 1000 + b"\r\n"):
        with scripted(reply) as server:
            client, _ = client_of(server)
            with pytest.raises(Unreachable, match="more than 1000 bytes"):
                client.account()
            assert client.connections._idle == []


def test_a_reply_that_does_not_end_is_given_up_at_the_deadline():
    with scripted(b"HTTP/1.1 200 X\r\nContent-Length: 9\r\n\r\n{") as server:
        client, _ = client_of(server, patience=0.3, tries=False)
        with pytest.raises(Unreachable):
            client.account()


def test_words_of_a_service_command_no_terminal():
    error = NotFound("\x1b[2J gone \u202e\x07", fix="f\x00\r" + "x" * 10_000)
    with scripted(problem(error, 404)) as server:
        client, _ = client_of(server)
        with pytest.raises(NotFound) as caught:
            client.account()
    assert caught.value.problem == "?[2J gone ??"
    assert len(caught.value.fix) < 5000
    assert all(sign.isprintable() for sign in caught.value.fix)
    assert clean_words("a\nb") == "a\nb"


def test_statuses_without_a_known_kind_are_errors_of_access():
    fields = {"kind": "HttpRefusal", "detail": "d", "fix": "f"}
    for status, kind in ((401, NotAllowed), (403, NotAllowed), (404, NotFound), (413, DiscreetError)):
        reply = HttpReply(status=status, media=clients.PROBLEM, retry_after=None, body=json.dumps(fields).encode())
        assert type(clients.read_refusal(reply)) is kind


def test_a_service_of_another_version_is_refused_before_anything_is_asked():
    for version in ("9.9.9", "\x1b[2J", ""):
        with scripted(http(body=write_text(DatasetsReply(datasets=("clinic",), version=version)))) as server:
            with pytest.raises(InvalidInput, match=r"discreet 9\.9\.9|another kind"):
                discreet.connect(f"http://127.0.0.1:{server.port}", token=SECRET)
            assert len(server.requests) == 1


def test_the_only_dataset_needs_no_name_and_one_of_several_does():
    one, two = (write_text(DatasetsReply(datasets=d, version=discreet.__version__)) for d in (("a",), ("a", "b/c")))
    with scripted(http(body=one), http(body=two)) as server:
        client, _ = client_of(server)
        assert client.choose_dataset(None) == "a"
        with pytest.raises(NotFound, match="several"):
            client.choose_dataset(None)
        with pytest.raises(NotFound, match="no such"):
            client.choose_dataset("c")
        assert client.choose_dataset("b/c") == "b/c"
        assert client._dataset == "/v1/datasets/b%2Fc"


# Processes and TLS


def test_a_child_of_a_fork_makes_connections_of_its_own():
    with scripted(OK) as server:
        client, _ = client_of(server)
        client.account()
        connections = client.connections
        connections._process = os.getpid() + 1  # as a child finds it
        client.account()
    assert server.accepted == 2


def test_certificates_of_strangers_and_of_other_hosts_are_refused_before_the_token_is_sent(tmp_path):
    good, served = certify(tmp_path)
    other, elsewhere = certify(tmp_path, "other.example")
    with scripted(OK, context=served) as server:
        client, _ = client_of(server, secure=True, authorities=good)
        assert client.account().analyst == "ada"
        client, clock = client_of(server, secure=True)
        with pytest.raises(Unreachable, match="not trusted"):
            client.account()
        assert clock.slept == []
        assert len(server.requests) == 1
    with scripted(OK, context=elsewhere) as server:
        client, _ = client_of(server, secure=True, authorities=other)
        with pytest.raises(Unreachable, match="not trusted"):
            client.account()
        assert server.requests == []
    with pytest.raises(InvalidInput, match="authorities"):
        discreet.connect("https://localhost:1", token=SECRET, authorities=tmp_path / "none")


def test_no_warning_is_left_by_an_event_loop():
    """A session is used in notebooks, whose cells run in a loop."""

    async def ask():
        with scripted(OK) as server:
            client, _ = client_of(server)
            analyst = client.account().analyst
            client.close()
            return analyst

    assert asyncio.run(ask()) == "ada"
