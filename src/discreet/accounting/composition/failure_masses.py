"""The ε and the exact failure masses of a composition: the boundary at which a δ is just large enough.

Theorem. Let P and Q be the two distributions of a release, and P = A + B with A ≤ e^ε·Q and B of a mass of at most δ;
this is what (ε, δ) says in the direction from P to Q. Then releases with (εᵢ, δᵢ), each chosen after seeing the earlier
answers, have (Σεᵢ, 1 − Π(1 − δᵢ)) in that direction.
Proof. Enlarge each B to a mass of δᵢ exactly. Along a history the product of all A's is at most e^(Σεᵢ) times that of
all Q's, and it has a mass of Π(1 − δᵢ). The rest is what B's took part in. ∎

Basic composition has Σδᵢ in its place. Both directions are kept apart, as outcomes may tell for certain in one only.
"""

import math
from collections import Counter
from fractions import Fraction

from discreet.accounting.composites import Composed, Parallel, PrivacyLoss, Repeated, Subsampled
from discreet.accounting.conversions import amplify_by_sampling, approximate_of
from discreet.accounting.losses import DominatingPair

#: Powers whose exact numerators have at most this many bits are not rounded at all.
EXACT_BITS = 1 << 16
#: Fractional bits of probabilities that are rounded.
BITS = 2048

#: ε, and the failure masses of removing and of adding a person.
Masses = tuple[Fraction, Fraction, Fraction]


def failure_masses(loss: PrivacyLoss) -> Masses | None:
    """Return an ε and the failure masses at it in both directions, or None if a part has no single such pair."""
    match loss:
        case Composed(parts):
            entries = [(failure_masses(part), times) for part, times in Counter(parts).items()]
            known = [(masses, times) for masses, times in entries if masses is not None]
            return _compose_masses(known) if len(known) == len(entries) else None
        case Repeated(part, times):
            once = failure_masses(part)
            return None if once is None else _compose_masses([(once, times)])
        case Parallel(parts):
            all_masses = [failure_masses(part) for part in dict.fromkeys(parts)]
            known_masses = [masses for masses in all_masses if masses is not None]
            zero = Fraction(0)
            worst = (max((masses[place] for masses in known_masses), default=zero) for place in range(3))
            return (next(worst), next(worst), next(worst)) if len(known_masses) == len(all_masses) else None
        case Subsampled(part, rate):
            once = failure_masses(part)
            pair = amplify_by_sampling(None if once is None else (once[0], max(once[1:])), rate)
            return None if pair is None else (pair[0], pair[1], pair[1])
        case DominatingPair(present, absent):
            pair = approximate_of(loss)
            lost = sum((p for p, q in zip(present, absent, strict=True) if not q), Fraction(0))
            gained = sum((q for p, q in zip(present, absent, strict=True) if not p), Fraction(0))
            return None if pair is None else (pair[0], lost, gained)
        case _:
            pair = approximate_of(loss)
            return None if pair is None else (pair[0], pair[1], pair[1])


def survival(delta: Fraction, times: int) -> Fraction:
    """Return (1 − δ)^times, rounded down where the exact number would be long."""
    if times * delta.denominator.bit_length() <= EXACT_BITS:
        return (1 - delta) ** times
    result, power = 1 << BITS, ((1 - delta).numerator << BITS) // delta.denominator
    while times:
        if times & 1:
            result = result * power >> BITS
        power, times = power * power >> BITS, times >> 1
    return Fraction(result, 1 << BITS)


def _compose_masses(entries: list[tuple[Masses, int]]) -> Masses:
    epsilon, surviving = Fraction(0), [Fraction(1), Fraction(1)]
    for masses, times in entries:
        epsilon += times * masses[0]
        surviving = [_short(share * survival(mass, times)) for share, mass in zip(surviving, masses[1:], strict=True)]
    return epsilon, 1 - surviving[0], 1 - surviving[1]


def _short(share: Fraction) -> Fraction:
    """Return a probability, rounded down where its exact form is long."""
    if share.denominator.bit_length() <= EXACT_BITS:
        return share
    return Fraction(math.floor(share * (1 << BITS)), 1 << BITS)
