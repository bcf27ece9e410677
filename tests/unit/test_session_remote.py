"""Remote sessions: what a service answers is drawn here as a local session draws it, by the plan that was paid for."""

import inspect
import json
import pickle
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date

import pytest

pytest.importorskip("uvicorn", reason="discreet[service] is not installed")

import discreet
from clinic import BY_WARD, CANARIES, COUNT, opened
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput
from discreet.gate import check_certificate
from discreet.query import QueryRefused
from discreet.service.replies import answer_reply
from discreet.session import NotFound, PaymentOff, ReleaseOptions, RemoteSession, Session, Unreachable
from discreet.session.remote.replanning import RemoteContext, read_answer
from loopback import connected
from remote_clinic import opened_corpus, sampled_questions
from sql_corpus import MATCHES


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("remote"), budget=discreet.Budget(epsilon=300, delta=1e-9)) as session:
        yield session


@pytest.fixture(scope="module")
def remote(local, tmp_path_factory):
    with connected(local, tmp_path_factory.mktemp("served")) as session:
        yield session


@pytest.fixture(scope="module")
def ada(local):
    return local.for_analyst("ada")


def shown(answer):
    """Return all that is seen of an answer."""
    return (
        answer.rows(),
        answer.columns,
        answer.caption,
        answer.notes,
        answer.what,
        repr(answer),
        answer._repr_html_(),
        answer.confidence(0.5, simultaneous=True).rows(),
        answer.plan,
        answer.question,
        repr(answer.cost),
        answer.release and (answer.release.stored, answer.release.receipt, answer.release.number, answer.release.head),
        answer.to_arrow(),
    )


# The face


def test_a_remote_session_has_the_methods_of_a_session_with_the_same_signatures():
    made = {"from_settings", "on_facts"}  # ways to make a session
    names = {name for name in dir(Session) if not name.startswith("_")} - made
    assert {name for name in dir(RemoteSession) if not name.startswith("_")} == names
    for name in names:
        own, other = getattr(RemoteSession, name), getattr(Session, name)
        assert isinstance(own, property) == isinstance(other, property)
        if not isinstance(own, property):
            assert inspect.signature(own) == inspect.signature(other), name


def test_what_a_service_does_not_do_is_refused_with_a_fix_and_pays_nothing(remote, local):
    before = local.ledger.spent
    acts = [
        lambda: remote.hierarchy(["ward"], [("A",)], epsilon=1),
        lambda: remote.preview_hierarchy(["ward"], [("A",)], epsilon=1),
        lambda: remote.counter("admitted", start=date(2024, 1, 1), steps=3, epsilon=1),
        lambda: remote.participation(COUNT, price=1, epsilon=1),
        lambda: remote.buy_bounds("cost", epsilon=1),
        lambda: remote.for_analyst("bob"),
        lambda: remote.ledger,
    ]
    for act in acts:
        with pytest.raises(InvalidInput) as caught:
            act()
        assert caught.value.fix
    assert local.ledger.spent == before


def test_a_larger_share_is_asked_for_from_afar(remote, local):
    with pytest.raises(InvalidInput, match="has no share"):
        remote.request_more(200, reason="more")
    local.ledger.resize(100, by="steward", reason="a share", analyst=remote.analyst)
    try:
        number = remote.request_more(200, reason="two more wards")
        assert remote.request_more(200, reason="two more wards") == number
        assert [(one.number, one.amount) for one in local.ledger.shares.open] == [(number, 200)]
        with pytest.raises(InvalidInput, match="no team"):
            remote.request_more(200, reason="ours", team=True)
        local.ledger.shares.grant(number, by="steward", reason="agreed")
        assert remote.account().limit == "200"
        assert remote.team == ""
    finally:
        local.ledger.resize(None, by="steward", reason="no share", analyst=remote.analyst)


# Answers


