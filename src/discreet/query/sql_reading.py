"""From text to parts: the passes, in their order.

Text → checks of characters → words → checks of words → sqlglot's tree → checks of the tree → parts → question.
"""

from collections.abc import Callable, Mapping

from sqlglot import Token, exp

from discreet.core.schema import Schema, closest
from discreet.query.questions import Question
from discreet.query.sql_checks import TREE_CHECKS, start_of
from discreet.query.sql_parser import parse_expression, parse_select, tokenise
from discreet.query.sql_select import Parts, Piece, question_of
from discreet.query.sql_text import TEXT_CHECKS, Page
from discreet.query.sql_words import (
    check_expression,
    check_gaps,
    check_nesting,
    check_statement,
    check_touching,
    check_words,
)

WordCheck = Callable[[Page, list[Token]], None]

#: What is checked of the words of any text, and of a whole question besides.
WORD_CHECKS = (check_gaps, check_touching, check_nesting)
MOST_ROWS = 10**9


def read(text: str, schemas: Mapping[str, Schema]) -> Question:
    """Return the question that a text asks."""
    page = Page(text)
    try:
        return question_of(_parts(page, schemas))
    except RecursionError:
        # Our limits are below Python's, but the caller's own stack may have eaten most of it.
        raise page.refuse(0, "The question is nested too deeply.", "ask for less in one question") from None


def read_piece(text: str, schema: Schema) -> Piece:
    """Return an expression, read from a text of its own."""
    page = Page(text)
    tokens = _words(page, check_expression)
    check_words(page, tokens, schema.names)
    return Piece(_checked(page, parse_expression(page, tokens), tokens), page)


def _words(page: Page, first: WordCheck) -> list[Token]:
    for look in TEXT_CHECKS:
        look(page)
    tokens = tokenise(page)
    for check in (first, *WORD_CHECKS):
        check(page, tokens)
    return tokens


def _checked(page: Page, tree: exp.Expr, tokens: list[Token]) -> exp.Expr:
    for check in TREE_CHECKS:
        check(page, tree, tokens)
    return tree


def _parts(page: Page, schemas: Mapping[str, Schema]) -> Parts:
    columns = tuple(name for schema in schemas.values() for name in schema.names)
    tokens = _words(page, check_statement)
    check_words(page, tokens, columns)
    tree = _checked(page, parse_select(page, tokens), tokens)
    if not isinstance(tree, exp.Select):
        raise page.refuse(0, "This is not one SELECT.", "write SELECT … FROM …")
    return _taken_apart(page, tree, schemas)


def _taken_apart(page: Page, tree: exp.Select, schemas: Mapping[str, Schema]) -> Parts:
    schema, qualifiers = _table(page, tree, schemas)
    if not tree.expressions:
        raise page.refuse(start_of(tree), "Nothing is asked of the table.", "write SELECT COUNT(*) FROM …")
    where, having = tree.args.get("where"), tree.args.get("having")
    return Parts(
        schema=schema,
        qualifiers=qualifiers,
        outputs=tuple(_output(page, node) for node in tree.expressions),
        where=() if where is None else (Piece(where.this, page),),
        groups=tuple(Piece(node, page) for node in _inside(page, tree, "group")),
        having=() if having is None else (Piece(having.this, page),),
        order=tuple((Piece(node.this, page), bool(node.args.get("desc"))) for node in _inside(page, tree, "order")),
        most=_most(page, tree),
    )


def _inside(page: Page, tree: exp.Select, name: str) -> list[exp.Expr]:
    part = tree.args.get(name)
    if part is not None and not part.expressions:
        raise page.refuse(start_of(part), f"{name.upper()} BY names nothing.", "name a column, or leave it out")
    return [] if part is None else list(part.expressions)


def _output(page: Page, node: exp.Expr) -> tuple[str | None, Piece]:
    if isinstance(node, exp.Alias):
        return node.alias, Piece(node.this, page)
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        raise page.refuse(
            start_of(node), "SELECT * would show rows.", "name what to count or sum up, such as SELECT COUNT(*)"
        )
    return None, Piece(node, page)


def _table(page: Page, tree: exp.Select, schemas: Mapping[str, Schema]) -> tuple[Schema, tuple[str, ...]]:
    found = tree.args.get("from_")
    names = ", ".join(schema.table for schema in schemas.values())
    if found is None or not isinstance(found.this, exp.Table):
        raise page.refuse(start_of(tree), "The question names no table.", f"write FROM and one of: {names}")
    table = found.this
    for schema in schemas.values():
        if isinstance(table.this, exp.Identifier) and schema.table.casefold() == table.name.casefold():
            return schema, (table.alias or schema.table,)
    meant = closest(table.name, [schema.table for schema in schemas.values()])
    raise page.refuse(
        start_of(table),
        f"There is no table {table.name[:60]!r}.",
        f"did you mean {meant!r}?" if meant else f"use one of: {names}; files cannot be read from here",
    )


def _most(page: Page, tree: exp.Select) -> int | None:
    limit = tree.args.get("limit")
    if limit is None:
        return None
    node = limit.expression
    if not isinstance(node, exp.Literal) or not node.name.isdecimal() or not 1 <= int(node.name) <= MOST_ROWS:
        raise page.refuse(start_of(limit), "LIMIT needs a whole number of at least 1.", "write LIMIT 10")
    return int(node.name)
