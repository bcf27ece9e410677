"""Question options: the keywords with which a question is asked, spelled once and checked once."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypedDict, TypeVar, cast

from discreet.core import InvalidInput, Number, WrongType, probability, whole
from discreet.core.errors import kind_of
from discreet.core.exact import flag
from discreet.core.limits import AnyLimit, Matches
from discreet.core.schema import closest
from discreet.gate import need_label
from discreet.query import Epsilon, Rho, Within
from discreet.session.declared import read_limit


class QuestionOptions(TypedDict, total=False):
    """The keywords of every question: exactly one of epsilon, rho and within. `Session.sql` explains each."""

    epsilon: Number | None
    rho: Number | None
    within: Number | Mapping[str, Number] | None
    confidence: Number
    simultaneous: bool
    size: int | None
    limit: object
    bias: bool
    matches: Matches | None


class ReleaseOptions(QuestionOptions, total=False):
    """The keywords of a question that is answered: also whether to draw new noise, and a request id."""

    fresh: bool
    request: str | None


#: The options whose default is not None.
DEFAULTS: Mapping[str, object] = {"confidence": 0.95, "simultaneous": False, "bias": False, "fresh": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedOptions:
    """The options of a question, checked."""

    spend: Epsilon | Rho | Within
    confidence: Fraction
    simultaneous: bool
    size: int | None
    limit: AnyLimit | None
    bias: bool
    matches: Matches | None
    fresh: bool
    request: str | None


def need_options(options: QuestionOptions | ReleaseOptions, *, kind: type, in_rho: bool) -> CheckedOptions:
    """Return the options of a question, checked; an accuracy is paid for in ρ if `in_rho`, otherwise in ε.

    `kind` is the TypedDict that lists the options which this call takes.
    """
    _need_known(options, kind)
    values: Any = {**dict.fromkeys(kind.__annotations__), **DEFAULTS, "request": None, **options}
    _need_one({name: values[name] for name in ("epsilon", "rho", "within")})
    confidence = probability(values["confidence"], "confidence")
    simultaneous = flag(values["simultaneous"], "simultaneous")
    size = None if values["size"] is None else whole(values["size"], "size")
    spend: Epsilon | Rho | Within
    if values["within"] is None:
        spend = read_price(values["epsilon"], values["rho"])
    else:
        error = need_error(values["within"])
        spend = Within(error, confidence=confidence, simultaneous=simultaneous, size=size, rho=in_rho)
    return CheckedOptions(
        spend=spend,
        confidence=confidence,
        simultaneous=simultaneous,
        size=size,
        limit=read_limit(values["limit"]),
        bias=flag(values["bias"], "bias"),
        matches=need_matches(values["matches"]),
        fresh=flag(values["fresh"], "fresh"),
        request=None if values["request"] is None else need_label(values["request"], "request"),
    )


def _need_known(options: Mapping[str, object], kind: type) -> None:
    """Refuse a keyword that this call does not take."""
    known = kind.__annotations__
    for name in options:
        if name not in known:
            meant = closest(name, known)
            raise WrongType(
                f"Unknown option {name!r}.",
                fix=f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(known)}",
            )


Method = TypeVar("Method", bound=Callable[..., Any])


def list_options(kind: type) -> Callable[[Method], Method]:
    """Return a decorator that puts the options of a TypedDict into a method's signature, for `help` and notebooks."""

    def add_signature(method: Method) -> Method:
        signature = inspect.signature(method)
        named = [
            parameter
            for parameter in signature.parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        options = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS.get(name), annotation=annotation)
            for name, annotation in kind.__annotations__.items()
        ]
        cast("Any", method).__signature__ = signature.replace(parameters=[*named, *options])
        return method

    return add_signature


def read_price(epsilon: Number | None, rho: Number | None) -> Epsilon | Rho:
    """Return a price in one of the two currencies."""
    if epsilon is not None and rho is None:
        return Epsilon(epsilon)
    if rho is not None and epsilon is None:
        return Rho(rho)
    raise InvalidInput(
        f"Pass exactly one of epsilon and rho; {'neither is' if rho is None else 'both are'} given.",
        fix="pass epsilon=0.1, or rho=0.01",
    )


def need_price(options: CheckedOptions) -> Epsilon | Rho:
    """Return the price of what is asked together; an accuracy is looked for one question at a time."""
    if isinstance(options.spend, Within):
        raise InvalidInput(
            "Questions that are asked together need a price, not an accuracy.", fix="pass epsilon=1, or rho=0.1"
        )
    if options.bias:
        raise InvalidInput("bias works only for a single question.", fix="leave out bias")
    return options.spend


def need_matches(matches: object) -> Matches | None:
    """Return the bound on matching rows of different people, or refuse an argument of another type."""
    if matches is not None and not isinstance(matches, Matches):
        raise WrongType(f"matches is {kind_of(matches)}, not Matches.", fix="pass discreet.Matches(rows=1, matches=10)")
    return matches


def _need_one(prices: Mapping[str, object]) -> None:
    named = [name for name, value in prices.items() if value is not None]
    if len(named) == 1:
        return
    which = "neither epsilon, rho nor within" if not named else " and ".join(named)
    raise InvalidInput(
        f"Pass exactly one of epsilon, rho and within; {which} {'is' if not named else 'are'} given.",
        fix="pass epsilon=0.5; or rho=0.01; or within=25, the error that is wanted",
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
