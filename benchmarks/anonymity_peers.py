"""What pycanon and anjana say of a table, and how long they take: run by `anonymity.py` in their own environment.

Takes a folder that `anonymity.py` wrote and a way, and prints one JSON object.
"""

import json
import sys
import time
from pathlib import Path

import pandas as pd


def timed(work):
    start = time.process_time()
    answer = work()
    return answer, time.process_time() - start


def checks(folder, task):
    """Every measure of pycanon on the table."""
    import pycanon.anonymity as pycanon

    table = pd.read_csv(folder / "table.csv", dtype=dict.fromkeys(task["quasi"], str))
    quasi, text, number = task["quasi"], [task["text"]], [task["number"]]
    found = {
        "k": timed(lambda: pycanon.k_anonymity(table, quasi)),
        "distinct l": timed(lambda: pycanon.l_diversity(table, quasi, text)),
        "entropy l": timed(lambda: pycanon.entropy_l_diversity(table, quasi, text)),
        "recursive c": timed(lambda: pycanon.recursive_c_l_diversity(table, quasi, text)[0]),
        "α": timed(lambda: pycanon.alpha_k_anonymity(table, quasi, text)[0]),
        "t": timed(lambda: pycanon.t_closeness(table, quasi, text)),
        "t, ordered": timed(lambda: pycanon.t_closeness(table, quasi, number)),
    }
    return {name: (float(value), seconds) for name, (value, seconds) in found.items()}


def makes(folder, task):
    """Make the rows k-anonymous with anjana: one level for each column, found step by step."""
    import anjana.anonymity as anjana

    rows = pd.read_csv(folder / "rows.csv", dtype=str)
    trees = {
        name: {level: pd.Series(labels) for level, labels in enumerate(levels)}
        for name, levels in task["trees"].items()
    }
    made, seconds = timed(
        lambda: anjana.k_anonymity(rows, [], list(task["quasi"]), task["k"], 100 * task["suppress"], trees)
    )
    made[task["quasi"]].to_csv(folder / "anjana.csv", index=False)
    return {"rows": len(made), "seconds": seconds}


if __name__ == "__main__":
    place = Path(sys.argv[1])
    job = json.loads((place / "task.json").read_text(encoding="utf-8"))
    answer = {"checks": checks, "makes": makes}[sys.argv[2]](place, job)
    print("answer " + json.dumps(answer))
