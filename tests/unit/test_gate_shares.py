"""Shares of a budget: analysts and teams are charged below the dataset, and one release is paid for once."""

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import Concentrated, GaussianNoise, Pure
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, PrivacyUnit, ReviewNeeded, RunFailed
from discreet.gate import Budget, Gate, Ledger, Policy, certificate, check_certificate, check_export, export_lines
from discreet.gate.entries.chain import GENESIS, canonical, link_entry, parse_canonical
from discreet.gate.entries.events import Copied, from_body, now, to_body
from discreet.gate.entries.shares import MOST_OPEN, ShareState
from discreet.gate.ledger.state import LedgerState
from questions import Question
from share_model import ShareModel

DATA = ["a row that nobody sees"]
TENTH = Fraction(1, 10)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", Budget(1), key=tmp_path / "a.key", anchors=[]) as made:
        yield made


def share(ledger, **shares):
    """Set shares of analysts, and of teams whose names are in capitals."""
    for name, limit in shares.items():
        whose = {"team": name.lower()} if name.isupper() else {"analyst": name}
        ledger.resize(limit, by="steward", reason="a share", **whose)


def gate_of(ledger, analyst, team="", **options):
    return Gate(ledger, DATA, analyst=analyst, team=team, **options)


def spent(ledger, *names):
    account = ledger.state.account
    return [
        (account.filter_of_team(name.lower()) if name.isupper() else account.filter_of(name)).spent for name in names
    ]


def test_ten_analysts_who_ask_the_same_charge_the_dataset_once(ledger):
    names = [f"analyst{number}" for number in range(10)]
    share(ledger, **dict.fromkeys(names, 0.5))
    answers = [gate_of(ledger, name).release(Question()) for name in names]
    assert len({answer.stored for answer in answers}) == 1
    assert ledger.spent == TENTH
    assert spent(ledger, *names) == [TENTH] * 10
    assert [answer.receipt.analyst for answer in answers] == names
    assert (ledger.state.payments, ledger.state.shares.copies) == (1, 9)
    assert ledger.verify().sound


def test_a_team_is_charged_once_for_what_its_members_ask(ledger):
    share(ledger, ann=0.5, bob=0.5, ICU=0.1)
    for name in ("ann", "bob", "ann"):
        gate_of(ledger, name, "icu").release(Question())
    assert spent(ledger, "ann", "bob", "ICU") == [TENTH] * 3
    assert ledger.spent == TENTH
    with pytest.raises(BudgetExceeded, match="the share of the analyst's team"):
        gate_of(ledger, "bob", "icu").release(Question("another"))
    assert spent(ledger, "ann", "bob", "ICU") == [TENTH] * 3


def test_who_changes_teams_moves_nothing(ledger):
    share(ledger, ann=0.5, ICU=0.5, LAB=0.5)
    gate_of(ledger, "ann", "icu").release(Question())
    gate_of(ledger, "ann", "lab").release(Question())
    assert spent(ledger, "ICU", "LAB") == [TENTH, 0]
    gate_of(ledger, "ann", "lab").release(Question("another"))
    assert spent(ledger, "ann", "ICU", "LAB") == [2 * TENTH, TENTH, TENTH]


def test_what_does_not_fit_into_one_of_three_charges_none(ledger):
    share(ledger, ann=0.05, bob=0.5, cid=0.5, ICU=0.05)
    gate_of(ledger, "cid").release(Question())
    before = ledger.state.number
    for name, team, whose in (("ann", "", "own share"), ("ann", "icu", "own share"), ("bob", "icu", "team")):
        for question in (Question(), Question("new")):
            with pytest.raises(BudgetExceeded, match=f"{whose}: the steward can grant a larger one"):
                gate_of(ledger, name, team).release(question)
    assert ledger.state.number == before
    assert spent(ledger, "ann", "bob", "ICU") == [0, 0, 0]


