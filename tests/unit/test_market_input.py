"""Bids as people write them, and refusals that say what to do and quote nobody."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet.core import InvalidInput, OutOfRange, WrongType
from discreet.market import (
    AttributeAuction,
    Auction,
    FacilityLine,
    LargeGame,
    Mediator,
    Plane,
    PostedPrices,
    PriceGrid,
    Sale,
    TruthfulChoice,
    entry_game,
    most_gain,
    routing_game,
)
from discreet.market.commitments import MOST_ENTRIES, tables_of
from discreet.noise import SYSTEM

GRID = PriceGrid(10)


@pytest.mark.parametrize("steps", [1, 3, 7, 10, 100, 1000])
@pytest.mark.parametrize("top", [1, Fraction(2, 3), 49.99, 1000])
def test_a_bid_that_is_typed_as_a_price_reaches_it(steps, top):
    """As fractions, floats, decimals and in arrays; and one a little lower does not."""
    grid = PriceGrid(steps, top=top)
    for step in range(1, steps + 1):
        assert grid.level(grid.price(step)) == step
        assert grid.level(grid.price(step) - Fraction(1, 10**30)) == step - 1


@pytest.mark.parametrize("steps", [10, 100, 1000])
def test_floats_mean_what_was_typed_alone_in_lists_and_in_arrays(steps):
    grid = PriceGrid(steps)
    typed = [f"{step / steps:.3f}" for step in range(steps + 1)]
    for bids in ([float(text) for text in typed], np.array([float(text) for text in typed]), [*map(Decimal, typed)]):
        assert grid.levels(bids).tolist() == list(range(steps + 1))
    assert [grid.level(float(text)) for text in typed] == list(range(steps + 1))


def test_arrays_and_lists_agree_on_hostile_bids():
    draws = np.random.default_rng(0)
    bids = np.concatenate(
        [draws.normal(0.5, 1, 500), draws.integers(-5, 110, 500) / 100, [np.nan, np.inf, -np.inf, 5e-324, -0.0, 1e308]]
    )
    for grid in (PriceGrid(100), PriceGrid(7, top=0.3), PriceGrid(1_000_000, top=1e9)):
        assert grid.levels(bids).tolist() == grid.levels(bids.tolist()).tolist()
    whole = draws.integers(-100, 100, 300)
    for kind in (np.int8, np.int64, np.uint8, np.float32, object):
        some = whole.clip(0).astype(kind)
        assert PriceGrid(9, top=50).levels(some).tolist() == PriceGrid(9, top=50).levels(some.tolist()).tolist()


@pytest.mark.parametrize("kind", [np.float16, np.float32])
def test_narrow_floats_mean_what_was_typed_too(kind):
    typed = np.array([0.29, 0.57, 0.58, 0.07, np.nan, np.inf, -1], kind)
    assert PriceGrid(100).levels(typed).tolist() == [29, 57, 58, 7, 0, 100, 0]
    assert PriceGrid(100).levels(list(typed)).tolist() == [29, 57, 58, 7, 0, 100, 0]


def test_decimals_of_any_size_have_a_level():
    bids = [
        Decimal(text) for text in ("NaN", "Infinity", "-Infinity", "1E+99999", "-1E+99999", "1E-99999", "0", "0.25")
    ]
    assert GRID.levels(bids).tolist() == [0, 10, 0, 10, 0, 0, 0, 2]


@pytest.mark.parametrize("bid", ["0.5", None, True, 1j, [0.5], np.bool_(True)])
def test_a_bid_that_is_no_number_is_refused_by_its_type(bid):
    with pytest.raises(WrongType, match="not a number") as caught:
        GRID.levels([bid])
    assert "0.5" not in str(caught.value)


@pytest.mark.parametrize("bids", ["0.5", 0.5, {0.5}, np.zeros((2, 2)), np.ma.array([1.0]), np.array(["a"])])
def test_what_is_no_list_of_bids_is_refused(bids):
    with pytest.raises(WrongType):
        GRID.levels(bids)


CALLS = {
    "steps": lambda: PriceGrid(0),
    "many steps": lambda: PriceGrid(10**7),
    "top": lambda: PriceGrid(5, top=0),
    "step": lambda: GRID.price(11),
    "grid": lambda: Auction(grid=10, epsilon=1),
    "epsilon": lambda: Auction(grid=GRID, epsilon=0),
    "confidence": lambda: Auction(grid=GRID, epsilon=1).revenue(10, 1),
    "members": lambda: Auction(grid=GRID, epsilon=1).collusion(0),
    "segments": lambda: AttributeAuction("ab", grid=GRID, epsilon=1, verified=True),
    "no segments": lambda: AttributeAuction([], grid=GRID, epsilon=1, verified=True),
    "twice": lambda: AttributeAuction(["a", "a"], grid=GRID, epsilon=1, verified=True),
    "many segments": lambda: AttributeAuction([str(k) for k in range(10_001)], grid=GRID, epsilon=1, verified=True),
    "verified": lambda: AttributeAuction(["a"], grid=GRID, epsilon=1, verified=1),
    "pricings": lambda: AttributeAuction(["a"], grid=GRID, epsilon=1, verified=True, pricings=[1]),
    "no pricings": lambda: AttributeAuction(["a"], grid=GRID, epsilon=1, verified=True, pricings=[]),
    "width": lambda: AttributeAuction(["a"], grid=GRID, epsilon=1, verified=True, pricings=[(1, 2)]),
    "price": lambda: AttributeAuction(["a"], grid=GRID, epsilon=1, verified=True, pricings=[(11,)]),
    "bids": lambda: AttributeAuction(["a"], grid=GRID, epsilon=1, verified=True).scores([1]),
    "rounds": lambda: PostedPrices(grid=GRID, rounds=1, epsilon=1),
    "day": lambda: PostedPrices(grid=GRID, rounds=2, epsilon=1).run_step([[1], [1]], SYSTEM, 2, []),
    "visits": lambda: PostedPrices(grid=GRID, rounds=2, epsilon=1).truthfulness(5),
    "setting": lambda: TruthfulChoice("line", epsilon=1),
    "margin": lambda: TruthfulChoice(FacilityLine(5), epsilon=1, margin=1),
    "negative margin": lambda: TruthfulChoice(FacilityLine(5), epsilon=1, margin=-1),
    "reports": lambda: TruthfulChoice(FacilityLine(5), epsilon=1).scores("0"),
    "places": lambda: FacilityLine(1),
    "facilities": lambda: FacilityLine(5, facilities=0),
    "plane": lambda: Plane(1, 1),
    "large plane": lambda: Plane(100, 100),
    "values": lambda: Sale(1),
    "players": lambda: entry_game(1),
    "game": lambda: Mediator("entry", rho=1),
    "rho": lambda: Mediator(entry_game(10), rho=0),
    "few rounds": lambda: Mediator(entry_game(10), rho=1, rounds=1),
    "types": lambda: Mediator(entry_game(10), rho=1, rounds=4).people("nimble"),
    "edge": lambda: routing_game(10, routes={"a": ["nowhere"], "b": ["coast"]}),
    "no time": lambda: routing_game(10, edges={"e": (0, 0)}, routes={"a": ["e"], "b": ["e"]}, detours={"x": {}}),
    "slope": lambda: routing_game(10, edges={"e": (1, -1)}, routes={"a": ["e"], "b": ["e"]}, detours={"x": {}}),
    "utility": lambda: entry_game(10, outside=2),
    "actions": lambda: LargeGame(3, actions=["a"], types=["t"], base=[[0]], crowding=[[0]]),
    "base": lambda: LargeGame(3, actions=["a", "b"], types=["t"], base=[[0]], crowding=[[0, 0], [0, 0]]),
    "rows": lambda: LargeGame(3, actions=["a", "b"], types=["t"], base=0, crowding=[[0, 0], [0, 0]]),
    "no types": lambda: routing_game(10, detours={}),
    "stranger": lambda: entry_game(10).utility("nobody", "north", [0, 0, 0]),
    "others": lambda: entry_game(10).utility("usual", "north", [0]),
    "names": lambda: LargeGame(3, actions="ab", types=["t"], base=[[0, 0]], crowding=[[0, 0], [0, 0]]),
}


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_is_refused_with_what_to_do(call):
    with pytest.raises((InvalidInput, WrongType)) as caught:
        CALLS[call]()
    assert caught.value.fix


def test_a_type_that_is_not_in_the_game_gets_no_suggestion():
    mediator = Mediator(entry_game(10), rho=1, rounds=4)
    board = mediator.billboard(mediator.run([], SYSTEM))
    with pytest.raises(InvalidInput, match="Unknown type"):
        board.suggest("stranger")
    assert board.regrets([]) == {}


def test_a_setting_that_is_too_large_is_refused_before_it_is_worked_out():
    with pytest.raises(OutOfRange, match="too large"):
        tables_of(FacilityLine(200, facilities=3))
    assert MOST_ENTRIES < 200**3 * 200


class Odd(FacilityLine):
    """A line whose utilities lie beyond the unit."""

    @property
    def unit(self):
        return 1

    def utility(self, type_, outcome, report, /):
        return 5


class Lonely(FacilityLine):
    """A line with one place."""

    @property
    def types(self):
        return [0]


class Still(Sale):
    """A sale whose score depends on nobody."""

    def score(self, report, outcome, /):
        return 0


@pytest.mark.parametrize("setting", [Odd(3), Lonely(3), Still(3)])
def test_a_setting_of_ones_own_is_checked(setting):
    with pytest.raises(InvalidInput):
        TruthfulChoice(setting, epsilon=1)


def test_statements_read_as_sentences_rounded_against_us():
    auction = Auction.for_bidders(1000, epsilon=1)
    assert str(auction.truthfulness()) == "no person whose utility lies in [0, 1] gains more than 0.245 by a lie"
    assert most_gain(auction.cost) <= Fraction("0.245")
    assert "0.95" in str(auction.revenue(1000))
    assert "if 5 lie together" in str(auction.collusion(5))
    assert str(PostedPrices(grid=GRID, rounds=4, epsilon=1).truthfulness(0)).endswith("at most 0 by a lie in one round")


def test_more_bidders_or_more_epsilon_make_a_finer_grid():
    sizes = [PriceGrid.for_bidders(n, e).steps for n, e in [(1, 0.1), (100, 0.1), (100, 1), (10**9, 1)]]
    assert sizes == [1, 10, 100, 1_000_000]


def test_the_rate_of_prices_over_rounds_is_that_of_least_regret():
    plan = PostedPrices.for_buyers(50, grid=GRID, rounds=100)
    others = [PostedPrices(grid=GRID, rounds=100, epsilon=plan.epsilon * Fraction(times)) for times in (0.8, 1.25)]
    assert all(plan.regret(50).bound <= other.regret(50).bound for other in others)
    assert plan.regret(50, 0.95).bound > plan.regret(50).bound
