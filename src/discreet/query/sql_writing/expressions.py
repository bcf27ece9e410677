"""Expressions and names as SQL: the one text that each has. Reading it gives the same expression again."""

import re
from collections.abc import Mapping
from datetime import date, datetime

from discreet.algebra import names as quoting
from discreet.algebra.expressions import Call, Case, ColumnValue, Expression, InSet, Like, Literal
from discreet.algebra.functions import F
from discreet.core.schema import Value
from discreet.query.names import PLAIN, TRUNCATIONS

# Words that a name must not be unless it stands in quotes. Fixed, so that a question has one text for ever.
#
# They are the words of sqlglot 30; a test reads each of them as a name.

WORDS = """
ALL ALTER ANALYZE AND ANTI ANY APPLY ARRAY AS ASC ASOF AUTOINCREMENT AUTO_INCREMENT BEGIN BETWEEN BIGDECIMAL BIGINT
BIGNUM BIGNUMERIC BINARY BIT BLOB BOOL BOOLEAN BPCHAR BYTE BYTEA CACHE CALL CASE CHAR CHARACTER CLOB CLUSTER COLLATE
COLUMN COMMENT COMMIT CONNECT CONSTRAINT COPY CREATE CROSS CUBE CURRENT_CATALOG CURRENT_DATE CURRENT_SCHEMA
CURRENT_TIME CURRENT_TIMESTAMP CURRENT_USER DATABASE DATE DATEMULTIRANGE DATERANGE DATETIME DEC DECFLOAT DECIMAL
DECIMAL128 DECIMAL256 DECIMAL32 DECIMAL64 DEFAULT DELETE DESC DESCRIBE DISTINCT DISTRIBUTE DIV DOUBLE DROP ELSE END
ENUM ESCAPE EXCEPT EXECUTE EXISTS EXPLAIN FALSE FETCH FILE FILTER FIRST FIXED FLOAT FLOAT4 FLOAT8 FOR FOREIGN FORMAT
FROM FULL FUNCTION GEOGRAPHY GEOMETRY GLOB GRANT GROUPING HAVING HUGEINT ILIKE IN INDEX INET INNER INSERT INT INT1
INT128 INT16 INT2 INT256 INT32 INT4 INT4MULTIRANGE INT4RANGE INT64 INT8 INT8MULTIRANGE INT8RANGE INTEGER INTERSECT
INTERVAL INTO IS ISNULL JOIN JSON JSONB KEEP KEY KILL LATERAL LEFT LIKE LIMIT LIST LOAD LOCALTIME LOCALTIMESTAMP
LOCK LONG LONGBLOB LONGTEXT LONGVARCHAR MAP MEDIUMBLOB MEDIUMINT MEDIUMTEXT MERGE NAMESPACE NATURAL NCHAR NEXT NOT
NOTNULL NULL NULLABLE NUMBER NUMERIC NUMMULTIRANGE NUMRANGE NVARCHAR NVARCHAR2 OBJECT OFFSET ON OPERATOR OPTIMIZE OR
ORDINALITY OUT OUTER OVER OVERLAPS OVERWRITE PARTITION PARTITIONED PARTITIONED_BY PERCENT PIVOT PRAGMA PRECISION
PREPARE PRIMARY PROCEDURE QUALIFY RANGE REAL RECURSIVE REF REFERENCES REGEXP RENAME REPLACE RETURNING REVOKE RIGHT
RLIKE ROLLBACK ROLLUP ROW ROWS SCHEMA SECURITY SELECT SEMI SEQUENCE SESSION SESSION_USER SET SETS SETTINGS SHORT
SHOW SIMILAR SMALLINT SOME SORT SQL STR STRAIGHT_JOIN STRING STRUCT TABLE TABLESAMPLE TEMP TEMPORARY TEXT THEN TIME
TIMESTAMP TIMESTAMPLTZ TIMESTAMPNTZ TIMESTAMPTZ TIMESTAMP_LTZ TIMESTAMP_NTZ TIMETZ TIME_NS TINYBLOB TINYINT TINYTEXT
TRIGGER TRUE TRUNCATE TSMULTIRANGE TSRANGE TSTZMULTIRANGE TSTZRANGE UHUGEINT UINT UINT128 UINT256 UNCACHE UNION
UNIQUE UNKNOWN UNNEST UNPIVOT UPDATE USE USING UUID VACUUM VALUES VARBINARY VARCHAR VARCHAR2 VARIANT VARYING VECTOR
VIEW VOLATILE WHEN WHERE WINDOW WITH WITHIN XOR
"""
RESERVED = frozenset(WORDS.split())


PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
#: How tightly signs bind, from OR to what needs no parentheses at all.
OR, AND, NOT, COMPARE, JOIN, ADD, MULTIPLY, SIGN, WHOLE = range(9)
SIGNS: dict[F, int] = {
    F.OR: OR,
    F.AND: AND,
    **dict.fromkeys((F.EQ, F.NE, F.LT, F.LE, F.GT, F.GE), COMPARE),
    F.CONCAT: JOIN,
    F.ADD: ADD,
    F.SUBTRACT: ADD,
    **dict.fromkeys((F.MULTIPLY, F.DIVIDE, F.FLOOR_DIVIDE, F.MODULO), MULTIPLY),
}
FUNCTION_NAMES: dict[F, str] = {
    **{function: name for name, function in reversed(list(PLAIN.items()))},
    F.ROUND: "ROUND",
    F.CLAMP: "CLAMP",
    F.SUBSTRING: "SUBSTRING",
    F.RIGHT: "RIGHT",
    F.POSITION: "STRPOS",
    F.REPLACE: "REPLACE",
    F.SPLIT_PART: "SPLIT_PART",
}
CASTS = {F.TO_INTEGER: "INTEGER", F.TO_REAL: "DOUBLE", F.TO_TEXT: "VARCHAR", F.TO_DATE: "DATE"}
ADDED = {F.ADD_DAYS: "DAY", F.ADD_MONTHS: "MONTH", F.ADD_SECONDS: "SECOND"}
UNITS = {function: unit.lower() for unit, function in TRUNCATIONS.items()}

