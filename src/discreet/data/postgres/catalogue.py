"""Facts about a table, from PostgreSQL's catalogue and from declarations; refuses what is computed. No row is read.

Whether the role may still read a table is looked up before a question is paid for: the server refuses a statement only
when it is executed.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from discreet.algebra.declarations import columns_in_any_case, need_column, need_told_apart
from discreet.algebra.names import quote_name, table_named
from discreet.core import InvalidInput, NotReady, PrivacyUnit
from discreet.core.schema import Column, Kind, Schema
from discreet.data.postgres.column_types import ENUM, RULES, reason_left_out, spelling
from discreet.data.postgres.literals import bare_text, constant
from discreet.data.reading.column_types import Casting, cast_columns
from discreet.data.reading.foreign_keys import children_of, key_pairs, person_kind, sort_by_parents
from discreet.data.reading.table_sources import Declaration

# Plain relations of PostgreSQL: they are read without computing anything, so that no row can make reading fail.
#
# A statement that fails for one row tells exactly that the row exists. The expressions of questions are total; those
# that stand in the database (views, policies, virtual columns, foreign tables) need not be. Only the catalogue is
# read.

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
    reason = next(_reasons_against(ask, relation), None)
    if reason is None:
        return
    raise InvalidInput(
        f"A row may make reading {table!r} fail, and a failure tells of that row: {reason}.",
        fix="open a table, a materialized view, or a view that names columns of one table and computes nothing (what "
        "columns hold is declared by kinds=…, and what does not fit is NULL); or, if you know that no row that can "
        f"ever be there makes it fail, promise that: never_fails=[{table!r}]",
    )


def _reasons_against(ask: Ask, relation: int) -> Iterator[str]:
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


#: The placeholder of the alias in the SQL of columns: no name or constant can have it.
OWN = "\0"
#: The type of a column that the role may not read.
UNREADABLE = ""
#: Tables, partitioned and foreign ones, and views.
RELATIONS = "('r', 'p', 'f', 'v', 'm')"
#: Those of them that keep rows: tables, partitioned ones, and views that are kept.
KEEPING = ("r", "p", "m")
#: A domain is what it is made of; they may be made of each other.
TYPES = """
    WITH RECURSIVE made(column_number, name, type, depth) AS (
        SELECT a.attnum, a.attname, a.atttypid, 0 FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = {table}::oid AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL
        SELECT m.column_number, m.name, t.typbasetype, m.depth + 1 FROM made m
        JOIN pg_catalog.pg_type t ON t.oid = m.type WHERE t.typtype = 'd'
    )
    SELECT m.name, CASE WHEN t.typtype = 'e' THEN 'enum' ELSE t.typname END, n.nspname,
        has_column_privilege({table}::oid, m.column_number, 'SELECT')
    FROM made m JOIN pg_catalog.pg_type t ON t.oid = m.type JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
    WHERE t.typtype <> 'd' ORDER BY m.column_number
"""
#: Types of which different values are different people, whatever is declared.
WHOLE_NUMBERS = ("int2", "int4", "int8")
#: Whether a column alone is a key of a table without children, checked for every row at once.
KEYS = """
    SELECT EXISTS (
        SELECT 1 FROM pg_catalog.pg_index i
        JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
        WHERE i.indrelid = {table}::oid AND a.attname = {column} AND i.indisunique AND i.indisvalid AND i.indimmediate
            AND i.indnkeyatts = 1 AND i.indpred IS NULL AND i.indexprs IS NULL
    ) AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_inherits h WHERE h.inhparent = {table}::oid)
"""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """How the server's catalogue is asked, and where the role looks for tables without a schema."""

    ask: Ask
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relation:
    """A table of the database, or a public one that is written out, and what its columns become. Public."""

    schema: Schema
    #: The text in FROM, and the text after the alias.
    origin: str
    #: The SQL of columns, `OWN` standing for the alias.
    columns: Mapping[str, str]
    order: tuple[tuple[str, Kind], ...]
    left_out: Mapping[str, str]
    listed: str = ""
    #: How ids are written, where people are named by texts.
    spelling: str = "plain"
    #: Whether the server keeps its rows, so that some of them can be read without the others: no view does.
    kept: bool = False
    #: Whether the person is a key, so that no person has more than one row.
    single: bool = False
    #: The relations that it is made of, where rows lead to the person by a key: the table itself, and its parent.
    below: tuple["Relation", ...] = ()


@dataclass(frozen=True, slots=True)
class PostgresSources:
    """All tables, private and public ones, by the names that questions have for them."""

    private: Mapping[str, Relation]
    public: Mapping[str, Relation]

    def need_private(self, table: str) -> Relation:
        """Return a private table."""
        return table_named(table, self.private)

    def need_public(self, table: str) -> Relation:
        """Return a public table."""
        return table_named(table, self.public)


def private_relations(catalogue: Catalogue, tables: Sequence[tuple[str, Declaration, Sequence[str]]]) -> list[Relation]:
    """Return private tables as they were declared, each behind the one whose key leads to its person."""
    declarations = [declaration for _, declaration, _ in tables]
    relations: dict[int, Relation] = {}
    parents: dict[int, Relation] = {}
    for place in sort_by_parents(declarations):
        relations[place] = private_relation(catalogue, *tables[place], parent=parents.get(place))
        parents |= dict.fromkeys(children_of(place, declarations), relations[place])
    return [relations[place] for place in range(len(tables))]


