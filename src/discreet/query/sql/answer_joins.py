"""Answers beside each other: FROM (question) AS a JOIN (question) AS b ON …, and tables between commas.

A row of the one stands beside a row of the other where columns are equal. Whether they belong to the same people does
not matter: both answers are released, and what is computed from them is free.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.algebra.expressions import Call, Expression
from discreet.algebra.functions import F
from discreet.core.schema import Kind
from discreet.query import post_processing as post
from discreet.query.post_processing import JoinedAnswer, JoinForm
from discreet.query.questions import Question
from discreet.query.relations.normal_form import combine_conditions
from discreet.query.shapes import Columns
from discreet.query.sql.expressions import build_call, read_expression
from discreet.query.sql.joins import split_conjuncts
from discreet.query.sql.scope import Item, SeenColumn, SqlScope
from discreet.query.sql.stages import StageScope, check_functions

NO_CONDITION = "Answers are joined where columns of both are equal."
CONDITION = "write JOIN … ON a.x = b.x, or USING (x); CROSS JOIN puts an answer with one row beside another"
FORMS = {"": JoinForm.INNER, "LEFT": JoinForm.LEFT, "RIGHT": JoinForm.RIGHT, "FULL": JoinForm.FULL}


@dataclass(frozen=True, slots=True)
class Operand:
    """An answer that is joined: the node that says how, its question, columns, place and name."""

    node: exp.Join
    question: Question
    columns: Columns
    place: int
    alias: str


class AnswerJoins:
    """Joined answers, while they are put beside each other from left to right."""

    def __init__(self, scope: StageScope, first: Question, conditions: list[exp.Expr]) -> None:
        self.scope = scope
        self.joined: list[JoinedAnswer] = []
        #: The conditions of WHERE that are left: commas take those from it that compare two answers.
        self.conditions = conditions
        self.one_row = has_one_row(first)

    def join(self, operand: Operand) -> None:
        """Put an answer beside those before it."""
        node, known = operand.node, self.scope.known
        _check_form(node, self.scope)
        item = self._name_columns(operand)
        shared = self._shared_names(node, item)
        sides = self._names(self.scope.items), {seen.column.name for seen in item.columns}
        if shared is None:
            scope = replace(self.scope, items=(*self.scope.items, item))
            form, pairs, condition = self._compare(node, scope.plain(), sides)
        else:
            form, pairs, condition = FORMS[_side_of(node)], self._pair_shared(node, item, shared), None
            scope = self._merge(item, shared, form, pairs)
        one_row = has_one_row(operand.question)
        if not pairs and not (form is JoinForm.CROSS and (self.one_row or one_row)):
            raise known.refuse(node, NO_CONDITION, CONDITION)
        self.joined.append(
            JoinedAnswer(place=operand.place, form=form, columns=operand.columns, pairs=pairs, condition=condition)
        )
        self.scope, self.one_row = scope, self.one_row and one_row

    def _name_columns(self, operand: Operand) -> Item:
        taken = {item.qualifier.casefold() for item in self.scope.items if item.qualifier}
        if operand.alias.casefold() in taken:
            raise self.scope.known.refuse(
                operand.node, f"Two tables are called {operand.alias!r}.", "give each a name of its own, with AS"
            )
        index = len(self.joined)
        named = replace(self.scope, columns=operand.columns, alias=operand.alias).first_item()
        columns = (
            replace(seen, column=replace(seen.column, name=post.joined_name(seen.name, index)))
            for seen in named.columns
        )
        return Item(operand.alias, tuple(columns))

    @staticmethod
    def _names(items: tuple[Item, ...]) -> set[str]:
        return {seen.column.name for item in items for seen in item.columns}

    def _compare(
        self, node: exp.Join, scope: SqlScope, sides: tuple[set[str], set[str]]
    ) -> tuple[JoinForm, tuple[tuple[Expression, Expression], ...], Expression | None]:
        """Return what ON says, or for a comma what WHERE says of both sides."""
        on = node.args.get("on")
        if on is None:
            if not _is_between_commas(node):
                raise scope.refuse(node, NO_CONDITION, CONDITION)
            links = [(one, pair) for one in self.conditions if (pair := _find_pair(one, scope, sides)) is not None]
            self.conditions = [one for one in self.conditions if not any(one is link for link, _ in links)]
            return (JoinForm.INNER if links else JoinForm.CROSS), tuple(pair for _, pair in links), None
        pairs: tuple[tuple[Expression, Expression], ...] = ()
        condition: Expression | None = None
        for part in split_conjuncts(on):
            pair = _find_pair(part, scope, sides)
            if pair is not None:
                pairs = (*pairs, pair)
                continue
            test = read_expression(part, scope)
            check_functions(test, part, scope)
            if test.kind is not Kind.BOOLEAN:
                raise scope.refuse(part, "This is not a condition.", "write a comparison: a.x = b.x")
            condition = combine_conditions(condition, test)
        return FORMS[_side_of(node)], pairs, condition

    def _shared_names(self, node: exp.Join, item: Item) -> list[exp.Identifier] | None:
        """Return the columns of USING, or all that have the same name on both sides for NATURAL; None for ON."""
        if (node.args.get("method") or "").upper() == "NATURAL":
            mine = {seen.name.casefold() for one in self.scope.items for seen in one.columns}
            names = [seen.name for seen in item.columns if seen.name.casefold() in mine]
            return [exp.Identifier(this=name, quoted=True) for name in names]
        return list(node.args["using"]) if node.args.get("using") else None

    def _pair_shared(
        self, node: exp.Join, item: Item, shared: list[exp.Identifier]
    ) -> tuple[tuple[Expression, Expression], ...]:
        pairs = []
        left, right = self.scope.plain(), replace(self.scope, items=(item,), merged={}).plain()
        for name in shared:
            sides = []
            for scope in (left, right):
                column = exp.Column(this=exp.Identifier(this=name.name, quoted=True))
                column.meta.update(name.meta or node.meta)
                sides.append(read_expression(column, scope))
            equal = build_call(F.EQ, *sides) if _are_alike(*sides) else None
            if equal is None:
                raise self.scope.known.refuse(
                    node, f"The columns {name.name!r} hold values of different kinds.", "join on columns of one kind"
                )
            pairs.append((sides[0], sides[1]))
        return tuple(pairs)

    def _merge(
        self,
        item: Item,
        shared: list[exp.Identifier],
        form: JoinForm,
        pairs: tuple[tuple[Expression, Expression], ...],
    ) -> StageScope:
        """Return where both sides stand: the name alone of a shared column means the one that is always there."""
        names = {name.name.casefold() for name in shared}
        merged = dict(self.scope.merged)
        for name, (mine, theirs) in zip(shared, pairs, strict=True):
            meant = {JoinForm.RIGHT: theirs, JoinForm.FULL: build_call(F.COALESCE, mine, theirs)}.get(form, mine)
            merged[name.name.casefold()] = meant
        items = (*(_hide(one, names) for one in self.scope.items), _hide(item, names))
        return replace(self.scope, items=items, merged=merged)


def _hide(item: Item, names: set[str]) -> Item:
    """Return an item some of whose columns are meant by their names alone no more."""

    def hide(seen: SeenColumn) -> SeenColumn:
        return replace(seen, merged=seen.merged or seen.name.casefold() in names)

    return Item(item.qualifier, tuple(map(hide, item.columns)))


def keeps_unmatched_right(node: exp.Join) -> bool:
    """Whether a join also shows rows of its right side that have no partner: conditions cannot be moved before it."""
    return _side_of(node) in ("RIGHT", "FULL")


def _check_form(node: exp.Join, scope: StageScope) -> None:
    kind, method = ((node.args.get(name) or "").upper() for name in ("kind", "method"))
    if kind not in ("", "INNER", "OUTER", "CROSS") or method not in ("", "NATURAL"):
        raise scope.known.refuse(
            node, f"{kind or method} is not a supported join of answers.", "write JOIN … ON, LEFT JOIN or FULL JOIN"
        )


def _is_between_commas(node: exp.Join) -> bool:
    """Whether a comma or CROSS JOIN is written, which have no condition of their own."""
    return not _side_of(node) and (node.args.get("kind") or "").upper() in ("", "CROSS")


def _side_of(node: exp.Join) -> str:
    return (node.args.get("side") or "").upper()


def _are_alike(one: Expression, other: Expression) -> bool:
    return one.kind is other.kind or (one.kind.numeric and other.kind.numeric)


def _find_pair(
    node: exp.Expr, scope: SqlScope, sides: tuple[set[str], set[str]]
) -> tuple[Expression, Expression] | None:
    """Return what must be equal on both sides, the left first; None for any other condition."""
    if not isinstance(node, exp.EQ) or node.find(exp.Query, exp.Window) is not None:
        return None
    test = read_expression(node, scope)
    check_functions(test, node, scope)
    if not (isinstance(test, Call) and test.function is F.EQ):
        return None
    one, other = test.arguments
    held = post.names_in(one), post.names_in(other)
    if held[0] and held[1]:
        if held[0] <= sides[0] and held[1] <= sides[1]:
            return one, other
        if held[1] <= sides[0] and held[0] <= sides[1]:
            return other, one
    return None


def has_one_row(question: Question) -> bool:
    """Whether an answer has one row at most, for sure."""
    one = not question.groups and question.sets is None
    for stage in question.stages:
        summed = stage.grouped and not stage.groups
        one = summed or stage.most == 1 or (one and not stage.joined and not stage.appended)
    return one
