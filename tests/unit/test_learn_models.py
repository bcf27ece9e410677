"""Models: they learn, they are paid for, they tell nothing else, and what is not declared is asked for."""

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from pandas.api.typing import NAType

from discreet.accounting import concentrated_of, epsilon
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, Neighbours, PrivacyUnit, RunFailed, WrongType
from discreet.gate import Budget, Ledger
from discreet.learn.bayes import GaussianNB
from discreet.learn.clusters import KMeans
from discreet.learn.features import class_indices, read_classes, read_labels, read_matrix
from discreet.learn.finite import FiniteClassifier
from discreet.learn.hypotheses import Thresholds
from discreet.learn.logistic import LogisticRegression
from discreet.learn.regression import LinearRegression, Ridge
from discreet.learn.transformers import PCA, StandardScaler

BOUNDS = (-4, 9)
MODELS = {
    "descent": LogisticRegression(bounds=BOUNDS, classes=[0, 1], steps=40),
    "objective": LogisticRegression(bounds=BOUNDS, classes=[0, 1], method="objective", clip=2),
    "bayes": GaussianNB(bounds=BOUNDS, classes=[0, 1]),
    "least squares": LinearRegression(bounds=BOUNDS, target_bounds=(-20, 25)),
    "ridge": Ridge(bounds=BOUNDS, target_bounds=(-20, 25), norm=1.5),
    "scaler": StandardScaler(bounds=BOUNDS),
    "components": PCA(2, bounds=BOUNDS),
    "clusters": KMeans(3, bounds=BOUNDS),
    "finite": FiniteClassifier(Thresholds(range(-3, 9))),
}


@pytest.fixture(scope="module")
def people():
    """Three clouds in three dimensions, a target that is linear, and a class that is its sign."""
    draws = np.random.default_rng(1)
    values = draws.normal(0, 1, (4000, 3)) + 4 * np.eye(3)[draws.integers(3, size=4000)]
    target = 2 * values[:, 0] - values[:, 1] + 3 + draws.normal(0, 0.5, 4000)
    return values, target, (target > 3).astype(int)


def fitted(name, people, **settings):
    values, target, classes = people
    model = pickle.loads(pickle.dumps(MODELS[name])).set_params(**settings)
    return model.fit(values, target if name in {"least squares", "ridge"} else classes)


@pytest.mark.parametrize("name", ["descent", "objective", "bayes"])
def test_classifiers_learn_at_one_epsilon(name, people):
    model = fitted(name, people)
    assert model.score(people[0], people[2]) > 0.9
    chances = model.predict_proba(people[0])
    assert np.allclose(chances.sum(axis=1), 1)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(people[0])).all()


@pytest.mark.parametrize(("name", "least"), [("least squares", 0.85), ("ridge", 0.95)])
def test_regressions_learn_at_one_epsilon(name, least, people):
    model = fitted(name, people)
    assert model.score(people[0], people[1]) > least
    values = people[0][:5]
    assert np.allclose(model.predict(values), values @ model.coef_ + model.intercept_)


def test_a_scaler_finds_means_and_spreads(people):
    model = fitted("scaler", people)
    assert np.abs(model.mean_ - people[0].mean(axis=0)).max() < 0.5
    assert np.abs(model.scale_ / people[0].std(axis=0) - 1).max() < 0.25
    inside = np.clip(people[0], *BOUNDS)
    assert np.allclose(model.inverse_transform(model.transform(people[0])), inside)


def test_components_span_what_rows_vary_in(people):
    model = fitted("components", people, epsilon=8)
    _, vectors = np.linalg.eigh(np.cov(people[0].T))
    assert np.linalg.norm(model.components_ @ vectors[:, 1:]) == pytest.approx(math.sqrt(2), abs=0.05)
    assert np.allclose(model.components_ @ model.components_.T, np.eye(2))
    assert model.inverse_transform(model.transform(people[0])).shape == people[0].shape


