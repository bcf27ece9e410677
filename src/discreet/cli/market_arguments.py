"""The words of `discreet market`. Nothing heavy is imported here, so that help comes at once."""

from discreet.cli.parsers import JSON, Parser, Verbs, added, added_verb

EXAMPLES = """\
For example:

  discreet market preview --epsilon 0.5 --top 20 --bidders 1000           what it earns, what a lie is worth: free
  discreet ledger create sale.ledger --epsilon 1
  discreet market auction bids.csv --column bid --epsilon 0.5 --top 20 --bidders 1000 --ledger sale.ledger

One price for all, for goods that can be copied: who bids it or more buys, at that price. It is drawn by the exponential
mechanism from a public grid, so that a bid that is not one's value gains nearly nothing.
"""
AUCTION = """\
It is paid for before a bid is read. Each row is one bid; if the ledger protects persons, by a column, that column must
be in the file, and the highest bid of each person counts. Asked again, the price that was drawn is handed out for
nothing.
"""


def add_market(rooms: Verbs) -> None:
    """Add the verbs of markets."""
    room = added(rooms, "market", "Auctions in which the truth is the best bid, nearly.")
    room.epilog = EXAMPLES
    verbs = room.add_subparsers(dest="verb", required=True, metavar="VERB")
    _preview(verbs)
    _auction(verbs)


def _preview(verbs: Verbs) -> None:
    one = added_verb(verbs, "preview", "What an auction costs, earns and makes of lies. Free; no bid is read.")
    _auctioned(one)
    one.add_argument("--together", default="2", metavar="K", help="how many might lie together (2)")
    one.add_argument("--confidence", default="0.95", metavar="P", help="how sure the revenue is (0.95)")


def _auction(verbs: Verbs) -> None:
    one = added_verb(verbs, "auction", "Draw a price, and pay for it from a ledger.")
    one.epilog = f"{AUCTION}\n{JSON}"
    one.add_argument("file", metavar="FILE", help="a CSV file with a line of names")
    one.add_argument("--column", required=True, metavar="NAME", help="the column of bids")
    _auctioned(one)
    one.add_argument("--ledger", required=True, dest="place", metavar="PLACE", help="the ledger that pays")
    one.add_argument("--key", metavar="FILE", help="the signing key (PLACE.key, if left out)")
    one.add_argument("--anchor", action="append", metavar="FILE", help="a file that holds its anchors")
    one.add_argument("--analyst", default="", metavar="NAME", help="who asks, and pays")
    one.add_argument("--fresh", action="store_true", help="pay for a new draw, even if this was asked before")
    one.add_argument("--request", metavar="ID", help="a name for this payment: under it, nothing is paid for twice")


def _auctioned(one: Parser) -> None:
    one.add_argument("--epsilon", required=True, metavar="E", help="what the price may cost")
    one.add_argument("--top", default="1", metavar="PRICE", help="the highest price (1)")
    one.add_argument("--bidders", required=True, metavar="N", help="how many are expected: a public guess")
    one.add_argument("--steps", metavar="M", help="how many prices there are (chosen for the bidders, if left out)")
