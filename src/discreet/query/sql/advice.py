"""Advice for refused SQL: the supported way to write it."""

from sqlglot import TokenType as T

JOINS = "write JOIN … ON a.x = b.x, or LEFT JOIN"
INNER_ONES = "write a subquery after FROM or JOIN, or person IN (SELECT person FROM …) after WHERE"
QUOTES_ROWS = "ask for COUNT, SUM, AVG, MEDIAN or another aggregate: this one would show values of rows"
NO_CLOCK = "write the day itself, such as DATE '2024-01-31': a question must have the same meaning tomorrow"
NO_FILES = "open the file with discreet.open, and name its table after FROM"
NO_CHANGE = "begin with SELECT: a question only reads"
NO_WINDOW = "not yet: use GROUP BY, and ORDER BY on the answer"
PIECES = "use LIKE, SUBSTRING, LOWER, UPPER, TRIM, LENGTH or ||"
PARTS = "use YEAR, QUARTER, MONTH, WEEK, DAY, ISODOW, HOUR, MINUTE or DATE_TRUNC('month', day)"

_changing = """
INSERT UPDATE DELETE MERGE CREATE DROP ALTER TRUNCATE COPY ATTACH DETACH PRAGMA SET RESET USE LOAD INSTALL EXPORT
IMPORT CALL EXECUTE PREPARE DEALLOCATE VACUUM ANALYZE CHECKPOINT BEGIN COMMIT ROLLBACK GRANT REVOKE COMMENT REPLACE
RENAME KILL LOCK CACHE UNCACHE REFRESH DECLARE FORCE
"""
#: First words of statements: what is wrong with them, and what to do.
STATEMENTS: dict[str, tuple[str, str]] = {
    **{word: (f"{word} is not a question.", NO_CHANGE) for word in _changing.split()},
    "FROM": ("The question begins with FROM.", "begin with SELECT, followed by FROM"),
    "EXPLAIN": ("EXPLAIN is not a question.", "call session.explain with the question"),
    "DESCRIBE": ("DESCRIBE is not a question.", "see session.schema"),
    "SHOW": ("SHOW is not a question.", "see session.schema"),
    "SUMMARIZE": ("SUMMARIZE is not a question.", "ask for COUNT, AVG, MIN, MAX and MEDIAN of a column"),
    "VALUES": ("VALUES is not a question.", "write SELECT … FROM …"),
    "TABLE": ("TABLE is not a question.", "write SELECT … FROM …"),
    "(": ("The question is in parentheses.", "remove them"),
}

