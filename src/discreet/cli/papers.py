"""The verbs for proof outside of the ledger: anchor, export, certificate, check."""

import json
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from discreet.accounting import guarantee, loss_to_text
from discreet.cli.answers import Answer, Fact
from discreet.cli.books import ledger_facts, need_apart, new_file, opened, reachable, when
from discreet.cli.showing import UNSOUND
from discreet.cli.terminal import Palette, Progress
from discreet.cli.words import columns
from discreet.core import InvalidInput
from discreet.gate import Certified, certificate, check_certificate
from discreet.gate.ledger.cost_text import cost_words
from discreet.gate.ledger.state import Book
from discreet.gate.ledger.views import counted, name_of, title_of
from discreet.gate.proofs.exports import Exported, check_export, export_lines
from discreet.gate.proofs.verification import OFTEN
from discreet.gate.releases import one_line

#: A ledger's name: the hash of its birth.
NAME = re.compile(r"[0-9a-f]{64}")
#: A certificate is a few thousand characters.
LONGEST = 50_000_000
#: How the last line of an export begins: it is no entry.
END = '{"end":'


def answer_anchor(arguments: Namespace) -> Answer:
    """Write the newest head to one more place."""
    need_apart(arguments.to, arguments.place)
    with opened(arguments) as ledger:
        anchor = ledger.anchor(arguments.to)
        facts: dict[str, Fact] = {
            **ledger_facts(ledger),
            "file": arguments.to,
            "entry": anchor.number,
            "head": anchor.head,
            "signed": bool(anchor.signature),
        }
        rows = [
            ["ledger", title_of(ledger)],
            ["entry", f"{anchor.number:,}"],
            ["head", anchor.head],
            ["signed", "yes" if anchor.signature else "no: the key is not at hand (see --key)"],
        ]
    ending = f"Open the ledger with --anchor {one_line(arguments.to)}, and a copy older than this will be refused."
    return Answer("anchor", facts, (*columns(rows), "", ending))


def answer_export(arguments: Namespace) -> Answer:
    """Write all entries as lines."""
    if arguments.output is None:
        return Answer("export", {}, (), stream=_exported(arguments))
    with opened(arguments) as ledger:
        last = _Last(export_lines(ledger, answers=arguments.answers), ledger.book.number, arguments)
        new_file(arguments.output, last, arguments.place)
        facts: dict[str, Fact] = {
            **ledger_facts(ledger),
            "file": arguments.output,
            "entries": last.count,
            "head": last.head,
            "signed": ledger.can_sign,
            "answers": arguments.answers,
        }
        rows = [
            ["file", one_line(arguments.output)],
            ["entries", f"{last.count:,}"],
            ["head", last.head],
            [
                "signed",
                "yes" if ledger.can_sign else "no: the key is not at hand (see --key), so nobody vouches for it",
            ],
        ]
        how = f"Check it with: discreet ledger check --export {one_line(arguments.output)} --ledger {ledger.identity}"
    return Answer("export", facts, (*columns(rows), "", how))


def _exported(arguments: Namespace) -> Iterator[str]:
    with opened(arguments) as ledger:
        yield from export_lines(ledger, answers=arguments.answers)


class _Last:
    """Lines as they go by, with progress; afterwards how many there were, and the head of the last."""

    def __init__(self, lines: Iterable[str], total: int, arguments: Namespace) -> None:
        self._lines, self._total = lines, total
        self._progress = Progress("exporting", wanted=not arguments.json)
        self.count, self._line = 0, "{}"

    def __iter__(self) -> Iterator[str]:
        try:
            for line in self._lines:
                if not line.startswith(END):
                    self.count, self._line = self.count + 1, line
                if self.count % OFTEN == 0:
                    self._progress(self.count, max(self._total, self.count))
                yield line
        finally:
            self._progress.end()

    @property
    def head(self) -> str:
        return str(json.loads(self._line)["head"])


def answer_certificate(arguments: Namespace) -> Answer:
    """Certify a release."""
    with opened(arguments) as ledger:
        text = certificate(ledger, arguments.request)
        name = ledger.identity
        facts: dict[str, Fact] = {
            **ledger_facts(ledger),
            "request": arguments.request,
            "file": arguments.output,
            "certificate": json.loads(text),
        }
        if arguments.output is None:
            return Answer("certificate", facts, (text,))
        new_file(arguments.output, [text], arguments.place)
    how = f"Check it with: discreet ledger check {one_line(arguments.output)} --ledger {name}"
    rows = [["file", one_line(arguments.output)], ["request", one_line(arguments.request)]]
    return Answer("certificate", facts, (*columns(rows), "", how))


