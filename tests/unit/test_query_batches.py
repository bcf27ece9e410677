"""Several questions as one plan: what is shared is measured once, tables agree, and what is saved is told."""

import math
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from discreet.accounting import approximate_of, concentrated_of
from discreet.algebra.aggregates import Present, Rows, Total
from discreet.core import Bounds, DiscreetError, Limit, Neighbours, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.gate import Budget, Gate, Ledger, Plan
from discreet.gate.releases import decode, encode
from discreet.query.planning.measurements import KeySelection, Noisy, is_additive
from discreet.query.planning.planning import plan_question
from discreet.query.planning.plans import aggregate_of
from discreet.query.planning.spending import Epsilon, PlanningContext, Rho, Within
from discreet.query.questions import Average, Quantile
from discreet.query.results.views import view
from discreet.query.sql import read_sql
from discreet.query.workloads.batch_views import view_batch, view_others
from discreet.query.workloads.batches import plan_batch
from discreet.query.workloads.forecasts import predict_batch, saving_of
from plain_engine import PlainTable
from scripted import Seeded

SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name="patient", kind=Kind.INTEGER),
        Column(name="ward", kind=Kind.TEXT, groups=("A", "B", "C")),
        Column(name="year", kind=Kind.INTEGER, groups=(2024, 2025)),
        Column(name="city", kind=Kind.TEXT),
        Column(name="age", kind=Kind.INTEGER, bounds=Bounds(0, 110, step=1)),
        Column(name="ok", kind=Kind.BOOLEAN),
    ),
    unit=PrivacyUnit(column="patient"),
)
FACTS = PlanningContext(schema=SCHEMA, limit=Limit(groups=2, rows_per_group=3), delta=Fraction(1, 10**7))
#: No limit that anybody reaches, so that every table counts all rows.
LOOSE = replace(FACTS, limit=TotalLimit(10_000))
SURE = Epsilon(10**9)
CUBE = [
    "SELECT COUNT(*) AS n, SUM(age) AS s FROM visits",
    "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
    "SELECT year, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY year",
    "SELECT ward, year, COUNT(*) AS n, SUM(age) AS s FROM visits GROUP BY ward, year",
]
MIXED = [
    *CUBE,
    "SELECT year, ward, ok, COUNT(*) AS n FROM visits GROUP BY year, ward, ok",
    "SELECT ward, COUNT(DISTINCT patient) AS p, AVG(age) AS a FROM visits GROUP BY ward",
    "SELECT ward, COUNT(*) AS n FROM visits WHERE age > 50 GROUP BY ward",
    "SELECT city, COUNT(*) AS n, AVG(age) AS a, MEDIAN(age) AS m FROM visits GROUP BY city",
    "SELECT city, COUNT(*) AS n FROM visits GROUP BY city",
    "SELECT HISTOGRAM(age, 0, 20, 110) AS ages FROM visits",
]
LIMITS = [FACTS.limit, TotalLimit(4), Limit(groups=1, rows_per_group=1)]


def questions(texts):
    return [read_sql(text, {"visits": SCHEMA}) for text in texts]


def rows(seed, people=15, count=70):
    """Return visits, of which one person has a third; all years and wards are listed ones, but for a few wards."""
    rng = Random(seed)
    return [
        {
            "patient": 0 if rng.random() < 0.3 else rng.randrange(people),
            "ward": rng.choice(["A", "A", "B", "C", "D"]),
            "year": rng.choice([2024, 2025]),
            "city": rng.choice(["X", "X", "X", "Y", "Z"]),
            "age": rng.randrange(100),
            "ok": rng.random() < 0.5,
        }
        for _ in range(count)
    ]


def exact_of(plan, table):
    """Return the exact integers of all that is measured with noise, pass by pass."""
    found = []
    for each in plan.passes:
        aggregates = tuple(dict.fromkeys(aggregate_of(one.part) for one in each.measured))
        exact = table.aggregate(each.aggregation(aggregates, 5))
        answers = dict(zip(aggregates, exact.answers, strict=True))
        for one in each.measured:
            if isinstance(one.part, Noisy):
                counts = answers[aggregate_of(one.part)]
                whole = one.axes == each.all_axes
                cells = counts if whole else each.sum_other_axes(counts, one.axes)
                groups = exact.groups if whole else range(len(cells))
                found.append((each, one, dict(zip(groups, cells.tolist(), strict=True))))
    return found


def distance(one, other):
    """Return the changes of all cells, groups that are missing being 0."""
    cells = [(one.get(group), other.get(group)) for group in {**one, **other}]
    return [np.subtract(0 if left is None else left, 0 if right is None else right) for left, right in cells]


