"""Window functions of SQL: RANK() OVER (ORDER BY n DESC), running sums, neighbours.

Windows are computed from answers, and so is what uses the number of another question, as in COUNT(*) / (SELECT COUNT(*)
FROM visits). What stands beside aggregates of private rows is lifted out: the aggregates are asked as a question of
their own, and the rest is about its answer.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from discreet.algebra.expressions import Expression, Literal
from discreet.algebra.functions import F
from discreet.query.names import AGGREGATES, NEIGHBOURS, RANKINGS
from discreet.query.post_processing import Neighbour, Ranking, Sorting, Summary, WindowFrame, WindowFunction
from discreet.query.sql.expressions import SUM_UP_FIRST, WINDOW_OF_ROWS, build_call
from discreet.query.sql.parsing.tree_checks import start_of
from discreet.query.sql.queries import read_rows_of
from discreet.query.sql.scope import Known, Numbers, SqlScope
from discreet.query.sql.select import group_nodes, is_window_function, resolve_group, split_sets, sums_up

#: How far LAG, LEAD and frames reach, and how many tiles there are, at the most.
FARTHEST = 10**6
#: What lists keys after GROUP BY.
LISTS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple, exp.Paren)
#: Where windows may stand in a SELECT.
PLACES = ("expressions", "qualify", "order")


def windows_of(select: exp.Select) -> list[exp.Window]:
    """Return the windows of a SELECT, but not those of its subqueries."""
    return [node for part in _window_parts(select) for node in _walk_here(part) if isinstance(node, exp.Window)]


def is_outer(select: exp.Select) -> bool:
    """Whether there are windows or scalar subqueries in a SELECT, where these may stand."""
    return any(map(_is_about_answers, _window_parts(select))) or _has_scalar(select.args.get("having"))


def _is_about_answers(node: exp.Expr) -> bool:
    """Whether an expression can only be computed from answers: it has a window or a scalar subquery."""
    return any(isinstance(inner, exp.Window) or is_scalar(inner) for inner in _walk_here(node))


def _has_scalar(node: exp.Expr | None) -> bool:
    return node is not None and any(map(is_scalar, _walk_here(node)))


def is_scalar(node: exp.Expr) -> bool:
    """Whether a node is a subquery that stands for a value."""
    return isinstance(node, exp.Subquery) and not isinstance(node.parent, exp.From | exp.Join | exp.In | exp.Exists)


def _window_parts(select: exp.Select) -> Iterator[exp.Expr]:
    for name in PLACES:
        part = select.args.get(name)
        yield from part if isinstance(part, list) else ([] if part is None else [part])


def _walk_here(node: exp.Expr) -> Iterator[exp.Expr]:
    yield from node.walk(prune=lambda inner: isinstance(inner, exp.Query))


@dataclass(frozen=True, slots=True)
class WindowReader:
    """Reads windows of one SELECT: `read` its values, `summarise` its aggregates."""

    scope: SqlScope
    read: Callable[[exp.Expr], Expression]
    summarise: Callable[[exp.Expr], Summary]

    def window(self, node: exp.Window) -> WindowFunction:
        """Return a window, or refuse it where it stands."""
        if node.args.get("alias") is not None:
            raise self.scope.refuse(
                node,
                "OVER takes a window, or the name alone of one that WINDOW defines.",
                "write OVER (PARTITION BY … ORDER BY …), or add WINDOW w AS (…) at the end",
            )
        order = node.args.get("order")
        nodes = [] if order is None else order.expressions
        return WindowFunction(
            function=self._function(node.this),
            partition=tuple(self.read(part) for part in node.args.get("partition_by") or []),
            order=tuple(sorting for part in nodes for sorting in place_nulls(self._sorting(part), part)),
            frame=None if node.args.get("spec") is None else self._frame(node.args["spec"]),
        )

    def _sorting(self, node: exp.Expr) -> Sorting:
        return Sorting(self.read(node.this), bool(node.args.get("desc")))

    def _function(self, node: exp.Expr) -> Summary | Ranking | Neighbour:
        name = node.name.upper() if isinstance(node, exp.Anonymous) else ""
        if name in RANKINGS:
            return self._ranking(node, name)
        if name in NEIGHBOURS:
            return self._neighbour(node, name)
        if isinstance(node, exp.Filter) or name in AGGREGATES:
            summary = self.summarise(node)
            if not summary.distinct:
                return summary
        raise self.scope.refuse(
            node, "This cannot stand before OVER.", f"use {', '.join((*RANKINGS, *NEIGHBOURS))}, SUM, AVG, COUNT, …"
        )

    def _ranking(self, node: exp.Expr, name: str) -> Ranking:
        arguments = node.expressions
        if len(arguments) != (name == "NTILE"):
            takes, fix = ("one number", "write NTILE(4)") if name == "NTILE" else ("no value", f"write {name}()")
            raise self.scope.refuse(node, f"{name} takes {takes}.", fix)
        return Ranking(function=name, tiles=self._whole(arguments[0], least=1) if arguments else None)

    def _neighbour(self, node: exp.Expr, name: str) -> Neighbour:
        arguments, far = node.expressions, name in ("LAG", "LEAD")
        if not 1 <= len(arguments) <= (3 if far else 1):
            takes = "one to three values" if far else "one value"
            raise self.scope.refuse(node, f"{name} takes {takes}.", f"write {name}(n)")
        value = self.read(arguments[0])
        distance = self._whole(arguments[1], least=0) if len(arguments) > 1 else 1
        default = self.read(arguments[2]) if len(arguments) > 2 else None
        if default is not None and not (isinstance(default, Literal) and _fits(default, value)):
            raise self.scope.refuse(
                arguments[2], "The default must be a constant of the same kind.", "write LAG(n, 1, 0)"
            )
        return Neighbour(function=name, value=value, distance=distance, default=default)

    def _whole(self, node: exp.Expr, *, least: int) -> int:
        text = node.name if isinstance(node, exp.Literal) and not node.is_string else ""
        if not text.isdecimal() or not least <= int(text) <= FARTHEST:
            raise self.scope.refuse(node, f"This must be a whole number from {least} to {FARTHEST:,}.", "write 1")
        return int(text)

    def _frame(self, spec: exp.Expr) -> WindowFrame:
        """Return a frame; without BETWEEN, it ends at the current row."""
        peers = spec.args.get("kind") == "RANGE"
        start, end = self._end_of_frame(spec, "start", peers=peers), 0
        ends = self._end_of_frame(spec, "end", peers=peers) if spec.args.get("end") is not None else end
        late = spec.args.get("start") == "UNBOUNDED" and spec.args.get("start_side") != "PRECEDING"
        early = spec.args.get("end") == "UNBOUNDED" and spec.args.get("end_side") != "FOLLOWING"
        if late or early or (start is not None and ends is not None and start > ends):
            raise self.scope.refuse(
                spec, "The frame ends before it begins.", "write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"
            )
        return WindowFrame(start, ends, peers)

    def _end_of_frame(self, spec: exp.Expr, name: str, *, peers: bool) -> int | None:
        end, side = spec.args.get(name), spec.args.get(f"{name}_side")
        if end == "UNBOUNDED":
            return None
        if end == "CURRENT ROW":
            return 0
        if peers or not isinstance(end, exp.Expr):
            raise self.scope.refuse(
                spec, "RANGE takes only UNBOUNDED and CURRENT ROW.", "write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"
            )
        number = self._whole(end, least=0)
        return -number if side == "PRECEDING" else number


def place_nulls(sorting: Sorting, node: exp.Expr) -> tuple[Sorting, ...]:
    """Return what is sorted by; NULL is last, unless it is sorted by before."""
    if not node.args.get("nulls_first"):
        return (sorting,)
    return (Sorting(build_call(F.IS_NULL, sorting.expression), descending=True), sorting)


def _fits(default: Literal, value: Expression) -> bool:
    return default.value is None or default.kind is value.kind or (default.kind.numeric and value.kind.numeric)


# Windows beside aggregates: the aggregates become a question, and the windows one about its answer.


def write_out_windows(tree: exp.Select, known: Known) -> exp.Select:
    """Return a SELECT with all windows written out: OVER w means what WINDOW w AS (…) says."""
    named = {window.this.name.casefold(): window for window in tree.args.get("windows") or []}
    if not named:
        return tree
    if not windows_of(tree):
        raise known.refuse(
            next(iter(named.values())), "No window uses this name.", "write OVER and the name; or leave it out"
        )
    tree = tree.copy()
    for window in windows_of(tree):
        alias = window.args.get("alias")
        given = None if alias is None else named.get(alias.name.casefold())
        changed = any(window.args.get(part) for part in ("partition_by", "order", "spec"))
        if given is not None and not changed:
            for part in ("partition_by", "order", "spec"):
                held = given.args.get(part)
                copies = [node.copy() for node in held] if isinstance(held, list) else held and held.copy()
                window.set(part, copies)
            window.set("alias", None)
    tree.set("windows", None)
    return tree


def sums_up_beside_windows(tree: exp.Select) -> bool:
    """Whether a SELECT sums up rows, and not only in a window."""
    clauses = tree.args.get("group") is not None or tree.args.get("having") is not None
    return clauses or any(map(sums_up, _window_parts(tree)))


@dataclass(slots=True)
class Lifting:
    """Takes a SELECT with aggregates and windows apart: `inner` asks for aggregates, `outer` is about its answer."""

    tree: exp.Select
    known: Known
    lifted: list[exp.Expr] = field(default_factory=list)
    places: list[tuple[int, exp.Column]] = field(default_factory=list)

    @property
    def scope(self) -> SqlScope:
        """Where names of rows are looked up."""
        known = replace(self.known, numbers=Numbers())
        source, _ = read_rows_of(self.tree, known)
        return known.scope(source)

    def split(self) -> tuple[exp.Select, exp.Select]:
        """Return both. The columns of `outer` have no names before `inner` is read: `name_places` gives them."""
        scope = self.scope
        nodes, _ = split_sets(group_nodes(self.tree, scope.page, start_of(self.tree)), scope.page)
        keys = [resolve_group(node, self.tree, scope) for node in nodes]
        aliases = {node.alias.casefold() for node in self.tree.expressions if isinstance(node, exp.Alias)}
        names = {name for name in aliases if not scope.find_columns(name)}
        held = {id(node): self._hold(node, once=True) for node in self._plain_outputs(names)}
        outputs = [
            held[id(node)] if id(node) in held else self._lift(node, keys, names) for node in self.tree.expressions
        ]
        outer = exp.Select(expressions=outputs)
        for name in ("qualify", "order"):
            part = self.tree.args.get(name)
            # Among outputs, a name means an output first.
            outer.set(name, None if part is None else self._lift(part, keys, aliases if name == "order" else names))
        for name in ("limit", "offset", "distinct"):
            part = self.tree.args.get(name)
            outer.set(name, None if part is None else part.copy())
        if self._lifts_having:
            outer.set("where", exp.Where(this=self._lift(self.tree.args["having"].this, keys, names)))
        return self._build_inner(scope), outer

    @property
    def _lifts_having(self) -> bool:
        """Whether HAVING is about answers, and so a condition on the answer's rows."""
        return _has_scalar(self.tree.args.get("having"))

    def name_places(self, names: list[str]) -> None:
        """Give the columns of `outer` the names that the outputs of `inner` have."""
        for index, column in self.places:
            column.this.set("this", names[index])

    def _plain_outputs(self, names: set[str]) -> list[exp.Expr]:
        """Return the outputs that have nothing to do with windows, not even by the name of another output."""
        windowed: set[str] = set()
        plain: list[exp.Expr] = []
        for node in self.tree.expressions:
            spoken = {
                column.name.casefold() for column in node.find_all(exp.Column) if column.args.get("table") is None
            }
            if not _is_about_answers(node) and not spoken & windowed & names:
                plain.append(node)
            elif isinstance(node, exp.Alias):
                windowed.add(node.alias.casefold())
        return plain

    def _build_inner(self, scope: SqlScope) -> exp.Select:
        inner = self.tree.copy()
        for name in ("qualify", "order", "limit", "offset", "distinct", "windows", "with_"):
            inner.set(name, None)
        if self._lifts_having:
            inner.set("having", None)
        inner.set("expressions", self.lifted)
        group = inner.args.get("group")
        if group is not None:
            # Positions counted the outputs that were written.
            nodes = group_nodes(self.tree, scope.page, start_of(self.tree))
            group.set("expressions", [_resolve_positions(node, self.tree, scope) for node in nodes])
            group.set("all", None)
        return inner

    def _lift(self, node: exp.Expr, keys: list[exp.Expr], names: set[str]) -> exp.Expr:
        """Return a copy with columns in place of aggregates and keys."""

        def replace_node(part: exp.Expr) -> exp.Expr:
            if isinstance(part, exp.Subquery):
                return part.copy()  # a question of its own, which is left as it is
            summary = isinstance(part, exp.Anonymous) and part.name.upper() in (*AGGREGATES, "GROUPING")
            whole = (summary or isinstance(part, exp.Filter | exp.WithinGroup)) and not is_window_function(part)
            if whole or part in keys:
                return self._hold(part)
            if not isinstance(part, exp.Column):
                return part
            known = part.args.get("table") is None and part.name.casefold() in names
            return part if known else self._hold(part)

        return node.copy().transform(replace_node, copy=False)

    def _hold(self, node: exp.Expr, *, once: bool = False) -> exp.Column:
        """Return the column that an output of `inner` will be: one that is there already, but not `once` more."""
        found = [index for index, other in enumerate(self.lifted) if not once and other.unalias() == node.unalias()]
        column = exp.Column(this=exp.Identifier(this="", quoted=True))
        column.meta["start"] = start_of(node)
        self.places.append((found[0] if found else len(self.lifted), column))
        if not found:
            self.lifted.append(node.copy())
        return column


