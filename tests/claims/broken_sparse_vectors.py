"""Sparse vector techniques as they were published before 2017: four that leak, and how likely each output is.

Lyu, Su and Li (2017, Figure 1) collected six versions; Algorithms 3 to 6 do not satisfy what was claimed. They are
written here on discrete Laplace noise, from their definitions and apart from the package, with the correct one
(`repaired`) beside them as a reference. Outputs are rows of True and False, or of values and None.
"""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from scipy.stats import beta, chisquare, dlaplace

from discreet.mechanisms.sparse_vector.stream import NumericSparseStream
from discreet.noise import laplace
from scripted import Seeded

#: How often the audit may accuse a correct mechanism.
AUDIT_ALPHA = 1e-6
#: Runs on each side that look for an event, and as many again that test it.
AUDIT_RUNS = 20_000
#: Codes in arrays of draws for "not above" and "the stream had ended"; no value comes near them.
BELOW, ENDED = -(10**6), -(10**6) - 1


class Buffered(Seeded):
    """The words of a seeded stream, drawn in bulk: streams take one at a time."""

    _words: tuple[int, ...] | list[int] = ()

    def word(self) -> int:
        if not self._words:
            self._words = self._generator.integers(0, 1 << 64, 4096, np.uint64).tolist()
        return self._words.pop()


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Threshold 0, one ρ, a fresh ν for each query or none, a cut-off or none, q + ν itself as output or not."""

    epsilon: Fraction
    threshold_scale: Fraction
    query_scale: Fraction | None
    cutoff: int | None
    tells_noisy_answer: bool = False

    def draw(self, answers, runs, seed) -> Counter:
        """Count the outputs of so many runs on the same exact answers."""
        entropy = Seeded(seed)
        noisy = np.tile(np.array(answers, np.int64), (runs, 1))
        if self.query_scale is not None:
            noisy += laplace(self.query_scale, (runs, len(answers)), entropy=entropy)
        above = noisy >= laplace(self.threshold_scale, (runs, 1), entropy=entropy)
        coded = np.where(above, noisy if self.tells_noisy_answer else 1, BELOW)
        if self.cutoff is not None:
            coded[np.cumsum(above, axis=1) - above >= self.cutoff] = ENDED
        rows, counts = np.unique(coded, axis=0, return_counts=True)
        return Counter({self._decode(row): int(count) for row, count in zip(rows.tolist(), counts, strict=True)})

    def _decode(self, row):
        if self.tells_noisy_answer:
            return tuple(None if code == BELOW else code for code in row if code != ENDED)
        return tuple(code != BELOW for code in row if code != ENDED)

    def probability(self, answers, outputs) -> float:
        """Sum over ρ, far enough out that what is left out is below e⁻⁴⁵ of the whole."""
        far = int(45 * self.threshold_scale) + 8 * len(answers) + max(map(abs, answers), default=0)
        rho = np.arange(-far, far + 1)
        chances = dlaplace.pmf(rho, float(1 / self.threshold_scale))
        for answer, output in zip(answers, outputs, strict=False):
            chances = chances * self._chance(rho - answer, answer, output)
        return float(chances.sum())

    def _chance(self, needed, answer, output):
        """How likely one output is, for each value of the noise that the query needs to be above."""
        if self.query_scale is None:
            return (needed <= 0) == output
        rate = float(1 / self.query_scale)
        if output is None or output is False:
            return dlaplace.cdf(needed - 1, rate)
        if output is True:
            return dlaplace.cdf(-needed, rate)  # P(ν ≥ a) = P(ν ≤ −a); 1 − cdf would lose its digits
        return dlaplace.pmf(output - answer, rate) * (output - answer >= needed)


def roth_2011(epsilon, cutoff) -> Variant:
    """Algorithm 3, from lecture notes: tells the noisy answer that it compared, with noise of half the size."""
    half = Fraction(epsilon) / 2
    return Variant(
        epsilon=2 * half,
        threshold_scale=1 / half,
        query_scale=cutoff / half,
        cutoff=cutoff,
        tells_noisy_answer=True,
    )


def lee_clifton_2014(epsilon, cutoff) -> Variant:
    """Algorithm 4: noise on the queries that does not grow with the cut-off. It is ((1 + 6c)/4)·ε-private."""
    quarter = Fraction(epsilon) / 4
    return Variant(epsilon=4 * quarter, threshold_scale=1 / quarter, query_scale=1 / (3 * quarter), cutoff=cutoff)


def stoddard_2014(epsilon) -> Variant:
    """Algorithm 5: no noise on the queries, and no cut-off."""
    half = Fraction(epsilon) / 2
    return Variant(epsilon=2 * half, threshold_scale=1 / half, query_scale=None, cutoff=None)


def chen_2015(epsilon) -> Variant:
    """Algorithm 6: noise on the queries, but no cut-off."""
    half = Fraction(epsilon) / 2
    return Variant(epsilon=2 * half, threshold_scale=1 / half, query_scale=1 / half, cutoff=None)


def repaired(mechanism) -> Variant:
    """Return the correct one, with the noise that one of our mechanisms says it has."""
    return Variant(
        epsilon=mechanism.epsilon,
        threshold_scale=mechanism.threshold_scale,
        query_scale=mechanism.query_scale,
        cutoff=mechanism.answers,
    )


def rows_of_answers(length, cutoff=None):
    """All rows of True and False that a stream can give to so many queries."""
    for row in product((False, True), repeat=length):
        if cutoff is None or sum(row) < cutoff or (sum(row) == cutoff and row[-1]):
            yield row
    for shorter in range(1, length):
        for row in product((False, True), repeat=shorter):
            if cutoff is not None and sum(row) == cutoff and row[-1]:
                yield row


def rows_of_values(length, cutoff, window):
    """All rows that a stream of values can give to so many queries, as far as the values lie in a window."""
    for row in rows_of_answers(length, cutoff):
        yield from product(*(window if above else (None,) for above in row))


def worst_ratio(law, *, length, values, moves, outputs):
    """Return the largest |log-ratio| of any output on any two rows of exact answers that lie one move apart.

    `law(answers, output)` is a probability, `values` a range of exact answers, `moves` the moves that one unit makes.
    """
    outputs = list(outputs)
    table = np.array([[law(answers, output) for output in outputs] for answers in product(values, repeat=length)])
    table = table.reshape((len(values),) * length + (len(outputs),))
    worst = 0.0
    for move in moves:
        before = tuple(slice(max(0, -step), len(values) - max(0, step)) for step in move)
        after = tuple(slice(max(0, step), len(values) - max(0, -step)) for step in move)
        worst = max(worst, _largest_log_ratio(table[before], table[after]))
    return worst


def _largest_log_ratio(first, second) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.abs(np.log(first) - np.log(second))
    return float(np.nanmax(ratios, initial=0.0))  # an output impossible on both sides tells nothing


def audit(draw, first, second, *, runs, seed):
    """Return a lower bound on the ε of a black box, wrong with probability AUDIT_ALPHA at most.

    `draw(answers, runs, seed)` counts outputs. One half of the runs picks the event that looks worst, the other half
    measures it, by Clopper and Pearson.
    """
    rows = first, second
    tried = [draw(row, runs, seed + which) for which, row in enumerate(rows)]
    suspects = [(one, other, event) for one, other in ((0, 1), (1, 0)) for event in tried[one]]
    one, other, event = max(suspects, key=lambda who: least_epsilon(tried[who[0]][who[2]], tried[who[1]][who[2]], runs))
    return least_epsilon(draw(rows[one], runs, seed + 2)[event], draw(rows[other], runs, seed + 3)[event], runs)


def least_epsilon(often, seldom, runs):
    if not often:
        return -math.inf
    low = beta.ppf(AUDIT_ALPHA / 2, often, runs - often + 1)
    high = beta.ppf(1 - AUDIT_ALPHA / 2, seldom + 1, runs - seldom)
    return math.log(low / high)


def fit(counts, law):
    """Return the p-value of the counts under a law; outputs too rare for the test are taken together."""
    runs = sum(counts.values())
    expected = {output: runs * chance for output, chance in law.items() if runs * chance >= 10}
    rest = runs - sum(expected.values())
    seen = [counts[output] for output in expected]
    if rest >= 10:
        return chisquare([*seen, runs - sum(seen)], [*expected.values(), rest]).pvalue
    seen[0] += runs - sum(seen)
    wanted = list(expected.values())
    wanted[0] += rest
    return chisquare(seen, wanted).pvalue


class TellsWhatItCompared:
    """A planted bug: the value is the noisy answer of the comparison, so that its noise serves twice."""

    def __init__(self, mechanism):
        self._mechanism = mechanism

    def start(self, *, entropy):
        mechanism = self._mechanism

        class Stream(NumericSparseStream):
            def ask(self, answer):
                inner = self._comparisons
                noisy = answer + laplace(inner._scale, entropy=entropy)
                if noisy < inner._bar:
                    return None
                inner._left -= 1
                return noisy

        comparisons = mechanism.comparisons.start(entropy=entropy)
        return Stream(comparisons=comparisons, values=mechanism.values, entropy=entropy)


class KeepsItsThreshold:
    """A planted bug: the next stream starts with the threshold's noise of the one that finished."""

    def __init__(self, mechanism):
        self._mechanism, self._bar = mechanism, None

    def start(self, *, entropy):
        stream = self._mechanism.start(entropy=entropy)
        if self._bar is not None:
            stream._bar, self._bar = self._bar, None
        else:
            self._bar = stream._bar
        return stream
