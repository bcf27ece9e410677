"""What the benchmarks share: races between contestants, tables of their times, bars to pass, reports."""

import json
import platform
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType

import numpy as np

RESULTS = Path(__file__).parent / "results"
#: Times that every contestant runs; the best one counts, because whatever else runs on a machine only adds time.
ROUNDS = 7
#: Seconds of processor time after which a slow contestant sits out the rounds that are left.
ALLOWANCE = 1.5
#: diffprivlib imports names that scikit-learn dropped in 1.8.
FITTING = {"diffprivlib": "diffprivlib 'scikit-learn<1.8'"}

Cell = str | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A piece of work and how many values one run of it makes."""

    name: str
    work: Callable[[], object]
    values: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Figures under named columns; the first column says what a row is about."""

    title: str
    note: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A claim about a measured figure, which may not exceed `most` nor fall below `least`."""

    claim: str
    measured: float | None
    least: float | None = None
    most: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the claim holds; what could not be measured does not."""
        if self.measured is None:
            return False
        return (self.least is None or self.measured >= self.least) and (self.most is None or self.measured < self.most)

    @property
    def verdict(self) -> str:
        """Return pass, FAIL or not measured."""
        return "not measured" if self.measured is None else "pass" if self.passed else "FAIL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything one benchmark has to say."""

    title: str
    command: str
    packages: tuple[str, ...]
    tables: tuple[Table, ...]
    bars: tuple[Bar, ...] = ()
    remarks: tuple[str, ...] = ()


def race(contestants: Sequence[Contestant], rounds: int = ROUNDS, *, warm: float = 0.0) -> dict[str, float]:
    """Return every contestant's best processor time in nanoseconds a value.

    They take turns, so that a slow moment of the machine meets all of them alike. Whoever takes less than `warm`
    seconds does its work once more before each timed turn: or it would be measured what the others left of the caches.
    """
    times: dict[str, list[float]] = {contestant.name: [] for contestant in contestants}
    for _ in range(rounds):
        for contestant in contestants:
            used = times[contestant.name]
            if sum(used) < ALLOWANCE:
                if used and min(used) < warm:
                    contestant.work()
                start = time.process_time()
                contestant.work()
                used.append(time.process_time() - start)
    return {each.name: min(times[each.name]) / each.values * 1e9 for each in contestants}


def repeat(work: Callable[[], object], times: int) -> None:
    """Run a piece of work so many times."""
    for _ in range(times):
        work()


def ratio(theirs: float | None, ours: float | None) -> float | None:
    """Return how many times as long theirs takes; None where either was not measured."""
    return None if theirs is None or not ours else theirs / ours


def cells(times: dict[str, float], names: Iterable[str], unit: float = 1) -> tuple[float | None, ...]:
    """Return the times of the named contestants, in units of so many nanoseconds; None for who did not run."""
    return tuple(times[name] / unit if name in times else None for name in names)


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float:
    """Return Spearman's coefficient; equal values share the mean of their ranks."""
    a, b = _ranks(first), _ranks(second)
    spread = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / spread if spread else 0.0


def _ranks(values: Sequence[float]) -> np.ndarray:
    """Return the ranks less their mean."""
    _, which, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts - 1) / 2
    return middle[which] - (len(which) + 1) / 2


def figure(cell: Cell) -> str:
    """Write one figure with about three digits."""
    if cell is None:
        return "–"
    if isinstance(cell, str):
        return cell
    size = abs(cell)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3
    return f"{cell:,.{digits}f}".replace("-", "−")


def markdown(table: Table) -> str:
    """Return a table as Markdown, with its title and note."""
    lines = [
        f"## {table.title}\n\n{table.note}\n",
        _line(table.columns),
        _line(["---", *["---:"] * (len(table.columns) - 1)]),
        *(_line([figure(cell) for cell in row]) for row in table.rows),
    ]
    return "\n".join(lines) + "\n"


def bars_table(bars: Iterable[Bar]) -> Table:
    """Return the bars as a table."""
    return Table(
        title="Bars",
        note="What must hold; `--check` ends with an error when something does not.",
        columns=("claim", "measured", "bar", "verdict"),
        rows=tuple((bar.claim, bar.measured, _limits(bar), bar.verdict) for bar in bars),
    )


def _limits(bar: Bar) -> str:
    least = [] if bar.least is None else [f"≥ {bar.least:g}"]
    most = [] if bar.most is None else [f"< {bar.most:g}"]
    return ", ".join(least + most)


def _line(texts: Iterable[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts) + " |"


def machine(packages: Iterable[str]) -> dict[str, str]:
    """Return what the figures depend on: Python, the processor, the packages' versions."""
    named = {"Python": platform.python_version(), "processor": processor()}
    return named | {package: version(package) for package in packages}


def version(package: str) -> str:
    """Return a package's version, or that there is none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def processor() -> str:
    """Return the processor's model name."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text().splitlines() if listed.exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()


def peer(name: str, module: str) -> ModuleType | None:
    """Return a peer's module, or say how to get it."""
    try:
        return import_module(module)
    except ImportError:
        problem = "is not installed" if version(name) == "not installed" else f"{version(name)} cannot be imported"
        say(f"{name} {problem}; it is left out. fix: run `make bench`, or pip install {FITTING.get(name, name)}")
        return None


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def render(report: Report) -> str:
    """Return the whole report as Markdown."""
    facts = [f"`{report.command}`", *(f"{name} {value}" for name, value in machine(report.packages).items())]
    parts = [f"# {report.title}\n\n" + " · ".join(facts) + "\n", *(f"{remark}\n" for remark in report.remarks)]
    tables = report.tables + ((bars_table(report.bars),) if report.bars else ())
    return "\n".join([*parts, *map(markdown, tables)])


def publish(report: Report, name: str, directory: Path = RESULTS) -> None:
    """Print a report, and write it and its bare figures to files."""
    text = render(report)
    figures = asdict(report) | {
        "machine": machine(report.packages),
        "bars": [asdict(bar) | {"verdict": bar.verdict} for bar in report.bars],
    }
    directory.mkdir(exist_ok=True)
    (directory / f"{name}.md").write_text(text, encoding="utf-8")
    (directory / f"{name}.json").write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    say("\n" + text)


def finish(report: Report, *, check: bool) -> None:
    """End the process, with an error if the bars are to be checked and one is missed."""
    missed = [bar for bar in report.bars if not bar.passed]
    for bar in missed:
        say(f"missed: {bar.claim}: {figure(bar.measured)}, bar {_limits(bar)}")
    sys.exit(1 if check and missed else 0)
