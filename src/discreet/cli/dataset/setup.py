"""Begins a dataset: what is public about its tables, who is protected, and the budget for life."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.algebra.declarations import AnyKind
from discreet.cli import console
from discreet.cli.account.targets import delta_of, epsilon_of, payers_of, people_of
from discreet.cli.dataset import interview
from discreet.cli.dataset.declarations import (
    find_column,
    read_bounds,
    read_complete,
    read_csv_options,
    read_groups,
    read_kinds,
    read_limit,
    read_word_per_table,
    sort_by_table,
    words_of,
)
from discreet.cli.dataset.facts import declaration_facts
from discreet.cli.dataset.rewording import reword_for_init
from discreet.cli.dataset.sessions import progress_line, reword_errors
from discreet.cli.dataset.tables import TablePlaces, need_no_password
from discreet.cli.formatting import columns as aligned
from discreet.cli.ledger.views import birth_facts, promise_lines, reachable
from discreet.cli.numbers import read_number, read_whole
from discreet.cli.output import CommandOutput, Fact, error_text
from discreet.cli.parsing import Arguments
from discreet.core import InvalidInput, PrivacyUnit, Window, positive
from discreet.core.limits import AnyLimit
from discreet.core.schema import Column, ForeignKey, Kind, Value
from discreet.gate import SERVER, Budget, Ledger, one_line
from discreet.gate.ledger.views import promise_words
from discreet.session import (
    AnyBounds,
    Engine,
    Session,
    Settings,
    column_of,
    open_settings,
    read_settings,
    report_misfits,
    write_settings,
)
from discreet.session.source_columns import CsvFormat, list_options, read_csv_format

#: Names that columns with a person's identity tend to have, the likeliest first. Only names are looked at.
WHO = (
    re.compile(
        r"(patient|person|people|user|customer|client|member|student|employee|subject|household)s?_?(id|no|nr|number|key)?"
    ),
    re.compile(r"(ssn|nhs|mrn|pid|uid|guid|uuid|iban|email|e_mail|account|username|login)(_?(id|no|nr|number))?"),
    re.compile(r"id|.*_id|.*id_.*|id_.*"),
)
#: Columns of each table.
Columns = Mapping[str, Sequence[Column]]


@dataclass(frozen=True, slots=True)
class DatasetDeclarations:
    """All that is said about tables: persons, bounds and groups of each, by its name. Without persons, rows are."""

    persons: dict[str, str | ForeignKey]
    bounds: dict[str, dict[str, AnyBounds]]
    groups: dict[str, dict[str, tuple[Value, ...]]]
    limit: AnyLimit | None
    budget: Budget


@dataclass(frozen=True, slots=True)
class FileFormats:
    """The known formats of tables, by their names: kinds as typed, and off the rows; formats of files."""

    typed: Mapping[str, Mapping[str, AnyKind]]
    found: Mapping[str, Mapping[str, AnyKind]]
    csv: Mapping[str, CsvFormat]

    def kinds(self, name: str) -> dict[str, AnyKind]:
        """Return the kinds of columns: as typed, else as found."""
        typed = {column.casefold() for column in self.typed[name]}
        found = {column: kind for column, kind in self.found[name].items() if column.casefold() not in typed}
        return {**found, **self.typed[name]}


def ledger_place(arguments: Arguments, places: TablePlaces, project: Path) -> str | Path:
    """Return the place of the account; on a server it was begun by its steward."""
    if not arguments.ledger:
        return places.ledger(project)
    if not arguments.ledger.startswith(SERVER):
        return Path(arguments.ledger)
    need_no_password(arguments.ledger)
    return str(arguments.ledger)


def table_names(places: TablePlaces) -> str:
    """Return the tables for a person who waits. An address may have a password in it."""
    return ", ".join(one_line(file.name) for file in places.files.values()) or ", ".join(map(one_line, places.names))


def likely_person(columns: Sequence[Column]) -> str | None:
    """Return the column whose *name* looks like that of a person's identity. No value is looked at."""
    for pattern in WHO:
        for column in columns:
            if pattern.fullmatch(column.name.casefold()):
                return column.name
    return None


