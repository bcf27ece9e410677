"""The verbs that ask for much at once: batch, hierarchy, counter. Each is one payment, and tells what it took."""

import csv
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accounting import Guarantee, loss_to_text
from discreet.cli.answers import Answer, Fact, bound, exactly
from discreet.cli.books import ledger_facts, reachable
from discreet.cli.declared import find_column, read_day, read_limit, read_value
from discreet.cli.query_facts import as_fact, budget_facts, csv_rows, payment_facts, predicted_facts, table_facts
from discreet.cli.querying import LONGEST, left_lines, opened, patient, price_of, speaking
from discreet.cli.speech import spoken
from discreet.cli.statements import statements
from discreet.cli.typed import read_number, read_whole
from discreet.core import InvalidInput, probability, round_up, whole
from discreet.core.schema import Column, Value
from discreet.gate import Price
from discreet.gate.ledger.cost_text import cost_words
from discreet.gate.releases import one_line
from discreet.query import Saving
from discreet.session import BatchAnswer, Counter, Session, WorkloadPreview
from discreet.session.answers.cells import error_text


def answer_batch(arguments: Namespace) -> Answer:
    """Answer several questions at one price, or tell what they would cost."""
    text = _text(arguments.file)
    questions = statements(text)
    if not questions:
        raise InvalidInput("There is no question in it.", fix="write questions in SQL, with ; between them")
    how = {
        **_how(arguments),
        "weights": _weights(arguments.weights),
        "consistent": not arguments.apart,
        "other": arguments.other,
    }
    with opened(arguments) as session, speaking(text), patient("answering", arguments):
        if arguments.preview:
            return _previewed("batch", session, session.preview_batch(questions, **how))
        found = session.batch(questions, **how, fresh=arguments.fresh, request=arguments.request)
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            "questions": _question_facts(found),
            **payment_facts(found.release),
            "saving": _saving_facts(found.saving),
            "budget": budget_facts(session),
        }
        lines = [*map(_told, found.lines()), "", *left_lines(session)]
    return Answer("batch", facts, tuple(lines))


def answer_hierarchy(arguments: Namespace) -> Answer:
    """Answer counts at every level of a tree, or tell what they would cost."""
    _need_one_form(arguments)
    names, cells = _leaves(arguments.file)
    how = {
        **_how(arguments),
        "table": arguments.table,
        "where": arguments.where,
        "people": arguments.count == "people",
        "weights": _weights(arguments.weights),
        "even": arguments.even,
        "total": None if arguments.total is None else read_whole(arguments.total, "--total"),
    }
    with opened(arguments) as session, speaking(arguments.where or ""), patient("answering", arguments):
        keys, paths = _paths(names, cells, _columns(session, arguments.table))
        if arguments.preview:
            return _previewed("hierarchy", session, session.preview_hierarchy(keys, paths, **how))
        found = session.hierarchy(keys, paths, **how, fresh=arguments.fresh, request=arguments.request)
        rows = found.rows()
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            "levels": [level.name for level in found.levels],
            "rows": _row_facts(rows),
            "confidence": float(found.result.confidence),
            "simultaneous": found.result.simultaneous,
            "notes": [*map(spoken, found.notes)],
            **payment_facts(found.release),
            "budget": budget_facts(session),
        }
        lines = [*map(spoken, found.lines()), "", *left_lines(session)]
    return Answer("hierarchy", facts, tuple(lines), stream=csv_rows(rows) if arguments.csv else None)


def answer_counter(arguments: Namespace) -> Answer:
    """Answer counts of all days that are over, or tell what they would cost."""
    _need_one_form(arguments)
    what: dict[str, Any] = {
        "start": read_day(arguments.start, "--start"),
        "steps": whole(read_whole(arguments.steps, "--steps"), "--steps"),
        "every": arguments.every,
        "limit": _rows_limit(arguments.limit),
        "where": arguments.where,
        "table": arguments.table,
        **price_of(arguments),
        "request": arguments.request,
    }
    sure = _confidence(arguments)
    today = None if arguments.today is None else read_day(arguments.today, "--today")
    with opened(arguments) as session, speaking(arguments.where or ""), patient("answering", arguments):
        counter = session.counter(arguments.day, **what)
        if arguments.preview:
            return _foretold(session, counter, sure)
        counts = counter.refresh(today, confidence=sure, together=arguments.simultaneous)
        rows = counts.rows()
        facts: dict[str, Fact] = {
            **ledger_facts(session.ledger),
            "what": counter.plan.describe(),
            "rows": _row_facts(rows),
            "confidence": float(sure),
            "simultaneous": arguments.simultaneous,
            "cost": loss_to_text(counter.plan.cost),
            "cost_words": cost_words(counter.plan.cost),
            "budget": budget_facts(session),
        }
        lines = [*counts.lines(), "", *left_lines(session)]
    return Answer("counter", facts, tuple(lines), stream=csv_rows(rows) if arguments.csv else None)


def _told(line: str) -> str:
    """Return a line for a person. Biases are estimated for one question at a time, and not by these verbs."""
    return spoken(line).replace("--bias estimates", "discreet ask --bias estimates")


def _previewed(verb: str, session: Session, preview: WorkloadPreview) -> Answer:
    facts: dict[str, Fact] = {
        **_price_facts(session, preview.price),
        "predicted": [predicted_facts(each) for each in preview.predicted],
        "saving": None if preview.saving is None else _saving_facts(preview.saving),
        "budget": budget_facts(session),
    }
    return Answer(verb, facts, tuple(map(spoken, preview.lines())))


