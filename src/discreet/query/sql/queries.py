"""Subqueries, WITH, UNION ALL and IN (SELECT …), from SQL to relations."""

from dataclasses import replace
from datetime import date

from sqlglot import exp

from discreet.algebra.expressions import ColumnValue, Expression, Literal, call
from discreet.algebra.functions import F
from discreet.algebra.relations import Derived, JoinKind, Named, Pair, Scan, UnionAll, UnitJoin, matching
from discreet.core import DiscreetError
from discreet.core.schema import Kind, Value, closest
from discreet.query.questions import QueryRefused
from discreet.query.relations.normal_form import combine_conditions
from discreet.query.relations.person_keys import compares_keys
from discreet.query.relations.schemas import unit_of
from discreet.query.remedies import Fix, Never, quote_if_needed, replace_name
from discreet.query.sql.exists import filter_by_partners, filter_by_public_column, find_public_column, need_plain_select
from discreet.query.sql.expressions import SUM_UP_FIRST, WINDOW_OF_ROWS, read_expression
from discreet.query.sql.from_clause import find_public, join_tables
from discreet.query.sql.joins import check_people, split_conjuncts
from discreet.query.sql.parsing.tree_checks import start_of
from discreet.query.sql.per_person import Folding
from discreet.query.sql.row_unions import select_columns, unite_rows
from discreet.query.sql.scope import Given, Item, Known, Public, RowSource, SeenColumn, SqlScope
from discreet.query.sql.select import group_nodes, need_one_set, resolve_group, sums_up

MOST_COLUMNS = 200
LONGEST_NAME = 100
INSIDE = {
    "order": ("ORDER BY sorts rows inside a question.", "leave it out: rows have no order that the answer could show"),
    "offset": ("OFFSET leaves rows out inside a question.", "leave it out: all rows count, within the limits"),
    "limit": ("LIMIT takes some rows inside a question.", "leave it out: all rows count, within the limits"),
    **dict.fromkeys(("qualify", "windows"), (WINDOW_OF_ROWS, SUM_UP_FIRST)),
}


def add_with_names(node: exp.Expr, known: Known) -> Known:
    """Return what is known after the names of WITH, each of which may speak of those before it."""
    clause = node.args.get("with_")
    for cte in [] if clause is None else clause.expressions:
        name = cte.alias.casefold()
        if name in known.given or known.private(name) or known.public(name):
            raise known.refuse(cte.args["alias"], f"{cte.alias!r} is the name of a table already.", "choose another")
        if not _is_used(cte, node):
            raise known.refuse(cte.args["alias"], f"{cte.alias!r} is not used.", "leave it out")
        known = replace(known, given={**known.given, name: Given(cte, known)})
    return known


def _is_used(cte: exp.CTE, node: exp.Expr) -> bool:
    inside = {id(table) for table in cte.find_all(exp.Table)}
    tables = (table for table in node.find_all(exp.Table) if id(table) not in inside)
    return any(table.name.casefold() == cte.alias.casefold() for table in tables)


def read_rows_of(node: exp.Select, known: Known) -> tuple[RowSource, list[exp.Expr]]:
    """Return the rows that a SELECT is about, and the conditions on them that are left to be read."""
    where = node.args.get("where")
    source, conditions = _read_from(node, [] if where is None else split_conjuncts(where.this), known)
    if isinstance(source, Public):
        raise known.refuse(
            node.args["from_"].this,
            f"{source.scan.table!r} is public and has no people to protect.",
            Fix("read it directly, or join it: FROM visits JOIN … ON …", Never.PUBLIC),
        )
    return _filter_by_subqueries(source, conditions, known)


def _filter_by_subqueries(
    source: RowSource, conditions: list[exp.Expr], known: Known
) -> tuple[RowSource, list[exp.Expr]]:
    """Return the rows that IN (SELECT …) and EXISTS (SELECT …) leave, and the conditions that are neither."""
    rest: list[exp.Expr] = []
    for part in conditions:
        inside = part.this.unnest() if isinstance(part, exp.Not) else part
        negated = inside is not part
        if isinstance(inside, exp.In) and inside.args.get("query") is not None:
            source = _filter_by_in(source, inside, known, negated=negated)
        elif isinstance(inside, exp.Exists):
            source = _filter_by_exists(source, inside, known, negated=negated)
        else:
            rest.append(part)
    return source, rest


