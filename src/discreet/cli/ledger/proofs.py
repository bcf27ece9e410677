"""Reads and shows certificates and exports: proof outside of the ledger."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from discreet.accounting import guarantee, loss_to_text
from discreet.cli.console import Progress
from discreet.cli.formatting import columns
from discreet.cli.ledger.views import open_ledger, reachable, when
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput
from discreet.gate import (
    PROGRESS_EVERY,
    Certified,
    Copied,
    Exported,
    LedgerState,
    check_certificate,
    check_export,
    cost_words,
    export_lines,
    one_line,
)
from discreet.gate.ledger.views import name_of, paid_words

#: A ledger's name: the hash of its birth.
NAME = re.compile(r"[0-9a-f]{64}")
#: A certificate is a few thousand characters.
LONGEST = 50_000_000
#: The beginning of the last line of an export, which is not an entry.
END = '{"end":'


def stream_export(arguments: Arguments) -> Iterator[str]:
    """Return the lines of an export, as they come."""
    with open_ledger(arguments) as ledger:
        yield from export_lines(ledger, answers=arguments.answers)


class CountedLines:
    """Lines as they go by, with progress; afterwards how many there were, and the head of the last."""

    def __init__(self, lines: Iterable[str], total: int, arguments: Arguments) -> None:
        self._lines, self._total = lines, total
        self._progress = Progress("exporting", wanted=not arguments.json)
        self.count, self._line = 0, "{}"

    def __iter__(self) -> Iterator[str]:
        try:
            for line in self._lines:
                if not line.startswith(END):
                    self.count, self._line = self.count + 1, line
                if self.count % PROGRESS_EVERY == 0:
                    self._progress(self.count, max(self._total, self.count))
                yield line
        finally:
            self._progress.end()

    @property
    def head(self) -> str:
        """The head of the last entry."""
        return str(json.loads(self._line)["head"])


def read_certificate(arguments: Arguments, name: str) -> Certified:
    """Return a certificate from its file, checked."""
    with reachable("The certificate"):
        text = _read(arguments.file).decode("utf-8")
    answer = None
    if arguments.answer is not None:
        with reachable("The answer"):
            answer = Path(arguments.answer).read_bytes()
    return check_certificate(text, ledger=name, answer=answer)


def _read(path: str) -> bytes:
    with Path(path).open("rb") as file:
        content = file.read(LONGEST + 1)
    if len(content) > LONGEST:
        raise InvalidInput("The file is too long for a certificate.", fix="pass an export with --export")
    return content


def follow_export(arguments: Arguments, name: str, certified: Certified | None) -> Exported:
    """Return an export from its file, checked."""
    progress = Progress("checking", wanted=not arguments.json)
    try:
        with reachable("The export"), Path(arguments.export).open(encoding="utf-8") as lines:
            return check_export(lines, ledger=name, certified=certified, progress=progress)
    finally:
        progress.end()


def certificate_facts(certified: Certified, *, answer: bool) -> dict[str, Any]:
    """Return a certificate for a program."""
    payment, alone = certified.payment, guarantee(certified.payment.cost, certified.budget.delta)
    return {
        "request": payment.request,
        "analyst": payment.analyst,
        "what": payment.what,
        "at": payment.at,
        "cost": loss_to_text(payment.cost),
        "cost_words": cost_words(payment.cost),
        "guarantee": str(alone),
        "budget": str(certified.budget),
        "payment": certified.numbers[0],
        "copied": payment.payment if isinstance(payment, Copied) else None,
        "release": certified.numbers[1],
        "answer_sha256": certified.released.answer,
        "answer_checked": answer,
    }


def certificate_lines(certified: Certified, *, answer: bool) -> list[str]:
    """Return a certificate for a person."""
    payment, alone = certified.payment, guarantee(certified.payment.cost, certified.budget.delta)
    paid = f"copied from {payment.payment:,}" if isinstance(payment, Copied) else "paid for"
    checked = "the file is it" if answer else "not compared: pass --answer"
    most = ", the most it can have taken from one person" if certified.budget.personal else ""
    rows = [
        ["asked", one_line(payment.what)],
        ["by", f"{name_of(payment.analyst)}, {when(payment.at)} UTC, request {one_line(payment.request, 60)}"],
        ["cost", f"{one_line(cost_words(payment.cost))}{most}; alone it promises {alone}"],
        ["budget", f"{one_line(certified.budget)}, at the ledger's birth"],
        ["entries", f"{paid} as {certified.numbers[0]:,}, released as {certified.numbers[1]:,}"],
        ["answer", f"SHA-256 {certified.released.answer}; {checked}"],
    ]
    return ["The certificate is signed by the ledger's key.", *columns(rows)]


def export_facts(exported: Exported) -> dict[str, Any]:
    """Return an export for a program."""
    state = exported.state
    return {
        "entries": state.number,
        "head": state.head.hex(),
        "payments": state.payments,
        "releases": state.releases,
        "answers": exported.answers,
        "signed": exported.signed,
        "vouched": exported.vouched,
    }


def _limit_text(state: LedgerState) -> str:
    """Return the use of the limit as an export shows it; charges to persons are private, and not in it."""
    if not state.birth.budget.personal:
        return "never above the limit"
    return "what each person was charged is not in it (discreet ledger verify adds it up)"


def export_summary(exported: Exported, *, both: bool) -> list[str]:
    """Return an export for a person."""
    state = exported.state
    inside = ["The certificate's payment and release stand in it at their numbers."] if both else []
    rows = [
        ["entries", f"{state.number:,}, an unbroken chain from the birth on"],
        ["payments", f"{paid_words(state)}; {_limit_text(state)}"],
        ["answers", f"{exported.answers:,} came with it, none of them changed"],
        ["checkpoints", f"{exported.signed:,} signed by the ledger's key"],
        ["vouched for", _vouching_text(exported)],
        ["head", state.head.hex()],
    ]
    return ["The export:", *columns(rows), *inside, "The export does not show entries that were added later."]


def _vouching_text(exported: Exported) -> str:
    """Return the entries that the ledger's key vouches for, and those that no key does."""
    last = exported.state.number
    if exported.whole:
        return f"all {last:,} entries, by the ledger's key"
    after = (
        "none but the birth, whose hash is the ledger's name"
        if not exported.vouched
        else f"entries to {exported.vouched:,}"
    )
    return f"{after}; the others, to {last:,}, may be written by anyone: ask for an export whose end is signed"
