"""What becomes of the SQL that people write: `python benchmarks/sql_corpus.py [FOLDER …]`.

A folder has a `schema.toml` (see `sql_corpus_data.py`) and files of queries, one query per semicolon. Every query is
asked of made-up rows at a price so high that there is next to no noise, and its answer is compared with that of DuckDB
to the same text. Where a query is refused and the refusal proposes something definite, that is done, and the query is
asked again. Nothing is paid on rows of anybody.

With `--report`, the table is written to `benchmarks/results/sql_corpus.md`; with `--all`, every query is listed.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sql_corpus_compare import Differs, compare_with_duckdb
from sql_corpus_data import Declared, World, open_world, read_world, split_queries

from discreet.core import DiscreetError
from discreet.core.limits import Matches
from discreet.query import read_sql
from discreet.query.remedies import Declare, Edit, Never, Rewrite, remedy_of
from discreet.query.sql_writing.question import question_sql

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
REPORT = HERE / "results" / "sql_corpus.md"
#: At this price the noise of a count is zero but for a chance of e^-1000000000.
EPSILON = 10**13
#: How many proposals of refusals are followed, one after another.
MOST_FIXES = 6
#: How many rows of different people may match: more than there are.
MATCHES = Matches(rows=1000, matches=1000)
ANSWERED, EDITED, RIGHTLY, REFUSED, WRONG, CRASH = (
    "answered as it stands",
    "answered after what the message proposes",
    "rightly refused",
    "refused",
    "wrong",
    "crash",
)
ABOUT = (
    "`python benchmarks/sql_corpus.py --report`: queries in the manner of manuals of private SQL, benchmarks of "
    "analytics and courses, written for schemas of their own below `benchmarks/corpus`. Every answer is compared with "
    "DuckDB's."
)
NOT_TAKEN = "DuckDB does not take this text"
BEFORE = (
    "Before refusals carried what they propose, and before spellings of other databases, windows, grouping sets, "
    "numbers of other questions, functions of dates and texts and more joins were read, 295 of then 563 (52 %) were "
    "answered as they stand."
)
CLASSES = (ANSWERED, EDITED, RIGHTLY, REFUSED, WRONG, CRASH)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one query."""

    corpus: str
    query: str
    found: str
    why: str = ""
    fix: str = ""
    #: The query as it was answered, if not as it stands.
    asked: str = ""


@dataclass(slots=True)
class Runner:
    """Sessions on one schema: one for each set of declarations."""

    name: str
    world: World
    folder: Path
    sessions: dict[str, Any] = field(default_factory=dict)

    def session(self, declared: Declared) -> Any:
        key = repr(declared)
        if key not in self.sessions:
            self.sessions[key] = open_world(self.world, declared, Path(tempfile.mkdtemp(dir=self.folder)))
        return self.sessions[key]

    def close(self) -> None:
        for session in self.sessions.values():
            session.close()

    def judge(self, query: str) -> Verdict:
        """Return what becomes of a query, after as many proposals as it takes."""
        text, declared, refusal, options = query, self.world.declared, None, {}
        for _ in range(MOST_FIXES):
            try:
                answer = self.session(declared).sql(text, epsilon=EPSILON, **options)
            except DiscreetError as error:
                refusal = error
            except Exception as error:  # noqa: BLE001 - a crash is what is looked for
                return self._verdict(query, CRASH, f"{type(error).__name__}: {error}")
            else:
                return self._compare(query, text, answer, changed=refusal is not None)
            remedy = remedy_of(refusal)
            if isinstance(remedy, Never):
                return self._verdict(query, RIGHTLY, remedy.value)
            if remedy == Declare("matches", "") and not options:
                options = {"matches": MATCHES}
                continue
            changed = self._apply(remedy, text, declared)
            if changed is None or changed == (text, declared):
                break
            text, declared = changed
        return self._verdict(query, REFUSED, refusal.problem, refusal.fix)

    def _compare(self, query: str, text: str, answer: Any, *, changed: bool) -> Verdict:
        try:
            compared = compare_with_duckdb(text, answer, self.world)
        except Differs as difference:
            return self._verdict(query, WRONG, str(difference), asked=text)
        why = "" if compared else NOT_TAKEN
        return self._verdict(query, EDITED if changed else ANSWERED, why, asked=text)

    def _apply(self, remedy: object, text: str, declared: Declared) -> tuple[str, Declared] | None:
        match remedy:
            case Edit():
                return remedy.apply(text), declared
            case Rewrite(old=old, new=new):
                return self._canonical(text, declared).replace(old, new), declared
            case Declare(argument="bounds" | "kinds" as argument, column=column, value=value):
                for table in self.world.tables_of(column):
                    given = self.world.fill_bounds(table, column) if argument == "bounds" else value
                    declared = declared.add(argument, table, column, given)
                return text, declared
            case _:
                return None

    def _canonical(self, text: str, declared: Declared) -> str:
        context = self.session(declared)._context  # noqa: SLF001 - what a session knows of its tables
        return question_sql(read_sql(text, context.known, context.dataset.public_scans), context.known)

    def _verdict(self, query: str, found: str, why: str = "", fix: str = "", asked: str = "") -> Verdict:
        return Verdict(corpus=self.name, query=query, found=found, why=why, fix=fix, asked=asked)


