"""The sparse vector technique keeps its promise, attains it, and the search that says so catches those that do not."""

import math
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import product

import numpy as np
import pytest
from scipy.stats import dlaplace

from claims.broken_sparse_vectors import (
    AUDIT_RUNS,
    Buffered,
    KeepsItsThreshold,
    TellsWhatItCompared,
    audit,
    chen_2015,
    fit,
    lee_clifton_2014,
    repaired,
    roth_2011,
    rows_of_answers,
    rows_of_values,
    stoddard_2014,
    worst_ratio,
)
from discreet.accounting import Pure
from discreet.mechanisms import AboveThreshold, NumericSparse, Sparse
from discreet.noise import laplace
from scripted import Seeded

#: Relative error of sums of floats, where the truth may lie on the bound.
FLOAT = 1e-9
#: How often a test of fit may fail on a correct mechanism; the seeds make sure that it does not do so twice.
ALPHA = 1e-4
#: Two neighbours: one unit raises the first queries and lowers the last, or the other way round.
AUDIT_PAIRS = [((-1, -1, -1, 0), (0, 0, 0, -1)), ((-1, -1, 0, 0), (0, 0, -1, -1))]


def both_ways(length, sensitivity):
    return product(range(-sensitivity, sensitivity + 1), repeat=length)


def one_way(length, sensitivity):
    return product(range(sensitivity + 1), repeat=length)


def worst_of(mechanism, length, reach):
    moves = one_way if mechanism.monotone else both_ways
    return worst_ratio(
        mechanism.probability,
        length=length,
        values=range(-reach, reach + 1),
        moves=moves(length, mechanism.sensitivity),
        outputs=rows_of_answers(length, mechanism.answers),
    )


# What is promised


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("epsilon", "answers"), [(0.3, 1), (1, 2), (1, 3), (4, 2)])
def test_no_row_of_answers_tells_two_neighbours_apart_by_more_than_epsilon(epsilon, answers, monotone):
    mechanism = Sparse(epsilon=epsilon, threshold=0, answers=answers, monotone=monotone)
    assert mechanism.cost == Pure(epsilon)
    assert 0.3 * epsilon <= worst_of(mechanism, length=4, reach=1) <= epsilon * (1 + FLOAT)
    assert 0.3 * epsilon <= worst_of(mechanism, length=3, reach=3) <= epsilon * (1 + FLOAT)


@pytest.mark.parametrize("monotone", [False, True])
def test_the_promise_holds_for_larger_sensitivities_odd_shares_and_longer_streams(monotone):
    wide = Sparse(epsilon=2, threshold=0, answers=2, sensitivity=2, monotone=monotone)
    assert worst_of(wide, length=3, reach=3) <= 2 * (1 + FLOAT)
    for share in (0.1, 0.5, 0.9):
        odd = Sparse(epsilon=1, threshold=0, answers=1, monotone=monotone, threshold_share=share)
        assert worst_of(odd, length=3, reach=2) <= 1 + FLOAT
    long = Sparse(epsilon=1.5, threshold=0, answers=2, monotone=monotone)
    assert 1 <= worst_of(long, length=5, reach=1) <= 1.5 * (1 + FLOAT)


@pytest.mark.parametrize("share", [None, 0.2, 0.7])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("answers", "length", "window"), [(1, 3, range(-3, 4)), (2, 3, range(-1, 2))])
def test_no_row_of_values_tells_two_neighbours_apart_by_more_than_epsilon(answers, length, window, monotone, share):
    mechanism = NumericSparse(epsilon=1, threshold=0, answers=answers, monotone=monotone, value_share=share)
    worst = worst_ratio(
        mechanism.probability,
        length=length,
        values=range(-1, 2),
        moves=one_way(length, 1) if monotone else both_ways(length, 1),
        outputs=rows_of_values(length, answers, window),
    )
    assert 0.5 <= worst <= 1 + FLOAT


def high_then_low(sparse):
    """Make the rows that are worst for privacy: enough queries far above to push the noisy threshold up.

    If they are all answered False, ρ was large; and then the queries below that are answered True needed large ν.
    """
    negatives = math.floor(sparse.answers + sparse.query_scale / sparse.threshold_scale) + 2
    far = math.ceil(10 * sparse.query_scale)
    return [sparse.threshold + far] * negatives, [sparse.threshold - sparse.sensitivity] * sparse.answers


def ratio(mechanism, first, second, outputs):
    return math.log(mechanism.probability(first, outputs) / mechanism.probability(second, outputs))


