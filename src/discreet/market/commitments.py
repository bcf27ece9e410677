"""Exact truthfulness: an outcome that hardly depends on any one report, mixed with one that punishes lies.

People of types t report r. An outcome s is chosen, and each person is then treated as is best *for the report*: sent to
the facility that is nearest to r, or sold to if r is at least the price. A person of type t who reported r then has the
utility u(t, s, r) in [0, 1], and u(t, s, t) ≥ u(t, s, r) for every r: to be treated as one's own type is best, once s
is fixed. So a lie can only pay by moving s. With probability 1 − q, s is drawn by the exponential mechanism; with q,
from a fixed *punishing* distribution, which no report moves, and under which every lie costs at least the *gap*

    γ = min over t and r ≠ t of E_punishing[u(t, s, t) − u(t, s, r)].

**Theorem.** If qγ ≥ (1 − q)·b + margin for some b ≥ w·tanh(ε/4), where w is how far u(t, ·, t) can vary, then every lie
among the declared types, whatever others report, costs at least `margin`, and more than it: truth is strictly dominant.
Proof. In the first branch a lie gives Σ_s Q(s)·u(t, s, r) ≤ Σ_s Q(s)·u(t, s, t) ≤ Σ_s P(s)·u(t, s, t) + w·tanh(ε/4),
by the theorem of `statements`; in the second it costs γ or more. Our b is rational and tanh(ε/4) is not, so b is
larger, and the inequality strict. ∎ The least such q is (b + margin)/(γ + b).
Reference: Nissim, Smorodinsky, Tennenholtz 2012, with a sharper b.

**Guarantee.** ε-bounded range for a report that is added, removed or replaced. Proof. The rate of the exponential
mechanism is ε/W, where W is how far a report can move two scores against each other. Its ratios lie in an interval
[e^(t−ε), e^t] that has 1 in it, and mixing both sides with the same distribution moves each ratio towards 1. ∎

**Theorem (quality).** With probability (1 − q)(1 − β) or more the score is at most the exponential mechanism's error
below the best; in the mean over both branches at most (1 − q)·W·ln|S|/ε + q·n·(how far one person's score can vary).
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import BoundedRange
from discreet.core import InvalidInput, NotProved, Number, OutOfRange, WrongType, exact, log_up, positive, whole
from discreet.core.canonical_text import Record, settle
from discreet.market.statements import IncentiveGuarantee, miss_of, most_gain, words_of
from discreet.mechanisms import ExponentialMechanism
from discreet.noise import Entropy, bernoulli, choose

#: Entries of the table of utilities.
MOST_ENTRIES = 4_000_000
#: The largest distance of utilities and scores from 0: those of some billions of people add up in 64 bits.
MOST_POINTS = 10**9
#: The mixing probability is a multiple of this, rounded up: more punishment, never less.
MIX_STEP = Fraction(1, 2**40)

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@runtime_checkable
class Setting(Protocol):
    """A public finite world: the types of people, the outcomes, and the utilities. A frozen value.

    Its `repr` has to say all about it, as it is part of what a ledger knows a plan by.
    """

    def __hash__(self) -> int: ...

    @property
    def types(self) -> Sequence[Hashable]:
        """The types that people may have, and may report."""
        ...

    @property
    def outcomes(self) -> Sequence[Any]:
        """The possible outcomes; plain values, as they are released."""
        ...

    @property
    def unit(self) -> int:
        """The utility that counts as 1; utilities of those who tell the truth are whole numbers from 0 to this."""
        ...

    def utility(self, type_: Any, outcome: Any, report: Any, /) -> int:
        """Return the utility of an outcome for a person treated as a report asks; the most for one's own type."""
        ...

    def score(self, report: Any, outcome: Any, /) -> int:
        """Return the part of one report in the score of an outcome."""
        ...

    def punishment(self, outcome: Any, /) -> int:
        """Return the weight of an outcome in the punishing distribution."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """A setting, worked out. Public."""

    index: dict[Hashable, int]
    outcomes: tuple[Any, ...]
    #: [type, report, outcome], in units.
    utilities: Integers
    #: [report, outcome].
    scores: Integers
    weights: tuple[int, ...]
    #: The gap of the punishing distribution, between 0 and 1.
    gap: Fraction
    #: The range in which the utility of a truthful person varies with the outcome, between 0 and 1.
    reach: Fraction
    #: The distance by which one report, added, removed or replaced, moves two scores against each other.
    width: int
    #: The range in which one report's own score varies with the outcome.
    spread: int


@lru_cache(maxsize=64)
def tables_of(setting: Setting) -> Tables:
    """Return a setting's tables, checked."""
    types, outcomes = tuple(setting.types), tuple(setting.outcomes)
    if len(types) < 2 or not outcomes or len(set(types)) < len(types):
        raise InvalidInput("A setting needs two types or more, and an outcome.", fix="name every type once")
    if len(types) ** 2 * len(outcomes) > MOST_ENTRIES:
        raise OutOfRange("The setting is too large to be worked out.", fix="use a coarser grid, or fewer facilities")
    utilities = _integers([[[setting.utility(t, s, r) for s in outcomes] for r in types] for t in types])
    scores = _integers([[setting.score(r, s) for s in outcomes] for r in types])
    weights = tuple(whole(setting.punishment(s), "a weight", least=0) for s in outcomes)
    truthful = utilities[np.arange(len(types)), np.arange(len(types))]
    _need_utilities(utilities, truthful, whole(setting.unit, "unit"))
    apart = scores[:, None, :] - scores[None, :, :]
    moved, spread = int(np.ptp(apart, axis=2).max()), int(np.ptp(scores, axis=1).max())
    return Tables(
        index={type_: at for at, type_ in enumerate(types)},
        outcomes=outcomes,
        utilities=utilities,
        scores=scores,
        weights=weights,
        gap=_gap(truthful[:, None, :] - utilities, weights, setting.unit),
        reach=Fraction(int(np.ptp(truthful, axis=1).max()), setting.unit),
        width=max(moved, spread),
        spread=spread,
    )