def test_a_refusal_does_not_tell_whether_the_question_was_asked(ledger):
    share(ledger, ann=0.05, bob=0.5)
    with pytest.raises(BudgetExceeded) as alone:
        gate_of(ledger, "ann").release(Question())
    gate_of(ledger, "bob").release(Question("other"))
    with pytest.raises(BudgetExceeded) as others:
        gate_of(ledger, "ann").release(Question("other"))
    assert str(alone.value) == str(others.value)


def test_a_price_is_the_same_whatever_others_asked(tmp_path):
    prices = []
    for place, name in (("one", "how many"), ("two", "something else")):
        with Ledger.create(tmp_path / place, Budget(1), anchors=[]) as ledger:
            share(ledger, ann=0.5, bob=0.5, ICU=0.3)
            gate_of(ledger, "bob", "icu").release(Question(name))
            plans = [Question(), Question("a later form")]
            gate = gate_of(ledger, "ann", "icu")
            prices.append((repr(gate.price(Question())), gate.choose_plan(plans).name))
            assert ledger.shares.find("anything", "ann", "icu") is None
    assert prices[0] == prices[1]
    assert "stored=None" in prices[0][0]


def test_the_work_for_a_price_is_the_same_whatever_others_asked(tmp_path, monkeypatch):
    reads = []
    for name in ("how many", "something else"):
        with Ledger.create(tmp_path / name, Budget(1), anchors=[]) as ledger:
            share(ledger, ann=0.5, bob=0.5, cid=0.5)
            for analyst in ("bob", "cid"):
                gate_of(ledger, analyst).release(Question(name))
            gate = gate_of(ledger, "ann")
            reading, seen = ledger.shares._reading, []
            monkeypatch.setattr(reading, "_rows", counting(reading._rows, seen))
            gate.price(Question())
            gate.choose_plan([Question(), Question("a later form")])
            reads.append(seen)
    assert reads[0] == reads[1]
    assert len(reads[0]) > 1


def counting(rows, seen):
    """Return a reader of rows that notes what is read, and how much comes of it."""

    def read(query, *arguments):
        found = rows(query, *arguments)
        seen.append((query, len(found)))
        return found

    return read


def test_an_analyst_without_a_share_has_stored_answers_for_free_as_ever(ledger):
    share(ledger, ann=0.5)
    first = gate_of(ledger, "ann").release(Question())
    before = ledger.state.number
    assert gate_of(ledger, "bob").price(Question()).stored == first.receipt.number
    assert gate_of(ledger, "bob", "icu").release(Question()).stored == first.stored
    assert ledger.state.number == before


def test_a_member_without_an_own_share_copies_for_a_team_with_one(ledger):
    share(ledger, ICU=0.5)
    gate_of(ledger, "ann").release(Question())
    release = gate_of(ledger, "bob", "icu").release(Question())
    assert release.receipt.copied == 2 + 1  # after the birth and the share
    assert spent(ledger, "bob", "ICU") == [TENTH, TENTH]


def test_asking_again_for_what_was_copied_is_free(ledger):
    share(ledger, ann=0.5, bob=0.5)
    gate_of(ledger, "ann").release(Question())
    first = gate_of(ledger, "bob").release(Question(), request="mine")
    before = ledger.state.number
    for request in (None, "mine"):
        again = gate_of(ledger, "bob").release(Question(), request=request)
        assert (again.stored, again.receipt, again.fresh) == (first.stored, first.receipt, False)
    assert gate_of(ledger, "bob").price(Question()).stored == first.receipt.copied
    assert ledger.state.number == before
    with pytest.raises(InvalidInput, match="another question"):
        gate_of(ledger, "bob").release(Question("other"), request="mine")


def test_fresh_noise_is_paid_for_by_all_three(ledger):
    share(ledger, ann=0.5, bob=0.5, ICU=0.5)
    first = gate_of(ledger, "ann", "icu").release(Question())
    second = gate_of(ledger, "bob", "icu").release(Question(), fresh=True)
    assert first.stored != second.stored
    assert ledger.spent == 2 * TENTH
    assert spent(ledger, "ann", "bob", "ICU") == [TENTH, TENTH, 2 * TENTH]


