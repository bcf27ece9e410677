"""Examples: their public form, made-up examples of the same form, and batches of private ones.

Before a payment nothing is asked of the data but its type, and of tensors their kinds of numbers and their shapes
without the first axis: neither `len` nor `__getitem__` of a dataset is called. An example of a dataset object is
therefore declared (`example=`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, default_collate

from discreet.core import DiscreetError, InvalidInput, WrongType
from discreet.core.errors import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from discreet.learn.torch.poisson_sampling import Indices

#: One tensor, or a nest of them, for each part of the examples; the last part is the target.
Batch = tuple[Any, ...]

ACCEPTED_DATA = "open the gate on a tuple (inputs, targets) of tensors, or on a dataset and declare example=…"


@dataclass(frozen=True, slots=True, kw_only=True)
class Examples:
    """How examples of one kind of data become batches. Public: it holds no data.

    `example` is a made-up example as the dataset would return one, or a function that makes one at each call; `collate`
    makes a batch of a list of examples, of which it is given one at a time.
    """

    example: Any = field(repr=False)
    collate: Callable[[list[Any]], Any] | None

    def make_up(self, data: object, size: int, seed: int) -> Batch:
        """Return a batch of made-up examples that has the form of the data; refuse data of no known form."""
        generator = torch.Generator().manual_seed(seed)
        tensors = need_known(data, declared=self.example is not None)
        if tensors is None or self.example is not None:
            batch = self._build_declared(size, generator)
        else:
            batch = tuple(_uniform(part, size, generator) for part in tensors)
        if tensors is not None and form_of(batch) != form_of(tensors):
            raise InvalidInput(
                "The declared example has a different form from the data.",
                fix="leave out example= for tensors, or declare one whose parts have the shapes and dtypes of theirs",
            )
        return batch

    def take(self, data: Any, places: Indices, form: object) -> Batch:
        """Return the examples at some places, which must have the form of the made-up ones."""
        tensors = tensors_of(data)
        if tensors is not None:
            index = torch.from_numpy(places)
            return tuple(part[index] for part in tensors)
        examples = [data[int(place)] for place in places]
        batch = self._collate_examples(examples)
        # Of each by itself: one number of another kind would change the kind of all.
        if form_of(batch) != form or len({kind_of_example(example) for example in examples}) != 1:
            raise ValueError("an example has another form than the declared one")
        return batch

    def _build_declared(self, size: int, generator: torch.Generator) -> Batch:
        try:
            examples = [self.example() if callable(self.example) else self.example for _ in range(size)]
            batch = self._collate_examples(examples)
        except DiscreetError:
            raise
        except Exception as error:
            raise InvalidInput(
                f"The declared example cannot be turned into a batch: {type(error).__name__}: {error}",
                fix="pass example= as the dataset returns one, and a collate= that makes a batch of a list",
            ) from error
        return batch if callable(self.example) else tuple(_vary_floats(part, generator) for part in batch)

    def _collate_examples(self, examples: list[Any]) -> Batch:
        """Return a batch of examples; a function of one's own is given one example at a time, so that it mixes none."""
        if self.collate is None:
            batch = default_collate(examples)
        else:
            batch = _join_batches([self.collate([example]) for example in examples])
        if not isinstance(batch, tuple | list) or len(batch) < 2:
            raise InvalidInput(
                "A batch of examples is not a tuple whose last part is the targets.",
                fix="pass collate=, a function that turns a list of examples into (inputs, targets)",
            )
        return tuple(batch)


def tensors_of(data: object) -> tuple[Tensor, ...] | None:
    """Return the tensors whose first axis is that of the examples; None for a dataset object."""
    if type(data) is TensorDataset:
        return data.tensors
    return data if isinstance(data, tuple) else None


def count_examples(data: Any) -> int:
    """Return the number of examples. Private; called only while a paid plan runs."""
    tensors = tensors_of(data)
    # Of parts that are not equally long, the rest is not an example: nothing is refused by the number of rows.
    return len(data) if tensors is None else min(len(part) for part in tensors)


