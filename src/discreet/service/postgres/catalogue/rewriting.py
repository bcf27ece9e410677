"""Statements about the catalogue in the words of DuckDB, which answers them."""

import re
from collections.abc import Mapping
from typing import cast

from sqlglot import exp
from sqlglot.dialects.dialect import DialectType

from discreet.service.postgres.catalogue.columns import FUNCTION_COLUMNS
from discreet.service.postgres.catalogue.facts import KNOWN_TABLES, TYPES
from discreet.service.postgres.catalogue.reading import CONSTANTS, SCHEMAS, full_name, list_tables

ENGINE: DialectType = "duckdb"
#: Where the tables lie in the engine, apart from its own catalogue.
PLACE = "facts"
#: A list as PostgreSQL writes it.
LIST = re.compile(r"\{[0-9, ]*\}")
WHOLE = ("oid", "int2", "int4", "int8", "smallint", "int", "integer", "bigint", "xid", "regrole")
TEXTS = ("text", "name", "char", '"char"', "varchar", "bpchar", "cstring", "regproc", "regnamespace", "regoper")


def rewrite(tree: exp.Expr, numbers: Mapping[str, int], settings: Mapping[str, str]) -> str:
    """Return a statement as DuckDB reads it: `numbers` are those of the declared tables."""
    tree = tree.copy()
    for table in list(list_tables(tree)):
        alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(table.name))
        name = exp.to_identifier(place_name(full_name(table)), quoted=True)
        table.set("this", name)
        table.set("db", exp.to_identifier(PLACE))
        table.set("alias", alias)
    for part in tree.find_all(exp.Column, exp.Table):
        if isinstance(part, exp.Column) or not isinstance(part.this, exp.Identifier):
            part.set("db", None)  # pg_catalog.pg_class.oid is pg_class.oid here, and pg_catalog.unnest(x) unnest(x)
    # From the leaves up, so that what is rewritten has parts that were.
    for node in reversed(list(tree.walk(bfs=True))):
        new = _rewrite_node(node, numbers, settings)
        if node is tree:
            tree = new
        elif new is not node:
            node.replace(new)
    return tree.sql(ENGINE)


def place_name(name: str) -> str:
    """Return the name of a table in the engine."""
    return name.replace("information_schema.", "information_schema_")


def _rewrite_node(node: exp.Expr, numbers: Mapping[str, int], settings: Mapping[str, str]) -> exp.Expr:
    match node:
        case exp.Dot() if isinstance(node.this, exp.Identifier | exp.Column) and node.this.name.lower() in SCHEMAS:
            return cast("exp.Expr", node.expression)
        case exp.Operator():
            return _rewrite_operator(node)
        case exp.Collate():
            return cast("exp.Expr", node.this)
        case exp.Cast():
            return _rewrite_cast(node, numbers)
        case exp.Anonymous():
            return _rewrite_call(node, numbers, settings)
        case exp.Func():
            return _rewrite_function(node, settings)
        case exp.EQ() | exp.NEQ():
            return _rewrite_comparison(node)
        case _:
            return node


def _rewrite_function(node: exp.Func, settings: Mapping[str, str]) -> exp.Expr:
    match node:
        case exp.CurrentUser() | exp.SessionUser():
            return exp.Literal.string(settings["user"])
        case exp.CurrentSchema():
            return exp.Literal.string("public")
        case exp.CurrentDatabase() | exp.CurrentCatalog():
            return exp.Literal.string(settings["database"])
        case exp.CurrentVersion():
            return _version(settings)
        case exp.CurrentSchemas():
            return _schemas()
        case exp.ArraySize():
            return exp.Anonymous(this="len", expressions=[node.this])
        case exp.ExplodingGenerateSeries() if isinstance(node.parent, exp.Table):
            return exp.Anonymous(this="generate_series", expressions=[node.args["start"], node.args["end"]])
        case _:
            return node


def _version(settings: Mapping[str, str]) -> exp.Expr:
    return exp.Literal.string(f"PostgreSQL {settings['server_version']} (discreet)")


