"""HTTP: words in, words out; what is refused has a status, a problem and a fix, and quotes nothing of the inside."""

import json

import pytest

pytest.importorskip("starlette", reason="discreet[service] is not installed")
pytest.importorskip("httpx", reason="httpx is not installed")

from tests.clinic import BY_WARD, COUNT, opened, seen

import discreet
from discreet.service import AnswerReply
from discreet.service.http.messages import BodyLimits
from discreet.service.http.problems import STATUSES
from discreet.service.limits import RateLimits
from discreet.service.refusals import KINDS, Busy, NotYet, TooMany
from discreet.service.words import read_text
from service_http import Served, serve_session

PROBLEM = {"type", "title", "status", "detail", "fix", "kind"}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("http"), ledger=None) as session:
        yield session


@pytest.fixture(scope="module")
def clinic(session, tmp_path_factory):
    return serve_session(session, tmp_path_factory.mktemp("served"), limits=BodyLimits(size=64 * 1024, seconds=5))


class RaisingDoor:
    """A door that fails as it is told."""

    def __init__(self, error):
        self.error = error

    def __getattr__(self, name):
        async def fail(*_words):
            raise self.error

        return fail


def problem_of(reply, status):
    """Return the problem that a reply is, after its form was checked."""
    assert reply.status_code == status, reply.text
    assert reply.headers["content-type"] == "application/problem+json"
    facts = reply.json()
    assert facts.keys() >= PROBLEM
    assert facts["status"] == status
    return facts


def test_an_answer_is_words_with_bars_and_a_receipt(clinic, session):
    reply = clinic.post("ask", {"sql": BY_WARD, "epsilon": "0.1"}, headers={"Idempotency-Key": "one"})
    assert reply.status_code == 200
    answer = read_text(AnswerReply, reply.content)
    names = [column.name for column in answer.table.columns]
    assert names == ["ward", "n", "n_low", "n_high", "stay", "stay_low", "stay_high"]
    assert answer.receipt.request == "ada:one"
    assert not seen(reply.text)
    again = clinic.post("ask", {"sql": BY_WARD, "epsilon": "0.1"}, headers={"Idempotency-Key": "one"})
    assert read_text(AnswerReply, again.content).stored == answer.stored
    assert json.loads(reply.text)["table"]["rows"][0][1].lstrip("-").isdigit()  # a number is a text


def test_one_idempotency_key_of_two_people_is_two_requests(clinic, session):
    body = {"sql": "SELECT COUNT(*) AS n FROM visits WHERE age < 30", "epsilon": "0.01", "fresh": True}
    replies = [clinic.post("ask", body, who=who, headers={"Idempotency-Key": "same"}) for who in ("ada", "bob", "ada")]
    ada, bob, again = [read_text(AnswerReply, reply.content) for reply in replies]
    assert (ada.receipt.request, bob.receipt.request) == ("ada:same", "bob:same")
    assert ada.receipt.number != bob.receipt.number
    assert (again.receipt, again.stored) == (ada.receipt, ada.stored)


def test_a_key_and_another_id_in_the_body_are_refused(clinic, session):
    before = session.ledger.spent
    body = {"sql": COUNT, "epsilon": "0.1", "request": "two", "fresh": True}
    problem_of(clinic.post("ask", body, headers={"Idempotency-Key": "three"}), 422)
    assert session.ledger.spent == before


def test_free_acts_pay_nothing(clinic, session):
    before = session.ledger.spent
    question = {"sql": COUNT, "epsilon": "0.25"}
    assert clinic.post("preview", question).json()["spend"] == "1/4"
    assert clinic.post("explain", question).json()["lines"]
    assert clinic.post("shape", {"sql": COUNT}).json() == {"columns": [{"name": "n", "kind": "integer"}]}
    assert clinic.get("schema").json()["tables"][0]["name"] == "visits"
    assert clinic.get("account").json()["analyst"] == "ada"
    assert clinic.get("facts").status_code == 200
    assert clinic.get("/v1/datasets").json() == {"datasets": ["clinic"], "version": discreet.__version__}
    assert clinic.get("/v1/health", who="").json() == {"status": "ok"}
    assert session.ledger.spent == before


def test_a_request_that_may_not_pay_pays_nothing_and_hears_the_price(clinic, session):
    before = session.ledger.spent
    body = {"sql": "SELECT COUNT(*) AS n FROM visits WHERE age < 41", "epsilon": "0.125", "pay": False}
    problem = problem_of(clinic.post("ask", body), 402)
    assert "0.125" in problem["detail"]
    assert session.ledger.spent == before


def test_a_price_beyond_the_budget_is_402_and_pays_nothing(clinic, session):
    before = session.ledger.spent
    problem = problem_of(clinic.post("ask", {"sql": COUNT, "epsilon": "7"}), 402)
    assert problem["kind"] == "BudgetExceeded"
    assert session.ledger.spent == before


