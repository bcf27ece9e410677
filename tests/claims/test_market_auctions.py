"""Auctions: exact ε over all neighbouring bids, best responses against every profile, revenue against OPT − bound."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import epsilon as accounted
from discreet.market import AttributeAuction, Auction, PostedPrices, PriceGrid
from discreet.market.grids import revenues
from discreet.mechanisms import ExponentialMechanism
from discreet.noise import SYSTEM

#: What sums of floats behind `probabilities` may be off by.
ROUNDING = 1e-11

#: Bidders, values that bids may have, steps of the grid.
WORLDS = [(2, 5, 5), (3, 5, 5), (3, 4, 8), (4, 4, 3)]
EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(3)]


def values_of(count):
    return [Fraction(k, count) for k in range(count + 1)]


def profiles(bidders, values):
    return itertools.product(values, repeat=bidders)


def replaced(profile, who, bid):
    return (*profile[:who], bid, *profile[who + 1 :])


def laws_of(auction, bidders, values):
    """Return the distribution of the price for every profile."""
    return {profile: auction.probabilities(list(profile)) for profile in profiles(bidders, values)}


def neighbours(laws, values):
    for profile in laws:
        for who, bid in itertools.product(range(len(profile)), values):
            if bid != profile[who]:
                yield profile, who, replaced(profile, who, bid)


def surplus(value, prices):
    """Return the utility of every price to somebody who buys where it pays: no less than what any bid would get."""
    return np.array([max(float(value - price), 0.0) for price in prices])


def worst_of(laws, values):
    """Return the largest log-ratio, and the largest range of log-ratios, over all neighbours."""
    loss = spread = 0.0
    for one, _, other in neighbours(laws, values):
        logs = np.log(laws[one]) - np.log(laws[other])
        loss, spread = max(loss, float(np.abs(logs).max())), max(spread, float(np.ptp(logs)))
    return loss, spread


def best_lie(laws, values, prices):
    gains = (
        float((laws[other] - laws[one]) @ surplus(one[who], prices)) for one, who, other in neighbours(laws, values)
    )
    return max(gains)


@pytest.mark.parametrize(("bidders", "fine", "steps"), WORLDS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_replaced_bid_moves_the_price_by_more_than_epsilon(bidders, fine, steps, epsilon):
    auction, values = Auction(grid=PriceGrid(steps), epsilon=epsilon), values_of(fine)
    loss, spread = worst_of(laws_of(auction, bidders, values), values)
    assert loss <= float(epsilon) + ROUNDING
    assert spread <= float(auction.cost.epsilon) + ROUNDING
    assert spread >= 0.9 * float(epsilon)  # nothing is paid for that is not used


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_bid_that_comes_or_goes_moves_the_price_by_more_than_epsilon(epsilon):
    auction, values = Auction(grid=PriceGrid(5), epsilon=epsilon), values_of(5)
    for profile in profiles(2, values):
        before = np.log(auction.probabilities(list(profile)))
        for bid in values:
            assert np.ptp(before - np.log(auction.probabilities([*profile, bid]))) <= float(epsilon) + ROUNDING


@pytest.mark.parametrize(("bidders", "fine", "steps"), WORLDS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_bidder_gains_more_than_stated_by_any_bid_against_any_profile(bidders, fine, steps, epsilon):
    auction, values = Auction(grid=PriceGrid(steps), epsilon=epsilon), values_of(fine)
    gain = best_lie(laws_of(auction, bidders, values), values, auction.grid.prices)
    assert gain <= float(auction.truthfulness().bound) + ROUNDING
    assert auction.truthfulness().bound <= 1 - math.exp(-epsilon)
    assert gain > 0  # it is only approximately truthful, and the bound has something to bound


def test_a_world_in_which_a_lie_is_worth_what_is_stated():
    """One price that earns as much as all lower ones: the bound of a bounded range is met within a fifth."""
    epsilon, steps = Fraction(1, 10), 40
    auction = Auction(grid=PriceGrid(steps), epsilon=epsilon)
    truth, lie = auction.probabilities([1]), auction.probabilities([Fraction(1, 40)])
    total_variation = float(np.abs(truth - lie).sum()) / 2
    assert total_variation <= auction.truthfulness().bound
    assert total_variation >= 0.4 * float(auction.truthfulness().bound)


@pytest.mark.parametrize("members", [2, 3])
def test_nobody_in_a_coalition_gains_more_than_stated_by_lying_together(members):
    auction, values = Auction(grid=PriceGrid(4), epsilon=1), values_of(4)
    laws, bound = laws_of(auction, 3, values), float(auction.collusion(members).bound)
    worst = 0.0
    for one, other in itertools.product(laws, repeat=2):
        changed = [who for who in range(3) if one[who] != other[who]]
        if len(changed) == members:
            worst = max(
                *(float((laws[other] - laws[one]) @ surplus(one[who], auction.grid.prices)) for who in changed), worst
            )
    assert worst <= bound + ROUNDING
    assert worst > best_lie(laws, values, auction.grid.prices)  # two do more than one


def best_revenue(bids):
    """Return what the best single price of all earns: it is somebody's bid."""
    return max((price * sum(bid >= price for bid in bids) for price in bids), default=Fraction(0))


