"""Draws the figures of the page on markets: `python docs/market_figures.py`."""  # noqa: INP001 (a script)

import math
from fractions import Fraction
from itertools import product
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from discreet.accounting import BoundedRange, Pure
from discreet.market import (
    Auction,
    FacilityLine,
    Mediator,
    PriceGrid,
    TruthfulChoice,
    best_epsilon,
    entry_game,
    most_gain,
    routing_game,
)
from discreet.noise import Entropy

STATIC = Path(__file__).parent / "_static"
RED, BLUE, GREY = "#b03a2e", "#1f618d", "#7f8c8d"
#: Runs that a point of the picture of regret is the mean of.
RUNS = 5


class Fixed(Entropy):
    """A stream that is the same every time, so that the same picture is the same file."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._words = np.random.Generator(np.random.Philox(seed))  # noqa: TID251 (a picture, no promise)

    def uniform(self) -> tuple[int, float]:
        """Return a word, and the same as a number in [0, 1)."""
        word = int(self._words.integers(0, 1 << 64, dtype=np.uint64))
        return word, word * 2.0**-64

    def fill(self, buffer: np.ndarray) -> None:
        """Fill an array with random bytes."""
        flat = buffer.reshape(-1)
        flat.view(np.uint8)[:] = np.frombuffer(self._words.bytes(flat.nbytes), np.uint8)


def draw_price(path: Path) -> None:
    """Draw what every price earns from 300 bidders, and how likely it is, with and without one of them."""
    bids = [0.35] * 129 + [0.8] * 100 + [0.1] * 70
    auction = Auction(grid=PriceGrid(100), epsilon=Fraction(1, 2))
    prices = [float(price) for price in auction.grid.prices]
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.plot(prices, auction.scores(bids) / 100, color=GREY, lw=1, label="revenue (left)")
    axes.set_xlabel("price")
    axes.set_ylabel("revenue")
    beside = axes.twinx()
    for extra, colour, label in ((1.0, BLUE, "one more bids 1.00"), (0.0, RED, "one more bids nothing")):
        beside.plot(prices, auction.probabilities([*bids, extra]), color=colour, lw=1, label=label)
    beside.set_ylabel("probability, ε = 0.5")
    beside.set_ylim(bottom=0)
    figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def worst_lie(epsilon: Fraction) -> float:
    """Return the most that anybody of two bidders gains by any lie, on a grid of twelve prices."""
    auction = Auction(grid=PriceGrid(12), epsilon=epsilon)
    values = [Fraction(k, 12) for k in range(13)]
    laws = {bids: auction.probabilities(list(bids)) for bids in product(values, repeat=2)}
    worth = {value: np.array([max(float(value - price), 0) for price in auction.grid.prices]) for value in values}
    gains = (
        float((laws[lie, other] - laws[value, other]) @ worth[value]) for value, lie, other in product(values, repeat=3)
    )
    return max(gains)


def draw_lie(path: Path) -> None:
    """Draw bounds on what a lie is worth, and the most that one is worth in a small auction."""
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    axes = figure.subplots()
    epsilons = np.linspace(0.02, 4, 100)
    axes.plot(epsilons, 2 * epsilons, color=GREY, lw=0.8, ls=":", label="2ε, the textbook")
    axes.plot(epsilons, 1 - np.exp(-epsilons), color=GREY, lw=0.8, ls="--", label="1 − e^−ε")
    pure = [float(most_gain(Pure(Fraction(f"{each:.4g}")))) for each in epsilons]
    axes.plot(epsilons, pure, color=GREY, lw=0.8, label="tanh(ε/2), any ε-private choice")
    ours = [float(most_gain(BoundedRange(Fraction(f"{each:.4g}")))) for each in epsilons]
    axes.plot(epsilons, ours, color=BLUE, lw=1.4, label="tanh(ε/4), what is stated")
    some = [Fraction(k, 4) for k in range(1, 17)]
    axes.plot([float(e) for e in some], [worst_lie(e) for e in some], "o", ms=3, color=RED, label="the best lie, found")
    axes.set_ylim(0, 1)
    axes.set_xlabel("ε")
    axes.set_ylabel("gain by a lie, of 1")
    figure.legend(loc="outside right upper", frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def draw_facilities(path: Path) -> None:
    """Draw what everybody loses, on average, where truth is strictly best, against how many there are."""
    figure = Figure(figsize=(7.5, 3.4), layout="constrained")
    axes = figure.subplots()
    people = [10**power for power in range(2, 9)]
    for places, colour in ((5, BLUE), (11, RED)):
        choices = [
            TruthfulChoice(FacilityLine(places), epsilon=best_epsilon(FacilityLine(places), each)) for each in people
        ]
        lost = [
            float(choice.mean_quality(each).bound) / (each * choice.setting.unit)
            for choice, each in zip(choices, people, strict=True)
        ]
        mixed = [float(choice.mixing) for choice in choices]
        axes.loglog(
            people, lost, color=colour, marker="o", ms=3, lw=1, label=f"{places} places: what each loses, at most"
        )
        axes.loglog(people, mixed, color=colour, lw=0.8, ls="--", label=f"{places} places: mixing probability")
    axes.set_xlabel("people")
    axes.set_ylabel("share of the longest way")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def measured(mediator: Mediator, players: int, seed: int) -> float:
    """Return the largest regret of any type in one run, with as many of each type."""
    kinds = mediator.game.types
    reports = [kinds[at % len(kinds)] for at in range(players)]
    board = mediator.billboard(mediator.run(reports, Fixed(seed)))
    return max(board.regrets(reports).values())


def draw_regret(path: Path) -> None:
    """Draw the regret of the routing game and the entry game against the number of players, beside the bound."""
    figure = Figure(figsize=(7.5, 3.6), layout="constrained")
    axes = figure.subplots()
    sizes = [round(10 ** (power / 2)) for power in range(3, 11)]
    for make, name, colour in ((routing_game, "routing", BLUE), (entry_game, "market entry", RED)):
        mediators = [Mediator(make(players), rho=Fraction(1, 10)) for players in sizes]
        bounds = [float(mediator.regret(0.95).bound) for mediator in mediators]
        found = [
            math.fsum(measured(mediator, players, seed) for seed in range(RUNS)) / RUNS
            for mediator, players in zip(mediators, sizes, strict=True)
        ]
        axes.loglog(sizes, bounds, color=colour, lw=0.8, ls="--", label=f"{name}: bound at 95 %")
        axes.loglog(sizes, found, color=colour, lw=1, marker="o", ms=3, label=f"{name}: measured")
    axes.set_xlabel("players")
    axes.set_ylabel("regret, of 1 (ρ = 0.1)")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    # No date, fixed ids and text as text: the same picture is the same file.
    with mpl.rc_context({"svg.hashsalt": "discreet", "svg.fonttype": "none"}):
        draw_price(STATIC / "market-price.svg")
        draw_lie(STATIC / "market-lie.svg")
        draw_facilities(STATIC / "market-facilities.svg")
        draw_regret(STATIC / "market-regret.svg")
