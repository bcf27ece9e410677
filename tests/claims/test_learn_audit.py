"""Training is attacked by canaries: what is seen stays below what is claimed, and planted bugs are seen."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from canaries import guessed, least_epsilon  # noqa: E402
from discreet.learn.torch import Clipping, PrivateModel, Training, dpsgd  # noqa: E402
from discreet.learn.torch.dpsgd import take_private_step  # noqa: E402
from discreet.noise import SYSTEM  # noqa: E402

torch.set_num_threads(1)
#: One batch of all examples, noise of twice the bound: ε is about 2.7. Guesses are few, so that they are good ones.
MANY, GUESSES = 1_000_000, 4000
#: Batches of a hundredth of the examples, sixteen epochs.
SOME, BATCHES, EPOCHS = 4000, 100, 16


def loss(outputs, _targets):
    """Push a canary's own weight up, twenty times as hard as the bound allows."""
    return -20 * outputs[:, 0]


def planned(canaries, **settings):
    """Plan a model with one weight for each canary, at zero, which the optimiser moves by what it is told."""
    return Training(
        model=lambda: torch.nn.Embedding.from_pretrained(torch.zeros(canaries, 1), freeze=False), loss=loss,
        optimiser=lambda weights: torch.optim.SGD(weights, lr=1), **settings,
    )  # fmt: skip


def drawn(canaries, seed):
    """Return the data, and which canaries are in it."""
    inside = np.random.default_rng(seed).random(canaries) < 0.5
    places = torch.from_numpy(np.flatnonzero(inside))
    return (places, places), inside


def seen_at_once():
    """Return the ε that is seen and the one that is claimed, for one batch of all examples, from the released state."""
    plan = planned(
        MANY, examples=MANY, batch_size=MANY, iterations=1, microbatch_size=1 << 17, noise_multiplier=2, delta=1e-8
    )
    data, inside = drawn(MANY, 1)
    scores = plan.run_step(data, SYSTEM, 0, [])["weights"]["weight"][:, 0]
    return least_epsilon(guessed(scores, inside, GUESSES), GUESSES, MANY, 1e-8), plan.guarantee.epsilon


def test_what_canaries_see_is_below_the_claim():
    seen, claimed = seen_at_once()
    assert 1 < seen < claimed  # what is seen is half of the truth; nothing seen would be an audit asleep


def test_half_the_noise_is_seen(monkeypatch):
    honest = dpsgd.add_rounded_gaussian
    monkeypatch.setattr(dpsgd, "add_rounded_gaussian", lambda sums, sigma, entropy: honest(sums, sigma / 2, entropy))
    seen, claimed = seen_at_once()
    assert seen > claimed


def test_gradients_that_are_not_clipped_are_seen(monkeypatch):
    honest = PrivateModel.exact_sums

    def unclipped(model, losses, clipping, steps, **given):
        wide = Clipping(bounds=tuple(4 * bound for bound in clipping.bounds))
        return honest(model, losses, wide, 4 * steps, **given)

    monkeypatch.setattr(PrivateModel, "exact_sums", unclipped)
    seen, claimed = seen_at_once()
    assert seen > claimed


@pytest.fixture(autouse=True)
def no_example_fails(caplog):
    """Check that all examples were read: one whose pass fails adds nothing, and would tell nothing either."""
    yield
    assert not caplog.records


def step_scores(plan, model, data):
    """Return the gradients of one step, as an observer of every state would read them."""
    bounds, noise = plan.segments[0].bounds, plan.segments[0].noise_multiplier

    def read(places):
        return tuple(part[torch.from_numpy(places)] for part in data)

    take_private_step(
        model,
        loss,
        read,
        len(data[0]),
        settings=plan.step_settings,
        bounds=bounds,
        noise_multiplier=noise,
        entropy=SYSTEM,
    )
    return -model.parameters[0][1].grad[:, 0].double().numpy()


def seen_in_batches():
    """Return the ε that is seen and the one that is claimed, over many batches: a canary shows in some of them."""
    plan = planned(
        SOME,
        examples=BATCHES,
        batch_size=1,
        iterations=BATCHES * EPOCHS,
        checkpoint_every=BATCHES,
        microbatch_size=64,
        noise_multiplier=1,
        delta=1e-6,
    )
    data, inside = drawn(SOME, 2)
    model = PrivateModel(plan.network)
    told = np.array([step_scores(plan, model, data) for _ in range(BATCHES * EPOCHS)])
    # The likelihood of having been in one batch of each epoch, always the same one.
    scores = np.logaddexp.reduce(told.reshape(EPOCHS, BATCHES, SOME).sum(0))
    return least_epsilon(guessed(scores, inside, 1000), 1000, SOME, 1e-6), plan.guarantee.epsilon


@pytest.mark.slow
def test_poisson_batches_keep_what_is_billed():
    seen, claimed = seen_in_batches()
    assert seen < claimed


@pytest.mark.slow
def test_shuffled_batches_that_are_billed_as_poisson_are_seen(monkeypatch):
    turn = iter(range(BATCHES * EPOCHS))
    order = np.random.default_rng(3).permutation(SOME)

    def shuffled(count, _rate, _entropy):
        mine = order[order < count]
        return np.sort(mine[next(turn) % BATCHES :: BATCHES])

    monkeypatch.setattr(dpsgd, "sample_batch", shuffled)
    seen, claimed = seen_in_batches()
    assert seen > claimed