_odd_joins = (T.FULL, T.NATURAL, T.SEMI, T.ANTI, T.ASOF)
_joins = (T.JOIN, T.LEFT, T.RIGHT, T.CROSS, T.INNER, T.OUTER, T.USING, T.ON)
_sets = (T.UNION, T.INTERSECT, T.EXCEPT)
_inner = (T.WITH, T.EXISTS, T.LATERAL, T.UNNEST, T.VALUES, T.RECURSIVE, T.ANY, T.SOME, T.APPLY)
_windows = (T.OVER, T.QUALIFY, T.WINDOW, T.PARTITION_BY, T.ROWS, T.RANGE)
_clocks = (T.CURRENT_DATE, T.CURRENT_TIME, T.CURRENT_TIMESTAMP, T.LOCALTIME, T.LOCALTIMESTAMP)
_places = (T.PLACEHOLDER, T.PARAMETER, T.COLON, T.DOLLAR, T.SESSION_PARAMETER)
_grouped = (T.CUBE, T.ROLLUP, T.GROUPING_SETS)
_nested = (T.L_BRACKET, T.R_BRACKET, T.L_BRACE, T.R_BRACE, T.ARRAY, T.STRUCT, T.MAP, T.LIST, T.JSON, T.ARROW, T.DARROW)
_matches = (T.RLIKE, T.IRLIKE, T.TILDE, T.SIMILAR_TO, T.GLOB)
_kinds = (T.TINYINT, T.SMALLINT, T.INT128, T.UINT, T.BOOLEAN, T.CHAR, T.DATETIME, T.TIMESTAMPTZ, T.TIME)
#: Words inside a statement: what is wrong with them ({word} is the word), and what to do.
ADVICE: dict[T, tuple[str, str]] = {
    **dict.fromkeys(_odd_joins, ("{word} is not a supported join.", JOINS)),
    **dict.fromkeys(_joins, ("{word} joins tables.", "put it after FROM")),
    **dict.fromkeys(_sets, ("{word} of two questions is not supported.", "ask them one after the other")),
    **dict.fromkeys(_inner, ("{word} is not supported.", INNER_ONES)),
    **dict.fromkeys(_windows, ("{word} is a window function, which is not supported.", NO_WINDOW)),
    **dict.fromkeys(_clocks, ("{word} depends on the time of the question.", NO_CLOCK)),
    **dict.fromkeys(_places, ("The question has a parameter without a value.", "write the value itself")),
    **dict.fromkeys(_grouped, ("{word} combines several groupings.", "not yet: ask for each GROUP BY by itself")),
    **dict.fromkeys(_nested, ("Lists and structures are not supported.", "use columns of numbers, texts and dates")),
    **dict.fromkeys(_matches, ("{word} is not supported.", "use LIKE, ILIKE or IN ('A', 'B')")),
    **dict.fromkeys(_kinds, ("{word} is not a supported type.", "use INTEGER, DOUBLE, VARCHAR or DATE")),
    T.TABLE_SAMPLE: (
        "Sampling rows is not supported.",
        "leave TABLESAMPLE out: all rows are used, up to the contribution bound",
    ),
    T.FETCH: ("FETCH is not supported.", "write LIMIT 10"),
    T.OFFSET: ("OFFSET is not supported.", "leave it out, and skip rows of the answer afterwards"),
    T.PERCENT: ("A percentage of rows is not supported.", "write LIMIT 10"),
    T.PIVOT: ("PIVOT is not supported.", "use GROUP BY, and pivot the answer afterwards"),
    T.UNPIVOT: ("UNPIVOT is not supported.", "ask for each column by itself"),
    T.ALL: ("ALL is not supported.", "leave it out, or name the columns; ALL works after UNION and GROUP BY"),
    T.ESCAPE: (
        "ESCAPE is not supported.",
        "leave it out: % is any text and _ any character, and nothing escapes them",
    ),
    T.COLLATE: ("COLLATE is not supported.", "use LOWER or ILIKE where capitals do not matter"),
    T.XOR: ("XOR is not supported.", "write a <> b"),
    T.ISNULL: ("ISNULL is not supported.", "write IS NULL"),
    T.NOTNULL: ("NOTNULL is not supported.", "write IS NOT NULL"),
    T.DIV: ("DIV is not supported.", "write // for division without a rest"),
    T.NOT: ("! is not supported.", "write NOT"),
    T.DQMARK: ("?? is not supported.", "write COALESCE(a, b)"),
    T.NULLSAFE_EQ: ("<=> is not supported.", "write a = b OR (a IS NULL AND b IS NULL)"),
    T.CARET: ("^ is not supported.", "write POWER(a, b)"),
    T.INTO: ("INTO would write a table.", "leave it out: the answer is a value of the session"),
    T.FOR: ("FOR is not supported.", "leave it out, and write commas: SUBSTRING(ward, 1, 2)"),
}

