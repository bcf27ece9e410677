"""A year of daily questions to a clinic that does not exist: one account for all, or an account for each person.

Every day two counts are asked for: last month's visits to one of the wards, and who was seen last week. With one
account everybody pays for every question as much as the worst patient would, and after a few days nothing is left. With
personal accounts only those pay who have been there, and as much as they add; the noise is the same. Who has been there
too often leaves the later answers. So the answers go on, but they are about those who are left: the picture shows how
far that is from the truth, which only the maker of the clinic can know.

The accounts are kept here in a few lines, to be read. The real ones are the gate's.
"""

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from discreet.accounting import calibrate_concentrated
from discreet.core import Bounds, bounded_sum
from discreet.mechanisms import Gaussian

PEOPLE, DAYS = 40_000, 365
EPSILON, DELTA = 2, 1e-9
WARDS = ["Surgery", "Medicine", "Children", "Eyes", "Heart", "Dialysis"]
#: The standard deviation of the noise of every answer, and how many visits of one patient count.
SIGMA, MOST = 40, 4


@dataclass(frozen=True, slots=True)
class Clinic:
    """All visits of a year and of the month before it, in the order of patients and days. Secret."""

    people: int
    patient: NDArray[np.int64]
    day: NDArray[np.int64]
    ward: NDArray[np.int64]

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


class Accounts:
    """What each person has spent, in whole quanta of ρ: the limit is rounded down, every charge is rounded up."""

    def __init__(self, people: int, rho: Fraction) -> None:
        self.quantum = Fraction(2) ** (math.floor(math.log2(rho)) - 30)
        self.limit = math.floor(rho / self.quantum)
        self.spent = np.zeros(people, np.int64)

    def take_part(self, adds: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Charge x²/2σ² to all who add x and can pay it, and return who takes part. Nobody's part hangs on others."""
        once = [math.ceil(Fraction(x * x, 2 * SIGMA**2) / self.quantum) for x in range(MOST + 1)]
        charges = np.array(once)[adds]
        part: NDArray[np.bool_] = (adds > 0) & (self.spent + charges <= self.limit)
        self.spent[part] += charges[part]
        return part


@dataclass(frozen=True, slots=True)
class Year:
    """What was asked, day by day. All but the answers is secret."""

    wards: list[tuple[int, int, int, int, int]]  # day, ward, truth, among those who take part, private answer
    left: list[float]  # the share of patients with visits who could not pay for something by that day
    days_for_all: int  # how long one account for all lasts
    asked: int


def year(clinic: Clinic, days: int) -> Year:
    """Ask two questions every day."""
    rho = Fraction(calibrate_concentrated(EPSILON, DELTA))
    accounts = Accounts(clinic.people, rho)
    mechanisms = [Gaussian(variance=SIGMA**2, sensitivity=bounded_sum(Bounds(0, most, step=1))) for most in (MOST, 1)]
    worst_day = Fraction(MOST**2 + 1, 2 * SIGMA**2)  # what one account for all pays for both questions
    wards, left, out = [], [], np.zeros(clinic.people, bool)
    patients = len(np.unique(clinic.patient))
    for day in range(days):
        ward = day % len(WARDS)
        questions = clinic.visits(ward, day - 29, day), clinic.seen(day - 6, day)
        for place, (adds, mechanism) in enumerate(zip(questions, mechanisms, strict=True)):
            part = accounts.take_part(adds)
            out |= (adds > 0) & ~part
            among = int(adds[part].sum())
            private = mechanism.perturb(among)
            if place == 0:
                wards.append((day, ward, int(adds.sum()), among, private))
        left.append(float(out.sum()) / patients)
    return Year(wards, left, math.floor(rho / worst_day), 2 * days)


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
    """Write the picture to the path given, or beside the caller; `--short` is a small clinic for a month."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--short"]
    people, days = (4_000, 36) if "--short" in sys.argv else (PEOPLE, DAYS)
    path = Path(arguments[0] if arguments else "personal-year.png")
    found = year(generate(people, days), days)
    report(found, people)
    draw(found, path)
    print(f"\nwrote {path}")


if __name__ == "__main__":
    main()
