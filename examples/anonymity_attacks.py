"""Five attacks on tables that were anonymised as one used to, and the same questions under differential privacy.

A town that does not exist publishes who is ill. First without names, then 5-anonymous, then twice, then only as counts.
Each time an attacker with a little knowledge learns a secret. The maker of the town checks that what
is learned is true. After each attack the question that the table was published for is asked through a session: the
answer has an error, a price, and a bound on what any reader learns from it, for any prior knowledge.

    python examples/anonymity_attacks.py
"""

import os
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import discreet
from discreet.accounting import posterior
from discreet.anonymity import (
    Anonymised,
    Microdata,
    beliefs,
    homogeneous,
    in_both,
    k_of,
    link,
    mondrian,
    newcomers,
    reconstruct,
)
from discreet.core import BudgetExceeded

PEOPLE, K, EPSILON = 3_000, 5, 1
ILLNESSES = ["asthma", "cancer", "depression", "diabetes", "flu", "HIV"]
#: How common they are among those born before 1960, before 1990, and later.
SHARES = [
    [0.05, 0.2, 0.04, 0.6, 0.1, 0.01],
    [0.2, 0.08, 0.27, 0.1, 0.28, 0.07],
    [0.5, 0.01, 0.16, 0.02, 0.3, 0.01],
]
POSTCODES = ["13053", "13068", "14850", "14853", "14882", "14886"]
QUASI = ["born", "postcode", "sex"]
#: How many people the counts are about, and how many counts are asked for.
COUNTED, QUESTIONS = 120, 240


@dataclass(frozen=True, slots=True)
class Town:
    """The inhabitants and their illnesses. Secret, but for the register: names, days of birth, postcodes, sexes."""

    columns: dict[str, list[object]]

    @property
    def register(self) -> Microdata:
        """The public register, about the same people in the same order."""
        return Microdata.of({name: self.columns[name] for name in ("name", *QUASI)})

    @property
    def patients(self) -> Microdata:
        """The hospital's table, without the names."""
        return Microdata.of({name: self.columns[name] for name in (*QUASI, "illness")})

    def without(self, person: int) -> "Town":
        """Return the town before a newcomer moved there."""
        return Town({name: [*cells[:person], *cells[person + 1 :]] for name, cells in self.columns.items()})

    def known_of(self, person: int) -> dict[str, object]:
        """Return the register's entry of a person."""
        return {name: self.columns[name][person] for name in QUASI}


def generate(people: int = PEOPLE, seed: int = 11) -> Town:
    """Make a town up."""
    generator = np.random.default_rng(seed)
    days = np.datetime64("1935-01-01") + generator.integers(0, 80 * 365, people)
    generation = np.searchsorted(np.array(["1960-01-01", "1990-01-01"], dtype="datetime64[D]"), days)
    ill = [int(generator.choice(len(ILLNESSES), p=SHARES[one])) for one in generation]
    return Town(
        {
            "name": [f"Citizen {number}" for number in range(people)],
            "born": days.tolist(),
            "postcode": np.array(POSTCODES)[generator.integers(0, len(POSTCODES), people)].tolist(),
            "sex": np.array(["f", "m"])[generator.integers(0, 2, people)].tolist(),
            "illness": [ILLNESSES[one] for one in ill],
        }
    )


def opened(town: Town, folder: str, name: str, epsilon: float = EPSILON) -> discreet.Session:
    """Open the town's rows for private questions, each row being one person."""
    rows = {column: [str(cell) for cell in town.columns[column]] for column in ("postcode", "sex", "illness")}
    return discreet.open(
        pa.table({**rows, "number": list(range(len(rows["sex"])))}),
        table="patients",
        row=True,
        bounds={"number": (0, PEOPLE)},
        groups={"illness": ILLNESSES, "postcode": POSTCODES, "sex": ["f", "m"]},
        budget=discreet.Budget(epsilon=epsilon),
        ledger=str(Path(folder) / f"{name}.ledger"),
    )


def act(title: str) -> None:
    """Begin an act."""
    print(f"\n── {title}")


