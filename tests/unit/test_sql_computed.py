"""Outputs that are computed from an answer are a stage on a plain question: same price, same measurements."""

import pytest

import discreet
from clinic import opened
from discreet.query.questions import QueryRefused
from sql_corpus import asked


def computed(outputs, rest=""):
    return asked(f"SELECT {outputs} FROM visits GROUP BY ward {rest}")


def around(outputs, rest="", plain="ward, COUNT(*) AS n"):
    return asked(f"SELECT {outputs} FROM (SELECT {plain} FROM visits GROUP BY ward) AS q {rest}")


def test_a_computed_output_is_a_question_about_the_plain_answer():
    pairs = [
        (computed("UPPER(ward) AS u, COUNT(*) AS n"), around("UPPER(ward) AS u, n")),
        (computed("ward, COUNT(*) AS n, COUNT(*) > 5 AS many"), around("ward, n, n > 5 AS many")),
        (
            computed("CASE WHEN ward = 'A' THEN 'first' ELSE 'rest' END AS w, COUNT(*) AS n"),
            around("CASE WHEN ward = 'A' THEN 'first' ELSE 'rest' END AS w, n"),
        ),
        (
            computed("ward, CASE WHEN COUNT(*) > 9 THEN AVG(stay) END AS s", "ORDER BY s DESC LIMIT 2"),
            around(
                "ward, CASE WHEN count > 9 THEN avg_stay END AS s",
                "ORDER BY s DESC LIMIT 2",
                "ward, COUNT(*), AVG(stay)",
            ),
        ),
        (
            computed("ward, COUNT(*) AS n", "HAVING ward LIKE 'A%' AND COUNT(*) > 3 ORDER BY LENGTH(ward), n"),
            around("ward, n", "WHERE ward LIKE 'A%' AND n > 3 ORDER BY LENGTH(ward), n"),
        ),
        (computed("ward, COUNT(*) AS n", "ORDER BY n LIMIT 3 OFFSET 1"), around("*", "ORDER BY n LIMIT 3 OFFSET 1")),
        (computed("ward"), around("ward", plain="ward, COUNT(*)")),
        (asked("SELECT DISTINCT ward FROM visits"), around("ward", plain="ward, COUNT(*)")),
        (computed("DISTINCT LOWER(ward) AS w"), around("DISTINCT LOWER(ward) AS w", plain="ward, COUNT(*)")),
    ]
    assert [number for number, (one, other) in enumerate(pairs) if one != other] == []


def test_a_column_that_is_not_grouped_by_is_refused_inside_of_what_is_computed():
    for outputs in ('UPPER(ward) || UPPER("Blood Group")', "CASE WHEN age > 3 THEN COUNT(*) END", "COUNT(*) > stay"):
        with pytest.raises(QueryRefused, match="is neither aggregated nor grouped by"):
            computed(outputs)
    for having in ("age > 3", "UPPER(\"Blood Group\") = 'A'"):
        with pytest.raises(QueryRefused, match="is neither aggregated nor grouped by"):
            computed("ward", f"HAVING {having}")


def test_distinct_groups_by_what_can_be_grouped_by_alone():
    for outputs, why in (("stay", "Groups cannot be real"), ("patient_id", "single people out"), ("1", "is constant")):
        with pytest.raises(QueryRefused, match=why):
            asked(f"SELECT DISTINCT {outputs} FROM visits")


def test_keys_alone_and_computed_outputs_are_free_once_the_plain_question_is_paid(tmp_path):
    with opened(tmp_path, budget=discreet.Budget(epsilon=1)) as clinic:
        plain = clinic.sql("SELECT ward, COUNT(*) FROM visits GROUP BY ward", epsilon=0.5)
        for text in (
            "SELECT DISTINCT ward FROM visits",
            "SELECT ward FROM visits GROUP BY ward ORDER BY ward DESC",
            "SELECT LOWER(ward), CASE WHEN COUNT(*) > 0 THEN 'big' ELSE 'small' END FROM visits GROUP BY ward",
            "SELECT ward, COUNT(*) > 0 FROM visits GROUP BY ward ORDER BY 2 LIMIT 1 OFFSET 1",
        ):
            answer = clinic.sql(text, epsilon=0.5)
            assert not answer.fresh
            assert answer.cost == plain.cost
        keys = [row["ward"] for row in clinic.sql("SELECT DISTINCT ward FROM visits", epsilon=0.5).rows()]
        assert keys == [row["ward"] for row in plain.rows()]


def test_bars_are_carried_through_what_is_computed(tmp_path):
    with opened(tmp_path, budget=discreet.Budget(epsilon=1)) as clinic:
        plain = clinic.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=0.5)
        outputs = "ward, CASE WHEN ward = 'A' THEN COUNT(*) ELSE 0 END AS n, ward || '!' AS w"
        rows = clinic.sql(f"SELECT {outputs} FROM visits GROUP BY ward", epsilon=0.5).rows()
    for row, below in zip(rows, plain.rows(), strict=True):
        first = row["ward"] == "A"
        assert row["w"] == row["ward"] + "!"
        assert "w_low" not in row
        assert row["n"] == (below["n"] if first else 0)
        bar = (below["n_low"], below["n_high"]) if first else (0, 0)
        assert (row["n_low"], row["n_high"]) == bar


def test_whether_a_text_that_noise_chose_fits_is_not_sure(tmp_path):
    """The bar of what is chosen by such a text spans both choices."""
    with opened(tmp_path, budget=discreet.Budget(epsilon=1)) as clinic:
        text = """
            SELECT ward, CASE WHEN CASE WHEN COUNT(*) > 5 THEN 'big' ELSE 'small' END LIKE 'b%' THEN 1 ELSE 0 END AS b
            FROM visits GROUP BY ward
        """
        rows = clinic.sql(text, epsilon=0.5).rows()
    assert {(row["b_low"], row["b_high"]) for row in rows} == {(0.0, 1.0)}
