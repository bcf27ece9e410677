"""The sparse vector technique: of many questions, only those above a threshold are paid for.

A query's exact answer q is an integer that one unit moves by at most Δ. It is answered True if q + ν ≥ T + ρ, for the
public threshold T, discrete Laplace noise ρ of scale Δ/ε₁ that is drawn once, and fresh discrete Laplace noise ν of
scale 2cΔ/ε₂. After c times True it is over. The next query may depend on all answers so far.

**Theorem.** Every row of answers has probabilities within e^(ε₁+ε₂) of each other on neighbouring tables.

Proof, on the integers. A row of answers fixes the queries that were asked. Let q, q′ be their answers on the two
tables, N the queries answered False and Y those answered True, at most c of them. Then

    Pr(row) = Σ_ρ P(ρ) · ∏_N P(qᵢ + ν < T + ρ) · ∏_Y P(qⱼ + ν ≥ T + ρ).

Compare each term with the term ρ + Δ on the other table; Δ is an integer, so this maps the integers onto themselves.
First, P(ρ) ≤ e^ε₁·P(ρ + Δ), since |ρ + Δ| ≤ |ρ| + Δ. In N, qᵢ + ν < T + ρ implies qᵢ′ + ν < T + ρ + Δ, since
qᵢ′ ≤ qᵢ + Δ. In Y, P(ν ≥ a) ≤ e^(ε₂/c)·P(ν ≥ a + 2Δ) for every integer a, and a = T + ρ − qⱼ has
a + 2Δ ≥ T + ρ + Δ − qⱼ′. So each term is at most e^ε₁·(e^(ε₂/c))^c times its partner. ∎ No density is needed, and
> would do as well as ≥.

**Monotone queries** all move in the same direction. If upwards, ρ moves to ρ + Δ as before, but ν need only reach
a + Δ − (qⱼ′ − qⱼ) ≤ a + Δ. If downwards, ρ need not move, as N can only gain, and ν moves by at most Δ. So the scale
cΔ/ε₂ will do.

**Values** with fresh noise of scale cΔ/ε₃ for the queries in Y cost ε₃ more, by composition. For monotone queries
they cost less. Let dⱼ = |qⱼ′ − qⱼ|. Upwards, a query in Y costs (Δ − dⱼ)·ε₂/cΔ for its comparison and dⱼ·ε₃/cΔ for its
value: with ρ, at most ε₁ + max(ε₂, ε₃) in all. Downwards, it costs dⱼ·(ε₂ + ε₃)/cΔ: at most ε₂ + ε₃ in all. So the
stream costs the two largest of ε₁, ε₂ and ε₃, and all three may be ε/2.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.accounting import Pure
from discreet.core import Number, Sensitivity, positive, probability, whole
from discreet.core.canonical_text import settle
from discreet.core.exact import flag
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.sparse_vector.odds import (
    comparison_error,
    need_integers,
    need_outputs,
    need_pattern,
    pattern_probability,
)
from discreet.mechanisms.sparse_vector.stream import NumericSparseStream, SparseStream
from discreet.noise import SYSTEM, Entropy

#: More positive answers than anyone waits for; and roots of larger numbers would not fit a float.
MOST_ANSWERS = 10**12


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class Sparse:
    """Report which queries are above a threshold, `answers` of them at most, in a stream of any length.

    `sensitivity` is how far one unit moves the exact answer of any one query. `monotone` promises that one unit moves
    all queries of the stream in the same direction, as it does with counts under add/remove (not under replace);
    they then need half the noise. `threshold_share` is the part of ε spent on the threshold; left out, it is the one
    that makes the comparisons vary least, 1 : (2c)^⅔ to the queries' part (1 : c^⅔ if monotone).

    **Guarantee:** ε-differential privacy for the whole stream, for integer answers, however many are False.
    **Reference:** Lyu, Su, Li 2017, Algorithm 7 with ε₃ = 0, Sections 4.2 (the shares) and 4.3 (monotone); the proof
    on the integers heads this module. Dwork, Roth 2014, Theorem 3.25, is its ancestor, which draws ρ anew each time.
    """

    epsilon: Fraction
    threshold: int
    answers: int
    sensitivity: int
    monotone: bool
    threshold_share: Fraction

    def __init__(
        self,
        *,
        epsilon: Number,
        threshold: int,
        answers: int,
        sensitivity: int = 1,
        monotone: bool = False,
        threshold_share: Number | None = None,
    ) -> None:
        count = whole(answers, "answers", most=MOST_ANSWERS)
        one_way = flag(monotone, "monotone")
        settle(
            self,
            epsilon=positive(epsilon, "epsilon"),
            threshold=whole(threshold, "threshold", least=None),
            answers=count,
            sensitivity=whole(sensitivity, "sensitivity"),
            monotone=one_way,
            threshold_share=1 / (1 + _query_weight(count, monotone=one_way))
            if threshold_share is None
            else probability(threshold_share, "threshold_share"),
        )
        positive(self.threshold_scale, "the scale of the threshold's noise")
        positive(self.query_scale, "the scale of the queries' noise")

    @property
    def threshold_epsilon(self) -> Fraction:
        """ε₁, the part of ε spent on the threshold."""
        return self.threshold_share * self.epsilon

    @property
    def query_epsilon(self) -> Fraction:
        """ε₂, the part of ε spent on all comparisons together."""
        return self.epsilon - self.threshold_epsilon

    @property
    def threshold_scale(self) -> Fraction:
        """The scale of the noise on the threshold: Δ/ε₁."""
        return self.sensitivity / self.threshold_epsilon

    @property
    def query_scale(self) -> Fraction:
        """The scale of the noise on each query: 2cΔ/ε₂, or cΔ/ε₂ if monotone."""
        return (1 if self.monotone else 2) * self.answers * self.sensitivity / self.query_epsilon

    @property
    def cost(self) -> Pure:
        """The cost of one stream, from its start to its last positive answer."""
        return Pure(self.epsilon)

    def start(self, *, entropy: Entropy = SYSTEM) -> SparseStream:
        """Draw the threshold's noise and return a stream to ask."""
        return SparseStream(
            threshold=self.threshold,
            positives=self.answers,
            threshold_scale=self.threshold_scale,
            query_scale=self.query_scale,
            entropy=entropy,
        )

    def error(self, confidence: Number = 0.95, *, queries: int) -> int:
        """Return an α such that, with probability `confidence`, all of so many answers are right up to α.

        A query answered True is then at least threshold − α, and one answered False at most threshold + α, even if
        each query was chosen after seeing the answers before it.
        Reference: in the manner of Dwork, Roth 2014, Theorem 3.26, from the exact tails of discrete noise.
        """
        return comparison_error(
            confidence=confidence,
            queries=queries,
            threshold_scale=self.threshold_scale,
            query_scale=self.query_scale,
        )

    def probability(self, answers: Sequence[int], pattern: Sequence[bool]) -> float:
        """Return how likely a stream's first outputs are `pattern`, if the queries' exact answers are `answers`.

        For studying the mechanism on made-up answers. Relative error below 1e-12.
        """
        return pattern_probability(
            [answer - self.threshold for answer in need_integers(answers, "answers")],
            need_pattern(pattern),
            positives=self.answers,
            threshold_scale=self.threshold_scale,
            query_scale=self.query_scale,
        )


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class AboveThreshold:
    """Report the first query that is above a threshold, and stop there: `Sparse` with one answer.

    By default the threshold's part of ε is 1/(1 + 2^⅔), about 39 %, which makes the comparison vary least.
    `threshold_share=Fraction(1, 2)` gives the textbook's noise, of scales 2Δ/ε and 4Δ/ε.

    **Guarantee:** ε-differential privacy for the whole stream, for integer answers, however many are False.
    **Reference:** Dwork, Roth 2014, Theorem 3.23; Lyu, Su, Li 2017, Section 4.2, for the shares.
    """

    epsilon: Fraction
    threshold: int
    sensitivity: int
    monotone: bool
    threshold_share: Fraction

    def __init__(
        self,
        *,
        epsilon: Number,
        threshold: int,
        sensitivity: int = 1,
        monotone: bool = False,
        threshold_share: Number | None = None,
    ) -> None:
        sparse = Sparse(
            epsilon=epsilon,
            threshold=threshold,
            answers=1,
            sensitivity=sensitivity,
            monotone=monotone,
            threshold_share=threshold_share,
        )
        settle(
            self,
            epsilon=sparse.epsilon,
            threshold=sparse.threshold,
            sensitivity=sparse.sensitivity,
            monotone=sparse.monotone,
            threshold_share=sparse.threshold_share,
        )

    @property
    def sparse(self) -> Sparse:
        """The same as a `Sparse` with one answer."""
        return Sparse(
            epsilon=self.epsilon,
            threshold=self.threshold,
            answers=1,
            sensitivity=self.sensitivity,
            monotone=self.monotone,
            threshold_share=self.threshold_share,
        )

    @property
    def cost(self) -> Pure:
        """The cost of one stream, from its start to its positive answer."""
        return Pure(self.epsilon)

    def start(self, *, entropy: Entropy = SYSTEM) -> SparseStream:
        """Draw the threshold's noise and return a stream to ask."""
        return self.sparse.start(entropy=entropy)

    def error(self, confidence: Number = 0.95, *, queries: int) -> int:
        """Return an α such that, with probability `confidence`, all of so many answers are right up to α."""
        return self.sparse.error(confidence, queries=queries)

    def probability(self, answers: Sequence[int], pattern: Sequence[bool]) -> float:
        """Return how likely a stream's first outputs are `pattern`, if the queries' exact answers are `answers`."""
        return self.sparse.probability(answers, pattern)


