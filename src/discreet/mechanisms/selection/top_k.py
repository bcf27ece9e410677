"""Choosing the best k candidates by their scores, best first."""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.accounting import BoundedRange, PrivacyLoss, Repeated
from discreet.core import InvalidInput, Number, WrongType, positive, whole
from discreet.core.canonical_text import settle
from discreet.core.exact import flag
from discreet.mechanisms.selection.choice import NoisyRanking, need_enough
from discreet.mechanisms.selection.odds import exponential_error, exponential_odds, read_question
from discreet.mechanisms.selection.scores import ScoreList, Scores, read_rate, read_scores, read_step
from discreet.noise import SYSTEM, Entropy, ExpChoice


class TopKMethod(Enum):
    """How k candidates are chosen."""

    PEELING = "peeling"
    """k rounds of the exponential mechanism at ε/k, without putting back."""

    ONE_SHOT = "one shot"
    """Discrete Laplace noise on every score, once."""


@dataclass(frozen=True, slots=True, init=False)
class TopK:
    """Choose k candidates, best first.

    `PEELING` chooses by the exponential mechanism at ε/k, takes the candidate out, and so on, k times. Adding Gumbel
    noise of scale 1/rate to every score once and naming the k largest has the same distribution.
    `ONE_SHOT` rounds the scores to multiples of the public `step` (1/q for a sensitivity of p/q, unless given), adds
    discrete Laplace noise of scale 2kΔ/ε once (kΔ/ε if monotone), and names the k largest. Peeling is the better choice
    where costs are added up in zCDP.

    Guarantee: `PEELING` is k times (ε/k)-bounded range, and so ε-differentially private and (ε²/8k)-zCDP.
    `ONE_SHOT` is ε-differentially private; the proof is at `NoisyRanking`.
    Reference: Durfee, Rogers 2019, Section 4 (peeling, and Gumbel noise once); Ding, Wang, Zhang, Kifer 2019 (Laplace).
    """

    k: int
    epsilon: Fraction
    sensitivity: Fraction
    monotone: bool
    method: TopKMethod
    step: Fraction

    def __init__(
        self,
        *,
        k: int,
        epsilon: Number,
        sensitivity: Number = 1,
        monotone: bool = False,
        method: TopKMethod = TopKMethod.PEELING,
        step: Number | None = None,
    ) -> None:
        if not isinstance(method, TopKMethod):
            raise WrongType("method is not one of the two.", fix="pass TopKMethod.PEELING or TopKMethod.ONE_SHOT")
        if step is not None and method is not TopKMethod.ONE_SHOT:
            raise InvalidInput(
                "Only one-shot noise needs a grid.", fix="leave step out, or pass method=TopKMethod.ONE_SHOT"
            )
        width = positive(sensitivity, "sensitivity")
        settle(
            self,
            k=whole(k, "k"),
            epsilon=positive(epsilon, "epsilon"),
            sensitivity=width,
            monotone=flag(monotone, "monotone"),
            method=method,
            step=read_step(step, width),
        )
        _ = self.rate if method is TopKMethod.PEELING else self._ranking  # which refuse what they cannot do

    @property
    def rate(self) -> Fraction:
        """How much one point of score adds to the logarithm of a candidate's chance in one round of peeling."""
        return read_rate(self.epsilon / self.k, self.sensitivity, monotone=self.monotone)

    @property
    def _ranking(self) -> NoisyRanking:
        return NoisyRanking(
            k=self.k, epsilon=self.epsilon, sensitivity=self.sensitivity, monotone=self.monotone, step=self.step
        )

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of one choice of k."""
        match self.method:
            case TopKMethod.PEELING:
                return Repeated(BoundedRange(self.epsilon / self.k), self.k)
            case TopKMethod.ONE_SHOT:
                return self._ranking.cost

    def choose(self, scores: ScoreList, *, entropy: Entropy = SYSTEM) -> tuple[int, ...]:
        """Return the indices of the k candidates chosen, best first. The distribution is exact."""
        match self.method:
            case TopKMethod.PEELING:
                return self._peel(need_enough(read_scores(scores), self.k), entropy)
            case TopKMethod.ONE_SHOT:
                return self._ranking.choose(scores, entropy=entropy)

    def _peel(self, scores: Scores, entropy: Entropy) -> tuple[int, ...]:
        choice = ExpChoice(scores.values, self.rate * scores.unit)
        chosen = [choice.draw(entropy)]
        while len(chosen) < self.k:
            choice.remove(chosen[-1])
            chosen.append(choice.draw(entropy))
        return tuple(chosen)

    def probability(self, scores: ScoreList, chosen: tuple[int, ...]) -> float:
        """Return how likely these candidates are chosen, in this order. As private as the scores: not for release."""
        grid_scores = need_enough(read_scores(scores), self.k)
        order = self._read_chosen(chosen, len(grid_scores))
        match self.method:
            case TopKMethod.PEELING:
                return self._peeling_odds(grid_scores, order)
            case TopKMethod.ONE_SHOT:
                return self._ranking.probability(scores, order)

    def _peeling_odds(self, scores: Scores, order: tuple[int, ...]) -> float:
        left, odds = list(range(len(scores))), 1.0
        for index in order:
            among = exponential_odds(Scores(scores.values[left], scores.unit).exponents(self.rate))
            odds *= float(among[left.index(index)])
            left.remove(index)
        return odds

    def _read_chosen(self, chosen: object, candidates: int) -> tuple[int, ...]:
        if not isinstance(chosen, (tuple, list)):
            raise WrongType("chosen is not a tuple of indices.", fix="pass what choose returns, such as (2, 0)")
        order = tuple(whole(index, "an index", least=0, most=candidates - 1) for index in chosen)
        if len(set(order)) != self.k or len(order) != self.k:
            raise InvalidInput(f"chosen is not {self.k} different indices.", fix="pass what choose returns")
        return order

    def error(self, confidence: Number = 0.95, *, candidates: int) -> float:
        """Return how far below the k-th largest score any chosen one may be, except with the remaining probability.

        Peeling: in every round the best candidate left has at least the k-th largest score, and each round may fail
        with one k-th of the probability.
        """
        match self.method:
            case TopKMethod.PEELING:
                chance, best, others = read_question(confidence, candidates, 1, self.k)
                round_chance = chance / self.k
                return exponential_error(self.rate, (best + others - 1) * (1 - round_chance) / round_chance)
            case TopKMethod.ONE_SHOT:
                return self._ranking.error(confidence, candidates=candidates)
