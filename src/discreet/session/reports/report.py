"""A report on paper that needs no server: answers with error bars, budget, ledger, promises, and its style sheet.

Everything in it was released or is public. It is one file of HTML without scripts, and asks nothing of the network.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core import InvalidInput
from discreet.core.schema import Value
from discreet.gate import Policy, cost_words, one_line
from discreet.gate.ledger.views import Gauge, Terms, name_of, paid_words, promise_words, standings, title_of
from discreet.session.answers.answer import Answer, percent, price_words
from discreet.session.answers.cells import error_cells, is_measured, is_right_aligned, plain, value_cells
from discreet.session.reports.charts import chart, gauge_picture

if TYPE_CHECKING:
    from discreet.gate import Ledger
    from discreet.session.session import Session


# The style sheet of a report, for paper and for dark screens.

STYLE = """
:root { --ink: #1c2430; --soft: #5d6878; --line: #dfe4ea; --paper: #fbfbf9; --card: #ffffff;
  --mark: #0b6e99; --known: #c2410c; --good: #2f855a; --middling: #b7791f; --bad: #c53030; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b4; --line: #333c48; --paper: #14181d;
  --card: #1b2027; --mark: #5bb8e0; --known: #fb923c; --good: #48bb78; --middling: #ecc94b; --bad: #fc8181; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
main { max-width: 54rem; margin: 0 auto; padding: 2.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .4rem; }
h2 { font-size: 1.1rem; margin: 0 0 .6rem; }
header p { color: var(--soft); margin: 0 0 1.5rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1.1rem 1.3rem;
  margin: 0 0 1.1rem; break-inside: avoid; }
p { margin: .5rem 0; }
.promise { font-size: 1.25rem; font-weight: 600; }
.cost { color: var(--soft); font-size: .88rem; }
pre { background: var(--paper); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .8rem;
  white-space: pre-wrap; font-size: .85rem; margin: .4rem 0 .8rem; }
code { font-size: .8rem; overflow-wrap: anywhere; }
figure { margin: .6rem 0; }
figcaption, summary { color: var(--soft); font-size: .85rem; }
summary { cursor: pointer; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
th.right, td.right { text-align: right; }
svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--ink); font-size: 12px; font-variant-numeric: tabular-nums; }
svg .label { text-anchor: end; }
svg .tick { text-anchor: middle; fill: var(--soft); font-size: 11px; }
svg .grid { stroke: var(--line); stroke-width: 1; }
svg .bar { stroke: var(--mark); stroke-width: 1.6; }
svg .mark { fill: var(--mark); }
svg .known { fill: none; stroke: var(--known); stroke-width: 1.6; }
svg.gauge { height: .9rem; border-radius: .45rem; overflow: hidden; }
svg .whole { fill: var(--line); }
svg .low { fill: var(--good); }
svg .middle { fill: var(--middling); }
svg .high { fill: var(--bad); }
"""


#: Rows of an answer, and payments, that are listed.
MOST_ROWS, MOST_PAYMENTS = 50, 100
WORDS = 160


@dataclass(frozen=True, slots=True)
class Exhibit:
    """An answer with a title of its own, and what is known of it from elsewhere: a value for each row, by column."""

    answer: Answer
    title: str = ""
    #: The question as it was typed.
    asked: str = ""
    known: Mapping[str, Sequence[Value]] = field(default_factory=dict)


def write_report(
    session: "Session",
    answers: Sequence[Answer | Exhibit],
    path: str | Path,
    *,
    title: str = "",
    pictures: bool = True,
) -> None:
    """Write a report of answers to a file. Free: no row is read, and what is in it was paid for already."""
    exhibits = [answer if isinstance(answer, Exhibit) else Exhibit(answer) for answer in answers]
    text = report_text(session, exhibits, title=title, pictures=pictures)
    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError):
        raise InvalidInput("The report cannot be written there.", fix="name a file in a folder that exists") from None


def report_text(session: "Session", exhibits: Sequence[Exhibit], *, title: str, pictures: bool) -> str:
    """Return the page."""
    name = escape(one_line(title) or title_of(session.ledger))
    parts = [
        f"<header><h1>{name}</h1><p>{escape(_summary(session, len(exhibits)))}</p></header>",
        _promise(session.ledger),
        _budget(session.ledger, pictures=pictures),
        *(_section(number, exhibit, pictures=pictures) for number, exhibit in enumerate(exhibits, 1)),
        _ledger(session.ledger),
        READING,
    ]
    head = f'<meta charset="utf-8"/><meta name="viewport" content="width=device-width"/><title>{name}</title>'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n'
        f"<body><main>\n{chr(10).join(parts)}\n</main></body></html>\n"
    )


READING = (
    "<section><h2>How to read this</h2><p>An answer is the exact one with some chance added, just so much that what it "
    "tells about any one person stays within the promise. The bar around a mark says how far off chance may have put "
    "it: the exact answer, after values were clamped to their bounds and people held to their limits, lies in the bar "
    "as often as the confidence says. Sorting and drawing use what was released: they cost nothing.</p></section>"
)


LEAVING = (
    " People whose account is used up are left out silently: answers, and their bars, are about the people who took "
    "part."
)


def _summary(session: "Session", count: int) -> str:
    subject = f"{count} answer{'' if count == 1 else 's'} about the table {one_line(session.schema.schema.table)}"
    budget = "accounts of each person's own that are" if session.ledger.budget.personal else "one budget that is"
    return f"{subject}, paid for from {budget} kept for life."


def _promise(ledger: "Ledger") -> str:
    unit = ledger.budget.unit
    who = "each row" if unit.column is None else f"all rows that share one value of {one_line(unit.column)}"
    who += "" if unit.window is None else f", within one {one_line(unit.window)}, not over several"
    whole = (
        "For all questions together, and however answers are combined, the total stays within this."
        if ledger.birth.policy is Policy.SHARED
        else "This holds against each analyst alone; analysts who share their answers may learn more."
    )
    return (
        f'<section><h2>What is promised</h2><p class="promise">{escape(one_line(promise_words(ledger), 400))}</p>'
        f"<p>Protected together: {escape(who)}. {whole}{LEAVING if ledger.budget.personal else ''}</p></section>"
    )


def _budget(ledger: "Ledger", *, pictures: bool) -> str:
    return "".join(
        f"<section><h2>The budget, {escape(who)}</h2>{_gauge(gauge) if pictures else ''}<p>{escape(gauge.words())}</p>"
        "</section>"
        for who, gauge in standings(ledger)
    )


def _gauge(gauge: Gauge | Terms) -> str:
    """Return a picture of what is spent; none of what each person has."""
    return gauge_picture(gauge.share) if isinstance(gauge, Gauge) else ""


def _section(number: int, exhibit: Exhibit, *, pictures: bool) -> str:
    answer = exhibit.answer
    title = one_line(exhibit.title) or one_line(answer.what, WORDS)
    question_html = f"<pre>{escape(exhibit.asked.strip())}</pre>" if exhibit.asked.strip() else ""
    labels = [column for column in answer.result.columns if not is_measured(column)]
    drawn = [
        (column.name, chart(labels, column, exhibit.known.get(column.name)))
        for column in answer.result.columns
        if pictures and is_measured(column)
    ]
    figures = "".join(
        f"<figure>{svg}<figcaption>{escape(one_line(name))}{_legend(exhibit, name)}</figcaption></figure>"
        for name, svg in drawn
        if svg
    )
    notes = "".join(f"<p>{escape(one_line(note, 400))}</p>" for note in answer.notes)
    table = _answer_table(exhibit)
    inner = f"<details><summary>the numbers</summary>{table}</details>" if figures else table
    return (
        f"<section><h2>{number}. {escape(title)}</h2>{question_html}{figures}{inner}{notes}"
        f'<p class="cost">{escape(_cost(answer))}</p></section>'
    )


def _legend(exhibit: Exhibit, name: str) -> str:
    return " · a diamond is what is known from elsewhere" if name in exhibit.known else ""


def _cost(answer: Answer) -> str:
    how = "for all cells at once" if answer.result.simultaneous else "for each cell"
    if answer.plan is None or answer.release is None:
        return "Nothing was paid: this follows from the question alone."
    return (
        f"Bars hold with {percent(answer.result.confidence)} confidence {how}. Cost: {price_words(answer.plan)}. "
        f"Payment {answer.receipt.number}, release {answer.release.number}."
    )


def _answer_table(exhibit: Exhibit) -> str:
    head: list[tuple[str, bool]] = []
    cells: list[Sequence[str]] = []
    for column in exhibit.answer.result.columns:
        head.append((one_line(column.name), is_right_aligned(column)))
        cells.append(value_cells(column))
        errors = error_cells(column)
        if errors is not None:
            head.append(("±", False))
            cells.append(errors)
        if column.name in exhibit.known:
            head.append(("known", True))
            cells.append([plain(value) for value in exhibit.known[column.name]])
    rows = [list(row) for row in zip(*cells, strict=True)]
    more = f"<p>… and {len(rows) - MOST_ROWS:,} more rows</p>" if len(rows) > MOST_ROWS else ""
    return _table(head, rows[:MOST_ROWS]) + more


def _ledger(ledger: "Ledger") -> str:
    head = [(name, False) for name in ("entry", "analyst", "what", "cost", "answered")]
    rows = [
        [
            str(receipt.number),
            name_of(receipt.analyst),
            one_line(receipt.what, WORDS),
            one_line(cost_words(receipt.cost), WORDS),
            "no" if ledger.release_of(receipt.payment) is None else "yes",
        ]
        for receipt in ledger.recent(MOST_PAYMENTS)
    ]
    state = ledger.state
    words = f"{paid_words(state)}; {state.number:,} entries, the last of which has the head"
    return (
        f"<section><h2>The ledger</h2>{_table(head, rows)}<p>{escape(words)} <code>{state.head.hex()}</code>. "
        f"The ledger's name is <code>{escape(ledger.identity)}</code>; certificates name it, too.</p></section>"
    )


def _table(head: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]]) -> str:
    sides = [' class="right"' if right else "" for _, right in head]
    top = "".join(f"<th{side}>{escape(name)}</th>" for (name, _), side in zip(head, sides, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{side}>{escape(cell)}</td>" for cell, side in zip(row, sides, strict=True)) + "</tr>"
        for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
