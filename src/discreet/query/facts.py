"""What a planner has to know of a dataset: all of it public."""

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.limits import AnyLimit
from discreet.core.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The schema, the limits that were given, and the δ for which the groups of one question may be bought.

    Without limits, every question chooses its own privately, for a tenth of its price. With a δ of 0 no groups are for
    sale.
    """

    schema: Schema
    limit: AnyLimit | None = None
    delta: Fraction = Fraction(0)