def learned(epsilon: float, prior: Fraction) -> str:
    """Print how far a belief about a person can move, for any other knowledge.

    That somebody has another illness is one row less and another one more: twice ε. A bound is rounded up.
    """
    most = ceil(100 * posterior(prior, epsilon=2 * epsilon))
    return f"a belief of {float(prior):.0%} can become at most {most}%"


def linking(town: Town, folder: str) -> Fraction:
    """Names are removed; days of birth, postcodes and sexes stay. All people are in the register."""
    act("Linking: a table without names, and a register with them")
    published = mondrian(town.patients, QUASI, k=1)
    found = link(published, town.register, "illness")
    truth = town.columns["illness"]
    if any(value not in (None, true) for value, true in zip(found.values, truth, strict=True)):
        raise SystemExit("The attack told something that is not so.")
    print(f"   {found.alone:,} of {found.people:,} people are alone with their day of birth, postcode and sex,")
    print(f"   and of {found.told:,} the illness is known by name.")
    print("   The same question under differential privacy: how many people have which illness?")
    print(_indented(opened(town, folder, "linking").sql(
        "SELECT illness, COUNT(*) AS n FROM patients GROUP BY illness", epsilon=EPSILON
    )))  # fmt: skip
    print(f"   There are no rows to link; {learned(EPSILON, Fraction(3, 100))}.")
    return Fraction(found.told, found.people)


def homogeneity(town: Town, folder: str) -> Fraction:
    """Five people look the same now; but they may share more than their looks."""
    act(f"Homogeneity: the table is {K}-anonymous")
    published = mondrian(town.patients, QUASI, k=K)
    share = homogeneous(published, "illness")
    found = link(published, town.register, "illness")
    person = next(place for place, value in enumerate(found.values) if value is not None)
    print(
        f"   Every class has at least {k_of(published)} people. {float(share):.1%} are in one in which all are alike:"
    )
    print(f"   {town.columns['name'][person]} has {found.values[person]}, and so has everybody who looks the same.")
    _check(town, person, {found.values[person]})
    area = town.columns["postcode"][person]
    question = f"SELECT illness, COUNT(*) AS n FROM patients WHERE postcode = '{area}' GROUP BY illness"  # noqa: S608
    print("   The same question under differential privacy: who has what in that postcode?")
    print(_indented(opened(town, folder, "homogeneity").sql(question, epsilon=EPSILON)))
    print("   A class in which all are alike is told with the same noise as any other.")
    return share


def background(town: Town, folder: str) -> Fraction:
    """Background knowledge: neighbours see who has asthma or diabetes, and the flu is over in a week."""
    act("Background knowledge: some illnesses would have been seen")
    published = mondrian(town.patients, QUASI, k=K)
    seen = {"asthma", "diabetes", "flu"}
    told = 0
    for person in range(len(town.columns["name"])):
        if town.columns["illness"][person] in seen:
            continue
        left = beliefs(published, town.known_of(person), "illness", excluded=seen)
        told += len(left) == 1
        _check(town, person, set(left))
    share = Fraction(told, len(town.columns["name"]))
    print(
        f"   Whoever knows that a neighbour has none of {', '.join(sorted(seen))} learns the illness of {told} people."
    )
    print("   The same question under differential privacy: how many have HIV, and how much would it tell a neighbour?")
    print(_indented(opened(town, folder, "background").sql(
        "SELECT COUNT(*) AS n FROM patients WHERE illness = 'HIV'", epsilon=EPSILON
    )))  # fmt: skip
    print(f"   What is known beforehand is part of the definition: {learned(EPSILON, Fraction(1, 2))}.")
    return share


