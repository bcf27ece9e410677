"""Whether the loss of an example stays as it is when other examples are exchanged.

The backward pass tells whether a loss reaches back into other examples (see `passes`). It cannot tell where inputs were
mixed before the first layer, such as by subtracting the mean of the batch: no gradient flows there. So on the first
batch of a stretch some examples are exchanged for others, and the losses of those that stayed must stay.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from discreet.core import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

#: Losses of one example may differ so much by the rounding of floats, relative to 1 or to themselves.
ROUNDING = 1e-4


def thue_morse(examples: int) -> Tensor:
    """Return a choice of examples that no shift, and no even cut, leaves as it is."""
    return torch.tensor([which.bit_count() % 2 == 1 for which in range(examples)], dtype=torch.bool)


def need_apart(losses: Callable[[Any, Any], Tensor], inputs: Any, targets: Any, examples: int) -> None:
    """Refuse a model and loss with which exchanging some examples changes the losses of others."""
    moved = thue_morse(examples)
    places = torch.where(moved, torch.arange(examples).roll(1), torch.arange(examples))
    coins = torch.random.get_rng_state()  # dropout must fall alike in both
    with torch.no_grad():
        before = losses(inputs, targets)
        torch.random.set_rng_state(coins)
        after = losses(_at(inputs, places), _at(targets, places))
    torch.random.set_rng_state(coins)
    stayed, now = before[~moved].double(), after[~moved].double()
    if ((stayed - now).abs() > ROUNDING * (1 + stayed.abs())).any():
        raise InvalidInput(
            "The loss of one example depends on other examples of its batch.",
            fix="compute every input from its own example: scale by public numbers, and not by those of the batch",
        )


def _at(part: Any, places: Tensor) -> Any:
    """Return the examples at some places, in whatever they are packed."""
    match part:
        case Tensor():
            return part[places]
        case dict():
            return {key: _at(value, places) for key, value in part.items()}
        case tuple() | list() if part and not isinstance(part[0], str):
            return type(part)(_at(value, places) for value in part)
        case list():
            return [part[place] for place in places.tolist()]
        case _:
            raise InvalidInput("A batch is made of something unknown.", fix="make examples of tensors and numbers")
