"""Daily questions to a clinic that does not exist: one account for all, or an account for each person.

Every day two counts are asked for: last month's visits to one of the wards, and who was seen last week. With one
account all patients pay for every question as much as the worst one would, and after a few days nothing is left. With
personal accounts only patients who have been there pay, for their own contribution; the noise is the same. Patients
with too many visits leave the later answers. So the answers go on, but they are about those who are left: the picture
shows how far that is from the truth, which only the maker of the clinic can know.

The maker also knows the payments of all patients, and adds them up beside the ledger, in a few lines. If an account
differs, goes beyond its limit, or an answer is about others than those who could pay, the example ends with an error.

    python examples/personal_year.py            a small clinic for two months: a few seconds
    python examples/personal_year.py --year     40,000 patients for a year: about half a minute
"""

import sys
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from pathlib import Path

import numpy as np
import pyarrow as pa
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import discreet
from discreet.core import BudgetExceeded

SMALL, LARGE = (2_000, 54), (40_000, 365)  # patients, days
EPSILON, DELTA = 2, 1e-9
WARDS = ["Surgery", "Medicine", "Children", "Eyes", "Heart", "Dialysis"]
#: The standard deviation of the noise of every answer, and how many visits of one patient count.
SIGMA, MOST = 40, 4
#: An answer is further off than so many σ once in 10¹¹ times.
SURELY = 7


@dataclass(frozen=True, slots=True)
class Clinic:
    """All visits of a year and of the month before it, in the order of patients and days. Secret."""

    people: int
    patient: NDArray[np.int64]
    day: NDArray[np.int64]
    ward: NDArray[np.int64]

    def table(self) -> pa.Table:
        """Return the rows, as the steward has them."""
        return pa.table({"patient": self.patient, "day": self.day, "ward": np.array(WARDS)[self.ward].tolist()})

    def visits(self, ward: int, first: int, last: int) -> NDArray[np.int64]:
        """Return how many visits to a ward each patient adds, at most four: a patient's own rows alone decide."""
        rows = (self.ward == ward) & (self.day >= first) & (self.day <= last)
        return np.minimum(np.bincount(self.patient[rows], minlength=self.people), MOST)

    def seen(self, first: int, last: int) -> NDArray[np.int64]:
        """Return 1 for each patient who was there at all."""
        rows = (self.day >= first) & (self.day <= last)
        return np.minimum(np.bincount(self.patient[rows], minlength=self.people), 1)


def generate(people: int, days: int, seed: int = 7) -> Clinic:
    """Make a clinic up: most come now and then, one in a hundred comes for dialysis twice a week."""
    generator = np.random.default_rng(seed)
    now_and_then = generator.poisson(generator.gamma(0.8, 3.0, people) * (days + 30) / 365)
    often = np.flatnonzero(generator.random(people) < 0.01)
    rounds = np.arange(-30, days, 3.5).astype(np.int64)
    patient = np.concatenate([np.repeat(np.arange(people), now_and_then), np.repeat(often, len(rounds))])
    day = np.concatenate([generator.integers(-30, days, now_and_then.sum()), np.tile(rounds, len(often))])
    share = np.array([0.22, 0.27, 0.18, 0.16, 0.16, 0.01])
    ward = np.concatenate(
        [generator.choice(len(WARDS), now_and_then.sum(), p=share), np.full(len(often) * len(rounds), len(WARDS) - 1)]
    )
    order = np.lexsort((day, patient))
    return Clinic(people, patient[order], day[order], ward[order])


def opened(clinic: Clinic, folder: str | Path, per: str) -> discreet.Session:
    """Open the clinic with a ledger of its own."""
    return discreet.open(
        clinic.table(),
        table="visits",
        person="patient",
        budget=discreet.Budget(epsilon=EPSILON, delta=DELTA, per=per),
        limit=discreet.Limit(rows_per_group=MOST),
        ledger=Path(folder) / f"{per}.ledger",
    )


