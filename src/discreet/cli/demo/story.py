"""The whole story on a hospital that does not exist: open, preview, ask, ask again, run out, look at the ledger."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from pathlib import Path
from typing import Unpack

import discreet
from discreet.cli.console import Patience, write
from discreet.cli.demo import hospital as truth
from discreet.cli.demo import service
from discreet.cli.demo.hospital import LONGEST, MOST_VISITS, PATIENTS, VISITS, WARDS, Hospital, build_hospital
from discreet.cli.ledger.views import reachable
from discreet.cli.output import CommandOutput, error_text
from discreet.cli.parsing import PROJECT
from discreet.core import Bounds, BudgetExceeded, InvalidInput, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Value
from discreet.gate import Budget, cost_words, one_line
from discreet.gate.ledger.views import ledger_text
from discreet.session import Answer as Answered
from discreet.session import Exhibit, ReleaseOptions, Session, Settings, open_session, write_report, write_settings

FOLDER = "discreet-demo"
TABLE, LEDGER, REPORT = "visits.csv", "hospital.ledger", "report.html"
EPSILON, DELTA = "2", "1e-7"
SQL = "SELECT ward, COUNT(*) AS visits, AVG(stay) AS stay FROM visits GROUP BY ward"
OLDER = "SELECT COUNT(*) AS visits FROM visits WHERE age >= 65"
DIAGNOSES = """\
SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients FROM visits
GROUP BY diagnosis ORDER BY patients DESC"""
LONG = "SELECT ward, COUNT(*) AS visits FROM visits WHERE stay > 14 GROUP BY ward"
#: Rows of a long answer that are printed.
SHOWN = 8


@dataclass(frozen=True, slots=True)
class Story:
    """The state that the acts share: the hospital, its session, and the contents of the report."""

    hospital: Hospital
    session: Session
    exhibits: list[Exhibit] = field(default_factory=list)

    def ask(self, sql: str, **how: Unpack[ReleaseOptions]) -> Answered:
        """Ask, with a line of progress should it take longer than a second."""
        with Patience("answering"):
            return self.session.sql(sql, **how)

    def keep(self, answer: Answered, title: str, question: str, known: Mapping[str, Sequence[Value]]) -> None:
        """Put an answer into the report, beside what is true."""
        self.exhibits.append(Exhibit(answer, title, question, known))


def tell_story(named: str | None, *, pictures: bool) -> CommandOutput:
    """Tell the story; every line as it happens."""
    with reachable("The folder"):
        folder = _new_folder(named)
        hospital = _generate_hospital(folder)
    with _open_session(folder) as session:
        story = Story(hospital, session)
        for act in (
            _preview,
            _ask,
            _ask_again,
            _ask_for_accuracy,
            _buy_groups,
            _ask_too_much,
            _check_error_bars,
            _show_ledger,
        ):
            act(story)
        report = folder / REPORT
        with Patience("writing the report"):
            write_report(session, story.exhibits, report, title="A hospital, discreetly", pictures=pictures)
    _serve(folder)
    facts = {"folder": str(folder), "report": str(report)}
    return CommandOutput("demo", facts, (f"The report is in {report}. To go on: cd {folder}, and discreet ask.",))


def _new_folder(named: str | None) -> Path:
    """Return an empty folder: the one that was named, or the first that is free. A ledger is never begun anew."""
    names = [named] if named else (FOLDER if number == 1 else f"{FOLDER}-{number}" for number in count(1))
    for name in names:
        folder = Path(name)
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            folder.mkdir(parents=True, exist_ok=True)
            return folder
    raise InvalidInput("There is something at this folder already.", fix="pass --folder with the name of a new one")


def _generate_hospital(folder: Path) -> Hospital:
    _act("A hospital that does not exist")
    with Patience("making up patients"):
        hospital = build_hospital()
        hospital.write(folder / TABLE)
    _say(f"{VISITS:,} visits by {PATIENTS:,} patients, in {folder / TABLE}. All of them are made up.")
    return hospital


def _open_session(folder: Path) -> Session:
    _act("The steward opens it, once, with a budget for life")
    budget = Budget(Fraction(EPSILON), Fraction(DELTA), unit=PrivacyUnit(column="patient_id"))
    settings = Settings(
        source=folder / TABLE,
        table="visits",
        person="patient_id",
        ledger=folder / LEDGER,
        budget=budget,
        bounds={"stay": Bounds(0, LONGEST), "age": Bounds(0, 110, step=1)},
        groups={"ward": WARDS},
        limit=TotalLimit(MOST_VISITS),
    )
    write_settings(folder / PROJECT, settings)
    _code(
        'clinic = discreet.open("visits.csv", person="patient_id",',
        f'    bounds={{"stay": (0, {LONGEST}), "age": (0, 110)}}, groups={{"ward": ["{WARDS[0]}", …]}},',
        f'    limit={MOST_VISITS}, budget=discreet.Budget(epsilon={EPSILON}, delta={DELTA}), ledger="{LEDGER}")',
    )
    with Patience(f"importing {TABLE}"):
        session = open_session(
            settings.source,
            person=settings.person,
            bounds=settings.bounds,
            groups=settings.groups,
            budget=budget,
            ledger=settings.ledger,
            limit=settings.limit,
            anchors=[folder / "hospital.anchor"],  # nothing of a demo is left outside of its folder
            title="hospital",
        )
    _lines(session.schema.lines())
    return session


def _preview(story: Story) -> None:
    _act("A preview is free, and reads no row")
    _code(f'clinic.preview("{SQL}", epsilon=0.5)')
    _lines(story.session.preview(SQL, epsilon=0.5).lines())


def _ask(story: Story) -> None:
    _act("The answer is paid for, and comes with its error")
    _code('clinic.sql("SELECT …", epsilon=0.5)')
    answer = story.ask(SQL, epsilon=0.5)
    _lines(answer.lines())
    wards = _column(answer, "ward")
    known = {
        "visits": truth.visits_by_ward(story.hospital, wards),
        "stay": truth.stay_by_ward(story.hospital, wards),
    }
    story.keep(answer, "Visits and average stay by ward", SQL, known)


def _ask_again(story: Story) -> None:
    _act("The same question as a frame: the same answer from the store, and nothing to pay")
    _code(
        'frame = clinic.table("visits").group_by("ward").agg(visits=discreet.count(), stay=discreet.mean("stay"))',
        "frame.release(epsilon=0.5)",
    )
    spent = story.session.ledger.spent
    frame = story.session.table("visits").group_by("ward").agg(visits=discreet.count(), stay=discreet.mean("stay"))
    again = frame.release(epsilon=0.5)
    same = again.rows() == story.exhibits[0].answer.rows()
    _say(f"The same numbers: {_yes(same)}. Paid now: {_yes(again.fresh or story.session.ledger.spent != spent)}.")


def _ask_for_accuracy(story: Story) -> None:
    _act("Accuracy first: say how far off it may be, and the least price is found")
    _code(f'clinic.sql("{OLDER}", within=150)')
    answer = story.ask(OLDER, within=150)
    _lines(answer.lines())
    story.keep(answer, "Visits by people of 65 and over", OLDER, {"visits": truth.visits_from_age(story.hospital, 65)})


def _buy_groups(story: Story) -> None:
    _act("Groups that were not declared are bought, and rare ones stay hidden")
    _code('clinic.sql("""', *DIAGNOSES.splitlines(), '""", epsilon=0.5)')
    answer = story.ask(DIAGNOSES, epsilon=0.5)
    _lines(answer.lines(SHOWN))
    known = truth.all_patients_by_diagnosis(story.hospital)
    told_of = _column(answer, "diagnosis")
    rare = [name for name, patients in known.items() if patients <= 3]
    _say(
        f"{len(told_of)} of {len(known)} diagnoses are told. Of the {len(rare)} that at most three patients have, "
        f"{len(set(rare) & set(map(str, told_of)))} are."
    )
    patients = truth.patients_by_diagnosis(story.hospital, told_of)
    story.keep(answer, "Patients by diagnosis", DIAGNOSES, {"patients": patients})


def _ask_too_much(story: Story) -> None:
    _act("More than is left is refused, before any row is read")
    _code(f'clinic.sql("{LONG}", epsilon=1.5)')
    try:
        story.ask(LONG, epsilon=1.5)
    except BudgetExceeded as refusal:
        _lines(error_text(refusal).splitlines())


def _check_error_bars(story: Story) -> None:
    _act("Did the error bars hold? Here it can be known")
    bars = right = 0
    for exhibit in story.exhibits:
        for name, truths in exhibit.known.items():
            bars += len(truths)
            right += truth.count_bars_held(exhibit.answer, name, truths)
    _say(f"{right} of {bars} bars hold the exact answer, at 95 % confidence each.")


def _show_ledger(story: Story) -> None:
    _act("The ledger: what was spent, on what, and what is left")
    _lines(ledger_text(story.session.ledger).splitlines())
    for receipt in story.session.ledger.recent(SHOWN):
        _say(f"  entry {receipt.number}: {one_line(receipt.what, 80)} · {cost_words(receipt.cost)}")
    write(sys.stdout, "")


def _serve(folder: Path) -> None:
    _act("Others ask a service, and never hold the rows")
    if not service.is_installed():
        _say(f"Left out, as the service is an extra: {service.EXTRA}")
        return
    _code(f"discreet people add {service.ANALYST} --role analyst", "discreet serve --pg-port 5433", prompt="$")
    with Patience("starting the service"):
        answers = service.ask_service(folder)
    for asked in answers:
        _code(asked.way, prompt="$")
        _lines(asked.lines)
        write(sys.stdout, "")


def _column(answer: Answered, name: str) -> list[Value]:
    return [row[name] for row in answer.rows()]


def _yes(truth_of_it: bool) -> str:  # noqa: FBT001 - it is the answer
    return "yes" if truth_of_it else "no"


def _act(title: str) -> None:
    write(sys.stdout, f"\n── {title}\n")


def _code(*lines: str, prompt: str = "") -> None:
    for number, line in enumerate(lines):
        write(sys.stdout, f"   {prompt or ('...' if number else '>>>')} {line}")
    write(sys.stdout, "")


def _say(text: str) -> None:
    write(sys.stdout, f"   {text}")


def _lines(lines: Sequence[str]) -> None:
    for line in lines:
        _say(line)
