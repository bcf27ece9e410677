"""The attack: `forward` reads memory that it never wrote, and finds there what another example's pass has left.

Examples that are not proved to stay apart are run one at a time, or each by itself in one call. `torch.empty` and its
kin then hand out memory as it was found. New memory has to hold zeros.
"""

from contextlib import nullcontext

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from discreet.learn.torch.per_example import fallback  # noqa: E402

WIDTH, EXAMPLES, TRIALS = 512, 8, 20
LEFT = 5555.0

NEW_MEMORY = {
    "empty": lambda x: torch.empty(x.shape),
    "empty_like": torch.empty_like,
    "new_empty": lambda x: x.new_empty(x.shape),
    "empty_strided": lambda x: torch.empty_strided(x.shape, (WIDTH, 1)),
    "Tensor": lambda x: torch.Tensor(*x.shape),
    "resize_": lambda x: torch.zeros(0).resize_(x.shape),
    "a part that is resized": lambda x: torch.zeros(1, 3).resize_(x.shape),
    "resize_as_": lambda x: torch.zeros(1, 3).resize_as_(torch.zeros(x.shape)),
}


class Reader(nn.Module):
    """Adds whatever new memory holds to its examples."""

    def __init__(self, take):
        super().__init__()
        self.layer, self.take = nn.Linear(WIDTH, 1), take

    def forward(self, inputs):
        for _ in range(4):
            torch.full((1, WIDTH), LEFT)  # what an earlier example's pass leaves behind
        return self.layer(inputs + self.take(inputs)).squeeze(1)


def by_vmap(model, inputs):
    return fallback.by_vmap(model, model, (inputs,), [model.layer.weight])


def one_by_one(model, inputs):
    return fallback.one_by_one(lambda: (model, [model.layer.weight]), (inputs,))


def what_was_read(way, take):
    """Return the largest number that was read in some trials: the gradient of the weights is what went into them."""
    most, inputs = 0.0, torch.zeros(EXAMPLES, WIDTH)
    for _ in range(TRIALS):
        (gradients,) = way(Reader(take), inputs)
        most = max(most, float(gradients.rows.nan_to_num(LEFT).abs().max()))
    return most


@pytest.mark.parametrize("way", [by_vmap, one_by_one])
@pytest.mark.parametrize("name", NEW_MEMORY)
def test_new_memory_holds_nothing_of_others(name, way):
    assert what_was_read(way, NEW_MEMORY[name]) == 0


class Backward(torch.autograd.Function):
    """Takes new memory for the gradient of the weights."""

    @staticmethod
    def forward(ctx, weights):
        return weights.clone()

    @staticmethod
    def backward(ctx, gradient):
        for _ in range(4):
            torch.full(gradient.shape, LEFT)
        return torch.empty(gradient.shape)


class BackwardReader(Reader):
    def forward(self, inputs):
        return (Backward.apply(self.layer.weight) * inputs).sum(1)


def test_new_memory_holds_nothing_of_others_in_the_backward_pass():
    for _ in range(TRIALS):
        (gradients,) = one_by_one(BackwardReader(None), torch.zeros(EXAMPLES, WIDTH))
        assert not gradients.rows.any()


@pytest.mark.parametrize("way", [by_vmap, one_by_one])
def test_the_attack_succeeds_against_the_old_behaviour(way, monkeypatch):
    monkeypatch.setattr(fallback, "ZeroedMemory", nullcontext)
    assert max(what_was_read(way, take) for take in NEW_MEMORY.values()) > 0
