"""Clipping: bounds on per-example gradients, the model whose clipped sums keep to them, and copies of modules.

    model = PrivateModel(network)
    clipping = Clipping(bounds=(Fraction(1),))

    def losses(inputs, labels):
        return cross_entropy(model(inputs), labels, reduction="none")

    sums = model.exact_sums(losses, clipping, 2**14, batch=(inputs, labels))

`losses` runs the forward pass on one microbatch and returns one loss an example, in the batch's order. Everything
private is in `batch`, tensors with the examples first; a `PrivateModel` keeps nothing of it. Whatever `losses` reads
elsewhere is taken for public.
"""

from __future__ import annotations

import copy
from collections import OrderedDict
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import torch
from torch import nn

from discreet.core import InvalidInput, WrongType, positive, whole
from discreet.core.canonical_text import settle
from discreet.core.errors import kind_of
from discreet.learn.torch.clipped_sums import GroupClip, sum_in_floats, sum_on_grid
from discreet.learn.torch.global_settings import keep_settings
from discreet.learn.torch.per_example.passes import GradientPass
from discreet.learn.torch.per_example.refusals import check_unmixed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from discreet.learn.torch.clipped_sums import GroupSums
    from discreet.learn.torch.per_example.gradients import Gradients
    from discreet.learn.torch.per_example.passes import GradientMethod

# Copies of modules, one for every pass: as `copy.deepcopy`, without its cost for empty or atomic values.

#: Kinds of values that cannot change; and kinds that are made anew where they are empty, as they mostly are.
ATOMIC = (type(None), bool, int, float, str, torch.dtype, torch.device)
EMPTY = (dict, OrderedDict, set, list)
COMPILED = "_compiled_call_impl"


def copy_module(module: nn.Module, memo: dict[int, Any]) -> nn.Module:
    """Return a copy of a module that shares nothing with it that can be changed, but what `memo` says.

    As with `copy.deepcopy`, `memo` has copies that were made before, by the `id` of what they were made of.
    """
    known = memo.get(id(module))
    if known is not None:
        return known  # type: ignore[no-any-return] # a module's copy is a module
    kind = type(module)
    if not _is_plain(kind):
        return copy.deepcopy(module, memo)
    duplicate = kind.__new__(kind)
    memo[id(module)] = duplicate
    own = duplicate.__dict__
    for name, value in module.__dict__.items():
        if name == COMPILED:  # as PyTorch's own copies do without it
            continue
        own[name] = _copy_modules(value, memo) if name == "_modules" else _copy_value(value, memo)
    return duplicate


def _is_plain(kind: type[nn.Module]) -> bool:
    """Tell whether modules of a kind are copied by their attributes, without code of their own."""
    return (
        not hasattr(kind, "__deepcopy__")
        and not hasattr(kind, "__slots__")
        and kind.__setstate__ is nn.Module.__setstate__
        and kind.__reduce_ex__ is object.__reduce_ex__
        and kind.__reduce__ is object.__reduce__
        and kind.__new__ is object.__new__
        and getattr(kind, "__getstate__", None) is getattr(nn.Module, "__getstate__", None)
        and not hasattr(kind, "__getnewargs_ex__")
        and not hasattr(kind, "__getnewargs__")
    )


def _copy_modules(modules: dict[str, nn.Module | None], memo: dict[int, Any]) -> dict[str, nn.Module | None]:
    copies = type(modules)()
    for name, module in modules.items():
        copies[name] = module if module is None else copy_module(module, memo)
    return copies


def _copy_value(value: Any, memo: dict[int, Any]) -> Any:
    kind = type(value)
    if kind in ATOMIC:
        return value
    if id(value) in memo:
        return memo[id(value)]
    if kind in EMPTY and not value:
        return memo.setdefault(id(value), kind())
    if kind is dict:  # parameters and buffers: what they are is often in `memo`
        duplicate: dict[Any, Any] = {}
        memo[id(value)] = duplicate
        for name, item in value.items():
            duplicate[copy.deepcopy(name, memo)] = copy.deepcopy(item, memo)
        return duplicate
    return copy.deepcopy(value, memo)


