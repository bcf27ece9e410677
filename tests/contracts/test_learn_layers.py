"""Every kind of layer: clipped sums are those of a loop over examples, in floats and on the grid."""

import itertools
import math
import weakref
from fractions import Fraction

import pytest

from discreet.core import InvalidInput, WrongType

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

import plain_dpsgd  # noqa: E402
from discreet.learn.torch import clipped_sums as sums  # noqa: E402
from discreet.learn.torch import rounding  # noqa: E402
from discreet.learn.torch import rounding as exact_sums  # noqa: E402
from discreet.learn.torch.clipping import MOST_STEPS, Clipping, PrivateModel  # noqa: E402
from discreet.learn.torch.per_example import grid  # noqa: E402
from discreet.learn.torch.per_example import layers as calls  # noqa: E402
from discreet.learn.torch.per_example.axis_tracking import AxisTracking  # noqa: E402
from discreet.learn.torch.per_example.example_axes import FIRST, MemoryOwners, Owner  # noqa: E402
from discreet.learn.torch.per_example.rules import Recording  # noqa: E402
from discreet.learn.torch.per_example.tape import Tape  # noqa: E402

#: PyTorch says so once, of the plain layer that ours is compared with.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths"),
    pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN"),
]
torch.set_num_threads(1)  # so small a layer is slower on two

EXAMPLES = 6
#: Floats of 32 bits, summed in another order.
CLOSE = 1e-5


class Take(nn.Module):
    """A module of which one of several outputs is used."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *inputs):
        return self.module(*inputs)[0]


class Turned(Take):
    """A module that wants its positions first."""

    def forward(self, inputs):
        return super().forward(inputs.transpose(0, 1)).transpose(0, 1)


class Tied(nn.Module):
    """Words in and words out share their weight, and a layer is used twice."""

    def __init__(self):
        super().__init__()
        self.words, self.layer = nn.Embedding(7, 4), nn.Linear(4, 4)

    def forward(self, words):
        return functional.linear(self.layer(torch.tanh(self.layer(self.words(words)))), self.words.weight)


class Scaled(nn.Module):
    """A parameter outside every layer, and one that is used with and without its layer."""

    def __init__(self):
        super().__init__()
        self.layer, self.scale, self.unused = nn.Linear(4, 4), nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(2))

    def forward(self, inputs):
        return self.layer(inputs) * self.scale + inputs @ self.layer.weight


class Flattened(nn.Module):
    """Positions are taken for examples: the first axis is not that of the losses."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, inputs):
        return self.layer(inputs.reshape(-1, 4)).view(len(inputs), -1)


