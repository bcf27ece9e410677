"""What a ledger and a release look like: on a terminal, in a notebook, and to somebody hostile."""

import json
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.accounting import (
    Approximate,
    Composed,
    Concentrated,
    DiscreteGaussianNoise,
    GaussianNoise,
    Group,
    LaplaceNoise,
    Parallel,
    Pure,
    RandomisedResponse,
    Renyi,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
)
from discreet.core import InvalidInput, Sensitivity
from discreet.core.exact import text_down, text_up
from discreet.gate import Budget, Gate, Ledger, Policy, Receipt, Release, certificate, check_certificate
from discreet.gate.entries.cost_text import cost_words, figure_text
from discreet.gate.ledger.views import Gauge
from discreet.gate.proofs.exports import check_export, export_lines
from discreet.gate.releases import one_line
from loss_strategies import WIDE, leaves
from questions import Question

PLAN = "ab" * 32
HOSTILE = "<script>alert('1')</script>\x1b[2J\u202e&\"\n"


class Reader(HTMLParser):
    """Reads HTML, and counts what is open."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], set(), ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    assert reader.seen <= {"div", "b", "p", "table", "tr", "th", "td", "meter", "code"}
    return reader.text


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "clinic.ledger", Budget(3, 1e-9), title="clinic <b>") as ledger:
        yield ledger


def pay(ledger, request, cost=None, analyst="ann", what="stay by ward"):
    return ledger.pay(cost or Pure(0.5), what=what, plan=PLAN, request=request, analyst=analyst)


# Numbers and gauges.


def test_a_bar_is_full_only_if_nothing_is_left_and_empty_only_if_nothing_is_spent():
    def bar(spent):
        return Gauge("ε", Fraction(spent), Fraction(1), 1 - Fraction(spent)).bar(10)

    assert bar(0) == "░" * 10
    assert bar("1/1000000") == "█" + "░" * 9
    assert bar("1/2") == "█" * 5 + "░" * 5
    assert bar("999999/1000000") == "█" * 9 + "░"
    assert bar(1) == "█" * 10


def test_a_gauge_rounds_up_what_is_spent_and_down_what_is_left():
    words = Gauge("ρ", Fraction(1, 3), Fraction(2, 3), Fraction(1, 3)).words()
    assert words == "ρ = 0.333334 of 0.666666 spent, 0.333333 left (50 %)"
    assert Gauge("ε", Fraction(2, 3), Fraction(2, 3), Fraction(0)).words().startswith("ε = 0.666667 of 0.666667 spent")


@pytest.mark.parametrize("number", [Fraction(1, 3), Fraction(0), Fraction(10**40 + 1), Fraction(1, 7**20), Fraction(3)])
def test_a_number_that_is_shown_is_on_the_safe_side(number):
    assert Fraction(text_down(number)) <= number <= Fraction(text_up(number))


@pytest.mark.parametrize(
    ("number", "text"),
    [(Fraction(1, 10), "0.1"), (Fraction(1, 3), "1/3"), (100, "100"), (Fraction(10**9 + 1, 10**10), "≈ 0.1")],
)
def test_a_figure_is_exact_or_says_that_it_is_not(number, text):
    assert figure_text(number) == text


WORDS = {
    "ε = 0.1": Pure(0.1),
    "ε = 0.1, δ = 1e-08": Approximate(0.1, 1e-8),
    "ρ = 1/3": Concentrated(Fraction(1, 3)),
    "Laplace noise, scale 10 on sensitivity 2": LaplaceNoise(10, 2),
    "Gaussian noise, σ = 1": GaussianNoise(1),
    "discrete Gaussian noise, σ² = 100 on l2² = 4": DiscreteGaussianNoise(100, Sensitivity.box(l0=1, linf=2)),
    "randomised response, the truth with 0.75 of 2": RandomisedResponse(0.75),
    "a Rényi curve at 2 orders": Renyi([(2, 0.1), (8, 0.5)]),
    "10,000 × ((Gaussian noise, σ = 1) on Poisson samples, rate 0.01)": Repeated(
        Subsampled(GaussianNoise(1), 0.01), 10_000
    ),
    "(ε = 1) + (ε = 2)": Composed([Pure(1), Pure(2)]),
    "(ε = 1) + (ε = 1) + (ε = 1) + 7 more": Composed([Pure(1)] * 10),
    "nothing": Composed([]),
    "on disjoint rows: (ε = 1) | (ε = 2)": Parallel([Pure(1), Pure(2)]),
    "(ε = 1) for groups of 4": Group(Pure(1), 4),
    "(ε = 1) on samples of fixed size, rate 0.5": Subsampled(Pure(1), 0.5, Sampling.WITHOUT_REPLACEMENT),
    "(ε = 1), shuffled among 1,000": Shuffled(Pure(1), 1000),
    "10 × (2 × (ε = 0.1))": Repeated(Repeated(Pure(0.1), 2), 10),
}


@pytest.mark.parametrize("words", WORDS)
def test_a_cost_has_these_words(words):
    assert cost_words(WORDS[words]) == words


@given(st.one_of(list(leaves(WIDE).values())))
@settings(max_examples=100)
def test_every_cost_has_words(loss):
    words = cost_words(loss)
    assert words.isprintable()
    assert cost_words(Repeated(loss, 3)) == f"3 × ({words})"


def test_a_line_commands_no_terminal_and_is_short():
    assert one_line(HOSTILE) == "<script>alert('1')</script>?[2J?&\""
    assert one_line("word " * 100, 20) == "word word word word…"
    assert len(one_line("a" * 100, 20)) == 20


# A ledger.


def test_a_ledger_shows_what_was_spent_and_what_is_left(ledger):
    pay(ledger, "r1")
    pay(ledger, "r2", Pure(0.25), "bob")
    assert repr(ledger).splitlines() == [
        "Ledger clinic <b> · ε = 3 at δ = 1e-09 for one row, added or removed",
        "all together  ████████░░░░░░░░░░░░░░░░░░░░░░  ε = 0.75 of 3 spent, 2.25 left (75 %)",
        "ann           █████░░░░░░░░░░░░░░░░░░░░░░░░░  ε = 0.5 of 3 spent, 2.25 left (75 %)",
        "bob           ██░░░░░░░░░░░░░░░░░░░░░░░░░░░░  ε = 0.25 of 3 spent, 2.25 left (75 %)",
        f"2 payments, 0 answered, 2 not answered; 3 entries, head {ledger.state.head.hex()[:12]}",
    ]


def test_a_notebook_shows_gauges_and_the_last_payments(ledger):
    ledger.release(pay(ledger, "r1"), b"1")
    pay(ledger, "r2", GaussianNoise(50), what=HOSTILE)
    text = read(ledger._repr_html_())
    for part in ("clinic <b>", "ε = 0.", "stay by ward", "Gaussian noise, σ = 50", "not answered", "alert('1')"):
        assert part in text
    assert "\x1b" not in text


def test_a_raised_limit_is_shown_beside_the_one_at_birth(ledger):
    ledger.resize(4, by="eve", reason="more")
    assert "ε = 4 at δ = 1e-09 (3 at birth)" in repr(ledger)
    assert "(3 at birth)" in read(ledger._repr_html_())


def test_an_analyst_is_not_promised_what_others_have_spent(ledger):
    ledger.resize(2, by="eve", reason="intern", analyst="bob")
    pay(ledger, "r1", Pure(2))
    assert "bob           ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  ε = 0 of 2 spent, 1 left (50 %)" in repr(ledger)


def test_a_closed_account_has_nothing_left(ledger):
    ledger.disclose(None, by="eve", reason="leak")
    for text in (repr(ledger), read(ledger._repr_html_())):
        assert "CLOSED for good" in text
        assert "0 left" in text


def test_a_separate_budget_says_whose_it_is(tmp_path):
    with Ledger.create(tmp_path / "a.ledger", Budget(rho=1), policy=Policy.SEPARATE) as ledger:
        assert "to each analyst alone" in repr(ledger)
        pay(ledger, "r1", Concentrated(0.5), "ann")
        assert "each analyst  ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  ρ = 0 of 1 spent, 1 left" in repr(ledger)
        assert "ann           ███████████████░░░░░░░░░░░░░░░  ρ = 0.5 of 1 spent, 0.5 left" in repr(ledger)


def test_many_analysts_are_not_all_shown(ledger):
    for number in range(13):
        pay(ledger, f"r{number}", Pure(0.01), f"analyst {number}")
    assert "… and 3 more analysts" in repr(ledger)
    assert "… and 3 more analysts" in read(ledger._repr_html_())


def test_a_ledger_that_was_let_go_says_so(tmp_path):
    ledger = Ledger.create(tmp_path / "a.ledger", Budget(1), title="a & b")
    ledger.close()
    assert repr(ledger).startswith("Ledger a & b · This ledger was closed")
    assert "This ledger was closed" in read(ledger._repr_html_())


# A release.


def released(ledger, answer, **changes):
    question = Question("stay by ward", doing=lambda _: answer)
    return replace(Gate(ledger, None, analyst="ann").release(question, request="r1"), **changes)


def test_a_release_shows_answer_error_cost_and_receipt(ledger):
    assert repr(released(ledger, 37, error=1.23456)) == (
        "Release of the question stay by ward: 37 ± 1.24 (95 %)\n  cost ε = 0.1 · entry 3, paid for as 2, request r1"
    )
    assert ", paid before" in repr(released(ledger, 37))


@pytest.mark.parametrize("error", [None, float("nan"), float("inf"), "much", {"a": 1}])
def test_an_error_that_is_no_number_is_not_shown(ledger, error):
    assert "±" not in repr(released(ledger, 37, error=error))


@pytest.mark.parametrize(
    "answer", [list(range(10_000)), "x" * 10_000, np.arange(10_000), {str(n): n for n in range(1000)}, b"\0" * 10_000]
)
def test_a_long_answer_is_shortened(ledger, answer):
    release = released(ledger, answer)
    assert len(repr(release)) < 500
    assert len(read(release._repr_html_())) < 2000


def test_a_dictionary_is_a_table_in_a_notebook(ledger):
    text = read(released(ledger, {f"ward {number}": number for number in range(25)})._repr_html_())
    assert "ward 19" in text
    assert "ward 20" not in text
    assert "… and 5 more" in text


def test_whatever_is_shown_of_a_release_is_escaped():
    receipt = Receipt(
        ledger="00", number=2, head="00", request=HOSTILE, analyst="", plan=PLAN, what=HOSTILE, cost=Pure(1)
    )
    for answer in (HOSTILE, {HOSTILE: HOSTILE}, [HOSTILE]):
        release = Release(stored=b"", answer=answer, receipt=receipt, number=3, head="00", fresh=True)
        assert "\x1b" not in repr(release)
        assert len(repr(release).splitlines()) == 2
        assert "<script>" in read(release._repr_html_())


# An export.


@pytest.fixture
def lines(ledger):
    ledger.release(pay(ledger, "r1"), b"1")
    pay(ledger, "r2")
    ledger.resize(4, by="eve", reason="more")
    ledger.release(ledger.receipt(4), b"2")
    ledger.checkpoint()
    return list(export_lines(ledger, answers=True))


def test_an_export_proves_the_totals_of_the_ledger(ledger, lines):
    found = check_export(iter(lines), ledger=ledger.identity)
    assert found.state == ledger.state
    assert (found.answers, found.signed, found.ledger) == (2, 1, ledger.identity)
    assert found.birth == ledger.birth
    assert found.whole


def test_a_beginning_of_an_export_is_one_of_an_earlier_ledger(lines):
    assert [check_export(lines[:count]).state.number for count in range(1, 8)] == list(range(1, 8))


def test_a_certificate_is_found_in_an_export_at_its_numbers(ledger, lines):
    certified = check_certificate(certificate(ledger, "r2"), ledger=ledger.identity)
    check_export(lines, certified=certified)
    with pytest.raises(InvalidInput, match="before what the certificate is about"):
        check_export(lines[:5], certified=certified)
    with pytest.raises(InvalidInput, match="another entry 4"):
        check_export(lines, certified=replace(certified, heads=("00", "00")))


def test_whatever_is_changed_in_an_export_is_seen(ledger, lines):
    """Every line left out, doubled, moved, or with any one of its characters changed."""
    for at in range(len(lines)):
        changed = [
            lines[:at] + lines[at + 1 :],
            lines[: at + 1] + lines[at:],
            [*lines[:at], *lines[at:][::-1]],
        ]
        for other in changed:
            if other not in (lines, lines[:-1]):
                with pytest.raises(InvalidInput):
                    check_export(other, ledger=ledger.identity)
        for place in range(0, len(lines[at]), 3):
            letter = "0" if lines[at][place] != "0" else "1"
            other = [*lines[:at], lines[at][:place] + letter + lines[at][place + 1 :], *lines[at + 1 :]]
            with pytest.raises(InvalidInput):
                check_export(other, ledger=ledger.identity)


@pytest.mark.parametrize("bad", [[], [""], ["[]"], ["{}"], ["[" * 100_000], ['{"number":1e400,"head":"","body":""}']])
def test_what_is_no_export_is_refused(bad):
    with pytest.raises(InvalidInput, match="proves nothing"):
        check_export(bad)


def test_an_export_of_another_ledger_is_refused(lines):
    with pytest.raises(InvalidInput, match="of another ledger"):
        check_export(lines, ledger="00" * 32)


def test_progress_is_told(lines, monkeypatch):
    from discreet.gate.proofs import exports

    monkeypatch.setattr(exports, "PROGRESS_EVERY", 2)
    told = []
    check_export(lines, progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 0), (4, 0), (6, 0)]


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "[]",
        "{}",
        "[" * 100_000,
        '{"signature": 5}',
        '{"signature": "", "x": NaN}',
    ],
)
def test_what_is_no_certificate_is_refused(bad):
    with pytest.raises(InvalidInput, match="proves nothing"):
        check_certificate(bad, ledger="00" * 32)


def test_a_certificate_with_odd_parts_is_refused(ledger, lines):
    text = certificate(ledger, "r1")
    for name, value in {"signature": 5, "asked": float("nan")}.items():
        with pytest.raises(InvalidInput, match="proves nothing"):
            check_certificate(json.dumps({**json.loads(text), name: value}), ledger=ledger.identity)
    for number in (-1, 2**64, True, "x", None):
        facts = json.loads(text)
        facts["payment"]["number"] = number
        with pytest.raises(InvalidInput, match="proves nothing"):
            check_certificate(json.dumps(facts), ledger=ledger.identity)
