"""Attack: one bidder writes something that is no number, and the auction fails: who sees that knows of the bid.

And: a seller passes what holds no bids at all, and pays for a failure that was certain.
"""

import numpy as np
import pytest

from discreet.core import DiscreetError, RunFailed
from discreet.gate import Budget, Gate, Ledger
from discreet.market import (
    AttributeAuction,
    Auction,
    BidFile,
    FacilityLine,
    Mediator,
    PostedPrices,
    PriceGrid,
    TruthfulChoice,
    routing_game,
)
from ledger_bytes import nothing_written

GRID = PriceGrid(steps=10)


class Strange(float):
    """A number of somebody's own type."""

    def __repr__(self):
        raise ValueError


#: What one bidder may write.
WRITTEN = ["a lot", None, True, 3 + 4j, [1], {}, object(), float("nan"), Strange(2), np.datetime64("2025-01-01")]


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "sale.ledger", Budget(epsilon=1000)) as made:
        yield made


@pytest.mark.parametrize("written", WRITTEN, ids=lambda one: type(one).__name__)
def test_no_bid_makes_an_auction_fail(ledger, written):
    others = [0.1, 0.5, 0.9]
    Gate(ledger, [*others, written]).release(Auction(grid=GRID, epsilon=1))
    Gate(ledger, {"a": [*others, written], "b": others}).release(
        AttributeAuction(grid=GRID, epsilon=1, segments=["a", "b"], verified=True)
    )
    posted = PostedPrices(grid=GRID, epsilon=1, rounds=2)
    gate = Gate(ledger, [[*others, written]])
    gate.advance(posted, 0)
    gate.advance(posted, 1)


def plans():
    """Every plan of a market, and data that it cannot be asked about."""
    return [
        (Auction(grid=GRID, epsilon=1), "none"),
        (Auction(grid=GRID, epsilon=1), np.zeros((2, 2))),
        (Auction(grid=GRID, epsilon=1), np.ma.masked_array([1.0], [True])),
        (AttributeAuction(grid=GRID, epsilon=1, segments=["a", "b"], verified=True), [0.1]),
        (AttributeAuction(grid=GRID, epsilon=1, segments=["a", "b"], verified=True), {"a": "none"}),
        (TruthfulChoice(FacilityLine(5), epsilon=0.1), "none"),
        (Mediator(routing_game(100), rho=1), "none"),
    ]


@pytest.mark.parametrize("number", range(len(plans())))
def test_what_holds_no_bids_costs_nothing(ledger, tmp_path, number):
    plan, data = plans()[number]
    with nothing_written(ledger, tmp_path / "sale.ledger"), pytest.raises(DiscreetError) as caught:
        Gate(ledger, data).release(plan)
    assert not isinstance(caught.value, RunFailed)


def test_rounds_that_are_no_list_cost_nothing(ledger, tmp_path):
    for data in ("none", ["none"]):
        with nothing_written(ledger, tmp_path / "sale.ledger"), pytest.raises(DiscreetError) as caught:
            Gate(ledger, data).advance(PostedPrices(grid=GRID, epsilon=1, rounds=2), 0)
        assert not isinstance(caught.value, RunFailed)


def test_a_file_that_is_gone_costs_nothing(ledger, tmp_path):
    place = tmp_path / "bids.csv"
    place.write_text("bid\n1\n")
    bids = BidFile(path=str(place), column="bid")
    for change in (lambda: place.write_text("offer\n1\n"), place.unlink):
        change()
        with nothing_written(ledger, tmp_path / "sale.ledger"), pytest.raises(DiscreetError) as caught:
            Gate(ledger, bids).release(Auction(grid=GRID, epsilon=1))
        assert not isinstance(caught.value, RunFailed)
