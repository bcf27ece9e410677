"""Parts of the PostgreSQL face: words, parameters, cells, settings, the proof of a token."""

import base64
import hashlib
import hmac
import re
import struct
import time
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.service.postgres import statements as kinds
from discreet.service.postgres import values as v
from discreet.service.postgres.desk import show_amount
from discreet.service.postgres.frames import Body, read_bind, read_parse, read_startup
from discreet.service.postgres.parameters import blank_literals, fill, infer_types, write_literal
from discreet.service.postgres.refusals import SqlRefusal
from discreet.service.postgres.scram import ScramExchange, binding_of
from discreet.service.postgres.settings import begin_settings, read_options
from discreet.service.postgres.values import write_binary, write_text
from discreet.service.postgres.words import PieceKind, split_pieces, split_statements
from discreet.service.tokens import ScramKeys, ScramVerifier

KINDS = {"ward": "text", "age": "integer", "admitted": "date", "cost": "real", "seen": "timestamp", "old": "boolean"}


@given(st.text("aZ_1 '\"$/*-;\\\nE.", max_size=40))
def test_pieces_are_the_text_and_statements_are_its_parts(text):
    try:
        pieces = list(split_pieces(text))
    except SqlRefusal as error:
        refusal = error
    else:
        refusal = None
    if refusal is not None:
        assert refusal.sqlstate == "42601"
        return
    assert "".join(piece.text for piece in pieces) == text
    signs = sum(piece.kind is PieceKind.SIGN and piece.text == ";" for piece in pieces)
    assert len(split_statements(text)) <= signs + 1


def test_statements_end_at_semicolons_outside_of_quotes_and_comments():
    text = """SELECT 'a;''b', "c;d" /* ; /* ; */ ; */ -- ;\n; SELECT $x$;$x$, E'\\';' ; ; """
    assert [one.text for one in split_statements(text)] == [
        """SELECT 'a;''b', "c;d\"""",
        "SELECT $x$;$x$, E'\\';'",
    ]
    for open_text in ("SELECT 'a", 'SELECT "a', "SELECT /* a", "SELECT $x$a", "SELECT E'a\\'"):
        with pytest.raises(SqlRefusal, match="not closed"):
            split_statements(open_text)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30))
def test_no_text_leaves_its_literal(text):
    (statement,) = split_statements("SELECT COUNT(*) FROM visits WHERE ward = $1 AND age > 3")
    filled = fill(statement, [write_literal(text.encode(), 25, 0)])
    (again,) = split_statements(filled)
    words = [piece for piece in again.words if piece.kind is PieceKind.TEXT]
    assert [word.text[1:-1].replace("''", "'") for word in words] == [text]
    assert len(again.words) == len(statement.words)


@given(st.one_of(st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)))
def test_no_number_changes_the_words_around_it(number):
    oid = 20 if isinstance(number, int) else 701
    for text in ("SELECT 1-$1", "SELECT a$1 $1and", "SELECT -$1*2"):
        (statement,) = split_statements(text)
        before = [piece.text for piece in statement.words]
        literal = write_literal(repr(number).encode(), oid, 0)
        (again,) = split_statements(fill(statement, [literal]))
        inside = [piece.text for word in before for piece in split_pieces(literal if word == "$1" else word)]
        assert [piece.text for piece in again.words] == inside
        assert float(re.sub(r"[()\s]", "", literal)) == float(number)


def test_parameters_have_the_types_of_what_they_are_compared_with():
    (statement,) = split_statements(
        "SELECT ward, COUNT(*) AS n FROM visits WHERE ward = $1 AND $2 <= age AND admitted BETWEEN $3 AND $4 "
        "AND cost > -$5 AND seen < $6 AND old = $7 AND ward IN ('A', $8) AND age = $9::INTEGER AND note LIKE $10 "
        "GROUP BY ward HAVING COUNT(*) > $11 LIMIT $12"
    )
    assert infer_types(statement, (), KINDS) == (25, 20, 1082, 1082, 701, 1114, 16, 25, 20, 25, 701, 20)
    assert infer_types(statement, (0, 23), KINDS)[1] == 23
    filled = fill(statement, blank_literals(infer_types(statement, (), KINDS)))
    assert "$" not in filled


