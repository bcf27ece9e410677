"""DP-SGD in plain lines: one example at a time, one number at a time where it matters. The reference for the rest."""

import torch


def example_gradients(losses, parameters):
    """Return for every example its gradient of every parameter, by as many backward passes."""
    rows = []
    for loss in losses():
        found = torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)
        rows.append([torch.zeros_like(p) if g is None else g for p, g in zip(parameters, found, strict=True)])
    return [[gradient.double() for gradient in row] for row in rows]


def clip(row, bound, stabiliser=None):
    """Return one example's gradient with norm at most `bound`, and its norm before."""
    norm = float(sum(gradient.square().sum() for gradient in row)) ** 0.5
    factor = min(1.0, bound / max(norm, 1e-100)) if stabiliser is None else bound / (norm + stabiliser)
    return [factor * gradient for gradient in row], norm


def clipped_sums(losses, parameters, bound, stabiliser=None):
    """Return the sums of clipped gradients, and how many examples were within the bound."""
    sums, within = [torch.zeros_like(p, dtype=torch.float64) for p in parameters], 0
    for row in example_gradients(losses, parameters):
        clipped, norm = clip(row, bound, stabiliser)
        within += norm <= bound
        for total, gradient in zip(sums, clipped, strict=True):
            total.add_(gradient)
    return sums, within


def step(losses, parameters, *, bound, sigma, batch_size, rate, normal):
    """Take one step of Algorithm 1 of Abadi and others 2016 on one batch."""
    sums, _ = clipped_sums(losses, parameters, bound)
    with torch.no_grad():
        for parameter, total in zip(parameters, sums, strict=True):
            noisy = total + sigma * bound * normal(total.shape)
            parameter.sub_(rate * (noisy / batch_size).to(parameter.dtype))
