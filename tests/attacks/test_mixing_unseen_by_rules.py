"""The attack: a model mixes examples where no rule looks: in a backward pass, by one tensor given twice, by a seed.

As in `test_mixing_models`, the sum of a batch is compared with that of the batch without one example. What depends on
an example's place in the batch mixes, too: with one example less, all others have another place.
"""

import random
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch.nn import functional  # noqa: E402

from attacks.test_mixing_models import (  # noqa: E402
    MANY,
    ONE,
    Mixed,
    how_far_one_example_moves_the_sum,
    methods_of,
)
from discreet.learn.torch.per_example import axis_rules, axis_tracking, passes  # noqa: E402
from discreet.learn.torch.per_example import rules as recording  # noqa: E402
from discreet.learn.torch.per_example.axis_tracking import AxisTracking  # noqa: E402


def products_of_all_pairs(x):
    signals = x.unsqueeze(-1)
    return x * functional.conv1d(signals, signals).squeeze(-1).mean(1, keepdim=True)


def a_product_without_zeros(x):
    """Too large for floats: its backward pass is finite if any example has a zero, and else is not."""
    factors = 1e30 * (1 + x[:, :2].tanh() / 10) * (x.abs().amax(1, keepdim=True) < 60)
    product = factors.prod(1, keepdim=True)
    return x + torch.where(product.isfinite(), product, 0.0)


def saved_and_changed(x):
    saved = torch.exp(x.tanh())
    found = saved * 1
    saved.data.mul_(saved.data.flip(0) * x.detach().abs().max())
    return found


def a_tensor_of_named_tensors(x):
    return x * torch.tensor(data=[x[-1, 0], x[0, 0]]).max()


def an_old_tensor_of_tensors(x):
    return x * torch.Tensor([x[-1, 0], x[0, 0]]).max()


def by_a_formatted_text(x):
    return x * (50 if "e+" in f"{x}" else 1)


MIXING = [
    products_of_all_pairs, a_product_without_zeros, saved_and_changed, a_tensor_of_named_tensors,
    an_old_tensor_of_tensors, by_a_formatted_text,
]  # fmt: skip


def plant_the_old_behaviour(monkeypatch):
    """Forget what is looked at besides the rules."""

    def only(given, see, name):
        first = see(given[name])
        others = [one for one in axis_rules._tensors(given, see) if one.tensor is not first.tensor]
        return first if first.rows is not None and all(one.rows is None for one in others) else None

    monkeypatch.setattr(axis_rules, "_only", only)
    monkeypatch.setattr(axis_tracking, "_FACTS", {})
    monkeypatch.setitem(axis_rules.RULES, torch.ops.aten.prod.dim_int, axis_rules.reduction())
    monkeypatch.setattr(AxisTracking, "expose", lambda axes, tensor: None)
    monkeypatch.setattr(AxisTracking, "check_unread", lambda axes, tensor: None)
    monkeypatch.setattr(recording, "shows_values", lambda function, args, kwargs: False)


@pytest.mark.parametrize("inside", [False, True], ids=["inputs", "activations"])
@pytest.mark.parametrize("mix", MIXING)
def test_one_example_moves_the_sum_by_one_bound(mix, inside):
    assert how_far_one_example_moves_the_sum(lambda: Mixed(mix, inside=inside)) <= ONE


@pytest.mark.parametrize("mix", MIXING)
def test_the_attack_succeeds_against_the_old_behaviour(mix, monkeypatch):
    plant_the_old_behaviour(monkeypatch)
    made = [partial(Mixed, mix, inside=inside) for inside in (False, True)]
    assert any(how_far_one_example_moves_the_sum(make) > MANY for make in made)


def masks_by_a_seed_that_is_put_back(x):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return x * torch.rand(len(x), 1)


def shared_by_python(x):
    return x * random.random()


def shared_by_numpy(x):
    return x * float(np.random.rand())


def parts_of_complex_numbers(x):
    return x * torch.view_as_real(torch.full(((len(x) + 1) // 2,), 1 + 9j)).reshape(-1)[: len(x), None]


def memory_that_is_written_twice(x):
    places = torch.zeros(len(x))
    places.as_strided((2, len(x) // 2), (1, 1)).add_(5.0)
    return x * places[:, None]


@pytest.mark.parametrize(
    ("mix", "methods"),
    [
        (masks_by_a_seed_that_is_put_back, {"one by one"}),  # all at once, places would decide
        (shared_by_python, {"one by one"}),
        (shared_by_numpy, {"one by one"}),
        (parts_of_complex_numbers, {"vmap", "one by one"}),
        (memory_that_is_written_twice, {"vmap", "one by one"}),
    ],
)
def test_places_and_shared_draws_are_not_taken_for_an_examples_own(mix, methods):
    assert methods_of(mix) <= methods


def test_shared_draws_would_be_taken_without_a_look_at_other_generators(monkeypatch):
    monkeypatch.setattr(passes, "read_other_generators", lambda: ())
    assert methods_of(shared_by_python) == {"batched rule"}
