"""The verb that begins with a table: what is public about it, who is protected, and the budget for life."""

import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.cli import prompts
from discreet.cli.answers import Answer, Fact
from discreet.cli.books import birth_facts, promise_lines, reachable
from discreet.cli.declared import (
    find_column,
    read_bounds,
    read_complete,
    read_groups,
    read_interval,
    read_kinds,
    read_limit,
    read_values,
)
from discreet.cli.query_arguments import PROJECT
from discreet.cli.query_facts import declared_facts
from discreet.cli.querying import patient
from discreet.cli.typed import read_number
from discreet.cli.wanted import delta_of, epsilon_of
from discreet.cli.words import columns as aligned
from discreet.core import InvalidInput, PrivacyUnit, positive
from discreet.core.limits import AnyLimit
from discreet.core.schema import Column, Kind, Value
from discreet.data.csv_files import is_csv
from discreet.gate import Budget, Ledger
from discreet.gate.views import promise_words
from discreet.session import Session, Settings, read_settings, write_settings
from discreet.session.columns import columns_of
from discreet.session.declared import AnyBounds
from discreet.session.opening import open_settings
from discreet.session.settings import table_name

#: Names that columns with a person's identity tend to have, the likeliest first. Only names are looked at.
WHO = (
    re.compile(
        r"(patient|person|people|user|customer|client|member|student|employee|subject|household)s?_?(id|no|nr|number|key)?"
    ),
    re.compile(r"(ssn|nhs|mrn|pid|uid|guid|uuid|iban|email|e_mail|account|username|login)(_?(id|no|nr|number))?"),
    re.compile(r"id|.*_id|.*id_.*|id_.*"),
)
#: What is offered to a person who presses return.
EPSILON, DELTA = "1", "1e-9"


@dataclass(frozen=True, slots=True)
class Declared:
    """All that is said about a table."""

    person: str | None
    bounds: dict[str, AnyBounds]
    groups: dict[str, tuple[Value, ...]]
    limit: AnyLimit | None
    budget: Budget


def answer_init(arguments: Namespace) -> Answer:
    """Write the settings of a dataset and begin its ledger."""
    source = Path(arguments.file)
    with reachable("The file"):
        _need_there(source)
        project = Path(arguments.project) if arguments.project else source.with_name(PROJECT)
        ledger = Path(arguments.ledger) if arguments.ledger else source.with_suffix(".ledger")
        _need_free(project)
        known = ledger.exists()
    with patient(f"looking at the columns of {source.name}", arguments):
        columns = columns_of(source, inner=arguments.inner, kinds=read_kinds(arguments.kinds))
    declared = _declared(arguments, columns, ledger if known else None)
    settings = replace(
        _settings(arguments, source, ledger, declared), **_about(arguments, source, columns, declared.person)
    )
    session = _begun(project, settings, arguments)
    with session:
        return _told(session, project, declared, known=known)


def likely_person(columns: Sequence[Column]) -> str | None:
    """Return the column whose *name* looks like that of a person's identity. No value is looked at."""
    for pattern in WHO:
        for column in columns:
            if pattern.fullmatch(column.name.casefold()):
                return column.name
    return None


def _declared(arguments: Namespace, columns: Sequence[Column], ledger: Path | None) -> Declared:
    """Return what was typed, and ask for the rest if the needed parts are missing and somebody is there."""
    needs = _missing(arguments, known=ledger is not None)
    bounds, groups = read_bounds(arguments.bounds, columns), read_groups(arguments.groups, columns)
    limit = None if arguments.limit is None else read_limit(arguments.limit)
    if needs and not prompts.somebody_is_there():
        raise InvalidInput("Nobody is at the terminal to ask, and some things must be said.", fix="; ".join(needs))
    if not needs:
        person = None if arguments.rows else find_column(arguments.person, columns).name
        return Declared(person, bounds, groups, limit, _budget(arguments, person, ledger))
    _show(columns)
    person = _ask_person(arguments, columns)
    others = [column for column in columns if column.name != person]
    bounds |= _ask_bounds([column for column in others if column.name not in bounds])
    groups |= _ask_groups([column for column in others if column.name not in groups])
    limit = _ask_limit() if limit is None and person is not None else limit
    budget = _budget(arguments, person, ledger) if _priced(arguments, ledger) else _ask_budget(person)
    if not prompts.ask("Begin with this, for life? (y/n)", prompts.agreed, default="y"):
        raise InvalidInput("Nothing was begun.", fix="run discreet init again when you have decided")
    return Declared(person, bounds, groups, limit, budget)


