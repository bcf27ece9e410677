"""What a planted bug is."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """One planted bug."""

    bug: str
    file: str
    old: str
    new: str
    tests: str