def read_declarations(arguments: Arguments, columns: Columns, ledger: str | Path | None) -> DatasetDeclarations:
    """Return the typed values, and ask for the rest if needed parts are missing and a person is at the terminal."""
    needs = missing_options(arguments, known=ledger is not None)
    names = tuple(columns)
    bounds = {
        name: read_bounds(texts, columns[name])
        for name, texts in sort_by_table(arguments.bounds, names, "--bounds", "stay=0:60").items()
    }
    groups = {
        name: read_groups(texts, columns[name])
        for name, texts in sort_by_table(arguments.groups, names, "--groups", "ward=A,B,C").items()
    }
    limit = None if arguments.limit is None else read_limit(arguments.limit)
    persons = _persons(arguments, columns)
    if needs and not console.somebody_is_there():
        raise InvalidInput(
            "Required options are missing, and there is no terminal at which to ask for them.", fix="; ".join(needs)
        )
    if not needs:
        return DatasetDeclarations(
            persons, bounds, groups, limit, _budget(arguments, _unit(arguments, persons), ledger)
        )
    if not persons and not arguments.rows:
        persons = _ask_persons(columns)
    else:
        _show(columns)
    for name, table_columns in columns.items():
        others = [column for column in table_columns if column.name != persons.get(name)]
        _show_name(name, columns)
        bounds[name] |= interview.ask_bounds(others, bounds[name])
        groups[name] |= interview.ask_groups(others, groups[name])
    limit = interview.ask_limit() if limit is None and persons else limit
    unit = _unit(arguments, persons)
    budget = _budget(arguments, unit, ledger) if _has_budget(arguments, ledger) else _ask_budget(arguments, unit)
    if not interview.confirm():
        raise InvalidInput("Nothing was begun.", fix="run discreet init again when you have decided")
    return DatasetDeclarations(persons, bounds, groups, limit, budget)


def _persons(arguments: Arguments, columns: Columns) -> dict[str, str | ForeignKey]:
    """Return the column that says whose a row is, in each table, as typed; none if rows are protected, or asked for."""
    words = read_word_per_table(arguments.person, tuple(columns), "--person", "patient_id")
    persons: dict[str, str | ForeignKey] = {}
    for name, table_columns in columns.items() if words else ():
        if name not in words:
            raise InvalidInput(
                f"{one_line(name)} has no column of persons.", fix=f"pass --person {one_line(name)}=COLUMN, too"
            )
        persons[name] = _person(words[name], name, table_columns, only=len(columns) == 1)
    return persons


def _person(typed: str, name: str, columns: Sequence[Column], *, only: bool) -> str | ForeignKey:
    """Return the column of persons in a table; where there are several, the refusal says in which it is not."""
    key = None if only else _key(typed, columns)
    if key is not None:
        return key
    try:
        return find_column(typed, columns).name
    except InvalidInput as error:
        if only:
            raise
        raise InvalidInput(
            f"{one_line(name)} has no column of persons of that name.",
            fix=f"{error.fix}; it is said for each table: --person {one_line(name)}=COLUMN",
        ) from None


def _key(typed: str, columns: Sequence[Column]) -> ForeignKey | None:
    """Return the key that leads to the person, written orders(order_id=id); None if that is not what was typed."""
    parent, bracket, rest = typed.strip().partition("(")
    pairs = [pair.partition("=") for pair in rest.removesuffix(")").split(",")]
    if not (bracket and rest.endswith(")")) or not all(sign for _, sign, _ in pairs):
        return None
    on = tuple((find_column(own, columns).name, other.strip()) for own, _, other in pairs)
    return ForeignKey(parent=parent.strip(), on=on)


def _unit(arguments: Arguments, persons: Mapping[str, str | ForeignKey]) -> PrivacyUnit:
    """Return the privacy unit, as the first table names it."""
    if not persons and arguments.window is not None:
        raise InvalidInput("A window needs a column of persons.", fix="pass --person COLUMN, or leave out --window")
    window = None if arguments.window is None else Window.of(arguments.window)
    return PrivacyUnit(column=column_of(next(iter(persons.values()), None)), window=window)