@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize(("epsilon", "answers", "sensitivity"), [(0.1, 1, 1), (1, 1, 1), (1, 3, 1), (3, 2, 2)])
def test_the_promise_is_tight(epsilon, answers, sensitivity, monotone):
    """The stated ε is attained to one part in a hundred thousand; less noise would break it."""
    mechanism = Sparse(epsilon=epsilon, threshold=7, answers=answers, sensitivity=sensitivity, monotone=monotone)
    high, low = high_then_low(mechanism)
    raised = [value + sensitivity for value in high]
    lowered = low if monotone else [value - sensitivity for value in low]
    outputs = [False] * len(high) + [True] * len(low)
    attained = ratio(mechanism, high + low, raised + lowered, outputs)
    assert 0.99999 * epsilon <= attained <= epsilon * (1 + FLOAT)


def test_monotone_noise_is_too_little_for_queries_that_move_both_ways():
    mechanism = Sparse(epsilon=1, threshold=0, answers=2, monotone=True)
    high, low = high_then_low(mechanism)
    outputs = [False] * len(high) + [True] * len(low)
    attained = ratio(mechanism, high + low, [value + 1 for value in high] + [value - 1 for value in low], outputs)
    assert attained > 1.5


def test_the_promise_for_values_is_tight():
    mechanism = NumericSparse(epsilon=1, threshold=0, answers=2)
    high, low = high_then_low(mechanism.comparisons)
    outputs = [None] * len(high) + [5] * len(low)
    neighbour = [value + 1 for value in high] + [value - 1 for value in low]
    assert 0.99999 <= ratio(mechanism, high + low, neighbour, outputs) <= 1 + FLOAT


@pytest.mark.parametrize("share", [None, 0.2, 0.7])
def test_monotone_values_cost_two_of_their_three_parts_and_each_pair_is_attained(share):
    mechanism = NumericSparse(epsilon=1, threshold=0, answers=2, monotone=True, value_share=share)
    threshold, query = mechanism.comparisons.threshold_epsilon, mechanism.comparisons.query_epsilon
    value = mechanism.value_epsilon
    assert max(threshold + query, threshold + value, query + value) == 1
    assert share is not None or threshold == query == value == Fraction(1, 2)
    high, low = high_then_low(mechanism.comparisons)
    raised = [answer + 1 for answer in high]
    none = [None] * len(high)
    attained = {
        threshold + query: ratio(mechanism, high + low, raised + low, [*none, 5, 5]),
        threshold + value: ratio(mechanism, high + low, raised + [answer + 1 for answer in low], [*none, -5, -5]),
        query + value: ratio(mechanism, high + low, high + [answer - 1 for answer in low], [*none, 5, 5]),
    }
    for parts, leak in attained.items():
        assert 0.99999 * parts <= leak <= parts * (1 + FLOAT)


@pytest.mark.parametrize("answers", [1, 3, 1000])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_parts_make_up_epsilon_exactly_and_stand_in_the_best_proportion(answers, monotone):
    mechanism = Sparse(epsilon=0.7, threshold=0, answers=answers, monotone=monotone)
    assert mechanism.threshold_epsilon + mechanism.query_epsilon == Fraction(7, 10)
    best = (answers if monotone else 2 * answers) ** (2 / 3)
    assert float(mechanism.query_epsilon / mechanism.threshold_epsilon) == pytest.approx(best, rel=1e-3)

    def variance(threshold_share):
        other = Sparse(epsilon=0.7, threshold=0, answers=answers, monotone=monotone, threshold_share=threshold_share)
        return other.threshold_scale**2 + other.query_scale**2

    share = mechanism.threshold_share
    assert variance(share) < min(variance(share * Fraction(9, 10)), variance(share * Fraction(11, 10)))


def test_half_and_half_is_the_textbook_s_above_threshold():
    classic = AboveThreshold(epsilon=0.5, threshold=10, sensitivity=3, threshold_share=Fraction(1, 2)).sparse
    assert (classic.threshold_scale, classic.query_scale) == (2 * 3 / Fraction(1, 2), 4 * 3 / Fraction(1, 2))
    ours = AboveThreshold(epsilon=0.5, threshold=10, sensitivity=3)
    assert ours.error(0.95, queries=100) < classic.error(0.95, queries=100)


# What was published and is broken


BROKEN = {
    "roth 2011": roth_2011(2, 1),
    "lee, clifton 2014": lee_clifton_2014(2, 2),
    "stoddard and others 2014": stoddard_2014(2),
    "chen and others 2015": chen_2015(2),
}


@pytest.mark.parametrize("name", BROKEN)
def test_the_same_search_finds_the_leak_in_every_broken_version(name):
    variant = BROKEN[name]
    outputs = (
        rows_of_values(3, variant.cutoff, range(-2, 3))
        if variant.tells_noisy_answer
        else rows_of_answers(3, variant.cutoff)
    )
    worst = worst_ratio(variant.probability, length=3, values=range(-2, 3), moves=both_ways(3, 1), outputs=outputs)
    assert worst > 1.25 * variant.epsilon


