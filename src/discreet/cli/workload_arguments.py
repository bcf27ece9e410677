"""The words of asking for much at once: batch, hierarchy, counter. Nothing heavy is imported here."""

from discreet.cli.parsers import Parser, Verbs
from discreet.cli.query_arguments import LIMIT_HELP, alone, analyst, project

BATCH = """\
FILE has questions in SQL with ; between them. What they share is measured once. For example:

  discreet batch questions.sql --rho 0.1 --preview
  discreet batch questions.sql --rho 0.1
  discreet batch - --epsilon 1 --weights 1,1,4 --json < questions.sql > answers.json

The same batch again is answered from the ledger, and costs nothing.
"""
HIERARCHY = """\
FILE is a CSV file of all leaves there are, which are public. Its first line names the columns, from coarse to fine:

  state,county
  Ohio,Adams
  Ohio,Allen

For example:

  discreet hierarchy counties.csv --rho 0.1 --preview
  discreet hierarchy counties.csv --rho 0.1 --csv > counts.csv
  discreet hierarchy wards.csv --rho 0.1 --table visits --where "age >= 40" --limit groups=1,rows=2
"""
COUNTER = """\
All days are paid for at once, by the first call that has a day to tell of. Later calls with the same words are free:
have cron run it every night. For example:

  discreet counter day --start 2025-01-01 --steps 365 --rho 0.1 --preview
  discreet counter day --start 2025-01-01 --steps 365 --rho 0.1 --csv > seen.csv
  discreet counter day --start 2025-01-01 --steps 24 --every month --limit 3 --where "ward = 'A'" --epsilon 1

Rows of a day that was told must not be taken away or moved to a later day.
"""


def add_workloads(rooms: Verbs) -> None:
    """Add the commands that ask for much at once."""
    for add in (_batch, _hierarchy, _counter):
        add(rooms)


def _batch(rooms: Verbs) -> None:
    one = alone(rooms, "batch", "Ask several questions at one price: what they share is measured once.", BATCH)
    one.add_argument(
        "file", metavar="FILE", help="questions with ; between them, or - to read them from standard input"
    )
    _price(one)
    _weights(one, "how much the errors of each question count")
    one.add_argument("--apart", action="store_true", help="do not make tables of public groups add up")
    one.add_argument("--other", action="store_true", help="buy, too, what groups that are not shown come to")
    _how(one)
    _paying(one)


def _hierarchy(rooms: Verbs) -> None:
    one = alone(rooms, "hierarchy", "Count at every level of a public tree, so that the counts add up.", HIERARCHY)
    one.add_argument("file", metavar="FILE", help="the leaves as CSV, with the names of columns in the first line")
    _price(one)
    _rows(one)
    one.add_argument(
        "--count", choices=("rows", "people"), default="rows", help="what is counted: rows (so if left out) or people"
    )
    _weights(one, "how much the errors of each level count, from the top down")
    one.add_argument("--even", action="store_true", help="split the price evenly over the levels")
    one.add_argument("--total", metavar="N", help="the number of all, where it is public")
    _how(one)
    _paying(one)
    one.add_argument("--csv", action="store_true", help="one line for each node, as CSV")


def _counter(rooms: Verbs) -> None:
    one = alone(rooms, "counter", "Count rows by day as days arrive, for one price.", COUNTER)
    one.add_argument("day", metavar="COLUMN", help="the column of dates")
    one.add_argument("--start", required=True, metavar="DAY", help="the first day, such as 2025-01-01")
    one.add_argument("--steps", required=True, metavar="N", help="how many days, or weeks, …, in all")
    one.add_argument("--every", default="day", metavar="PERIOD", help="day, week, month, quarter or year (day)")
    one.add_argument("--limit", default="1", metavar="N", help="how many rows of one person count, the first ones (1)")
    _price(one)
    _rows(one)
    one.add_argument("--today", metavar="DAY", help="which day is not over yet (the one that it is, in UTC)")
    one.add_argument("--confidence", default="0.95", metavar="P", help="how sure error bars are (0.95)")
    one.add_argument("--simultaneous", action="store_true", help="that sure of all error bars at once, not of each")
    one.add_argument("--preview", action="store_true", help="tell cost and error only; free")
    one.add_argument("--request", metavar="ID", help="a name for the payment: under it, nothing is paid for twice")
    one.add_argument("--csv", action="store_true", help="one line for each day, as CSV")
    project(one)
    analyst(one)


def _price(one: Parser) -> None:
    price = one.add_mutually_exclusive_group(required=True)
    price.add_argument("--epsilon", metavar="E", help="what to pay for all of it, as an ε")
    price.add_argument("--rho", metavar="R", help="the same as a ρ, with Gaussian noise")


def _rows(one: Parser) -> None:
    one.add_argument("--table", metavar="NAME", help="which table, where there are several")
    one.add_argument("--where", metavar="SQL", help="which rows count: a condition in SQL")


def _weights(one: Parser, text: str) -> None:
    one.add_argument("--weights", metavar="A,B,…", help=text)


def _how(one: Parser) -> None:
    one.add_argument("--confidence", default="0.95", metavar="P", help="how sure error bars are (0.95)")
    one.add_argument("--simultaneous", action="store_true", help="that sure of all error bars of a table at once")
    one.add_argument("--limit", metavar="LIMIT", help=LIMIT_HELP)


def _paying(one: Parser) -> None:
    one.add_argument("--preview", action="store_true", help="tell cost, errors and saving only; free")
    one.add_argument("--fresh", action="store_true", help="pay for new noise, even if this was asked before")
    one.add_argument("--request", metavar="ID", help="a name for this payment: under it, nothing is paid for twice")
    project(one)
    analyst(one)
