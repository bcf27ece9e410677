"""What reports cost, in the accountant's words; shuffled, too."""

from typing import Any

from discreet.accounting import Pure, RandomisedResponse, Shuffled
from discreet.core import WrongType
from discreet.core.errors import kind_of
from discreet.local.device.hadamard import Hadamard
from discreet.local.device.hashing import LocalHashing
from discreet.local.device.numbers import NumberResponse
from discreet.local.device.prefixes import PrefixTree
from discreet.local.device.rappor import Rappor
from discreet.local.device.response import KaryResponse
from discreet.local.device.subset import SubsetSelection
from discreet.local.device.surveys import Survey
from discreet.local.device.unary import Unary
from discreet.local.device.vectors import VectorResponse

KNOWN = (
    Hadamard, KaryResponse, LocalHashing, NumberResponse, PrefixTree, Rappor, SubsetSelection, Survey, Unary,
    VectorResponse,
)  # fmt: skip


def cost_of(encoder: Any) -> Pure | RandomisedResponse:
    """Return what a report costs the person who makes it; neighbours are two values of that person.

    Of RAPPOR it is what all reports of one permanent answer cost.
    """
    match encoder:
        case KaryResponse():
            return RandomisedResponse(encoder.kept, encoder.domain)
        case _ if isinstance(encoder, KNOWN):
            return Pure(encoder.epsilon)
        case _:
            raise WrongType(f"encoder is {kind_of(encoder)}, not an encoder.", fix="pass an encoder of discreet.local")


def shuffled_cost(encoder: Any, *, people: int) -> Shuffled:
    """Return what one report of each of so many people costs, where somebody trusted shuffles them.

    All reports are made by this encoder, one by each person, and nobody learns more than the reports in random order.
    Of RAPPOR it is one batch of single reports. Reference: the proof in `discreet.accounting.shuffling`.
    """
    each = Pure(encoder.once) if isinstance(encoder, Rappor) else cost_of(encoder)
    return Shuffled(each, people)
