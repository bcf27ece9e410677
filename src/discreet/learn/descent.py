"""Noisy gradient descent with clipping, on all rows at once, as a plan."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import PrivacyLoss
from discreet.core import InvalidInput, OutOfRange
from discreet.core.canonical_text import Record, canonical_text
from discreet.learn.features import (
    BITS,
    STEPS,
    Features,
    Floats,
    Integers,
    as_floats,
    exact_margins,
    exact_products,
    shorten_rows,
    squares,
    with_constant,
)
from discreet.learn.payment import noise_for, total
from discreet.mechanisms import Gaussian
from discreet.noise import Entropy

#: The part of ρ that buys the number of rows, where it is not declared.
COUNTING = Fraction(1, 50)
#: A clip beyond these would be few steps of the grid, or not fit in 64 bits when squared; rows are scaled to at most 1
#: a column.
LEAST_CLIP, MOST_CLIP = Fraction(1, 1024), 16
#: Rates beyond this, and weights, are of no use: scaled features are at most 1.
FASTEST, FARTHEST = 1e6, 2.0**20
#: Chances are counted in steps of 2^−CHANCE_BITS, weights in steps of 2^−WEIGHT_BITS.
CHANCE_BITS, WEIGHT_BITS = 15, 20
CHANCES = 1 << CHANCE_BITS
#: The table has e^−k/1024 for gaps up to 32, in units of 2⁻³⁰.
FINE, LAST = 10, 32 << 10
SHIFT = BITS + WEIGHT_BITS - FINE
TABLE = np.array([round(math.exp(-k / (1 << FINE)) * (1 << 30)) for k in range(LAST + 1)], np.int64)
#: Changes whenever the same text would no longer give the same distribution of answers.
FORM = "discreet descent 1"


@dataclass(frozen=True, slots=True)
class ClassifiedRows:
    """Private rows and the place of each one's label among the classes, −1 for one that is none. Not shown."""

    values: Floats = field(repr=False)
    labels: Integers = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescentPlan:
    """Multinomial logistic regression by gradient descent, every gradient a noisy sum of clipped ones.

    A row x of whole numbers with residual r (chance − truth, by class, in whole numbers) has the gradient r⊗x, whose
    squared norm is |r|²·|x|² exactly. r is scaled down and rounded towards zero until that is at most the clip squared,
    which is checked on the whole numbers. Sums are exact, noise is discrete Gaussian, and all that follows from noisy
    sums (momentum, averages) is post-processing.

    Guarantee: `rho`-zCDP for a row that is added or removed. Proof: given the weights, which depend on earlier answers,
    a row's gradient depends on that row alone; so one row moves a step's sum by at most the clip in l2, and each step
    is (clip²/2σ²)-zCDP; steps compose adaptively.
    Reference: Song, Chaudhuri, Sarwate 2013; Abadi et al. 2016 (clipping); Canonne, Kamath, Steinke 2020, Theorem 14;
    Bun, Steinke 2016, Lemma 2.3 (composition).
    """

    __canonical__: ClassVar[Record] = Record(
        "DescentPlan", "features", "classes", "rho", "clip", "steps", "rate", "momentum", "rows"
    )

    features: Features
    classes: int
    rho: Fraction
    clip: Fraction
    steps: int
    rate: float
    momentum: float
    #: The number of rows if it is public, else None: then it is bought.
    rows: int | None

    def __post_init__(self) -> None:
        if not LEAST_CLIP <= self.clip <= MOST_CLIP:
            raise OutOfRange("clip is not between 1/1024 and 16.", fix="pass a clip such as 1")
        if not (0 < self.rate <= FASTEST and 0 <= self.momentum < 1):
            raise InvalidInput("rate or momentum is out of range.", fix="pass rate=1 and momentum=0.9 or the like")

    @property
    def most(self) -> int:
        """The clip in steps of the grid that gradients are counted on."""
        return int(self.clip * STEPS * CHANCES)

    @property
    def counting(self) -> Gaussian | None:
        """The noise on the number of rows, if it is bought."""
        return noise_for(1, self.rho * COUNTING) if self.rows is None else None

    @property
    def gradient(self) -> Gaussian:
        """The noise on every gradient."""
        share = self.rho if self.rows is not None else self.rho * (1 - COUNTING)
        return noise_for(self.most**2, share / self.steps)

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of the fit."""
        counted = [] if self.counting is None else [(self.counting, 1)]
        return total([*counted, (self.gradient, self.steps)])

    def describe(self) -> str:
        """Return the fit, in words."""
        return (
            f"logistic regression of {self.classes} classes on {self.features.columns} features "
            f"by {self.steps} steps of noisy gradient descent"
        )

    def canonical(self) -> str:
        """Return all that decides how answers are distributed."""
        return f"{FORM}\n{canonical_text(self)}"

    def check(self, data: ClassifiedRows, /) -> None:
        """Refuse, before anything is paid, rows of another shape than the declared columns."""
        self.features.check_columns(getattr(data, "values", None))

    def run(self, data: ClassifiedRows, entropy: Entropy, /) -> dict[str, NDArray[np.float64]]:
        """Return the weights, a column a class; the last row is the intercepts'."""
        known = (data.labels >= 0) & (data.labels < self.classes)
        rows, labels = with_constant(self.features.steps(data.values[known])), data.labels[known]
        size = self._size(len(rows), entropy)
        # Of every row, how long its residual may be: |r|²·|x|² ≤ most² if and only if |r|² ≤ ⌊most²/|x|²⌋.
        room, table = self.most**2 // squares(rows), as_floats(rows)
        weights = np.zeros((rows.shape[1], self.classes))
        speed, tail = np.zeros_like(weights), []
        for step in range(self.steps):
            noisy = self._gradient(table, labels, room, weights, entropy)
            speed = self.momentum * speed + noisy / size
            weights = np.clip(weights - self.rate * speed, -FARTHEST, FARTHEST)  # or they might end as no numbers
            if step >= self.steps // 2:
                tail.append(weights)
        return {"weights": np.mean(tail, axis=0)}

    def _size(self, rows: int, entropy: Entropy) -> float:
        """Return the number of rows: public, or noisy and at least what noise alone would make of none."""
        if self.counting is None:
            return float(self.rows or 1)
        return max(float(self.counting.perturb(rows, entropy=entropy)), self.counting.deviation, 1.0)

    def _gradient(
        self, rows: Floats, labels: Integers, room: Integers, weights: Floats, entropy: Entropy
    ) -> NDArray[np.float64]:
        """Return the noisy sum of clipped gradients, in units of 1."""
        margins = exact_margins(rows, weights * (1 << WEIGHT_BITS))
        clipped = shorten_rows(residuals(margins, labels), room)
        exact = exact_products(rows, as_floats(clipped), min(self.most, STEPS * CHANCES))
        return self.gradient.perturb(exact, entropy=entropy).astype(np.float64) / (STEPS * CHANCES)


def residuals(margins: Integers, labels: Integers) -> Integers:
    """Return softmax − truth of every class, in steps; margins are rows·weights in steps of 2^−(BITS + WEIGHT_BITS).

    The softmax is computed on whole numbers, so that it is the same on every machine. e to a power is read from a table
    of whole numbers: a row's probabilities cannot depend on its position in an array (vectorised exponentials may
    differ in the last digit between the middle and the end of one).
    """
    gaps = margins.max(axis=1, keepdims=True) - margins
    weights = TABLE[np.minimum((gaps + (1 << (SHIFT - 1))) >> SHIFT, LAST)]
    chances = (weights << CHANCE_BITS) // weights.sum(axis=1, keepdims=True)
    chances[np.arange(len(labels)), labels] -= CHANCES
    return np.asarray(chances, np.int64)
