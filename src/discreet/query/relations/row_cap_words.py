"""Texts about the cap on the rows of one person: in a question's canonical text, and in the notes of its answer.

The canonical text of a question without joins and unions under the default cap is what it was before there was one: the
rows that count differ only for people with more rows than that. Everything else says the cap.
"""

from collections.abc import Iterable

from discreet.algebra.relations import PublicJoin, PublicScan, Relation, UnionAll, UnitJoin, sources_of
from discreet.algebra.row_caps import MAKING
from discreet.core.schema import ROWS_PER_PERSON, Schema


def cap_text(schema: Schema, sources: Iterable[Relation | None]) -> tuple[str, ...]:
    """Return what the canonical text of a question about some relations says about the cap: a line, or none."""
    if schema.unit.column is None:
        return ()
    stated = schema.rows_per_person != ROWS_PER_PERSON or any(
        makes_rows(source) for source in sources if source is not None
    )
    return (f"rows_per_person={schema.rows_per_person}",) if stated else ()


def makes_rows(relation: Relation | PublicScan) -> bool:
    """Whether a unit may have more rows in a relation than in its tables, if nothing is cut."""
    match relation:
        case PublicScan():
            return False
        case UnionAll():
            return True
        case UnitJoin(kind=kind) | PublicJoin(kind=kind) if kind in MAKING:
            return True
        case _:
            return any(makes_rows(source) for source in sources_of(relation))


def cap_note(schema: Schema, source: Relation | None) -> str:
    """Return a sentence about what the cap leaves out; whether it does so for anybody is not said."""
    window = "" if schema.unit.window is None else f" in one {schema.unit.window.period.value}"
    combined = ", and as many in each join or union" if source is not None and makes_rows(source) else ""
    return f"Cap: {schema.rows_per_person:,} rows per {schema.unit.column}{window} in each table{combined}."
