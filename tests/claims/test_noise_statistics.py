"""Chi-square tests of what the samplers draw: they cannot prove exactness, but they would see a blunder."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from discreet import noise
from scripted import Seeded

#: With seeds fixed, a test passes for good or fails for good; a right sampler fails one seed in 10,000.
ALPHA = 1e-4

CASES = [("laplace", Fraction(s)) for s in ("1/2", "1", "10", "1000", "1000000")]
CASES += [("gaussian", Fraction(s) ** 2) for s in ("1/2", "1", "10", "1000", "1000000")]
CASES += [("geometric", Fraction(s)) for s in ("1/2", "10", "1000000")]


def cumulative(kind, parameter, k):
    """Return P[X ≤ k] in floats, from the closed form or by summing."""
    k = np.asarray(k, np.float64)
    if kind == "gaussian":
        width = math.sqrt(parameter)
        if width > 300:
            return stats.norm.cdf((k + 0.5) / width)
        reach = math.ceil(12 * width) + 3
        points = np.arange(-reach, reach + 1)
        sums = np.cumsum(np.exp(-(points**2) / (2 * float(parameter))))
        return sums[np.clip(k.astype(int) + reach, 0, 2 * reach)] / sums[-1]
    scale = float(parameter)
    if kind == "geometric":
        return -np.expm1(-(k + 1) / scale)
    ratio = math.exp(-1 / scale)
    positive = 1 - np.exp(-(np.abs(k) + 1) / scale) / (1 + ratio)
    return np.where(k >= 0, positive, np.exp(-np.abs(k) / scale) / (1 + ratio))


def p_value(values, kind, parameter):
    """Chi-square over bins whose edges come from the distribution, not from the sample."""
    width = math.sqrt(parameter) if kind == "gaussian" else float(parameter)
    reach = max(3, math.ceil(6 * width))
    edges = np.unique(np.linspace(-1 if kind == "geometric" else -reach, reach, 200).astype(np.int64))
    chances = np.diff(np.concatenate([[0.0], cumulative(kind, parameter, edges), [1.0]]))
    counts = np.bincount(np.searchsorted(edges, values, side="left"), minlength=len(edges) + 1)
    kept = chances * len(values) >= 10
    observed = np.append(counts[kept], counts[~kept].sum())
    expected = np.append(chances[kept], chances[~kept].sum()) * len(values)
    if expected[-1] < 10:
        observed, expected = fold(observed), fold(expected)
    expected *= observed.sum() / expected.sum()
    return stats.chisquare(observed, expected).pvalue


def fold(array):
    return np.append(array[:-2], array[-2:].sum())


@pytest.mark.parametrize(("kind", "parameter"), CASES, ids=str)
def test_table_draws_follow_their_distribution(kind, parameter):
    values = getattr(noise, kind)(parameter, 300_000, entropy=Seeded(11))
    assert p_value(values, kind, parameter) > ALPHA


@pytest.mark.parametrize(("kind", "parameter"), CASES, ids=str)
def test_single_draws_follow_their_distribution(kind, parameter):
    stream = Seeded(12)
    values = np.array([getattr(noise, kind)(parameter, entropy=stream) for _ in range(20_000)])
    assert p_value(values, kind, parameter) > ALPHA


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "parameter"), CASES, ids=str)
def test_ten_million_table_draws_follow_their_distribution(kind, parameter):
    values = getattr(noise, kind)(parameter, 10_000_000, entropy=Seeded(13))
    assert p_value(values, kind, parameter) > ALPHA


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "parameter"), CASES, ids=str)
def test_ten_million_draws_from_the_real_stream_follow_their_distribution(kind, parameter):
    """The only test that may fail by luck: once in 10⁷ runs a case."""
    values = getattr(noise, kind)(parameter, 10_000_000)
    assert p_value(values, kind, parameter) > 1e-7


def test_low_bits_of_wide_noise_are_uniform():
    """Blocks and their inner bits are drawn apart; together they must leave no pattern."""
    values = noise.laplace(10**6, 400_000, entropy=Seeded(14))
    for modulus in (2, 3, 16, 1 << 10):
        counts = np.bincount(values % modulus, minlength=modulus)
        assert stats.chisquare(counts).pvalue > ALPHA
    pairs = np.bincount((values[:-1] & 7) * 8 + (values[1:] & 7), minlength=64)
    assert stats.chisquare(pairs).pvalue > ALPHA