@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.05)])
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("other", [False, True])
def test_a_batch_costs_what_was_offered(spend, limit, other):
    plan = plan_batch(questions(MIXED), replace(FACTS, limit=limit), spend, other=other)
    assert isinstance(plan, Plan)
    assert sum(one.share for each in plan.passes for one in each.measured) == spend.amount
    if isinstance(spend, Rho):
        rho, delta = concentrated_of(plan.cost)
        assert spend.rho * Fraction(999_999, 1_000_000) <= rho <= spend.rho
    else:
        epsilon, delta = approximate_of(plan.cost)
        assert epsilon == spend.epsilon
    assert delta == FACTS.delta  # the groups of two questions about cities are bought once


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.5)])
def test_no_person_moves_the_batch_by_more_than_is_paid_for(limit, neighbours, spend):
    """Of every single thing that is measured: Σ |change|/scale is at most its ε, and Σ change²/2σ² its ρ."""
    schema = replace(SCHEMA, unit=PrivacyUnit(column="patient", neighbours=neighbours))
    texts = [text for text in MIXED if neighbours is Neighbours.ADD_REMOVE or "city" not in text]
    plan = plan_batch(questions(texts), replace(FACTS, schema=schema, limit=limit), spend, other=True)
    # One person with many rows in one ward and all years.
    table = rows(1) + [{**row, "patient": 1, "ward": "B"} for row in rows(2, count=12)]
    without = [exact_of(plan, PlainTable(schema, [r for r in table if r["patient"] != p])) for p in range(4)]
    whole = exact_of(plan, PlainTable(schema, table))
    pairs = [(whole, one) for one in without]
    if neighbours is Neighbours.REPLACE:
        pairs = [(one, other) for one in without for other in without if one is not other]
    for one, other in pairs:
        for (each, measured, left), (_, _, right) in zip(one, other, strict=True):
            changes = np.abs(np.concatenate([np.ravel(change) for change in distance(left, right)]))
            noise = each.noise(measured)
            if isinstance(spend, Rho):
                spent = Fraction(int((changes**2).sum())) / (2 * noise.variance)
            else:
                spent = Fraction(int(changes.sum())) / noise.scale
            assert spent <= measured.share


def test_what_questions_share_is_measured_once():
    plan = plan_batch(questions(["SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"] * 3), FACTS, Rho(1))
    assert [len(each.measured) for each in plan.passes] == [1]
    texts = [
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        "SELECT ward AS w, COUNT(*) AS m, SUM(age) AS s FROM visits GROUP BY ward",
    ]
    plan = plan_batch(questions(texts), FACTS, Rho(1))
    assert [len(each.measured) for each in plan.passes] == [2]
    first, second = view_batch(plan, plan.run(PlainTable(SCHEMA, rows(1)), Seeded(1)))
    assert [row["n"] for row in first.rows] == [row["m"] for row in second.rows]
    both = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
    plan = plan_batch(questions([both, both]), FACTS, Rho(1))
    assert sum(isinstance(one.part, KeySelection) for each in plan.passes for one in each.measured) == 1


@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.1)])
@pytest.mark.parametrize("limit", LIMITS)
def test_tables_of_a_cube_add_up(spend, limit):
    plan = plan_batch(questions(CUBE), replace(FACTS, limit=limit), spend)
    assert len(plan.passes) == 1
    answer = decode(encode(plan.run(PlainTable(SCHEMA, rows(2)), Seeded(2))))
    total, wards, years, cells = (result.rows for result in view_batch(plan, answer))
    for name, tables in (("n", (wards, years, cells)), ("s", (years, cells))):
        for table in tables:
            assert math.isclose(sum(row[name] for row in table), total[0][name], abs_tol=1e-6)
    for ward in wards:
        assert math.isclose(ward["n"], sum(row["n"] for row in cells if row["ward"] == ward["ward"]), abs_tol=1e-6)
    apart = plan_batch(questions(CUBE), replace(FACTS, limit=limit), spend, consistent=False)
    assert len(apart.passes) == 4
    alone = view_batch(apart, apart.run(PlainTable(SCHEMA, rows(2)), Seeded(2)))
    assert sum(row["n"] for row in alone[1].rows) != alone[0].rows[0]["n"]
    assert all(isinstance(row["n"], int) for row in alone[1].rows)


