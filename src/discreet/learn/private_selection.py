"""Private selection: the best of several runs, for little more than the cost of one.

Draw a number K of runs from the geometric distribution with mean 1/γ, make K runs, each of a candidate that is chosen
uniformly at random, and release only the best. If one run has Rényi divergence ε(λ) at order λ, this has at most

    ε(λ) + 2(1 − 1/κ)·ε(κ) + 2·ln(1/γ)/κ + ln(1/γ)/(λ − 1)

at every λ > 1, for any κ ≥ 1 of our choice. Reference: Papernot, Steinke 2022, Theorem 2 with η = 1 (E[K] = 1/γ). A run
of a random candidate diverges no more than that of the worst: divergences are quasi-convex. K stays secret: how long
it takes tells of it, and the price does not cover that.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from discreet.accounting import ORDERS, Composed, Parallel, PrivacyLoss, Renyi, loss_to_text, neighbours_of, renyi_of
from discreet.core import InvalidInput, Neighbours, NotProved, Number, WrongType, exact
from discreet.core.exact import flag, log_up
from discreet.core.operator_log import tell_operator
from discreet.gate import Gate, Receipt, SteppedPlan, encode
from discreet.learn.payment import need_rows
from discreet.noise import Entropy, below, bernoulli


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The best of several runs.

    Args:
        which: the number of the chosen candidate, from 0.
        state: the last state of its run.
        score: its score.
        cost: the privacy loss that was paid.
        receipt: the ledger's receipt for the payment.

    """

    which: int
    state: Any = field(repr=False)
    score: float
    cost: PrivacyLoss = field(repr=False)
    receipt: Receipt = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class PrivateSelection:
    """Trains candidates a random number of times, `mean_runs` on average, and releases the best by its score.

    `score` is given what a run would have stored, and nothing else: look at public data, or at what is in the answer.
    `name` describes the score; it is part of the plan.

    Guarantee: the Rényi curve above, for whatever is in the answer: which candidate, its last state, its score.

    Args:
        candidates: plans such as `Training(…)`, one for each setting.
        score: a function of a candidate's number and its last state. It may read public data only.
        mean_runs: the mean of the random number of runs, above 1; a few times the number of candidates.
        name: a description of the score, in words; part of the plan.

    Raises:
        DiscreetError: if a setting is out of range, or the candidates have no Rényi curve.

    """

    candidates: Sequence[SteppedPlan[Any]] = field(repr=False)
    score: Callable[[int, Any], float] = field(repr=False)
    mean_runs: Number
    name: str

    def __post_init__(self) -> None:
        if not self.candidates or not all(isinstance(candidate, SteppedPlan) for candidate in self.candidates):
            raise WrongType(
                "The candidates are not training plans.", fix="pass a list of Training(…), one for each setting"
            )
        if not callable(self.score):
            raise WrongType(
                "score is not a function.", fix="pass a function of a candidate's number and its last state"
            )
        if not isinstance(self.name, str) or not self.name.strip():
            raise InvalidInput("The score has no name.", fix='say what it is, such as name="accuracy on public digits"')
        if exact(self.mean_runs, "mean_runs") <= 1:
            raise InvalidInput("mean_runs must be above 1.", fix="pass a few times the number of candidates")

    @property
    def stop(self) -> Fraction:
        """γ: how likely each run is the last."""
        return 1 / exact(self.mean_runs, "mean_runs")

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of the release, however many runs there were, for the neighbours that candidates are priced for."""
        losses = [candidate.cost for candidate in self.candidates]
        curve = Renyi(selection_curve(losses, self.stop))
        match neighbours_of(Composed(losses)):  # which refuses candidates that do not agree
            case Neighbours.REPLACE:
                raise NotProved(
                    "The candidates are priced for replaced rows.", fix="use candidates with Poisson sampling"
                )
            case Neighbours.ADD_REMOVE:
                return Parallel([curve])  # of one part: the same curve, which no ledger takes for another relation
            case None:
                return curve

    def describe(self) -> str:
        """Return the choice, in words."""
        return f"the best of about {self.mean_runs} runs of {len(self.candidates)} candidates, by {self.name}"

    def canonical(self) -> str:
        """Return all that decides how the answer is distributed."""
        texts = [candidate.canonical() for candidate in self.candidates]
        return "\n".join([f"selection by {self.name}, γ = {self.stop}", loss_to_text(self.cost), *texts])

    def check(self, data: Any, /) -> None:
        """Refuse, before anything is paid, data that a candidate refuses; no row is read."""
        for candidate in self.candidates:
            check = getattr(candidate, "check", None)
            if check is not None:
                check(data)

    def run(self, data: Any, entropy: Entropy, /) -> dict[str, Any]:
        """Return the best of a random number of runs."""
        best = self._once(data, entropy)
        while not bernoulli(self.stop, entropy=entropy):
            best = max(best, self._once(data, entropy), key=_rank)
        return best

    def fit(self, gate: Gate[Any], *, request: str | None = None, one_row_each: bool = False) -> "Chosen":
        """Pay, train, and return the best run. A second call with its request returns the same run for free.

        Args:
            gate: a gate on the data, which pays from its ledger.
            request: a name for this selection in the ledger.
            one_row_each: declare that each person has at most one example, which a ledger that protects persons
                requires.

        Returns:
            The best run, with its score and cost.

        Raises:
            DiscreetError: if the data cannot be trained on, or the ledger does not allow the payment.

        """
        if not isinstance(gate, Gate):
            raise WrongType("Training is paid through a Gate.", fix="pass Gate(ledger, (inputs, targets))")
        need_rows(gate.ledger, one_row_each=flag(one_row_each, "one_row_each"))
        release = gate.release(self, request=request)
        return Chosen(**release.answer, cost=release.cost, receipt=release.receipt)

    def _once(self, data: Any, entropy: Entropy) -> dict[str, Any]:
        which = below(len(self.candidates), entropy=entropy)
        plan, answers = self.candidates[which], list[Any]()
        for step in range(plan.steps):
            answers.append(plan.run_step(data, entropy, step, answers))
        return {"which": which, "state": answers[-1], "score": self._score_run(which, answers[-1])}

    def _score_run(self, which: int, state: Any) -> float:
        """Return the score of a run; NaN, which ranks last, if it raises an error: a failure would tell of the draw."""
        failure: BaseException | None = None
        try:
            return float(self.score(which, state))
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - what kind of error it is may depend on the draw
            failure = error
        tell_operator("The score of a run failed; the run ranks last.", failure)
        return math.nan


def selection_curve(losses: Sequence[PrivacyLoss], stop: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Return orders and divergences of the best of a geometric number of runs, rounded up."""
    bounds = [renyi_of(loss) for loss in losses]
    if any(bound.delta for bound in bounds):
        raise NotProved(
            "Candidates with a failure probability δ have no Rényi curve.", fix="use candidates with bill='loss'"
        )
    columns = zip(ORDERS, zip(*(bound.values for bound in bounds), strict=True), strict=True)
    once = [(order, max(values)) for order, values in columns if None not in values]
    if not once:
        raise NotProved(
            "The candidates have no Rényi curve.", fix="use candidates whose cost is subsampled Gaussian noise"
        )
    runs = log_up(1 / stop)
    beside = min(2 * (1 - 1 / order) * value + 2 * runs / order for order, value in once)
    return [(order, _coarse(value + beside + runs / (order - 1))) for order, value in once]


def _coarse(value: Fraction) -> Fraction:
    """Return a number of few digits that is not smaller: a ledger keeps it."""
    return Fraction(-((-value.numerator << 50) // value.denominator), 1 << 50)


def _rank(answer: dict[str, Any]) -> tuple[bool, float, bytes]:
    """Return a place in one order of all answers, as the theorem asks; no number ranks below all numbers."""
    score = answer["score"]
    return score == score, score if score == score else 0.0, encode(answer)  # noqa: PLR0124 - only NaN differs from itself
