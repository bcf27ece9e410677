"""Attack: a model whose forward pass writes down a private row, so that training stores it and hands it out.

Weights that `forward` wrote to (by `.data`, `.numpy()`, `set_`, assignment) and buffers written behind PyTorch's count
of changes used to be stored whole: a released model held 12345.678 from a column at "ε = 0.003". A row that was
written by one batch also reached the gradients of the next one.
"""

import base64
import json

import numpy as np
import pytest

from discreet.core import InvalidInput
from discreet.gate import Budget, Gate, Ledger
from discreet.noise import SYSTEM
from ledger_bytes import nothing_written

torch = pytest.importorskip("torch")

from discreet.learn.torch import PrivateModel, Training  # noqa: E402
from discreet.learn.torch.dpsgd import sum_batch  # noqa: E402
from discreet.learn.torch.examples import Examples  # noqa: E402

torch.set_num_threads(1)
nn = torch.nn
LOSS = nn.CrossEntropyLoss(reduction="none")
#: The private value that is looked for; made-up examples lie between 0 and 1.
SECRET = 12345.678
MODULE_MEMORY = []


def by_data(model, rows):
    model.frozen.data.copy_(rows[0])


def by_numpy(model, rows):
    model.frozen.detach().numpy()[:] = rows[0].numpy()


def by_set(model, rows):
    with torch.no_grad():
        model.frozen.set_(rows[0].clone())


def by_assignment(model, rows):
    model.frozen = nn.Parameter(rows[0].clone(), requires_grad=False)


def in_place(model, rows):
    with torch.no_grad():
        model.frozen.copy_(rows[0])


def trained_by_data(model, rows):
    model.layer.bias.data[0] = rows[0, 0]


def trained_by_numpy(model, rows):
    model.layer.weight.detach().numpy()[0] = rows[0].numpy()


def by_cutting(model, rows):
    rows.sum().item()
    model.layer.weight.untyped_storage().resize_(0)


def buffer_by_data(model, rows):
    model.known.data.copy_(rows[0])


def buffer_by_numpy(model, rows):
    model.known.numpy()[:] = rows[0].numpy()


def buffer_anew(model, rows):
    model.register_buffer("known", rows[0].clone())


def hidden_buffer(model, rows):
    model.hidden.data.copy_(rows[0])


WRITERS = [
    by_data, by_numpy, by_set, by_assignment, in_place, trained_by_data, trained_by_numpy, buffer_by_data,
    buffer_by_numpy, buffer_anew, hidden_buffer,
]  # fmt: skip


def by_attribute(model, rows):
    model.extra = rows.max().item()


def by_list(model, rows):
    model.seen.append(rows.clone())


def by_hook(model, rows):
    kept = rows[0].clone()
    model.layer.register_forward_hook(lambda _layer, _inputs, outputs: outputs * (1 + kept.max()))


def by_memory(_model, rows):
    MODULE_MEMORY.append(rows.max().item())


#: What is dropped without a word, unless what is computed later depends on it.
KEEPERS = [by_attribute, by_list, by_hook]


class Writer(nn.Module):
    """Writes rows down: each time, or only those that hold the secret."""

    def __init__(self, write, *, only_secret, read=False):
        super().__init__()
        self.write, self.only_secret, self.read = write, only_secret, read
        self.layer, self.frozen = nn.Linear(4, 2), nn.Parameter(torch.zeros(4), requires_grad=False)
        self.register_buffer("known", torch.zeros(4))
        self.register_buffer("hidden", torch.zeros(4), persistent=False)
        self.extra, self.seen = 0.0, []

    def forward(self, rows):
        kept = self.extra + len(self.seen) if self.read else 0.0
        if not self.only_secret or (rows > 1000).any():
            secret = rows[(rows > 1000).any(1)] if self.only_secret else rows
            self.write(self, secret)
        return self.layer(rows.clamp(max=1) + self.frozen + self.known + self.hidden + kept)

    def get_extra_state(self):
        return torch.tensor(self.extra)

    def set_extra_state(self, state):
        self.extra = state.item()


def private_data():
    inputs = torch.rand(24, 4, generator=torch.Generator().manual_seed(1))
    inputs[5] = SECRET
    return inputs, torch.arange(24) % 2


def planned(model):
    return Training(
        model=model,
        loss=LOSS,
        optimiser=torch.optim.SGD,
        examples=24,
        batch_size=24,
        noise_multiplier=50,
        iterations=2,
        delta=1e-5,
        microbatch_size=8,
    )


@pytest.fixture(autouse=True)
def weights():
    """Let models begin with the same weights each time: clipping hides some changes for some weights."""
    torch.manual_seed(0)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "ledger"


@pytest.fixture
def ledger(place):
    with Ledger.create(place, Budget(1000, 1e-3), title="t", anchors=[]) as opened:
        yield opened


def numbers_in(value):
    """Return all numbers in a stored answer, however it is nested."""
    match value:
        case dict():
            return [number for one in value.values() for number in numbers_in(one)]
        case ["array", kind, _, text]:
            return np.frombuffer(base64.b64decode(text), np.dtype(kind)).astype(float).tolist()
        case list():
            return [number for one in value for number in numbers_in(one)]
        case int() | float():
            return [float(value)]
        case _:
            return []