def _foretold(session: Session, counter: Counter, confidence: Fraction) -> Answer:
    """Return what a counter would cost, for all days together."""
    price, error = counter.price, counter.error(confidence)
    facts: dict[str, Fact] = {
        **_price_facts(session, price),
        "error": error,
        "confidence": float(confidence),
        "budget": budget_facts(session),
    }
    fate = "nothing to pay, it was paid for" if price.stored is not None else "fits" if price.fits else "does not fit"
    return Answer(
        "counter",
        facts,
        (
            f"Preview of {one_line(price.what)}",
            f"so far: ± {error_text(error)}, all counts at once at {float(confidence):.4g} confidence",
            f"cost {cost_words(price.cost)}, for all of them: {fate}",
        ),
    )


def _price_facts(session: Session, price: Price) -> dict[str, Fact]:
    return {
        **ledger_facts(session.ledger),
        "what": price.what,
        "cost": loss_to_text(price.cost),
        "cost_words": cost_words(price.cost),
        "fits": price.fits,
        "stored": price.stored,
        "free": price.stored is not None,
    }


def _question_facts(found: BatchAnswer) -> list[Fact]:
    return [
        {
            "what": answer.plan.what,
            **table_facts(answer),
            "notes": [*map(_told, answer.notes)],
            "other": None if other is None else _row_facts(other.rows),
        }
        for answer, other in zip(found.answers, found.others, strict=True)
    ]


def _saving_facts(saving: Saving) -> Fact:
    return {"together": _guarantee_facts(saving.together), "one_by_one": _guarantee_facts(saving.one_by_one)}


def _guarantee_facts(found: Guarantee) -> dict[str, Fact]:
    delta = Fraction(found.delta)
    return {**bound("epsilon", found.epsilon), **exactly("delta", delta, round_up(delta))}


def _row_facts(rows: Sequence[Mapping[str, Value]]) -> list[Fact]:
    return [{name: as_fact(value) for name, value in row.items()} for row in rows]


def _how(arguments: Namespace) -> dict[str, Any]:
    return {
        **price_of(arguments),
        "confidence": _confidence(arguments),
        "simultaneous": arguments.simultaneous,
        "limit": None if arguments.limit is None else read_limit(arguments.limit),
    }


def _confidence(arguments: Namespace) -> Fraction:
    return probability(read_number(arguments.confidence, "--confidence"), "--confidence")


def _rows_limit(typed: str) -> int:
    """Return how many rows of a person a counter counts."""
    if not typed.strip().isdecimal():
        raise InvalidInput(
            "--limit of a counter is a number of rows.", fix="write --limit 3, for a person's first three"
        )
    return whole(read_whole(typed.strip(), "--limit"), "--limit")


def _weights(typed: str | None) -> list[Fraction] | None:
    return None if typed is None else [read_number(one.strip(), "--weights") for one in typed.split(",")]


def _need_one_form(arguments: Namespace) -> None:
    if arguments.csv and (arguments.json or arguments.preview):
        raise InvalidInput("--csv is for the counts, and no form of anything else.", fix="leave it out")


def _text(file: str) -> str:
    """Return what stands in a file, or comes from standard input."""
    try:
        text = sys.stdin.read(LONGEST + 1) if file == "-" else _content(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("What was given is not text.", fix="write it in UTF-8") from None
    if len(text) > LONGEST:
        raise InvalidInput(f"It has more than {LONGEST:,} characters.", fix="ask for less at once")
    return text.replace("\r\n", "\n")


def _content(file: str) -> bytes:
    with reachable("The file"), Path(file).open("rb") as found:
        return found.read(4 * LONGEST + 4)


def _leaves(file: str) -> tuple[list[str], list[list[str]]]:
    """Return the names of columns and the leaves of a tree, from a CSV file."""
    rows = [row for row in csv.reader(_text(file).splitlines(), skipinitialspace=True) if row]
    if len(rows) < 2:
        raise InvalidInput(
            "The file has no leaves in it.", fix="write the columns in the first line, state,county, and leaves below"
        )
    if any(len(row) != len(rows[0]) for row in rows):
        raise InvalidInput(
            "Some leaf has more or fewer values than there are columns.", fix="write one for each column"
        )
    return rows[0], rows[1:]


def _columns(session: Session, table: str | None) -> Sequence[Column]:
    """Return the columns of the table that is meant."""
    private = [one.schema for one in (session.schema, *session.schema.others) if not one.public]
    names = ", ".join(one_line(one.table) for one in private)
    if table is None and len(private) > 1:
        raise InvalidInput("Several tables are open.", fix=f"pass --table, with one of: {names}")
    found = next((one for one in private if table is not None and one.table.casefold() == table.casefold()), private[0])
    return found.columns


def _paths(
    names: Sequence[str], cells: Sequence[Sequence[str]], columns: Sequence[Column]
) -> tuple[list[str], list[tuple[Value, ...]]]:
    """Return keys and leaves, of the kinds of their columns."""
    keys = [find_column(name, columns) for name in names]
    paths = [
        tuple(
            read_value(cell.strip(), key.kind, f"The column {key.name!r} of the leaves")
            for key, cell in zip(keys, row, strict=True)
        )
        for row in cells
    ]
    return [key.name for key in keys], paths
