"""Privacy as a tool for incentives: auctions, equilibria, facility location.

An auction is an Auction with an Outcome; *mechanism* keeps its one meaning, and *budget* too.
"""

from discreet.market.attributes import AttributeAuction
from discreet.market.auctions import Auction, Outcome
from discreet.market.commitments import Setting, TruthfulChoice, best_epsilon
from discreet.market.grids import PriceGrid
from discreet.market.posted import PostedPrices
from discreet.market.settings import Line, Plane, Sale
from discreet.market.statements import Statement, most_gain, truthfulness

__all__ = [
    "AttributeAuction",
    "Auction",
    "Line",
    "Outcome",
    "Plane",
    "PostedPrices",
    "PriceGrid",
    "Sale",
    "Setting",
    "Statement",
    "TruthfulChoice",
    "best_epsilon",
    "most_gain",
    "truthfulness",
]
