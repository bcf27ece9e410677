"""The owners of numbers in memory: the abstract values with which a forward pass is proved.

Every memory block (PyTorch's *storage*) that takes part in a pass has one `Owner`:

    OUTSIDE   existed before the pass: parameters, buffers, constants of the code. The same for all examples.
    PUBLIC    computed in the pass from such values alone. The same for all examples.
    UNIFORM   PUBLIC, and one value everywhere, such as `torch.zeros(…)`.
    ROWS      the number at byte p belongs to example (p // span) mod n, and depends on that example alone, on
              values that are the same for all, and on random numbers that no other example shares.
    MIXED     anything else.

Ownership is a property of memory and not of tensors, so every view (transposed, reshaped, sliced, detached, `.data`) is
judged by its sizes and strides, and a write through one view is seen in all others. `Rows` says on which axis of
a tensor the examples are. It follows from strides and never from lengths: that an axis happens to be as long as the
batch means nothing.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor

#: The attribute of a storage that says who owns it: (pass, owner, span in bytes). UNIFORM: the bytes of one number.
MARK = "_discreet_owner"


class Owner(IntEnum):
    """The dependence of the numbers in a memory block."""

    OUTSIDE = 0
    PUBLIC = 1
    UNIFORM = 2
    ROWS = 3
    MIXED = 4


class ExampleAxis(NamedTuple):
    """The place of the examples: place j on the axis belongs to example (j // block) mod n, in `times` rounds."""

    axis: int
    block: int = 1
    times: int = 1


#: The plain case: the first axis is that of the examples.
FIRST = ExampleAxis(0)


class Operand(NamedTuple):
    """A tensor as one operation was given it."""

    tensor: Tensor
    owner: Owner
    rows: ExampleAxis | None = None

    def is_equal_along(self, axis: int) -> bool:
        """Tell whether a tensor without examples has the same values all along an axis (counted from the end)."""
        if self.tensor.ndim < -axis or self.owner is Owner.UNIFORM:
            return True
        return self.tensor.shape[axis] == 1 or self.tensor.stride(axis) == 0


class MemoryOwners:
    """The owners of all memory blocks in one pass over `examples` examples (two or more)."""

    __slots__ = ("examples",)

    def __init__(self, examples: int) -> None:
        self.examples = examples

    def look_up(self, tensor: Tensor) -> Operand:
        """Return the owner of a tensor, and the axis of its examples."""
        mark = tensor.untyped_storage().__dict__.get(MARK)
        if mark is None:
            return Operand(tensor, Owner.OUTSIDE)
        of_pass, owner, span = mark
        if of_pass is not self:  # numbers that the model kept from an earlier pass
            return Operand(tensor, Owner.OUTSIDE if owner < Owner.ROWS else Owner.MIXED)
        if owner is Owner.UNIFORM and span != tensor.element_size():
            return Operand(tensor, Owner.PUBLIC)  # parts of numbers, such as real and imaginary ones, are not all alike
        if owner is not Owner.ROWS:
            return Operand(tensor, owner)
        if not tensor.numel():
            return Operand(tensor, Owner.UNIFORM)
        rows = find_example_axis(tensor, span, self.examples)
        return Operand(tensor, Owner.MIXED) if rows is None else Operand(tensor, owner, rows)

    def mark(self, tensor: Tensor, owner: Owner, rows: ExampleAxis | None = None) -> None:
        """Write down who owns a tensor's memory; rows that its strides do not bear out are MIXED."""
        span = tensor.element_size() if owner is Owner.UNIFORM else 0
        if rows is not None and tensor.numel():
            span = tensor.stride(rows.axis) * rows.block * tensor.element_size()
            owner = Owner.ROWS if find_example_axis(tensor, span, self.examples) == rows else Owner.MIXED
        tensor.untyped_storage().__dict__[MARK] = (self, owner, span)


def find_example_axis(tensor: Tensor, span: int, examples: int) -> ExampleAxis | None:
    """Return the axis of the examples in a view of memory in which byte p belongs to example (p // span) mod n.

    Guarantee: if it is `Rows(axis, block, times)`, then the number at every index i of the tensor belongs to example
    (i[axis] // block) mod n. *Proof.* The byte at index i is o + Σ i_k·stride_k. Strides that are multiples of span·n
    (zero too) do not change (p // span) mod n. All other axes but one are *low*. With stride·block = span on that one,
    and j = q·block + r there, p = q·span + (o mod span) + r·stride + Σ_low i_k·stride_k, up to multiples of span·n; the
    terms after the first are at most `reach`, which is checked to be below span. So p // span = q. ∎
    """
    if span <= 0:
        return None
    size = tensor.element_size()
    offset = tensor.storage_offset() * size
    if offset // span % examples:
        return None
    reach, example_axis = offset % span, None
    for axis, (length, steps) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
        stride = steps * size
        if length == 1 or stride % (span * examples) == 0:
            continue
        if stride > span:
            return None
        block, rest = divmod(span, stride)
        if example_axis is None and not rest and length % (block * examples) == 0:
            example_axis = ExampleAxis(axis, block, length // (block * examples))
            reach += (block - 1) * stride
        else:
            reach += (length - 1) * stride
    return example_axis if reach < span else None
