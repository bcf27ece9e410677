"""The allow-list: every function that may be applied to a row, what it takes, and exactly what it means.

The meaning is the contract of all engines; `tests/plain_engine.py` is its plain version.

* NULL in, NULL out, but for AND, OR (three-valued), IS_NULL, COALESCE, NULLIF(a, NULL) (which is a), and LEAST and
  GREATEST (which skip NULLs).
* REAL is a float64 that is finite: whatever comes out infinite or not a number is NULL.
* INTEGER arithmetic (ADD, SUBTRACT, MULTIPLY, NEGATE, ABS, FLOOR, CEIL, ROUND, FLOOR_DIVIDE, MODULO, TO_INTEGER) turns
  its arguments into float64, computes there, and clips the result to ±2⁵³, so that nothing overflows. FLOOR_DIVIDE is
  floor(a/b). MODULO has the sign of a (C's fmod). Divisions by zero are NULL. ROUND takes halves away from zero.
* Comparisons: INTEGER with INTEGER exactly; INTEGER with REAL as float64; TEXT by its UTF-8 bytes; a DATE beside a
  TIMESTAMP is that day's midnight.
* CLAMP(x, low, high) needs constants low ≤ high. SUBSTRING(text, start, length) needs constants start ≥ 1, length ≥ 0,
  and counts code points, as LENGTH does. TRIM takes off spaces (U+0020) at both ends, LTRIM and RTRIM at one. LOWER and
  UPPER are the engine's. RIGHT(text, length) needs a constant length ≥ 0.
* POSITION(text, part) is where a constant part begins first, counted from 1; 0 if it is nowhere. REPLACE(text, old,
  new) puts a constant in place of another, from left to right. Neither `part` nor `old` is empty, and `new` is at most
  `MOST_GROWTH` times as long as `old`. SPLIT_PART(text, part, number) is what stands before the first `part`, between
  two of them, or after the last, counted from 1; an empty text where there are fewer. `part` is constant and not
  empty, and `number` a constant of at least 1.
* LOG10 of a power of ten is whole. SECOND is the whole second of the minute.
* Weeks are ISO weeks; WEEKDAY is 1 for Monday to 7 for Sunday, DOW is 0 for Sunday to 6 for Saturday, and DOY counts
  the days of the year from 1. TRUNC_WEEK is the Monday. TRUNC_* give DATEs, but for hours, minutes and seconds, which
  give TIMESTAMPs. LAST_DAY is the last day of the month.
* DAYS_BETWEEN(a, b) is the number of midnights from a to b. ADD_DAYS(day, constant) and ADD_MONTHS(day, constant) are
  DATEs of DATEs and TIMESTAMPs, at the same hour, of TIMESTAMPs. ADD_SECONDS(day, constant) is a TIMESTAMP of either:
  a DATE is its midnight. They are NULL outside of years 1 to 9999. Months end
  early: what would be the 31st of a month of 30 days is the 30th, and nothing remembers the 31st.
* TO_INTEGER rounds reals like ROUND; reads a text that is an optional sign and 1 to 15 digits, spaces around it
  allowed; TRUE is 1. TO_REAL reads a text like 12, -1.5, .5 or 1e3 (exponent of at most three digits), spaces around it
  allowed. TO_DATE reads YYYY-MM-DD and takes the day of a TIMESTAMP. TO_TEXT writes INTEGER, BOOLEAN (true, false),
  DATE (YYYY-MM-DD), TEXT.
* No text has more than `LONGEST_TEXT` letters (code points). One that is longer in a table is NULL when it is read.
  What CONCAT, LOWER, UPPER and REPLACE make is cut there: its first letters stay.
* How long a function takes in one row is bounded by `WORK`, whatever stands in the row.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from discreet.core import WrongType
from discreet.core.canonical_text import Choices
from discreet.core.schema import Kind


class Function(Enum):
    """All functions of one row."""

    __canonical__ = Choices(
        "Function",
        {
            "+": "ADD: '+'",
            "-": "SUBTRACT: '-'",
            "*": "MULTIPLY: '*'",
            "/": "DIVIDE: '/'",
            "//": "FLOOR_DIVIDE: '//'",
            "%": "MODULO: '%'",
            "negate": "NEGATE: 'negate'",
            "ABS": "ABS: 'ABS'",
            "FLOOR": "FLOOR: 'FLOOR'",
            "CEIL": "CEIL: 'CEIL'",
            "ROUND": "ROUND: 'ROUND'",
            "SQRT": "SQRT: 'SQRT'",
            "LN": "LN: 'LN'",
            "LOG10": "LOG10: 'LOG10'",
            "EXP": "EXP: 'EXP'",
            "POWER": "POWER: 'POWER'",
            "CLAMP": "CLAMP: 'CLAMP'",
            "LEAST": "LEAST: 'LEAST'",
            "GREATEST": "GREATEST: 'GREATEST'",
            "COALESCE": "COALESCE: 'COALESCE'",
            "NULLIF": "NULLIF: 'NULLIF'",
            "=": "EQ: '='",
            "<>": "NE: '<>'",
            "<": "LT: '<'",
            "<=": "LE: '<='",
            ">": "GT: '>'",
            ">=": "GE: '>='",
            "AND": "AND: 'AND'",
            "OR": "OR: 'OR'",
            "NOT": "NOT: 'NOT'",
            "IS NULL": "IS_NULL: 'IS NULL'",
            "LOWER": "LOWER: 'LOWER'",
            "UPPER": "UPPER: 'UPPER'",
            "TRIM": "TRIM: 'TRIM'",
            "LTRIM": "LTRIM: 'LTRIM'",
            "RTRIM": "RTRIM: 'RTRIM'",
            "LENGTH": "LENGTH: 'LENGTH'",
            "SUBSTRING": "SUBSTRING: 'SUBSTRING'",
            "RIGHT": "RIGHT: 'RIGHT'",
            "POSITION": "POSITION: 'POSITION'",
            "REPLACE": "REPLACE: 'REPLACE'",
            "SPLIT_PART": "SPLIT_PART: 'SPLIT_PART'",
            "||": "CONCAT: '||'",
            "YEAR": "YEAR: 'YEAR'",
            "QUARTER": "QUARTER: 'QUARTER'",
            "MONTH": "MONTH: 'MONTH'",
            "WEEK": "WEEK: 'WEEK'",
            "DAY": "DAY: 'DAY'",
            "WEEKDAY": "WEEKDAY: 'WEEKDAY'",
            "DOW": "DOW: 'DOW'",
            "DOY": "DOY: 'DOY'",
            "HOUR": "HOUR: 'HOUR'",
            "MINUTE": "MINUTE: 'MINUTE'",
            "SECOND": "SECOND: 'SECOND'",
            "DATE_TRUNC year": "TRUNC_YEAR: 'DATE_TRUNC year'",
            "DATE_TRUNC quarter": "TRUNC_QUARTER: 'DATE_TRUNC quarter'",
            "DATE_TRUNC month": "TRUNC_MONTH: 'DATE_TRUNC month'",
            "DATE_TRUNC week": "TRUNC_WEEK: 'DATE_TRUNC week'",
            "DATE_TRUNC day": "TRUNC_DAY: 'DATE_TRUNC day'",
            "DATE_TRUNC hour": "TRUNC_HOUR: 'DATE_TRUNC hour'",
            "DATE_TRUNC minute": "TRUNC_MINUTE: 'DATE_TRUNC minute'",
            "DATE_TRUNC second": "TRUNC_SECOND: 'DATE_TRUNC second'",
            "LAST_DAY": "LAST_DAY: 'LAST_DAY'",
            "DAYS_BETWEEN": "DAYS_BETWEEN: 'DAYS_BETWEEN'",
            "ADD_DAYS": "ADD_DAYS: 'ADD_DAYS'",
            "ADD_MONTHS": "ADD_MONTHS: 'ADD_MONTHS'",
            "ADD_SECONDS": "ADD_SECONDS: 'ADD_SECONDS'",
            "CAST AS INTEGER": "TO_INTEGER: 'CAST AS INTEGER'",
            "CAST AS REAL": "TO_REAL: 'CAST AS REAL'",
            "CAST AS TEXT": "TO_TEXT: 'CAST AS TEXT'",
            "CAST AS DATE": "TO_DATE: 'CAST AS DATE'",
        },
    )

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    FLOOR_DIVIDE = "//"
    MODULO = "%"
    NEGATE = "negate"
    ABS = "ABS"
    FLOOR = "FLOOR"
    CEIL = "CEIL"
    ROUND = "ROUND"
    SQRT = "SQRT"
    LN = "LN"
    LOG10 = "LOG10"
    EXP = "EXP"
    POWER = "POWER"
    CLAMP = "CLAMP"
    LEAST = "LEAST"
    GREATEST = "GREATEST"
    COALESCE = "COALESCE"
    NULLIF = "NULLIF"
    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    AND = "AND"
    OR = "OR"
    NOT = "NOT"
    IS_NULL = "IS NULL"
    LOWER = "LOWER"
    UPPER = "UPPER"
    TRIM = "TRIM"
    LTRIM = "LTRIM"
    RTRIM = "RTRIM"
    LENGTH = "LENGTH"
    SUBSTRING = "SUBSTRING"
    RIGHT = "RIGHT"
    POSITION = "POSITION"
    REPLACE = "REPLACE"
    SPLIT_PART = "SPLIT_PART"
    CONCAT = "||"
    YEAR = "YEAR"
    QUARTER = "QUARTER"
    MONTH = "MONTH"
    WEEK = "WEEK"
    DAY = "DAY"
    WEEKDAY = "WEEKDAY"
    DOW = "DOW"
    DOY = "DOY"
    HOUR = "HOUR"
    MINUTE = "MINUTE"
    SECOND = "SECOND"
    TRUNC_YEAR = "DATE_TRUNC year"
    TRUNC_QUARTER = "DATE_TRUNC quarter"
    TRUNC_MONTH = "DATE_TRUNC month"
    TRUNC_WEEK = "DATE_TRUNC week"
    TRUNC_DAY = "DATE_TRUNC day"
    TRUNC_HOUR = "DATE_TRUNC hour"
    TRUNC_MINUTE = "DATE_TRUNC minute"
    TRUNC_SECOND = "DATE_TRUNC second"
    LAST_DAY = "LAST_DAY"
    DAYS_BETWEEN = "DAYS_BETWEEN"
    ADD_DAYS = "ADD_DAYS"
    ADD_MONTHS = "ADD_MONTHS"
    ADD_SECONDS = "ADD_SECONDS"
    TO_INTEGER = "CAST AS INTEGER"
    TO_REAL = "CAST AS REAL"
    TO_TEXT = "CAST AS TEXT"
    TO_DATE = "CAST AS DATE"


F = Function  # short, for tables of rules
NUMBERS, TEXTS, DAYS = {Kind.INTEGER, Kind.REAL}, {Kind.TEXT}, {Kind.DATE, Kind.TIMESTAMP}
COMPARISONS = (F.EQ, F.NE, F.LT, F.LE, F.GT, F.GE)
#: Functions whose kinds are said by one line: how many arguments, of which kinds, and what comes out.
SIMPLE: dict[Function, tuple[int, set[Kind], Kind]] = {
    F.DIVIDE: (2, NUMBERS, Kind.REAL),
    F.FLOOR_DIVIDE: (2, NUMBERS, Kind.INTEGER),
    F.FLOOR: (1, NUMBERS, Kind.INTEGER),
    F.CEIL: (1, NUMBERS, Kind.INTEGER),
    F.ROUND: (1, NUMBERS, Kind.INTEGER),
    F.SQRT: (1, NUMBERS, Kind.REAL),
    F.LN: (1, NUMBERS, Kind.REAL),
    F.LOG10: (1, NUMBERS, Kind.REAL),
    F.EXP: (1, NUMBERS, Kind.REAL),
    F.POWER: (2, NUMBERS, Kind.REAL),
    F.NOT: (1, {Kind.BOOLEAN}, Kind.BOOLEAN),
    F.IS_NULL: (1, set(Kind), Kind.BOOLEAN),
    F.LOWER: (1, TEXTS, Kind.TEXT),
    F.UPPER: (1, TEXTS, Kind.TEXT),
    F.TRIM: (1, TEXTS, Kind.TEXT),
    F.LTRIM: (1, TEXTS, Kind.TEXT),
    F.RTRIM: (1, TEXTS, Kind.TEXT),
    F.POSITION: (2, TEXTS, Kind.INTEGER),
    F.REPLACE: (3, TEXTS, Kind.TEXT),
    F.LENGTH: (1, TEXTS, Kind.INTEGER),
    F.YEAR: (1, DAYS, Kind.INTEGER),
    F.QUARTER: (1, DAYS, Kind.INTEGER),
    F.MONTH: (1, DAYS, Kind.INTEGER),
    F.WEEK: (1, DAYS, Kind.INTEGER),
    F.DAY: (1, DAYS, Kind.INTEGER),
    F.WEEKDAY: (1, DAYS, Kind.INTEGER),
    F.DOW: (1, DAYS, Kind.INTEGER),
    F.DOY: (1, DAYS, Kind.INTEGER),
    F.HOUR: (1, {Kind.TIMESTAMP}, Kind.INTEGER),
    F.MINUTE: (1, {Kind.TIMESTAMP}, Kind.INTEGER),
    F.SECOND: (1, {Kind.TIMESTAMP}, Kind.INTEGER),
    F.TRUNC_YEAR: (1, DAYS, Kind.DATE),
    F.TRUNC_QUARTER: (1, DAYS, Kind.DATE),
    F.TRUNC_MONTH: (1, DAYS, Kind.DATE),
    F.TRUNC_WEEK: (1, DAYS, Kind.DATE),
    F.TRUNC_DAY: (1, DAYS, Kind.DATE),
    F.TRUNC_HOUR: (1, {Kind.TIMESTAMP}, Kind.TIMESTAMP),
    F.TRUNC_MINUTE: (1, {Kind.TIMESTAMP}, Kind.TIMESTAMP),
    F.TRUNC_SECOND: (1, {Kind.TIMESTAMP}, Kind.TIMESTAMP),
    F.LAST_DAY: (1, DAYS, Kind.DATE),
    F.DAYS_BETWEEN: (2, DAYS, Kind.INTEGER),
    F.TO_INTEGER: (1, NUMBERS | TEXTS | {Kind.BOOLEAN}, Kind.INTEGER),
    F.TO_REAL: (1, NUMBERS | TEXTS, Kind.REAL),
    F.TO_TEXT: (1, {Kind.INTEGER, Kind.BOOLEAN, Kind.DATE, Kind.TEXT}, Kind.TEXT),
    F.TO_DATE: (1, DAYS | TEXTS, Kind.DATE),
}
#: Functions of numbers that give integers for integers, and reals for anything else, with the number of arguments.
KEEPING: dict[Function, int] = {F.ADD: 2, F.SUBTRACT: 2, F.MULTIPLY: 2, F.MODULO: 2, F.NEGATE: 1, F.ABS: 1, F.CLAMP: 3}
#: Functions whose arguments and result are of one kind, whichever.
ALIKE = (F.LEAST, F.GREATEST, F.COALESCE, F.NULLIF)

#: A text has at most so many letters, where it is read and wherever one is made.
LONGEST_TEXT = 10_000
#: What REPLACE puts in is at most so many times as long as what it takes out.
MOST_GROWTH = 10


@dataclass(frozen=True, slots=True)
class Work:
    """How long a function takes in one row, at most: some steps, and some for each letter of its texts.

    A step is about a nanosecond of one processor. The slowest engine counts. `tests/unit/test_work.py` measures it.
    """

    steps: int
    per_letter: int = 0


#: The work of each function; that of LIKE, IN and CASE is counted in `discreet.algebra.work_bounds`.
WORK: dict[Function, Work] = {
    **dict.fromkeys((F.ADD, F.SUBTRACT, F.MULTIPLY, F.DIVIDE, F.FLOOR_DIVIDE, F.POWER), Work(10_000)),
    F.MODULO: Work(200_000),  # PostgreSQL's is one of exact numbers with up to 632 digits
    **dict.fromkeys((F.NEGATE, F.ABS, F.FLOOR, F.CEIL, F.ROUND, F.SQRT, F.LN, F.LOG10, F.EXP), Work(5_000)),
    F.CLAMP: Work(5_000),
    **dict.fromkeys((*ALIKE, *COMPARISONS), Work(2_000, per_letter=4)),
    **dict.fromkeys((F.AND, F.OR, F.NOT, F.IS_NULL), Work(1_000, per_letter=1)),
    **dict.fromkeys((F.LOWER, F.UPPER), Work(2_000, per_letter=60)),
    **dict.fromkeys((F.TRIM, F.LTRIM, F.RTRIM, F.LENGTH, F.SUBSTRING, F.RIGHT, F.CONCAT), Work(2_000, per_letter=20)),
    **dict.fromkeys((F.POSITION, F.REPLACE), Work(2_000, per_letter=40)),
    F.SPLIT_PART: Work(2_000, per_letter=300),
    **dict.fromkeys((F.YEAR, F.QUARTER, F.MONTH, F.WEEK, F.DAY, F.WEEKDAY, F.DOW, F.DOY), Work(5_000)),
    **dict.fromkeys((F.HOUR, F.MINUTE, F.SECOND), Work(5_000)),
    **dict.fromkeys((F.TRUNC_YEAR, F.TRUNC_QUARTER, F.TRUNC_MONTH, F.TRUNC_WEEK, F.TRUNC_DAY), Work(5_000)),
    **dict.fromkeys((F.TRUNC_HOUR, F.TRUNC_MINUTE, F.TRUNC_SECOND, F.LAST_DAY), Work(5_000)),
    **dict.fromkeys((F.DAYS_BETWEEN, F.ADD_DAYS, F.ADD_MONTHS, F.ADD_SECONDS), Work(5_000)),
    **dict.fromkeys((F.TO_INTEGER, F.TO_REAL, F.TO_DATE), Work(10_000, per_letter=100)),
    F.TO_TEXT: Work(5_000, per_letter=1),
}


def kind_of_call(function: Function, kinds: Sequence[Kind | None]) -> Kind:
    """Return the kind of a function's result for arguments of these kinds (None: the constant NULL, which fits all)."""
    known = [kind for kind in kinds if kind is not None]
    if function in SIMPLE:
        count, allowed, result = SIMPLE[function]
        _need(function, kinds, count, allowed)
        return result
    if function in KEEPING:
        _need(function, kinds, KEEPING[function], NUMBERS)
        return Kind.INTEGER if set(known) <= {Kind.INTEGER} else Kind.REAL
    if function in ALIKE:
        _need(function, kinds, 2 if function is F.NULLIF else None, set(Kind))
        return _need_common_kind(function, known)
    if function in COMPARISONS:
        _need(function, kinds, 2, set(Kind))
        _need_common_kind(function, known)
        return Kind.BOOLEAN
    if function in (F.AND, F.OR):
        _need(function, kinds, None, {Kind.BOOLEAN})
        return Kind.BOOLEAN
    return _kind_of_odd(function, kinds)