QUESTIONS = [
    (COUNT, {}),
    (BY_WARD, {}),
    (BY_WARD, {"confidence": 0.5, "simultaneous": True}),
    (BY_WARD + " ORDER BY n DESC LIMIT 2", {}),
    ("SELECT age // 10 AS decade, COUNT(*) AS n FROM visits GROUP BY 1", {}),
    ("SELECT MEDIAN(stay) AS m, QUANTILE(age, 0.9) AS q FROM visits", {}),
    ("SELECT COUNT(DISTINCT patient_id) AS people, VAR_SAMP(stay) FROM visits", {}),
    ("SELECT note, COUNT(*) AS n FROM visits GROUP BY note", {}),
    (COUNT, {"limit": {"rows": 4}}),
    (COUNT, {"bias": True}),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.25, max_groups_contributed = 1) COUNT(*) FROM visits", None),
    ("SELECT 1 AS one", {}),
    ("SELECT COUNT(*) AS n FROM visits LIMIT 0", {}),
]


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_an_answer_is_the_one_of_a_local_session(remote, ada, number):
    text, options = QUESTIONS[number]
    options = {} if options is None else {"epsilon": 1, **options}
    asked = remote.sql(text, **options)
    again, local = remote.sql(text, **options), ada.sql(text, **options)
    assert shown(again) == shown(local)
    assert again.fresh is local.fresh is False
    assert asked.rows() == local.rows()
    if asked.release is not None:
        # Questions 2 and 3 are the one before, shown in other ways. Another process of the tests may have asked it.
        assert asked.fresh or number in (2, 3)
        assert asked.receipt.analyst == "ada"


def test_frames_are_the_same_question_and_the_same_answer(remote, ada):
    def ask(session):
        visits = session.table("visits").filter("age >= 40").group_by("ward")
        frame = visits.agg(n=discreet.count(), stay=discreet.mean("stay")).order_by("n", descending=True)
        return frame, frame.release(epsilon=0.5)

    (near, here), (_, there) = ask(remote), ask(ada)
    assert here.rows() == there.rows()
    assert there.fresh is False
    assert "nothing is asked yet" not in repr(near)
    assert near.preview(epsilon=0.5).stored == there.receipt.number
    assert str(near.explain(epsilon=0.5)) == str(ask(ada)[0].explain(epsilon=0.5))


def test_an_accuracy_is_bought_by_the_service_and_drawn_here(tmp_path):
    with (
        opened(tmp_path, limit=None, budget=discreet.Budget(epsilon=300, delta=1e-9)) as local,
        connected(local, tmp_path) as remote,
    ):
        with pytest.raises(DiscreetError) as unbought:
            remote.preview(COUNT, within=40)
        with pytest.raises(DiscreetError) as here:
            local.for_analyst("ada").preview(COUNT, within=40)
        assert str(unbought.value) == str(here.value)
        asked = remote.sql(COUNT, within=40)
        ada = local.for_analyst("ada")
        (bound,) = (paid for paid in ada.releases() if paid.request != asked.receipt.request)
        assert f"Asking buys one first, once, for {bound.cost}." in here.value.problem
        assert asked.rows() == ada.sql(COUNT, within=40).rows()
        assert repr(remote.preview(COUNT, within=40)) == repr(ada.preview(COUNT, within=40))
        assert str(remote.explain(COUNT, within=40)) == str(ada.explain(COUNT, within=40))
        named = {"n": 30}
        assert remote.sql(COUNT, within=named).rows() == ada.sql(COUNT, within=named).rows()


def test_pictures_are_drawn_here(remote, ada, tmp_path):
    pytest.importorskip("matplotlib")
    figures = [
        session.sql(BY_WARD, epsilon=1).plot(tmp_path / name) for session, name in ((remote, "a.svg"), (ada, "b.svg"))
    ]
    texts = [[text.get_text() for axes in figure.axes for text in axes.texts] for figure in figures]
    assert texts[0] == texts[1]
    assert (tmp_path / "a.svg").stat().st_size > 1000


def test_previews_explanations_and_shapes_are_those_of_a_local_session(remote, ada):
    for text, options in [*QUESTIONS[:10], *QUESTIONS[11:]]:
        how = {"epsilon": 0.75, **options}
        assert repr(remote.preview(text, **how)) == repr(ada.preview(text, **how))
        assert remote.preview(text, **how)._repr_html_() == ada.preview(text, **how)._repr_html_()
        assert remote.shape(text) == ada.shape(text)
    for text in (COUNT, BY_WARD):
        assert str(remote.explain(text, rho=0.01)) == str(ada.explain(text, rho=0.01))
    price, own = remote.preview(COUNT, epsilon=0.3), ada.preview(COUNT, epsilon=0.3)
    assert (price.price, price.plan, price.predicted) == (own.price, own.plan, own.predicted)


