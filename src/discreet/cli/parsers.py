"""How a command line is read: refused as the rest of the package refuses, and with help that any terminal can show."""

import argparse
import sys
from typing import Any, NoReturn, TypeAlias

from discreet.cli.streams import write
from discreet.core import InvalidInput

JSON = """\
With --json one JSON object is printed. Exit status: 0, or 2 if the input is refused (then the reason and its fix are
on standard error).
"""


class Parser(argparse.ArgumentParser):
    """Refuses as the rest of the package does: with a fix, and without leaving the process."""

    def error(self, message: str) -> NoReturn:
        """Refuse the command line."""
        shown = "".join(sign if sign.isprintable() else "?" for sign in message)  # it quotes what was typed
        raise InvalidInput(f"{shown[:1].upper()}{shown[1:]}.", fix=f"see {self.prog} --help")

    def print_help(self, file: Any = None) -> None:
        """Write the help; to a terminal that has no ε, too."""
        write(sys.stdout if file is None else file, self.format_help().rstrip())


Verbs: TypeAlias = "argparse._SubParsersAction[Parser]"  # noqa: SLF001 (its only name)


def added(to: Verbs, name: str, title: str) -> Parser:
    """Add a room, a verb or a part of one."""
    shape = argparse.RawDescriptionHelpFormatter
    return to.add_parser(name, help=title, description=title, formatter_class=shape, allow_abbrev=False)


def accounts(one: Parser) -> None:
    """Add who pays: everybody alike, or each person."""
    one.add_argument(
        "--per",
        choices=("dataset", "person"),
        help="who pays: everybody alike (dataset, if left out), or each person for what is taken from them (person)",
    )
    one.add_argument("--most", metavar="E", help="with --per person: the most that one question may cost anybody")


def added_verb(verbs: Verbs, name: str, title: str, *, json: bool = True) -> Parser:
    """Add a verb, which programs may ask too."""
    one = added(verbs, name, title)
    one.epilog = JSON
    if json:
        json_option(one)
    return one


def json_option(one: Parser) -> None:
    """Let a program ask."""
    one.add_argument("--json", action="store_true", help="one JSON object instead of words")
