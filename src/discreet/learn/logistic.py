"""Private logistic regression: by noisy gradient descent, or by a perturbed objective."""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from discreet.core import InvalidInput, Number, exact, positive, whole
from discreet.learn.descent import ClassifiedRows, DescentPlan
from discreet.learn.estimator import Estimator, accuracy, need_as_many
from discreet.learn.features import Features, Floats, class_indices, read_classes, read_labels, read_matrix
from discreet.learn.objective import ObjectivePlan
from discreet.learn.payment import affordable

Method = Literal["descent", "objective"]
Plans = DescentPlan | ObjectivePlan


class LogisticRegression(Estimator):
    """Logistic regression: probabilities of public classes from bounded features.

    `method="descent"` (the default): full-batch gradient descent, gradients clipped to `clip` in units of features that
    are scaled to at most 1 in magnitude, `steps` steps at `rate` with `momentum`, the second half of them averaged.
    `method="objective"`: two classes, a random linear term is added to the objective, with `penalty` as the weight of
    |θ|²/2 (chosen from ε if None); `clip` is then the most that a scaled row's norm may be.

    Labels that are not among `classes` are left out. A missing value (NaN) becomes the middle of its bounds.

    Guarantee: (`epsilon`, `delta`) for a row that is added or removed; see `DescentPlan` and `ObjectivePlan`.

    Args:
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        bounds: (low, high) of the features, public: two numbers, or two arrays with one number per feature.
        classes: all possible labels, public.
        method: "descent" for noisy gradient descent, "objective" for a perturbed objective.
        clip: the clipping bound on a gradient (descent), or on the norm of a scaled row (objective).
        steps: the number of gradient steps.
        rate: the learning rate.
        momentum: the momentum, from 0 up to but not including 1.
        penalty: the weight of |θ|²/2 in the perturbed objective; chosen from ε if None.
        rows: the number of rows if it is public; if None, a small part of ε is spent on it.
        ledger: a `Ledger` or its path, from which a fit is paid; without one the caller keeps account.
        request: a name for the fit in the ledger; a repeated name returns the stored model for free.
        one_row_each: declare that each person has at most one row, which a ledger that protects persons requires.

    Raises:
        DiscreetError: from `fit`, if settings or the shape of the data do not fit, or the ledger does not allow the
            payment.

    Example:
        >>> import numpy as np
        >>> from discreet.learn import LogisticRegression
        >>> x = np.linspace(-1, 1, 2000).reshape(-1, 1)
        >>> model = LogisticRegression(epsilon=1, bounds=(-1, 1), classes=[0, 1]).fit(x, (x[:, 0] > 0).astype(int))
        >>> model.predict([[-0.9], [0.9]]).tolist()
        [0, 1]

    """

    def __init__(  # noqa: PLR0913 - scikit-learn's parameters are arguments
        self,
        *,
        epsilon: Number = 1.0,
        delta: Number = 1e-6,
        bounds: Any = None,
        classes: Any = None,
        method: Method = "descent",
        clip: Number = 1,
        steps: int = 100,
        rate: float = 1.0,
        momentum: float = 0.9,
        penalty: Number | None = None,
        rows: int | None = None,
        ledger: Any = None,
        request: str | None = None,
        one_row_each: bool = False,
    ) -> None:
        self.epsilon, self.delta, self.bounds, self.classes = epsilon, delta, bounds, classes
        self.method, self.clip, self.steps, self.rate, self.momentum = method, clip, steps, rate, momentum
        self.penalty, self.rows = penalty, rows
        self.ledger, self.request, self.one_row_each = ledger, request, one_row_each

    def plan(self, columns: int) -> Plans:
        """Return the plan of a fit on so many columns: it knows its cost, and no data."""
        features = Features(self.bounds, whole(columns, "columns"), centred=False)
        classes = read_classes(self.classes)
        match self.method:
            case "descent":
                return DescentPlan(
                    features=features,
                    classes=len(classes),
                    rho=affordable(self.epsilon, self.delta),
                    clip=positive(self.clip, "clip"),
                    steps=whole(self.steps, "steps"),
                    rate=float(positive(self.rate, "rate")),
                    momentum=float(exact(self.momentum, "momentum")),
                    rows=None if self.rows is None else whole(self.rows, "rows"),
                )
            case "objective":
                if len(classes) != 2:
                    raise InvalidInput(
                        "Only binary classification is supported. A perturbed objective is proved for two classes.",
                        fix='pass method="descent" for more',
                    )
                return ObjectivePlan.within(
                    features, positive(self.clip, "clip"), self.epsilon, self.delta, penalty=self.penalty
                )
            case _:
                raise InvalidInput(
                    f"Unknown method {self.method!r}.", fix='pass method="descent" or method="objective"'
                )

    def _several_classes(self) -> bool:
        return self.method != "objective"

    def fit(self, X: object, y: object) -> Self:  # noqa: N803 - scikit-learn's name
        """Fit, and pay for it."""
        values, labels = read_matrix(X), read_labels(y)
        need_as_many(values, labels)
        plan, classes = self.plan(values.shape[1]), read_classes(self.classes)
        data = ClassifiedRows(values, class_indices(labels, classes))
        self.weights_: Floats = np.asarray(self._settle(plan, data, values.shape[1])["weights"])
        self.features_, self.classes_ = plan.features, classes
        shown = self.weights_[:, 1:] - self.weights_[:, :1] if len(self.classes_) == 2 else self.weights_
        self.coef_ = (shown[:-1] / self.features_.scale[:, None]).T
        self.intercept_ = shown[-1]
        return self

    def decision_function(self, X: object) -> Floats:  # noqa: N803
        """Return the margin of every class, or of the second one if there are two."""
        values = self._read_again(X)
        margins = self.features_.scale_values(values) @ self.weights_[:-1] + self.weights_[-1]
        return np.asarray(margins[:, 1] - margins[:, 0] if len(self.classes_) == 2 else margins)

    def predict_proba(self, X: object) -> Floats:  # noqa: N803
        """Return the chance of every class, a row each."""
        margins = self.decision_function(X)
        if margins.ndim == 1:
            margins = np.column_stack([np.zeros_like(margins), margins])
        grown = np.exp(margins - margins.max(axis=1, keepdims=True))
        return np.asarray(grown / grown.sum(axis=1, keepdims=True))

    def predict(self, X: object) -> NDArray[Any]:  # noqa: N803
        """Return the likeliest class of every row."""
        margins = self.decision_function(X)
        places = (margins > 0).astype(np.int64) if margins.ndim == 1 else margins.argmax(axis=1)
        return np.asarray(self.classes_[places])

    def score(self, X: object, y: object) -> float:  # noqa: N803
        """Return the accuracy on rows and labels. As private as they are: not for release."""
        return accuracy(y, self.predict(X))
