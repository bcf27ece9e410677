"""Tables without rows: they check by public facts, and refuse to be asked before anything is paid."""

from collections.abc import Mapping
from typing import NoReturn

from discreet.algebra.aggregates import Aggregation, Exact, check_source, resolve_table
from discreet.algebra.contributions import Admission, need_accounts
from discreet.core import InvalidInput, NotReady
from discreet.core.schema import Schema
from discreet.gate import Ledger
from discreet.session.datasets import Dataset
from discreet.session.facts.public_facts import PublicFacts


class NoRows(NotReady):
    """A question that is not answered yet was asked where there are no rows. Nothing was paid."""


def refuse_rows() -> NoRows:
    """Return the one error of a table without rows."""
    return NoRows(
        "This session has no rows: it returns stored answers and previews only. Nothing was paid.",
        fix="ask where the rows are: a worker of the service, or a session that opened the tables",
    )


class RowlessTables:
    """The public facts of tables, in the place of the tables (`session.rows.OpenTables`).

    Guarantee: `check` always refuses, by public facts, and the gate calls it before it pays for any plan of a session.
    So nothing is ever paid for through these tables; stored answers need no check, and are handed out.
    """

    def __init__(self, facts: PublicFacts) -> None:
        self._facts = facts

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The public facts about each private table."""
        return {schema.table: schema for schema in self._facts.tables}

    @property
    def publics(self) -> Mapping[str, Schema]:
        """The public tables."""
        return {schema.table: schema for schema in self._facts.publics}

    @property
    def left_out(self) -> Mapping[str, Mapping[str, str]]:
        """The columns of each source that cannot be asked about, and why."""
        return self._facts.left_out

    @property
    def spellings(self) -> Mapping[str, str]:
        """The kinds that ids are written from: unknown here, and used for rows only."""
        return {}

    def aggregate(self, aggregation: Aggregation, /) -> Exact:
        """Refuse: there are no rows."""
        self._refuse(aggregation)

    def aggregate_among(self, aggregation: Aggregation, admission: Admission, /) -> Exact:
        """Refuse: there are no rows."""
        del admission
        self._refuse(aggregation)

    def check(self, aggregation: Aggregation, /) -> None:
        """Refuse in words what public facts refuse, and everything else with one constant error."""
        self._refuse(aggregation)

    def check_among(self, aggregation: Aggregation, /) -> None:
        """Refuse the same where each unit is asked."""
        need_accounts(aggregation, self.schemas.values())
        self._refuse(aggregation)

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""

    def __repr__(self) -> str:
        return f"RowlessTables({list(self.schemas)!r}, public={list(self.publics)!r})"

    def _refuse(self, aggregation: Aggregation) -> NoReturn:
        check_source(resolve_table(aggregation, self.schemas), self.schemas, self.publics)
        raise refuse_rows()


def build_rowless_dataset(facts: PublicFacts, ledger: Ledger) -> Dataset:
    """Return a dataset without rows. The ledger is the one that the facts were taken with; it says what was bought."""
    if facts.ledger != ledger.identity:
        raise InvalidInput(
            "These facts were taken with another ledger.", fix="open the ledger of the dataset that the facts describe"
        )
    tables = RowlessTables(facts)
    return Dataset(
        tables=tables,
        ledger=ledger,
        schemas=tables.schemas,
        publics=tables.publics,
        limit=facts.limit,
        delta=facts.delta,
        left_out=facts.left_out,
        paths=facts.paths,
    )
