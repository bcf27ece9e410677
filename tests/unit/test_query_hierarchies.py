"""Counts at every level of a hierarchy: what they cost, that they add up, and that their error bars hold."""

import math
import re
import subprocess
import sys
from dataclasses import replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from discreet.accounting import approximate_of, concentrated_of
from discreet.algebra.aggregates import People
from discreet.algebra.expressions import Literal, call, column
from discreet.algebra.functions import F
from discreet.core import DiscreetError, Limit, Neighbours, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.data import open_table
from discreet.gate import Budget, Gate, Ledger, Plan
from discreet.gate.releases import decode, encode
from discreet.mechanisms.combinations import noise_variance
from discreet.mechanisms.consistency import consistent
from discreet.query.planning.spending import Epsilon, Rho, Within
from discreet.query.workloads.forecasts import predict_hierarchy
from discreet.query.workloads.hierarchies import plan_hierarchy
from discreet.query.workloads.hierarchy_views import estimates_of, view_hierarchy
from plain_engine import PlainTable
from scripted import Seeded

CENSUS = Path(__file__).resolve().parents[2] / "examples" / "census.py"
SCHEMA = Schema(
    table="people",
    columns=(
        Column(name="person", kind=Kind.INTEGER),
        Column(name="state", kind=Kind.TEXT),
        Column(name="county", kind=Kind.INTEGER),
        Column(name="born", kind=Kind.DATE),
        Column(name="voted", kind=Kind.BOOLEAN),
    ),
    unit=PrivacyUnit(column="person"),
)
KEYS = ("state", "county")
#: Not in the order of the states, and with different numbers of counties.
PATHS = [("Ohio", 1), ("Iowa", 1), ("Ohio", 2), ("Ohio", 3), ("Utah", 7), ("Iowa", 9)]
LIMIT = Limit(groups=2, rows_per_group=3)
LIMITS = [LIMIT, Limit(groups=1, rows_per_group=1), TotalLimit(4), Limit(groups=9, rows_per_group=1)]
#: Noise of so large an ε is 0.
SURE = Epsilon(10**6)


def rows(seed, people=14, count=80):
    """Return residences, of which one person has a third, some outside of all paths."""
    rng = Random(seed)
    return [
        {
            "person": 0 if rng.random() < 0.3 else rng.randrange(people),
            "state": rng.choice(["Ohio", "Ohio", "Iowa", "Utah", "Mars", None]),
            "county": rng.choice([1, 2, 3, 7, 9, 11, None]),
            "born": date(1990, 1, rng.randrange(1, 4)),
            "voted": rng.random() < 0.5,
        }
        for _ in range(count)
    ]


def plan_of(spend=SURE, **how):
    return plan_hierarchy(
        how.pop("schema", SCHEMA), **{"keys": KEYS, "paths": PATHS, "limit": LIMIT, "spend": spend, **how}
    )


def exact_levels(plan, table):
    """Return the exact counts of all levels: by loops, from the leaves that the pass counts."""
    leaves = table.aggregate(plan.aggregation).answers[0].tolist()
    return [
        [
            sum(count for path, count in zip(plan.paths, leaves, strict=True) if path[: len(node)] == node)
            for node in level
        ]
        for level in plan.nodes
    ]


@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.03)])
@pytest.mark.parametrize("how", [{}, {"even": True}, {"weights": [5, 0, 1]}, {"total": 70}, {"limit": TotalLimit(4)}])
def test_a_hierarchy_costs_what_was_offered(spend, how):
    plan = plan_of(spend, **how)
    assert isinstance(plan, Plan)
    assert sum(plan.shares) == spend.amount
    if isinstance(spend, Rho):
        assert concentrated_of(plan.cost) == (spend.rho, 0)
    else:
        assert approximate_of(plan.cost) == (spend.epsilon, 0)
    assert (plan.shares[0] == 0) == ("total" in how)


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("people", [False, True])
@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.5)])
def test_no_person_moves_all_levels_together_by_more_than_is_paid_for(limit, people, neighbours, spend):
    """Σ |change|/scale over all levels is at most ε, and Σ change²/2σ² at most ρ."""
    if people and limit.groups > 1:
        return
    schema = replace(SCHEMA, unit=PrivacyUnit(column="person", neighbours=neighbours))
    plan = plan_of(spend, schema=schema, limit=limit, people=people)
    # Ten rows of one person in one state, who so can move one node by all that the limit leaves.
    table = rows(1) + [{**rows(2)[0], "person": 1, "state": "Ohio", "county": 1 + place % 3} for place in range(10)]
    without = [exact_levels(plan, PlainTable(schema, [r for r in table if r["person"] != p])) for p in range(6)]
    whole = exact_levels(plan, PlainTable(schema, table))
    pairs = [(whole, one) for one in without]
    if neighbours is Neighbours.REPLACE:
        pairs = [(one, other) for one in without for other in without]
    spent = []
    for one, other in pairs:
        changes = [np.subtract(*levels) for levels in zip(one, other, strict=True)]
        noises = [plan.noise(level) for level in range(3)]
        if isinstance(spend, Rho):
            parts = [
                Fraction(int((c**2).sum())) / (2 * noise.variance) for c, noise in zip(changes, noises, strict=True)
            ]
        else:
            parts = [Fraction(int(np.abs(c).sum())) / noise.scale for c, noise in zip(changes, noises, strict=True)]
        spent.append(sum(parts))
    assert max(spent) <= spend.amount
    if neighbours is Neighbours.ADD_REMOVE and isinstance(spend, Epsilon) and limit in LIMITS[1:3]:
        assert max(spent) == spend.amount  # somebody uses all of it: no noise is wasted