def test_batches_are_those_of_a_local_session(remote, ada):
    questions = [COUNT, BY_WARD, remote.table().filter("age > 50").agg(n=discreet.count())]
    how = {"epsilon": 2, "weights": [1, 2, 0.5], "consistent": False}
    price, own = remote.preview_batch(questions, **how), ada.preview_batch(questions, **how)
    assert repr(price) == repr(own)
    assert price.price == own.price
    remote.batch(questions, **how)
    here, there = remote.batch(questions, **how), ada.batch(questions, **how)
    assert [shown(answer) for answer in here] == [shown(answer) for answer in there]
    assert repr(here) == repr(there)
    assert here[1].confidence(0.5).rows() == there[1].confidence(0.5).rows()
    assert remote.batch([BY_WARD], other=True, epsilon=1).lines()


def test_the_schema_the_account_releases_and_certificates_are_those_of_the_service(remote, ada):
    assert repr(remote.schema) == repr(ada.schema)
    assert remote.schema._repr_html_() == ada.schema._repr_html_()
    assert remote.facts == ada.facts
    answer = remote.sql(COUNT, epsilon=0.11)
    assert remote.account() == ada.account()
    assert remote.releases(5) == ada.releases(5)
    assert remote.releases(1)[0].request == answer.receipt.request
    text = remote.certificate(answer.receipt.request)
    assert text == ada.certificate(answer.receipt.request)
    proved = check_certificate(text, ledger=answer.receipt.ledger, answer=answer.release.stored)
    assert proved is not None
    with pytest.raises(NotFound):
        remote.certificate("bob:none")


def outcome(session, text, options):
    """Return what is seen of an answer, or of a refusal."""
    try:
        answer = session.sql(text, epsilon=1, **options)
    except DiscreetError as error:
        return type(error), str(error)
    return answer.rows(), answer.notes, answer.to_arrow()


def test_the_corpus_of_questions_is_answered_alike(tmp_path):
    with opened_corpus(tmp_path) as local, connected(local, tmp_path) as remote:
        ada, told = local.for_analyst("ada"), []
        for text, options in sampled_questions():
            here, there = (outcome(session, text, options) for session in (remote, ada))
            told += [] if here == there else [text]
        assert told == []


def test_questions_as_values_are_sent_as_sql_all_over_the_corpus(tmp_path):
    """What is written of a question is read as that question; the rest is refused."""
    with opened_corpus(tmp_path) as local:
        context = RemoteContext(local.facts, "ada")
        read = refused = 0
        for text, options in sampled_questions(every=7, first=3):
            checked = context.check({"epsilon": 1, "matches": options.get("matches")}, ReleaseOptions)
            try:
                question = context.question(text, checked)
            except DiscreetError:
                continue
            try:
                assert context.read(context.write_text(question, checked), checked.matches) == question
                read += 1
            except InvalidInput:
                refused += 1
        assert read > 80
        assert refused == 0
        joined = "SELECT COUNT(*) FROM visits a JOIN visits b ON a.ward = b.ward"
        question = context.read(joined, MATCHES)
        with pytest.raises(InvalidInput, match="no SQL"):
            context.write_text(question, context.check({"epsilon": 1}, ReleaseOptions))