def test_algorithm_4_leaks_as_much_as_was_proved_of_it_and_no_more():
    """Lyu, Su, Li 2017: it is (1 + 6c)/4·ε-private, and the row that is worst for ours attains that."""
    variant = lee_clifton_2014(1, 2)
    answers, neighbour = [40] * 6 + [-1] * 2, [41] * 6 + [-2] * 2
    outputs = [False] * 6 + [True] * 2
    attained = math.log(variant.probability(answers, outputs) / variant.probability(neighbour, outputs))
    assert 0.999 * 13 / 4 <= attained <= 13 / 4 * (1 + FLOAT)


@pytest.mark.parametrize("variant", [roth_2011(1, 1), chen_2015(1)], ids=["roth 2011", "chen and others 2015"])
def test_algorithms_3_and_6_leak_more_the_longer_they_run(variant):
    leaks = []
    for length in (4, 8, 16):
        if variant.tells_noisy_answer:
            rows = [-1] * length + [0], [0] * length + [-1]
            outputs = [None] * length + [0]
        else:
            rows = [-1] * length + [0] * length, [0] * length + [-1] * length
            outputs = [False] * length + [True] * length
        first, second = (variant.probability(row, outputs) for row in rows)
        leaks.append(math.log(first / second))
    assert leaks[0] > 1.5
    assert leaks[1] > 1.5 * leaks[0]
    assert leaks[2] > 1.5 * leaks[1]


# What is drawn


def drawn(mechanism, answers, runs, seed):
    """Count the outputs of real streams."""
    entropy, counts = Buffered(seed), Counter()
    for _ in range(runs):
        stream, outputs = mechanism.start(entropy=entropy), []
        for answer in answers:
            if stream.finished:
                break
            outputs.append(stream.ask(answer))
        counts[tuple(outputs)] += 1
    return counts


@pytest.mark.parametrize(("name", "pair"), list(zip(BROKEN, [0, 1, 1, 1], strict=True)))
def test_an_audit_from_outside_catches_every_broken_version(name, pair):
    variant = BROKEN[name]
    found = audit(variant.draw, *AUDIT_PAIRS[pair], runs=AUDIT_RUNS, seed=100)
    assert found > 1.2 * variant.epsilon


