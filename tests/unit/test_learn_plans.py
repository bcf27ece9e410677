"""Sums that models are made of: exact, of one row's making each, and within the sensitivity that is paid for."""

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import GaussianNoise, concentrated_of, delta, epsilon
from discreet.core import InvalidInput, NotProved, OutOfRange
from discreet.gate import Budget, Gate, Ledger
from discreet.learn import descent, features, objective
from discreet.learn.clusters import ClusterPlan, nearest, spread_points
from discreet.learn.descent import ClassifiedRows, DescentPlan
from discreet.learn.features import STEPS, Features, exact_margins, shorten_rows, squares
from discreet.learn.moments import GroupedRows, GroupPlan, ProductPlan
from discreet.learn.objective import MOST_DRIVEN, Objective, ObjectivePlan, steepest
from discreet.noise import SYSTEM
from ledger_bytes import nothing_written

RHO = Fraction(1, 2)


def hostile(draws, rows, columns):
    """Return rows that are missing, infinite, far beyond their bounds, or just at them."""
    values = draws.normal(0, 2, (rows, columns))
    odd = [math.nan, math.inf, -math.inf, 1e300, -1e300, 1.0, -1.0, 0.0, 5e-324]
    values[draws.random((rows, columns)) < 0.3] = draws.choice(odd)
    return values


@pytest.fixture
def without_noise(monkeypatch):
    """Let Gaussian noise be left out, and keep what it was asked to perturb."""
    seen = []

    def perturb(answer, draw, entropy):
        seen.append(np.asarray(answer))
        return answer

    monkeypatch.setattr("discreet.mechanisms.gaussian.add_noise", perturb)
    return seen


def box(columns, *, centred=True):
    return Features((-1, 1), columns, centred=centred)


PLANS = {
    "products": ProductPlan(features=box(3), norm=None, rho=RHO),
    "products of short rows": ProductPlan(features=box(3), norm=Fraction(3, 4), rho=RHO),
    "groups": GroupPlan(features=box(3), groups=2, rho=RHO),
    "clusters": ClusterPlan(features=box(3), clusters=2, steps=1, rho=RHO),
}


@pytest.mark.parametrize("name", PLANS)
def test_one_row_moves_the_sums_within_the_sensitivity_that_is_paid_for(name, without_noise):
    plan, draws, worst = PLANS[name], np.random.default_rng(1), 0
    for trial in range(60):
        values, groups = hostile(draws, 6, 3), draws.integers(-1, 2, 6)
        values[0] = draws.choice([-1.0, 1.0], 3) * (trial % 2)  # the longest row there is, and the most lopsided one
        groups[0] = 1
        for table in (GroupedRows(values, groups), GroupedRows(values[1:], groups[1:])):
            plan.run(table, SYSTEM)
        more, fewer = without_noise[-2:]
        worst = max(worst, int(((more - fewer).astype(object) ** 2).sum()))
    assert worst <= plan.noise.sensitivity.l2_squared
    assert worst >= 0.6 * plan.noise.sensitivity.l2_squared  # or it would pay for what cannot happen


@pytest.mark.parametrize("clip", [Fraction(1), Fraction(1, 3), Fraction(5)])
def test_one_row_moves_a_gradient_by_at_most_the_clip(clip, without_noise):
    plan = DescentPlan(
        features=box(3, centred=False), classes=3, rho=RHO, clip=clip, steps=1, rate=1.0, momentum=0.0, rows=10
    )
    draws, worst = np.random.default_rng(2), 0
    for _ in range(40):
        rows = features.with_constant(plan.features.steps(hostile(draws, 7, 3)))
        labels, weights = draws.integers(0, 3, 7), draws.normal(0, 3, (4, 3))
        room = plan.most**2 // squares(rows)
        for keep in (slice(0, 7), slice(1, 7)):
            plan._gradient(rows[keep].astype(float), labels[keep], room[keep], weights, SYSTEM)
        more, fewer = without_noise[-2:]
        worst = max(worst, int(((more - fewer).astype(object) ** 2).sum()))
    assert worst <= plan.most**2 == plan.gradient.sensitivity.l2_squared
    if clip <= 1:
        assert worst >= 0.99 * plan.most**2


