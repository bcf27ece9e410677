"""Noisy moments: the sums of products and squares for least squares, principal components, scaling and naive Bayes."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import PrivacyLoss
from discreet.core import OutOfRange
from discreet.core.canonical_text import Record, canonical_text
from discreet.learn.features import (
    STEPS,
    Features,
    Floats,
    Integers,
    as_floats,
    exact_products,
    shorten_rows,
    with_constant,
)
from discreet.learn.payment import noise_for
from discreet.mechanisms import Gaussian
from discreet.noise import Entropy

FORM = "discreet moments 1"
#: Shorter rows than this, in units of scaled columns, are too few steps of the grid to tell anything.
LEAST_NORM = Fraction(1, 64)


@dataclass(frozen=True, slots=True)
class GroupedRows:
    """Private rows, and the group that each is in: one of 0, 1, …, or −1 for none. Not shown."""

    values: Floats = field(repr=False)
    groups: Integers = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductPlan:
    """The matrix of second moments, Σ zzᵀ, of rows z = (x, 1), scaled to at most 1 in every column.

    Guarantee: `rho`-zCDP for a row that is added or removed. Proof: of a row z of whole numbers, |zᵢ| ≤ S and |z|² ≤ Q,
    the upper triangle of zzᵀ has the squared norm Σᵢ zᵢ⁴ + Σᵢ﹤ⱼ zᵢ²zⱼ² = (|z|⁴ + Σᵢ zᵢ⁴)/2, at most (Q² + S²Q)/2; or
    with Q for S² where that is less.
    Reference: Dwork, Talwar, Thakurta, Zhang 2014 (noise on second moments); Wang 2018 (sufficient statistics).
    """

    __canonical__: ClassVar[Record] = Record("ProductPlan", "features", "norm", "rho")

    features: Features
    #: The most that a scaled row's norm may be, its constant included; None leaves rows as long as they are.
    norm: Fraction | None
    rho: Fraction

    def __post_init__(self) -> None:
        if self.norm is not None and self.norm < LEAST_NORM:
            raise OutOfRange("norm is so small that all rows would be zero.", fix="pass norm=1 or the like, or None")

    @property
    def most(self) -> int:
        """Q, the most that the squared norm of a row can be, in steps."""
        box = (self.features.columns + 1) * STEPS**2
        return box if self.norm is None else min(box, int((self.norm * STEPS) ** 2))

    @property
    def noise(self) -> Gaussian:
        """The noise on every sum of products."""
        twice = self.most * (self.most + min(self.most, STEPS**2))
        return noise_for((twice + 1) // 2, self.rho)

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of the matrix."""
        return self.noise.cost

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on one entry."""
        return self.noise.deviation / STEPS**2

    def describe(self) -> str:
        """Return the release, in words."""
        return f"the second moments of {self.features.columns} columns"

    def canonical(self) -> str:
        """Return all that decides how answers are distributed."""
        return f"{FORM}\n{canonical_text(self)}"

    def check(self, data: GroupedRows, /) -> None:
        """Refuse, before anything is paid, rows of another shape than the declared columns."""
        self.features.check_columns(getattr(data, "values", None))

    def run(self, data: GroupedRows, entropy: Entropy, /) -> dict[str, NDArray[np.float64]]:
        """Return the noisy matrix; the last row and column are those of the constant."""
        rows = as_floats(shorten_rows(with_constant(self.features.steps(data.values)), self.most))
        exact = exact_products(rows, rows, STEPS**2)
        upper = np.triu_indices(len(exact))
        matrix = np.zeros(exact.shape)
        matrix[upper] = self.noise.perturb(exact[upper], entropy=entropy).astype(np.float64) / STEPS**2
        return {"moments": matrix + np.triu(matrix, 1).T}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupPlan:
    """Of every group its number of rows and, of every column, the sum and the sum of squares, scaled to at most 1.

    Guarantee: `rho`-zCDP for a row that is added or removed. Proof: a row is in one group, and adds to it 1, and of
    each of d columns a value and a square of at most 1 in magnitude: 2d + 1 numbers of at most S steps.
    Reference: Canonne, Kamath, Steinke 2020, Theorem 14, for the noise.
    """

    __canonical__: ClassVar[Record] = Record("GroupPlan", "features", "groups", "rho")

    features: Features
    groups: int
    rho: Fraction

    @property
    def noise(self) -> Gaussian:
        """The noise on every sum."""
        return noise_for((2 * self.features.columns + 1) * STEPS**2, self.rho)

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of the sums."""
        return self.noise.cost

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise on one sum."""
        return self.noise.deviation / STEPS

    def describe(self) -> str:
        """Return the release, in words."""
        return f"means and variances of {self.features.columns} columns in {self.groups} groups"

    def canonical(self) -> str:
        """Return all that decides how answers are distributed."""
        return f"{FORM}\n{canonical_text(self)}"

    def check(self, data: GroupedRows, /) -> None:
        """Refuse, before anything is paid, rows of another shape than the declared columns."""
        self.features.check_columns(getattr(data, "values", None))

    def run(self, data: GroupedRows, entropy: Entropy, /) -> dict[str, NDArray[np.float64]]:
        """Return noisy sums, a row a group: of the columns, of their squares, and the number of rows last."""
        steps = self.features.steps(data.values)
        added = as_floats(with_constant(np.hstack([steps, steps**2 // STEPS])))
        exact = exact_products(members(data.groups, self.groups), added, STEPS)
        return {"sums": self.noise.perturb(exact, entropy=entropy).astype(np.float64) / STEPS}


def members(groups: Integers, count: int) -> Floats:
    """Return a column a group: 1 for its rows, 0 for others; a row of no group is in no column."""
    return np.asarray(groups[:, None] == np.arange(count), np.float64)
