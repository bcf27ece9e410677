"""The verbs of markets: what an auction would do, and an auction."""

from argparse import Namespace
from fractions import Fraction

from discreet.cli.answers import Answer, Fact, exactly
from discreet.cli.books import opened
from discreet.cli.typed import read_number, read_whole
from discreet.cli.wanted import epsilon_of
from discreet.cli.words import shown
from discreet.core import InvalidInput, round_down, round_up
from discreet.gate import Gate, Ledger
from discreet.gate.ledger.cost_text import cost_words, figure
from discreet.market import Auction, BidFile, PriceGrid, Statement


def answer_preview(arguments: Namespace) -> Answer:
    """Answer what an auction promises; nothing is read, and nothing paid."""
    auction, bidders = _auction(arguments), read_whole(arguments.bidders, "--bidders")
    confidence = read_number(arguments.confidence, "--confidence")
    together = read_whole(arguments.together, "--together")
    said = {
        "revenue": auction.revenue(bidders, confidence),
        "mean_revenue": auction.mean_revenue(bidders),
        "truthfulness": auction.truthfulness(),
        "collusion": auction.collusion(together),
    }
    facts: dict[str, Fact] = {**_facts(auction), "statements": {name: _stated(one) for name, one in said.items()}}
    units = "Gains are in units of the highest price. Nothing was read, and nothing paid."
    return Answer("preview", facts, (*_head(auction), "", *(_sentence(one) for one in said.values()), "", units))


def answer_auction(arguments: Namespace) -> Answer:
    """Answer with a price, which is paid for before a bid is read."""
    auction = _auction(arguments)
    with opened(arguments) as ledger:
        bids = BidFile(path=arguments.file, column=arguments.column, person=_person(ledger))
        gate = Gate(ledger, bids, analyst=arguments.analyst)
        release = gate.release(auction, request=arguments.request, fresh=arguments.fresh)
        left = ledger.left
    price = release.answer
    facts: dict[str, Fact] = {
        **_facts(auction),
        **exactly("price", price, float(price)),
        "fresh": release.fresh,
        "request": release.receipt.request,
        **exactly("left", left, round_down(left)),
    }
    paid = f"It cost {cost_words(release.cost)}{'' if release.fresh else ', paid before'}; {figure(left)} is left."
    old = [] if release.fresh else ["It was drawn from the bids of that day: ask with --fresh if they have changed."]
    return Answer("auction", facts, (f"The price is {shown(price)}.", paid, *old))


def _auction(arguments: Namespace) -> Auction:
    level, top = epsilon_of(arguments), read_number(arguments.top, "--top")
    if arguments.steps is None:
        return Auction.for_bidders(read_whole(arguments.bidders, "--bidders"), epsilon=level, top=top)
    return Auction(grid=PriceGrid(read_whole(arguments.steps, "--steps"), top=top), epsilon=level)


def _person(ledger: Ledger) -> str | None:
    """Return the column of persons, of whom each has one bid; None if each row is a unit."""
    unit = ledger.budget.unit
    if unit.window is not None:
        raise InvalidInput(
            "This ledger protects what a person does within a stretch of time; bids have no time.",
            fix="pay from a ledger that protects persons for life, or rows",
        )
    return unit.column


def _head(auction: Auction) -> list[str]:
    grid = auction.grid
    return [
        f"{grid.steps:,} prices, from {shown(grid.price(1))} to {shown(grid.top)}, chosen by what they earn.",
        f"It would cost {cost_words(auction.cost)}.",
    ]


def _facts(auction: Auction) -> dict[str, Fact]:
    return {
        **exactly("epsilon", auction.epsilon, round_up(auction.epsilon)),
        **exactly("top", auction.grid.top, float(auction.grid.top)),
        "steps": auction.grid.steps,
    }


def _stated(one: Statement) -> dict[str, Fact]:
    return {
        "says": str(one),
        "bound": round_up(one.bound),
        "probability": round_down(Fraction(one.probability)),
        "because": one.because,
    }


def _sentence(one: Statement) -> str:
    text = str(one)
    return f"{text[:1].upper()}{text[1:]}."
