"""The walks through the house, counted: how many of our functions stand between a call and what it leads to.

`docs/walks.md` draws them. A walk that grows longer fails here, and is either shortened or allowed on purpose.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path
from types import FrameType

import pandas as pd
import pyarrow as pa
import pytest

import discreet
from discreet.accounting import Pure
from discreet.gate import Budget, Gate, Ledger

PAGE = Path(__file__).resolve().parents[2] / "docs" / "walks.md"
SOURCE = Path(discreet.__file__).parent
#: The most frames of each walk, its two ends counted, and the most modules that they are in.
QUESTION_FRAMES, QUESTION_MODULES = 10, 6
PERSONAL_FRAMES, PERSONAL_MODULES = 14, 9
PAYMENT_FRAMES, PAYMENT_MODULES = 8, 6
STEP_FRAMES, STEP_MODULES = 8, 3
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


def walk_to(module: str, function: str, call: Callable[[], object], *, past: str = "") -> list[tuple[str, str]]:
    """Return our frames, as (module, function), on the first way of a call to a function; the outermost first.

    With `past`, it is the first way that goes through that function, too.
    """
    walk: list[tuple[str, str]] = []

    def look(frame: FrameType, event: str, _argument: object) -> None:
        here = frame.f_code
        if walk or event != "call" or here.co_name != function or Path(here.co_filename) != SOURCE / module:
            return
        above: FrameType | None = frame
        frames: list[tuple[str, str]] = []
        while above is not None:
            path = Path(above.f_code.co_filename)
            if path.is_relative_to(SOURCE):
                frames.insert(0, (path.relative_to(SOURCE).as_posix(), above.f_code.co_name))
            above = above.f_back
        if not past or past in {name for _, name in frames}:
            walk.extend(frames)

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


def need_short(walk: list[tuple[str, str]], frames: int, modules: int) -> None:
    """Check the length of a walk."""
    assert len(walk) <= frames, walk
    assert len({module for module, _ in walk}) <= modules, walk


def visits():
    rows = range(ROWS)
    return pd.DataFrame(
        {
            "person": [row % PEOPLE for row in rows],
            "ward": ["AB"[row % 2] for row in rows],
            "stay": [row % 9 for row in rows],
        }
    )


def opened(source, folder, per="dataset"):
    return discreet.open(
        source,
        table="visits",
        person="person",
        groups={"ward": ["A", "B"]},
        limit=discreet.Limit(groups=2, rows_per_group=3),
        budget=discreet.Budget(epsilon=3, per=per),
        ledger=folder / "visits.ledger",
    )


def test_a_question_reaches_the_engine_in_few_frames(tmp_path):
    """Session, gate, plan, table: none of them is passed twice, and nothing stands between them without need."""
    with opened(visits(), tmp_path) as session:
        walk = walk_to("data/duckdb/connection.py", "fetch", lambda: session.sql(QUESTION, epsilon=1))
    assert walk == drawn("A question")
    need_short(walk, QUESTION_FRAMES, QUESTION_MODULES)
    rooms = [module.split("/")[0] for module, _ in walk]
    assert [room for room, _ in groupby(rooms)] == ["session", "gate", "query", "data"]


def test_a_question_of_several_tables_is_no_longer(tmp_path):
    tables = {"visits": visits(), "stays": visits()}
    with discreet.open(tables, person="person", budget=Budget(epsilon=3), ledger=tmp_path / "visits.ledger") as session:
        text = "SELECT COUNT(*) FROM stays WHERE stay > 2"
        walk = walk_to(
            "data/duckdb/connection.py", "fetch", lambda: session.sql(text, epsilon=1, limit=discreet.Limit())
        )
    assert walk == drawn("A question")


def test_a_question_with_personal_accounts_reaches_the_engine_in_few_frames(tmp_path):
    """Down to the guard of the engine, DuckDB's frames are those that are drawn for Spark."""
    with opened(visits(), tmp_path, per="person") as session:
        walk = walk_to("data/duckdb/table.py", "aggregate_among", lambda: session.sql(QUESTION, epsilon=1))
    drawing = drawn("A question with personal accounts on Spark")
    assert walk[:-1] == drawing[: len(walk) - 1]
    assert drawing[len(walk) - 1] == ("data/spark/table.py", "aggregate_among")
    need_short(drawing, PERSONAL_FRAMES, PERSONAL_MODULES)


@pytest.mark.spark
def test_a_question_with_personal_accounts_reaches_spark_in_few_frames(tmp_path):
    spark_tables = pytest.importorskip("spark_tables")
    frame = spark_tables.frame_of(pa.Table.from_pandas(visits(), preserve_index=False))
    with opened(frame, tmp_path, per="person") as session:
        call = partial(session.sql, QUESTION, epsilon=1)
        walk = walk_to("data/spark/sessions.py", "run_within", call, past="answer_among")
    assert walk == drawn("A question with personal accounts on Spark")


def test_a_step_of_training_reaches_its_noise_in_few_frames(tmp_path):
    torch = pytest.importorskip("torch")
    from discreet.learn.torch import Training

    training = Training(
        model=partial(torch.nn.Linear, 4, 3),
        loss=torch.nn.CrossEntropyLoss(reduction="none"),
        optimiser=partial(torch.optim.SGD, lr=0.1),
        examples=PEOPLE,
        batch_size=20,
        microbatch_size=16,
        noise_multiplier=2,
        iterations=1,
        delta=1e-5,
    )
    data = torch.ones(PEOPLE, 4), torch.zeros(PEOPLE, dtype=torch.int64)
    with Ledger.create(tmp_path / "clinic.ledger", Budget(epsilon=1000, delta=1e-3), anchors=[]) as ledger:
        walk = walk_to("learn/torch/dpsgd.py", "add_rounded_gaussian", lambda: training.fit(Gate(ledger, data)))
    assert walk == drawn("A step of DP-SGD")
    need_short(walk, STEP_FRAMES, STEP_MODULES)


def test_a_payment_goes_straight_from_the_ledger_to_the_filter(tmp_path):
    """The queues of group commit are left before the batch is committed, and no module is entered twice."""
    with Ledger.create(tmp_path / "clinic.ledger", Budget(epsilon=1, delta=1e-9), anchors=[]) as ledger:
        walk = walk_to(
            "accounting/filters.py", "admit", lambda: ledger.pay(Pure(0.1), what="a count", plan="0", request="1")
        )
    assert walk == drawn("A payment")
    need_short(walk, PAYMENT_FRAMES, PAYMENT_MODULES)
    entered = [module for module, _ in groupby(module for module, _ in walk)]
    assert len(set(entered)) == len(entered), walk


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


def test_the_canonical_text_of_a_question_is_written_once(tmp_path):
    """The digest by which it is paid for and the salt of its rows are both made of it, in its normal form."""
    calls: Counter[str] = Counter()

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            calls[frame.f_code.co_qualname] += 1

    with opened(visits(), tmp_path) as session:
        before = sys.getprofile()
        sys.setprofile(count)
        try:
            session.sql(QUESTION.replace("stay > 2", "stay >= 3"), epsilon=1)
        finally:
            sys.setprofile(before)
    assert calls["QueryPlan._canonical"] == 1
