"""Training as a plan: what it costs, what it stores, and that it goes on where it stopped."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.accounting import Approximate, GaussianNoise, Repeated, Subsampled, epsilon
from discreet.core import DiscreetError, InvalidInput, Neighbours, PrivacyUnit, WrongType
from discreet.gate import Budget, Gate, Ledger
from discreet.noise import SYSTEM, rounded_gaussian
from scripted import Seeded

torch = pytest.importorskip("torch")

from discreet.learn.torch import (  # noqa: E402
    AdaptiveClip,
    Geometric,
    Linear,
    PrivateModel,
    Training,
    dpsgd,
)
from discreet.learn.torch import dpsgd as gradient_noise  # noqa: E402
from discreet.learn.torch.dpsgd import (  # noqa: E402
    add_noise,
    add_rounded_gaussian,
    take_private_step,
)
from discreet.learn.torch.examples import Examples  # noqa: E402
from discreet.learn.torch.poisson_sampling import sample_batch, split_batch  # noqa: E402
from discreet.learn.torch.states import ITERATIONS, capture_state, restore_state  # noqa: E402
from discreet.learn.torch.step_settings import share_noise  # noqa: E402

torch.set_num_threads(1)  # so small a step is slower on two
nn = torch.nn
LOSS = nn.CrossEntropyLoss(reduction="none")
#: How often a test of a distribution may fail by chance.
RARELY = 1e-7


def network():
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3))


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def examples(count=60, seed=0):
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, 4, generator=generator)
    return inputs, torch.randint(0, 3, (count,), generator=generator)


def training(**settings):
    plain = {
        "model": network,
        "loss": LOSS,
        "optimiser": sgd,
        "examples": 60,
        "batch_size": 20,
        "delta": 1e-5,
        "microbatch_size": 16,
    }
    if not {"epsilon", "noise_multiplier", "epochs", "iterations"} & settings.keys():
        settings |= {"noise_multiplier": 2, "iterations": 9}
    return Training(**{**plain, **settings})


def reader(data):
    return lambda places: Examples(example=None, collate=None).take(data, places, None)


def sum_batch(model, loss, data, batch, settings, bounds):
    return dpsgd.sum_batch(model, loss, reader(data), batch, settings=settings, bounds=bounds, entropy=SYSTEM)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "ledger", Budget(1000, 1e-3), title="t", anchors=[]) as opened:
        yield opened


# Noise.


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_noise_is_added_to_every_array_and_place(kind):
    totals = [np.full(size, 7, kind) for size in (70_000, 0, 3, 150_000, 1)]
    add_rounded_gaussian(totals, Fraction(1000), Seeded(5))
    drawn = rounded_gaussian(1000, sum(map(len, totals)), entropy=Seeded(5))
    assert np.array_equal(np.concatenate(totals), 7 + drawn)
    assert abs(drawn.std() - 1000) < 10  # six deviations of it


def test_noise_that_floats_do_not_hold_is_added_before_it_is_rounded():
    """Or the sum would tell more than the sum of integers does."""
    total, rest = np.full(3, 5, np.float32), np.array([(1 << 24) + 1, 3, -(1 << 25) - 7])
    gradient_noise._add(total, slice(None), rest)
    assert total.tolist() == [float(np.float32((1 << 24) + 6)), 8.0, float(np.float32(-(1 << 25) - 2))]
    naive = np.full(3, 5, np.float32) + rest.astype(np.float32)
    assert total.tolist() != naive.tolist()


def test_noise_beyond_all_floats_is_held_and_no_draw_fails():
    most = 1 << 53
    total = np.array([-5.0, 5.0, 0.0])
    gradient_noise._add(total, slice(None), np.array([most + 1, -most - 7, 3]))
    assert total.tolist() == [most - 4, -most, 3.0]


@pytest.mark.parametrize(
    "total",
    [np.zeros((1, 5)), np.zeros((3, 3)), np.zeros(4, np.float16), np.zeros(4, np.int32), np.zeros(4, ">f4")],
    ids=repr,
)
def test_noise_is_added_only_where_every_number_gets_its_own_and_holds_it(total):
    with pytest.raises(WrongType, match="one-dimensional"):
        add_rounded_gaussian([total], Fraction(1000), SYSTEM)


@pytest.mark.parametrize("sums", ["exact", "float"])
def test_the_noise_on_an_empty_batch_is_sigma_times_the_bound(sums):
    wide = Training(
        model=lambda: nn.Linear(4000, 5), loss=LOSS, optimiser=sgd, examples=10**12, batch_size=1,
        clip=0.25, noise_multiplier=3, iterations=1,
        delta=1e-5, sums=sums, groups=[["weight"], ["bias"]], group_noise=[1, 2],
    )  # fmt: skip
    model = PrivateModel(wide.network, groups=wide.groups)
    data = (torch.ones(2, 4000), torch.zeros(2, dtype=torch.int64))
    bounds = wide.segments[0].bounds
    take_private_step(
        model,
        LOSS,
        reader(data),
        2,
        settings=wide.step_settings,
        bounds=bounds,
        noise_multiplier=Fraction(3),
        entropy=SYSTEM,
    )
    spread = model.parameters[0][1].grad.std().item()
    # 20,000 coordinates: the standard deviation is known to half a per cent.
    assert spread == pytest.approx(3 * 0.25 * float(wide.step_settings.noise_ratios[0]), rel=0.03)


def test_the_noise_of_all_groups_together_costs_what_one_would():
    for weights in ([1], [1, 1], [1, 2, 5]):
        total = sum(1 / ratio**2 for ratio in share_noise([Fraction(one) for one in weights]))
        assert 1 - Fraction(1, 10**9) < total <= 1


# Sums.


@pytest.mark.parametrize("groups", [None, [["0.weight", "2.bias"], ["0.bias", "2.weight"]]])
def test_one_example_moves_the_exact_sum_of_a_lot_by_no_more_than_the_bound(groups):
    plan = training(groups=groups, clip=0.3)
    model, data = PrivateModel(plan.network, groups=groups), examples(40)
    data[0][3] *= 1e4
    bounds = plan.segments[0].bounds
    everybody = np.arange(40)
    whole = sum_batch(model, LOSS, data, everybody, plan.step_settings, bounds)
    for who in (0, 3, 17, 39):
        less = sum_batch(model, LOSS, data, np.delete(everybody, who), plan.step_settings, bounds)
        for group in dpsgd.group_indices(model):
            moved = sum(int(((whole.sums[place] - less.sums[place]) ** 2).sum()) for place in group)
            assert 0 < moved <= plan.step_settings.grid_steps**2


def test_sums_of_a_lot_are_those_of_a_loop_over_examples():
    plan = training(clip=0.3)
    model, (inputs, targets) = PrivateModel(plan.network), examples(20)
    found = sum_batch(model, LOSS, (inputs, targets), np.arange(20), plan.step_settings, (Fraction(3, 10),))
    expected = [torch.zeros_like(one) for _, one in model.parameters]
    for x, y in zip(inputs, targets, strict=True):
        loss = nn.functional.cross_entropy(plan.network(x[None]), y[None])
        gradients = torch.autograd.grad(loss, [one for _, one in model.parameters])
        norm_of = torch.sqrt(sum((one**2).sum() for one in gradients))
        for total, one in zip(expected, gradients, strict=True):
            total.add_(one * min(1.0, 0.3 / norm_of.item()))
    for total, one in zip(expected, found.sums, strict=True):
        # Each of 20 gradients is off by less than one per cent of the bound, by rounding.
        assert torch.linalg.norm(one * 0.3 / plan.step_settings.grid_steps - total) < 20 * 0.01 * 0.3
    assert found.count == 20


def test_float_sums_lie_on_the_same_grid():
    exact, floats = training(), training(sums="float")
    bounds, data, model = exact.segments[0].bounds, examples(), PrivateModel(exact.network)
    pairs = [sum_batch(model, LOSS, data, np.arange(30), one.step_settings, bounds).sums for one in (exact, floats)]
    assert all(
        (a - b).double().norm() < 30 * 0.01 * exact.step_settings.grid_steps for a, b in zip(*pairs, strict=True)
    )


def test_what_an_example_adds_does_not_depend_on_its_row_or_on_others():
    plan = training(clip=0.3, microbatch_size=64)
    model, data = PrivateModel(plan.network), examples(64)
    bounds = plan.segments[0].bounds
    ordered = sum_batch(model, LOSS, data, np.arange(64), plan.step_settings, bounds)
    mixed = sum_batch(model, LOSS, data, np.random.default_rng(3).permutation(64), plan.step_settings, bounds)
    assert all(torch.equal(a, b) for a, b in zip(ordered.sums, mixed.sums, strict=True))


def test_sums_without_noise_are_not_shown():
    plan = training()
    found = sum_batch(
        PrivateModel(plan.network), LOSS, examples(), np.arange(9), plan.step_settings, plan.segments[0].bounds
    )
    assert repr(found) == "BatchTotal(…)"


# Poisson sampling.


def test_every_example_is_in_a_batch_by_a_coin_of_its_own():
    batches = np.zeros((3000, 5))
    for batch in batches:
        batch[sample_batch(5, Fraction(3, 10), SYSTEM)] = 1
    # 15,000 coins of 0.3: five standard deviations are 0.019; pairs are independent to 0.019 of their product's 0.09.
    assert abs(batches.mean() - 0.3) < 0.019
    together = batches.T @ batches / len(batches)
    assert np.abs(together[~np.eye(5, dtype=bool)] - 0.09).max() < 0.032


def test_microbatches_have_one_shape_and_count_every_index_once():
    batch = np.array([3, 5, 8, 13, 21])
    microbatches = list(split_batch(batch, 3))
    assert [len(indices) for indices, _ in microbatches] == [3, 3]
    assert np.concatenate([some[counted.numpy()] for some, counted in microbatches]).tolist() == batch.tolist()
    assert list(split_batch(batch[:0], 3)) == []


# Prices.


def test_the_price_is_that_of_the_batches_that_are_sampled():
    assert training().cost == Repeated(Subsampled(GaussianNoise(2), Fraction(1, 3)), 9)


def test_noise_is_found_for_an_epsilon_and_the_plan_keeps_it():
    plan = training(epsilon=2, epochs=4)
    assert 1.99 < plan.guarantee.epsilon <= 2
    assert plan.epsilon_after(0) == 0 < plan.epsilon_after(1) < plan.epsilon_after(4) == plan.guarantee.epsilon


def test_training_that_stops_at_a_budget_knows_its_end_beforehand():
    plan = training(epsilon=2, noise_multiplier=3)
    iterations = sum(one.iterations for one in plan.segments)
    part = Subsampled(GaussianNoise(3), Fraction(1, 3))
    assert epsilon(Repeated(part, iterations), 1e-5) <= 2 < epsilon(Repeated(part, iterations + 1), 1e-5)


def test_noise_that_varies_is_priced_segment_by_segment_and_kept_in_proportion():
    plan = training(noise_multiplier=[2, 4, 2], iterations=9)
    assert {(part.part.part.sigma, part.times) for part in plan.cost.parts} == {(2, 6), (4, 3)}
    assert [one.noise_multiplier for one in training(noise_multiplier=Linear(1, 2), iterations=9).segments] == [
        1,
        Fraction(3, 2),
        2,
    ]
    assert [float(one.bounds[0]) for one in training(clip=Geometric(4, 1)).segments] == [4, 2, 1]


def test_a_sentence_can_be_paid_instead_of_a_loss():
    plan = training(epsilon=2, iterations=9, bill="sentence")
    assert plan.cost == Approximate(Fraction(plan.guarantee.epsilon), 1e-5)


@pytest.mark.parametrize("groups", [1, 3])
def test_counting_who_is_within_is_paid_from_the_same_noise(groups):
    clip, noise = AdaptiveClip(count_noise=20), Fraction(2)
    left = clip.gradient_noise(noise, 100, groups)
    assert left > noise
    total = 1 / left**2 + groups / clip.counts_sigma(100) ** 2
    assert (1 - Fraction(1, 10**6)) / noise**2 < total <= 1 / noise**2


def test_counts_that_cannot_be_paid_for_are_refused_before_anything_is_paid():
    with pytest.raises(InvalidInput, match="within the bound"):
        training(clip=AdaptiveClip(count_noise=0.6))


def test_an_adaptive_bound_goes_to_the_quantile_and_costs_no_more():
    plan = training(
        clip=AdaptiveClip(start=50, rate=1, count_noise=5), batch_size=60, noise_multiplier=2, iterations=10
    )
    assert plan.cost == Repeated(Subsampled(GaussianNoise(2), 1), 10)
    state = plan.run_step(examples(), SYSTEM, 0, [])
    for step in range(1, 10):
        state = plan.run_step(examples(), SYSTEM, step, [*[None] * (step - 1), state])
    assert 0.01 < state["bounds"][0] < 10


# The plan.


def test_two_trainings_are_the_same_question_only_if_all_of_their_settings_are():
    def other(outputs, targets):
        return 2 * LOSS(outputs, targets)

    same, different = training().canonical(), [
        training(loss=other), training(clip=2), training(seed=1), training(sums="float"), training(style="automatic"),
        training(optimiser=lambda p: torch.optim.SGD(p, lr=0.2, momentum=0.9)),
        training(noise_multiplier=3, iterations=9),
    ]  # fmt: skip
    assert training().canonical() == same
    assert len({same, *(one.canonical() for one in different)}) == 8


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"clip": AdaptiveClip(count_noise=8)},
        {"style": "automatic", "sums": "float"},
        {"groups": [["0.weight", "0.bias"], ["2.weight", "2.bias"]], "clip": (1, [3, 2, 1])},
        {"optimiser": torch.optim.Adam, "lr_scheduler": lambda one: torch.optim.lr_scheduler.StepLR(one, 2)},
    ],
)
def test_a_model_comes_with_its_receipt_and_guarantee(ledger, settings):
    plan, seen = training(**settings), []
    trained = plan.fit(Gate(ledger, examples()), progress=lambda done, of: seen.append((done, of)))
    assert trained.iterations == 9
    assert trained.cost == trained.receipt.cost == plan.cost
    assert trained.guarantee == plan.guarantee
    assert seen == [(1, 3), (2, 3), (3, 3)]
    assert trained.model(examples()[0]).shape == (60, 3)
    assert ("floats: the bound" in trained.note) == (plan.sums == "float")


def test_training_learns_when_there_is_little_noise(ledger):
    inputs, _ = examples(200)
    targets = (inputs[:, 0] > 0).long()
    plan = training(examples=200, batch_size=50, noise_multiplier=0.5, iterations=40, checkpoint_every=40)
    model = plan.fit(Gate(ledger, (inputs, targets))).model
    assert (model(inputs).argmax(1) == targets).float().mean() > 0.9


def test_a_run_that_stops_goes_on_from_the_last_stored_state_and_pays_once(ledger, monkeypatch):
    stops, calls = [5], []

    def stopping(*args, **settings):
        calls.append(len(calls))
        if len(calls) in stops:
            raise KeyboardInterrupt
        return take_private_step(*args, **settings)

    monkeypatch.setattr("discreet.learn.torch.training.take_private_step", stopping)
    plan = training(batch_size=60, microbatch_size=60)
    with pytest.raises(KeyboardInterrupt):
        plan.fit(Gate(ledger, examples()))
    left = ledger.left
    # A new plan of the same settings, as another process would make.
    assert plan.fit(Gate(ledger, examples())).iterations == 9
    assert ledger.left == left
    # Four iterations ran before the stop; each is a segment of its own, since 60 of 60 examples are one epoch.
    assert plan.checkpoints == plan.steps == 9
    assert len(calls) == 10


def test_a_state_holds_all_that_the_optimiser_and_the_scheduler_remember():
    data = examples()
    plan = training(
        optimiser=torch.optim.Adam, lr_scheduler=lambda one: torch.optim.lr_scheduler.CosineAnnealingLR(one, 9)
    )
    state = plan.run_step(data, SYSTEM, 0, [])
    model = network()
    optimiser = torch.optim.Adam(model.parameters())
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 9)
    restore_state(state, model, optimiser, scheduler)
    again = capture_state(model, optimiser, scheduler, tuple(state["bounds"]), state[ITERATIONS])
    assert repr(again) == repr(state)
    assert optimiser.state_dict()["state"][0]["step"] == 3
    assert scheduler.last_epoch == 3


def test_a_state_holds_trained_weights_only():
    """And one that holds more, of an earlier version, gives back no more."""
    plan = training(model=TwoInputs)
    data = (torch.arange(60) % 5, *examples())
    state = plan.run_step(data, SYSTEM, 0, [])
    assert list(state["weights"]) == ["layer.weight", "layer.bias"]
    state["weights"]["words.weight"] = np.full((5, 3), 12345.678, np.float32)
    assert torch.equal(plan.load_model(state).words.weight, plan.network.words.weight)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e30])
@pytest.mark.parametrize("sums", ["exact", "float"])
def test_an_example_that_is_not_finite_adds_nothing_and_takes_nothing_from_others(value, sums):
    plan, (inputs, targets) = training(batch_size=60, sums=sums), examples(16)
    model, bounds = PrivateModel(plan.network), plan.segments[0].bounds
    others = np.delete(np.arange(16), 7)
    without = sum_batch(model, LOSS, (inputs, targets), others, plan.step_settings, bounds)
    inputs[7] = value
    found = sum_batch(model, LOSS, (inputs, targets), np.arange(16), plan.step_settings, bounds)
    if sums == "exact":
        assert all(torch.equal(a, b) for a, b in zip(found.sums, without.sums, strict=True))
    else:
        assert all(torch.allclose(a, b, atol=2) for a, b in zip(found.sums, without.sums, strict=True))
    assert found.within == without.within


@pytest.mark.parametrize("count", [0, 1])
def test_how_many_examples_there_are_is_never_refused(ledger, count):
    inputs, targets = examples(count + 1)
    assert training().fit(Gate(ledger, (inputs[:count], targets))).iterations == 9


def test_a_dataset_of_pairs_is_read_too(ledger):
    assert training().fit(Gate(ledger, torch.utils.data.TensorDataset(*examples()))).iterations == 9


class TwoInputs(nn.Module):
    """Words and numbers; the words' meaning is frozen."""

    def __init__(self):
        super().__init__()
        self.words, self.layer = nn.Embedding(5, 3), nn.Linear(7, 3)
        self.words.requires_grad_(requires_grad=False)

    def forward(self, words, numbers):
        return self.layer(torch.cat([self.words(words), numbers], 1))


