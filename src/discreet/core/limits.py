"""Limits are on people: how much of an answer one unit may touch."""

from dataclasses import dataclass

from discreet.core.errors import WrongType, kind_of
from discreet.core.exact import whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How many groups one unit may touch, and with how many rows each."""

    groups: int = 1
    rows_per_group: int = 1

    def __post_init__(self) -> None:
        whole(self.groups, "groups")
        whole(self.rows_per_group, "rows_per_group")


def need_limit(value: object) -> Limit:
    """Return `value` if it is a Limit; a bare number would not say of what."""
    if not isinstance(value, Limit):
        raise WrongType(f"limit is {kind_of(value)}, not a Limit.", fix="pass Limit(groups=…, rows_per_group=…)")
    return value
