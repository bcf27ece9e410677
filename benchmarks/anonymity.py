"""k-anonymity on Adult and on a million rows: ours, and what pycanon and anjana say in an environment of their own.

Adult is read from a folder that is not part of the project (`--adult`): adult.data.gz and hierarchies/. Without it the
same is run on made-up rows of the same shape, and the bars that name Adult are not measured.
"""

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from measure import Bar, Report, Table, finish, publish, ratio, say
from peers_venv import FOLDER, python_of

from discreet.anonymity import (
    Closeness,
    DistinctDiversity,
    Hierarchy,
    Keep,
    Microdata,
    Pseudonym,
    PseudonymKey,
    Recoding,
    deidentify,
    diversity_of,
    find_identifying,
    full_domain,
    information_lost,
    k_of,
    mondrian,
    prosecutor_risk,
    read_hierarchy,
    recursive_c,
)

#: The quasi-identifiers of Adult, and where they stand in a line; the sensitive columns, a text and a number.
QUASI = {
    "age": 0, "workclass": 1, "education": 3, "marital-status": 5, "occupation": 6, "race": 8, "sex": 9,
    "native-country": 13,
}  # fmt: skip
TEXT, NUMBER = ("salary", 14), ("hours", 12)
ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
MILLION = 10**6
ROUNDS = 5
TERMS = (
    "Processor time, best of several. Adult's training file without the rows that lack a value: 30,162 rows, eight "
    "quasi-identifiers (age is measured, the others are sets; hierarchies are used where labels are published). The "
    "penalty is the normalised certainty penalty as `docs/anonymity.md` defines it."
)


def adult(folder: Path) -> Microdata | None:
    if not (folder / "adult.data.gz").exists():
        return None
    with gzip.open(folder / "adult.data.gz", "rt") as file:
        lines = [line.strip().split(", ") for line in file if line.strip() and "?" not in line]
    places = {**QUASI, TEXT[0]: TEXT[1], NUMBER[0]: NUMBER[1]}
    columns = {name: [line[place] for line in lines] for name, place in places.items()}
    columns |= {name: [int(cell) for cell in columns[name]] for name in ("age", NUMBER[0])}
    trees = {name: read_hierarchy(folder / "hierarchies" / f"adult_hierarchy_{name}.csv") for name in QUASI}
    return Microdata.of(columns, hierarchies=trees)


def made_up(rows: int, seed: int = 1) -> Microdata:
    """Rows of Adult's shape: as many values, skewed alike, and ages with months, so that a million are not few."""
    rng = np.random.default_rng(seed)
    sizes = {"workclass": 7, "education": 16, "marital-status": 7, "occupation": 14, "race": 5, "sex": 2}
    columns = {"age": rng.integers(17 * 12, 90 * 12, rows)}
    for name, size in {**sizes, "native-country": 41}.items():
        shares = 1 / np.arange(1, size + 1) ** 1.5
        columns[name] = np.array([f"{name} {i:02}" for i in range(size)])[
            rng.choice(size, rows, p=shares / shares.sum())
        ]
    columns[TEXT[0]] = np.array(["high", "low"])[rng.integers(0, 2, rows)]
    columns[NUMBER[0]] = rng.integers(1, 99, rows)
    trees = {
        name: Hierarchy.flat(np.unique(cells)) for name, cells in columns.items() if name in QUASI and name != "age"
    }
    trees["age"] = Hierarchy.intervals(17 * 12, 90 * 12, widths=(12, 60, 120, 240))
    return Microdata.of(columns, hierarchies=trees)