def _rewrite_operator(node: exp.Expr) -> exp.Expr:
    """Return OPERATOR(pg_catalog.~), which psql writes, as what it is."""
    sign = str(node.args.get("operator") or "").rpartition(".")[2].strip("() ")
    pattern = exp.RegexpLike(this=node.this, expression=node.args["expression"])
    return exp.Not(this=pattern) if sign == "!~" else pattern


def _rewrite_comparison(node: exp.Expr) -> exp.Expr:
    """Return a comparison with what the engine has: names of functions in place of numbers, and its lists."""
    sides = (node.this, node.expression)
    for side, other in (sides, sides[::-1]):
        if isinstance(other, exp.Literal) and other.is_string and LIST.fullmatch(other.name):
            other.replace(exp.Literal.string(f"[{other.name[1:-1]}]"))
        if isinstance(side, exp.Column) and side.name.lower() in FUNCTION_COLUMNS and other.is_number:
            other.replace(exp.Literal.string("-"))
    return node


def _rewrite_cast(node: exp.Cast, numbers: Mapping[str, int]) -> exp.Expr:
    kind = node.to.sql("postgres").lower().replace("pg_catalog.", "").partition("(")[0].strip()
    inner = node.this
    if kind in ("regclass", "regtype"):
        if isinstance(inner, exp.Literal) and inner.is_string:
            return find_number(inner.name, numbers) if kind == "regclass" else _find_type(inner.name)
        return exp.Anonymous(this="shown_class" if kind == "regclass" else "shown_type", expressions=[inner])
    if kind == "regproc" and isinstance(inner, exp.Literal):
        return exp.Literal.string(inner.name.removeprefix("pg_catalog."))
    if kind in WHOLE:
        return exp.Cast(this=inner, to=exp.DataType.build("BIGINT"))
    if kind in TEXTS:
        return exp.Cast(this=inner, to=exp.DataType.build("VARCHAR"))
    if kind.endswith("[]"):
        return exp.Cast(this=inner, to=exp.DataType.build("VARCHAR[]", dialect=ENGINE))
    return node


def find_number(name: str, numbers: Mapping[str, int]) -> exp.Expr:
    """Return the number of a table by its name; NULL without one."""
    plain = name.rpartition(".")[2].strip('"')
    number = numbers.get(plain, KNOWN_TABLES.get(plain))
    if number is None and plain.isdigit():
        number = int(plain)
    return exp.Null() if number is None else exp.Literal.number(number)


def _find_type(name: str) -> exp.Expr:
    plain = name.rpartition(".")[2].strip('"').lower()
    found = next((one.oid for one in TYPES if plain in (one.name, one.words)), None)
    return exp.Null() if found is None else exp.Literal.number(found)


def _rewrite_call(node: exp.Anonymous, numbers: Mapping[str, int], settings: Mapping[str, str]) -> exp.Expr:
    name, arguments = node.name.lower(), node.expressions
    if name in CONSTANTS:
        return exp.maybe_parse(CONSTANTS[name], dialect=ENGINE)
    first = arguments[0] if arguments else exp.Null()
    text = first.name if isinstance(first, exp.Literal) and first.is_string else ""
    if name in ("version", "current_schemas", "current_database", "current_setting"):
        return _say_setting(name, text, settings)
    match name:
        case "format_type":
            return exp.Anonymous(this="shown_type", expressions=[first])
        case "array_upper":
            return exp.Anonymous(this="len", expressions=[first])
        case "to_regtype":
            return _find_type(text)
        case "to_regclass":
            return find_number(text, numbers)
        case "quote_ident":
            return first
        case _:
            return node


def _say_setting(name: str, text: str, settings: Mapping[str, str]) -> exp.Expr:
    """Return what is known of the connection, as a literal."""
    match name:
        case "version":
            return _version(settings)
        case "current_database":
            return exp.Literal.string(settings["database"])
        case "current_schemas":
            return _schemas()
        case _:
            found = settings.get(text.lower(), settings.get(text))
            return exp.Null() if found is None else exp.Literal.string(found)


def _schemas() -> exp.Expr:
    return exp.Array(expressions=[exp.Literal.string("pg_catalog"), exp.Literal.string("public")])