def test_values_of_all_types_in_both_forms():
    for value, oid, literal in (
        (b"  7 ", 23, "7"),
        (b"t", 16, "TRUE"),
        (b"2024-01-31 +01", 1082, "DATE '2024-01-31'"),
        (b"2024-01-31 10:20", 1114, "TIMESTAMP '2024-01-31 10:20:00'"),
        (b"2024-01-31 10:20:30.5+02", 1114, "TIMESTAMP '2024-01-31 10:20:30.5'"),
        (b"2024-01-31T10:20:30Z", 1184, "TIMESTAMP '2024-01-31 10:20:30'"),
        (b"1.50", 1700, "1.50"),
        (None, 25, "NULL"),
    ):
        assert write_literal(value, oid, 0) == literal
    assert write_literal(b"\0\3\0\1\0\0\0\2" + b"\0\1\x09\x29\x15\x7c", 1700, 1) == "12345.5500"
    assert write_literal(b"\0\1\xff\xff\x40\0\0\4\0\1", 1700, 1) == "(-0.0001)"
    assert write_literal(b"\0\0\0\0\0\0\0\1", 1114, 1) == "TIMESTAMP '2000-01-01 00:00:00.000001'"
    with pytest.raises(SqlRefusal):
        write_literal(b"2024-01-31 10:20:30+02", 1184, 0)


def test_a_number_of_many_digits_is_refused_before_it_is_worked_out():
    """The work grows with the square of the digits: a message of a megabyte took the front nine seconds."""
    content = struct.pack("!hhHH", 32_767, 0, 0, 0) + struct.pack("!H", 9_999) * 32_767
    begun = time.process_time()
    for _ in range(20):
        with pytest.raises(SqlRefusal):
            write_literal(content, v.NUMERIC, 1)
    assert time.process_time() - begun < 1  # 12 s otherwise


def test_cells_are_written_as_postgresql_writes_them():
    assert [write_text(value) for value in (True, -3, 0.1, 2.0, float("nan"), None, date(2024, 1, 2))] == [
        b"t", b"-3", b"0.1", b"2", b"NaN", None, b"2024-01-02",
    ]  # fmt: skip
    assert write_text(datetime.fromisoformat("2024-01-02 03:04:05")) == b"2024-01-02 03:04:05"
    assert write_text(["a", 'b"\\', None]) == b'{"a","b\\"\\\\",NULL}'
    assert write_binary(date(2000, 1, 3), 1082) == b"\0\0\0\2"
    assert write_binary(datetime.fromisoformat("1999-12-31 23:59:59"), 1114) == (-1_000_000).to_bytes(
        8, "big", signed=True
    )
    with pytest.raises(SqlRefusal, match="does not fit"):
        write_binary(2**63, 20)


@given(st.binary(max_size=60))
def test_bytes_of_any_kind_are_words_or_a_refusal(content):
    for read in (read_bind, read_parse, lambda body: read_startup(3 << 16, body)):
        refusal = None
        try:
            read(content)
        except SqlRefusal as error:
            refusal = error
        assert refusal is None or (refusal.sqlstate, refusal.fatal) == ("08P01", True)
    assert Body(b"a\0").text() == "a"


def test_options_of_a_connection_are_read_as_libpq_writes_them():
    assert read_options("-c discreet.epsilon=0.1 -cdiscreet.pay=off --client-min-messages=warning -c a=b\\ c") == [
        ("discreet.epsilon", "0.1"),
        ("discreet.pay", "off"),
        ("client_min_messages", "warning"),
        ("a", "b c"),
    ]
    found = begin_settings({"user": "ada", "discreet.epsilon": "0.2", "TimeZone": "Europe/Berlin"}, "ada", pays=False)
    assert found.asked("SELECT 1", "x").pay is False
    assert found.asked("SELECT 1", "x").epsilon == "0.2"
    assert found.set("discreet.epsilon", "1").reset().set("discreet.rho", "2").reset() == found.reset()
    assert found.find("timezone") == "Europe/Berlin"
    assert dict(found.list_all())["TimeZone"] == "Europe/Berlin"