FRAMES = {
    "join": lambda s: s.table("visits").join("patients").group_by("city").agg(stay=discreet.mean("stay")),
    "left join": lambda s: s.table("visits").join("patients", how="left").agg(n=discreet.count_people()),
    "public join": lambda s: (
        s.table("visits").join("wards", on={"ward": "code"}).group_by("kind").agg(n=discreet.count())
    ),
    "filtered join": lambda s: (
        s.table("visits").filter("smoker").join("drugs", on="day").agg(dose=discreet.total("dose"))
    ),
    "per person": lambda s: s.table("visits").per_person(n=discreet.count()).agg(n=discreet.mean("CLAMP(n, 0, 9)")),
    "by ward": lambda s: (
        s.table("visits").per_person(n=discreet.count(), by="ward").group_by("ward").agg(p=discreet.count())
    ),
    "distinct": lambda s: s.table("visits").distinct("ward").group_by("ward").agg(n=discreet.count()),
    "union": lambda s: s.table("visits").select("age").union(s.table("patients").select("age")).agg(n=discreet.count()),
    "only": lambda s: s.table("visits").only(s.table("drugs").filter("dose > 3")).agg(n=discreet.count()),
    "without": lambda s: s.table("visits").without("drugs").agg(n=discreet.count()),
    "having": lambda s: (
        s.table("visits").group_by("ward").agg(n=discreet.count()).having("COUNT(*) > 5").order_by("n").limit(2)
    ),
    "terms": lambda s: s.table("visits").agg(
        a=discreet.median("age"),
        b=discreet.quantile("stay", 0.9),
        c=discreet.count_distinct("ward"),
        d=discreet.deviation("stay"),
        e=discreet.minimum("age"),
        f=discreet.maximum("age"),
    ),
    "names": lambda s: s.table("visits").group_by(g='"Blood Group"').agg(n=discreet.count()),
    "months": lambda s: s.table("visits").group_by(month="MONTH(day)").agg(n=discreet.count()),
}


def test_frames_of_all_forms_are_sent_as_sql_and_answered_alike(tmp_path):
    with opened_corpus(tmp_path) as local, connected(local, tmp_path) as remote:
        ada, told = local.for_analyst("ada"), []
        for name, frame in FRAMES.items():
            here, there = frame(remote).release(epsilon=2), frame(ada).release(epsilon=2)
            told += [] if here.rows() == there.rows() and not there.fresh else [name]
        assert told == []


def test_threads_share_a_session(remote, ada):
    """Each gets the answer to its own question."""
    texts = [f"SELECT COUNT(*) AS n FROM visits WHERE age < {age}" for age in range(20, 32)]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda text: remote.sql(text, epsilon=0.1), texts * 2))
    own = [ada.sql(text, epsilon=0.1) for text in texts * 2]
    assert [answer.rows() for answer in answers] == [answer.rows() for answer in own]
    assert len({answer.receipt.number for answer in answers}) == len(texts)


def test_personal_accounts_work_through_a_service(tmp_path):
    budget = discreet.Budget(
        epsilon=15, delta=1e-6, per="person", most=9, total=discreet.Budget(epsilon=40, delta=1e-5)
    )
    with opened(tmp_path, budget=budget) as local, connected(local, tmp_path) as remote:
        ada = local.for_analyst("ada")
        first = remote.sql(COUNT, epsilon=1)
        again = ada.sql(COUNT, epsilon=1)
        assert (first.rows(), first.notes) == (again.rows(), again.notes)
        assert repr(remote.preview(BY_WARD, epsilon=1)) == repr(ada.preview(BY_WARD, epsilon=1))
        assert remote.preview(BY_WARD, epsilon=1).price == ada.preview(BY_WARD, epsilon=1).price
        assert remote.account() == ada.account()


# Refusals


def test_refusals_are_the_errors_of_a_local_session(remote, ada):
    acts = [
        lambda session: session.sql("SELECT note FROM visits", epsilon=1),
        lambda session: session.sql("SELECT COUNT(* FROM visits", epsilon=1),
        lambda session: session.sql("SELECT AVG(cost) FROM visits", epsilon=1),
        lambda session: session.sql(COUNT),
        lambda session: session.sql(COUNT, epsilon=1, rho=1),
        lambda session: session.sql(COUNT, epsilon=0),
        lambda session: session.sql(COUNT, epsilonn=1),
        lambda session: session.sql(7, epsilon=1),
        lambda session: session.sql(COUNT, epsilon=10**6),
        lambda session: session.sql(COUNT, epsilon=1, limit={"rows": 0}),
        lambda session: session.sql(COUNT, epsilon=1, request=""),
        lambda session: session.preview(COUNT, epsilon=1, fresh=True),
        lambda session: session.shape("SELECT nothing FROM visits"),
        lambda session: session.table("none"),
        lambda session: session.batch("SELECT 1", epsilon=1),
        lambda session: session.batch([COUNT], within=3),
        lambda session: session.releases(0),
    ]
    for act in acts:
        with pytest.raises(DiscreetError) as here:
            act(remote)
        with pytest.raises(DiscreetError) as there:
            act(ada)
        assert (type(here.value), str(here.value)) == (type(there.value), str(there.value))
    with pytest.raises(QueryRefused) as caught:
        remote.sql("SELECT note\nFROM visits", epsilon=1)
    assert caught.value.line == 1
    with pytest.raises(BudgetExceeded):
        remote.sql(BY_WARD, epsilon=10**4)


