"""How a command line is read: options, arguments, refusals with the nearest word, help, version, completion."""

import json
import os
import subprocess
import sys

import pytest

from command_line import runner
from discreet.cli import commands
from discreet.cli.commands import discreet_command, version
from discreet.cli.commands.account.compare import means_command
from discreet.cli.commands.account.epsilon import curve_command
from discreet.cli.commands.ledger.people import person_command
from discreet.core.compiled import load_library


@pytest.fixture
def run(capsys):
    return runner(capsys)


def read(command, *words):
    """Return what a command's handler would be given."""
    with command.make_context("it", list(words)) as context:
        return context.params


def test_an_option_may_stand_before_an_argument_or_after_it():
    first = read(person_command, "--key", "k", "a.ledger", "p17")
    assert read(person_command, "a.ledger", "p17", "--key=k") == first
    assert (first["place"], first["id"], first["window"], first["key"]) == ("a.ledger", "p17", None, "k")


@pytest.mark.parametrize("words", [["a.ledger", "-7"], ["a.ledger", "--", "-7"], ["--", "a.ledger", "-7"]])
def test_an_argument_may_be_a_negative_number(words):
    assert read(person_command, *words)["id"] == "-7"


def test_an_option_may_take_several_values(run):
    assert read(person_command, "a.ledger", "p17", "--anchor", "one", "two", "--key", "k")["anchor"] == ("one", "two")
    status, out, _ = run("account", "curve", "pure(1)", "--epsilons", "0.5", "1", "2", "--json")
    assert status == 0
    assert [point["epsilon"] for point in json.loads(out)["points"]] == [0.5, 1, 2]


def test_an_option_that_is_given_twice_has_the_values_of_the_last_time():
    assert read(curve_command, "pure(1)", "--epsilons", "0.5", "1", "--epsilons", "2")["epsilons"] == ("2",)
    typed = ["--epsilon", "1", "--epsilon", "2", "--priors", "0.1", "0.2", "--priors", "0.3", "--false-alarms", "0"]
    found = read(means_command, *typed, "--false-alarms", "0.1", "0.2")
    assert (found["epsilon"], found["priors"], found["false_alarms"]) == ("2", ("0.3",), ("0.1", "0.2"))
    assert read(curve_command, "pure(1)", "--epsilons=0.5", "--epsilons", "1", "--epsilons=2")["epsilons"] == ("2",)
    places = ["--anchor", "one", "two", "--anchor", "three"]
    assert read(person_command, "a.ledger", "p17", *places)["anchor"] == ("one", "two", "three")