def test_a_refused_question_names_its_place_and_a_fix(clinic):
    problem = problem_of(clinic.post("ask", {"sql": "SELECT note FROM visits", "epsilon": "0.1"}), 422)
    assert (problem["kind"], problem["line"]) == ("QueryRefused", 1)
    assert problem["fix"]


def test_whoever_has_no_valid_token_gets_one_and_the_same_reply(clinic):
    ada = clinic.tokens["ada"]
    gone = clinic.registry.rotate("pia", overlap=0)
    clinic.registry.revoke("pia")
    headers = [
        {},
        {"Authorization": "Basic YTpi"},
        {"Authorization": ada},
        {"Authorization": f"Bearer {ada[:-1]}"},
        {"Authorization": f"Bearer {gone}"},
        {"Authorization": f"Bearer {clinic.tokens['pia']}"},
        {"Authorization": "Bearer " + "x" * 5000},
        {"Cookie": f"token={ada}"},
    ]
    replies = [clinic.get("schema", who="", headers=one) for one in headers]
    replies += [clinic.get("/v1/datasets/none/schema", who=""), clinic.get(f"schema?token={ada}", who="")]
    assert {reply.status_code for reply in replies} == {401}
    assert len({reply.content for reply in replies}) == 1
    assert all(reply.headers["www-authenticate"].startswith("Bearer") for reply in replies)


def test_roles_have_their_limits(clinic):
    assert problem_of(clinic.post("ask", {"sql": COUNT, "epsilon": "0.1"}, who="eve"), 403)["kind"] == "NotAllowed"
    problem_of(clinic.get("audit", who="ada"), 403)
    problem_of(clinic.get("/v1/metrics", who="ada"), 403)
    assert clinic.get("audit", who="eve").status_code == 200
    assert 'act="audit"' in clinic.get("/v1/metrics", who="sam").text


def test_paths_methods_types_sizes_and_forms_have_their_statuses(clinic):
    large = "x" * (64 * 1024 + 1)
    body = {"sql": COUNT, "epsilon": "0.1"}
    deep = '{"sql": ' + "[" * 50_000 + "]" * 50_000 + "}"
    text = {"Content-Type": "application/json"}
    expected = {
        "path": (clinic.get("/v2/none"), 404),
        "slash": (clinic.get("/v1/datasets/clinic/schema/"), 404),
        "dataset": (clinic.get("/v1/datasets/none/schema"), 404),
        "method": (clinic.get("ask"), 405),
        "options": (clinic.request("OPTIONS", "ask"), 405),
        "type": (clinic.request("POST", "ask", content="a=1", headers={"Content-Type": "text/plain"}), 415),
        "no type": (clinic.request("POST", "ask", content="{}"), 415),
        "size": (clinic.post("ask", {**body, "sql": large}), 413),
        "length": (clinic.request("POST", "ask", content="{}", headers={**text, "Content-Length": "9" * 30}), 413),
        "json": (clinic.request("POST", "ask", content="{", headers=text), 400),
        "utf-8": (clinic.request("POST", "ask", content=b'{"sql": "\xff"}', headers=text), 400),
        "deep": (clinic.request("POST", "ask", content=deep[:60_000], headers=text), 400),
        "list": (clinic.post("ask", [body]), 400),
        "twice": (clinic.request("POST", "ask", content='{"sql": "a", "sql": "b"}', headers=text), 400),
        "unknown field": (clinic.post("ask", {**body, "colour": "red"}), 400),
        "number": (clinic.post("ask", {**body, "epsilon": 0.1}), 400),
        "amount": (clinic.post("ask", {**body, "epsilon": "1e3"}), 422),
        "no price": (clinic.post("ask", {"sql": COUNT}), 422),
        "query": (clinic.get("schema?colour=red"), 400),
        "most": (clinic.get("releases?most=0"), 422),
        "request": (clinic.get("certificate"), 400),
        "release": (clinic.get("certificate?request=ada:none"), 404),
    }
    wrong = {name: reply.status_code for name, (reply, status) in expected.items() if reply.status_code != status}
    assert wrong == {}
    for reply, status in expected.values():
        problem_of(reply, status)
    assert expected["method"][0].headers["allow"] == "POST"


def test_a_body_without_a_length_is_cut_off_at_the_limit(clinic):
    sent = []

    async def without_end():
        while len(sent) < 100:
            sent.append(1)
            yield b" " * 10_000

    reply = clinic.request("POST", "ask", content=without_end(), headers={"Content-Type": "application/json"})
    problem_of(reply, 413)


def test_every_kind_of_refusal_has_a_status():
    assert STATUSES.keys() == KINDS.keys()