@pytest.mark.parametrize("label", [-7, 2, 1000])
def test_a_label_that_is_no_class_counts_for_nobody_in_any_plan(label, without_noise, monkeypatch):
    seen = []
    monkeypatch.setattr(Objective, "minimum", lambda self: (seen.append(self.labels.tolist()), np.zeros(4))[1])
    descending = DescentPlan(
        features=box(3), classes=2, rho=RHO, clip=Fraction(1), steps=1, rate=1.0, momentum=0.0, rows=10
    )
    values = hostile(np.random.default_rng(8), 4, 3)
    for labels in ([0, 1, 1, label], [0, 1, 1]):
        data = ClassifiedRows(values[: len(labels)], np.array(labels))
        descending.run(data, SYSTEM)
        plan_of(columns=3).run(data, SYSTEM)
    assert seen == [[0, 1, 1], [0, 1, 1]]
    sums = [one for one in without_noise if one.shape == (4, 2)]
    assert len(sums) == 2
    assert (sums[0] == sums[1]).all()


def test_sums_are_exact_whatever_the_order_of_rows(without_noise):
    draws = np.random.default_rng(3)
    values = hostile(draws, 1000, 3)
    plan = PLANS["products"]
    for order in (np.arange(1000), draws.permutation(1000)):
        plan.run(GroupedRows(values[order], np.zeros(1000, int)), SYSTEM)
    rows = features.with_constant(plan.features.steps(values)).astype(object)
    truth = (rows.T @ rows)[np.triu_indices(4)]
    assert without_noise[0].tolist() == without_noise[1].tolist() == truth.tolist()


def test_a_row_becomes_the_same_numbers_alone_and_among_others():
    draws = np.random.default_rng(4)
    values, weights = hostile(draws, 501, 5), draws.normal(0, 1e6, (6, 3))
    kind = Features((np.full(5, -1.0), np.full(5, 7.0)), 5, centred=False)
    rows = features.with_constant(kind.steps(values))
    labels = draws.integers(0, 3, 501)
    together = descent.residuals(exact_margins(rows.astype(float), weights), labels)
    for at in (0, 1, 250, 500):
        alone = features.with_constant(kind.steps(values[at : at + 1]))
        assert alone.tolist() == rows[at : at + 1].tolist()
        margin = exact_margins(alone.astype(float), weights)
        assert descent.residuals(margin, labels[at : at + 1]).tolist() == together[at : at + 1].tolist()
        truth = alone.astype(object) @ np.rint(weights).astype(np.int64).astype(object)
        assert margin.tolist() == truth.tolist()


def test_chances_on_whole_numbers_are_close_to_those_on_floats():
    draws = np.random.default_rng(5)
    margins = draws.normal(0, 4, (200, 4))
    steps = np.rint(margins * 2.0 ** (features.BITS + descent.WEIGHT_BITS)).astype(np.int64)
    grown = np.exp(margins - margins.max(axis=1, keepdims=True))
    expected = grown / grown.sum(axis=1, keepdims=True) - np.eye(4)[0]
    found = descent.residuals(steps, np.zeros(200, int)) / descent.CHANCES
    assert np.abs(found - expected).max() < 1e-3


def test_long_rows_are_shortened_to_the_norm_and_short_ones_stay():
    rows = np.random.default_rng(6).integers(-STEPS, STEPS, (500, 3))
    short = shorten_rows(rows, STEPS**2)
    assert squares(short).max() <= STEPS**2
    assert np.median(squares(short)[squares(rows) > STEPS**2]) > 0.99 * STEPS**2
    within = squares(rows) <= STEPS**2
    assert (short[within] == rows[within]).all()


