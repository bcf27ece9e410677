"""Public facts: exact on their way as JSON, without a row, and enough to read, plan and price a question."""

import json
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet
from clinic import BY_WARD, COUNT, opened, seen
from discreet.core import Bounds, DiscreetError, InvalidInput, Limit, PrivacyUnit, TotalLimit, Window
from discreet.core.schema import Column, ForeignKey, Kind, PublicRows, Schema
from discreet.core.units import Neighbours, Period
from discreet.gate import Budget, Ledger, Policy
from discreet.gate.accounts import balances
from discreet.gate.ledger import charging
from discreet.session import NoRows, PublicFacts, Session, read_facts, write_facts
from discreet.session.facts.public_facts import BoughtBounds
from remote_clinic import opened_corpus, sampled_questions

PERSONAL = Budget(epsilon=15, delta=1e-6, per="person", most=9, total=Budget(epsilon=40, delta=1e-5))


def ledger_again(folder):
    """Return the ledger of a folder, opened once more."""
    return Ledger.open(next(folder.glob("*.ledger")), anchors=[])


def rowless(session, ledger, analyst=""):
    """Return a session on the facts of another, which went through their text."""
    return Session.on_facts(read_facts(write_facts(session.facts)), ledger, analyst=analyst)


# The codec

NAMES = st.text(st.characters(codec="utf-8", categories=("L", "N")), min_size=1, max_size=6)
WHOLES = st.integers(1, 10**8)


@st.composite
def columns(draw, name):
    """Return a column of any kind, with bounds and groups where its kind has them."""
    kind = draw(st.sampled_from(Kind))
    step = draw(st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(1, 1000)])) if kind is Kind.REAL else Fraction(1)
    low = draw(st.integers(-1000, 1000))
    bounds = Bounds(low, low + draw(st.integers(1, 1000)), step=step) if draw(st.booleans()) else None
    values = {
        Kind.INTEGER: st.integers(-(2**63), 2**63 - 1),
        Kind.TEXT: st.text(max_size=8),
        Kind.BOOLEAN: st.booleans(),
        Kind.DATE: st.dates(),
    }
    groups = None
    if kind.groupable and draw(st.booleans()):
        groups = tuple(draw(st.lists(st.none() | values[kind], unique=True, min_size=1, max_size=4)))
    bounded = kind not in (Kind.TEXT, Kind.BOOLEAN)
    return Column(name=name, kind=kind, bounds=bounds if bounded else None, groups=groups, complete=draw(st.booleans()))


@st.composite
def schemas(draw, table, *, public):
    """Return a table; a private one with its person, and perhaps a window, a cap and a key that leads to the person."""
    names = draw(st.lists(NAMES, unique_by=str.casefold, min_size=1, max_size=3))
    own = [draw(columns(name)) for name in names]
    rows = st.one_of(st.none(), st.integers(), st.floats(allow_nan=False), st.text(), st.booleans(), st.dates())
    if public:
        listed = draw(st.lists(st.tuples(*[rows] * len(names)), max_size=3))
        counts = tuple(draw(WHOLES) for _ in listed)
        return Schema(
            table=table, columns=tuple(own), unit=PrivacyUnit(), rows=PublicRows(tuple(names), tuple(listed), counts)
        )
    when, person = Column(name="when it was", kind=Kind.TIMESTAMP), Column(name="some one", kind=Kind.TEXT)
    window = Window(period=draw(st.sampled_from(Period)), time=when.name) if draw(st.booleans()) else None
    key = ForeignKey(parent=draw(NAMES), on=((draw(NAMES), draw(NAMES)),), column=person.name)
    return Schema(
        table=table,
        columns=(*own, when, person),
        unit=PrivacyUnit(column=person.name, neighbours=draw(st.sampled_from(Neighbours)), window=window),
        rows_per_person=draw(WHOLES),
        via=draw(st.none() | st.just(key)),
    )


@st.composite
def facts(draw):
    """Return public facts."""
    tables = tuple(draw(schemas(name, public=False)) for name in ("visits", "patients")[: draw(st.integers(1, 2))])
    unit = PrivacyUnit(column="some one")
    budgets = [Budget(epsilon=3, unit=unit), Budget(rho=Fraction(1, 3), delta=1e-9, unit=unit), PERSONAL.about(unit)]
    return PublicFacts(
        tables=tables,
        publics=tuple(draw(schemas(name, public=True)) for name in ("wards",)[: draw(st.integers(0, 1))]),
        limit=draw(st.none() | st.builds(TotalLimit, WHOLES) | st.builds(Limit, groups=WHOLES, rows_per_group=WHOLES)),
        delta=draw(st.fractions(min_value=0, max_value=Fraction(1, 2))),
        paths=draw(st.dictionaries(NAMES, NAMES, max_size=2)),
        left_out=draw(st.dictionaries(NAMES, st.dictionaries(NAMES, NAMES, max_size=2), max_size=2)),
        budget=draw(st.sampled_from(budgets)),
        policy=draw(st.sampled_from(Policy)),
        ledger="0f" * 32,
    )


