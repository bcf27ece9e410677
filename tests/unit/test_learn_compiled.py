"""What is compiled for training computes the same numbers as PyTorch and NumPy do."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from compiled_parts import ADDING, DRAWS, ROUNDING, WAYS, choose
from scripted import Seeded

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from discreet.learn.torch import dpsgd as gradient_noise  # noqa: E402
from discreet.learn.torch import rounding  # noqa: E402
from discreet.learn.torch.clipping import Clipping, PrivateModel  # noqa: E402
from discreet.learn.torch.dpsgd import add_rounded_gaussian  # noqa: E402
from discreet.learn.torch.per_example import grid  # noqa: E402
from discreet.learn.torch.rounding import ExactSum  # noqa: E402

#: Halves, which go to the even number; numbers that floats hardly hold; and what is none.
ODD = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -3.5, 0.49999997, 1e-45, 8388607.5, 16777216.0, -3e9, 1e30, float("inf")]


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    choose("compiled", monkeypatch, ADDING, ROUNDING)


def both(numbers, factors, monkeypatch, *, cut, together=3):
    """Return rows of integers with all that is told of them, by C and by PyTorch."""
    cuts = torch.full((len(numbers),), cut)

    def made():
        rows = rounding.round_rows(numbers, factors, cut=cut)
        return *rows, *rounding.add_rounded_rows(numbers, factors, cuts, together)

    by_c = made()
    with monkeypatch.context() as context:
        choose("in Python", context, ROUNDING)
        return list(zip(by_c, made(), strict=True))


@pytest.mark.parametrize("together", [1, 3, 100])
@pytest.mark.parametrize(
    "shape", [(9, 0), (9, 1), (9, 7), (9, 8), (9, 33), (9, 4, 5), (3, 512), (3, 513), (3, 1100), (0, 6)], ids=str
)
@pytest.mark.parametrize("cut", [False, True])
def test_rows_are_rounded_as_by_pytorch(cut, shape, together, monkeypatch):
    torch.manual_seed(3)
    numbers, factors = torch.randn(shape) * 500, torch.rand(shape[0]) * 3
    for by_c, by_torch in both(numbers, factors, monkeypatch, cut=cut, together=together):
        assert torch.equal(by_c, by_torch)
        assert by_c.dtype == by_torch.dtype


def test_each_row_is_rounded_as_it_says(monkeypatch):
    numbers, cut = torch.full((4, 9), 2.6), torch.tensor([True, False, False, True])
    for way in WAYS:
        choose(way, monkeypatch, ADDING, DRAWS, ROUNDING)
        squares, added = rounding.add_rounded_rows(numbers, torch.ones(4), cut, 2)
        assert squares.tolist() == [36, 81, 81, 36]
        assert added.tolist() == [[5] * 9, [5] * 9]
        squares, total = rounding.wide_sum(numbers, torch.ones(4), cut)
        assert squares.tolist() == [36, 81, 81, 36]
        assert (total.tolist(), total.dtype) == ([10] * 9, torch.float64)


@pytest.mark.parametrize("cut", [False, True])
def test_halves_and_numbers_that_are_none_are_rounded_as_by_pytorch(cut, monkeypatch):
    numbers = torch.tensor([ODD, ODD[::-1], [float("nan"), *ODD[1:]], [1.0] * len(ODD)])
    for factors in (torch.ones(4), torch.tensor([1.0, 0.5, 3.0, float("inf")])):
        rows, squares, *_ = both(numbers, factors, monkeypatch, cut=cut)
        assert torch.equal(rows[0].nan_to_num(nan=-7.0), rows[1].nan_to_num(nan=-7.0))
        assert (squares[0] <= 2.0**52).tolist() == (squares[1] <= 2.0**52).tolist()


def test_rows_that_do_not_lie_one_after_another_are_rounded():
    numbers, factors = torch.randn(12, 10)[::2].t() * 30, torch.rand(20)[::2]
    rows, _ = rounding.round_rows(numbers, factors, cut=False)
    assert torch.equal(rows, (numbers * factors[:, None]).round())
    assert rows.is_contiguous()


@pytest.mark.parametrize("size", [2.0**12 + 1, 2.0**24, 2.0**26, 2.0**26 + 8, 2.0**31])
def test_squared_norms_are_exact_or_not_below_what_floats_hold(size):
    rows = torch.full((1, 9), size)
    true = 9 * int(size) ** 2
    found = rounding.round_rows(rows, torch.ones(1), cut=False)[1].item()
    assert found == true if true < 2**53 else found >= 2**53


def test_factors_that_are_not_one_for_every_row_are_refused():
    with pytest.raises(ValueError, match="one factor for every row"):
        rounding.round_rows(torch.ones(3, 2), torch.ones(2), cut=False)


OUTER = [(1, 1), (7, 3), (8, 16), (30, 5), (600, 3), (3, 1100)]


def outer_of(shape, examples=40):
    """Return gradients and inputs, some of them nothing, or nearly, or large, and their squared norms."""
    torch.manual_seed(sum(shape))
    gradient, inputs = torch.randn(examples, shape[0]), torch.randn(examples, shape[1])
    gradient[0], inputs[1], gradient[2], inputs[3], gradient[4] = 0, 0, 1e-22, 1e12, 1e-3
    return gradient, inputs, (gradient.square().sum(1), inputs.square().sum(1))


@pytest.mark.parametrize("shape", OUTER, ids=str)
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("steps", [0.0, 0.3, 3e4, 1e9])
def test_both_factors_of_outer_products_are_rounded_as_by_pytorch(shape, cut, steps, monkeypatch):
    given = (*outer_of(shape), torch.rand(40) * steps)
    by_c = rounding.round_outer_products(*given, cut=cut)
    with monkeypatch.context() as context:
        choose("in Python", context, ROUNDING)
        by_torch = rounding.round_outer_products(*given, cut=cut)
    for name in ("gradient", "inputs", "squares", "largest"):
        # Squares beyond 2⁵³ are not exact, only not below it.
        mine, other = (getattr(one, name).clamp(max=2.0**53) for one in (by_c, by_torch))
        assert torch.equal(mine, other)
        assert mine.dtype == other.dtype


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float64])
def test_what_c_writes_to_has_its_own_type_whatever_the_default_is(kind):
    given = (*outer_of((9, 5)), torch.rand(40) * 3e3)
    before = torch.get_default_dtype()
    torch.set_default_dtype(kind)
    try:
        made = rounding.round_outer_products(*given, cut=False)
        rows, squares = rounding.round_rows(given[0], given[3], cut=False)
    finally:
        torch.set_default_dtype(before)
    products = torch.einsum("no,ni->noi", made.gradient.double(), made.inputs.double()).flatten(1)
    assert torch.equal(made.largest, products.abs().amax(1))
    assert torch.equal(made.squares, products.square().sum(1))
    assert torch.equal(squares, rows.double().square().sum(1))


def test_numbers_that_stand_for_their_negatives_are_rounded_as_such():
    numbers = torch._neg_view(torch.randn(8, 5))  # as the gradients of complex numbers come
    assert numbers.is_neg()
    assert numbers.is_contiguous()
    rows, _ = rounding.round_rows(numbers, torch.full((8,), 30.0), cut=False)
    assert torch.equal(rows, (numbers.resolve_neg() * 30).round())


def test_outer_products_that_do_not_fit_each_other_are_refused():
    gradient, inputs, squares = outer_of((3, 4))
    with pytest.raises(ValueError, match="for every row"):
        rounding.round_outer_products(gradient, inputs[:5], squares, torch.ones(40), cut=False)
    with pytest.raises(ValueError, match="for every row"):
        rounding.round_outer_products(gradient, inputs, squares, torch.ones(39), cut=False)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.last = nn.Embedding(9, 6), nn.Linear(6, 3)

    def forward(self, words):
        return self.last(self.words(words).mean(1))


CASES = {
    "dense": lambda: (nn.Sequential(nn.Linear(20, 30), nn.ReLU(), nn.Linear(30, 3)), torch.randn(300, 20)),
    "pictures": lambda: (
        nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3)),
        torch.randn(300, 1, 8, 8),
    ),
    "words": lambda: (Words(), torch.randint(0, 9, (300, 5))),
}


@pytest.mark.parametrize(("case", "steps"), list(itertools.product(CASES, (3, 2**14, 2**25))))
def test_exact_sums_are_the_same_whether_rounding_is_compiled_or_not(case, steps, monkeypatch):
    torch.manual_seed(2)
    model, inputs = CASES[case]()
    labels, counted = torch.randint(0, 3, (300,)), torch.rand(300) < 0.9
    private = PrivateModel(model)

    def run(counted):
        return private.exact_sums(
            lambda inputs, labels: functional.cross_entropy(model(inputs), labels, reduction="none"),
            Clipping(bounds=(Fraction(1, 3),)),
            steps,
            batch=(inputs, labels),
            counted=counted,
        ).sums

    for mask in (None, counted):
        by_c = run(mask)
        with monkeypatch.context() as context:
            choose("in Python", context, ROUNDING)
            assert all(torch.equal(a, b) for a, b in zip(by_c, run(mask), strict=True))


@pytest.mark.parametrize("way", WAYS)
def test_sums_are_of_the_rows_that_are_there_in_the_end(way, monkeypatch):
    choose(way, monkeypatch, ADDING, DRAWS, ROUNDING)
    rows = grid.Whole(torch.full((5, 4), 1.5), torch.full((5,), 9.0))
    steps = torch.ones(5)
    made, shorter = (rows.on_grid(steps, 1 << 23, cut=cut) for cut in (False, True))

    def added(integers):
        total = ExactSum(torch.Size((4,)))
        integers.add_to(total, 1 << 23)
        return total.total().tolist()

    assert added(made) == [10.0] * 4
    made.keep(torch.tensor([True, False, True, True, False]), shorter)
    assert added(made) == [8.0] * 4
    for integers, left in ((made, 6.0), (shorter, 4.0)):
        integers.drop(torch.tensor([True, True, False, True, True]))
        assert added(integers) == [left] * 4
    assert made.squares().tolist() == [16.0, 4.0, 0.0, 16.0, 4.0]
    assert steps.tolist() == [1.0] * 5  # they are other parameters', too


@pytest.mark.parametrize("way", WAYS)
def test_examples_that_leave_add_nothing(way, monkeypatch):
    choose(way, monkeypatch, ROUNDING)
    kept, bound = torch.tensor([True, False, True]), 2**10
    outer = grid.Outer(torch.ones(3, 2), torch.ones(3, 4), (torch.full((3,), 2.0), torch.full((3,), 4.0)))
    rows = grid.EmbeddingRows(torch.tensor([0, 1, 1, 2]), torch.tensor([4, 0, 4, 1]), torch.ones(4, 2), 3, 2)
    for part, shape in ((outer, (2, 4)), (rows, (5, 2))):
        made = part.on_grid(torch.full((3,), 30.0), bound, cut=False)
        everyone, others = ExactSum(torch.Size(shape)), ExactSum(torch.Size(shape))
        made.add_to(everyone, bound)
        made.drop(kept)
        made.add_to(others, bound)
        assert made.squares().tolist()[1] == 0
        assert 0 < others.total().sum() < everyone.total().sum()
    assert everyone.total()[0].tolist() == [30.0] * 2
    assert others.total()[0].tolist() == [0.0] * 2  # a word that the second example has alone


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_noise_is_added_to_every_array_and_place(kind, way, monkeypatch):
    choose(way, monkeypatch, ADDING, DRAWS, ROUNDING)
    totals = [np.full(size, 7, kind) for size in (70_000, 0, 3, 150_000, 1)]
    add_rounded_gaussian(totals, Fraction(1000), Seeded(5))
    together = [np.full(sum(map(len, totals)), 7, kind)]
    add_rounded_gaussian(together, Fraction(1000), Seeded(5))
    assert np.array_equal(np.concatenate(totals), together[0])
    assert abs(together[0].std() - 1000) < 10  # six deviations of it
    assert (together[0] != 7).mean() > 0.99


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("sign", [1, -1])
def test_one_draw_that_32_bits_do_not_hold_is_not_rounded_before_it_is_added(sign, way, monkeypatch):
    choose(way, monkeypatch, ADDING, DRAWS, ROUNDING)
    noise = np.arange(-20, 20, dtype=np.int32)
    noise[11] = sign * ((1 << 24) + 1)
    total = np.full(40, 5 * sign, np.float32)
    gradient_noise._add(total, slice(None), noise)
    assert total.tolist() == (5 * sign + noise.astype(np.int64)).astype(np.float32).tolist()
    assert total[11] != np.float32(noise[11]) + np.float32(5 * sign)
