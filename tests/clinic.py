"""A small clinic for tests of sessions: 60 visits by 20 patients, with values that must never be seen outside."""

import csv
from pathlib import Path

import discreet

#: Planted in rows: in a group that is rare, in an id, in a text and in a number.
CANARIES = ("canaryward", "canarypatient", "canarynote", "48151623")
BOUNDS = {"stay": (0, 60), "age": (0, 110)}
GROUPS = {"ward": ["A", "B", "C"]}
COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward"
HEAD = ("patient_id", "ward", "stay", "age", "admitted", "note", "cost")
KINDS = dict(zip(HEAD, ("text", "text", "integer", "integer", "date", "text", "real"), strict=True))


def rows():
    """Return the visits, canaries last."""
    found = [
        (
            f"p{number % 20:02d}",
            "ABC"[number % 3],
            number % 30,
            20 + number % 60,
            f"2024-{1 + number % 12:02d}-{1 + number % 28:02d}",
            "plain",
            100.5 + number,
        )
        for number in range(60)
    ]
    return [*found, ("canarypatient", "canaryward", 48151623, 48151623, "2024-02-29", "canarynote", 48151623.0)]


def write_visits(folder, name="visits.csv"):
    """Write the visits and return the path."""
    path = Path(folder) / name
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        writer.writerows(rows())
    return path


def opened(folder, **changes):
    """Open the visits as most tests do."""
    path = Path(folder) / "visits.csv"
    if not path.exists():
        write_visits(folder)
    settings = {
        "person": "patient_id",
        "bounds": BOUNDS,
        "groups": GROUPS,
        "kinds": KINDS,
        "budget": discreet.Budget(epsilon=3, delta=1e-9),
        "limit": discreet.Limit(groups=3, rows_per_group=5),
        "anchors": [],
    }
    return discreet.open(path, **{**settings, **changes})


def seen(text):
    """Return the canaries in a text."""
    return [canary for canary in CANARIES if canary in text]
