"""The analysis of real people: its answers lie where their bars say, of rows that count."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def nafld():
    spec = importlib.util.spec_from_file_location("nafld", EXAMPLES / "nafld.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_answers_about_real_people_are_near_the_truth(nafld, tmp_path):
    """With bars of one in a million; limits and clamps take off at most an eighth of a count, and 2 of a mean."""
    with nafld.opened(tmp_path) as session:
        for (_, sql, how), exactly in zip(nafld.QUESTIONS, nafld.truth(), strict=True):
            answer = session.sql(sql, **how, confidence=0.999999)
            assert len(answer) == len(exactly)
            for row, true in zip(answer.rows(), exactly, strict=True):
                for name, value in zip(answer.columns, true, strict=True):
                    if f"{name}_low" in row:
                        slack = 2 if isinstance(value, float) else value / 8
                        assert row[f"{name}_low"] - slack <= value <= row[f"{name}_high"] + slack, (sql, name)
        assert session.ledger.spent == 1.5
