"""`discreet init`: begins a dataset. It writes what is public and who is protected, and opens the budget for life."""

from dataclasses import replace
from pathlib import Path

from discreet.cli.commands import LIMIT_HELP, accounts
from discreet.cli.output import CommandOutput
from discreet.cli.parsing import (
    JSON,
    PROJECT,
    Arguments,
    argument,
    command,
    exclusive,
    flag,
    option,
    repeatable_option,
)

INIT = """\
Asks for what is missing if a person sits at the terminal, and shows no value of the table and no number of rows: only
the names and kinds of its columns. Given the person (or --rows) and the budget, it asks nothing. For example:

  discreet init visits.parquet
  discreet init visits.csv --person patient_id --epsilon 3 --delta 1e-9 \\
      --bounds stay=0:60 --bounds age=0:110 --groups ward=A,B,C --limit groups=3,rows=5
  discreet init visits.csv --rows --epsilon 1 --kinds ward=text --complete stay,age
  discreet init visits.csv --person patient_id --epsilon 2 --delta 1e-9 --per person --most 0.5
  discreet init export.csv --rows --epsilon 1 --csv encoding=windows-1252 --csv decimal=, --csv null=NA,- \\
      --kinds Aufnahme=date:%d.%m.%Y --bounds Kosten=0:5000
  discreet init --table visits=visits.csv --table patients=people.csv --public wards=wards.csv \\
      --person visits=patient_id --person patients=id --groups visits.ward=A,B,C --epsilon 3
  discreet init postgresql://reader@db.example/clinic --table visits --table patients --public wards \\
      --person patient_id --window "month of day" --epsilon 1 --ledger clinic.ledger

With several tables, columns are written visits.stay.

All declarations are public from then on. The budget is for life.
"""


@command(
    "init",
    "Begin with a table: say what is public and who is protected, for life.",
    epilog=f"{INIT}\n{JSON}",
)
@argument("files", "FILE", "the table: .csv, .tsv, .parquet, .duckdb; or several", nargs=-1)
@repeatable_option(
    "--person",
    "COLUMN",
    "the column whose rows belong together and are protected together; or TABLE=COLUMN; or a key of another table that "
    "leads there, TABLE=PARENT(COLUMN=KEY)",
)
@flag("--rows", "each row is a person of its own, and protected by itself")
@exclusive("--person", "--rows")
@repeatable_option("--bounds", "COLUMN=LOW:HIGH", "values are clamped to these; dates are written 2025-01-31")
@repeatable_option("--groups", "COLUMN=A,B,…", "the public groups of a column")
@repeatable_option(
    "--kinds",
    "COLUMN=KIND",
    "the kind of a column: integer, real, text, boolean, date or timestamp; or date:%d.%m.%Y, with how it is written; "
    "of a public table, TABLE.COLUMN=KIND",
)
@repeatable_option(
    "--csv",
    "OPTION=VALUE",
    "how a CSV file is written: encoding, delimiter, quote, comment, decimal, thousands, null=NA,-",
)
@flag(
    "--kinds-from-rows",
    "read the kinds of a CSV file's other columns off all rows; one row may decide what becomes public",
)
@flag("--misfits", "then show on this terminal how many values do not fit, in exact and private numbers")
@option("--complete", "A,B,…", "columns with a value in every row: averages share one count")
@option("--limit", "LIMIT", f"{LIMIT_HELP}; if left out, each question chooses")
@option("--epsilon", "E", "the most that may ever be learned, as an ε")
@option("--rho", "R", "the same as a ρ of zCDP")
@exclusive("--epsilon", "--rho")
@option("--delta", "D", "the δ (0; with --people, an advised δ)")
@option("--people", "N", "the number of people, roughly; a δ that is not far below 1/N is refused")
@accounts
@repeatable_option("--table", "NAME=FILE", "one of several tables; NAME alone is the name of the only file in SQL")
@repeatable_option("--public", "NAME=FILE", "a table without people, to be joined with")
@option("--window", "WINDOW", 'protect a stretch of each person\'s time, and not a life: "month of day"')
@repeatable_option("--order", "COLUMN", "the column that tells the rows of one person apart; or TABLE=COLUMN")
@option("--rows-per-person", "N", "the most rows of one person that a table holds (10,000)")
@repeatable_option("--never-fails", "TABLE", "a view that computes something: you promise that no row makes it fail")
@option("--inner", "NAME", "the table of a DuckDB file that has several, or the sheet of an Excel file")
@option("--seconds", "S", "the time that one question may take (600)")
@option("--memory", "M", "the memory of this machine that one question may take, such as 4GB")
@option("--ledger", "FILE", "the account (beside the file, if left out)")
@option("--project", "FILE", f"the settings to write ({PROJECT} beside the file)")
def init_command(arguments: Arguments) -> CommandOutput:
    """Write the settings of a dataset and begin its ledger."""
    from discreet.cli import console
    from discreet.cli.dataset import interview
    from discreet.cli.dataset.declarations import sort_by_table, split_nobodys, split_public_kinds
    from discreet.cli.dataset.rewording import reword_for_init
    from discreet.cli.dataset.sessions import progress_line, reword_errors
    from discreet.cli.dataset.setup import (
        begin_dataset,
        ledger_place,
        make_settings,
        missing_options,
        need_no_settings,
        read_declarations,
        read_formats,
        setup_answer,
        table_names,
        tell_misfits,
        with_public_formats,
    )
    from discreet.cli.dataset.tables import are_read_off_rows, imply_kinds, read_places
    from discreet.cli.dataset.warnings import warn_about_questions
    from discreet.cli.ledger.views import reachable

    with reachable("The file"):
        places = read_places(arguments)
        project = Path(arguments.project) if arguments.project else places.project
        ledger = ledger_place(arguments, places, project)
        need_no_settings(project)
        known = isinstance(ledger, str) or ledger.exists()
    # Before anything is made of it: whom a public table does not name is not whom a private one does.
    arguments.person, nobodys = split_nobodys(arguments.person, tuple(places.public))
    kinds, nobodys_kinds = split_public_kinds(arguments.kinds, places.names, tuple(places.public))
    csv, nobodys_csv = split_public_kinds(arguments.csv, places.names, tuple(places.public))
    interactive = bool(missing_options(arguments, known=known)) and console.somebody_is_there()
    if interactive:
        interview.introduce()
    from_rows = are_read_off_rows(arguments, places, asked=interactive)
    looking = progress_line(f"looking at the columns of {table_names(places)}", arguments)
    with reword_errors(say=reword_for_init), looking:
        formats = read_formats(places, kinds, csv, from_rows=from_rows)
        columns = {name: places.columns(name, formats.kinds(name), formats.csv[name]) for name in places.names}
    if not from_rows:
        bounds = sort_by_table(arguments.bounds, places.names, "--bounds", "stay=0:60")
        columns = {
            name: imply_kinds(table_columns, places, name, bounds[name]) for name, table_columns in columns.items()
        }
    declared = read_declarations(arguments, columns, ledger if known else None)
    settings = make_settings(arguments, places, ledger, declared, columns, formats, from_rows=from_rows)
    if nobodys:
        settings = replace(settings, person={**declared.persons, **dict.fromkeys(nobodys)})
    settings = with_public_formats(settings, places, nobodys_kinds, nobodys_csv)
    with begin_dataset(project, settings, places, arguments, from_rows=from_rows) as session:
        answer = setup_answer(session, project, declared, known=known, from_rows=from_rows)
        if not interactive:
            warn_about_questions(session)
    tell_misfits(project, arguments)
    return answer
