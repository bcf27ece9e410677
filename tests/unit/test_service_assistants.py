"""Assistants: tools over a service, a price before an answer, and refusals that a model can act on."""

import asyncio
import json
import sys
from contextlib import contextmanager
from importlib import import_module

import pytest

pytest.importorskip("uvicorn", reason="discreet[service] is not installed")
pytest.importorskip("mcp", reason="discreet[mcp] is not installed")

from mcp.client.client import Client

import discreet
from clinic import BY_WARD, COUNT, opened, seen
from discreet.cli import main
from discreet.core import RunFailed
from discreet.service.assistants.server import RemoteService, build_server
from discreet.service.assistants.tools import MOST_ROWS, TOOLS, call_tool, refusal_fields
from discreet.service.refusals import NotYet
from discreet.service.words import AnswerColumn, AnswerReply, AnswerTable
from discreet.session import open_client
from loopback import listening
from service_http import serve_session


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("assistants"), budget=discreet.Budget(epsilon=30, delta=1e-9)) as session:
        yield session


@pytest.fixture(scope="module")
def served(local, tmp_path_factory):
    served = serve_session(local, tmp_path_factory.mktemp("served"))
    with listening(served.app) as address:
        yield address, served.tokens


@contextmanager
def service_of(served, *, who="ada", pay=True):
    address, tokens = served
    client, _ = open_client(address, token=tokens[who], dataset=None, patience=20, authorities=None)
    try:
        yield RemoteService(client, pay=pay)
    finally:
        client.close()


def calls(service, *asked):
    """Return what an assistant's program sees of some calls, over the protocol in memory."""

    async def run():
        async with Client(build_server(service)) as client:
            return [await client.call_tool(name, arguments) for name, arguments in asked]

    return asyncio.run(run())


def call(service, name, **arguments):
    """Return the fields of one reply, after it was seen that text and fields say the same."""
    reply = calls(service, (name, arguments))[0]
    assert json.loads(reply.content[0].text) == reply.structured_content
    assert reply.is_error == ("refused" in reply.structured_content)
    return reply.structured_content


def test_tools_say_what_they_do_and_which_of_them_spends(served):
    async def run(service):
        async with Client(build_server(service)) as client:
            return client.instructions, (await client.list_tools()).tools

    with service_of(served) as service:
        instructions, tools = asyncio.run(run(service))
    assert {tool.name: tool.annotations.read_only_hint for tool in tools} == {
        "schema": True,
        "preview": True,
        "ask": False,
        "account": True,
    }
    assert {tool.name for tool in tools if tool.annotations.destructive_hint} == {"ask"}
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)
    for word in ("preview", "noise", "free", "_low", "data"):
        assert word in instructions


def test_an_assistant_finds_its_way_from_the_schema_to_an_answer(served, local):
    with service_of(served) as service:
        tables = call(service, "schema")["tables"]
        assert tables[0]["name"] == "visits"
        assert {"name": "stay", "kind": "integer", "low": "0", "high": "60"} in tables[0]["columns"]
        before = local.ledger.spent
        price = call(service, "preview", sql=BY_WARD, epsilon="0.5")
        assert (price["fits"], price["free"]) == (True, False)
        assert [one["column"] for one in price["errors"]] == ["n", "stay"]
        assert local.ledger.spent == before
        answer = call(service, "ask", sql=BY_WARD, epsilon=0.5)
        assert answer["paid_now"]
        assert [row["ward"] for row in answer["rows"]] == ["A", "B", "C"]
        assert all(row["n_low"] < row["n_high"] for row in answer["rows"])  # n itself may be noise below zero
        again = call(service, "ask", sql=BY_WARD, epsilon="0.5")
        assert (again["rows"], again["paid_now"], again["left"]) == (answer["rows"], False, answer["left"])
        assert call(service, "preview", sql=BY_WARD, epsilon="0.5")["free"]
        account = call(service, "account")
        assert (account["who"], account["left"]) == ("ada", answer["left"])
    assert local.ledger.spent == before + 0.5
    assert local.ledger.recent(1)[0].analyst == "ada"


def test_an_accuracy_may_be_asked_for(served):
    with service_of(served) as service:
        price = call(service, "preview", sql=COUNT, within=40)
        assert float(price["errors"][0]["give_or_take"]) <= 40
        assert call(service, "ask", sql=COUNT, within="40")["rows_in_all"] == 1


def test_a_refusal_has_a_fix_a_price_and_what_is_left(served, local):
    with service_of(served) as service:
        before = local.ledger.spent
        dear = call(service, "ask", sql=COUNT, epsilon="1000")
        assert (dear["kind"], dear["price"]["fits"]) == ("BudgetExceeded", False)
        assert dear["fix"]
        assert dear["price"]["left"] == call(service, "account")["left"]
        wrong = call(service, "ask", sql="SELECT note FROM visits", epsilon="1")
        assert (wrong["kind"], wrong["line"]) == ("QueryRefused", 1)
        for name, arguments in [
            ("ask", {"sql": COUNT}),
            ("ask", {"epsilon": "1"}),
            ("ask", {"sql": COUNT, "epsilon": "1", "within": "3"}),
            ("ask", {"sql": COUNT, "epsilon": "a lot"}),
            ("ask", {"sql": COUNT, "epsilon": True}),
            ("ask", {"sql": COUNT, "epsilon": -1}),
            ("ask", {"sql": 7, "epsilon": "1"}),
            ("ask", {"sql": COUNT, "epsilon": "1", "fresh": True}),
            ("preview", {"sql": COUNT, "eps": "1"}),
            ("schema", {"table": "visits"}),
            ("drop_table", {}),
        ]:
            refused = call(service, name, **arguments)
            assert all(refused[word] for word in ("refused", "fix", "kind")), (name, arguments)
        assert local.ledger.spent == before


