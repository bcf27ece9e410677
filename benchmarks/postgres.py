"""Bounded aggregates in PostgreSQL: ours beside several hand-written statements with the same limits, on one server.

What counts is processor time: of the server's processes and of the one that asks. All keep a person's groups by a hash
of person and group, and the rows in each by a hash of the row.
"""

# ruff: noqa: S608 - the texts are put together from constants of this file
import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

import psycopg
from measure import Bar, Report, Table, finish, publish, render, say
from postgres_accounts import Accounts
from queries_data import GROUPS, HIGH, LOW, ROWS_PER_GROUP, visits_file

from discreet.algebra.aggregates import Aggregation, Key, People, Rows, Total, sensitivity_of
from discreet.algebra.expressions import ColumnValue
from discreet.core import Bounds, Limit, PrivacyUnit
from discreet.core.schema import Kind
from discreet.data.engine_rules import EngineSettings
from discreet.data.postgres.table import open_postgres

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from postgres_server import SETTINGS, server

COMMAND = "python benchmarks/postgres.py"
ROWS, ROUNDS = 10_000_000, 2
#: The bar: ours may take so many times the processor time of the best hand-written statement.
MOST = 1.3
SERVER = {
    "shared_buffers": "2GB",
    "work_mem": "256MB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "8GB",
    "autovacuum": "off",
    # Workers that share a statement take more processor time and less of the clock, and the planner gives them to some
    # statements and not to others: what is compared is the statements.
    "max_parallel_workers_per_gather": "0",
}
STEPS = f"cast(floor(least(greatest(value, {LOW}), {HIGH}) * 100000 + 0.5) as integer)"
#: One call of a hash that PostgreSQL has for its own joins.
GROUP_HASH, ROW_HASH = "hashint8extended(person, {word})", "hashint8extended(id, 8)"
WORDS = {"place": "place", "name": "hashtext(name)"}
KEYS = {"place": "by integers", "name": "by texts"}

TWO_WINDOWS = f"""
with ranked as (
  select {{key}}, {STEPS} as steps,
    dense_rank() over (partition by person order by {GROUP_HASH}, {{key}}) as place_in_person,
    row_number() over (partition by person, {{key}} order by {ROW_HASH}) as row_in_place
  from visits)
select {{key}}, count(*) filter (where row_in_place = 1), count(*), sum(steps)
from ranked where place_in_person <= {GROUPS} and row_in_place <= {ROWS_PER_GROUP} group by {{key}}"""

GROUPS_FIRST = f"""
with ranked as (
  select person, {{key}}, {STEPS} as steps, {ROW_HASH} as row_hash,
    dense_rank() over (partition by person order by {GROUP_HASH}, {{key}}) as place_in_person
  from visits),
fewer as (
  select {{key}}, steps, row_number() over (partition by person, {{key}} order by row_hash) as row_in_place
  from ranked where place_in_person <= {GROUPS})
select {{key}}, count(*) filter (where row_in_place = 1), count(*), sum(steps)
from fewer where row_in_place <= {ROWS_PER_GROUP} group by {{key}}"""

ROWS_FIRST = f"""
with fewer as (
  select person, {{key}}, {STEPS} as steps,
    row_number() over (partition by person, {{key}} order by {ROW_HASH}) as row_in_place
  from visits),
pairs as (
  select person, {{key}}, count(*) as rows, sum(steps) as total
  from fewer where row_in_place <= {ROWS_PER_GROUP} group by person, {{key}}),
ranked as (
  select *, row_number() over (partition by person order by {GROUP_HASH}, {{key}}) as place_in_person from pairs)
select {{key}}, count(*), sum(rows), sum(total) from ranked where place_in_person <= {GROUPS} group by {{key}}"""

