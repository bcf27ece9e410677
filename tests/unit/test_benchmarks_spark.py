"""The benchmarks on Spark: their clock, their verdicts, their slopes. Neither Spark nor a peer is started for it."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

FAST, SLOW = {"count": 4.0, "sum": 5.0, "both": 12.0}, {"count": 20.0, "sum": 22.0, "both": 30.0}


@pytest.fixture(scope="module")
def spark(room):
    return room("spark")


@pytest.fixture(scope="module")
def scaling(room):
    return room("scaling")


def test_processor_time_of_children_counts_while_they_run_and_after(room):
    used = room("spark_clock").used
    before = used()
    busy = "import time\nwhile time.process_time() < 0.4: pass\nprint(flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        running = used()
        process.communicate(b"\n")
    assert running - before >= 0.35
    assert used() >= running - 0.01  # a tick


def test_a_round_to_warm_up_does_not_count(room, monkeypatch):
    clock = room("spark_clock")
    ticks = iter([0, 100, 100, 103, 103, 105])
    monkeypatch.setattr(clock, "used", lambda: next(ticks))
    assert clock.taken({"one": lambda: None}, 2, lambda _: None) == {"one": [3, 2]}


def test_tumult_is_judged_by_its_better_partitioning_and_way(spark):
    assert spark.least({"200": SLOW, "2": FAST}, "count") == 4
    assert spark.least({"200": SLOW, "2": FAST}, "both") == 9  # one by one is better than over a view
    assert spark.least({"200": SLOW, "2": "over 600 s"}, "both") == 30
    assert spark.least({"200": "over 600 s", "2": "over 600 s"}, "count") is None


def test_the_bars_are_of_the_largest_size_that_tumult_has_done(spark):
    failed = {"200": "over 600 s", "2": "over 600 s"}
    ours = {"200": {"count": 2.0, "sum": 2.5, "both": 3.0}, "2": {"count": 1.0, "sum": 1.0, "both": 1.5}}
    bars = spark.tumult_bars({1000: (ours, {"200": SLOW, "2": FAST}), 2000: (ours, failed)})
    assert [bar.measured for bar in bars[:3]] == pytest.approx([10, 8.8, 10])  # as Spark comes
    assert [bar.measured for bar in bars[3:]] == [4, 5, 6]  # the better partitioning of each
    assert all("1,000 rows" in bar.claim for bar in bars)
    assert [bar.verdict for bar in spark.tumult_bars({2000: (ours, failed)})] == ["not measured"]


def test_both_partitionings_stand_in_the_table(spark):
    ours = {"200": FAST, "2": FAST}
    (count, *_) = spark.tumult_table({1000: (ours, {"200": "over 600 s", "2": SLOW})}).rows
    assert count == ("count, 1,000 rows", "over 600 s", 20, 4, 4, None, 5)


def test_the_floor_stands_beside_both_with_the_better_partitioning_of_each(spark):
    found = {1000: ({"200": FAST, "2": SLOW}, {"200": SLOW, "2": "over 600 s"})}
    floors = {1000: {"200": {"count": 2.0, "sum": 2.5, "both": 3.0}, "2": {"count": 5.0, "sum": 5.0, "both": 5.0}}}
    (count, total, both) = spark.floor_table(floors, found).rows
    assert count == ("count, 1,000 rows", 2, 5, 2, 10)
    assert total[3:] == (2, 8.8)
    assert both[3:] == (3, 10)


def test_personal_accounts_are_judged_by_a_dataset_account(spark):
    rows = spark.personal_table({"dataset account": 4.0, "personal accounts": 5.0}, 1000).rows
    assert rows == (("dataset account", 4, 1), ("personal accounts", 5, 1.25))
    assert spark.dearer("over 600 s", "personal accounts") is None


def test_who_takes_too_long_is_ended_with_all_that_it_started(spark, tmp_path, monkeypatch):
    started = tmp_path / "started"
    slow = f"""
import pathlib, subprocess
child = subprocess.Popen(["sleep", "60"])
pathlib.Path({str(started)!r}).write_text(str(child.pid))
child.wait()
"""
    (tmp_path / "slow.py").write_text(slow, encoding="utf-8")
    (tmp_path / "wrong.py").write_text("raise ValueError('no such thing')", encoding="utf-8")
    monkeypatch.setattr(spark, "__file__", str(tmp_path / "spark.py"))
    monkeypatch.setattr(spark, "PEER_SECONDS", 3)
    assert spark.asked("slow.py", sys.executable, str(tmp_path / "rows"), "2") == "over 3 s"
    child, deadline = int(started.read_text(encoding="utf-8")), time.monotonic() + 10
    while not ended(child) and time.monotonic() < deadline:
        time.sleep(0.05)  # a signal was sent, and the system takes its time
    assert ended(child)
    assert spark.asked("wrong.py", sys.executable, str(tmp_path / "rows"), "2") == "ValueError: no such thing"


def ended(pid):
    """Whether a process is gone, or waits for nothing but to be forgotten."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"
    except FileNotFoundError:
        return True


def test_a_slope_of_one_is_linear(scaling):
    points = {10: 5.0, 100: 50.0, 1000: 500.0}
    assert scaling.slope(points) == pytest.approx(1)
    assert scaling.slope({n: n**1.5 for n in points}) == pytest.approx(1.5)
    assert scaling.slope({1: 100.0} | points, least=10) == pytest.approx(1)
    assert scaling.slope(points, least=1000) is None


def test_a_table_that_sends_every_row_misses_its_bar(scaling):
    runs = {n: scaling.Run(cpu=n, shuffled=n, spilled=0, sent=1, arrived=n) for n in (1000, 10_000_000, 30_000_000)}
    verdicts = [bar.verdict for bar in scaling.report(runs, {1000: "over 300 s"}).bars]
    assert verdicts == ["pass", "pass", "FAIL"]
