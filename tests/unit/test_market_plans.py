"""Market plans go through the gate, answers are stored, neighbours of either kind may pay, draws are as stated."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import BoundedRange
from discreet.core import BudgetExceeded, DiscreetError, InvalidInput, Neighbours, PrivacyUnit, RunFailed
from discreet.gate import Budget, Gate, Ledger, Plan, SteppedPlan
from discreet.market import (
    AttributeAuction,
    Auction,
    FacilityLine,
    Mediator,
    Outcome,
    Plane,
    PostedPrices,
    PriceGrid,
    Sale,
    TruthfulChoice,
    entry_game,
)
from discreet.noise import SYSTEM
from scripted import Seeded

BIDS = [0.9, 0.5, 0.5, Fraction(1, 3), 7, -1, float("nan")]
PLANS = {
    "auction": (Auction(grid=PriceGrid(10), epsilon=1), BIDS),
    "segments": (
        AttributeAuction(["a", "b"], grid=PriceGrid(4), epsilon=1, verified=True),
        {"a": BIDS, "b": [1], "c": [1]},
    ),
    "pricings": (
        AttributeAuction(["a", "b"], grid=PriceGrid(4), epsilon=1, verified=False, pricings=[(1, 2), (4, 4)]),
        {"a": BIDS},
    ),
    "line": (TruthfulChoice(FacilityLine(5), epsilon=1), [0, 4, 4, "nowhere", [1]]),
    "plane": (TruthfulChoice(Plane(3, 2), epsilon=1), [(0, 0), (2, 1)]),
    "sale": (TruthfulChoice(Sale(4), epsilon=1, margin=0.001), [1, 2, 4]),
    "mediator": (Mediator(entry_game(20), rho=Fraction(1, 10), rounds=16), ["nimble"] * 19 + ["nobody"]),
}
ALL = pytest.mark.parametrize("name", PLANS)


def ledger_of(folder, name="market", **budget):
    return Ledger.create(folder / f"{name}.ledger", Budget(**budget), anchors=[])


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return np.array_equal(one, other)


@ALL
def test_a_plan_is_paid_for_once_and_handed_out_again_for_nothing(name, tmp_path):
    plan, data = PLANS[name]
    ledger = ledger_of(tmp_path, epsilon=3, delta=Fraction(1, 10**9))
    gate = Gate(ledger, data)
    assert isinstance(plan, Plan)
    price = gate.price(plan)
    assert price.fits
    assert price.cost == plan.cost
    release = gate.release(plan)
    left = ledger.left
    assert left < 3
    again = gate.release(plan)
    assert (again.fresh, ledger.left) == (False, left)
    assert same(release.answer, again.answer)


@ALL
@pytest.mark.parametrize("neighbours", Neighbours)
def test_ledgers_of_either_kind_of_neighbours_may_pay(name, neighbours, tmp_path):
    plan, data = PLANS[name]
    if name == "segments":
        plan = AttributeAuction(plan.segments, grid=plan.grid, epsilon=1, verified=False)
    unit = PrivacyUnit(neighbours=neighbours)
    ledger = ledger_of(tmp_path, epsilon=3, delta=Fraction(1, 10**9), unit=unit)
    assert Gate(ledger, data).release(plan).cost == plan.cost


def test_verified_segments_are_not_paid_for_where_people_are_replaced(tmp_path):
    """Whoever comes in somebody's place may be of another segment, and that would cost twice as much."""
    plan, data = PLANS["segments"]
    unit = PrivacyUnit(neighbours=Neighbours.REPLACE)
    with pytest.raises(DiscreetError, match="add/remove"):
        Gate(ledger_of(tmp_path, epsilon=3, unit=unit), data).release(plan)


@ALL
def test_a_text_says_all_that_decides_and_nothing_of_the_data(name):
    plan, data = PLANS[name]
    assert plan.canonical() == plan.canonical()
    assert plan.canonical() != PLANS["sale" if name == "line" else "line"][0].canonical()
    plan.run(data, SYSTEM)
    shown = repr(plan).replace("FacilityLine(", "Line(")  # the name that ledgers know
    assert plan.canonical() == f"discreet market 1\n{shown}"
    assert plan.describe()


def test_plans_that_differ_are_not_taken_for_each_other():
    grid = PriceGrid(4)
    plans = [
        Auction(grid=grid, epsilon=1),
        Auction(grid=grid, epsilon=2),
        Auction(grid=PriceGrid(5), epsilon=1),
        Auction(grid=PriceGrid(4, top=2), epsilon=1),
        AttributeAuction(["a"], grid=grid, epsilon=1, verified=True),
        AttributeAuction(["a"], grid=grid, epsilon=1, verified=False),
        AttributeAuction(["a"], grid=grid, epsilon=1, verified=False, pricings=[(1,)]),
        AttributeAuction(["b"], grid=grid, epsilon=1, verified=False),
        PostedPrices(grid=grid, rounds=3, epsilon=1),
        PostedPrices(grid=grid, rounds=4, epsilon=1),
        TruthfulChoice(FacilityLine(4), epsilon=1),
        TruthfulChoice(FacilityLine(4, facilities=3), epsilon=1),
        TruthfulChoice(FacilityLine(4), epsilon=1, margin=0.01),
        Mediator(entry_game(10), rho=1, rounds=4),
        Mediator(entry_game(11), rho=1, rounds=4),
        Mediator(entry_game(10), rho=1, rounds=8),
    ]
    assert len({plan.canonical() for plan in plans}) == len(plans)


