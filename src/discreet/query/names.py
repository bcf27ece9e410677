"""The names that questions are made of: functions, and how columns of the answer are called."""

from collections.abc import Iterable

from discreet.algebra.expressions import Call, ColumnValue, Expression, Literal
from discreet.algebra.functions import F

#: Functions of a row that take their values between commas and mean one function of ours.
PLAIN: dict[str, F] = {
    "ABS": F.ABS,
    "FLOOR": F.FLOOR,
    "CEIL": F.CEIL,
    "CEILING": F.CEIL,
    "SQRT": F.SQRT,
    "LN": F.LN,
    "LOG10": F.LOG10,
    "EXP": F.EXP,
    "POWER": F.POWER,
    "POW": F.POWER,
    "MOD": F.MODULO,
    "LEAST": F.LEAST,
    "GREATEST": F.GREATEST,
    "COALESCE": F.COALESCE,
    "NULLIF": F.NULLIF,
    "LOWER": F.LOWER,
    "UPPER": F.UPPER,
    "TRIM": F.TRIM,
    "LTRIM": F.LTRIM,
    "RTRIM": F.RTRIM,
    "LENGTH": F.LENGTH,
    "CHAR_LENGTH": F.LENGTH,
    "CHARACTER_LENGTH": F.LENGTH,
    "YEAR": F.YEAR,
    "QUARTER": F.QUARTER,
    "MONTH": F.MONTH,
    "WEEK": F.WEEK,
    "DAY": F.DAY,
    "ISODOW": F.WEEKDAY,
    "DOW": F.DOW,
    "DAYOFYEAR": F.DOY,
    "DOY": F.DOY,
    "LAST_DAY": F.LAST_DAY,
    "HOUR": F.HOUR,
    "MINUTE": F.MINUTE,
    "SECOND": F.SECOND,
}
#: Parts of a date that EXTRACT and DATE_PART know.
PARTS: dict[str, F] = {
    name: PLAIN[name]
    for name in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "ISODOW", "DOW", "DOY", "HOUR", "MINUTE", "SECOND")
}
TRUNCATIONS: dict[str, F] = {
    "YEAR": F.TRUNC_YEAR,
    "QUARTER": F.TRUNC_QUARTER,
    "MONTH": F.TRUNC_MONTH,
    "WEEK": F.TRUNC_WEEK,
    "DAY": F.TRUNC_DAY,
    "HOUR": F.TRUNC_HOUR,
    "MINUTE": F.TRUNC_MINUTE,
    "SECOND": F.TRUNC_SECOND,
}
#: Functions of a row with rules of their own.
SPECIAL = (
    *("CLAMP", "ROUND", "SUBSTRING", "SUBSTR", "DATE_TRUNC", "DATE_PART", "DATE_DIFF", "DATEDIFF"),
    *("DATE_ADD", "DATEADD", "DATE_SUB", "EPOCH", "DAYNAME", "MONTHNAME", "MAKE_DATE"),
    *("CONCAT", "LEFT", "STARTS_WITH", "IFNULL", "NVL", "IF", "IIF", "DATE"),
    *("WIDTH_BUCKET", "LOG", "LOG2", "SIGN", "RIGHT", "REPLACE", "STRPOS", "INSTR", "CONCAT_WS"),
    *("STRFTIME", "FORMAT_DATE", "TO_CHAR", "DATE_FORMAT", "STRPTIME", "TO_DATE"),
    *("REGEXP_MATCHES", "REGEXP_LIKE", "REGEXP_CONTAINS", "REGEXP_FULL_MATCH"),
    *("LPAD", "RPAD", "SPLIT_PART", "LOCATE", "CHARINDEX", "CONTAINS", "ENDS_WITH", "SUFFIX", "REPEAT", "TRANSLATE"),
    *("TRUNC", "PI", "RADIANS", "DEGREES", "SAFE_DIVIDE", "TRY_DIVIDE", "ISNULL", "NVL2", "DECODE", "CHOOSE"),
)
#: Functions of all rows of a group.
AGGREGATES = (
    *("COUNT", "SUM", "AVG", "VARIANCE", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_SAMP", "STDDEV_POP", "MIN", "MAX"),
    *("MEDIAN", "QUANTILE", "QUANTILE_CONT", "APPROX_QUANTILE", "PERCENTILE_CONT", "HISTOGRAM", "COUNT_IF"),
    *("CORR", "COVAR_POP", "COVAR_SAMP", "REGR_SLOPE", "REGR_INTERCEPT", "REGR_R2"),
    *("REGR_COUNT", "REGR_AVGX", "REGR_AVGY"),
    *("QUANTILE_DISC", "APPROX_PERCENTILE", "PERCENTILE_DISC", "ANY_VALUE", "GROUPING"),
)
#: Functions that other databases call by another name, with the same meaning.
SYNONYMS: dict[str, str] = {
    "VAR": "VAR_SAMP",
    "VARP": "VAR_POP",
    "STDEV": "STDDEV_SAMP",
    "STDEVP": "STDDEV_POP",
    "MEAN": "AVG",
    "AVERAGE": "AVG",
    "COUNTIF": "COUNT_IF",
    "LEN": "LENGTH",
    "UCASE": "UPPER",
    "LCASE": "LOWER",
    "DAYOFMONTH": "DAY",
    "WEEKOFYEAR": "WEEK",
    "DATETRUNC": "DATE_TRUNC",
    "DATEPART": "DATE_PART",
    "SAFE_CAST": "TRY_CAST",
    "TODATE": "DATE",
    "STRLEN": "LENGTH",
}
#: Functions of the rows of an answer that need OVER: the place of a row, and the value of another row.
RANKINGS = ("RANK", "DENSE_RANK", "ROW_NUMBER", "NTILE", "PERCENT_RANK", "CUME_DIST")
NEIGHBOURS = ("LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE")
#: sqlglot's grammar knows these by itself.
GRAMMAR = ("CAST", "TRY_CAST", "EXTRACT", "POSITION")
ALL_FUNCTIONS = frozenset((*PLAIN, *SPECIAL, *AGGREGATES, *RANKINGS, *NEIGHBOURS, *GRAMMAR))

#: Words for functions in the names of columns.
WORDS: dict[F, str] = {
    **{
        function: function.value.lower()
        for function in (*PLAIN.values(), F.ROUND, F.SUBSTRING, F.RIGHT, F.POSITION, F.REPLACE, F.SPLIT_PART)
        if function is not F.MODULO
    },
    **{function: name.lower() for name, function in TRUNCATIONS.items()},
}


def name_of(expression: Expression) -> str:
    """Return the name of a column of the answer without AS.

    A column keeps its name, clamped or not, and a function of one column is called by both, such as month_day.
    Anything else is called "value".
    """
    match expression:
        case ColumnValue(name=name) | Call(function=F.CLAMP, arguments=(ColumnValue(name=name), *_)):
            return name
        case Call(function=function, arguments=(ColumnValue(name=name), *rest)) if _all_constant(rest):
            return f"{WORDS[function]}_{name}" if function in WORDS else "value"
        case _:
            return "value"


def _all_constant(expressions: Iterable[Expression]) -> bool:
    return all(isinstance(expression, Literal) for expression in expressions)


def make_unique_name(name: str, taken: Iterable[str]) -> str:
    """Return a name that no other column has, but for capitals: n, n_2, n_3 and so on."""
    folded = {other.casefold() for other in taken}
    number, candidate = 1, name
    while candidate.casefold() in folded:
        number += 1
        candidate = f"{name}_{number}"
    return candidate
