"""Datasets: the tables, the ledger and the public facts that all sessions of one opening share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from discreet.algebra.relations import PublicScan
from discreet.core import InvalidInput, WrongType
from discreet.core.errors import kind_of
from discreet.core.limits import AnyLimit
from discreet.core.schema import Column, Schema, closest
from discreet.gate import Ledger
from discreet.session.bought import Notes, add_bought_bounds, lacks_bounds
from discreet.session.rows import OpenTables


@dataclass(slots=True)
class Dataset:
    """Private tables with one account. Closed once, for all."""

    tables: OpenTables
    ledger: Ledger
    #: What was declared about the private tables, by name.
    schemas: Mapping[str, Schema]
    publics: Mapping[str, Schema]
    limit: AnyLimit | None
    delta: Fraction
    #: Columns of each source that cannot be asked about, and why.
    left_out: Mapping[str, Mapping[str, str]]
    closed: bool = False
    notes: Notes = field(init=False)

    def __post_init__(self) -> None:
        self.notes = Notes(self.ledger)

    def find_schemas(self, analyst: str) -> dict[str, Schema]:
        """Return the tables as an analyst knows them: with the bounds that were bought."""
        return {name: add_bought_bounds(self.notes, schema, analyst) for name, schema in self.schemas.items()}

    @property
    def public_scans(self) -> dict[str, PublicScan]:
        """The public tables, for whoever reads SQL."""
        return {name: PublicScan(name, schema.columns) for name, schema in self.publics.items()}

    def need_table(self, name: object) -> str:
        """Return the name of a table; the only one needs none."""
        if name is None and len(self.schemas) == 1:
            return next(iter(self.schemas))
        matches = [known for known in self.schemas if isinstance(name, str) and known.casefold() == name.casefold()]
        if matches:
            return matches[0]
        if isinstance(name, str) and name.casefold() in {public.casefold() for public in self.publics}:
            raise InvalidInput(f"{name!r} is a public table.", fix="read it directly; or join it with a private table")
        if name is None:
            raise InvalidInput("Several tables are open.", fix=f"pass table=, one of: {', '.join(self.schemas)}")
        fix = f"use {next(iter(self.schemas))!r}, or leave the name out"
        if len(self.schemas) > 1:
            fix = f"use one of: {', '.join(self.schemas)}"
        raise InvalidInput("There is no such table.", fix=fix)

    def need_boundless(self, name: object) -> tuple[Schema, str]:
        """Return a column whose bounds could be bought, and its table; "visits.cost" says which table is meant."""
        if not isinstance(name, str):
            raise WrongType(f"column is {kind_of(name)}, not a name.", fix='pass a column\'s name, such as "cost"')
        schema, column = self._need_column(name)
        if column.bounds is not None:
            raise InvalidInput(f"{column.name!r} has declared bounds already.", fix="use them; there is nothing to buy")
        if not lacks_bounds(schema, column):
            raise InvalidInput(
                f"Bounds cannot be bought for {column.name!r}: it is not numeric, or names the privacy unit.",
                fix="name a column of numbers; a CSV file's are texts until they are declared, as in "
                f'kinds={{"{column.name}": "real"}}',
            )
        return schema, column.name

    def _need_column(self, name: str) -> tuple[Schema, Column]:
        candidates = [(schema, schema.find(name)) for schema in self.schemas.values()]
        table, dot, rest = name.rpartition(".")
        if dot:
            candidates += [
                (schema, schema.find(rest))
                for schema in self.schemas.values()
                if schema.table.casefold() == table.casefold()
            ]
        known = [(schema, column) for schema, column in candidates if column is not None]
        if len(known) == 1:
            return known[0]
        if known:
            several = " or ".join(f"{schema.table}.{column.name}" for schema, column in known)
            raise InvalidInput(f"{name!r} is the name of several columns.", fix=f"use {several}")
        names = [column_name for schema in self.schemas.values() for column_name in schema.names]
        meant = closest(name, names)
        fix = f"did you mean {meant!r}?" if meant else f"use one of: {', '.join(names)}"
        raise InvalidInput(f"There is no column {name!r} in {', '.join(self.schemas)}.", fix=fix)

    def close(self) -> None:
        """Let go of the rows and of the ledger."""
        if not self.closed:
            self.closed = True
            self.tables.close()
            self.ledger.close()