_quoting = (
    "ARRAY_AGG LIST STRING_AGG GROUP_CONCAT LISTAGG FIRST LAST ANY_VALUE ARBITRARY MODE ARG_MAX ARG_MIN MAX_BY MIN_BY"
)
_clock_calls = "NOW TODAY GETDATE CURRENT_DATE CURRENT_TIMESTAMP GET_CURRENT_TIMESTAMP AGE"
_readers = (
    "READ_CSV READ_CSV_AUTO READ_PARQUET PARQUET_SCAN READ_JSON READ_TEXT READ_BLOB GLOB SQLITE_SCAN POSTGRES_SCAN"
)
_window_calls = "ROW_NUMBER RANK DENSE_RANK PERCENT_RANK NTILE LAG LEAD FIRST_VALUE LAST_VALUE NTH_VALUE CUME_DIST"
_chance = "RANDOM RAND SETSEED UUID GEN_RANDOM_UUID HASH MD5 SHA256"
_patterns = (
    "REGEXP_MATCHES REGEXP_REPLACE REGEXP_EXTRACT REPLACE SPLIT STRING_SPLIT RIGHT CONCAT_WS LPAD RPAD LTRIM RTRIM"
)
_dates = "STRFTIME STRPTIME DAYOFWEEK DAYOFYEAR DATEPART TO_CHAR MAKE_DATE EPOCH"
#: Functions that are asked for, and what is meant.
FUNCTION_ADVICE: dict[str, str] = {
    **dict.fromkeys(_quoting.split(), QUOTES_ROWS),
    **dict.fromkeys(_clock_calls.split(), NO_CLOCK),
    **dict.fromkeys(_readers.split(), NO_FILES),
    **dict.fromkeys(_window_calls.split(), NO_WINDOW),
    **dict.fromkeys(_chance.split(), "leave it out: noise is added automatically"),
    **dict.fromkeys(_patterns.split(), PIECES),
    **dict.fromkeys(_dates.split(), PARTS),
    **dict.fromkeys(("WEEKDAY", "DOW"), "use ISODOW, which is 1 for Monday to 7 for Sunday"),
    "ISNULL": "write COALESCE(a, b), or a IS NULL",
    **dict.fromkeys(("LOG", "LOG10", "LOG2"), "use LN, such as LN(x) / LN(10)"),
    **dict.fromkeys(("LEN",), "use LENGTH"),
    **dict.fromkeys(("DATE_ADD", "DATE_SUB", "DATEADD"), "write day + INTERVAL 7 DAY"),
    **dict.fromkeys(("TO_DATE",), "write CAST(x AS DATE), or DATE '2024-01-31' for one day"),
    **dict.fromkeys(("VARCHAR", "TEXT", "INT", "INTEGER", "DOUBLE", "FLOAT"), "write the kind without a size"),
    **dict.fromkeys(("APPROX_COUNT_DISTINCT", "COUNT_DISTINCT"), "write COUNT(DISTINCT x)"),
    **dict.fromkeys(("MEAN", "AVERAGE"), "use AVG"),
    **dict.fromkeys(("COUNTIF",), "write COUNT(*) FILTER (WHERE …)"),
    **dict.fromkeys(("TRUNC", "TRUNCATE"), "use FLOOR; of dates, DATE_TRUNC('month', day)"),
    **dict.fromkeys(("DAYNAME", "MONTHNAME"), "use ISODOW, which is 1 for Monday to 7 for Sunday, or MONTH"),
    **dict.fromkeys(("BOOL_OR", "BOOL_AND", "EVERY"), "count with COUNT(*) FILTER (WHERE …)"),
    "ENDS_WITH": "write x LIKE '%a'",
    "LAST_DAY": "use DATE_TRUNC('month', day), which is the first day",
    "WIDTH_BUCKET": "group by FLOOR(x / 10), or ask for HISTOGRAM(x, 0, 10, 20)",
    "PERCENTILE_DISC": "use PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x), or QUANTILE(x, 0.9)",
    "TRY": "leave it out: expressions do not fail on rows",
    "SIGN": "write CASE WHEN x > 0 THEN 1 WHEN x < 0 THEN -1 ELSE 0 END",
    "CORR": "not yet: ask for AVG(x), AVG(y), AVG(x * y) and the deviations",
}
