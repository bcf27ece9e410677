"""Other spellings of the same words: SELECT TOP 3, FETCH FIRST 3 ROWS ONLY, COUNT(ALL x), VAR(x) and their like.

Databases spell a few things differently and mean the same. Words are respelled before any of them is looked at as a
word of the language, so that everything behind this module reads one spelling. No word is respelled into another
meaning: what databases understand differently is left as it is, and refused where it is not known.
"""

import re
from collections.abc import Callable, Sequence

from sqlglot import Token, TokenType

from discreet.query.names import AGGREGATES, SYNONYMS
from discreet.query.sql.parsing.privacy_options import check_no_options, find_closing
from discreet.query.sql.parsing.tokens import ENDS, KNOWN, RELATIONS, Page
from discreet.query.sql_writing.expressions import quote_name

T = TokenType
Words = list[Token]
#: What holds the number of rows: FETCH FIRST 3 ROWS ONLY.
ROW_WORDS = ("ROW", "ROWS")
#: Kinds whose size in a cast says how many letters are kept.
SIZED_KINDS = {T.VARCHAR, T.NVARCHAR, T.TEXT, T.CHAR, T.NCHAR, T.BPCHAR}
SIZE = [T.L_PAREN, T.NUMBER, T.R_PAREN]
#: Functions that count different values, exactly here, and with noise as everything.
DISTINCT_COUNTS = ("APPROX_COUNT_DISTINCT", "APPROX_DISTINCT", "COUNT_DISTINCT", "UNIQ", "UNIQEXACT", "NDV")


def respell(page: Page, tokens: Words) -> Words:
    """Return the words of a whole question in the one spelling that is read further on."""
    check_no_options(page, tokens)
    tokens = _read_row_bounds(page, tokens)
    for rewrite in REWRITES:
        tokens = rewrite(tokens)
    return check_brackets(page, tokens)


def respell_expression(page: Page, tokens: Words) -> Words:
    """Return the words of one expression in the one spelling that is read further on."""
    tokens = _read_row_bounds(page, tokens)
    for rewrite in EXPRESSION_REWRITES:
        tokens = rewrite(tokens)
    return check_brackets(page, tokens)


def quote_columns(text: str, names: Sequence[str]) -> str:
    """Return an expression with quotes around columns that are named as they are, and need quotes.

    Texts with quotes of their own are left as they are: what stands in them could be anything.
    """
    if not isinstance(text, str):
        return text
    odd = [name for name in names if quote_name(name) != name and "(" not in name]
    for name in odd:
        if text.strip().casefold() == name.casefold():
            return quote_name(name)
    if any(sign in text for sign in "'\"`["):
        return text
    for name in odd:
        pattern = rf"(\(\s*(?:DISTINCT\s+)?){re.escape(name)}(?=\s*[),])"
        text = re.sub(pattern, lambda found, name=name: found[1] + quote_name(name), text, flags=re.IGNORECASE)  # type: ignore[misc]
    return text


def check_brackets(page: Page, tokens: Words) -> Words:
    """Refuse a list in brackets: only a name may stand there, as in [Blood Group]."""
    for token in tokens:
        if token.token_type is T.IDENTIFIER and page.text[token.start] == "[" and not _is_plain_name(token.text):
            raise page.refuse(
                token.start, "Lists and structures are not supported.", "use columns of numbers, texts and dates"
            )
    return tokens


def _is_plain_name(text: str) -> bool:
    return text[:1].isidentifier() and all(sign.isalnum() or sign in "_ .$#-" for sign in text)


def _find_openers(tokens: Sequence[Token]) -> list[int]:
    """Return for each word the place of the innermost parenthesis that is open there, or −1."""
    opened: list[int] = []
    found: list[int] = []
    for index, token in enumerate(tokens):
        if token.token_type is T.R_PAREN and opened:
            opened.pop()
        found.append(opened[-1] if opened else -1)
        if token.token_type is T.L_PAREN:
            opened.append(index)
    return found


def _text_at(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].text.upper() if 0 <= index < len(tokens) else ""


def _type_at(tokens: Sequence[Token], index: int) -> TokenType | None:
    return tokens[index].token_type if 0 <= index < len(tokens) else None


def _retype(token: Token, kind: TokenType, text: str) -> Token:
    """Return a word that stands where another one did."""
    return Token(kind, text, token.line, token.col, token.start, token.end)


def _strip_parentheses(tokens: Words) -> Words:
    """Return a question without parentheses around all of it."""
    while _type_at(tokens, 0) is T.L_PAREN and _type_at(tokens, 1) in (T.SELECT, T.WITH, T.L_PAREN):
        end = len(tokens) - 1 if tokens[-1].token_type is T.SEMICOLON else len(tokens)
        inside = tokens[1 : end - 1]
        if tokens[end - 1].token_type is not T.R_PAREN or not _is_balanced(inside):
            return tokens
        tokens = [*inside, *tokens[end:]]
    return tokens


