"""Replies made of what a session returns, and the keywords of a session made of a request."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime
from fractions import Fraction
from typing import Any

from discreet.core import InvalidInput, Limit, TotalLimit, positive
from discreet.core.limits import Matches
from discreet.core.schema import Kind, Value
from discreet.core.untrusted_text import read_fraction
from discreet.service.words import (
    AnswerColumn,
    AnswerReply,
    AnswerTable,
    Asked,
    AskedBatch,
    BatchPreviewReply,
    BatchReply,
    ColumnFacts,
    PaymentReceipt,
    PredictedError,
    PreviewReply,
    SchemaReply,
    ShareRequestFacts,
    TableFacts,
)
from discreet.session import (
    Answer,
    BatchAnswer,
    Description,
    Gauge,
    Preview,
    Price,
    QueryPlan,
    Receipt,
    Rho,
    Session,
    ShareRequest,
    WorkloadPreview,
    cost_words,
    loss_to_text,
    plan_digest,
    standing_of,
)

# From a request to the keywords of a session.

#: Characters of an amount.
MOST_AMOUNT = 100


def question_options(asked: Asked) -> dict[str, Any]:
    """Return the keywords of `Session.preview`."""
    options: dict[str, Any] = {
        "epsilon": _amount(asked.epsilon, "epsilon"),
        "rho": _amount(asked.rho, "rho"),
        "within": _amounts(asked.within, "within"),
        "confidence": _amount(asked.confidence, "confidence"),
        "simultaneous": asked.simultaneous,
        "size": asked.size,
        "limit": asked.limit,
        "bias": asked.bias,
        "matches": read_matches(asked.matches),
    }
    return {name: value for name, value in options.items() if value is not None}


def batch_options(asked: AskedBatch) -> dict[str, Any]:
    """Return the keywords of `Session.preview_batch`."""
    options: dict[str, Any] = {
        "epsilon": _amount(asked.epsilon, "epsilon"),
        "rho": _amount(asked.rho, "rho"),
        "confidence": _amount(asked.confidence, "confidence"),
        "simultaneous": asked.simultaneous,
        "limit": asked.limit,
        "matches": read_matches(asked.matches),
        "weights": None if asked.weights is None else [_amount(weight, "weights") for weight in asked.weights],
        "consistent": asked.consistent,
        "other": asked.other,
    }
    return {name: value for name, value in options.items() if value is not None}


def _amount(text: str | None, name: str) -> Fraction | None:
    if text is None:
        return None
    if len(text) <= MOST_AMOUNT:
        try:
            return read_fraction(text)
        except InvalidInput:
            pass
    raise InvalidInput(f"{name} is not a number.", fix=f'write it with digits: "{name}": "0.1", or "1/10"')


def _amounts(value: str | Mapping[str, str] | None, name: str) -> Fraction | dict[str, Fraction | None] | None:
    if isinstance(value, Mapping):
        return {column: _amount(text, name) for column, text in value.items()}
    return _amount(value, name)


def read_matches(value: Mapping[str, int] | None) -> Matches | None:
    """Return how many rows of different people may match, of a request."""
    if value is None:
        return None
    if set(value) != {"rows", "matches"}:
        raise InvalidInput("matches needs rows and matches.", fix='send "matches": {"rows": 1, "matches": 10}')
    return Matches(rows=value["rows"], matches=value["matches"])


# From what a session returns to a reply.


def answer_reply(answer: Answer, session: Session) -> AnswerReply:
    """Return an answer with its table, its price and its proof."""
    release = answer.release
    return AnswerReply(
        what=answer.what,
        table=answer_table(answer),
        caption=answer.caption,
        notes=answer.notes,
        release=None if release is None else release.number,
        head="" if release is None else release.head,
        fresh=answer.fresh,
        cost=cost_words(answer.cost),
        left=_left(session),
        stored=None if release is None else release.stored,
        receipt=None if release is None else _receipt(release.receipt),
        limit=_limit(answer.plan),
    )


def batch_reply(answers: BatchAnswer, session: Session) -> BatchReply:
    """Return the answers of a batch."""
    return BatchReply(answers=tuple(answer_reply(answer, session) for answer in answers), lines=tuple(answers.lines()))


def _receipt(receipt: Receipt) -> PaymentReceipt:
    return PaymentReceipt(
        ledger=receipt.ledger,
        number=receipt.number,
        head=receipt.head,
        request=receipt.request,
        analyst=receipt.analyst,
        plan=receipt.plan,
        what=receipt.what,
        cost=loss_to_text(receipt.cost),
        team=receipt.team,
        copied=receipt.copied,
    )


def _left(session: Session) -> str | None:
    _, standing = standing_of(session.ledger, session.analyst, session.team)
    return str(standing.left) if isinstance(standing, Gauge) else None


def answer_table(answer: Answer) -> AnswerTable:
    """Return the table of an answer: its columns, and those of its error bars beside them."""
    table, kinds = answer.table, {column.name: column.kind for column in answer.result.columns}
    columns = tuple(AnswerColumn(name=name, kind=_kind(kinds.get(name), cells).value) for name, cells in table.items())
    rows = tuple(
        tuple(_cell(column.kind, cell) for column, cell in zip(columns, row, strict=True))
        for row in zip(*table.values(), strict=True)
    )
    return AnswerTable(columns=columns, rows=rows)


def _kind(declared: Kind | None, cells: Any) -> Kind:
    """Return the kind of a column; where none is said, that of its first value, and of empty error bars real."""
    first = next((cell for cell in cells if cell is not None), None)
    if declared is not None and not (declared is Kind.INTEGER and any(isinstance(cell, float) for cell in cells)):
        return declared
    match first:
        case bool():
            return Kind.BOOLEAN
        case int():
            return Kind.INTEGER
        case datetime():
            return Kind.TIMESTAMP
        case date():
            return Kind.DATE
        case str():
            return Kind.TEXT
        case _:
            return Kind.REAL


def _cell(kind: str, cell: Value) -> Value:
    return float(cell) if kind == Kind.REAL.value and isinstance(cell, int) and not isinstance(cell, bool) else cell


def preview_reply(preview: Preview) -> PreviewReply:
    """Return a preview for programs and for people."""
    spend = preview.spend
    return PreviewReply(
        what=preview.what,
        fits=preview.fits,
        free=preview.free,
        cost=cost_words(preview.cost),
        spend=None if spend is None else str(spend.amount),
        currency=None if spend is None else ("rho" if isinstance(spend, Rho) else "epsilon"),
        left=None if preview.personal else str(preview.left),
        release=preview.release,
        errors=tuple(
            PredictedError(
                name=predicted.name,
                error=None if predicted.error is None else repr(predicted.error),
                words=predicted.words,
            )
            for predicted in preview.predicted
        ),
        lines=tuple(preview.lines()),
        then=None if preview.personal else _then(preview.price),
        stored=preview.stored,
        dear=preview.dear,
        limit=_limit(preview.plan),
        total_left=str(preview.left) if preview.personal else None,
        total_then=_then(preview.price) if preview.personal else None,
        plan=None if preview.plan is None else plan_digest(preview.plan),
    )


def batch_preview_reply(preview: WorkloadPreview) -> BatchPreviewReply:
    """Return the price of several questions together."""
    price, left, then = preview.price, str(preview.price.left), _then(preview.price)
    return BatchPreviewReply(
        what=price.what,
        fits=preview.fits,
        free=price.stored is not None,
        cost=cost_words(price.cost),
        left=None if preview.personal else left,
        lines=tuple(preview.lines()),
        then=None if preview.personal else then,
        stored=price.stored,
        total_left=left if preview.personal else None,
        total_then=then if preview.personal else None,
        plan=plan_digest(preview.plan),
    )


def _then(price: Price) -> str | None:
    return None if price.then is None else str(price.then)


def _limit(plan: QueryPlan | None) -> dict[str, int] | None:
    """Return the contribution bound of a plan, unless each run chooses it."""
    match None if plan is None else plan.limit:
        case TotalLimit(rows=rows):
            return {"rows": rows}
        case Limit(groups=groups, rows_per_group=rows):
            return {"groups": groups, "rows_per_group": rows}
        case _:
            return None


def schema_reply(description: Description) -> SchemaReply:
    """Return the public facts of all tables."""
    tables = tuple(_table_facts(one) for one in (description, *description.others))
    return SchemaReply(tables=tables, lines=tuple(description.lines()))


def _table_facts(description: Description) -> TableFacts:
    schema = description.schema
    columns = tuple(
        ColumnFacts(
            name=column.name,
            kind=column.kind.value,
            low=None if column.bounds is None else str(column.bounds.low),
            high=None if column.bounds is None else str(column.bounds.high),
            groups=None if column.groups is None else len(column.groups),
            complete=column.complete,
        )
        for column in schema.columns
    )
    return TableFacts(
        name=schema.table,
        public=description.public,
        unit="" if description.public else str(schema.unit),
        columns=columns,
        left_out=dict(description.left_out),
    )


def share_request_facts(found: ShareRequest) -> ShareRequestFacts:
    """Return a request for more, and what was decided about it."""
    asked, decision = found.request, found.decision
    facts = ShareRequestFacts(
        number=found.number,
        analyst=asked.analyst,
        team=asked.team,
        share=str(asked.limit),
        reason=asked.reason,
        at=asked.at,
        state="open",
    )
    if decision is None:
        return facts
    return replace(
        facts,
        state="declined" if decision.limit is None else "granted",
        granted=None if decision.limit is None else str(decision.limit),
        decided_by=decision.by,
        decided_at=decision.at,
        decision=decision.reason,
    )


def read_share(text: str) -> Fraction:
    """Return a share as a request says it."""
    return positive(_amount(text, "share") or 0, "share")
