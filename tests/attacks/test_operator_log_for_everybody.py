"""Attack: read the details of failed questions, which may quote rows, from a log that others may open.

The command line writes the operator's log to a file. Whoever shares the machine tries to read it, and to redirect it by
a link or a umask; whoever reads the command's output tries to find rows there.
"""

import os
import stat

import pytest

import discreet
from command_line import runner
from discreet.core import RunFailed
from discreet.core.operator_log import HOW_TO_READ
from discreet.data.duckdb.table import AggregationPass
from discreet.gate import Budget, Gate, Ledger
from questions import Question

SECRET = "Ada Lovelace, ward C"
ASK = ("ask", "SELECT COUNT(*) FROM visits", "--epsilon", "0.5")


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    (tmp_path / "visits.csv").write_text("pid,ward\n1,A\n2,B\n")
    monkeypatch.chdir(tmp_path)
    with discreet.open(
        "visits.csv", person="pid", budget=Budget(epsilon=3), ledger="clinic.ledger", limit=discreet.Limit()
    ) as clinic:
        assert clinic

    def failing(*_):
        raise ValueError(SECRET)

    monkeypatch.setattr(AggregationPass, "run", failing)
    (tmp_path / "discreet.toml").write_text(
        'source = "visits.csv"\nperson = "pid"\nledger = "clinic.ledger"\n[budget]\nepsilon = 3\n'
    )
    return runner(capsys)


def log_of(state):
    return state / "discreet" / "operator.log"


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777])
def test_the_log_is_its_owners_whatever_the_umask(run, state, umask):
    before = os.umask(0o022)
    (state / "discreet").mkdir(exist_ok=True)
    os.umask(umask)
    try:
        code, out, err = run(*ASK)
    finally:
        os.umask(before)
    assert code == 2
    assert SECRET not in out + err
    place = log_of(state)
    assert str(place) in err, err
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert SECRET in place.read_text()


def test_a_log_that_others_may_read_is_narrowed(run, state):
    place = log_of(state)
    place.parent.mkdir(exist_ok=True)
    place.write_text("")
    place.chmod(0o666)
    run(*ASK)
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_a_link_is_not_followed(run, state, tmp_path):
    place, elsewhere = log_of(state), tmp_path / "elsewhere"
    place.parent.mkdir(exist_ok=True)
    elsewhere.write_text("mine\n")
    place.symlink_to(elsewhere)
    code, _out, err = run(*ASK)
    assert code == 2
    assert SECRET not in err
    assert elsewhere.read_text() == "mine\n"


def test_nothing_is_written_where_nothing_failed(run, state):
    assert run("ask", "SELECT nonsense", "--epsilon", "0.5")[0] == 2
    assert not log_of(state).exists()


def test_a_failure_says_which_log_to_read_and_how(tmp_path):
    def fails(_data):
        raise ValueError(SECRET)

    with Ledger.create(tmp_path / "x.ledger", Budget(1)) as ledger, pytest.raises(RunFailed) as caught:
        Gate(ledger, None).release(Question(doing=fails))
    assert HOW_TO_READ in caught.value.fix
    for said in ("discreet.operator", "silent", "addHandler"):
        assert said in caught.value.fix
