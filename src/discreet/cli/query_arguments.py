"""The words of asking: init, ask, preview, explain, schema, buy-bounds, demo. Nothing heavy is imported here."""

import argparse
from typing import TypeAlias

from discreet.cli.parsers import JSON, Parser, Verbs, accounts, added_verb

#: A parser, or a group of its options.
Words: TypeAlias = argparse._ActionsContainer  # noqa: SLF001 (its only name)
#: Where the settings of a dataset are looked for.
PROJECT = "discreet.toml"
#: How a limit is written.
LIMIT_HELP = "what one person may touch: groups=3,rows=5 (rows in each) or total=10"
INIT = """\
Asks for what is missing if a person sits at the terminal, and shows no value of the table and no number of rows: only
the names and kinds of its columns. Given the person (or --rows) and the budget, it asks nothing. For example:

  discreet init visits.parquet
  discreet init visits.csv --person patient_id --epsilon 3 --delta 1e-9 \\
      --bounds stay=0:60 --bounds age=0:110 --groups ward=A,B,C --limit groups=3,rows=5
  discreet init visits.csv --rows --epsilon 1 --kinds ward=text --complete stay,age
  discreet init visits.csv --person patient_id --epsilon 2 --delta 1e-9 --per person --most 0.5
  discreet init --table visits=visits.csv --table patients=people.csv --public wards=wards.csv \\
      --person visits=patient_id --person patients=id --groups visits.ward=A,B,C --epsilon 3
  discreet init postgresql://reader@db.example/clinic --table visits --table patients --public wards \\
      --person patient_id --window "month of day" --epsilon 1 --ledger clinic.ledger

With several tables, columns are written visits.stay.

What is said is public from then on. The budget is for life.
"""
ASK = """\
For example:

  discreet ask "SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits GROUP BY ward" --epsilon 0.5
  discreet ask "SELECT COUNT(*) FROM visits WHERE age >= 40" --within 25 --confidence 0.95
  discreet ask - --epsilon 0.5 --csv < question.sql > answer.csv

What was asked before is answered from the ledger, and costs nothing.
"""
PREVIEW = """\
Free, and no row is read. For example:

  discreet preview "SELECT ward, COUNT(*) FROM visits GROUP BY ward" --epsilon 0.5
"""
EXPLAIN = """\
Free, and no row is read. For example:

  discreet explain "SELECT ward, AVG(stay) FROM visits GROUP BY ward" --epsilon 0.5
"""
SCHEMA = """\
Free. For example:

  discreet schema
  discreet schema --json --project clinic/discreet.toml
"""
BUY = """\
For example:

  discreet buy-bounds cost --epsilon 0.1

Once bought, bounds are everybody's. Bounds that the settings declare cost nothing, and win.
"""
DEMO = """\
A hospital of 100,000 visits that nobody made, a budget, questions, a refusal, the ledger, and a report to look at. For
example:

  discreet demo
  discreet demo --folder story --no-pictures
"""


def add_questions(rooms: Verbs) -> None:
    """Add the commands that ask about a table."""
    for add in (_init, _ask, _preview, _explain, _schema, _buy_bounds, _demo):
        add(rooms)


def _init(rooms: Verbs) -> None:
    one = alone(rooms, "init", "Begin with a table: say what is public and who is protected, for life.", INIT)
    one.add_argument("files", nargs="*", metavar="FILE", help="the table: .csv, .tsv, .parquet, .duckdb; or several")
    who = one.add_mutually_exclusive_group()
    repeated(who, "--person", "COLUMN", "whose rows belong together and are protected together; or TABLE=COLUMN")
    who.add_argument("--rows", action="store_true", help="each row is somebody else, and protected for itself")
    repeated(one, "--bounds", "COLUMN=LOW:HIGH", "values are clamped to these; dates are written 2025-01-31")
    repeated(one, "--groups", "COLUMN=A,B,…", "the groups of a column that everybody may know")
    holds = "what a column holds: integer, real, text, boolean, date or timestamp; of a public table, TABLE.COLUMN=KIND"
    repeated(one, "--kinds", "COLUMN=KIND", holds)
    off = "read the kinds of a CSV file's other columns off all rows; one row may decide what becomes public"
    one.add_argument("--kinds-from-rows", action="store_true", help=off)
    one.add_argument("--complete", metavar="A,B,…", help="columns with a value in every row: averages share one count")
    one.add_argument("--limit", metavar="LIMIT", help=f"{LIMIT_HELP}; if left out, each question chooses")
    limit = one.add_mutually_exclusive_group()
    limit.add_argument("--epsilon", metavar="E", help="the most that may ever be learned, as an ε")
    limit.add_argument("--rho", metavar="R", help="the same as a ρ of zCDP")
    one.add_argument("--delta", metavar="D", help="the δ (0; with --people, what is advised for so many)")
    one.add_argument("--people", metavar="N", help="how many people, roughly; a δ that is not far below 1/N is refused")
    accounts(one)
    repeated(one, "--table", "NAME=FILE", "one of several tables; NAME alone is what SQL calls the only file's")
    repeated(one, "--public", "NAME=FILE", "a table that is nobody's, to be joined with")
    one.add_argument(
        "--window", metavar="WINDOW", help='protect each month, say, of a person and not a life: "month of day"'
    )
    repeated(one, "--order", "COLUMN", "what tells the rows of one person apart; or TABLE=COLUMN")
    one.add_argument(
        "--rows-per-person", metavar="N", help="how many rows of one person a table holds at most (10,000)"
    )
    repeated(one, "--never-fails", "TABLE", "a view that computes something: you promise that no row makes it fail")
    one.add_argument("--inner", metavar="NAME", help="which table of a DuckDB file that has several")
    one.add_argument("--seconds", metavar="S", help="the time that one question may take (600)")
    one.add_argument("--memory", metavar="M", help="the memory that it may take of this machine, such as 4GB")
    one.add_argument("--ledger", metavar="FILE", help="the account (beside the file, if left out)")
    one.add_argument("--project", metavar="FILE", help=f"the settings to write ({PROJECT} beside the file)")