def test_without_noise_every_table_is_the_one_that_its_question_has_alone():
    table = PlainTable(SCHEMA, [row for row in rows(3, people=40, count=200) if row["ward"] != "D"])
    asked = [one for one, text in zip(questions(MIXED), MIXED, strict=True) if "MEDIAN" not in text]
    batch = plan_batch(asked, LOOSE, SURE)
    for question, result in zip(asked, view_batch(batch, batch.run(table, Seeded(1))), strict=True):
        plan = plan_question(question, LOOSE, SURE)
        alone = view(question, plan, plan.run(table, Seeded(1)))
        assert len(result) == len(alone)
        for row, other in zip(result.rows, alone.rows, strict=True):
            assert list(row) == list(other)
            assert all(
                math.isclose(row[name], other[name], rel_tol=1e-6, abs_tol=1e-3)
                if isinstance(other[name], int | float)
                else row[name] == other[name]
                for name in row
            )


def test_keys_in_another_order_are_the_same_cells():
    texts = [f"SELECT {keys}, COUNT(*) AS n FROM visits GROUP BY {keys}" for keys in ("ward, year", "year, ward")]
    plan = plan_batch(questions(texts), FACTS, Rho(1))
    assert [len(each.measured) for each in plan.passes] == [1]
    one, other = view_batch(plan, plan.run(PlainTable(SCHEMA, rows(4)), Seeded(4)))
    cells = {(row["ward"], row["year"]): row["n"] for row in other.rows}
    assert [row["n"] for row in one.rows] == [cells[row["ward"], row["year"]] for row in one.rows]
    assert len(set(cells.values())) > 3


def test_people_and_different_values_are_not_added_up():
    texts = [
        "SELECT COUNT(DISTINCT patient) AS p, COUNT(DISTINCT age) AS d FROM visits",
        "SELECT ward, COUNT(DISTINCT patient) AS p, COUNT(DISTINCT age) AS d FROM visits GROUP BY ward",
    ]
    plan = plan_batch(questions(texts), FACTS, Rho(1))
    assert len(plan.passes) == 2
    assert not any(is_additive(one.part) for each in plan.passes for one in each.measured)
    kinds = {
        type(one.part.aggregate) for each in plan_batch(questions(CUBE), FACTS, Rho(1)).passes for one in each.measured
    }
    assert kinds == {Rows, Total}
    assert is_additive(Noisy(Present(next(iter(plan.passes[1].keys)).expression)))


@pytest.mark.parametrize("spend", [Epsilon(0.3), Rho(0.005)])
def test_error_bars_of_agreeing_tables_hold_and_are_narrower(spend):
    facts = replace(FACTS, limit=Limit(groups=1, rows_per_group=1))
    asked = questions(CUBE)
    plan = plan_batch(asked, facts, spend)
    table = PlainTable(SCHEMA, rows(5, people=200, count=400))
    each = plan.passes[0]
    truth = {(one.part, one.axes): np.array(list(cells.values())) for _, one, cells in exact_of(plan, table)}
    fixed = _fixed(table, each)
    entropy, inside, errors = Seeded(6), [], []
    for _ in range(150):
        results = view_batch(plan, plan.run(fixed, entropy), 0.9)
        for result, axes in zip(results, [(), (0,), (1,), (0, 1)], strict=True):
            column = result.column("n")
            exact = truth[Noisy(Rows()), axes]
            inside.append((np.array(column.low) <= exact) & (exact <= np.array(column.high)))
            errors.append((axes, np.array(column.values) - exact))
    held = [np.mean(np.array(inside[place::4]), axis=0) for place in range(4)]
    assert min(cells.min() for cells in held) >= 0.82  # three deviations of 150 draws below 0.9
    apart = plan_batch(asked, facts, spend, consistent=False)
    alone = view_batch(apart, apart.run(fixed, entropy), 0.9)
    together = view_batch(plan, plan.run(fixed, entropy), 0.9)
    for one, other in zip(together, alone, strict=True):
        assert _width(one, "n") < _width(other, "n") * 1.05
    assert _width(together[3], "n") < _width(alone[3], "n") * 0.95
    spread = np.std([error for axes, error in errors if axes == (0, 1)])
    measured = math.sqrt(float(each.noise(each.measured[-2]).deviation) ** 2)
    assert spread < measured


def _fixed(table, each):
    """Return a table that has counted already."""
    aggregates = tuple(dict.fromkeys(aggregate_of(one.part) for one in each.measured))
    exact = table.aggregate(each.aggregation(aggregates, 5))

    def aggregate(_, asked):
        if asked.keys == each.keys and asked.aggregates == aggregates:
            return exact
        return table.aggregate(asked)

    return type("Fixed", (), {"aggregate": aggregate})()


def _width(result, name):
    column = result.column(name)
    return column.high[0] - column.low[0]