def test_statements_are_known_by_their_first_words():
    def read(text):
        return kinds.read_statement(split_statements(text)[0])

    assert read("set time zone 'UTC'") == kinds.SetOption("timezone", "UTC")
    assert read("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY") == kinds.Nothing("SET")
    assert read("SET names 'utf8'") == kinds.SetOption("client_encoding", "utf8")
    assert read('SET LOCAL "discreet.epsilon" TO DEFAULT') == kinds.SetOption("discreet.epsilon", None, local=True)
    assert read("SHOW TRANSACTION ISOLATION LEVEL") == kinds.ShowOption("transaction_isolation")
    assert read("START TRANSACTION READ ONLY") == kinds.Begin()
    assert read("ROLLBACK TO SAVEPOINT a") == kinds.Mark("ROLLBACK", "a")
    assert read("ABORT") == kinds.End(commit=False)
    assert read('DEALLOCATE PREPARE "A"') == kinds.Deallocate("A")
    assert read("EXPLAIN (FORMAT TEXT) SELECT 1").question.text == "SELECT 1"
    assert isinstance(read("(SELECT 1)"), kinds.Ask)


def test_an_exchange_of_rfc_7677():
    """The example of RFC 7677, section 3, with the server's nonce of ours."""
    password, salt = b"pencil", base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")

    _, keys = derive_keys(password, salt)
    exchange = ScramExchange(ScramVerifier(salt=salt, iterations=4096, keys=(keys,), known=True))
    exchange.begin("SCRAM-SHA-256", b"n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
    object.__setattr__(exchange._opening, "nonce", b"rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
    object.__setattr__(
        exchange._opening,
        "answer",
        b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    )
    proof = b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
    proof += b"p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    assert exchange.finish(proof) == b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def derive_keys(password, salt):
    """Return a client's key, and what a server keeps of it."""
    salted = hashlib.pbkdf2_hmac("sha256", password, salt, 4096)
    client = hmac.digest(salted, b"Client Key", "sha256")
    stored, server = hashlib.sha256(client).digest(), hmac.digest(salted, b"Server Key", "sha256")
    return client, ScramKeys(stored_key=stored, server_key=server)


def test_a_right_proof_with_another_nonce_is_refused():
    client, keys = derive_keys(b"token", b"s" * 16)
    for nonce, passes in ((None, True), (b"abcANOTHER", False)):
        exchange = ScramExchange(ScramVerifier(salt=b"s" * 16, iterations=4096, keys=(keys,), known=True))
        answer = exchange.begin("SCRAM-SHA-256", b"n,,n=,r=abc")
        said = b"c=biws,r=" + (nonce or answer.split(b",")[0][2:])
        mask = hmac.digest(keys.stored_key, b",".join((b"n=,r=abc", answer, said)), "sha256")
        proof = bytes(one ^ other for one, other in zip(client, mask, strict=True))
        final = said + b",p=" + base64.b64encode(proof)
        if passes:
            assert exchange.finish(final).startswith(b"v=")
        else:
            with pytest.raises(SqlRefusal):
                exchange.finish(final)


@given(st.binary(max_size=80))
def test_a_certificate_of_any_bytes_has_a_binding_or_none(content):
    assert binding_of(content) is None or len(binding_of(content)) >= 32


def test_a_proof_of_nobody_is_refused_whatever_it_is():
    keys = ScramKeys(stored_key=b"\0" * 32, server_key=b"\0" * 32)
    for known in (True, False):
        exchange = ScramExchange(ScramVerifier(salt=b"s" * 16, iterations=4096, keys=(keys,), known=known))
        nonce = re.match(rb"r=([^,]+)", exchange.begin("SCRAM-SHA-256", b"n,,n=,r=abc"))[1]
        with pytest.raises(SqlRefusal) as refusal:
            exchange.finish(b"c=biws,r=" + nonce + b",p=" + base64.b64encode(b"\0" * 32))
        assert (refusal.value.sqlstate, refusal.value.fatal) == ("28P01", True)


def test_amounts_are_shown_exactly():
    shown = {"29/10": "2.9", "3": "3", "1/3": "1/3", "1/1000": "0.001", "-1/4": "-0.25", "0.50": "0.5", "": ""}
    assert {text: show_amount(text) for text in shown} == shown
