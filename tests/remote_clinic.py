"""The tables of the corpus of questions as a dataset, for tests of sessions without rows and of remote ones."""

import discreet
from sql_corpus import MATCHES, pairs
from sql_tables import sql_engine

TABLES = ("visits", "patients", "drugs")
#: One in so many of the corpus, and the place to begin with.
EVERY = 29


def opened_corpus(folder, *, budget=None, **changes):
    """Open the tables of the corpus with a few rows."""
    engine = sql_engine(60)
    frames = {name: engine.execute(f"SELECT * FROM {name}").to_arrow_table() for name in (*TABLES, "wards")}
    settings = {
        "person": {"visits": "patient_id", "patients": "patient_id", "drugs": "person"},
        "bounds": {
            "visits": {"age": (0, 110), "stay": (0, 60)},
            "patients": {"age": (0, 120)},
            "drugs": {"dose": (0, 100)},
        },
        "groups": {"visits": {"ward": ["A", "B", "C"]}, "patients": {"city": ["Bonn", "Köln"]}},
        "complete": {"visits": ["cost"]},
        "public": {"wards": frames["wards"]},
        "rows_per_person": 50,
        "limit": discreet.Limit(groups=2, rows_per_group=3),
        "ledger": folder / "corpus.ledger",
        "budget": budget or discreet.Budget(epsilon=10**6, delta=1e-6),
        "anchors": [],
    }
    return discreet.open({name: frames[name] for name in TABLES}, **{**settings, **changes})


def sampled_questions(every=EVERY, first=0):
    """Return accepted questions of the corpus, each with its options but for the price."""
    chosen = pairs("accepted")[first::every]
    return [(pair.question, {"matches": MATCHES} if pair.file == "matches" else {}) for pair in chosen]
