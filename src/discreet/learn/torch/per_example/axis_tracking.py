"""Axis tracking: follows a forward pass operation by operation, to prove that it keeps examples apart.

PyTorch hands every operation, whatever Python code asked for it, to an `AxisTracking` that is on; it does the operation
and writes down who owns the result (see `example_axes` and `axis_rules`). The proof fails, and `problem` says why,

* at an operation that is not on the allow-list and is given examples;
* where Python gets to see values of examples: `item`, `tolist`, `numpy`, a branch, a shape that depends on values;
* where a tensor from outside the pass is written to, by anything but its own code;
* where memory is written to that was reached by `data`: the backward pass may have saved it;
* at random numbers from a generator with a seed of its own, or after the seed or state of PyTorch's own was set: they
  would depend on the place in the batch.

*The decision tells nothing.* Up to the first failure Python code has seen no value of any example, so that which
operations it does, and so whether and where the proof fails, depends on public things alone: code, shapes, settings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from discreet.learn.torch.per_example.axis_rules import MIXING, RULES, TOTALS, track_pointwise
from discreet.learn.torch.per_example.example_axes import ExampleAxis, MemoryOwners, Operand, Owner

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor

    from discreet.learn.torch.per_example.axis_rules import Results, Rule

aten = torch.ops.aten
#: Operations that make a tensor with one value everywhere.
UNIFORM = frozenset({
    *(aten.zeros.default, aten.ones.default, aten.full.default, aten.scalar_tensor.default),
    *(aten.new_zeros.default, aten.new_ones.default, aten.new_full.default),
    *(aten.zeros_like.default, aten.ones_like.default, aten.full_like.default),
})  # fmt: skip
#: Operations that make a tensor of uninitialised memory, perhaps old activations: it is filled with zeros.
EMPTY = frozenset({
    *(aten.empty.memory_format, aten.empty_like.default, aten.new_empty.default),
    *(aten.empty_strided.default, aten.new_empty_strided.default, aten.empty_permuted.default),
})  # fmt: skip
#: Operations that return a view and are not declared to.
VIEWS = frozenset({
    *(aten._unsafe_view.default, aten._reshape_alias.default, aten.lift_fresh.default),
    *(aten.unsafe_split.Tensor, aten.unsafe_split_with_sizes.default, aten.unsafe_chunk.default),
})  # fmt: skip
#: Operations that are given a tensor for its kind of numbers alone.
NEW = frozenset({aten.new_zeros.default, aten.new_ones.default, aten.new_full.default, aten.new_empty.default})

#: Operations that draw each of their numbers by itself, all alike.
INDEPENDENT = frozenset({
    *(aten.rand.default, aten.randn.default, aten.randint.default, aten.randint.low, aten.normal.float_float),
    *(aten.rand_like.default, aten.randn_like.default, aten.randint_like.default, aten.randint_like.low_dtype),
    *(aten.bernoulli.default, aten.bernoulli.p, aten.bernoulli_.float, aten.bernoulli_.Tensor, aten.poisson.default),
    *(aten.normal_.default, aten.uniform_.default, aten.exponential_.default, aten.geometric_.default),
    *(aten.log_normal_.default, aten.cauchy_.default, aten.native_dropout.default),
})  # fmt: skip
#: Operations that are given a tensor for its shape alone.
LIKE = frozenset({
    *(aten.rand_like.default, aten.randn_like.default, aten.randint_like.default, aten.randint_like.low_dtype),
})  # fmt: skip
#: Operations that give a tensor the memory of another, or another size.
DENIED = frozenset({
    *(aten.set_.source_Storage, aten.set_.source_Storage_storage_offset, aten.set_.source_Tensor, aten.set_.default),
    *(aten.set_.source_Tensor_storage_offset, aten.resize_.default, aten.resize_as_.default),
})  # fmt: skip
#: Marks of operations that show values, or make as many results as values say.
TELLING = {torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape}
#: Kinds of numbers that choose places by being true.
MASKS = (torch.bool, torch.uint8)
#: Numbers that were drawn and belong to no example yet.
DRAWN = "drawn"
#: The attribute of a storage that says in which pass `data` of it was taken.
EXPOSED = "_discreet_exposed"


class OperationFacts(NamedTuple):
    """The known facts about an operation, for all arguments."""

    names: tuple[str, ...]
    defaults: dict[str, Any]
    rule: Rule | None
    is_view: bool
    writes: bool
    writes_otherwise: bool
    is_random: bool
    tells_values: bool
    is_pointwise: bool


_FACTS: dict[Any, OperationFacts] = {}


def facts_of(operation: Any) -> OperationFacts:
    """Return the known facts about an operation; looked up once."""
    known = _FACTS.get(operation)
    if known is None:
        known = _FACTS[operation] = _read_facts(operation)
    return known


def _read_facts(operation: Any) -> OperationFacts:
    schema, tags = operation._schema, operation.tags
    arguments = schema.arguments
    writing = [
        place for place, argument in enumerate(arguments) if argument.alias_info and argument.alias_info.is_write
    ]
    is_random = torch.Tag.nondeterministic_seeded in tags
    is_pointwise = torch.Tag.pointwise in tags and not is_random and operation.namespace == "aten"
    returns_tensors = all("Tensor" in str(result.type) for result in schema.returns)
    return OperationFacts(
        names=tuple(argument.name for argument in arguments),
        defaults={argument.name: argument.default_value for argument in arguments if argument.has_default_value()},
        rule=RULES.get(operation, track_pointwise if is_pointwise else None),
        is_view=operation in VIEWS or (not writing and any(result.alias_info for result in schema.returns)),
        writes=writing == [0],
        writes_otherwise=bool(writing) and writing != [0],
        is_random=is_random and operation not in NOT_RANDOM,
        tells_values=bool(TELLING & set(tags)) or not returns_tensors or not schema.returns,
        is_pointwise=is_pointwise,
    )


#: Operations that draw random numbers only if they are told to, which their rules look at.
NOT_RANDOM = frozenset({aten._scaled_dot_product_flash_attention_for_cpu.default})


class AxisTracking(TorchDispatchMode):  # type: ignore[no-untyped-call] # PyTorch's own class
    """While it is on, every operation is done as before, and it is known where its results have their examples."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # or PyTorch's compiler, which is not used, is loaded for every program

    def __init__(self, owners: MemoryOwners) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # same
        self.owners = owners
        self._drawn = torch.default_generator.get_state()
        """The state of PyTorch's random numbers after the last operation that drew any."""
        self.problem: str | None = None
        """Why examples are not known to be kept apart; the first reason counts."""

    def fail(self, problem: str) -> None:
        """Give the proof up."""
        if self.problem is None:
            self.problem = problem

    def expose(self, tensor: Tensor) -> None:
        """Note that a tensor's `data` was taken: what is written through it changes what the backward pass saved."""
        tensor.untyped_storage().__dict__[EXPOSED] = self

    def check_unread(self, tensor: Tensor) -> None:
        """Give the proof up if a tensor that Python reads a number of is not the same for all examples."""
        if self.owners.look_up(tensor).owner >= Owner.ROWS:
            self.fail("a number of a tensor is shown to Python")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, torch._ops.OpOverload):
            self.fail("code within an operation is not followed")
        if self.problem is not None:
            return func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            return self._follow(func, args, kwargs)

    def _follow(self, func: Any, args: Any, kwargs: Any) -> Any:
        facts = facts_of(func)
        arguments = () if func in NEW else (*args, *kwargs.values())
        operands = {id(tensor): self.owners.look_up(tensor) for tensor in _tensors_in(arguments)}
        worst = max((operand.owner for operand in operands.values()), default=Owner.OUTSIDE)
        self._forbid(func, facts, args, kwargs, operands, worst)
        if self.problem is not None:
            return func(*args, **kwargs)
        results = self._results(func, facts, args, kwargs, operands, worst)
        output = func(*args, **kwargs)
        if func in EMPTY:
            output.zero_()
        if facts.is_random:
            self._drawn = torch.default_generator.get_state()
        if facts.writes:
            self._write(args[0], operands, worst, results[0])
        else:
            self._mark(output, operands, results)
        return output

    def check_draws(self) -> None:
        """Give the proof up if PyTorch's generator was moved by anything but the draws that were followed."""
        if not torch.equal(self._drawn, torch.default_generator.get_state()):
            self.fail("the pass sets the seed, or the state, of random numbers")

    def _forbid(
        self, func: Any, facts: OperationFacts, args: Any, kwargs: Any, operands: dict[int, Operand], worst: Owner
    ) -> None:
        """Give the proof up at an operation that is not followed."""
        if func in DENIED or facts.writes_otherwise or (facts.writes and operands[id(args[0])].owner is Owner.OUTSIDE):
            self.fail(f"{func} writes to a tensor that was there before the pass, or to several")
        elif facts.writes and args[0].untyped_storage().__dict__.get(EXPOSED) is self:
            self.fail(f"{func} writes to memory that was reached by `data`, which PyTorch does not count as a change")
        elif facts.is_random and kwargs.get("generator") is not None:
            self.fail(f"{func} draws from a generator of its own")
        elif facts.is_random:
            self.check_draws()
        elif worst >= Owner.ROWS and not facts.is_view and _is_refused(func, facts, args):
            self.fail(f"{func} has no rule by which examples are kept apart")

    def _results(
        self, func: Any, facts: OperationFacts, args: Any, kwargs: Any, operands: dict[int, Operand], worst: Owner
    ) -> Any:
        """Return the kind of an operation's results: rows, an owner, or `MIXING`."""
        if worst < Owner.ROWS:
            return (self._public(func, facts, operands),)
        if worst is Owner.MIXED or facts.rule is None or facts.is_view:  # a view has no memory of its own
            return (MIXING,)
        arguments = {**facts.defaults, **dict(zip(facts.names, args, strict=False)), **kwargs}
        outcome: Results = facts.rule(arguments, lambda tensor: operands[id(tensor)])
        return outcome

    def _public(self, func: Any, facts: OperationFacts, operands: dict[int, Operand]) -> Owner | str:
        """Return the result for values that are the same for all."""
        if facts.is_random:
            alike = func in LIKE or all(operand.owner is Owner.UNIFORM for operand in operands.values())
            return DRAWN if func in INDEPENDENT and alike else MIXING
        alike = facts.is_pointwise and all(operand.owner is Owner.UNIFORM for operand in operands.values())
        return Owner.UNIFORM if func in UNIFORM or func in EMPTY or alike else Owner.PUBLIC

    def _mark(self, output: Any, operands: dict[int, Operand], results: tuple[Any, ...]) -> None:
        """Write down who owns new memory; memory that an argument has keeps its owner."""
        tensors = list(_tensors_in((output,)))
        before = {operand.tensor.untyped_storage()._cdata for operand in operands.values()}
        for place, tensor in enumerate(tensors):
            if tensor.untyped_storage()._cdata not in before:
                self._own(tensor, results[place] if len(results) > 1 else results[0])

    def _own(self, tensor: Tensor, result: ExampleAxis | Owner | str | None) -> None:
        if isinstance(result, ExampleAxis):
            self.owners.mark(tensor, Owner.ROWS, result)
        elif result == DRAWN:
            self._draw(tensor)
        elif result == MIXING:
            self.owners.mark(tensor, Owner.MIXED)
        else:
            self.owners.mark(tensor, Owner.PUBLIC if result is None else result)  # type: ignore[arg-type] # an Owner

    def _draw(self, tensor: Tensor) -> None:
        """Give independent draws to examples, along the first axis that is as long as the batch: any will do.

        What has none is shared by a batch's examples. That is mixing: with one example less, others move from one
        microbatch to the next, and to other draws.
        """
        for axis, length in enumerate(tensor.shape):
            if length == self.owners.examples:
                self.owners.mark(tensor, Owner.ROWS, ExampleAxis(axis))
                return
        self.owners.mark(tensor, Owner.MIXED)

    def _write(self, target: Tensor, operands: dict[int, Operand], worst: Owner, result: Any) -> None:
        """Write down who owns memory after an operation has changed it."""
        before = operands[id(target)]
        if before.owner >= Owner.ROWS:
            if before.owner is Owner.MIXED or result != before.rows:  # also a write to some rows of a larger tensor
                self.owners.mark(target, Owner.MIXED)
        elif worst >= Owner.ROWS:
            # Numbers that are one value everywhere belong to whomever one likes; others do not.
            fits = before.owner is Owner.UNIFORM and isinstance(result, ExampleAxis)
            self._own(target, result if fits else MIXING)
        elif result in {DRAWN, MIXING}:
            self._own(target, result)
        elif result is not Owner.UNIFORM or not _is_whole(target):
            self.owners.mark(target, Owner.PUBLIC)

    def adopt(self, tensor: Tensor) -> ExampleAxis | None:
        """Return the axis of a tensor's examples; one with the same value everywhere may have them first."""
        with torch._C.DisableTorchFunction():
            operand = self.owners.look_up(tensor)
            if operand.owner is Owner.UNIFORM and tensor.ndim and len(tensor) == self.owners.examples:
                self.owners.mark(tensor, Owner.ROWS, ExampleAxis(0))
                operand = self.owners.look_up(tensor)
            return operand.rows


def _is_refused(func: Any, facts: OperationFacts, args: Any) -> bool:
    """Tell whether an operation may not be given examples, or shows values, if only by the shape of a result."""
    if func is aten.index.Tensor:
        return any(index is not None and index.dtype in MASKS for index in args[1])
    return facts.tells_values or (facts.rule is None and func not in TOTALS)


def _is_whole(tensor: Tensor) -> bool:
    fills = tensor.numel() * tensor.element_size() == tensor.untyped_storage().nbytes()
    return fills and tensor.is_contiguous()  # and not several times the same memory


def _tensors_in(values: Iterable[Any]) -> Iterable[Tensor]:
    """Return the tensors among arguments or results, and in lists of them."""
    for value in values:
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from _tensors_in(value)