def _filter_by_exists(source: RowSource, node: exp.Exists, known: Known, *, negated: bool) -> RowSource:
    """Return the rows that have, or have not, a partner in a subquery."""
    _check_not_matched(source, node, known)
    select = need_plain_select(node, known)
    where = select.args.get("where")
    inner, tests = _read_from(select, [] if where is None else split_conjuncts(where.this), known)
    if isinstance(inner, RowSource):
        inner, tests = _filter_by_subqueries(inner, tests, known)
    return filter_by_partners(source, inner, tests, node, known, negated=negated)


def _read_from(node: exp.Select, conditions: list[exp.Expr], known: Known) -> tuple[RowSource | Public, list[exp.Expr]]:
    """Return the rows that the tables of a SELECT make, and the conditions that are left."""
    clause = node.args.get("from_")
    if clause is None:
        raise known.refuse(node, "The question has no FROM.", f"write FROM and one of: {', '.join(known.tables)}")
    first = _read_item(clause.this, known)
    others = [(join, _read_item(join.this, known)) for join in node.args.get("joins") or []]
    return join_tables(first, others, conditions, known)


def _read_item(node: exp.Expr, known: Known) -> RowSource | Public:
    """Return what one name or subquery after FROM or JOIN stands for."""
    known.count_table(node)
    public_rows = find_public(node, known)
    if public_rows is not None:
        return public_rows
    if isinstance(node, exp.Subquery):
        return _name_rows(read_query(node.this, known), node.alias)
    if not isinstance(node, exp.Table):
        raise known.refuse(node, "This is not a table.", f"use one of: {', '.join(known.tables)}")
    name = node.name
    if not isinstance(node.this, exp.Identifier):
        raise _refuse_unknown_table(node, known)
    given = known.given.get(name.casefold())
    if given is not None:
        return _name_rows(read_query(given.node.this, replace(given.known, numbers=known.numbers)), node.alias or name)
    schema = known.private(name)
    if schema is None:
        raise _refuse_unknown_table(node, known)
    return RowSource(Scan(schema.table, schema.columns), (Item.of(node.alias or schema.table, schema.columns),))


def _name_rows(source: RowSource, name: str) -> RowSource:
    columns = tuple(seen for item in source.items for seen in item.columns)
    return RowSource(source.relation, (Item(name, columns),))


def _refuse_unknown_table(node: exp.Table, known: Known) -> QueryRefused:
    meant = closest(node.name, [*known.tables, *(given.node.alias for given in known.given.values())])
    names = ", ".join(known.tables)
    fix = f"did you mean {meant!r}?" if meant else f"use one of: {names}; files cannot be read from here"
    if "." in node.name or "/" in node.name:
        fix = Fix(f"use one of: {names}; files cannot be read from here", Never.FILES)
    elif meant:
        fix = replace_name(known.page.text, start_of(node), fix, quote_if_needed(meant))
    return known.refuse(node, f"There is no table {node.name[:60]!r}.", fix)


def read_query(node: exp.Expr, known: Known) -> RowSource:
    """Return the rows that a question inside the question is."""
    known = add_with_names(node, known)
    for name, (problem, fix) in INSIDE.items():
        part = node.args.get(name)
        if part not in (None, []):
            raise known.refuse(part[0] if isinstance(part, list) else part, problem, fix)
    match node:
        case exp.SetOperation():
            return _read_set_operation(node, known)
        case exp.Select():
            return _read_select(node, known)
        case exp.Subquery() if not node.alias:
            return read_query(node.this, known)
        case _:
            raise known.refuse(node, "This is not a SELECT.", "write (SELECT … FROM …) AS t")


def _read_select(node: exp.Select, known: Known) -> RowSource:
    source, conditions = read_rows_of(node, known)
    if not node.expressions:
        raise known.refuse(node, "SELECT has no columns.", "name columns")
    scope = known.scope(source)
    where: Expression | None = None
    for part in conditions:
        condition = read_expression(part, scope)
        if condition.kind is not Kind.BOOLEAN:
            raise scope.refuse(part, "WHERE needs a condition.", "write a comparison: age >= 40")
        where = combine_conditions(where, condition)
    has_groups = node.args.get("group") is not None or node.args.get("having") is not None
    grouped = has_groups or any(map(sums_up, node.expressions))
    if grouped or node.args.get("distinct") is not None:
        _check_owned(source, node, known)
        filtered = source if where is None else _filter_source(source, where, known)
        return _read_per_person(node, filtered, known) if grouped else _read_distinct(node, filtered, known)
    outputs = [(name, expression) for name, expression, _ in _read_outputs(node, source, known)]
    return select_columns(source.relation, outputs, where, known)