@pytest.mark.parametrize("engine", ["plain", "duck"])
@pytest.mark.parametrize("people", [False, True])
def test_counts_are_those_of_the_rows_on_the_paths_at_every_level(engine, people):
    """With noise that is 0, every level says what loops over the rows say."""
    table = rows(3, people=40)
    frame = pa.Table.from_pylist(table)
    source = (
        PlainTable(SCHEMA, table)
        if engine == "plain"
        else open_table(frame, table="people", unit=PrivacyUnit(column="person"))
    )
    limit = Limit(groups=1, rows_per_group=100) if people else TotalLimit(1000)
    where = call(F.EQ, column(SCHEMA, "voted"), Literal.of(True))
    plan = plan_of(limit=limit, people=people, where=where)
    result = view_hierarchy(plan, decode(encode(plan.run(source, Seeded(1)))))
    if not people:
        for level in result.levels:
            for node, count in zip(level.nodes, level.count.tolist(), strict=True):
                passing = [
                    row
                    for row in table
                    if row["voted"] and (row["state"], row["county"]) in PATHS
                    if (row["state"], row["county"])[: len(node)] == node
                ]
                assert count == len(passing)
    else:
        everybody = {r["person"] for r in table if r["voted"] and (r["state"], r["county"]) in PATHS}
        assert result.levels[0].count.tolist() == [len(everybody)]  # each of them in one county
    assert [level.name for level in result.levels] == ["all", "state", "county"]
    assert result.level("state").nodes == (("Ohio",), ("Iowa",), ("Utah",))


def test_keys_of_all_kinds_make_paths():
    table = rows(4)
    keys = ("voted", "born", "county", "state")
    paths = sorted({tuple(row[key] for key in keys) for row in table if row["state"] and row["county"]})
    plan = plan_of(keys=keys, paths=paths, limit=TotalLimit(1000))
    result = view_hierarchy(plan, plan.run(PlainTable(SCHEMA, table), Seeded(1)))
    found = dict(zip(paths, result.levels[-1].count.tolist(), strict=True))
    for path in paths:
        assert found[path] == sum(tuple(row[key] for key in keys) == path for row in table)
    single = plan_of(keys=("county",), paths=[(1,), (2,)], limit=TotalLimit(1000))
    counts = view_hierarchy(single, single.run(PlainTable(SCHEMA, table), Seeded(1))).levels[1].count.tolist()
    assert counts == [sum(row["county"] == county for row in table) for county in (1, 2)]


def test_no_row_is_taken_for_one_on_another_path():
    """Paths are one text to the engine, and yet a county's name cannot reach into its state's."""
    schema = replace(SCHEMA, columns=(*SCHEMA.columns[:2], Column(name="county", kind=Kind.TEXT)))
    table = [{"person": 1, "state": "A", "county": "B\x1fC"}, {"person": 2, "state": "A\x1fB", "county": "C"}]
    plan = plan_of(schema=schema, keys=KEYS, paths=[("A", "B"), ("A", "BC"), ("AB", "C")], limit=Limit())
    assert view_hierarchy(plan, plan.run(PlainTable(schema, table), Seeded(1))).levels[0].count.tolist() == [0]
    with pytest.raises(DiscreetError, match="control character"):
        plan_of(schema=schema, paths=[("A", "B\x1fC")])


