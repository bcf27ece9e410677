"""Selection: one of many candidates, by ours, NumPy's unsafe ways, OpenDP and diffprivlib, on the same scores."""

import argparse
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np
from measure import Contestant, Report, Table, cells, finish, peer, publish, race, ratio, repeat, say

from discreet.mechanisms import ExponentialMechanism, PermuteAndFlip

#: Candidates are chosen with probability growing as e^(RATE·score); scores lie between 0 and TOP.
RATE = Fraction(1, 10)
TOP = 1000
SIZES = {"10⁴": 10**4, "10⁶": 10**6}
LARGE = {"10⁷": 10**7}
#: diffprivlib takes lists of Python numbers, and seconds for a million of them.
DIFFPRIVLIB_LIMIT = 10**6
#: Small choices are made this often in a turn, or the clock would measure its own start.
SMALL, OFTEN = 10**5, 20
OURS = "discreet"
TERMS = (
    f"Processor time, best of several turns; all contestants take turns in one process. Scores are uniform between 0 "
    f"and {TOP}, the rate is {RATE}. NumPy's ways are fast and not private. OpenDP gets the scores in a NumPy array, "
    f"which it takes fastest, and its measurement is made beforehand; diffprivlib gets a list, which it insists on, as "
    f"it is made. A dash: not measured."
)
GENERATOR = np.random.default_rng()


def our_exponential(scores):
    return ExponentialMechanism(epsilon=2 * RATE).choose(scores)


def our_permute_and_flip(scores):
    return PermuteAndFlip(epsilon=2 * RATE).choose(scores)


def gumbel_max(scores):
    return np.argmax(scores * float(RATE) + GENERATOR.gumbel(size=len(scores)))


def softmax_inverse(scores):
    limits = np.cumsum(np.exp((scores - scores.max()) * float(RATE)))
    return np.searchsorted(limits, GENERATOR.random() * limits[-1], side="right")


def exponential_max(scores):
    """Add exponential noise and take the best, which is permute-and-flip (Ding et al. 2021)."""
    return np.argmax(scores * float(RATE) + GENERATOR.exponential(size=len(scores)))


def opendp_noisy_max(dp, dtype, measure):
    """Make OpenDP's measurement, before the race; its noise is exponential for pure privacy and Gumbel for zCDP."""
    kind = "i64" if dtype == np.int64 else "f64"
    atoms = dp.atom_domain(T=kind) if kind == "i64" else dp.atom_domain(T=kind, nan=False)
    return dp.m.make_noisy_max(dp.vector_domain(atoms), dp.linf_distance(T=kind), measure, scale=float(1 / RATE))


def diffprivlib_choice(mechanism, listed):
    """Return diffprivlib's choice; it halves ε for two-sided utilities."""
    return mechanism(epsilon=float(2 * RATE), sensitivity=1, utility=listed).randomise()


def contestant(name, work, size):
    times = OFTEN if size < SMALL else 1
    return Contestant(name=name, work=partial(repeat, work, times), values=size * times)


Ways = dict[str, Callable[[np.ndarray], object]]
EXPONENTIAL: Ways = {OURS: our_exponential, "NumPy Gumbel-max": gumbel_max, "NumPy softmax": softmax_inverse}
PERMUTE_AND_FLIP: Ways = {OURS: our_permute_and_flip, "NumPy exponential-max": exponential_max}


class Peers:
    """The other libraries, where they are installed."""

    def __init__(self) -> None:
        self.dp = peer("opendp", "opendp.prelude")
        self.mechanisms = peer("diffprivlib", "diffprivlib.mechanisms")
        if self.dp:
            self.dp.enable_features("contrib")

    def contestants(self, scores: np.ndarray, *, exponential: bool) -> Iterator[Contestant]:
        size = len(scores)
        if self.dp:
            measure = self.dp.zero_concentrated_divergence() if exponential else self.dp.max_divergence()
            work = partial(opendp_noisy_max(self.dp, scores.dtype, measure), scores)
            yield contestant("OpenDP", work, size)
        if self.mechanisms and size <= DIFFPRIVLIB_LIMIT:
            mechanism = self.mechanisms.Exponential if exponential else self.mechanisms.PermuteAndFlip
            work = partial(diffprivlib_choice, mechanism, scores.tolist())
            yield contestant("diffprivlib", work, size)


def make_scores(size: int) -> dict[str, np.ndarray]:
    """Return the same kind of scores in both types; they are public here, so a seed does no harm."""
    fixed = np.random.default_rng(1)
    return {"int64": fixed.integers(0, TOP, size), "float64": fixed.uniform(0, TOP, size)}


def compare(title: str, ways: Ways, peers: Peers, sizes: dict[str, int], *, exponential: bool) -> Table:
    names = (*ways, "OpenDP", "diffprivlib")
    rows = []
    for label, size in sizes.items():
        for kind, scores in make_scores(size).items():
            say(f"{title}, {label} candidates, {kind}")
            ours = [contestant(name, partial(way, scores), size) for name, way in ways.items()]
            times = race([*ours, *peers.contestants(scores, exponential=exponential)])
            times_ours = (ratio(times.get(name), times[OURS]) for name in names[1:])
            rows.append((f"{label} {kind}", times[OURS] * size / 1e6, *cells(times, names), *times_ours))
    return Table(
        title=f"{title}, ns a candidate",
        note="One choice among so many candidates; and how many times as long as ours the others take.",
        columns=("candidates", f"{OURS}, ms a choice", *names, *(f"{name} ÷ {OURS}" for name in names[1:])),
        rows=tuple(rows),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="ten million candidates as well")
    large = parser.parse_args().large
    peers, sizes = Peers(), SIZES | (LARGE if large else {})
    result = Report(
        title="Selection",
        command="python benchmarks/selection.py" + " --large" * large,
        packages=("discreet", "numpy", "cryptography", "opendp", "diffprivlib"),
        tables=(
            compare("Exponential mechanism", EXPONENTIAL, peers, sizes, exponential=True),
            compare("Permute-and-flip", PERMUTE_AND_FLIP, peers, sizes, exponential=False),
        ),
        remarks=(TERMS,),
    )
    publish(result, "selection")
    finish(result, check=False)


if __name__ == "__main__":
    main()
