"""The benchmark of queries: its data, its formulations in SQL, its processes. No peer is needed for it."""

import argparse
import json

import duckdb
import numpy as np
import pytest

GROUPS, ROWS_PER_GROUP = 3, 5


@pytest.fixture(scope="module")
def sql(room):
    return room("queries_sql")


@pytest.fixture(scope="module")
def queries(room):
    return room("queries")


@pytest.fixture(scope="module")
def ways(sql):
    return (*sql.WINDOWS, *sql.OTHERS)


@pytest.fixture(scope="module")
def small(room, tmp_path_factory):
    return room("queries_data").visits_file(tmp_path_factory.mktemp("visits"), 3000)


@pytest.fixture
def crowded():
    """Rows of people with many rows in few places, few in many, and one who has most of them."""
    drawn = np.random.default_rng(1)
    with duckdb.connect() as engine:
        engine.execute("create table everybody (person bigint, place integer, name varchar, value double)")
        people = [*drawn.integers(0, 12, 300).tolist(), *[99] * 200]
        rows = [(person, int(drawn.integers(0, 9)), float(drawn.normal(30, 30))) for person in people]
        engine.executemany("insert into everybody values ($1, $2, 'p' || $2, $3)", rows)
        yield engine


def answers(engine, sql, way, where="true", key="place"):
    engine.execute(f"create or replace table visits as from everybody where {where}")
    engine.execute(sql.SETTINGS)
    return {row[0]: tuple(map(int, row[1:])) for row in engine.execute(sql.bounded(key, way)).fetchall()}


def test_the_same_table_is_made_every_time(room, small, tmp_path):
    again = room("queries_data").visits_file(tmp_path, 3000)
    differing = f"select count(*) from (from '{small}' except all from '{again}')"
    assert duckdb.sql(f"select count(*), count(distinct person) > 250 from '{small}'").fetchone() == (3000, True)
    assert duckdb.sql(differing).fetchone() == (0,)


def test_a_table_that_is_there_is_not_made_again(room, small):
    before = small.stat().st_mtime_ns
    assert room("queries_data").visits_file(small.parent, 3000).stat().st_mtime_ns == before


@pytest.mark.parametrize("key", ["place", "name"])
def test_all_formulations_give_the_same_answer(crowded, sql, ways, key):
    first, *others = (answers(crowded, sql, way, key=key) for way in ways)
    assert first
    assert all(other == first for other in others)


def test_every_formulation_bounds_every_person(crowded, sql, ways):
    for way in ways:
        whole = answers(crowded, sql, way)
        for person in (*range(12), 99):
            without = answers(crowded, sql, way, f"person <> {person}")
            lost = [np.subtract(whole[place][:2], without.get(place, (0, 0, 0))[:2]) for place in whole]
            assert np.count_nonzero([people for people, _ in lost]) <= GROUPS
            assert max(people for people, _ in lost) <= 1
            assert max(rows for _, rows in lost) <= ROWS_PER_GROUP


def test_no_formulation_keeps_less_than_it_may(crowded, sql, ways):
    whole = answers(crowded, sql, ways[0])
    expected = crowded.execute(sql.people_that_count("place")).fetchone()[0]
    assert sum(people for people, _, _ in whole.values()) == expected
    only = answers(crowded, sql, ways[0], "person = 99")
    assert [(people, rows) for people, rows, _ in only.values()] == [(1, ROWS_PER_GROUP)] * GROUPS


def test_ours_counts_as_many_people_as_there_are_to_count(room, sql, small):
    alone = room("queries_alone").alone
    told = alone(["queries_ours.py", "aggregate", "place", small]).told
    window = alone(["queries_ours.py", "two windows at once", "place", small]).told
    assert told["people"] == window["people"] > 0


def test_a_whole_query_is_asked_and_paid_for(room, small):
    trial = room("queries_alone").alone(["queries_ours.py", "query", "name", small])
    assert trial.failure == ""
    assert trial.seconds > 0


def test_who_takes_too_long_or_too_much_is_ended(room, tmp_path, monkeypatch):
    module = room("queries_alone")
    monkeypatch.setattr(module, "HERE", tmp_path)
    (tmp_path / "long.py").write_text("while True: pass", encoding="utf-8")
    (tmp_path / "much.py").write_text("import time; held = bytearray(300 << 20); time.sleep(60)", encoding="utf-8")
    (tmp_path / "wrong.py").write_text("raise ValueError('no such thing')", encoding="utf-8")
    assert module.alone(["long.py"], seconds=1).failure == "over 1 s"
    assert module.alone(["much.py"], most=0.2).failure == "over 0.2 GiB"
    assert module.alone(["wrong.py"]).failure == "ValueError: no such thing"


def test_processor_time_is_the_best_of_the_rounds(room, monkeypatch, capsys):
    clock = room("queries_clock")
    ticks = iter([0, 1, 1, 9, 9, 12, 12, 30])
    monkeypatch.setattr(clock, "used", lambda: next(ticks))
    clock.run(str.upper, lambda data, _: {"groups": len(data)}, "file")
    told = json.loads(capsys.readouterr().out)
    assert (told["loading"], told["first"], told["seconds"], told["groups"]) == (1, 8, 3, 4)


def trial(room, seconds, gibibytes=1.0):
    return room("queries_alone").Trial(seconds=seconds, loading=1.0, gibibytes=gibibytes)


@pytest.fixture
def found(room, queries):
    result = queries.Found()
    for rows, seconds in ((10_000_000, 1.0), (100_000_000, 12.0)):
        result.add(queries.QUERY, rows, trial(room, seconds))
    result.add(queries.AGGREGATE, 10_000_000, trial(room, 0.8))
    for way in queries.WINDOWS:
        result.add(way, 10_000_000, trial(room, 4.0))
    return result


def test_bars_compare_like_with_like(room, queries, found):
    bars = {bar.claim: bar for bar in queries.speed_bars(found, (10_000_000, 100_000_000))}
    measured = [bar.measured for bar in bars.values()]
    assert measured == pytest.approx([1.0, 5.0, 1.2, 1.0])
    assert all(bar.passed for bar in bars.values())


def test_a_peer_is_judged_at_the_largest_size_it_can_do(room, queries, found):
    name = next(iter(queries.PEERS))
    found.add(name, 10_000_000, trial(room, 50.0))
    found.add(name, 100_000_000, room("queries_alone").Trial(failure="over 16 GiB"))
    bars = {bar.claim: bar for bar in queries.peer_bars(found)}
    assert bars[f"{name}, times our whole query"].measured == 50
    assert [bar.verdict for bar in bars.values()] == ["pass", "not measured", "not measured"]


def test_a_failure_stands_in_the_table_where_it_came(room, queries, found):
    name = next(iter(queries.PEERS))
    found.add(name, 10_000_000, room("queries_alone").Trial(failure="over 16 GiB"))
    rows = {row[0]: row for row in queries.sizes_table(found, (10_000_000,)).rows}
    assert rows[name][1] == "over 16 GiB"
    assert rows[queries.QUERY][1] == 1.0


def test_a_peer_that_is_not_there_is_left_out_with_the_way_to_get_it(queries, tmp_path, capsys):
    result = queries.Found()
    queries.run_peers(result, tmp_path, (10,), tmp_path)
    assert result.trials == {}
    assert capsys.readouterr().out.count("peers_venv.py") == len(queries.PEERS)


def test_the_command_is_the_one_that_was_typed(queries):
    options = argparse.Namespace(rows=[10, 20], large=True, peers=False)
    assert queries.command(options) == "python benchmarks/queries.py --rows 10 20 --large --no-peers"
