"""How long a question may take, and how much memory: said when tables are opened, and held to."""

import pytest

import discreet
from clinic import BY_WARD, opened
from discreet import Budget, DiscreetError
from discreet.core import PrivacyUnit, RunFailed
from discreet.data import EngineSettings
from discreet.session import Settings, write_settings
from discreet.session.engine import Engine

PERSON = PrivacyUnit(column="patient_id")


def settings_of(session):
    return session._dataset.tables._settings


def configured(session, name):
    found = session._dataset.tables._connection.execute("SELECT current_setting(?)", [name]).fetchone()
    return found[0]


def test_a_question_past_its_time_is_paid_for_and_may_be_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.data.duckdb.table.check_unit_work", lambda *_: None)  # or it would not be paid for
    with opened(tmp_path, seconds=1e-9) as session:
        with pytest.raises(RunFailed) as caught:
            session.sql(BY_WARD, epsilon=1)
        assert session.ledger.spent == 1
    request = caught.value.receipt.request
    assert f"retry with request={request!r}, which is free" in caught.value.fix
    with opened(tmp_path, seconds=60) as session:
        assert session.sql(BY_WARD, epsilon=1, request=request).fresh
        assert session.ledger.spent == 1


def test_seconds_and_memory_reach_the_engine(tmp_path):
    with opened(tmp_path, seconds=90.5, memory="256MB") as session:
        assert settings_of(session) == EngineSettings(seconds=90.5, memory=256 * 10**6)
        assert configured(session, "memory_limit") == "244.0 MiB"  # whole MiB, rounded down


def test_what_is_not_said_is_as_usual(tmp_path):
    with opened(tmp_path) as session:
        assert settings_of(session) == EngineSettings()


def test_a_file_of_settings_says_it_too(tmp_path):
    opened(tmp_path).close()
    written = Settings(
        source=tmp_path / "visits.csv",
        table="visits",
        person="patient_id",
        ledger=tmp_path / "file.ledger",
        budget=Budget(epsilon=3, delta=1e-9, unit=PERSON),
        engine=Engine(seconds=30, memory="1GB"),
    )
    write_settings(tmp_path / "discreet.toml", written)
    text = (tmp_path / "discreet.toml").read_text(encoding="utf-8")
    assert "seconds = 30\n" in text
    assert 'memory = "1GB"\n' in text
    with discreet.open(tmp_path / "discreet.toml") as session:
        assert settings_of(session) == EngineSettings(seconds=30, memory=10**9)
    with pytest.raises(DiscreetError, match="cannot be combined with a discreet"):
        discreet.open(tmp_path / "discreet.toml", seconds=3)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"seconds": 0}, "seconds must be above 0"),
        ({"seconds": "60"}, "seconds"),
        ({"seconds": 10**9}, "three years"),
        ({"memory": "much"}, "not an amount of memory.\n  fix: write 4GB"),
        ({"memory": "4"}, "not an amount of memory"),
        ({"memory": "1MB"}, "less than DuckDB needs"),
        ({"memory": -(10**9)}, "less than DuckDB needs"),
        ({"memory": 1e9}, "not a whole number"),
        ({"memory": True}, "not a whole number"),
    ],
)
def test_what_is_no_time_and_no_memory_is_refused(tmp_path, said, told):
    with pytest.raises(DiscreetError) as caught:
        opened(tmp_path, **said)
    assert told in str(caught.value)
    assert not (tmp_path / "visits.ledger").exists()


def test_the_memory_of_another_engine_is_its_own():
    usual = EngineSettings(seconds=3600)
    assert Engine(seconds=5).settings_elsewhere(usual) == EngineSettings(seconds=5)
    assert Engine().settings_elsewhere(usual) is usual
    with pytest.raises(DiscreetError, match="memory has no effect here"):
        Engine(memory="1GB").settings_elsewhere(usual)
