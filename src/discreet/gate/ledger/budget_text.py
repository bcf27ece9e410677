"""A budget as fields of a birth. What came later is left out where a budget lacks it: old births read as ever."""

from fractions import Fraction

from discreet.core import PrivacyUnit, Window
from discreet.core.units import NEIGHBOUR_WORDS
from discreet.core.untrusted_text import read_fraction
from discreet.gate.ledger.budget import Budget
from discreet.gate.ledger.encoding import Fields, canonical, parse_canonical

#: The relations by their words.
RELATIONS = {word: relation for relation, word in NEIGHBOUR_WORDS.items()}
NUMBERS = ("epsilon", "delta", "rho", "reserve")


def budget_fields(budget: Budget) -> Fields:
    """Return the fields of a budget."""
    return {
        **_numbers(budget),
        "unit": budget.unit.column,
        "neighbours": NEIGHBOUR_WORDS[budget.unit.neighbours],
        **({} if budget.unit.window is None else {"window": str(budget.unit.window)}),
        **({"per": budget.per} if budget.personal else {}),
        **({} if budget.most is None else {"most": str(budget.most)}),
        **({} if budget.least is None else {"least": str(budget.least)}),
        **({} if budget.total is None else {"total": canonical(_numbers(budget.total)).decode("ascii")}),
    }


def budget_of(fields: Fields) -> Budget:
    """Take the fields of a budget out of others, and return it."""
    unit = PrivacyUnit(
        column=fields.pop("unit"),
        neighbours=RELATIONS[fields.pop("neighbours")],
        window=Window.of(fields.pop("window")) if "window" in fields else None,
    )
    total = parse_canonical(fields.pop("total").encode("ascii")) if "total" in fields else None
    epsilon, delta, rho, reserve = (number_of(fields.pop(name)) for name in NUMBERS)
    least = number_of(fields.pop("least", None))
    budget = Budget(
        epsilon,
        delta or Fraction(0),
        rho=rho,
        reserve=reserve,
        unit=unit,
        per=fields.pop("per", "dataset"),
        most=number_of(fields.pop("most", None)),
        total=None if total is None else _total(**total),
        least=least,
    )
    return budget if least is not None else budget.without_least()


def text_of(number: Fraction | None) -> str | None:
    """Return the text of a number."""
    return None if number is None else str(number)


def number_of(text: str | None) -> Fraction | None:
    """Return the number that a text says."""
    return None if text is None else read_fraction(text)


def _numbers(budget: Budget) -> Fields:
    return {name: text_of(getattr(budget, name)) for name in NUMBERS}


def _total(*, epsilon: str | None, delta: str, rho: str | None, reserve: str | None) -> Budget:
    return Budget(number_of(epsilon), read_fraction(delta), rho=number_of(rho), reserve=number_of(reserve))
