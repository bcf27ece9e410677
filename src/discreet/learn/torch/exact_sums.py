"""Exact sums of integers in floats: in 32 bits as long as these are wide enough, then in 64 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor

#: Integers up to here, and all their sums and products that stay within, are exact in 32-bit floats.
EXACT_32 = 1 << 24


def is_exact() -> bool:
    """Tell whether PyTorch multiplies in all of its 32 bits; if not, it may do so in 16."""
    backends: Any = torch.backends
    levels = backends.mkldnn.matmul.fp32_precision, backends.mkldnn.fp32_precision, backends.fp32_precision
    return bool(next((level for level in levels if level != "none"), "ieee") == "ieee")


class ExactSum:
    """The sum of one parameter's integers. Private: it has no noise yet.

    With what is added comes the most that any number of it, and any part of such a number, can be. While these stay
    within 2²⁴ together, no 32-bit float is ever rounded; before they would not, the sum so far is added to a wider one.
    """

    __slots__ = ("_most", "_narrow", "_shape", "_wide")

    def __init__(self, shape: torch.Size) -> None:
        self._shape = shape
        self._most = 0.0
        self._narrow: Tensor | None = None
        self._wide: Tensor | None = None

    def add(self, numbers: Tensor, most: float) -> None:
        """Add numbers of our own, each at most so much."""
        if not self._has_room(numbers, most):
            self.wide().add_(numbers)
        elif self._narrow is None:
            self._narrow = numbers
        else:
            self._narrow.add_(numbers)

    def add_product(self, left: Tensor, right: Tensor, most: float) -> None:
        """Add a product of matrices; each number of it, and each part of one, is at most so much."""
        if not is_exact() or not self._has_room(left, most):
            self.wide().add_(left.double() @ right.double())
        elif self._narrow is None:
            self._narrow = left @ right
        else:
            self._narrow.addmm_(left, right)

    def wide(self) -> Tensor:
        """Return the sum as 64-bit floats that may be added to."""
        if self._wide is None:
            self._wide = torch.zeros(self._shape, dtype=torch.float64)
        if self._narrow is not None:
            self._wide.add_(self._narrow)
            self._narrow, self._most = None, 0.0
        return self._wide

    def total(self) -> Tensor:
        """Return the sum, in the floats that it is in."""
        if self._wide is None and self._narrow is not None:
            return self._narrow.contiguous()
        return self.wide()

    def _has_room(self, numbers: Tensor, most: float) -> bool:
        """Tell whether 32 bits hold what is added as well, and count it; make room where that helps."""
        if numbers.dtype != torch.float32 or most > EXACT_32:
            return False
        if self._most + most > EXACT_32:
            self.wide()
        self._most += most
        return True
