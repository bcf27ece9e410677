"""Logistic regression by a perturbed objective whose minimum need only be approximate, as a plan.

**What is minimised.** J(θ) = Σ ln(1 + e^(±θ·x)) + Λ|θ|²/2 + b·θ, over rows of norm at most R, with b drawn once.

**Theorem.** If b is N(0, σ²I), then the minimum θ* satisfies, for a row that is added or removed and every ε ≥ ε_J,
δ(ε) ≤ δ_G(ε − ε_J), where δ_G is the curve of Gaussian noise of multiplier σ/R, and ε_J = ln(1 + R²/4Λ).
Proof. J is strongly convex, so θ* and b determine each other: b = −∇(J − b·θ)(θ*), with the Jacobian H(θ) + ΛI, H the
sum of the rows' Hessians. Let one table have the row (x, y) more; its gradient at θ is c·x, where c = chance − y has a
sign that y fixes, and |c| ≤ 1. The density of θ* at θ is φ(b)·det(H + ΛI) in the smaller table, and φ(b − c·x)·det(H +
ΛI + c′xxᵀ) in the larger one, where 0 ≤ c′ ≤ 1/4. The ratio of the determinants is 1 + c′·xᵀ(H + ΛI)⁻¹x, from 1 to
1 + R²/4Λ. The logarithm of φ(b)/φ(b − c·x) is (c²|x|² − 2c·x·b)/2σ², which is convex in c: over all c between 0 and
±1 it is at most its value at ±1 or at 0, where it is 0. At ±1 it is the loss of Gaussian noise of deviation σ under a
shift of |x| ≤ R, as x·b is Gaussian under the table that b was drawn for. Hockey-stick divergences at ε ≥ 0 grow with
the loss and do not change where a negative loss becomes 0. The determinants add at most ε_J, in one direction. ∎
Were the sign of c free, the loss would be at most the larger of two, and the same argument would give twice the δ.
Reference: Chaudhuri, Monteleoni, Sarwate 2011; Kifer, Smith, Thakurta 2012 (Gaussian noise); Redberg, Koskela, Wang
2023 (curves). Approximate minima: Iyengar, Near, Song, Thakkar, Thakurta, Wang 2019; here it goes so:

**What is computed.** b′, discrete Gaussian noise on a grid of step h, in place of b; and some θ′ at which the gradient
with b′ is at most γ, errors of floats included. Imagine b = b′ + u, with u drawn from N(0, (4h)²I): by Poisson
summation its density is that of N(0, σ²I), σ² = h²·variance + 16h², up to a factor of 1 ± 10⁻¹²⁰ a coordinate. So θ* of
that b, which is never computed, has the loss above, plus `SLACK`. Now u, which is never drawn, may as well be drawn
again whenever |u| > 4h(√k + t), which has a probability p ≤ e^(−t²/2): that changes the law of θ* on either table by p
at most, and δ by (1 + e^ε)p. Then |θ′ − θ*| ≤ (γ + |u|)/Λ always, as J is Λ-strongly convex. Release θ* (in thought),
then θ′ on a grid with discrete Gaussian noise whose sensitivity is twice that distance: given θ*, the tables' θ′ are
that near to each other. Both steps compose, and the release follows from the second alone. ∎
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Approximate, GaussianNoise, PrivacyLoss, least_noise
from discreet.core import NotProved, Number, log_up, positive, probability, round_up
from discreet.core.canonical_text import Record, canonical_text, settle
from discreet.learn.descent import ClassifiedRows
from discreet.learn.features import BITS, STEPS, Features, Floats, shorten_rows, with_constant
from discreet.learn.payment import affordable, noise_for
from discreet.mechanisms import Gaussian
from discreet.noise import Entropy, gaussian

#: The part of ε and δ for minima that are approximate, and the part of the rest for the determinants by default.
OUTPUT, DETERMINANTS = Fraction(1, 20), Fraction(1, 4)
#: The grid of b, and that of θ.
NOISE_BITS, OUTPUT_BITS = 30, 32
#: How small the gradient has to be in units of Λ, or of 1 if that is more; and what of δ is for a u that is larger than
#: thought.
SMALL, UNLIKELY = 2.0**-14, Fraction(1, 10**9)
#: More than what the density of b can be off, and more than floats of the curve's inputs can be.
SLACK = Fraction(1, 10**60)
#: The least variance on the grid of b for which its density is as close as that.
LEAST = 1 << 20
#: Weights beyond this are cut off, which brings no two nearer to each other than they are, and none farther apart.
FARTHEST = 2.0**28
#: How far, in deviations of b, noise may drive weights.
MOST_DRIVEN = 10**5
#: Rows whose gradients are added before the sum goes to the others, and steps of Newton's method.
BLOCK, MOST_STEPS = 256, 500
FORM = "discreet objective 1"
UNIT = 2.0**-52


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectivePlan:
    """Logistic regression of two classes by a perturbed objective; the proof is the module's.

    Guarantee: (`epsilon`, `delta`) for the minimum, and what `output` costs for its approximation.
    """

    __canonical__: ClassVar[Record] = Record("ObjectivePlan", "features", "norm", "penalty", "epsilon", "delta")

    features: Features
    #: R: the most that a scaled row's norm is, its constant included.
    norm: Fraction
    #: Λ.
    penalty: Fraction
    epsilon: Fraction
    delta: Fraction

    @property
    def rho(self) -> Fraction:
        """The largest cost of the approximation: the ρ of the part of ε and δ that is not the minimum's."""
        share = OUTPUT / (1 - OUTPUT)
        return affordable(self.epsilon * share, self.delta * share)

    @classmethod
    def within(
        cls, features: Features, norm: Fraction, epsilon: Number, delta: Number, *, penalty: Number | None
    ) -> "ObjectivePlan":
        """Return the plan that costs (ε, δ) in all."""
        whole, allowed = positive(epsilon, "epsilon"), probability(delta, "delta")
        rest = whole * (1 - OUTPUT)
        weight = norm**2 / (4 * rest * DETERMINANTS) if penalty is None else positive(penalty, "penalty")
        return cls(
            features=features,
            norm=norm,
            penalty=weight,
            epsilon=rest,
            delta=allowed * (1 - OUTPUT),
        )

    def __post_init__(self) -> None:
        settle(self, penalty=Fraction(round_up(self.penalty)))  # the float that is computed with
        # If noise alone drives weights so far, floats could not confirm for all rows that a minimum is one.
        if self.jacobian >= self.epsilon or self.variance > (MOST_DRIVEN * self.penalty * (1 << NOISE_BITS)) ** 2:
            raise NotProved(
                "The penalty is too small for this epsilon.",
                fix="pass a larger penalty, or None for one that fits",
            )

    @property
    def jacobian(self) -> Fraction:
        """The cost of the determinants: ln(1 + R²/4Λ), rounded up, and the slack."""
        return log_up(1 + self.norm**2 / (4 * self.penalty)) + SLACK

    @property
    def variance(self) -> Fraction:
        """The variance of b in steps of its grid; rounded up, and the imagined 16 are not counted."""
        allowed = self.delta * (1 - UNLIKELY)
        sigma = least_noise(GaussianNoise, self.epsilon - self.jacobian, allowed)
        return Fraction(max(math.ceil((sigma * self.norm * (1 << NOISE_BITS)) ** 2), LEAST))

    @property
    def output(self) -> Gaussian:
        """The noise on θ′, in steps of its grid."""
        width = self.features.columns + 1
        # On either table a larger u may be had; on one it counts e^ε times: (1 + e^ε)·e^(−t²/2) ≤ UNLIKELY·δ.
        beyond = math.sqrt(2 * (log_up(1 / (self.delta * UNLIKELY)) + self.epsilon + 1)) * (1 + 1e-9)
        imagined = 4 * 2.0**-NOISE_BITS * (math.sqrt(width) + beyond)
        apart = (steepest(float(self.penalty)) + imagined) / float(self.penalty) * (1 << OUTPUT_BITS) + math.sqrt(
            width
        ) / 2
        return noise_for(math.ceil((2 * apart) ** 2 * (1 + 1e-9)), self.rho)

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of the fit: the minimum's (ε, δ), and the (ε, δ) that `rho` was chosen for, added up."""
        return Approximate(self.epsilon / (1 - OUTPUT), self.delta / (1 - OUTPUT))

    def describe(self) -> str:
        """Return the fit, in words."""
        return f"logistic regression of two classes on {self.features.columns} features by a perturbed objective"

    def canonical(self) -> str:
        """Return all that decides how answers are distributed."""
        return f"{FORM}\n{canonical_text(self)}"

    def check(self, data: ClassifiedRows, /) -> None:
        """Refuse, before anything is paid, rows of another shape than the declared columns."""
        self.features.check_columns(getattr(data, "values", None))

    def run(self, data: ClassifiedRows, entropy: Entropy, /) -> dict[str, NDArray[np.float64]]:
        """Return the weights of both classes, those of the first being 0; the last row is the intercept's."""
        known = (data.labels == 0) | (data.labels == 1)  # or a residual might be any number
        most = int((self.norm * STEPS) ** 2)
        rows = shorten_rows(with_constant(self.features.steps(data.values[known])), most) / float(STEPS)
        noise = gaussian(self.variance, (rows.shape[1],), entropy=entropy).astype(np.float64) / (1 << NOISE_BITS)
        problem = Objective(rows, data.labels[known].astype(np.float64), noise, float(self.penalty), float(self.norm))
        weights = np.clip(problem.minimum(), -FARTHEST, FARTHEST)
        steps = np.rint(weights * (1 << OUTPUT_BITS)).astype(np.int64)
        noisy = self.output.perturb(steps, entropy=entropy).astype(np.float64) / (1 << OUTPUT_BITS)
        return {"weights": np.column_stack([np.zeros_like(noisy), noisy])}