def _missing(arguments: Namespace, *, known: bool) -> list[str]:
    """Return what must be said and was not, as what to do about it."""
    who = [] if arguments.rows or arguments.person else ["pass --person COLUMN, or --rows if each row is somebody else"]
    priced = known or arguments.epsilon is not None or arguments.rho is not None
    return who + ([] if priced else ["pass --epsilon with --delta, or --rho: the budget for life"])


def _priced(arguments: Namespace, ledger: Path | None) -> bool:
    return ledger is not None or arguments.epsilon is not None or arguments.rho is not None


def _budget(arguments: Namespace, person: str | None, ledger: Path | None) -> Budget:
    """Return the budget as typed; that of a ledger that is there already stands."""
    if ledger is not None:
        if (arguments.epsilon, arguments.rho, arguments.delta) != (None, None, None):
            raise InvalidInput(
                "There is a ledger at this place already, and it has its budget for life.",
                fix="leave out --epsilon, --rho and --delta to go on with it, or choose another --ledger",
            )
        with Ledger.open(ledger) as found:
            return found.budget
    unit = PrivacyUnit(column=person)
    if arguments.rho is None:
        return Budget(positive(epsilon_of(arguments), "--epsilon"), delta_of(arguments), unit=unit)
    delta = delta_of(arguments) if arguments.delta is not None else 0
    return Budget(rho=positive(read_number(arguments.rho, "--rho"), "--rho"), delta=delta, unit=unit)


def _show(columns: Sequence[Column]) -> None:
    prompts.tell("The table has these columns. Nothing else is shown of it.\n")
    for line in aligned([[f"  {column.name}", column.kind.value] for column in columns]):
        prompts.tell(line)
    prompts.tell()


def _ask_person(arguments: Namespace, columns: Sequence[Column]) -> str | None:
    if arguments.rows or arguments.person:
        return None if arguments.rows else find_column(arguments.person, columns).name
    prompts.tell("Who is protected? The column that says whose a row is; or - if each row is somebody else.")
    return prompts.ask(
        "  person",
        lambda text: None if text == "-" else find_column(text, columns).name,
        default=likely_person(columns) or "",
    )


def _ask_bounds(columns: Sequence[Column]) -> dict[str, AnyBounds]:
    ranged = [column for column in columns if column.kind.numeric or column.kind.temporal]
    if ranged:
        prompts.tell(
            "\nBetween which bounds do values lie, as far as everybody may know? LOW:HIGH; return for unknown."
        )
    found = {column.name: prompts.ask(f"  {column.name}", _optional_interval(column)) for column in ranged}
    return {name: bounds for name, bounds in found.items() if bounds is not None}


def _ask_groups(columns: Sequence[Column]) -> dict[str, tuple[Value, ...]]:
    named = [column for column in columns if column.kind in (Kind.TEXT, Kind.BOOLEAN)]
    if named:
        prompts.tell(
            "\nWhich groups may everybody know of? A,B,C; return for none: then they are bought when asked for."
        )
    found = {column.name: prompts.ask(f"  {column.name}", _optional_values(column)) for column in named}
    return {name: values for name, values in found.items() if values is not None}


def _ask_limit() -> AnyLimit | None:
    prompts.tell(
        "\nHow much of an answer may one person touch? groups=3,rows=5 or total=10; return: each question decides."
    )
    return prompts.ask("  limit", lambda text: read_limit(text, "the limit") if text else None)