def test_all_bars_of_a_table_hold_together_if_asked():
    plan = plan_batch(questions(CUBE), replace(FACTS, limit=Limit()), Rho(0.01))
    answer = plan.run(PlainTable(SCHEMA, rows(7)), Seeded(7))
    one, every = (view_batch(plan, answer, 0.9, simultaneous=together) for together in (False, True))
    assert _width(every[3], "n") > 1.3 * _width(one[3], "n")
    assert every[3].simultaneous


OTHER = (
    "SELECT city, COUNT(*) AS n, SUM(age) AS s, AVG(age) AS a, COUNT(DISTINCT patient) AS p FROM visits GROUP BY city"
)


def test_what_is_not_shown_is_the_total_less_what_is():
    table = [
        {**row, "city": f"village {row['patient'] % 40}" if row["patient"] % 3 else "X", "patient": number}
        for number, row in enumerate(rows(8, people=400, count=900))
    ]
    facts = replace(LOOSE, limit=Limit(groups=1, rows_per_group=1))
    plan = plan_batch(questions([OTHER, CUBE[1]]), facts, Epsilon(12), other=True)
    answer = decode(encode(plan.run(PlainTable(SCHEMA, table), Seeded(8))))
    shown = {row["city"] for row in view_batch(plan, answer)[0].rows}
    other, none = view_others(plan, answer, 0.999)
    assert none is None
    assert [column.name for column in other.columns] == [
        "city",
        "n",
        "s",
        "a",
    ]  # people are not told: they do not add up
    hidden = [row for row in table if row["city"] not in shown]
    assert len(hidden) > 20
    for name, exact in (
        ("n", len(hidden)),
        ("s", sum(row["age"] for row in hidden)),
        ("a", sum(row["age"] for row in hidden) / len(hidden)),
    ):
        column = other.column(name)
        assert column.low[0] <= exact <= column.high[0]
    total = answer["passes"][0]["measured"][plan.items[0].totals[0][1][1]]
    assert other.rows[0]["city"] is None
    assert len(total) == 1
    assert view_others(plan_batch(questions([OTHER]), facts, Epsilon(4)), {"passes": []}) == (None,)


def test_where_no_group_is_shown_all_is_left_over():
    plan = plan_batch(
        questions(["SELECT city, COUNT(*) AS n FROM visits GROUP BY city"]), LOOSE, Rho(0.001), other=True
    )
    answer = plan.run(PlainTable(SCHEMA, rows(1)), Seeded(1))
    assert len(view_batch(plan, answer)[0]) == 0
    total = plan.items[0].totals[0][1][1]
    assert view_others(plan, answer)[0].rows == [{"city": None, "n": answer["passes"][0]["measured"][total][0]}]


@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.02)])
def test_the_bar_of_what_is_not_shown_holds_as_often_as_it_says(spend):
    table = [
        {**row, "city": None if row["patient"] % 2 else f"c{row['patient'] % 50}", "patient": number}
        for number, row in enumerate(rows(9, people=300, count=500))
    ]
    facts = replace(LOOSE, limit=Limit(groups=1, rows_per_group=1))
    plan = plan_batch(questions(["SELECT city, COUNT(*) AS n FROM visits GROUP BY city"]), facts, spend, other=True)
    fixed, entropy, held = _fixed(PlainTable(SCHEMA, table), plan.passes[0]), Seeded(9), []
    for _ in range(150):
        answer = plan.run(fixed, entropy)
        shown = {row["city"] for row in view_batch(plan, answer)[0].rows}
        column = view_others(plan, answer, 0.9)[0].column("n")
        held.append(column.low[0] <= sum(row["city"] not in shown for row in table) <= column.high[0])
    assert 0.82 <= np.mean(held) < 0.995


@pytest.mark.parametrize("spend", [Epsilon(20), Rho(2)])
def test_errors_of_counts_and_sums_are_told_before_anything_is_paid(spend):
    plan = plan_batch(questions(MIXED), FACTS, spend)
    results = view_batch(plan, plan.run(PlainTable(SCHEMA, rows(1, people=300, count=3000)), Seeded(1)))
    told = predict_batch(plan)
    for question, result, found in zip(questions(MIXED), results, told, strict=True):
        for each in found:
            column, term = result.column(each.name), next(o.term for o in question.outputs if o.name == each.name)
            if isinstance(term, Average | Quantile):
                assert each.error is None
            else:
                assert (column.high[0] - column.low[0]) / 2 == pytest.approx(each.error, abs=1e-6, rel=1e-6)
    assert [each.name for each in told[5]] == ["p", "a"]
    assert predict_batch(plan, simultaneous=True)[3][0].error > told[3][0].error
    assert predict_batch(plan, simultaneous=True)[7][0].error is None


