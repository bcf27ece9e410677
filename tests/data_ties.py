"""A world in which the marks of two groups tie, so that the order decides."""

from data_worlds import PERSON, World
from discreet.algebra.aggregates import Aggregation, Key, Rows
from discreet.algebra.expressions import ColumnValue
from discreet.algebra.row_hashes import KEYS
from discreet.core import Limit, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema

UNIT = "p1"
SCHEMA = Schema(
    table="visits",
    columns=(Column(name=PERSON, kind=Kind.TEXT), Column(name="x", kind=Kind.INTEGER)),
    unit=PrivacyUnit(column=PERSON),
)
X = ColumnValue("x", Kind.INTEGER)
#: Two groups with the same name: everybody's marks for them tie.
GROUPS = (1, 2**32 + (1 ^ KEYS))


def tied_groups(values=None):
    """Return a world in which units have rows in two groups by turns, the later one first, and may keep one group.

    One has more rows in the first group than in the other: it matters which of them is kept, not only that one is.
    """
    rows = tuple({PERSON: who, "x": group} for who in (UNIT, "q", UNIT, UNIT, "r") for group in reversed(GROUPS))
    rows += ({PERSON: "r", "x": GROUPS[0]},)
    limit = Limit(groups=1, rows_per_group=2)
    aggregation = Aggregation(where=None, keys=(Key(X, values),), aggregates=(Rows(),), limit=limit, salt=0)
    return World(SCHEMA, rows, aggregation)
