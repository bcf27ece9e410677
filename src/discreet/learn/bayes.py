"""Private naive Bayes: noisy class sizes, and noisy means and variances of every column."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.core import Number, whole
from discreet.learn.estimator import Estimator, accuracy, need_as_many
from discreet.learn.features import Features, Floats, class_indices, read_classes, read_labels, read_matrix
from discreet.learn.moments import GroupedRows, GroupPlan
from discreet.learn.payment import affordable
from discreet.learn.transformers import means_and_variances


class GaussianNB(Estimator):
    """Gaussian naive Bayes: classes as independent normal columns with noisy parameters.

    Labels that are not among `classes` are left out. A missing value (NaN) becomes the middle of its bounds.

    Guarantee: (`epsilon`, `delta`) for a row that is added or removed; see `GroupPlan`.
    Reference: Vaidya, Shafiq, Basu, Hong 2013, for the idea.

    Args:
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        bounds: (low, high) of the features, public: two numbers, or two arrays with one number per feature.
        classes: all possible labels, public.
        ledger: a `Ledger` or its path, from which a fit is paid; without one the caller keeps account.
        request: a name for the fit in the ledger; a repeated name returns the stored model for free.
        one_row_each: declare that each person has at most one row, which a ledger that protects persons requires.

    Raises:
        DiscreetError: from `fit`, if settings or the shape of the data do not fit, or the ledger does not allow the
            payment.

    """

    def __init__(
        self,
        *,
        epsilon: Number = 1.0,
        delta: Number = 1e-6,
        bounds: Any = None,
        classes: Any = None,
        ledger: Any = None,
        request: str | None = None,
        one_row_each: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.bounds, self.classes = epsilon, delta, bounds, classes
        self.ledger, self.request, self.one_row_each = ledger, request, one_row_each

    def plan(self, columns: int) -> GroupPlan:
        """Return the plan of a fit on so many columns: it knows its cost, and no data."""
        features = Features(self.bounds, whole(columns, "columns"), centred=True)
        classes = read_classes(self.classes)
        return GroupPlan(features=features, groups=len(classes), rho=affordable(self.epsilon, self.delta))

    def fit(self, X: object, y: object) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit, and pay for it."""
        values, labels = read_matrix(X), read_labels(y)
        need_as_many(values, labels)
        columns = values.shape[1]
        plan, classes = self.plan(columns), read_classes(self.classes)
        sums = np.asarray(self._settle(plan, GroupedRows(values, class_indices(labels, classes)), columns)["sums"])
        self.features_, self.classes_ = plan.features, classes
        sizes = np.maximum(sums[:, -1], max(plan.deviation, 1.0))
        self.class_prior_ = sizes / sizes.sum()
        means, variances = means_and_variances(sums, plan.deviation)
        self.theta_ = self.features_.origin + means * self.features_.scale
        self.var_ = variances * self.features_.scale**2
        return self

    def _joint(self, X: object) -> Floats:  # noqa: N803
        """Return the logarithm of prior times density, up to a constant, a column a class."""
        values = self._read_again(X)
        rows = self.features_.clamp_values(values)
        gaps = (rows[:, None, :] - self.theta_[None]) ** 2 / self.var_[None]
        return np.asarray(np.log(self.class_prior_) - (gaps + np.log(self.var_)[None]).sum(axis=2) / 2)

    def predict_proba(self, X: object) -> Floats:  # noqa: N803
        """Return the chance of every class, a row each."""
        joint = self._joint(X)
        grown = np.exp(joint - joint.max(axis=1, keepdims=True))
        return np.asarray(grown / grown.sum(axis=1, keepdims=True))

    def predict(self, X: object) -> NDArray[Any]:  # noqa: N803
        """Return the likeliest class of every row."""
        places = self._joint(X).argmax(axis=1)
        return np.asarray(self.classes_[places])

    def score(self, X: object, y: object) -> float:  # noqa: N803
        """Return the accuracy on rows and labels. As private as they are: not for release."""
        return accuracy(y, self.predict(X))
