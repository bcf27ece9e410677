"""The first two looks at SQL: its text, and its words, each of which must be known; and advice for what is refused.

sqlglot skips over much: hints, comments, modifiers of other dialects. So the words are looked at before it does.
"""

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise, takewhile

from sqlglot import Token, TokenType

from discreet.query.names import ALL_FUNCTIONS
from discreet.query.questions import QueryRefused
from discreet.query.remedies import Edit, Fix, Never, leave_out, replace_name

# The first look at a question: its text, before anybody has tried to understand it.

#: Longer texts come from programs, and are not questions of people.
MOST_CHARACTERS = 20_000
#: Characters that move the cursor, or show nothing: what is read would not be what is seen.
HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
BLANKS = " \t\n\r"
#: Texts and names in quotes, in which nothing is a comment; and comments.
PIECE = re.compile(r"""'[^']*'|"[^"]*"|`[^`]*`|\[[^]]*\]|--[^\r\n]*|/\*(?!!)(?:(?!/\*|\*/).)*\*/""", re.DOTALL)
SIGN = re.compile(r"[^\r\n]")


@dataclass(frozen=True, slots=True)
class Page:
    """The text that a question, or a part of one, was read from."""

    text: str

    def refuse(self, at: int, problem: str, fix: str) -> QueryRefused:
        """Return the refusal of what stands at a place, counted from 0."""
        lines = re.split(r"\r\n|\r|\n", self.text[: max(at, 0)])
        return QueryRefused(problem, fix=fix, line=len(lines), column=len(lines[-1]) + 1)


def check_size(page: Page) -> None:
    """Refuse what is too long to be a question, or empty."""
    if len(page.text) > MOST_CHARACTERS:
        raise page.refuse(
            0,
            f"The question has {len(page.text)} characters; at most {MOST_CHARACTERS} are read.",
            "ask several shorter questions",
        )
    if not page.text.strip(BLANKS):
        raise page.refuse(0, "The question is empty.", "write SELECT … FROM …, such as SELECT COUNT(*) FROM visits")


def check_characters(page: Page) -> None:
    """Refuse characters that hide something from a reader, inside of quotes too."""
    if page.text.isascii() and page.text.isprintable():
        return
    for at, sign in enumerate(page.text):
        if unicodedata.category(sign) in HIDDEN and sign not in BLANKS:
            raise page.refuse(
                at,
                f"The question contains an invisible character, U+{ord(sign):04X}.",
                leave_out("remove it", at, at),
            )


TEXT_CHECKS = (check_size, check_characters)


def without_comments(page: Page) -> Page:
    """Return a page with blanks in place of its comments, so that none of them can mean anything.

    Every other character keeps its line and column. Comments that some databases read differently stay in place and
    are refused by the checks between words: `/*! … */`, which others execute, nested comments, and open ones.
    """
    pieces: list[str] = []
    at = 0
    while at < len(page.text):
        piece = PIECE.match(page.text, at)
        if piece is None:
            if page.text.startswith(("'", '"', "`", "[", "/*"), at):
                # Opened and not closed, or not to be passed over: whoever reads the rest refuses it.
                return Page("".join(pieces) + page.text[at:])
            pieces.append(page.text[at])
            at += 1
            continue
        is_comment = piece[0].startswith(("--", "/*"))
        pieces.append(SIGN.sub(" ", piece[0]) if is_comment else piece[0])
        at = piece.end()
    return Page("".join(pieces))


T = TokenType

# Advice for refused SQL: the supported way to write it.


JOINS = "write JOIN … ON a.x = b.x, or LEFT JOIN"
INNER_ONES = "write a subquery after FROM or JOIN, or person IN (SELECT person FROM …) after WHERE"
QUOTES_ROWS = Fix(
    "ask for COUNT, SUM, AVG, MEDIAN or another aggregate: this one would show values of rows", Never.ROWS
)
NO_CLOCK = Fix(
    "write the day itself, such as DATE '2024-01-31': a question must have the same meaning tomorrow", Never.CLOCK
)
NO_FILES = Fix("open the file with discreet.open, and name its table after FROM", Never.FILES)
NO_CHANGE = Fix("begin with SELECT: a question only reads", Never.CHANGE)
NO_CHANCE = Fix("leave it out: noise is added automatically", Never.CHANCE)
NO_WINDOW = "use RANK, DENSE_RANK, ROW_NUMBER, NTILE, LAG, LEAD, FIRST_VALUE, LAST_VALUE, or SUM(n) OVER (ORDER BY m)"
BITS = "use // and %: x // 4 % 2 is the third bit of x"
PIECES = "use LIKE, SUBSTRING, RIGHT, STRPOS, SPLIT_PART, REPLACE, LOWER, UPPER, TRIM, LENGTH or ||"