def _integers(rows: object) -> Integers:
    """Return whole numbers that neither rounding nor a sum over all people of this world changes."""
    numbers = np.array(rows)
    if numbers.dtype.kind not in "iu" or int(numbers.max()) > MOST_POINTS or int(numbers.min()) < -MOST_POINTS:
        raise InvalidInput(
            "A utility or a score is not a whole number, or beyond a billion.", fix="count in whole steps, and fewer"
        )
    return numbers.astype(np.int64)


def _need_utilities(utilities: Integers, truthful: Integers, unit: int) -> None:
    if truthful.min() < 0 or truthful.max() > unit:
        raise InvalidInput("A utility lies outside of 0 to the unit.", fix="scale utilities to whole numbers in it")
    if (utilities > truthful[:, None, :]).any():
        raise NotProved(
            "Some type gains by being treated as another type once the outcome is chosen.",
            fix="use the best treatment of the reported type; then only the outcome depends on lies",
        )


def _gap(costs: Integers, weights: tuple[int, ...], unit: int) -> Fraction:
    """Return the least mean cost of a lie; costs are [type, report, outcome]."""
    total = sum(weights)
    if not total:
        return Fraction(0)
    mean = (costs.astype(object) * np.array(weights, object)).sum(axis=2)
    return min(Fraction(int(mean[t, r]), total * unit) for t in range(len(mean)) for r in range(len(mean)) if t != r)