def test_clusters_are_found_where_they_are(people):
    model = fitted("clusters", people, epsilon=4)
    found = model.cluster_centers_[np.argsort(model.cluster_centers_.argmax(axis=1))]
    assert np.abs(found - 4 * np.eye(3)).max() < 0.5
    assert model.sizes_.sum() == pytest.approx(4000, rel=0.2)


def test_several_classes_are_told_apart(people):
    cloud = people[0].argmax(axis=1)
    model = LogisticRegression(bounds=BOUNDS, classes=["a", "b", "c"], steps=40, epsilon=2)
    labels = np.array(["a", "b", "c"])[cloud]
    assert model.fit(people[0], labels).score(people[0], labels) > 0.9
    assert model.coef_.shape == (3, 3)


@pytest.mark.parametrize("name", MODELS)
def test_a_plan_knows_its_cost_without_data_and_a_fit_costs_that(name, people):
    model = fitted(name, people)
    assert model.cost_ == (model.plan() if name == "finite" else model.plan(3)).cost
    assert model.receipt_ is None
    assert model.guarantee_.epsilon <= 1
    assert model.guarantee_.epsilon == pytest.approx(1, rel=1e-3)
    again = model.plan_.canonical()
    assert again == pickle.loads(pickle.dumps(model)).plan_.canonical()
    assert model.plan_.describe()


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_is_paid_from_the_ledger_and_keeps_its_receipt(name, people, tmp_path):
    with Ledger.create(tmp_path / "clinic.ledger", Budget(10, 1e-4, reserve=5e-5)) as ledger:
        model = fitted(name, people, ledger=ledger, request="first")
        assert model.receipt_.cost == model.cost_
        assert model.receipt_.what == model.plan_.describe()
        spent = ledger.spent
        assert spent > 0
        same = fitted(name, people, ledger=ledger, request="first")
        assert ledger.spent == spent
        learned = [key for key in vars(model) if key.endswith("_") and isinstance(getattr(model, key), np.ndarray)]
        assert learned or name == "finite"
        assert all((getattr(model, key) == getattr(same, key)).all() for key in learned)


def test_two_fits_are_two_payments_and_a_path_will_do(people, tmp_path):
    place = tmp_path / "clinic.ledger"
    Ledger.create(place, Budget(rho=1)).close()
    for times in (1, 2):
        model = fitted("scaler", people, ledger=place)
        with Ledger.open(place) as ledger:
            assert ledger.spent == times * concentrated_of(model.cost_)[0]


