"""What a planner has to know of a dataset: all of it public."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.core.limits import AnyLimit
from discreet.core.schema import Schema
from discreet.query.questions import Question
from discreet.query.relations.schemas import schema_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The schema, the limits that were given, and the δ for which the groups of one question may be bought.

    For a question about a relation, `about` puts the relation's schema in the place of the table's.
    Without limits, every question chooses its own privately, for a tenth of its price. With a δ of 0 no groups are for
    sale.
    """

    schema: Schema
    #: The other tables that a question may join.
    schemas: tuple[Schema, ...] = ()
    limit: AnyLimit | None = None
    delta: Fraction = Fraction(0)

    @property
    def tables(self) -> Mapping[str, Schema]:
        """All tables, by name. What a relation is called may be the name of one of them, which is meant then."""
        return {schema.table: schema for schema in (self.schema, *self.schemas)}

    def about(self, question: Question) -> "Facts":
        """Return what has to be known for a question: the schema of its rows."""
        schema = schema_of(question, self.tables)
        return replace(self, schema=schema, schemas=(*self.schemas, self.schema))
