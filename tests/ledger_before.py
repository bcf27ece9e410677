"""Ledgers that were written before canonical texts became independent of names in the code, and what was asked.

`golden/ledger_before` holds them with the rows of a clinic that does not exist. They were written once, by
`python tests/ledger_before.py`, and are never written anew: what they hold must be handed out for nothing by every
later release. A ledger that a later release has to read goes into another folder.
"""

import json
import shutil
import tempfile
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import discreet
from discreet import Budget, Limit
from discreet.core import PrivacyUnit
from discreet.gate import Gate, Ledger, Release
from discreet.gate.plans import plan_digest
from discreet.learn import FinitePlan, Thresholds
from discreet.learn.descent import ClassifiedRows, DescentPlan
from discreet.learn.features import Features
from discreet.learn.finite import Labelled
from discreet.market import Auction, PostedPrices, PriceGrid
from discreet.query import read_sql
from discreet.query.planning.planning import plan_question
from discreet.query.planning.plans import QueryPlan
from discreet.query.planning.spending import Epsilon, PlanningContext

FOLDER = Path(__file__).parent / "golden" / "ledger_before"
LEDGERS = ("dataset.ledger", "persons.ledger")
START = date(2024, 1, 1)
COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward"
QUESTIONS = {
    "count": COUNT,
    "by ward": BY_WARD,
    "private groups": "SELECT city, SUM(stay) AS s FROM visits WHERE age >= 30 GROUP BY city",
    "median": "SELECT MEDIAN(age) AS m, MAX(stay) AS longest FROM visits",
    "spread": "SELECT STDDEV(stay) AS s, COUNT(DISTINCT ward) AS wards FROM visits "
    "WHERE ward LIKE 'A%' OR age IN (3, 4)",
    "per person": "SELECT AVG(CLAMP(n, 0, 9)) AS a FROM (SELECT who, COUNT(*) AS n FROM visits GROUP BY who) t",
    "joined": "SELECT sex, SUM(stay) AS s FROM visits v JOIN patients p ON v.who = p.who GROUP BY sex",
}
#: One row of each person counts, of up to five: whose rows these are depends on the plan's salt.
SALTED = "SELECT ward, SUM(stay) AS s FROM visits GROUP BY ward"
PATHS = [("A", True), ("A", False), ("B", True), ("B", False)]
BIDS = [0.9, 0.5, 0.5, 0.1]


def write_rows(folder: Path) -> None:
    """Write the rows: person n has n % 5 + 1 visits."""
    visits = [
        f"{n},{'AB'[n % 2]},c{n % 3},{n % 90},{(7 * n + 3 * k) % 50 / 2},{'true' if (n + k) % 2 else 'false'},"
        f"{START + timedelta(days=(n + 3 * k) % 20)}"
        for n in range(120)
        for k in range(n % 5 + 1)
    ]
    (folder / "visits.csv").write_text("\n".join(["who,ward,city,age,stay,ok,day", *visits]) + "\n")
    patients = [f"{n},{'fm'[n % 2]},{20 + n}" for n in range(120)]
    (folder / "patients.csv").write_text("\n".join(["who,sex,weight", *patients]) + "\n")


def open_clinic(folder: Path, ledger: str, budget: Budget | None = None, limit: Limit | None = None) -> Any:
    """Open the rows with one of the ledgers."""
    return discreet.open(
        {"visits": folder / "visits.csv", "patients": folder / "patients.csv"},
        person="who",
        kinds={
            "visits": {"who": "integer", "ok": "boolean", "day": "date"},
            "patients": {"who": "integer", "weight": "integer"},
        },
        bounds={"visits": {"age": (0, 110), "stay": (0, 60)}},
        groups={"visits": {"ward": ["A", "B"], "ok": [True, False]}, "patients": {"sex": ["f", "m"]}},
        budget=budget,
        ledger=folder / ledger,
        limit=limit,
        anchors=[],
    )


