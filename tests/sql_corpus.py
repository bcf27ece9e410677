"""The corpus of questions: files in `sql/accepted` and `sql/refused`, each with many pairs.

A pair is a question, a line of three dashes, and what becomes of it: its one text, or the refusal. Pairs are separated
by a line of three equals signs. `python tests/sql_corpus.py` writes the second halves anew; read the difference.
"""

from dataclasses import dataclass
from pathlib import Path

from discreet.algebra.relations import PublicScan
from discreet.core import Bounds, PrivacyUnit
from discreet.core.limits import Matches
from discreet.core.schema import Column, Kind, Schema
from discreet.query.questions import QueryRefused, Question
from discreet.query.sql import read_sql
from discreet.query.sql_writing.question import question_sql

FOLDER = Path(__file__).parent / "sql"
BETWEEN_PAIRS, BETWEEN_HALVES = "\n===\n", "\n---\n"

VISITS = Schema(
    table="visits",
    unit=PrivacyUnit(column="patient_id"),
    columns=(
        Column(name="patient_id", kind=Kind.INTEGER),
        Column(name="ward", kind=Kind.TEXT, groups=("A", "B", "C")),
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 110)),
        Column(name="stay", kind=Kind.REAL, bounds=Bounds(0, 60)),
        Column(name="cost", kind=Kind.REAL),
        Column(name="day", kind=Kind.DATE),
        Column(name="left_on", kind=Kind.DATE),
        Column(name="seen", kind=Kind.TIMESTAMP),
        Column(name="smoker", kind=Kind.BOOLEAN),
        Column(name="index", kind=Kind.INTEGER),
        Column(name="Blood Group", kind=Kind.TEXT),
    ),
)
PATIENTS = Schema(
    table="patients",
    unit=PrivacyUnit(column="patient_id"),
    columns=(
        Column(name="patient_id", kind=Kind.INTEGER),
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 120)),
        Column(name="city", kind=Kind.TEXT, groups=("Bonn", "Köln")),
        Column(name="ward", kind=Kind.TEXT),
        Column(name="income", kind=Kind.REAL),
        Column(name="born", kind=Kind.DATE),
    ),
)
DRUGS = Schema(
    table="drugs",
    unit=PrivacyUnit(column="person"),
    columns=(
        Column(name="person", kind=Kind.INTEGER),
        Column(name="name", kind=Kind.TEXT),
        Column(name="dose", kind=Kind.REAL, bounds=Bounds(0, 100)),
        Column(name="day", kind=Kind.DATE),
    ),
)
WARDS = PublicScan(
    "wards",
    (
        Column(name="code", kind=Kind.TEXT),
        Column(name="floor", kind=Kind.INTEGER, bounds=Bounds(0, 9, step=1)),
        Column(name="kind", kind=Kind.TEXT, groups=("surgery", "other")),
        Column(name="rate", kind=Kind.REAL),
    ),
)
SCHEMAS = {"visits": VISITS, "patients": PATIENTS, "drugs": DRUGS}
PUBLICS = {"wards": WARDS}
#: With these the files called "matches" are read.
MATCHES = Matches(rows=2, matches=3)


@dataclass(frozen=True)
class Pair:
    """A question, and what becomes of it."""

    file: str
    number: int
    question: str
    expected: str

    def __str__(self) -> str:
        return f"{self.file}:{self.number}"


def asked(question: str, file: str = "") -> Question:
    """Return the question that a text of a file asks."""
    return read_sql(question, SCHEMAS, PUBLICS, MATCHES if file == "matches" else None)


def outcome(question: str, file: str = "") -> str:
    """Return the one text of a question, or its refusal."""
    try:
        return question_sql(asked(question, file), SCHEMAS)
    except QueryRefused as refusal:
        return str(refusal)


def pairs(kind: str) -> list[Pair]:
    """Return all pairs of a folder."""
    found = []
    for path in sorted((FOLDER / kind).glob("*.sql")):
        text = path.read_text(encoding="utf-8").removesuffix("\n")
        for number, block in enumerate(text.split(BETWEEN_PAIRS), 1):
            question, _, expected = block.partition(BETWEEN_HALVES)
            found.append(Pair(path.stem, number, question, expected))
    return found


def regenerate() -> None:
    """Write the second halves anew."""
    for kind in ("accepted", "refused"):
        for path in sorted((FOLDER / kind).glob("*.sql")):
            questions = [pair.question for pair in pairs(kind) if pair.file == path.stem]
            blocks = [f"{question}{BETWEEN_HALVES}{outcome(question, path.stem)}" for question in questions]
            path.write_text(BETWEEN_PAIRS.join(blocks) + "\n", encoding="utf-8")


if __name__ == "__main__":
    regenerate()
