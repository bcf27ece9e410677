"""What must be true of a ledger's file, worked out without the ledger's own code.

Reads the file with SQL, hashes and adds up for itself. The only loan is the filter of an (ε, δ) budget, which has tests
of its own. What workers wrote down as acknowledged is compared with what the file has.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import apsw

from discreet.accounting import RenyiFilter, loss_from_text, with_limit
from discreet.core import DiscreetError

GENESIS = sha256(b"discreet ledger, version 1").digest()
#: Failures of one analyst, and of all, before a steward has to look.
ANALYST_FAILURES, LEDGER_FAILURES = 3, 20
PURE = re.compile(r"loss/1 pure\(epsilon=([0-9/]+)\)")
CONCENTRATED = re.compile(r"loss/1 concentrated\(rho=([0-9/]+), delta=0\)")


@dataclass
class Findings:
    """What a file says, and what is wrong with it."""

    #: Number to body, of payments and of releases.
    payments: dict = field(default_factory=dict)
    releases: dict = field(default_factory=dict)
    #: The same of later steps; and payment and step to number, of all steps.
    continued: dict = field(default_factory=dict)
    steps: dict = field(default_factory=dict)
    #: Release to answer.
    answers: dict = field(default_factory=dict)
    heads: dict = field(default_factory=dict)
    violations: list = field(default_factory=list)
    spent: Fraction = Fraction(0)

    @property
    def orphans(self) -> list:
        """Requests that were paid for and not answered."""
        answered = {body["payment"] for body in self.releases.values()}
        return [body["request"] for number, body in self.payments.items() if number not in answered]

    def need(self, truth: object, claim: str) -> None:
        if not truth:
            self.violations.append(claim)


class Attempts:
    """Runs that were begun and not answered, counted by ourselves."""

    def __init__(self, found: Findings) -> None:
        self.found, self.total = found, 0
        #: Where a run was begun, to who asked for it; failures of each analyst; runs that a supervisor excused.
        self.open, self.failures, self.excused = {}, Counter(), set()

    def follow(self, number: int, body: dict) -> None:
        match body["kind"]:
            case "payment" if "runner" in body:
                self._begin(number, body["analyst"])
            case "begun":
                self._begin(number, body["analyst"])
            case "release" | "continuation":
                run = self.open.pop(body.get("run", body["payment"]), None)
                self.found.need(run is not None, "what is answered is a run that was begun")
            case "failure":
                self._fail(body["run"], body["how"])
            case "excuse":
                self.excused.add(body["run"])
            case "review" if body["analyst"] is None:
                self.failures, self.total = Counter(), 0
            case "review":
                del self.failures[body["analyst"]]

    def _begin(self, number: int, analyst: str) -> None:
        self.found.need(self.failures[analyst] < ANALYST_FAILURES, "nobody runs whose failures are to be reviewed")
        self.open[number] = analyst
        mine = self.failures[analyst] + list(self.open.values()).count(analyst)
        self.found.need(mine <= ANALYST_FAILURES, "failures of an analyst never exceed their number")
        together = self.total + len(self.open)
        self.found.need(together <= LEDGER_FAILURES, "failures of all never exceed their number")

    def _fail(self, number: int, how: str) -> None:
        analyst = self.open.pop(number, None)
        self.found.need(analyst is not None, "what fails is a run that was begun")
        if number not in self.excused or how == "failed":
            self.failures[analyst] += 1
            self.total += 1


class Purse:
    """The sum of all payments, by arithmetic of our own, where all pay from one budget."""

    def __init__(self, birth: dict) -> None:
        text = birth["rho"] if birth["epsilon"] is None else birth["epsilon"]
        self.limit, self.spent, self.closed = Fraction(text), Fraction(0), False
        self.pattern = CONCENTRATED if birth["epsilon"] is None else PURE
        delta = Fraction(birth["delta"])
        self.filter = RenyiFilter(self.limit, delta) if delta and birth["epsilon"] is not None else None

    def pay(self, text: str) -> bool:
        if self.filter is not None:
            loss = loss_from_text(text)
            fitted = self.filter.fits(loss)
            # What does not fit is a violation, and counting goes on with what does.
            self.filter = self.filter.admit(loss) if fitted else self.filter
            self.spent = self.filter.spent
            return fitted
        self.spent += Fraction(self.pattern.fullmatch(text)[1])
        return self.spent <= self.limit

    def disclose(self, text: str | None) -> None:
        before = self.spent
        if text is None or not self.pay(text):
            self.closed, self.spent = True, before

    def resize(self, text: str) -> None:
        self.limit = max(Fraction(text), self.spent)
        if self.filter is not None:
            self.filter = with_limit(self.filter, self.limit)


def examined(path: Path) -> Findings:
    """Return what is in a file, and every invariant that it breaks."""
    found = Findings()
    connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.execute("pragma busy_timeout = 30000")
        found.need(connection.pragma("integrity_check") == "ok", "the file is whole")
        rows = connection.execute("select number, body, head from entries order by number").fetchall()
        found.answers = dict(connection.execute("select number, answer from answers").fetchall())
    finally:
        connection.close()
    _follow(rows, found)
    answering = {**found.releases, **found.continued}
    for number, body in answering.items():
        answer = found.answers.get(number, b"")
        found.need(sha256(answer).hexdigest() == body["answer"], "an answer has the hash that is in the chain")
        found.need(len(answer) == body["size"], "an answer has the size that is in the chain")
    found.need(set(found.answers) == set(answering), "answers and releases are the same")
    return found


def _follow(rows: list, found: Findings) -> None:
    head, purse, attempts = GENESIS, None, Attempts(found)
    requests, answered = set(), set()
    for expected, (number, raw, stored) in enumerate(rows, 1):
        head = sha256(head + expected.to_bytes(8, "big") + raw).digest()
        found.need((number, stored) == (expected, head), "the chain is whole")
        found.heads[number] = head.hex()
        body = json.loads(raw)
        attempts.follow(number, body)
        match body["kind"]:
            case "birth":
                found.need(number == 1, "a ledger is born once")
                purse = Purse(body)
            case "payment":
                found.need(body["request"] not in requests, "one request, one payment")
                found.need(purse.pay(body["cost"]) and not purse.closed, "payments never exceed the budget")
                requests.add(body["request"])
                found.payments[number] = body
            case "release":
                found.need(body["payment"] in found.payments, "no release without an earlier payment")
                found.need(body["payment"] not in answered, "one payment, one answer")
                answered.add(body["payment"])
                found.releases[number] = body
                found.steps[body["payment"], 0] = number
            case "continuation":
                step = body["payment"], body["step"]
                found.need(step not in found.steps, "one step, one answer")
                found.need((step[0], step[1] - 1) in found.steps, "no step before the one that it follows")
                found.continued[number] = body
                found.steps[step] = number
            case "resize" if body["analyst"] is None:
                purse.resize(body["limit"])
            case "disclosure":
                purse.disclose(body["cost"])
    found.spent = purse.spent


def compared(found: Findings, notes: list) -> None:
    """Compare a file with what workers were told: notes of what ran, what was paid and what was handed out."""
    number_of = {body["request"]: number for number, body in found.payments.items()}
    release_of = {body["payment"]: number for number, body in found.releases.items()}
    told = {}
    for note in notes:
        number = number_of.get(note["request"])
        body = found.payments.get(number, {})
        match note["kind"]:
            case "ran":
                found.need(number is not None, "nothing runs without an earlier durable payment")
                found.need(body.get("cost") == note["cost"], "what runs was paid for at its cost")
            case "paid":
                same = number == note["number"] and found.heads.get(number) == note["head"]
                found.need(same and body["cost"] == note["cost"], "an acknowledged payment is there, byte for byte")
            case "released":
                release = release_of.get(number)
                stored = found.answers.get(release)
                found.need(stored is not None, "an acknowledged release is there")
                found.need(stored is None or stored.hex() == note["answer"], "an answer is there, byte for byte")
                found.need(
                    told.setdefault(note["request"], note["answer"]) == note["answer"], "one request, one answer"
                )


def noted(folder: Path) -> list:
    """Return what all workers noted; a line that a kill tore was acknowledged to nobody."""
    found = []
    for log in sorted(folder.glob("*.log")):
        lines = log.read_bytes().split(b"\n")
        found += map(json.loads, lines[:-1])
    return found


def agreed(path: Path, found: Findings, ledger: object) -> None:
    """Compare what the ledger says of itself with what was found."""
    try:
        found.need(ledger.verify().sound, "the ledger finds itself sound")
        found.need([one.request for one in ledger.orphans()] == found.orphans, "orphan payments are listed")
        found.need(ledger.spent == found.spent, "the ledger's total is the sum of its payments")
    except DiscreetError as error:
        found.violations.append(f"the ledger can be read: {error.problem}")
