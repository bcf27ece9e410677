"""The small dialect: sqlglot's tokens and grammar, with none of its functions.

Every function call becomes an `Anonymous` node with its name as it was typed, so that what a name means is said by our
own list alone, and not by sqlglot's aliases. Statements of other kinds are not read at all.
"""

from collections.abc import Callable
from typing import Any, ClassVar

from sqlglot import ParseError, Parser, Token, TokenError, Tokenizer, TokenType, exp
from sqlglot.parser import IsPredicatePrecedence

from discreet.query.remedies import STRANGE
from discreet.query.sql.parsing.tokens import Page

#: sqlglot's own guard, some way above ours.
MOST_NODES = 20_000
#: Signs that open a text or a name, and those that close it.
QUOTES = {"'": "'", '"': '"', "`": "`", "[": "]"}
HOW = "write SELECT … FROM … [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT …]"


class SmallTokenizer(Tokenizer):
    """Plain SQL, and // for division without a rest. Hints are comments, and comments are refused."""

    #: Names may stand in any database's quotes.
    IDENTIFIERS: ClassVar[list[str | tuple[str, str]]] = ['"', "`", ("[", "]")]
    KEYWORDS: ClassVar[dict[str, TokenType]] = {
        **{word: kind for word, kind in Tokenizer.KEYWORDS.items() if word != "/*+"},
        "//": TokenType.DIV,
    }


class SmallParser(Parser):
    """sqlglot's grammar without its functions and statements."""

    #: a = b IS NULL asks whether the comparison is NULL, as in DuckDB and PostgreSQL.
    IS_PREDICATE_PRECEDENCE = IsPredicatePrecedence.LOW
    FUNCTIONS: ClassVar[dict[str, Callable[..., Any]]] = {}
    NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, Any]] = {}
    STATEMENT_PARSERS: ClassVar[dict[TokenType, Callable[..., Any]]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        "CAST": lambda self: self.placed(2, lambda: self._parse_cast(strict=True)),
        "TRY_CAST": lambda self: self.placed(2, lambda: self._parse_cast(strict=False, safe=True)),
        "EXTRACT": lambda self: self.placed(2, self._parse_extract),
        "POSITION": lambda self: self.placed(2, self.parse_position),
    }
    NO_PAREN_FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., Any]]] = {
        "CASE": lambda self: self.placed(1, self._parse_case),
    }

    def parse_position(self) -> exp.Expression:
        """Return POSITION('a' IN text) as STRPOS(text, 'a')."""
        found = self._parse_position()
        return exp.Anonymous(this="STRPOS", expressions=[found.this, found.args.get("substr")])

    def _parse_group(self, skip_group_by_token: bool = False) -> exp.Group | None:  # noqa: FBT001, FBT002 - sqlglot's
        """Return what is grouped by: GROUP BY a, b WITH ROLLUP is GROUP BY ROLLUP(a, b)."""
        group = super()._parse_group(skip_group_by_token)
        for name, kind in (("rollup", exp.Rollup), ("cube", exp.Cube)):
            held = [] if group is None else group.args.get(name) or []
            if group is not None and len(held) == 1 and not held[0].expressions and group.expressions:
                group.set("expressions", [kind(expressions=group.expressions)])
                group.set(name, None)
        return group

    def _parse_ordered(self, parse_method: Callable[[], Any] | None = None) -> exp.Ordered | None:
        """Return what is sorted by, and whether NULLS FIRST was written: sqlglot has an order of NULLs by default."""
        node = super()._parse_ordered(parse_method)
        if node is not None:
            written = [token.text.upper() for token in self._tokens[self._index - 2 : self._index]]
            node.set("nulls_first", written == ["NULLS", "FIRST"])
        return node

    def placed(self, back: int, parse: Callable[[], Any]) -> Any:
        """Parse, and remember where the word stood that led here: sqlglot forgets it for these."""
        token = self._tokens[self._index - back]
        node = parse()
        return node.update_positions(token) if isinstance(node, exp.Expression) else node


def tokenise(page: Page) -> list[Token]:
    """Return the words of a text."""
    try:
        return SmallTokenizer().tokenize(page.text)
    except TokenError:
        quote = _open_quote(page.text)
        raise page.refuse(quote, "A quote or a comment is not closed.", "close it") from None


def parse_select(page: Page, tokens: list[Token]) -> exp.Expression:
    """Return the tree of one statement."""
    return _parse(page, tokens, lambda parser: parser.parse(tokens, page.text))


def parse_expression(page: Page, tokens: list[Token]) -> exp.Expression:
    """Return the tree of one expression."""
    return _parse(page, tokens, lambda parser: parser.parse_into(exp.Condition, tokens, page.text))


def _parse(page: Page, tokens: list[Token], parse: Callable[[SmallParser], list[Any]]) -> exp.Expression:
    try:
        trees = parse(SmallParser(max_nodes=MOST_NODES))
    except ParseError as error:
        raise page.refuse(_place_of(page, error), STRANGE, HOW) from None
    except RecursionError:
        raise page.refuse(0, "The question is nested too deeply.", "split it into several questions") from None
    except (ValueError, TypeError, AttributeError, IndexError, KeyError):
        # sqlglot takes some texts for something that it then cannot build. They are no questions either.
        raise page.refuse(tokens[0].start if tokens else 0, STRANGE, HOW) from None
    if len(trees) != 1 or not isinstance(trees[0], exp.Expression):
        raise page.refuse(0, STRANGE, HOW)
    return trees[0]


def _place_of(page: Page, error: ParseError) -> int:
    """Return where sqlglot stopped: it says so in the words around the place."""
    if not error.errors:
        return 0
    details = error.errors[0]
    line, column = details.get("line") or 1, details.get("col") or 1
    lines = page.text.split("\n")
    before = sum(len(earlier) + 1 for earlier in lines[: line - 1])
    # sqlglot's column is that of a word's last character.
    return max(before + column - len(details.get("highlight") or "x"), 0)


def _open_quote(text: str) -> int:
    """Return where the quote stands that is not closed."""
    opened, at = "", 0
    for place, sign in enumerate(text):
        if opened:
            opened = "" if sign == opened else opened
        elif sign in QUOTES:
            opened, at = QUOTES[sign], place
    return at if opened else max(text.find("/*"), 0)
