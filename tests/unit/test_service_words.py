"""Words of the service: one JSON form, exact both ways, and nothing else is read."""

from dataclasses import fields
from datetime import date, datetime

import pytest

from discreet.core import BudgetExceeded, DiscreetError, InvalidInput
from discreet.core.schema import Kind
from discreet.query import QueryRefused
from discreet.service.refusals import KINDS, NotYet, Refusal
from discreet.service.words import (
    AnswerColumn,
    AnswerReply,
    AnswerTable,
    Asked,
    AskedBatch,
    PaymentReceipt,
    PredictedError,
    PreviewReply,
    read_cell,
    read_text,
    write_text,
    write_word,
)

TABLE = AnswerTable(
    columns=tuple(AnswerColumn(name=kind.value, kind=kind.value) for kind in Kind),
    rows=(
        (2**70, 0.1, "ä\x00", True, date(2024, 2, 29), datetime(2024, 2, 29, 1, 2, 3, 4)),  # noqa: DTZ001 - as answers
        (None,) * 6,
    ),
)
RECEIPT = PaymentReceipt(
    ledger="l", number=3, head="h", request="ada:1", analyst="ada", plan="p", what="n", cost="loss/1 pure(epsilon=1/10)"
)
WORDS = (
    Asked(sql="SELECT 1", epsilon="0.1", within={"n": "25"}, limit={"rows": 3}, request="r", pay=False),
    Asked(sql="SELECT 1", within="25"),
    AskedBatch(sql=("SELECT 1", "SELECT 2"), rho="1/10"),
    TABLE,
    AnswerReply(what="n", table=TABLE, caption="c", cost="ε = 0.1", stored=b"\x00\xff", receipt=RECEIPT, release=4),
    PreviewReply(
        what="n",
        fits=True,
        free=False,
        cost="c",
        spend="1/10",
        currency="epsilon",
        left=None,
        release=None,
        errors=(PredictedError(name="n", error=None, words="–"),),
        lines=("a", "b"),
    ),
    Refusal(kind="NotYet", problem="p", fix="f", request="r", seconds=2),
)


def test_every_word_is_read_as_it_was_written():
    assert [word for word in WORDS if read_text(type(word), write_text(word)) != word] == []


def test_amounts_and_cells_are_texts_so_that_no_reader_rounds_them():
    rows = write_word(TABLE)["rows"]
    assert rows[0][:2] == [str(2**70), "0.1"]
    assert rows[1] == [None] * 6


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"nul",
        b"\xff",
        b'{"sql": "a", "sql": "b"}',
        b'{"sql": 1}',
        b'{"epsilon": "1"}',
        b'{"sql": "a", "epsilon": 0.1}',
        b'{"sql": "a", "size": true}',
        b'{"sql": "a", "fresh": 1}',
        b'{"sql": "a", "limit": {"rows": "3"}}',
        b'{"sql": "a", "limit": []}',
        b'{"sql": "a", "more": 1}',
        b'{"sql": "a", "size": NaN}',
        b'{"sql": "a", "within": ["3"]}',
    ],
)
def test_what_is_no_question_is_refused_with_a_fix(text):
    with pytest.raises(InvalidInput) as caught:
        read_text(Asked, text)
    assert caught.value.fix


def test_cells_that_do_not_fit_their_column_are_refused():
    misfits = [
        (Kind.INTEGER, "0.5"),
        (Kind.INTEGER, 1),
        (Kind.REAL, "nan"),
        (Kind.REAL, "inf"),
        (Kind.DATE, "2024-02-30"),
        (Kind.TIMESTAMP, "noon"),
        (Kind.BOOLEAN, "true"),
        (Kind.TEXT, 3),
    ]
    for kind, cell in misfits:
        with pytest.raises(InvalidInput):
            read_cell(kind, cell)


def test_refusals_come_back_as_the_error_that_they_were():
    for kind in KINDS.values():
        error = kind("p", fix="f", line=2, column=3) if kind is QueryRefused else kind("p", fix="f")
        again = Refusal.of(error).error()
        assert type(again) is kind
        assert str(again) == str(error)
    late = Refusal.of(NotYet.under("ada:1", 4)).error()
    assert isinstance(late, NotYet)
    assert (late.request, late.seconds) == ("ada:1", 4)


def test_an_error_of_no_known_kind_is_told_as_its_nearest_known_one():
    class Narrow(BudgetExceeded):
        pass

    class Strange(DiscreetError):
        pass

    assert Refusal.of(Narrow("p", fix="f")).kind == "BudgetExceeded"
    assert Refusal.of(Strange("p", fix="f")).kind == "DiscreetError"
    assert type(Refusal(kind="Unheard", problem="p", fix="f").error()) is DiscreetError


def test_a_question_has_an_option_for_every_keyword_of_a_session():
    from discreet.session import ReleaseOptions

    assert {field.name for field in fields(Asked)} == {"sql", "pay", *ReleaseOptions.__annotations__}
