"""The verbs that ask about a table: ask, preview, explain, schema, buy-bounds. Each tells what it took."""

import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.cli.answers import Answer, Fact
from discreet.cli.books import ledger_facts, reachable, standing_rows
from discreet.cli.declared import read_limit, read_matches
from discreet.cli.query_facts import (
    answer_facts,
    bounds_facts,
    budget_facts,
    csv_lines,
    declared_facts,
    gauge_of,
    preview_facts,
)
from discreet.cli.refusals import RefusedQuestion
from discreet.cli.speech import in_settings, spoken
from discreet.cli.terminal import Patience
from discreet.cli.typed import read_number, read_whole
from discreet.cli.words import columns
from discreet.core import DiscreetError, InvalidInput, positive, probability, whole
from discreet.gate.releases import one_line
from discreet.query import QueryRefused
from discreet.session import Session, read_settings
from discreet.session.opening import open_settings

#: Characters of a question that are read; the reader of SQL refuses less.
LONGEST = 1_000_000
#: What explain assumes if no price is named: this share of the whole budget.
SHARE = Fraction(1, 10)


def answer_ask(arguments: Namespace) -> Answer:
    """Answer a question, from the ledger's store if it was asked before, else for its price."""
    if arguments.csv and arguments.json:
        raise InvalidInput("--csv and --json are two forms.", fix="choose one of them")
    sql, options = _sql(arguments), _options(arguments)
    with opened(arguments) as session, speaking(sql), patient("answering", arguments):
        answer = session.sql(sql, **options, fresh=arguments.fresh, request=arguments.request)
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            **answer_facts(answer),
            "budget": budget_facts(session),
        }
        lines = [*map(spoken, answer.lines()), "", *left_lines(session)]
    if arguments.csv:
        return Answer("ask", facts, (), stream=tuple(csv_lines(answer)))
    return Answer("ask", facts, tuple(lines))


def answer_preview(arguments: Namespace) -> Answer:
    """Answer what a question would cost, and how far off its answer would be. Free."""
    sql, options = _sql(arguments), _options(arguments)
    with opened(arguments) as session, speaking(sql):
        preview = session.preview(sql, **options)
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            **preview_facts(preview),
            "budget": budget_facts(session),
        }
        return Answer("preview", facts, tuple(map(spoken, preview.lines())))


def answer_explain(arguments: Namespace) -> Answer:
    """Answer how a question would be answered. Free."""
    sql, options = _sql(arguments), _options(arguments)
    with opened(arguments) as session, speaking(sql):
        if all(options[name] is None for name in ("epsilon", "rho", "within")):
            budget = session.ledger.budget
            options["epsilon" if budget.rho is None else "rho"] = budget.limit * SHARE
        explanation = session.explain(sql, **options)
        facts: dict[str, Fact] = {**ledger_facts(session.ledger), "lines": [*map(spoken, explanation.lines)]}
        return Answer("explain", facts, tuple(map(spoken, str(explanation).splitlines())))


def answer_schema(arguments: Namespace) -> Answer:
    """Answer what is public. Free."""
    with opened(arguments) as session:
        facts: dict[str, Fact] = {**ledger_facts(session.ledger), **declared_facts(session)}
        return Answer("schema", facts, tuple(session.schema.lines()))


def answer_buy_bounds(arguments: Namespace) -> Answer:
    """Buy the range of a column, for everybody."""
    price = price_of(arguments)
    with opened(arguments) as session, speaking(), patient("answering", arguments):
        bounds = session.buy_bounds(arguments.column, epsilon=price["epsilon"], rho=price["rho"])
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            "column": arguments.column,
            **bounds_facts(bounds),
            "budget": budget_facts(session),
        }
        interval = f"from {number(bounds.low)} to {number(bounds.high)}"
        words = f"{one_line(arguments.column)}: {interval}, for everybody from now on."
        return Answer("buy-bounds", facts, (words, "", *left_lines(session)))


def patient(what: str, arguments: Namespace) -> Patience:
    """Return a line of progress for a person."""
    return Patience(what, wanted=not arguments.json)


def number(value: Fraction) -> str:
    """Return a bound for a person."""
    return f"{float(value):g}"


@contextmanager
def speaking(sql: str = "", say: Callable[[str], str] = in_settings) -> Iterator[None]:
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


def opened(arguments: Namespace) -> Session:
    """Return a session on what the settings describe."""
    path = Path(arguments.project)
    with reachable("The settings"):
        if not path.is_file():
            raise InvalidInput(
                f"There are no settings at {path.name}.",
                fix="run discreet init FILE to begin, or pass --project with the path of a discreet.toml",
            )
        with speaking(), patient("opening the table", arguments):
            return open_settings(read_settings(path), analyst=getattr(arguments, "analyst", ""))


def _sql(arguments: Namespace) -> str:
    if arguments.sql != "-":
        return str(arguments.sql)
    try:
        return sys.stdin.read(LONGEST + 1)
    except UnicodeDecodeError:
        raise InvalidInput("Standard input is not text.", fix="pass a question in SQL, in UTF-8") from None


def price_of(arguments: Namespace) -> dict[str, Fraction | None]:
    """Return what is to be paid, in either currency."""
    given = {"epsilon": arguments.epsilon, "rho": arguments.rho}
    return {
        name: None if text is None else positive(read_number(text, f"--{name}"), f"--{name}")
        for name, text in given.items()
    }


def _options(arguments: Namespace) -> dict[str, Any]:
    """Return what the session is asked with; what is missing or too much it refuses itself, unless it is an option."""
    price = price_of(arguments)
    chosen = [name for name in ("epsilon", "rho", "within") if getattr(arguments, name) is not None]
    if len(chosen) > 1 or (not chosen and arguments.verb != "explain"):
        said = "several prices" if chosen else "no price"
        raise InvalidInput(
            f"The question comes with {said}.",
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


def left_lines(session: Session) -> list[str]:
    """Return the gauge of who asked; with personal accounts, their terms."""
    return columns(standing_rows([gauge_of(session)]))