def test_a_missing_value_is_the_middle_of_its_bounds_and_others_are_clamped():
    kind = Features((0, 8), 1, centred=False)
    values = np.array([[math.nan], [-5.0], [99.0], [math.inf], [2.0]])
    assert kind.steps(values)[:, 0].tolist() == [STEPS // 2, 0, STEPS, STEPS, STEPS // 4]


@pytest.mark.parametrize("name", [*PLANS, "descent", "descent, counted"])
def test_the_parts_of_a_plan_cost_together_what_was_to_be_spent(name):
    rows = {"descent": 100, "descent, counted": None}
    plan = PLANS.get(name) or DescentPlan(
        features=box(3), classes=2, rho=RHO, clip=Fraction(1), steps=7, rate=1.0, momentum=0.5, rows=rows[name]
    )
    spent, lost = concentrated_of(plan.cost)
    assert lost == 0
    assert RHO * Fraction(999, 1000) < spent <= RHO


def test_a_gradient_really_has_the_noise_that_is_paid_for():
    plan = DescentPlan(features=box(1), classes=2, rho=RHO, clip=Fraction(1), steps=4, rate=1.0, momentum=0.0, rows=10)
    draws = np.array(
        [
            plan._gradient(np.zeros((0, 2)), np.zeros(0, int), np.zeros(0, int), np.zeros((2, 2)), SYSTEM)
            for _ in range(500)
        ]
    )
    # σ² = clip²/2ρ, ρ a quarter of RHO: 4. 2,000 draws: the mean square is within 16 % but once in 10⁶ runs.
    assert np.mean(draws**2) == pytest.approx(4, rel=0.16)


@pytest.mark.parametrize("name", PLANS)
def test_sums_really_have_the_noise_that_is_paid_for(name):
    """Of no rows at all: what comes out is the noise, in units of 1."""
    plan, none = PLANS[name], GroupedRows(np.zeros((0, 3)), np.zeros(0, int))
    draws = []
    for _ in range(300):
        answer = plan.run(none, SYSTEM)
        found = answer.get("sums", answer.get("sizes"))
        draws.append(answer["moments"][np.triu_indices(4)] if found is None else found)
    noise = plan.noise.deviation / (STEPS**2 if name.startswith("products") else STEPS)
    # 600 draws at the least: the mean square is within 29 % but once in 10⁶ runs. Each has noise of its own, too.
    values = np.array(draws).reshape(300, -1)
    assert np.mean(values**2) == pytest.approx(noise**2, rel=0.29)
    assert abs(np.mean(values[:, 0] * values[:, 1])) < 0.29 * noise**2


def test_a_perturbed_objective_really_has_the_noise_that_is_paid_for():
    """Of no rows at all: the minimum is −b/Λ, and there is some more noise for its approximation."""
    plan = plan_of(columns=2)
    none = ClassifiedRows(np.zeros((0, 2)), np.zeros(0, int))
    draws = np.array([plan.run(none, SYSTEM)["weights"][:, 1] for _ in range(200)])
    linear = math.sqrt(plan.variance) / 2**30 / float(plan.penalty)
    assert plan.output.deviation / 2**32 < linear / 20
    assert np.mean(draws**2) == pytest.approx(linear**2, rel=0.29)


def test_the_approximation_of_a_minimum_really_has_its_noise(monkeypatch):
    plan = plan_of(columns=2)
    monkeypatch.setattr(Objective, "minimum", lambda self: np.zeros(3))
    none = ClassifiedRows(np.zeros((0, 2)), np.zeros(0, int))
    draws = np.array([plan.run(none, SYSTEM)["weights"][:, 1] for _ in range(200)])
    assert np.mean(draws**2) == pytest.approx((plan.output.deviation / 2**32) ** 2, rel=0.29)


def test_however_many_rows_there_are_sums_are_exact_and_nothing_is_refused(monkeypatch):
    draws = np.random.default_rng(11)
    rows = draws.integers(-STEPS, STEPS + 1, (1000, 3))
    truth = (rows.astype(object).T @ rows.astype(object)).tolist()
    for most in (1 << 53, 40 * STEPS**2, STEPS**2, 1):  # all rows in one piece, forty in one, one in one
        monkeypatch.setattr(features, "EXACT", most)
        assert features.exact_products(rows.astype(float), rows.astype(float), STEPS**2).tolist() == truth


def test_the_nearest_centre_is_found_exactly():
    draws = np.random.default_rng(7)
    centres = spread_points(5, 3)
    rows = draws.integers(-STEPS, STEPS, (300, 3))
    steps = np.rint(centres * STEPS).astype(int)
    distances = ((rows[:, None] - steps[None]) ** 2).sum(axis=2)
    found = nearest(features.with_constant(rows).astype(float), centres)
    # |c|² is rounded to a multiple of STEPS: ties within that may go either way.
    assert (distances[np.arange(300), found] <= distances.min(axis=1) + STEPS).all()
    assert np.abs(centres).max() <= 1


# Objective perturbation.


def plan_of(price=1.0, columns=1, norm=1, **other):
    return ObjectivePlan.within(box(columns, centred=False), Fraction(norm), price, 1e-6, penalty=None, **other)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("norm", [1.0, 3.0])
def test_the_theorem_on_perturbed_objectives_holds_in_one_dimension(label, norm):
    """The density of the minimum is known there; hockey-stick divergences are integrals, found to 1e-6."""
    penalty, sigma = 1.5, 2.0 * norm
    rows, labels = np.array([norm, -norm / 2, norm / 3]), np.array([1, 0, 0])
    at = np.linspace(-80, 80, 400_001)

    def density(xs, ys):
        chances = 1 / (1 + np.exp(-np.outer(at, xs)))
        noise = -((chances - ys) @ xs + penalty * at)
        jacobian = (chances * (1 - chances)) @ xs**2 + penalty
        return np.exp(-(noise**2) / 2 / sigma**2) / sigma / math.sqrt(2 * math.pi) * jacobian

    fewer, more = density(rows, labels), density(np.append(rows, norm), np.append(labels, label))
    step = at[1] - at[0]
    assert fewer.sum() * step == pytest.approx(1, abs=1e-9)
    shift = math.log1p(norm**2 / 4 / penalty)
    for price in (shift, shift + 0.2, shift + 1):
        allowed = delta(GaussianNoise(Fraction(2)), price - shift)
        for one, other in ((fewer, more), (more, fewer)):
            assert np.maximum(one - math.exp(price) * other, 0).sum() * step <= allowed + 1e-6


def test_what_a_perturbed_objective_pays_is_what_was_asked():
    plan = plan_of()
    assert epsilon(plan.cost, 1e-6) <= 1 + 1e-12
    assert plan.jacobian > math.log1p(1 / 4 / float(plan.penalty))
    sigma = Fraction(math.isqrt(plan.variance.numerator), 1 << 30)
    assert delta(GaussianNoise(sigma), plan.epsilon - plan.jacobian) <= float(plan.delta)
    apart = 2 * (steepest(float(plan.penalty)) / float(plan.penalty) * 2**32 + math.sqrt(2) / 2)
    assert plan.output.sensitivity.l2_squared >= apart**2
    # ε/20 and δ/20 are for the approximation.
    assert epsilon(plan.output.cost, plan.delta / 19) <= float(plan.epsilon / 19) * (1 + 1e-9)


def test_weights_stay_numbers_at_the_wildest_rate():
    plan = DescentPlan(
        features=box(2), classes=3, rho=Fraction(1, 10**9), clip=Fraction(1), steps=30, rate=1e6, momentum=0.999, rows=1
    )
    weights = plan.run(ClassifiedRows(np.ones((5, 2)), np.array([0, 1, 2, 0, 1])), SYSTEM)["weights"]
    assert np.isfinite(weights).all()
    assert np.abs(weights).max() <= descent.FARTHEST


@pytest.mark.parametrize("rows", [0, 1, 400])
@pytest.mark.parametrize("penalty", [0.5, 20.0])
def test_a_minimum_is_found_also_where_newtons_method_gives_up(rows, penalty, monkeypatch):
    """Or that a fit failed would tell of rows."""
    draws = np.random.default_rng(rows)
    table = np.trunc(draws.uniform(-1, 1, (rows, 3)) * STEPS / 2) / STEPS
    labels = (table @ [5.0, -3.0, 1.0] > 0).astype(float)
    problem = Objective(table, labels, draws.normal(0, 5, 3), penalty, 1.0)
    quick = problem.minimum()
    monkeypatch.setattr(objective, "MOST_STEPS", 0)
    slow = problem.minimum()
    assert np.linalg.norm(problem.gradient(slow)) <= steepest(penalty)
    assert np.linalg.norm(slow - quick) <= 2 * steepest(penalty) / penalty


def test_noise_of_a_perturbed_objective_is_wide_enough_on_its_grid_to_be_taken_for_a_normal_one():
    assert ObjectivePlan.within(box(1), Fraction(1, 10**12), 1, 1e-6, penalty=1).variance >= 1 << 20
    # By Poisson summation: with u of variance 16 beside it, the density is off by a factor within 1 ± 2e^(−2π²τ²).
    width = 16 * 2**20 / (16 + 2**20)
    assert 2 * math.exp(-2 * math.pi**2 * width) < 1e-120


def hard_tables():
    """Yield tables on which Newton's method has been seen to struggle: separable, repeated, lopsided, empty."""
    draws = np.random.default_rng(12)
    one = np.trunc(draws.normal(0, 0.4, (400, 6)) * STEPS) / STEPS
    yield one, (one[:, 0] > 0).astype(float)
    yield np.repeat(one[:1], 5000, axis=0), np.ones(5000)
    yield np.vstack([np.eye(6)] * 900), np.zeros(5400)
    yield np.zeros((300, 6)), (np.arange(300) % 2).astype(float)
    yield np.zeros((0, 6)), np.zeros(0)


@pytest.mark.parametrize("penalty", [1e-6, 1e-2, 10.0, 1e6])
@pytest.mark.parametrize("driven", [0.0, 1.0, float(MOST_DRIVEN)])
def test_a_minimum_is_found_whatever_the_rows(penalty, driven):
    """A fit that failed for some rows and not for others would tell of them."""
    for rows, labels in hard_tables():
        problem = Objective(rows, labels, 3 * driven * penalty * np.linspace(-1, 1, 6), penalty, 3.0)
        assert np.linalg.norm(problem.gradient(problem.minimum())) <= steepest(penalty)


def test_a_smaller_penalty_needs_more_noise_and_too_small_a_one_is_refused():
    few = ObjectivePlan.within(box(1), Fraction(1), 1, 1e-6, penalty=10)
    assert ObjectivePlan.within(box(1), Fraction(1), 1, 1e-6, penalty=1).variance > few.variance
    with pytest.raises(NotProved, match="too small"):
        ObjectivePlan.within(box(1), Fraction(1), 1, 1e-6, penalty=0.1)
    with pytest.raises(NotProved, match="too small"):
        ObjectivePlan.within(box(1), Fraction(1), 13.2, 1e-6, penalty=1e-6)  # ln(1 + 10⁶/4) is 12.4


def test_minima_are_as_close_as_the_plan_says():
    draws = np.random.default_rng(8)
    rows = np.trunc(draws.normal(0, 0.3, (3000, 4)) * STEPS) / STEPS
    problem = Objective(rows, (draws.random(3000) < 0.4).astype(float), draws.normal(0, 5, 4), 2.0, 2.0)
    here = problem.minimum()
    chances = [1 / (1 + math.exp(-math.fsum(row * here))) for row in rows]
    residuals = np.array(chances) - problem.labels
    slope = [math.fsum(residuals * rows[:, at]) + 2 * here[at] + problem.noise[at] for at in range(4)]
    assert math.hypot(*slope) <= steepest(2.0)
    assert np.abs(np.array(slope) - problem.gradient(here)).max() <= problem.error(here) < steepest(2.0) / 10


def test_weights_that_noise_drove_far_leave_margins_sharp():
    """Rows on which far weights cancel: a bound by their length would say that no minimum can be told to be one."""
    draws = np.random.default_rng(12)
    half = draws.integers(0, STEPS // 8, (2000, 8)) / STEPS
    rows, here = np.hstack([half, -half]), np.tile(draws.normal(0, 1e7, 8), 2) + draws.normal(0, 1, 16)
    problem = Objective(rows, np.zeros(2000), np.zeros(16), 1e-3, 1.0)
    exact = [[Fraction(one) for one in row] for row in rows[:50].tolist()]
    weights = [Fraction(one) for one in here.tolist()]
    truth = [float(sum(a * b for a, b in zip(row, weights, strict=True))) for row in exact]
    assert np.abs(problem.margins(here)[:50] - truth).max() < 1e-14
    assert problem.error(here) < steepest(1e-3)


def test_rows_of_a_perturbed_objective_are_no_longer_than_it_was_priced_for(monkeypatch):
    seen = []
    monkeypatch.setattr(Objective, "minimum", lambda self: seen.append(self.rows) or np.zeros(self.rows.shape[1]))
    plan = plan_of(columns=3, norm=1)
    plan.run(ClassifiedRows(hostile(np.random.default_rng(9), 50, 3), np.ones(50, int)), SYSTEM)
    assert ((seen[0] ** 2).sum(axis=1) <= 1).all()


def test_settings_out_of_range_are_refused():
    with pytest.raises(InvalidInput, match="low first"):
        Features((1, 1), 2, centred=True)
    with pytest.raises(InvalidInput, match="not of 3 features"):
        Features(([0, 0], [1, 1]), 3, centred=True)
    with pytest.raises(InvalidInput, match="not a finite"):
        Features((0, math.inf), 3, centred=True)
    with pytest.raises(InvalidInput, match="out of range"):
        descent.DescentPlan(
            features=box(1), classes=2, rho=RHO, clip=Fraction(1), steps=1, rate=1e7, momentum=0.0, rows=1
        )
    for clip in (Fraction(17), Fraction(1, 10**6)):
        with pytest.raises(OutOfRange, match="clip"):
            descent.DescentPlan(features=box(1), classes=2, rho=RHO, clip=clip, steps=1, rate=1.0, momentum=0.0, rows=1)
    with pytest.raises(OutOfRange, match="norm is so small"):
        ProductPlan(features=box(1), norm=Fraction(1, 1000), rho=RHO)


SHAPED = {
    **PLANS,
    "descent": DescentPlan(
        features=box(3), classes=2, rho=RHO, clip=Fraction(1), steps=1, rate=1.0, momentum=0.0, rows=9
    ),
}


@pytest.mark.parametrize("rows", [np.zeros((4, 2)), np.zeros(3), [[0, 0, 0]], None], ids=["few", "flat", "list", "no"])
@pytest.mark.parametrize("name", SHAPED)
def test_rows_of_another_shape_are_refused_before_they_are_paid_for(name, rows, tmp_path):
    place, labels = tmp_path / "ledger", np.zeros(4, np.int64)
    with Ledger.create(place, Budget(10), title="t", anchors=[]) as ledger, nothing_written(ledger, place):
        data = ClassifiedRows(rows, labels) if name == "descent" else GroupedRows(rows, labels)
        with pytest.raises(InvalidInput, match="3 columns"):
            Gate(ledger, data).release(SHAPED[name])
