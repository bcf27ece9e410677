"""Worlds in which marks tie in their upper halves, so that the order decides. Found by search, not by chance."""

from data_worlds import PERSON, World
from discreet.core import Bounds, Limit, PrivacyUnit
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.data.aggregates import Aggregation, Key, Rows, Total
from discreet.data.expressions import ColumnValue

UNIT = "p1"
SCHEMA = Schema(
    table="visits",
    columns=(Column(name=PERSON, kind=Kind.TEXT), Column(name="x", kind=Kind.INTEGER)),
    unit=PrivacyUnit(column=PERSON),
)
X = ColumnValue("x", Kind.INTEGER)
#: The unit's marks for these two groups tie under salt 0.
GROUPS, GROUP_SALT = (92827, 96785), 0
#: The unit's marks for these two rows tie under this salt, and so many rows have smaller ones.
ROWS, ROW_SALT, BEFORE = (233, 741), 3219, 13


def tied_groups(values=None):
    """Return a world in which a unit has rows in two groups by turns, the later one first, and may keep one group."""
    rows = tuple({PERSON: who, "x": group} for who in (UNIT, "q", UNIT, UNIT) for group in reversed(GROUPS))
    limit = Limit(groups=1, rows_per_group=2)
    aggregation = Aggregation(where=None, keys=(Key(X, values),), aggregates=(Rows(),), limit=limit, salt=GROUP_SALT)
    return World(SCHEMA, rows, aggregation)


def tied_rows():
    """Return a world in which the last row that a unit may keep ties with a later one. The sum says which it kept."""
    rows = tuple({PERSON: UNIT, "x": number} for number in range(1500))
    numbers = Total(X, Bounds(0, 1500, step=1))
    aggregation = Aggregation(where=None, keys=(), aggregates=(numbers,), limit=TotalLimit(BEFORE + 1), salt=ROW_SALT)
    return World(SCHEMA, rows, aggregation)