def _kind_of_odd(function: Function, kinds: Sequence[Kind | None]) -> Kind:
    """Return the kind of those that take arguments of different kinds."""
    match function:
        case F.SUBSTRING:
            _need(function, kinds[:1], 1, TEXTS)
            _need(function, kinds[1:], 2, {Kind.INTEGER})
            return Kind.TEXT
        case F.RIGHT:
            _need(function, kinds[:1], 1, TEXTS)
            _need(function, kinds[1:], 1, {Kind.INTEGER})
            return Kind.TEXT
        case F.SPLIT_PART:
            _need(function, kinds[:2], 2, TEXTS)
            _need(function, kinds[2:], 1, {Kind.INTEGER})
            return Kind.TEXT
        case F.CONCAT:
            _need(function, kinds, None, TEXTS)
            return Kind.TEXT
        case _:
            _need(function, kinds[:1], 1, DAYS)
            _need(function, kinds[1:], 1, {Kind.INTEGER})
            return Kind.TIMESTAMP if function is F.ADD_SECONDS else kinds[0] or Kind.DATE


def _need(function: Function, kinds: Sequence[Kind | None], count: int | None, allowed: set[Kind]) -> None:
    if count is not None and len(kinds) != count:
        raise WrongType(f"{function.value} takes {count} values, not {len(kinds)}.", fix="see the list of functions")
    if not kinds:
        raise WrongType(f"{function.value} takes at least one value.", fix="see the list of functions")
    for kind in kinds:
        if kind is not None and kind not in allowed:
            names = " or ".join(sorted(choice.value for choice in allowed))
            raise WrongType(
                f"{function.value} does not take {kind.value} values.",
                fix=f"give it {names}, for instance with CAST(… AS …){_suggest(kind)}",
            )


def _need_common_kind(function: Function, kinds: list[Kind]) -> Kind:
    """Return the one kind of several values."""
    unique = set(kinds)
    if unique <= NUMBERS:
        return Kind.REAL if Kind.REAL in unique else Kind.INTEGER
    if unique <= DAYS:
        return Kind.TIMESTAMP if Kind.TIMESTAMP in unique else Kind.DATE
    if len(unique) > 1:
        raise WrongType(
            f"{function.value} cannot put {' and '.join(sorted(kind.value for kind in unique))} side by side.",
            fix=f"make them alike, for instance with CAST(… AS …){_suggest(Kind.TEXT) if Kind.TEXT in unique else ''}",
        )
    return unique.pop()


def _suggest(kind: Kind) -> str:
    """Return the fix for an undeclared column of a CSV file: it is a text until its kind is declared."""
    return '; or declare the column\'s kind when the table is opened: kinds={"…": "real"}' if kind is Kind.TEXT else ""