@pytest.mark.parametrize("wrap", [tuple, lambda parts: torch.utils.data.TensorDataset(*parts)])
def test_models_with_several_inputs_and_frozen_layers_are_trained(ledger, wrap):
    numbers, targets = examples()
    words = torch.arange(60) % 5
    plan = training(model=TwoInputs, loss=lambda outputs, right: LOSS(outputs, right) + 0.1 * outputs.square().sum(1))
    model = plan.fit(Gate(ledger, wrap((words, numbers, targets)))).model
    assert torch.equal(model.words.weight, plan.network.words.weight)
    assert not torch.equal(model.layer.weight, plan.network.layer.weight)


def test_an_optimiser_that_is_made_already_and_a_loss_that_adds_up_are_refused_before_anything_is_paid():
    with pytest.raises(WrongType, match="must be a function"):
        training(optimiser=torch.optim.SGD(nn.Linear(2, 2).parameters(), lr=1))
    with pytest.raises(InvalidInput, match="summed or averaged"):
        training(loss=nn.CrossEntropyLoss())


def test_a_setting_that_a_loss_does_not_show_makes_another_training():
    smooth = nn.CrossEntropyLoss(reduction="none", label_smoothing=0.1)
    assert repr(smooth) == repr(LOSS)
    assert training(loss=smooth).canonical() != training(loss=LOSS).canonical()
    assert training(loss=LOSS).canonical() == training(loss=nn.CrossEntropyLoss(reduction="none")).canonical()