def answer_check(arguments: Namespace) -> Answer:
    """Check a certificate, an export, or both, without the ledger."""
    name = arguments.ledger.lower()
    if not NAME.fullmatch(name):
        raise InvalidInput(
            "The name of a ledger has 64 hexadecimal digits.", fix="pass --ledger as discreet ledger show tells it"
        )
    if arguments.file is None and arguments.export is None:
        raise InvalidInput("There is nothing to check.", fix="pass the file of a certificate, or --export, or both")
    if arguments.file is None and arguments.answer is not None:
        raise InvalidInput("An answer is checked by its certificate.", fix="pass the certificate's file as well")
    certified = None if arguments.file is None else _certified(arguments, name)
    exported = None if arguments.export is None else _followed(arguments, name, certified)
    facts: dict[str, Fact] = {
        "ledger": name,
        "sound": exported is None or exported.whole,
        "certificate": None if certified is None else _certified_facts(certified, answer=arguments.answer is not None),
        "export": None if exported is None else _exported_facts(exported),
    }
    palette = Palette.of(sys.stdout)
    if exported is None or exported.whole:
        lines = [palette.good("True of this ledger, as far as it goes:")]
    else:
        lines = [palette.bad("Not vouched for by the ledger's key:")]
    if certified is not None:
        lines += ["", *_certified_lines(certified, answer=arguments.answer is not None)]
    if exported is not None:
        lines += ["", *_exported_lines(exported, both=certified is not None)]
    return Answer("check", facts, tuple(lines), status=0 if facts["sound"] else UNSOUND)


def _certified(arguments: Namespace, name: str) -> Certified:
    with reachable("The certificate"):
        text = _read(arguments.file).decode("utf-8")
    answer = None
    if arguments.answer is not None:
        with reachable("The answer"):
            answer = Path(arguments.answer).read_bytes()
    return check_certificate(text, ledger=name, answer=answer)


def _read(path: str) -> bytes:
    with Path(path).open("rb") as file:
        found = file.read(LONGEST + 1)
    if len(found) > LONGEST:
        raise InvalidInput("The file is too long for a certificate.", fix="pass an export with --export")
    return found


def _followed(arguments: Namespace, name: str, certified: Certified | None) -> Exported:
    progress = Progress("checking", wanted=not arguments.json)
    try:
        with reachable("The export"), Path(arguments.export).open(encoding="utf-8") as lines:
            return check_export(lines, ledger=name, certified=certified, progress=progress)
    finally:
        progress.end()


def _certified_facts(found: Certified, *, answer: bool) -> dict[str, Any]:
    payment, alone = found.payment, guarantee(found.payment.cost, found.budget.delta)
    return {
        "request": payment.request,
        "analyst": payment.analyst,
        "what": payment.what,
        "at": payment.at,
        "cost": loss_to_text(payment.cost),
        "cost_words": cost_words(payment.cost),
        "guarantee": str(alone),
        "budget": str(found.budget),
        "payment": found.numbers[0],
        "release": found.numbers[1],
        "answer_sha256": found.released.answer,
        "answer_checked": answer,
    }


def _certified_lines(found: Certified, *, answer: bool) -> list[str]:
    payment, alone = found.payment, guarantee(found.payment.cost, found.budget.delta)
    checked = "the file is it" if answer else "not compared: pass --answer"
    most = ", the most it can have taken from one person" if found.budget.personal else ""
    rows = [
        ["asked", one_line(payment.what)],
        ["by", f"{name_of(payment.analyst)}, {when(payment.at)} UTC, request {one_line(payment.request, 60)}"],
        ["cost", f"{one_line(cost_words(payment.cost))}{most}; alone it promises {alone}"],
        ["budget", f"{one_line(found.budget)}, at the ledger's birth"],
        ["entries", f"paid for as {found.numbers[0]:,}, released as {found.numbers[1]:,}"],
        ["answer", f"SHA-256 {found.released.answer}; {checked}"],
    ]
    return ["The certificate is signed by the ledger's key.", *columns(rows)]


def _exported_facts(found: Exported) -> dict[str, Any]:
    book = found.book
    return {
        "entries": book.number,
        "head": book.head.hex(),
        "payments": book.payments,
        "releases": book.releases,
        "answers": found.answers,
        "signed": found.signed,
        "vouched": found.vouched,
    }


def _kept(book: Book) -> str:
    """Return what an export shows of the limit; what persons were charged is private, and not in it."""
    if not book.birth.budget.personal:
        return "never above the limit"
    return "what each person was charged is not in it (discreet ledger verify adds it up)"


def _exported_lines(found: Exported, *, both: bool) -> list[str]:
    book = found.book
    inside = ["The certificate's payment and release stand in it at their numbers."] if both else []
    rows = [
        ["entries", f"{book.number:,}, an unbroken chain from the birth on"],
        ["payments", f"{counted(book.payments, book.releases)}; {_kept(book)}"],
        ["answers", f"{found.answers:,} came with it, none of them changed"],
        ["checkpoints", f"{found.signed:,} signed by the ledger's key"],
        ["vouched for", _vouched(found)],
        ["head", book.head.hex()],
    ]
    return ["The export:", *columns(rows), *inside, "What was added after its last entry, it cannot tell."]


def _vouched(found: Exported) -> str:
    """Return for which entries the ledger's key vouches, and for which nobody does."""
    last = found.book.number
    if found.whole:
        return f"all {last:,} entries, by the ledger's key"
    after = (
        "none but the birth, whose hash is the ledger's name" if not found.vouched else f"entries to {found.vouched:,}"
    )
    return f"{after}; the others, to {last:,}, anybody can have written: ask for an export whose end is signed"