def test_of_two_answers_a_member_is_given_the_one_that_the_team_has(ledger):
    share(ledger, ann=0.5, bob=0.5, cid=0.5, ICU=0.5)
    gate_of(ledger, "cid").release(Question())
    theirs = gate_of(ledger, "ann", "icu").release(Question(), fresh=True)
    assert gate_of(ledger, "bob", "icu").release(Question()).stored == theirs.stored
    assert spent(ledger, "ICU") == [TENTH]


def test_what_another_paid_for_and_was_not_answered_is_run_by_who_asks_next(ledger):
    share(ledger, ann=0.5, bob=0.5)
    with pytest.raises(RunFailed):
        gate_of(ledger, "ann").release(Question(doing=lambda _: 1 / 0))
    given = gate_of(ledger, "bob").release(Question())
    assert given.fresh
    assert gate_of(ledger, "ann").release(Question()).stored == given.stored
    assert ledger.spent == TENTH
    assert ledger.verify().sound


def test_a_copy_that_was_not_handed_out_is_handed_out_for_free(ledger):
    share(ledger, ann=0.5, bob=0.5)
    first = gate_of(ledger, "ann").release(Question())
    paid = first.receipt
    copied = ledger.pay(
        paid.cost, what=paid.what, plan=paid.plan, request="r", analyst="bob", once=True
    )  # and then the process dies
    before = ledger.state.number
    given = gate_of(ledger, "bob").release(Question())
    assert (given.stored, given.receipt) == (first.stored, copied)
    assert ledger.state.number == before


def test_two_handles_that_propose_the_same_at_once_pay_once(ledger, tmp_path):
    share(ledger, ann=0.5, bob=0.5)
    paid = {"cost": Pure(0.1), "what": "x", "plan": "p", "once": True}
    with Ledger.open(tmp_path / "a.ledger", anchors=[]) as other:
        receipts = [
            at.pay(paid["cost"], **{name: value for name, value in paid.items() if name != "cost"}, **who)
            for at, who in (
                (ledger, {"analyst": "ann", "request": "1"}),
                (other, {"analyst": "bob", "request": "2"}),
                (ledger, {"analyst": "bob", "request": "3"}),  # two fronts of one analyst
            )
        ]
    assert [receipt.copied for receipt in receipts] == [0, receipts[0].number, receipts[0].number]
    assert ledger.spent == TENTH
    assert spent(ledger, "ann", "bob") == [TENTH, TENTH]
    assert ledger.verify().sound


class Clock:
    """A pacer that notes what it was told."""

    def __init__(self):
        self.told = []

    def begin(self, run, plan):
        self.told.append(("begin", plan.name))

    def finish(self, run):
        self.told.append("finish")
        return run


def test_a_copy_is_paced_as_a_run_of_its_own(ledger):
    share(ledger, ann=0.5, bob=0.5)
    clocks = []
    for name in ("ann", "bob"):
        clocks.append(Clock())
        gate_of(ledger, name, pacer=clocks[-1]).release(Question())
    assert clocks[0].told == clocks[1].told == [("begin", "how many"), "finish"]
    gate_of(ledger, "bob", pacer=clocks[1]).release(Question())  # one's own already: at once
    assert len(clocks[1].told) == 2


def test_what_a_fresh_run_would_refuse_a_copy_refuses(ledger):
    class Refusing(Question):
        def check(self, data):
            raise InvalidInput("The source is gone.", fix="wait")

    share(ledger, ann=0.5, bob=0.5)
    gate_of(ledger, "ann").release(Question())
    with pytest.raises(InvalidInput, match="source is gone"):
        gate_of(ledger, "bob").release(Refusing())
    assert ledger.state.shares.copies == 0


