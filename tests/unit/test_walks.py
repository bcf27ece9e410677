"""The walks through the house, counted: how many of our functions stand between a call and what it leads to.

`docs/walks.md` draws them. A walk that grows longer fails here, and is either shortened or allowed on purpose.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from types import FrameType

import pandas as pd
import pytest

import discreet
from discreet.accounting import Pure
from discreet.gate import Budget, Gate, Ledger

PAGE = Path(__file__).resolve().parents[2] / "docs" / "walks.md"
SOURCE = Path(discreet.__file__).parent
#: The most frames from `Session.sql` to the statement that DuckDB is sent, both counted, and modules that they are in.
QUESTION_FRAMES, QUESTION_MODULES = 15, 7
#: The most frames from `Ledger.pay` to the filter that admits the payment, both counted, and modules that they are in.
PAYMENT_FRAMES, PAYMENT_MODULES = 8, 6
#: How often one release, which writes a payment and an answer, may compute each of these. An event is encoded when it
#: is written and once more when it is read back, which checks its bytes; an anchor likewise.
COMPUTED = {
    "Total.cost": 1,
    "Total.canonical": 1,
    "Total.describe": 1,
    "Total.run": 1,
    "to_body": 4,
    "from_body": 2,
    "loss_to_text": 3,
    "Anchor.to_line": 4,
}

QUESTION = "SELECT ward, COUNT(*) AS n FROM visits WHERE stay > 2 GROUP BY ward"
PEOPLE, ROWS = 50, 200


def walk_to(module: str, function: str, call: Callable[[], object]) -> list[tuple[str, str]]:
    """Return our frames, as (module, function), on the first way of a call to a function; the outermost first."""
    walk: list[tuple[str, str]] = []

    def look(frame: FrameType, event: str, _argument: object) -> None:
        here = frame.f_code
        if walk or event != "call" or here.co_name != function or Path(here.co_filename) != SOURCE / module:
            return
        above: FrameType | None = frame
        while above is not None:
            path = Path(above.f_code.co_filename)
            if path.is_relative_to(SOURCE):
                walk.insert(0, (path.relative_to(SOURCE).as_posix(), above.f_code.co_name))
            above = above.f_back

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        call()
    finally:
        sys.setprofile(before)
    return walk


def drawn(heading: str) -> list[tuple[str, str]]:
    """Return the frames of the drawing below a heading of the page: each line begins with a module and a function."""
    section = PAGE.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    drawing = re.search(r"```text\n(.*?)```", section, re.DOTALL)
    assert drawing
    lines = [line.replace("└", " ").split() for line in drawing[1].splitlines()]
    return [(f"{module}.py", function.rpartition(".")[2]) for module, function, *_ in lines]


@pytest.fixture
def session(tmp_path):
    rows = range(ROWS)
    visits = pd.DataFrame(
        {
            "person": [row % PEOPLE for row in rows],
            "ward": ["AB"[row % 2] for row in rows],
            "stay": [row % 9 for row in rows],
        }
    )
    with discreet.open(
        visits,
        table="visits",
        person="person",
        groups={"ward": ["A", "B"]},
        limit=discreet.Limit(groups=2, rows_per_group=3),
        budget=discreet.Budget(epsilon=3),
        ledger=tmp_path / "visits.ledger",
    ) as opened:
        yield opened


def test_a_question_reaches_the_engine_in_few_frames(session):
    """Session, gate, plan, table: none of them is passed twice, and nothing stands between them without need."""
    walk = walk_to("data/duckdb/connection.py", "fetch", lambda: session.sql(QUESTION, epsilon=1))
    assert walk[0] == ("session/session.py", "sql")
    assert len(walk) <= QUESTION_FRAMES, walk
    assert len({module for module, _ in walk}) <= QUESTION_MODULES, walk
    rooms = [module.split("/")[0] for module, _ in walk]
    assert list(dict.fromkeys(rooms)) == ["session", "gate", "query", "data"]


def test_a_payment_goes_straight_from_the_ledger_to_the_filter(tmp_path):
    """The queues of group commit are left before the batch is committed, and no module is entered twice."""
    with Ledger.create(tmp_path / "clinic.ledger", Budget(epsilon=1, delta=1e-9), anchors=[]) as ledger:
        walk = walk_to(
            "accounting/filters.py", "admit", lambda: ledger.pay(Pure(0.1), what="a count", plan="0", request="1")
        )
    assert walk == drawn("A payment")
    assert len(walk) <= PAYMENT_FRAMES, walk
    entered = [module for module, _ in groupby(module for module, _ in walk)]
    assert len(set(entered)) == len(entered) <= PAYMENT_MODULES, walk


class Total:
    """A plan that computes its cost whenever it is asked for it."""

    @property
    def cost(self):
        return Pure(0.1)

    def describe(self):
        return "how many"

    def canonical(self):
        return "total"

    def run(self, data, _entropy, /):
        return len(data)


def test_a_release_computes_cost_digest_and_texts_once(tmp_path):
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            calls[frame.f_code.co_qualname] += 1

    place, anchor = tmp_path / "clinic.ledger", tmp_path / "clinic.anchor"
    with Ledger.create(place, Budget(epsilon=1, delta=1e-9), anchors=[anchor]) as ledger:
        gate, before = Gate(ledger, ["a row"]), sys.getprofile()
        sys.setprofile(count)
        try:
            gate.release(Total())
        finally:
            sys.setprofile(before)
    assert all(0 < calls[name] <= most for name, most in COMPUTED.items()), {name: calls[name] for name in COMPUTED}
