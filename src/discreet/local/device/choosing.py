"""Choice of an encoder for a number of categories, an ε, and a size of reports."""

from fractions import Fraction

from discreet.core import InvalidInput, Number, exact, whole
from discreet.local.device.hadamard import Hadamard
from discreet.local.device.hashing import LocalHashing
from discreet.local.device.odds import need_epsilon
from discreet.local.device.reports import need_domain, report_bits
from discreet.local.device.response import KaryResponse
from discreet.local.device.subset import SubsetSelection
from discreet.local.device.unary import MOST_CATEGORIES, Unary

Chosen = KaryResponse | Unary | SubsetSelection | Hadamard | LocalHashing


def unit_variance(encoder: Chosen, share: Fraction) -> Fraction:
    """Return the variance of an estimated share, times the number of people, for a category that so many hold."""
    kept, others = encoder.kept, encoder.others
    return (share * kept * (1 - kept) + (1 - share) * others * (1 - others)) / (kept - others) ** 2


def best_encoder(
    *, domain: int, epsilon: Number, most_bits: int | None = None, slack: Number = Fraction(1, 100)
) -> Chosen:
    """Return the encoder with the least variance among those whose reports have at most `most_bits` bits.

    For a category that one in `domain` people hold. Of those whose variance is within `slack` of the least, 1 % if left
    out, the one with the smallest report is taken: subset selection is best by a hair, and hashing takes a
    hundredth of its bits.

    Args:
        domain: the number of categories.
        epsilon: ε of one report.
        most_bits: the largest size of a report in bits; any size if left out.
        slack: how much more variance is accepted for a smaller report, as a fraction.

    Returns:
        The encoder.

    Raises:
        DiscreetError: if a value is out of range, or no encoder has reports that small.

    Example:
        >>> from discreet.local import best_encoder
        >>> best_encoder(domain=2, epsilon=1)
        KaryResponse(domain=2, epsilon=Fraction(1, 1))

    """
    count, target, room = need_domain(domain), need_epsilon(epsilon), exact(slack, "slack")
    fitting = [
        encoder
        for encoder in _candidates(count, target)
        if most_bits is None or report_bits(encoder) <= _bits(most_bits)
    ]
    if not fitting:
        least = min(report_bits(encoder) for encoder in _candidates(count, target))
        raise InvalidInput(
            "No encoder fits this many categories into reports of so few bits.", fix=f"allow {least} bits or more"
        )
    share = Fraction(1, count)
    bound = min(unit_variance(encoder, share) for encoder in fitting) * (1 + max(room, Fraction(0)))
    good = [encoder for encoder in fitting if unit_variance(encoder, share) <= bound]
    return min(good, key=lambda encoder: (report_bits(encoder), unit_variance(encoder, share)))


def _candidates(domain: int, epsilon: Fraction) -> list[Chosen]:
    small: list[Chosen] = [
        KaryResponse(domain=domain, epsilon=epsilon),
        Hadamard(domain=domain, epsilon=epsilon),
        LocalHashing(domain=domain, epsilon=epsilon),
    ]
    if domain > MOST_CATEGORIES:
        return small
    return [*small, Unary(domain=domain, epsilon=epsilon), SubsetSelection(domain=domain, epsilon=epsilon)]


def _bits(most_bits: object) -> int:
    return whole(most_bits, "most_bits")