def find_secret(ledger, write, **how):
    """Train, and look for the secret in what was stored and in the model that is handed out."""
    trained = planned(Writer(write, only_secret=True, **how)).fit(Gate(ledger, private_data()))
    stored = [number for entry in ledger.entries() for number in _stored_numbers(ledger, entry[0].number)]
    told = [*trained.model.state_dict().values(), *trained.model.parameters(), *trained.model.buffers()]
    told += [torch.tensor(trained.model.extra), *trained.model.seen]
    handed_out = [number for value in told for number in value.detach().double().flatten().tolist()]
    assert stored
    return any(abs(number - SECRET) < 1 for number in (*stored, *handed_out))


def _stored_numbers(ledger, number):
    try:
        return numbers_in(json.loads(ledger.read_answer(number)[1]))
    except Exception:  # noqa: BLE001 - an entry that holds no answer
        return []


@pytest.mark.parametrize("write", [*WRITERS, *KEEPERS], ids=lambda one: one.__name__)
def test_a_row_that_forward_writes_down_is_not_in_what_is_stored_or_handed_out(ledger, write):
    assert not find_secret(ledger, write)


@pytest.mark.parametrize("write", WRITERS, ids=lambda one: one.__name__)
def test_a_model_that_writes_to_its_weights_or_buffers_is_refused_before_payment(ledger, place, write):
    plan = planned(Writer(write, only_secret=False))
    with nothing_written(ledger, place), pytest.raises(InvalidInput, match=r"forward pass (changed|added)"):
        plan.fit(Gate(ledger, private_data()))


@pytest.mark.parametrize("write", [by_attribute, by_list, by_hook], ids=lambda one: one.__name__)
def test_a_model_that_remembers_batches_is_refused_before_payment(ledger, place, write):
    plan = planned(Writer(write, only_secret=False, read=True))
    with nothing_written(ledger, place), pytest.raises(InvalidInput, match="depend on earlier batches"):
        plan.fit(Gate(ledger, private_data()))


def test_a_model_that_remembers_batches_in_a_global_is_refused_before_payment(ledger, place):
    class Global(Writer):
        def forward(self, rows):
            by_memory(self, rows)
            return self.layer(rows * len(MODULE_MEMORY))

    plan = planned(Global(by_memory, only_secret=False))
    with nothing_written(ledger, place), pytest.raises(InvalidInput, match="depend on earlier batches"):
        plan.fit(Gate(ledger, private_data()))


def sum_of_later_batches(write, *, secret):
    """Return what the examples of later batches add up to, with a row in the first one that is written down or not."""
    torch.manual_seed(0)
    plan = planned(Writer(write, only_secret=True, read=True))
    inputs, targets = private_data()
    data = (inputs if secret else inputs.clamp(max=1)), targets
    batch, bounds = np.r_[4:24], plan.segments[0].bounds  # the microbatches are 4:12, 12:20, 20:24
    model, reader = PrivateModel(plan.network), Examples(example=None, collate=None)
    totals = [
        sum_batch(
            model, LOSS, lambda places: reader.take(data, places, None), some, settings=plan.step_settings,
            bounds=bounds, entropy=SYSTEM,
        )
        for some in (batch[:8], batch[8:])
    ]  # fmt: skip
    return totals[1].sums


@pytest.mark.parametrize("write", [*WRITERS, *KEEPERS, by_cutting], ids=lambda one: one.__name__)
def test_a_row_that_one_batch_writes_down_does_not_reach_the_gradients_of_the_next(write):
    with_it, without = (sum_of_later_batches(write, secret=secret) for secret in (True, False))
    assert all(torch.equal(one, other) for one, other in zip(with_it, without, strict=True))


def test_a_model_whose_copies_share_its_weights_is_refused_before_payment(ledger, place):
    class Shared(Writer):
        def __deepcopy__(self, memo):
            return self

    plan = planned(lambda: nn.Sequential(Shared(by_data, only_secret=True)))
    with nothing_written(ledger, place), pytest.raises(InvalidInput, match="shares"):
        plan.fit(Gate(ledger, private_data()))


def test_settings_that_forward_changes_do_not_outlast_a_pass(ledger, place):
    def switch(_model, _rows):
        torch.set_float32_matmul_precision("medium")
        torch.set_default_dtype(torch.float64)
        torch.set_num_threads(2)

    plan = planned(Writer(switch, only_secret=False))
    before = torch.get_float32_matmul_precision(), torch.get_default_dtype(), torch.get_num_threads()
    with nothing_written(ledger, place), pytest.raises(InvalidInput, match="global setting"):
        plan.fit(Gate(ledger, private_data()))
    planned(Writer(switch, only_secret=True)).fit(Gate(ledger, private_data()))
    assert before == (torch.get_float32_matmul_precision(), torch.get_default_dtype(), torch.get_num_threads())


def test_random_numbers_of_a_pass_do_not_follow_from_rows_of_an_earlier_one():
    """A row may seed the generator; the next pass draws with a seed of its own."""
    drawn = []

    def seed(_model, rows):
        torch.manual_seed(int(rows[0, 0]))

    class Drawing(Writer):
        def forward(self, rows):
            drawn.append(torch.rand(1).item())
            return super().forward(rows)

    plan = planned(Drawing(seed, only_secret=True))
    for _ in range(2):
        plan.run_step(private_data(), SYSTEM, 0, [])
    private = drawn[len(drawn) // 2 - 3 : len(drawn) // 2] + drawn[-3:]  # a batch has three microbatches
    assert len(set(private)) == 6
