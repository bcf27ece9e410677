"""What ε and δ mean: how far an attacker's belief can rise, how often a membership test is right, and rules for δ.

P and Q are the distributions of the output on two neighbouring tables, such as the one with a person and the one
without. (ε, δ)-differential privacy is P(S) ≤ e^ε·Q(S) + δ and Q(S) ≤ e^ε·P(S) + δ for every event S. Each function
states what follows from that alone. A mechanism that tells the truth with probability δ and otherwise gives a
randomised response attains every bound here, so none can be smaller (Kairouz, Oh, Viswanath 2015, Section 2). Results
are exact up to e^ε, of which an upper bound is taken, and rounded up.
"""

import math
from decimal import ROUND_DOWN, Context
from fractions import Fraction

from discreet.core import InvalidInput, Number, exact, exp_up, probability, round_up, whole

#: Beyond this ε every bound is 1 in a float: e^1000 is above 10^400, and no prior or rate lies below 10^−100.
TELLING = 1000


def posterior(prior: Number, epsilon: Number, delta: Number = 0) -> float:
    """Return the most that an attacker's belief can rise to, from a prior belief.

    The belief is in one of two neighbouring tables, by an attacker who knows both and the mechanism.

    Guarantee, for δ = 0: for every output the belief is at most π = p·e^ε/(p·e^ε + 1 − p). For δ > 0 nothing holds for
    every output, since an event of probability δ may tell outright. The result is then π + (1 − π)·δ, which bounds the
    average over the outputs of the larger of belief and π; so the belief reaches π + t with probability at most
    (1 − π)·δ/t.

    Proof. By Bayes' rule the belief after the output y is p·P(y)/(p·P(y) + (1 − p)·Q(y)), which grows with P(y)/Q(y)
    and is π where the ratio is e^ε; for δ = 0 the ratio is no larger. For δ > 0 let y have a larger ratio, and write
    r = Q(y)/P(y) < e^−ε. Then belief − π is

        p(1 − p)(e^−ε − r)/((p + (1 − p)r)(p + (1 − p)e^−ε))
            ≤  (1 − p)(e^−ε − r)/(p + (1 − p)e^−ε)  =  (1 − π)(1 − e^ε·r),

    so P(y)·(belief − π) ≤ (1 − π)(P(y) − e^ε·Q(y)). Summed over all such y the right-hand side is at most (1 − π)·δ.
    That is the average if P is the truth; if Q is, it is smaller still, as Q(y) < P(y) for these y. Markov's
    inequality gives the last claim. ∎

    Reference: Kasiviswanathan, Smith 2014, for beliefs of any attacker under (ε, δ); the form for δ > 0 is ours.
    """
    belief = probability(prior, "prior")
    level, slack = _promise(epsilon, delta)
    if level > TELLING:
        return 1.0
    odds = belief * _factor(level)
    most = odds / (odds + 1 - belief)
    return round_up(most + (1 - most) * slack)


def power(false_alarms: Number, epsilon: Number, delta: Number = 0) -> float:
    """Return the best true-positive rate of any membership test at a false-positive rate.

    Guarantee: no test, randomised or not, that accuses an absent person with probability at most f = `false_alarms`
    finds a present one with a probability above min(1, e^ε·f + δ, 1 − e^−ε·(1 − δ − f)).

    Proof. Let the test accuse on the event S, so that Q(S) ≤ f. Then P(S) ≤ e^ε·f + δ. On the complement of S the
    definition says 1 − Q(S) ≤ e^ε·(1 − P(S)) + δ, so P(S) ≤ 1 − e^−ε·(1 − δ − f). A randomised test is an average of
    such tests, and the bound is concave in f. ∎

    Reference: Kairouz, Oh, Viswanath 2015, Section 2; for δ = 0, Wasserman, Zhou 2010.
    """
    alarms = exact(false_alarms, "false_alarms")
    if not 0 <= alarms <= 1:
        raise InvalidInput("false_alarms must lie in [0, 1].", fix="pass a false-positive rate, such as 0.01")
    level, slack = _promise(epsilon, delta)
    if level > TELLING:
        return 1.0 if alarms else round_up(slack)
    factor = _factor(level)
    return round_up(min(Fraction(1), factor * alarms + slack, 1 - (1 - slack - alarms) / factor))


