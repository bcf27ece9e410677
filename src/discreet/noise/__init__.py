"""Exact integer randomness. Knows no rows and no budgets.

Every distribution here is exact: floats only decide how fast a draw is, never what comes out. All randomness is
AES-256-CTR keyed from the operating system; there is no seed.
"""

from discreet.noise.choice import ExpChoice, choose, choose_exp, toss_exp
from discreet.noise.sampling import below, bernoulli, bernoulli_exp, gaussian, geometric, laplace
from discreet.noise.stream import SYSTEM, Entropy, process_mark

__all__ = [
    "SYSTEM",
    "Entropy",
    "ExpChoice",
    "below",
    "bernoulli",
    "bernoulli_exp",
    "choose",
    "choose_exp",
    "gaussian",
    "geometric",
    "laplace",
    "process_mark",
    "toss_exp",
]