#: Few people have more rows in a group than may count: only theirs are looked at one by one.
PAIRS_FIRST = f"""
with pairs as (
  select person, {{key}}, count(*) as rows, sum({STEPS}) as total from visits group by person, {{key}}),
ranked as (
  select *, row_number() over (partition by person order by {GROUP_HASH}, {{key}}) as place_in_person from pairs),
kept as materialized (select person, {{key}}, rows, total from ranked where place_in_person <= {GROUPS}),
chosen as (
  select visits.person, visits.{{key}}, {STEPS} as steps,
    row_number() over (partition by visits.person, visits.{{key}} order by {ROW_HASH}) as row_in_place
  from visits join kept on kept.person = visits.person and kept.{{key}} = visits.{{key}}
  where kept.rows > {ROWS_PER_GROUP}),
counted as (
  select {{key}}, 1 as people, rows, total from kept where rows <= {ROWS_PER_GROUP}
  union all
  select {{key}}, 1, count(*), sum(steps) from chosen where row_in_place <= {ROWS_PER_GROUP} group by person, {{key}})
select {{key}}, sum(people), sum(rows), sum(total) from counted group by {{key}}"""

HANDS = {
    "two windows": TWO_WINDOWS,
    "groups first, then rows": GROUPS_FIRST,
    "rows first, then groups": ROWS_FIRST,
    "pairs first, rows where needed": PAIRS_FIRST,
}
PLAIN = "select {key}, count(*), sum(value), avg(value) from visits group by {key}"
OURS, PERSONAL, UNBOUNDED = "discreet", "discreet, with personal accounts", "no limits at all"
#: The bar of personal accounts: so many times the processor time of the same question to everybody's account.
MOST_PERSONAL = 1.5
#: A hand-written statement that takes so many times as long as the best one sits out.
SLOW = 1.25
#: Ticks of the system's clock of processes, in a second.
TICKS = os.sysconf("SC_CLK_TCK")


def filled(address: str, rows: int, folder: Path) -> int:
    """Load the visits, and return the process of the server."""
    import duckdb

    file = visits_file(folder, rows)
    with psycopg.connect(address, autocommit=True) as connection, duckdb.connect() as engine:
        connection.execute(
            "create unlogged table visits (id bigint, person bigint, place integer, name text, value float8)"
        )
        lines = file.with_suffix(".csv")
        engine.execute(
            f"copy (select row_number() over () as id, person, place, name, value from read_parquet('{file}')) "
            f"to '{lines}' (header false)"
        )
        statement = "copy visits from stdin (format csv)"
        with lines.open("rb") as read, connection.cursor() as cursor, cursor.copy(statement) as copy:
            while piece := read.read(1 << 20):
                copy.write(piece)
        lines.unlink()
        connection.execute("vacuum analyze visits")
        return _parent(connection.info.backend_pid)


def _parent(process: int) -> int:
    return int(_stat(process)[1])


def _stat(process: int) -> list[str]:
    """Return what the system says of a process, from its state on."""
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()


def server_seconds(parent: int) -> float:
    """Return the processor time of a server: of its processes, and of those that have ended."""
    ticks = sum(map(int, _stat(parent)[11:15]))
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found = _stat(int(entry.name))
            except OSError:
                continue  # it has ended meanwhile, and its parent has its time
            if int(found[1]) == parent:
                ticks += sum(map(int, found[11:13]))
    return ticks / TICKS


def asked_of(key: str) -> Aggregation:
    """Return our question: counts and sums by private groups, from which averages follow."""
    kind, value = Kind.INTEGER if key == "place" else Kind.TEXT, ColumnValue("value", Kind.REAL, Bounds(LOW, HIGH))
    return Aggregation(
        where=None,
        keys=(Key(ColumnValue(key, kind)),),
        aggregates=(People(), Rows(), Total(value, Bounds(LOW, HIGH))),
        limit=Limit(groups=GROUPS, rows_per_group=ROWS_PER_GROUP),
        salt=7,
    )


def accounts_for(asked: Aggregation) -> Accounts:
    """Return personal accounts that nobody uses up here."""
    limit = [sensitivity_of(one, asked.limit).l2_squared for one in asked.aggregates]
    return Accounts(tuple(int(square) for square in limit))


