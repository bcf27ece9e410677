"""Answers about tables for programs: JSON and CSV."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from discreet.accounting import loss_to_text
from discreet.cli.dataset.rewording import name_options
from discreet.cli.ledger.views import currency, currency_of, gauge_facts
from discreet.cli.output import Fact, csv_text, exact_facts
from discreet.core import Bounds, round_down, round_up
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.schema import Column, Schema, Value
from discreet.gate import Release, cost_words
from discreet.gate.ledger.views import Gauge, Terms, standing_of
from discreet.query import Predicted
from discreet.session import Answer as Answered
from discreet.session import MisfitReport, Preview, Session


def declaration_facts(session: Session) -> dict[str, Fact]:
    """Return the public facts, for a program: about the first table, and about each."""
    first = session.schema
    return {
        **_schema_facts(first.schema),
        "limit": _limit_facts(first.limit),
        "tables": [_schema_facts(table.schema) for table in (first, *first.others) if not table.public],
        "public": [_public_facts(table.schema) for table in first.others if table.public],
    }


def _schema_facts(schema: Schema) -> dict[str, Fact]:
    """Return the public facts of one table."""
    return {
        "table": schema.table,
        "person": schema.unit.column,
        "window": None if schema.unit.window is None else str(schema.unit.window),
        "neighbours": schema.unit.neighbours.value,
        "columns": [_column_facts(column) for column in schema.columns],
    }


def _public_facts(schema: Schema) -> dict[str, Fact]:
    """Return the known facts of a public table, which has no privacy unit."""
    return {"table": schema.table, "columns": [_column_facts(column) for column in schema.columns]}


def gauge_of(session: Session) -> tuple[str, Gauge | Terms]:
    """Return the analyst's remaining budget and its owner: without a name, that of all analysts."""
    return standing_of(session.ledger, session.analyst)


def budget_facts(session: Session) -> dict[str, Fact]:
    """Return the analyst's remaining budget, for a program."""
    gauge, own = gauge_of(session)[1], session.ledger.budget
    counted = currency(session.ledger) if own.total is None else currency_of(own.total)
    return {"analyst": session.analyst, "per": own.per, "currency": counted, **gauge_facts(gauge)}


def answer_facts(answer: Answered) -> dict[str, Fact]:
    """Return an answer for a program."""
    paid = {} if answer.release is None else payment_facts(answer.release)
    return {**table_facts(answer), **paid}


def table_facts(answer: Answered) -> dict[str, Fact]:
    """Return the table of an answer for a program."""
    result = answer.result
    return {
        "columns": [
            {"name": column.name, "kind": None if column.kind is None else column.kind.value}
            for column in result.columns
        ],
        "rows": [{name: as_fact(value) for name, value in row.items()} for row in answer.rows()],
        "confidence": float(result.confidence),
        "simultaneous": result.simultaneous,
        "notes": [*map(name_options, answer.notes)],
    }


def payment_facts(release: Release) -> dict[str, Fact]:
    """Return the payment for an answer, for a program."""
    return {
        "cost": loss_to_text(release.cost),
        "cost_words": cost_words(release.cost),
        "fresh": release.fresh,
        "payment": release.receipt.number,
        "release": release.number,
        "request": release.receipt.request,
    }


def preview_facts(preview: Preview) -> dict[str, Fact]:
    """Return a preview for a program."""
    return {
        "what": preview.what,
        "cost": loss_to_text(preview.cost),
        "cost_words": cost_words(preview.cost),
        "fits": preview.fits,
        "stored": preview.stored,
        "free": preview.free,
        "predicted": prediction_facts(preview.predicted),
    }


def prediction_facts(predicted: Sequence[Predicted]) -> list[Fact]:
    """Return how far off columns would be, for a program."""
    return [
        {"name": prediction.name, "error": as_fact(prediction.error), "words": name_options(prediction.words)}
        for prediction in predicted
    ]


def _column_facts(column: Column) -> dict[str, Fact]:
    return {
        "name": column.name,
        "kind": column.kind.value,
        "bounds": None if column.bounds is None else bounds_facts(column.bounds),
        "groups": None if column.groups is None else [as_fact(value) for value in column.groups],
        "complete": column.complete,
    }


def bounds_facts(bounds: Bounds) -> dict[str, Fact]:
    """Return bounds for a program, rounded outwards."""
    return {
        **exact_facts("low", bounds.low, round_down(bounds.low)),
        **exact_facts("high", bounds.high, round_up(bounds.high)),
        **exact_facts("step", bounds.step, round_up(bounds.step)),
    }


def _limit_facts(limit: AnyLimit | None) -> Fact:
    if limit is None:
        return None
    if isinstance(limit, TotalLimit):
        return {"total": limit.rows}
    return {"groups": limit.groups, "rows": limit.rows_per_group}


def as_fact(value: Value) -> Fact:
    """Return a cell for a program: points in time as ISO 8601, and null for what JSON has no number for."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def csv_lines(answer: Answered) -> Iterator[str]:
    """Return an answer as CSV: all digits, and the ends of the error bars in columns of their own."""
    return csv_rows(answer.rows(), answer.columns)


def csv_rows(rows: Sequence[Mapping[str, Value]], names: Sequence[str] = ()) -> Iterator[str]:
    """Return rows as CSV; where there is none, the names."""
    yield _csv_line(list(rows[0]) if rows else list(names))
    for row in rows:
        yield _csv_line(list(row.values()))


def _csv_line(cells: Sequence[Value]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="").writerow(["" if cell is None else as_text(cell) for cell in cells])
    return file.getvalue()


def as_text(value: Value) -> str:
    """Return a cell of a CSV file."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return csv_text(value)
    return value.isoformat() if isinstance(value, date) else str(value)


def misfit_facts(report: MisfitReport) -> dict[str, Fact]:
    """Return a report of misfits for a program of the steward."""
    return {
        "tables": [
            {
                "name": table.table,
                "rows": table.rows,
                "nobodys": table.nobodys,
                "lines_left_out": table.lines_left_out,
                "columns": [
                    {
                        "name": found.column.name,
                        "kind": found.column.kind.value,
                        "values": found.present,
                        "not_of_kind": found.unread,
                        "beyond_bounds": found.beyond,
                        "in_no_group": found.ungrouped,
                    }
                    for found in table.columns
                ],
            }
            for table in report.tables
        ]
    }
