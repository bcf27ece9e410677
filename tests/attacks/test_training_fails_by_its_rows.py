"""Attack: learn that an example is there from whether training fails, and get a second draw of noise for nothing.

A loss that is infinite, a label out of range, an example of another shape used to end a paid run; a run that ended was
run again. Training on a Poisson loss failed 1.72 times with one example and 0.83 times without it.
"""

import numpy as np
import pytest

from discreet.core import DiscreetError
from discreet.gate import Budget, Gate, Ledger
from discreet.noise import SYSTEM

torch = pytest.importorskip("torch")

from discreet.learn import PrivateSelection  # noqa: E402
from discreet.learn.torch import AdaptiveClip, PrivateModel, Training  # noqa: E402
from discreet.learn.torch.dpsgd import sum_batch  # noqa: E402
from discreet.learn.torch.examples import Examples, form_of  # noqa: E402

torch.set_num_threads(1)
nn = torch.nn
LOSS = nn.CrossEntropyLoss(reduction="none")


def planned(**settings):
    plain = {"model": lambda: nn.Linear(3, 2), "loss": LOSS, "optimiser": lambda w: torch.optim.SGD(w, lr=1.0)}
    plain |= {
        "examples": 12,
        "batch_size": 12,
        "noise_multiplier": 2,
        "iterations": 3,
        "delta": 1e-5,
        "microbatch_size": 4,
    }
    return Training(**{**plain, **settings})


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "ledger", Budget(10**6, 1e-3), title="t", anchors=[]) as opened:
        yield opened


def count_failures(ledger, plan, data, runs=4):
    """Train again and again, and return how often it failed."""
    failed = 0
    for run in range(runs):
        try:
            plan.fit(Gate(ledger, data), request=f"run {ledger.left} {run}")
        except DiscreetError:
            failed += 1
    return failed


def poisson_data(count, *, extreme):
    inputs = torch.rand(count, 3, generator=torch.Generator().manual_seed(1))
    targets = torch.ones(count)
    if extreme:
        inputs[0], targets[0] = 60.0, 1e30
    return inputs, targets


@pytest.mark.parametrize("extreme", [True, False])
def test_a_poisson_loss_never_fails(ledger, extreme):
    """Its exponential overflows for large inputs, or for weights that noise drove far."""

    def loss(outputs, targets):
        return nn.functional.poisson_nll_loss(outputs[:, 0], targets, reduction="none")

    plan = planned(loss=loss, optimiser=lambda w: torch.optim.SGD(w, lr=100.0), noise_multiplier=20, checkpoint_every=1)
    assert count_failures(ledger, plan, poisson_data(12, extreme=extreme)) == 0


class Refusing(nn.Module):
    """Raises an error for some rows; its second layer has no rule, so that all examples share a graph."""

    def __init__(self, *, odd=False):
        super().__init__()
        self.layer, self.scale = nn.Linear(3, 2), nn.Parameter(torch.ones(3), requires_grad=odd)

    def forward(self, rows):
        if (rows == 77).any():
            raise ValueError("row of Ada Lovelace")
        return self.layer(rows * self.scale)


def break_input(inputs, _targets):
    inputs[5] = 77


class Leaving(Refusing):
    """Ends the process, or would, for some rows."""

    def forward(self, rows):
        if (rows == 77).any():
            raise SystemExit(3)
        return super().forward(rows)


def break_label(_inputs, targets):
    targets[5] = 9


def overflow(inputs, _targets):
    inputs[5] = torch.inf


def not_a_number(inputs, _targets):
    inputs[5] = torch.nan


BREAKS = [break_input, break_label, overflow, not_a_number]


def classified(breaking=None):
    inputs = torch.rand(12, 3, generator=torch.Generator().manual_seed(2))
    targets = torch.arange(12) % 2
    if breaking is not None:
        breaking(inputs, targets)
    return inputs, targets


