"""Attack: a NULL in a public table, which whoever maintains it can write, crashes every question about the column.

`i + 1` was computed of each public value, NULL among them, while a question was planned: a `TypeError` of Python's, and
no answer for anybody. The sum of NULL and a number is NULL, and is a group like others.
"""

import pytest

import discreet
from discreet import Budget

WARDS = {"code": ["A", "B", "C"], "floor": [1, None, 3], "name": ["x", None, "z"]}
JOINED = "visits JOIN wards ON ward = code"
TERMS = [
    "floor + 1",
    "1 + floor",
    "floor - 1",
    "floor * 2",
    "-floor",
    "ABS(floor)",
    "CLAMP(floor, 0, 2)",
    "(floor + 1) * 2",
]


@pytest.fixture
def clinic(tmp_path):
    import pandas as pd

    visits = pd.DataFrame({"pid": range(300), "ward": ["ABC"[n % 3] for n in range(300)]})
    wards = pd.DataFrame({**WARDS, "floor": pd.array(WARDS["floor"], dtype="Int64")})
    with discreet.open(
        {"visits": visits},
        person="pid",
        budget=Budget(epsilon=10**6),
        ledger=tmp_path / "clinic.ledger",
        limit=1,
        public={"wards": wards},
    ) as opened:
        yield opened


@pytest.mark.parametrize("term", TERMS)
def test_a_null_makes_a_group_and_no_crash(clinic, term):
    question = f"SELECT {term} AS f, COUNT(*) AS n FROM {JOINED} GROUP BY 1"
    assert clinic.preview(question, epsilon=100)
    found = {row["f"]: row["n"] for row in clinic.sql(question, epsilon=1000).rows()}
    assert found[None] == pytest.approx(100, abs=1)
    assert sum(found.values()) == pytest.approx(300, abs=2)


def test_groups_without_a_null_are_what_they_were(clinic):
    question = f"SELECT COALESCE(floor, 0) + 1 AS f, COUNT(*) AS n FROM {JOINED} GROUP BY 1"
    assert [row["f"] for row in clinic.sql(question, epsilon=1000).rows()] == [1, 2, 4]
