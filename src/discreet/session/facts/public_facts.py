"""Public facts as values: schemas, public tables, the declared contribution bound and the terms of the budget."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from discreet.core import Bounds, InvalidInput
from discreet.core.limits import AnyLimit
from discreet.core.schema import Schema
from discreet.gate import Budget, Policy
from discreet.session.datasets import Dataset


@dataclass(frozen=True, slots=True, kw_only=True)
class BoughtBounds:
    """The bounds of one column that were bought, and are public since."""

    table: str
    column: str
    bounds: Bounds


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicFacts:
    """All that an analyst may know about a dataset before a question is asked.

    Guarantee: it has no row of a private table, no place of a source and no secret of the ledger. Rows of public tables
    are in it, as `Schema.rows`.

    Raises:
        InvalidInput: There is no private table, a private table has rows, two tables have the same name, or a bought
            bound is of no column.

    """

    #: The private tables as they were declared.
    tables: tuple[Schema, ...]
    #: The public tables, with their rows where these are few.
    publics: tuple[Schema, ...] = ()
    #: Bounds that one analyst knows of because they were bought.
    bought: tuple[BoughtBounds, ...] = ()
    #: The declared contribution bound; None if each question chooses one.
    limit: AnyLimit | None = None
    #: The δ that one question may use to select groups.
    delta: Fraction = Fraction(0)
    #: The names of tables at their source, with the schemas that were named.
    paths: Mapping[str, str] = field(default_factory=dict)
    #: Columns of each source that cannot be asked about, and why.
    left_out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: The budget as the ledger was begun with it, and what several analysts may learn together.
    budget: Budget
    policy: Policy = Policy.SHARED
    #: The name of the ledger: the hash of its birth.
    ledger: str = ""

    def __post_init__(self) -> None:
        names = [schema.table.casefold() for schema in (*self.tables, *self.publics)]
        if not self.tables or len(set(names)) < len(names):
            raise InvalidInput("Public facts name no private table, or a table twice.", fix=FACTS_FIX)
        if any(schema.people is not None for schema in (*self.tables, *self.publics)):
            raise InvalidInput("Public facts describe tables only, no relations made from them.", fix=FACTS_FIX)
        if any(schema.rows is not None for schema in self.tables):
            raise InvalidInput("Public facts have no rows of private tables.", fix=FACTS_FIX)
        for bought in self.bought:
            schema = next((schema for schema in self.tables if schema.table == bought.table), None)
            if schema is None or bought.column not in schema.names:
                raise InvalidInput("A column with bought bounds does not exist.", fix=FACTS_FIX)

    @property
    def known(self) -> dict[str, Schema]:
        """The private tables with the bounds that were bought, by name."""
        bounds = {(bought.table, bought.column): bought.bounds for bought in self.bought}
        return {
            schema.table: replace(
                schema,
                columns=tuple(
                    replace(column, bounds=bounds.get((schema.table, column.name), column.bounds))
                    for column in schema.columns
                ),
            )
            for schema in self.tables
        }


FACTS_FIX = "take the facts from a session, or from the server, as they are"


def build_facts(dataset: Dataset, known: Mapping[str, Schema]) -> PublicFacts:
    """Return the public facts of a dataset, with the schemas as one analyst knows them."""
    bought = tuple(
        BoughtBounds(table=name, column=column.name, bounds=column.bounds)
        for name, schema in known.items()
        for column, declared in zip(schema.columns, dataset.schemas[name].columns, strict=True)
        if column.bounds is not None and declared.bounds is None
    )
    return PublicFacts(
        tables=tuple(dataset.schemas.values()),
        publics=tuple(dataset.publics.values()),
        bought=bought,
        limit=dataset.limit,
        delta=dataset.delta,
        paths=dict(dataset.paths),
        left_out={table: dict(reasons) for table, reasons in dataset.left_out.items()},
        budget=dataset.ledger.budget,
        policy=dataset.ledger.birth.policy,
        ledger=dataset.ledger.identity,
    )