def _is_balanced(tokens: Words) -> bool:
    """Whether parentheses close those that were opened among these words, and no other."""
    depth = 0
    for token in tokens:
        depth += (token.token_type is T.L_PAREN) - (token.token_type is T.R_PAREN)
        if depth < 0:
            return False
    return depth == 0


def _drop_all(tokens: Words) -> Words:
    """Return words without an ALL that says what holds anyway: SELECT ALL, COUNT(ALL x), LIMIT ALL."""
    kept: Words = []
    for index, token in enumerate(tokens):
        before = _type_at(tokens, index - 1)
        called = before is T.L_PAREN and _text_at(tokens, index - 2) in (*AGGREGATES, *SYNONYMS)
        if token.token_type is T.ALL and (before is T.SELECT or called):
            continue
        if token.token_type is T.ALL and before is T.LIMIT:
            kept.pop()
            continue
        kept.append(token)
    return kept


def _read_top(tokens: Words) -> Words:
    """Return words in which the TOP of SELECT TOP 3 is no name."""
    words = list(tokens)
    for index, token in enumerate(tokens):
        before = _type_at(tokens, index - 1)
        first = before is T.SELECT or (before is T.DISTINCT and _type_at(tokens, index - 2) is T.SELECT)
        if not first or token.token_type is not T.VAR or token.text.upper() != "TOP":
            continue
        bare = _type_at(tokens, index + 1) is T.NUMBER
        held = [_type_at(tokens, index + step) for step in (1, 2, 3)] == SIZE
        if bare or (held and _type_at(tokens, index + 4) not in (T.COMMA, T.FROM, T.ALIAS, None)):
            words[index] = _retype(token, T.TOP, token.text)
    return words


def _drop_last_comma(tokens: Words) -> Words:
    """Return words without a comma after the last output: SELECT ward, COUNT(*), FROM visits."""
    openers = _find_openers(tokens)
    return [
        token
        for index, token in enumerate(tokens)
        if not (
            token.token_type is T.COMMA
            and _type_at(tokens, index + 1) is T.FROM
            and _type_at(tokens, openers[index] + 1) in (T.SELECT, T.WITH)
        )
    ]


def _read_fetch(tokens: Words) -> Words:
    """Return words with LIMIT 3 for FETCH FIRST 3 ROWS ONLY, and OFFSET 2 for OFFSET 2 ROWS."""
    words: Words = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.token_type is T.FETCH and _text_at(tokens, index + 1) in ("FIRST", "NEXT"):
            numbered = _type_at(tokens, index + 2) is T.NUMBER
            after = index + (3 if numbered else 2)
            if _text_at(tokens, after) in ROW_WORDS and _text_at(tokens, after + 1) == "ONLY":
                number = tokens[index + 2] if numbered else _retype(tokens[index + 1], T.NUMBER, "1")
                words += [_retype(token, T.LIMIT, "LIMIT"), number]
                index = after + 2
                continue
        if not (_type_at(tokens, index - 2) is T.OFFSET and token.text.upper() in ROW_WORDS):
            words.append(token)
        index += 1
    return words


def _read_substring(tokens: Words) -> Words:
    """Return words with commas for SUBSTRING(x FROM 1 FOR 2)."""
    openers, words = _find_openers(tokens), list[Token]()
    started: set[int] = set()
    for index, token in enumerate(tokens):
        opener = openers[index]
        if opener < 1 or tokens[opener - 1].text.upper() not in ("SUBSTRING", "SUBSTR"):
            words.append(token)
        elif token.token_type is T.FROM:
            started.add(opener)
            words.append(_retype(token, T.COMMA, ","))
        elif token.token_type is T.FOR:
            comma = _retype(token, T.COMMA, ",")
            words += [comma] if opener in started else [comma, _retype(token, T.NUMBER, "1"), comma]
        else:
            words.append(token)
    return words


def _read_sized_kinds(tokens: Words) -> Words:
    """Return words with VARCHAR(5) for every kind of text of some size that a value is cast to."""
    words = list(tokens)
    for index, token in enumerate(tokens):
        sized = [_type_at(tokens, index + step) for step in (-1, 1, 2, 3)]
        if token.token_type in SIZED_KINDS and sized[0] in (T.ALIAS, T.DCOLON) and sized[1:] == SIZE:
            words[index] = _retype(token, T.VARCHAR, "VARCHAR")
    return words


