"""Odds of membership: how far ε lets an attacker's belief rise, and how often a membership test can be right.

P and Q are the distributions of the output on two neighbouring tables, such as the one with a person and the one
without. (ε, δ)-differential privacy is P(S) ≤ e^ε·Q(S) + δ and Q(S) ≤ e^ε·P(S) + δ for every event S. Each function
states what follows from that alone. A mechanism that tells the truth with probability δ and otherwise gives a
randomised response attains every bound here, so none can be smaller (Kairouz, Oh, Viswanath 2015, Section 2). Results
are exact up to e^ε, of which an upper bound is taken, and rounded up.
"""

from fractions import Fraction

from discreet.core import InvalidInput, Number, exact, exp_up, probability, round_up

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