@settings(max_examples=40)
@given(facts())
def test_facts_are_the_same_after_their_way_as_a_text(known):
    read = read_facts(write_facts(known))
    assert read == known
    assert [public.rows for public in read.publics] == [public.rows for public in known.publics]
    assert [[*map(type, row)] for public in read.publics for row in public.rows.rows] == [
        [*map(type, row)] for public in known.publics for row in public.rows.rows
    ]
    assert write_facts(read) == write_facts(known)


KNOWN = PublicFacts(
    tables=(
        Schema(
            table="visits",
            unit=PrivacyUnit(column="id", window=Window.of("month of day")),
            columns=(
                Column(name="id", kind=Kind.INTEGER),
                Column(name="day", kind=Kind.DATE, groups=(date(2024, 1, 1), None)),
                Column(name="stay", kind=Kind.REAL, bounds=Bounds(0, 60, step=Fraction(1, 7))),
                Column(name="cost", kind=Kind.REAL),
            ),
            rows_per_person=77,
            via=ForeignKey(parent="orders", on=(("order", "id"),), column="id"),
        ),
    ),
    publics=(
        Schema(
            table="wards",
            unit=PrivacyUnit(),
            columns=(Column(name="code", kind=Kind.TEXT), Column(name="floor", kind=Kind.INTEGER)),
            rows=PublicRows(("code", "floor"), (("A", 1), (None, 2)), (1, 3)),
        ),
    ),
    bought=(BoughtBounds(table="visits", column="cost", bounds=Bounds(0, 1024)),),
    limit=Limit(groups=3, rows_per_group=5),
    delta=Fraction(1, 10**9),
    paths={"visits": "clinic.visits"},
    left_out={"visits": {"photo": "holds bytes"}},
    budget=PERSONAL.about(PrivacyUnit(column="id", window=Window.of("month of day"))),
    ledger="ab" * 32,
)


def test_every_fact_is_in_the_text():
    read = read_facts(write_facts(KNOWN))
    assert read == KNOWN
    assert read.publics[0].rows == KNOWN.publics[0].rows
    assert read.known["visits"].find("cost").bounds == Bounds(0, 1024)
    assert KNOWN.tables[0].find("cost").bounds is None


def spoilt_texts():
    """Yield texts with one field less, one more, or one of another kind, at every place."""

    def places(value, path=()):
        if isinstance(value, dict | list):
            yield path
            for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
                yield from places(inner, (*path, key))

    text = write_facts(KNOWN)
    for path in places(json.loads(text)):
        fields = json.loads(text)
        place = fields
        for key in path:
            place = place[key]
        if isinstance(place, dict) and path[:1] not in [("paths",), ("left_out",)]:
            for key in list(place):
                before = place.pop(key)
                yield (*path, "without", key), json.dumps(fields)
                place[key] = {"wrong": 1}
                yield (*path, "wrong", key), json.dumps(fields)
                place[key] = before
            place["more"] = "of it"
            yield (*path, "more"), json.dumps(fields)


def test_a_missing_an_unknown_and_a_wrong_field_are_refused_at_every_place():
    optional = {"per", "most", "least", "total", "window"}  # a budget without these is another one, and is whole
    accepted, refused = [], 0
    for place, text in spoilt_texts():
        try:
            read_facts(text)
        except DiscreetError:
            refused += 1
        else:
            accepted.append(place)
    assert [place for place in accepted if not (place[0] == "budget" and place[-1] in optional)] == []
    assert refused > 60


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "{",
        b"\xff\xfe",
        '{"format":"discreet public facts 2"}',
        '{"format":"discreet public facts 1","format":"discreet public facts 1"}',
        "[" * 10**4,
    ],
)
def test_a_text_that_is_not_ours_is_refused(text):
    with pytest.raises(InvalidInput):
        read_facts(text)


def test_values_beyond_reason_are_refused():
    text = write_facts(KNOWN)
    for before, after in [
        ('"77"', '"0"'),
        ('"77"', '"1e9"'),
        ('"1/1000000000"', '"2"'),
        ('"1/1000000000"', '"1e-999999999"'),
        ('{"integer":"1"}', '{"integer":"1","real":"0x1p0"}'),
        ('{"date":"2024-01-01"}', '{"date":"yesterday"}'),
        ('"counts":["1","3"]', '"counts":["1"]'),
        ('"abab', '"zzab'),
    ]:
        assert before in text
        with pytest.raises(DiscreetError):
            read_facts(text.replace(before, after, 1))


def test_facts_with_rows_of_a_private_table_cannot_be_made():
    table = replace(KNOWN.tables[0], rows=PublicRows(("id",), ((1,),), (1,)))
    with pytest.raises(InvalidInput, match="no rows of private"):
        replace(KNOWN, tables=(table,))


