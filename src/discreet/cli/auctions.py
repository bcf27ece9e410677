"""Reads and shows auctions."""

from fractions import Fraction

from discreet.cli.account.targets import epsilon_of
from discreet.cli.formatting import shorten
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import Fact, exact_facts
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput, round_down, round_up
from discreet.gate import Ledger, cost_words
from discreet.market import Auction, IncentiveGuarantee, PriceGrid


def auction_of(arguments: Arguments) -> Auction:
    """Return the auction that was typed."""
    level, top = epsilon_of(arguments), read_number(arguments.top, "--top")
    if arguments.steps is None:
        return Auction.for_bidders(read_whole(arguments.bidders, "--bidders"), epsilon=level, top=top)
    return Auction(grid=PriceGrid(read_whole(arguments.steps, "--steps"), top=top), epsilon=level)


def person_column(ledger: Ledger) -> str | None:
    """Return the column of persons, of whom each has one bid; None if each row is a unit."""
    unit = ledger.budget.unit
    if unit.window is not None:
        raise InvalidInput(
            "This ledger protects what a person does within a stretch of time; bids have no time.",
            fix="pay from a ledger that protects persons for life, or rows",
        )
    return unit.column


def auction_lines(auction: Auction) -> list[str]:
    """Return the grid of prices and the cost, for a person."""
    grid = auction.grid
    return [
        f"{grid.steps:,} prices, from {shorten(grid.price(1))} to {shorten(grid.top)}, chosen by what they earn.",
        f"It would cost {cost_words(auction.cost)}.",
    ]


def auction_facts(auction: Auction) -> dict[str, Fact]:
    """Return the auction for a program."""
    return {
        **exact_facts("epsilon", auction.epsilon, round_up(auction.epsilon)),
        **exact_facts("top", auction.grid.top, float(auction.grid.top)),
        "steps": auction.grid.steps,
    }


def statement_facts(statement: IncentiveGuarantee) -> dict[str, Fact]:
    """Return a statement about an auction for a program."""
    return {
        "says": str(statement),
        "bound": round_up(statement.bound),
        "probability": round_down(Fraction(statement.probability)),
        "because": statement.because,
    }


def statement_sentence(statement: IncentiveGuarantee) -> str:
    """Return a statement about an auction for a person."""
    text = str(statement)
    return f"{text[:1].upper()}{text[1:]}."