def ask_everything(folder: Path, budget: Budget | None = None) -> dict[str, bool]:
    """Ask for every kind of plan, and return what was not stored yet."""
    limit = Limit(groups=1, rows_per_group=2)
    with open_clinic(folder, "dataset.ledger", budget, limit) as clinic:
        found = {name: clinic.sql(text, epsilon=1).fresh for name, text in QUESTIONS.items()}
        found["in rho"] = clinic.sql(BY_WARD, rho=0.1).fresh
        found["frame"] = clinic.table("visits").filter("age >= 40").agg(n=discreet.count()).release(epsilon=1).fresh
        found["batch"] = clinic.batch([COUNT, BY_WARD], rho=0.1).fresh
        found["hierarchy"] = clinic.hierarchy(["ward", "ok"], PATHS, table="visits", epsilon=1).fresh
        payments = clinic.ledger.state.payments
        clinic.counter("day", start=START, steps=8, table="visits", epsilon=1).refresh(START + timedelta(days=6))
        clinic.buy_bounds("weight", epsilon=1)
        found["counter, bounds"] = clinic.ledger.state.payments > payments
        found |= {name: one.fresh for name, one in released(clinic.ledger).items()}
    with open_clinic(folder, "dataset.ledger") as clinic:
        found["chosen limit"] = clinic.sql(BY_WARD, epsilon=1).fresh
    return found


def released(ledger: Ledger) -> dict[str, Release]:
    """Release models and prices through a gate."""
    values, labels = np.linspace(-1, 1, 40).reshape(20, 2), np.arange(20) % 2
    box = Features((-1, 1), 2, centred=True)
    descent = DescentPlan(
        features=box,
        classes=2,
        rho=Fraction(1, 10),
        clip=Fraction(1),
        steps=3,
        rate=0.5,
        momentum=0.9,
        rows=None,
    )
    finite = FinitePlan(hypotheses=Thresholds([0.0, 0.5]), epsilon=Fraction(1, 2))
    grid = PriceGrid(4)
    return {
        "model": Gate(ledger, ClassifiedRows(values, labels)).release(descent),
        "finite class": Gate(ledger, Labelled(values, labels > 0)).release(finite),
        "auction": Gate(ledger, BIDS).release(Auction(grid=grid, epsilon=Fraction(1, 2))),
        "posted price": Gate(ledger, [BIDS]).advance(PostedPrices(grid=grid, rounds=3, epsilon=Fraction(1, 9)), 0),
    }


def ask_persons(folder: Path, budget: Budget | None = None) -> dict[str, bool]:
    """Ask with an account for each person, and return what was not stored yet."""
    with open_clinic(folder, "persons.ledger", budget, Limit(groups=1, rows_per_group=2)) as clinic:
        payments = clinic.ledger.state.payments
        clinic.participation(COUNT, rho=0.1, price=0.05, fresh=False)
        return {
            "participation": clinic.ledger.state.payments > payments,
            "by ward": clinic.sql(BY_WARD, rho=0.1).fresh,
            "batch": clinic.batch([COUNT, BY_WARD], rho=0.1).fresh,
        }


def salted_plan(clinic: Any) -> QueryPlan:
    """Return a plan under which each person has one row."""
    schema = clinic._context.known["visits"]
    facts = PlanningContext(schema=schema, limit=Limit(groups=1, rows_per_group=1))
    return plan_question(read_sql(SALTED, {"visits": schema}), facts, Epsilon(1))


def rows_chosen(folder: Path) -> dict[str, Any]:
    """Return a plan's digest, its salt, and the exact sums of the rows that it chooses."""
    with open_clinic(folder, "dataset.ledger") as clinic:
        plan = salted_plan(clinic)
        aggregation = plan._aggregation(plan.limit, tuple(plan.aggregates()))
        exact = clinic._gate._data.aggregate(aggregation)
    return {"digest": plan_digest(plan), "salt": plan.salt, "sums": [one.tolist() for one in exact.answers]}


def heads(folder: Path) -> dict[str, Any]:
    """Return how many entries each ledger has, and the hash of the last one."""
    found = {}
    for name in LEDGERS:
        with Ledger.open(folder / name, anchors=[]) as ledger:
            found[name] = [ledger.state.number, ledger.state.payments, ledger.state.head.hex()]
    return found


def write_fixture() -> None:
    """Write the folder, once."""
    if FOLDER.exists():
        raise SystemExit(f"{FOLDER} is there, and stays as it is")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_rows(folder)
        unit = PrivacyUnit(column="who")
        assert all(ask_everything(folder, Budget(60, 1e-5, unit=unit)).values())
        assert all(ask_persons(folder, Budget(rho=3, unit=unit, per="person")).values())
        (folder / "facts.json").write_text(
            json.dumps({"rows": rows_chosen(folder), "heads": heads(folder)}, indent=1) + "\n"
        )
        FOLDER.mkdir(parents=True)
        for name in ("visits.csv", "patients.csv", *LEDGERS, "facts.json"):
            shutil.copy(folder / name, FOLDER / name)


if __name__ == "__main__":
    write_fixture()
