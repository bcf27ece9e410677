"""Private k-means: Lloyd's algorithm with noisy sums and counts."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import PrivacyLoss
from discreet.core import Number, whole
from discreet.core.canonical_text import Record, canonical_text
from discreet.learn.estimator import Estimator
from discreet.learn.features import (
    STEPS,
    Features,
    Floats,
    Integers,
    as_floats,
    exact_margins,
    exact_products,
    read_matrix,
    with_constant,
)
from discreet.learn.moments import GroupedRows, members
from discreet.learn.payment import affordable, noise_for, total
from discreet.mechanisms import Gaussian
from discreet.noise import Entropy

FORM = "discreet clusters 1"
#: A cluster whose noisy size is not so many standard deviations of the noise is begun anew.
CLEAR = 3.0
#: The distance of the start from the largest cluster's centre, as a share of the range.
NEARBY = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """Lloyd's algorithm for a fixed number of steps; each moves every centre to a noisy mean of its rows.

    Centres begin at public points that are spread evenly (no data is looked at). Given the centres, which are public, a
    row's nearest centre is found on whole numbers, from that row alone.

    Guarantee: `rho`-zCDP for a row that is added or removed. Proof: in each step a row is in one cluster, and adds to
    it 1 and d values of at most 1 in magnitude: d + 1 numbers of at most S steps. Steps compose adaptively.
    Reference: Blum, Dwork, McSherry, Nissim 2005; Su, Cao, Li, Bertino, Jin 2016 (how few steps do).
    """

    __canonical__: ClassVar[Record] = Record("ClusterPlan", "features", "clusters", "steps", "rho")

    features: Features
    clusters: int
    steps: int
    rho: Fraction

    @property
    def noise(self) -> Gaussian:
        """The noise on every sum and count."""
        return noise_for((self.features.columns + 1) * STEPS**2, self.rho / self.steps)

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of all steps."""
        return total([(self.noise, self.steps)])

    def describe(self) -> str:
        """Return the release, in words."""
        return f"{self.clusters} clusters of rows of {self.features.columns} columns in {self.steps} steps"

    def canonical(self) -> str:
        """Return all that decides how answers are distributed."""
        return f"{FORM}\n{canonical_text(self)}"

    def check(self, data: GroupedRows, /) -> None:
        """Refuse, before anything is paid, rows of another shape than the declared columns."""
        self.features.check_columns(getattr(data, "values", None))

    def run(self, data: GroupedRows, entropy: Entropy, /) -> dict[str, NDArray[np.float64]]:
        """Return the centres, in scaled units, and the noisy sizes of the last step."""
        rows = with_constant(self.features.steps(data.values))
        table, centres = as_floats(rows), spread_points(self.clusters, self.features.columns)
        sizes = np.zeros(self.clusters)
        for _ in range(self.steps):
            chosen = members(nearest(table, centres), self.clusters)
            exact = exact_products(chosen, table, STEPS)
            sums = self.noise.perturb(exact, entropy=entropy).astype(np.float64) / STEPS
            centres, sizes = self._move_centres(centres, sums), sums[:, -1]
        return {"centres": centres, "sizes": sizes}

    def _move_centres(self, centres: Floats, sums: Floats) -> Floats:
        """Return the centres at noisy means; one whose cluster is lost in the noise goes near the largest one."""
        sizes = sums[:, -1]
        clear = sizes > CLEAR * self.noise.deviation / STEPS
        means = np.clip(sums[:, :-1] / np.maximum(sizes, 1.0)[:, None], -1, 1)
        near = np.clip(means[int(sizes.argmax())] + NEARBY * centres, -1, 1) if clear.any() else centres
        return np.asarray(np.where(clear[:, None], means, near))


def nearest(rows: Floats, centres: Floats) -> Integers:
    """Return the nearest centre of every row (the first of several); rows have a constant as last column.

    |x − c|² is smallest where 2x·c − |c|² is largest, and that is a product of whole numbers, found without error; but
    |c|² is rounded to a multiple of `STEPS`, so that between centres that are as near as that either may be taken.
    """
    steps = np.rint(centres * STEPS)
    constant = -np.rint((steps**2).sum(axis=1) / STEPS)
    return np.asarray(exact_margins(rows, np.hstack([2 * steps, constant[:, None]]).T).argmax(axis=1), np.int64)