@dataclass(frozen=True, slots=True, init=False)
class TruthfulChoice:
    """A choice of an outcome for which every lie costs every person more than `margin`. The data is a list of reports.

    Reports that are none of the types are left out. Guarantee: `epsilon`-bounded range; truth is strictly dominant.

    Args:
        setting: the public setting, such as `FacilityLine(11)`.
        epsilon: ε of the outcome, for one report.
        margin: the smallest cost of a lie.

    Raises:
        DiscreetError: if a value is out of range, or some lie costs nothing in this setting.

    """

    __canonical__: ClassVar[Record] = Record(
        "TruthfulChoice", "setting", "epsilon", "margin", "mixing", foreign=["setting"]
    )

    setting: Setting
    epsilon: Fraction
    margin: Fraction
    #: How likely the punishing distribution is drawn from.
    mixing: Fraction

    def __init__(self, setting: Setting, *, epsilon: Number, margin: Number = 0) -> None:
        price, least, tables = positive(epsilon, "epsilon"), exact(margin, "margin"), tables_of(need_setting(setting))
        if not tables.gap:
            raise NotProved(
                "Some lie costs nothing under the punishing distribution, so no mixture makes truth strictly best.",
                fix="let reactions differ: two facilities or more, prices between values and not on them",
            )
        if not tables.width:
            raise InvalidInput("No report moves any score.", fix="choose by a score that depends on reports")
        if not 0 <= least < tables.gap:
            raise OutOfRange("margin is negative, or as large as the gap.", fix="ask for less than the gap")
        gain = tables.reach * most_gain(BoundedRange(price))
        share = -(-(gain + least) / (tables.gap + gain) // MIX_STEP) * MIX_STEP
        settle(self, setting=setting, epsilon=price, margin=least, mixing=min(share, 1 - MIX_STEP))
        if self.mixing < share:
            raise OutOfRange("epsilon is so large that only the punishment is left.", fix="pass a smaller epsilon")

    @property
    def tables(self) -> Tables:
        """The setting, worked out."""
        return tables_of(self.setting)

    @property
    def mechanism(self) -> ExponentialMechanism:
        """The rule of choice of the first branch."""
        return ExponentialMechanism(epsilon=self.epsilon, sensitivity=Fraction(self.tables.width, 2))

    @property
    def cost(self) -> BoundedRange:
        """The cost of the outcome."""
        return BoundedRange(self.epsilon)

    def describe(self) -> str:
        """Return the question, in words."""
        return f"one of {len(self.tables.outcomes)} outcomes, with truth the best report"

    def canonical(self) -> str:
        """Return all that decides how outcomes are distributed."""
        return words_of(self)

    def check(self, data: Sequence[Hashable], /) -> None:
        """Refuse, before anything is paid, data that is not a list of reports. No report is looked at."""
        if not isinstance(data, list | tuple):
            raise WrongType("reports is not a list.", fix="pass one type for each person")

    def scores(self, reports: Sequence[Hashable]) -> Integers:
        """Return the score of every outcome. As private as the reports."""
        self.check(reports)
        index, people = self.tables.index, np.zeros(len(self.tables.index), np.int64)
        for report in reports:
            place = _place(index, report)
            if place is not None:
                people[place] += 1
        total: Integers = people @ self.tables.scores
        return total

    def run(self, data: Sequence[Hashable], entropy: Entropy, /) -> Any:
        """Return the outcome; its branch stays secret."""
        scores = self.scores(data)
        if bernoulli(self.mixing, entropy=entropy):
            return self.tables.outcomes[choose(list(self.tables.weights), entropy=entropy)]
        return self.tables.outcomes[self.mechanism.choose(scores, entropy=entropy)]

    def probabilities(self, reports: Sequence[Hashable]) -> Floats:
        """Return the chance of every outcome. As private as the reports: not for release."""
        weights = np.array(self.tables.weights, float) / sum(self.tables.weights)
        mixed: Floats = (1 - float(self.mixing)) * self.mechanism.probabilities(self.scores(reports))
        return mixed + float(self.mixing) * weights

    def truthfulness(self) -> IncentiveGuarantee:
        """Return the loss by a lie: a report of another type among those declared, whatever others report."""
        return IncentiveGuarantee(
            says="every lie among the declared types costs more than {bound} of utility in [0, 1], "
            "whatever others report",
            bound=self.margin,
            probability=Fraction(1),
            because="Nissim, Smorodinsky, Tennenholtz 2012",
        )

    def quality(self, confidence: Number = 0.95) -> IncentiveGuarantee:
        """Return how far below the best the score may be; punishment counts as failure."""
        miss = miss_of(confidence)
        return IncentiveGuarantee(
            says="the score is at most {bound} below the best",
            bound=Fraction(self.mechanism.error(1 - miss, candidates=len(self.tables.outcomes))),
            probability=(1 - self.mixing) * (1 - miss),
            because="Dwork, Roth 2014, Theorem 3.11",
        )

    def mean_quality(self, people: int) -> IncentiveGuarantee:
        """Return how far below the best the score of so many people is in the mean, punishment and all."""
        size = whole(people, "people", least=0)
        lost = log_up(Fraction(len(self.tables.outcomes))) / self.mechanism.rate
        return IncentiveGuarantee(
            says="the mean score is at most {bound} below the best",
            bound=(1 - self.mixing) * lost + self.mixing * size * self.tables.spread,
            probability=Fraction(1),
            because="the entropy of the choice; Nissim, Smorodinsky, Tennenholtz 2012",
        )


def need_setting(setting: object) -> Setting:
    """Return `setting` if it is one, and can be known by its value."""
    if not isinstance(setting, Setting) or not isinstance(setting, Hashable):
        raise WrongType("setting is not a Setting.", fix="pass FacilityLine(11), Plane(4, 4), Sale(10) or the like")
    return setting


def _place(index: dict[Hashable, int], report: Any) -> int | None:
    try:
        return index.get(report)
    except TypeError:  # a list, say, which is not a type
        return None


def best_epsilon(setting: Setting, people: int) -> Fraction:
    """Return the ε with the best mean quality for a public number of people, among a few per decade.

    Args:
        setting: the public setting.
        people: the number of people.

    Returns:
        The chosen ε.

    Raises:
        DiscreetError: if a value is out of range.

    """
    tried = [Fraction(f"{digit}e{power}") for power in range(-6, 2) for digit in (1, 1.5, 2, 3, 5, 7)]
    return min(tried, key=lambda price: TruthfulChoice(setting, epsilon=price).mean_quality(people).bound)