def test_a_question_that_weighs_more_is_answered_more_accurately():
    asked = questions([CUBE[1], MIXED[6]])
    even, first = (plan_batch(asked, FACTS, Rho(1), weights=weights) for weights in (None, [9, 1]))
    shares = [[each.measured[0].share for each in plan.passes] for plan in (even, first)]
    assert shares[0][0] == shares[0][1]
    assert float(shares[1][0] / shares[1][1]) == pytest.approx(3, rel=1e-4)


@pytest.mark.parametrize("spend", [Epsilon(2), Rho(0.2)])
def test_the_saving_has_both_figures(spend):
    same = plan_batch(questions([CUBE[1]] * 5), FACTS, spend)
    saving = saving_of(same, 1e-6)
    once = saving_of(plan_batch(questions([CUBE[1]]), FACTS, spend), 1e-6 / 5)
    assert saving.one_by_one.epsilon == pytest.approx(5 * once.together.epsilon)
    assert once.factor == pytest.approx(1)
    assert saving.factor >= 4.9
    cube = saving_of(plan_batch(questions(CUBE), replace(FACTS, limit=TotalLimit(3)), spend), 1e-6)
    assert cube.together.epsilon < cube.one_by_one.epsilon
    assert cube.factor > 1.3
    assert "one by one" in str(cube)
    assert "times" in str(cube)


def test_asking_one_by_one_would_be_as_accurate_as_the_batch_and_not_more():
    """What each question is said to cost alone buys it the variance that it has in the batch."""
    facts = replace(FACTS, limit=TotalLimit(3))
    plan = plan_batch(questions(CUBE[1:]), facts, Rho(1))
    from discreet.query.workloads.forecasts import _price_alone

    family = plan.passes[0].families[Noisy(Rows())]
    measured = {axes: float(plan.passes[0].noise(one).variance) for axes, one in family.items()}
    costs = [float(concentrated_of(_price_alone(plan, item))[0]) for item in plan.items]
    variances = [9 / (2 * cost) for cost in costs[:1]]  # the first asks for nothing but a count
    assert variances[0] < measured[0,]
    assert costs[0] > float(family[0,].share)


def test_at_no_delta_gaussian_noise_saves_nothing_that_could_be_told():
    saving = saving_of(plan_batch(questions(CUBE), FACTS, Rho(1)), 0)
    assert math.isnan(saving.factor)
    assert "times" not in str(saving)


def test_a_batch_goes_through_the_gate(tmp_path):
    plan = plan_batch(questions(MIXED), FACTS, Epsilon(2), other=True)
    budget = Budget(epsilon=3, delta=Fraction(1, 10**5), unit=SCHEMA.unit)
    with Ledger.create(tmp_path / "ledger", budget, anchors=[]) as ledger:
        gate = Gate(ledger, PlainTable(SCHEMA, rows(1)))
        first, second = gate.release(plan), gate.release(plan)
    assert (first.fresh, second.fresh) == (True, False)
    assert len(view_batch(plan, second.answer)) == len(MIXED)
    assert plan.canonical() != plan_batch(questions(MIXED), FACTS, Epsilon(2)).canonical()
    assert "GROUP BY" in plan.describe()
    many = plan_batch(questions(MIXED * 20), FACTS, Epsilon(2))
    assert many.describe() == "200 questions about visits"


@pytest.mark.parametrize(
    ("asked", "facts", "how", "words"),
    [
        ([], FACTS, {}, "at least one question"),
        (CUBE, FACTS, {"weights": [1]}, "one weight for each"),
        (CUBE, FACTS, {"weights": [1, 1, 1, 0]}, "weights"),
        (CUBE, replace(FACTS, limit=None), {}, "needs a contribution bound"),
        (CUBE, FACTS, {"other": 1}, "not a bool"),
        (CUBE, FACTS, {"spend": Within(5)}, "must be an Epsilon or a Rho"),
        (CUBE, FACTS, {"consistent": 1}, "not a bool"),
        ([OTHER], replace(FACTS, delta=Fraction(0)), {}, "delta"),
        (CUBE, replace(FACTS, schema=replace(SCHEMA, table="stays"), schemas=(SCHEMA,)), {}, "several tables"),
    ],
)
def test_what_makes_no_batch_is_refused_with_a_fix(asked, facts, how, words):
    with pytest.raises(DiscreetError, match=words) as caught:
        plan_batch(questions(asked), facts, how.pop("spend", Epsilon(1)), **how)
    assert caught.value.fix