def test_what_fails_inside_is_told_by_a_constant(tmp_path, caplog):
    served = Served(RaisingDoor(RuntimeError("canarynote 48151623")), tmp_path)
    replies = [served.post("ask", {"sql": COUNT, "epsilon": "1"}), served.get("schema")]
    served.face.doors["clinic"]._door.error = KeyError("canarypatient")
    replies.append(served.get("account"))
    assert {reply.status_code for reply in replies} == {500}
    assert len({reply.content for reply in replies}) == 1
    assert not seen(replies[0].text)
    assert "Traceback" not in replies[0].text


def test_not_yet_and_busy_say_when_to_ask_again(tmp_path):
    served = Served(RaisingDoor(NotYet.under("ada:one", 8)), tmp_path)
    reply = served.post("ask", {"sql": COUNT, "epsilon": "1"})
    problem = problem_of(reply, 409)
    assert (reply.headers["retry-after"], problem["request"], problem["seconds"]) == ("8", "ada:one", 8)
    served.face.doors["clinic"]._door.error = Busy("All workers are taken.", fix="ask again")
    reply = served.post("ask", {"sql": COUNT, "epsilon": "1"})
    assert problem_of(reply, 503)["kind"] == "Busy"
    assert reply.headers["retry-after"] == "1"


def test_too_many_requests_are_429_for_their_sender_alone(session, tmp_path):
    served = serve_session(session, tmp_path, rates=RateLimits(requests=2))
    statuses = [served.get("account").status_code for _ in range(3)]
    assert statuses == [200, 200, 429]
    reply = served.get("account")
    assert 0 < int(reply.headers["retry-after"]) <= 60
    assert problem_of(reply, 429)["kind"] == "TooMany"
    assert served.get("account", who="bob").status_code == 200


def test_where_waiting_does_not_help_a_refusal_names_no_time(tmp_path):
    served = Served(RaisingDoor(TooMany("It costs more than an hour allows.", fix="ask for less at once")), tmp_path)
    reply = served.post("ask", {"sql": COUNT, "epsilon": "1"})
    assert problem_of(reply, 429)["kind"] == "TooMany"
    assert "retry-after" not in reply.headers


def test_every_reply_has_the_headers_that_browsers_heed_and_no_page_of_another_origin_is_served(clinic):
    replies = [
        clinic.get("schema"),
        clinic.get("schema", who=""),
        clinic.get("/none"),
        clinic.post("ask", {}),
        clinic.get("schema", headers={"Origin": "https://evil.example"}),
    ]
    for reply in replies:
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in reply.headers["content-security-policy"]
        assert not [name for name in reply.headers if name.startswith(("access-control", "set-cookie"))]
    assert replies[-1].status_code == 403


def test_the_audit_log_has_each_request_as_it_arrived_and_nothing_of_its_end(clinic):
    clinic.post("ask", {"sql": "SELECT COUNT(*) AS n FROM visits WHERE age < 77", "epsilon": "0.01"}, who="bob")
    clinic.post("ask", {"sql": "SELECT nonsense", "epsilon": "0.01"}, who="bob")
    events = clinic.get("audit?most=3", who="eve").json()["events"]
    assert [(one["who"], one["act"], one["price"]) for one in events[1:]] == [("bob", "ask", "epsilon 0.01")] * 2
    assert events[2]["sql"] == ["SELECT COUNT(*) AS n FROM visits WHERE age < 77"]
    lines = clinic.audit.place.read_text()
    assert not [token for token in clinic.tokens.values() if token in lines]
    assert clinic.audit.place.stat().st_mode & 0o777 == 0o600


def test_a_request_that_cannot_be_written_down_is_not_served(session, tmp_path):
    served = serve_session(session, tmp_path)
    served.audit.place = tmp_path / "none" / "audit.jsonl"
    before = session.ledger.spent
    problem_of(served.post("ask", {"sql": COUNT, "epsilon": "0.5", "fresh": True}), 503)
    assert session.ledger.spent == before


def test_a_registry_that_cannot_be_read_admits_nobody(session, tmp_path):
    served = serve_session(session, tmp_path)
    served.registry.place.write_bytes(b"{")
    assert problem_of(served.get("schema"), 503)["kind"] == "NotReady"


def test_the_openapi_document_names_every_route_and_every_reply(clinic):
    document = clinic.get("/openapi.json", who="").json()
    served = {route.path for route in clinic.app._app.routes} - {"/openapi.json"}
    assert set(document["paths"]) == served
    text = json.dumps(document)
    assert all(f'"{name}"' in text for name in document["components"]["schemas"])
    for path in document["paths"].values():
        for operation in path.values():
            assert {"200", "500"} <= operation["responses"].keys()