def _ask_budget(person: str | None) -> Budget:
    prompts.tell("\nHow much may ever be learned about one of them? ε = 1 is strict, 10 is loose; it is for life.")
    epsilon = prompts.ask("  epsilon", lambda text: positive(read_number(text, "epsilon"), "epsilon"), default=EPSILON)
    return prompts.ask(
        "  delta (far below one in the number of people; 0: groups cannot be bought)",
        lambda text: Budget(epsilon, read_number(text, "delta"), unit=PrivacyUnit(column=person)),
        default=DELTA,
    )


def _optional_interval(column: Column) -> Callable[[str], AnyBounds | None]:
    return lambda text: read_interval(text, column) if text else None


def _optional_values(column: Column) -> Callable[[str], tuple[Value, ...] | None]:
    return lambda text: read_values(text, column.kind, column.name) if text else None


def _settings(arguments: Namespace, source: Path, ledger: Path, declared: Declared) -> Settings:
    return Settings(
        source=source,
        person=declared.person,
        bounds=declared.bounds,
        groups=declared.groups,
        limit=declared.limit,
        ledger=ledger,
        budget=declared.budget,
        table=arguments.table or table_name(source),
        inner=arguments.inner,
    )


def _about(arguments: Namespace, source: Path, columns: Sequence[Column], person: str | None) -> dict[str, Any]:
    """Return what is declared about columns beside bounds and groups.

    Of a CSV file all kinds are: from now on they are what was said, whatever its rows become. Who is protected is told
    by texts there, unless the steward says otherwise: as numbers, 7 and 007 would be the same person.
    """
    typed = {name.casefold() for name in read_kinds(arguments.kinds)}
    kinds = {column.name: column.kind for column in columns if is_csv(source) or column.name.casefold() in typed}
    if person is not None and person.casefold() not in typed:
        kinds = {name: Kind.TEXT if name.casefold() == person.casefold() else kind for name, kind in kinds.items()}
    return {"kinds": kinds, "complete": read_complete(arguments.complete, columns)}


def _begun(project: Path, settings: Settings, arguments: Namespace) -> Session:
    """Write the settings and open them; if that is refused, they are taken away again."""
    with reachable("The settings"):
        write_settings(project, settings)
    try:
        with reachable("The table"), patient(f"importing {settings.source.name}", arguments):
            return open_settings(read_settings(project))
    except BaseException:
        project.unlink(missing_ok=True)
        raise


def _told(session: Session, project: Path, declared: Declared, *, known: bool) -> Answer:
    ledger = session.ledger
    facts: dict[str, Fact] = {
        "project": str(project),
        "new_ledger": not known,
        **birth_facts(ledger),
        **declared_facts(session),
    }
    rows = [
        ["settings", str(project)],
        ["table", session.schema.schema.table],
        ["ledger", f"{'was there already' if known else 'new'}: {promise_words(ledger)}"],
    ]
    lines = [*aligned(rows), "", *session.schema.lines(), "", *promise_lines(ledger), "", *_next(session, declared)]
    return Answer("init", facts, tuple(lines))


def _next(session: Session, declared: Declared) -> list[str]:
    group = next(iter(declared.groups), None)
    what = "COUNT(*) AS n" if group is None else f"{group}, COUNT(*) AS n"
    by = "" if group is None else f" GROUP BY {group}"
    return [
        "Now ask, and first what it would cost:",
        f'  discreet preview "SELECT {what} FROM {session.schema.schema.table}{by}" --epsilon 0.1',  # noqa: S608 - to be read
    ]


def _need_there(source: Path) -> None:
    if not source.is_file():
        raise InvalidInput("There is no file at this path.", fix="pass a .csv, .tsv, .parquet or .duckdb file")


def _need_free(project: Path) -> None:
    if project.exists():
        raise InvalidInput(
            f"There are settings at this path already: {project.name}.",
            fix="ask with them, or choose another --project; change them by hand if they are wrong",
        )