def test_a_session_that_may_not_pay_hands_out_stored_answers_only(local, tmp_path):
    before = local.for_analyst("ada").sql("SELECT COUNT(*) AS n FROM visits WHERE age < 31", epsilon=0.5)
    with connected(local, tmp_path, pay=False) as remote:
        assert remote.sql("SELECT COUNT(*) AS n FROM visits WHERE age < 31", epsilon=0.5).rows() == before.rows()
        spent = local.ledger.spent
        with pytest.raises(PaymentOff, match=r"0\.5"):
            remote.sql("SELECT COUNT(*) AS n FROM visits WHERE age < 32", epsilon=0.5)
        assert local.ledger.spent == spent


def test_bounds_that_were_bought_meanwhile_are_found(tmp_path):
    with (
        opened(tmp_path, budget=discreet.Budget(epsilon=300, delta=1e-9)) as local,
        connected(local, tmp_path) as remote,
    ):
        text = "SELECT AVG(cost) AS cost FROM visits"
        with pytest.raises(InvalidInput, match="needs bounds"):
            remote.sql(text, epsilon=1)
        local.for_analyst("ada").buy_bounds("cost", epsilon=20)
        answer = remote.sql(text, epsilon=1)
        assert answer.rows() == local.for_analyst("ada").sql(text, epsilon=1).rows()
        assert "bought" in repr(remote.schema)
        local.for_analyst("ada").buy_bounds("cost", epsilon=40, fresh=True)
        assert remote.sql(text, epsilon=2).rows() == local.for_analyst("ada").sql(text, epsilon=2).rows()


def test_a_closed_session_refuses_and_asks_nothing(local, tmp_path):
    with connected(local, tmp_path) as remote:
        remote.close()
        for act in (lambda: remote.sql(COUNT, epsilon=1), lambda: remote.schema and remote.account(), remote.warm_up):
            with pytest.raises(discreet.DiscreetError, match="closed"):
                act()
        assert "closed" in repr(remote)
        assert remote._client.connections._idle == []


def test_a_session_is_shown_without_its_token_and_is_not_copied(remote):
    assert "analyst ada" in repr(remote)
    assert "dsc1." not in repr(remote) + repr(vars(remote._client)) + repr(remote._client.connections)
    for one in (remote, remote._client.connections, remote._client.connections._token):
        with pytest.raises(discreet.DiscreetError):
            pickle.dumps(one)


# What travels


class Tapped:
    """An application whose every byte is written down, and whose replies may be changed."""

    def __init__(self, app, change=None):
        self.app, self.change = app, change
        self.sent = bytearray()
        self.heard = bytearray()

    async def __call__(self, scope, receive, send):
        body = bytearray()
        head = {}

        async def hear():
            message = await receive()
            self.heard.extend(message.get("body", b""))
            return message

        async def tell(message):
            if message["type"] == "http.response.start":
                head.update(message)
                return
            body.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            content = bytes(body) if self.change is None else self.change(scope["path"], bytes(body))
            headers = [(name, value) for name, value in head["headers"] if name != b"content-length"]
            headers.append((b"content-length", str(len(content)).encode()))
            self.sent.extend(repr(headers).encode() + content)
            await send({**head, "headers": headers})
            await send({"type": "http.response.body", "body": content})

        await self.app(scope, hear, tell)


