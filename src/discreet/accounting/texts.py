"""Losses as texts that a ledger keeps for life, and that a person can read without a manual.

    loss/1 repeated(subsampled(gaussian_noise(sigma=1, sensitivity=1), rate=1/100, sampling=poisson), times=10000)

The grammar; every space and comma is where it stands here, and nowhere else:

    text     = "loss/1 " loss
    loss     = name "(" [ item { ", " item } ] ")"      kinds and fields: see FORMS in `discreet.accounting.text_reader`
    item     = loss | field "=" value                   parts first, then every field of the kind, in its order
    value    = number | sampling | "[" [ entry { ", " entry } ] "]"
    entry    = number | number ": " number              a probability; or an order of a Rényi curve, rising, and its ε
    number   = whole [ "/" whole ]                      in lowest terms; a denominator of 1 is not written
    whole    = "0" | nonzero digit { digit }            ASCII digits, no sign
    sampling = "poisson" | "without_replacement"

Promise. Equal losses have equal texts and different losses different ones. A text that is read would be written the
same again; any other text is refused. No field is left to a default, so that a change of defaults cannot change what
was paid. A new kind of loss may join version 1; a change in how a kind is written, or in what it means, makes a new
version, and the old ones are read for ever. Reading evaluates nothing, takes time in proportion to the length of the
text times the depth of its tree, and refuses what is too long, too deep or too large before it is worked on.
"""

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import assert_never

from discreet.accounting.composites import (
    Composed,
    Group,
    Parallel,
    PrivacyLoss,
    Repeated,
    Sampling,
    Shuffled,
    Subsampled,
    need_loss,
    parts_of,
)
from discreet.accounting.losses import (
    Approximate,
    BoundedRange,
    Concentrated,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    DominatingPair,
    GaussianDP,
    GaussianNoise,
    LaplaceNoise,
    Pure,
    RandomisedResponse,
    Renyi,
    check_common_denominator,
)
from discreet.accounting.text_reader import (
    MOST_CHARACTERS,
    MOST_DIGITS,
    MOST_VISITS,
    TextReader,
    check_length,
)
from discreet.core import DiscreetError, InvalidInput, OutOfRange, WrongType
from discreet.core.errors import kind_of

VERSION = "1"
#: "loss/", a version without leading zeros, a space. Not \d, which takes the digits of all scripts.
HEAD = re.compile(r"loss/([1-9][0-9]{0,8}) ")
TOO_LARGE = 10**MOST_DIGITS
#: A canonical text up to this long is shown to a caller who wrote it otherwise.
SHOWN = 200

Promised = Pure | BoundedRange | Approximate | Concentrated | Renyi | GaussianDP
Mechanism = (
    LaplaceNoise | GaussianNoise | DiscreteLaplaceNoise | DiscreteGaussianNoise | RandomisedResponse | DominatingPair
)
Tree = Composed | Repeated | Parallel | Group | Subsampled | Shuffled


def loss_to_text(loss: PrivacyLoss) -> str:
    """Return the one text of a loss, which `loss_from_text` reads back."""
    text = f"loss/{VERSION} {_write_loss(need_loss(loss))}"
    _check_characters(len(text))
    if _visits(loss, 1) > MOST_VISITS:
        raise OutOfRange(
            "The loss has too many parts, too deep down, to be read back.", fix="write equal parts as one Repeated"
        )
    return text


def loss_from_text(text: str) -> PrivacyLoss:
    """Return the loss that a text stands for; refuses any text that `loss_to_text` would not have written."""
    if not isinstance(text, str):
        raise WrongType(f"The text of a loss is {kind_of(text)}, not a str.", fix="pass what loss_to_text returned")
    if len(text) > MOST_CHARACTERS:
        raise OutOfRange(f"The text has more than {MOST_CHARACTERS} characters.", fix="pass what loss_to_text returned")
    head = HEAD.match(text)
    if head is None:
        raise InvalidInput(
            "This is not the text of a loss.", fix="pass what loss_to_text returned: 'loss/1 pure(epsilon=1/10)'"
        )
    if head[1] != VERSION:
        raise InvalidInput(
            f"The loss is written in version {head[1]}; this release reads version {VERSION}.",
            fix="read it with the release of discreet that wrote it, or a later one",
        )
    loss = _read(text, head.end())
    written = loss_to_text(loss)
    if written != text:
        fix = f"write it as {written!r}" if len(written) <= SHOWN else "write it with loss_to_text"
        raise InvalidInput("The text says a loss, but not in its canonical form.", fix=fix)
    return loss


def _read(text: str, start: int) -> PrivacyLoss:
    try:
        return TextReader(text, start).all()
    except InvalidInput:
        raise
    except DiscreetError as error:  # a theorem that does not cover it, say: as a text it is invalid input
        raise InvalidInput(error.problem, fix=error.fix) from error


