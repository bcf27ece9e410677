"""Layers with which no example's gradient is its own, and what to use instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from discreet.core import InvalidInput

if TYPE_CHECKING:
    from torch import Tensor

    State = list[tuple[str, Tensor, int]]

_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_INSTANCE_NORMS = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)


def refuse_mixing(model: nn.Module) -> None:
    """Refuse layers that mix the examples of a batch, or remember earlier batches."""
    for name, module in model.named_modules():
        fix = _replacement(module)
        if fix is not None:
            where = f"Layer {name!r}" if name else "The model"
            kind = type(module).__name__
            raise InvalidInput(f"{where} ({kind}) mixes the examples of a batch, or remembers earlier ones.", fix=fix)


def _replacement(module: nn.Module) -> str | None:
    if isinstance(module, _BATCH_NORMS):
        # With fixed statistics it is a scale and a shift.
        if module.training or module.running_mean is None:
            return "use GroupNorm(32, channels) or LayerNorm; or, with statistics that are public, keep it in eval()"
    elif isinstance(module, _INSTANCE_NORMS):
        if module.track_running_stats and module.training:
            return "make it with track_running_stats=False"
    elif isinstance(module, nn.Embedding) and (module.max_norm is not None or module.scale_grad_by_freq):
        return "leave out max_norm and scale_grad_by_freq; clipping bounds what a word can learn from one example"
    elif isinstance(module, nn.LazyLinear | nn.modules.lazy.LazyModuleMixin):
        return "give the layer its sizes, or run it once on made-up inputs before it is wrapped"
    return None


def state_of(model: nn.Module) -> State:
    """Return what the model remembers, with PyTorch's count of changes."""
    return [(name, buffer, buffer._version) for name, buffer in model.named_buffers()]  # noqa: SLF001 - no public name


def refuse_changed(before: State, model: nn.Module) -> None:
    """Refuse a model whose state was changed by a forward pass: it would carry private data past the noise."""
    now = state_of(model)
    for (name, buffer, version), (_, other, later) in zip(before, now, strict=False):
        if buffer is not other or version != later:
            raise InvalidInput(
                f"The forward pass changed the buffer {name!r}: it would carry private data past the noise.",
                fix="use a layer without running state, such as GroupNorm for BatchNorm, or put the layer in eval()",
            )
    if len(before) != len(now):
        raise InvalidInput(
            "The forward pass added or removed a buffer: it would carry private data past the noise.",
            fix="use layers without running state",
        )
