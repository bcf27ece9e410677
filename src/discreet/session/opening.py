"""Opening: a source, what is declared about it, and the account that pays for what is asked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.algebra.declarations import AnyKind
from discreet.core import Bounds, DiscreetError, InvalidInput, Number, Window
from discreet.core.errors import is_interrupt
from discreet.core.limits import AnyLimit
from discreet.core.schema import Value
from discreet.data.opening import need_names
from discreet.gate import Budget, Ledger
from discreet.gate.plans import need_label
from discreet.gate.stores.thread_queue import bare
from discreet.session.datasets import Dataset
from discreet.session.declared import Declared, declared, read_never_fails
from discreet.session.engine import Engine
from discreet.session.ledgers import LedgerAt, delta_for, place_of, read_budget
from discreet.session.person_kinds import kind_of_people
from discreet.session.publics import declared_public, told_apart
from discreet.session.rows import Rows, Tables, rows_of, said_of
from discreet.session.session import Session
from discreet.session.settings.file import Settings, read_settings
from discreet.session.tables_known import hold_to_kind, hold_to_units

#: What may be said about a table, and an example of each.
EXAMPLES = {
    "person": '"patient_id"',
    "bounds": '{"stay": (0, 60)}',
    "groups": '{"ward": ["A", "B", "C"]}',
    "kinds": '{"stay": "real"}',
    "complete": '["stay"]',
    "order": '"visit_id"',
}


def open_session(  # noqa: PLR0913 - each is one thing that a steward declares
    source: Any,
    *,
    person: str | Mapping[str, str | None] | None = None,
    window: str | Window | None = None,
    row: bool = False,
    bounds: Mapping[str, Bounds | Sequence[Any] | Mapping[str, Any]] | None = None,
    groups: Mapping[str, Iterable[Value] | Mapping[str, Any]] | None = None,
    kinds: Mapping[str, AnyKind | Mapping[str, AnyKind]] | None = None,
    complete: Iterable[str] | Mapping[str, Iterable[str]] | None = None,
    order: str | Mapping[str, str] | None = None,
    rows_per_person: int | None = None,
    never_fails: Iterable[str] | None = None,
    public: Mapping[str, Any] | None = None,
    budget: Budget | None = None,
    ledger: str | Path | None = None,
    limit: AnyLimit | Mapping[str, int] | int | None = None,
    table: str | Sequence[str] | None = None,
    inner: str | None = None,
    analyst: str = "",
    delta: Number | None = None,
    store: str | Path | None = None,
    title: str = "",
    anchors: Sequence[str | Path] | None = None,
    key: str | Path | None = None,
    seconds: Number | None = None,
    memory: str | int | None = None,
) -> Session:
    """Open tables for private questions.

    `source` is a path to a CSV, Parquet or DuckDB file, a pandas, Polars, Arrow or Spark frame, the address of a
    PostgreSQL database (with `table`, or a list of them), or a `discreet.toml`, which says all the rest. Several tables
    that speak of the same people are a dictionary by names; then `person` (if it is called differently in each),
    `bounds`, `groups`, `kinds`, `complete` and `order` are said by table, too.

    `public` names tables that are nobody's. What they hold is read off their rows, and everybody may know it; `bounds`,
    `groups` and `kinds` of their columns are said under the table's name, if they are to be others. A public table with
    a column that is called like the person's is taken for a mistake, unless `person` names the table with None.

    Who is protected: `person`, the column whose value all rows of one person share; or `row=True`, if nobody has two
    rows. What is public: `bounds` that values are clamped to, and `groups` that are always shown; both without a look
    at the data. Bounds that are not declared can be bought, and groups are, where they are asked for. `kinds` says what
    columns hold ("integer", "real", "text", "boolean", "date" or "timestamp"): those of a CSV file are texts, unless
    `kinds`, or their bounds or groups, say otherwise; what does not fit is missing. `complete` names columns that have
    a value in every row, so that their averages share one count. `order` names a column that tells the rows of one
    person apart: so it does not matter how the source is sorted.

    `rows_per_person` (10,000, if left out) is how many rows of one person a table holds, and how many are made of them
    in one step of a question; which ones stay depends on the person's own rows. So nobody makes a question take longer
    than a public amount of work does.

    `never_fails` lists tables that are views of a server, or frames of Spark, and compute something: you promise that
    no row that can ever be there makes reading them fail. Without that promise they are refused, as a failure tells
    of a row.

    With `window`, such as "month of day", a person's rows of one month are protected together, and not those of a life:
    what several months tell together is not hidden.

    `budget` is the most that may ever be learned about one person. It is written into the `ledger` when that is created
    (beside the file, if no place is named) and found there ever after. `limit` is how much of one answer one person may
    touch; without one, each question chooses it privately, for a tenth of its price. `delta` is what one question may
    use of the budget's δ to buy groups: a hundredth of its reserve, if left out.

    `table` is the name in SQL (that of the file, if left out), `inner` the table that is meant in a DuckDB file with
    several, `analyst` who pays, `store` where a cleaned copy of the rows is kept; `title`, `anchors` and `key` are the
    ledger's. `seconds` is the time that one question may take of the engine (600, on Spark 3600), and `memory`, such as
    "4GB", what the engine may take of this machine's. A question that is not done by then has been paid for, and may
    be asked again.
    """
    said = {"person": person, "bounds": bounds, "groups": groups, "kinds": kinds, "complete": complete, "order": order}
    try:
        if _is_settings(source):
            engine = (seconds, memory)
            _need_alone(
                row,
                *said.values(),
                window,
                rows_per_person,
                never_fails,
                public,
                budget,
                ledger,
                limit,
                table,
                inner,
                delta,
                store,
                *engine,
            )
            return open_settings(read_settings(source), analyst=analyst, anchors=anchors, key=key)
        may_take = Engine(seconds=seconds, memory=memory)  # type: ignore[arg-type] # read there
        found = rows_of(source, table, inner=inner, store=store, public=public, engine=may_take)
        once = {"row": row, "window": window, "limit": limit, "rows_per_person": rows_per_person}
        rows, facts = _declared(found, said, once, never_fails)
        units = [one.unit for one in facts.values()]
        account = LedgerAt(
            place=place_of(ledger, source),
            budget=read_budget(budget, units[0]),
            unit=units[0],
            others=tuple(units[1:]),
            title=title or rows.title,
            anchors=anchors,
            key=key,
        )
        return _opened(rows, facts, account, analyst=analyst, delta=delta)
    except DiscreetError as error:
        refusal = bare(error)
    # A frame is private: no error carries it along.
    del source
    raise refusal


def _declared(
    found: Rows, everything: Mapping[str, Any], once: Mapping[str, Any], never_fails: object
) -> tuple[Rows, dict[str, Declared]]:
    """Return the tables, public ones with what is declared of them, and what is declared of private ones.

    `once` is what is said for all tables together. A person's column is called the same in all, unless it is said.
    """
    need_names(found.sources, found.public)
    told = told_apart(everything, found.sources, found.public)
    rows, said = replace(found, public=declared_public(found.public, told), nobodys=told.nobodys), told.private

    def of(name: str, what: str) -> Any:
        if what == "person" and isinstance(said["person"], str):
            return said["person"]
        return said_of(said[what], name, rows, what, EXAMPLES[what])

    facts = {name: declared(**once, **{what: of(name, what) for what in said}) for name in rows.sources}
    promised = read_never_fails(never_fails, rows.sources)
    return rows, {name: replace(one, never_fails=name.casefold() in promised) for name, one in facts.items()}


def _is_settings(source: object) -> bool:
    return isinstance(source, str | Path) and Path(source).suffix == ".toml"


def _need_alone(row: object, *given: object) -> None:
    if row or any(one is not None for one in given):
        raise InvalidInput(
            "Other arguments cannot be combined with a discreet.toml.",
            fix="pass only the path and analyst; or edit the file",
        )


def open_settings(
    settings: Settings,
    *,
    analyst: str = "",
    anchors: Sequence[str | Path] | None = None,
    key: str | Path | None = None,
) -> Session:
    """Open the tables that settings describe. The budget begins a ledger where there is none yet."""
    several = isinstance(settings.source, Mapping)
    found = rows_of(
        settings.source,
        None if several else settings.tables or settings.table,
        inner=settings.inner,
        store=settings.store,
        public=settings.public,
        engine=settings.engine,
    )
    said = _said(
        person=settings.person,
        bounds=settings.bounds,
        groups=settings.groups,
        kinds=settings.kinds,
        complete=settings.complete,
        order=settings.order,
    )
    limit = settings.limit if settings.person is not None else None
    once = {
        "row": settings.person is None,
        "window": settings.window,
        "limit": limit,
        "rows_per_person": settings.rows_per_person,
    }
    rows, facts = _declared(found, said, once, settings.never_fails)
    units = [one.unit for one in facts.values()]
    account = LedgerAt(
        place=settings.ledger,
        budget=settings.budget,
        unit=units[0],
        others=tuple(units[1:]),
        title=rows.title,
        anchors=anchors,
        key=key,
    )
    return _opened(rows, facts, account, analyst=analyst, delta=settings.delta)


def _said(**given: Any) -> dict[str, Any]:
    """Return what is said of tables; what is empty is not said."""
    return {what: one or None for what, one in given.items()}


#: What Ctrl-C says while a table is being opened.
INTERRUPTED = "Interrupted while the table was opened. Nothing was paid."


def _opened(
    rows: Rows, facts: Mapping[str, Declared], account: LedgerAt, *, analyst: str, delta: Number | None
) -> Session:
    """Open the ledger if there is one, then the tables; a new ledger is begun last, when all the rest is well."""
    need_label(analyst, "analyst", empty=True)
    ledger = account.found()
    tables: Tables | None = None
    try:
        budget = ledger.budget if ledger is not None else _budget(account)
        delta_for(budget, delta)
        tables = rows.open(facts)
        kind = kind_of_people(tables) if budget.personal else None
        ledger = account.begun() if ledger is None else ledger
        hold_to_units(ledger, {name: one.unit for name, one in facts.items()})
        if kind is not None:
            hold_to_kind(ledger, kind)
        return Session(_dataset(tables, ledger, facts, delta), analyst=analyst)
    except BaseException as error:
        for one in (tables, ledger):
            if one is not None:
                one.close()
        if not is_interrupt(error):
            raise
    raise KeyboardInterrupt(INTERRUPTED)


def _budget(account: LedgerAt) -> Budget:
    if account.budget is None:
        raise InvalidInput("There is no budget to create a ledger with.", fix="pass budget=discreet.Budget(…)")
    return account.budget


def _dataset(tables: Tables, ledger: Ledger, facts: Mapping[str, Declared], delta: Number | None) -> Dataset:
    """Return all that sessions share. The ledger says which tables are neighbours: it was begun with that."""
    neighbours = ledger.budget.unit.neighbours
    return Dataset(
        tables=tables,
        ledger=ledger,
        schemas={
            name: replace(schema, unit=replace(schema.unit, neighbours=neighbours))
            for name, schema in tables.schemas.items()
        },
        publics=tables.publics,
        limit=next(iter(facts.values())).limit,
        delta=delta_for(ledger.budget, delta),
        left_out=tables.left_out,
    )