def test_layers_that_mix_examples_are_refused_before_anything_is_paid():
    with pytest.raises(DiscreetError, match="BatchNorm"):
        training(model=lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)))


class Standardised(nn.Module):
    """Mixes examples before the first layer, where no gradient flows."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, inputs):
        return self.layer(inputs - inputs.mean(0))


class Remembering(nn.Module):
    """Keeps the mean of the first batch that it sees."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.register_buffer("mean", torch.full((1,), torch.nan))

    def forward(self, inputs):
        if self.mean.isnan().any():
            self.mean.copy_(inputs.mean())
        return self.layer(inputs - self.mean)


def test_a_buffer_that_is_set_by_the_first_batch_is_found():
    plan = training(model=Remembering)
    with pytest.raises(InvalidInput, match="changed the buffer"):
        plan.check(examples())
    with pytest.raises(InvalidInput, match="changed the buffer"):
        plan.run_step(examples(), SYSTEM, 0, [])


def test_inputs_that_are_mixed_before_the_first_layer_are_done_one_example_at_a_time():
    plan = training(model=Standardised, batch_size=60)
    model = PrivateModel(plan.network)
    total = sum_batch(model, LOSS, examples(), np.arange(60), plan.step_settings, plan.segments[0].bounds)
    assert not total.sums[0].any()  # an example less the mean of itself is zero
    assert set(plan.gradient_methods(examples()).values()) == {"vmap"}


