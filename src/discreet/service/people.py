"""People of the service: who asks, in which role, and in which team."""

import re
from dataclasses import dataclass
from enum import Enum

from discreet.core import InvalidInput, WrongType

#: Names of people and teams. A colon or a slash would blur where a name ends in a request id.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", re.ASCII)


class Role(Enum):
    """What a person may do."""

    #: Declares, reviews failures and sets shares; may also ask.
    STEWARD = "steward"
    #: Asks questions and pays for them from a share.
    ANALYST = "analyst"
    #: Reads the ledger's public record; never asks.
    AUDITOR = "auditor"
    #: Is protected: reads a statement of an own account.
    PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """A person whose identity was checked. Faces make one of a token or a password, and the door trusts it."""

    name: str
    role: Role
    #: The team whose share is charged beside the person's own; empty without one.
    team: str = ""

    def __post_init__(self) -> None:
        need_name(self.name, "name")
        if self.team:
            need_name(self.team, "team")
        if not isinstance(self.role, Role):
            raise WrongType("role is not a Role.", fix="pass Role.ANALYST, or another role")


def need_name(name: object, what: str) -> str:
    """Return the name of a person or a team, or refuse it."""
    if isinstance(name, str) and NAME.fullmatch(name):
        return name
    raise InvalidInput(
        f"The {what} is not one that the service knows people by.",
        fix="use up to 64 letters, digits, dots, hyphens, underscores and at-signs; begin with a letter or a digit",
    )