def test_who_may_begin_no_run_is_refused_a_copy_in_the_same_words(ledger):
    """Refusals are free: an analyst who had only copies left could try which questions others asked."""

    def broken(_data):
        raise ValueError

    share(ledger, ada=0.9)
    gate_of(ledger, "bob").release(Question("asked"))
    for number in range(3):
        with pytest.raises(RunFailed):
            gate_of(ledger, "ada").release(Question(f"fails {number}", doing=broken))
    words = set()
    for what in ("asked", "never asked"):
        with pytest.raises(ReviewNeeded) as refused:
            gate_of(ledger, "ada").release(Question(what))
        words.add(str(refused.value))
    assert len(words) == 1
    ledger.review(by="steward", reason="a test")
    assert gate_of(ledger, "ada").release(Question("asked")).receipt.copied


def test_each_analyst_with_the_whole_budget_has_no_team_and_copies_nothing(tmp_path):
    with Ledger.create(tmp_path / "a", Budget(1), policy=Policy.SEPARATE, anchors=[]) as ledger:
        with pytest.raises(InvalidInput, match="whole budget"):
            share(ledger, ICU=0.5)
        share(ledger, ann=0.5)
        first = gate_of(ledger, "bob", "icu").release(Question())
        assert gate_of(ledger, "ann", "icu").release(Question()).stored != first.stored
        with pytest.raises(InvalidInput, match="whole budget"):
            ledger.pay(Pure(0.1), what="x", plan="p", request="r", analyst="ann", team="icu")


def test_a_share_has_the_budgets_own_currency_and_delta(tmp_path):
    for number, (budget, cost) in enumerate(
        [(Budget(3, 1e-9), GaussianNoise(50)), (Budget(rho=0.5, delta=1e-9), Concentrated(0.05, 1e-11))]
    ):
        with Ledger.create(tmp_path / str(number), budget, anchors=[]) as ledger:
            share(ledger, ann=0.25, bob=0.25, ICU=0.25)
            plan = Question(cost=cost)
            for name in ("ann", "bob"):
                gate_of(ledger, name, "icu").release(plan)
            account = ledger.state.account
            alone = account.empty.admit(cost)
            filters = [account.filter_of("ann"), account.filter_of("bob"), account.filter_of_team("icu")]
            assert {one.spent for one in filters} == {alone.spent} == {account.total.spent}
            assert {one.promise.delta for one in filters} == {budget.delta}
            assert ledger.verify().sound


def test_with_personal_accounts_a_copy_charges_shares_of_the_total_and_no_person(tmp_path):
    unit = PrivacyUnit(column="patient_id")
    budget = Budget(rho=0.5, per="person", unit=unit, total=Budget(rho=2, unit=unit))
    with Ledger.create(tmp_path / "a", budget, anchors=[]) as ledger:
        share(ledger, ann=1, bob=1, ICU=0.5)
        paid = {"what": "x", "plan": "p", "once": True, "team": "icu"}
        ledger.pay(Concentrated(0.1), analyst="ann", request="1", **paid)
        reached = ledger.state.account.reached
        assert ledger.pay(Concentrated(0.1), analyst="bob", request="2", **paid).copied
        account = ledger.state.account
        assert (account.reached, account.everybody.total.spent) == (reached, TENTH)
        assert spent(ledger, "ann", "bob", "ICU") == [TENTH] * 3
        assert ledger.verify().sound
    lone = Ledger.create(tmp_path / "b", Budget(rho=0.5, per="person", unit=unit), anchors=[])
    with lone, pytest.raises(InvalidInput, match="no shares"):
        share(lone, ICU=0.5)


# What is written, and what others can check.


def test_a_ledger_without_shares_says_nothing_that_an_older_release_does_not_know(ledger):
    gate_of(ledger, "ann").release(Question())
    share(ledger, bob=0.5)
    ledger.checkpoint()
    assert max(parse_canonical(entry.body)["version"] for entry, _ in ledger.entries()) == 4