def earned(auction, bids):
    return np.array([float(price * sum(bid >= price for bid in bids)) for price in auction.grid.prices])


@pytest.mark.parametrize(("bidders", "fine", "steps"), [(2, 7, 5), (3, 7, 5), (4, 4, 3)])
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(5)])
@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(19, 20)])
def test_the_revenue_is_within_the_bound_of_the_best_price_as_often_as_stated(
    bidders, fine, steps, epsilon, confidence
):
    auction = Auction(grid=PriceGrid(steps), epsilon=epsilon)
    stated, mean = auction.revenue(bidders, confidence), auction.mean_revenue(bidders)
    assert stated.probability == confidence
    for profile in profiles(bidders, values_of(fine)):
        law, best, income = auction.probabilities(list(profile)), best_revenue(profile), earned(auction, profile)
        assert float(law[income < float(best - stated.bound)].sum()) <= 1 - confidence + ROUNDING
        assert float(law @ income) >= float(best - mean.bound) - ROUNDING


@pytest.mark.parametrize("shape", ["uniform", "two points", "equal revenue"])
@pytest.mark.parametrize("bidders", [100, 2000])
def test_the_chosen_grid_keeps_the_mean_revenue_near_the_best_one(shape, bidders):
    places = (np.arange(bidders) + 0.5) / bidders
    bids = {
        "uniform": places,
        "two points": np.where(places < 0.1, 1.0, 0.09),
        "equal revenue": np.minimum(1.0, 0.02 / places),
    }[shape]
    auction = Auction.for_bidders(bidders, epsilon=Fraction(1, 2))
    ordered = np.sort(bids)[::-1]
    best = float((ordered * np.arange(1, bidders + 1)).max())
    income = revenues(auction.grid.levels(bids), auction.grid.steps) * float(auction.grid.alpha)
    assert float(auction.probabilities(bids) @ income) >= best - float(auction.mean_revenue(bidders).bound)


def test_alpha_is_the_step_with_the_least_bound():
    for bidders, epsilon in itertools.product([1, 7, 100, 1234], [Fraction(1, 10), Fraction(1), Fraction(7, 3)]):
        chosen = PriceGrid.for_bidders(bidders, epsilon).steps

        def bound(steps, bidders=bidders, epsilon=epsilon):
            return Auction(grid=PriceGrid(steps), epsilon=epsilon).mean_revenue(bidders).bound

        others = range(max(1, chosen - 30), chosen + 30)
        assert all(bound(chosen) <= bound(other) + Fraction(1, 10**9) for other in others)


# Controls: a broken score must be seen by the same eyes.


class Demand(Auction):
    """Scores prices by revenue squared: one bid moves it by more than the sensitivity that is stated."""

    def scores(self, bids):
        return super().scores(bids) ** 2


class Pairs(Auction):
    """Scores by how many pairs of bidders would both buy: the more others there are, the more one bid moves."""

    def scores(self, bids):
        levels = self.grid.levels([*bids, 1, 1])
        reached = np.array([(levels >= step).sum() for step in range(1, self.grid.steps + 1)])
        return np.arange(1, self.grid.steps + 1) * reached * (reached - 1) // 2


class Others(Auction):
    """Scores by who does not buy beside who does: moves both ways, billed as if one way."""

    def scores(self, bids):
        levels = self.grid.levels(bids)
        steps = np.arange(1, self.grid.steps + 1)
        return self.grid.steps * np.array([(levels == step).sum() for step in steps])


