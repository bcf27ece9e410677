"""PostgreSQL's protocol over a door of memory: messages, logins, states, cancellations, limits."""

import asyncio
import base64
import hashlib
import hmac
import shlex
import socket
import ssl
import struct
import subprocess
import threading
import time
from dataclasses import replace

import pytest

from discreet.core import BudgetExceeded, InvalidInput
from discreet.query import QueryRefused
from discreet.service.people import Principal, Role
from discreet.service.postgres import conversation
from discreet.service.postgres.listening import PostgresListening
from discreet.service.postgres.refusals import SQLSTATES, SqlRefusal
from discreet.service.postgres.scram import ScramExchange, binding_of
from discreet.service.postgres.words import split_statements
from discreet.service.refusals import KINDS, NotYet, PaymentOff
from discreet.service.registry import Registry
from service_postgres import (
    RawClient,
    ScriptedDoor,
    bind,
    columns_of,
    describe,
    error_of,
    execute,
    fields_of,
    frame,
    kinds_of,
    parse,
    rows_of,
    serve_postgres,
    startup,
)

QUESTION = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
ROWS = [("A", "12", "3.5", "20"), ("B", "-1", None, "7.25"), (None, "5", "0", None)]


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    face = {"pay_off": frozenset({"boards"})}
    with serve_postgres(
        ScriptedDoor(), tmp_path_factory.mktemp("postgres"), face=face, login_seconds=1, message_seconds=0.5
    ) as served:
        yield served


@pytest.fixture
def door(served):
    door = served.face.doors["clinic"]._door
    door.asked.clear()
    yield door
    door.wait = door.error = None


@pytest.fixture
def ada(served, door):
    with RawClient(served.port) as client:
        messages = client.log_in(served.tokens["ada"], options="-c discreet.epsilon=0.1")
        assert messages[-1] == (b"Z", b"I")
        yield client


# Logins.


def test_a_login_tells_settings_a_key_and_that_it_is_ready(ada):
    assert ada.settings["server_encoding"] == "UTF8"
    assert ada.settings["session_authorization"] == "ada"
    assert len(ada.key) == 8


def strip_login(messages):
    """Return kinds and bodies, with the nonce and the salt taken out."""
    return [(kind, body.split(b",s=")[0][:12] if kind == b"R" else body) for kind, body in messages]


def test_unknown_names_wrong_tokens_and_revoked_people_are_told_the_same(served):
    told = []
    served.registry.add(Principal(name="zed", role=Role.ANALYST))
    served.registry.revoke("zed")
    for user, database in (("ada", "clinic"), ("nobody", "clinic"), ("zed", "clinic"), ("ada", "x"), ("nobody", "x")):
        with RawClient(served.port) as client:
            messages = client.log_in("dsc1.wrong", user=user, database=database)
            assert [len(body) for kind, body in messages if kind == b"R"] == [4 + 15, 4 + 68]
            told.append(strip_login(messages))
    assert told[0][-1][0] == b"E"
    assert all(one == told[0] for one in told)


def test_logins_take_the_same_work_whether_or_not_somebody_has_the_name(served, monkeypatch):
    """All costly work of a login is hashing, and hashing is counted."""
    calls = []
    digest, sha256 = hmac.digest, hashlib.sha256
    with RawClient(served.port) as client:
        client.log_in("dsc1.wrong", user="ada")  # reads the registry

    def work_of(user):
        exchange = ScramExchange(served.registry.scram_verifier(user))
        nonce = exchange.begin("SCRAM-SHA-256", b"n,,n=,r=abcdefgh").split(b",")[0]
        with pytest.raises(SqlRefusal):
            exchange.finish(b"c=biws," + nonce + b",p=" + base64.b64encode(b"x" * 32))
        found, calls[:] = list(calls), []
        return found

    monkeypatch.setattr(hmac, "digest", lambda *words: calls.append("hmac") or digest(*words))
    monkeypatch.setattr(hashlib, "sha256", lambda *words: calls.append("sha256") or sha256(*words))
    assert work_of("ada") == work_of("nobody") == work_of("pia")
    assert len(work_of("ada")) > 3


def test_an_unknown_name_has_the_same_salt_for_ever_and_others_have_others(served):
    def salt(user):
        with RawClient(served.port) as client:
            messages = client.log_in("x", user=user)
            return messages[1][1].split(b",s=")[1]

    assert salt("nobody") == salt("nobody")
    assert len({salt("nobody"), salt("someone"), salt("ada")}) == 3