_changing = """
INSERT UPDATE DELETE MERGE CREATE DROP ALTER TRUNCATE COPY ATTACH DETACH PRAGMA SET RESET USE LOAD INSTALL EXPORT
IMPORT CALL EXECUTE PREPARE DEALLOCATE VACUUM ANALYZE CHECKPOINT BEGIN COMMIT ROLLBACK GRANT REVOKE COMMENT REPLACE
RENAME KILL LOCK CACHE UNCACHE REFRESH DECLARE FORCE
"""
#: First words of statements: what is wrong with them, and what to do.
STATEMENTS: dict[str, tuple[str, str]] = {
    **{word: (f"{word} is not a question.", NO_CHANGE) for word in _changing.split()},
    "FROM": ("The question begins with FROM.", "begin with SELECT, followed by FROM"),
    "EXPLAIN": ("EXPLAIN is not a question.", Fix("call session.explain with the question", Never.STATEMENT)),
    "DESCRIBE": ("DESCRIBE is not a question.", Fix("see session.schema", Never.STATEMENT)),
    "SHOW": ("SHOW is not a question.", Fix("see session.schema", Never.STATEMENT)),
    "SUMMARIZE": ("SUMMARIZE is not a question.", "ask for COUNT, AVG, MIN, MAX and MEDIAN of a column"),
    "VALUES": ("VALUES is not a question.", "write SELECT … FROM …"),
    "TABLE": ("TABLE is not a question.", "write SELECT … FROM …"),
    "(": ("The question is in parentheses.", "remove them"),
}

