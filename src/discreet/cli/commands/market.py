"""`discreet market`: auctions in which the truth is nearly the best bid. `auction` spends; `preview` is free."""

from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import CommandOutput, Fact, exact_facts
from discreet.cli.parsing import JSON, Arguments, CommandGroup, argument, command, flag, option, several
from discreet.core import round_down

EXAMPLES = """\
For example:

  discreet market preview --epsilon 0.5 --top 20 --bidders 1000           what it earns, what a lie is worth: free
  discreet ledger create sale.ledger --epsilon 1
  discreet market auction bids.csv --column bid --epsilon 0.5 --top 20 --bidders 1000 --ledger sale.ledger

One price for all, for goods that can be copied: a bidder who bids the price or more buys at that price. The price is
drawn by the exponential mechanism from a public grid, so that a bid other than the true value gains nearly nothing.
"""
AUCTION = """\
The price is paid for before a bid is read. Each row is one bid; if the ledger protects persons, by a column, that
column must be in the file, and the highest bid of each person counts. Asked again, the price that was drawn is handed
out for nothing.
"""

market_command = CommandGroup(
    "market",
    "Auctions in which the truth is the best bid, nearly.",
    modules=dict.fromkeys(("preview", "auction"), __name__),
    metavar="VERB",
    epilog=EXAMPLES,
)
auctioned = several(
    option("--epsilon", "E", "the privacy loss of the price", required=True),
    option("--top", "PRICE", "the highest price (1)", default="1"),
    option("--bidders", "N", "the number of bidders that is expected: a public guess", required=True),
    option("--steps", "M", "the number of prices (chosen for the bidders, if left out)"),
)


@command("preview", "What an auction costs, earns and makes of lies. Free; no bid is read.")
@auctioned
@option("--together", "K", "the number of bidders who might lie together (2)", default="2")
@option("--confidence", "P", "the confidence of the revenue (0.95)", default="0.95")
def preview_command(arguments: Arguments) -> CommandOutput:
    """Answer what an auction promises; nothing is read, and nothing paid."""
    from discreet.cli.auctions import auction_facts, auction_lines, auction_of, statement_facts, statement_sentence

    auction, bidders = auction_of(arguments), read_whole(arguments.bidders, "--bidders")
    confidence = read_number(arguments.confidence, "--confidence")
    together = read_whole(arguments.together, "--together")
    statements = {
        "revenue": auction.revenue(bidders, confidence),
        "mean_revenue": auction.mean_revenue(bidders),
        "truthfulness": auction.truthfulness(),
        "collusion": auction.collusion(together),
    }
    facts: dict[str, Fact] = {
        **auction_facts(auction),
        "statements": {name: statement_facts(statement) for name, statement in statements.items()},
    }
    units = "Gains are in units of the highest price. Nothing was read, and nothing paid."
    return CommandOutput(
        "preview",
        facts,
        (*auction_lines(auction), "", *(statement_sentence(statement) for statement in statements.values()), "", units),
    )


@command("auction", "Draw a price, and pay for it from a ledger.", epilog=f"{AUCTION}\n{JSON}")
@argument("file", "FILE", "a CSV file with a line of names")
@option("--column", "NAME", "the column of bids", required=True)
@auctioned
@option("--ledger", "PLACE", "the ledger that pays", required=True, dest="place")
@option("--key", "FILE", "the signing key (PLACE.key, if left out)")
@option("--anchor", "FILE", "a file that holds its anchors", multiple=True)
@option("--analyst", "NAME", "the analyst who asks and pays", default="")
@flag("--fresh", "pay for a new draw, even if this was asked before")
@option("--request", "ID", "a name for this payment: under one name nothing is paid for twice")
def auction_command(arguments: Arguments) -> CommandOutput:
    """Answer with a price, which is paid for before a bid is read."""
    from discreet.cli.auctions import auction_facts, auction_of, person_column
    from discreet.cli.formatting import shorten
    from discreet.cli.ledger.views import open_ledger
    from discreet.gate import Gate, cost_words, figure_text
    from discreet.market import BidFile

    auction = auction_of(arguments)
    with open_ledger(arguments) as ledger:
        bids = BidFile(path=arguments.file, column=arguments.column, person=person_column(ledger))
        gate = Gate(ledger, bids, analyst=arguments.analyst)
        release = gate.release(auction, request=arguments.request, fresh=arguments.fresh)
        left = ledger.left
    price = release.answer
    facts: dict[str, Fact] = {
        **auction_facts(auction),
        **exact_facts("price", price, float(price)),
        "fresh": release.fresh,
        "request": release.receipt.request,
        **exact_facts("left", left, round_down(left)),
    }
    paid = f"It cost {cost_words(release.cost)}{'' if release.fresh else ', paid before'}; {figure_text(left)} is left."
    old = [] if release.fresh else ["It was drawn from the bids of that day: ask with --fresh if they have changed."]
    return CommandOutput("auction", facts, (f"The price is {shorten(price)}.", paid, *old))