def _check_owned(source: RowSource, node: exp.Expr, known: Known) -> None:
    if matching(source.relation) is not None:
        raise known.refuse(
            node,
            "A row of a join of people with each other has no single owner.",
            "put this join last, and only filter, group and sum its rows",
        )


def _filter_source(source: RowSource, where: Expression, known: Known) -> RowSource:
    """Return the rows that fulfil a condition, with all their columns."""
    fresh = known.fresh(source)
    if fresh is source:
        columns = known.schema(source.relation).columns
        passing = tuple(Named(column, ColumnValue(column.name, column.kind)) for column in columns)
        return replace(source, relation=Derived(source.relation, passing, where))
    if not isinstance(fresh.relation, Derived):
        raise TypeError
    return replace(fresh, relation=replace(fresh.relation, where=where))


def _read_outputs(node: exp.Select, source: RowSource, known: Known) -> list[tuple[str, Expression, exp.Expr]]:
    """Return what is selected of each row: its name, if it has one, and where it stands."""
    scope = known.scope(source)
    outputs: list[tuple[str, Expression, exp.Expr]] = []
    for expression in node.expressions:
        star = _expand_star(expression, source, scope)
        if star is not None:
            columns = ((seen.name, seen.column) for seen in star)
            outputs += [
                (name, ColumnValue(column.name, column.kind, column.bounds), expression) for name, column in columns
            ]
            continue
        name, inner = _read_name(expression, known)
        outputs.append((name, read_expression(inner, scope), inner))
    if len(outputs) > MOST_COLUMNS:
        raise known.refuse(node, f"More than {MOST_COLUMNS} columns are selected.", "name those that are needed")
    return outputs


def _expand_star(node: exp.Expr, source: RowSource, scope: SqlScope) -> tuple[SeenColumn, ...] | None:
    """Return all columns that a star stands for, or None if it is none."""
    if isinstance(node, exp.Star):
        return source.seen
    if not (isinstance(node, exp.Column) and isinstance(node.this, exp.Star)):
        return None
    table = node.args.get("table")
    for item in source.items:
        if table is not None and item.qualifier.casefold() == table.name.casefold():
            return item.columns
    raise scope.refuse(node, "The question has no such table.", "name the columns")


def _read_name(node: exp.Expr, known: Known) -> tuple[str, exp.Expr]:
    if not isinstance(node, exp.Alias):
        return (node.name if isinstance(node, exp.Column) else ""), node
    if not node.alias.strip() or len(node.alias) > LONGEST_NAME:
        raise known.refuse(node, f"A name has 1 to {LONGEST_NAME} characters.", "give it a name such as n")
    return node.alias, node.this


def _read_per_person(node: exp.Select, source: RowSource, known: Known) -> RowSource:
    """Return one row for each person, or for each person and key."""
    if node.args.get("distinct") is not None:
        raise known.refuse(node, "DISTINCT cannot be combined with GROUP BY.", "leave out one of them")
    folding = Folding(source, known)
    groups = node.args.get("group")
    for expression in need_one_set(group_nodes(node, known.page, start_of(groups or node)), known.page):
        folding.group(
            read_expression(resolve_group(expression, node, known.scope(source)), known.scope(source)), expression
        )
    folding.check_person(
        groups or node,
        "A subquery that sums up must do so for each person.",
        _suggest_person(source, known, "group by {person}, too"),
    )
    outputs: list[tuple[str, Expression]] = []
    names: dict[str, exp.Expr] = {}
    for expression in node.expressions:
        name, inner = _read_name(expression, known)
        outputs.append((name, folding.read(inner)))
        if name and not known.scope(source).find_columns(name):
            names[name.casefold()] = inner
    having = node.args.get("having")
    where = None if having is None else folding.read(having.this, names)
    if where is not None and where.kind is not Kind.BOOLEAN:
        raise known.refuse(having or node, "HAVING needs a condition.", "write a comparison: COUNT(*) >= 10")
    return select_columns(folding.relation(), outputs, where, known)