def _ask_persons(columns: Columns) -> dict[str, str | ForeignKey]:
    """Return the privacy unit, as a person answers; the column of the first table is looked for in the others."""
    persons: dict[str, str | ForeignKey] = {}
    for name, table_columns in columns.items():
        interview.show(name, table_columns, only=len(columns) == 1)
        before = {column.casefold() for column in persons.values() if isinstance(column, str)}
        same = next((column.name for column in table_columns if column.name.casefold() in before), None)
        person = interview.ask_person(table_columns, same or likely_person(table_columns) or "", rows=not persons)
        if person is None:
            return {}
        persons[name] = person
    return persons


def _show(columns: Columns) -> None:
    for name, table_columns in columns.items():
        interview.show(name, table_columns, only=len(columns) == 1)


def _show_name(name: str, columns: Columns) -> None:
    if len(columns) > 1:
        console.tell(f"\n{one_line(name)}:")


def missing_options(arguments: Arguments, *, known: bool) -> list[str]:
    """Return the fixes for required options that are missing."""
    who = (
        [] if arguments.rows or arguments.person else ["pass --person COLUMN, or --rows if each row is another person"]
    )
    priced = known or arguments.epsilon is not None or arguments.rho is not None
    return who + ([] if priced else ["pass --epsilon with --delta, or --rho: the budget for life"])


def _has_budget(arguments: Arguments, ledger: str | Path | None) -> bool:
    return ledger is not None or arguments.epsilon is not None or arguments.rho is not None


def _ask_budget(arguments: Arguments, unit: PrivacyUnit) -> Budget:
    """Return the budget as a person answers; who pays is asked where there are persons, if it was not typed."""
    typed = None if arguments.delta is None else delta_of(arguments)
    budget = interview.ask_budget(unit, delta=typed, people=people_of(arguments))
    if unit.column is None or arguments.per is not None:
        return _with_payers(budget, _payers(arguments, unit))
    return interview.ask_accounts(budget)


def _with_payers(budget: Budget, payers: dict[str, Any]) -> Budget:
    return Budget(budget.epsilon, budget.delta, rho=budget.rho, unit=budget.unit, **payers)


def _payers(arguments: Arguments, unit: PrivacyUnit) -> dict[str, Any]:
    if arguments.per == "person" and unit.column is None:
        raise InvalidInput(
            "Rows have no accounts of their own.", fix="pass --person COLUMN for --rows, or leave out --per person"
        )
    return payers_of(arguments)


def _budget(arguments: Arguments, unit: PrivacyUnit, ledger: str | Path | None) -> Budget:
    """Return the budget as typed; that of a ledger that is there already stands."""
    if ledger is not None:
        if any(getattr(arguments, name) is not None for name in ("epsilon", "rho", "delta", "per", "most")):
            raise InvalidInput(
                "There is a ledger at this place already, and it has its budget for life.",
                fix="leave out --epsilon, --rho, --delta, --per and --most to go on with it, or choose a new --ledger",
            )
        with Ledger.open(ledger) as existing:
            return existing.budget
    if arguments.rho is None:
        amount = Budget(positive(epsilon_of(arguments), "--epsilon"), delta_of(arguments), unit=unit)
    else:
        delta = delta_of(arguments) if arguments.delta is not None else 0
        amount = Budget(rho=positive(read_number(arguments.rho, "--rho"), "--rho"), delta=delta, unit=unit)
    return _with_payers(amount, _payers(arguments, unit))


def make_settings(
    arguments: Arguments,
    places: TablePlaces,
    ledger: str | Path,
    declared: DatasetDeclarations,
    columns: Columns,
    written: FileFormats,
    *,
    from_rows: bool,
) -> Settings:
    """Return the settings of a new dataset."""
    names, persons = places.names, declared.persons
    complete = sort_by_table(words_of(arguments.complete), names, "--complete", "stay")
    order = read_word_per_table(arguments.order, names, "--order", "visit_id")
    return Settings(
        **_source(places),
        public=places.public,
        person=_same_for_all(persons) or None,
        window=_unit(arguments, persons).window,
        order=_same_for_one({name: find_column(column, columns[name]).name for name, column in order.items()}, names),
        rows_per_person=_rows_per_person(arguments),
        never_fails=tuple(arguments.never_fails or ()),
        bounds=_same_for_one(declared.bounds, names) or {},
        groups=_same_for_one(declared.groups, names) or {},
        kinds=_same_for_one(
            {name: _kinds(written, name, columns[name], persons.get(name), from_rows=from_rows) for name in names},
            names,
        )
        or {},
        csv=_same_for_one({name: list_options(written.csv[name]) for name in names}, names) or {},
        complete=_same_for_one({name: read_complete(complete[name], columns[name]) for name in names}, names) or (),
        limit=declared.limit,
        ledger=ledger,
        budget=declared.budget,
        inner=places.inner,
        engine=_engine(arguments),
    )


