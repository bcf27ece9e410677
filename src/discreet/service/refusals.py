"""Refusals of the service. They are defined in `session`, where a remote client needs them, too."""

from discreet.session.remote.refusals import (
    KINDS,
    Busy,
    NotAllowed,
    NotFound,
    NotYet,
    PaymentOff,
    Refusal,
    TooMany,
)

__all__ = [
    "KINDS",
    "Busy",
    "NotAllowed",
    "NotFound",
    "NotYet",
    "PaymentOff",
    "Refusal",
    "TooMany",
]
