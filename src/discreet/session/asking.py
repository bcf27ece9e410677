"""How a question is asked: what is paid for it, and with which error bars it is shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypedDict

from discreet.core import InvalidInput, Number, WrongType, probability, whole
from discreet.core.errors import kind_of
from discreet.core.exact import flag
from discreet.core.limits import AnyLimit, Matches
from discreet.query import Epsilon, Rho, Within
from discreet.session.declared import read_limit


class How(TypedDict, total=False):
    """How a question is asked: exactly one of epsilon, rho and within, and what else is said. See `Session.sql`."""

    epsilon: Number | None
    rho: Number | None
    within: Number | Mapping[str, Number] | None
    confidence: Number
    simultaneous: bool
    size: int | None
    limit: object
    bias: bool
    matches: Matches | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a question is asked, checked."""

    spend: Epsilon | Rho | Within
    confidence: Fraction
    simultaneous: bool
    size: int | None
    limit: AnyLimit | None
    bias: bool
    matches: Matches | None


def asking(  # noqa: PLR0913 - each is a word that an analyst may say
    *,
    epsilon: Number | None = None,
    rho: Number | None = None,
    within: Number | Mapping[str, Number] | None = None,
    confidence: Number = 0.95,
    simultaneous: bool = False,
    size: int | None = None,
    limit: object = None,
    bias: bool = False,
    matches: Matches | None = None,
    in_rho: bool = False,
) -> Asking:
    """Return how a question is asked; an accuracy is paid for in the currency of the ledger."""
    _need_one({"epsilon": epsilon, "rho": rho, "within": within})
    chosen = probability(confidence, "confidence")
    together = flag(simultaneous, "simultaneous")
    guess = None if size is None else whole(size, "size")
    spend: Epsilon | Rho | Within
    if within is None:
        spend = priced(epsilon, rho)
    else:
        spend = Within(need_error(within), confidence=chosen, simultaneous=together, size=guess, rho=in_rho)
    return Asking(
        spend=spend,
        confidence=chosen,
        simultaneous=together,
        size=guess,
        limit=read_limit(limit),
        bias=flag(bias, "bias"),
        matches=_need_matches(matches),
    )


def priced(epsilon: Number | None, rho: Number | None) -> Epsilon | Rho:
    """Return a price in one of the two currencies."""
    if epsilon is not None and rho is None:
        return Epsilon(epsilon)
    if rho is not None and epsilon is None:
        return Rho(rho)
    raise InvalidInput(
        f"A price is an epsilon or a rho, and {'neither is' if rho is None else 'both are'} given.",
        fix="pass epsilon=0.1, or rho=0.01",
    )


def need_price(asked: Asking) -> Epsilon | Rho:
    """Return the price of what is asked together; an accuracy is looked for one question at a time."""
    if isinstance(asked.spend, Within):
        raise InvalidInput("What is asked together has a price, not an accuracy.", fix="pass epsilon=1, or rho=0.1")
    if asked.bias:
        raise InvalidInput("Biases are estimated for one question at a time.", fix="leave out bias")
    return asked.spend


def _need_matches(matches: object) -> Matches | None:
    if matches is not None and not isinstance(matches, Matches):
        raise WrongType(f"matches is {kind_of(matches)}, not Matches.", fix="pass discreet.Matches(rows=1, matches=10)")
    return matches


def _need_one(given: Mapping[str, object]) -> None:
    named = [name for name, value in given.items() if value is not None]
    if len(named) == 1:
        return
    said = "neither epsilon, rho nor within" if not named else " and ".join(named)
    raise InvalidInput(
        f"A question is paid for in one way, and {said} {'is' if not named else 'are'} given.",
        fix="pass epsilon=0.5; or rho=0.01; or within=25, the error that is wanted, and the price is found",
    )


def need_error(within: object) -> Number | Mapping[str, Number]:
    """Return the error that is wanted: a number for all columns, or one for each by name."""
    if isinstance(within, Mapping):
        for name in within:
            if not isinstance(name, str):
                raise WrongType(f"A name in within is {kind_of(name)}, not a text.", fix='pass within={"n": 25}')
        return within
    if isinstance(within, str) or not hasattr(within, "__float__"):
        raise WrongType(
            f"within is {kind_of(within)}, neither a number nor a dictionary.",
            fix='pass within=25, for ±25; or within={"n": 25, "stay": 0.5}, by columns',
        )
    return within  # type: ignore[return-value]