@pytest.mark.parametrize("breaking", BREAKS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("sums", ["exact", "float"])
def test_a_row_that_fails_adds_nothing_and_takes_nothing_from_others(breaking, odd, sums):
    torch.manual_seed(0)
    plan = planned(model=Refusing(odd=odd), sums=sums)
    plan.check(classified())
    model, bounds = PrivateModel(plan.network), plan.segments[0].bounds

    def total(data, batch):
        reader = Examples(example=None, collate=None)
        read = lambda places: reader.take(data, places, None)  # noqa: E731
        return sum_batch(model, LOSS, read, batch, settings=plan.step_settings, bounds=bounds, entropy=SYSTEM)

    without = total(classified(), np.delete(np.arange(12), 5))
    found = total(classified(breaking), np.arange(12))
    for one, other in zip(without.sums, found.sums, strict=True):
        assert torch.equal(one, other) if sums == "exact" else torch.allclose(one.double(), other.double(), atol=12)
    assert without.within == found.within


@pytest.mark.parametrize("breaking", BREAKS, ids=lambda one: one.__name__)
def test_a_row_that_fails_does_not_fail_the_run(ledger, breaking):
    assert count_failures(ledger, planned(model=Refusing()), classified(breaking), runs=1) == 0


def test_a_row_that_ends_the_process_does_not_fail_the_run(ledger):
    assert count_failures(ledger, planned(model=Leaving()), classified(break_input), runs=1) == 0


def summed(plan, data, batch):
    """Return the sums of some examples of a dataset."""
    read = Examples(example=plan.example, collate=plan.collate)
    form = form_of(read.make_up(data, plan.microbatch_size, 0))
    return sum_batch(
        PrivateModel(plan.network), LOSS, lambda places: read.take(data, places, form), np.array(batch),
        settings=plan.step_settings, bounds=plan.segments[0].bounds, entropy=SYSTEM,
    ).sums  # fmt: skip


def test_a_collate_that_mixes_examples_sees_one_at_a_time():
    """Such as one that subtracts the mean of the batch, before anything is recorded."""

    def centred(examples):
        inputs = torch.stack([one for one, _ in examples])
        return inputs / inputs.max(), torch.tensor([label for _, label in examples])

    torch.manual_seed(0)
    plan = planned(example=(torch.rand(3), 0), collate=centred)
    rows = [(torch.rand(3), which % 2) for which in range(4)]
    rows[3] = torch.full((3,), 1e6), 1
    alone, company = summed(plan, rows, [0, 1, 2]), summed(plan, rows, [0, 1, 2, 3])
    last = summed(plan, rows, [3])
    assert all(torch.equal(a.double() + b, c.double()) for a, b, c in zip(alone, last, company, strict=True))


def test_whether_an_odd_example_counts_depends_on_no_other_example():
    """Together with integers a truth value becomes one; alone it does not."""
    plan = planned(example=(torch.rand(3), 0))
    rows = [(torch.rand(3), 1), (torch.rand(3), True)]
    assert all((one == 0).all() for one in summed(plan, rows, [1]))
    pairs = zip(summed(plan, rows, [0]), summed(plan, rows, [0, 1]), strict=True)
    assert all(torch.equal(one.double(), other.double()) for one, other in pairs)


class Ragged(torch.utils.data.Dataset):
    """Examples of which one has another shape, one another kind of number, and one cannot be read."""

    def __len__(self):
        return 12

    def __getitem__(self, which):
        match which:
            case 3:
                return torch.rand(4), 0
            case 4:
                return torch.rand(3, dtype=torch.float64), 0
            case 5:
                raise OSError("Ada's file is broken")
            case 6:
                return torch.rand(3), 0.5
            case _:
                return torch.rand(3), which % 2


def test_an_example_of_another_form_does_not_fail_the_run(ledger):
    plan = planned(example=(torch.rand(3), 0))
    assert count_failures(ledger, plan, Ragged(), runs=1) == 0


@pytest.mark.parametrize("exponent", [1e3, 1e6])
def test_a_bound_that_moves_fast_never_overflows(ledger, exponent):
    plan = planned(
        clip=AdaptiveClip(rate=exponent, count_noise=8), checkpoint_every=1, noise_multiplier=2, iterations=4
    )
    assert count_failures(ledger, plan, classified(), runs=1) == 0


def test_an_optimiser_that_fails_by_the_draw_does_not_fail_the_run(ledger):
    class Picky(torch.optim.SGD):
        def step(self, closure=None):
            if self.param_groups[0]["params"][0].grad.abs().max() > 0.05:
                raise RuntimeError("a gradient is too large")
            return super().step(closure)

    plan = planned(optimiser=lambda weights: Picky(weights, lr=0.1))
    assert count_failures(ledger, plan, classified()) == 0


@pytest.mark.parametrize("wrong", [ZeroDivisionError, DiscreetError, MemoryError, TypeError])
def test_a_score_that_raises_an_error_ranks_last_and_does_not_fail_the_selection(ledger, wrong):
    def score(which, _state):
        if which == 0:
            raise wrong("by the draw") if wrong is not DiscreetError else wrong("by the draw", fix="none")
        return 1.0

    candidates = [planned(noise_multiplier=8, iterations=1), planned(noise_multiplier=8, iterations=1, clip=2)]
    # Under other names, or the first answer would be handed out again.
    selections = [PrivateSelection(candidates=candidates, score=score, mean_runs=12, name=f"s{n}") for n in range(3)]
    chosen = [each.fit(Gate(ledger, classified())) for each in selections]
    assert all(one.which == 1 or one.score != one.score for one in chosen)
    assert any(one.which == 1 for one in chosen)
