"""Copies of modules for single passes are what `copy.deepcopy` makes, and share nothing that can be changed."""

import copy

import pytest

torch = pytest.importorskip("torch")

from discreet.learn.torch.clipping import copy_module  # noqa: E402

torch.set_num_threads(1)
nn = torch.nn


class Shared(nn.Module):
    """One layer under two names, tied weights, a buffer, and attributes of several kinds."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.again, self.tied = self.first, nn.Linear(3, 3)
        self.tied.weight = self.first.weight
        self.register_buffer("known", torch.arange(3.0))
        self.register_buffer("hidden", torch.arange(3.0), persistent=False)
        self.notes, self.seen, self.nothing, self.apart = {"a": [1, 2]}, [[0]], [], torch.ones(3)
        self.also_nothing = self.nothing
        self.alias = self.first.bias
        self.first.register_forward_hook(self.watch)

    def watch(self, _layer, _inputs, outputs):
        self.seen.append([len(outputs)])
        return outputs + self.known

    def forward(self, rows):
        return self.tied(self.again(rows)) * self.apart + self.alias


def attention(rows):
    return nn.TransformerEncoderLayer(3, 1, 4, dropout=0.0, batch_first=True), rows[:, None]


CASES = {
    "shared": lambda rows: (Shared(), rows),
    "attention": attention,
    "recurrent": lambda rows: (nn.LSTM(3, 2, batch_first=True), rows[:, None]),
    "normed": lambda rows: (nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))), rows),
    "listed": lambda rows: (nn.Sequential(*nn.ModuleList([nn.Linear(3, 3), nn.Dropout(0.0)])), rows),
}


def first_of(outputs):
    return outputs[0] if isinstance(outputs, tuple) else outputs


@pytest.mark.parametrize("name", CASES)
def test_a_copy_computes_the_same_and_shares_no_tensor_and_no_module(name):
    module, rows = CASES[name](torch.rand(4, 3))
    made, plain = copy_module(module, {}), copy.deepcopy(module)
    assert torch.equal(first_of(made(rows)), first_of(plain(rows)))
    assert made.state_dict().keys() == plain.state_dict().keys() == module.state_dict().keys()
    mine = {each.untyped_storage().data_ptr() for each in (*module.parameters(), *module.buffers())}
    assert all(each.untyped_storage().data_ptr() not in mine for each in (*made.parameters(), *made.buffers()))
    assert {id(one) for one in module.modules()}.isdisjoint(id(one) for one in made.modules())
    assert len(list(made.modules())) == len(list(module.modules()))


def test_what_a_copy_keeps_is_its_own():
    module = Shared()
    made = copy_module(module, {})
    made(torch.rand(5, 3))
    made.notes["a"].append(3)
    made.nothing.append(1)
    assert made.also_nothing is made.nothing
    made.apart.zero_()
    made.again.extra = 7
    assert made.seen == [[0], [5]]
    assert (module.seen, module.notes, module.nothing) == ([[0]], {"a": [1, 2]}, [])
    assert module.apart.sum() == 3
    assert not hasattr(module.first, "extra")
    assert made.again is made.first
    assert made.tied.weight is made.first.weight
    assert made.alias is made.first.bias
    assert made.first.bias is not module.first.bias


def test_copies_that_are_known_are_taken():
    module = nn.Linear(3, 2)
    known = nn.Parameter(torch.zeros(2, 3))
    assert copy_module(module, {id(module.weight): known}).weight is known