def _suggest_person(source: RowSource, known: Known, fix: str) -> str:
    people = known.people(source.relation)
    for item in source.items:
        for seen in item.columns:
            if seen.column.name in people:
                return fix.format(person=f"{item.qualifier}.{seen.name}" if item.qualifier else seen.name)
    if unit_of(source.relation, known.schemas).column is None:
        return "name the person's column when the table is opened: here each row is protected by itself"
    return "select the person in the subquery below, and " + fix.format(person="it")


def _read_distinct(node: exp.Select, source: RowSource, known: Known) -> RowSource:
    """Return each person's different values, once."""
    folding = Folding(source, known)
    outputs = _read_outputs(node, source, known)
    for _, expression, place in outputs:
        folding.group(expression, place)
    value = outputs[0][0] or "x"
    folding.check_person(
        node.args["distinct"] if node.args["distinct"].meta else node,
        "SELECT DISTINCT would list what stands in rows.",
        _suggest_person(source, known, f"count values with COUNT(DISTINCT {value}), or select {{person}}, too"),
    )
    lifted = [(name, folding.lift_expression(expression, place)) for name, expression, place in outputs]
    return select_columns(folding.relation(), lifted, None, known)


def _read_set_operation(node: exp.SetOperation, known: Known) -> RowSource:
    """Return what UNION ALL, UNION, INTERSECT or EXCEPT makes of selections with the same kinds of columns."""
    if isinstance(node.expression, exp.SetOperation):
        # Without parentheses they go from left to right, but for INTERSECT, which the parser puts into some.
        raise known.refuse(node.expression, "The order of UNION, INTERSECT and EXCEPT is unclear.", "write parentheses")
    if isinstance(node, exp.Union):
        united = _read_union(node, known)
        return list_distinct(united, node.expression, known, "UNION") if node.args.get("distinct") else united
    known.count_table(node)
    left, right = read_query(node.this, known), read_query(node.expression, known)
    for place, part in ((node.this, left), (node.expression, right)):
        _check_union_part(place, part, left, known)
    check_people(left.relation, right.relation, node.expression, known)
    kind = JoinKind.SEMI if isinstance(node, exp.Intersect) else JoinKind.ANTI
    word = type(node).__name__.upper()
    distinct = list_distinct(left, node.expression, known, word)
    pairs = pair_rows(distinct, right, known)
    if pairs is None:
        raise known.refuse(
            node.expression,
            f"{word} compares rows of different people.",
            "select the person in both, at the same place",
        )
    return replace(distinct, relation=UnitJoin(distinct.relation, right.relation, pairs, kind))


def list_distinct(source: RowSource, node: exp.Expr, known: Known, word: str) -> RowSource:
    """Return the different rows of each person, once, with the columns that can be seen."""
    _check_owned(source, node, known)
    folding = Folding(source, known)
    outputs = [(seen.name, ColumnValue(seen.column.name, seen.column.kind, seen.column.bounds)) for seen in source.seen]
    for _, expression in outputs:
        folding.group(expression, node)
    folding.check_person(
        node,
        f"{word} would compare rows across people.",
        "select the person in each part, at the same place; or write UNION ALL, which keeps all rows",
    )
    lifted = [(name, folding.lift_expression(expression, node)) for name, expression in outputs]
    return select_columns(folding.relation(), lifted, None, known)


#: What stands for NULL where values are compared beside whether they are NULL.
NOTHING: dict[Kind, Value] = {Kind.INTEGER: 0, Kind.TEXT: "", Kind.BOOLEAN: False, Kind.DATE: date(1970, 1, 1)}


def pair_rows(left: RowSource, right: RowSource, known: Known) -> tuple[Pair, ...] | None:
    """Return what is equal in rows of one person that are the same, NULL for NULL; None if the person is not there."""
    people = known.people(left.relation), known.people(right.relation)
    pairs: list[Pair] = []
    found = False
    for mine, theirs in zip(left.seen, right.seen, strict=True):
        if mine.column.name in people[0] and theirs.column.name in people[1]:
            found = True
            continue
        values = [ColumnValue(seen.column.name, seen.column.kind, seen.column.bounds) for seen in (mine, theirs)]
        nothing = Literal(NOTHING[mine.column.kind], mine.column.kind)
        filled = [call(F.COALESCE, value, nothing) for value in values]
        missing = [call(F.IS_NULL, value) for value in values]
        pairs += [(filled[0], filled[1]), (missing[0], missing[1])]
    return tuple(pairs) if found else None


