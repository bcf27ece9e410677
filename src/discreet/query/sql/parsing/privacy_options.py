"""Options of a private question in BigQuery's syntax: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon = 0.5) ….

A session splits them off and reads them as its keywords, before anything else reads the text. Elsewhere, as in batches,
where several questions share one price, they are refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import Token, TokenType

from discreet.query.questions import WrittenOption
from discreet.query.remedies import Edit, Fix
from discreet.query.sql.parsing.parser import tokenise
from discreet.query.sql.parsing.tokens import SIGN, TEXT_CHECKS, Page, without_comments

T = TokenType
CLAUSE = ["WITH", "DIFFERENTIAL_PRIVACY"]
#: Options of BigQuery, and the keyword that each of them is here.
KEYWORDS = {
    "epsilon": "epsilon={}",
    "max_groups_contributed": "limit=discreet.Limit(groups={})",
    "max_rows_contributed": "limit=discreet.TotalLimit({})",
}
EXAMPLE = "write OPTIONS(epsilon = 0.5, max_groups_contributed = 2)"


@dataclass(frozen=True, slots=True)
class _Clause:
    """The place of WITH DIFFERENTIAL_PRIVACY OPTIONS(…) among words: its first and last word, and its options."""

    first: int
    last: int
    inside: slice


def split_privacy_options(text: str) -> tuple[str, dict[str, WrittenOption]]:
    """Return a question with blanks in place of its privacy options, and the options by name.

    All other characters keep their line and column. Texts and comments are no words, and nothing is found in them.
    """
    page = Page(text)
    for check in TEXT_CHECKS:
        check(page)
    tokens = tokenise(without_comments(page))
    clauses = _find_clauses(tokens)
    if not clauses:
        return text, {}
    if len(clauses) > 1:
        raise page.refuse(
            tokens[clauses[1].first].start,
            "WITH DIFFERENTIAL_PRIVACY stands twice.",
            "write it once: its price is that of the whole question; or ask two questions",
        )
    clause = clauses[0]
    start, end = tokens[clause.first].start, tokens[clause.last].end + 1
    options = read_options(page, tokens[clause.inside])
    return text[:start] + SIGN.sub(" ", text[start:end]) + text[end:], options


def read_options(page: Page, tokens: Sequence[Token]) -> dict[str, WrittenOption]:
    """Return options that are written as `name = value, name = value`, by name."""
    found: dict[str, WrittenOption] = {}
    for part in _split_at_commas(tokens):
        named = len(part) > 2 and part[0].text.isidentifier() and part[1].token_type is T.EQ
        if not named or part[0].token_type in (T.STRING, T.IDENTIFIER):
            raise page.refuse(part[0].start, "An option is not written as name = value.", EXAMPLE)
        name = part[0].text.lower()
        words = tuple(token.text for token in part[2:])
        place = page.refuse(part[0].start, "", "")
        option = WrittenOption(name, words, place.line, place.column)
        if name in found:
            raise option.refuse(f"The option {name} stands twice.", "write it once")
        found[name] = option
    return found


def check_no_options(page: Page, tokens: list[Token]) -> None:
    """Refuse options of a question in its text, and say which keywords they are."""
    for clause in _find_clauses(tokens):
        given = read_options(page, tokens[clause.inside])
        passed = [KEYWORDS[name].format("".join(given[name].words)) for name in given if name in KEYWORDS]
        start, end = tokens[clause.first].start, tokens[clause.last].end + 1
        raise page.refuse(
            start,
            "WITH DIFFERENTIAL_PRIVACY is read by session.sql, preview and explain alone.",
            Fix(
                f"leave it out, and pass {', '.join(passed) or 'epsilon=…'} as keywords; the privacy unit and delta "
                "are those that the dataset was opened with",
                Edit(start, end, ""),
            ),
        )


def find_closing(tokens: Sequence[Token], opener: int) -> int:
    """Return the place of the parenthesis that closes the first one after a place."""
    depth = 0
    for index in range(opener, len(tokens)):
        depth += (tokens[index].token_type is T.L_PAREN) - (tokens[index].token_type is T.R_PAREN)
        if depth == 0 and tokens[index].token_type is T.R_PAREN:
            return index
    return len(tokens) - 1


def _find_clauses(tokens: Sequence[Token]) -> list[_Clause]:
    """Return every WITH DIFFERENTIAL_PRIVACY that follows a SELECT."""
    words = ["" if token.token_type in (T.STRING, T.IDENTIFIER) else token.text.upper() for token in tokens]
    found = []
    for index, token in enumerate(tokens):
        first = index + 1
        if token.token_type is not T.SELECT or words[first : first + 2] != CLAUSE:
            continue
        if words[first + 2 : first + 4] == ["OPTIONS", "("]:
            last = find_closing(tokens, first + 3)
            found.append(_Clause(first, last, slice(first + 4, last)))
        else:
            found.append(_Clause(first, first + 1, slice(0, 0)))
    return found


def _split_at_commas(tokens: Sequence[Token]) -> list[list[Token]]:
    """Return the words between commas; a comma with nothing before it stands for itself."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.token_type is T.COMMA:
            parts[-1] = parts[-1] or [token]
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]
