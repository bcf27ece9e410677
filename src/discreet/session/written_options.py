"""Options in the text of a question, in BigQuery's syntax: what they are as keywords, and whether they can be kept.

`SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5, max_rows_contributed = 10) …` asks the same question as the
keywords `epsilon=0.5, limit=10`, at the same price. The privacy unit and δ belong to the dataset: an option that says
the same of them is accepted, and any other is refused.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from discreet.core import DiscreetError, Limit, PrivacyUnit, exact, positive
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.schema import Schema, closest
from discreet.query import WrittenOption
from discreet.session.declared import read_limit
from discreet.session.options import QuestionOptions

#: Options that are read. Others of BigQuery are refused, with what to write in their place.
KNOWN = (
    "epsilon",
    "delta",
    "max_groups_contributed",
    "max_rows_contributed",
    "privacy_unit_column",
    "group_selection_strategy",
)
#: A number as SQL has it. An exponent has two digits at the most: an exact number of 10⁹ digits is not a price.
NUMBER = re.compile(r"[0-9]{0,30}\.?[0-9]{0,30}(?:[eE][+-]?[0-9]{1,2})?")
WHOLE = re.compile(r"[0-9]{1,18}")
#: The two strategies: groups are selected privately, or are known beforehand.
SELECTED, PUBLIC = "LAPLACE_THRESHOLD", "PUBLIC_GROUPS"
Written = Mapping[str, WrittenOption]


def check_written_options(written: Written, deltas: Collection[Fraction]) -> None:
    """Refuse options that are unknown or cannot be read, and a δ that is not one of the dataset's."""
    for option in written.values():
        if option.name not in KNOWN:
            raise _refuse_unknown(option)
    delta, strategy = written.get("delta"), written.get("group_selection_strategy")
    if delta is not None and _need_number(delta) not in deltas:
        known = max(deltas)
        words = f"write delta = {float(known):.10g}, or leave it out" if known else "leave it out: the budget has no δ"
        raise delta.refuse("The δ of a question must be that of the dataset.", words)
    if strategy is not None and _word_of(strategy).upper() not in (SELECTED, PUBLIC):
        raise strategy.refuse("Unknown strategy.", f"write {SELECTED} or {PUBLIC}, or leave it out")


def merge_options(
    written: Written, options: QuestionOptions, declared: AnyLimit | None, unit: PrivacyUnit
) -> QuestionOptions:
    """Return the keywords of a question and those that its text has; refuse two that differ.

    `declared` is the contribution bound of the dataset, of which the text may change a part.
    """
    if not written:
        return options
    merged: dict[str, Any] = dict(options)
    epsilon = written.get("epsilon")
    if epsilon is not None:
        merged["epsilon"] = _merge_price(epsilon, merged)
    limit = _find_limit(written, read_limit(merged.get("limit")), declared, unit)
    if limit is not None:
        merged["limit"] = limit
    return merged  # type: ignore[return-value]


def check_person(written: Written, schemas: Sequence[Schema]) -> None:
    """Refuse a privacy unit that is not the declared one of the tables that a question is about."""
    option = written.get("privacy_unit_column")
    if option is None:
        return
    name = _word_of(option).casefold()
    named = [schema for schema in schemas if (schema.unit.column or "").casefold() == name]
    if named and not any(schema.find(name) is not None for schema in schemas if schema not in named):
        return
    declared = sorted({schema.unit.column for schema in schemas if schema.unit.column is not None})
    fix = f"write privacy_unit_column = {' or '.join(declared)}, or leave it out"
    raise option.refuse(
        "The privacy unit differs from the one that was declared when the table was opened.",
        fix if declared else "leave it out: every row is a unit of its own here",
    )


