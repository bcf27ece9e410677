"""Claims of `discreet.query.remedies`: what a refusal proposes is taken, or refused for another reason."""

import pickle
from dataclasses import replace

import pytest

import clinic
from discreet.core import Bounds, InvalidInput
from discreet.core.schema import Kind
from discreet.query import QueryRefused, read_sql
from discreet.query.remedies import NOT_KNOWN, STRANGE, Declare, Edit, Never, quote_if_needed, remedy_of
from discreet.query.sql_writing.question import question_sql
from sql_corpus import MATCHES, PUBLICS, SCHEMAS, pairs

#: Proposals that are followed one after another.
MOST = 6
#: Bounds that a steward would declare where a proposal leaves them open.
OWN_BOUNDS = Bounds(0, 100)


def refusal_of(text, schemas, matches=None):
    try:
        read_sql(text, schemas, PUBLICS, matches)
    except QueryRefused as refusal:
        return refusal
    return None


def declare(schemas, column, **facts):
    return {
        name: replace(
            schema,
            columns=tuple(replace(known, **facts) if known.name == column else known for known in schema.columns),
        )
        for name, schema in schemas.items()
    }


def follow(pair):
    """Return the messages that come one after another while proposals are followed; none at the end, if it is taken."""
    text, schemas, messages = pair.question, SCHEMAS, []
    matches = MATCHES if pair.file == "matches" else None
    for _ in range(MOST):
        refusal = refusal_of(text, schemas, matches)
        if refusal is None:
            return messages, True
        messages.append(str(refusal))
        match remedy_of(refusal):
            case Edit() as edit:
                text = edit.apply(text)
            case Declare(argument="kinds", column=column, value=kind):
                schemas = declare(schemas, column, kind=Kind(kind), groups=None)
            case Declare(argument="matches") if matches is None:
                matches = MATCHES
            case Declare(argument="bounds", column=column):
                schemas = declare(schemas, column, bounds=OWN_BOUNDS)
            case _:
                break
    return messages, False


def test_whatever_a_refusal_proposes_is_taken_or_refused_for_another_reason():
    followed, odd = 0, []
    for pair in pairs("refused"):
        first = refusal_of(pair.question, SCHEMAS, MATCHES if pair.file == "matches" else None)
        if isinstance(remedy_of(first), Edit | Declare):
            followed += 1
            messages, taken = follow(pair)
            if (not taken and len(messages) != len(set(messages))) or (not taken and STRANGE in messages[-1]):
                odd.append((str(pair), pair.question, messages))
    assert not odd
    assert followed >= 40


def test_a_proposal_that_is_no_sql_is_not_made():
    text = "SELECT COUNT(*) FROM visits WHERE age # 1 = 1"
    assert refusal_of(text, SCHEMAS).fix == NOT_KNOWN
    twice = "SELECT wrad, COUNT(*) FROM visits GROUP BY wrad"
    assert refusal_of(remedy_of(refusal_of(twice, SCHEMAS)).apply(twice), SCHEMAS).fix == "did you mean 'ward'?"


def test_values_are_put_into_bins_wherever_they_are_shown():
    text = "SELECT v.stay, AVG(stay) FROM visits v GROUP BY v.stay ORDER BY v.stay"
    edit = remedy_of(refusal_of(text, SCHEMAS))
    bins = "FLOOR(v.stay / 10)"
    assert edit.apply(text) == f"SELECT {bins}, AVG(stay) FROM visits v GROUP BY {bins} ORDER BY {bins}"
    assert refusal_of(edit.apply(text), SCHEMAS) is None


def test_words_that_ask_what_was_meant_can_be_applied():
    odd = [
        pair.question
        for pair in pairs("refused")
        if "did you mean"
        in (refusal := refusal_of(pair.question, SCHEMAS, MATCHES if pair.file == "matches" else None)).fix
        and not isinstance(remedy_of(refusal), Edit)
    ]
    assert not odd


def test_what_the_planner_proposes_for_values_without_bounds_is_taken(tmp_path):
    """Of the parts of a measure that may be of any size: a declaration where one can be made, or else ends to write."""
    with clinic.opened(tmp_path) as session:
        odd = []
        measures = ("AVG(LENGTH(note))", "SUM(admitted - DATE '2024-01-01')", "MIN(admitted)", "AVG(1 / stay)")
        for measure in (*measures, "CORR(stay, LENGTH(note))", "REGR_SLOPE(LENGTH(note), stay)"):
            text = f"SELECT {measure} AS x FROM visits"
            with pytest.raises(InvalidInput) as caught:
                session.preview(text, epsilon=1)
            remedy = remedy_of(caught.value)
            written = question_sql(session._context.read(text), session._context.known)
            if remedy.new not in caught.value.fix or remedy.old not in written:
                odd.append((measure, remedy))
            session.preview(written.replace(remedy.old, remedy.new), epsilon=1)
        assert not odd
        with pytest.raises(InvalidInput, match="needs bounds for 'cost'") as caught:
            session.preview("SELECT AVG(cost) FROM visits", epsilon=1)
        assert remedy_of(caught.value) == Declare("bounds", "cost")
    with clinic.opened(tmp_path, ledger=tmp_path / "again", bounds={**clinic.BOUNDS, "cost": (0, 100)}) as session:
        assert session.preview("SELECT AVG(cost) FROM visits", epsilon=1).fits


def test_names_in_proposals_are_quoted_where_sql_needs_it():
    refusal = refusal_of('SELECT AVG("Blood Grop") FROM visits', SCHEMAS)
    assert remedy_of(refusal).apply('SELECT AVG("Blood Grop") FROM visits') == 'SELECT AVG("Blood Group") FROM visits'
    assert quote_if_needed('a "b"') == '"a ""b"""'


def test_a_refusal_keeps_its_remedy_on_the_way_to_another_process():
    refusal = refusal_of("SELECT COUNT(*) FROM visit", SCHEMAS)
    again = pickle.loads(pickle.dumps(refusal))
    assert str(again) == str(refusal)
    assert remedy_of(again) == remedy_of(refusal) == Edit(21, 26, "visits")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT * FROM visits", Never.ROWS),
        ("SELECT ward, stay FROM visits", Never.ROWS),
        ("SELECT MAX(ward) FROM visits", Never.ROWS),
        ("SELECT patient_id, COUNT(*) FROM visits GROUP BY patient_id", Never.PEOPLE),
        ("DROP TABLE visits", Never.CHANGE),
        ("SELECT COUNT(*) FROM visits WHERE day > CURRENT_DATE", Never.CLOCK),
        ("SELECT AVG(RANDOM()) FROM visits", Never.CHANCE),
        ("SELECT COUNT(*) FROM 'visits.csv'", Never.FILES),
    ],
)
def test_what_can_never_be_asked_says_why(text, why):
    assert remedy_of(refusal_of(text, SCHEMAS)) is why


def test_a_function_of_another_database_is_not_taken_for_a_misspelling():
    for name in ("GROUPING", "SPLIT_PART", "DATE_FORMAT", "COVAR_POP"):
        refusal = refusal_of(f"SELECT {name}(ward) FROM visits", SCHEMAS)
        assert refusal is None or "did you mean" not in refusal.fix
