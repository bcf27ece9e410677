"""How the rows of one unit become one value. Public; sees no row."""

from enum import Enum

from discreet.algebra.expressions import Expression
from discreet.core import InvalidInput, WrongType
from discreet.core.canonical_text import Choices
from discreet.core.schema import Kind


class Fold(Enum):
    """How one unit's rows become one value.

    ROWS counts rows. PRESENT counts values, DISTINCT different ones. TOTAL of integers is their exact sum, clipped to
    ±2⁵³; of reals it takes bounds: the exact sum S of grid points (as in `Total`), clipped to ±2⁵³, then
    float64(S)·float64(step). MEAN is float64(TOTAL) / float64(PRESENT). LEAST and MOST are of any kind but boolean;
    texts go by their UTF-8 bytes. TOTAL, MEAN, LEAST and MOST of no value are NULL.
    """

    __canonical__ = Choices(
        "Fold",
        {
            "COUNT(*)": "ROWS: 'COUNT(*)'",
            "COUNT": "PRESENT: 'COUNT'",
            "COUNT DISTINCT": "DISTINCT: 'COUNT DISTINCT'",
            "SUM": "TOTAL: 'SUM'",
            "AVG": "MEAN: 'AVG'",
            "MIN": "LEAST: 'MIN'",
            "MAX": "MOST: 'MAX'",
        },
    )

    ROWS = "COUNT(*)"
    PRESENT = "COUNT"
    DISTINCT = "COUNT DISTINCT"
    TOTAL = "SUM"
    MEAN = "AVG"
    LEAST = "MIN"
    MOST = "MAX"


def kind_of_fold(fold: Fold, value: Expression | None) -> Kind:
    """Return what comes out of a fold, or refuse what it has no meaning for."""
    if (value is None) is not (fold is Fold.ROWS):
        raise InvalidInput(f"{fold.value} has a value too many, or none.", fix="write COUNT(*), or COUNT(x), SUM(x), …")
    if value is None or fold in (Fold.PRESENT, Fold.DISTINCT):
        return Kind.INTEGER
    summed = fold in (Fold.TOTAL, Fold.MEAN)
    if (summed and not value.kind.numeric) or value.kind is Kind.BOOLEAN:
        raise WrongType(
            f"{fold.value} does not take {value.kind.value} values.",
            fix="give it numbers, for instance with CAST(… AS …)",
        )
    return Kind.REAL if fold is Fold.MEAN else value.kind