def _write_loss(loss: PrivacyLoss) -> str:
    match loss:
        case Pure() | BoundedRange() | Approximate() | Concentrated() | Renyi() | GaussianDP():
            return _write_promise(loss)
        case LaplaceNoise() | GaussianNoise() | DiscreteLaplaceNoise() | DiscreteGaussianNoise():
            return _mechanism(loss)
        case RandomisedResponse() | DominatingPair():
            return _mechanism(loss)
        case Composed() | Repeated() | Parallel() | Group() | Subsampled() | Shuffled():
            return _tree(loss)
        case _:
            assert_never(loss)


def _visits(loss: PrivacyLoss, depth: int) -> int:
    return depth + sum(_visits(part, depth + 1) for part in parts_of(loss))


def _write_promise(loss: Promised) -> str:
    match loss:
        case Pure(epsilon):
            return f"pure(epsilon={_number(epsilon)})"
        case BoundedRange(epsilon):
            return f"bounded_range(epsilon={_number(epsilon)})"
        case Approximate(epsilon, delta):
            return f"approximate(epsilon={_number(epsilon)}, delta={_number(delta)})"
        case Concentrated(rho, delta):
            return f"concentrated(rho={_number(rho)}, delta={_number(delta)})"
        case Renyi(curve):
            return f"renyi(curve=[{_write_list(f'{_number(order)}: {_number(epsilon)}' for order, epsilon in curve)}])"
        case GaussianDP(mu):
            return f"gaussian_dp(mu={_number(mu)})"
        case _:
            assert_never(loss)


def _mechanism(loss: Mechanism) -> str:
    match loss:
        case LaplaceNoise(scale, width):
            return f"laplace_noise(scale={_number(scale)}, sensitivity={_number(width)})"
        case GaussianNoise(sigma, width):
            return f"gaussian_noise(sigma={_number(sigma)}, sensitivity={_number(width)})"
        case DiscreteLaplaceNoise(scale, steps):
            return f"discrete_laplace_noise(scale={_number(scale)}, sensitivity={_whole(steps)})"
        case DiscreteGaussianNoise(variance, norms):
            l0, linf, l1, l2 = map(_whole, (norms.l0, norms.linf, norms.l1, norms.l2_squared))
            return (
                f"discrete_gaussian_noise(variance={_number(variance)}, l0={l0}, linf={linf}, l1={l1}, l2_squared={l2})"
            )
        case RandomisedResponse(truth, categories):
            return f"randomised_response(truth={_number(truth)}, categories={_whole(categories)})"
        case DominatingPair(present, absent):
            return f"dominating_pair(present=[{_table(present)}], absent=[{_table(absent)}])"
        case _:
            assert_never(loss)


def _tree(loss: Tree) -> str:
    match loss:
        case Composed(parts):
            return f"composed({_write_list(map(_write_loss, parts))})"
        case Parallel(parts):
            return f"parallel({_write_list(map(_write_loss, parts))})"
        case Repeated(part, times):
            return f"repeated({_write_loss(part)}, times={_whole(times)})"
        case Group(part, size):
            return f"group({_write_loss(part)}, size={_whole(size)})"
        case Subsampled(part, rate, sampling):
            return f"subsampled({_write_loss(part)}, rate={_number(rate)}, sampling={_sampling(sampling)})"
        case Shuffled(part, people):
            return f"shuffled({_write_loss(part)}, people={_whole(people)})"
        case _:
            assert_never(loss)


def _sampling(sampling: Sampling) -> str:
    match sampling:
        case Sampling.POISSON:
            return "poisson"
        case Sampling.WITHOUT_REPLACEMENT:
            return "without_replacement"


def _table(probabilities: tuple[Fraction, ...]) -> str:
    check_common_denominator(probabilities)
    return _write_list(map(_number, probabilities))


def _write_list(entries: Iterable[str]) -> str:
    texts: list[str] = []
    length = 0
    for entry in entries:
        texts.append(entry)
        length += len(entry)
        # On the way, and not at the end: parts that are shared may be small in memory, and endless when written out.
        check_length(texts)
        _check_characters(length)
    return ", ".join(texts)


def _check_characters(count: int) -> None:
    if count > MOST_CHARACTERS:
        raise OutOfRange(
            f"The text of this loss would have more than {MOST_CHARACTERS} characters.",
            fix="write equal parts as one Repeated, and merge outcomes of equal ratio in a DominatingPair",
        )


def _number(number: Fraction) -> str:
    whole = _whole(number.numerator)
    return whole if number.denominator == 1 else f"{whole}/{_whole(number.denominator)}"


def _whole(number: int) -> str:
    # Parameters of 4,096 bits have no more digits than that; counts have no bound of their own.
    if number >= TOO_LARGE:
        raise OutOfRange(f"A number of this loss has more than {MOST_DIGITS} digits.", fix="state a smaller number")
    return str(number)