Written = tuple[str, int]
#: What is put before columns' names: the same before all, or by name.
Qualifier = str | Mapping[str, str]


def quote_name(name: str) -> str:
    """Return a name as SQL: in quotes where it would be read as something else."""
    if PLAIN_NAME.fullmatch(name) and name.upper() not in RESERVED:
        return name
    return quoting.quote_name(name)


def write_constant(value: Value) -> str:
    """Return a constant as SQL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return quoting.literal(value)
        case datetime():
            return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
        case date():
            return f"DATE '{value.isoformat()}'"
        case _:
            return repr(value)


def expression_sql(expression: Expression, qualifier: Qualifier = "") -> str:
    """Return an expression as SQL; `qualifier` is put before the columns' names."""
    return write_expression(expression, qualifier)[0]


def function_sql(function: F, arguments: list[Written]) -> Written:
    """Return a function of what is written already, and how tightly it binds."""
    texts = [text for text, _ in arguments]
    if function in SIGNS:
        return _write_infix(function, arguments), SIGNS[function]
    if function in CASTS:
        return f"CAST({texts[0]} AS {CASTS[function]})", WHOLE
    if function in UNITS:
        return f"DATE_TRUNC('{UNITS[function]}', {texts[0]})", WHOLE
    if function in FUNCTION_NAMES:
        return f"{FUNCTION_NAMES[function]}({', '.join(texts)})", WHOLE
    return _write_odd(function, arguments)


def _write_odd(function: F, arguments: list[Written]) -> Written:
    texts = [text for text, _ in arguments]
    match function:
        case F.NEGATE:
            return f"-({texts[0]})", SIGN
        case F.NOT:
            return f"NOT {add_parentheses(arguments[0], NOT)}", NOT
        case F.IS_NULL:
            return f"{add_parentheses(arguments[0], JOIN)} IS NULL", COMPARE
        case F.DAYS_BETWEEN:
            return f"DATE_DIFF('day', {texts[0]}, {texts[1]})", WHOLE
        case _:  # ADD_DAYS, ADD_MONTHS, ADD_SECONDS
            sign, amount = ("-", texts[1][1:]) if texts[1].startswith("-") else ("+", texts[1])
            unit = ADDED[function]
            return f"{add_parentheses(arguments[0], ADD)} {sign} INTERVAL {amount} {unit}", ADD


def _write_infix(function: F, arguments: list[Written]) -> str:
    binds = SIGNS[function]
    # Comparisons do not associate, and a − (b − c) is not a − b − c; rows of ANDs are one node.
    least = binds if binds in (ADD, MULTIPLY) else binds + 1
    first, *others = arguments
    return f" {function.value} ".join(
        [add_parentheses(first, least), *(add_parentheses(argument, binds + 1) for argument in others)]
    )


def add_parentheses(piece: Written, least: int) -> str:
    """Return what is written, in parentheses if it would fall apart beside a sign that binds so tightly."""
    text, binds = piece
    return text if binds >= least else f"({text})"


def write_expression(expression: Expression, qualifier: Qualifier = "") -> Written:
    """Return an expression as SQL, and how tightly it binds."""
    match expression:
        case Literal(value=value):
            return write_constant(value), (SIGN if write_constant(value).startswith("-") else WHOLE)
        case ColumnValue(name=name):
            before = qualifier if isinstance(qualifier, str) else qualifier.get(name, "")
            return (f"{quote_name(before)}." if before else "") + quote_name(name), WHOLE
        case Call(function=F.NOT, arguments=(InSet() | Like() | Call(function=F.IS_NULL) as inner,)):
            return _write_negation(inner, qualifier), COMPARE
        case Call(function=function, arguments=arguments):
            return function_sql(function, [write_expression(argument, qualifier) for argument in arguments])
        case Case():
            return _write_case(expression, qualifier), WHOLE
        case InSet() | Like():
            return _write_test(expression, qualifier, ""), COMPARE


def _write_negation(expression: Expression, qualifier: Qualifier) -> str:
    if isinstance(expression, Call):
        return f"{add_parentheses(write_expression(expression.arguments[0], qualifier), JOIN)} IS NOT NULL"
    return _write_test(expression, qualifier, "NOT ")


def _write_test(expression: Expression, qualifier: Qualifier, negation: str) -> str:
    match expression:
        case InSet(value=value, members=members):
            shown = ", ".join(write_constant(member.value) for member in members)
            return f"{add_parentheses(write_expression(value, qualifier), JOIN)} {negation}IN ({shown})"
        case Like(value=value, pattern=pattern, folded=folded):
            word = "ILIKE" if folded else "LIKE"
            text = add_parentheses(write_expression(value, qualifier), JOIN)
            return f"{text} {negation}{word} {write_constant(pattern)}"
        case _:
            return write_expression(expression, qualifier)[0]


def _write_case(expression: Case, qualifier: Qualifier) -> str:
    branches = "".join(
        f" WHEN {expression_sql(condition, qualifier)} THEN {expression_sql(value, qualifier)}"
        for condition, value in expression.branches
    )
    otherwise = "" if expression.otherwise is None else f" ELSE {expression_sql(expression.otherwise, qualifier)}"
    return f"CASE{branches}{otherwise} END"
