"""The version at hand beside an earlier commit: the same work in both, by turns, as ratios of processor time.

`python benchmarks/versions.py COMMIT` takes the earlier tree out of Git, compiles its C parts, and runs each piece of
work in a process of its own. Both trees use the libraries that are installed here.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from statistics import median

from measure import Bar, Report, Table, finish, publish, say
from versions_work import WORK

HERE = Path(__file__).parent
#: Times that each version runs each piece of work. The median counts: the best one depends on the machine's mood.
ROUNDS = 8
#: How much more processor time than before counts as noise.
NOISE = 1.15


def take_out(commit: str, folder: Path) -> Path:
    """Write the tree of a commit into a folder, with its C parts compiled, and return where its package is."""
    archive = ["git", "archive", "--format=tar", f"--output={folder}/tree.tar", commit]
    subprocess.run(archive, check=True, cwd=HERE.parent)  # noqa: S603 - of a commit that the caller names
    with tarfile.open(folder / "tree.tar") as tree:
        tree.extractall(folder, filter="data")
    build = (
        "import sys; sys.path.insert(0, '.')\nfrom pathlib import Path\nimport hatch_build\n"
        "compile_file = hatch_build.compile_file\n"
        "for source in sorted(Path('src').resolve().rglob('*.c')): compile_file(source)"
    )
    subprocess.run([sys.executable, "-c", build], check=True, cwd=folder)  # noqa: S603 - our own build
    return folder / "src"


def run(work: str, package: Path) -> float:
    """Return the processor seconds of one piece of work with a version of the package."""
    # Compiling the package anew in each process is not what is compared.
    environment = os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(  # noqa: S603 - a script of ours
        [sys.executable, HERE / "versions_work.py", work], check=True, capture_output=True, text=True, env=environment
    )
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def compare(work: str, before: Path, now: Path, rounds: int) -> tuple[float, float]:
    """Return the medians of two versions, which take turns: the one that begins a round ends the next one."""
    times: dict[Path, list[float]] = {before: [], now: []}
    for place in range(rounds):
        for package in (before, now) if place % 2 else (now, before):
            times[package].append(run(work, package))
    return median(times[before]), median(times[now])


def main() -> None:
    """Compare, and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("commit", help="the earlier version")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--check", action="store_true", help="fail if something takes more than before")
    options = parser.parse_args()
    rows, bars = [], []
    with tempfile.TemporaryDirectory() as folder:
        before, now = take_out(options.commit, Path(folder)), HERE.parent / "src"
        for name, work in WORK.items():
            earlier, later = compare(name, before, now, options.rounds)
            rows.append((name, 1000 * earlier, 1000 * later, later / earlier))
            bars.append(Bar(claim=f"{name}: now over before", measured=later / earlier, most=NOISE))
            say(f"{name}: {earlier:.4f} s before, {later:.4f} s now, {later / earlier:.2f}; {work.__doc__}")
    note = " ".join(f"*{name}*: {(work.__doc__ or '').rstrip('.')}." for name, work in WORK.items())
    table = Table(
        title="Processor time", note=note, columns=("work", "before, ms", "now, ms", "ratio"), rows=tuple(rows)
    )
    report = Report(
        title="This version beside an earlier one",
        command=f"python benchmarks/versions.py {options.commit}",
        packages=("duckdb", "numpy", "torch"),
        tables=(table,),
        bars=tuple(bars),
    )
    publish(report, "versions")
    finish(report, check=options.check)


if __name__ == "__main__":
    main()
