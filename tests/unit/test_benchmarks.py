"""The benchmarks' arithmetic; no peer is needed for it."""

import importlib.util
import json
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def measure():
    spec = importlib.util.spec_from_file_location("measure", BENCHMARKS / "measure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def table(measure):
    return measure.Table(title="Noise", note="Draws.", columns=("scale", "|x|"), rows=(("1", 2.5), ("10", None)))


def report(measure, *bars):
    return measure.Report(title="T", command="c", packages=("numpy", "no-such-package"), tables=(), bars=bars)


def test_everybody_runs_in_every_round_and_in_turn(measure):
    turns = []
    works = [measure.Contestant(name=name, work=lambda name=name: turns.append(name)) for name in "ab"]
    times = measure.race(works, rounds=3)
    assert turns == ["a", "b"] * 3
    assert set(times) == {"a", "b"}


def test_a_time_is_the_best_one_in_nanoseconds_a_value(measure, monkeypatch):
    ticks = iter([0.0, 1.0, 5.0, 5.5])
    monkeypatch.setattr(measure.time, "process_time", lambda: next(ticks))
    contestant = measure.Contestant(name="a", work=lambda: None, values=1000)
    assert measure.race([contestant], rounds=2) == {"a": 500_000.0}


def test_who_has_used_up_the_allowance_sits_out(measure, monkeypatch):
    turns = []
    ticks = iter([0.0, 100.0])
    monkeypatch.setattr(measure.time, "process_time", lambda: next(ticks))
    measure.race([measure.Contestant(name="slow", work=lambda: turns.append(1))], rounds=5)
    assert turns == [1]


def test_a_ratio_says_how_many_times_as_long_theirs_takes(measure):
    assert measure.ratio(300.0, 3.0) == 100
    assert measure.ratio(None, 3.0) is None
    assert measure.ratio(3.0, None) is None


def test_who_did_not_run_leaves_an_empty_cell(measure):
    assert measure.cells({"ours": 2000.0}, ("ours", "peer"), 1000) == (2.0, None)


@pytest.mark.parametrize(
    ("cell", "text"),
    [(None, "–"), ("10⁶", "10⁶"), (12345.6, "12,346"), (12.34, "12.3"), (1.234, "1.23"), (-0.0123, "−0.012")],
)
def test_a_figure_has_about_three_digits(measure, cell, text):
    assert measure.figure(cell) == text


def test_a_table_is_markdown_with_bars_escaped(measure, table):
    assert measure.markdown(table).splitlines() == [
        "## Noise",
        "",
        "Draws.",
        "",
        r"| scale | \|x\| |",
        "| --- | ---: |",
        "| 1 | 2.50 |",
        "| 10 | – |",
    ]


def test_rank_correlation_is_that_of_the_ranks(measure):
    assert measure.rank_correlation([1, 2, 30], [5, 6, 7]) == pytest.approx(1)
    assert measure.rank_correlation([1, 2, 30], [7, 6, 5]) == pytest.approx(-1)
    assert measure.rank_correlation([1, 2, 3], [4, 4, 4]) == 0


def test_rank_correlation_shares_ranks_among_equals(measure):
    stats = pytest.importorskip("scipy.stats")
    first, second = [3, 1, 1, 2, 5, 5, 5, 0], [1, 1, 2, 0, 4, 3, 4, 2]
    assert measure.rank_correlation(first, second) == pytest.approx(stats.spearmanr(first, second).statistic)


def test_a_bar_holds_from_its_least_on_and_below_its_most(measure):
    assert measure.Bar(claim="ratio", measured=1.0, least=1).passed
    assert not measure.Bar(claim="ratio", measured=0.99, least=1).passed
    assert measure.Bar(claim="µs", measured=49.9, most=50).passed
    assert not measure.Bar(claim="µs", measured=50.0, most=50).passed


def test_a_bar_that_was_not_measured_does_not_hold(measure):
    bar = measure.Bar(claim="ratio", measured=None, least=300)
    assert (bar.passed, bar.verdict) == (False, "not measured")


@pytest.mark.parametrize(("measured", "check", "status"), [(2.0, True, 0), (0.5, True, 1), (0.5, False, 0)])
def test_a_missed_bar_ends_in_an_error_only_when_checked(measure, measured, check, status):
    with pytest.raises(SystemExit) as end:
        measure.finish(report(measure, measure.Bar(claim="ratio", measured=measured, least=1)), check=check)
    assert end.value.code == status


def test_a_missing_peer_is_left_out_with_the_way_to_get_it(measure, capsys):
    assert measure.peer("no_such_peer", "no_such_peer.part") is None
    assert "no_such_peer is not installed" in capsys.readouterr().out


def test_both_files_hold_the_figures_and_neither_a_path(measure, table, tmp_path):
    bar = measure.Bar(claim="ratio", measured=2.0, least=1)
    whole = measure.Report(title="T", command="c", packages=("numpy", "no-such-package"), tables=(table,), bars=(bar,))
    measure.publish(whole, "noise", tmp_path)
    text, figures = (tmp_path / "noise.md").read_text("utf-8"), json.loads((tmp_path / "noise.json").read_text("utf-8"))
    assert figures["tables"][0]["rows"] == [["1", 2.5], ["10", None]]
    assert figures["bars"][0]["verdict"] == "pass"
    assert figures["machine"]["no-such-package"] == "not installed"
    assert "| ratio | 2.00 | ≥ 1 | pass |" in text
    assert str(Path.cwd()) not in text + json.dumps(figures)