def _rows_per_person(arguments: Arguments) -> int | None:
    return None if arguments.rows_per_person is None else read_whole(arguments.rows_per_person, "--rows-per-person")


def _engine(arguments: Arguments) -> Engine:
    seconds = None if arguments.seconds is None else read_number(arguments.seconds, "--seconds")
    return Engine(seconds=seconds, memory=arguments.memory)


def _source(places: TablePlaces) -> dict[str, Any]:
    """Return the places of tables, as settings name them."""
    if places.address is not None:
        inside = tuple(map(str, places.tables.values()))
        return {"source": places.address, **({"table": inside[0]} if len(inside) == 1 else {"tables": inside})}
    if places.file is not None:
        return {"source": places.file, "table": places.names[0]}
    return {"source": places.files}


def _same_for_all(persons: Mapping[str, str | ForeignKey]) -> Any:
    """Return one name where all tables have the same."""
    return next(iter(persons.values())) if len(set(persons.values())) == 1 else dict(persons)


def _same_for_one(declared: Mapping[str, Any], names: Sequence[str]) -> Any:
    """Return the declaration of the only table; of several, those that are not empty."""
    return declared.get(names[0]) if len(names) == 1 else {name: value for name, value in declared.items() if value}


def _kinds(
    written: FileFormats, name: str, columns: Sequence[Column], person: str | ForeignKey | None, *, from_rows: bool
) -> dict[str, AnyKind]:
    """Return the kinds of columns that are written into the settings: those that were typed.

    Those of a CSV file that were read off its rows are, too: from now on they are what was said, whatever its rows
    become. Persons are identified by texts there, unless the steward says otherwise: as numbers, 7 and 007 would be
    the same person.
    """
    typed = {column.casefold(): kind for column, kind in written.typed[name].items()}
    found = {column.casefold(): kind for column, kind in written.found[name].items()} if from_rows else {}
    kinds = {
        column.name: typed.get(column.name.casefold(), found.get(column.name.casefold(), column.kind))
        for column in columns
        if column.name.casefold() in found or column.name.casefold() in typed
    }
    if isinstance(person, str) and person.casefold() not in typed:
        kinds = {
            column: Kind.TEXT if column.casefold() == person.casefold() else kind for column, kind in kinds.items()
        }
    return kinds


def read_formats(places: TablePlaces, kinds: Sequence[str], csv: Sequence[str], *, from_rows: bool) -> FileFormats:
    """Return the typed formats of tables; the rest is read off the rows, if the steward agrees."""
    names = places.names
    typed = {name: read_kinds(texts) for name, texts in sort_by_table(kinds, names, "--kinds", "age=integer").items()}
    declared = {
        name: read_csv_format(read_csv_options(texts))
        for name, texts in sort_by_table(csv, names, "--csv", "decimal=,").items()
    }
    if not from_rows:
        return FileFormats(typed, {name: {} for name in names}, declared)
    found = {name: places.find_csv(name, declared[name]) for name in names}
    return FileFormats(
        typed, {name: mine[1] for name, mine in found.items()}, {name: mine[0] for name, mine in found.items()}
    )


