"""Privacy as a tool for incentives: auctions, equilibria, facility location.

An auction is an Auction with an Outcome; *mechanism* keeps its one meaning, and *budget* too.
"""

from discreet.market.attributes import AttributeAuction
from discreet.market.auctions import Auction, BidFile, Outcome
from discreet.market.commitments import Setting, TruthfulChoice, best_epsilon
from discreet.market.equilibria import Billboard, Mediator, best_rho
from discreet.market.games import LargeGame, entry_game, routing_game
from discreet.market.grids import PriceGrid
from discreet.market.posted import PostedPrices
from discreet.market.settings import FacilityLine, Plane, Sale
from discreet.market.statements import IncentiveGuarantee, most_gain, truthfulness

__all__ = [
    "AttributeAuction",
    "Auction",
    "BidFile",
    "Billboard",
    "FacilityLine",
    "IncentiveGuarantee",
    "LargeGame",
    "Mediator",
    "Outcome",
    "Plane",
    "PostedPrices",
    "PriceGrid",
    "Sale",
    "Setting",
    "TruthfulChoice",
    "best_epsilon",
    "best_rho",
    "entry_game",
    "most_gain",
    "routing_game",
    "truthfulness",
]
