"""Private least squares: one noisy matrix of second moments, followed by post-processing."""

from typing import Any, Self

import numpy as np

from discreet.core import InvalidInput, Number, exact, positive, whole
from discreet.learn.estimator import Estimator, need_as_many
from discreet.learn.features import Features, Floats, read_array, read_labels, read_matrix
from discreet.learn.moments import GroupedRows, ProductPlan
from discreet.learn.payment import affordable


class Ridge(Estimator):
    """Ridge regression from noisy sufficient statistics.

    `bounds` are those of the features, `target_bounds` those of y, both public. Features are scaled to ±1, and `alpha`
    is the penalty on their weights, in rows; to it is added what the noise is known to amount to, √columns times its
    standard deviation, so that noise cannot make the problem ill posed. `norm` shortens longer rows (of scaled
    features, the target and a constant 1), which is less noise for some bias.

    Guarantee: (`epsilon`, `delta`) for a row that is added or removed; see `ProductPlan`.
    Reference: Vu, Slavković 2009; Wang 2018 (AdaSSP, which also adds to the penalty by the noise).

    Args:
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        bounds: (low, high) of the features, public: two numbers, or two arrays with one number per feature.
        target_bounds: (low, high) of the target, public.
        alpha: the penalty on the weights, in rows.
        norm: the largest norm of a scaled row; longer rows are shortened. None keeps all rows as they are.
        ledger: a `Ledger` or its path, from which a fit is paid; without one the caller keeps account.
        request: a name for the fit in the ledger; a repeated name returns the stored model for free.
        one_row_each: declare that each person has at most one row, which a ledger that protects persons requires.

    Raises:
        DiscreetError: from `fit`, if settings or the shape of the data do not fit, or the ledger does not allow the
            payment.

    Example:
        >>> import numpy as np
        >>> from discreet.learn import Ridge
        >>> x = np.linspace(0, 1, 5000).reshape(-1, 1)
        >>> model = Ridge(epsilon=1, bounds=(0, 1), target_bounds=(0, 2)).fit(x, 2 * x[:, 0])
        >>> round(float(model.predict([[0.5]])[0]), 1)
        1.0

    """

    kind = "regressor"

    def __init__(  # noqa: PLR0913 - scikit-learn's parameters are arguments
        self,
        *,
        epsilon: Number = 1.0,
        delta: Number = 1e-6,
        bounds: Any = None,
        target_bounds: Any = None,
        alpha: Number = 1,
        norm: Number | None = None,
        ledger: Any = None,
        request: str | None = None,
        one_row_each: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.bounds, self.target_bounds = epsilon, delta, bounds, target_bounds
        self.alpha, self.norm = alpha, norm
        self.ledger, self.request, self.one_row_each = ledger, request, one_row_each

    def plan(self, columns: int) -> ProductPlan:
        """Return the plan of a fit on so many columns: it knows its cost, and no data."""
        width = whole(columns, "columns")
        features, target = self._features(width), self._target()
        joined = Features((features.low + target.low, features.high + target.high), width + 1, centred=True)
        norm = None if self.norm is None else positive(self.norm, "norm")
        return ProductPlan(features=joined, norm=norm, rho=affordable(self.epsilon, self.delta))

    def _features(self, columns: int) -> Features:
        return Features(self.bounds, columns, centred=True)

    def _target(self) -> Features:
        return Features(self.target_bounds, 1, centred=True, name="target_bounds")

    def fit(self, X: object, y: object) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit, and pay for it."""
        values, target = read_matrix(X), read_array(read_labels(y), "y")
        need_as_many(values, target)
        columns = values.shape[1]
        plan, penalty = self.plan(columns), self._penalty()
        data = GroupedRows(np.column_stack([values, target]), np.zeros(len(values), np.int64))
        moments = np.asarray(self._settle(plan, data, columns)["moments"])
        self.features_, self.target_ = self._features(columns), self._target()
        weights = self._solve(moments, penalty + plan.deviation * np.sqrt(columns + 1))
        spread = float(self.target_.scale[0])
        self.coef_ = spread * weights[:-1] / self.features_.scale
        self.intercept_ = float(self.target_.origin[0] + spread * weights[-1] - self.features_.origin @ self.coef_)
        return self

    def _solve(self, moments: Floats, penalty: float) -> Floats:
        """Return the weights of the scaled problem; columns are features, the target, the constant."""
        others = np.r_[0 : self.n_features_in_, self.n_features_in_ + 1]
        products, wanted = moments[np.ix_(others, others)], moments[others, self.n_features_in_]
        values, vectors = np.linalg.eigh(products)
        return np.asarray(vectors @ ((vectors.T @ wanted) / (np.maximum(values, 0) + penalty)))

    def _penalty(self) -> float:
        penalty = float(exact(self.alpha, "alpha"))
        if penalty < 0:
            raise InvalidInput("alpha is negative.", fix="pass alpha=1, or 0 for no penalty except that of the noise")
        return penalty

    def predict(self, X: object) -> Floats:  # noqa: N803
        """Return the predicted target of every row, within its bounds."""
        values = self._read_again(X)
        clamped = self.features_.clamp_values(values)
        return np.asarray(np.clip(clamped @ self.coef_ + self.intercept_, self.target_.low[0], self.target_.high[0]))

    def score(self, X: object, y: object) -> float:  # noqa: N803
        """Return R² on rows and targets. As private as they are: not for release."""
        truth = read_array(y, "y").ravel()
        missed = float(np.square(truth - self.predict(X)).sum())
        return 1 - missed / max(float(np.square(truth - truth.mean()).sum()), np.finfo(float).tiny)


class LinearRegression(Ridge):
    """Least squares with no penalty except the one that the noise requires; see `Ridge`.

    Args:
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        bounds: (low, high) of the features, public: two numbers, or two arrays with one number per feature.
        target_bounds: (low, high) of the target, public.
        norm: the largest norm of a scaled row; longer rows are shortened. None keeps all rows as they are.
        ledger: a `Ledger` or its path, from which a fit is paid; without one the caller keeps account.
        request: a name for the fit in the ledger; a repeated name returns the stored model for free.
        one_row_each: declare that each person has at most one row, which a ledger that protects persons requires.

    Raises:
        DiscreetError: from `fit`, if settings or the shape of the data do not fit, or the ledger does not allow the
            payment.

    """

    def __init__(  # noqa: PLR0913 - scikit-learn's parameters are arguments
        self,
        *,
        epsilon: Number = 1.0,
        delta: Number = 1e-6,
        bounds: Any = None,
        target_bounds: Any = None,
        norm: Number | None = None,
        ledger: Any = None,
        request: str | None = None,
        one_row_each: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.bounds, self.target_bounds = epsilon, delta, bounds, target_bounds
        self.norm = norm
        self.ledger, self.request, self.one_row_each = ledger, request, one_row_each

    def _penalty(self) -> float:
        return 0.0