def _read_union(node: exp.Union, known: Known) -> RowSource:
    """Return the rows of several selections with the same kinds of columns."""
    parts: list[tuple[exp.Expr, RowSource]] = []
    waiting: list[exp.Expr] = [node]
    while waiting:
        branch = waiting.pop()
        if isinstance(branch, exp.Union) and (node.args.get("distinct") or not branch.args.get("distinct")):
            waiting += [branch.expression, branch.this]
        else:
            known.count_table(branch)
            parts.append((branch, read_query(branch, known)))
    first = parts[0][1]
    for place, part in parts:
        _check_union_part(place, part, first, known)
    return unite_rows([part for _, part in parts], known)


def _check_union_part(node: exp.Expr, part: RowSource, first: RowSource, known: Known) -> None:
    _check_owned(part, node, known)
    if unit_of(part.relation, known.schemas).column is None:
        raise known.refuse(
            node,
            "With row=True a row could occur twice in UNION ALL.",
            "open each table with the column of its persons: person=…",
        )
    try:
        unit_of(UnionAll((first.relation, part.relation)), known.schemas)
    except DiscreetError as error:
        raise known.refuse(node, error.problem, error.fix) from None
    kinds = [[seen.column.kind for seen in source.seen] for source in (first, part)]
    if kinds[0] != kinds[1]:
        raise known.refuse(
            node,
            "The parts of UNION ALL have different columns.",
            "select as many in each, of the same kinds and in the same order; CAST(… AS …) makes them alike",
        )


def _check_not_matched(source: RowSource, node: exp.Expr, known: Known) -> None:
    if matching(source.relation) is not None:
        raise known.refuse(
            node,
            "A row of a join of people with each other has no single owner.",
            "put the condition in a subquery, before the join",
        )


def _filter_by_in(source: RowSource, node: exp.In, known: Known, *, negated: bool) -> RowSource:
    """Return the rows of people who are, or are not, in a subquery; or with values that are in a public table."""
    _check_not_matched(source, node, known)
    value = read_expression(node.this, known.scope(source))
    inner = node.args["query"]
    inner = inner.this if isinstance(inner, exp.Subquery) else inner
    public = find_public_column(inner, known)
    if public is not None:
        return filter_by_public_column(source, value, public, node, known, negated=negated)
    known.count_table(node)
    subquery = read_query(inner, known)
    people = known.people(source.relation), known.people(subquery.relation)
    ours = isinstance(value, ColumnValue) and value.name in people[0]
    theirs = len(subquery.seen) == 1 and subquery.seen[0].column.name in people[1]
    pairs = () if ours and theirs else _key_pairs(value, source, subquery, known)
    if pairs is None:
        raise known.refuse(
            node,
            "The subquery compares rows of different people.",
            _suggest_person(source, known, "write {person} IN (SELECT … FROM …), and select only the person"),
        )
    _check_owned(subquery, inner, known)
    check_people(source.relation, subquery.relation, node, known)
    if pairs and negated:
        raise known.refuse(
            node,
            "NOT IN with a key is not supported: its result depends on NULLs.",
            "write NOT EXISTS (SELECT 1 FROM b WHERE b.id = a.id): true for rows without a match",
        )
    kind = JoinKind.ANTI if negated else JoinKind.SEMI
    return replace(source, relation=UnitJoin(source.relation, subquery.relation, pairs, kind))


def _key_pairs(value: Expression, source: RowSource, subquery: RowSource, known: Known) -> tuple[Pair, ...] | None:
    """Return what IN compares, if it is a key that leads to the person; None if not."""
    if len(subquery.seen) != 1:
        return None
    column = subquery.seen[0].column
    pairs = ((value, ColumnValue(column.name, column.kind, column.bounds)),)
    alike = value.kind is column.kind and value.kind is not Kind.REAL
    fits = alike and compares_keys(pairs, source.relation, subquery.relation, known.schemas)
    return pairs if fits else None