def test_an_older_release_refuses_a_checkpoint_after_a_copy_or_a_team(ledger):
    share(ledger, ann=0.5, bob=0.5)
    for name in ("ann", "bob"):
        gate_of(ledger, name).release(Question())
    ledger.checkpoint()
    assert parse_canonical(list(ledger.entries())[-1][0].body)["version"] == 5


def test_totals_are_the_same_from_a_checkpoint_and_from_the_first_entry(tmp_path, ledger):
    share(ledger, ann=0.5, bob=0.5, ICU=0.5)
    for name in ("ann", "bob"):
        gate_of(ledger, name, "icu").release(Question())
    ledger.shares.request_more(0.7, analyst="ann", reason="more wards")
    ledger.checkpoint()
    gate_of(ledger, "bob").release(Question("another"))
    entries = [entry for entry, _ in ledger.entries()]
    one_by_one = LedgerState.from_birth(entries[0])
    for entry in entries[1:]:
        one_by_one = one_by_one.after(entry, from_body(entry.body))
    at_once = LedgerState.from_birth(entries[0]).catch_up(lambda after: entries[after:])
    with Ledger.open(tmp_path / "a.ledger", key=tmp_path / "a.key", anchors=[]) as again:
        assert again.state == at_once == one_by_one == ledger.state
        assert again.state.shares.open[0].analyst == "ann"


def test_a_certificate_of_a_copy_names_its_own_analyst_alone(ledger):
    share(ledger, ann=0.5, bob=0.5)
    gate_of(ledger, "ann").release(Question(), request="hers")
    release = gate_of(ledger, "bob").release(Question(), request="his")
    paper = certificate(ledger, "his")
    found = check_certificate(paper, ledger=ledger.identity, answer=release.stored)
    assert isinstance(found.payment, Copied)
    assert found.payment.analyst == "bob"
    assert not {"ann", "hers"} & set(json.loads(paper)["payment"]["body"].split('"'))
    assert check_export(export_lines(ledger, answers=True), certified=found).whole
    other = json.loads(paper) | {"release": json.loads(certificate(ledger, "hers"))["payment"]}
    with pytest.raises(InvalidInput, match="proves nothing"):
        check_certificate(json.dumps(other), ledger=ledger.identity)


def exported(ledger, change=None):
    """Return an export whose copies were changed, by somebody who may write the chain anew."""
    head, lines = GENESIS, []
    for entry, _ in ledger.entries():
        fields = parse_canonical(entry.body)
        if fields["kind"] == "copy":
            fields |= change or {}
        written = link_entry(head, entry.number, canonical(fields))
        head = written.head
        lines.append(canonical({"number": entry.number, "head": head.hex(), "body": written.body.decode()}).decode())
    return lines


def test_a_copy_that_charges_less_than_it_should_is_found(ledger):
    share(ledger, ann=0.5, bob=0.5)
    gate_of(ledger, "ann").release(Question(), request="hers")
    gate_of(ledger, "bob", "icu").release(Question(), request="his")
    assert check_export(exported(ledger)).state.shares.copies == 1
    for change, why in (
        ({"payment": 5}, "copies what was not paid for"),
        ({"plan": "00"}, "copies another plan"),
        ({"cost": "loss/1 pure(epsilon=1/100)"}, "copies another plan"),
        ({"analyst_at": 4}, "charges a share twice"),
        ({"team_at": 4}, "charges a share twice"),
        ({"analyst": "ann"}, "charges a share twice"),
        ({"request": "hers"}, "was paid for before"),
    ):
        with pytest.raises(InvalidInput, match=why):
            check_export(exported(ledger, change))


def test_a_copy_is_not_proposed_from_outside(ledger):
    copied = Copied(at=now(), payment=1, request="r", analyst="ann", plan="p", what="x", cost=Pure(0.1))
    with pytest.raises(InvalidInput, match="where a payment is proposed"):
        ledger._write(to_body(copied))


# Requests for more.


