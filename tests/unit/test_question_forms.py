"""One question has one price, whichever way it is written; and what was paid for in an earlier form stays free."""

import pytest

import clinic
import discreet
from canonical_query_cases import FACTS
from discreet.core import InvalidInput
from discreet.gate.plans import plan_digest
from discreet.query import Epsilon, normalise_question, plan_question, question_forms
from sql_corpus import SCHEMAS, asked

#: Ways to write one condition. All of a row find the answer to the first.
CONDITIONS = [
    [
        *("age >= 50", "50 <= age", "NOT age < 50", "NOT (50 > age)", "age > 49", "49 < age", "NOT age <= 49"),
        *("age >= CAST(50 AS INT)", "age >= 50.0", "age >= 25 * 2", "(age >= 50)", "AGE >= 50", '"age" >= 50'),
        *("v.age >= 50", 'v."AGE" >= 50', "NOT NOT age >= 50", "(age >= 50) = TRUE", "(age >= 50) IS TRUE"),
        *("age >= 50 AND 1 = 1", "TRUE AND age >= 50", "age >= 50 AND age > 49", "age >= 50 OR FALSE"),
        *("(age < 50) = FALSE", "(age < 50) <> TRUE", "(age >= 50) IS NOT DISTINCT FROM TRUE"),
    ],
    [
        *("age BETWEEN 18 AND 65", "age >= 18 AND age <= 65", "age <= 65 AND age >= 18", "age > 17 AND age < 66"),
        *("18 <= age AND 65 >= age", "NOT (age < 18 OR age > 65)", "NOT age NOT BETWEEN 18 AND 65"),
    ],
    [
        *(
            "ward = 'A' AND smoker AND stay > 3",
            "stay > 3 AND (smoker AND ward = 'A')",
            "smoker AND 3 < stay AND 'A' = ward",
        ),
        *("stay > 3.0 AND smoker = TRUE AND ward IN ('A')", "NOT (ward <> 'A' OR NOT smoker OR stay <= 3)"),
    ],
    [
        *("ward IN ('A', 'B')", "ward IN ('B', 'A', 'B')", "ward = 'A' OR ward = 'B'", "'B' = ward OR ward IN ('A')"),
        *("NOT ward NOT IN ('A', 'B')", "NOT (ward <> 'A' AND ward <> 'B')"),
    ],
    [
        "ward NOT IN ('A', 'B')",
        "NOT ward IN ('B', 'A')",
        "ward <> 'A' AND ward <> 'B'",
        "ward NOT IN ('A') AND ward <> 'B'",
    ],
    ["ward <> 'A'", "NOT ward = 'A'", "'A' <> ward", "ward NOT IN ('A')", "ward != 'A'"],
    ["stay = 3", "stay = 3.0", "stay IN (3)", "3e0 = stay", "stay = CAST(3 AS DOUBLE)"],
    ["seen >= '2024-01-01'", "seen >= DATE '2024-01-01'", "TIMESTAMP '2024-01-01 00:00:00' <= seen"],
    ["day < left_on", "left_on > day", "NOT day >= left_on", "NOT left_on <= day"],
    ["age + stay > 3", "stay + age > 3", "3 < stay + age", "NOT age + stay <= 3"],
    ["LOWER(ward) = 'a'", "'a' = LOWER(ward)", "LOWER(CAST(ward AS VARCHAR)) = 'a'"],
    [
        "smoker",
        "smoker = TRUE",
        "TRUE = smoker",
        "smoker IS TRUE",
        "NOT NOT smoker",
        "smoker <> FALSE",
        "smoker AND smoker",
    ],
    ["NOT smoker", "smoker = FALSE", "smoker IS FALSE", "smoker <> TRUE", "smoker IN (FALSE)"],
    ["TRUE", "1 = 1", "NOT FALSE", "'a' < 'b'"],
]
#: Ways to write one question.
QUESTIONS = [
    [
        "SELECT ward, COUNT(*) AS n, AVG(stay) AS s FROM visits GROUP BY ward",
        "select v.ward, avg(v.stay) AS mean, count(1) from visits as v group by 1",
        'SELECT "ward" AS w, COUNT(*), AVG("STAY") FROM "visits" "V" GROUP BY w ORDER BY 2 DESC LIMIT 2',
        "SELECT COUNT(*) AS n, AVG(t.stay) FROM (SELECT stay, ward AS k FROM visits) t GROUP BY k HAVING n > 3",
        "WITH x AS (SELECT * FROM visits) SELECT ward, AVG(stay) AS a, COUNT(*) FROM x GROUP BY ALL",
    ],
    [
        "SELECT COUNT(*) FILTER (WHERE age >= 50) AS n FROM visits",
        "SELECT COUNT(CASE WHEN NOT age < 50 THEN 1 END) AS n FROM visits",
        "SELECT COUNT_IF(age > 49) FROM visits",
        "SELECT COUNT(*) FILTER (WHERE (50 <= age) IS TRUE) FROM visits t",
    ],
    [
        "SELECT SUM(age + stay) AS s FROM visits WHERE cost * stay > 3 AND smoker",
        "SELECT SUM(stay + age) AS total FROM visits WHERE smoker AND NOT stay * cost <= 3",
    ],
    [
        "SELECT COUNT(*) FROM visits v JOIN patients p USING (patient_id) WHERE p.age > 40 AND v.smoker",
        "SELECT COUNT(*) FROM visits a, patients b WHERE a.smoker AND 41 <= b.age AND b.patient_id = a.patient_id",
    ],
    [
        "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS n FROM visits WHERE age > 4 GROUP BY 1) t WHERE n > 2",
        "SELECT COUNT(*) FROM (SELECT patient_id, COUNT(*) AS k FROM visits WHERE 5 <= age GROUP BY 1) WHERE 3 <= k",
    ],
]
#: Conditions that look alike and are not: each pair pays twice.
APART = [
    ("stay > 49", "stay >= 50"),
    ("cost > 49", "cost >= 50"),
    ("age > 49", "age >= 49"),
    ("age >= 50", "age >= 50.5"),
    ("age >= 50", "COALESCE(age, 50) >= 50"),
    ("ward NOT IN ('A', 'B')", "NOT COALESCE(ward IN ('A', 'B'), FALSE)"),
    ("NOT smoker", "smoker IS NOT TRUE"),
    ("day = left_on", "day IS NOT DISTINCT FROM left_on"),
    ("ward <> 'A'", "ward IS DISTINCT FROM 'A'"),
    ("ward = 'A'", "ward = 'a'"),
    ("ward = 'A'", "ward LIKE 'A'"),
    ("ward = 'A '", "ward = 'A'"),
    ("age - stay > 3", "stay - age > 3"),
    ("(age + stay) + cost > 3", "age + (stay + cost) > 3"),
    ("age >= 0", "TRUE"),  # a column that is NULL
    ("age <= 110", "age IS NOT NULL"),  # bounds are not looked at
    ("CASE WHEN smoker THEN TRUE END", "CASE WHEN smoker THEN TRUE ELSE FALSE END"),
    ("seen >= '2024-01-01'", "CAST(seen AS DATE) > '2024-01-01'"),
    ('"index" > 9007199254740992', 'CAST("index" AS INTEGER) > 9007199254740992'),
    ('"index" = 9007199254740993', '"index" = 9007199254740993.0'),
]
QUESTIONS_APART = [
    ("SELECT COUNT(*) FILTER (WHERE smoker) FROM visits", "SELECT COUNT(*) FROM visits WHERE smoker"),
    ("SELECT COUNT(smoker) FROM visits", "SELECT COUNT(smoker IS TRUE) FROM visits"),
    ("SELECT COUNT(stay) FROM visits", "SELECT COUNT(*) FROM visits"),
    ("SELECT SUM(stay) FROM visits", "SELECT AVG(stay) FROM visits"),
    (
        "SELECT smoker IS TRUE AS k, COUNT(*) FROM visits GROUP BY 1",
        "SELECT smoker AS k, COUNT(*) FROM visits GROUP BY 1",
    ),
]


