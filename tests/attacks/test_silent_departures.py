"""The attack: compare answers over time, where people whose personal account is used up are left out in silence.

Whoever reads the numbers takes the fall for a fact about the world. So every answer says that people may have left. The
note depends on no row: it is the same whether anybody left or nobody did.
"""

import pyarrow as pa
import pytest

import discreet
from discreet.core import Limit
from discreet.gate import Budget
from discreet.session.answers.answer import MAY_HAVE_LEFT
from discreet.session.reports.report import write_report

ROWS = [{"who": person, "ward": "AB"[person % 2]} for person in range(12)]
COUNT = "SELECT COUNT(*) AS n FROM visits"
IN_A = "SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'"


def opened(folder, name, **changes):
    settings = {
        "table": "visits",
        "person": "who",
        "groups": {"ward": ["A", "B"]},
        "budget": Budget(rho=250_000, delta=1e-6, per="person"),
        "ledger": folder / f"{name}.ledger",
        "limit": Limit(groups=1, rows_per_group=1),
        "anchors": [],
    }
    return discreet.open(pa.Table.from_pylist(ROWS), **{**settings, **changes})


def warned(answer):
    """Tell whether a reader of an answer is told that people may have left, in every form of it."""
    shown = [answer.notes, repr(answer), answer._repr_html_(), answer.confidence(0.5).notes]
    return [MAY_HAVE_LEFT in form for form in shown] == [True] * len(shown)


def test_an_answer_that_fell_because_people_left_says_that_they_may_have(tmp_path):
    with opened(tmp_path, "drained") as session:
        session.sql(IN_A, rho=100_000)
        session.sql(IN_A, rho=100_000, fresh=True)
        fallen = session.sql(COUNT, rho=100_000)
        assert fallen.value == 6  # of 12: those in ward A have nothing left
        assert warned(fallen)
    with opened(tmp_path, "nobody left") as session:
        whole = session.sql(COUNT, rho=100_000)
        assert whole.value == 12
        assert whole.notes == fallen.notes


@pytest.mark.parametrize(
    "ask",
    [
        lambda one: one.sql(COUNT, rho=10),
        lambda one: one.batch([COUNT, IN_A], rho=10)[0],
        lambda one: one.hierarchy(["ward"], [("A",), ("B",)], rho=10),
    ],
    ids=["question", "batch", "hierarchy"],
)
def test_every_kind_of_answer_carries_the_note_and_only_with_personal_accounts(tmp_path, ask):
    with opened(tmp_path, "personal") as session:
        assert warned(ask(session))
    with opened(tmp_path, "common", budget=Budget(rho=250_000, delta=1e-6)) as session:
        assert MAY_HAVE_LEFT not in repr(ask(session))


def test_a_report_repeats_the_note_beside_the_answer(tmp_path):
    with opened(tmp_path, "reported") as session:
        write_report(session, [session.sql(COUNT, rho=10)], tmp_path / "report.html")
    assert MAY_HAVE_LEFT in (tmp_path / "report.html").read_text(encoding="utf-8")