class Greedy(Auction):
    """Takes the best price nearly always: a rate ten times as high as stated."""

    @property
    def mechanism(self):
        return ExponentialMechanism(epsilon=10 * self.epsilon, sensitivity=self.grid.steps, monotone=True)

    @property
    def cost(self):
        return super().cost.__class__(self.epsilon)


@pytest.mark.parametrize("broken", [Demand, Pairs, Others, Greedy])
def test_a_broken_score_would_be_seen(broken):
    auction, values = broken(grid=PriceGrid(5), epsilon=1), values_of(5)
    _, spread = worst_of(laws_of(auction, 2, values), values)
    assert spread > 1.05


def test_a_greedy_seller_makes_lies_pay_more_than_stated():
    auction, values = Greedy(grid=PriceGrid(5), epsilon=Fraction(1, 10)), values_of(5)
    assert best_lie(laws_of(auction, 2, values), values, auction.grid.prices) > auction.truthfulness().bound


# Attributes.


def joint(auction, bids):
    """Return the chance of every pricing, segments drawn one by one."""
    rows = auction.probabilities(bids)
    return np.array([math.prod(row[k] for row, k in zip(rows, ks, strict=True)) for ks in combinations(auction)])


def combinations(auction):
    return itertools.product(range(auction.grid.steps), repeat=len(auction.segments))


def by_segment(names, people):
    return {name: [bid for where, bid in people if where == name] for name in names}


NAMES = ("a", "b")


@pytest.mark.parametrize("verified", [True, False])
@pytest.mark.parametrize("listed", [True, False])
def test_no_bidder_moves_all_prices_of_all_segments_by_more_than_epsilon(verified, listed):
    """Every two people, of either segment; a lie about the bid, and where nobody verifies it, about the segment."""
    grid, epsilon = PriceGrid(3), Fraction(1)
    pricings = [(1, 1), (2, 2), (3, 3), (1, 3), (3, 2)] if listed else None
    auction = AttributeAuction(NAMES, grid=grid, epsilon=epsilon, verified=verified, pricings=pricings)
    kinds, worst = list(itertools.product(NAMES, values_of(3))), 0.0
    laws = {
        people: (auction.probabilities if listed else lambda bids: joint(auction, bids))(by_segment(NAMES, people))
        for people in itertools.product(kinds, repeat=2)
    }
    for people, law in laws.items():
        for lie in kinds:
            if verified and lie[0] != people[0][0]:
                continue
            logs = np.log(law) - np.log(laws[lie, people[1]])
            worst = max(worst, float(np.ptp(logs)))
    assert worst <= float(epsilon) + ROUNDING
    assert accounted(auction.cost, 0) == float(epsilon)
    # Of three prices the lowest moves by a third of what the highest does, in both segments: 2/3 of ε where a bid goes.
    assert worst >= (0.99 if verified else 0.5)


def test_segments_drawn_one_by_one_are_the_exponential_mechanism_on_all_pricings():
    grid = PriceGrid(3)
    bids = {"a": [Fraction(1, 2), 1, 0.4], "b": [1, 1]}
    one_by_one = AttributeAuction(NAMES, grid=grid, epsilon=2, verified=False)
    every = [(first + 1, second + 1) for first, second in combinations(one_by_one)]
    at_once = AttributeAuction(NAMES, grid=grid, epsilon=2, verified=False, pricings=every)
    assert joint(one_by_one, bids) == pytest.approx(at_once.probabilities(bids), rel=1e-11)


@pytest.mark.parametrize("listed", [True, False])
def test_prices_by_segment_earn_nearly_what_the_best_ones_do(listed):
    grid, epsilon, confidence = PriceGrid(4), Fraction(6), Fraction(9, 10)
    pricings = [(step, step) for step in range(1, 5)] if listed else None
    auction = AttributeAuction(NAMES, grid=grid, epsilon=epsilon, verified=True, pricings=pricings)
    for bids in itertools.product(values_of(5), repeat=3):
        by_name = {"a": bids[:2], "b": bids[2:]}
        table = auction.scores(by_name) / grid.steps
        if listed:
            law, income, best = auction.probabilities(by_name), table.sum(axis=0), table.sum(axis=0).max()
        else:
            law = joint(auction, by_name)
            income = np.array([table[0, one] + table[1, other] for one, other in combinations(auction)])
            best = float(sum(best_revenue(part) for part in by_name.values()))
        short = income < best - float(auction.revenue(3, confidence).bound) - ROUNDING
        assert float(law[short].sum()) <= 1 - confidence + ROUNDING


