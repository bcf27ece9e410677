"""The benchmark of local privacy: its pieces, without peers."""

import pytest


@pytest.fixture(scope="module")
def local(room):
    return room("local")


def test_every_encoder_is_timed_and_its_error_is_about_that_of_theory(local, monkeypatch):
    monkeypatch.setattr(local, "PEOPLE", 2000)
    monkeypatch.setattr(local, "CROWD", 2000)
    monkeypatch.setattr(local, "RUNS", 2)
    monkeypatch.setattr(local, "FEWER", {})
    for name in local.ENCODERS:
        assert sum(local.ours(name)) > 0
        measured, theory = local.accuracy(name)
        assert 0.5 < measured / theory < 2


def test_a_peer_that_is_not_installed_is_left_out_with_a_fix(local, tmp_path, capsys):
    assert local.peer("pure-ldp", tmp_path) == {}
    assert "peers_venv.py" in capsys.readouterr().out


def test_a_row_has_a_dash_where_a_peer_has_none(local, monkeypatch):
    monkeypatch.setattr(local, "PEOPLE", 100 * local.FEW)
    assert local._row("x", (1.0, 1.0), [None, 0.1]) == ("x", 1.0, 1.0, 2.0, None, 10.0, None, 5.0)


def test_a_report_on_a_device_takes_microseconds(local):
    assert 0 < local.device("Hadamard") < 10_000