def _read_synonyms(tokens: Words) -> Words:
    """Return words with our name for each function that has another one elsewhere: VAR(x) is VAR_SAMP(x)."""
    words = list(tokens)
    for index, token in enumerate(tokens):
        ours = SYNONYMS.get(token.text.upper()) if _type_at(tokens, index + 1) is T.L_PAREN else None
        if ours is not None and token.token_type not in (T.IDENTIFIER, T.STRING):
            words[index] = _retype(token, T.VAR, ours)
    return words


def _read_distinct_counts(tokens: Words) -> Words:
    """Return words with COUNT(DISTINCT x) for APPROX_COUNT_DISTINCT(x)."""
    words: Words = []
    for index, token in enumerate(tokens):
        if token.text.upper() in DISTINCT_COUNTS and _type_at(tokens, index + 1) is T.L_PAREN:
            words.append(_retype(token, T.VAR, "COUNT"))
        else:
            words.append(token)
        if token.token_type is T.L_PAREN and _text_at(tokens, index - 1) in DISTINCT_COUNTS:
            words.append(_retype(token, T.DISTINCT, "DISTINCT"))
    return words


#: What is respelled in any expression, and in a whole question besides, in this order.
def _read_labels(tokens: Words) -> Words:
    """Return words in which what stands after AS is a name, as in COUNT(*) AS percent, and is one everywhere else.

    Only words are meant that have no meaning in a question, and would be refused.
    """
    openers = _find_openers(tokens)
    odd = [token.token_type not in KNOWN | RELATIONS and token.text.isidentifier() for token in tokens]
    labels = {
        token.text.casefold()
        for index, token in enumerate(tokens)
        if odd[index]
        and _type_at(tokens, index - 1) is T.ALIAS
        and _type_at(tokens, index + 1) in (None, *ENDS)
        and not _text_at(tokens, openers[index] - 1).endswith("CAST")
    }
    return [
        _retype(token, T.VAR, token.text) if odd[index] and token.text.casefold() in labels else token
        for index, token in enumerate(tokens)
    ]


EXPRESSION_REWRITES: tuple[Callable[[Words], Words], ...] = (
    _drop_all,
    _read_substring,
    _read_sized_kinds,
    _read_synonyms,
    _read_distinct_counts,
)
REWRITES: tuple[Callable[[Words], Words], ...] = (
    _strip_parentheses,
    _read_labels,
    _read_top,
    _drop_last_comma,
    _read_fetch,
    *EXPRESSION_REWRITES,
)


# BigQuery's syntax for private questions. `SUM(x, contribution_bounds_per_row => (0, 10))` clamps every row, and so it
# is `SUM(CLAMP(x, 0, 10))`. Options of the whole question are in `privacy_options`.

PER_ROW, PER_GROUP = "CONTRIBUTION_BOUNDS_PER_ROW", "CONTRIBUTION_BOUNDS_PER_GROUP"


def _read_row_bounds(page: Page, tokens: list[Token]) -> list[Token]:
    """Return words with CLAMP for bounds on every row; refuse bounds on what one person adds to a group."""
    for index, token in enumerate(tokens):
        if token.text.upper() == PER_GROUP and _is_named(tokens, index):
            raise page.refuse(
                token.start,
                "contribution_bounds_per_group bounds what one person adds to a group; here rows are bounded.",
                "write contribution_bounds_per_row => (low, high), and limit=… for rows per person; or sum up for each "
                "person in a subquery, and write SUM(CLAMP(x, low, high)) around it",
            )
    while (found := _find_row_bounds(tokens)) is not None:
        tokens = _clamp(tokens, *found)
    return tokens


def _find_row_bounds(tokens: list[Token]) -> tuple[int, int] | None:
    """Return the place of the first bounds on rows, and of the parenthesis that they stand in."""
    opened: list[int] = []
    for index, token in enumerate(tokens):
        if token.token_type is T.L_PAREN:
            opened.append(index)
        elif token.token_type is T.R_PAREN and opened:
            opened.pop()
        if token.text.upper() == PER_ROW and opened and _is_named(tokens, index):
            return index, opened[-1]
    return None


def _is_named(tokens: list[Token], index: int) -> bool:
    """Whether a word names an argument: `, name => (low, high)`."""
    after = tokens[index + 1 : index + 3]
    return index > 0 and tokens[index - 1].token_type is T.COMMA and [t.text for t in after] == ["=>", "("]


def _clamp(tokens: list[Token], name: int, opener: int) -> list[Token]:
    """Return SUM(CLAMP(x, low, high)) for SUM(x, name => (low, high))."""
    at = tokens[name]
    added = ((T.VAR, "CLAMP"), (T.L_PAREN, "("))
    clamp = [Token(kind, text, at.line, at.col, at.start, at.end) for kind, text in added]
    end = find_closing(tokens, name + 2)
    return [*tokens[: opener + 1], *clamp, *tokens[opener + 1 : name], *tokens[name + 3 : end + 1], *tokens[end + 1 :]]
