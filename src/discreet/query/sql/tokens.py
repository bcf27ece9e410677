"""The second look: every word of a question must be known, and nothing may stand between words.

sqlglot skips over much: hints, comments, modifiers of other dialects. So the words are looked at before it does.
"""

from collections.abc import Collection
from itertools import pairwise

from sqlglot import Token, TokenType

from discreet.query.names import ALL_FUNCTIONS
from discreet.query.sql.advice import ADVICE, FUNCTION_ADVICE, STATEMENTS
from discreet.query.sql.lexing import BLANKS, Page

T = TokenType
#: Parentheses and CASE inside each other, and signs or NOTs in a row. sqlglot needs some twenty frames for each.
MOST_NESTED = 24
WORDS = {T.VAR, T.IDENTIFIER, T.STRING, T.NUMBER}
SIGNS = {T.L_PAREN, T.R_PAREN, T.COMMA, T.DOT, T.STAR, T.PLUS, T.DASH, T.SLASH, T.DIV, T.MOD, T.DPIPE, T.DCOLON}
COMPARISONS = {T.EQ, T.NEQ, T.LT, T.LTE, T.GT, T.GTE}
CLAUSES = {T.SELECT, T.FROM, T.WHERE, T.GROUP_BY, T.HAVING, T.ORDER_BY, T.LIMIT, T.ALIAS, T.DISTINCT, T.FILTER}
LOGIC = {T.AND, T.OR, T.NOT, T.IN, T.BETWEEN, T.LIKE, T.ILIKE, T.IS, T.NULL, T.TRUE, T.FALSE}
BRANCHES = {T.CASE, T.WHEN, T.THEN, T.ELSE, T.END, T.ASC, T.DESC}
KINDS = {T.DATE, T.TIMESTAMP, T.INTERVAL, T.INT, T.BIGINT, T.DOUBLE, T.FLOAT, T.VARCHAR, T.TEXT}
KNOWN = WORDS | SIGNS | COMPARISONS | CLAUSES | LOGIC | BRANCHES | KINDS | {T.FIRST, T.SEMICOLON, T.DECIMAL}
#: Words of questions that are not one expression.
RELATIONS = {T.JOIN, T.LEFT, T.RIGHT, T.CROSS, T.INNER, T.OUTER, T.ON, T.USING, T.WITH, T.UNION, T.SELECT, T.EXISTS}
#: Words that ALL may follow.
BEFORE_ALL = (T.UNION, T.GROUP_BY)
#: Signs that have a second spelling with a meaning of its own elsewhere.
SPELLING = {T.DIV: "//", T.MOD: "%", T.NOT: "NOT", T.LIKE: "LIKE", T.ILIKE: "ILIKE"}
#: Words that are a function's name when a parenthesis follows, whatever else they are.
NAMES = {T.VAR, T.IDENTIFIER, *KINDS, T.LEFT, T.RIGHT, T.REPLACE, T.FORMAT, T.FIRST, T.LIST, T.CHAR, T.RANGE, T.TIME}
ENDS = {T.FROM, T.WHERE, T.GROUP_BY, T.HAVING, T.ORDER_BY, T.LIMIT, T.R_PAREN, T.COMMA, T.SEMICOLON}


def check_gaps(page: Page, tokens: list[Token]) -> None:
    """Refuse whatever stands between words and is not blank: spaces that are none, comments that are left.

    Of a whole question, plain comments are gone by now (`lexing`). In pieces of one they are refused: pieces are
    put together, and a comment would reach into the next.
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
        "write a plain space, or remove it",
    )


def check_touching(page: Page, tokens: list[Token]) -> None:
    """Refuse words that touch: 0x1F would be the number 0 called x1F, and x'41' a column and a text."""
    for before, after in pairwise(tokens):
        last, first = page.text[before.end], page.text[after.start]
        if before.end + 1 == after.start and _wordy(last) and _wordy(first):
            raise page.refuse(before.start, "Two words are not separated.", "put a space between them")


def _wordy(sign: str) -> bool:
    return sign.isalnum() or sign in "_'\"$"


def check_statement(page: Page, tokens: list[Token]) -> None:
    """Refuse anything but one SELECT."""
    for token in tokens[:-1]:
        if token.token_type is T.SEMICOLON:
            raise page.refuse(token.start, "The question has several statements.", "ask them one after the other")
    first = tokens[0]
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
        if after is T.L_PAREN and token.token_type in NAMES and not _is_within_group(tokens, index):
            _check_function(page, token)
        elif whole and token.token_type is T.ALL and index > 0 and tokens[index - 1].token_type in BEFORE_ALL:
            continue
        elif token.token_type not in known or token.text.upper() != SPELLING.get(token.token_type, token.text.upper()):
            raise _refuse_unknown(page, token, columns)
        elif token.token_type is T.VAR and not token.text.isidentifier():
            raise _refuse_name(page, token)
        elif token.token_type is T.COMMA and (after is None or after in ENDS):
            raise page.refuse(token.start, "Nothing follows this comma.", "remove it, or write what is missing")
        elif token.token_type is T.FIRST and index > 0 and tokens[index - 1].text.upper() == "NULLS":
            raise page.refuse(token.start, "NULL is always sorted last.", "leave out NULLS FIRST")


def _refuse_name(page: Page, token: Token) -> Exception:
    if token.text.startswith("$"):
        problem, fix = ADVICE[T.PLACEHOLDER]
        return page.refuse(token.start, problem, fix)
    return page.refuse(
        token.start, f"{_quote_token(token)} is not a name.", "put names with unusual characters in quotes"
    )


def _is_within_group(tokens: list[Token], index: int) -> bool:
    return index > 0 and (tokens[index - 1].text.upper(), tokens[index].text.upper()) == ("WITHIN", "GROUP")


def _check_function(page: Page, token: Token) -> None:
    name = token.text.upper()
    if token.token_type is T.IDENTIFIER:
        raise page.refuse(token.start, "A function name cannot be quoted.", "write the function without quotes")
    if name in ALL_FUNCTIONS:
        return
    from discreet.core.schema import closest  # noqa: PLC0415 - only for errors

    meant = closest(name, ALL_FUNCTIONS)
    guess = f"did you mean {meant}?" if meant else "see the list of functions; what is not on it cannot be asked"
    raise page.refuse(token.start, f"{name} is not a supported function.", FUNCTION_ADVICE.get(name, guess))


def _refuse_unknown(page: Page, token: Token, columns: Collection[str]) -> Exception:
    if token.text.casefold() in {name.casefold() for name in columns}:
        return page.refuse(
            token.start, f"{token.text.upper()} is a reserved word.", f'put the column in quotes: "{token.text}"'
        )
    fallback = (f"{_quote_token(token)} is not supported here.", "leave it out")
    problem, fix = ADVICE.get(token.token_type, fallback)
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