class Placed(nn.Module):
    """Words and their places, of which there are as many as examples."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(7, 3), nn.Embedding(EXAMPLES, 3)

    def forward(self, words):
        return torch.tanh(self.words(words) + self.places(torch.arange(EXAMPLES)))


class TwoInputs(nn.Module):
    """Words and numbers, with a frozen layer between."""

    def __init__(self):
        super().__init__()
        self.words, self.frozen, self.layer = nn.Embedding(5, 3), nn.Linear(3, 3), nn.Linear(5, 2)
        self.frozen.requires_grad_(requires_grad=False)

    def forward(self, words, numbers):
        return self.layer(torch.cat([self.frozen(self.words(words)), numbers], 1))


class OnlyBias(nn.Module):
    """Weights that are made of others, and a bias that is a parameter."""

    def __init__(self):
        super().__init__()
        self.raw, self.bias = nn.Parameter(torch.randn(3, 4)), nn.Parameter(torch.zeros(3))

    def forward(self, inputs):
        return functional.linear(inputs, self.raw.tanh(), self.bias)


def draw(*shape):
    return torch.randn(EXAMPLES, *shape)


def words(*shape, count=7):
    return torch.randint(0, count, (EXAMPLES, *shape))


CASES = {
    "linear": lambda: (nn.Linear(5, 4), draw(5)),
    "linear without bias": lambda: (nn.Linear(5, 4, bias=False), draw(5)),
    "linear over positions": lambda: (nn.Linear(5, 4), draw(3, 5)),
    "linear by Gram matrices": lambda: (nn.Linear(20, 30), draw(2, 20)),
    "linear over two axes": lambda: (nn.Linear(5, 4), draw(3, 2, 5)),
    "convolution 1": lambda: (nn.Conv1d(4, 6, 3, padding=1, dilation=2, groups=2), draw(4, 9)),
    "convolution 2": lambda: (nn.Conv2d(3, 5, (3, 2), stride=(2, 1), padding=(1, 0)), draw(3, 9, 7)),
    "convolution 2, same": lambda: (nn.Conv2d(4, 6, (3, 4), padding="same", groups=2, bias=False), draw(4, 9, 7)),
    "convolution 2, circular": lambda: (nn.Conv2d(3, 5, 3, padding=1, padding_mode="circular"), draw(3, 6, 7)),
    "convolution by Gram matrices": lambda: (nn.Conv2d(20, 30, 3), draw(20, 4, 3)),
    "convolution by channel": lambda: (nn.Conv2d(4, 8, 3, groups=4), draw(4, 5, 5)),
    "convolution 3": lambda: (nn.Conv3d(2, 3, 2, stride=2), draw(2, 5, 4, 6)),
    "transposed convolution": lambda: (nn.ConvTranspose2d(2, 3, 3), draw(2, 4, 4)),
    "embedding": lambda: (nn.Embedding(7, 3, padding_idx=-2), words(5)),
    "embedding of one word": lambda: (nn.Embedding(7, 3), words()),
    "layer norm": lambda: (nn.LayerNorm(5), draw(3, 5)),
    "layer norm over two axes": lambda: (nn.LayerNorm((3, 5)), draw(3, 5)),
    "group norm": lambda: (nn.GroupNorm(2, 4), draw(4, 5, 2)),
    "root-mean-square norm": lambda: (nn.RMSNorm(5), draw(3, 5)),
    "instance norm": lambda: (nn.InstanceNorm1d(4, affine=True), draw(4, 5)),
    "batch norm that is fixed": lambda: (nn.BatchNorm1d(4).eval(), draw(4)),
    "attention to itself": lambda: (nn.TransformerEncoderLayer(8, 2, 16, dropout=0, batch_first=True), draw(3, 8)),
    "attention": lambda: (Take(nn.MultiheadAttention(8, 2, batch_first=True)), draw(3, 8), draw(5, 8), draw(5, 8)),
    "attention, other sizes": lambda: (
        Take(nn.MultiheadAttention(8, 2, kdim=4, vdim=3, add_bias_kv=True, batch_first=True)),
        draw(3, 8),
        draw(5, 4),
        draw(5, 3),
    ),
    "LSTM": lambda: (Take(nn.LSTM(4, 3, num_layers=2, batch_first=True)), draw(3, 4)),
    "LSTM, both ways": lambda: (Take(nn.LSTM(4, 3, 2, bidirectional=True, bias=False, batch_first=True)), draw(3, 4)),
    "LSTM with projections": lambda: (Take(nn.LSTM(4, 3, proj_size=2, batch_first=True)), draw(3, 4)),
    "LSTM, positions first": lambda: (Turned(nn.LSTM(4, 3)), draw(3, 4)),
    "GRU": lambda: (Take(nn.GRU(4, 3, batch_first=True)), draw(3, 4)),
    "GRU, both ways": lambda: (Take(nn.GRU(4, 3, 2, bidirectional=True, batch_first=True)), draw(3, 4)),
    "recurrent layer": lambda: (Take(nn.RNN(4, 3, batch_first=True)), draw(3, 4)),
    "recurrent layer with rectifiers": lambda: (Take(nn.RNN(4, 3, nonlinearity="relu", batch_first=True)), draw(3, 4)),
    "LSTM cell": lambda: (Take(nn.LSTMCell(4, 3)), draw(4)),
    "bilinear": lambda: (nn.Bilinear(3, 4, 5), draw(3), draw(4)),
    "shared weights": lambda: (Tied(), words(5)),
    "functional uses": lambda: (Scaled(), draw(4)),
    "flattened positions": lambda: (Flattened(), draw(5, 4)),
    "as many places as examples": lambda: (Placed(), words(EXAMPLES)),
    "two inputs, a frozen layer": lambda: (TwoInputs(), words(count=5), draw(2)),
    "weights made of parameters": lambda: (OnlyBias(), draw(4)),
    "a network": lambda: (
        nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5)),
        draw(1, 8, 8),
    ),
}


@pytest.fixture(params=CASES)
def case(request):
    """Give a model and the losses of a batch: two terms, of which one counts the examples' outputs unlike."""
    torch.manual_seed(sum(request.param.encode()))
    model, *inputs = CASES[request.param]()
    shape = model(*inputs).shape[1:]
    target, sizes = torch.randn(EXAMPLES, *shape), torch.linspace(0.1, 3, EXAMPLES)

    batch = (sizes, target, *inputs)

    def losses(*given):
        sizes, target, *inputs = given or batch
        outputs = model(*inputs)
        return sizes * ((outputs - target).flatten(1).square().sum(1) + outputs.flatten(1).abs().mean(1))

    losses.batch = batch

    return model, losses


def trainable(model):
    return [parameter for parameter in model.parameters() if parameter.requires_grad]


