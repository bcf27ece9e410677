"""Attack: a group with so many people that one value cannot hold their sums fails; with one person less it does not.

PostgreSQL fails a value of 1 GB; with personal accounts a failure costs nobody, so that whether somebody answers a
condition could be found out for nothing. Here the most that a value may hold is made small, and each one is measured.
"""

import numpy as np
import psycopg
import pytest

from contribution_checks import Recorder, Some
from discreet.algebra.aggregates import Aggregation, Key, People, Rows, Total
from discreet.algebra.expressions import ColumnValue
from discreet.core import Bounds, Limit, PrivacyUnit
from discreet.core.schema import Kind
from discreet.data.postgres import personal as postgres_bundles
from discreet.data.postgres.sessions import Together
from discreet.data.postgres.table import open_postgres
from postgres_tables import running

PEOPLE, MOST, LONGEST_ID = 3000, 4096, 40
STAY = ColumnValue("stay", Kind.INTEGER, Bounds(0, 60, step=1))
WARD = Key(ColumnValue("ward", Kind.TEXT))


@pytest.fixture(scope="module")
def address():
    with psycopg.connect(running().plain, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS crowds")
        connection.execute("CREATE TABLE crowds (number bigint, name text, ward text, stay bigint)")
        connection.execute(
            "INSERT INTO crowds SELECT n, repeat('x', n % 30) || n, CASE n % 7 WHEN 0 THEN NULL ELSE 'w' || n % 3 END,"
            f" n % 50 FROM generate_series(1, {PEOPLE}) AS g(n), generate_series(1, 2)"
        )
    return running().plain


def asked_with(address, monkeypatch, person, keys, rule):
    """Return the answer, and how long the longest value was that the server gathered."""
    lengths = [0]
    plain = Together.lines

    def measured(self, text):
        for line in plain(self, text):
            lengths.extend(len(value) for value in line if isinstance(value, bytes))
            yield line

    monkeypatch.setattr(Together, "lines", measured)
    table = open_postgres(address, table="crowds", unit=PrivacyUnit(column=person))
    asked = Aggregation(
        where=None,
        keys=keys,
        aggregates=(People(), Rows(), Total(STAY, STAY.bounds)),
        limit=Limit(groups=1, rows_per_group=2),
        salt=3,
    )
    recorder = Recorder(rule)
    found = table.aggregate_among(asked, recorder)
    table.close()
    monkeypatch.undo()
    assert len(recorder.asked) == PEOPLE
    return found, max(lengths)


def as_sums(exact):
    """Return the sums of each group."""
    return dict(zip(map(tuple, exact.groups), np.stack(exact.answers, axis=1).tolist(), strict=True))


@pytest.mark.parametrize("rule", [lambda name, told: True, Some(seed=1, always=8, most=0)], ids=["all", "some"])
@pytest.mark.parametrize("keys", [(), (WARD,)], ids=["one group", "groups"])
@pytest.mark.parametrize("person", ["number", "name"])
def test_no_value_grows_with_the_people_of_a_group(address, monkeypatch, person, keys, rule):
    plain, _ = asked_with(address, monkeypatch, person, keys, rule)
    monkeypatch.setattr(postgres_bundles, "LINE", MOST)
    pieced, longest = asked_with(address, monkeypatch, person, keys, rule)
    assert 0 < longest <= MOST + LONGEST_ID
    assert as_sums(pieced) == as_sums(plain)


def test_the_most_that_a_value_holds_is_far_below_what_the_server_takes():
    """As texts, bytes are twice as long."""
    assert 2 * (postgres_bundles.LINE + 40_000) < 1 << 29