@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class NumericSparse:
    """Report which queries are above a threshold, and their noisy values, `answers` of them at most.

    As `Sparse`, with a part of ε for the values, `value_share`. Left out, it is the one that makes the three noises
    vary least together: 1 : (2c)^⅔ : c^⅔ for threshold, queries and values, and for monotone queries ε/2 each, as
    the proof that heads this module charges only two of the three.

    **Guarantee:** ε-differential privacy for the whole stream, for integer answers, however many are None.
    **Reference:** Lyu, Su, Li 2017, Algorithm 7; Dwork, Roth 2014, Theorem 3.27; for monotone queries the proof that
    heads this module.
    """

    epsilon: Fraction
    threshold: int
    answers: int
    sensitivity: int
    monotone: bool
    value_share: Fraction

    def __init__(
        self,
        *,
        epsilon: Number,
        threshold: int,
        answers: int,
        sensitivity: int = 1,
        monotone: bool = False,
        value_share: Number | None = None,
    ) -> None:
        count = whole(answers, "answers", most=MOST_ANSWERS)
        one_way = flag(monotone, "monotone")
        settle(
            self,
            epsilon=positive(epsilon, "epsilon"),
            threshold=whole(threshold, "threshold", least=None),
            answers=count,
            sensitivity=whole(sensitivity, "sensitivity"),
            monotone=one_way,
            value_share=_value_share(count, monotone=one_way)
            if value_share is None
            else probability(value_share, "value_share"),
        )
        positive(self.value_scale, "the scale of the values' noise")
        positive(self.comparisons.query_scale, "the scale of the queries' noise")

    @property
    def value_epsilon(self) -> Fraction:
        """ε₃, the part of ε spent on all values together."""
        return self.value_share * self.epsilon

    @property
    def comparisons(self) -> Sparse:
        """The `Sparse` that decides which queries are above; its own ε is ε₁ + ε₂."""
        rest = self.epsilon - self.value_epsilon
        weight = _query_weight(self.answers, monotone=self.monotone)
        if self.monotone:
            # No two of ε₁, ε₂ and ε₃ may exceed ε together.
            query = min(rest, self.epsilon * weight / (1 + weight))
            threshold = min(rest, self.epsilon - query)
        else:
            query = rest * weight / (1 + weight)
            threshold = rest - query
        return Sparse(
            epsilon=threshold + query,
            threshold=self.threshold,
            answers=self.answers,
            sensitivity=self.sensitivity,
            monotone=self.monotone,
            threshold_share=threshold / (threshold + query),
        )

    @property
    def value_scale(self) -> Fraction:
        """The scale of the noise on each value: cΔ/ε₃."""
        return self.answers * self.sensitivity / self.value_epsilon

    @property
    def values(self) -> Laplace:
        """The mechanism that perturbs the values, each on its own."""
        return Laplace(scale=self.value_scale, sensitivity=Sensitivity.box(l0=1, linf=self.sensitivity))

    @property
    def cost(self) -> Pure:
        """The cost of one stream, from its start to its last value."""
        return Pure(self.epsilon)

    def start(self, *, entropy: Entropy = SYSTEM) -> NumericSparseStream:
        """Draw the threshold's noise and return a stream to ask."""
        comparisons = self.comparisons.start(entropy=entropy)
        return NumericSparseStream(comparisons=comparisons, values=self.values, entropy=entropy)

    def error(self, confidence: Number = 0.95, *, queries: int) -> int:
        """Return an α such that, with probability `confidence`, all of so many comparisons are right up to α."""
        return self.comparisons.error(confidence, queries=queries)

    def value_error(self, confidence: Number = 0.95) -> int:
        """Return the least e such that, with probability `confidence`, all values are within e of the exact ones."""
        return self.values.error(confidence, size=self.answers)

    def probability(self, answers: Sequence[int], outputs: Sequence[int | None]) -> float:
        """Return how likely a stream's first outputs are `outputs`, if the queries' exact answers are `answers`."""
        exact, noisy = need_integers(answers, "answers"), need_outputs(outputs)
        chance = self.comparisons.probability(exact, [value is not None for value in noisy])
        for true, value in zip(exact, noisy, strict=False):
            if value is not None:
                chance *= self.values.pmf(value - true)
        return chance


def _query_weight(answers: int, *, monotone: bool) -> Fraction:
    """Return ε₂/ε₁ where the comparison varies least: (2c)^⅔, or c^⅔ if monotone, in thousandths.

    The variance is about 2(Δ/ε₁)² + 2(2cΔ/ε₂)², least where the two terms' slopes agree.
    """
    return _two_thirds(answers if monotone else 2 * answers)


def _value_share(answers: int, *, monotone: bool) -> Fraction:
    """Return ε₃/ε where the three variances add up to the least.

    If monotone, the two largest parts make up ε, and halves are best: the problem is convex, and at halves the
    multipliers 8/ε³, 8/ε³ and (2c² − 1)·8/ε³ of the three pairs are positive.
    """
    if monotone:
        return Fraction(1, 2)
    weight = _two_thirds(answers)
    return weight / (1 + _query_weight(answers, monotone=False) + weight)


def _two_thirds(number: int) -> Fraction:
    """Return number^⅔, rounded to thousandths; a share is a choice, so that its rounding costs no privacy."""
    return Fraction(round(1000 * number ** (2 / 3)), 1000)
