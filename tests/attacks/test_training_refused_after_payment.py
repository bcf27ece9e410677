"""Attack: let a training be paid for that can never run; or have the data read for nothing before it is paid for.

Tensors without targets, a `DataLoader`, a model that no pass can run used to be paid for, and then failed for ever in
one constant sentence. Refusals come before the payment, in full words, and read nothing of the data.
"""

import numpy as np
import pytest

from discreet.core import DiscreetError, InvalidInput
from discreet.gate import Budget, Gate, Ledger
from ledger_bytes import nothing_written

torch = pytest.importorskip("torch")

from discreet.learn import PrivateSelection  # noqa: E402
from discreet.learn.torch import Training  # noqa: E402

torch.set_num_threads(1)
nn = torch.nn
LOSS = nn.CrossEntropyLoss(reduction="none")
DATA = torch.rand(12, 3), torch.arange(12) % 2


def planned(**settings):
    plain = {
        "model": lambda: nn.Linear(3, 2),
        "loss": LOSS,
        "optimiser": torch.optim.SGD,
        "examples": 12,
        "batch_size": 12,
    }
    plain |= {"noise_multiplier": 4, "iterations": 2, "delta": 1e-5, "microbatch_size": 4}
    return Training(**{**plain, **settings})


@pytest.fixture
def place(tmp_path):
    return tmp_path / "ledger"


@pytest.fixture
def ledger(place):
    with Ledger.create(place, Budget(1000, 1e-3), title="t", anchors=[]) as opened:
        yield opened


class Untouchable(torch.utils.data.Dataset):
    """Private examples that nobody may count or read before a payment."""

    def __len__(self):
        raise AssertionError("counted")

    def __getitem__(self, which):
        raise AssertionError("read")


class Iterable(torch.utils.data.IterableDataset):
    def __iter__(self):
        raise AssertionError("read")


DATA_REFUSED = {
    "one tensor": DATA[0],
    "a tuple without targets": DATA[:1],
    "arrays": (DATA[0].numpy(), DATA[1].numpy()),
    "a number": 7,
    "a dict": {"inputs": DATA[0], "targets": DATA[1]},
    "a loader": torch.utils.data.DataLoader(torch.utils.data.TensorDataset(*DATA)),
    "a dataset without an example": Untouchable(),
    "a list of examples without an example": [(DATA[0][0], 1)] * 12,
    "a stream": Iterable(),
    "sparse inputs": (DATA[0].to_sparse(), DATA[1]),
    "a single number for targets": (DATA[0], torch.tensor(1)),
    "inputs of another width": (torch.rand(12, 5), DATA[1]),
    "inputs of another kind": (DATA[0].double(), DATA[1]),
    "targets of another kind": (DATA[0], DATA[1].double()),
}
PLANS_REFUSED = {
    "a model that fails": {"model": lambda: nn.Sequential(nn.Linear(3, 2), nn.Linear(3, 2))},
    "a loss that adds up": {"loss": nn.functional.cross_entropy},
    "an example of another form": {"example": (torch.rand(5), 0)},
    "an example without a target": {"example": torch.rand(3)},
    "an example that is a dict": {"example": {"x": torch.rand(3), "y": 0}},
    "a collate that fails": {"example": (torch.rand(3), 0), "collate": lambda examples: examples[99]},
    "examples of several lengths": {
        "example": lambda: (torch.rand(int(torch.randint(3, 99, ()))), 0),
        "microbatch_size": 1,
    },
    "a collate that drops examples": {
        "example": (torch.rand(3), 0),
        "collate": lambda _: (torch.rand(0, 3), torch.rand(0)),
    },
    "a loss of another kind": {"loss": lambda: None},
}


@pytest.mark.parametrize("data", DATA_REFUSED.values(), ids=DATA_REFUSED.keys())
def test_data_that_cannot_be_trained_on_is_refused_and_nothing_is_written(ledger, place, data):
    with nothing_written(ledger, place), pytest.raises(DiscreetError) as refused:
        planned().fit(Gate(ledger, data))
    assert "paid for" not in refused.value.problem or "before it is paid for" in refused.value.problem
    assert refused.value.fix


@pytest.mark.parametrize("settings", PLANS_REFUSED.values(), ids=PLANS_REFUSED.keys())
def test_a_training_that_cannot_run_is_refused_and_nothing_is_written(ledger, place, settings):
    with nothing_written(ledger, place), pytest.raises(InvalidInput) as refused:
        planned(**settings).fit(Gate(ledger, DATA))
    assert refused.value.fix


def test_a_selection_asks_its_candidates_before_it_is_paid_for(ledger, place):
    best = PrivateSelection(candidates=[planned()], score=lambda *_: 1.0, mean_runs=2, name="none")
    with nothing_written(ledger, place), pytest.raises(InvalidInput, match="not read before the payment"):
        best.fit(Gate(ledger, Untouchable()))


def test_a_dataset_is_neither_counted_nor_read_before_it_is_paid_for():
    """An error that depends on an example would be a free answer about it."""
    planned(example=(torch.rand(3), 0)).check(Untouchable())
    planned(example=lambda: (torch.rand(3), 1)).check(Untouchable())
    with pytest.raises(InvalidInput, match="form of the examples"):
        planned().check(Untouchable())


def test_what_is_checked_does_not_depend_on_the_rows():
    """Not on their values, and not on how many there are."""
    for rows in (0, 1, 1000):
        planned().check((torch.full((rows, 3), torch.nan), torch.full((rows + 3,), 99)))


class Named(torch.utils.data.Dataset):
    """Examples as many datasets have them: dictionaries."""

    def __len__(self):
        return 12

    def __getitem__(self, which):
        return {"x": DATA[0][which], "y": int(DATA[1][which])}


def together(examples):
    return torch.stack([one["x"] for one in examples]), torch.tensor([one["y"] for one in examples])


@pytest.mark.parametrize(
    ("data", "settings"),
    [
        (torch.utils.data.TensorDataset(*DATA), {}),
        (torch.utils.data.Subset(torch.utils.data.TensorDataset(*DATA), range(9)), {"example": (torch.rand(3), 0)}),
        ([(DATA[0][0], 1)] * 12, {"example": (torch.rand(3), 0)}),
        (Named(), {"example": {"x": torch.rand(3), "y": 0}, "collate": together}),
    ],
    ids=["tensors", "a part", "a list", "dictionaries"],
)
def test_data_whose_form_is_known_is_trained_on(ledger, data, settings):
    plan = planned(**settings)
    before = np.concatenate([one.detach().flatten().numpy() for one in plan.network.parameters()])
    after = np.concatenate([one.detach().flatten().numpy() for one in plan.fit(Gate(ledger, data)).model.parameters()])
    assert not np.array_equal(before, after)


def test_batch_norm_in_eval_as_the_message_proposes_is_trained(ledger):
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Dropout(0.1), nn.Linear(4, 2))
    with pytest.raises(InvalidInput, match=r"call .eval\(\) on this layer"):
        planned(model=model)
    model[1].running_mean.fill_(0.25)  # public statistics
    model[1].eval()
    plan = planned(model=model)
    assert plan.network[2].training
    assert not plan.network[1].training
    trained = plan.fit(Gate(ledger, DATA)).model
    assert torch.equal(trained[1].running_mean, torch.full((4,), 0.25))
    assert trained[1].num_batches_tracked == 0
    assert not torch.equal(trained[1].weight, model[1].weight)