def private_relation(
    catalogue: Catalogue,
    inner: str,
    declaration: Declaration,
    leave_out: Sequence[str],
    parent: Relation | None = None,
) -> Relation:
    """Return a private table as it was declared; columns to be left out can order rows, and are not asked about."""
    place = _place(catalogue.ask, catalogue.path, inner)
    if not declaration.never_fails:
        need_plain(catalogue.ask, place.number, declaration.table)
    origin, types, kept = _describe_table(catalogue.ask, place)
    need_told_apart([*declaration.named, *leave_out], tuple(types), person=declaration.person)
    known = columns_in_any_case(Column(name=name, kind=Kind.TEXT) for name in types)
    wanted = {need_column(name, known, "has a kind").name: kind for name, kind in declaration.kinds.items()}
    hidden = {need_column(name, known, "is left out").name for name in leave_out}
    person = "" if declaration.person is None else declaration.person.casefold()
    casts = {
        name: RULES.column(name, _own(name), kind, wanted.get(name), is_person=name.casefold() == person)
        for name, kind in types.items()
    }
    everything = cast_columns(casts)
    shown = tuple(column for column in everything if column.name not in hidden)
    led = () if parent is None else (declaration.person_column(everything, person_kind(parent.schema)),)
    schema = declaration.schema((*shown, *led))
    first = declaration.order_in(everything)
    kinds = {column.name: column.kind for column in (*everything, *led)}
    order = [*([] if first is None else [first]), *(name for name in schema.names if name != first)]
    reasons = {**_reasons(casts, types), **dict.fromkeys(hidden, "it was to be left out")}
    texts = {name: cast.text for name, cast in casts.items() if cast is not None}
    spelt = next((spelling(kind) for name, kind in types.items() if name.casefold() == person), "plain")
    ordered = tuple((name, kinds[name]) for name in order)
    named = next((name for name in types if name.casefold() == person), None)
    single = named is not None and types[named] in WHOLE_NUMBERS and _is_key(catalogue.ask, place, named)
    relation = Relation(schema, origin, texts, ordered, reasons, spelling=spelt, kept=kept, single=single)
    return relation if parent is None else _add_person(relation, declaration, everything, parent)


def _add_person(relation: Relation, declaration: Declaration, own: Sequence[Column], parent: Relation) -> Relation:
    """Return a table with the person that its key leads to: see `discreet.data.reading.foreign_keys`."""
    pairs = key_pairs(declaration, own, parent.schema)
    person = str(relation.schema.unit.column)
    owner = parent.columns[str(parent.schema.unit.column)].replace(OWN, "o")
    keys = [f"{parent.columns[key.name].replace(OWN, 'o')} AS k{place}" for place, (_, key) in enumerate(pairs)]
    # S608: names are quoted, and the rest is our own.
    owners = f"SELECT DISTINCT {', '.join(keys)}, {owner} AS person FROM {parent.origin} AS o WHERE {owner} IS NOT NULL"  # noqa: S608
    same = " AND ".join(
        f"{relation.columns[mine.name].replace(OWN, 's')} = w.k{place}" for place, (mine, _) in enumerate(pairs)
    )
    items = ", ".join(f"s.{quote_name(name)}" for name in relation.columns)
    origin = (
        f"(SELECT {items}, w.person AS {quote_name(person)} FROM {relation.origin} AS s JOIN ({owners}) AS w ON {same})"  # noqa: S608
    )
    alone = replace(relation.schema, columns=tuple(own), unit=PrivacyUnit(), via=None)
    return replace(
        relation,
        origin=origin,
        columns={**relation.columns, person: _own(person)},
        spelling=parent.spelling,
        kept=False,
        single=False,
        below=(replace(relation, schema=alone, order=()), parent),
    )


def public_relation(catalogue: Catalogue, inner: str, table: str, kinds: Mapping[str, Kind] | None = None) -> Relation:
    """Return a public table of the database: rows without a person, ordered by its columns. None is read yet."""
    declaration = Declaration(
        table=table,
        unit=PrivacyUnit(),
        bounds={},
        groups={},
        kinds=kinds or {},
        complete=(),
        order=None,
        never_fails=True,
    )  # a row that makes reading it fail belongs to no person
    return private_relation(catalogue, inner, declaration, ())


def inline_rows(schema: Schema, rows: Sequence[Sequence[Any]]) -> Relation:
    """Return public rows that are written out in each statement."""
    kinds = [column.kind for column in schema.columns]
    lines = [", ".join(constant(cell, kind) for cell, kind in zip(row, kinds, strict=True)) for row in rows]
    nothing = ", ".join(constant(None, kind) for kind in kinds)
    values = ", ".join(f"({line})" for line in lines)
    # Without rows there would be no VALUES.
    origin = f"(VALUES {values})" if rows else f"(SELECT {nothing} WHERE false)"
    names = [f"p{place}" for place in range(len(kinds))]
    columns = {column.name: f"{OWN}.{name}" for column, name in zip(schema.columns, names, strict=True)}
    order = tuple((column.name, column.kind) for column in schema.columns)
    return Relation(schema, origin, columns, order, {}, f"({', '.join(names)})")


