"""Time must not tell the noise: how long a single draw takes, against how large it is."""

import time

import numpy as np
import pytest
from scipy import stats

from discreet import noise

DRAWS = 20_000
#: What a correlation may be. The deviation of one of independent series of this length is 0.007.
MOST = 0.05


def correlation(draw):
    """Return the rank correlation of a draw's duration with its magnitude."""
    clock = time.perf_counter_ns
    durations, sizes = np.empty(DRAWS), np.empty(DRAWS)
    for _ in range(1000):
        draw()
    for i in range(DRAWS):
        start = clock()
        value = draw()
        durations[i] = clock() - start
        sizes[i] = abs(value)
    return stats.spearmanr(durations, sizes).statistic


def steady(draw):
    """Return the middle of three correlations: a neighbour on the machine may disturb one."""
    return sorted(correlation(draw) for _ in range(3))[1]


def textbook(scale):
    """Draw a geometric variable by tossing until tails, as textbooks do."""
    count = 0
    while noise.bernoulli_exp(1 / scale):
        count += 1
    return count


@pytest.mark.parametrize("scale", [1, 10, 1000, 10**6, 10**9])
def test_the_time_of_a_laplace_draw_does_not_tell_its_size(scale):
    assert abs(steady(lambda: noise.laplace(scale))) < MOST


@pytest.mark.parametrize("variance", [1, 100, 10**6, 10**12])
def test_the_time_of_a_gaussian_draw_does_not_tell_its_size(variance):
    assert abs(steady(lambda: noise.gaussian(variance))) < MOST


def test_textbook_sampling_fails_the_same_test(monkeypatch):
    monkeypatch.setattr(f"{__name__}.DRAWS", 3000)
    assert correlation(lambda: textbook(10)) > 0.4


def test_one_draw_takes_less_than_fifty_microseconds():
    """CPU time, the best of several rounds, at a scale that was never used before."""
    for draw in (noise.laplace, noise.gaussian):
        rounds = []
        for step in range(20):
            start = time.process_time()
            for k in range(50):
                draw(1000 + 50 * step + k)
            rounds.append((time.process_time() - start) / 50)
        assert min(rounds) < 50e-6