def differencing(town: Town, folder: str) -> str:
    """Differencing: a newcomer arrives, and the table is published again. Each is 5-anonymous."""
    act("Differencing: the table is published again after somebody came")
    person = town.columns["illness"].index("HIV")
    before, after = (mondrian(one.patients, QUASI, k=K) for one in (town.without(person), town))
    came = newcomers(before, after, "illness")
    print(f"   Both tables are {K}-anonymous. What the second has and the first has not: {came}.")
    print(f"   {town.columns['name'][person]} is the only one who came: that is what they have.")
    _check(town, person, set(came))
    _elsewhere(town, after)
    print("   The same question under differential privacy, before and after, at half of ε each:")
    for when, rows in (("before", town.without(person)), ("after", town)):
        session = opened(rows, folder, f"differencing-{when}", EPSILON / 2)
        told = session.sql("SELECT COUNT(*) AS n FROM patients WHERE illness = 'HIV'", epsilon=EPSILON / 2)
        print(f"   {when:6}  {_indented(told).strip().splitlines()[-2].strip()}")
    print(f"   The difference has more noise than the newcomer; both together: {learned(EPSILON, Fraction(3, 100))}.")
    return str(next(iter(came)))


def reconstruction(town: Town, folder: str) -> tuple[float, float]:
    """No table at all: only counts, of how many in a group have one of two illnesses; but many, and exact."""
    act("Reconstruction: only counts are published, but many, and exact")
    generator = np.random.default_rng(3)
    secret = np.array([illness in ("cancer", "HIV", "depression") for illness in town.columns["illness"][:COUNTED]])
    asked = generator.random((QUESTIONS, COUNTED)) < 1 / 2
    exact = float(np.mean(reconstruct(asked, asked @ secret.astype(np.int64)) == secret))
    print(f"   {QUESTIONS} exact counts about groups of {COUNTED} people: {exact:.0%} of their secrets are told.")
    answers = _asked_privately(town, folder, asked)
    private = float(np.mean(reconstruct(asked[: len(answers)], answers) == secret))
    print("   The same questions under differential privacy, as long as the ledger pays:")
    print(f"   {len(answers)} are answered, the next is refused; of the secrets {private:.0%} are guessed,")
    print(f"   where guessing without any answer gets {max(secret.mean(), 1 - secret.mean()):.0%}.")
    return exact, private


def _asked_privately(town: Town, folder: str, asked: NDArray[np.bool_]) -> list[float]:
    session = opened(town, folder, "reconstruction")
    answers: list[float] = []
    for group in asked:
        people = ", ".join(map(str, np.flatnonzero(group)))
        secrets = "illness IN ('cancer', 'HIV', 'depression')"
        question = f"SELECT COUNT(*) AS n FROM patients WHERE number IN ({people}) AND {secrets}"  # noqa: S608
        try:
            told = session.sql(question, epsilon=0.01)
        except BudgetExceeded:
            break
        answers.append(float(told.rows()[0]["n"]))
    return answers


def _elsewhere(town: Town, published: Anonymised) -> None:
    """Show that two tables tell more than either: an insurer publishes the same people, by age and postcode."""
    other = mondrian(town.patients, ["born", "postcode"], k=K)
    looked_up = range(0, len(town.columns["name"]), 10)
    told = dict.fromkeys(("hospital", "insurer", "both"), 0)
    for person in looked_up:
        known = town.known_of(person)
        one = set(beliefs(published, known, "illness"))
        two = set(beliefs(other, {name: known[name] for name in other.quasi}, "illness"))
        left = set(in_both(published, other, known, "illness"))
        _check(town, person, left)
        for name, possible in zip(told, (one, two, left), strict=True):
            told[name] += len(possible) == 1
    people = len(looked_up)
    print(
        f"   An insurer publishes the same people, {K}-anonymous by birth and postcode. Of {people} who are looked up,"
    )
    hospital, insurer, both = told.values()
    print(f"   the hospital's table tells {hospital}, the insurer's {insurer}, and both together {both}.")


def _check(town: Town, person: int, possible: set[object]) -> None:
    """Stop the story if an attack did not tell the truth."""
    if town.columns["illness"][person] not in possible:
        raise SystemExit("The attack told something that is not so.")


def _indented(answer: object) -> str:
    return "\n".join(f"      {line}" for line in str(answer).splitlines())


def main() -> None:
    """Tell the story."""
    town = generate()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("DISCREET_STATE", folder)
        for attack in (linking, homogeneity, background, differencing, reconstruction):
            attack(town, folder)


if __name__ == "__main__":
    main()
