"""Attack: make PostgreSQL's planner expect few rows where one person has many, so that it compares them one by one.

The planner takes a condition such as `pid + 1 = 778` for true of one row in two hundred, and several of them for true
of hardly any. With few rows expected on both sides of a join it goes through one side for every row of the other. If
all conditions are true of one person's many rows, these are compared with all rows of the other side: the question
failed at its deadline with that person, and answered at once without.
"""

import time

import pytest

import discreet
from discreet.data.postgres import sessions as postgres_sessions
from postgres_tables import running, writer

TARGET, MINE, PEOPLE, CODES = 777_777, 1500, 20_000, 30_000
#: How many times longer a question takes with the person, if the attack is to be believed; what a machine does besides.
TELLING, UNSEEN = 4, 0.3

UNLIKELY = " AND ".join(f"a.pid + {n} = {TARGET + n}" for n in (1, 2, 3))
LIKELY = " AND ".join(f"y.code + {n} > {n - 5}" for n in range(1, 7))
MANY = f"(SELECT a.pid, a.code FROM {{0}} AS a WHERE {UNLIKELY}) AS x"
QUESTIONS = {
    "public": f"SELECT COUNT(*) AS n FROM {MANY} JOIN astray_codes AS y ON x.code = y.code WHERE {LIKELY}",
    "in": f"SELECT COUNT(*) AS n FROM {MANY} WHERE x.pid IN (SELECT y.pid FROM astray_0 AS y WHERE {LIKELY})",
    "join": f"SELECT COUNT(*) AS n FROM {MANY} JOIN astray_0 AS y ON x.pid = y.pid WHERE {LIKELY}",
}


@pytest.fixture(scope="module")
def tables():
    """Make a table without the person, and one with them; and public rows."""
    with writer().connection.cursor() as cursor:
        for name, mine in (("astray_0", 0), ("astray_1", MINE)):
            cursor.execute(f"DROP TABLE IF EXISTS {name}; CREATE TABLE {name} (pid bigint, code bigint)")
            cursor.execute(f"INSERT INTO {name} SELECT g, g % 7 FROM generate_series(1, {PEOPLE}) AS g")
            cursor.execute(
                f"INSERT INTO {name} SELECT {TARGET}, g FROM generate_series(1, {mine}) AS g; ANALYZE {name}"
            )
        cursor.execute("DROP TABLE IF EXISTS astray_codes; CREATE TABLE astray_codes (code bigint)")
        cursor.execute(f"INSERT INTO astray_codes SELECT g + 10 ^ 6 FROM generate_series(1, {CODES}) AS g")
        cursor.execute("ANALYZE astray_codes")


def seconds(name, question, folder):
    with discreet.open(
        running().plain,
        table=list(dict.fromkeys([name, "astray_0"])),
        public={"astray_codes": "astray_codes"},
        person="pid",
        budget=discreet.Budget(epsilon=10, delta=1e-9),
        ledger=folder / f"{time.monotonic_ns()}.ledger",
        limit=discreet.Limit(groups=1, rows_per_group=5),
        anchors=[],
    ) as session:
        began = time.perf_counter()
        session.sql(question.format(name), epsilon=0.1)
        return time.perf_counter() - began


def times_longer(question, folder):
    """Return how many times longer a question takes with the person than without."""
    times = [[seconds(name, question, folder) for name in ("astray_1", "astray_0")] for _ in range(2)]
    ends = [min(each) + UNSEEN for each in zip(*times, strict=True)]
    return ends[0] / ends[1]


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("name", QUESTIONS)
def test_one_persons_rows_are_not_compared_with_all_others(name, tmp_path):
    assert times_longer(QUESTIONS[name], tmp_path) < TELLING


@pytest.mark.usefixtures("tables")
def test_the_attack_succeeds_against_the_old_behaviour(tmp_path, monkeypatch):
    monkeypatch.setitem(postgres_sessions.SETTINGS, "enable_nestloop", "on")
    assert times_longer(QUESTIONS["public"], tmp_path) > TELLING
