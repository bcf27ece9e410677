"""The base of all estimators: scikit-learn's conventions, without scikit-learn, and the payment of a fit.

A parent class, which this library else does without: `clone`, `Pipeline` and `GridSearchCV` know an estimator by
inherited ways (parameters are the arguments of `__init__`, kept as they are; what is learned ends in an underscore).
"""

import inspect
import sys
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import guarantee
from discreet.core import InvalidInput
from discreet.gate import Plan
from discreet.learn.features import Floats, read_matrix
from discreet.learn.payment import Fitted, buy


class Estimator:
    """Parameters by name, a fit that is paid for, and its cost, guarantee and receipt afterwards.

    One row is one unit, which is added or removed. A ledger whose units are persons is paid from only where
    `one_row_each` declares that no person has more than one row: several would multiply the cost.
    """

    #: scikit-learn's word for what it is.
    kind: str = "classifier"
    epsilon: Any
    delta: Any
    bounds: Any
    ledger: Any
    request: Any
    one_row_each: Any

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name in inspect.signature(cls).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 - scikit-learn's signature
        """Return the parameters by name."""
        del deep
        return {name: getattr(self, name) for name in self._names()}

    def set_params(self, **parameters: Any) -> Self:
        """Change parameters by name."""
        for name, value in parameters.items():
            if name not in self._names():
                raise InvalidInput(f"Unknown parameter {name!r}.", fix=f"name one of {', '.join(self._names())}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = inspect.signature(type(self)).parameters
        changed = [
            f"{name}={value!r}"
            for name, value in self.get_params().items()
            if repr(value) != repr(defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _settle(self, plan: Plan[Any], data: object, columns: int) -> Any:
        """Pay for a plan, run it, and keep what it cost; return what it gave."""
        fitted: Fitted = buy(plan, data, self.ledger, self.request, one_row_each=self.one_row_each)
        self.n_features_in_ = columns
        self.plan_ = plan
        self.cost_ = fitted.cost
        self.guarantee_ = guarantee(fitted.cost, self.delta)
        self.receipt_ = fitted.receipt
        return fitted.answer

    def _read_again(self, values: object) -> Floats:
        """Return rows for a model that was fitted, with as many columns as it was fitted with."""
        self._need_fitted()
        table = read_matrix(values)
        if table.shape[1] != self.n_features_in_:
            raise InvalidInput(
                f"X has {table.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input.",
                fix="pass the columns that the model was fitted on",
            )
        return table

    def _need_fitted(self) -> None:
        if not hasattr(self, "n_features_in_"):
            raise _not_fitted(type(self).__name__)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Any:
        """Return the tags that scikit-learn asks for."""
        tags = import_module("sklearn.utils")
        own_tags = tags.Tags(
            estimator_type=self.kind,
            target_tags=tags.TargetTags(required=self.kind in {"classifier", "regressor"}),
            input_tags=tags.InputTags(allow_nan=True),
            non_deterministic=True,
        )
        if self.kind == "classifier":
            own_tags.classifier_tags = tags.ClassifierTags(poor_score=True, multi_class=self._several_classes())
        if self.kind == "regressor":
            own_tags.regressor_tags = tags.RegressorTags(poor_score=True)
        if hasattr(self, "transform"):
            own_tags.transformer_tags = tags.TransformerTags()
        return own_tags

    def _several_classes(self) -> bool:
        """Whether there may be more than two classes."""
        return True


def accuracy(labels: object, predicted: NDArray[Any]) -> float:
    """Return the share of labels that were predicted. As private as the labels: not for release."""
    return float(np.mean(np.asarray(labels) == predicted))


def need_as_many(values: Floats, others: NDArray[Any]) -> None:
    """Refuse labels that are not one a row: a caller's mistake, for any rows."""
    if len(values) != len(others):
        raise InvalidInput("X and y have different numbers of rows.", fix="pass one label per row")


def _not_fitted(name: str) -> InvalidInput:
    """Return the error for a model without a fit; where scikit-learn is in use, one that it knows as its own."""
    problem, fix = f"This {name} is not fitted.", "call fit first"
    if "sklearn" not in sys.modules:
        return InvalidInput(problem, fix=fix)
    theirs = import_module("sklearn.exceptions").NotFittedError
    kind: type[InvalidInput] = type("NotFitted", (InvalidInput, theirs), {})
    return kind(problem, fix=fix)
