"""Privacy losses of reports, plain and shuffled."""

from typing import Any

from discreet.accounting import Pure, RandomisedResponse, Shuffled
from discreet.core import WrongType
from discreet.core.errors import kind_of
from discreet.local.device.categories import Hadamard, KaryResponse, SubsetSelection, Unary
from discreet.local.device.hashing import LocalHashing
from discreet.local.device.numbers import NumberResponse, VectorResponse
from discreet.local.device.prefixes import PrefixTree
from discreet.local.device.rappor import Rappor
from discreet.local.device.surveys import Survey

KNOWN = (
    Hadamard, KaryResponse, LocalHashing, NumberResponse, PrefixTree, Rappor, SubsetSelection, Survey, Unary,
    VectorResponse,
)  # fmt: skip


def cost_of(encoder: Any) -> Pure | RandomisedResponse:
    """Return the privacy loss of one report to the person who makes it; neighbours are two values of that person.

    Of RAPPOR it is what all reports of one permanent answer cost.

    Args:
        encoder: the encoder.

    Returns:
        The loss. For RAPPOR, that of all reports about one permanent answer.

    Raises:
        DiscreetError: if the value is not an encoder.

    """
    match encoder:
        case KaryResponse():
            return RandomisedResponse(encoder.kept, encoder.domain)
        case _ if isinstance(encoder, KNOWN):
            return Pure(encoder.epsilon)
        case _:
            raise WrongType(f"encoder is {kind_of(encoder)}, not an encoder.", fix="pass an encoder of discreet.local")


def shuffled_cost(encoder: Any, *, people: int) -> Shuffled:
    """Return the privacy loss of one shuffled report from each of `people` people.

    All reports are made by this encoder, one by each person, and no observer learns more than the reports in random
    order. Of RAPPOR it is one batch of single reports. Reference: the proof in `discreet.accounting.pld.shuffling`.

    Args:
        encoder: the encoder that all of them use.
        people: the number of people.

    Returns:
        The loss for a person, if a trusted shuffler reveals the reports in random order only.

    Raises:
        DiscreetError: if the value is not an encoder, or people is out of range.

    """
    loss = Pure(encoder.once) if isinstance(encoder, Rappor) else cost_of(encoder)
    return Shuffled(loss, people)