def timed(work, rounds=ROUNDS):
    """Return the last answer and the best time."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        answer = work()
        times.append(time.process_time() - start)
    return answer, min(times)


def ways(table: Microdata):
    quasi = list(QUASI)
    yield from ((f"Mondrian, strict, k = {k}", k, partial(mondrian, table, quasi, k=k)) for k in (5, 10))
    yield "Mondrian, relaxed, k = 5", 5, partial(mondrian, table, quasi, k=5, relaxed=True)
    yield "Mondrian, labels, k = 5", 5, partial(mondrian, table, quasi, k=5, recoding=Recoding.ANCESTORS)
    diverse = [DistinctDiversity(of=TEXT[0], l=2)]
    yield "Mondrian, k = 5, l = 2", 5, partial(mondrian, table, quasi, k=5, requirements=diverse)
    close = [Closeness(of=NUMBER[0], t=0.25, ordered=True)]
    yield "Mondrian, k = 5, t = 0.25", 5, partial(mondrian, table, quasi, k=5, requirements=close)
    yield "full-domain, k = 5", 5, partial(full_domain, table, quasi, k=5)
    yield "full-domain, k = 5, 2 % suppressed", 5, partial(full_domain, table, quasi, k=5, suppress=0.02)


def making(table: Microdata) -> tuple[Table, dict[str, tuple[float, float]]]:
    rows, figures = [], {}
    for name, k, work in ways(table):
        made, seconds = timed(work)
        lost = information_lost(made, k=k)
        rows.append((name, seconds, float(made.classes.count), lost.penalty, float(lost.suppressed), lost.entropy))
        figures[name] = (seconds, lost.penalty)
    columns = ("way", "s", "classes", "penalty", "suppressed", "entropy lost")
    return Table(title="Making a table k-anonymous", note=TERMS, columns=columns, rows=tuple(rows)), figures


def million() -> tuple[Table, dict[str, float]]:
    rows = made_up(MILLION)
    made, cut = timed(partial(mondrian, rows, list(QUASI), k=5), 2)
    _, checked = timed(lambda: (k_of(rows, list(QUASI)), diversity_of(made, NUMBER[0]), prosecutor_risk(made)), 1)
    figures = {"Mondrian, strict, k = 5": cut, "k, diversity, closeness and risk": checked}
    with tempfile.TemporaryDirectory() as folder:
        figures |= _pipeline(rows, Path(folder))
    note = (
        "Made-up rows of Adult's shape, with ages in months. The pipeline runs on DuckDB: its time is of all threads."
    )
    return Table(title="A million rows", note=note, columns=("work", "s"), rows=tuple(figures.items())), figures


def _pipeline(rows: Microdata, folder: Path) -> dict[str, float]:
    import pyarrow as pa

    columns = {name: one.values[one.codes].tolist() for name, one in rows.attributes.items()}
    frame = pa.table({"id": list(range(rows.rows)), **columns})
    treatments = {name: Keep() for name in columns} | {"id": Pseudonym(key=PseudonymKey(bytes(32)))}
    _, found = timed(lambda: find_identifying(frame), 1)
    _, treated = timed(lambda: deidentify(frame, folder / "out.parquet", treatments), 1)
    return {"find columns that identify": found, "de-identify, with pseudonyms, to Parquet": treated}


def ask_peer(python: Path, folder: Path, way: str):
    script = Path(__file__).with_name("anonymity_peers.py")
    done = subprocess.run([python, "-W", "ignore", script, folder, way], capture_output=True, text=True, check=False)  # noqa: S603
    lines = [line for line in done.stdout.splitlines() if line.startswith("answer ")]
    if not lines:
        say(f"The peer failed at {way}: {done.stderr.strip().splitlines()[-1:]}")
        return None
    return json.loads(lines[-1].removeprefix("answer "))


def write_csv(columns, place: Path) -> None:
    import csv

    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def beside_peers(table: Microdata, python: Path | None) -> tuple[list[Table], list[Bar]]:
    if python is None:
        say("pycanon and anjana are not installed; they are left out. fix: run python benchmarks/peers_venv.py")
        return [], []
    diverse = [DistinctDiversity(of=TEXT[0], l=2)]
    told = full_domain(table, list(QUASI), k=5, suppress=0.1, requirements=diverse).columns()
    published = Microdata.of(told)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trees = {one: table.attribute(one).hierarchy.levels for one in QUASI}
        task = {"quasi": list(QUASI), "text": TEXT[0], "number": NUMBER[0], "trees": trees, "k": 5, "suppress": 0.02}
        (folder / "task.json").write_text(json.dumps(task), encoding="utf-8")
        write_csv(told, folder / "table.csv")
        write_csv(
            {one: table.attribute(one).values[table.attribute(one).codes].tolist() for one in QUASI},
            folder / "rows.csv",
        )
        theirs = ask_peer(python, folder, "checks")
        anjana = ask_peer(python, folder, "makes")
        penalty = None if anjana is None else _penalty_of(table, folder / "anjana.csv")
    return _compared(published, theirs, table, anjana, penalty)


def _penalty_of(table: Microdata, place: Path) -> float:
    """Return our penalty of what anjana wrote: its levels are told by its labels."""
    import csv

    with place.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    total = 0.0
    for name in QUASI:
        attribute = table.attribute(name)
        labels = {line[name] for line in lines}
        level = next(one for one in attribute.hierarchy.levels if labels <= set(one))
        members = dict.fromkeys(level, 0)
        leaves = dict(zip(attribute.hierarchy.leaves, level, strict=True))
        for value in attribute.values.tolist():
            members[leaves[str(value)]] += 1
        total += sum(members[line[name]] / attribute.domain if members[line[name]] > 1 else 0.0 for line in lines)
    return (total / len(QUASI) + table.rows - len(lines)) / table.rows


def _compared(published, theirs, table, anjana, penalty):
    ours, seconds = timed(lambda: our_checks(published))
    rows = [] if theirs is None else [
        (name, float(ours[name]), theirs[name][0], seconds, theirs[name][1]) for name in ours
    ]  # fmt: skip
    note = (
        "On a full-domain table with k = 5, l = 2 and at most 10 % suppressed. Ours is one run of all measures. "
        "pycanon rounds the entropy's l "
        "down to a whole number; its c takes the rarest value for the commonest, so that it is not the definition's."
    )
    columns = ("measure", "ours", "pycanon", "ours, s", "pycanon, s")
    tables = [Table(title="Checks beside pycanon", note=note, columns=columns, rows=tuple(rows))]
    agreed = () if theirs is None else ("k", "distinct l", "α", "t", "t, ordered")
    apart = {name: abs(float(ours[name]) - theirs[name][0]) for name in agreed}
    bars = [Bar(claim=f"{name}: ours less pycanon's", measured=each, most=1e-9) for name, each in apart.items()]
    if anjana is not None:
        made, took = timed(partial(full_domain, table, list(QUASI), k=5, suppress=0.02))
        rows = (
            ("ours, optimal", took, made.penalty(), float(made.classes.suppressed)),
            ("anjana", anjana["seconds"], penalty, float(table.rows - anjana["rows"])),
        )
        note = "Full-domain generalisation of Adult, k = 5, at most 2 % of the rows left out."
        columns = ("who", "s", "penalty", "rows left out")
        tables.append(Table(title="One level a column, beside anjana", note=note, columns=columns, rows=rows))
        bars.append(Bar(claim="our penalty over anjana's", measured=ratio(made.penalty(), penalty), most=1.0000001))
    return tables, bars


def our_checks(published: Microdata):
    quasi = list(QUASI)
    text, number = diversity_of(published, TEXT[0], quasi), diversity_of(published, NUMBER[0], quasi)
    c = recursive_c(published, TEXT[0], 2, quasi)
    return {
        "k": k_of(published, quasi), "distinct l": text.distinct, "entropy l": text.entropy_l,
        "recursive c": 0 if c is None else c, "α": text.alpha, "t": text.t, "t, ordered": number.t_ordered,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--adult", type=Path, default=ADULT, help="the folder with adult.data.gz and hierarchies")
    parser.add_argument("--peers", type=Path, default=FOLDER, help="the folder of peers' environments")
    parser.add_argument("--check", action="store_true", help="end with an error if a bar is missed")
    options = parser.parse_args()
    real = adult(options.adult)
    table = made_up(30_162) if real is None else real
    first, figures = making(table)
    second, large = million()
    tables, bars = beside_peers(table, python_of("anonymity", options.peers))
    named = {name: figures[f"Mondrian, strict, k = {name}"] if real is not None else (None, None) for name in (5, 10)}
    bars = [
        Bar(claim="Adult, k = 5, seconds", measured=named[5][0], most=0.3),
        Bar(claim="Adult, k = 5, penalty", measured=named[5][1], most=0.048),
        Bar(claim="Adult, k = 10, penalty", measured=named[10][1], most=0.083),
        Bar(claim="a million rows, k = 5, seconds", measured=large["Mondrian, strict, k = 5"], most=10),
        *bars,
    ]
    report = Report(
        title="Anonymity", command="python benchmarks/anonymity.py", packages=("numpy", "duckdb"),
        tables=(first, second, *tables), bars=tuple(bars),
    )  # fmt: skip
    publish(report, "anonymity")
    finish(report, check=options.check)


if __name__ == "__main__":
    sys.exit(main())
