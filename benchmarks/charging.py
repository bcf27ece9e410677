"""Personal accounts: what it takes to charge each person, on disk, beyond the question itself.

Persons come with names already hashed and with what each would add; a question asks all of them, and its answer is how
many took part. So everything here is admission, charges, storing and the ledger. Processor seconds of all threads.

The first question opens an account for everybody and writes their names, once for life; later ones write who was
charged, and how much. Amounts are of three kinds: alike for all, of a few values, and all different. Numbers of
accounts are kept, as DuckDB keeps them for a table; "names again" looks everybody up once more, as servers have to.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
from measure import Bar, Report, Table, finish, publish, render, say
from queries_alone import Trial, alone
from queries_clock import used

from discreet.accounting import Concentrated, loss_to_text
from discreet.algebra.contributions import Contribution
from discreet.core import PrivacyUnit
from discreet.gate import Budget, Gate, Ledger

SIZES = (1_000_000, 10_000_000, 100_000_000)
#: Seconds that a later question may take, and gibibytes that accounts and a question of each kind may, by how many
#: people it charges.
BARS = {1_000_000: (0.2, None), 100_000_000: (5.0, 1.0)}
KINDS = ("alike", "a few", "different")
COLUMNS = ("opening", *KINDS, "names again")
ALL = "the opening and a question of each kind"
RHO = Fraction(1, 1000)
ROUNDS = 3


@dataclass
class Crowd:
    """Persons without rows: a `PersonalTable` of names."""

    names: np.ndarray = field(repr=False)
    added: np.ndarray = field(repr=False)
    numbers: np.ndarray | None = field(default=None, repr=False)

    def aggregate(self, _aggregation):
        raise AssertionError

    def aggregate_among(self, _aggregation, admission):
        if self.numbers is None:
            self.numbers = admission.accounts(self.names)
        return int(np.count_nonzero(admission.admit(self.numbers, [Contribution(self.added, self.added)])))


@dataclass(frozen=True)
class Share:
    """What the pass costs: ρ times what each adds, at most 1."""

    def of(self, contributions, units, *, in_rho, quantum):
        assert len(contributions[0].square) == units
        assert in_rho
        return np.ceil(contributions[0].square * (float(RHO / quantum) * (1 + 2.0**-40)))

    def failures(self, *, in_rho, paid=True):  # noqa: ARG002 - as the gate asks
        return Fraction(0)


@dataclass(frozen=True)
class Ask:
    """A question about everybody."""

    turn: str
    personal: bool = True

    @property
    def cost(self):
        return Concentrated(RHO)

    def describe(self):
        return "how many take part"

    def canonical(self):
        return f"ask {self.turn} {loss_to_text(self.cost)}"

    def run(self, data, _entropy, /):
        return data.aggregate_for(None, Share())


def added(kind: str, people: int) -> np.ndarray:
    """Return what each person adds, as a share of the most that one can."""
    match kind:
        case "alike":
            return np.ones(people)
        case "a few":
            return np.arange(people) % 16 / 16 + 1 / 16
        case _:
            return np.arange(people) / people * 0.5 + 0.5


def charge(people: int, folder: str) -> None:
    """Charge so many people, some times in each kind, and tell how long that took and what it left on the disk."""
    os.environ["DISCREET_STATE"] = folder
    budget = Budget(rho=1, unit=PrivacyUnit(column="person"), per="person")
    names = np.random.default_rng(people).integers(0, 2**64, (people, 2), dtype=np.uint64)
    names[:, 1] >>= np.uint64(32)
    told = {}
    with Ledger.create(str(Path(folder) / "people.ledger"), budget) as ledger:
        crowd = Crowd(names, added("alike", people))
        told["opening"] = one(ledger, crowd, "opening", folder)
        for kind in KINDS:
            crowd.added = added(kind, people)
            found = [one(ledger, crowd, f"{kind} {turn}", folder) for turn in range(ROUNDS)]
            times, sizes = zip(*found, strict=True)
            told[kind] = min(times), max(sizes)  # some rounds write over what the store has to spare
        crowd.added, crowd.numbers = added("alike", people), None
        told["names again"] = one(ledger, crowd, "names again", folder)
    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    json.dump({"seconds": told["alike"][0], "loading": told["opening"][0], "gibibytes": held, **told}, sys.stdout)


def one(ledger: Ledger, crowd: Crowd, turn: str, folder: str) -> tuple[float, float]:
    """Return processor seconds and gibibytes of one question."""
    start, before = used(), on_disk(folder)
    given = Gate(ledger, crowd).release(Ask(turn), request=turn)
    assert given.answer == len(crowd.names), "somebody was left out"
    return used() - start, (on_disk(folder) - before) / 2**30


def on_disk(folder: str) -> int:
    return sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())


def charging_table(found: dict[int, Trial]) -> Table:
    def cells(trial: Trial) -> tuple[float | None, ...]:
        pairs = [trial.told.get(kind, (None, None)) for kind in COLUMNS]
        return tuple(part for pair in pairs for part in pair)

    columns = tuple(f"{name}, {unit}" for name in COLUMNS for unit in ("s", "GiB"))
    return Table(
        title="Processor seconds of a question that charges everybody, and what it leaves on the disk",
        note="Opening: the first question, which opens an account for everybody. Then by what people pay: all alike, "
        f"of 16 amounts, all different; of {ROUNDS} rounds the least time and the most disk. Names again: alike, with "
        "all names looked up. All: what the opening and a question of each kind leave on the disk. Memory: the most "
        "that was held. While something is stored, a log takes as much disk again as is written.",
        columns=("people", *columns, "all, GiB", "memory, GiB"),
        rows=tuple((f"{people:,}", *cells(trial), total(trial), trial.gibibytes) for people, trial in found.items()),
    )


def bars(found: dict[int, Trial]) -> tuple[Bar, ...]:
    made = []
    for people, (seconds, gibibytes) in BARS.items():
        if people not in found:
            continue
        for kind in KINDS:
            told = found[people].told.get(kind, (None, None))
            made.append(Bar(claim=f"seconds, {people:,} people, {kind}", measured=told[0], most=seconds))
        if gibibytes is not None:
            made.append(
                Bar(claim=f"GiB on the disk, {people:,} people, {ALL}", measured=total(found[people]), most=gibibytes)
            )
    return tuple(made)


def total(trial: Trial) -> float | None:
    """Return what accounts and a question of each kind leave on the disk."""
    sizes = [trial.told.get(kind, (None, None))[1] for kind in ("opening", *KINDS)]
    return None if None in sizes else sum(sizes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, nargs="+", help="sizes to run; nothing is written then")
    parser.add_argument("--check", action="store_true", help="end with an error if a bar is missed")
    parser.add_argument("--charge", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.charge:
        charge(int(options.charge[0]), options.charge[1])
        return
    found = {}
    for people in options.people or SIZES:
        with tempfile.TemporaryDirectory() as folder:
            found[people] = alone(["charging.py", "--charge", str(people), folder], most=20)
        say(f"{people:,} people: {found[people].failure or found[people].told}")
    report = Report(
        title="Charging",
        command="python benchmarks/charging.py",
        packages=("discreet", "numpy"),
        tables=(charging_table(found),),
        bars=bars(found),
    )
    if options.people:
        say("\n" + render(report))
    else:
        publish(report, "charging")
    finish(report, check=options.check)


if __name__ == "__main__":
    main()