def test_no_value_of_a_row_and_no_plan_travels(tmp_path):
    taps = []

    def tap(app):
        taps.append(Tapped(app))
        return taps[0]

    with (
        opened(tmp_path, budget=discreet.Budget(epsilon=300, delta=1e-9)) as local,
        connected(local, tmp_path, wrap=tap) as remote,
    ):
        for text, options in QUESTIONS[:10]:
            remote.preview(text, epsilon=1, **options)
            remote.sql(text, epsilon=1, **options)
        for text in ("SELECT canary FROM visits", "SELECT SUM(note) FROM visits", COUNT):
            with pytest.raises(DiscreetError):
                remote.sql(text, epsilon=10**6)
        remote.batch([COUNT, BY_WARD], epsilon=1)
        remote.account(), remote.releases(), remote.certificate(remote.releases(1)[0].request)
    sent, heard = taps[0].sent.decode("utf-8", "replace"), taps[0].heard.decode()
    # The rare group may be shown, as its key was bought: with one person it is not, but with probability delta.
    assert [canary for canary in CANARIES if canary in sent] == []
    assert len(sent) > 10_000
    assert set(json.loads(heard[: heard.index("}{") + 1])) <= {"sql", *inspect.signature(Session.sql).parameters, "pay"}


@pytest.mark.parametrize(
    "spoil",
    [
        {"plan": "0" * 64},
        {"ledger": "0" * 64},
        {"cost": "loss/1 none"},
        {"stored": "bm9uZQ=="},
        {"stored": "WyJhcnJheSIsICJPIiwgWzFdLCAiIl0="},
        {"stored": "e30="},
        {"stored": None},
        {"receipt": None},
        {"release": "4"},
        {"more": 1},
        {"stored": "W" * 4000},
    ],
)
def test_a_reply_that_is_none_of_ours_is_refused(local, tmp_path, spoil):
    """The server is a stranger: another plan, another ledger, bytes that are no answer."""

    def change(path, body):
        if not path.endswith("/ask"):
            return body
        reply = json.loads(body)
        for name, value in spoil.items():
            place = reply["receipt"] if name in ("plan", "ledger", "cost") else reply
            place[name] = value
        return json.dumps(reply).encode()

    with connected(local, tmp_path, wrap=lambda app: Tapped(app, change)) as remote, pytest.raises(DiscreetError):
        remote.sql(BY_WARD, epsilon=1)


#: What stands in the place of a part of an answer.
SPOILT = [None, True, -1, 0, 1e300, 10**30, "x", [], {}, ["list"], ["int", "zz"], ["float", "nan"], ["fraction", "1/0"]]
SPOILT += [["array", "<i8", [2], ""], ["array", "<f8", [10**9], "AAAAAAAAAAA="], ["array", "O", [1], ""], ["tuple", 1]]


def spoil(value, rng):
    """Return an answer with some parts that are others, or missing."""
    if rng.random() < 0.15:
        return rng.choice(SPOILT)
    if isinstance(value, dict):
        return {name: spoil(part, rng) for name, part in value.items() if rng.random() > 0.05}
    return [spoil(part, rng) for part in value] if isinstance(value, list) else value


def test_spoilt_bytes_are_an_answer_or_refused_and_break_nothing_else(ada):
    """Seed 7; 80 answers to each of three questions."""
    context, rng, told = RemoteContext(ada.facts, "ada"), random.Random(7), Counter()
    for text in (BY_WARD, COUNT, "SELECT note, COUNT(*) AS n, MEDIAN(age) AS m FROM visits GROUP BY note"):
        reply = answer_reply(ada.sql(text, epsilon=1), ada)
        ready = context.prepare(text, {"epsilon": 1}, ReleaseOptions)
        for _ in range(80):
            stored = json.dumps(spoil(json.loads(reply.stored), rng)).encode()
            try:
                answer = read_answer(context, ready, replace(reply, stored=stored))
                told[type(answer.rows()), type(repr(answer)), type(answer._repr_html_())] += 1
            except DiscreetError as error:
                told[type(error)] += 1
    assert told[list, str, str] > 0
    assert told[Unreachable] > 100


def test_an_answer_of_another_question_is_refused(local, tmp_path):
    other = []

    def change(path, body):
        if not path.endswith("/ask"):
            return body
        other.append(body)
        return other[0]

    with connected(local, tmp_path, wrap=lambda app: Tapped(app, change)) as remote:
        remote.sql(COUNT, epsilon=1)
        with pytest.raises(DiscreetError, match="another way"):
            remote.sql(BY_WARD, epsilon=1)
