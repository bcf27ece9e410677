"""The words of `discreet anonymity`. Nothing heavy is imported here, so that help comes at once."""

from discreet.cli.parsers import Parser, Verbs, added, added_verb

EXAMPLES = """\
For example:

  discreet anonymity find patients.csv                       which columns identify people?
  discreet anonymity check patients.csv --k 5                5-anonymous, by what `find` finds?
  discreet anonymity check patients.csv --quasi age,postcode,sex --k 5 --sensitive illness --l 3
  discreet anonymity risk patients.csv --quasi age,postcode,sex
  discreet anonymity make patients.csv out.csv --quasi age,postcode,sex --sensitive illness --k 5 --inside

What these tell are facts about a table. None is a guarantee about a person, and none has an ε: for answers that carry a
promise see discreet ask. FILE is a CSV, Parquet or DuckDB file. COLUMNS have commas between them.
"""
CHECK = """\
Exit status: 0 if the table meets all that is asked for, 3 if it does not, 2 if it could not be looked at.
"""
MAKE = """\
A table that leaves is a disclosure. With --ledger it is written there first, and closes that account for good: no ε
bounds what the table tells, so that no promise about these people can be kept after it. With --inside it is written
for those who may see the rows anyway.
"""
TREATMENTS = """\
Every column needs a treatment. What is written has no names in it, and is about people all the same.
"""


def add_anonymity(rooms: Verbs) -> None:
    """Add the verbs of anonymity."""
    room = added(rooms, "anonymity", "What came before: k-anonymity and its kin. Facts about tables, no guarantees.")
    room.epilog = EXAMPLES
    verbs = room.add_subparsers(dest="verb", required=True, metavar="VERB")
    for add in (_find, _check, _risk, _make, _deidentify):
        add(verbs)


def _find(verbs: Verbs) -> None:
    one = _of_file(verbs, "find", "Which columns identify people: by name, by what values look like, by uniqueness.")
    _gap_texts(one)


def _check(verbs: Verbs) -> None:
    one = _of_file(verbs, "check", "Is a table k-anonymous, l-diverse, t-close as it stands?")
    one.epilog = CHECK
    _quasi(one, required=False)
    one.add_argument("--k", metavar="K", help="the least size of a class that is asked for")
    _required(one)
    _gap_texts(one)
    _gaps(one)


def _risk(verbs: Verbs) -> None:
    one = _of_file(verbs, "risk", "How likely people are found again: by prosecutor, journalist, marketer.")
    _quasi(one, required=False)
    one.add_argument("--population", metavar="FILE", help="all people of whom those in the table are a part")
    one.add_argument("--limit", default="0.2", metavar="P", help="count the rows whose risk is above this (0.2)")
    _gap_texts(one)
    _gaps(one)


def _make(verbs: Verbs) -> None:
    one = _of_file(verbs, "make", "Make a table k-anonymous, and write it to a new file.")
    one.epilog = MAKE
    one.add_argument("output", metavar="OUTPUT", help="a new .csv or .parquet file")
    _quasi(one)
    one.add_argument("--k", required=True, metavar="K", help="the least size of a class")
    one.add_argument("--keep", metavar="COLUMNS", help="other columns that go along as they are; the rest stays here")
    one.add_argument(
        "--method",
        choices=("mondrian", "relaxed", "full-domain", "suppress"),
        default="mondrian",
        help="boxes cut between values (mondrian), or through equal ones; a level a column; rows left out",
    )
    one.add_argument("--hierarchy", action="append", metavar="COLUMN=FILE", help="one line a value, ; between levels")
    one.add_argument("--suppress", default="0", metavar="SHARE", help="with full-domain: rows that may be left out (0)")
    _required(one)
    _gap_texts(one)
    _gaps(one)
    where = one.add_mutually_exclusive_group(required=True)
    where.add_argument("--ledger", metavar="PLACE", help="the ledger of these people: it is told first, and closed")
    where.add_argument("--inside", action="store_true", help="the file stays with those who may see the rows")
    one.add_argument("--by", metavar="NAME", help="who publishes (the name of the account of this machine)")


def _deidentify(verbs: Verbs) -> None:
    one = _of_file(verbs, "deidentify", "Write rows without names: drop, mask, pseudonyms, coarser values.")
    one.epilog = TREATMENTS
    one.add_argument("output", metavar="OUTPUT", help="a new .csv or .parquet file")
    one.add_argument("--drop", metavar="COLUMNS", help="not passed on")
    one.add_argument("--keep", metavar="COLUMNS", help="as they are")
    one.add_argument("--pseudonym", metavar="COLUMNS", help="a keyed hash in place of each value; needs --key")
    one.add_argument("--key", metavar="FILE", help="the key of pseudonyms; made if there is none. Keep it apart")
    for option, shape, what in (
        ("--mask", "COLUMN=N", "only the first N signs"),
        ("--round", "COLUMN=WIDTH", "numbers down to a multiple of WIDTH"),
        ("--clip", "COLUMN=LOW..HIGH", "numbers outside become the ends"),
        ("--day", "COLUMN=year|quarter|month|week", "of days only the year, and so on"),
        ("--label", "COLUMN=FILE:LEVEL", "the label at a level of a hierarchy"),
    ):
        one.add_argument(option, action="append", metavar=shape, help=what)
    _gap_texts(one)


def _of_file(verbs: Verbs, name: str, title: str) -> Parser:
    one = added_verb(verbs, name, title)
    one.add_argument("file", metavar="FILE", help="the table")
    return one


def _quasi(one: Parser, *, required: bool = True) -> None:
    found = "" if required else " (those that `find` takes for such, if left out)"
    one.add_argument(
        "--quasi", required=required, metavar="COLUMNS", help=f"what outsiders may know of a person{found}"
    )


def _required(one: Parser) -> None:
    one.add_argument("--sensitive", metavar="COLUMN", help="what outsiders are not to learn")
    one.add_argument("--l", metavar="L", help="at least so many sensitive values in every class")
    one.add_argument("--entropy-l", metavar="L", help="an entropy of at least ln L in every class")
    one.add_argument("--recursive", metavar="C,L", help="recursive (c, l)-diversity")
    one.add_argument("--t", metavar="T", help="no class farther than T from the whole table (earth mover's distance)")
    one.add_argument("--ordered", action="store_true", help="with --t: sensitive values are apart as in their order")
    one.add_argument("--alpha", metavar="A", help="no sensitive value in more than a share A of a class")


def _gap_texts(one: Parser) -> None:
    one.add_argument("--gap", action="append", metavar="TEXT", help="what stands for a missing value, such as ?")


def _gaps(one: Parser) -> None:
    one.add_argument("--leave-out-gaps", action="store_true", help="leave out rows that lack a value")