@pytest.mark.parametrize(
    "words",
    [
        ["ledger", "create", "a.ledger", "--epsilon", "1", "--title", "--json"],
        ["ledger", "create", "a.ledger", "--json", "--epsilon"],
        ["account", "curve", "pure(1)", "--epsilons", "--json"],
    ],
)
def test_an_option_is_never_the_value_of_another(run, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, out, err = run(*words)
    assert (status, out, list(tmp_path.iterdir())) == (2, "", [])
    assert "has no value" in json.loads(err)["error"]["problem"]


@pytest.mark.parametrize("words", [["--epsilon", "1", "--rho", "1"], ["--rho", "", "--epsilon", "1"]])
def test_options_that_exclude_each_other_are_refused(run, words):
    status, out, err = run("account", "times", "pure(1)", *words)
    assert (status, out) == (2, "")
    assert "--rho is not allowed with --epsilon" in err


@pytest.mark.parametrize(
    ("words", "problem", "fix"),
    [
        (["akc", "SELECT 1"], "There is no COMMAND 'akc'.", "did you mean ask? see discreet --help"),
        (["account", "epsilom"], "There is no VERB 'epsilom'.", "did you mean epsilon? see discreet account --help"),
        (["account", "!"], "There is no VERB '!'.", "choose one of epsilon, delta"),
        (["account", "epsilon", "pure(1)", "--brackets"], "There is no option --brackets.", "did you mean --bracket?"),
        (["account", "delta", "pure(1)"], "--epsilon is missing.", "pass --epsilon E"),
        (["account", "epsilon"], "LOSS is missing.", "see discreet account epsilon --help"),
        (["account", "noise", "gausian", "--epsilon", "1"], "KIND is 'gausian'", "did you mean gaussian?"),
        (["account", "noise", "\x1b[2J", "--epsilon", "1"], "KIND is '\\x1b[2J'", "choose one of gaussian"),
        (["account", "epsilon", "pure(1)", "--\x1b[2J"], "There is no option --\\x1b[2J.", "see discreet"),
        (["account", "epsilon", "pure(1)", "--json=no"], "does not take a value", "see discreet"),
    ],
)
def test_a_wrong_word_is_refused_with_a_problem_and_a_fix_for_people_and_programs(run, words, problem, fix):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert f"{problem}" in err.splitlines()[0]
    assert fix in err.splitlines()[1]
    status, out, err = run(*words, "--json")
    assert (status, out) == (2, "")
    error = json.loads(err)["error"]
    assert (error["kind"], error["character"]) == ("InvalidInput", None)
    assert problem in error["problem"]
    assert fix in error["fix"]


@pytest.mark.parametrize("words", [["-h"], ["ask", "-h"], ["ledger", "-h"], ["account", "picture", "noise", "--help"]])
def test_help_lists_arguments_options_and_examples(run, words):
    status, out, err = run(*words)
    assert (status, err) == (0, "")
    assert out.startswith(f"Usage: discreet {' '.join(words[:-1])}".rstrip())
    assert "-h, --help" in out


def test_every_command_has_help_under_its_own_name(run):
    def names(group, before=()):
        for name in group.modules:
            command = group.get_command(None, name)
            assert command.name == name
            yield (*before, name)
            if hasattr(command, "modules"):
                yield from names(command, (*before, name))

    for words in names(discreet_command):
        assert run(*words, "--help")[0] == 0


def test_help_of_all_commands_loads_neither_numpy_nor_a_room():
    code = "import sys; from discreet.cli import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.splitlines()[-1].split())
    rooms = {f"discreet.{room}" for room in ("accounting", "gate", "session", "query", "data", "anonymity", "market")}
    assert not {"numpy", "duckdb", "sqlglot", "apsw", "cryptography", "argparse", *rooms} & loaded


def test_the_version_says_whether_compiled_parts_are_in_use(run, monkeypatch):
    status, out, _ = run("--version")
    assert status == 0
    assert out == f"{version()}\n"
    assert out.startswith("discreet ")
    assert f"compiled parts: {'in use' if load_library(noise_source()) else 'not in use'}" in out
    monkeypatch.setattr(commands, "load_library", lambda _: None)
    assert version().endswith("(compiled parts: not in use; answers are the same, but slower)")


def noise_source():
    from pathlib import Path

    from discreet import noise

    return str(next(Path(noise.__file__).parent.rglob("*.c")).with_suffix(".py"))


@pytest.mark.parametrize(
    ("words", "last", "wanted"),
    [
        ("discreet le", 1, {"ledger"}),
        ("discreet ledger cre", 2, {"create"}),
        ("discreet ledger create a.ledger --pol", 4, {"--policy"}),
        ("discreet ledger create a.ledger --policy s", 5, {"shared", "separate"}),
    ],
)
def test_a_shell_completes_commands_options_and_words(words, last, wanted):
    settings = {**os.environ, "_DISCREET_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(last)}
    done = subprocess.run([sys.executable, "-m", "discreet"], env=settings, capture_output=True, text=True, check=True)
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == wanted


@pytest.mark.parametrize("words", [["--"], ["account", "--"], ["ledger", "--"]])
def test_a_group_without_a_command_is_refused_as_a_wrong_word(run, words):
    status, out, err = run(*words)
    assert (status, out) == (2, "")
    assert "fix:" in err
    assert "bug" not in err


def test_a_command_changes_nothing_of_what_can_be_imported(monkeypatch):
    """A process that runs a command may import what it likes meanwhile, also for others in it."""
    from discreet import cli

    def stopped(*_):
        return [name for name, module in sys.modules.items() if module is None]

    monkeypatch.setattr(sys, "argv", ["discreet", "--version"])
    monkeypatch.setattr(cli, "_run", stopped)
    finders = list(sys.meta_path)
    assert cli.main() == stopped()
    assert sys.meta_path == finders
