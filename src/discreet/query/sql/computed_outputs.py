"""Outputs that are computed from an answer: UPPER(ward), CASE WHEN COUNT(*) > 10 THEN …, and keys alone.

What is measured is asked as a question with plain outputs, its keys and its measures. Everything else is one stage on
its answer, as if `SELECT UPPER(ward), n FROM (SELECT ward, COUNT(*) AS n … GROUP BY ward)` had been written; and that
is the one text of such a question. Keys alone are those of a question that counts rows.

Guarantee: a stage sees the released table alone, so that nothing here changes what is paid or measured.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.algebra.expressions import Call, ColumnValue, Expression, InSet, Literal, children
from discreet.algebra.functions import F
from discreet.query import post_processing as post
from discreet.query import questions as q
from discreet.query.error_bars import RULES
from discreet.query.names import make_unique_name, name_of
from discreet.query.post_processing import Sorting, Stage, StageOutput
from discreet.query.sql.expressions import build_call
from discreet.query.sql.outputs import DIVISIONS, TERM_FUNCTIONS, ZEROS, OutputTerms, refuse_ungrouped, term_name
from discreet.query.sql.scope import SqlScope, strip_numbers
from discreet.query.stage_checks import find_odd_function


@dataclass(frozen=True, slots=True)
class ReadPart:
    """A part of a question that was read, and where it stands."""

    expression: Expression
    node: exp.Expr
    scope: SqlScope


@dataclass(frozen=True, slots=True)
class ReadSorting:
    """What an answer is sorted by, once it was read."""

    part: ReadPart
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadParts:
    """Everything that is shown of an answer, before it is known how: expressions with places for measures."""

    terms: OutputTerms
    names: tuple[str, ...]
    outputs: tuple[ReadPart, ...]
    having: tuple[ReadPart, ...] = ()
    order: tuple[ReadSorting, ...] = ()
    most: int | None = None
    skipped: int = 0
    distinct: bool = False

    @property
    def all(self) -> tuple[ReadPart, ...]:
        """All expressions, in the order in which they are shown, selected and sorted by."""
        return (*self.outputs, *self.having, *(sorting.part for sorting in self.order))


def is_computed(parts: ReadParts) -> bool:
    """Whether a stage is needed: an output that is no term, or nothing that is measured."""
    if parts.distinct or parts.skipped or not parts.terms.places.held:
        return True
    plain = [_is_shown_term(part.expression, parts.terms) for part in parts.outputs]
    rest = [_is_term(part.expression, parts.terms, TERM_FUNCTIONS) for part in parts.all[len(parts.outputs) :]]
    return not all((*plain, *rest))


def _is_shown_term(expression: Expression, terms: OutputTerms) -> bool:
    """Whether an output is a key, a constant, a measure, or arithmetic on such that are numbers."""
    alone = expression in terms.groups or not isinstance(expression, Call)
    numeric = all(part.kind.numeric for part in _leaves(expression, terms))
    return _is_term(expression, terms, frozenset(RULES)) and (alone or numeric)


def _leaves(expression: Expression, terms: OutputTerms) -> list[Expression]:
    """Return the keys, measures and constants that an expression is computed from."""
    if expression in terms.groups or not children(expression):
        return [expression]
    return [leaf for child in children(expression) for leaf in _leaves(child, terms)]


def _is_term(expression: Expression, terms: OutputTerms, functions: frozenset[F]) -> bool:
    """Whether an expression is arithmetic, with these functions, on keys, measures and constants."""
    if expression in terms.groups:
        return True
    match expression:
        case ColumnValue() | Literal():
            return True
        case Call(function=function, arguments=(first, Call(function=F.NULLIF, arguments=(second, zero)))) if (
            function in DIVISIONS and zero in ZEROS
        ):
            return function in functions and all(_is_term(part, terms, functions) for part in (first, second))
        case Call(function=function, arguments=arguments):
            return function in functions and all(_is_term(argument, terms, functions) for argument in arguments)
        case InSet(value=value):
            return functions is TERM_FUNCTIONS and _is_term(value, terms, functions)
        case _:
            return False


def build_computed(parts: ReadParts, ask: Callable[..., q.Question]) -> q.Question:
    """Return a question about what is measured, and one stage that computes everything else.

    `ask` makes the question of groups and outputs.
    """
    for part in parts.all:
        _check_grouped(part.expression, part, parts.terms)
    base = _Base(parts)
    outputs = tuple(StageOutput(name, base.hold(part)) for name, part in zip(parts.names, parts.outputs, strict=True))
    conditions = [base.hold(part) for part in parts.having]
    stage = Stage(
        outputs=outputs,
        where=None if not conditions else conditions[0] if len(conditions) == 1 else build_call(F.AND, *conditions),
        distinct=parts.distinct,
        order=tuple(order for sorting in parts.order for order in _sort(sorting, base)),
        most=parts.most,
        skipped=parts.skipped,
    )
    return replace(ask(base.groupings, base.outputs), stages=(stage,))


def _sort(sorting: ReadSorting, base: "_Base") -> tuple[Sorting, ...]:
    expression = base.hold(sorting.part)
    order = Sorting(expression, sorting.descending)
    return (Sorting(build_call(F.IS_NULL, expression), descending=True), order) if sorting.nulls_first else (order,)


def _check_grouped(expression: Expression, part: ReadPart, terms: OutputTerms) -> None:
    """Refuse columns that are neither aggregated nor grouped by."""
    if expression in terms.groups:
        return
    if isinstance(expression, ColumnValue) and terms.places.measure(expression.name) is None:
        raise refuse_ungrouped(expression.name, part.node, part.scope)
    for child in children(expression):
        _check_grouped(child, part, terms)


class _Base:
    """The plain question: its groupings and outputs under names of their own, and expressions over these names."""

    def __init__(self, parts: ReadParts) -> None:
        terms = parts.terms
        needed = [leaf for part in parts.all for leaf in _leaves(part.expression, terms)]
        held = terms.places.held or {q.Count(): terms.places.hold(q.Count())}
        shown = {part.expression: name for name, part in reversed(list(zip(parts.names, parts.outputs, strict=True)))}
        taken: list[str] = []
        groupings: list[q.Grouping] = []
        self._held: dict[Expression, ColumnValue] = {}
        outputs: list[q.Output] = []
        for index, group in enumerate(terms.groups):
            name = _choose(shown.get(group) or strip_numbers(name_of(group)), taken)
            groupings.append(q.Grouping(name, group))
            self._held[group] = ColumnValue(name, group.kind)
            if group in needed:
                outputs.append(q.Output(name, q.GroupValue(index)))
        self.groupings = tuple(groupings)
        for measure, place in held.items():
            name = _choose(shown.get(place) or strip_numbers(term_name(measure, ())), taken)
            self._held[place] = ColumnValue(name, place.kind)
            outputs.append(q.Output(name, measure))
        self.outputs = tuple(outputs)

    def hold(self, part: ReadPart) -> Expression:
        """Return an expression over the columns of the plain question, or refuse what is not computed from answers."""
        expression = post.replace_parts(part.expression, self._held)
        odd = find_odd_function(expression)
        if odd is not None:
            raise part.scope.refuse(
                part.node,
                f"{odd} cannot be computed from noisy answers.",
                "put it inside an aggregate, or after GROUP BY; or compute it from the answer",
            )
        return expression


def name_output(expression: Expression, terms: OutputTerms) -> str:
    """Return what an output is called without AS: its key, its only measure, or its function of a key."""
    if expression in terms.groups:
        return strip_numbers(name_of(expression))
    parts = post.parts_of(expression)
    names = {part.name for part in parts if isinstance(part, ColumnValue)}
    measures = [measure for measure, place in terms.places.held.items() if place.name in names]
    if len(measures) == 1:
        return strip_numbers(term_name(measures[0], ()))
    plain = bool(measures) or _is_shown_term(expression, terms)
    return "value" if plain else strip_numbers(name_of(expression))


def _choose(name: str, taken: list[str]) -> str:
    chosen = make_unique_name(name, taken)
    taken.append(chosen)
    return chosen