def with_public_formats(
    settings: Settings,
    places: TablePlaces,
    kinds: Mapping[str, Sequence[str]],
    csv: Mapping[str, Sequence[str]],
) -> Settings:
    """Return settings with what was typed of public tables: kinds of their columns, and how their files are written."""
    formats = {name: read_csv_format(read_csv_options(texts)) for name, texts in csv.items()}
    public: dict[str, dict[str, dict[str, Any]]] = {
        "kinds": {
            name: public_kinds(places, name, texts, formats.get(name, CsvFormat())) for name, texts in kinds.items()
        },
        "csv": {name: list_options(form) for name, form in formats.items()},
    }
    for setting, by_table in public.items():
        if by_table:
            own = getattr(settings, setting)
            private = own if len(places.names) > 1 else {places.names[0]: own}
            said = {name: entry for name, entry in {**private, **by_table}.items() if entry}
            settings = replace(settings, kinds=said) if setting == "kinds" else replace(settings, csv=said)
    return settings


def public_kinds(places: TablePlaces, name: str, typed: Sequence[str], csv: CsvFormat) -> dict[str, AnyKind]:
    """Return the kinds of columns of a public table, which are there."""
    kinds, columns = read_kinds(typed), places.public_columns(name, csv)
    return {find_column(column, columns).name: kind for column, kind in kinds.items()}


def begin_dataset(
    project: Path, settings: Settings, places: TablePlaces, arguments: Arguments, *, from_rows: bool
) -> Session:
    """Write the settings and open them; if that is refused, they are taken away again."""
    with reachable("The settings"):
        write_settings(project, settings, kinds_from_rows=from_rows)
    try:
        saying = reword_errors(say=reword_for_init)
        with reachable("The table"), saying, progress_line(f"importing {table_names(places)}", arguments):
            return open_settings(read_settings(project))
    except BaseException:
        project.unlink(missing_ok=True)
        raise


def tell_misfits(project: Path, arguments: Arguments) -> None:
    """Show a steward at a terminal what does not fit what was declared, if asked to: it is exact, and kept nowhere."""
    if arguments.json or not console.somebody_is_there():
        return
    if not arguments.misfits:
        console.tell("discreet misfits counts, for your eyes only, what does not fit these declarations.")
        return
    try:
        with progress_line("counting what does not fit (Ctrl-C: skip)", arguments):
            report = report_misfits(project)
    except KeyboardInterrupt:
        console.tell("Skipped; discreet misfits counts it at any time.")
    except InvalidInput as error:
        console.tell(error_text(error))
    else:
        for line in (*report.lines(), ""):
            console.tell(line)


def setup_answer(
    session: Session, project: Path, declared: DatasetDeclarations, *, known: bool, from_rows: bool
) -> CommandOutput:
    """Return a description of the new account, for a program and for a person."""
    ledger = session.ledger
    facts: dict[str, Fact] = {
        "project": str(project),
        "new_ledger": not known,
        "kinds_from_rows": from_rows,
        **birth_facts(ledger),
        **declaration_facts(session),
    }
    names = tuple(declared.bounds)
    rows = [
        ["settings", str(project)],
        ["table" if len(names) == 1 else "tables", ", ".join(map(one_line, names))],
        ["ledger", f"{'was there already' if known else 'new'}: {promise_words(ledger)}"],
    ]
    if from_rows:
        rows.append(["kinds", "read off all rows, and public from now on: [kinds] in the settings"])
    lines = [*aligned(rows), "", *session.schema.lines(), "", *promise_lines(ledger), "", *_next(session, declared)]
    return CommandOutput("init", facts, tuple(lines))


def _next(session: Session, declared: DatasetDeclarations) -> list[str]:
    table, group = next(
        ((name, group) for name, groups in declared.groups.items() for group in groups),
        (session.schema.schema.table, None),
    )
    select = "COUNT(*) AS n" if group is None else f"{group}, COUNT(*) AS n"
    by = "" if group is None else f" GROUP BY {group}"
    return [
        "Now ask, and first what it would cost:",
        f'  discreet preview "SELECT {select} FROM {table}{by}" --epsilon 0.1',  # noqa: S608 - to be read
    ]


def need_no_settings(project: Path) -> None:
    """Refuse a path at which settings are already."""
    if project.exists():
        raise InvalidInput(
            f"There are settings at this path already: {project.name}.",
            fix="ask with them, or choose another --project; change them by hand if they are wrong",
        )
