"""The passes from SQL text to a question, in their order.

Text → checks of characters → no comments → words → checks of words → sqlglot's tree → checks of the tree → rows →
parts → question.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from sqlglot import Token, exp

from discreet.algebra import NotEvaluable, evaluate
from discreet.algebra.relations import PublicScan, Scan
from discreet.core import DiscreetError, PrivacyUnit
from discreet.core.limits import Matches
from discreet.core.schema import Schema, Value
from discreet.query.names import make_unique_name
from discreet.query.questions import PublicQuestion, Question
from discreet.query.relations.normal_form import settle_question
from discreet.query.remedies import Fix, Never
from discreet.query.sql.computed_bounds import check_question
from discreet.query.sql.expressions import read_expression
from discreet.query.sql.outer_queries import (
    ThresholdQuestions,
    is_about_public_tables,
    read_outer_question,
    read_public_question,
)
from discreet.query.sql.parsing.parser import parse_expression, parse_select, tokenise
from discreet.query.sql.parsing.spellings import quote_columns, respell, respell_expression
from discreet.query.sql.parsing.tokens import (
    TEXT_CHECKS,
    Page,
    check_expression,
    check_gaps,
    check_nesting,
    check_statement,
    check_touching,
    check_words,
    without_comments,
)
from discreet.query.sql.parsing.tree_checks import TREE_CHECKS, start_of
from discreet.query.sql.parsing.tree_spellings import DeclaredTables, respell_tree
from discreet.query.sql.queries import add_with_names, read_rows_of
from discreet.query.sql.scope import AnswerPublic, Known, RowSource, SqlScope
from discreet.query.sql.select import Parts, SortPiece, SqlPiece, group_nodes, question_of, split_sets

WordCheck = Callable[[Page, list[Token]], None]
Respelling = Callable[[Page, list[Token]], list[Token]]

#: What is checked of the words of any text, as they are written, and of a whole question besides.
WORD_CHECKS = (check_gaps, check_touching, check_nesting)
MOST_ROWS = 10**9


def read(
    text: str,
    schemas: Mapping[str, Schema],
    publics: Mapping[str, PublicScan],
    matches: Matches | None,
    paths: Mapping[str, str],
    answer: AnswerPublic | None = None,
) -> Question:
    """Return the question that a text asks."""
    page = _plain(text)
    try:
        known = Known(page, schemas, publics, matches, paths, answer=answer)
        tree = _tree(page, known)
        known = add_with_names(tree, known)
        return read_outer_question(tree, known, _read_question)
    except RecursionError:
        # Our limits are below Python's, but the caller's own stack may have eaten most of it.
        raise page.refuse(0, "The question is nested too deeply.", "split it into several questions") from None


def find_public_question(
    text: str, schemas: Mapping[str, Schema], publics: Mapping[str, PublicScan], paths: Mapping[str, str]
) -> PublicQuestion | None:
    """Return the question that a text asks of public tables alone; None if it names any other table, or none."""
    page = _plain(text)
    try:
        known = Known(page, schemas, publics, None, paths)
        tree = _tree(page, known)
        if not is_about_public_tables(tree, known):
            return None
        return read_public_question(tree, add_with_names(tree, known))
    except RecursionError:
        raise page.refuse(0, "The question is nested too deeply.", "split it into several questions") from None


def find_constants(text: str) -> tuple[tuple[str, Value], ...] | None:
    """Return the names and values of a SELECT without tables and columns; None for any other text."""
    page = _plain(text)
    known = Known(page, {})
    tree = _tree(page, known)
    spoken = tree.args.get("from_") is not None or tree.find(exp.Column, exp.Query) not in (None, tree)
    if spoken or not tree.expressions:
        return None
    schema = Schema(table="", columns=(), unit=PrivacyUnit())
    taken: list[str] = []
    values: list[Value] = []
    for node in tree.expressions:
        try:
            values.append(evaluate(read_expression(node.unalias(), SqlScope(page, schema, ())), {}))
        except NotEvaluable:
            return None
        taken.append(make_unique_name(node.alias or "value", taken))
    return tuple(zip(taken, values, strict=True))


def _read_question(tree: exp.Select, known: Known) -> Question:
    """Return the question of a SELECT about private rows."""
    source, conditions = read_rows_of(tree, known)
    thresholds = ThresholdQuestions(_read_question, known)
    parts = replace(_read_parts(known.page, tree, source, conditions, known), special=thresholds.find)
    return replace(question_about(source, parts, known), thresholds=tuple(thresholds.asked))


def read_rows(
    origin: str, schemas: Mapping[str, Schema], publics: Mapping[str, PublicScan], matches: Matches | None
) -> tuple[RowSource, Known]:
    """Return the rows that a text after FROM means."""
    known = Known(Page(f"SELECT COUNT(*) FROM {origin}"), schemas, publics, matches)  # noqa: S608 - read, not run
    source, _ = read_rows_of(_tree(known.page, known), known)
    return source, known


def read_piece(text: str, names: tuple[str, ...]) -> SqlPiece:
    """Return an expression, read from a text of its own, over columns of some names.

    A column may be named as it is, alone or as the value of a function: `Größe in cm`, `AVG(Größe in cm)`.
    """
    page = Page(quote_columns(text, names))
    tokens = _words(page, check_expression, respell_expression)
    check_words(page, tokens, names, whole=False)
    tree = _need_valid_tree(page, parse_expression(page, tokens), tokens)
    return SqlPiece(respell_tree(page, tree, DeclaredTables.of((), {})), page)


def question_about(source: RowSource, parts: Parts, known: Known) -> Question:
    """Return the question that parts ask of rows, in its one form."""
    question = question_of(parts)
    if isinstance(source.relation, Scan):
        return question
    check_question(question, source.relation, parts)
    try:
        return settle_question(question, source.relation, known.schemas)
    except DiscreetError as error:
        raise known.page.refuse(0, error.problem, error.fix) from None


def _plain(text: str) -> Page:
    """Return a whole question without its comments; they too may hold nothing that cannot be seen."""
    page = Page(text)
    for look in TEXT_CHECKS:
        look(page)
    return without_comments(page)


def _words(page: Page, first: WordCheck, respelling: Respelling) -> list[Token]:
    for look in TEXT_CHECKS:
        look(page)
    written = tokenise(page)
    tokens = respelling(page, written)
    first(page, tokens)
    for check in WORD_CHECKS:
        check(page, written)
    return tokens


def _need_valid_tree(page: Page, tree: exp.Expr, tokens: list[Token]) -> exp.Expr:
    for check in TREE_CHECKS:
        check(page, tree, tokens)
    return tree


def _tree(page: Page, known: Known) -> exp.Select:
    private = (name for schema in known.schemas.values() for name in schema.names)
    public = (column.name for scan in known.publics.values() for column in scan.columns)
    tokens = _words(page, check_statement, respell)
    check_words(page, tokens, (*private, *public))
    tree = _need_valid_tree(page, parse_select(page, tokens), tokens)
    tree = respell_tree(page, tree, DeclaredTables.of(known.tables, known.paths))
    while isinstance(tree, exp.Subquery) and tree.args.get("alias") is None:
        tree = tree.this
    if isinstance(tree, exp.SetOperation):
        tree = _wrap_set_operation(tree)
    if not isinstance(tree, exp.Select):
        raise page.refuse(0, "This is not one SELECT.", "write SELECT … FROM …")
    return tree


def _wrap_set_operation(tree: exp.SetOperation) -> exp.Select:
    """Return a SELECT of everything that UNION makes, with what is sorted and cut around it."""
    around = {name: tree.args.pop(name, None) for name in ("with_", "order", "limit", "offset")}
    star = exp.Star()
    star.meta["start"] = start_of(tree)
    wrapped = exp.Select(expressions=[star], from_=exp.From(this=exp.Subquery(this=tree)))
    for name, part in around.items():
        wrapped.set(name, part)
    return wrapped


def _read_parts(page: Page, tree: exp.Select, source: RowSource, conditions: list[exp.Expr], known: Known) -> Parts:
    if not tree.expressions:
        raise page.refuse(start_of(tree), "The question has no aggregate.", "write SELECT COUNT(*) FROM …")
    having = tree.args.get("having")
    groups, sets = split_sets(_groups(page, tree), page)
    return Parts(
        schema=known.schema(source.relation),
        items=source.items,
        outputs=tuple(_output(page, node) for node in tree.expressions),
        where=tuple(SqlPiece(node, page) for node in conditions),
        groups=tuple(SqlPiece(node, page) for node in groups),
        sets=sets,
        having=() if having is None else (SqlPiece(having.this, page),),
        order=tuple(_sort_piece(page, node) for node in _inside(page, tree, "order")),
        most=_most(page, tree),
        skipped=_skipped(page, tree),
        distinct=tree.args.get("distinct") is not None,
    )


def _sort_piece(page: Page, node: exp.Expr) -> SortPiece:
    return SortPiece(SqlPiece(node.this, page), bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


def _groups(page: Page, tree: exp.Select) -> list[exp.Expr]:
    part = tree.args.get("group")
    if part is None or not part.args.get("all"):
        return _inside(page, tree, "group")
    return group_nodes(tree, page, start_of(part))


def _inside(page: Page, tree: exp.Select, name: str) -> list[exp.Expr]:
    part = tree.args.get(name)
    if part is not None and not part.expressions:
        raise page.refuse(start_of(part), f"{name.upper()} BY names nothing.", "name a column, or leave it out")
    return [] if part is None else list(part.expressions)


def _output(page: Page, node: exp.Expr) -> tuple[str | None, SqlPiece]:
    if isinstance(node, exp.Alias):
        return node.alias, SqlPiece(node.this, page)
    if isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        raise page.refuse(
            start_of(node),
            "SELECT * would show rows, which are private.",
            Fix("ask for an aggregate, such as SELECT COUNT(*)", Never.ROWS),
        )
    return None, SqlPiece(node, page)


def _most(page: Page, tree: exp.Select) -> int | None:
    limit = tree.args.get("limit")
    if limit is None:
        return None
    node = limit.expression
    if not isinstance(node, exp.Literal) or not node.name.isdecimal() or not int(node.name) <= MOST_ROWS:
        raise page.refuse(start_of(limit), "LIMIT needs a whole number of at least 0.", "write LIMIT 10")
    return int(node.name)


def _skipped(page: Page, tree: exp.Select) -> int:
    offset = tree.args.get("offset")
    if offset is None:
        return 0
    node = offset.expression
    if not isinstance(node, exp.Literal) or not node.name.isdecimal() or int(node.name) > MOST_ROWS:
        raise page.refuse(start_of(offset), "OFFSET needs a whole number of at least 0.", "write OFFSET 10")
    return int(node.name)