def test_a_dataset_that_does_not_exist_is_told_after_the_login_only(served):
    with RawClient(served.port) as client:
        assert error_of(client.log_in(served.tokens["ada"], database="other"))["C"] == "3D000"


def test_nothing_is_answered_before_the_login(served, door):
    with RawClient(served.port) as client:
        client.send(startup() + frame(b"Q", b"SELECT 1\0"))
        messages = client.read_until(b"E")
        assert kinds_of(messages) == "RE"
        assert error_of(messages)["C"] == "08P01"
        assert client.read() is None
    assert not door.asked


def test_a_proof_for_another_nonce_or_mechanism_is_refused(served):
    for first in (b"n,,n=,r=", b"n,,n=,r=a b", b"x,,n=,r=abc", b"y", b"n,,m=x,n=,r=abc", b"p=tls-unique,,n=,r=abc"):
        with RawClient(served.port) as client:
            client.send(startup())
            client.read_until(b"R")
            client.send(frame(b"p", b"SCRAM-SHA-256\0" + struct.pack("!I", len(first)) + first))
            assert error_of(client.read_until(b"E"))["C"] == "08P01", first
    with RawClient(served.port) as client:
        client.send(startup())
        client.read_until(b"R")
        client.send(frame(b"p", b"SCRAM-SHA-256\0" + struct.pack("!I", 12) + b"n,,n=,r=abcd"))
        client.read_until(b"R")
        client.send(frame(b"p", b"c=biws,r=abcdother,p=" + b"A" * 43 + b"="))
        assert error_of(client.read_until(b"E"))["C"] == "28P01"


def test_whoever_is_revoked_is_refused_from_the_next_statement_on(served):
    token = served.registry.add(Principal(name="tom", role=Role.ANALYST))
    with RawClient(served.port) as client:
        client.log_in(token, user="tom")
        assert kinds_of(client.ask("SHOW discreet.pay")) == "TDCZ"
        served.registry.revoke("tom")
        error = error_of(client.ask("SHOW discreet.pay"))
        assert (error["S"], error["C"]) == ("FATAL", "28000")


def test_a_token_that_is_replaced_is_refused_on_connections_that_are_open(served):
    """As one that leaked is: the person is welcome, by the new token."""
    token = served.registry.add(Principal(name="tess", role=Role.ANALYST))
    with RawClient(served.port) as client, RawClient(served.port) as other:
        client.log_in(token, user="tess")
        kept = served.registry.rotate("tess", overlap=60)
        other.log_in(kept, user="tess")
        assert kinds_of(client.ask("SHOW discreet.pay")) == "TDCZ"
        again = served.registry.rotate("tess", overlap=0)
        for one in (client, other):
            assert error_of(one.ask("SHOW discreet.pay"))["C"] == "28000"
    with RawClient(served.port) as client:
        client.log_in(again, user="tess")
        served.registry.revoke("tess")
        served.registry.add(Principal(name="tess", role=Role.ANALYST))
        assert error_of(client.ask("SHOW discreet.pay"))["C"] == "28000"


def test_nobody_hears_before_the_login_which_datasets_there_are(tmp_path):
    """With people of their own: a salt that two datasets share is that of none."""
    with serve_postgres(ScriptedDoor(), tmp_path) as served:
        other = Registry(tmp_path / "other.people")
        other.add(Principal(name="ada", role=Role.ANALYST))
        doors = {**served.face.doors, "other": served.face.doors["clinic"]}
        served.server.face = replace(served.face, doors=doors, people={"clinic": served.registry, "other": other})

        def told(database, token="dsc1.wrong"):
            with RawClient(served.port) as client:
                messages = client.log_in(token, database=database)
                return messages[1][1].split(b",s=")[1], strip_login(messages)

        databases = ["clinic", "other", "none", "nobody"]
        first, again = [told(one) for one in databases], [told(one) for one in databases]
        assert first == again
        assert len({salt for salt, _ in first}) == len(databases)
        assert all(words == first[0][1] for _, words in first)
        for database in ("other", "none"):
            assert told(database, served.tokens["ada"])[1] == first[0][1]  # not even with a token for another