def digest_of(text):
    """Return what the ledger knows a new question by."""
    return plan_digest(plan_question(question_forms(asked(text), SCHEMAS)[-1], FACTS, Epsilon(1)))


def ask_where(condition):
    return f"SELECT COUNT(*) FROM visits v WHERE {condition}"


@pytest.mark.parametrize("spellings", CONDITIONS, ids=lambda spellings: spellings[0])
def test_all_ways_to_write_a_condition_have_one_digest(spellings):
    first, *others = spellings
    expected = digest_of(ask_where(first))
    assert [other for other in others if digest_of(ask_where(other)) != expected] == []


@pytest.mark.parametrize("spellings", QUESTIONS, ids=lambda spellings: spellings[0][:60])
def test_all_ways_to_write_a_question_have_one_digest(spellings):
    first, *others = spellings
    expected = digest_of(first)
    assert [other for other in others if digest_of(other) != expected] == []


def test_conditions_and_questions_that_only_look_alike_have_digests_of_their_own():
    pairs = [*((ask_where(one), ask_where(other)) for one, other in APART), *QUESTIONS_APART]
    assert [pair for pair in pairs if digest_of(pair[0]) == digest_of(pair[1])] == []


def test_the_normal_form_of_a_question_is_its_own():
    texts = [ask_where(one) for group in CONDITIONS for one in group[:3]] + [
        one for group in QUESTIONS for one in group
    ]
    for text in texts:
        normal = normalise_question(asked(text), SCHEMAS)
        assert normalise_question(normal, SCHEMAS) == normal
        assert question_forms(normal, SCHEMAS) == (normal,)