Style = Literal["clip", "automatic"]
#: Kinds of numbers that weights may be: those in which integers are exact far enough.
KINDS = (torch.float32, torch.float64)
#: Squared norms up to here are exact in 64-bit floats (see `rounding`).
MOST_STEPS = 1 << 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Clipping:
    """How each example's gradient is bounded. Public values, part of a plan.

    `bounds` has one bound for every group of parameters; one alone is flat clipping. An example's gradient g of a group
    with bound C becomes g·min(1, C/‖g‖) in the style "clip", and g·C/(‖g‖ + `stabiliser`) in the style "automatic".

    Guarantee: what an example adds to a group's sum has norm at most C.
    Reference: Abadi and others 2016, Algorithm 1; Bu, Wang, Zha, Karypis 2022 (automatic clipping).

    Args:
        bounds: the clipping bound C of each group of parameters.
        style: "clip" or "automatic".
        stabiliser: the constant that "automatic" adds to the norm.

    Raises:
        DiscreetError: if a bound is not positive, or the style is unknown.

    """

    bounds: tuple[Fraction, ...]
    style: Style = "clip"
    stabiliser: Fraction = Fraction(1, 100)

    def __post_init__(self) -> None:
        if not isinstance(self.bounds, tuple | list) or not self.bounds:
            raise WrongType("bounds is not a tuple of numbers.", fix="pass bounds=(1,), one for every group")
        if self.style not in ("clip", "automatic"):
            raise InvalidInput(f"Unknown style {self.style!r}.", fix='pass style="clip" or style="automatic"')
        settle(
            self,
            bounds=tuple(positive(bound, "bound") for bound in self.bounds),
            stabiliser=positive(self.stabiliser, "stabiliser"),
        )


@dataclass(frozen=True, slots=True, kw_only=True, repr=False, eq=False)
class ClippedSums:
    """Sums of clipped gradients over one microbatch. Private: they have no noise yet.

    `sums` has one tensor for each of the model's parameters: of the parameter's own kind from `float_sums`, in units
    of the gradient; from `exact_sums` integers, in 32- or 64-bit floats that hold them, in steps of
    bound/grid_steps. `within` counts, for each group, the examples whose gradient was within the bound before it
    was clipped. Sums of several batches add up, in 64 bits. An example whose gradient is not finite adds nothing.
    """

    sums: tuple[Tensor, ...]
    within: Tensor


