"""The runner of `benchmarks/corpus`: what becomes of queries, and how answers are compared with DuckDB's."""

import pytest

SCHEMA = """
[tables.visits]
person = "patient"
people = 12
rows = 60

[tables.visits.columns]
patient = { kind = "integer" }
ward = { kind = "text", groups = ["A", "B"] }
stay = { kind = "integer", bounds = [0, 30] }
cost = { kind = "real", range = [0, 100] }

[public.wards]
code = ["A", "B"]
floor = [1, 2]
"""
QUERIES = {
    "SELECT ward, COUNT(*), AVG(stay) FROM visits GROUP BY ward": "answered as it stands",
    "SELECT floor, SUM(stay) FROM visits JOIN wards ON ward = code GROUP BY floor": "answered as it stands",
    "SELECT AVG(cost) FROM visits": "answered after what the message proposes",
    "SELECT AVG(stya) FROM visits": "answered after what the message proposes",
    "SELECT * FROM visits": "rightly refused",
    "SELECT MY_OWN(stay) FROM visits": "refused",
}


@pytest.fixture(scope="module")
def data(room):
    return room("sql_corpus_data")


def test_queries_end_at_semicolons_outside_of_quotes(data):
    text = "-- all; of them\nSELECT 1;\nSELECT ';' AS a\n  FROM t;;\n SELECT 2"
    assert list(data.split_queries(text)) == ["SELECT 1", "SELECT ';' AS a\n  FROM t", "SELECT 2"]


def test_groups_are_the_same_or_not_and_measures_are_near(room):
    compare = room("sql_corpus_compare")
    near = compare.Near([False, True], of_order=False)
    assert near.agree((2015.0, 100.0), (2015.0, 100.05))
    assert not near.agree((2015.0, 100.0), (2016.0, 100.0))
    assert not near.agree((2015.0, 100.0), (2015.0, 101.0))
    assert not near.agree((2015.0, None), (2015.0, 101.0))


@pytest.mark.slow
def test_each_query_is_put_into_its_class(room, tmp_path):
    corpus = room("sql_corpus")
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "all.sql").write_text(";\n".join(QUERIES))
    verdicts = list(corpus.judge_folder(tmp_path))
    assert {verdict.query: verdict.found for verdict in verdicts} == QUERIES
    assert corpus.summarise(verdicts)[-1].startswith("| all | 6 | 2 (33 %) |")
    assert "it would show rows | 1" in corpus.write_report(verdicts)


@pytest.mark.slow
def test_an_answer_that_is_not_duckdbs_is_wrong(room, tmp_path, monkeypatch):
    corpus = room("sql_corpus")
    (tmp_path / "schema.toml").write_text(SCHEMA)
    (tmp_path / "all.sql").write_text("SELECT COUNT(*) FROM visits")
    monkeypatch.setattr(corpus, "EPSILON", 1)
    assert [verdict.found for verdict in corpus.judge_folder(tmp_path)] == ["wrong"]