def ask(session: discreet.Session, day: int) -> tuple[int, int]:
    """Ask both questions of a day, each for the ρ that noise of σ costs the patient who adds most."""
    ward = WARDS[day % len(WARDS)]
    visits = session.sql(
        f"SELECT COUNT(*) AS n FROM visits WHERE ward = '{ward}' AND day BETWEEN {day - 29} AND {day}",  # noqa: S608
        rho=Fraction(MOST**2, 2 * SIGMA**2),
    )
    seen = session.sql(
        f"SELECT COUNT(DISTINCT patient) AS n FROM visits WHERE day BETWEEN {day - 6} AND {day}",  # noqa: S608
        rho=Fraction(1, 2 * SIGMA**2),
        limit=discreet.Limit(),
    )
    return visits.rows()[0]["n"], seen.rows()[0]["n"]


class Reckoning:
    """The knowledge of the clinic's maker: all payments, in units of 1/2σ². A patient who adds x pays x² of them."""

    def __init__(self, clinic: Clinic, limit: Fraction) -> None:
        self.limit = limit
        self.room = floor(limit * 2 * SIGMA**2)
        self.patients = np.unique(clinic.patient)
        self.paid = np.zeros(clinic.people, np.int64)
        self.out = np.zeros(clinic.people, bool)

    def take_part(self, adds: NDArray[np.int64]) -> int:
        """Charge all who can pay, and return what they add. No patient's part depends on others."""
        part = (adds > 0) & (self.paid + adds**2 <= self.room)
        self.paid[part] += adds[part] ** 2
        self.out |= (adds > 0) & ~part
        return int(adds[part].sum())

    def left(self) -> float:
        """Return the share of patients who could not pay for something by now."""
        return float(self.out.sum()) / len(self.patients)

    def check(self, ledger: discreet.Ledger, asked: int) -> None:
        """Hold the ledger to it: all accounts by twentieths of the limit, and those who paid most to the letter."""
        paid = self.paid[self.patients]
        parts = np.array([floor(Fraction(int(one), 2 * SIGMA**2) / self.limit * 20) for one in paid])
        expected = tuple(np.bincount(parts, minlength=21).tolist())
        need(ledger.distribution().counts == expected, "An account is not what it must be")
        for patient in self.patients[np.argsort(-paid, kind="stable")[:3]]:
            spent, exactly = ledger.statement(int(patient)).spent, Fraction(int(self.paid[patient]), 2 * SIGMA**2)
            need(exactly <= spent <= self.limit, "Somebody paid less than was taken, or more than the limit")
            need(spent <= exactly + asked * self.limit / 10**9, "Somebody paid more than was taken")
        need(ledger.verify().sound, "The ledger contradicts itself")


def need(holds: object, otherwise: str) -> None:
    """End with an error if a promise is broken."""
    if not holds:
        raise SystemExit(f"{otherwise}: a promise is broken.")


@dataclass(frozen=True, slots=True)
class Year:
    """What was asked, day by day. All but the answers is secret."""

    wards: list[tuple[int, int, int, int, int]]  # day, ward, truth, among those who take part, private answer
    left: list[float]  # the share of patients with visits who could not pay for something by that day
    days_for_all: int  # how long one account for all lasts
    asked: int


def year(clinic: Clinic, days: int, folder: str | Path) -> Year:
    """Ask two questions every day of each kind of account, for as long as it lasts."""
    wards, left = [], []
    with opened(clinic, folder, "person") as session:
        ledger = session.ledger
        reckoning = Reckoning(clinic, ledger.statement(int(clinic.patient[0])).limit)
        for day in range(days):
            ward = day % len(WARDS)
            questions = clinic.visits(ward, day - 29, day), clinic.seen(day - 6, day)
            among = [reckoning.take_part(adds) for adds in questions]
            answers = ask(session, day)
            for exact, answer in zip(among, answers, strict=True):
                need(abs(answer - exact) <= SURELY * SIGMA, "An answer is not about those who could pay")
            wards.append((day, ward, int(questions[0].sum()), among[0], answers[0]))
            left.append(reckoning.left())
        reckoning.check(ledger, 2 * days)
    return Year(wards, left, days_for_all(clinic, days, folder), 2 * days)