def advantage(epsilon: Number, delta: Number = 0) -> float:
    """Return the largest excess of the true-positive rate of a membership test over its false-positive rate.

    Guarantee: no test accuses a present person more often than an absent one by more than
    (e^ε − 1 + 2δ)/(e^ε + 1), and none guesses a fair coin toss between the two tables with probability above
    (1 + advantage)/2.

    Proof. The two lines of `power` meet at f = (1 − δ)/(e^ε + 1). Up to there e^ε·f + δ − f grows with f, and beyond it
    1 − e^−ε·(1 − δ − f) − f falls; at that f both are the stated value. A guess of a fair coin toss is right with
    probability (P(S) + 1 − Q(S))/2. ∎

    Reference: Kairouz, Oh, Viswanath 2015, Section 2; Humphries and others 2023.
    """
    level, slack = _promise(epsilon, delta)
    if level > TELLING:
        return 1.0
    factor = _factor(level)
    return round_up((factor - 1 + 2 * slack) / (factor + 1))


def _factor(epsilon: Fraction) -> Fraction:
    """Return e^ε from above; exactly 1 for ε = 0, so that a promise that tells nothing leaves every number alone."""
    return exp_up(epsilon) if epsilon else Fraction(1)


def _promise(epsilon: Number, delta: Number) -> tuple[Fraction, Fraction]:
    level, slack = exact(epsilon, "epsilon"), exact(delta, "delta")
    if level < 0:
        raise InvalidInput("epsilon must be 0 or more.", fix="pass epsilon such as 1 or 0.1")
    if not 0 <= slack < 1:
        raise InvalidInput("delta must lie in [0, 1).", fix="pass delta=0, or a small one such as 1e-9")
    return level, slack


# Rules for δ: it must be far below one in the number of people.
#
# A mechanism that publishes each person's row with probability δ, and nothing else, is (0, δ)-differentially private.
# Of n people it exposes n·δ on average, and with δ = 1/n it may as well publish one row drawn at random. So a δ near
# 1/n promises nothing (Dwork, Roth 2014, Section 2.3). Customary advice is n^−1.1 or less (Ponomareva and others
# 2023).

#: No table has more people than this; a larger number is a typing error.
MOST_PEOPLE = 10**18


def advised_delta(people: int) -> float:
    """Return the largest float δ with δ ≤ n^−1.1, in binary and by its text, for n people.

    Guarantee: δ^10·n^11 ≤ 1, decided in integers, and no larger float has that. At this δ the mechanism above still
    exposes some person with probability up to n^−0.1, which is 1/4 for a million people: it is the most to choose, not
    the best.
    """
    count = _count(people)
    result = math.nextafter(float(count) ** -1.1 * (1 + 1e-14), math.inf)  # above the root: pow errs by less
    while not _is_far_below(max(exact(result, "delta"), Fraction(result)), count):
        result = math.nextafter(result, 0)
    return result


def need_delta(delta: Number, people: int) -> Fraction:
    """Return the exact δ if it is far below one in the number of people, else refuse it with the reason.

    Guarantee: the result is 0 or at most n^−1.1, exactly. `people` is a public number: the message states it. If the
    count itself is private, pass a public upper bound on it, which is the safe side.
    """
    count, exactly = _count(people), exact(delta, "delta")
    if not 0 <= exactly < 1:
        raise InvalidInput("delta must lie in [0, 1).", fix="pass delta=0, or a small one such as 1e-9")
    if not _is_far_below(exactly, count):
        most = float(Context(prec=2, rounding=ROUND_DOWN).create_decimal(repr(advised_delta(count))))
        raise InvalidInput(
            f"delta = {_show(exactly)} is not far below 1/n for n = {people} people: a mechanism may then publish "
            f"rows outright, each with probability delta, which exposes {_show(people * exactly)} of them on average.",
            fix=f"pass delta={most!r} (about n^-1.1) or less, or delta=0 where the mechanism allows it",
        )
    return exactly


def _is_far_below(delta: Fraction, count: int) -> bool:
    """Return whether δ ≤ n^−1.1, in integers: no float has to be trusted on which side it falls."""
    return delta.numerator**10 * count**11 <= delta.denominator**10


def _count(people: int) -> int:
    # One person alone counts as two, or the rule would allow δ = 1.
    return max(2, whole(people, "people", most=MOST_PEOPLE))


def _show(number: Fraction) -> str:
    return f"{round_up(number):.3g}"