def spread_points(count: int, columns: int) -> Floats:
    """Return public points spread evenly between ±1: multiples of powers of a generalised golden ratio, modulo 1.

    Reference: Roberts 2018, the R_d sequence.
    """
    ratio = 2.0
    for _ in range(64):
        ratio = (1 + ratio) ** (1 / (columns + 1))
    turns = ratio ** -np.arange(1.0, columns + 1)
    return np.asarray(2 * ((0.5 + np.outer(np.arange(1, count + 1), turns)) % 1) - 1)


class KMeans(Estimator):
    """K-means: centres of clusters of bounded rows.

    Guarantee: (`epsilon`, `delta`) for a row that is added or removed; see `ClusterPlan`.

    Args:
        n_clusters: the number of clusters.
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        bounds: (low, high) of the features, public: two numbers, or two arrays with one number per feature.
        steps: the number of rounds in which centres are moved.
        ledger: a `Ledger` or its path, from which a fit is paid; without one the caller keeps account.
        request: a name for the fit in the ledger; a repeated name returns the stored model for free.
        one_row_each: declare that each person has at most one row, which a ledger that protects persons requires.

    Raises:
        DiscreetError: from `fit`, if settings or the shape of the data do not fit, or the ledger does not allow the
            payment.

    """

    kind = "clusterer"

    def __init__(  # noqa: PLR0913 - scikit-learn's parameters are arguments
        self,
        n_clusters: int = 8,
        *,
        epsilon: Number = 1.0,
        delta: Number = 1e-6,
        bounds: Any = None,
        steps: int = 6,
        ledger: Any = None,
        request: str | None = None,
        one_row_each: bool = False,
    ) -> None:
        self.n_clusters, self.steps = n_clusters, steps
        self.epsilon, self.delta, self.bounds = epsilon, delta, bounds
        self.ledger, self.request, self.one_row_each = ledger, request, one_row_each

    def plan(self, columns: int) -> ClusterPlan:
        """Return the plan of a fit on so many columns: it knows its cost, and no data."""
        return ClusterPlan(
            features=Features(self.bounds, whole(columns, "columns"), centred=True),
            clusters=whole(self.n_clusters, "n_clusters"),
            steps=whole(self.steps, "steps"),
            rho=affordable(self.epsilon, self.delta),
        )

    def fit(self, X: object, y: object = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit, and pay for it."""
        del y
        values = read_matrix(X)
        columns = values.shape[1]
        plan = self.plan(columns)
        answer = self._settle(plan, GroupedRows(values, np.zeros(len(values), np.int64)), columns)
        self.features_ = plan.features
        self.cluster_centers_ = self.features_.origin + np.asarray(answer["centres"]) * self.features_.scale
        self.sizes_ = np.asarray(answer["sizes"])
        return self

    def transform(self, X: object) -> Floats:  # noqa: N803
        """Return every row's distance from every centre, in units of the scaled columns."""
        values = self._read_again(X)
        rows = self.features_.scale_values(values)
        centres = (self.cluster_centers_ - self.features_.origin) / self.features_.scale
        return np.asarray(np.sqrt(((rows[:, None] - centres[None]) ** 2).sum(axis=2)))

    def predict(self, X: object) -> Integers:  # noqa: N803
        """Return the nearest centre of every row."""
        return np.asarray(self.transform(X).argmin(axis=1))

    def fit_predict(self, X: object, y: object = None) -> Integers:  # noqa: N803
        """Fit, and return the cluster of every row: as private as the rows."""
        return self.fit(X, y).predict(X)

    def fit_transform(self, X: object, y: object = None) -> Floats:  # noqa: N803
        """Fit, and return every row's distances: as private as the rows."""
        return self.fit(X, y).transform(X)

    def score(self, X: object, y: object = None) -> float:  # noqa: N803
        """Return minus the sum of squared distances. As private as the rows: not for release."""
        del y
        return -float(np.square(self.transform(X).min(axis=1)).sum())