def _ask(rooms: Verbs) -> None:
    one = _asking(rooms, "ask", "Ask in SQL: the answer with its error, what it cost, and what is left.", ASK)
    one.add_argument("--fresh", action="store_true", help="pay for new noise, even if this was asked before")
    one.add_argument("--request", metavar="ID", help="a name for this payment: under it, nothing is paid for twice")
    one.add_argument("--csv", action="store_true", help="the table alone, as CSV with the ends of the error bars")


def _preview(rooms: Verbs) -> None:
    _asking(rooms, "preview", "What a question would cost, and how far off its answer would be.", PREVIEW)


def _explain(rooms: Verbs) -> None:
    title = "How a question would be answered: limits, sensitivities, noise, and what would halve the error."
    _asking(rooms, "explain", title, EXPLAIN, needed=False)


def _schema(rooms: Verbs) -> None:
    one = alone(rooms, "schema", "What is public: columns, bounds, groups, limits, who is protected.", SCHEMA)
    project(one)


def _buy_bounds(rooms: Verbs) -> None:
    one = alone(rooms, "buy-bounds", "Buy the range of a column that nobody declared.", BUY)
    one.add_argument("column", metavar="COLUMN", help="which")
    price = one.add_mutually_exclusive_group(required=True)
    price.add_argument("--epsilon", metavar="E", help="what to pay, as an ε")
    price.add_argument("--rho", metavar="R", help="the same as a ρ")
    project(one)
    analyst(one)


def _demo(rooms: Verbs) -> None:
    one = alone(rooms, "demo", "The whole story in half a minute, on people who do not exist.", DEMO, json=False)
    one.add_argument("--folder", metavar="DIR", help="where its files go (discreet-demo here, if left out)")
    one.add_argument("--no-pictures", action="store_true", help="a report of tables only")


def _asking(rooms: Verbs, name: str, title: str, examples: str, *, needed: bool = True) -> Parser:
    one = alone(rooms, name, title, examples)
    one.add_argument("sql", metavar="SQL", help="the question, or - to read it from standard input")
    # Which of the three is needed is said by the session, with a fix; argparse knows no list of options in a group.
    free = "" if needed else " (a tenth of the whole budget, if all three are left out)"
    one.add_argument("--epsilon", metavar="E", help=f"what to pay, as an ε{free}")
    one.add_argument("--rho", metavar="R", help="the same as a ρ, with Gaussian noise")
    repeated(one, "--within", "X", "pay the least for which every column is within ±X; or NAME=X, for one column")
    one.add_argument("--confidence", default="0.95", metavar="P", help="how sure error bars are (0.95)")
    one.add_argument("--simultaneous", action="store_true", help="that sure of all error bars at once, not of each")
    one.add_argument("--size", metavar="N", help="about how many rows a group has, as far as is public")
    one.add_argument("--limit", metavar="LIMIT", help=f"{LIMIT_HELP}, for this question")
    one.add_argument(
        "--matches", metavar="MATCHES", help="how far people may be joined with each other: rows=2,matches=5"
    )
    one.add_argument("--bias", action="store_true", help="find out, too, how many people lost something to limits")
    project(one)
    analyst(one)
    return one


def alone(rooms: Verbs, name: str, title: str, examples: str, *, json: bool = True) -> Parser:
    """Add a command that is room and verb in one."""
    one = added_verb(rooms, name, title, json=json)
    one.epilog = f"{examples}\n{JSON}" if json else examples
    one.set_defaults(verb=name, **({} if json else {"json": False}))
    return one


def project(one: Parser) -> None:
    """Let the settings be named."""
    one.add_argument("--project", default=PROJECT, metavar="FILE", help=f"the settings ({PROJECT} here)")


def analyst(one: Parser) -> None:
    """Let it be said who asks."""
    one.add_argument("--analyst", default="", metavar="NAME", help="who asks, and pays")


def repeated(one: Words, option: str, shape: str, text: str) -> None:
    """Add an option that may be given several times."""
    one.add_argument(option, action="append", metavar=shape, help=f"{text}; may be given several times")
