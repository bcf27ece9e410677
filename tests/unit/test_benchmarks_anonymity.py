"""The benchmark of anonymity: its own arithmetic; no peer and no data of others is needed for it."""

import pytest

from discreet.anonymity import full_domain, k_of


@pytest.fixture(scope="module")
def benchmark(room):
    return room("anonymity")


def test_rows_that_are_made_up_have_the_shape_of_adult(benchmark):
    table = benchmark.made_up(500)
    assert table.rows == 500
    assert set(benchmark.QUASI) <= set(table.attributes)
    assert all(table.attribute(name).hierarchy is not None for name in benchmark.QUASI)


def test_the_penalty_of_what_a_peer_wrote_is_ours(benchmark, tmp_path):
    table = benchmark.made_up(400)
    made = full_domain(table, list(benchmark.QUASI), k=5, suppress=0.1)
    told = made.columns()
    benchmark.write_csv({name: told[name] for name in benchmark.QUASI}, tmp_path / "peer.csv")
    assert benchmark._penalty_of(table, tmp_path / "peer.csv") == pytest.approx(made.penalty())


def test_all_measures_are_told_beside_the_peers(benchmark):
    table = benchmark.made_up(300)
    found = benchmark.our_checks(table)
    assert found["k"] == k_of(table, list(benchmark.QUASI))
    assert set(found) == {"k", "distinct l", "entropy l", "recursive c", "α", "t", "t, ordered"}


def test_without_adult_and_peers_the_benchmark_says_what_it_leaves_out(benchmark, tmp_path, capsys):
    assert benchmark.adult(tmp_path) is None
    assert benchmark.beside_peers(benchmark.made_up(50), None) == ([], [])
    assert "left out" in capsys.readouterr().out