@dataclass(frozen=True, slots=True)
class _Place:
    """The place of a table on the server: schema, name, number in the catalogue, and kind."""

    schema: str
    name: str
    number: int
    kind: str


def _describe_table(ask: Ask, place: _Place) -> tuple[str, dict[str, str], bool]:
    """Return a table's full name in quotes, the type of each of its columns, and whether its rows are kept there."""
    types = {}
    for column, kind, owner, readable in ask(TYPES.format(table=f"'{place.number}'")):
        # Types of others that are called like one of PostgreSQL's own are not those.
        known = kind if owner == "pg_catalog" or kind == ENUM else f"{owner}.{kind}"
        types[column] = known if readable else UNREADABLE
    return f"{quote_name(place.schema)}.{quote_name(place.name)}", types, place.kind in KEEPING


def _is_key(ask: Ask, place: _Place, column: str) -> bool:
    """Whether no two rows of a table have the same value in a column, as the server sees to it."""
    ((is_unique,),) = ask(KEYS.format(table=f"'{place.number}'", column=bare_text(column)))
    return place.kind == "r" and bool(is_unique)


def _place(ask: Ask, path: Sequence[str], inner: str) -> _Place:
    """Return the place of a table; without a schema, in the first one where names are found."""
    # S608: a constant that cannot be taken for SQL, and names of our own.
    tables = ask(
        "SELECT n.nspname, c.relname, c.oid, c.relkind::text"  # noqa: S608
        " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
        f" WHERE c.relkind IN {RELATIONS} AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')"
        f" AND (c.relname = {bare_text(inner)} OR n.nspname || '.' || c.relname = {bare_text(inner)})"
    )
    full = [table for table in tables if f"{table[0]}.{table[1]}" == inner]
    near = [table for place in path for table in tables if (table[0], table[1]) == (place, inner)]
    for table in (*full[:1], *near[:1]):
        return _Place(str(table[0]), str(table[1]), int(table[2]), str(table[3]))
    raise InvalidInput(
        f"There is no table {inner!r} that this role can find.",
        fix="write its name as it is on the server, with its schema, such as public.visits; and let the role read it: "
        "GRANT USAGE ON SCHEMA, GRANT SELECT ON",
    )


def _own(name: str) -> str:
    """Return the SQL of a column under the alias to come."""
    return f"{OWN}.{quote_name(name)}"


def _reasons(casts: Mapping[str, Casting | None], types: Mapping[str, str]) -> dict[str, str]:
    """Return why columns have no place here."""
    return {
        name: reason_left_out(types[name]) if types[name] else "the role may not read it: GRANT SELECT"
        for name, cast in casts.items()
        if cast is None
    }


#: Columns of a relation, and below a view those that the view is made of, which its owner reads (or, if the view says
#: so, the role that asks).
UNREADABLE_COLUMNS = """
    WITH RECURSIVE reading(relation, place, reader) AS (
        SELECT a.attrelid, a.attnum::integer, r.oid FROM pg_catalog.pg_attribute a, pg_catalog.pg_roles r
        WHERE a.attrelid = {relation}::regclass AND a.attname IN ({columns}) AND r.rolname = current_user
        UNION
        SELECT d.refobjid, d.refobjsubid, CASE WHEN EXISTS (
                SELECT 1 FROM pg_catalog.pg_options_to_table(v.reloptions) o
                WHERE o.option_name = 'security_invoker' AND o.option_value::boolean
            ) THEN x.reader ELSE v.relowner END
        FROM reading x JOIN pg_catalog.pg_class v ON v.oid = x.relation AND v.relkind = 'v'
        JOIN pg_catalog.pg_rewrite w ON w.ev_class = v.oid AND w.ev_type = '1'
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND d.objid = w.oid
            AND d.refclassid = 'pg_catalog.pg_class'::regclass AND d.refobjid <> v.oid AND d.refobjsubid > 0
    )
    SELECT count(*) FROM reading WHERE NOT has_column_privilege(reader, relation, place::smallint, 'SELECT')
"""


def need_readable(ask: Ask, relations: Iterable[Relation]) -> None:
    """Refuse tables whose columns the role may no longer read, before anything is paid."""
    for relation in relations:
        if relation.below:
            need_readable(ask, relation.below)
            continue
        if relation.listed:
            continue  # written out in the statement: nothing is read on the server
        names = dict.fromkeys((*relation.schema.names, *(name for name, _ in relation.order)))
        columns = ", ".join(map(bare_text, names))
        if ask(UNREADABLE_COLUMNS.format(relation=bare_text(relation.origin), columns=columns)) != [(0,)]:
            raise NotReady(
                f"The role may no longer read all columns of {relation.schema.table!r} that it could read when the "
                "table was opened. Nothing was paid.",
                fix="let it read them again (GRANT SELECT), or open the table again with the same ledger",
            )
