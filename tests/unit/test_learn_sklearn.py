"""Estimators keep scikit-learn's conventions, but for those that privacy forbids; and they work in its pipelines."""

import warnings
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from discreet.accounting import concentrated_of
from discreet.gate import Budget, Ledger
from discreet.learn.bayes import GaussianNB
from discreet.learn.clusters import KMeans
from discreet.learn.features import read_array, read_labels, read_matrix
from discreet.learn.finite import FiniteClassifier
from discreet.learn.hypotheses import Thresholds
from discreet.learn.logistic import LogisticRegression
from discreet.learn.regression import LinearRegression, Ridge
from discreet.learn.transformers import PCA, StandardScaler

#: So much that noise hides nothing from the checks.
PLENTY = {"epsilon": 10**6, "delta": 1e-6}

NOISE = "two fits draw two noises"
TELLING = "a refusal would tell of rows"

EXPECTED = {
    "check_fit_idempotent": NOISE,
    "check_regressor_data_not_an_array": NOISE,
    "check_regressors_int": NOISE,
    "check_clustering": NOISE,
    "check_classifier_data_not_an_array": NOISE,
    "check_estimators_empty_data_messages": TELLING,  # that there are none is as private as how many there are
    "check_classifiers_regression_target": TELLING,
    "check_dtype_object": TELLING,  # it puts a dictionary into one cell
    "check_supervised_y_no_nan": TELLING,
    "check_supervised_y_2d": NOISE,  # it warns as it should; then two fits are compared
}


def read_off(values):
    """Return bounds that the checks' data keeps: they do not declare any."""
    finite = np.where(np.isfinite(values), values, 0)
    return finite.min(axis=0, initial=-1) - 1, finite.max(axis=0, initial=1) + 1


@cache
def declaring(kind):
    """Return a kind of estimator that declares what the checks do not: everything else is as it stands."""

    class Declaring(kind):
        def fit(self, X, y=None):  # noqa: N803 - scikit-learn's name
            before = {
                name: getattr(self, name) for name in ("bounds", "classes", "target_bounds") if hasattr(self, name)
            }
            values = read_matrix(X)
            if "bounds" in before:
                self.bounds = read_off(values)
            if "classes" in before:
                self.classes = np.unique(read_labels(y))
            if "target_bounds" in before:
                self.target_bounds = tuple(float(end[0]) for end in read_off(read_array(read_labels(y), "y")[:, None]))
            try:
                return kind.fit(self, X, y)
            finally:
                self.set_params(**before)

        @classmethod
        def _names(cls):
            return kind._names()

    Declaring.__name__ = Declaring.__qualname__ = f"Declaring{kind.__name__}"
    globals()[Declaring.__name__] = Declaring  # so that it can be pickled
    return Declaring


@pytest.mark.parametrize(
    "estimator",
    [
        declaring(LogisticRegression)(**PLENTY, steps=20),
        declaring(GaussianNB)(**PLENTY),
        declaring(Ridge)(**PLENTY),
        declaring(LinearRegression)(**PLENTY),
        declaring(StandardScaler)(**PLENTY),
        declaring(PCA)(**PLENTY),
        declaring(KMeans)(**PLENTY, n_clusters=3),
        declaring(LogisticRegression)(**PLENTY, method="objective", clip=3),
        declaring(FiniteClassifier)(Thresholds([-1, 0, 0.5, 1]), epsilon=1000),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_scikit_learns_checks_pass_but_for_those_that_privacy_forbids(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's own
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {one["check_name"]: one["exception"] for one in results if one["status"] == "failed"}
    assert set(failed) - set(EXPECTED) == set(), failed
    assert sum(one["status"] == "passed" for one in results) >= 30


def test_estimators_stand_in_a_pipeline_and_in_a_search():
    draws = np.random.default_rng(1)
    values = draws.normal(0, 1, (400, 3))
    labels = np.where(values @ [1, -1, 0.5] > 0, "yes", "no")
    pipeline = make_pipeline(
        StandardScaler(epsilon=50, bounds=(-4, 4)),
        LogisticRegression(epsilon=50, bounds=(-5, 5), classes=["no", "yes"], steps=30),
    )
    assert pipeline.fit(values, labels).score(values, labels) > 0.85
    search = GridSearchCV(
        LogisticRegression(epsilon=50, bounds=(-4, 4), classes=["no", "yes"]), {"steps": [2, 30]}, cv=2
    ).fit(values, labels)
    assert search.best_estimator_.classes_.tolist() == ["no", "yes"]


def test_all_steps_of_a_pipeline_pay_from_one_ledger(tmp_path):
    place = tmp_path / "clinic.ledger"
    Ledger.create(place, Budget(rho=1)).close()
    values = np.random.default_rng(2).normal(0, 1, (300, 2))
    pipeline = make_pipeline(
        StandardScaler(bounds=(-4, 4), ledger=place),
        LogisticRegression(bounds=(-4, 4), classes=[0, 1], steps=5, ledger=place),
    )
    fitted = clone(pipeline).fit(values, (values[:, 0] > 0).astype(int))
    with Ledger.open(place) as ledger:
        assert ledger.spent == sum(concentrated_of(step.cost_)[0] for _, step in fitted.steps)


def test_a_clone_has_the_parameters_and_not_the_fit():
    model = StandardScaler(epsilon=2, bounds=(0, 1)).fit(np.zeros((5, 2)))
    copy = clone(model)
    assert copy.get_params() == model.get_params()
    assert not hasattr(copy, "mean_")