def test_a_rehearsal_on_made_up_examples_finds_what_would_fail_after_the_payment():
    made_up = examples(8, seed=5)
    assert training(model=lambda: nn.Sequential(nn.Dropout(), nn.Linear(4, 3))).rehearse(made_up) is None
    with pytest.raises(InvalidInput, match="each example"):
        training(loss=nn.functional.cross_entropy).rehearse(made_up)
    with pytest.raises(InvalidInput, match="no examples"):
        training().rehearse((made_up[0], made_up[1][:0]))


@pytest.mark.parametrize(
    "settings",
    [
        {"optimiser": torch.optim.LBFGS},
        {"optimiser": torch.optim.SparseAdam},
        {"lr_scheduler": torch.optim.lr_scheduler.ReduceLROnPlateau},
    ],
)
def test_an_optimiser_that_needs_more_than_gradients_is_refused_before_anything_is_paid(settings):
    with pytest.raises(InvalidInput, match="take a step"):
        training(**settings)


def test_a_ledger_that_protects_persons_asks_for_one_example_each(tmp_path):
    unit = PrivacyUnit(column="patient")
    with Ledger.create(tmp_path / "persons", Budget(1000, 1e-3, unit=unit), title="t", anchors=[]) as persons:
        with pytest.raises(InvalidInput, match="protects"):
            training().fit(Gate(persons, examples()))
        assert training(one_row_each=True).fit(Gate(persons, examples())).iterations == 9


