"""Kill −9 while persons are charged: a process of its own, so that what it forks has one thread and everything loaded.

`python charging.py FOLDER random FIRST COUNT` kills four who ask at the same time; `python charging.py FOLDER moment
MOMENT 0` kills one at a moment of a run. Each prints a line of JSON for a run.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from collections import Counter
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import apsw

from discreet.algebra.contributions import name_text, names_of
from discreet.core import LedgerUnavailable, ReviewNeeded
from discreet.gate import Gate, Ledger
from discreet.gate.accounts.account_names import halves
from discreet.gate.accounts.charge_files import unpack
from discreet.gate.entries.chain import GENESIS
from discreet.gate.ledger import charging as desks
from discreet.gate.stores import process_queue as queues
from discreet.gate.stores import sqlite as sqlite_store
from faults.checker import noted
from faults.spending import SECONDS, Notes
from personal_plans import Ask, Crowd, personal

#: Who asks at the same time, how much each asks, how many requests are everybody's, and for how long at most.
WORKERS, QUESTIONS, COMMON, LONGEST = 4, 12, 6, 0.25
#: When one is killed: in the run, after it, between two pieces of what is stored of persons (of the first question,
#: which stores names; of the second), when persons are charged and nothing is answered, when all is stored.
MOMENTS = ("running", "drawn", "enrolling", "charging", "charged", "stored")
#: Persons and their rows, and a budget that is used up by those who have most.
ROWS = {f"person {place}": 1 + place % 4 for place in range(40)}
BUDGET = personal(rho=Fraction(1, 8))


def plan_of(request: str, doing: object = None) -> Ask:
    """Return the one question of a request, whoever asks."""
    return Ask(request, Fraction(1, 100 + sum(request.encode()) % 50), most=4, doing=doing)


def rows_of(request: str) -> dict:
    """Return whom a request is about."""
    return {who: count for place, (who, count) in enumerate(ROWS.items()) if (place + len(request)) % 3}


def _die(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(SECONDS)


def _forked(path: Path, name: str, work: object) -> int:
    child = os.fork()
    if child:
        return child
    try:
        signal.alarm(SECONDS)
        with Ledger.open(path) as ledger:
            work(ledger)
    except BaseException as error:  # noqa: BLE001 - it ends here, whatever it is
        Notes(path.parent / f"{name}.log").write("failed", error=f"{type(error).__name__}: {error}")
    finally:
        os._exit(1)


def _asking(notes: Notes, ledger: Ledger, name: str, chance: random.Random) -> None:
    for turn in range(QUESTIONS):
        request = f"common-{chance.randrange(COMMON)}" if chance.random() < 0.5 else f"{name}-{turn}"
        try:
            given = Gate(ledger, Crowd(rows_of(request))).release(plan_of(request), request=request)
        except LedgerUnavailable:
            continue  # overtaken again and again: asking again is free
        except ReviewNeeded:  # others were killed while they ran
            ledger.review(by="steward", reason="workers were killed", analyst="")
            continue
        notes.write("released", request=request, answer=given.stored.hex())


class Found:
    """What a ledger's file says, read by nobody's rules but these."""

    def __init__(self, path: Path) -> None:
        self.violations: list = []
        self.requests, self.answers, self.charges, self.orphans = {}, {}, {}, []
        self.sums: Counter = Counter()
        connection = apsw.Connection(str(path), apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.execute("pragma busy_timeout = 30000")
            self.need(connection.pragma("integrity_check") == "ok", "the file is whole")
            rows = connection.execute("select number, body, head from entries order by number").fetchall()
            stored = dict(connection.execute("select number, answer from answers").fetchall())
            pieces = {}
            for number, piece in connection.execute(
                "select number, piece from pieces order by number, part"
            ).fetchall():
                pieces[number] = pieces.get(number, b"") + piece
        finally:
            connection.close()
        self._follow(rows, stored, pieces)

    def need(self, holds: bool, claim: str) -> None:
        if not holds:
            self.violations.append(claim)

    def _follow(self, rows: list, stored: dict, pieces: dict) -> None:
        head, last, names, payments = GENESIS, 0, [], {}
        for expected, (number, raw, told) in enumerate(rows, 1):
            head = sha256(head + expected.to_bytes(8, "big") + raw).digest()
            self.need((number, told) == (expected, head), "the chain is whole")
            body = json.loads(raw)
            match body["kind"]:
                case "payment":
                    self.need(body["request"] not in self.requests, "one request, one payment")
                    self.requests[body["request"]] = number
                    payments[number] = body["request"]
                case "charge" | "snapshot":
                    packed = pieces.pop(number, b"")
                    self.need(sha256(packed).hexdigest() == body["people"], "no blob is torn")
                    self.need(body["after"] == last, "charges follow the last ones")
                    last = number
                    if body["kind"] == "charge":
                        request = payments.get(body["payment"])
                        self.need(request not in self.answers, "nobody is charged for what was answered")
                        self._charge(request, unpack(packed), names)
                    else:
                        self._compare(unpack(packed), names)
                case "release":
                    request = payments.get(body["payment"])
                    self.need(request in self.charges, "no answer without its charges")
                    self.need(request not in self.answers, "one payment, one answer")
                    self.answers[request] = stored.get(number, b"")
                    self.need(sha256(self.answers[request]).hexdigest() == body["answer"], "an answer has its hash")
        self.need(not pieces, "no blob without its entry")
        self.orphans = [request for request in self.requests if request not in self.answers]

    def _charge(self, request: str, people: object, names: list) -> None:
        self.need(people.known == len(names), "persons are enrolled in order")
        names += zip(people.high.tolist(), people.low.tolist(), strict=True)
        mine = self.charges.setdefault(request, Counter())
        for account, amount in zip(people.accounts.tolist(), people.amounts.tolist(), strict=True):
            mine[names[account]] += amount
            self.sums[names[account]] += amount
            limit = BUDGET.personal_limit().limit
            self.need(self.sums[names[account]] <= limit, "nobody is charged beyond the limit")

    def _compare(self, people: object, names: list) -> None:
        self.need(people.known == len(names) == sum(one.persons for one in people.enrolled), "a snapshot knows all")
        told = {names[a]: v for a, v in zip(people.accounts.tolist(), people.amounts.tolist(), strict=True)}
        self.need(told == {name: total for name, total in self.sums.items() if total}, "a snapshot is the sum")


def name_in(ledger: Ledger, who: str) -> tuple:
    (high,), (low,) = halves(names_of([name_text(ledger.identity, [who])]))
    return int(high), int(low)


def full_price(ledger: Ledger, request: str, who: str) -> int:
    """Return what a question costs somebody who takes part."""
    plan, terms = plan_of(request), ledger.state.account.terms
    part = float(Fraction(rows_of(request).get(who, 0) ** 2, plan.most**2))
    return -int(-part * float(plan.rho / terms.quantum) * (1 + 2.0**-40) // 1)


def _finished(path: Path, found: Found, notes: list) -> dict:
    """Run what is left, and check that each person paid for each answer once, in full or not at all."""
    for note in notes:
        if note["kind"] == "failed":
            found.violations.append(f"no worker fails: {note['error']}")
        else:
            stored = found.answers.get(note["request"], b"").hex()
            found.need(stored == note["answer"], "an acknowledged answer is there, byte for byte")
    unanswered = sum(request in found.charges for request in found.orphans)
    with Ledger.open(path) as ledger:
        ledger.review(by="steward", reason="workers were killed", analyst="")
        for request in found.orphans:
            Gate(ledger, Crowd(rows_of(request))).release(plan_of(request), request=request)
        found.need(not list(ledger.orphans()), "an orphan that was run is none")
        found.need(ledger.verify().sound, "the ledger finds itself sound")
        later = Found(path)
        for who in ROWS:
            name, quantum = name_in(ledger, who), ledger.state.account.terms.quantum
            statement = ledger.statement(who)
            found.need(statement.spent == later.sums[name] * quantum, "totals are the sum of the charges")
            found.need(sum(one.amount for one in statement.charges) == statement.spent, "a statement adds up")
            for request, charges in later.charges.items():
                once = charges[name] in (0, full_price(ledger, request, who))
                found.need(once, "each person pays for an answer once, or not at all")
    found.violations += later.violations
    same = {request: later.answers.get(request) for request in found.answers} == found.answers
    found.need(same, "what was answered stays as it was")
    return {
        "orphans": len(found.orphans),
        "unanswered": unanswered,
        "answers": len(later.answers),
        "violations": sorted(set(found.violations)),
    }


def at_random(folder: Path, number: int) -> dict:
    """Kill some or all of those who ask; return what was found, and whether the rest can be had."""
    path, chance = folder / "clinic.ledger", random.Random(f"charges {number}")
    desks.OFTEN, queues.LARGE = chance.choice([2, 5, 64]), chance.choice([0, 2**20])
    Ledger.create(path, BUDGET).close()
    children = []
    for place in range(WORKERS):
        notes, name, own = Notes(folder / f"w{place}.log"), f"w{place}", random.Random(f"{number} {place}")
        children.append(_forked(path, name, lambda ledger, n=notes, w=name, c=own: _asking(n, ledger, w, c)))
    while chance.random() < 0.9 and not any(log.stat().st_size for log in folder.glob("*.log")):
        time.sleep(0.001)
    time.sleep(chance.uniform(0, LONGEST))
    for child in chance.sample(children, chance.choice([WORKERS, WORKERS, 2])):
        os.kill(child, signal.SIGKILL)
        time.sleep(chance.choice([0, 0, 0.001, 0.01]))
    for child in children:
        os.waitpid(child, 0)
    return _finished(path, Found(path), noted(folder))


def at_moment(folder: Path, moment: str) -> dict:
    """Kill one at a moment of its second run; return what was found, and whether the rest can be had."""
    path = folder / "clinic.ledger"
    Ledger.create(path, BUDGET).close()

    def torn(packed: bytes) -> object:
        yield 0, packed[: len(packed) // 2]
        _die()

    def work(ledger: Ledger) -> None:
        if moment == "enrolling":
            sqlite_store.pieces_of = torn
        Gate(ledger, Crowd(rows_of("first"))).release(plan_of("first"), request="first")
        charge, release, doing = ledger.people.charge, ledger.release, None
        if moment == "running":
            doing = _die
        elif moment == "drawn":
            ledger.people.charge = _die
        elif moment == "charging":
            sqlite_store.pieces_of = torn
        elif moment == "charged":
            ledger.people.charge = lambda *given: (charge(*given), _die())
        else:
            ledger.release = lambda *given, **more: release(*given, **more) and _die()
        Gate(ledger, Crowd(rows_of("second"))).release(plan_of("second", doing), request="second")

    os.waitpid(_forked(path, "one", work), 0)
    found = Found(path)
    expected = {"enrolling": (0, 0), "charged": (1, 2), "stored": (2, 2)}.get(moment, (1, 1))
    found.need((len(found.answers), len(found.charges)) == expected, "the kill came when it should")
    return _finished(path, found, noted(folder))


def main() -> None:
    folder, kind, first, second = Path(sys.argv[1]), *sys.argv[2:5]
    if kind == "moment":
        os.environ["DISCREET_STATE"] = str(folder / "state")
        print(json.dumps(at_moment(folder, first)), flush=True)
        return
    for number in range(int(first), int(first) + int(second)):
        run = folder / f"run-{number}"
        run.mkdir()
        os.environ["DISCREET_STATE"] = str(run / "state")
        report = at_random(run, number)
        print(json.dumps(report), flush=True)
        if not report["violations"]:
            shutil.rmtree(run)


if __name__ == "__main__":
    main()
