"""Noise: ours, NumPy's, OpenDP's and diffprivlib's, on the same work in one process.

NumPy's floats are the yardstick of speed, not a rival: noise drawn so is not private.
"""

import argparse
import itertools
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import ModuleType

import numpy as np
from measure import (
    Bar,
    Contestant,
    Report,
    Table,
    cells,
    finish,
    peer,
    publish,
    race,
    rank_correlation,
    ratio,
    repeat,
    say,
)

from discreet import noise
from discreet.noise.lookup import draw
from discreet.noise.table import WORTH, GaussianShape, LaplaceShape, build

COUNT = 1_000_000
SCALES = {"1": 1, "10": 10, "1000": 1000, "10⁶": 10**6}
#: Beyond what counts need; shown, but no bar.
WIDE = {"2⁴⁰": 2**40}
#: Peers draw one value in microseconds; so many of them measure it well.
OPENDP_COUNT = 20_000
OPENDP_FLOATS = 5_000
DIFFPRIVLIB_COUNT = 2_000
#: diffprivlib's discrete Gaussian tosses about as many coins as its scale: 2 seconds a value at 10⁶.
DISCRETE_LIMIT = 1000
SINGLE_DRAWS, OPENDP_SINGLE_DRAWS = 2_000, 500
NEW_SCALE_REQUESTS = 20
LEAK_DRAWS, LEAK_REPEATS, LEAK_WARM_UP = 20_000, 5, 2_000

NUMPY_BAR, OPENDP_BAR, SCALAR_BAR, LEAK_BAR = 1, 300, 50, 0.05

OURS, FIRST = "discreet", "discreet, table included"
TERMS = (
    "Processor time, best of several turns; all contestants take turns in one process. NumPy's figures are those of "
    "its unsafe floats. A dash: not measured, or not in reasonable time."
)
GENERATOR = np.random.default_rng()


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One distribution, by everybody's name for it. A scale is a standard deviation for Gaussian noise."""

    name: str
    ours: Callable[..., object]
    shape: Callable[[int], LaplaceShape | GaussianShape]
    numpy: Callable[..., object]
    opendp: Callable[..., Callable[[object], object]]
    diffprivlib: Callable[[ModuleType, int], dict[str, tuple[Callable[[object], object], int]]]
    columns: tuple[str, ...]


def our_laplace(scale, size=None):
    return noise.laplace(scale, size)


def our_gaussian(scale, size=None):
    return noise.gaussian(scale * scale, size)


def opendp_laplace(dp, scale, *, kind="i64", vector=True):
    space = (
        (dp.vector_domain(atom(dp, kind)), dp.l1_distance(T=kind))
        if vector
        else (atom(dp, kind), dp.absolute_distance(T=kind))
    )
    return dp.m.make_laplace(*space, scale=float(scale))


def opendp_gaussian(dp, scale, *, kind="i64", vector=True):
    space = (
        (dp.vector_domain(atom(dp, kind)), dp.l2_distance(T="f64"))
        if vector
        else (atom(dp, kind), dp.absolute_distance(T="f64"))
    )
    return dp.m.make_gaussian(*space, scale=float(scale))


def atom(dp, kind):
    return dp.atom_domain(T=kind, nan=False) if kind == "f64" else dp.atom_domain(T=kind)


def diffprivlib_laplace(mechanisms, scale):
    """Return each mechanism's draw and how many draws to time."""
    return {
        "diffprivlib Geometric": (mechanisms.Geometric(epsilon=1 / scale).randomise, DIFFPRIVLIB_COUNT),
        "diffprivlib Laplace": (mechanisms.Laplace(epsilon=1 / scale, sensitivity=1).randomise, DIFFPRIVLIB_COUNT),
    }