def middle_bound(model, losses):
    """Return a bound that some examples are within, and others not."""
    rows = plain_dpsgd.example_gradients(losses, trainable(model))
    norms = sorted(plain_dpsgd.clip(row, 1)[1] for row in rows)
    return Fraction(round(64 * norms[len(norms) // 2]) + 1, 64)


def distance(found, wanted):
    """Return how far apart two lists of tensors are, as a part of the second."""
    off = sum(float((a.double() - b).square().sum()) for a, b in zip(found, wanted, strict=True))
    return math.sqrt(off / sum(float(b.square().sum()) for b in wanted))


def test_float_sums_are_those_of_a_loop_over_examples(case):
    model, losses = case
    bound = middle_bound(model, losses)
    private = PrivateModel(model)
    for stabiliser in (None, 0.01):
        style = "clip" if stabiliser is None else "automatic"
        wanted, within = plain_dpsgd.clipped_sums(losses, trainable(model), float(bound), stabiliser)
        for _ in range(2):  # the second pass keeps no graph
            found = private.float_sums(losses, Clipping(bounds=(bound,), style=style), batch=losses.batch)
            assert distance(found.sums, wanted) < CLOSE
            assert found.within.tolist() == [within]


def test_exact_sums_are_those_of_a_loop_over_examples_up_to_the_grid(case):
    model, losses = case
    bound = middle_bound(model, losses)
    wanted, within = plain_dpsgd.clipped_sums(losses, trainable(model), float(bound))
    found = PrivateModel(model).exact_sums(losses, Clipping(bounds=(bound,)), MOST_STEPS, batch=losses.batch)
    scaled = [total * (float(bound) / MOST_STEPS) for total in integers(found.sums)]
    # A linear layer is rounded by its factors, of about √K steps each, and kept as far below the bound.
    grain = 4 / math.sqrt(MOST_STEPS) if any(isinstance(each, nn.Linear) for each in model.modules()) else 0
    assert distance(scaled, wanted) < CLOSE + grain
    assert found.within.tolist() == [within]


def integers(sums):
    """Return what floats hold, if these are integers."""
    assert all(torch.equal(total, total.round()) for total in sums)
    return [total.long() for total in sums]


def alone(examples, which):
    return torch.arange(examples) == which


@pytest.mark.parametrize("steps", [1, 1000, MOST_STEPS])
def test_what_one_example_adds_is_within_the_bound_and_sums_are_exactly_of_these(case, steps):
    model, losses = case
    private = PrivateModel(model)
    for bound in (Fraction(1, 10**6), middle_bound(model, losses)):
        clipping = Clipping(bounds=(bound,))
        total = [torch.zeros(parameter.shape, dtype=torch.int64) for parameter in trainable(model)]
        for which in range(EXAMPLES):
            one = integers(
                private.exact_sums(losses, clipping, steps, counted=alone(EXAMPLES, which), batch=losses.batch).sums
            )
            assert sum(number**2 for each in one for number in each.flatten().tolist()) <= steps**2
            total = [a + b for a, b in zip(total, one, strict=True)]
        everyone = integers(private.exact_sums(losses, clipping, steps, batch=losses.batch).sums)
        assert all(torch.equal(a, b) for a, b in zip(total, everyone, strict=True))


@pytest.mark.parametrize("value", [1e-20, 1.0, 1e8])
@pytest.mark.parametrize("steps", [1, 2, 50, 2**12])
def test_adversarial_gradients_stay_within_the_bound(value, steps):
    # Halves, which are all rounded up; one large entry among many small ones; all alike.
    model = nn.Sequential(nn.Linear(64, 1, bias=False), nn.Flatten(0))
    rows = torch.stack(
        [torch.full((64,), 0.5), torch.tensor([8.0, *[0.51] * 63]), torch.ones(64), -1.5 * torch.ones(64)]
    )
    inputs = rows * value
    found = PrivateModel(model)
    for which in range(len(rows)):
        one = found.exact_sums(
            model,
            Clipping(bounds=(Fraction(1),)),
            steps,
            counted=alone(len(rows), which),
            batch=(inputs,),
        )
        assert sum(number**2 for number in one.sums[0].flatten().tolist()) <= steps**2


def test_products_are_exact_however_they_are_done(monkeypatch):
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(30, 20), nn.ReLU(), nn.Linear(20, 4))
    inputs = torch.randn(500, 30)

    def run(steps):
        return PrivateModel(model).exact_sums(
            lambda inputs: model(inputs).square().sum(1), Clipping(bounds=(Fraction(1),)), steps, batch=(inputs,)
        )

    narrow = run(2**14).sums
    monkeypatch.setattr(exact_sums, "EXACT_32", 0)
    wide = run(2**14).sums
    assert {each.dtype for each in narrow} == {torch.float32}
    assert {each.dtype for each in wide} == {torch.float64}
    assert all(torch.equal(a.double(), b) for a, b in zip(narrow, wide, strict=True))


@pytest.mark.parametrize("outside", [False, True])
def test_activations_of_fewer_bits_leave_the_sums_exact(outside):
    torch.manual_seed(6)
    model, inputs = nn.Sequential(nn.Linear(30, 20), nn.ReLU(), nn.Linear(20, 4)), torch.randn(40, 30)
    private, steps = PrivateModel(model), 2**16

    def losses(inputs=inputs):
        with torch.autocast("cpu", torch.bfloat16):
            return model(inputs).float().square().sum(1)

    def run(counted=None):
        with torch.autocast("cpu", torch.bfloat16, enabled=outside):
            return integers(
                private.exact_sums(
                    losses, Clipping(bounds=(Fraction(1),)), steps, counted=counted, batch=(inputs,)
                ).sums
            )

    total = [torch.zeros(parameter.shape, dtype=torch.int64) for parameter in model.parameters()]
    for which in range(40):
        one = run(alone(40, which))
        assert 0 < sum(int((each**2).sum()) for each in one) <= steps**2
        total = [a + b for a, b in zip(total, one, strict=True)]
    assert all(torch.equal(a, b) for a, b in zip(total, run(), strict=True))


def set_by_name(level):
    torch.set_float32_matmul_precision("medium" if level else "highest")


def set_for_all(level):
    torch.backends.mkldnn.matmul.fp32_precision = "none"  # or what was said of products before would stand
    torch.backends.fp32_precision = level or "none"


def set_for_products(level):
    torch.backends.mkldnn.matmul.fp32_precision = level or "none"


@pytest.mark.parametrize("choose", [set_for_all, set_for_products, set_by_name])
def test_a_setting_that_multiplies_in_fewer_bits_does_not_reach_the_sums(choose):
    torch.manual_seed(3)
    # Odd numbers beyond 2⁸ have no float of 16 bits.
    factors = 2.0 * torch.randint(128, 256, (512, 64)) + 1, torch.randint(-30, 30, (512, 64)).float()
    wanted = factors[0].long().t() @ factors[1].long()
    choose("bf16")
    try:
        total = exact_sums.ExactSum(wanted.shape)
        outer(*factors).add_to(total, 2**10)
        # Few processors have such products; this one may do them in 32 bits all the same.
        assert not exact_sums.is_exact()
    finally:
        choose(None)
    assert torch.equal(total.total().long(), wanted)


def outer(gradient, inputs):
    squares = rounding.integer_squares(gradient) * rounding.integer_squares(inputs)
    return grid.OuterIntegers(gradient, inputs, squares, gradient.abs().amax(1).double() * inputs.abs().amax(1))


def test_sums_that_32_bits_cannot_hold_are_exact():
    # 4,096 products of 255²: their sum is beyond 2²⁴, and odd steps on the way there are lost in 32 bits.
    gradient, inputs = torch.full((4096, 2), 255.0), torch.full((4096, 3), 255.0)
    gradient[::3], inputs[::5] = 253.0, -251.0
    total = exact_sums.ExactSum(torch.Size((2, 3)))
    outer(gradient, inputs).add_to(total, 2**20)
    assert torch.equal(total.total().long(), gradient.long().t() @ inputs.long())


def test_sums_that_grow_beyond_32_bits_piece_by_piece_are_exact():
    total, wanted = exact_sums.ExactSum(torch.Size((1, 1))), 0
    for piece in range(1, 40):
        numbers = torch.full((1, 1), 999_999.0 + piece)
        if piece % 3:
            total.add(numbers, 2**20)
        else:
            total.add_product(numbers, torch.ones(1, 1), 2**20)
        wanted += 999_999 + piece
    assert int(total.total()) == wanted
    assert int(exact_sums.ExactSum(torch.Size((2,))).total().sum()) == 0


def test_a_product_that_is_beyond_32_bits_by_itself_is_exact():
    total = exact_sums.ExactSum(torch.Size((1, 1)))
    total.add_product(torch.full((1, 3), 4097.0), torch.full((3, 1), 4097.0), 3 * 4097**2)
    assert int(total.total()) == 3 * 4097**2


def test_squared_norms_that_32_bits_cannot_hold_are_exact():
    rows = torch.tensor([[4097.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    assert rounding.integer_squares(rows).tolist() == [4097**2 + 5, 14]


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("least", [2**10, 2**19, 2**24, 2**40, 2**47, 2**52])
def test_squares_of_norms_are_sums_of_squares(kind, least):
    """Roots are rounded, and their squares are rounded back to what they are the roots of."""
    generator = torch.Generator().manual_seed(least)
    side = math.isqrt(least // 700)
    rows = torch.randint(-side, side + 1, (200, 2003), generator=generator).to(kind)
    wanted = [sum(int(number) ** 2 for number in row.tolist()) for row in rows]
    assert rounding.integer_squares(rows).tolist() == wanted


def test_every_square_root_that_is_rounded_back_is_of_that_integer():
    numbers = torch.arange(rounding.ROOTS_32**2 + 2)
    roots = torch.linalg.vector_norm(numbers.double().sqrt()[:, None], dim=1).float()
    narrow = roots < rounding.ROOTS_32
    assert torch.equal(roots[narrow].double().square().round().long(), numbers[narrow])


@pytest.mark.parametrize("size", [2**26, 2**26 + 1, 2**27, 2**31])
def test_a_norm_beyond_what_floats_hold_is_never_taken_for_one_within(size):
    rows = torch.tensor([[float(size)], [0.0]], dtype=torch.float64)
    assert (rounding.integer_squares(rows) <= MOST_STEPS**2).tolist() == [size <= MOST_STEPS, True]


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("order", [("0.bias", "0.weight"), ("0.weight", "0.bias")])
def test_a_norm_that_two_groups_share_is_left_as_it_is(kind, order):
    torch.manual_seed(1)
    model, inputs = nn.Sequential(nn.Linear(5, 3)).to(kind), torch.randn(4, 5, dtype=kind) * 30
    private, clipping = PrivateModel(model, groups=[[name] for name in order]), Clipping(bounds=(Fraction(1),) * 2)
    for which in range(4):
        counted = alone(4, which)
        found = private.float_sums(
            lambda inputs: model(inputs).square().sum(1), clipping, counted=counted, batch=(inputs,)
        )
        exact = private.exact_sums(
            lambda inputs: model(inputs).square().sum(1), clipping, 2**12, counted=counted, batch=(inputs,)
        )
        for each, steps in zip(found.sums, exact.sums, strict=True):
            assert float(each.norm()) == pytest.approx(1, abs=1e-5)
            assert float(steps.double().norm()) == pytest.approx(2**12, rel=0.05)


def test_clipping_by_group_bounds_every_group():
    torch.manual_seed(1)
    model = nn.Sequential(nn.Linear(5, 4), nn.Linear(4, 3))
    names = [name for name, _ in model.named_parameters()]
    inputs = torch.randn(8, 5)

    def losses(inputs=inputs):
        return model(inputs).square().sum(1)

    private = PrivateModel(model, groups=[names[2:], names[:2]])
    found = private.float_sums(losses, Clipping(bounds=(Fraction(1, 2), Fraction(1, 4))), batch=(inputs,))
    last, _ = plain_dpsgd.clipped_sums(losses, list(model[1].parameters()), 0.5)
    first, _ = plain_dpsgd.clipped_sums(losses, list(model[0].parameters()), 0.25)
    assert distance(found.sums, [*first, *last]) < CLOSE
    exact = private.exact_sums(losses, Clipping(bounds=(Fraction(1, 2), Fraction(1, 4))), 2**20, batch=(inputs,))
    grains = [Fraction(1, 4)] * 2 + [Fraction(1, 2)] * 2
    scaled = [total * float(grain) / 2**20 for total, grain in zip(exact.sums, grains, strict=True)]
    assert distance(scaled, [*first, *last]) < 0.01
    assert len(found.within) == 2


def test_a_step_is_that_of_the_reference():
    torch.manual_seed(2)
    model, same = nn.Linear(6, 3), nn.Linear(6, 3)
    same.load_state_dict(model.state_dict())
    inputs, labels = torch.randn(10, 6), torch.randint(0, 3, (10,))
    plain_dpsgd.step(
        lambda: functional.cross_entropy(same(inputs), labels, reduction="none"),
        list(same.parameters()),
        bound=0.5,
        sigma=0,
        batch_size=10,
        rate=0.1,
        normal=torch.zeros,
    )
    found = PrivateModel(model).float_sums(
        lambda inputs, labels: functional.cross_entropy(model(inputs), labels, reduction="none"),
        Clipping(bounds=(Fraction(1, 2),)),
        batch=(inputs, labels),
    )
    with torch.no_grad():
        for parameter, total in zip(model.parameters(), found.sums, strict=True):
            parameter.sub_(0.1 * total / 10)
    for ours, theirs in zip(model.parameters(), same.parameters(), strict=True):
        assert torch.allclose(ours, theirs, atol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_random_networks_have_the_sums_of_a_loop(seed):
    torch.manual_seed(seed)
    sizes = torch.randint(2, 9, (4,)).tolist()
    layers = [layer for a, b in itertools.pairwise(sizes) for layer in (nn.Linear(a, b), nn.Tanh(), nn.LayerNorm(b))]
    model = nn.Sequential(*layers)
    inputs = torch.randn(9, *torch.randint(1, 4, (seed % 3,)).tolist(), sizes[0])

    def losses(inputs=inputs):
        return model(inputs).flatten(1).exp().sum(1)

    wanted, _ = plain_dpsgd.clipped_sums(losses, trainable(model), 1.0)
    assert (
        distance(PrivateModel(model).float_sums(losses, Clipping(bounds=(Fraction(1),)), batch=(inputs,)).sums, wanted)
        < CLOSE
    )


@pytest.mark.parametrize("examples", [0, 1])
def test_batches_of_none_and_of_one(examples):
    model = nn.Sequential(nn.Conv1d(2, 3, 2), nn.Flatten(), nn.Linear(9, 2))
    private, inputs = PrivateModel(model), torch.ones(examples, 2, 4)

    def losses(inputs=inputs):
        return model(inputs).square().sum(1)

    for found in (
        private.float_sums(losses, Clipping(bounds=(Fraction(1),)), batch=(inputs,)),
        private.exact_sums(losses, Clipping(bounds=(Fraction(1),)), 2**16, batch=(inputs,)),
    ):
        assert [total.shape for total in found.sums] == [parameter.shape for parameter in model.parameters()]
        assert any(total.any() for total in found.sums) == bool(examples)


def test_losses_that_depend_on_no_parameter_add_nothing():
    model = nn.Linear(2, 2)
    found = PrivateModel(model).exact_sums(
        lambda _: torch.ones(3), Clipping(bounds=(Fraction(1),)), 8, batch=(torch.ones(3),)
    )
    assert not any(total.any() for total in found.sums)
    assert found.within.tolist() == [3]


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_layers_have_a_rule_and_give_what_pytorch_gives(kind):
    torch.manual_seed(4)
    model, inputs = kind(4, 3, 2, bidirectional=True, batch_first=True), torch.randn(5, 6, 4)
    plain, memory = model(inputs)
    owners = MemoryOwners(len(inputs))
    owners.mark(inputs, Owner.ROWS, FIRST)
    tape = Tape(model.parameters(), AxisTracking(owners))
    with tape.axes, Recording(tape):
        outputs, last = model(inputs)
    tape.listening = True
    assert torch.allclose(outputs, plain, atol=1e-6)
    pairs = zip(last, memory, strict=True) if kind is nn.LSTM else [(last, memory)]
    assert all(torch.allclose(ours, theirs, atol=1e-6) for ours, theirs in pairs)
    found = torch.autograd.grad(outputs.sum(), list(model.parameters()), allow_unused=True)
    assert all(gradient is None for gradient in found)  # nothing is left to the fallback
    assert tape.entries


REFUSED = {
    "batch norm": (lambda: nn.BatchNorm1d(3), "GroupNorm"),
    "batch norm without statistics": (lambda: nn.BatchNorm2d(3, track_running_stats=False).eval(), "GroupNorm"),
    "instance norm that remembers": (lambda: nn.InstanceNorm1d(3, affine=True, track_running_stats=True), "False"),
    "embedding with max_norm": (lambda: nn.Embedding(4, 3, max_norm=1.0), "max_norm"),
    "embedding by frequency": (lambda: nn.Embedding(4, 3, scale_grad_by_freq=True), "scale_grad_by_freq"),
    "a layer without sizes": (lambda: nn.LazyLinear(3), "sizes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_layers_that_mix_examples_are_refused_with_the_replacement(name):
    make, word = REFUSED[name]
    with pytest.raises(InvalidInput) as refusal:
        PrivateModel(nn.Sequential(nn.Identity(), make()))
    assert word in refusal.value.fix
    assert "'1'" in refusal.value.problem


class Centred(nn.Module):
    """Mixes examples where no type tells it."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 3), nn.Linear(3, 1)

    def forward(self, inputs):
        hidden = self.first(inputs)
        return self.last(hidden - hidden.mean(0)).flatten()


class Shifted(Centred):
    """Every example sees its second neighbour."""

    def forward(self, inputs):
        return self.last(self.first(inputs).roll(2, 0)).flatten()


class PositionsFirst(Centred):
    """Positions before examples; with as many of each, no shape tells them apart."""

    def forward(self, inputs):
        return self.last(self.first(inputs.transpose(0, 1))).sum((0, 2))


class Counting(Centred):
    """Has running state that no type tells."""

    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(3))

    def forward(self, inputs):
        self.mean.mul_(0.9)
        return self.last(self.first(inputs)).flatten()


def test_running_state_that_no_type_tells_is_found():
    model, inputs = Counting(), torch.randn(5, 3)
    for _ in range(2):
        with pytest.raises(InvalidInput, match="changed the buffer"):
            PrivateModel(model).float_sums(model, Clipping(bounds=(Fraction(1),)), batch=(inputs,))


@pytest.mark.parametrize("kind", [Centred, Shifted])
def test_models_that_mix_examples_are_run_on_one_example_at_a_time(kind):
    torch.manual_seed(7)
    model, inputs = kind(), torch.randn(5, 3)
    private = PrivateModel(model)
    found = private.float_sums(model, Clipping(bounds=(Fraction(1),)), batch=(inputs,))
    wanted, _ = plain_dpsgd.clipped_sums(lambda: [model(row[None])[0] for row in inputs], trainable(model), 1.0)
    assert distance(found.sums, wanted) < CLOSE
    assert set(private.gradient_methods().values()) == {"vmap"}


def test_examples_are_found_on_any_axis_whatever_its_length():
    """As many positions as examples, positions first: no length tells them apart."""
    torch.manual_seed(7)
    model, inputs = PositionsFirst(), torch.randn(5, 5, 3)
    private = PrivateModel(model)
    found = private.float_sums(model, Clipping(bounds=(Fraction(1),)), batch=(inputs,))
    wanted, _ = plain_dpsgd.clipped_sums(lambda: model(inputs), trainable(model), 1.0)
    assert distance(found.sums, wanted) < CLOSE
    assert set(private.gradient_methods().values()) == {"batched rule"}


def test_a_pass_that_mixes_after_one_that_does_not_is_done_one_example_at_a_time():
    torch.manual_seed(7)
    model = Centred()
    private, inputs = PrivateModel(model), torch.randn(5, 3)
    plain = Clipping(bounds=(Fraction(1),))
    for _ in range(2):
        private.float_sums(lambda inputs: model.last(model.first(inputs)).flatten(), plain, batch=(inputs,))
    assert set(private.gradient_methods().values()) == {"batched rule"}
    found = private.float_sums(
        lambda inputs: model.last(model.first(inputs).roll(1, 0)).flatten(), plain, batch=(inputs,)
    )
    wanted, _ = plain_dpsgd.clipped_sums(lambda: model.last(model.first(inputs)).flatten(), trainable(model), 1.0)
    assert distance(found.sums, wanted) < CLOSE
    assert set(private.gradient_methods().values()) == {"vmap"}


def test_batch_norm_that_is_switched_on_later_is_refused_then():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3).eval())
    private = PrivateModel(model)
    model.train()
    with pytest.raises(InvalidInput, match="mixes"):
        private.float_sums(
            lambda inputs: model(inputs).sum(1), Clipping(bounds=(Fraction(1),)), batch=(torch.ones(2, 3),)
        )


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e30])
def test_what_is_not_finite_adds_nothing(value):
    model = nn.Linear(2, 1)
    inputs = torch.tensor([[1.0, 2.0], [value, 1.0]])
    private = PrivateModel(model)
    for run, steps in ((private.float_sums, ()), (private.exact_sums, (2**10,))):
        some = [
            run(
                lambda inputs: model(inputs).flatten(),
                Clipping(bounds=(Fraction(1),)),
                *steps,
                batch=(inputs[[0, other]],),
                counted=torch.tensor([True, other == 1]),
            )
            for other in (0, 1)
        ]
        assert all(torch.allclose(a, b) for a, b in zip(some[0].sums, some[1].sums, strict=True))
        assert some[0].within.tolist() == some[1].within.tolist()


@pytest.mark.parametrize(
    ("losses", "error"),
    [
        (lambda _: torch.ones(()), InvalidInput),
        (lambda _: torch.ones(2, 2), InvalidInput),
        (lambda _: torch.ones(2, dtype=torch.int64), InvalidInput),
        (lambda _: [1.0], WrongType),
    ],
)
def test_losses_must_be_one_number_an_example(losses, error):
    with pytest.raises(error):
        PrivateModel(nn.Linear(2, 2)).float_sums(losses, Clipping(bounds=(Fraction(1),)), batch=(torch.ones(2),))


def test_wrong_calls_are_refused_with_a_fix():
    model = nn.Linear(2, 2)
    private, fine, two = PrivateModel(model), Clipping(bounds=(1,)), (torch.ones(2),)
    for call in (
        lambda: PrivateModel("model"),
        lambda: PrivateModel(nn.ReLU()),
        lambda: PrivateModel(nn.Linear(2, 2, device="meta")),
        lambda: PrivateModel(nn.Linear(2, 2, dtype=torch.bfloat16)),
        lambda: PrivateModel(model, groups=[["weight"]]),
        lambda: PrivateModel(model, groups=[["weight", "bias"], []]),
        lambda: Clipping(bounds=()),
        lambda: Clipping(bounds=(0,)),
        lambda: Clipping(bounds=(1,), style="both"),
        lambda: private.float_sums(torch.ones_like, Clipping(bounds=(1, 1)), batch=two),
        lambda: private.exact_sums(torch.ones_like, fine, 0, batch=two),
        lambda: private.exact_sums(torch.ones_like, fine, MOST_STEPS + 1, batch=two),
        lambda: private.float_sums(torch.ones_like, fine, counted=torch.ones(3, dtype=torch.bool), batch=two),
        lambda: private.float_sums(torch.ones_like, fine, counted=torch.ones(2), batch=two),
        lambda: private.float_sums(torch.ones_like, fine, batch=()),
        lambda: private.float_sums(torch.ones_like, fine, batch=(torch.ones(()),)),
        lambda: private.float_sums(lambda a, b: a, fine, batch=(torch.ones(2), torch.ones(3))),
    ):
        with pytest.raises((InvalidInput, WrongType)) as refusal:
            call()
        assert refusal.value.fix


def test_sums_do_not_show_themselves():
    found = PrivateModel(nn.Linear(2, 2)).float_sums(torch.ones_like, Clipping(bounds=(1,)), batch=(torch.ones(3),))
    assert "tensor" not in repr(found)


def test_an_example_that_is_not_counted_adds_nothing():
    model = nn.Linear(3, 2)
    inputs = torch.randn(4, 3)
    kept = torch.tensor([True, False, True, True])
    private = PrivateModel(model)
    found = private.float_sums(
        lambda inputs: model(inputs).square().sum(1), Clipping(bounds=(1,)), counted=kept, batch=(inputs,)
    )
    wanted, within = plain_dpsgd.clipped_sums(
        lambda: model(inputs[kept]).square().sum(1), list(model.parameters()), 1.0
    )
    assert distance(found.sums, wanted) < CLOSE
    assert found.within.tolist() == [within]


def test_chunks_of_any_size_give_the_same_integers(monkeypatch):
    torch.manual_seed(5)
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Flatten(), nn.Linear(27, 4))
    inputs = torch.randn(20, 2, 5, 5)

    def run():
        return PrivateModel(model).exact_sums(
            lambda inputs: model(inputs).exp().sum(1), Clipping(bounds=(1,)), 2**12, batch=(inputs,)
        )

    whole = run()
    monkeypatch.setattr(sums, "AT_ONCE", 300)
    cut = run()
    # Rows of a product may be rounded otherwise in another chunk: then a step here or there.
    assert distance(cut.sums, [each.double() for each in whole.sums]) < 1e-3


class Pictures(nn.Module):
    """Convolutions whose outputs are looked at in some way."""

    def __init__(self, look):
        super().__init__()
        self.look = look
        self.first, self.second, self.last = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 3, 2), nn.Linear(36, 2)

    def forward(self, inputs):
        hidden = self.second(torch.nn.functional.max_pool2d(torch.relu(self.first(inputs)), 2, 1))
        return self.last(self.look(hidden))


def changed(flat):
    """Return a look that changes what `flat` makes of activations, and then uses the activations."""

    def look(hidden):
        flat(hidden).mul_(3)
        return hidden.flatten(1)

    return look


def changed_beside(flat):
    """Return a look that changes the activations, and then uses what `flat` made of them."""

    def look(hidden):
        found = flat(hidden)
        hidden.mul_(3)
        return found

    return look


def changed_behind(hidden):
    found = hidden.view(len(hidden), -1)
    hidden.data.mul_(3)
    return found


#: How a model may look at what a convolution made, and whether it may be laid out with the channels last all the same.
LOOKS = {
    "flatten": (lambda hidden: hidden.flatten(1), True),
    "view": (lambda hidden: hidden.view(len(hidden), -1), True),
    "reshape": (lambda hidden: torch.reshape(hidden, (-1, 36)), True),
    "transpose": (lambda hidden: hidden.mT.flatten(1), True),
    "view as": (lambda hidden: hidden.view_as(hidden.new_zeros(len(hidden), 36)), True),
    "changed itself": (lambda hidden: hidden.mul_(3).flatten(1), True),
    "a view that is changed": (changed(lambda hidden: hidden.view(len(hidden), -1)), False),
    "a flat one that is changed": (changed(lambda hidden: hidden.flatten(1)), False),
    "a reshaped one that is changed": (changed(lambda hidden: hidden.reshape(len(hidden), -1)), False),
    "one row that is changed": (changed(torch.ravel), False),
    "a contiguous one that is changed": (changed(lambda hidden: hidden.contiguous()), False),
    "a view beside what is changed": (changed_beside(lambda hidden: hidden.view(len(hidden), -1)), False),
    "a flat one beside what is changed": (
        changed_beside(lambda hidden: torch.flatten(input=hidden, start_dim=1)),
        False,
    ),
    "changed behind PyTorch's back": (changed_behind, False),
    "strides": (lambda hidden: hidden.flatten(1) * hidden.stride()[1], False),
    "strides of a part": (lambda hidden: hidden.flatten(1) * hidden[0].stride()[0], False),
    "strides of places": (lambda hidden: hidden.flatten(1) * hidden.flatten(2).stride()[1], False),
    "as strided": (lambda hidden: hidden.as_strided((len(hidden), 36), (36, 1)), False),
    "as strided, by name": (
        lambda hidden: torch.as_strided(input=hidden, size=(len(hidden), 36), stride=(36, 1)),
        False,
    ),
    "memory": (lambda hidden: hidden.flatten(1) * (2 - hidden.is_contiguous()), False),
    "memory of others": (lambda hidden: hidden.flatten(1) * (2 - hidden.permute(0, 2, 3, 1).is_contiguous()), False),
    "order": (lambda hidden: hidden.flatten(1) * (1 + hidden.dim_order()[1]), False),
    "an array": (lambda hidden: hidden.flatten(1) * (1.0 + hidden.detach().numpy().strides[1]), False),
}


@pytest.mark.parametrize("name", LOOKS)
def test_a_model_does_not_see_that_channels_are_last(name):
    look, stays = LOOKS[name]
    torch.manual_seed(4)
    model, inputs = Pictures(look), draw(1, 8, 8)[..., :7]
    private = PrivateModel(model)

    def losses(inputs=inputs):
        return model(inputs).square().sum(1)

    bound = middle_bound(model, losses)
    wanted, _ = plain_dpsgd.clipped_sums(losses, trainable(model), float(bound))
    for _ in range(3):
        assert distance(private.float_sums(losses, Clipping(bounds=(bound,)), batch=(inputs,)).sums, wanted) < CLOSE
    assert (private._pass.last and private._pass.unproved is None) == stays


def test_a_model_that_looks_at_the_layout_in_a_later_pass_sees_the_plain_one():
    torch.manual_seed(4)
    model, inputs = Pictures(lambda hidden: hidden.flatten(1)), draw(1, 8, 8)[..., :7]
    private = PrivateModel(model)

    def losses(inputs=inputs):
        return model(inputs).square().sum(1)

    private.float_sums(losses, Clipping(bounds=(1,)), batch=(inputs,))
    model.look = lambda hidden: hidden.flatten(1) * hidden.stride()[1]
    found = private.float_sums(losses, Clipping(bounds=(1,)), batch=(inputs,))
    wanted, _ = plain_dpsgd.clipped_sums(losses, trainable(model), 1.0)
    assert distance(found.sums, wanted) < CLOSE


class Remembering(nn.Module):
    """Keeps the mean of the first batch, and looks at the layout."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(1, 2, 2)
        self.register_buffer("mean", torch.full((1,), torch.nan))

    def forward(self, inputs):
        hidden = self.layer(inputs)
        if self.mean.isnan().any():
            self.mean.copy_(hidden.detach().mean())
        return (hidden * hidden.stride()[3] - self.mean).flatten(1).sum(1)


def test_what_a_pass_remembers_is_found_also_if_it_is_done_again():
    model, inputs = Remembering(), draw(1, 4, 4)
    with pytest.raises(InvalidInput, match="changed the buffer"):
        PrivateModel(model).float_sums(model, Clipping(bounds=(1,)), batch=(inputs,))


@pytest.mark.parametrize("width", [2047, 2048, 2049, 26_010, 2_000_003])
def test_norms_of_long_rows_lose_no_digits(width):
    rows = torch.full((2, width), 0.1) + torch.randn(2, width, generator=torch.Generator().manual_seed(8)) / 50
    wanted = rows.double().square().sum(1)
    assert ((calls.row_squares(rows) / wanted - 1).abs() < 2**-20).all()


class Watched(nn.Module):
    """Remembers, without holding on to it, what passed between its layers."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.between = nn.Linear(4, 3), nn.Linear(3, 2), []

    def forward(self, inputs):
        hidden = torch.tanh(self.first(inputs))
        self.between.append(weakref.ref(hidden))
        return self.second(hidden)


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "float"])
def test_nothing_of_a_pass_is_held_once_its_sums_are_there(exact):
    """Or memory grows with every batch, and old activations are private rows."""
    model = Watched()
    private, inputs = PrivateModel(model), torch.rand(EXAMPLES, 4)
    for _ in range(3):
        ask = private.exact_sums if exact else private.float_sums
        ask(lambda inputs: private(inputs).sum(1), Clipping(bounds=(1,)), *([2**10] if exact else []), batch=(inputs,))
    assert model.between
    assert not [held for held in model.between if held() is not None]


def test_nothing_of_a_pass_that_is_refused_is_held():
    model = Watched()
    private = PrivateModel(model)
    with pytest.raises(InvalidInput):
        private.float_sums(private, Clipping(bounds=(1,)), batch=(torch.ones((EXAMPLES, 4)),))
    assert not [held for held in model.between if held() is not None]
