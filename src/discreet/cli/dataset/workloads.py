"""Reads and shows workloads: questions of a batch, leaves of a hierarchy, previews and savings."""

import csv
import re
import sys
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from discreet.accounting import Guarantee, loss_to_text
from discreet.cli.dataset.declarations import find_column, read_limit, read_value
from discreet.cli.dataset.facts import as_fact, budget_facts, prediction_facts, table_facts
from discreet.cli.dataset.rewording import name_options
from discreet.cli.dataset.sessions import LONGEST, price_of
from discreet.cli.ledger.views import ledger_facts, reachable
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import CommandOutput, Fact, bound_facts, exact_facts
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput, probability, round_up, whole
from discreet.core.schema import Column, Value
from discreet.gate import Price, cost_words, one_line
from discreet.query import Saving
from discreet.session import BatchAnswer, Counter, Session, WorkloadPreview, error_text


def reword_line(line: str) -> str:
    """Return a line for a person. Biases are estimated for one question at a time, and not by these verbs."""
    return name_options(line).replace("--bias estimates", "discreet ask --bias estimates")


def preview_answer(verb: str, session: Session, preview: WorkloadPreview) -> CommandOutput:
    """Return the preview of a workload."""
    facts: dict[str, Fact] = {
        **_price_facts(session, preview.price),
        "predicted": [prediction_facts(predictions) for predictions in preview.predicted],
        "saving": None if preview.saving is None else saving_facts(preview.saving),
        "budget": budget_facts(session),
    }
    return CommandOutput(verb, facts, tuple(map(name_options, preview.lines())))


def preview_counter(session: Session, counter: Counter, confidence: Fraction) -> CommandOutput:
    """Return the cost of a counter, for all days together."""
    price, error = counter.price, counter.error(confidence)
    facts: dict[str, Fact] = {
        **_price_facts(session, price),
        "error": error,
        "confidence": float(confidence),
        "budget": budget_facts(session),
    }
    fate = "nothing to pay, it was paid for" if price.stored is not None else "fits" if price.fits else "does not fit"
    return CommandOutput(
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


def question_facts(batch: BatchAnswer) -> list[Fact]:
    """Return the answers of a batch for a program."""
    return [
        {
            "what": answer.what,
            **table_facts(answer),
            "notes": [*map(reword_line, answer.notes)],
            "other": None if other is None else row_facts(other.rows),
        }
        for answer, other in zip(batch.answers, batch.others, strict=True)
    ]


def saving_facts(saving: Saving) -> Fact:
    """Return the cost of a batch, together and one by one, for a program."""
    return {"together": _guarantee_facts(saving.together), "one_by_one": _guarantee_facts(saving.one_by_one)}


def _guarantee_facts(promise: Guarantee) -> dict[str, Fact]:
    delta = Fraction(promise.delta)
    return {**bound_facts("epsilon", promise.epsilon), **exact_facts("delta", delta, round_up(delta))}


def row_facts(rows: Sequence[Mapping[str, Value]]) -> list[Fact]:
    """Return rows for a program."""
    return [{name: as_fact(value) for name, value in row.items()} for row in rows]


def read_accuracy(arguments: Arguments) -> dict[str, Any]:
    """Return the price, the confidence and the limit as typed."""
    return {
        **price_of(arguments),
        "confidence": read_confidence(arguments),
        "simultaneous": arguments.simultaneous,
        "limit": None if arguments.limit is None else read_limit(arguments.limit),
    }


def read_confidence(arguments: Arguments) -> Fraction:
    """Return the confidence as typed."""
    return probability(read_number(arguments.confidence, "--confidence"), "--confidence")


def read_rows_limit(typed: str) -> int:
    """Return the number of rows of a person that a counter counts."""
    if not typed.strip().isdecimal():
        raise InvalidInput(
            "--limit of a counter is a number of rows.", fix="write --limit 3, for a person's first three"
        )
    return whole(read_whole(typed.strip(), "--limit"), "--limit")


def read_weights(typed: str | None) -> list[Fraction] | None:
    """Return the weights as typed."""
    return None if typed is None else [read_number(weight.strip(), "--weights") for weight in typed.split(",")]


def need_one_form(arguments: Arguments) -> None:
    """Refuse CSV together with another form of output."""
    if arguments.csv and (arguments.json or arguments.preview):
        raise InvalidInput("--csv applies to the counts only.", fix="leave it out")


def read_text(file: str) -> str:
    """Return the text of a file, or of standard input."""
    try:
        text = sys.stdin.read(LONGEST + 1) if file == "-" else _content(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("What was given is not text.", fix="write it in UTF-8") from None
    if len(text) > LONGEST:
        raise InvalidInput(f"It has more than {LONGEST:,} characters.", fix="ask for less at once")
    return text.replace("\r\n", "\n")


def _content(file: str) -> bytes:
    with reachable("The file"), Path(file).open("rb") as stream:
        return stream.read(4 * LONGEST + 4)


def read_leaves(file: str) -> tuple[list[str], list[list[str]]]:
    """Return the names of columns and the leaves of a tree, from a CSV file."""
    rows = [row for row in csv.reader(read_text(file).splitlines(), skipinitialspace=True) if row]
    if len(rows) < 2:
        raise InvalidInput(
            "The file has no leaves in it.", fix="write the columns in the first line, state,county, and leaves below"
        )
    if any(len(row) != len(rows[0]) for row in rows):
        raise InvalidInput(
            "Some leaf has more or fewer values than there are columns.", fix="write one for each column"
        )
    return rows[0], rows[1:]


def columns_of(session: Session, table: str | None) -> Sequence[Column]:
    """Return the columns of the table that is meant."""
    private = [relation.schema for relation in (session.schema, *session.schema.others) if not relation.public]
    names = ", ".join(one_line(schema.table) for schema in private)
    if table is None and len(private) > 1:
        raise InvalidInput("Several tables are open.", fix=f"pass --table, with one of: {names}")
    match = next(
        (schema for schema in private if table is not None and schema.table.casefold() == table.casefold()), private[0]
    )
    return match.columns


def paths_of(
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


#: What ; may stand in without ending a question: a text, a name in quotes, a comment.
PIECES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/|;", re.DOTALL)
#: All but ends of lines.
SIGN = re.compile(r"[^\n]")


def statements(text: str) -> list[str]:
    """Return the questions of a text. Comments, and all that stands before a question, become blanks and empty lines.

    So a place in one of them is that place in the whole text.
    """
    plain, ends = _without_comments(text)
    questions, start = [], 0
    for end in (*ends, len(plain)):
        question = plain[start:end]
        if question.strip():
            before = plain[: start + len(question) - len(question.lstrip())]
            lines, _, line = before.rpartition("\n")
            blank = "\n" * (lines.count("\n") + 1) if "\n" in before else ""
            questions.append(f"{blank}{' ' * len(line)}{question.strip()}")
        start = end + 1
    return questions


def _without_comments(text: str) -> tuple[str, list[int]]:
    """Return a text of the same length with blanks for comments, and where questions end."""
    parts, ends, at = [], [], 0
    for piece in PIECES.finditer(text):
        parts.append(text[at : piece.start()])
        is_comment = piece[0].startswith(("--", "/*"))
        parts.append(SIGN.sub(" ", piece[0]) if is_comment else piece[0])
        if piece[0] == ";":
            ends.append(piece.start())
        at = piece.end()
    return "".join([*parts, text[at:]]), ends