def test_a_request_that_is_granted_sets_the_share_and_who_decided_stays_on_record(ledger):
    share(ledger, ann=0.1, ICU=0.2)
    gate_of(ledger, "ann").release(Question())
    number = ledger.shares.request_more(0.3, analyst="ann", reason="two more wards")
    assert ledger.shares.request_more(0.3, analyst="ann", reason="again") == number
    with pytest.raises(BudgetExceeded):
        gate_of(ledger, "ann").release(Question("another"))
    with pytest.raises(InvalidInput, match="awaits a decision"):
        ledger.shares.request_more(0.4, analyst="ann", reason="even more")
    theirs = ledger.shares.request_more(0.5, analyst="ann", team="icu", reason="the team's")
    ledger.shares.grant(number, by="steward", reason="the board agreed")
    ledger.shares.decline(theirs, by="steward", reason="not this year")
    gate_of(ledger, "ann").release(Question("another"))
    assert ledger.shares.open == ()
    assert [(one.decision.by, one.decision.limit) for one in ledger.shares.list_requests()] == [
        ("steward", Fraction(3, 10)),
        ("steward", None),
    ]
    assert ledger.state.account.team_limits == {"icu": Fraction(1, 5)}
    with pytest.raises(InvalidInput, match="no request with this number"):
        ledger.shares.grant(number, by="steward", reason="twice")
    assert ledger.verify().sound


def test_more_may_be_granted_than_was_asked_for_and_never_nothing(ledger):
    share(ledger, ann=0.1)
    number = ledger.shares.request_more(0.3, analyst="ann", reason="more")
    with pytest.raises(DiscreetError):
        ledger.shares.grant(number, by="steward", reason="none", limit=0)
    ledger.shares.grant(number, by="steward", reason="half of it", limit=0.2)
    assert ledger.state.account.limits == {"ann": Fraction(1, 5)}


def test_nobody_asks_for_more_of_a_share_that_is_not_there(ledger):
    share(ledger, ICU=0.5)
    for who in ({"analyst": "ann"}, {"analyst": "ann", "team": "lab"}):
        with pytest.raises(InvalidInput, match="has no share"):
            ledger.shares.request_more(0.3, reason="more", **who)


@pytest.mark.parametrize("team", ["", "icu"])
@pytest.mark.parametrize("limit", [0.1, 0.2])
def test_nobody_asks_for_a_share_that_is_no_larger(ledger, team, limit):
    """Granting it would take from who asked for more."""
    share(ledger, ann=0.2, ICU=0.2)
    before = ledger.state
    with pytest.raises(InvalidInput, match="not more than the share"):
        ledger.shares.request_more(limit, analyst="ann", team=team, reason="less")
    assert ledger.state == before
    assert ledger.shares.request_more(0.3, analyst="ann", team=team, reason="more")


def test_requests_do_not_fill_a_ledger():
    from discreet.gate.entries.shares import OpenRequest

    state = ShareState(0, tuple(OpenRequest(number, str(number), "", "1") for number in range(MOST_OPEN)))
    with pytest.raises(InvalidInput, match="await a decision"):
        state.record_request(OpenRequest(MOST_OPEN, "ann", "", "1"))


# The ledger agrees with plain arithmetic.

ANALYSTS, TEAMS = ("ann", "bob", "cid"), ("", "icu", "lab")
PLANS = {name: Fraction(part, 20) for name, part in (("p", 2), ("q", 3), ("r", 5))}
LIMITS = st.sampled_from([Fraction(part, 20) for part in (2, 5, 8, 12)])
STEPS = st.one_of(
    st.tuples(
        st.just("ask"), st.sampled_from(ANALYSTS), st.sampled_from(TEAMS), st.sampled_from(tuple(PLANS)), st.booleans()
    ),
    st.tuples(st.just("share"), st.sampled_from(ANALYSTS), LIMITS | st.none()),
    st.tuples(st.just("team"), st.sampled_from(TEAMS[1:]), LIMITS | st.none()),
    st.tuples(st.just("request"), st.sampled_from(ANALYSTS), st.sampled_from(TEAMS), LIMITS),
    st.tuples(st.just("decide"), LIMITS | st.none()),
)