# Prices over rounds.


def test_no_bid_moves_the_prices_of_all_rounds_by_more_than_they_cost():
    """All prices of three rounds together, with one bid a round, of which any one is replaced by any other."""
    plan, values = PostedPrices(grid=PriceGrid(3), rounds=3, epsilon=1), values_of(3)
    laws = {}
    for first, second in itertools.product(values, repeat=2):
        rounds = [[first], [second]]
        parts = [plan.probabilities(rounds[:step]) for step in range(3)]
        laws[first, second] = np.einsum("i,j,k->ijk", *parts)
    worst = 0.0
    for one, other in itertools.product(laws, repeat=2):
        if sum(a != b for a, b in zip(one, other, strict=True)) == 1:
            worst = max(worst, float(np.abs(np.log(laws[one]) - np.log(laws[other])).max()))
    assert worst <= float(plan.cost.times * plan.cost.part.epsilon) + ROUNDING
    assert plan.cost.times == 2


def test_a_price_does_not_depend_on_its_own_round():
    plan = PostedPrices(grid=PriceGrid(4), rounds=3, epsilon=1)
    rounds, asked = [[Fraction(1, 2)], [Fraction(1)]], []

    class Watched(PostedPrices):
        def _scores(self, before, levels):
            asked.append(len(before))
            return super()._scores(before, levels)

    watched = Watched(grid=plan.grid, rounds=3, epsilon=1)
    for step in range(3):
        watched.run_step(rounds, SYSTEM, step, [])
    assert asked == [0, 1, 2]


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2)])
def test_who_comes_back_gains_no_more_than_stated_by_a_lie_in_the_first_round(epsilon):
    """One other bid a round, every value, every lie; the price of the own round is the same whatever is bid."""
    plan, values = PostedPrices(grid=PriceGrid(4), rounds=3, epsilon=epsilon), values_of(4)
    best = 0.0
    for value, lie, first, second in itertools.product(values, values, values, values):
        worth = surplus(value, plan.grid.prices)
        had = {
            bid: sum(float(plan.probabilities(rounds) @ worth) for rounds in ([[bid, first]], [[bid, first], [second]]))
            for bid in (value, lie)
        }
        best = max(best, had[lie] - had[value])
    assert 0 < best <= plan.truthfulness(visits=2).bound


@pytest.mark.parametrize("confidence", [Fraction(1, 2), Fraction(9, 10)])
def test_all_rounds_together_earn_what_is_stated_as_often_as_stated(confidence):
    """Every sequence of one bid a round, and every sequence of prices."""
    plan, values = PostedPrices(grid=PriceGrid(3), rounds=4, epsilon=1), values_of(3)[1:]
    bound = float(plan.regret(1, confidence).bound)
    for bids in itertools.product(values, repeat=4):
        rounds = [[bid] for bid in bids]
        gains = [plan.scores([one]) / plan.grid.steps for one in rounds]
        laws = [plan.probabilities(rounds[:at]) for at in range(4)]
        best, failed = float(sum(gains).max()), 0.0
        for prices in itertools.product(range(3), repeat=4):
            earned_all = sum(gain[price] for gain, price in zip(gains, prices, strict=True))
            if earned_all < best - bound:
                failed += math.prod(law[price] for law, price in zip(laws, prices, strict=True))
        assert failed <= 1 - confidence


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
def test_prices_over_rounds_earn_what_the_regret_allows_on_every_sequence_of_bids(epsilon):
    plan, values = PostedPrices(grid=PriceGrid(3), rounds=5, epsilon=epsilon), values_of(3)[1:]
    steps = plan.grid.steps
    worst = 0.0
    for bids in itertools.product(values, repeat=5):
        rounds = [[bid] for bid in bids]
        gains = [plan.scores([one]) / steps for one in rounds]
        mean = sum(float(plan.probabilities(rounds[:at]) @ gains[at]) for at in range(5))
        worst = max(worst, float(sum(gains).max()) - mean)
    assert worst <= float(plan.regret(1).bound) + ROUNDING
    assert worst > 0  # or there would be nothing to learn