# In a session.

WAYS = ["age >= 50", "50 <= age", "NOT visits.age < 50", "age > 49", '"age" >= CAST(50 AS INT)', "age >= 50 AND 1 = 1"]
WHERE = "SELECT COUNT(*) AS {} FROM visits WHERE {}"


def test_whatever_way_a_question_is_written_it_is_paid_for_once(tmp_path):
    with clinic.opened(tmp_path) as session:
        answers = [session.sql(WHERE.format(f"n{place}", way), epsilon=1) for place, way in enumerate(WAYS)]
        assert [answer.release.fresh for answer in answers] == [True, *[False] * (len(WAYS) - 1)]
        assert len({answer.rows()[0][f"n{place}"] for place, answer in enumerate(answers)}) == 1
        assert session.preview(WHERE.format("m", "NOT 50 > age"), epsilon=1).price.stored is not None
        framed = session.table().filter("NOT age <= 49").agg(n=discreet.count())
        assert not session.release(framed, epsilon=1).release.fresh
        assert session.sql(WHERE.format("n", "age >= 51"), epsilon=1).release.fresh


def paid_as_written(session, text):
    """Pay for a question as an earlier release of the package did: in the form in which it was written."""
    ready = session._context.prepare(text, {"epsilon": 1}, written=True)
    return session._gate.release(ready.plan, request="before")


def test_what_was_paid_for_as_it_was_written_stays_free(tmp_path):
    text = "SELECT ward AS w, COUNT(*) AS n FROM visits WHERE NOT age < 50 AND stay > 3 GROUP BY ward ORDER BY n"
    with clinic.opened(tmp_path) as session:
        before = paid_as_written(session, text)
        assert session.preview(text, epsilon=1).price.stored == before.receipt.number
        again = session.sql(text.replace("AS w", "AS k"), epsilon=1)
        assert (again.release.fresh, again.release.number) == (False, before.number)
        assert session.sql(text, epsilon=1, request="before").release.number == before.number
        with pytest.raises(InvalidInput):
            session.sql(text.replace("50", "51"), epsilon=1, request="before")
        assert session.sql(text, epsilon=0.5, fresh=True).release.fresh


def test_the_ledger_shows_a_question_as_it_was_written(tmp_path):
    with clinic.opened(tmp_path) as session:
        answer = session.sql(WHERE.format("n", "NOT age < 50"), epsilon=1)
        assert "NOT age < 50" in answer.release.receipt.what
        assert "NOT age < 50" in str(session.explain(WHERE.format("n", "NOT age < 50"), epsilon=1))