def test_prices_over_rounds_are_paid_for_on_the_first_day(tmp_path):
    plan = PostedPrices(grid=PriceGrid(10), rounds=4, epsilon=Fraction(1, 10))
    ledger, rounds = ledger_of(tmp_path, epsilon=1), [[0.3, 0.9], [0.5], [1]]
    assert isinstance(plan, SteppedPlan)
    for day in range(4):
        release = Gate(ledger, rounds[:day]).advance(plan, day)
        assert release.answer in plan.grid.prices
        assert ledger.left == 1 - Fraction(3, 10)


def test_a_day_whose_rounds_are_missing_is_refused_and_can_be_asked_for_again(tmp_path):
    plan = PostedPrices(grid=PriceGrid(10), rounds=4, epsilon=Fraction(1, 10))
    ledger = ledger_of(tmp_path, epsilon=1)
    Gate(ledger, []).advance(plan, 0)
    with pytest.raises(RunFailed):
        Gate(ledger, []).advance(plan, 1)
    assert Gate(ledger, [[1]]).advance(plan, 1).answer in plan.grid.prices
    with pytest.raises(InvalidInput, match="earlier rounds"):
        plan.run_step([], SYSTEM, 1, [])


def test_an_auction_over_budget_never_sees_a_bid(tmp_path):
    class Secret(list):
        def __iter__(self):
            raise AssertionError("somebody looked")

        __len__ = __iter__

    with pytest.raises(BudgetExceeded):
        Gate(ledger_of(tmp_path, epsilon=1), Secret()).release(Auction(grid=PriceGrid(4), epsilon=2))


@pytest.mark.parametrize("name", ["auction", "pricings", "line", "plane", "sale"])
def test_draws_are_as_likely_as_stated(name):
    """4000 draws, seed 8: no outcome's frequency is five deviations from its probability."""
    plan, data = PLANS[name]
    entropy, times = Seeded(8), 4000
    drawn = Counter(str(plan.run(data, entropy)) for _ in range(times))
    match plan:
        case Auction():
            outcomes = [str(price) for price in plan.grid.prices]
        case AttributeAuction():
            outcomes = [str({"a": plan.grid.price(a), "b": plan.grid.price(b)}) for a, b in plan.pricings]
        case _:
            outcomes = [str(one) for one in plan.tables.outcomes]
    for outcome, chance in zip(outcomes, plan.probabilities(data), strict=True):
        assert abs(drawn[outcome] - times * chance) <= 5 * math.sqrt(times * chance * (1 - chance)) + 1
    assert set(drawn) <= set(outcomes)


def test_suggestions_are_drawn_from_the_strategy_of_the_round():
    mediator, reports = PLANS["mediator"]
    board = mediator.billboard(mediator.run(reports, Seeded(1)))
    entropy, times = Seeded(2), 3000
    drawn = Counter(board.suggest("nimble", entropy=entropy) for _ in range(times))
    for action, share in zip(mediator.game.actions, board.plays[board.round, 0] / 2**20, strict=True):
        assert abs(drawn[action] - times * share) <= 5 * math.sqrt(times * share * (1 - share)) + 1
    assert sum(board.mean_play("heavy").values()) == pytest.approx(1)


def test_what_is_suggested_to_others_is_a_function_of_the_billboard_alone():
    """The billboard lemma, as code: nobody's report goes into it but by the posted counts."""
    mediator, reports = PLANS["mediator"]
    answer = mediator.run(reports, SYSTEM)
    assert set(answer) == {"counts", "round"}
    one, other = mediator.billboard(answer), Mediator(mediator.game, rho=mediator.rho, rounds=16).billboard(answer)
    assert (one.plays == other.plays).all()


def test_an_outcome_says_who_buys_and_what_it_is_worth():
    outcome = Outcome(Fraction(1, 2))
    assert [outcome.buys(bid) for bid in (0.5, 0.49, 1)] == [True, False, True]
    assert outcome.pays(0.7) == Fraction(1, 2)
    assert outcome.pays(0.2) == 0
    assert outcome.utility(0.7) == Fraction(1, 5)
    assert outcome.utility(0.7, bid=0.4) == 0
    assert outcome.utility(0.3, bid=0.9) == -Fraction(1, 5)
    assert PLANS["segments"][0].outcomes({"a": Fraction(1, 4)}) == {"a": Outcome(0.25)}


def test_bids_beyond_the_grid_count_as_its_ends_and_unknown_segments_not_at_all():
    plan = Auction(grid=PriceGrid(4), epsilon=1)
    assert plan.scores([1e300, math.inf, -3, math.nan, 10**400]).tolist() == plan.scores([1, 1, 0, 0, 1]).tolist()
    segments, data = PLANS["segments"]
    assert segments.scores(data).tolist() == segments.scores({"a": BIDS, "b": [1]}).tolist()


def test_a_cost_is_known_before_any_bid():
    assert PLANS["auction"][0].cost == BoundedRange(1)
    assert PLANS["line"][0].cost == BoundedRange(1)
