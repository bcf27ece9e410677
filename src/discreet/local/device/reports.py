"""Reports on the wire: one whole number, packed in as few bytes as possible."""

from fractions import Fraction
from typing import Protocol

from discreet.core import InvalidInput, WrongType, whole
from discreet.core.errors import kind_of
from discreet.noise.coins import DEVICE, Coins


class Encoder(Protocol):
    """How a device answers one question: its value in, a report out that may be made public.

    Guarantee: whatever the report, two values make it with probabilities within a factor of e^epsilon.
    """

    @property
    def epsilon(self) -> Fraction:
        """The cost of one report to its person."""
        ...

    @property
    def outputs(self) -> int:
        """The number of different reports: they are numbered from 0 on."""
        ...

    def encode(self, value: int, coins: Coins = DEVICE, /) -> int:
        """Return the report."""
        ...


class _Sized(Protocol):
    @property
    def outputs(self) -> int: ...


def report_bits(encoder: _Sized) -> int:
    """Return the size of a report in bits.

    Args:
        encoder: the encoder.

    Returns:
        The number of bits.

    """
    return (encoder.outputs - 1).bit_length()


def report_bytes(encoder: _Sized) -> int:
    """Return the size of a packed report in bytes.

    Args:
        encoder: the encoder.

    Returns:
        The number of bytes.

    """
    return -(-report_bits(encoder) // 8)


def pack(encoder: _Sized, report: int) -> bytes:
    """Return a report as bytes; all reports of one encoder have the same length.

    Args:
        encoder: the encoder that made the report.
        report: the report.

    Returns:
        The packed report.

    Raises:
        DiscreetError: if the encoder cannot have made the report.

    Example:
        >>> from discreet.local import KaryResponse, pack, unpack
        >>> encoder = KaryResponse(domain=4, epsilon=1)
        >>> unpack(encoder, pack(encoder, 3))
        3

    """
    return whole(report, "report", least=0, most=encoder.outputs - 1).to_bytes(report_bytes(encoder), "big")


def unpack(encoder: _Sized, data: bytes | bytearray) -> int:
    """Return the report that bytes hold; refuse bytes that are not a report, since a server may receive anything.

    Args:
        encoder: the encoder that made the report.
        data: the packed report.

    Returns:
        The report.

    Raises:
        DiscreetError: if the bytes are not a report of this encoder.

    """
    if not isinstance(data, bytes | bytearray):
        raise WrongType(f"A packed report is {kind_of(data)}, not bytes.", fix="pass what pack returned")
    outputs = encoder.outputs
    report = int.from_bytes(data, "big") if len(data) == report_bytes(encoder) else outputs
    if report >= outputs:
        raise InvalidInput("The bytes are not a report of this encoder.", fix="leave this report out")
    return report


def need_domain(domain: object, *, most: int | None = None) -> int:
    """Return a number of categories."""
    return whole(domain, "domain", least=2, most=most)


def category_of(value: object, domain: int) -> int:
    """Return a value as a category.

    A category that is out of range cannot be reported truthfully; it counts as 0, as an error would tell.
    """
    number = whole(value, "value", least=None)
    return number if 0 <= number < domain else 0
