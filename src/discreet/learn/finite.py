"""Learning of a finite class of hypotheses by the exponential mechanism, and its sample size.

**Guarantee.** The score of a hypothesis is minus its mistakes. A row that comes or goes moves all scores by 0 or 1 in
the same direction, so P(h) ∝ e^(−ε·mistakes(h)) is ε-differentially private (`ExponentialMechanism`, monotone).

**Theorem (realisable).** If some h* in C makes no mistakes, and rows are independent, then after
n ≥ ln(|C|/β)/−ln(1 − α(1 − e^−ε)) rows the chosen h has error at most α, except with probability β.
Proof. For h of error p > α, P(h) ≤ e^(−ε·m(h))/e^0, as h* has weight 1. m(h) is binomial, so the mean of this over
tables is (1 − p(1 − e^−ε))ⁿ ≤ (1 − α(1 − e^−ε))ⁿ. Add up over the at most |C| hypotheses of such error. ∎
As −ln(1 − x) ≥ x, it is enough to have ln(|C|/β)/(α(1 − e^−ε)): of order (ln|C| + ln 1/β)/(αε) for ε ≤ 1.

**Theorem (agnostic).** Whatever the distribution, after n ≥ ln(|C|/β)/−ln(cosh λ − α·sinh λ) rows, where λ is the
smaller of ε and artanh α, the chosen h has error at most α more than the best in C, except with probability β.
Proof. Let h* be best, and h worse by more than α. P(h) ≤ min(1, e^(−ε·D)) with D = m(h) − m(h*), which is at most
e^(−λD) for every λ from 0 to ε. D is a sum of n independent numbers d from −1 to 1 of mean above α. By convexity
e^(−λd) ≤ cosh λ − d·sinh λ on that interval; so the mean of P(h) is at most (cosh λ − α·sinh λ)ⁿ, which is least at
tanh λ = α. Add up over C. ∎ For ε ≥ artanh α it is 2·ln(|C|/β)/−ln(1 − α²), which is what it takes without privacy by
the same argument; for ε ≤ α it is at most 2·ln(|C|/β)/(αε).
Reference: Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011, Theorem 3.4, with other constants.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import BoundedRange
from discreet.core import InvalidInput, Number, positive, probability, round_down, whole
from discreet.core.canonical_text import Record, canonical_text
from discreet.core.exact import flag
from discreet.learn.estimator import Estimator, accuracy, need_as_many
from discreet.learn.features import Floats, class_indices, read_classes, read_labels, read_matrix
from discreet.learn.hypotheses import FiniteClass, Truths, need_size
from discreet.mechanisms import ExponentialMechanism
from discreet.noise import Entropy

FORM = "discreet finite class 1"
#: More than floats of these formulas are off by, relatively.
MARGIN = 1e-9


@dataclass(frozen=True, slots=True)
class Labelled:
    """Private rows with a truth value each. Not shown."""

    values: Floats = field(repr=False)
    labels: Truths = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinitePlan:
    """Choose a hypothesis of a public finite class by its mistakes. Guarantee: `epsilon`; see the module."""

    __canonical__: ClassVar[Record] = Record("FinitePlan", "hypotheses", "epsilon", foreign=["hypotheses"])

    hypotheses: FiniteClass
    epsilon: Fraction

    @property
    def mechanism(self) -> ExponentialMechanism:
        """The rule of choice."""
        return ExponentialMechanism(epsilon=self.epsilon, sensitivity=1, monotone=True)

    @property
    def cost(self) -> BoundedRange:
        """The cost of the choice."""
        return self.mechanism.cost

    def describe(self) -> str:
        """Return the question, in words."""
        return f"one of {self.hypotheses.size} hypotheses, by its mistakes"

    def canonical(self) -> str:
        """Return all that decides how answers are distributed."""
        return f"{FORM}\n{canonical_text(self)}"

    def scores(self, data: Labelled) -> NDArray[np.int64]:
        """Return minus the mistakes of every hypothesis. As private as the rows."""
        return -self.hypotheses.mistakes(data.values, data.labels)

    def check(self, data: Labelled, /) -> None:
        """Refuse, before anything is paid, a table of which hypotheses of the class say nothing: by its columns."""
        self.hypotheses.mistakes(np.zeros((0, data.values.shape[1])), np.zeros(0, np.bool_))

    def run(self, data: Labelled, entropy: Entropy, /) -> int:
        """Return the number of the hypothesis chosen."""
        return self.mechanism.choose(self.scores(data), entropy=entropy)


class FiniteClassifier(Estimator):
    """A private PAC learner: the hypothesis of a public finite class with few mistakes, by the exponential mechanism.

    Hypotheses say yes to the larger one of the two `classes`; rows with other labels are left out.
    `sample_size` returns the number of rows that it needs.

    Guarantee: pure `epsilon` for a row that is added or removed; see `FinitePlan`.

    Args:
        hypotheses: the public finite class, such as `Conjunctions(8)`.
        epsilon: ε of the guarantee.
        classes: the two labels, public.
        ledger: a `Ledger` or its path, from which a fit is paid; without one the caller keeps account.
        request: a name for the fit in the ledger; a repeated name returns the stored choice for free.
        one_row_each: declare that each person has at most one row, which a ledger that protects persons requires.

    Raises:
        DiscreetError: from `fit`, if settings or the shape of the data do not fit, or the ledger does not allow the
            payment.

    Example:
        >>> import numpy as np
        >>> from discreet.learn import FiniteClassifier, Thresholds
        >>> ages = np.arange(2000).reshape(-1, 1) % 100
        >>> model = FiniteClassifier(Thresholds(range(100)), epsilon=1).fit(ages, (ages[:, 0] >= 65).astype(int))
        >>> model.predict([[30], [90]]).tolist()
        [0, 1]

    """

    def __init__(
        self,
        hypotheses: FiniteClass | None = None,
        *,
        epsilon: Number = 1.0,
        classes: Any = (0, 1),
        ledger: Any = None,
        request: str | None = None,
        one_row_each: bool = False,
    ) -> None:
        self.hypotheses, self.epsilon, self.classes = hypotheses, epsilon, classes
        self.ledger, self.request, self.one_row_each = ledger, request, one_row_each

    delta = 0

    def plan(self) -> FinitePlan:
        """Return the plan of a fit: it knows its cost, and no data."""
        if self.hypotheses is None:
            raise InvalidInput("The hypotheses are not declared.", fix="pass hypotheses=Conjunctions(8) or the like")
        need_size(self.hypotheses)
        return FinitePlan(hypotheses=self.hypotheses, epsilon=positive(self.epsilon, "epsilon"))

    def _several_classes(self) -> bool:
        return False

    def fit(self, X: object, y: object) -> Self:  # noqa: N803 - scikit-learn's name
        """Choose, and pay for it."""
        values, labels = read_matrix(X), read_labels(y)
        need_as_many(values, labels)
        classes = read_classes(self.classes)
        if len(classes) != 2:
            raise InvalidInput(
                "Only binary classification is supported. Hypotheses say yes or no.", fix="declare two classes"
            )
        which = class_indices(labels, classes)
        plan, known = self.plan(), which >= 0
        self.chosen_ = int(self._settle(plan, Labelled(values[known], which[known] == 1), values.shape[1]))
        self.hypotheses_, self.classes_ = plan.hypotheses, classes
        self.description_ = plan.hypotheses.describe(self.chosen_)
        return self

    def predict(self, X: object) -> NDArray[Any]:  # noqa: N803
        """Return the class that the chosen hypothesis says of every row."""
        values = self._read_again(X)
        return np.asarray(self.classes_[self.hypotheses_.predict(self.chosen_, values).astype(np.int64)])

    def score(self, X: object, y: object) -> float:  # noqa: N803
        """Return the accuracy on rows and labels. As private as they are: not for release."""
        return accuracy(y, self.predict(X))


def sample_size(
    alpha: Number, beta: Number, epsilon: Number, hypotheses: int | FiniteClass, *, realisable: bool = True
) -> int:
    """Return a number of independent rows that is enough for error α, except with probability β, at ε.

    Realisable: the error is at most α if some hypothesis is always right. Else: at most α more than the best one's.

    Args:
        alpha: the error α: of the chosen hypothesis if realisable, else in excess of the best hypothesis.
        beta: the probability β with which the error may be larger.
        epsilon: ε of the guarantee.
        hypotheses: the class, or its number of hypotheses.
        realisable: whether some hypothesis is known to be always right.

    Returns:
        The number of rows; the proof is in the module.

    Raises:
        DiscreetError: if a value is out of range.

    Example:
        >>> from discreet.learn import Conjunctions, sample_size
        >>> sample_size(0.1, 0.05, 1, Conjunctions(8))
        181

    """
    error, chance = round_down(probability(alpha, "alpha")), round_down(probability(beta, "beta"))
    price = round_down(positive(epsilon, "epsilon"))
    size = whole(hypotheses if isinstance(hypotheses, int) else hypotheses.size, "hypotheses")
    per_row = -math.log1p(error * math.expm1(-price)) if flag(realisable, "realisable") else _agnostic(error, price)
    return math.ceil((math.log(size) - math.log(chance)) / per_row * (1 + MARGIN))


def _agnostic(error: float, price: float) -> float:
    """Return −ln(cosh λ − α·sinh λ), with no difference of numbers that are nearly alike: small errors live on it."""
    if price >= math.atanh(error):
        return -(math.log1p(-error * error) if error < 0.5 else math.log1p(error) + math.log1p(-error)) / 2
    lower = 2 * math.sinh(price / 2) ** 2 - error * math.sinh(price)
    if lower > -0.5:
        return -math.log1p(lower)
    return -math.log(math.exp(-price) + (1 - error) * math.sinh(price))