def test_a_moment_stays_exact():
    moment = datetime(2024, 2, 29, 12, 30, 0, 1)  # noqa: DTZ001 - UTC as in tables
    public = replace(KNOWN.publics[0], rows=PublicRows(("code", "floor"), ((moment, 0.1 + 0.2),), (1,)))
    read = read_facts(write_facts(replace(KNOWN, publics=(public,))))
    assert read.publics[0].rows.rows == ((moment, 0.1 + 0.2),)


# A session without rows


@pytest.fixture
def clinic(tmp_path):
    with opened(tmp_path) as session:
        yield session


def test_facts_of_a_session_hold_no_value_of_a_row(clinic):
    clinic.sql(BY_WARD, epsilon=1)  # rows were read
    text = write_facts(clinic.facts)
    assert seen(text) == []
    assert "p01" not in text
    assert "visits.csv" not in text


def test_previews_without_rows_are_those_of_the_session_with_rows(tmp_path):
    differ, many = [], 0
    with opened_corpus(tmp_path) as near, rowless(near, ledger_again(tmp_path)) as far:
        assert repr(far.schema) == repr(near.schema)
        for question, options in sampled_questions():
            for ask in ("preview", "explain"):
                shown = [shown_or_refused(session, ask, question, options) for session in (near, far)]
                differ += [] if shown[0] == shown[1] else [(question, shown)]
                many += 1
    assert differ == []
    assert many > 20


def shown_or_refused(session, ask, question, options):
    """Return what a preview or an explanation shows, or why it is refused."""
    try:
        return repr(getattr(session, ask)(question, epsilon=1, **options))
    except DiscreetError as refusal:
        return str(refusal)


def test_a_session_without_rows_hands_out_stored_answers_and_pays_for_nothing(clinic, tmp_path):
    stored = clinic.sql(BY_WARD, epsilon=1)
    with rowless(clinic, ledger_again(tmp_path)) as far:
        assert far.sql(BY_WARD, epsilon=1).rows() == stored.rows()
        assert far.shape(BY_WARD) == clinic.shape(BY_WARD)
        spent, entries = far.ledger.spent, far.ledger.state.number
        tree = {"keys": ["ward"], "paths": [("A",), ("B",)], "limit": Limit()}
        for ask in (
            lambda: far.sql(COUNT, epsilon=1),
            lambda: far.sql(COUNT, epsilon=1, request="mine", fresh=True),
            lambda: far.batch([COUNT, BY_WARD], epsilon=1),
            lambda: far.hierarchy(**tree, epsilon=1),
            lambda: far.buy_bounds("cost", epsilon=1),
            lambda: far.counter("admitted", start=date(2024, 1, 1), steps=3, epsilon=1).refresh(date(2024, 1, 2)),
        ):
            with pytest.raises(NoRows):
                ask()
        assert (far.ledger.spent, far.ledger.state.number) == (spent, entries)


def test_an_unfinished_payment_is_not_run_without_rows(clinic, tmp_path):
    plan = clinic._context.prepare(COUNT, {"epsilon": 1}).plan
    clinic._gate._pay(discreet.gate.gate.price_plan(plan), "mine")
    with rowless(clinic, ledger_again(tmp_path)) as far, pytest.raises(NoRows):
        far.sql(COUNT, epsilon=1, request="mine")
    assert clinic.sql(COUNT, epsilon=1, request="mine").fresh


def test_facts_of_another_ledger_are_refused(clinic, tmp_path):
    (tmp_path / "other").mkdir()
    with opened(tmp_path / "other"), pytest.raises(InvalidInput, match="another ledger"):
        rowless(clinic, ledger_again(tmp_path / "other"))


def test_bought_bounds_are_facts_and_are_found_in_the_ledger(tmp_path):
    with opened(tmp_path, budget=Budget(epsilon=1000)) as clinic:
        bounds = clinic.buy_bounds("cost", epsilon=200)
        assert [bought.bounds for bought in clinic.facts.bought] == [bounds]
        assert clinic.facts.known["visits"].find("cost").bounds == bounds
        with rowless(clinic, ledger_again(tmp_path)) as far:
            question = "SELECT SUM(cost) AS total FROM visits"
            assert repr(far.preview(question, epsilon=1)) == repr(clinic.preview(question, epsilon=1))


def test_personal_charges_are_not_read_without_rows(tmp_path, monkeypatch):
    with opened(tmp_path, budget=PERSONAL) as clinic:
        stored = clinic.sql(COUNT, epsilon=1)

        def refuse(*_):
            raise AssertionError("charges are private")

        shown = repr(clinic.preview(BY_WARD, epsilon=1))
        for module in (balances, charging):
            monkeypatch.setattr(module, "read_stored_people", refuse)
        with rowless(clinic, ledger_again(tmp_path)) as far:
            assert repr(far.preview(BY_WARD, epsilon=1)) == shown
            assert far.sql(COUNT, epsilon=1).rows() == stored.rows()
            with pytest.raises(NoRows):
                far.sql(BY_WARD, epsilon=1)