def need_known(data: object, *, declared: bool) -> tuple[Tensor, ...] | None:
    """Return the tensors of data, or None for a dataset whose example was declared; refuse everything else."""
    if isinstance(data, Tensor):
        raise WrongType("A single tensor has no targets.", fix=ACCEPTED_DATA)
    if isinstance(data, DataLoader):
        raise WrongType(
            "A DataLoader draws its own batches, which do not have the price of Poisson sampling.",
            fix="pass its dataset, loader.dataset; microbatch_size bounds the memory",
        )
    tensors = tensors_of(data)
    if tensors is not None:
        return _need_tensors(tensors)
    kind = type(data)
    known = not isinstance(data, IterableDataset | dict | set | str | bytes)
    if not known or not hasattr(kind, "__getitem__") or not hasattr(kind, "__len__"):
        raise WrongType(f"The gate's data is {kind_of(data)}, not a list of examples.", fix=ACCEPTED_DATA)
    if not declared:
        raise InvalidInput(
            "The form of the examples is unknown: a dataset is not read before the payment.",
            fix="declare a made-up one, such as Training(example=(torch.zeros(8), 0), …), or pass a tuple of tensors",
        )
    return None


def _need_tensors(parts: Sequence[object]) -> tuple[Tensor, ...]:
    tensors = tuple(part for part in parts if isinstance(part, Tensor))
    if len(tensors) != len(parts) or len(parts) < 2:
        raise WrongType("The gate's data is not one tensor of inputs and one of targets.", fix=ACCEPTED_DATA)
    if any(part.ndim == 0 or part.layout != torch.strided or part.device.type != "cpu" for part in tensors):
        raise InvalidInput(
            "A tensor has no axis of examples, is sparse, or is not on the CPU.",
            fix="pass dense CPU tensors with the examples on the first axis",
        )
    return tensors


def form_of(part: object) -> object:
    """Return the public facts of a batch: kinds of numbers, shapes without the first axis, the nesting of parts."""
    match part:
        case Tensor():
            return str(part.dtype), tuple(part.shape[1:])
        case dict():
            return "dict", tuple((key, form_of(value)) for key, value in part.items())
        case tuple() | list() if any(isinstance(item, Tensor | tuple | list | dict) for item in part):
            return "tuple", tuple(form_of(item) for item in part)
        case tuple() | list():
            return "list", frozenset(type(item).__name__ for item in part)
        case _:
            return type(part).__name__


def kind_of_example(example: object) -> object:
    """Return the kind of one example that a dataset returned: two of one kind are put together without changing any."""
    match example:
        case Tensor():
            return str(example.dtype), tuple(example.shape)
        case np.ndarray():
            return example.dtype.str, example.shape
        case dict():
            return "dict", tuple((key, kind_of_example(value)) for key, value in example.items())
        case tuple() | list():
            return type(example).__name__, tuple(kind_of_example(item) for item in example)
        case _:
            return type(example).__name__


def _join_batches(parts: list[Any]) -> Any:
    """Return batches of one as one batch; refuse batches that are not of one form, or have another number of rows."""
    first = parts[0]
    match first:
        case Tensor() if all(isinstance(part, Tensor) and part.shape[:1] == (1,) for part in parts):
            if len({(part.dtype, part.shape) for part in parts}) == 1:
                return torch.cat(parts)
        case dict() if all(isinstance(part, dict) and part.keys() == first.keys() for part in parts):
            return {key: _join_batches([part[key] for part in parts]) for key in first}
        case tuple() | list() if all(isinstance(part, tuple | list) and len(part) == len(first) for part in parts):
            if isinstance(first, list) and len(first) == 1 and not isinstance(first[0], Tensor | tuple | list | dict):
                return [part[0] for part in parts]  # texts, say
            return tuple(_join_batches([part[at] for part in parts]) for at in range(len(first)))
    raise InvalidInput(
        "collate= did not return one row in every part for one example, or its form differs between examples.",
        fix="make collate= work for a list of one example, and pad to a public length",
    )


def _uniform(part: Tensor, size: int, generator: torch.Generator) -> Tensor:
    """Return made-up numbers: integers and truth values 0 or 1, others uniform between 0 and 1."""
    shape = (size, *part.shape[1:])
    if part.dtype.is_floating_point or part.dtype.is_complex:
        return torch.rand(shape, generator=generator, dtype=torch.float64).to(part.dtype)
    return torch.randint(0, 2, shape, generator=generator).to(part.dtype)


def _vary_floats(part: Any, generator: torch.Generator) -> Any:
    """Return examples that were all the same, their floats scaled by numbers between a half and one."""
    match part:
        case Tensor() if part.dtype.is_floating_point and part.ndim:
            scales = torch.rand(len(part), generator=generator, dtype=torch.float64) / 2 + 0.5
            return part * scales.to(part.dtype).view(-1, *[1] * (part.ndim - 1))
        case dict():
            return {key: _vary_floats(value, generator) for key, value in part.items()}
        case tuple() | list() if not hasattr(part, "_fields"):
            return type(part)(_vary_floats(value, generator) for value in part)
        case _:
            return part
