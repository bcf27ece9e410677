"""The interview of `discreet init`: asks a person at the terminal about tables, and explains each question.

Questions and explanations show names and kinds of columns, which are public, and never a value.
"""

from collections.abc import Callable, Collection, Sequence
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import TypeVar

from discreet.accounting import advised_delta, need_delta
from discreet.cli import console
from discreet.cli.dataset.declarations import find_column, read_interval, read_limit, read_values
from discreet.cli.formatting import columns as aligned
from discreet.cli.numbers import read_number
from discreet.core import InvalidInput, PrivacyUnit, positive
from discreet.core.exact import text_down
from discreet.core.limits import AnyLimit
from discreet.core.schema import Column, Kind, Value
from discreet.gate import Budget, one_line
from discreet.session import AnyBounds

#: The δ of a person who presses return. This δ is at most n^−1.1 for up to 150 million people.
EPSILON, DELTA = "1", "1e-9"

PERSON = """\
The privacy unit: the guarantee hides whether one value of this column is in the table, with all of its rows. If the
column names a visit and not a patient, only single visits are protected. With - each row is a unit of its own. Errors
are smaller then, as one row moves an answer less than all rows of a person do; a person with k rows is protected with
k times the ε only, and a larger δ."""

BOUNDS = """\
Clamping bounds. A value outside of them is moved to the nearer bound, wherever a question uses the column.
  Privacy: bounds are published. Take them from public knowledge (an age lies in 0:110), not from the rows.
  Error: the noise of a sum is proportional to the largest value that the bounds allow: twice as wide, about twice the
  noise. Bounds that are too narrow shift answers, because values are moved.
Without bounds, a column is not summed or averaged until a question has CLAMP(column, LOW, HIGH), or its bounds are
bought with discreet buy-bounds."""

GROUPS = """\
Public groups. Answers by this column show all of them, including empty ones; rows with other values are left out.
  Privacy: the list is published. Take it from public knowledge (the wards of the hospital), not from the rows.
  Error: public groups cost nothing. Without them each question spends a part of its price on partition selection,
  which needs a δ above 0 and does not show groups of few people.
A group with a comma in it, or one that is written - or ?, stands in double quotes."""

LIMIT = """\
The contribution bound. groups=3,rows=5: of each person, at most 5 rows in each of at most 3 groups count; total=10: at
most 10 rows in all.
  Privacy: any limit protects all rows of a person; the limit is published.
  Error: noise grows with the limit, in proportion to the rows. A limit that is too low drops rows of the people with
  the most, so that counts and sums are too small. Choose what most people stay within.
Without one, each question chooses a limit privately, for a tenth of its price. Where the number of people times ε is
below some thousands, that choice is close to random."""

BUDGET = """\
The privacy loss of all answers together, for life. An observer who gives a person's presence a probability of one
half before the answers can raise it to 0.74 at most with ε = 1, to 0.96 with ε = 3, and to 0.99996 with ε = 10.
  Error: an answer that spends ε = 0.1 on a count has noise of about 10 rows for each row of the limit; ten times the ε,
  a tenth of the noise. A larger budget means more answers, or more accurate ones.
The budget can be raised later, with a recorded reason (discreet ledger raise); what was spent stays spent."""

DELTAS = """\
The slack of the guarantee: the probability of an event may exceed the bound of ε by δ. Publishing each row with
probability δ is within that, so δ has to be far below one over the number of people: at most n^-1.1 for n people. The
number of people is not read off the rows; 1e-9 is small enough for up to 150 million. discreet init --people N checks
the δ for N people.
  Error: a smaller δ costs little. The number of people that a group needs in order to be shown grows with log(1/δ).
With 0 the bound of ε holds without slack, and groups that are not public cannot be selected."""

ACCOUNTS = """\
dataset: every answer is charged to one account, in full, no matter who contributed to it.
person: every person has an account with the budget above, and is charged for their own contribution to an answer.
  Privacy: no person's loss exceeds the budget either way.
  Error: with personal accounts more questions can be asked, as people with few rows are charged less. People whose
  account is used up are left out of later answers, which is not announced: counts drift downwards."""

MOST = """\
The part of a person's account that one question may use. With a smaller part, people stay in later answers for
longer; a question with a higher price is refused before payment."""

BEGIN = """\
With y the settings are written, and the ledger begins with this budget. Declarations can be changed by hand in the
settings; what was published stays published. With n nothing is written."""


class Rest(Enum):
    """The answer to a question about a column that ends the questions about the columns after it."""

    NONE = "-"


T = TypeVar("T")


def introduce() -> None:
    """Say how a question is explained."""
    console.tell("Type ? at any question for its explanation.\n")


def show(table: str, columns: Sequence[Column], *, only: bool) -> None:
    """Show the names and kinds of columns."""
    which = "The table" if only else f"\nThe table {one_line(table)}"
    console.tell(f"{which} has these columns. Nothing else is shown of it.\n")
    for line in aligned([[f"  {column.name}", column.kind.value] for column in columns]):
        console.tell(line)
    console.tell()


def ask_person(columns: Sequence[Column], likely: str, *, rows: bool) -> str | None:
    """Return the column that names the person of a row; None, where allowed, if each row is a person of its own."""
    other = "; or - if each row is another person" if rows else ""
    console.tell(f"Who is protected? The column that says whose a row is{other}.")
    return console.ask(
        "  person",
        lambda text: None if text == "-" and rows else find_column(text, columns).name,
        default=likely,
        explanation=PERSON,
    )


