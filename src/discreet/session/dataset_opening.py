"""Datasets: opened from declarations or from a settings file, with the ledger that pays for questions."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.core import InvalidInput, Number
from discreet.core.errors import is_interrupt
from discreet.data.reading import need_names
from discreet.gate import Budget, Ledger
from discreet.gate.plans import need_label
from discreet.session.datasets import Dataset
from discreet.session.declared import Declared, declared, read_never_fails
from discreet.session.ledgers import LedgerAt, delta_for
from discreet.session.person_kinds import kind_of_people
from discreet.session.publics import declared_public, told_apart
from discreet.session.rows import OpenTables, TableSources, rows_of, said_of
from discreet.session.settings.file import Settings
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


def declare_tables(
    found: TableSources, everything: Mapping[str, Any], once: Mapping[str, Any], never_fails: object
) -> tuple[TableSources, dict[str, Declared]]:
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


def open_described(
    settings: Settings,
    *,
    analyst: str = "",
    anchors: Sequence[str | Path] | None = None,
    key: str | Path | None = None,
) -> Dataset:
    """Return the dataset that settings describe. The budget begins a ledger where there is none yet."""
    several = isinstance(settings.source, Mapping)
    found = rows_of(
        settings.source,
        None if several else settings.tables or settings.table,
        inner=settings.inner,
        store=settings.store,
        public=settings.public,
        engine=settings.engine,
    )
    said = list_said(
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
    rows, facts = declare_tables(found, said, once, settings.never_fails)
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
    return open_dataset(rows, facts, account, analyst=analyst, delta=settings.delta)


def list_said(**given: Any) -> dict[str, Any]:
    """Return what is said of tables; what is empty is not said."""
    return {what: one or None for what, one in given.items()}


#: What Ctrl-C says while a table is being opened.
INTERRUPTED = "Interrupted while the table was opened. Nothing was paid."


def open_dataset(
    rows: TableSources, facts: Mapping[str, Declared], account: LedgerAt, *, analyst: str, delta: Number | None
) -> Dataset:
    """Open the ledger if there is one, then the tables; a new ledger is begun last, when all the rest is well."""
    need_label(analyst, "analyst", empty=True)
    ledger = account.found()
    tables: OpenTables | None = None
    try:
        budget = ledger.budget if ledger is not None else _budget(account)
        delta_for(budget, delta)
        tables = rows.open(facts)
        kind = kind_of_people(tables) if budget.personal else None
        ledger = account.begun() if ledger is None else ledger
        hold_to_units(ledger, {name: one.unit for name, one in facts.items()})
        if kind is not None:
            hold_to_kind(ledger, kind)
        return _dataset(tables, ledger, facts, delta)
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


def _dataset(tables: OpenTables, ledger: Ledger, facts: Mapping[str, Declared], delta: Number | None) -> Dataset:
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
