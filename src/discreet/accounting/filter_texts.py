"""The one text of a filter, for a ledger to store."""

import re
from fractions import Fraction
from typing import assert_never

from discreet.accounting.composites import Composed
from discreet.accounting.filters import ConcentratedFilter, Filter, PureFilter, RenyiFilter, resume_filter
from discreet.accounting.odometers import Odometer, not_negative
from discreet.core import NEIGHBOUR_WORDS, InvalidInput, Neighbours, WrongType, positive, probability
from discreet.core.errors import kind_of
from discreet.core.untrusted_text import read_fraction

#: The text of a filter: see `filter_to_text`. Not \d, which takes the digits of all scripts.
HEAD = re.compile(r"filter/(?P<version>[1-9][0-9]{0,8}) (?P<kind>pure|concentrated|renyi)\((?P<fields>[^()]*)\)")
FIELD = re.compile(r"([a-z]+)=(\[[^\]]*\]|[^,\[]*)")
ORDER = re.compile(r"([0-9/]+) share ([0-9/]+) spent ([0-9/]+|unbounded)")
NUMBER = re.compile(r"(?:0|[1-9][0-9]{0,1300})(?:/[1-9][0-9]{0,1300})?")
AS_WRITTEN = "pass what filter_to_text returned, complete and unchanged"
#: Room for a thousand orders with long sums.
MOST_CHARACTERS = 5_000_000


def filter_to_text(session: Filter) -> str:
    """Return the one text of a filter and of what was spent, which `filter_from_text` reads back.

    Equal filters have equal texts. A change in how a filter is written, or in what it admits, makes a new version.
    """
    match session:
        case PureFilter(epsilon, spent, neighbours):
            fields = f"pure(epsilon={epsilon}, spent={spent}, neighbours={NEIGHBOUR_WORDS[neighbours]})"
        case ConcentratedFilter(rho, delta, spent, failed, neighbours):
            paid = f"spent={spent}, failed={failed}"
            fields = f"concentrated(rho={rho}, delta={delta}, {paid}, neighbours={NEIGHBOUR_WORDS[neighbours]})"
        case RenyiFilter(epsilon, reserve, meter):
            *sums, pure = ["unbounded" if total is None else str(total) for total in meter.spent]
            orders = [f"{a} share {b} spent {c}" for a, b, c in zip(meter.orders, meter.shares, sums, strict=True)]
            paid = f"failed={meter.failed}, pure={pure}, orders=[{'; '.join(orders)}]"
            budget = f"epsilon={epsilon}, delta={session.delta}, reserve={reserve}"
            fields = f"renyi({budget}, {paid}, neighbours={NEIGHBOUR_WORDS[meter.neighbours]})"
        case _:
            assert_never(session)
    return f"filter/1 {fields}"


def filter_from_text(text: str) -> Filter:
    """Return the filter that a text stands for; refuses any text that `filter_to_text` would not have written."""
    if not isinstance(text, str):
        raise WrongType(f"The text of a filter is {kind_of(text)}, not a str.", fix=AS_WRITTEN)
    head = HEAD.fullmatch(text) if len(text) <= MOST_CHARACTERS else None
    if head is None:
        raise InvalidInput("This is not the text of a filter.", fix=AS_WRITTEN)
    if head["version"] != "1":
        raise InvalidInput(
            "The filter is written in another version than this release reads, which is 1.",
            fix="read it with the release of discreet that wrote it, or a later one",
        )
    result = _read(head["kind"], dict(FIELD.findall(head["fields"])))
    if filter_to_text(result) != text:
        raise InvalidInput("The text says a filter, but not in its canonical form.", fix=AS_WRITTEN)
    return result


def _read(kind: str, fields: dict[str, str]) -> Filter:
    def number(name: str) -> Fraction:
        return _number(fields.get(name, ""))

    neighbours = Neighbours.REPLACE if fields.get("neighbours") == "replace" else Neighbours.ADD_REMOVE
    if kind == "pure":
        return PureFilter(number("epsilon"), spent=number("spent"), neighbours=neighbours)
    if kind == "concentrated":
        budget, paid = (number("rho"), number("delta")), (number("spent"), number("failed"))
        return ConcentratedFilter(*budget, spent=paid[0], failed=paid[1], neighbours=neighbours)
    reserve = not_negative(number("reserve"), "reserve")
    rows = [ORDER.fullmatch(row) for row in fields.get("orders", "[]")[1:-1].split("; ") if row]
    entries = [row.groups() for row in rows if row is not None]
    sums = [*(spent for _, _, spent in entries), fields.get("pure", "")]
    meter = Odometer(
        probability(number("delta"), "delta") - reserve,
        orders=[_number(order) for order, _, _ in entries],
        shares=[_number(share) for _, share, _ in entries],
        neighbours=neighbours,
        spent=[None if total == "unbounded" else _number(total) for total in sums],
        failed=number("failed"),
    )
    return _need_within_budget(resume_filter(positive(number("epsilon"), "epsilon"), reserve, meter))


def _need_within_budget(session: RenyiFilter) -> RenyiFilter:
    if not session.fits(Composed([])):
        raise InvalidInput("More is spent than the budget allows.", fix=AS_WRITTEN)
    return session


def _number(text: str) -> Fraction:
    if NUMBER.fullmatch(text) is None:
        raise InvalidInput("A number of the filter is missing or misspelt.", fix=AS_WRITTEN)
    return read_fraction(text)
