"""The command line as tests type on it."""

import io
import json
import shutil
from contextlib import redirect_stderr, redirect_stdout

import click
import pytest

from discreet.cli import main


class Terminal(io.StringIO):
    """A stream that a person sees."""

    def isatty(self):
        return True


def options_of(command):
    """Return the long options of a command, and of all commands below it."""
    inner = [command.get_command(None, name) for name in command.modules] if isinstance(command, click.Group) else []
    own = {option for one in command.params for option in one.opts if option.startswith("--")}
    return own.union(*map(options_of, inner))


def runner(capsys, room=()):
    """Return what runs a command, whose room may be said beforehand: its status, its output and its errors."""

    def run(*words):
        status = main([*room, *map(str, words)])
        said = capsys.readouterr()
        return status, said.out, said.err

    return run


def reader(run):
    """Return what runs a command for a program: the object that it writes."""

    def facts(*words, status=0):
        found, out, err = run(*words, "--json")
        assert (found, err) == (status, "")
        return json.loads(out, parse_constant=pytest.fail)

    return facts


def run_once(folder, *commands):
    """Run commands in a folder whose copies are what tests begin with; see `copy_begun`."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()) as said:
        patch.setenv("DISCREET_STATE", str(folder / "state"))
        patch.chdir(folder)
        for words in commands:
            assert main([*map(str, words)]) == 0, said.getvalue()
    return folder


def copy_begun(begun, folder, state):
    """Copy what commands have left, and the anchors of its ledger, to where a test looks for them."""
    shutil.copytree(begun, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("state"))
    shutil.copytree(begun / "state", state, dirs_exist_ok=True)
    return folder
