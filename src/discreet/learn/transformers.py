"""Private scaling and principal components: noisy means, variances and directions."""

from typing import Any, Self

import numpy as np

from discreet.core import InvalidInput, Number, positive, whole
from discreet.learn.estimator import Estimator
from discreet.learn.features import Features, Floats, read_matrix
from discreet.learn.moments import GroupedRows, GroupPlan, ProductPlan
from discreet.learn.payment import affordable

#: The least share of a column's range that is taken for its spread; below, noise would blow a column up.
LEAST_SPREAD = 1e-3


class StandardScaler(Estimator):
    """Subtracts a noisy mean and divides by a noisy standard deviation, column by column.

    Guarantee: (`epsilon`, `delta`) for a row that is added or removed; see `GroupPlan`.

    Args:
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        bounds: (low, high) of the features, public: two numbers, or two arrays with one number per feature.
        ledger: a `Ledger` or its path, from which a fit is paid; without one the caller keeps account.
        request: a name for the fit in the ledger; a repeated name returns the stored scaler for free.
        one_row_each: declare that each person has at most one row, which a ledger that protects persons requires.

    Raises:
        DiscreetError: from `fit`, if settings or the shape of the data do not fit, or the ledger does not allow the
            payment.

    """

    kind = "transformer"

    def __init__(
        self,
        *,
        epsilon: Number = 1.0,
        delta: Number = 1e-6,
        bounds: Any = None,
        ledger: Any = None,
        request: str | None = None,
        one_row_each: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.bounds = epsilon, delta, bounds
        self.ledger, self.request, self.one_row_each = ledger, request, one_row_each

    def plan(self, columns: int) -> GroupPlan:
        """Return the plan of a fit on so many columns: it knows its cost, and no data."""
        features = Features(self.bounds, whole(columns, "columns"), centred=True)
        return GroupPlan(features=features, groups=1, rho=affordable(self.epsilon, self.delta))

    def fit(self, X: object, y: object = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit, and pay for it."""
        del y
        values = read_matrix(X)
        columns = values.shape[1]
        plan = self.plan(columns)
        sums = np.asarray(self._settle(plan, GroupedRows(values, np.zeros(len(values), np.int64)), columns)["sums"])
        self.features_ = plan.features
        mean, variance = means_and_variances(sums, plan.deviation)
        self.mean_ = self.features_.origin + mean[0] * self.features_.scale
        self.scale_ = np.sqrt(variance[0]) * self.features_.scale
        return self

    def transform(self, X: object) -> Floats:  # noqa: N803
        """Return rows within their bounds, less the mean, over the standard deviation."""
        values = self._read_again(X)
        return np.asarray((self.features_.clamp_values(values) - self.mean_) / self.scale_)

    def fit_transform(self, X: object, y: object = None) -> Floats:  # noqa: N803
        """Fit, and return the rows transformed: as private as they are."""
        return self.fit(X, y).transform(X)

    def inverse_transform(self, X: object) -> Floats:  # noqa: N803
        """Return rows as they were before."""
        return np.asarray(self._read_again(X) * self.scale_ + self.mean_)


class PCA(Estimator):
    """Principal components: the directions of largest variance, from noisy second moments.

    Guarantee: (`epsilon`, `delta`) for a row that is added or removed; see `ProductPlan`.
    Reference: Dwork, Talwar, Thakurta, Zhang 2014, Algorithm 1.

    Args:
        n_components: the number of components; all if None.
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        bounds: (low, high) of the features, public: two numbers, or two arrays with one number per feature.
        norm: the largest norm of a scaled row; longer rows are shortened. None keeps all rows as they are.
        ledger: a `Ledger` or its path, from which a fit is paid; without one the caller keeps account.
        request: a name for the fit in the ledger; a repeated name returns the stored model for free.
        one_row_each: declare that each person has at most one row, which a ledger that protects persons requires.

    Raises:
        DiscreetError: from `fit`, if settings or the shape of the data do not fit, or the ledger does not allow the
            payment.

    """

    kind = "transformer"

    def __init__(  # noqa: PLR0913 - scikit-learn's parameters are arguments
        self,
        n_components: int | None = None,
        *,
        epsilon: Number = 1.0,
        delta: Number = 1e-6,
        bounds: Any = None,
        norm: Number | None = None,
        ledger: Any = None,
        request: str | None = None,
        one_row_each: bool = False,
    ) -> None:
        self.n_components, self.norm = n_components, norm
        self.epsilon, self.delta, self.bounds = epsilon, delta, bounds
        self.ledger, self.request, self.one_row_each = ledger, request, one_row_each

    def plan(self, columns: int) -> ProductPlan:
        """Return the plan of a fit on so many columns: it knows its cost, and no data."""
        features = Features(self.bounds, whole(columns, "columns"), centred=True)
        norm = None if self.norm is None else positive(self.norm, "norm")
        return ProductPlan(features=features, norm=norm, rho=affordable(self.epsilon, self.delta))

    def fit(self, X: object, y: object = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit, and pay for it."""
        del y
        values = read_matrix(X)
        columns = values.shape[1]
        components = columns if self.n_components is None else whole(self.n_components, "n_components")
        if components > columns:
            raise InvalidInput(
                "There are fewer columns than components.", fix=f"pass n_components of {columns} or less"
            )
        plan = self.plan(columns)
        moments = np.asarray(
            self._settle(plan, GroupedRows(values, np.zeros(len(values), np.int64)), columns)["moments"]
        )
        self.features_ = plan.features
        size, scale = max(float(moments[-1, -1]), plan.deviation, 1.0), self.features_.scale
        mean = np.clip(moments[-1, :-1] / size, -1, 1)
        spread = (moments[:-1, :-1] / size - np.outer(mean, mean)) * np.outer(scale, scale)
        variances, vectors = np.linalg.eigh(spread)
        order = np.argsort(variances)[::-1][:components]
        self.mean_ = self.features_.origin + mean * scale
        self.components_ = vectors[:, order].T
        self.explained_variance_ = np.maximum(variances[order], 0)
        self.explained_variance_ratio_ = self.explained_variance_ / max(float(np.maximum(variances, 0).sum()), 1e-300)
        return self

    def transform(self, X: object) -> Floats:  # noqa: N803
        """Return rows within their bounds in terms of the components."""
        values = self._read_again(X)
        return np.asarray((self.features_.clamp_values(values) - self.mean_) @ self.components_.T)

    def fit_transform(self, X: object, y: object = None) -> Floats:  # noqa: N803
        """Fit, and return the rows transformed: as private as they are."""
        return self.fit(X, y).transform(X)

    def inverse_transform(self, X: object) -> Floats:  # noqa: N803
        """Return the rows that components stand for."""
        self._need_fitted()
        return np.asarray(read_matrix(X) @ self.components_ + self.mean_)


def means_and_variances(sums: Floats, deviation: float) -> tuple[Floats, Floats]:
    """Return the means and variances that noisy sums imply, a row a group, in scaled units: post-processing.

    No variance is less than what the noise alone makes of it, or a few lucky draws would make a column all that counts.
    """
    columns, size = sums.shape[1] // 2, np.maximum(sums[:, -1:], max(deviation, 1.0))
    mean = np.clip(sums[:, :columns] / size, -1, 1)
    square = np.clip(sums[:, columns : 2 * columns] / size, 0, 1)
    return mean, np.clip(square - mean**2, np.maximum(deviation / size, LEAST_SPREAD**2), 1)
