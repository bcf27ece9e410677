"""The attack: a model in which one example's loss depends on others moves the sum of clipped gradients by many bounds.

The attacker writes the model, and knows all examples but one. Clipping bounds what each example adds if its gradient is
its own; where it is not, leaving out one example changes what all others add. For each model the sum of a batch is
compared with that of the batch without one example: it may move by one bound.
"""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from discreet.learn.torch import Clipping, PrivateModel  # noqa: E402
from discreet.learn.torch.dpsgd import sum_batch  # noqa: E402
from discreet.learn.torch.examples import Examples  # noqa: E402
from discreet.learn.torch.per_example.axis_tracking import AxisTracking  # noqa: E402
from discreet.learn.torch.per_example.example_axes import FIRST, MemoryOwners, Operand, Owner  # noqa: E402
from discreet.learn.torch.step_settings import StepSettings  # noqa: E402
from discreet.noise import SYSTEM  # noqa: E402

torch.set_num_threads(1)
MICROBATCH, BATCH, WIDTH, CLASSES = 8, 24, 6, 3
SETTINGS = StepSettings(
    sampling_rate=Fraction(1), batch_size=BATCH, microbatch_size=MICROBATCH, grid_steps=1 << 16,
    noise_ratios=(Fraction(1),), style="clip", sums="exact",
    adaptive=None,
)  # fmt: skip
#: One bound, and a part in a thousand for the last digits of floats.
ONE = 1.001
#: Far above it.
MANY = 1.4


def first_added(x):
    return x + x[:1]


def scaled_by_the_largest(x):
    return x / x.abs().max()


def between_least_and_largest(x):
    least, largest = x.min(0).values, x.max(0).values
    return (x - least) / (largest - least + 1e-3)


def reversed_order(x):
    return x + x.flip(0)


def sorted_by_expert(x):
    order = (x[:, :2] @ torch.ones(2)).argsort()
    half = len(x) // 2
    halves = torch.cat([x[order][:half] * 5, x[order][half:] - 5])
    return halves[order.argsort()]


def experts_with_capacity(x):
    chosen = functional.softmax(x[:, :2], 1) > 0.5
    place = chosen.long().cumsum(0) - 1
    return x * ((place < 4) & chosen).any(1, keepdim=True)


def centred(x):
    return x - x.mean(0)


def standardised(x):
    return (x - x.mean(0)) / (x.var(0, correction=0) + 1e-3).sqrt()


def standardised_by_a_product(x):
    ones = torch.ones(1, len(x)) / len(x)
    return x - ones @ x


def attending_to_others(x):
    return functional.softmax(x @ x.t(), 1) @ x


def scaled_dot_products(x):
    return x + functional.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])[0, 0]


def distances(x):
    return x * torch.cdist(x, x).mean(1, keepdim=True)


def distances_by_broadcasting(x):
    return x * (x[:, None] - x[None]).square().sum(2).mean(1, keepdim=True)


def added_up(x):
    return x.cumsum(0)


def shifted(x):
    return x.roll(1, 0)


def folded(x):
    return x.view(2, -1, WIDTH).sum(0).repeat(2, 1) if len(x) > 1 else x


def read_across(x):
    return x.t().reshape(x.shape)