@pytest.mark.parametrize("spend", [Epsilon(0.5), Rho(0.02)])
@pytest.mark.parametrize("total", [None, 80])
def test_levels_add_up_and_counts_are_whole_and_not_negative(spend, total):
    plan = plan_of(spend, limit=TotalLimit(5), total=total)
    for seed in range(20):
        result = view_hierarchy(plan, plan.run(PlainTable(SCHEMA, rows(seed)), Seeded(seed)))
        top, states, counties = result.levels
        assert np.allclose([states.estimate.sum(), counties.estimate.sum()], top.estimate[0])
        assert states.count.sum() == counties.count.sum() == top.count[0]
        by_state = dict.fromkeys(states.nodes, 0)
        for node, count in zip(counties.nodes, counties.count.tolist(), strict=True):
            assert count >= 0
            by_state[node[:1]] += count
        assert list(by_state.values()) == states.count.tolist()
        assert total is None or (top.count.tolist(), top.error.tolist()) == ([total], [0])


@pytest.mark.parametrize("spend", [Epsilon(0.08), Rho(0.001), Epsilon(6), Rho(3)])
def test_error_bars_hold_as_often_as_they_say_and_are_not_wide(spend):
    plan = plan_of(spend, limit=Limit(groups=1, rows_per_group=1))
    table = PlainTable(SCHEMA, rows(7, people=60, count=300))
    truth = np.concatenate(exact_levels(plan, table))
    exact, entropy = table.aggregate(plan.aggregation), Seeded(8)
    fixed = type("Fixed", (), {"aggregate": lambda self, _: exact})()
    draws = [view_hierarchy(plan, plan.run(fixed, entropy), 0.9) for _ in range(250)]
    inside = np.array(
        [
            (np.concatenate([level.low for level in one.levels]) <= truth)
            & (truth <= np.concatenate([level.high for level in one.levels]))
            for one in draws
        ]
    )
    # 250 draws of a chance of 0.9, and ten nodes: below 0.835 once in 200 times, were it exactly 0.9.
    assert inside.mean(axis=0).min() >= 0.835
    errors = np.array([np.concatenate([level.estimate for level in one.levels]) - truth for one in draws])
    told = np.concatenate(estimates_of(plan, tuple(np.zeros(size) for size in plan.tree.sizes)).variances)
    if isinstance(spend, Rho) and spend.rho < 1:
        assert (errors.std(axis=0) ** 2 / told).max() < 1.4
        assert (errors.std(axis=0) ** 2 / told).min() > 0.7
    if spend.amount < 1:  # where noise is narrow, bars are wider than they had to be
        assert inside.mean() < 0.96
    together = np.array(
        [_all_inside(view_hierarchy(plan, plan.run(fixed, entropy), 0.9, simultaneous=True), truth) for _ in range(100)]
    )
    assert together.mean() >= 0.8


@pytest.mark.parametrize("spend", [Epsilon(0.5), Rho(0.02)])
@pytest.mark.parametrize("how", [{}, {"total": 50}])
def test_errors_are_told_before_anything_is_paid(spend, how):
    plan = plan_of(spend, **how)
    result = view_hierarchy(plan, plan.run(PlainTable(SCHEMA, rows(1)), Seeded(1)), 0.9)
    found = predict_hierarchy(plan, 0.9)
    assert [(each.name, each.error) for each in found] == [(level.name, level.error.max()) for level in result.levels]
    assert all(f"{each.error:,.1f}" in each.words for each in found)


def _all_inside(result, truth):
    ends = [np.concatenate([getattr(level, end) for level in result.levels]) for end in ("low", "high")]
    return bool(((ends[0] <= truth) & (truth <= ends[1])).all())


def _total(plan, weights):
    zeros = [np.zeros(size) for size in plan.tree.sizes]
    noise = [noise_variance(plan.noise(level)) for level in range(len(zeros))]
    means = [level.mean() for level in consistent(plan.tree, zeros, noise).variances]
    return sum(weight * mean for weight, mean in zip(weights, means, strict=True))


@pytest.mark.parametrize("spend", [Epsilon(1), Rho(0.1)])
@pytest.mark.parametrize("weights", [[1, 1, 1], [100, 1, 1], [0, 0, 1], [1, 30, 0]])
def test_the_price_is_split_for_the_least_total_error(spend, weights):
    paths = [(state, county) for state in "ABCDEFG" for county in range(12)]
    best = plan_of(spend, paths=paths, weights=weights)
    even = plan_of(spend, paths=paths, even=True)
    assert _total(best, weights) <= _total(even, weights) * 1.000001
    others = [
        (Fraction(a, 10), Fraction(b, 10), Fraction(10 - a - b, 10)) for a in range(1, 9) for b in range(1, 10 - a)
    ]
    for shares in others:
        plan = replace(best, shares=tuple(spend.amount * share for share in shares))
        assert _total(best, weights) <= _total(plan, weights) * 1.02