def test_an_assistant_that_may_not_pay_hears_the_price(served, local):
    with service_of(served, pay=False) as service:
        before = local.ledger.spent
        refused = call(service, "ask", sql="SELECT COUNT(*) AS n FROM visits WHERE age < 44", epsilon="0.25")
        assert (refused["kind"], refused["price"]["cost"]) == ("PaymentOff", "ε = 0.25")
        assert local.ledger.spent == before


def test_numbers_mean_their_decimal_text(served):
    with service_of(served) as service:
        costs = [call(service, "preview", sql=COUNT, epsilon=epsilon)["cost"] for epsilon in (0.1, "0.1", 1e-2, 1)]
    assert costs == ["ε = 0.1", "ε = 0.1", "ε = 0.01", "ε = 1"]


class Scripted:
    """A service that does as it is told."""

    def __init__(self, outcome):
        self.outcome, self.asked = outcome, []

    async def ask(self, asked):
        self.asked.append(asked)
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


def test_what_is_not_ready_names_the_request_to_ask_again_under():
    service = Scripted(NotYet.under("ada:auto-7", 30))
    refused = call(service, "ask", sql=COUNT, epsilon="1")
    assert (refused["request"], refused["ask_again_in_seconds"]) == ("ada:auto-7", 30)
    call(service, "ask", sql=COUNT, epsilon="1", request=refused["request"])
    assert service.asked[1].request == "ada:auto-7"
    assert refusal_fields(RunFailed("p", fix="f")) == {"refused": "p", "fix": "f", "kind": "RunFailed"}


def test_what_breaks_is_told_by_a_constant():
    refused = call(Scripted(ValueError("canaryward")), "ask", sql=COUNT, epsilon="1")
    assert refused["kind"] == "Failure"
    assert seen(json.dumps(refused)) == []


def test_a_long_answer_is_cut_and_says_so():
    rows = tuple((str(number), 2**60 + number) for number in range(MOST_ROWS + 9))
    columns = (AnswerColumn(name="key", kind="text"), AnswerColumn(name="n", kind="integer"))
    reply = AnswerReply(what="w", table=AnswerTable(columns=columns, rows=rows), caption="c", cost="ε = 1")
    answer = call(Scripted(reply), "ask", sql=COUNT, epsilon="1")
    assert (len(answer["rows"]), answer["rows_in_all"]) == (MOST_ROWS, MOST_ROWS + 9)
    assert answer["rows"][0] == {"key": "0", "n": str(2**60)}  # no reader rounds it


def test_roles_and_tokens_are_those_of_the_service(served):
    with service_of(served, who="eve") as service:
        assert call(service, "ask", sql=COUNT, epsilon="1")["kind"] == "NotAllowed"
        assert call(service, "account")["who"] == "eve"


def test_every_tool_is_described_without_a_second_meaning():
    names = [tool.name for tool in TOOLS]
    assert len(set(names)) == len(names)
    assert asyncio.run(call_tool(None, "none", None)).refused


def test_no_value_of_a_row_is_told(served):
    with service_of(served) as service:
        asked = [("schema", {}), ("account", {}), ("preview", {"sql": BY_WARD, "epsilon": "1"})]
        asked += [("ask", {"sql": sql, "epsilon": "1"}) for sql in (BY_WARD, COUNT, "SELECT note FROM visits")]
        asked += [("ask", {"sql": "SELECT ward, note, COUNT(*) AS n FROM visits GROUP BY ward, note", "epsilon": "1"})]
        told = "".join(reply.content[0].text for reply in calls(service, *asked))
    assert seen(told) == []


def test_what_the_command_is_refused_it_says_with_a_fix(monkeypatch, served, tmp_path, capsys):
    address, _ = served
    monkeypatch.delenv("DISCREET_TOKEN", raising=False)
    (tmp_path / "token").write_text("dsc1.0123456789ab." + "S" * 43)
    for words in (
        ["mcp", "--url", address],
        ["mcp", "--url", "http://data.hospital.example", "--token-file", str(tmp_path / "token")],
        ["mcp", "--url", address, "--token-file", str(tmp_path / "token")],
        ["mcp", "--url", address, "--token-file", str(tmp_path / "token"), "--patience", "soon"],
        ["mcp"],
    ):
        assert main(words) == 2
        told = capsys.readouterr()
        assert told.out == ""
        assert "fix:" in told.err
        assert "SSSS" not in told.err


def test_without_the_package_the_fix_names_it(monkeypatch):
    name = "discreet.service.assistants.server"
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    monkeypatch.delitem(sys.modules, name)
    with pytest.raises(discreet.DiscreetError, match="package mcp") as caught:
        import_module(name)
    assert "discreet[mcp]" in caught.value.fix
