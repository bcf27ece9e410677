"""Other spellings of the same question, as trees: names with schemas in front, lists of column names, parentheses.

After this, a table has one name, an output has its own name, and a table in parentheses is a table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from discreet.core.schema import closest
from discreet.query.questions import QueryRefused
from discreet.query.remedies import Fix, Never, quote_if_needed, replace_path
from discreet.query.sql.parsing.tokens import Page
from discreet.query.sql.parsing.tree_checks import start_of

#: A name with what stands before it: catalogue, schema, table. Capitals do not count.
TablePath = tuple[str, ...]
#: What looks like a table in a schema, and is a file: 'visits.csv'.
FILE_ENDINGS = frozenset({"csv", "tsv", "parquet", "json", "jsonl", "xlsx", "db", "duckdb", "sqlite", "gz"})


@dataclass(frozen=True, slots=True)
class DeclaredTables:
    """Names of tables, and how each is called where it comes from: `public.visits`, or nothing but its name."""

    names: frozenset[str]
    paths: Mapping[str, TablePath]

    @classmethod
    def of(cls, names: tuple[str, ...], paths: Mapping[str, str]) -> "DeclaredTables":
        """Return tables by their names."""
        declared = {name.casefold(): _split(path) for name, path in paths.items()}
        return cls(frozenset(name.casefold() for name in names), declared)


def _split(path: str) -> TablePath:
    return tuple(part.casefold() for part in path.split("."))


def respell_tree(page: Page, tree: exp.Expr, tables: DeclaredTables) -> exp.Expr:
    """Return a tree in the one spelling that is read further on."""
    _open_parentheses(page, tree)
    found = _drop_table_paths(page, tree, tables)
    _drop_column_paths(page, tree, found)
    _name_listed_columns(page, tree)
    tree = tree.transform(_compare_each) if tree.find(exp.Tuple) is not None else tree
    for group in tree.find_all(exp.Group):
        group.set("expressions", [part for node in group.expressions for part in _flatten(node)])
    return tree


def _open_parentheses(page: Page, tree: exp.Expr) -> None:
    """Take tables out of parentheses: FROM (visits), and FROM (visits JOIN patients ON …), where they stand first."""
    for node in list(tree.find_all(exp.Subquery)):
        table, alias = node.this, node.args.get("alias")
        if not isinstance(table, exp.Table):
            continue
        joins, clause = table.args.get("joins") or [], node.parent
        if joins and alias is None and isinstance(clause, exp.From) and isinstance(clause.parent, exp.Select):
            # Joins are taken from the left, and so these come before all others.
            clause.parent.set("joins", [*joins, *(clause.parent.args.get("joins") or [])])
            table.set("joins", None)
        if alias is not None and table.args.get("alias") is None:
            table.set("alias", alias)
        node.replace(table)
    for table in tree.find_all(exp.Table):
        if table.args.get("joins"):
            raise page.refuse(
                start_of(table), "A join in parentheses must stand first.", "remove the parentheses: FROM a JOIN b ON …"
            )


def _compare_each(node: exp.Expr) -> exp.Expr:
    """Return (a, b) IN ((1, 2), (3, 4)) as a = 1 AND b = 2 OR a = 3 AND b = 4, among the conditions of WHERE.

    Databases differ in whether a list with a NULL in it is unequal to another. Where it is not negated, no row is kept.
    """
    if not (isinstance(node, exp.In) and isinstance(node.this, exp.Tuple) and node.expressions):
        return node
    above = node.parent
    while isinstance(above, exp.And | exp.Or | exp.Paren):
        above = above.parent
    if not isinstance(above, exp.Where):
        return node
    values, lists = node.this.expressions, node.expressions
    if not all(isinstance(one, exp.Tuple) and len(one.expressions) == len(values) for one in lists):
        return node
    alike = [
        _chain(exp.And, [exp.EQ(this=mine.copy(), expression=theirs) for mine, theirs in zip(values, one, strict=True)])
        for one in (each.expressions for each in lists)
    ]
    return exp.Paren(this=_chain(exp.Or, alike))


def _chain(kind: type[exp.And | exp.Or], parts: Sequence[exp.Expr]) -> exp.Expr:
    """Return conditions with AND or OR between them."""
    first, *others = parts
    for other in others:
        first = kind(this=first, expression=other)
    return first


def _flatten(node: exp.Expr) -> list[exp.Expr]:
    """Return what is grouped by: GROUP BY (ward, age) is GROUP BY ward, age."""
    return list(node.expressions) if isinstance(node, exp.Tuple) else [node]


def _path_of(node: exp.Expr) -> tuple[exp.Identifier, ...]:
    """Return the names before a table's or a column's own name, and for a table its own."""
    parts = ("catalog", "db", "this") if isinstance(node, exp.Table) else ("catalog", "db", "table")
    return tuple(part for name in parts if isinstance(part := node.args.get(name), exp.Identifier))


def _agree(one: TablePath, other: TablePath) -> bool:
    """Whether two ways to name a table can mean the same: one of them says more, and not something else."""
    return all(left == right for left, right in zip(reversed(one), reversed(other), strict=False))


def _drop_table_paths(page: Page, tree: exp.Expr, tables: DeclaredTables) -> dict[str, TablePath]:
    """Take schemas off the tables of a question; return how each of them is called."""
    found: dict[str, TablePath] = {}
    for node in list(tree.find_all(exp.Table)):
        if not isinstance(node.this, exp.Identifier):
            continue
        path = tuple(part.name.casefold() for part in _path_of(node))
        if len(path) == 1 and path[0] not in tables.names:
            path = _split(path[0])  # `project.dataset.table`: all of it in one pair of quotes
        if len(path) == 1:
            continue
        _check_path(page, node, path, tables, found)
        found[path[-1]] = max(path, found.get(path[-1], ()), key=len)
        node.this.set("this", node.this.name.split(".")[-1] if len(_path_of(node)) == 1 else node.this.name)
        node.set("db", None)
        node.set("catalog", None)
    return found


def _check_path(
    page: Page, node: exp.Table, path: TablePath, tables: DeclaredTables, found: Mapping[str, TablePath]
) -> None:
    """Refuse a name that may mean a table other than the one that is asked."""
    name, shown = path[-1], ".".join(part.name for part in _path_of(node))[:60]
    if name not in tables.names:
        raise page.refuse(start_of(node), f"There is no table {shown!r}.", _suggest_table(page, node, path, tables))
    declared = tables.paths.get(name, (name,))
    if not _agree(path, declared):
        raise page.refuse(
            start_of(node),
            f"The table is {'.'.join(declared)!r}, not {shown!r}.",
            f"write {name}, or open the other table",
        )
    if not _agree(path, found.get(name, ())):
        raise page.refuse(
            start_of(node),
            f"{name!r} is named with two different schemas.",
            f"write {name} everywhere: there is one table of this name",
        )


def _suggest_table(page: Page, node: exp.Table, path: TablePath, tables: DeclaredTables) -> str:
    name, listed = path[-1], f"use one of: {', '.join(sorted(tables.names))}"
    if name in FILE_ENDINGS:
        return Fix(f"{listed}; files cannot be read from here", Never.FILES)
    meant = closest(name, tables.names) or closest(path[0], tables.names)
    if meant is None:
        return listed
    return replace_path(page.text, start_of(node), f"did you mean {meant!r}?", quote_if_needed(meant))


def _drop_column_paths(page: Page, tree: exp.Expr, found: Mapping[str, TablePath]) -> None:
    """Take schemas off the columns of a question: public.visits.age is visits.age."""
    for node in list(tree.find_all(exp.Column)):
        parts = _path_of(node)
        if len(parts) < 2:
            continue
        path = tuple(part.name.casefold() for part in parts)
        known = found.get(path[-1])
        if known is None or not _agree(path, known):
            raise _refuse_column(page, node, parts)
        node.set("db", None)
        node.set("catalog", None)


def _refuse_column(page: Page, node: exp.Column, parts: tuple[exp.Identifier, ...]) -> QueryRefused:
    shown = ".".join(part.name for part in parts)[:60]
    return page.refuse(
        start_of(node),
        f"There is no table {shown!r} in this question.",
        f"write {parts[-1].name}.{node.name}, with the table as it stands after FROM, or the column's name alone",
    )


def _name_listed_columns(page: Page, tree: exp.Expr) -> None:
    """Give outputs the names that stand behind a subquery's name: WITH q(a, b) AS (SELECT …), (SELECT …) AS q(a, b)."""
    for node in list(tree.find_all(exp.TableAlias)):
        columns = node.args.get("columns") or []
        if not columns:
            continue
        holder = node.parent
        inner = holder.this if isinstance(holder, exp.CTE | exp.Subquery) else None
        while isinstance(inner, exp.Union | exp.Subquery):
            inner = inner.this
        if not isinstance(inner, exp.Select):
            raise page.refuse(
                start_of(node), "A table keeps the names of its columns.", "write (SELECT x AS a, … FROM …) AS t"
            )
        _check_renaming(page, inner, columns)
        named = [
            exp.Alias(this=output.unalias(), alias=column)
            for output, column in zip(inner.expressions, columns, strict=True)
        ]
        inner.set("expressions", named)
        node.set("columns", None)


def _check_renaming(page: Page, select: exp.Select, columns: list[exp.Identifier]) -> None:
    """Refuse names that something inside could take for others: what it means is then not what stands there."""
    outputs = select.expressions
    if len(columns) != len(outputs) or any(output.is_star for output in outputs):
        raise page.refuse(
            start_of(columns[0]),
            "The names are not as many as the outputs of the subquery.",
            "name every output once: SELECT x AS a, …",
        )
    old = [output.alias.casefold() for output in outputs]
    new = [column.name.casefold() for column in columns]
    moved = any(name in old and old.index(name) != place for place, name in enumerate(new))
    if moved or select.args.get("order") is not None or select.args.get("having") is not None:
        raise page.refuse(
            start_of(columns[0]),
            "These names would change what is meant inside of the subquery.",
            "write the names behind its outputs: SELECT x AS a, …",
        )
