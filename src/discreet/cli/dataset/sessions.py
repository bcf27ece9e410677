"""Opens the session that the settings describe, and reads questions and prices."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.cli.console import Patience
from discreet.cli.dataset.declarations import read_limit, read_matches
from discreet.cli.dataset.facts import (
    gauge_of,
)
from discreet.cli.dataset.kept_imports import keep_import
from discreet.cli.dataset.rewording import reword_for_settings
from discreet.cli.formatting import columns
from discreet.cli.ledger.views import reachable, standing_rows
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import RefusedQuestion
from discreet.cli.parsing import Arguments
from discreet.core import DiscreetError, InvalidInput, positive, probability, whole
from discreet.query import QueryRefused, split_privacy_options
from discreet.session import Session, open_settings, read_settings

#: Characters of a question that are read; the reader of SQL refuses less.
LONGEST = 1_000_000
#: The price that explain assumes if none is named: this share of the whole budget.
SHARE = Fraction(1, 10)


def progress_line(task: str, arguments: Arguments, session: Session | None = None) -> Patience:
    """Return a line of progress for a person; of a session's import with the share that is done."""
    line = Patience(task, wanted=not arguments.json)
    if session is not None and line.on:
        session.show_progress(line.note)
    return line


def number(value: Fraction) -> str:
    """Return a bound for a person."""
    return f"{float(value):g}"


@contextmanager
def reword_errors(sql: str = "", say: Callable[[str], str] = reword_for_settings) -> Iterator[None]:
    """Turn what the library refuses into what is typed here: options for arguments, and the place in the question."""
    try:
        yield
    except QueryRefused as error:
        lines = sql.splitlines() or [""]
        text = lines[min(error.line, len(lines)) - 1]
        raise RefusedQuestion(
            error.problem, fix=say(error.fix), text=text, at=min(error.column - 1, len(text)), line=error.line
        ) from None
    except DiscreetError as error:
        error.fix = say(error.fix)
        raise


def open_project(arguments: Arguments) -> Session:
    """Return a session on what the settings describe."""
    path = find_project(arguments)
    with reachable("The settings"), reword_errors(), progress_line("opening the table", arguments):
        settings = read_settings(path)
        if not getattr(arguments, "no_cache", False):
            settings = keep_import(path, settings)
        return open_settings(settings, analyst=getattr(arguments, "analyst", ""))


def find_project(arguments: Arguments) -> Path:
    """Return the path of the settings, which are there."""
    path = Path(arguments.project)
    with reachable("The settings"):
        if not path.is_file():
            raise InvalidInput(
                f"There are no settings at {path.name}.",
                fix="run discreet init FILE to begin, or pass --project with the path of a discreet.toml",
            )
    return path


def read_question(arguments: Arguments) -> str:
    """Return the question as typed, or from standard input."""
    if arguments.sql != "-":
        return str(arguments.sql)
    try:
        return sys.stdin.read(LONGEST + 1)
    except UnicodeDecodeError:
        raise InvalidInput("Standard input is not text.", fix="pass a question in SQL, in UTF-8") from None


def price_of(arguments: Arguments) -> dict[str, Fraction | None]:
    """Return the price, in either currency."""
    texts = {"epsilon": arguments.epsilon, "rho": arguments.rho}
    return {
        name: None if text is None else positive(read_number(text, f"--{name}"), f"--{name}")
        for name, text in texts.items()
    }


def read_options(arguments: Arguments) -> dict[str, Any]:
    """Return the arguments for the session; it refuses missing and superfluous ones itself, except options."""
    price = price_of(arguments)
    chosen = [name for name in ("epsilon", "rho", "within") if getattr(arguments, name) is not None]
    if len(chosen) > 1:
        raise InvalidInput(
            "The question comes with several prices.",
            fix="pass one of --epsilon 0.5, --rho 0.01 or --within 25 (the least for which the answer is that close)",
        )
    return {
        **price,
        "within": _within(arguments.within),
        "confidence": probability(read_number(arguments.confidence, "--confidence"), "--confidence"),
        "simultaneous": arguments.simultaneous,
        "size": None if arguments.size is None else whole(read_whole(arguments.size, "--size"), "--size"),
        "limit": None if arguments.limit is None else read_limit(arguments.limit),
        "bias": arguments.bias,
        "matches": None if arguments.matches is None else read_matches(arguments.matches),
    }


def has_price(sql: str, options: Mapping[str, object]) -> bool:
    """Whether a question has a price: as an option of the command, or in its text."""
    return any(options[name] is not None for name in ("epsilon", "rho", "within")) or (
        "epsilon" in split_privacy_options(sql)[1]
    )


def _within(typed: Sequence[str] | None) -> Fraction | dict[str, Fraction] | None:
    """Return the error that is wanted: of all columns, or by name."""
    if typed is None:
        return None
    named: dict[str, Fraction] = {}
    for text in typed:
        name, _, size = text.rpartition("=")
        if name in named or (not name and len(typed) > 1):
            raise InvalidInput("--within is said twice.", fix="pass one number, or --within NAME=X for each column")
        named[name] = positive(read_number(size, "--within"), "--within")
    return named.get("", named)


def budget_lines(session: Session) -> list[str]:
    """Return the gauge of who asked; with personal accounts, their terms."""
    return columns(standing_rows([gauge_of(session)]))