def test_a_ledger_of_replaced_rows_is_refused(tmp_path):
    unit = PrivacyUnit(neighbours=Neighbours.REPLACE)
    with (
        Ledger.create(tmp_path / "replaced", Budget(1000, 1e-3, unit=unit), title="t", anchors=[]) as other,
        pytest.raises(InvalidInput, match="replaced"),
    ):
        training().fit(Gate(other, examples()))


@pytest.mark.parametrize(
    "settings",
    [
        {"sampling": "shuffled"},
        {"epsilon": 1, "noise_multiplier": 1, "epochs": 1},
        {"epsilon": 1},
        {"batch_size": 61},
        {"sums": "fast"},
        {"style": "none"},
        {"clip": (1, 2)},
        {"clip": [1, 2]},
        {"clip": "1"},
        {"noise_multiplier": 2, "iterations": 3, "epochs": 1},
        {"group_noise": [1, 2]},
        {"model": 3},
        {"model": lambda: 3},
        {"delta": 1},
    ],
)
def test_wrong_settings_are_refused_with_a_fix(settings):
    with pytest.raises(DiscreetError) as refused:
        training(**settings)
    assert refused.value.fix


def test_a_loss_that_is_one_number_for_all_is_refused(ledger):
    plan = training(loss=nn.functional.cross_entropy)
    with pytest.raises(InvalidInput, match="each example"):
        plan.run_step(examples(), SYSTEM, 0, [])
    with pytest.raises(WrongType):
        plan.fit("gate")


def test_masks_of_dropout_are_not_those_of_the_last_batch():
    plan = training(model=lambda: nn.Sequential(nn.Dropout(0.5), nn.Linear(4, 3)))
    before = torch.random.get_rng_state()
    plan.run_step(examples(), SYSTEM, 0, [])
    assert torch.equal(torch.random.get_rng_state(), before)


def test_noise_is_added_to_every_parameter():
    plan = training()
    model = PrivateModel(plan.network)
    total = sum_batch(model, LOSS, examples(), np.arange(0), plan.step_settings, plan.segments[0].bounds)
    add_noise(model, total, plan.step_settings, Fraction(2), SYSTEM)
    assert all((one != 0).float().mean() > 0.9 for one in total.sums)