def diffprivlib_gaussian(mechanisms, scale):
    """Return each mechanism's draw and how many to time; the scale is set past the calibration to ε and δ."""
    continuous = mechanisms.Gaussian(epsilon=1, delta=0.1, sensitivity=1)
    discrete = mechanisms.GaussianDiscrete(epsilon=1, delta=0.1)
    continuous._scale = discrete._scale = scale  # noqa: SLF001, there is no public way
    draws = {"diffprivlib Gaussian": (continuous.randomise, DIFFPRIVLIB_COUNT)}
    if scale <= DISCRETE_LIMIT:
        draws["diffprivlib GaussianDiscrete"] = (discrete.randomise, max(100, DIFFPRIVLIB_COUNT // scale))
    return draws


LAPLACE = Kind(
    name="Laplace",
    ours=our_laplace,
    shape=lambda scale: LaplaceShape(Fraction(scale)),
    numpy=lambda scale, size=None: GENERATOR.laplace(0, scale, size),
    opendp=opendp_laplace,
    diffprivlib=diffprivlib_laplace,
    columns=(OURS, FIRST, "NumPy", "OpenDP", "OpenDP f64", "diffprivlib Geometric", "diffprivlib Laplace"),
)
GAUSSIAN = Kind(
    name="Gaussian",
    ours=our_gaussian,
    shape=lambda scale: GaussianShape(Fraction(scale * scale)),
    numpy=lambda scale, size=None: GENERATOR.normal(0, scale, size),
    opendp=opendp_gaussian,
    diffprivlib=diffprivlib_gaussian,
    columns=(OURS, FIRST, "NumPy", "OpenDP", "OpenDP f64", "diffprivlib Gaussian", "diffprivlib GaussianDiscrete"),
)
KINDS = (LAPLACE, GAUSSIAN)


@dataclass(frozen=True, slots=True)
class Peers:
    """The other libraries, where they are installed."""

    dp: ModuleType | None
    mechanisms: ModuleType | None


def find_peers() -> Peers:
    dp = peer("opendp", "opendp.prelude")
    if dp:
        dp.enable_features("contrib")
    return Peers(dp, peer("diffprivlib", "diffprivlib.mechanisms"))


def bulk_contestants(kind: Kind, scale: int, peers: Peers) -> Iterator[Contestant]:
    """Yield everybody who draws many values; OpenDP adds its noise to zeros in an array, which it takes fastest."""
    yield Contestant(name=OURS, work=partial(kind.ours, scale, COUNT), values=COUNT)
    yield Contestant(name="NumPy", work=partial(kind.numpy, scale, COUNT), values=COUNT)
    yield Contestant(name=FIRST, work=lambda: draw(build(kind.shape(scale)), noise.SYSTEM, COUNT), values=COUNT)
    if peers.dp:
        integers, floats = np.zeros(OPENDP_COUNT, np.int64), np.zeros(OPENDP_FLOATS)
        on_integers, on_floats = (kind.opendp(peers.dp, scale, kind=each) for each in ("i64", "f64"))
        yield Contestant(name="OpenDP", work=partial(on_integers, integers), values=OPENDP_COUNT)
        yield Contestant(name="OpenDP f64", work=partial(on_floats, floats), values=OPENDP_FLOATS)
    if peers.mechanisms:
        for name, (randomise, times) in kind.diffprivlib(peers.mechanisms, scale).items():
            yield Contestant(name=name, work=partial(repeat, partial(randomise, 0), times), values=times)


def bulk(kind: Kind, peers: Peers) -> tuple[Table, list[Bar]]:
    rows, bars = [], []
    for label, scale in (SCALES | WIDE).items():
        say(f"{kind.name} noise, scale {label}")
        times = race(list(bulk_contestants(kind, scale, peers)))
        faster = {name: ratio(times.get(name), times[OURS]) for name in ("NumPy", "OpenDP")}
        rows.append((label, *cells(times, kind.columns), *faster.values()))
        if label in SCALES:
            claim = f"{kind.name}, scale {label}: NumPy's time over ours"
            bars.append(Bar(claim=claim, measured=faster["NumPy"], least=NUMPY_BAR))
            claim = f"{kind.name}, scale {label}: OpenDP's time over ours"
            bars.append(Bar(claim=claim, measured=faster["OpenDP"], least=OPENDP_BAR))
    table = Table(
        title=f"{kind.name} noise, ns a value",
        note=f"Ours and NumPy: {COUNT:,} values. OpenDP: {OPENDP_COUNT:,} 64-bit integers, or {OPENDP_FLOATS:,} floats "
        f"(f64), in a NumPy array. diffprivlib: {DIFFPRIVLIB_COUNT:,} calls or fewer, a value each. *Table included*: "
        f"a first request, which builds our table; later ones of the same scale find it.",
        columns=("scale", *kind.columns, "NumPy ÷ discreet", "OpenDP ÷ discreet"),
        rows=tuple(rows),
    )
    return table, bars


def scalar_contestants(kind: Kind, scale: int, peers: Peers) -> Iterator[Contestant]:
    for name, work in ((OURS, partial(kind.ours, scale)), ("NumPy", partial(kind.numpy, scale))):
        yield Contestant(name=name, work=partial(repeat, work, SINGLE_DRAWS), values=SINGLE_DRAWS)
    if peers.dp:
        work = partial(kind.opendp(peers.dp, scale, vector=False), 0)
        yield Contestant(name="OpenDP", work=partial(repeat, work, OPENDP_SINGLE_DRAWS), values=OPENDP_SINGLE_DRAWS)


def scalars(peers: Peers) -> tuple[Table, list[Bar]]:
    rows, bars = [], []
    names = (OURS, "NumPy", "OpenDP")
    for kind, (label, scale) in itertools.product(KINDS, SCALES.items()):
        say(f"single {kind.name} draws, scale {label}")
        times = race(list(scalar_contestants(kind, scale, peers)))
        name = f"{kind.name}, scale {label}"
        rows.append((name, *cells(times, names, 1000), ratio(times.get("OpenDP"), times[OURS])))
        bars.append(Bar(claim=f"{name}: a single draw of ours, µs", measured=times[OURS] / 1000, most=SCALAR_BAR))
    table = Table(
        title="A single draw, µs",
        note=f"One value a call, {SINGLE_DRAWS:,} calls; of OpenDP's scalar measurement, made beforehand, "
        f"{OPENDP_SINGLE_DRAWS}. diffprivlib draws so anyway: see above.",
        columns=("distribution", *names, "OpenDP ÷ discreet"),
        rows=tuple(rows),
    )
    return table, bars


def table_builds() -> Table:
    rows = []
    for label, scale in (SCALES | WIDE).items():
        say(f"table building, scale {label}")
        works = [Contestant(name=kind.name, work=partial(build, kind.shape(scale))) for kind in KINDS]
        rows.append((label, *cells(race(works), ("Laplace", "Gaussian"), 1000)))
    return Table(
        title="Building a table, µs",
        note="Once per scale, when enough values have been asked for.",
        columns=("scale", "Laplace", "Gaussian"),
        rows=tuple(rows),
    )


def small_requests(peers: Peers) -> Table:
    """Time requests at scales that were never asked for before, so that nothing has been prepared."""
    rows, names = [], (OURS, "NumPy", "OpenDP")
    for kind, count in itertools.product(KINDS, (10, 100, 300)):
        say(f"{count} {kind.name} values at a new scale")
        fresh = itertools.count(1000 * count)
        zeros = np.zeros(count, np.int64)
        works = {
            OURS: lambda kind=kind, count=count, fresh=fresh: kind.ours(next(fresh), count),
            "NumPy": lambda kind=kind, count=count, fresh=fresh: kind.numpy(next(fresh), count),
        }
        if peers.dp:
            works["OpenDP"] = lambda kind=kind, fresh=fresh, zeros=zeros: kind.opendp(peers.dp, next(fresh))(zeros)
        times = race(
            [
                Contestant(name=name, work=partial(repeat, work, NEW_SCALE_REQUESTS), values=NEW_SCALE_REQUESTS)
                for name, work in works.items()
            ]
        )
        rows.append((f"{count} × {kind.name}", *cells(times, names, 1000), ratio(times.get("OpenDP"), times[OURS])))
    return Table(
        title="A small request at a new scale, µs a request",
        note=f"From {WORTH} values on ours builds a table. OpenDP's time includes making the measurement.",
        columns=("request", *names, "OpenDP ÷ discreet"),
        rows=tuple(rows),
    )


def textbook_geometric(scale: int) -> int:
    """Count coin tosses until one fails, with a sign: the control, whose time tells its value."""
    value, stay = 0, 1 - 1 / scale
    while random.random() < stay:  # noqa: S311, the control need not be private
        value += 1
    return value if random.random() < 0.5 else -value  # noqa: S311, same


LEAKS: dict[str, Callable[[], int]] = {
    "Laplace, scale 10": partial(noise.laplace, 10),
    "Laplace, scale 1000": partial(noise.laplace, 1000),
    "Gaussian, variance 100": partial(noise.gaussian, 100),
    "Gaussian, variance 10⁶": partial(noise.gaussian, 10**6),
}
CONTROL = "control: coin tosses, scale 10"


def leak(work: Callable[[], int]) -> tuple[float, float]:
    """Return the rank correlation of a draw's duration with its magnitude, and with the draw itself."""
    repeat(work, LEAK_WARM_UP)
    clock = time.perf_counter_ns
    durations, values = [0] * LEAK_DRAWS, [0] * LEAK_DRAWS
    for index in range(LEAK_DRAWS):
        start = clock()
        value = work()
        durations[index] = clock() - start
        values[index] = value
    return rank_correlation(durations, np.abs(values)), rank_correlation(durations, values)


def timing_leak() -> tuple[Table, list[Bar]]:
    """Take the worst of the repeats: a busy machine can hide a correlation, but does not make one."""
    works = LEAKS | {CONTROL: partial(textbook_geometric, 10)}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in works}
    for turn in range(LEAK_REPEATS):
        say(f"timing leak, repeat {turn + 1} of {LEAK_REPEATS}")
        for name, work in works.items():
            found[name].append(leak(work))
    rows, bars = [], []
    for name, pairs in found.items():
        magnitude, signed = zip(*pairs, strict=True)
        rows += [(name, side, max(map(abs, each)), *each) for side, each in (("|x|", magnitude), ("x", signed))]
        if name in LEAKS:
            claim = f"{name}: correlation of duration and magnitude"
            bars.append(Bar(claim=claim, measured=max(map(abs, magnitude)), most=LEAK_BAR))
    table = Table(
        title="Does the time of a single draw tell its value?",
        note=f"Spearman's rank correlation of a draw's duration with its magnitude |x|, and with x, which has a sign; "
        f"{LEAK_DRAWS:,} draws, {LEAK_REPEATS} times. The worst counts. By chance alone: ±0.007.",
        columns=("draw", "duration and", "worst", *(f"repeat {turn + 1}" for turn in range(LEAK_REPEATS))),
        rows=tuple(rows),
    )
    return table, bars


def report(peers: Peers) -> Report:
    bulks = [bulk(kind, peers) for kind in KINDS]
    scalar_table, scalar_bars = scalars(peers)
    builds, small = table_builds(), small_requests(peers)
    leak_table, leak_bars = timing_leak()
    return Report(
        title="Noise",
        command="python benchmarks/noise.py",
        packages=("discreet", "numpy", "cryptography", "opendp", "diffprivlib"),
        tables=(*(table for table, _ in bulks), scalar_table, builds, small, leak_table),
        bars=(*(bar for _, bars in bulks for bar in bars), *scalar_bars, *leak_bars),
        remarks=(TERMS,),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="end with an error when a bar is missed")
    check = parser.parse_args().check
    result = report(find_peers())
    publish(result, "noise")
    finish(result, check=check)


if __name__ == "__main__":
    main()
