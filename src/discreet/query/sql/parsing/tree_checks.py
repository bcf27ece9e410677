"""The third look: every node of sqlglot's tree must be known, with all that hangs on it, and no word may be lost.

sqlglot reads thirty dialects. What it understands and we do not must never be dropped on the way to our own tree: an
unknown kind of node, or a known one with an argument that we do not read, is refused.
"""

from collections.abc import Iterator

from sqlglot import Token, TokenType, exp

from discreet.query.remedies import leave_out, replace_name
from discreet.query.sql.parsing.tokens import BITS, Page

MOST_NODES = 4_000
#: How deep our own tree may be. Whoever walks it may recurse.
MOST_DEEP = 80
PAIR = {"this", "expression"}
#: All nodes that are read, and all of their arguments that are.
KNOWN: dict[type[exp.Expr], set[str]] = {
    exp.Select: {
        *("expressions", "from_", "joins", "where", "group", "having", "order", "limit"),
        *("with_", "distinct", "offset", "qualify", "windows"),
    },
    exp.Window: {"this", "partition_by", "order", "spec", "alias", "over"},
    exp.WindowSpec: {"kind", "start", "start_side", "end", "end_side"},
    exp.Qualify: {"this"},
    **dict.fromkeys((exp.Union, exp.Intersect, exp.Except), PAIR | {"distinct", "with_", "order", "limit"}),
    exp.Subquery: {"this", "alias"},
    exp.With: {"expressions"},
    exp.CTE: {"this", "alias"},
    exp.Join: {"this", "side", "kind", "method", "on", "using"},
    exp.From: {"this"},
    exp.Table: {"this", "alias", "db", "catalog", "joins"},
    exp.TableAlias: {"this", "columns"},
    exp.Tuple: {"expressions"},
    exp.Where: {"this"},
    exp.Group: {"expressions", "all"},
    **{kind: {"expressions"} for kind in (exp.Rollup, exp.Cube, exp.GroupingSets)},
    exp.Having: {"this"},
    exp.Order: {"expressions"},
    exp.Ordered: {"this", "desc", "nulls_first"},
    exp.Limit: {"expression"},
    exp.Offset: {"expression"},
    exp.Alias: {"this", "alias"},
    exp.Column: {"this", "table", "db", "catalog"},
    exp.Identifier: {"this", "quoted"},
    exp.Literal: {"this", "is_string"},
    exp.Boolean: {"this"},
    exp.Null: set(),
    exp.Star: set(),
    exp.Paren: {"this"},
    exp.Neg: {"this"},
    exp.Not: {"this"},
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod), PAIR),
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.And, exp.Or, exp.Is), PAIR),
    exp.DPipe: PAIR | {"safe"},
    exp.In: {"this", "expressions", "query"},
    exp.Exists: {"this"},
    **dict.fromkeys((exp.NullSafeEQ, exp.NullSafeNEQ), PAIR),
    exp.Between: {"this", "low", "high"},
    exp.Like: PAIR | {"negate"},
    exp.ILike: PAIR | {"negate"},
    exp.RegexpLike: PAIR,
    exp.Case: {"this", "ifs", "default"},
    exp.If: {"this", "true"},
    exp.Cast: {"this", "to", "_type"},
    exp.TryCast: {"this", "to", "safe", "_type"},
    exp.DataType: {"this", "expressions"},
    exp.DataTypeParam: {"this"},
    exp.Interval: {"this", "unit"},
    exp.Var: {"this"},
    exp.Extract: PAIR,
    exp.Anonymous: {"this", "expressions"},
    exp.Distinct: {"expressions"},
    exp.Filter: PAIR,
    exp.WithinGroup: PAIR,
}
#: How unknown nodes are spoken of, where sqlglot's name says little.
SPOKEN: dict[type[exp.Expr], str] = {
    exp.DataType: "The kind",
    exp.Concat: "A text beside a text",
    exp.IgnoreNulls: "IGNORE NULLS",
    exp.RespectNulls: "RESPECT NULLS",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
#: What to write in the place of a few of them.
INSTEAD: dict[type[exp.Expr], str] = {
    **dict.fromkeys((exp.BitwiseLeftShift, exp.BitwiseRightShift), "write x * 8 for x << 3, and x // 8 for x >> 3"),
    exp.BitwiseNot: BITS,
}
#: What else may be said of a few nodes, and is not supported.
SAID: dict[str, str] = {
    "laterals": "LATERAL is not supported.",
    "with_": "WITH inside a subquery is not supported.",
    "recursive": "WITH RECURSIVE is not supported.",
    "materialized": "MATERIALIZED is not supported.",
    "by_name": "BY NAME is not supported.",
    "sample": "Sampling rows is not supported.",
    "rollup": "WITH ROLLUP is not supported.",
    "cube": "WITH CUBE is not supported.",
    "this": "ORDER BY inside an aggregate is not supported.",
}
FIXES: dict[str, str] = {
    "laterals": "write JOIN … ON, or a subquery",
    "with_": "put it before the first SELECT",
    "recursive": "leave RECURSIVE out",
    "rollup": "write GROUP BY ROLLUP(…)",
    "cube": "write GROUP BY CUBE(…)",
    "by_name": "select the columns in the same order",
    "sample": "leave it out: all rows are used, up to the contribution bound",
    "this": "leave ORDER BY out there",
}
#: Words that hold a question together. sqlglot takes some of them for names where a name would do.
STRUCTURE = """
SELECT FROM WHERE HAVING LIMIT AS DISTINCT FILTER AND OR NOT IN BETWEEN LIKE ILIKE IS NULL TRUE FALSE CASE WHEN THEN
ELSE END ASC DESC INTERVAL JOIN INNER OUTER FULL CROSS ON USING WITH UNION EXISTS INTERSECT EXCEPT NATURAL
"""
STRUCTURE_WORDS = frozenset(STRUCTURE.split())
#: Words that leave no trace in the tree, but for what they say.
QUIET = {"WITHIN", "GROUP", "NULLS", "LAST"}
#: Words of a window's frame, which begins with ROWS or RANGE.
FRAME_WORDS = {"UNBOUNDED", "PRECEDING", "FOLLOWING", "CURRENT", "ROW"}
LONGEST_FRAME = 7


def start_of(node: exp.Expr) -> int:
    """Return where a node begins in its text, as far as sqlglot remembers; else where the nearest one above does."""
    above: exp.Expr | None = node
    while above is not None:
        starts = [place for inner in above.walk() if (place := inner.meta.get("start")) is not None]
        if starts:
            return int(min(starts))
        above = above.parent
    return 0


def check_nodes(page: Page, tree: exp.Expr, _tokens: list[Token]) -> None:
    """Refuse unknown nodes, and unknown arguments of known ones."""
    for number, node in enumerate(tree.walk(), 1):
        if number > MOST_NODES:
            raise page.refuse(0, f"The question has more than {MOST_NODES} parts.", "ask several shorter questions")
        if type(node) not in KNOWN:
            raise page.refuse(
                start_of(node),
                f"{_word_of(node)} is not supported here.",
                INSTEAD.get(type(node), "see the page on SQL for supported syntax"),
            )
        for name, value in node.args.items():
            if _is_said(value) and name not in KNOWN[type(node)]:
                inner = value[0] if isinstance(value, list) else value
                raise page.refuse(
                    start_of(inner if isinstance(inner, exp.Expr) else node),
                    SAID.get(name, f"{_word_of(node)} has an unsupported clause ({name.strip('_')})."),
                    FIXES.get(name, "leave it out"),
                )


def _is_said(value: object) -> bool:
    return value is not None and value is not False and value != []


def _word_of(node: exp.Expr) -> str:
    return SPOKEN.get(type(node), type(node).__name__.upper())


def check_depth(page: Page, tree: exp.Expr, _tokens: list[Token]) -> None:
    """Refuse a tree that is too deep; a row of ANDs, ORs or || counts once, for it becomes one node of ours."""
    waiting: list[tuple[exp.Expr, int]] = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        if depth > MOST_DEEP:
            raise page.refuse(
                start_of(node), f"An expression is more than {MOST_DEEP} steps deep.", "split it into several questions"
            )
        for child in node.iter_expressions():
            chained = type(child) is type(node) and isinstance(node, (exp.And, exp.Or, exp.DPipe))
            waiting.append((child, depth if chained or isinstance(child, exp.Paren) else depth + 1))


def check_losses(page: Page, tree: exp.Expr, tokens: list[Token]) -> None:
    """Refuse a question with a word that is not in its tree any more."""
    kept_starts = {node.meta["start"] for node in tree.walk() if "start" in node.meta}
    for index, token in _words(tokens):
        if token.start not in kept_starts and not _is_quiet(tokens, index):
            fix = leave_out("leave it out", token.start, token.end)
            raise page.refuse(token.start, f"{token.text!r} is not supported here.", fix)


def _words(tokens: list[Token]) -> Iterator[tuple[int, Token]]:
    kinds = (TokenType.VAR, TokenType.IDENTIFIER, TokenType.STRING, TokenType.NUMBER, TokenType.FIRST)
    return ((index, token) for index, token in enumerate(tokens) if token.token_type in kinds)


def _is_quiet(tokens: list[Token], index: int) -> bool:
    """Whether a word is part of a phrase whose words sqlglot keeps without their places."""
    before = [token.text.upper() for token in tokens[max(index - 2, 0) : index]]
    token = tokens[index]
    interval = "INTERVAL" in before  # INTERVAL 7 DAY: the number and its unit
    extract = before == ["EXTRACT", "("]
    fraction = before[-1:] == ["."] and token.token_type is TokenType.NUMBER  # .5
    nulls = before[-1:] == ["NULLS"]
    framed = token.text.upper() in FRAME_WORDS and bool({"ROWS", "RANGE"} & _texts_before(tokens, index))
    return interval or extract or fraction or nulls or framed or token.text.upper() in QUIET


def _texts_before(tokens: list[Token], index: int) -> set[str]:
    """Return the words before a place, as many as a frame may have: ROWS BETWEEN 2 PRECEDING AND CURRENT ROW."""
    return {token.text.upper() for token in tokens[max(index - LONGEST_FRAME, 0) : index]}


def check_names(page: Page, tree: exp.Expr, _tokens: list[Token]) -> None:
    """Refuse names that are words of SQL and not in quotes."""
    for node in tree.find_all(exp.Identifier):
        if not node.args.get("quoted") and node.name.upper() in STRUCTURE_WORDS:
            quoted = f'"{node.name}"'
            words = f"write what is missing, or put the name in quotes: {quoted}"
            fix = replace_name(page.text, start_of(node), words, quoted)
            raise page.refuse(start_of(node), f"{node.name.upper()} is not a name.", fix)


TREE_CHECKS = (check_nodes, check_depth, check_names, check_losses)