def strided(x):
    return x.as_strided(x.shape, (1, max(1, len(x) // 3))) if len(x) > 1 else x


def by_their_place(x):
    return x * torch.arange(len(x))[:, None]


def by_a_branch(x):
    return x * 3 if x.max() > 100 else x - 1


def by_a_number(x):
    return x * x.sum().item() * 1e-2


def by_a_list(x):
    return x * torch.tensor(x.tolist()).std(correction=0)


def by_an_array(x):
    return x - torch.from_numpy(x.detach().numpy().mean(0))


def by_a_tensor_of_tensors(x):
    return x * torch.tensor([x[-1, 0], x[0, 0]]).max()


def by_text(x):
    return x * (50 if "e+" in repr(x) else 1)


def by_a_mask(x):
    return x * len(x[x[:, 0] > 1])


def by_writing(x):
    other = x.clone()
    other[0] = x.max()
    return other + other[:1]


def by_writing_one_row_to_another(x):
    other = x.clone()
    other[-1] = other[0]
    return other


def by_data(x):
    other = x.clone()
    other.data[1:] = x[:-1]
    return other


def by_rows_in_a_loop(x):
    total = torch.zeros(WIDTH)
    found = []
    for row in x:
        total = total + row
        found.append(total)
    return torch.stack(found)


def by_scattering(x):
    return x + torch.zeros_like(x).index_add_(0, torch.zeros(len(x), dtype=torch.int64), x)[:1]


def by_group_norm_over_examples(x):
    return functional.layer_norm(x.t(), (len(x),)).t()


def by_pooling_over_examples(x):
    return functional.max_pool1d(x.t()[None], 3, 1, 1)[0].t()


def by_a_convolution_over_examples(x):
    return functional.conv1d(x.t()[:, None], torch.ones(1, 1, 3), padding=1)[:, 0].t()


class Backwards(torch.autograd.Function):
    """The identity, whose gradients are those of other examples."""

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return gradient.sum(0, keepdim=True).expand_as(gradient)


def by_gradients_that_are_mixed(x):
    return Backwards.apply(x)


def by_a_hook(x):
    found = x * 1
    if found.requires_grad:
        found.register_hook(lambda gradient: gradient.flip(0) * 3 + gradient.sum(0))
    return found


MIXING = [
    first_added, scaled_by_the_largest, between_least_and_largest, reversed_order, sorted_by_expert,
    experts_with_capacity, centred, standardised, standardised_by_a_product, attending_to_others, scaled_dot_products,
    distances, distances_by_broadcasting, added_up, shifted, folded, read_across, strided, by_their_place, by_a_branch,
    by_a_number, by_a_list, by_an_array, by_a_tensor_of_tensors, by_text, by_a_mask, by_writing,
    by_writing_one_row_to_another, by_data, by_rows_in_a_loop, by_scattering, by_group_norm_over_examples,
    by_pooling_over_examples, by_a_convolution_over_examples, by_gradients_that_are_mixed, by_a_hook,
]  # fmt: skip


class Mixed(nn.Module):
    """Mixes examples before, or between, two layers."""

    def __init__(self, mix, *, inside):
        super().__init__()
        self.mix, self.inside = mix, inside
        self.first, self.last = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, CLASSES)

    def forward(self, inputs):
        if self.inside:
            return self.last(self.mix(self.first(inputs)))
        return self.last(torch.tanh(self.first(self.mix(inputs))))


def plain_loss(outputs, targets):
    return functional.cross_entropy(outputs, targets, reduction="none")


def contrastive_loss(outputs, targets):
    return functional.cross_entropy(outputs @ outputs.t(), torch.arange(len(outputs)), reduction="none")


def loss_of_the_largest(outputs, targets):
    losses = plain_loss(outputs, targets)
    return losses * (outputs.detach().abs().max() < 50)


def ranked_loss(outputs, targets):
    losses = plain_loss(outputs, targets)
    return losses * (losses.argsort().argsort() > len(losses) // 2)


def made_examples():
    generator = torch.Generator().manual_seed(3)
    inputs = torch.randn(BATCH, WIDTH, generator=generator)
    inputs[5] *= 300
    inputs[0] *= 20
    return inputs, torch.randint(0, CLASSES, (BATCH,), generator=generator)


def how_far_one_example_moves_the_sum(make, loss=plain_loss):
    """Return by how many bounds the clipped sum of a batch moves when one of its examples is left out."""
    data, everybody = made_examples(), np.arange(BATCH)

    def read(places):
        return Examples(example=None, collate=None).take(data, places, None)

    def total(batch):
        torch.manual_seed(8)
        model = PrivateModel(make())
        return sum_batch(model, loss, read, batch, settings=SETTINGS, bounds=(Fraction(1),), entropy=SYSTEM).sums

    whole, far = total(everybody), 0.0
    for who in (0, 5):
        less = total(np.delete(everybody, who))
        moved = sum(float((a.double() - b.double()).square().sum()) for a, b in zip(whole, less, strict=True))
        far = max(far, moved**0.5 / SETTINGS.grid_steps)
    return far


class Counting(nn.Module):
    """Counts its passes, or the examples that it has seen, in attributes; a branch on values has it run one by one."""

    def __init__(self, keep):
        super().__init__()
        self.keep, self.kept = keep, []
        self.layer = nn.Linear(WIDTH, CLASSES)

    def forward(self, inputs):
        if inputs.isnan().any():
            return self.layer(inputs)
        self.kept.append(self.keep(inputs.detach()))
        return self.layer(inputs * sum(self.kept))


@pytest.mark.parametrize(
    "keep", [lambda inputs: 1.0, lambda inputs: inputs.max().item()], ids=["a counter", "the largest so far"]
)
def test_one_example_moves_the_sum_of_a_model_that_keeps_by_one_bound(keep):
    assert how_far_one_example_moves_the_sum(lambda: Counting(keep)) <= ONE


def plant_the_old_behaviour(monkeypatch):
    """Take whatever is as long as the batch for examples, and follow no operation."""

    def seen(owners, tensor):
        fits = tensor.ndim > 0 and len(tensor) == owners.examples
        return Operand(tensor, Owner.ROWS, FIRST) if fits else Operand(tensor, Owner.OUTSIDE)

    monkeypatch.setattr(MemoryOwners, "look_up", seen)
    monkeypatch.setattr(AxisTracking, "fail", lambda axes, problem: None)
    monkeypatch.setattr(
        AxisTracking, "__torch_dispatch__", lambda axes, func, types, args=(), kwargs=None: func(*args, **kwargs or {})
    )
    monkeypatch.setattr("discreet.learn.torch.per_example.passes._check_own_losses", lambda losses: None)


@pytest.mark.parametrize("inside", [False, True], ids=["inputs", "activations"])
@pytest.mark.parametrize("mix", MIXING)
def test_one_example_moves_the_sum_of_a_model_that_mixes_by_one_bound(mix, inside):
    assert how_far_one_example_moves_the_sum(lambda: Mixed(mix, inside=inside)) <= ONE


@pytest.mark.parametrize("mix", MIXING)
def test_the_attack_succeeds_against_the_old_behaviour(mix, monkeypatch):
    plant_the_old_behaviour(monkeypatch)
    made = [partial(Mixed, mix, inside=inside) for inside in (False, True)]
    assert any(how_far_one_example_moves_the_sum(make) > MANY for make in made)


@pytest.mark.parametrize("loss", [contrastive_loss, loss_of_the_largest, ranked_loss])
def test_one_example_moves_the_sum_of_a_loss_that_mixes_by_one_bound(loss, monkeypatch):
    def make():
        return nn.Linear(WIDTH, CLASSES)

    assert how_far_one_example_moves_the_sum(make, loss) <= ONE
    plant_the_old_behaviour(monkeypatch)
    assert how_far_one_example_moves_the_sum(make, loss) > MANY


def one_mask_for_all(x):
    return x * torch.rand(WIDTH)


def one_mask_that_is_spread(x):
    return x * torch.rand(1, WIDTH).expand(len(x), WIDTH)


def masks_of_a_permutation(x):
    return x * torch.randperm(len(x))[:, None]


def masks_by_a_seed(x):
    return x * torch.zeros(len(x), 1).uniform_(generator=torch.Generator().manual_seed(1))


def masks_by_a_seed_for_all(x):
    torch.manual_seed(1)
    return x * torch.rand(len(x), 1)


def masks_by_a_seed_for_the_next_pass(x):
    found = x * torch.rand(len(x), 1)
    torch.manual_seed(1)
    return found


def masks_by_a_table(x):
    return x * torch.bernoulli(torch.linspace(0, 1, len(x)))[:, None]


def memory_as_it_was(x):
    return x + torch.empty_like(x).flip(0)


class Memory:
    """Keeps the last batch where no module sees it."""

    def __init__(self):
        self.kept = torch.zeros(1)

    def __call__(self, x):
        found = x + self.kept.sum()
        if len(x) > 1:
            self.kept = x.detach().clone()
        return found


def methods_of(mix):
    """Return how gradients are found of a model that was run twice."""
    module, (inputs, targets) = Mixed(mix, inside=False), made_examples()
    model = PrivateModel(module)
    for _ in range(2):
        model.float_sums(
            lambda inputs, targets: plain_loss(module(inputs), targets), Clipping(bounds=(1,)), batch=(inputs, targets)
        )
    return set(model.gradient_methods().values())


@pytest.mark.parametrize(
    "mix",
    [
        one_mask_for_all, one_mask_that_is_spread, masks_of_a_permutation, masks_by_a_seed, masks_by_a_seed_for_all,
        masks_by_a_seed_for_the_next_pass, masks_by_a_table, memory_as_it_was, Memory(),
    ],
)  # fmt: skip
def test_what_examples_of_a_batch_share_is_not_taken_for_theirs(mix):
    """With one example less, others move to another batch or place, and would share something else."""
    assert not methods_of(mix) & {"batched rule"}


def own_masks(x):
    return functional.dropout(x, 0.5) * torch.rand(len(x), 1) + torch.zeros(len(x), WIDTH).bernoulli_(0.5)


def own_places(x):
    found = torch.zeros(len(x), WIDTH)
    found[:, 1:] = x[:, :-1]
    return found + x[torch.arange(len(x)), x.argmax(1)][:, None]


def positions(x):
    return x + nn.functional.embedding(torch.arange(WIDTH), torch.ones(WIDTH, 1)).t()


def squeezed(x):
    return (x.t()[None] * 2).transpose(1, 2)[0].reshape(-1, 2, 3).flatten(1).softmax(1)


@pytest.mark.parametrize("mix", [own_masks, own_places, positions, squeezed])
def test_code_that_keeps_examples_apart_goes_by_rules(mix):
    assert methods_of(mix) == {"batched rule"}
