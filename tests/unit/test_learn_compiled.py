"""What is compiled for training computes the same numbers as PyTorch and NumPy do."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional

from compiled_parts import WAYS, choose
from discreet.learn.torch import gradient_noise, grid, rounding
from discreet.learn.torch.clipping import Clipping, PrivateModel
from discreet.learn.torch.exact_sums import ExactSum
from discreet.learn.torch.gradient_noise import add_rounded_gaussian
from scripted import Seeded

#: Halves, which go to the even number; numbers that floats hardly hold; and what is none.
ODD = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -3.5, 0.49999997, 1e-45, 8388607.5, 16777216.0, -3e9, 1e30, float("inf")]


@pytest.fixture(autouse=True)
def _compiled(monkeypatch):
    choose("compiled", monkeypatch)


def same(left, right):
    """Tell whether numbers are the same, also where they are none."""
    return torch.equal(left.nan_to_num(nan=-7.0), right.nan_to_num(nan=-7.0))


@pytest.mark.parametrize("together", [0, 1, 3, 100])
@pytest.mark.parametrize("shape", [(9, 0), (9, 1), (9, 7), (9, 8), (9, 33), (9, 4, 5), (0, 6)], ids=str)
@pytest.mark.parametrize("how", [torch.round, torch.trunc])
def test_rows_are_rounded_as_by_pytorch(how, shape, together):
    torch.manual_seed(3)
    numbers, factors = torch.randn(shape) * 500, torch.rand(shape[0]) * 3
    by_c, by_torch = (
        rounding.rounded_rows(numbers, factors, how, together),
        rounding._by_torch(numbers, factors, how, together),
    )
    for name in ("rows", "squares", "largest", "added"):
        assert same(getattr(by_c, name), getattr(by_torch, name))
        assert getattr(by_c, name).dtype == getattr(by_torch, name).dtype


@pytest.mark.parametrize("how", [torch.round, torch.trunc])
def test_halves_and_numbers_that_are_none_are_rounded_as_by_pytorch(how):
    numbers = torch.tensor([ODD, ODD[::-1], [float("nan"), *ODD[1:]], [1.0] * len(ODD)])
    for factors in (torch.ones(4), torch.tensor([1.0, 0.5, 3.0, float("inf")])):
        by_c, by_torch = rounding.rounded_rows(numbers, factors, how), rounding._by_torch(numbers, factors, how, 0)
        for name in ("rows", "largest"):
            assert same(getattr(by_c, name), getattr(by_torch, name))
        assert (by_c.squares <= 2.0**52).tolist() == (by_torch.squares <= 2.0**52).tolist()


def test_rows_that_do_not_lie_one_after_another_are_rounded():
    numbers, factors = torch.randn(12, 10)[::2].t() * 30, torch.rand(20)[::2]
    by_c = rounding.rounded_rows(numbers, factors, torch.round, 2)
    assert torch.equal(by_c.rows, (numbers * factors[:, None]).round())
    assert by_c.rows.is_contiguous()


@pytest.mark.parametrize("size", [2.0**12 + 1, 2.0**24, 2.0**26, 2.0**26 + 8, 2.0**31])
def test_squared_norms_are_exact_or_not_below_what_floats_hold(size):
    rows = torch.full((1, 9), size)
    true = 9 * int(size) ** 2
    found = rounding.rounded_rows(rows, torch.ones(1), torch.round).squares.item()
    assert found == true if true < 2**53 else found >= 2**53


def test_factors_that_are_not_one_for_every_row_are_refused():
    with pytest.raises(ValueError, match="one factor for every row"):
        rounding.rounded_rows(torch.ones(3, 2), torch.ones(2), torch.round)


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
            lambda: functional.cross_entropy(model(inputs), labels, reduction="none"),
            Clipping(bounds=(Fraction(1, 3),)),
            steps,
            counted=counted,
        ).sums

    for mask in (None, counted):
        by_c = run(mask)
        with monkeypatch.context() as context:
            choose("in Python", context)
            assert all(torch.equal(a, b) for a, b in zip(by_c, run(mask), strict=True))


@pytest.mark.parametrize("way", WAYS)
def test_sums_are_of_the_rows_that_are_there_in_the_end(way, monkeypatch):
    choose(way, monkeypatch)
    rows = grid.Whole(torch.full((5, 4), 1.5), torch.full((5,), 9.0))
    made, shorter = (rows.on_grid(torch.ones(5), 1 << 23, how) for how in (torch.round, torch.trunc))

    def added():
        total = ExactSum(torch.Size((4,)))
        made.add_to(total, 1 << 23)
        return total.total().tolist()

    assert added() == [10.0] * 4
    made.keep(torch.tensor([True, False, True, True, False]), shorter)
    assert added() == [8.0] * 4
    made.drop(torch.tensor([True, True, False, True, True]))
    assert added() == [6.0] * 4
    assert made.squares().tolist() == [16.0, 4.0, 0.0, 16.0, 4.0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_noise_is_added_to_every_array_and_place(kind, way, monkeypatch):
    choose(way, monkeypatch)
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
    choose(way, monkeypatch)
    noise = np.arange(-20, 20, dtype=np.int32)
    noise[11] = sign * ((1 << 24) + 1)
    total = np.full(40, 5 * sign, np.float32)
    gradient_noise._add(total, slice(None), noise)
    assert total.tolist() == (5 * sign + noise.astype(np.int64)).astype(np.float32).tolist()
    assert total[11] != np.float32(noise[11]) + np.float32(5 * sign)
