"""Sessions: opened from a source and its declarations, or from a settings file."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.algebra.declarations import AnyKind
from discreet.core import Bounds, DiscreetError, InvalidInput, Number, Window
from discreet.core.limits import AnyLimit
from discreet.core.schema import ForeignKey, Value
from discreet.gate import Budget, without_frames
from discreet.session.datasets import declare_tables, open_dataset, open_described
from discreet.session.engine import Engine
from discreet.session.ledgers import LedgerAt, place_of, read_budget
from discreet.session.rows import read_sources
from discreet.session.session import Session, session_on
from discreet.session.settings.file import read_settings
from discreet.session.settings.settings import Settings


def open_session(  # noqa: PLR0913 - each is one thing that a steward declares
    source: Any,
    *,
    person: str | Mapping[str, str | ForeignKey | Mapping[str, Any] | None] | None = None,
    window: str | Window | None = None,
    row: bool = False,
    bounds: Mapping[str, Bounds | Sequence[Any] | Mapping[str, Any]] | None = None,
    groups: Mapping[str, Iterable[Value] | Mapping[str, Any]] | None = None,
    kinds: Mapping[str, AnyKind | Mapping[str, AnyKind]] | None = None,
    csv: Mapping[str, Any] | None = None,
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
    """Open private tables for questions, with a budget that is kept for life.

    Declarations are public: bounds, groups and limits come from knowledge of the domain, never from the rows.

    Args:
        source: The rows: a path to a CSV, Excel, Parquet or DuckDB file, or to a folder or pattern of files
            (`"visits/*.parquet"`; folders called `year=2024` make a column `year`); a pandas, Polars, Arrow or Spark
            frame; a relation of DuckDB, or a connection (with `table`); the address of a PostgreSQL database (with
            `table`); or a `discreet.toml`, which contains all other settings. Several tables about the same people are
            a dictionary by table name; then `person` (if its name differs), `bounds`, `groups`, `kinds`, `complete` and
            `order` are dictionaries by table name, too.
        person: The column that identifies a person. All rows of one person are protected together. By table names, one
            for each table; a table without such a column may lead to the person by a key of another private table:
            `{"orders": "customer", "items": {"via": "orders", "on": {"order_id": "id"}}}`. That key is declared to be
            unique. The person is then in a column `person`, or as `"as"` says.
        window: A window of time such as "month of day": a person's rows of one month are protected together, and not
            those of a life. The combined information of several months is not hidden.
        row: Whether each row is a person of its own; in place of `person`.
        bounds: The bounds of columns, such as `{"stay": (0, 60)}`: values are clamped to them. Bounds that are not
            declared can be bought with `Session.buy_bounds`.
        groups: The public values of columns, such as `{"ward": ["A", "B"]}`: their groups are always shown. Groups of
            other columns are selected privately, at a cost in δ, when a question asks for them.
        kinds: The types of columns: "integer", "real", "text", "boolean", "date" or "timestamp". Columns of a CSV file
            are texts, unless `kinds`, their bounds or their groups say otherwise; values that do not fit are missing.
            Days and moments may say how they are written, as in "date:%d.%m.%Y".
        csv: How a CSV file is written, such as `{"encoding": "windows-1252", "decimal": ",", "null": ["NA"]}`: with
            some of `encoding`, `delimiter`, `quote`, `comment`, `decimal`, `thousands` and `null`.
        complete: Columns that have a value in every row, so that their averages share one count.
        order: A column that distinguishes the rows of one person, so that the order of the source does not matter.
        rows_per_person: The number of rows of one person that a table holds, and that are made of them in one step of a
            question; 10,000 if left out. It bounds the work that one person can cause.
        never_fails: Views of a server, frames of Spark or relations of DuckDB that compute something: the steward
            promises that no possible row makes reading them fail. They are refused without that promise, as a failure
            reveals a row.
        public: Tables without people, by name. Their contents are public; their `bounds`, `groups` and `kinds` are
            read off their rows, unless declared under the table's name. A public table that has a column called like
            the person's is refused, unless `person` maps the table's name to None.
        budget: The most that may ever be learned about one person. It is written into the ledger when that is created,
            and read from it later.
        ledger: The place of the ledger: a path, or an address of PostgreSQL; beside the file, if left out.
        limit: The contribution bound of one person in an answer, a `Limit` or a `TotalLimit`. If left out, each
            question chooses it privately, for a tenth of its price.
        table: The name of the table in SQL; that of the file, if left out. For PostgreSQL, and for a
            connection of DuckDB, the table or tables to open.
        inner: The table that is meant in a DuckDB file with several, or the sheet of an Excel file.
        analyst: The name of the analyst who pays.
        delta: The part of the budget's δ that one question may use to select groups; a hundredth of its reserve, if
            left out.
        store: The place of a cleaned copy of the rows; in memory, if left out.
        title: The title of a new ledger.
        anchors: The places where a new ledger keeps its anchors; two in the user's state, if left out.
        key: The file of the ledger's signing key; beside the ledger, if left out.
        seconds: The time that the engine may take for one question; 600 if left out, and 3600 on Spark. A question that
            is not done by then has been paid for, and can be asked again.
        memory: The memory that the engine may take on this machine, such as "4GB".

    Returns:
        A session, which answers questions and closes with a `with` block.

    Raises:
        DiscreetError: The source cannot be opened, or a declaration is missing, or contradicts the source or the
            ledger. The error says which, and names a fix.

    Example:
        >>> clinic = discreet.open(
        ...     "visits.csv",
        ...     person="patient_id",
        ...     bounds={"stay": (0, 60)},
        ...     groups={"ward": ["A", "B"]},
        ...     budget=discreet.Budget(epsilon=3, delta=1e-9),
        ... )
        >>> clinic.preview("SELECT ward, AVG(stay) FROM visits GROUP BY ward", epsilon=0.5).fits
        True

    """
    declarations = {
        "person": person,
        "bounds": bounds,
        "groups": groups,
        "kinds": kinds,
        "csv": csv,
        "complete": complete,
        "order": order,
    }
    try:
        if _is_settings(source):
            engine = (seconds, memory)
            _need_alone(
                row,
                *declarations.values(),
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
        sources = read_sources(source, table, inner=inner, store=store, public=public, engine=may_take)
        once = {"row": row, "window": window, "limit": limit, "rows_per_person": rows_per_person}
        rows, facts = declare_tables(sources, declarations, once, never_fails)
        units = [declaration.unit for declaration in facts.values()]
        account = LedgerAt(
            place=place_of(ledger, source),
            budget=read_budget(budget, units[0]),
            unit=units[0],
            others=tuple(units[1:]),
            title=title or rows.title,
            anchors=anchors,
            key=key,
        )
        return session_on(open_dataset(rows, facts, account, analyst=analyst, delta=delta), analyst)
    except DiscreetError as error:
        refusal = without_frames(error)
    # A frame is private: no error carries it along.
    del source
    raise refusal


def _is_settings(source: object) -> bool:
    return isinstance(source, str | Path) and Path(source).suffix == ".toml"


def _need_alone(row: object, *arguments: object) -> None:
    if row or any(argument is not None for argument in arguments):
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
    """Return a session on the tables that settings describe."""
    return session_on(open_described(settings, analyst=analyst, anchors=anchors, key=key), analyst)
