"""Refused layers, which mix examples or keep state, and their replacements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from torch import nn

from discreet.core import InvalidInput

if TYPE_CHECKING:
    from torch import Tensor

    State = list[tuple[str, Tensor, int]]

_BATCH_NORMS = (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d, nn.SyncBatchNorm)
_INSTANCE_NORMS = (nn.InstanceNorm1d, nn.InstanceNorm2d, nn.InstanceNorm3d)


def check_unmixed(model: nn.Module) -> None:
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
            return (
                "use GroupNorm(32, channels) or LayerNorm; or, where its statistics are public, call .eval() on this "
                "layer before the model is passed: it stays in eval(), and its scale and shift are trained"
            )
    elif isinstance(module, _INSTANCE_NORMS):
        if module.track_running_stats and module.training:
            return "make it with track_running_stats=False"
    elif isinstance(module, nn.Embedding) and (module.max_norm is not None or module.scale_grad_by_freq):
        return "leave out max_norm and scale_grad_by_freq; clipping already bounds the effect of one example"
    elif isinstance(module, nn.LazyLinear | nn.modules.lazy.LazyModuleMixin):
        return "give the layer its sizes, or run it once on made-up inputs before it is wrapped"
    return None


def train_layers(model: nn.Module) -> nn.Module:
    """Put a model into training mode, but for norm layers in eval(): these keep their public statistics."""
    fixed = [
        layer for layer in model.modules() if isinstance(layer, _BATCH_NORMS + _INSTANCE_NORMS) and not layer.training
    ]
    model.train()
    for layer in fixed:
        layer.eval()
    return model


def values_of(model: nn.Module) -> list[tuple[str, Tensor]]:
    """Return all parameters and buffers by name; a tensor that has two names is there twice."""
    return [
        *model.named_parameters(remove_duplicate=False),
        *model.named_buffers(remove_duplicate=False),
    ]


def kind_of_value(model: nn.Module, name: str) -> str:
    """Return the object that a name stands for."""
    return "parameter" if name in dict(model.named_parameters(remove_duplicate=False)) else "buffer"


def state_of(model: nn.Module) -> State:
    """Return the state of the model, with PyTorch's count of changes."""
    return [(name, value, value._version) for name, value in values_of(model)]  # noqa: SLF001 - no public name


def check_unchanged(before: State, model: nn.Module) -> None:
    """Refuse a model whose state was changed by a forward pass: it would carry private data past the noise."""
    now = state_of(model)
    for (name, buffer, version), (_, other, later) in zip(before, now, strict=False):
        if buffer is not other or version != later:
            raise InvalidInput(
                f"The forward pass changed the {kind_of_value(model, name)} {name!r}: it would carry private data past "
                "the noise.",
                fix="use a layer without running state, such as GroupNorm for BatchNorm, and leave weights as they are",
            )
    if len(before) != len(now):
        raise InvalidInput(
            "The forward pass added or removed a parameter or buffer: it would carry private data past the noise.",
            fix="use layers without running state",
        )
