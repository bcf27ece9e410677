"""Gradients of parameters that are used in a way without a rule: one backward pass for every example.

Slow, and right for every module whose loss of an example depends on this example alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from discreet.learn.torch.gradients import KnownGradients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor, nn


def one_by_one(losses: Tensor, parameters: Sequence[nn.Parameter]) -> list[KnownGradients]:
    """Return every example's gradients of some parameters, from the graph of their losses."""
    found = [torch.zeros(len(losses), *parameter.shape, dtype=parameter.dtype) for parameter in parameters]
    for index in range(len(losses) if parameters else 0):
        gradients = torch.autograd.grad(losses[index], parameters, retain_graph=True, allow_unused=True)
        for rows, gradient in zip(found, gradients, strict=True):
            if gradient is not None:
                rows[index] = gradient
    return [KnownGradients(rows) for rows in found]
