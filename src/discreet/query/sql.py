"""Questions in SQL."""

from collections.abc import Mapping

from discreet.core import WrongType
from discreet.core.errors import kind_of
from discreet.core.schema import Schema
from discreet.query.questions import Question


def read_sql(text: str, schemas: Mapping[str, Schema]) -> Question:
    """Return the question that a text asks of one of the tables, or refuse it with line and column.

    Guarantee: whatever the text, the answer is a `Question` or an error; no row is looked at.
    """
    if not isinstance(text, str):
        raise WrongType(
            f"The question is {kind_of(text)}, not a text.", fix='pass SQL, such as "SELECT COUNT(*) FROM visits"'
        )
    from discreet.query.sql_reading import read  # noqa: PLC0415 - sqlglot takes a fifth of a second to load

    return read(text, schemas)