def days_for_all(clinic: Clinic, days: int, folder: str | Path) -> int:
    """Return for how many days one account for all can be asked the same."""
    with opened(clinic, folder, "dataset") as session:
        for day in range(days):
            try:
                ask(session, day)
            except BudgetExceeded:
                return day
    return days


def draw(found: Year, path: Path) -> None:
    """Write the picture: how long each kind of account lasts, and how two wards look to those who ask."""
    figure = Figure(figsize=(11, 3.8), layout="constrained")
    first, second, third = figure.subplots(1, 3)
    days = np.arange(1, len(found.left) + 1)
    first.plot(days, 2 * days, color="#2e4053", label="personal accounts")
    first.plot(days, np.minimum(2 * days, 2 * found.days_for_all), color="#b03a2e", label="one account for all")
    first.set(title="Questions answered", xlabel="day")
    share = first.twinx()
    share.plot(days, 100 * np.array(found.left), color="#7f8c8d", ls=":", label="% of patients left out of something")
    share.set_ylim(0, 20)
    lines = [*first.get_lines(), *share.get_lines()]
    first.legend(lines, [str(line.get_label()) for line in lines], frameon=False, fontsize=8, loc="upper left")
    _ward(second, found, WARDS.index("Surgery"))
    _ward(third, found, WARDS.index("Dialysis"))
    figure.savefig(path, dpi=130)


def _ward(axes: Axes, found: Year, ward: int) -> None:
    day, _, truth, among, private = np.array([row for row in found.wards if row[1] == ward]).T
    axes.plot(day, truth, color="#2e4053", label="truth, four visits each")
    axes.plot(day, among, color="#b03a2e", label="among those left")
    error = 1.96 * SIGMA
    axes.errorbar(day, private, error, fmt=".", color="#9db8d2", lw=0.8, ms=4, label="answers, ± 95 %")
    axes.set(title=f"{WARDS[ward]}: visits of the last 30 days", xlabel="day")
    axes.set_ylim(bottom=0)
    axes.legend(frameon=False, fontsize=8, loc="center right")


def report(found: Year, people: int) -> None:
    """Say how much longer personal accounts last, and what for."""
    print(
        f"{people:,} patients; ε = {EPSILON} at δ = {DELTA:g} for each of them; noise of σ = {SIGMA} in every answer.\n"
    )
    print(f"  one account for all   {2 * found.days_for_all:>4} questions, until day {found.days_for_all}")
    print(
        f"  personal accounts     {found.asked:>4} questions, and {found.left[-1]:.1%} of the patients left on the way"
    )
    print(f"\nOff by those who left, in answers with a bar of ±{1.96 * SIGMA:.0f}:")
    for ward, name in enumerate(WARDS):
        rows = [row for row in found.wards if row[1] == ward]
        last = rows[-1]
        beyond = next((row[0] for row in rows if row[2] - row[3] > 1.96 * SIGMA), None)
        when = "never in this time" if beyond is None else f"first on day {beyond}"
        print(f"  {name:<9} truth {last[2]:>5,}, among those left {last[3]:>5,}; more than the bar {when}")


def main() -> None:
    """Write the picture to the path given, or beside the caller."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--year"]
    people, days = LARGE if "--year" in sys.argv else SMALL
    path = Path(arguments[0] if arguments else "personal-year.png")
    with tempfile.TemporaryDirectory() as folder:
        found = year(generate(people, days), days, folder)
    report(found, people)
    draw(found, path)
    print(f"\nwrote {path}")


if __name__ == "__main__":
    main()