def ask_bounds(columns: Sequence[Column], known: Collection[str]) -> dict[str, AnyBounds]:
    """Return the bounds of columns that have a range."""
    ranged = [
        column for column in columns if (column.kind.numeric or column.kind.temporal) and column.name not in known
    ]
    if ranged:
        console.tell(
            "\nBetween which bounds do values lie, by public knowledge? LOW:HIGH; return for unknown;\n"
            "- if none of the rest has known bounds. Wide bounds mean more noise, narrow ones move values."
        )
    return _ask_columns(ranged, read_interval, BOUNDS)


def ask_groups(columns: Sequence[Column], known: Collection[str]) -> dict[str, tuple[Value, ...]]:
    """Return the groups of columns that have names in them."""
    named = [column for column in columns if column.kind in (Kind.TEXT, Kind.BOOLEAN) and column.name not in known]
    if named:
        console.tell(
            "\nWhich groups are public? A,B,C; return for none: then they are bought when asked for;\n"
            "- if none of the rest has public groups."
        )
    return _ask_columns(named, lambda text, column: read_values(text, column.kind, column.name), GROUPS)


def _ask_columns(columns: Sequence[Column], read: Callable[[str, Column], T], explanation: str) -> dict[str, T]:
    """Return the declarations of columns, one after the other, until a person says that the rest has none."""
    declared: dict[str, T] = {}
    for column in columns:
        reader = partial(_read_column, column=column, read=read)
        answer = console.ask(f"  {column.name}", reader, explanation=explanation)
        if isinstance(answer, Rest):
            break
        if answer is not None:
            declared[column.name] = answer
    return declared


def _read_column(text: str, *, column: Column, read: Callable[[str, Column], T]) -> T | Rest | None:
    """Return the declaration of one column: None for no declaration, `Rest.NONE` for none of the others, too."""
    if text == Rest.NONE.value:
        return Rest.NONE
    return read(text, column) if text else None


def ask_limit() -> AnyLimit | None:
    """Return how much of an answer one person may touch."""
    console.tell(
        "\nHow much of an answer may one person touch? groups=3,rows=5 or total=10. Twice the rows mean\n"
        "about twice the noise; rows above the limit are dropped. Return: each question chooses, for a tenth of\n"
        "its price."
    )
    return console.ask("  limit", lambda text: read_limit(text, "the limit") if text else None, explanation=LIMIT)


def ask_budget(unit: PrivacyUnit, *, delta: Fraction | None, people: int | None) -> Budget:
    """Return the budget for life; the δ is asked for, if it was not typed, and fits a typed number of people."""
    console.tell("\nHow much may ever be learned about one of them? ε = 1 is strict, 10 is loose; it is for life.")
    epsilon = console.ask(
        "  epsilon",
        lambda text: positive(read_number(text, "epsilon"), "epsilon"),
        default=EPSILON,
        explanation=BUDGET,
    )
    if delta is not None:
        return Budget(epsilon, delta, unit=unit)
    offered = offer_delta(people)
    most = "150 million people" if people is None else f"{people:,} people"
    console.tell(
        f"\nδ has to be far below one over the number of people: {offered} is, for up to {most}.\n"
        "With 0, groups that are not public cannot be shown."
    )
    return console.ask(
        "  delta",
        lambda text: Budget(epsilon, _read_delta(text, people), unit=unit),
        default=offered,
        explanation=DELTAS,
    )


def offer_delta(people: int | None) -> str:
    """Return the δ that is offered: small for any table, and smaller where there are very many people."""
    if people is None or Fraction(DELTA) <= Fraction(advised_delta(people)):
        return DELTA
    return text_down(advised_delta(people), 2)


def _read_delta(text: str, people: int | None) -> Fraction:
    delta = read_number(text, "delta")
    return delta if people is None else need_delta(delta, people)


def ask_accounts(budget: Budget) -> Budget:
    """Return the budget with its kind of account: one for the dataset, or one for each person."""
    console.tell(
        "\nWho pays for an answer? dataset: all people alike. person: each for what it takes from them; then more can "
        "be asked,\nand people whose account is used up are left out silently: answers drift."
    )
    return console.ask("  per", lambda text: _read_payer(budget, text), default="dataset", explanation=ACCOUNTS)


def _read_payer(budget: Budget, text: str) -> Budget:
    """Return the budget by the kind of account that is typed; for persons, the cap of one question is asked, too."""
    if text not in ("dataset", "person"):
        raise InvalidInput("That is neither of the two.", fix="type dataset or person")
    if text == "dataset":
        return budget
    word = budget.symbol
    return console.ask(
        f"  most that one question may cost a person, as a part of {word} = {float(budget.limit):g}; return: all of it",
        lambda most: Budget(
            budget.epsilon,
            budget.delta,
            rho=budget.rho,
            unit=budget.unit,
            per="person",
            most=positive(read_number(most, "most"), "most") if most else None,
        ),
        explanation=MOST,
    )


def confirm() -> bool:
    """Return whether a person begins with what was said."""
    return console.ask("Begin with this, for life? (y/n)", console.read_yes_no, default="y", explanation=BEGIN)