def test_a_hierarchy_goes_through_the_gate_and_is_free_the_second_time(tmp_path):
    table = open_table(pa.Table.from_pylist(rows(5)), table="people", unit=PrivacyUnit(column="person"))
    plan = plan_of(Rho(0.1), schema=table.schema)
    budget = Budget(rho=Fraction(1, 10), delta=Fraction(1, 10**9), unit=table.schema.unit)
    with Ledger.create(tmp_path / "ledger", budget, anchors=[]) as ledger:
        gate = Gate(ledger, table)
        first, second = gate.release(plan), gate.release(plan)
    assert (first.fresh, second.fresh) == (True, False)
    frame = view_hierarchy(plan, second.answer).to_pandas()
    assert list(frame["level"]) == ["all"] + ["state"] * 3 + ["county"] * 6
    assert list(frame["count"]) == [row["count"] for row in view_hierarchy(plan, first.answer).rows]
    assert frame["count"][1:4].sum() == frame["count"][0]


def test_what_is_looked_at_differently_is_the_same_plan_and_what_is_drawn_differently_is_not():
    assert plan_of(Rho(1), total=5).canonical() == plan_of(Rho(1), total=6).canonical()
    different = [
        plan_of(Rho(1)),
        plan_of(Rho(2)),
        plan_of(Epsilon(1)),
        plan_of(Rho(1), total=5),
        plan_of(Rho(1), limit=Limit()),
        plan_of(Rho(1), limit=Limit(), people=True),
        plan_of(Rho(1), paths=PATHS[1:]),
        plan_of(Rho(1), where=column(SCHEMA, "voted")),
    ]
    assert len({plan.canonical() for plan in different}) == len(different)
    assert plan_of(Rho(1), where=column(SCHEMA, "voted")).describe() == (
        "rows of people where voted by state → county, at every level"
    )


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"people": True}, "counted several times"),
        ({"limit": None}, "needs a contribution bound"),
        ({"paths": []}, "needs keys and paths"),
        ({"paths": [("Ohio", 1), ("Ohio", 1)]}, "listed twice"),
        ({"paths": [("Ohio",)]}, "does not match the keys"),
        ({"paths": [("Ohio", "1")]}, "does not match the keys"),
        ({"paths": [("Ohio", None)]}, "does not match the keys"),
        ({"keys": ("state", "contry")}, "no column"),
        ({"keys": (call(F.TO_REAL, column(SCHEMA, "county")),), "paths": [(1.0,)]}, "cannot be grouped"),
        ({"weights": [1, 2]}, "do not match the levels"),
        ({"weights": [0, 0, 0]}, "do not match the levels"),
        ({"weights": [1, -1, 1]}, "do not match the levels"),
        ({"where": column(SCHEMA, "county")}, "not true or false"),
        ({"total": -1}, "at least 0"),
        ({"even": 1}, "not a bool"),
        ({"spend": Within(5)}, "must be an Epsilon or a Rho"),
    ],
)
def test_what_cannot_be_counted_is_refused_with_a_fix(how, words):
    with pytest.raises(DiscreetError, match=words) as caught:
        plan_of(**{"spend": Rho(1), **how})
    assert caught.value.fix


def test_rows_are_units_without_a_limit():
    schema = replace(SCHEMA, unit=PrivacyUnit())
    plan = plan_of(Rho(1), schema=schema, limit=None, people=True)
    assert plan.limit == Limit()
    assert plan.counts == People()
    assert not any("limit" in note for note in view_hierarchy(plan, plan.run(PlainTable(schema, []), Seeded(1))).notes)


def test_the_census_of_a_small_country_adds_up():
    done = subprocess.run(
        [sys.executable, "-W", "error", str(CENSUS), "20000", "5", "60"], capture_output=True, text=True, check=True
    )
    levels = re.findall(r"^(all|state|county) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+) +(\S+)%$", done.stdout, re.MULTILINE)
    assert [(name, int(nodes)) for name, nodes, *_ in levels] == [("all", 1), ("state", 5), ("county", 60)]
    for *_, error, bar, _ in levels:
        assert float(error) < 3 * float(bar)
    # Of 60 counties a twentieth may be outside, and the chance of twelve is below one in 10,000.
    assert float(levels[-1][-1]) >= 80
    people, states, counties = re.search(r"([\d,]+) people: .* to ([\d,]+), .* to ([\d,]+)\.", done.stdout).groups()
    assert people == states == counties
    assert math.isclose(int(people.replace(",", "")), 20_000, abs_tol=200)