def judge_folder(folder: Path) -> Iterator[Verdict]:
    """Yield what becomes of each query of a folder."""
    with tempfile.TemporaryDirectory() as place:
        runner = Runner(folder.name, read_world(folder), Path(place))
        for path in sorted(folder.glob("*.sql")):
            for query in split_queries(path.read_text(encoding="utf-8")):
                yield runner.judge(query)
        runner.close()


def summarise(verdicts: list[Verdict]) -> list[str]:
    """Return a table of shares, by folder and in all."""
    names = list(dict.fromkeys(verdict.corpus for verdict in verdicts))
    lines = [f"| corpus | queries | {' | '.join(CLASSES)} |", "| --- | ---: |" + " ---: |" * len(CLASSES)]
    for name in [*names, "all"]:
        counted = Counter(verdict.found for verdict in verdicts if name in (verdict.corpus, "all"))
        total = counted.total()
        cells = " | ".join(f"{counted[found]} ({100 * counted[found] / total:.0f} %)" for found in CLASSES)
        lines.append(f"| {name} | {total} | {cells} |")
    return lines


def list_reasons(verdicts: list[Verdict], found: str, most: int) -> list[str]:
    """Return why queries were refused, the most frequent reasons first."""
    reasons = Counter(verdict.why.partition(" (line")[0] for verdict in verdicts if verdict.found == found)
    return [f"| {why} | {number} |" for why, number in reasons.most_common(most)]


def count_compared(verdicts: list[Verdict]) -> str:
    """Return how many answers were compared with DuckDB's."""
    answered = [verdict for verdict in verdicts if verdict.found in (ANSWERED, EDITED, WRONG)]
    left = sum(verdict.why == NOT_TAKEN for verdict in answered)
    return f"Of {len(answered)} answers, {len(answered) - left} were compared; DuckDB does not take the other texts."


def write_report(verdicts: list[Verdict]) -> str:
    """Return the page that is kept."""
    parts = [
        "# The SQL that people write",
        ABOUT,
        "\n".join(summarise(verdicts)),
        count_compared(verdicts),
        BEFORE,
        "Queries that were rightly refused, by reason:",
        "\n".join(["| reason | queries |", "| --- | ---: |", *list_reasons(verdicts, RIGHTLY, 20)]),
        "Other refusals, by their message, the most frequent ones:",
        "\n".join(["| message | queries |", "| --- | ---: |", *list_reasons(verdicts, REFUSED, 40)]),
    ]
    return "\n\n".join(parts) + "\n"


def show(verdict: Verdict) -> None:
    print(f"[{verdict.found}] {verdict.corpus}: {verdict.query}")
    for word, line in (("why", verdict.why), ("fix", verdict.fix)):
        if line:
            print(f"    {word}: {line}")
    if verdict.asked not in ("", verdict.query):
        print(f"    asked: {verdict.asked}")


def main() -> None:
    """Judge all queries and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folders", nargs="*", type=Path, help="folders of queries; those of the project, if left out")
    parser.add_argument("--all", action="store_true", help="list every query, not only those that were not answered")
    parser.add_argument("--report", action="store_true", help=f"write {REPORT.name}")
    arguments = parser.parse_args()
    folders = arguments.folders or sorted(path.parent for path in CORPUS.glob("*/schema.toml"))
    verdicts = [verdict for folder in folders for verdict in judge_folder(folder)]
    for verdict in verdicts:
        if arguments.all or verdict.found not in (ANSWERED, EDITED, RIGHTLY):
            show(verdict)
    print("\n".join(summarise(verdicts)))
    if arguments.report:
        REPORT.write_text(write_report(verdicts), encoding="utf-8")


if __name__ == "__main__":
    main()