def test_newer_minor_versions_and_extensions_are_negotiated(served):
    with RawClient(served.port) as client:
        client.send(startup(version=(3 << 16) + 2, **{"_pq_.more": "1"}))
        messages = client.prove(served.tokens["ada"])
        assert messages[0] == (b"v", struct.pack("!II", 0, 1) + b"_pq_.more\0")
        assert messages[-1] == (b"Z", b"I")
    with RawClient(served.port) as client:
        client.send(startup(version=2 << 16))
        assert error_of(client.read_until(b"E"))["C"] == "0A000"


def test_options_that_cannot_be_read_end_the_connection_with_a_hint(served):
    for options, state in (("-x", "22023"), ("-c discreet.epsilon=x", "22023"), ("-c discreet.nothing=1", "42704")):
        with RawClient(served.port) as client:
            error = error_of(client.log_in(served.tokens["ada"], options=options))
            assert (error["S"], error["C"], bool(error["H"])) == ("FATAL", state, True)


# TLS.


@pytest.fixture(scope="module")
def secure(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    command = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out tls.pem -days 2 -subj /CN=localhost"
    subprocess.run(shlex.split(command), cwd=folder, check=True, capture_output=True)
    files = {"certificate": folder / "tls.pem", "key": folder / "key.pem"}
    with serve_postgres(ScriptedDoor(), folder, require_tls=True, **files) as served:
        yield served


def begin_tls(client):
    client.send(struct.pack("!II", 8, 80877103))
    assert client.read_exactly(1) == b"S"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    client.socket = context.wrap_socket(client.socket)
    return client.socket.getpeercert(binary_form=True)


def test_logins_in_tls_are_bound_to_the_certificate(secure):
    with RawClient(secure.port) as client:
        bound = binding_of(begin_tls(client))
        messages = client.log_in(secure.tokens["ada"], plus=bound)
        assert b"SCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0" in messages[0][1]
        assert messages[-1] == (b"Z", b"I")
        assert rows_of(client.ask(QUESTION)) == ROWS
    for plus, flag, state in ((b"\0" * 32, b"n", "28P01"), (None, b"y", "08P01")):
        with RawClient(secure.port) as client:
            begin_tls(client)
            assert error_of(client.log_in(secure.tokens["ada"], plus=plus, flag=flag))["C"] == state


def test_clients_without_tls_are_refused_where_it_is_required(secure):
    with RawClient(secure.port) as client:
        assert error_of(client.log_in(secure.tokens["ada"]))["C"] == "28000"


def test_what_is_sent_before_tls_begins_is_not_read_after_it(secure):
    with RawClient(secure.port) as client:
        client.send(struct.pack("!II", 8, 80877103) + startup())
        assert error_of(client.read_until(b"E"))["C"] == "08P01"


def test_a_server_for_other_machines_has_a_certificate(tmp_path):
    with pytest.raises(InvalidInput, match="certificate"):
        PostgresListening(host="0.0.0.0")
    with pytest.raises(InvalidInput, match="certificate"):
        PostgresListening(certificate=tmp_path / "x")
    files = {"certificate": tmp_path / "x", "key": tmp_path / "y"}
    assert PostgresListening(host="192.0.2.1", **files).needs_tls
    assert not PostgresListening(host="::1", **files).needs_tls


# Simple queries.


def test_an_answer_has_columns_of_its_kinds_and_notices(ada, door):
    messages = ada.ask(QUESTION)
    assert kinds_of(messages) == "NNTDDDCZ"
    assert columns_of(messages) == [("ward", 25, 0), ("n", 20, 0), ("n_low", 701, 0), ("n_high", 701, 0)]
    assert rows_of(messages) == ROWS
    assert messages[-2] == (b"C", b"SELECT 3\0")
    assert fields_of(messages[0][1])["M"] == "paid now"
    (asked,) = door.questions()
    assert (asked.sql, asked.epsilon, asked.pay) == (QUESTION, "0.1", True)
    assert asked.request.startswith("pg-")


def test_several_statements_are_answered_in_turn_until_one_fails(ada, door):
    assert kinds_of(ada.ask(f"SHOW discreet.pay; {QUESTION}; DROP TABLE visits; {QUESTION}")) == "TDCNNTDDDCEZ"
    assert len(door.questions()) == 1
    assert kinds_of(ada.ask(" ; -- nothing\n")) == "IZ"


def test_each_question_has_a_request_id_of_its_own_until_it_is_answered(ada, door):
    ada.ask(QUESTION)
    door.error = NotYet.under("ada:x", 2)
    for _ in range(2):
        error = error_of(ada.ask(QUESTION))
        assert error["C"] == "55D01"
    door.error = None
    ada.ask(QUESTION)
    ada.ask(QUESTION)
    first, late, again, then, other = (asked.request for asked in door.questions())
    assert late == again == then
    assert len({first, then, other}) == 3
    assert then in error["H"]


def test_a_request_id_is_set_for_one_question(ada, door):
    ada.ask("SET discreet.request = 'june'")
    ada.ask(QUESTION)
    ada.ask(QUESTION)
    first, second = (asked.request for asked in door.questions())
    assert first == "june"
    assert second.startswith("pg-")


def test_prices_and_options_come_from_settings_and_hints(ada, door):
    ada.ask("SET discreet.rho = '1/100'; SET discreet.confidence TO 0.9; SET discreet.limit = 'rows=5'")
    ada.ask(QUESTION)
    ada.ask(f"/*+ discreet within='n=25' */ {QUESTION}")
    ada.ask("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.2) COUNT(*) AS n FROM visits")
    ada.ask("RESET ALL")
    ada.ask(QUESTION)
    one, two, three, four = door.questions()
    assert (one.epsilon, one.rho, one.confidence, one.limit) == (None, "1/100", "0.9", {"rows": 5})
    assert (two.rho, two.within) == (None, {"n": "25"})
    assert (three.epsilon, three.rho, three.within) == (None, None, None)
    assert (four.epsilon, four.rho) == ("0.1", None)


def test_settings_that_do_not_exist_or_cannot_be_read_are_refused(ada):
    for sql, state in (
        ("SET discreet.price = 1", "42704"),
        ("SET discreet.epsilon = much", "22023"),
        ("SET discreet.pay = maybe", "22023"),
        ("SET discreet.left = 3", "55P02"),
        ("SET is_superuser = on", "55P02"),
        ("SET client_encoding = LATIN1", "22023"),
        ("SHOW nothing", "42704"),
        ("SET ROLE bob", "42501"),
        ("SET discreet.epsilon", "42601"),
        (f"/*+ discreet epsilon */ {QUESTION}", "42601"),
        (f"/*+ discreet epsilon=1 rho=1 */ {QUESTION}", "22023"),
    ):
        assert error_of(ada.ask(sql))["C"] == state, sql


def test_connections_of_dashboards_do_not_pay_until_they_say_so(served, door):
    with RawClient(served.port) as client:
        client.log_in(served.tokens["bob"], user="bob", options="-c discreet.epsilon=0.1")
        client.ask(QUESTION)
        client.ask("SET discreet.pay = on")
        client.ask(QUESTION)
    assert [asked.pay for asked in door.questions()] == [False, True]


def test_explanations_are_free_and_analyze_is_refused(ada, door):
    assert rows_of(ada.ask(f"EXPLAIN {QUESTION}")) == [("cost ε = 0.1",)]
    assert rows_of(ada.ask(f"EXPLAIN (VERBOSE) {QUESTION}")) == [("first line",), ("second line",)]
    for sql in (f"EXPLAIN ANALYZE {QUESTION}", f"EXPLAIN (ANALYZE, VERBOSE) {QUESTION}"):
        assert error_of(ada.ask(sql))["C"] == "0A000"
    assert not door.questions()


def test_what_changes_or_copies_rows_is_refused(ada, door):
    for sql in ("DROP TABLE visits", "INSERT INTO visits VALUES (1)", "COPY visits TO STDOUT", "COPY visits FROM STDIN",
                "COPY (SELECT 1) TO PROGRAM 'id'", "COPY (SELECT 1) TO '/tmp/x'", "DO $$ BEGIN END $$", "CALL x()",
                "COPY (DELETE FROM visits) TO STDOUT", "DECLARE c CURSOR FOR SELECT 1", "VACUUM"):  # fmt: skip
        error = error_of(ada.ask(sql))
        assert error["C"] == "25006", sql
        assert error["H"]
    assert not door.asked


def test_answers_are_copied_as_text_csv_and_binary(ada):
    def copied(options):
        messages = ada.ask(f"COPY ({QUESTION}) TO STDOUT {options}")
        assert kinds_of(messages).startswith("NNH")
        assert messages[-2][1].startswith(b"COPY 3")
        return [body for kind, body in messages if kind == b"d"]

    assert copied("") == [b"A\t12\t3.5\t20\n", b"B\t-1\t\\N\t7.25\n", b"\\N\t5\t0\t\\N\n"]
    assert copied("(FORMAT csv, HEADER)")[:2] == [b"ward,n,n_low,n_high\n", b"A,12,3.5,20\n"]
    assert copied("WITH CSV DELIMITER ';' NULL 'none'")[2] == b"none;5;0;none\n"
    binary = copied("(FORMAT binary)")
    assert binary[0].startswith(b"PGCOPY\n\xff\r\n\0")  # with the first row
    assert binary[0][19:].startswith(struct.pack("!hI", 4, 1) + b"A" + struct.pack("!Iq", 8, 12))
    assert binary[-1] == b"\xff\xff"
    assert error_of(ada.ask(f"COPY ({QUESTION}) TO STDOUT (FORMAT parquet)"))["C"] == "0A000"


# Extended queries.


def test_an_extended_query_tells_columns_before_it_pays(ada, door):
    messages = ada.sync(parse(QUESTION), describe("S"), bind(), describe())
    assert kinds_of(messages) == "1tT2TZ"
    assert not door.questions()
    assert kinds_of(ada.sync(bind(), execute())) == "2NNDDDCZ"
    assert len(door.questions()) == 1


def test_results_are_written_in_binary_where_asked(ada):
    messages = ada.sync(parse(QUESTION), bind(results=(0, 1, 1, 1)), describe(), execute())
    assert [form for _, _, form in columns_of(messages)] == [0, 1, 1, 1]
    row = next(body for kind, body in messages if kind == b"D")
    assert row == struct.pack("!HI", 4, 1) + b"A" + struct.pack("!IqIdId", 8, 12, 8, 3.5, 8, 20.0)


def test_parameters_are_literals_of_their_types(ada, door):
    sql = "SELECT COUNT(*) AS n FROM visits WHERE ward = $1 AND age >= $2 AND admitted > $3 AND cost < -$4"
    messages = ada.sync(parse(sql), describe("S"))
    assert next(body for kind, body in messages if kind == b"t") == struct.pack("!H4I", 4, 25, 20, 1082, 701)
    ada.sync(bind(b"it's -- /* $2 \\", b"-40", b"2024-01-31", b"-1.5e2"), execute())
    (asked,) = door.questions()
    assert asked.sql == (
        "SELECT COUNT(*) AS n FROM visits WHERE ward =  'it''s -- /* $2 \\'  AND age >=  (-40)  AND "
        "admitted >  DATE '2024-01-31'  AND cost < - (-150) "
    )


def test_binary_parameters_say_the_same(ada, door):
    sql = "SELECT COUNT(*) AS n FROM visits WHERE age >= $1 AND cost < $2 AND admitted = $3 AND $4 AND ward = $5"
    values = (struct.pack("!h", -4), struct.pack("!d", 0.1), struct.pack("!i", -1), b"\1", None)
    ada.sync(parse(sql, 21, 701, 1082, 16, 0), bind(*values, formats=(1,)), execute())
    words = door.questions()[0].sql.split("WHERE")[1].split()
    assert " ".join(words) == "age >= (-4) AND cost < 0.1 AND admitted = DATE '1999-12-31' AND TRUE AND ward = NULL"


def test_values_that_are_none_of_their_type_are_refused_and_not_quoted(ada, door):
    for oid, value, form, state in (
        (20, b"1; DROP TABLE visits", 0, "22P02"),
        (20, b"secretive", 0, "22P02"),
        (701, b"NaN", 0, "22P02"),
        (701, b"1e999999999", 0, "22P02"),
        (1082, b"2024-01-31' OR 'a", 0, "22P02"),
        (16, b"maybe", 0, "22P02"),
        (20, b"\0\0", 1, "22P03"),
        (701, struct.pack("!d", float("inf")), 1, "22P03"),
        (1700, struct.pack("!hhHH", 1, 0, 0xC000, 0), 1, "22P03"),
        (25, b"\xff", 0, "22P02"),
    ):
        messages = ada.sync(parse("SELECT COUNT(*) FROM visits WHERE age > $1", oid), bind(value, formats=(form,)))
        error = error_of(messages)
        assert error["C"] == state, (oid, value)
        assert b"secretive" not in b"".join(body for _, body in messages)
    assert error_of(ada.sync(parse("SELECT $1", 1007)))["C"] == "0A000"
    for odd in ("SELECT [it's $1", "SELECT `a` || $1", "SELECT E'\\'' || $1", "SELECT /* /* */ */ $1"):
        messages = ada.sync(parse(odd + " FROM visits", 25), bind(b"x"), execute())
        assert error_of(messages)["C"] in ("0A000", "42601"), odd
    assert not door.questions()


def test_after_an_error_messages_are_passed_over_until_sync(ada, door):
    messages = ada.sync(parse("DROP TABLE visits"), bind(), execute())
    assert kinds_of(messages) == "EZ"
    assert kinds_of(ada.sync(parse(QUESTION), bind(), execute())) == "12NNDDDCZ"
    assert error_of(ada.sync(bind(name="none")))["C"] == "26000"
    assert error_of(ada.sync(execute("none")))["C"] == "34000"
    assert error_of(ada.sync(parse("SELECT 1; SELECT 2")))["C"] == "42601"
    assert error_of(ada.sync(parse(QUESTION, name="a"), parse(QUESTION, name="a")))["C"] == "42P05"
    assert error_of(ada.sync(parse(QUESTION), bind(b"1")))["C"] == "08P01"


def test_a_portal_hands_out_rows_in_parts_and_asks_once(ada, door):
    ada.ask("BEGIN")
    messages = ada.sync(parse(QUESTION), bind(portal="p"), execute("p", 2))
    assert kinds_of(messages) == "12NNDDsZ"
    assert kinds_of(ada.sync(execute("p", 2))) == "DCZ"
    assert len(door.questions()) == 1
    ada.ask("COMMIT")
    assert error_of(ada.sync(execute("p")))["C"] == "34000"  # portals end with their transaction


def test_statements_are_closed_and_forgotten(ada):
    ada.sync(parse(QUESTION, name="a"), parse(QUESTION, name="b"))
    assert kinds_of(ada.sync(frame(b"C", b"Sa\0"), frame(b"C", b"Snone\0"))) == "33Z"
    assert error_of(ada.ask("DEALLOCATE a"))["C"] == "26000"
    assert kinds_of(ada.ask("DEALLOCATE b; DISCARD ALL")) == "CCZ"
    assert kinds_of(ada.sync(parse(""), bind(), describe(), execute())) == "12nIZ"


def test_what_was_told_before_is_what_is_sent(ada, door, monkeypatch):
    told = replace(door_table(door), columns=door_table(door).columns[:2])

    async def shape(who, sql, *, bars=False, matches=None):
        return told.columns

    monkeypatch.setattr(door, "shape", shape)
    messages = ada.sync(parse(QUESTION), bind(), describe(), execute())
    assert [name for name, _, _ in columns_of(messages)] == ["ward", "n"]
    assert rows_of(messages) == [row[:2] for row in ROWS]


def door_table(door):
    return asyncio.run(door.ask(None, None)).table


# Transactions.


def test_a_failed_transaction_refuses_everything_until_its_end(ada, door):
    door.error = BudgetExceeded("No.", fix="ask for less")
    assert ada.ask("BEGIN")[-1] == (b"Z", b"T")
    messages = ada.ask(QUESTION)
    assert (error_of(messages)["C"], messages[-1]) == ("53400", (b"Z", b"E"))
    door.error = None
    for sql in (QUESTION, "SHOW discreet.pay", "SET discreet.pay = off", "SAVEPOINT a"):
        assert error_of(ada.ask(sql))["C"] == "25P02", sql
    assert error_of(ada.sync(parse(QUESTION), bind(), describe()))["C"] == "25P02"
    messages = ada.ask("COMMIT")
    assert (messages[-2], messages[-1]) == ((b"C", b"ROLLBACK\0"), (b"Z", b"I"))
    assert len(door.questions()) == 1


def test_rollback_returns_settings_and_no_payment(ada, door):
    ada.ask("BEGIN; SET discreet.pay = off; SAVEPOINT a; SET discreet.epsilon = 2; ROLLBACK TO a")
    assert rows_of(ada.ask("SHOW discreet.epsilon; SHOW discreet.pay")) == [("0.1",), ("off",)]
    messages = ada.ask("ROLLBACK")
    assert "returns nothing" in fields_of(messages[0][1])["M"]
    assert rows_of(ada.ask("SHOW discreet.pay")) == [("on",)]
    ada.ask("BEGIN; SET LOCAL discreet.epsilon = 2; SET discreet.pay = off; COMMIT")
    assert rows_of(ada.ask("SHOW discreet.epsilon; SHOW discreet.pay")) == [("0.1",), ("off",)]
    for sql, state in (("SAVEPOINT a", "25P01"), ("BEGIN; ROLLBACK TO nothing", "3B001")):
        assert error_of(ada.ask(sql))["C"] == state
    assert ada.ask("ROLLBACK AND CHAIN")[-1] == (b"Z", b"T")


# Refusals.


def test_every_kind_of_refusal_has_a_sqlstate_and_its_own_words(ada, door):
    assert set(SQLSTATES) == set(KINDS)
    for name, kind in KINDS.items():
        place = {"line": 1, "column": 8} if kind is QueryRefused else {}
        door.error = kind("It is refused.", fix="do something else", **place)
        error = error_of(ada.ask(QUESTION))
        assert error["C"] == SQLSTATES[name], name
        assert error["M"] == "It is refused."
        assert error["H"]
        assert error.get("P") == ("8" if place else None)


def test_an_inner_failure_is_told_as_a_constant(ada, door):
    door.error = RuntimeError("canary 48151623")
    for messages in (
        ada.ask(QUESTION),
        ada.sync(parse(QUESTION), bind(), execute()),
        ada.sync(parse(QUESTION), describe("S")),
    ):
        error = error_of(messages)
        assert error["C"] == "XX000"
        assert b"canary" not in b"".join(body for _, body in messages)


def test_a_price_that_is_missing_and_a_payment_that_is_off_are_told_with_what_to_set(ada, door):
    door.error = InvalidInput(
        "Pass exactly one of epsilon, rho and within; neither epsilon, rho nor within are given.", fix="x"
    )
    error = error_of(ada.ask(QUESTION))
    assert (error["C"], "SET discreet.epsilon" in error["H"]) == ("22023", True)
    door.error = PaymentOff("It costs ε = 0.1.", fix="turn payment on")
    error = error_of(ada.ask(QUESTION))
    assert (error["C"], "SET discreet.pay = on" in error["H"], "0.1" in error["M"]) == ("53D01", True, True)


# Cancellations.


def wait_until(condition):
    end = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_a_cancelled_question_runs_on_and_nobody_waits_for_it(served, ada, door):
    door.wait = served.run(make_event())
    ada.send(frame(b"Q", f"{QUESTION}\0".encode()))
    wait_until(door.questions)
    for key in (b"\0" * 8, ada.key):  # a wrong key is not told from a right one
        with RawClient(served.port) as other:
            other.send(struct.pack("!II", 16, 80877102) + key)
            assert other.read() is None
    messages = ada.read_until(b"Z")
    assert error_of(messages)["C"] == "57014"
    assert kinds_of(ada.ask("SHOW discreet.pay")) == "TDCZ"
    running, door.wait = door.wait, None
    ada.ask(QUESTION)
    served.loop.call_soon_threadsafe(running.set)
    first, second = door.questions()
    assert first.request == second.request


async def make_event():
    return asyncio.Event()


def test_a_cancellation_of_nothing_changes_nothing(served, ada):
    with RawClient(served.port) as other:
        other.send(struct.pack("!II", 16, 80877102) + ada.key)
        assert other.read() is None
    assert kinds_of(ada.ask("SHOW discreet.pay")) == "TDCZ"


# Limits.


def test_slow_and_silent_clients_are_closed_and_others_are_served(served, ada):
    slow = [RawClient(served.port) for _ in range(10)]
    for client in slow[:5]:
        client.send(startup()[:6])
    with RawClient(served.port) as half:
        half.log_in(served.tokens["ada"])
        half.send(b"Q\0\0\0\x20SELECT")  # the rest never comes
        begun = time.monotonic()
        assert kinds_of(ada.ask(QUESTION)) == "NNTDDDCZ"
        assert time.monotonic() - begun < 0.4
        assert error_of(half.read_until(b"Z"))["C"] == "08P01"
    for client in slow:
        assert client.read() is None
        client.socket.close()


def test_messages_and_texts_have_a_size(served, ada):
    error = error_of(ada.ask("SELECT " + "1," * 60_000 + "1"))
    assert error["C"] == "54000"
    ada.send(b"Q" + struct.pack("!I", 1 << 30))
    assert error_of(ada.read_until(b"Z"))["C"] == "54000"
    assert ada.read() is None
    for first in (struct.pack("!II", 1 << 30, 3 << 16), struct.pack("!II", 4, 3 << 16)):
        with RawClient(served.port) as client:
            client.send(first)
            assert error_of(client.read_until(b"E"))["C"] == "08P01"


def test_one_address_has_so_many_connections_and_no_more(tmp_path):
    with serve_postgres(ScriptedDoor(), tmp_path, connections_per_client=2) as served:
        first, second = RawClient(served.port), RawClient(served.port)
        first.log_in(served.tokens["ada"])
        second.log_in(served.tokens["ada"])
        with RawClient(served.port) as third:
            assert error_of(third.read_until(b"E"))["C"] == "53300"
        first.socket.close()
        second.send(frame(b"X"))
        assert second.read() is None
        second.socket.close()
        with RawClient(served.port) as again:
            assert again.log_in(served.tokens["ada"])[-1] == (b"Z", b"I")


def test_prepared_statements_and_portals_are_bounded(ada):
    text = "SELECT " + "1" * 90_000
    messages = ada.sync(*(parse(text, name=str(number)) for number in range(50)))
    assert error_of(messages)["C"] == "54000"
    ada.ask("BEGIN")
    messages = ada.sync(parse(QUESTION), *(bind(portal=str(number)) for number in range(101)))
    assert error_of(messages)["C"] == "54000"


def test_words_of_statements_and_values_of_portals_are_bounded(ada):
    messages = ada.sync(*(parse("SELECT " + "+" * 60_000, name=str(number)) for number in range(2)))
    assert error_of(messages)["C"] == "54000"
    ada.ask("BEGIN")
    value = b"x" * 900_000
    messages = ada.sync(parse("SELECT $1"), *(bind(value, portal=str(number)) for number in range(5)))
    assert error_of(messages)["C"] == "54000"


def test_a_parameter_that_stands_often_makes_no_long_text(ada, door):
    """A parameter of a megabyte, 33,000 times in one text, would be more than a machine has."""
    ada.sync(parse("SELECT " + ",".join(["$1"] * 30_000)))
    for message in (describe(), execute()):
        assert error_of(ada.sync(bind(b"x" * 900_000), message))["C"] == "54000"
    assert not door.questions()


def test_others_are_answered_while_a_long_text_is_read(served, ada, monkeypatch):
    answered, begun, in_time = threading.Event(), threading.Event(), []

    def split(text):
        if "+" in text:
            begun.set()
            in_time.append(answered.wait(2))
        return split_statements(text)

    monkeypatch.setattr(conversation, "split_statements", split)
    ada.send(frame(b"Q", b"SELECT " + b"+" * 90_000 + b"\0"))
    assert begun.wait(10)
    with RawClient(served.port) as client:
        client.log_in(served.tokens["bob"], user="bob")
        assert kinds_of(client.ask("SHOW discreet.pay")) == "TDCZ"
    answered.set()
    ada.read_until(b"Z")
    assert in_time == [True]


def test_a_client_that_does_not_read_is_cut_off(tmp_path):
    door = ScriptedDoor()

    async def ask(who, asked):
        reply = await ScriptedDoor.ask(ScriptedDoor(), who, asked)
        return replace(reply, table=replace(reply.table, rows=(("A" * 10_000, 1, 0.0, 0.0),) * 2_000))

    door.ask = ask
    with serve_postgres(door, tmp_path, write_seconds=0.2) as served, RawClient(served.port) as client:
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.log_in(served.tokens["ada"])
        client.send(frame(b"Q", f"{QUESTION}\0".encode()))
        wait_until(lambda: not served.server._connections)


def test_the_server_lets_statements_end_and_then_says_so(tmp_path):
    door = ScriptedDoor()
    with serve_postgres(door, tmp_path, drain_seconds=5) as served:
        client, idle = RawClient(served.port), RawClient(served.port)
        client.log_in(served.tokens["ada"])
        idle.log_in(served.tokens["ada"])
        door.wait = served.run(make_event())
        client.send(frame(b"Q", f"{QUESTION}\0".encode()))
        wait_until(door.questions)
        closing = asyncio.run_coroutine_threadsafe(served.server.close(), served.loop)
        assert error_of(idle.read_until(b"E"))["C"] == "57P01"
        served.loop.call_soon_threadsafe(door.wait.set)
        messages = client.read_until(b"Z", b"E")
        assert rows_of(messages) == ROWS
        closing.result(timeout=5)
        client.socket.close()
        idle.socket.close()