def test_a_fit_that_cannot_be_paid_never_sees_the_rows(people, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("discreet.learn.moments.GroupPlan.run", lambda *_: seen.append(1))
    with Ledger.create(tmp_path / "clinic.ledger", Budget(0.5, 1e-6)) as ledger:
        with pytest.raises(BudgetExceeded):
            fitted("scaler", people, ledger=ledger)
        assert not seen


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_that_is_refused_leaves_the_model_as_it_was(name, people, tmp_path):
    model = fitted(name, people)
    before = {key: pickle.dumps(value) for key, value in vars(model).items() if key.endswith("_")}
    with Ledger.create(tmp_path / "clinic.ledger", Budget(0.01, 1e-9)) as ledger, pytest.raises(BudgetExceeded):
        model.set_params(ledger=ledger).fit(people[0][:, :2] if name == "scaler" else people[0], people[2])
    assert {key: pickle.dumps(value) for key, value in vars(model).items() if key.endswith("_")} == before


def test_what_is_wrong_is_said_before_it_is_paid_for(people, tmp_path):
    with Ledger.create(tmp_path / "clinic.ledger", Budget(5, 1e-4)) as ledger:
        for name, wrong in (("ridge", {"alpha": -1}), ("components", {"n_components": 9}), ("clusters", {"steps": 0})):
            with pytest.raises(DiscreetError):
                fitted(name, people, ledger=ledger, **wrong)
        assert ledger.spent == 0


def test_a_ledger_of_units_that_are_replaced_is_refused(people, tmp_path):
    budget = Budget(5, 1e-5, unit=PrivacyUnit(neighbours=Neighbours.REPLACE))
    with Ledger.create(tmp_path / "clinic.ledger", budget) as ledger:
        with pytest.raises(InvalidInput, match="added or removed"):
            fitted("scaler", people, ledger=ledger)
        assert ledger.spent == 0


def test_a_ledger_of_persons_is_paid_from_only_if_nobody_has_more_than_one_row(people, tmp_path):
    budget = Budget(5, 1e-4, unit=PrivacyUnit(column="patient_id"))
    with Ledger.create(tmp_path / "clinic.ledger", budget) as ledger:
        with pytest.raises(InvalidInput, match="all rows of one patient_id") as caught:
            fitted("scaler", people, ledger=ledger)
        assert "one_row_each=True" in caught.value.fix
        assert ledger.spent == 0
        assert fitted("scaler", people, ledger=ledger, one_row_each=True).receipt_.number
        with pytest.raises(DiscreetError):
            fitted("scaler", people, ledger=ledger, one_row_each="no")


def test_a_ledger_of_personal_accounts_is_refused_and_nobody_pays(people, tmp_path):
    budget = Budget(5, 1e-4, unit=PrivacyUnit(column="patient_id"), per="person")
    with Ledger.create(tmp_path / "clinic.ledger", budget) as ledger, pytest.raises(DiscreetError) as caught:
        fitted("scaler", people, ledger=ledger, one_row_each=True)
    assert "person" in str(caught.value)


def test_a_fit_that_fails_after_payment_says_one_constant_sentence(people, tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.learn.moments.GroupPlan.run", lambda *_: 1 / 0)
    with Ledger.create(tmp_path / "clinic.ledger", Budget(5, 1e-4)) as ledger:
        with pytest.raises(RunFailed) as caught:
            fitted("scaler", people, ledger=ledger)
        assert "zero" not in str(caught.value)


@pytest.mark.parametrize("name", MODELS)
def test_bad_rows_and_no_rows_are_no_error(name, people):
    values = np.array([[math.nan, math.inf, -math.inf]] * 3)
    for size in (3, 0):
        model = pickle.loads(pickle.dumps(MODELS[name]))
        model.fit(values[:size], np.array([0, 1, 77])[:size])
        answers = model.transform(values) if hasattr(model, "transform") else model.predict(values)
        assert np.isfinite(answers.astype(float)).all()


def test_a_label_that_is_no_class_is_left_out(people):
    values, _, labels = people
    mixed = np.where(np.arange(len(labels)) % 2 == 0, labels, 5)
    model = GaussianNB(bounds=BOUNDS, classes=[0, 1], epsilon=100).fit(values, mixed)
    half = GaussianNB(bounds=BOUNDS, classes=[0, 1], epsilon=100).fit(values[::2], labels[::2])
    assert np.abs(model.theta_ - half.theta_).max() < 0.1
    assert np.abs(half.theta_[1] - np.clip(values[::2][labels[::2] == 1], *BOUNDS).mean(axis=0)).max() < 0.1
    assert np.abs(half.var_[1] - np.clip(values[::2][labels[::2] == 1], *BOUNDS).var(axis=0)).max() < 0.3


def test_nothing_private_is_shown(people):
    model = fitted("scaler", people)
    assert repr(model) == "StandardScaler(bounds=(-4, 9))"
    assert repr(model.plan_).startswith("GroupPlan(features=Features(low=(-4.0")


@pytest.mark.parametrize("name", [name for name in MODELS if name != "finite"])
def test_bounds_are_declared_and_never_read_off(name, people):
    with pytest.raises(InvalidInput, match="bounds are not declared"):
        fitted(name, people, bounds=None)
    if name in {"least squares", "ridge"}:
        with pytest.raises(InvalidInput, match="target_bounds are not declared"):
            fitted(name, people, target_bounds=None)


def test_what_is_missing_or_wrong_is_asked_for(people):
    values, _, classes = people
    with pytest.raises(InvalidInput, match="classes are not declared"):
        LogisticRegression(bounds=BOUNDS).fit(values, classes)
    with pytest.raises(InvalidInput, match="two classes or more"):
        GaussianNB(bounds=BOUNDS, classes=[1]).fit(values, classes)
    with pytest.raises(InvalidInput, match="different numbers"):
        GaussianNB(bounds=BOUNDS, classes=[0, 1]).fit(values, classes[1:])
    with pytest.raises(InvalidInput, match="Unknown method"):
        LogisticRegression(bounds=BOUNDS, classes=[0, 1], method="guess").fit(values, classes)
    with pytest.raises(InvalidInput, match="two classes"):
        LogisticRegression(bounds=BOUNDS, classes=[0, 1, 2], method="objective").fit(values, classes)
    with pytest.raises(InvalidInput, match="fewer columns"):
        PCA(9, bounds=BOUNDS).fit(values)
    with pytest.raises(InvalidInput, match="alpha is negative"):
        Ridge(bounds=BOUNDS, target_bounds=(0, 1), alpha=-1).fit(values, classes)
    with pytest.raises(InvalidInput, match="y has 2 dimensions"):
        Ridge(bounds=BOUNDS, target_bounds=(0, 1)).fit(values, values)
    with pytest.raises(InvalidInput, match="not fitted"):
        PCA(bounds=BOUNDS).inverse_transform(values)
    with pytest.raises(InvalidInput, match="no columns") as caught:
        PCA(bounds=BOUNDS).fit(np.zeros((23, 0)))
    assert "23" not in str(caught.value)
    with pytest.raises(InvalidInput, match="Unknown parameter"):
        PCA(9).set_params(colour=1)
    with pytest.raises(WrongType, match="not a ledger"):
        StandardScaler(bounds=BOUNDS, ledger=5).fit(values)
    with pytest.raises(WrongType, match="not of numbers") as caught:
        StandardScaler(bounds=BOUNDS).fit(np.array([["secret"]]))
    assert "secret" not in str(caught.value)
    assert "6" not in str(caught.value)  # nor how long it is


def test_less_epsilon_is_more_noise(people):
    noisy, clear = (StandardScaler(bounds=BOUNDS, epsilon=price).plan(3) for price in (0.1, 1))
    assert noisy.deviation > 5 * clear.deviation
    assert epsilon(noisy.cost, 1e-6) <= 0.1


ODD_LABELS = ["x", None, math.nan, 10**400, [1, 2], np.array([1, 2]), NAType()]


@pytest.mark.parametrize("odd", ODD_LABELS, ids=lambda odd: type(odd).__name__)
def test_one_odd_label_changes_what_no_other_row_is_labelled(odd):
    """As an array, [0, 1, "x"] would be three texts, and so nobody would be in a class."""
    labels, classes = [0, 1, True, 1.0], read_classes([0, 1])
    array = np.empty(5, object)
    array[:] = [*labels, odd]
    for given in ([*labels, odd], (*labels, odd), array):
        assert class_indices(read_labels(given), classes).tolist() == [0, 1, 1, 1, -1]
    assert class_indices(read_labels(labels), classes).tolist() == [0, 1, 1, 1]


@pytest.mark.parametrize("odd", [10**400, -(10**400), Fraction(10**400), None, NAType(), np.longdouble("1e4000")])
def test_a_number_beyond_all_floats_or_a_missing_one_is_refused_for_nobody(odd):
    """Whether it is refused would tell that somebody has one."""
    array = np.empty((2, 1), object)
    array[:, 0] = [1.5, odd]
    for given in (array, [[1.5], [odd]]):
        values = read_matrix(given)
        assert values[0, 0] == 1.5
        assert not np.isfinite(values[1, 0])
        assert np.isnan(values[1, 0]) == (odd is None or isinstance(odd, NAType))


def test_classes_of_several_kinds_are_refused():
    with pytest.raises(InvalidInput, match="strings"):
        read_classes(["none", 1])