def follow(ledger, model, answers, step):
    """Do one step on the ledger and in the model; both say how it ends."""
    match step:
        case "ask", analyst, team, plan, crash:
            (wanted, answered), before = model.ask(analyst, team, plan, crash=crash), ledger.state
            given = ask(ledger, Question(plan, Pure(PLANS[plan])), analyst, team, crash)
            after = ledger.state
            counts = (after.payments - before.payments, after.shares.copies - before.shares.copies)
            assert counts == {"paid": (1, 0), "copied": (0, 1)}.get(wanted, (0, 0)), (step, wanted)
            assert (given is not None) is answered, (step, wanted)
            if given is not None:
                answers.add((plan, given.stored))
        case "share" | "team" as kind, name, limit:
            shares, whose = (model.shares, "analyst") if kind == "share" else (model.team_shares, "team")
            shares.pop(name, None)
            shares |= {} if limit is None else {name: limit}
            ledger.resize(limit, by="steward", reason="so it is", **{whose: name})
        case "request", analyst, team, limit:
            request(ledger, model, analyst, team, limit)
        case "decide", limit:
            for one in ledger.shares.open[:1]:
                decide(ledger, one.number, limit)
                model.decide((one.analyst, one.team), limit)


def request(ledger, model, analyst, team, limit):
    now = model.team_shares.get(team) if team else model.shares.get(analyst)
    larger = now is not None and limit > now
    expected = model.requests.get((analyst, team), limit if larger else None) == limit
    try:
        ledger.shares.request_more(limit, analyst=analyst, team=team, reason="more")
    except InvalidInput:
        assert not expected
    else:
        assert expected
        model.requests[analyst, team] = limit


def decide(ledger, number, limit):
    if limit is None:
        ledger.shares.decline(number, by="steward", reason="no")
    else:
        ledger.shares.grant(number, by="steward", reason="yes", limit=limit)


def ask(ledger, question, analyst, team, crash):
    """Ask; a crash is noted beforehand by a supervisor, as a service does, and is no failure."""
    gate = Gate(ledger, DATA, analyst=analyst, team=team)
    if crash:

        def stop(_data):
            ledger.excuse(ledger.runs.state.open[-1].number, by="supervisor", reason="it is stopped")
            raise KeyboardInterrupt

        question = Question(question.name, question.cost, stop)
    try:
        return gate.release(question)
    except (BudgetExceeded, KeyboardInterrupt):
        return None


@settings(max_examples=15, deadline=None)
@given(st.lists(STEPS, max_size=25))
def test_the_ledger_agrees_with_plain_arithmetic_on_all_balances(tmp_path_factory, steps):
    place = tmp_path_factory.mktemp("shares") / "a.ledger"
    model, answers = ShareModel(Fraction(1), PLANS), set()
    with Ledger.create(place, Budget(1), anchors=[]) as ledger:
        for step in steps:
            follow(ledger, model, answers, step)
            account = ledger.state.account
            assert account.total.spent == model.total
            assert {name: one.spent for name, one in account.analysts.items()} == model.spent
            assert {name: one.spent for name, one in account.teams.items()} == model.team_spent
            assert (account.limits, account.team_limits) == (model.shares, model.team_shares)
        # All analysts together have learned the distinct answers, each of which the dataset has paid for.
        assert len(answers) <= ledger.state.releases == sum(one.answered for one in model.bought)
        assert sum((PLANS[plan] for plan, _ in answers), Fraction(0)) <= model.total <= 1
        assert ledger.verify().sound
    with Ledger.open(place, anchors=[]) as again:
        assert again.state == ledger_state(again)


def ledger_state(ledger):
    """Return the state by counting one by one."""
    entries = [entry for entry, _ in ledger.entries()]
    state = LedgerState.from_birth(entries[0])
    for entry in entries[1:]:
        state = state.after(entry, from_body(entry.body))
    return state