def _resolve_positions(node: exp.Expr, select: exp.Select, scope: SqlScope) -> exp.Expr:
    """Return what is grouped by, in ROLLUP or alone, with outputs in place of their positions and names."""
    if isinstance(node, LISTS):
        copied = node.copy()
        if isinstance(node, exp.Paren):
            copied.set("this", _resolve_positions(node.this, select, scope))
        else:
            copied.set("expressions", [_resolve_positions(part, select, scope) for part in node.expressions])
        return copied
    found: exp.Expr = resolve_group(node, select, scope)
    return found.copy()


def _has_window(node: exp.Expr) -> bool:
    return any(isinstance(inner, exp.Window) for inner in _walk_here(node))


def check_no_windows(tree: exp.Select, known: Known) -> None:
    """Refuse windows over private rows, and where there is no answer yet."""
    having = tree.args.get("having")
    if having is not None and _has_window(having):
        raise known.refuse(having, "HAVING cannot use a window.", "write the condition after QUALIFY")
    windows = windows_of(tree)
    if windows:
        raise known.refuse(windows[0], WINDOW_OF_ROWS, SUM_UP_FIRST)
    if tree.args.get("qualify") is not None:
        raise known.refuse(tree.args["qualify"], "QUALIFY needs a window function.", "write the condition after HAVING")
