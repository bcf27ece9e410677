"""Exports: a whole ledger as lines of text, which anyone can check without it.

A line is a JSON object with an entry's number, its head and its body, as they are stored; a release may have its answer
beside it, in base64. The first line is the birth, whose head is the ledger's name. So a holder of the name and of an
export can follow the chain, count all payments again, and find a certificate's entries at their numbers.

The last line is the export's end: the number and the head of the last entry, signed by the ledger's key if it was at
hand. A head is a hash of all before it, so the signature vouches for every entry. The chain alone vouches for nothing
but the birth: anyone can write other payments and compute their heads. So an export without a signed end is vouched
for up to its last signed checkpoint only, and `Exported.vouched` says how far that is. That nothing follows the last
entry, only an anchor can say.
"""

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from itertools import islice

from discreet.core import DiscreetError, InvalidInput, LedgerDamaged
from discreet.core.untrusted_text import read_json
from discreet.gate.entries.chain import GENESIS, LedgerEntry, canonical, check_chain, parse_canonical
from discreet.gate.entries.events import Answered, Birth, from_body
from discreet.gate.ledger.anchors import MOST_NUMBER
from discreet.gate.ledger.keys import EXPORT, verify_signature
from discreet.gate.ledger.ledger import Ledger
from discreet.gate.ledger.state import LedgerState
from discreet.gate.ledger.verification import PROGRESS_EVERY, History, Progress
from discreet.gate.proofs.certificates import Certified

#: Entries that are counted at once.
PAGE = 5000
FIX = "ask its sender for a new one"


@dataclass(frozen=True, slots=True)
class Exported:
    """The facts that an export proves of its ledger, up to its last entry."""

    ledger: str
    #: All totals after the last entry.
    state: LedgerState
    #: Answers that came with it, each of which is the one that its entry has the hash of.
    answers: int
    #: Checkpoints that the ledger's key signed.
    signed: int
    #: The last entry that the key vouches for, by a signed end or checkpoint: later entries may be written by anyone.
    vouched: int

    @property
    def whole(self) -> bool:
        """Whether the ledger's key vouches for every entry."""
        return self.vouched == self.state.number

    @property
    def birth(self) -> Birth:
        """The terms that are fixed for life."""
        return self.state.birth


def export_lines(ledger: Ledger, *, answers: bool = False) -> Iterator[str]:
    """Return all entries as lines, with the answers if that is wanted; refuses a ledger whose chain is broken.

    The last line is the end, signed, if the ledger's key is at hand.
    """
    last = None
    for entry in check_chain((entry for entry, _ in ledger.entries()), 0, GENESIS):
        line = {"number": entry.number, "head": entry.head.hex(), "body": entry.body.decode("ascii")}
        if answers and isinstance(from_body(entry.body), Answered):
            line["answer"] = base64.b64encode(ledger.read_answer(entry.number)[1]).decode("ascii")
        yield canonical(line).decode("ascii")
        last = entry
    if last is not None and ledger.can_sign:
        signature = ledger.sign(EXPORT, _end_message(ledger.identity, last.number, last.head.hex()))
        yield canonical({"end": last.number, "head": last.head.hex(), "signature": signature}).decode("ascii")


def _end_message(ledger: str, number: int, head: str) -> bytes:
    """Return the bytes that the signature of an export's end covers."""
    return canonical({"ledger": ledger, "number": number, "head": head})


def check_export(
    lines: Iterable[str],
    *,
    ledger: str | None = None,
    certified: Certified | None = None,
    progress: Progress | None = None,
) -> Exported:
    """Return the facts that an export proves; refuse one that contradicts itself, or is of another ledger.

    With `certified` (see `check_certificate`), the payment and the release that it is about must stand in the export at
    their numbers. Lines are read once, and not kept.
    """
    try:
        return _check_lines(_ExportWalk(lines, certified, progress), ledger)
    except LedgerDamaged as error:
        raise InvalidInput(f"The export proves nothing. {error.problem}", fix=FIX) from None
    except DiscreetError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, ArithmeticError):
        raise _false("an entry in it is not the text of an event") from None