def contest(address: str, parent: int, key: str) -> dict[str, float]:
    """Return the best processor time of each contestant; they take turns.

    A hand-written statement that took longer than the best of them by a quarter sits out what follows.
    """
    unit = PrivacyUnit(column="person")
    table = open_postgres(
        address,
        table="visits",
        unit=unit,
        bounds={"value": (LOW, HIGH)},
        order="id",
        settings=EngineSettings(seconds=3600),
    )
    with psycopg.connect(address, autocommit=True) as connection:
        texts = {name: text.format(key=key, word=WORDS[key]) for name, text in {**HANDS, UNBOUNDED: PLAIN}.items()}
        asked, accounts = asked_of(key), accounts_for(asked_of(key))
        works: dict[str, Callable[[], object]] = {
            OURS: lambda: table.aggregate(asked),
            PERSONAL: lambda: table.aggregate_among(asked, accounts),
        }
        works |= {name: lambda text=text: connection.execute(text).fetchall() for name, text in texts.items()}
        times: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(ROUNDS):
            for name, work in works.items():
                if times[name] and name not in (OURS, PERSONAL) and times[name][0] > SLOW * best_hand(times):
                    continue
                start = server_seconds(parent) + time.process_time()
                work()
                times[name].append(server_seconds(parent) + time.process_time() - start)
                say(f"{key}, {name}: {times[name][-1]:.1f} s")
    table.close()
    return {name: min(found) for name, found in times.items()}


def best_hand(times: dict[str, list[float]]) -> float:
    """Return the least time of a hand-written statement."""
    return min(min(times[name]) for name in HANDS if times[name])


@contextmanager
def large_server() -> Iterator[str]:
    """Run a server with settings for large tables."""
    SETTINGS.update(SERVER)
    with server() as found:
        yield found.plain


def measured(rows: int, folder: Path) -> Report:
    """Run all contests."""
    with large_server() as address:
        say(f"loading {rows:,} rows")
        parent = filled(address, rows, folder)
        with psycopg.connect(address) as connection:
            version = connection.execute("show server_version").fetchone()
        found = {key: contest(address, parent, key) for key in WORDS}
    best = {key: min(times[name] for name in HANDS) for key, times in found.items()}
    names = [OURS, PERSONAL, *HANDS, UNBOUNDED]
    lines = tuple(
        (name, *chain.from_iterable((found[key][name], found[key][name] / best[key]) for key in WORDS))
        for name in names
    )
    settings = ", ".join(f"{name} = {value}" for name, value in SERVER.items())
    note = (
        f"{rows:,} rows of {rows // 10:,} people; counts and sums by 1,000 private groups, at most {GROUPS} groups a "
        f"person and {ROWS_PER_GROUP} rows in each. Seconds of processor time, server and client together, the best of "
        f"{ROUNDS}; who takes {SLOW} times the best hand-written statement runs once. "
        f"PostgreSQL {version[0] if version else ''}, {settings}; no index; everything else as it comes. "
        "Without parallel workers, so that statements are compared and not who is given some: with them ours is spread "
        "over processes, which takes more processor time and less of the clock."
    )
    columns = ("statement", "by integers, s", "× best", "by texts, s", "× best ")
    bars = tuple(
        Bar(
            claim=f"ours beside the best hand-written statement, {what}",
            measured=found[key][OURS] / best[key],
            most=MOST,
        )
        for key, what in KEYS.items()
    ) + tuple(
        Bar(
            claim=f"personal accounts beside one account for all, {what}",
            measured=found[key][PERSONAL] / found[key][OURS],
            most=MOST_PERSONAL,
        )
        for key, what in KEYS.items()
    )
    table = Table(title="Bounded counts and sums", note=note, columns=columns, rows=lines)
    return Report(title="PostgreSQL", command=COMMAND, packages=("numpy", "psycopg"), tables=(table,), bars=bars)


def main() -> None:
    """Measure, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help="how many; nothing is written unless it is the default")
    parser.add_argument("--data", type=Path, help="a folder that keeps the rows (a temporary one)")
    parser.add_argument("--check", action="store_true", help="end with an error if a bar is not passed")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        report = measured(options.rows, options.data or Path(name))
    if options.rows == ROWS:
        publish(report, "postgres")
    else:
        say("\n" + render(report))
    finish(report, check=options.check)


if __name__ == "__main__":
    main()
