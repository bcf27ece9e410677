"""What mechanisms ask of their parameters."""

from discreet.core import Sensitivity, WrongType


def need_sensitivity(value: object) -> Sensitivity:
    """Return `value` if it is a Sensitivity; a bare number would not say in which norm."""
    if not isinstance(value, Sensitivity):
        raise WrongType(
            f"sensitivity is a {type(value).__name__}, not a Sensitivity.",
            fix="pass counting_query(), histogram(), bounded_sum(…) or Sensitivity.box(l0=…, linf=…)",
        )
    return value