def _check_lines(walk: "_ExportWalk", ledger: str | None) -> Exported:
    entries = walk.entries()
    first = next(entries, None)
    if first is None:
        raise _false("there is no entry in it")
    state = LedgerState.from_birth(first)
    if ledger not in (None, state.identity.hex()):
        raise _false("it is of another ledger")
    history = History(state.birth.key, GENESIS, state.birth.budget.personal)
    walk.look(first, history)
    # A page at a time, as the state may have to count one twice.
    while page := list(check_chain(islice(entries, PAGE), state.number, state.head)):
        for entry in page:
            walk.look(entry, history)
        state = state.catch_up(partial(_same, page))
    if walk.wanted:
        raise _false(f"it ends at entry {state.number}, before what the certificate is about")
    vouched = state.number if walk.is_signed(state) else history.vouched
    return Exported(state.identity.hex(), state, walk.answers, history.signed, vouched)


def _same(page: list[LedgerEntry], _after: int) -> list[LedgerEntry]:
    return page


class _ExportWalk:
    """The checks of the lines besides the chain and the sums, which the state checks."""

    def __init__(self, lines: Iterable[str], certified: Certified | None, progress: Progress | None) -> None:
        self.lines, self.progress = lines, progress
        #: The heads that a certificate has at some numbers, until they are met.
        self.wanted = {} if certified is None else dict(zip(certified.numbers, certified.heads, strict=True))
        self.given: dict[int, bytes] = {}
        self.answers = 0
        self.end: tuple[int, str, str] | None = None

    def entries(self) -> Iterator[LedgerEntry]:
        """Return the entries of all lines; an answer is kept until its entry is looked at."""
        for count, line in enumerate(self.lines, 1):
            if self.end is not None:
                raise _false(f"line {count} follows its end")
            try:
                fields = read_json(line)
                if "end" in fields:
                    self.end = _read_end(**fields)
                    continue
                entry, answer = _read_entry(**fields)
                if answer is not None:
                    self.given[entry.number] = base64.b64decode(answer, validate=True)
            except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
                raise _false(f"line {count} is not one of an export") from None
            yield entry

    def is_signed(self, state: LedgerState) -> bool:
        """Whether the end is signed by the ledger's key; refuse an end that is not, or of other entries."""
        if self.end is None:
            return False
        number, head, signature = self.end
        if (number, head) != (state.number, state.head.hex()):
            raise _false("its end is that of other entries")
        if not verify_signature(state.birth.key, signature, EXPORT, _end_message(state.identity.hex(), number, head)):
            raise _false("its end is not signed by the ledger's key")
        return True

    def look(self, entry: LedgerEntry, history: History) -> None:
        """Check one entry against those before it, its answer, and what a certificate says of it."""
        number, head = entry.number, entry.head.hex()
        event, answer = from_body(entry.body), self.given.pop(number, None)
        history.look(entry, parse_canonical(entry.body))
        if history.faults:
            raise _false(history.faults[0])
        if answer is not None and isinstance(event, Answered):
            if sha256(answer).hexdigest() != event.answer:
                raise _false(f"the answer of entry {number} was changed")
            self.answers += 1
        if self.wanted.pop(number, head) != head:
            raise _false(f"the certificate has another entry {number}")
        if self.progress is not None and number % PROGRESS_EVERY == 0:
            self.progress(number, 0)


def _read_entry(*, number: int, head: str, body: str, answer: str | None = None) -> tuple[LedgerEntry, str | None]:
    if type(number) is not int or not 0 < number < MOST_NUMBER:
        raise ValueError
    return LedgerEntry(number, body.encode("ascii"), bytes.fromhex(head)), answer


def _read_end(*, end: int, head: str, signature: str) -> tuple[int, str, str]:
    if type(end) is not int or not isinstance(head, str) or not isinstance(signature, str):
        raise TypeError
    return end, head, signature


def _false(why: str) -> InvalidInput:
    return InvalidInput(f"The export proves nothing: {why}.", fix=FIX)