@pytest.mark.parametrize(
    ("mechanism", "pair", "runs"),
    [
        (Sparse(epsilon=2, threshold=0, answers=1), 0, AUDIT_RUNS),
        (Sparse(epsilon=2, threshold=0, answers=2), 1, AUDIT_RUNS),
        (NumericSparse(epsilon=2, threshold=0, answers=1), 0, AUDIT_RUNS // 4),
    ],
    ids=["one answer", "two answers", "values"],
)
def test_the_same_audit_finds_nothing_against_ours(mechanism, pair, runs):
    found = audit(partial(drawn, mechanism), *AUDIT_PAIRS[pair], runs=runs, seed=200)
    assert 0 < found <= 2


@pytest.mark.parametrize(
    "mechanism",
    [
        Sparse(epsilon=1, threshold=50, answers=2),
        Sparse(epsilon=3, threshold=50, answers=1, sensitivity=2, threshold_share=0.6),
        Sparse(epsilon=0.4, threshold=50, answers=3, monotone=True),
    ],
    ids=str,
)
def test_streams_give_every_row_of_answers_as_often_as_stated(mechanism):
    answers = (49, 52, 50, 47)
    law = {row: mechanism.probability(answers, row) for row in rows_of_answers(4, mechanism.answers)}
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    assert fit(drawn(mechanism, answers, 20_000, seed=3), law) > ALPHA


def test_the_stated_probabilities_are_those_of_the_definition():
    """Against a sum written apart from the package, on SciPy's discrete Laplace law."""
    for monotone, answers in product((False, True), (1, 2, 3)):
        mechanism = Sparse(epsilon=1.3, threshold=0, answers=answers, sensitivity=2, monotone=monotone)
        reference = repaired(mechanism)
        for row in rows_of_answers(4, answers):
            stated = mechanism.probability((-9, 30, 1, 2), row)
            assert stated == pytest.approx(reference.probability((-9, 30, 1, 2), row), rel=1e-11)


def test_a_row_that_goes_on_after_the_last_positive_answer_is_impossible():
    mechanism = Sparse(epsilon=1, threshold=0, answers=1)
    assert mechanism.probability([0, 0], [True, False]) == 0
    assert mechanism.probability([0, 0], [True, True]) == 0
    assert mechanism.probability([0, 0], []) == pytest.approx(1, abs=1e-12)


def value_law(mechanism, answers):
    rows = rows_of_values(len(answers), mechanism.answers, range(-60, 61))
    return {row: mechanism.probability(answers, row) for row in rows}


def test_values_are_given_as_often_as_stated():
    mechanism = NumericSparse(epsilon=2, threshold=2, answers=1)
    law = value_law(mechanism, (0, 1, 3))
    assert sum(law.values()) == pytest.approx(1, abs=1e-12)
    assert fit(drawn(mechanism, (0, 1, 3), 10_000, seed=4), law) > ALPHA


def test_values_that_reuse_the_noise_of_the_comparison_would_be_caught():
    mechanism = NumericSparse(epsilon=2, threshold=2, answers=1)
    law = value_law(mechanism, (0, 1, 3))
    assert fit(drawn(TellsWhatItCompared(mechanism), (0, 1, 3), 10_000, seed=4), law) < ALPHA**3


def drawn_in_pairs(mechanism, answers, runs, seed):
    entropy, counts = Buffered(seed), Counter()
    for _ in range(runs):
        pair = [mechanism.start(entropy=entropy), mechanism.start(entropy=entropy)]
        counts[tuple(stream.ask(answer) for stream in pair for answer in answers)] += 1
    return counts


def test_a_second_stream_owes_nothing_to_the_first_and_reused_threshold_noise_would_be_caught():
    mechanism = Sparse(epsilon=1, threshold=0, answers=3)
    rows = list(rows_of_answers(2))
    law = {a + b: mechanism.probability((0, 0), a) * mechanism.probability((0, 0), b) for a in rows for b in rows}
    assert fit(drawn_in_pairs(mechanism, (0, 0), 10_000, seed=5), law) > ALPHA
    assert fit(drawn_in_pairs(KeepsItsThreshold(mechanism), (0, 0), 10_000, seed=5), law) < ALPHA**3


# What the error says


def failure_chance(mechanism, alpha, queries):
    """Return how often one of so many queries, each on the worse side of the noisy threshold, is more than α off."""
    rho = np.arange(math.ceil(60 * mechanism.threshold_scale))
    weights = np.exp(-rho / float(mechanism.threshold_scale))
    weights[1:] *= 2
    right = dlaplace.cdf(alpha - rho, float(1 / mechanism.query_scale))
    return float((weights / weights.sum() * (1 - right**queries)).sum())


@pytest.mark.parametrize("confidence", [0.9, 0.999999])
@pytest.mark.parametrize("queries", [1, 30, 10_000])
@pytest.mark.parametrize("share", [None, 0.05, 0.95])
def test_the_stated_error_holds_and_is_nearly_the_least_that_does(confidence, queries, share):
    mechanism = Sparse(epsilon=1, threshold=0, answers=2, threshold_share=share)
    stated = mechanism.error(confidence, queries=queries)
    assert failure_chance(mechanism, stated, queries) <= 1 - confidence
    least = next(alpha for alpha in range(stated + 1) if failure_chance(mechanism, alpha, queries) <= 1 - confidence)
    assert stated <= 1.2 * least + 1


def test_the_stated_error_beats_the_textbook_s():
    """Dwork, Roth 2014, Theorem 3.24: 8·(ln k + ln(2/β))/ε."""
    for queries in (1, 10, 1000):
        textbook = 8 * (math.log(queries) + math.log(2 / 0.05)) / 0.5
        assert AboveThreshold(epsilon=0.5, threshold=0).error(0.95, queries=queries) < 0.75 * textbook


def test_measured_errors_lie_within_the_stated_one_and_near_it():
    mechanism = Sparse(epsilon=2, threshold=100, answers=10)
    stated = mechanism.error(0.9, queries=20)

    def wrong(distance, entropy):
        """Whether a stream errs on queries that alternate between both sides of the threshold."""
        stream = mechanism.start(entropy=entropy)
        low = any(stream.ask(100 - distance) for _ in range(10) if not stream.finished)
        return low or not all(stream.ask(100 + distance) for _ in range(10) if not stream.finished)

    entropy, runs = Seeded(6), 2000
    assert sum(wrong(stated + 1, entropy) for _ in range(runs)) <= 0.1 * runs
    assert sum(wrong(int(0.7 * stated), entropy) for _ in range(runs)) > 0.1 * runs


def test_measured_value_errors_lie_within_the_stated_one_and_near_it():
    mechanism = NumericSparse(epsilon=1, threshold=0, answers=4)
    stated = mechanism.value_error(0.9)
    noise = np.abs(laplace(mechanism.value_scale, (50_000, 4), entropy=Seeded(7))).max(axis=1)
    # 50 000 runs: three standard deviations of a frequency near 0.9 are 0.004.
    assert (noise <= stated).mean() >= 0.9 - 0.004
    assert (noise <= stated - 1).mean() <= 0.9 + 0.004