def check_strategy(written: Written, *, public: bool) -> None:
    """Refuse public groups in the text of a question whose groups are private.

    Public groups are shown without selection whatever the text says: their list is declared, and no secret.
    """
    option = written.get("group_selection_strategy")
    if option is not None and _word_of(option).upper() == PUBLIC and not public:
        raise option.refuse(
            "The groups of this question are private.",
            f'write {SELECTED}; or declare them when the table is opened: groups={{"ward": ["A", "B"]}}',
        )


def _refuse_unknown(option: WrittenOption) -> DiscreetError:
    meant = closest(option.name, KNOWN)
    fix = f"did you mean {meant}?" if meant else f"use one of: {', '.join(KNOWN)}"
    if option.name == "min_privacy_units_per_group":
        fix = "leave it out, and write HAVING COUNT(DISTINCT person) >= 10, with the column of persons"
    return option.refuse(f"Unknown option {option.name}.", fix)


def _merge_price(option: WrittenOption, options: Mapping[str, Any]) -> Fraction:
    """Return the price in the text; a keyword has to say the same."""
    price = _need_positive(option)
    for name in ("rho", "within"):
        if options.get(name) is not None:
            raise option.refuse(f"The question has two prices: this one, and {name}.", "leave one of them out")
    typed = options.get("epsilon")
    if typed is not None and exact(typed, "epsilon") != price:
        raise option.refuse("The question has two prices: this one, and another epsilon.", "leave one of them out")
    return price


def _find_limit(
    written: Written, typed: AnyLimit | None, declared: AnyLimit | None, unit: PrivacyUnit
) -> AnyLimit | None:
    """Return the contribution bound that a text states; None if it states none, or what holds anyway."""
    groups, rows = written.get("max_groups_contributed"), written.get("max_rows_contributed")
    if groups is not None and rows is not None:
        raise rows.refuse("The question bounds both groups and rows in all.", "leave one of the options out")
    option = groups or rows
    if option is None or (most := _need_whole(option)) is None:
        return None
    if unit.column is None:
        return None  # Every unit has one row, in one group.
    limit = TotalLimit(most) if rows is not None else _limit_groups(option, most, typed or declared)
    if typed is not None and limit != typed:
        raise option.refuse("The question has two contribution bounds: this one, and limit.", "leave one of them out")
    return limit


def _limit_groups(option: WrittenOption, most: int, known: AnyLimit | None) -> AnyLimit:
    """Return a bound with so many groups, and the rows in each of them that are known from elsewhere."""
    match known:
        case Limit(rows_per_group=rows):
            return Limit(groups=most, rows_per_group=rows)
        case TotalLimit(rows=rows) if rows <= most:
            return known
        case _:
            raise option.refuse(
                "The number of groups alone does not bound rows, and no number of rows in a group is declared.",
                f"write max_rows_contributed = {most} for {most} rows of a person in all; or pass "
                f"limit=Limit(groups={most}, rows_per_group=5)",
            )


def _need_positive(option: WrittenOption) -> Fraction:
    number = _need_number(option)
    try:
        return positive(number, option.name)
    except DiscreetError as error:
        raise option.refuse(error.problem, error.fix) from None


def _need_number(option: WrittenOption) -> Fraction:
    text = "".join(option.words)
    if not NUMBER.fullmatch(text) or not any(sign.isdigit() for sign in text.lower().partition("e")[0]):
        raise option.refuse(f"{option.name} is not a number.", f"write a number, such as {option.name} = 0.5")
    return Fraction(Decimal(text))


def _need_whole(option: WrittenOption) -> int | None:
    """Return a whole number above 0, or None for NULL, which bounds nothing."""
    text = "".join(option.words)
    if text.upper() == "NULL":
        return None
    if not WHOLE.fullmatch(text) or int(text) < 1:
        raise option.refuse(
            f"{option.name} is not a whole number above 0.", f"write a whole number, such as {option.name} = 2"
        )
    return int(text)


def _word_of(option: WrittenOption) -> str:
    """Return a name, without that of its table."""
    return option.words[-1]