_odd_joins = (T.NATURAL, T.SEMI, T.ANTI, T.ASOF)
_joins = (T.JOIN, T.LEFT, T.RIGHT, T.FULL, T.CROSS, T.INNER, T.OUTER, T.USING, T.ON)
_sets = (T.UNION, T.INTERSECT, T.EXCEPT)
_inner = (T.WITH, T.EXISTS, T.LATERAL, T.UNNEST, T.VALUES, T.RECURSIVE, T.ANY, T.SOME, T.APPLY)
_windows = (T.OVER, T.QUALIFY, T.WINDOW, T.PARTITION_BY, T.ROWS, T.RANGE)
_clocks = (T.CURRENT_DATE, T.CURRENT_TIME, T.CURRENT_TIMESTAMP, T.LOCALTIME, T.LOCALTIMESTAMP)
_places = (T.PLACEHOLDER, T.PARAMETER, T.COLON, T.DOLLAR, T.SESSION_PARAMETER)
_grouped = (T.CUBE, T.ROLLUP, T.GROUPING_SETS)
_nested = (T.L_BRACKET, T.R_BRACKET, T.L_BRACE, T.R_BRACE, T.ARRAY, T.STRUCT, T.MAP, T.LIST, T.JSON, T.ARROW, T.DARROW)
_matches = (T.IRLIKE, T.GLOB)
_kinds = (T.INT128, T.UINT, T.CHAR, T.TIMESTAMPTZ)
#: Words inside a statement: what is wrong with them ({word} is the word), and what to do.
ADVICE: dict[T, tuple[str, str]] = {
    **dict.fromkeys(_odd_joins, ("{word} is not a supported join.", JOINS)),
    **dict.fromkeys(_joins, ("{word} joins tables.", "put it after FROM")),
    **dict.fromkeys(_sets, ("{word} of two questions is not supported.", "ask them one after the other")),
    **dict.fromkeys(_inner, ("{word} is not supported.", INNER_ONES)),
    **dict.fromkeys(_windows, ("{word} belongs to a window function.", NO_WINDOW)),
    **dict.fromkeys(_clocks, ("{word} depends on the time of the question.", NO_CLOCK)),
    **dict.fromkeys(_places, ("The question has a parameter without a value.", "write the value itself")),
    **dict.fromkeys(_grouped, ("{word} combines several groupings.", "not yet: ask for each GROUP BY by itself")),
    **dict.fromkeys(_nested, ("Lists and structures are not supported.", "use columns of numbers, texts and dates")),
    **dict.fromkeys(_matches, ("{word} is not supported.", "use LIKE, ILIKE or IN ('A', 'B')")),
    **dict.fromkeys(_kinds, ("{word} is not a supported type.", "use INTEGER, DOUBLE, VARCHAR or DATE")),
    **dict.fromkeys(
        (T.TILDE, T.SIMILAR_TO),
        (
            "{word} matches the whole text in some databases, and a part of it in others.",
            "write REGEXP_MATCHES(x, '^(a|b)$'), in which ^ and $ are the ends of the text",
        ),
    ),
    T.TIME: (
        "TIME is not a supported type.",
        "use HOUR(x), MINUTE(x) and SECOND(x); HOUR(x) * 3600 + MINUTE(x) * 60 + SECOND(x) are the seconds of the day",
    ),
    T.TABLE_SAMPLE: (
        "Sampling rows is not supported.",
        Fix("leave TABLESAMPLE out: all rows are used, up to the contribution bound", Never.CHANCE),
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
    T.DIV: ("DIV is not supported.", "write a // b for division without a rest"),
    **dict.fromkeys((T.AMP, T.PIPE), ("Arithmetic of bits is not supported.", BITS)),
    T.NOT: ("! is not supported.", "write NOT"),
    T.DQMARK: ("?? is not supported.", "write COALESCE(a, b)"),
    T.NULLSAFE_EQ: ("<=> is not supported.", "write IS NOT DISTINCT FROM"),
    T.CARET: ("^ is not supported.", "write POWER(a, b)"),
    T.INTO: ("INTO would write a table.", Fix("leave it out: the answer is a value of the session", Never.CHANGE)),
    T.FOR: ("FOR is not supported.", "leave it out, and write commas: SUBSTRING(ward, 1, 2)"),
}

#: Words that have another spelling here, in the same place.
REWRITTEN: dict[T, str] = {T.DIV: "//", T.NOT: "NOT ", T.NULLSAFE_EQ: "IS NOT DISTINCT FROM"}

_quoting = (
    "ARRAY_AGG LIST STRING_AGG GROUP_CONCAT LISTAGG FIRST LAST ANY_VALUE ARBITRARY MODE ARG_MAX ARG_MIN MAX_BY MIN_BY"
)
_clock_calls = "NOW TODAY GETDATE CURRENT_DATE CURRENT_TIMESTAMP GET_CURRENT_TIMESTAMP"
_readers = (
    "READ_CSV READ_CSV_AUTO READ_PARQUET PARQUET_SCAN READ_JSON READ_TEXT READ_BLOB GLOB SQLITE_SCAN POSTGRES_SCAN"
)
_window_calls = "NTH_VALUE"
_chance = "RANDOM RAND SETSEED UUID GEN_RANDOM_UUID HASH MD5 SHA256"
_patterns = "REGEXP_REPLACE REGEXP_EXTRACT REGEXP_SUBSTR SPLIT STRING_SPLIT"
#: Functions that are asked for, and what is meant.
FUNCTION_ADVICE: dict[str, str] = {
    **dict.fromkeys(_quoting.split(), QUOTES_ROWS),
    **dict.fromkeys(_clock_calls.split(), NO_CLOCK),
    **dict.fromkeys(_readers.split(), NO_FILES),
    **dict.fromkeys(_window_calls.split(), NO_WINDOW),
    **dict.fromkeys(_chance.split(), NO_CHANCE),
    **dict.fromkeys(_patterns.split(), PIECES),
    **dict.fromkeys(
        ("WEEKDAY", "DAYOFWEEK"),
        "databases count from different days: use ISODOW, which is 1 for Monday to 7 for Sunday, or DOW, which is 0 "
        "for Sunday to 6 for Saturday",
    ),
    **dict.fromkeys(
        ("TIMESTAMPDIFF", "TIMESTAMP_DIFF", "DATETIME_DIFF", "MONTHS_BETWEEN", "AGE"),
        "databases count differently: write DATE_DIFF('month', from, to), which counts the first days of months "
        "between them, or DATE_DIFF('day', from, to), or DATE_DIFF('day', from, to) // 365",
    ),
    "ADD_MONTHS": "write day + INTERVAL 1 MONTH",
    **dict.fromkeys(
        ("TO_TIMESTAMP", "PARSE_TIMESTAMP", "PARSE_DATE", "STR_TO_DATE"),
        "write TO_DATE(text, '%d.%m.%Y') for the day; moments are declared when the table is opened: "
        'kinds={"seen": "timestamp:%d.%m.%Y %H:%M"}',
    ),
    **dict.fromkeys(("VARCHAR", "TEXT", "INT", "INTEGER", "DOUBLE", "FLOAT"), "write the kind without a size"),
    "TRUNCATE": "write TRUNC(x, 2); of dates, DATE_TRUNC('month', day)",
    **dict.fromkeys(("BOOL_OR", "BOOL_AND", "EVERY"), "ask how many: COUNT(*) FILTER (WHERE x)"),
    "REVERSE": "use RIGHT(x, 2) for the last letters: databases take letters apart differently",
    "INITCAP": "write UPPER(LEFT(x, 1)) || LOWER(SUBSTRING(x, 2))",
    **dict.fromkeys(("ASCII", "CHR", "ORD", "UNICODE"), "compare texts: LEFT(x, 1) >= 'A' AND LEFT(x, 1) <= 'Z'"),
    **dict.fromkeys(("ISNAN", "IS_NAN", "ISINF", "ISFINITE"), "write x IS NULL: what is no finite number is NULL"),
    "CBRT": "write POWER(x, 1.0 / 3), of numbers that are not negative",
    "XOR": "write a <> b",
    **dict.fromkeys(("STRLEN", "OCTET_LENGTH"), "use LENGTH, which counts letters"),
    "TRY": "leave it out: expressions do not fail on rows",
}


#: Functions that are asked for, and the nearest one that is there, with the same arguments.
NEAREST = {"STRLEN": "LENGTH", "OCTET_LENGTH": "LENGTH", "DAYOFWEEK": "DOW", "BOOL_OR": "COUNT_IF"} | dict.fromkeys(
    ("TIMESTAMPDIFF", "TIMESTAMP_DIFF", "DATETIME_DIFF"), "DATE_DIFF"
)
#: Parentheses and CASE inside each other, and signs or NOTs in a row. sqlglot needs some twenty frames for each.
MOST_NESTED = 24
WORDS = {T.VAR, T.IDENTIFIER, T.STRING, T.NUMBER}
SIGNS = {T.L_PAREN, T.R_PAREN, T.COMMA, T.DOT, T.STAR, T.PLUS, T.DASH, T.SLASH, T.DIV, T.MOD, T.DPIPE, T.DCOLON}
COMPARISONS = {T.EQ, T.NEQ, T.LT, T.LTE, T.GT, T.GTE}
CLAUSES = {T.SELECT, T.FROM, T.WHERE, T.GROUP_BY, T.HAVING, T.ORDER_BY, T.LIMIT, T.ALIAS, T.DISTINCT, T.FILTER}
LOGIC = {T.AND, T.OR, T.NOT, T.IN, T.BETWEEN, T.LIKE, T.ILIKE, T.RLIKE, T.IS, T.NULL, T.TRUE, T.FALSE, T.ISNULL}
LOGIC |= {T.NOTNULL}
BRANCHES = {T.CASE, T.WHEN, T.THEN, T.ELSE, T.END, T.ASC, T.DESC}
KINDS = {T.DATE, T.TIMESTAMP, T.INTERVAL, T.INT, T.BIGINT, T.DOUBLE, T.FLOAT, T.VARCHAR, T.TEXT}
KINDS |= {T.TINYINT, T.SMALLINT, T.BOOLEAN, T.DATETIME}
KNOWN = WORDS | SIGNS | COMPARISONS | CLAUSES | LOGIC | BRANCHES | KINDS | {T.FIRST, T.SEMICOLON, T.DECIMAL}
#: Words of questions that are not one expression.
RELATIONS = {T.JOIN, T.LEFT, T.RIGHT, T.CROSS, T.INNER, T.OUTER, T.ON, T.USING, T.WITH, T.UNION, T.SELECT, T.EXISTS}
RELATIONS |= {T.INTERSECT, T.EXCEPT, T.NATURAL, T.FULL}
RELATIONS |= {T.OFFSET, T.TOP, T.OVER, T.QUALIFY, T.WINDOW, T.PARTITION_BY, T.ROWS, T.RANGE, T.ROW}
RELATIONS |= {T.ROLLUP, T.CUBE, T.GROUPING_SETS}
#: Words that ALL may follow.
BEFORE_ALL = (T.UNION, T.GROUP_BY)
#: Signs that have a second spelling with a meaning of its own elsewhere.
SPELLING = {T.DIV: "//", T.MOD: "%", T.NOT: "NOT", T.LIKE: "LIKE", T.ILIKE: "ILIKE"}
#: Words that are a function's name when a parenthesis follows, whatever else they are.
NAMES = {
    T.VAR,
    T.IDENTIFIER,
    *KINDS,
    T.LEFT,
    T.RIGHT,
    T.REPLACE,
    T.FORMAT,
    T.FIRST,
    T.LIST,
    T.CHAR,
    T.RANGE,
    T.TIME,
    T.ISNULL,
    T.XOR,
}
ENDS = {T.FROM, T.WHERE, T.GROUP_BY, T.HAVING, T.ORDER_BY, T.LIMIT, T.OFFSET, T.R_PAREN, T.COMMA, T.SEMICOLON}
ENDS |= {T.QUALIFY, T.WINDOW, T.PARTITION_BY, T.ROWS, T.RANGE}


def check_gaps(page: Page, tokens: list[Token]) -> None:
    """Refuse whatever stands between words and is not blank: spaces that are none, comments that are left.

    Of a whole question, plain comments are gone by now (`without_comments`). In pieces of one they are refused: pieces
    are put together, and a comment would reach into the next.
    """
    at = 0
    for token in [*tokens, None]:
        end = len(page.text) if token is None else token.start
        for place in range(at, end):
            if page.text[place] not in BLANKS:
                raise _gap(page, place)
        at = end if token is None else token.end + 1


def _gap(page: Page, place: int) -> Exception:
    if page.text[place : place + 2] in ("--", "/*", "{#"):
        return page.refuse(
            place,
            "The question contains an unsupported comment.",
            "remove it; in a whole question, -- to the end of a line and /* … */, not inside each other, are fine",
        )
    sign = page.text[place]
    return page.refuse(
        place,
        f"The question contains an unsupported character, U+{ord(sign):04X}.",
        Fix("write a plain space, or remove it", Edit(place, place + 1, " ")),
    )


def check_touching(page: Page, tokens: list[Token]) -> None:
    """Refuse words that touch: 0x1F would be the number 0 called x1F, and x'41' a column and a text."""
    for before, after in pairwise(tokens):
        last, first = page.text[before.end], page.text[after.start]
        if before.end + 1 == after.start and _wordy(last) and _wordy(first):
            raise page.refuse(before.start, "Two words are not separated.", "put a space between them")


def _wordy(sign: str) -> bool:
    return sign.isalnum() or sign in "_'\"$`[]"


def check_statement(page: Page, tokens: list[Token]) -> None:
    """Refuse anything but one SELECT."""
    for token in tokens[:-1]:
        if token.token_type is T.SEMICOLON:
            raise page.refuse(token.start, "The question has several statements.", "ask them one after the other")
    opened = takewhile(lambda token: token.token_type is T.L_PAREN, tokens[:-1])
    first = tokens[len(list(opened))]
    if first.token_type not in (T.SELECT, T.WITH):
        problem, fix = STATEMENTS.get(
            first.text.upper(), (f"A question does not begin with {_quote_token(first)}.", "begin with SELECT")
        )
        raise page.refuse(first.start, problem, fix)


def check_expression(page: Page, tokens: list[Token]) -> None:
    """Refuse a question, or several things, where an expression is wanted."""
    for token in tokens:
        if token.token_type in (T.SELECT, T.SEMICOLON):
            raise page.refuse(token.start, "This is not one expression.", "write a condition or a value: age >= 40")


def check_words(page: Page, tokens: list[Token], columns: Collection[str] = (), *, whole: bool = True) -> None:
    """Refuse words that are not known, and functions that are not on the list; in a `whole` question, tables too."""
    known = KNOWN | RELATIONS if whole else KNOWN
    for index, token in enumerate(tokens):
        after = tokens[index + 1].token_type if index + 1 < len(tokens) else None
        if after is T.L_PAREN and token.token_type in NAMES and not _is_no_function(tokens, index):
            _check_function(page, token)
        elif whole and token.token_type is T.ALL and index > 0 and tokens[index - 1].token_type in BEFORE_ALL:
            continue
        elif token.token_type not in known or token.text.upper() != SPELLING.get(token.token_type, token.text.upper()):
            raise _refuse_unknown(page, token, columns)
        elif token.token_type is T.VAR and not token.text.isidentifier():
            raise _refuse_name(page, token)
        elif token.token_type is T.COMMA and (after is None or after in ENDS):
            fix = leave_out("remove it, or write what is missing", token.start, token.end)
            raise page.refuse(token.start, "Nothing follows this comma.", fix)


def _refuse_name(page: Page, token: Token) -> Exception:
    if token.text.startswith("$"):
        problem, fix = ADVICE[T.PLACEHOLDER]
        return page.refuse(token.start, problem, fix)
    return page.refuse(
        token.start, f"{_quote_token(token)} is not a name.", "put names with unusual characters in quotes"
    )


def _is_no_function(tokens: list[Token], index: int) -> bool:
    """Whether a word before a parenthesis is something else: GROUP, a kind with its size, a name with its columns."""
    before = tokens[index - 1] if index else tokens[index]
    if before.text.upper() == "WITHIN" or before.token_type in (T.ALIAS, T.R_PAREN, T.WITH, T.DCOLON):
        return True
    return before.token_type is T.COMMA and _is_given_name(tokens, index)


def _is_given_name(tokens: list[Token], index: int) -> bool:
    """Whether WITH defines a name here, with its columns: q(a, b) AS (SELECT …)."""
    depth = 0
    for place in range(index + 1, len(tokens)):
        depth += (tokens[place].token_type is T.L_PAREN) - (tokens[place].token_type is T.R_PAREN)
        if depth == 0:
            return [token.token_type for token in tokens[place + 1 : place + 3]] == [T.ALIAS, T.L_PAREN]
    return False


def _check_function(page: Page, token: Token) -> None:
    name = token.text.upper() if token.text.isascii() else token.text
    if token.token_type is T.IDENTIFIER:
        unquoted = Fix("write the function without quotes", Edit(token.start, token.end + 1, token.text))
        raise page.refuse(token.start, "A function name cannot be quoted.", unquoted)
    if name in ALL_FUNCTIONS:
        return
    from discreet.core.schema import closest  # noqa: PLC0415 - only for errors

    # A function of another database is no misspelling: SPLIT_PART does not mean DATE_PART.
    meant = closest(name, [known for known in ALL_FUNCTIONS if known[0] == name[0]], cutoff=0.75)
    guess = f"did you mean {meant}?" if meant else "see the list of functions; what is not on it cannot be asked"
    fix = FUNCTION_ADVICE.get(name, guess)
    other = NEAREST.get(name) if name in FUNCTION_ADVICE else meant
    if other is not None:
        fix = replace_name(page.text, token.start, fix, other)
    raise page.refuse(token.start, f"{name} is not a supported function.", fix)


def _refuse_unknown(page: Page, token: Token, columns: Collection[str]) -> Exception:
    if token.text.casefold() in {name.casefold() for name in columns}:
        quoted = f'"{token.text}"'
        fix = replace_name(page.text, token.start, f"put the column in quotes: {quoted}", quoted)
        return page.refuse(token.start, f"{token.text!r} is a reserved word.", fix)
    fallback = (
        f"{_quote_token(token)} is not supported here.",
        leave_out("leave it out", token.start, token.end),
    )
    problem, fix = ADVICE.get(token.token_type, fallback)
    called = page.text[token.end + 1 :].lstrip().startswith("(")
    if token.token_type in REWRITTEN and not (called and token.token_type is T.DIV):
        fix = Fix(fix, Edit(token.start, token.end + 1, REWRITTEN[token.token_type]))
    return page.refuse(token.start, problem.replace("{word}", token.text.upper()), fix)


def _quote_token(token: Token) -> str:
    return repr(token.text if len(token.text) <= 30 else token.text[:30] + "…")


def check_nesting(page: Page, tokens: list[Token]) -> None:
    """Refuse what is nested so deeply that reading it could run out of stack."""
    depth = row = 0
    for token in tokens:
        opens = token.token_type in (T.L_PAREN, T.CASE)
        closes = token.token_type in (T.R_PAREN, T.END)
        row = row + 1 if token.token_type in (T.NOT, T.DASH, T.PLUS) else 0
        depth += opens - closes
        if max(depth + row, row) > MOST_NESTED:
            raise page.refuse(
                token.start,
                f"The question is nested more than {MOST_NESTED} deep here.",
                "remove unneeded parentheses, or split it into several questions",
            )
