"""Asks a person at the terminal about tables: bounds, groups, limits, the budget. No value is shown."""

from collections.abc import Callable, Collection, Sequence

from discreet.cli import console
from discreet.cli.dataset.declarations import find_column, read_interval, read_limit, read_values
from discreet.cli.formatting import columns as aligned
from discreet.cli.numbers import read_number
from discreet.core import InvalidInput, PrivacyUnit, positive
from discreet.core.limits import AnyLimit
from discreet.core.schema import Column, Kind, Value
from discreet.gate import Budget
from discreet.gate.releases import one_line
from discreet.session.declared import AnyBounds

#: What is offered to a person who presses return.
EPSILON, DELTA = "1", "1e-9"


def show(table: str, columns: Sequence[Column], *, only: bool) -> None:
    """Show the names and kinds of columns."""
    which = "The table" if only else f"\nThe table {one_line(table)}"
    console.tell(f"{which} has these columns. Nothing else is shown of it.\n")
    for line in aligned([[f"  {column.name}", column.kind.value] for column in columns]):
        console.tell(line)
    console.tell()


def ask_person(columns: Sequence[Column], likely: str, *, rows: bool) -> str | None:
    """Return the column that says whose a row is; None, where that may be, if each row is somebody else."""
    other = "; or - if each row is somebody else" if rows else ""
    console.tell(f"Who is protected? The column that says whose a row is{other}.")
    return console.ask(
        "  person",
        lambda text: None if text == "-" and rows else find_column(text, columns).name,
        default=likely,
    )


def ask_bounds(columns: Sequence[Column], known: Collection[str]) -> dict[str, AnyBounds]:
    """Return the bounds of columns that have a range."""
    ranged = [
        column for column in columns if (column.kind.numeric or column.kind.temporal) and column.name not in known
    ]
    if ranged:
        console.tell(
            "\nBetween which bounds do values lie, as far as everybody may know? LOW:HIGH; return for unknown."
        )
    answers = {column.name: console.ask(f"  {column.name}", _optional_interval(column)) for column in ranged}
    return {name: bounds for name, bounds in answers.items() if bounds is not None}


def ask_groups(columns: Sequence[Column], known: Collection[str]) -> dict[str, tuple[Value, ...]]:
    """Return the groups of columns that have names in them."""
    named = [column for column in columns if column.kind in (Kind.TEXT, Kind.BOOLEAN) and column.name not in known]
    if named:
        console.tell(
            "\nWhich groups may everybody know of? A,B,C; return for none: then they are bought when asked for."
        )
    answers = {column.name: console.ask(f"  {column.name}", _optional_values(column)) for column in named}
    return {name: values for name, values in answers.items() if values is not None}


def ask_limit() -> AnyLimit | None:
    """Return how much of an answer one person may touch."""
    console.tell(
        "\nHow much of an answer may one person touch? groups=3,rows=5 or total=10; return: each question decides."
    )
    return console.ask("  limit", lambda text: read_limit(text, "the limit") if text else None)


def ask_budget(unit: PrivacyUnit) -> Budget:
    """Return the budget for life."""
    console.tell("\nHow much may ever be learned about one of them? ε = 1 is strict, 10 is loose; it is for life.")
    epsilon = console.ask("  epsilon", lambda text: positive(read_number(text, "epsilon"), "epsilon"), default=EPSILON)
    return console.ask(
        "  delta (far below one in the number of people; 0: groups cannot be bought)",
        lambda text: Budget(epsilon, read_number(text, "delta"), unit=unit),
        default=DELTA,
    )


def ask_accounts(budget: Budget) -> Budget:
    """Return the budget with who pays for answers: everybody alike, or each person from an account of their own."""
    console.tell(
        "\nWho pays for an answer? dataset: everybody alike. person: each for what it takes from them; then more can "
        "be asked,\nand whoever has nothing left is left out, silently: answers drift."
    )
    return console.ask("  per", lambda text: _read_payer(budget, text), default="dataset")


def _read_payer(budget: Budget, text: str) -> Budget:
    """Return the budget as somebody says who pays; of persons, the most that one question may cost is asked, too."""
    if text not in ("dataset", "person"):
        raise InvalidInput("That is neither of the two.", fix="type dataset or person")
    if text == "dataset":
        return budget
    word = budget.symbol
    return console.ask(
        f"  most that one question may cost anybody, as a part of {word} = {float(budget.limit):g}; return: all of it",
        lambda most: Budget(
            budget.epsilon,
            budget.delta,
            rho=budget.rho,
            unit=budget.unit,
            per="person",
            most=positive(read_number(most, "most"), "most") if most else None,
        ),
    )


def _optional_interval(column: Column) -> Callable[[str], AnyBounds | None]:
    return lambda text: read_interval(text, column) if text else None


def _optional_values(column: Column) -> Callable[[str], tuple[Value, ...] | None]:
    return lambda text: read_values(text, column.kind, column.name) if text else None
