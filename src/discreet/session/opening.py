"""Opening: a source, what is declared about it, and the account that pays for what is asked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.core import Bounds, DiscreetError, InvalidInput, Number, WrongType
from discreet.core.errors import kind_of
from discreet.core.limits import AnyLimit
from discreet.core.schema import Value
from discreet.data import DuckTable, open_table
from discreet.data.declaring import AnyKind
from discreet.gate import Budget, Ledger
from discreet.gate.plans import need_label
from discreet.gate.thread_queue import bare
from discreet.session.declared import Declared, declared
from discreet.session.ledgers import LedgerAt, delta_for, place_of, read_budget
from discreet.session.session import Dataset, Session
from discreet.session.settings import Settings, read_settings, table_name

#: What a frame's table is called in SQL, unless it is given a name.
FRAME = "data"


def open_session(  # noqa: PLR0913 - each is one thing that a steward declares
    source: Any,
    *,
    person: str | None = None,
    row: bool = False,
    bounds: Mapping[str, Bounds | Sequence[Any]] | None = None,
    groups: Mapping[str, Iterable[Value]] | None = None,
    kinds: Mapping[str, AnyKind] | None = None,
    complete: Iterable[str] | None = None,
    budget: Budget | None = None,
    ledger: str | Path | None = None,
    limit: AnyLimit | Mapping[str, int] | int | None = None,
    table: str | None = None,
    inner: str | None = None,
    analyst: str = "",
    delta: Number | None = None,
    store: str | Path | None = None,
    title: str = "",
    anchors: Sequence[str | Path] | None = None,
    key: str | Path | None = None,
) -> Session:
    """Open a table for private questions.

    `source` is a path to a CSV, Parquet or DuckDB file, a pandas, Polars or Arrow frame, or a `discreet.toml`, which
    says all the rest. Who is protected: `person`, the column whose value all rows of one person share; or `row=True`,
    if nobody has two rows. What is public: `bounds` that values are clamped to, and `groups` that are always shown;
    both without a look at the data. Bounds that are not declared can be bought, and groups are, where they are asked
    for. `kinds` says what columns hold ("integer", "real", "text", "boolean", "date" or "timestamp"): those of a CSV
    file are texts, unless `kinds`, or their bounds or groups, say otherwise; what does not fit is missing. `complete`
    names columns that have a value in every row, so that their averages share one count.

    `budget` is the most that may ever be learned about one person. It is written into the `ledger` when that is created
    (beside the file, if no place is named) and found there ever after. `limit` is how much of one answer one person may
    touch; without one, each question chooses it privately, for a tenth of its price. `delta` is what one question may
    use of the budget's δ to buy groups: a hundredth of its reserve, if left out.

    `table` is the name in SQL (that of the file, if left out), `inner` the table that is meant in a DuckDB file with
    several, `analyst` who pays, `store` where a cleaned copy of the rows is kept; `title`, `anchors` and `key` are the
    ledger's.
    """
    try:
        if _is_settings(source):
            _need_alone(row, person, bounds, groups, kinds, complete, budget, ledger, limit, table, inner, delta, store)
            return open_settings(read_settings(source), analyst=analyst, anchors=anchors, key=key)
        facts = declared(
            person=person, row=row, bounds=bounds, groups=groups, limit=limit, kinds=kinds, complete=complete
        )
        rows = SourceRows(source=_source(source), name=_named(source, table), inner=inner, store=store)
        account = LedgerAt(
            place=place_of(ledger, source),
            budget=read_budget(budget, facts.unit),
            unit=facts.unit,
            title=title or rows.name,
            anchors=anchors,
            key=key,
        )
        return _opened(rows, facts, account, analyst=analyst, delta=delta)
    except DiscreetError as error:
        refusal = bare(error)
    # A frame is private: no error carries it along.
    del source
    raise refusal


def _is_settings(source: object) -> bool:
    return isinstance(source, str | Path) and Path(source).suffix == ".toml"


def _need_alone(row: object, *given: object) -> None:
    if row or any(one is not None for one in given):
        raise InvalidInput(
            "A discreet.toml says all about a table, and something else is said beside it.",
            fix="pass the path and nothing else but analyst; or change the file",
        )


def open_settings(
    settings: Settings,
    *,
    analyst: str = "",
    anchors: Sequence[str | Path] | None = None,
    key: str | Path | None = None,
) -> Session:
    """Open the table that settings describe. The budget begins a ledger where there is none yet."""
    facts = declared(
        person=settings.person,
        row=settings.person is None,
        bounds=settings.bounds,
        groups=settings.groups,
        limit=settings.limit if settings.person is not None else None,
        kinds=settings.kinds,
        complete=settings.complete,
    )
    account = LedgerAt(
        place=settings.ledger,
        budget=settings.budget,
        unit=facts.unit,
        title=settings.table,
        anchors=anchors,
        key=key,
    )
    rows = SourceRows(source=_source(settings.source), name=settings.table, inner=settings.inner, store=settings.store)
    return _opened(rows, facts, account, analyst=analyst, delta=settings.delta)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SourceRows:
    """Where the rows are, and what they are called."""

    source: Any
    name: str
    inner: str | None
    store: str | Path | None

    def open(self, facts: Declared) -> DuckTable:
        """Take them over."""
        if self.inner is not None and not isinstance(self.inner, str):
            raise WrongType(f"inner is {kind_of(self.inner)}, not a name.", fix="name a table of the DuckDB file")
        if self.store is not None and not isinstance(self.store, str | Path):
            raise WrongType(f"store is {kind_of(self.store)}, not a path.", fix='pass store="visits.rows"')
        try:
            return open_table(
                self.source,
                table=self.name,
                unit=facts.unit,
                bounds=facts.bounds,
                groups=facts.groups,
                kinds=facts.kinds,
                complete=facts.complete,
                inner=self.inner,
                store=self.store,
            )
        except DiscreetError as error:
            refusal = bare(error)  # without the frames that saw the source
        raise refusal


def _opened(rows: SourceRows, facts: Declared, account: LedgerAt, *, analyst: str, delta: Number | None) -> Session:
    """Open the ledger if there is one, then the table; a new ledger is begun last, when all the rest is well."""
    need_label(analyst, "analyst", empty=True)
    ledger = account.found()
    table: DuckTable | None = None
    try:
        delta_for(ledger.budget if ledger is not None else _budget(account), delta)
        table = rows.open(facts)
        ledger = account.begun() if ledger is None else ledger
        return Session(_dataset(table, ledger, facts, delta), analyst=analyst)
    except BaseException:
        for one in (table, ledger):
            if one is not None:
                one.close()
        raise


def _budget(account: LedgerAt) -> Budget:
    if account.budget is None:
        raise InvalidInput("There is no budget to begin a ledger with.", fix="pass budget=discreet.Budget(…)")
    return account.budget


def _dataset(table: DuckTable, ledger: Ledger, facts: Declared, delta: Number | None) -> Dataset:
    """Return all that sessions share. The ledger says which tables are neighbours: it was begun with that."""
    unit = replace(table.schema.unit, neighbours=ledger.budget.unit.neighbours)
    return Dataset(
        table=table,
        ledger=ledger,
        schema=replace(table.schema, unit=unit),
        limit=facts.limit,
        delta=delta_for(ledger.budget, delta),
        left_out=table.left_out,
    )


def _source(source: Any) -> Any:
    """Return a path as a path; refuse one that leads nowhere. What is no path is the data room's to judge."""
    if not isinstance(source, str | Path):
        return source
    path = Path(source)
    if not path.is_file():
        raise InvalidInput(
            f"There is no file {path.name!r}.",
            fix="check the path: a .csv, .parquet or .duckdb file, or a discreet.toml",
        )
    return path


def _named(source: Any, table: object) -> str:
    """Return what the table is called in SQL."""
    if table is None:
        return table_name(Path(source)) if isinstance(source, str | Path) else FRAME
    if not isinstance(table, str):
        raise WrongType(f"table is {kind_of(table)}, not a name.", fix='pass table="visits"')
    return need_label(table, "table")
