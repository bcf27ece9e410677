"""Shares through the service: what analysts are charged, what they are shown of each other, and requests for more."""

import asyncio

import pytest

from clinic import BY_WARD, COUNT, opened
from discreet.core import BudgetExceeded
from discreet.gate import Budget, Policy
from discreet.service import Asked, AskedBatch, LocalDoor, Principal, Role
from discreet.service.refusals import NotFound
from discreet.service.words import AskedShare, write_text, write_word
from service_http import PEOPLE, serve_session

ADA = Principal(name="ada", role=Role.ANALYST, team="icu")
BOB = Principal(name="bob", role=Role.ANALYST, team="icu")
CAT = Principal(name="cat", role=Role.ANALYST)
EVE = Principal(name="eve", role=Role.AUDITOR)
SAM = Principal(name="sam", role=Role.STEWARD)
OTHER = "SELECT COUNT(*) AS n FROM visits WHERE age < 30"
MEANS = "SELECT ward, AVG(age) AS age FROM visits GROUP BY ward"


def run(awaitable):
    return asyncio.run(awaitable)


def share(ledger):
    for name in ("ada", "bob", "cat"):
        ledger.resize(1, by="sam", reason="a share", analyst=name)
    ledger.resize(1.5, by="sam", reason="a share", team="icu")


@pytest.fixture
def session(tmp_path):
    with opened(tmp_path, ledger=tmp_path / "a.ledger") as session:
        share(session.ledger)
        yield session


@pytest.fixture
def door(session):
    return LocalDoor(session)


def shares_of(door, who):
    """Return what an account says was spent: by the analyst, the team and the dataset."""
    return {one.whose: (one.name, one.spent) for one in run(door.account(who)).shares}


def test_an_account_has_the_own_share_the_teams_and_what_the_dataset_has_left(door):
    reply = run(door.ask(ADA, Asked(sql=COUNT, epsilon="0.5")))
    assert (reply.receipt.team, reply.receipt.copied) == ("icu", 0)
    copied = run(door.ask(BOB, Asked(sql=COUNT, epsilon="0.5", request="mine")))
    assert (copied.fresh, copied.stored, copied.left) == (True, reply.stored, "1/2")
    assert (copied.receipt.analyst, copied.receipt.request) == ("bob", "bob:mine")
    assert copied.receipt.copied == reply.receipt.number
    run(door.ask(CAT, Asked(sql=OTHER, epsilon="0.25")))
    assert shares_of(door, BOB) == {"analyst": ("bob", "1/2"), "team": ("icu", "1/2"), "dataset": ("", "3/4")}
    assert shares_of(door, CAT) == {"analyst": ("cat", "1/4"), "dataset": ("", "3/4")}
    account = run(door.account(BOB))
    assert (account.team, account.left) == ("icu", "1/2")
    listed = run(door.releases(BOB)).releases
    assert [(one.request, one.copied, one.release) for one in listed] == [
        ("bob:mine", reply.receipt.number, reply.release)
    ]


def test_a_batch_is_copied_as_a_whole(door, session):
    asked = AskedBatch(sql=(COUNT, BY_WARD), epsilon="0.5")
    first, second = run(door.batch(ADA, asked)), run(door.batch(BOB, asked))
    assert [one.stored for one in first.answers] == [one.stored for one in second.answers]
    assert session.ledger.state.account.total.spent == session.ledger.state.account.filter_of("bob").spent


def test_whatever_others_asked_a_preview_has_the_same_bytes(tmp_path):
    shown = []
    for name, theirs in (("one", (COUNT, BY_WARD)), ("two", (OTHER, MEANS))):
        folder = tmp_path / name
        folder.mkdir()
        with opened(folder, ledger=folder / "a.ledger") as session:
            share(session.ledger)
            door = LocalDoor(session)
            for who, sql in ((BOB, theirs[0]), (CAT, theirs[0]), (CAT, theirs[1])):
                run(door.ask(who, Asked(sql=sql, epsilon="0.25")))
            run(door.ask(ADA, Asked(sql="SELECT SUM(stay) AS s FROM visits", epsilon="0.125")))
            shown.append(looks(door))
    assert shown[0] == shown[1]
    previews = [text for text in shown[0] if b'"release":' in text]
    assert len(previews) == 9
    assert all(b'"free":false' in text and b'"release":null' in text for text in previews)


def looks(door):
    """Return all that Ada is shown before she pays, as bytes."""
    questions = [Asked(sql=sql, epsilon=price) for sql in (COUNT, OTHER, BY_WARD) for price in ("0.25", "0.5", "2")]
    found = [write_text(run(door.preview(ADA, asked))) for asked in questions]
    found += ["\n".join(run(door.explain(ADA, asked))).encode() for asked in questions]
    found += [write_text(run(door.preview_batch(ADA, AskedBatch(sql=(COUNT, OTHER), epsilon="0.25"))))]
    for asked in (Asked(sql=COUNT, epsilon="2"), Asked(sql=OTHER, epsilon="2")):
        with pytest.raises(BudgetExceeded) as refused:
            run(door.ask(ADA, asked))
        found.append(str(refused.value).encode())
    for asked in (Asked(sql=COUNT, epsilon="0.25", pay=False), Asked(sql=OTHER, epsilon="0.25", pay=False)):
        with pytest.raises(Exception, match="not stored") as unpaid:
            run(door.ask(ADA, asked))
        found.append(str(unpaid.value).encode())
    return [*found, write_text(run(door.account(ADA))), write_text(run(door.schema(ADA)))]