class PrivateModel:
    """A module whose examples' gradients can be clipped one by one, in a single backward pass.

    Layers that mix examples, or that remember earlier batches, are refused with what to use instead. Code that is not
    proved to keep examples apart is run on one example at a time (see `passes`). `groups` names the trainable
    parameters of each clipping group; left out, all are one group. Parameters that do not require gradients when the
    model is wrapped stay as they are.

    Args:
        model: the module, on the CPU, with weights of 32 or 64 bits.
        groups: the names of the parameters of each clipping group; one group if left out.

    Raises:
        DiscreetError: if a layer mixes examples, no parameter is trainable, or the groups do not name each parameter
            once.

    """

    __slots__ = ("_pass", "groups", "module", "parameters")

    def __init__(self, model: nn.Module, *, groups: Sequence[Sequence[str]] | None = None) -> None:
        if not isinstance(model, nn.Module):
            raise WrongType(f"The model is {kind_of(model)}, not a module.", fix="pass a torch.nn.Module")
        check_unmixed(model)
        trainable = tuple((name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad)
        if not trainable:
            raise InvalidInput("The model has no trainable parameter.", fix="leave requires_grad on for some of them")
        if any(parameter.device.type != "cpu" or parameter.dtype not in KINDS for _, parameter in trainable):
            raise InvalidInput(
                "The model is not on the CPU, or its weights are not 32- or 64-bit floats.",
                fix="use model.cpu().float(); activations may have fewer bits, by torch.autocast",
            )
        self.module = model
        self.parameters: tuple[tuple[str, nn.Parameter], ...] = trainable
        self.groups = _partition([name for name, _ in trainable], groups)
        self._pass = GradientPass(model, tuple(parameter for _, parameter in trainable))

    def copy(self) -> PrivateModel:
        """Return a model of its own at the same values: whatever a pass writes to it is gone with it.

        What earlier passes of this model found out about its form is known to the copy; nothing comes back from it.
        """
        duplicate = PrivateModel.__new__(PrivateModel)
        known = {id(parameter): nn.Parameter(parameter.detach().clone()) for _, parameter in self.parameters}
        duplicate.module = copy_module(self.module, known)
        duplicate.parameters = tuple(
            (name, parameter) for name, parameter in duplicate.module.named_parameters() if parameter.requires_grad
        )
        duplicate.groups = self.groups
        duplicate._pass = replace(  # noqa: SLF001 - one's own
            self._pass, model=duplicate.module, parameters=tuple(parameter for _, parameter in duplicate.parameters)
        )
        return duplicate

    def learn_form(self, other: PrivateModel) -> None:
        """Take over what passes of a copy found out about the model's form: only from passes on public examples."""
        self._pass = replace(other._pass, model=self._pass.model, parameters=self._pass.parameters)

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Run the module's forward pass."""
        return self.module(*inputs, **options)

    def gradient_methods(self) -> dict[str, GradientMethod]:
        """Return how every parameter's gradients were found in the last pass: public, known from a rehearsal."""
        return dict(zip((name for name, _ in self.parameters), self._pass.gradient_methods(), strict=True))

    def float_sums(
        self,
        losses: Callable[..., Tensor],
        clipping: Clipping,
        *,
        batch: tuple[Any, ...],
        counted: Tensor | None = None,
    ) -> ClippedSums:
        """Return sums of clipped gradients, in the model's own floats.

        `counted` is a bool for every example; those with False add nothing (they fill up a batch).
        Not proved: an example's share has norm C only up to rounding, and sums of floats are rounded.

        Args:
            losses: a function of the parts of `batch` that returns one loss for each example.
            clipping: how each per-example gradient is clipped.
            batch: the private examples, tensors with the examples on the first axis.
            counted: one bool for each example; examples with False add nothing.

        Returns:
            The sums for all parameters. Private: they have no noise yet.

        Raises:
            DiscreetError: if the losses are not one number for each example, or the model cannot be used.

        """

        def work(group: list[Gradients], shapes: list[torch.Size], clip: GroupClip, mask: Tensor) -> GroupSums:  # noqa: ARG001
            return sum_in_floats(group, clip, mask)

        return self._sums(losses, batch, clipping, counted, work)

    def exact_sums(
        self,
        losses: Callable[..., Tensor],
        clipping: Clipping,
        grid_steps: int,
        *,
        batch: tuple[Any, ...],
        counted: Tensor | None = None,
    ) -> ClippedSums:
        """Return sums of gradients that were clipped and rounded to whole steps of bound/grid_steps.

        Guarantee: what an example adds to a group is a vector of integers with norm at most `grid_steps`, checked
        on the integers; the sums are exact. It is computed from the example's own gradient, in floats. That floats of
        one example do not depend on others needs batches of one shape: fill up with examples that are not `counted`.
        Reference: the lemma in `rounding`.

        Args:
            losses: a function of the parts of `batch` that returns one loss for each example.
            clipping: how each per-example gradient is clipped.
            grid_steps: the number of grid steps in a bound, to which gradients are rounded.
            batch: the private examples, tensors with the examples on the first axis.
            counted: one bool for each example; examples with False add nothing.

        Returns:
            The sums for all parameters, as integers. Private: they have no noise yet.

        Raises:
            DiscreetError: if the losses are not one number for each example, or the model cannot be used.

        """
        steps = whole(grid_steps, "grid_steps", most=MOST_STEPS)

        def work(group: list[Gradients], shapes: list[torch.Size], clip: GroupClip, mask: Tensor) -> GroupSums:
            return sum_on_grid(group, shapes, clip, steps, mask)

        return self._sums(losses, batch, clipping, counted, work)

    def _sums(
        self,
        losses: Callable[..., Tensor],
        batch: tuple[Any, ...],
        clipping: Clipping,
        counted: Tensor | None,
        work: Callable[..., GroupSums],
    ) -> ClippedSums:
        if len(clipping.bounds) != len(self.groups):
            raise InvalidInput(
                f"There are {len(clipping.bounds)} clipping bounds for {len(self.groups)} groups of parameters.",
                fix="give one bound for each group",
            )
        with keep_settings():
            examples, gradients = self._pass.run(losses, batch)
        mask = _mask(counted, examples)
        names = [name for name, _ in self.parameters]
        sums: dict[str, Tensor] = {}
        within = []
        # If autocast is on, products of integers would be done in 16 bits.
        with torch.no_grad(), torch.autocast("cpu", enabled=False):
            for group, bound in zip(self.groups, clipping.bounds, strict=True):
                which = [names.index(name) for name in group]
                shapes = [self.parameters[index][1].shape for index in which]
                clip = GroupClip(bound, clipping.stabiliser if clipping.style == "automatic" else None)
                totals, count = work([gradients[index] for index in which], shapes, clip, mask)
                sums.update(zip(group, totals, strict=True))
                within.append(count)
        return ClippedSums(sums=tuple(sums[name] for name in names), within=torch.stack(within))


def _partition(names: list[str], groups: Sequence[Sequence[str]] | None) -> tuple[tuple[str, ...], ...]:
    if groups is None:
        return (tuple(names),)
    chosen = tuple(tuple(group) for group in groups)
    if sorted(name for group in chosen for name in group) != sorted(names) or not all(chosen):
        raise InvalidInput(
            "The groups do not name every trainable parameter exactly once.",
            fix="name them as model.named_parameters() does, each in one group; freeze what is not to be trained",
        )
    return chosen


def _mask(counted: Tensor | None, examples: int) -> Tensor:
    if counted is None:
        return torch.ones(examples, dtype=torch.bool)
    if not isinstance(counted, torch.Tensor) or counted.dtype != torch.bool or counted.shape != (examples,):
        raise InvalidInput("counted is not one bool for every example.", fix="pass a bool tensor as long as the losses")
    return counted