@dataclass(frozen=True, slots=True, repr=False)
class Objective:
    """J and its derivatives, in floats whose error is bounded. Private, and not shown."""

    rows: Floats
    labels: Floats
    noise: Floats
    penalty: float
    norm: float

    def minimum(self) -> Floats:
        """Return a point whose gradient is at most `steepest`, errors included, by Newton's method with halved steps.

        A step is halved until the gradient falls by a quarter of what its size promises: unlike the objective's value,
        a gradient is as sharp near the minimum as elsewhere.
        """
        here = np.zeros(self.rows.shape[1])
        slope = self.gradient(here)
        for _ in range(MOST_STEPS):
            steep = float(np.linalg.norm(slope))
            if self._is_minimum(here, steep):
                return here
            try:
                step, size = np.linalg.solve(self._curvature(here), slope), 1.0
            except np.linalg.LinAlgError:
                break
            there = self.gradient(here - step)
            while size > 2**-40 and float(np.linalg.norm(there)) > (1 - size / 4) * steep:
                size /= 2
                there = self.gradient(here - size * step)
            here, slope = here - size * step, there
        return self.slow_minimum()

    def slow_minimum(self) -> Floats:
        """Return such a point by accelerated gradient descent, for rows on which Newton's method takes too many steps.

        J is Λ-strongly convex, and its gradient changes by at most L = Λ + nR²/4 times the way. So after k steps J is
        above its minimum by at most (1 − √(Λ/L))^k times L times the squared distance to it (Nesterov 2004, Theorem
        2.2.3), and a gradient's square is at most 2L times that. With the number of steps below this is e⁻³⁰⁰ of
        where it began: what is left are the errors of floats, and these are small enough for all tables of up to some
        10⁸ rows (see `error`). So no table that is smaller makes a fit fail.
        """
        steepness = self.penalty + len(self.rows) * self.norm**2 / 4
        ratio = math.sqrt(steepness / self.penalty)
        here = ahead = np.zeros(self.rows.shape[1])
        for _ in range(math.ceil(300 * ratio) + 1):
            slope = self.gradient(ahead)
            if self._is_minimum(ahead, float(np.linalg.norm(slope))):
                return ahead
            there = ahead - slope / steepness
            here, ahead = there, there + (ratio - 1) / (ratio + 1) * (there - here)
        raise NotProved("The minimum was not found closely enough.", fix="pass a larger penalty")

    def _is_minimum(self, here: Floats, steep: float) -> bool:
        """Tell whether a point's true gradient is surely at most `steepest`, given the norm of that in floats."""
        return steep * (1 + 1e-9) + self.error(here) <= steepest(self.penalty)

    def gradient(self, here: Floats) -> Floats:
        """Return ∇J, its rows added up in blocks and blocks without error, so that rounding errors stay few."""
        residuals = _chances(self.margins(here)) - self.labels
        blocks = range(0, len(residuals), BLOCK)
        parts = [residuals[at : at + BLOCK] @ self.rows[at : at + BLOCK] for at in blocks]
        summed = np.array([math.fsum(column) for column in zip(np.zeros_like(here), *parts, strict=True)])
        return np.asarray(summed + self.penalty * here + self.noise)

    def error(self, here: Floats) -> float:
        """Return more than the distance of the gradient in floats from the true one.

        A sum of k products is off by at most k·2⁻⁵³ times the sum of their magnitudes (Higham 2002, Section 3.1). So a
        margin is off by at most `off`, and a chance by that times its slope p(1 − p), which changes by at most 2 % over
        so short a way (or is nothing, where a last place is long), and by a few units in the last place.
        """
        count, width = self.rows.shape
        long, margins = float(np.linalg.norm(here)) + 1, self.margins(here)
        rest, last = UNIT * (width + 2) * self.norm * math.sqrt(width) * self._coarse(here), UNIT * (16 + BLOCK) * count
        off, chances = rest + UNIT * np.abs(margins), _chances(margins)
        slopes = chances * (1 - chances) + UNIT * 16 if rest < 0.01 else np.full(count, 0.25)
        moved = 1.05 * float(slopes @ off) + last
        return 1.1 * float(self.norm * moved + UNIT * 8 * (self.penalty * long + float(np.linalg.norm(self.noise))))

    def margins(self, here: Floats) -> Floats:
        """Return rows·here. Noise may drive weights far where there are no rows, and margins are still to be sharp.

        Rows count in steps, so that products with the coarse part of `here` are added up without error, below 2⁵³ of
        their unit; the rest of it is tiny, and so are its errors.
        """
        coarse = self._coarse(here)
        near = np.rint(here / coarse) * coarse
        return np.asarray(self.rows @ near + self.rows @ (here - near))

    def _coarse(self, here: Floats) -> float:
        """Return a power of two: the unit of the coarse part of `here`."""
        most = max(float(np.abs(here).max()), 2.0**-100) * len(here) * self.norm
        return 2.0 ** (math.frexp(most)[1] + BITS - 52)

    def _curvature(self, here: Floats) -> Floats:
        chances = _chances(self.rows @ here)
        weighted = self.rows * (chances * (1 - chances))[:, None]
        return np.asarray(weighted.T @ self.rows + self.penalty * np.eye(len(here)))


def steepest(penalty: float) -> float:
    """Return γ: how long the gradient may still be where a minimum is taken for found."""
    return SMALL * max(penalty, 1.0)


def _chances(margins: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-margins)))