def test_a_certificate_of_a_copy_is_for_its_own_analyst(door):
    run(door.ask(ADA, Asked(sql=COUNT, epsilon="0.5", request="hers")))
    run(door.ask(BOB, Asked(sql=COUNT, epsilon="0.5", request="his")))
    paper = run(door.certificate(BOB, "bob:his"))
    assert [word for word in ("ada:hers", '\\"ada\\"') if word in paper] == []
    assert '\\"bob\\"' in paper
    for who, request in ((BOB, "ada:hers"), (ADA, "bob:his")):
        with pytest.raises(NotFound):
            run(door.certificate(who, request))
    assert run(door.certificate(EVE, "bob:his"))


def test_where_each_analyst_has_the_whole_budget_teams_change_nothing(tmp_path):
    ledger = tmp_path / "a.ledger"
    from discreet.core import PrivacyUnit
    from discreet.gate import Ledger

    Ledger.create(
        ledger, Budget(3, 1e-9, unit=PrivacyUnit(column="patient_id")), policy=Policy.SEPARATE, anchors=[]
    ).close()
    with opened(tmp_path, ledger=ledger, budget=None) as session:
        door = LocalDoor(session)
        run(door.ask(ADA, Asked(sql=COUNT, epsilon="0.5")))
        assert shares_of(door, ADA) == {"analyst": ("ada", "1/2")}
        assert run(door.preview(BOB, Asked(sql=COUNT, epsilon="0.5"))).free is False


# Over HTTP.


@pytest.fixture
def clinic(session, tmp_path):
    session.ledger.resize(None, by="sam", reason="no share", analyst="cat")
    return serve_session(session, tmp_path)


def test_an_analyst_asks_for_more_and_the_steward_decides(clinic, session):
    asked = clinic.post("requests", {"share": "1.5", "reason": "two more wards"})
    assert asked.status_code == 200, asked.text
    (request,) = asked.json()["requests"]
    assert (request["analyst"], request["share"], request["state"]) == ("ada", "3/2", "open")
    number = request["number"]
    assert clinic.get("requests").json() == asked.json() == clinic.get("requests", who="sam").json()
    assert clinic.get("requests", who="bob").json() == {"requests": []}
    assert clinic.get("requests", who="eve").json() == asked.json()
    granted = clinic.post(f"requests/{number}", {"grant": True, "reason": "agreed", "share": "1.25"}, who="sam")
    (decided,) = granted.json()["requests"]
    assert (decided["state"], decided["granted"], decided["decided_by"]) == ("granted", "5/4", "sam")
    assert clinic.get("account").json()["shares"][0]["limit"] == "5/4"
    assert [event.act for event in clinic.audit.list_recent(9)].count("decide") == 1
    again = clinic.post("requests", {"share": "2", "reason": "a third ward"}).json()["requests"][0]["number"]
    declined = clinic.post(f"requests/{again}", {"grant": False, "reason": "later"}, who="sam").json()["requests"][0]
    assert (declined["state"], declined["granted"], declined["decision"]) == ("declined", None, "later")
    assert session.ledger.verify().sound


def test_nobody_but_the_steward_decides(clinic, session):
    number = clinic.post("requests", {"share": "1.5", "reason": "more"}).json()["requests"][0]["number"]
    before = session.ledger.state
    for who in ("ada", "bob", "eve", "pia"):
        body = {"grant": True, "reason": "why not"}
        assert clinic.post(f"requests/{number}", body, who=who).status_code == 403
    assert clinic.post("requests", {"share": "2", "reason": "more"}, who="eve").status_code == 403
    assert clinic.get("requests", who="pia").status_code == 403
    assert session.ledger.state == before


def test_what_is_no_request_is_refused_in_words(clinic, session):
    before = session.ledger.state
    for path, body, status in (
        ("requests", {"share": "1.5"}, 400),
        ("requests", {"share": "0", "reason": "less"}, 422),
        ("requests", {"share": "much", "reason": "more"}, 422),
        ("requests", {"share": "2", "reason": ""}, 422),
        ("requests", {"share": "2", "reason": "ours", "team": True}, 422),
        ("requests/0", {"grant": True, "reason": "none"}, 404),
        ("requests/x", {"grant": True, "reason": "none"}, 404),
        ("requests/1", {"grant": False, "reason": "none", "share": "2"}, 422),
    ):
        reply = clinic.post(path, body, who="sam" if "/" in path else "ada")
        assert (reply.status_code, bool(reply.json()["fix"])) == (status, True), reply.text
    assert session.ledger.state == before


def test_a_member_asks_for_the_share_of_the_team(door, session):
    number = session.for_analyst("ada", team="icu").request_more(2, reason="a study", team=True)
    (request,) = run(door.ask_more(ADA, AskedShare(share="2", reason="a study", team=True))).requests
    assert request.number == number
    assert (request.team, request.analyst) == ("icu", "ada")
    session.ledger.shares.grant(request.number, by="sam", reason="agreed")
    assert shares_of(door, BOB)["team"] == ("icu", "0")
    assert session.ledger.state.account.team_limits["icu"] == 2


def test_the_document_has_the_requests_of_a_dataset(clinic):
    paths = clinic.get("/openapi.json", who="").json()["paths"]
    assert paths["/v1/datasets/{dataset}/requests"].keys() == {"get", "post"}
    assert paths["/v1/datasets/{dataset}/requests/{number}"]["post"]["operationId"] == "decide"
    names = [one["operationId"] for path in paths.values() for one in path.values()]
    assert len(names) == len(set(names))
    assert {one.name for one in PEOPLE} >= {"ada", "sam"}
    assert write_word(AskedShare(share="1", reason="r")) == {"share": "1", "reason": "r", "team": False}
