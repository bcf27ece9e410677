"""What a statement about the catalogue may be: one SELECT over known tables, with functions that are on a list.

Everything else is refused before anything is run: `pg_sleep`, `set_config`, `query_to_xml`, `pg_read_file`, readers of
files and of the network, and whatever else is not on the list.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeGuard

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError

from discreet.service.postgres.catalogue.columns import FILLED, TABLES
from discreet.service.postgres.refusals import BAD_SYNTAX, NO_FUNCTION, NO_TABLE, TOO_LARGE, SqlRefusal

#: Characters of a statement, nodes of its tree, and results of the reader that are kept.
MOST_CHARACTERS, MOST_NODES, MOST_KEPT = 20_000, 5_000, 256
#: Characters or columns that a statement may make of one name, as far as its form tells; and those of a separator.
MOST_GROWTH, MOST_SEPARATOR = 50_000, 10
#: Characters of the names of a database.
LONGEST_NAME = 64
SCHEMAS = ("pg_catalog", "information_schema")
#: Functions that stand for a constant, by name: what they say of a database without indexes, views or functions.
CONSTANTS: Mapping[str, str] = {
    **dict.fromkeys(("pg_get_userbyid",), "'discreet'"),
    **dict.fromkeys(
        (
            *("pg_table_is_visible", "pg_type_is_visible", "pg_function_is_visible", "pg_operator_is_visible"),
            *("pg_collation_is_visible", "pg_opclass_is_visible", "pg_statistics_obj_is_visible"),
            *("pg_ts_config_is_visible", "pg_ts_dict_is_visible", "pg_opfamily_is_visible", "pg_conversion_is_visible"),
            *("has_table_privilege", "has_schema_privilege", "has_column_privilege", "has_database_privilege"),
            "has_any_column_privilege",
        ),
        "TRUE",
    ),
    **dict.fromkeys(("pg_is_in_recovery", "pg_relation_is_publishable", "pg_is_other_temp_schema"), "FALSE"),
    **dict.fromkeys(
        (
            *("pg_get_expr", "obj_description", "col_description", "shobj_description", "pg_get_constraintdef"),
            *("pg_get_indexdef", "pg_get_viewdef", "pg_get_function_result", "pg_get_function_arguments"),
            *("pg_get_partkeydef", "pg_get_statisticsobjdef_columns", "pg_get_function_identity_arguments"),
            *("pg_tablespace_location", "pg_get_triggerdef", "pg_get_ruledef", "pg_get_serial_sequence"),
            *(
                "json_build_object",
                "pg_get_functiondef",
                "inet_server_addr",
                "inet_client_addr",
                "pg_get_function_sqlbody",
            ),
        ),
        "CAST(NULL AS VARCHAR)",
    ),
    "pg_encoding_to_char": "'UTF8'",
    "pg_size_pretty": "'0 bytes'",
    **dict.fromkeys(
        (
            *("pg_table_size", "pg_relation_size", "pg_total_relation_size", "pg_database_size", "pg_indexes_size"),
            *("pg_backend_pid", "pg_my_temp_schema", "pg_char_to_encoding"),
        ),
        "CAST(0 AS BIGINT)",
    ),
}
#: Functions that are rewritten, and those of the engine with the same meaning.
REWRITTEN = (
    "format_type",
    "current_setting",
    "array_upper",
    "to_regtype",
    "to_regclass",
    "quote_ident",
    "version",
    "current_schemas",
    "current_database",
)
PLAIN = ("array_to_string", "lower", "upper", "length", "strpos", "left", "right", "concat")
#: Functions of lists that would be asked of tables without rows: statements about rows with them are refused.
OF_NOTHING = (
    *("generate_series", "generate_subscripts", "_pg_expandarray", "array_lower"),
    *("pg_get_publication_tables", "aclexplode", "pg_options_to_table", "array_position", "array_remove", "any_value"),
)
#: Functions that are part of the language, by their class.
LANGUAGE = (
    *(exp.AggFunc, exp.Cast, exp.Case, exp.If, exp.Coalesce, exp.Nullif, exp.Connector, exp.Not, exp.Exists),
    *(exp.RowNumber, exp.RegexpLike, exp.RegexpILike, exp.Lower, exp.Upper, exp.Length, exp.Substring, exp.Trim),
    *(
        exp.Concat,
        exp.ConcatWs,
        exp.SplitPart,
        exp.StrPosition,
        exp.Left,
        exp.Right,
        exp.Array,
        exp.ArrayToString,
        exp.Unnest,
        exp.Explode,
    ),
    *(exp.CurrentUser, exp.SessionUser, exp.CurrentSchema, exp.CurrentDatabase, exp.CurrentCatalog, exp.ArraySize),
    *(exp.CurrentSchemas, exp.CurrentVersion, exp.Replace),
    *(exp.Greatest, exp.Least, exp.Abs, exp.Floor, exp.Ceil, exp.Round, exp.DPipe, exp.Like, exp.ILike, exp.Any),
    *(exp.Collate, exp.Operator, exp.Binary, exp.Unary),
)
LISTED = (exp.GenerateSeries, exp.ExplodingGenerateSeries, exp.Inline, exp.ArrayPosition)
#: Classes of a statement that only reads.
READING = (exp.Select, exp.SetOperation, exp.Subquery)
FORBIDDEN = (exp.Into, exp.Lock, exp.DDL, exp.DML, exp.Command, exp.TableSample, exp.Pivot, exp.MatchRecognize)


@lru_cache(MOST_KEPT)
def find_tables(text: str) -> frozenset[tuple[str, str]] | None:
    """Return the tables that a text names, with their schemas; None if it cannot be read."""
    try:
        tree = parse(text)
    except SqlRefusal:
        return None
    return frozenset((table.db.lower(), table.name.lower()) for table in list_tables(tree))


def parse(text: str) -> exp.Expr:
    """Return the tree of a statement, or refuse it."""
    if len(text) > MOST_CHARACTERS:
        raise SqlRefusal.coded(TOO_LARGE, "A statement about the catalogue is too long.", "ask for less at once")
    try:
        trees = Dialect.get_or_raise("postgres").parse(text)
    except (SqlglotError, RecursionError):
        trees = []
    if len(trees) != 1 or not isinstance(trees[0], READING):
        raise SqlRefusal.coded(
            BAD_SYNTAX, "This statement about the catalogue cannot be read.", "write SELECT … FROM …"
        )
    tree = trees[0]
    if sum(1 for _ in tree.walk()) > MOST_NODES:
        raise SqlRefusal.coded(TOO_LARGE, "A statement about the catalogue is too long.", "ask for less at once")
    return tree


def list_tables(tree: exp.Expr) -> Iterator[exp.Table]:
    """Yield the tables that a tree names, without those that it makes by WITH, and without functions."""
    made = {one.alias_or_name.lower() for one in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and (table.db or table.name.lower() not in made):
            yield table


def check_tree(tree: exp.Expr) -> None:
    """Refuse a tree with a table that is not known, or with a function that is not on the list."""
    for table in list_tables(tree):
        if table.catalog or full_name(table) not in TABLES:
            raise SqlRefusal.coded(
                NO_TABLE, "There is no such table in the catalogue.", "ask about the declared tables"
            )
    for node in tree.walk():
        if isinstance(node, FORBIDDEN) or (isinstance(node, exp.With) and node.recursive):
            raise SqlRefusal.coded(BAD_SYNTAX, "The catalogue is only read.", "write SELECT … FROM …")
        if isinstance(node, exp.Func) and not is_allowed(node):
            raise SqlRefusal.coded(
                NO_FUNCTION, "The catalogue has no such function.", "ask about the declared tables: SELECT … FROM …"
            )


def check_growth(tree: exp.Expr) -> None:
    """Refuse a statement that makes long texts, long lists or many columns of short ones.

    The engine's limits of memory and time do not hold for these: a statement of 7,000 characters filled gigabytes.
    Every SELECT may join what those within it have made, so that their numbers multiply.
    """
    texts = (node.this for node in tree.walk() if isinstance(node.this, str))
    growth = max(LONGEST_NAME, *map(len, texts), 0)
    for select in tree.find_all(exp.Select):
        own = (node for node in select.find_all(*JOINING) if node.find_ancestor(exp.Select) is select)
        growth *= 1 + sum(map(_count_joined, own))
        if growth > MOST_GROWTH:
            raise _refuse_growth()


JOINING = (
    exp.DPipe,
    exp.Concat,
    exp.ConcatWs,
    exp.Anonymous,
    exp.Replace,
    exp.ArrayToString,
    exp.Array,
    exp.Tuple,
    exp.Star,
)


def _count_joined(node: exp.Expr) -> int:
    """Return how many times as long as its parts a text, a list or a row becomes at most, less one."""
    match node:
        case exp.Replace():
            old, new = node.args.get("expression"), node.args.get("replacement")
            if not (
                _is_text(old) and old.name and (new is None or (_is_text(new) and len(new.name) <= 2 * len(old.name)))
            ):
                raise _refuse_growth()
            return 1
        case exp.ArrayToString():
            return _count_separated(node.expression)
        case exp.Anonymous() if node.name.lower() == "array_to_string":
            return _count_separated(node.expressions[1] if len(node.expressions) > 1 else None)
        case exp.Anonymous():
            return len(node.expressions) if node.name.lower() == "concat" else 0
        case exp.Concat() | exp.ConcatWs():
            return len(node.expressions)
        case exp.Array() | exp.Tuple():
            return len(node.expressions) if node.find(exp.Column, exp.Select) is not None else 0
        case _:
            return 1


def _count_separated(separator: exp.Expr | None) -> int:
    if not (_is_text(separator) and len(separator.name) <= MOST_SEPARATOR):
        raise _refuse_growth()
    return 1


def _is_text(node: exp.Expr | None) -> TypeGuard[exp.Expr]:
    return isinstance(node, exp.ByteString) or (isinstance(node, exp.Literal) and bool(node.is_string))


def _refuse_growth() -> SqlRefusal:
    return SqlRefusal.coded(
        TOO_LARGE, "A statement about the catalogue makes too long texts.", "ask about the declared tables"
    )


def is_allowed(node: exp.Func) -> bool:
    """Tell whether a function is on the list."""
    if isinstance(node, exp.Anonymous):
        name = node.name.lower()
        return name in CONSTANTS or name in (*REWRITTEN, *PLAIN, *OF_NOTHING)
    return isinstance(node, LANGUAGE + LISTED)


def full_name(table: exp.Table) -> str:
    """Return the name by which a table of the catalogue is known."""
    name = table.name.lower()
    return f"information_schema.{name}" if table.db.lower() == "information_schema" else name


# Statements whose answer has no rows, whatever is asked.


def has_no_rows(tree: exp.Expr) -> bool:
    """Tell whether a statement reads rows of tables alone that have none."""
    made: dict[str, bool] = {}
    for cte in tree.find_all(exp.CTE):
        made[cte.alias_or_name.lower()] = _is_empty(cte.this, made)
    return _is_empty(tree, made)


def _is_empty(node: exp.Expr | None, made: Mapping[str, bool]) -> bool:
    match node:
        case exp.Subquery():
            return _is_empty(node.this, made)
        case exp.SetOperation():
            return _is_empty(node.left, made) and _is_empty(node.right, made)
        case exp.Select():
            sums_up = not node.args.get("group") and any(
                one.find(exp.AggFunc) is not None and one.find(exp.Select) is None and one.find(exp.Window) is None
                for one in node.expressions
            )
            return not sums_up and any(_is_empty_source(source, made) for source in _list_needed(node))
        case _:
            return False


def _list_needed(select: exp.Select) -> Iterator[exp.Expr]:
    """Yield the sources without whose rows there are none."""
    begin = select.args.get("from_") or select.args.get("from")
    joins = select.args.get("joins") or []
    if begin is not None and not any(join.side in ("RIGHT", "FULL") for join in joins):
        yield begin.this
    yield from (join.this for join in joins if join.side not in ("LEFT", "FULL"))


def _is_empty_source(source: exp.Expr, made: Mapping[str, bool]) -> bool:
    if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier):
        if not source.db and source.name.lower() in made:
            return made[source.name.lower()]
        name = full_name(source)
        return (name in TABLES and name not in FILLED) or any(
            _is_empty_source(join.this, made) for join in source.args.get("joins") or [] if join.side != "LEFT"
        )
    return isinstance(source, exp.Subquery) and _is_empty(source, made)


def uses_lists(tree: exp.Expr) -> bool:
    """Tell whether a tree makes rows of numbers or lists, which is allowed where there are none, or few."""
    return any(
        (isinstance(node, LISTED) and not _is_short(node))
        or (isinstance(node, exp.Anonymous) and node.name.lower() in OF_NOTHING)
        for node in tree.find_all(exp.Func)
    )


def _is_short(node: exp.Func) -> bool:
    """Tell whether a series is as long as a list that is written out."""
    start, end = node.args.get("start"), node.args.get("end")
    is_size = isinstance(end, exp.Anonymous) and end.name.lower() == "array_upper"
    return isinstance(start, exp.Literal) and (is_size or isinstance(end, exp.ArraySize))
