"""The privacy-loss random variable itself, to look at: for teaching and for pictures.

Draw an output y from the first of two neighbours and look at L = ln(P(y)/P′(y)): how much y speaks for the first.
Everything in this room is a statement about L. The values shown here are rounded to a grid; for bounds use `epsilon`,
`delta` and `bracket`.
"""

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.composites import PrivacyLoss, need_loss
from discreet.accounting.pld.convolution import RepeatedLattice, SumWindow, convolve
from discreet.accounting.pld.dominating_pairs import batches
from discreet.accounting.pld.grid_choice import PairBatch, Sketch
from discreet.accounting.pld.lattice import outwards
from discreet.accounting.pld.numeric import grid_of
from discreet.core import NotProved, whole

#: Mass beyond the picture.
TINY = 1e-12
#: Most points that are worked out.
LONGEST = 2**19


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """Losses and their probabilities; `beyond` is the probability of an output that tells for certain."""

    losses: tuple[float, ...]
    probabilities: tuple[float, ...]
    beyond: float

    @property
    def mean(self) -> float:
        """The mean loss: the Kullback–Leibler divergence, if nothing is beyond."""
        return float(np.dot(self.losses, self.probabilities))

    @property
    def deviation(self) -> float:
        """The standard deviation of the loss."""
        return math.sqrt(float(np.dot((np.array(self.losses) - self.mean) ** 2, self.probabilities)))

    def tail(self, epsilon: float) -> float:
        """Return how likely a loss above ε is: not δ, which is never more."""
        return float(np.array(self.probabilities)[np.array(self.losses) > epsilon].sum()) + self.beyond

    def delta(self, epsilon: float) -> float:
        """Return E[max(0, 1 − e^(ε−L))]: the δ at ε, up to the rounding of the picture."""
        gaps = np.array(self.losses) - epsilon
        return float(np.dot(-np.expm1(-np.maximum(gaps, 0)), self.probabilities)) + self.beyond


def loss_distribution(loss: PrivacyLoss, points: int = 1000, *, reverse: bool = False) -> LossDistribution:
    """Return the distribution of the privacy loss on about so many points, rounded outwards.

    For add/remove neighbours P is the table with the person; `reverse` swaps the two.
    """
    count = whole(points, "points", least=2, most=10**6)
    pair_batches = batches(need_loss(loss))
    if not pair_batches:
        raise NotProved(
            "This loss has no single privacy-loss distribution.",
            fix="pass a loss whose parts are mechanisms, such as LaplaceNoise(1) or Repeated(GaussianNoise(5), 10)",
        )
    if not all(batch.pairs for batch in pair_batches):
        return LossDistribution((0.0,), (1.0,), 0.0)
    return max((_distribution(batch, count, reverse=reverse) for batch in pair_batches), key=lambda shown: shown.mean)


def _distribution(batch: PairBatch, points: int, *, reverse: bool) -> LossDistribution:
    direction = PairBatch(batch.pairs, mirrored=reverse)
    sketch = Sketch(direction)
    width = sketch.width(0.0)
    # Rounding adds at most h²/4 to each variance: to the whole, one part in a thousand of its width.
    ends = sketch.ends(TINY)
    widest = max(
        ends[1] - ends[0], *(high - low for low, high in (pair.span(TINY / batch.times) for pair, _ in direction.pairs))
    )
    step = max(width * math.sqrt(4e-3 / batch.times), width / 1e4, widest / LONGEST)
    first, size = math.floor(ends[0] / step), max(math.ceil((ends[1] - ends[0]) / step), 4) // 2 * 2 + 2
    parts, beyond = [], 0.0
    for pair, times in direction.pairs:
        cells, start = grid_of(pair, step, TINY / batch.times)
        if reverse and not pair.symmetric:
            cells, start = cells.mirror(), -(start + len(cells.edges) - 1)
        parts.append(RepeatedLattice(outwards(cells, start), times))
    total = convolve(parts, SumWindow(first, size, step, 0.0, (1 / width, 1 / width)))
    beyond = total.beyond
    masses = np.maximum(total.masses, 0.0) * math.exp(min(total.log_scale, 1.0))
    together = max(1, size // points)
    shown = np.concatenate([masses, np.zeros(-size % together)]).reshape(-1, together).sum(axis=1)
    losses = step * (first + together * np.arange(len(shown)) + (together - 1) / 2)
    return LossDistribution(tuple(losses.tolist()), tuple(shown.tolist()), min(max(beyond, 0.0), 1.0))
