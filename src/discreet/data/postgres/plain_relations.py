"""Plain relations of PostgreSQL: they are read without computing anything, so that no row can make reading fail.

A statement that fails for one row tells exactly that the row exists. The expressions of questions are total; those that
stand in the database (views, policies, virtual columns, foreign tables) need not be. Only the catalogue is read.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from discreet.core import InvalidInput

#: Returns the rows of a statement about the catalogue.
Ask = Callable[[str], list[tuple[Any, ...]]]
#: The nodes of a view that names columns of other relations and computes nothing. A relabelled type keeps its bytes.
PLAIN_NODES = frozenset(
    {"QUERY", "RTE", "RANGETBLENTRY", "RTEPERMISSIONINFO", "ALIAS", "TARGETENTRY", "VAR", "RELABELTYPE", "FROMEXPR"}
    | {"RANGETBLREF"}
)
#: How a node begins in the text of a rule. Braces in names are written behind a backslash.
NODE = re.compile(r"(?<!\\)\{([A-Z_0-9]*)")
RELATION = re.compile(r":relid ([0-9]+)")
#: Kinds of relations whose rows are stored, or are those of their partitions.
STORED = ("r", "p", "m")
FACTS = """
    SELECT c.relkind::text, c.relrowsecurity,
        EXISTS (SELECT 1 FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attgenerated = 'v'),
        (SELECT pg_catalog.string_agg(r.ev_action::text, ' ') FROM pg_catalog.pg_rewrite r
            WHERE r.ev_class = c.oid AND r.ev_type = '1'),
        (SELECT pg_catalog.string_agg(i.inhrelid::text, ' ') FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid)
    FROM pg_catalog.pg_class c WHERE c.oid = {relation}::oid
"""


def need_plain(ask: Ask, relation: int, table: str) -> None:
    """Refuse a relation whose reading computes something, or reads from elsewhere: a row may make that fail."""
    reason = next(_reasons(ask, relation), None)
    if reason is None:
        return
    raise InvalidInput(
        f"A row may make reading {table!r} fail, and a failure tells of that row: {reason}.",
        fix="open a table, a materialized view, or a view that names columns of one table and computes nothing (what "
        "columns hold is declared by kinds=…, and what does not fit is NULL); or, if you know that no row that can "
        f"ever be there makes it fail, promise that: never_fails=[{table!r}]",
    )


def _reasons(ask: Ask, relation: int) -> Iterator[str]:
    """Yield why reading a relation, or one that it is made of, may fail."""
    waiting, visited = [relation], set[int]()
    while waiting:
        number = waiting.pop()
        if number in visited:
            continue
        visited.add(number)
        facts = ask(FACTS.format(relation=f"'{number}'"))
        if len(facts) != 1:
            yield "a relation that it is made of is not in the catalogue"
            continue
        ((kind, has_policies, has_virtual, definition, parts),) = facts
        if has_policies:
            yield "it has row-level security, whose policies are computed for each row"
        if has_virtual:
            yield "it has virtual generated columns, which are computed for each row"
        yield from _reasons_of_kind(kind, definition or "")
        waiting += [int(oid) for oid in RELATION.findall(definition or "") if int(oid)]
        waiting += [int(oid) for oid in (parts or "").split()]


def _reasons_of_kind(kind: str, definition: str) -> Iterator[str]:
    """Yield why reading a relation of some kind may fail."""
    if kind == "v" and not _names_columns_only(definition):
        yield "it is a view that computes something, or is made of several tables"
    elif kind == "f":
        yield "it is a foreign table, or has parts that are"
    elif kind not in (*STORED, "v"):
        yield "it is made of a relation that is neither a table nor a view"


def _names_columns_only(definition: str) -> bool:
    """Whether the rule of a view reads one relation, or a subquery that does, and computes nothing."""
    nodes = NODE.findall(definition)
    sources = nodes.count("RANGETBLREF")
    return bool(nodes) and PLAIN_NODES.issuperset(nodes) and sources == nodes.count("QUERY")
