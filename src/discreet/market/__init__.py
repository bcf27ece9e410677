"""Privacy as a tool for incentives: auctions, equilibria, facility location.

Still empty. An auction is an Auction with an Outcome; *mechanism* keeps its one meaning.
"""

__all__: list[str] = []
