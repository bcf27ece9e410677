"""Normal forms of expressions: one spelling for those that have the same value in every row. Public; sees no row.

`50 <= age`, `NOT age < 50` and, of integers, `age > 49` are all `age >= 50`. A stored answer is found by the canonical
text of its plan, and a wrong merge would hand out the answer to another question for ever. So each rule here is an
identity of the contract in `discreet.algebra.functions`, with NULL on both sides or on neither:

* No row makes an expression fail, and reals are finite (NaN is NULL where it is read). So values of one kind that are
  not NULL are in a total order, and NOT (a < b) is a >= b. Three-valued AND and OR commute, associate, repeat nothing,
  and obey De Morgan's laws; TRUE is the unit of AND, FALSE ends it.
* An integer above k is at least k + 1. Comparisons of an integer with a real are those of floats, to which integers
  are turned without changing their order. A whole number below 2⁵³ is the only integer that becomes that float.
* x = 1 OR x = 2 is x IN (1, 2), and x <> 1 AND x <> 2 is x NOT IN (1, 2): both are NULL where x is.
* a + b is b + a, and a * b is b * a, also of floats. Sums of three are left as they are: floats do not associate.
* Where only truth counts, in WHERE and beside WHEN, COALESCE(c, FALSE) is c. Nowhere else.

Bounds of columns are not looked at. All else stays as it was written.
"""

import operator
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from typing import TypeVar

from discreet.algebra.expressions import SATURATED, Call, Case, Expression, InSet, Like, Literal, call, is_null
from discreet.algebra.functions import COMPARISONS, F
from discreet.core import OutOfRange
from discreet.core.canonical_text import canonical_text
from discreet.core.schema import Kind

#: The same comparison with its sides exchanged.
FLIPPED = {F.EQ: F.EQ, F.NE: F.NE, F.LT: F.GT, F.LE: F.GE, F.GT: F.LT, F.GE: F.LE}
#: The comparison that is true where one is false.
NEGATED = {F.EQ: F.NE, F.NE: F.EQ, F.LT: F.GE, F.LE: F.GT, F.GT: F.LE, F.GE: F.LT}
COMPUTED = {
    F.EQ: operator.eq,
    F.NE: operator.ne,
    F.LT: operator.lt,
    F.LE: operator.le,
    F.GT: operator.gt,
    F.GE: operator.ge,
}
#: Strict comparisons with an integer, and what is added to it where they are not strict.
LOOSE = {F.GT: (F.GE, 1), F.LT: (F.LE, -1)}
#: Casts that change nothing of values of a kind. That to INTEGER clips an integer, and is not among them.
IDLE_CASTS = {F.TO_REAL: Kind.REAL, F.TO_TEXT: Kind.TEXT, F.TO_DATE: Kind.DATE}
#: The largest integer of all engines.
LARGEST = 2**63 - 1

AnyExpression = TypeVar("AnyExpression", bound=Expression)


def normalise(expression: Expression) -> Expression:
    """Return the normal form of an expression: the same value in every row, NULL included."""
    try:
        return _settle(expression)
    except OutOfRange:
        return expression  # NOT before each of many parts would be too long


def normalise_condition(expression: Expression) -> Expression:
    """Return the normal form of a condition of which only counts whether it is true: FALSE and NULL are alike."""
    try:
        return _settle_condition(expression)
    except OutOfRange:
        return expression


def _settle(expression: Expression) -> Expression:
    match expression:
        case Call(function=function, arguments=arguments):
            settled = _settle_call(replace(expression, arguments=tuple(map(_settle, arguments))), function)
        case Case(branches=branches, otherwise=otherwise):
            settled = Case(
                tuple((_settle_condition(condition), _settle(value)) for condition, value in branches),
                None if otherwise is None else _settle(otherwise),
            )
        case InSet(value=value, members=members):
            settled = _build_membership(_settle(value), members)
        case Like(value=value, pattern=pattern, folded=folded):
            settled = Like(_settle(value), pattern, folded)
        case _:
            settled = expression
    return settled if settled.kind is expression.kind else expression  # NULL alone is of another kind


def _settle_condition(expression: Expression) -> Expression:
    return _drop_null_guards(_settle(expression))


def _drop_null_guards(condition: Expression) -> Expression:
    """Return a condition without what turns NULL into FALSE, where that is done anyway: AND and OR hand truth on."""
    match condition:
        case Call(function=F.COALESCE, arguments=(inner, Literal(value=False, kind=Kind.BOOLEAN))) if not is_null(
            inner
        ):
            return _drop_null_guards(inner)
        case Call(function=F.AND | F.OR as function, arguments=arguments):
            joined = _join(function, map(_drop_null_guards, arguments))
            return joined if joined.kind is Kind.BOOLEAN else condition
        case _:
            return condition


def _settle_call(settled: Call, function: F) -> Expression:
    """Return the form of a function whose arguments are in theirs."""
    arguments = settled.arguments
    if function in COMPARISONS:
        return _compare(function, *arguments)
    if function in (F.AND, F.OR):
        return _join(function, arguments)
    if function is F.NOT:
        return _negate(arguments[0])
    if function in (F.ADD, F.MULTIPLY):
        return replace(settled, arguments=tuple(sorted(arguments, key=canonical_text)))
    if function in IDLE_CASTS and arguments[0].kind is IDLE_CASTS[function] and not is_null(arguments[0]):
        return arguments[0]
    if function is F.TO_INTEGER:
        return _read_integer(settled)
    return settled


def _read_integer(cast: Call) -> Expression:
    """Return the integer that a cast of a constant integer is; others are left to engines."""
    match cast.arguments[0]:
        case Literal(value=int() as value, kind=Kind.INTEGER) as literal if abs(value) <= SATURATED:
            return literal
        case _:
            return cast


# Comparisons.


def _compare(function: F, left: Expression, right: Expression) -> Expression:
    """Return a comparison with the constant on the right, or the text that sorts first on the left."""
    if isinstance(left, Literal) and isinstance(right, Literal):
        return _compare_constants(function, left, right)
    if isinstance(left, Literal) or (not isinstance(right, Literal) and canonical_text(right) < canonical_text(left)):
        function, left, right = FLIPPED[function], right, left
    if not isinstance(right, Literal) or right.value is None:
        return call(function, left, right)
    right = _fit_kind(right, left.kind)
    if right.kind is Kind.BOOLEAN and function in (F.EQ, F.NE):
        return left if right.value is (function is F.EQ) else _negate(left)
    if left.kind is right.kind is Kind.INTEGER and isinstance(right.value, int) and function in LOOSE:
        loose, step = LOOSE[function]
        if abs(right.value + step) <= LARGEST:
            return call(loose, left, Literal.of(right.value + step))
    return call(function, left, right)


def _compare_constants(function: F, left: Literal, right: Literal) -> Expression:
    if left.kind is not right.kind or left.value is None or right.value is None:
        return call(function, left, right)
    # Python compares texts by code points, which is the order of their UTF-8 bytes.
    return Literal.of(bool(COMPUTED[function](left.value, right.value)))


def _fit_kind(literal: Literal, kind: Kind) -> Literal:
    """Return a constant as it is written beside values of a kind: whole numbers as integers, days as midnights."""
    match literal.value:
        case float() as value if kind.numeric and value.is_integer() and abs(value) < SATURATED:
            return Literal.of(int(value))
        case date() as value if kind is Kind.TIMESTAMP and not isinstance(value, datetime):
            return Literal.of(datetime.combine(value, time()))
        case _:
            return literal


def _negate(condition: Expression) -> Expression:
    match condition:
        case Literal(value=bool() as value):
            return Literal.of(not value)
        case Call(function=F.NOT, arguments=(inner,)) if not is_null(inner):
            return inner
        case Call(function=F.AND | F.OR as function, arguments=arguments):
            return _join(F.OR if function is F.AND else F.AND, map(_negate, arguments))
        case Call(function=function, arguments=(left, right)) if function in NEGATED:
            return _compare(NEGATED[function], left, right)
        case _:
            return call(F.NOT, condition)


# Rows of AND and OR, and lists of constants.


def _join(function: F, arguments: Iterable[Expression]) -> Expression:
    """Return a row of ANDs or ORs: no row in it, each link once, in the order of their texts."""
    links: list[Expression] = []
    for argument in arguments:
        links += argument.arguments if isinstance(argument, Call) and argument.function is function else (argument,)
    unit = function is F.AND
    if any(_is_truth(link, not unit) for link in links):
        return Literal.of(not unit)
    kept = _merge_memberships(function, [link for link in links if not _is_truth(link, unit)])
    settled = _sort_links(kept)
    if not settled:
        return Literal.of(unit)
    return settled[0] if len(settled) == 1 and not is_null(settled[0]) else call(function, *settled)


def _is_truth(link: Expression, value: bool) -> bool:  # noqa: FBT001 - which of the two
    return isinstance(link, Literal) and link.kind is Kind.BOOLEAN and link.value is value


def _merge_memberships(function: F, links: list[Expression]) -> list[Expression]:
    """Return links with the lists that one value is looked for in (with AND: not in) put together."""
    rest: list[Expression] = []
    found: dict[str, tuple[Expression, list[Literal]]] = {}
    for link in links:
        value, members = _read_membership(function, link)
        if value is None:
            rest.append(link)
        else:
            found.setdefault(canonical_text(value), (value, []))[1].extend(members)
    for sought, constants in found.values():
        whole = _build_membership(sought, constants)
        rest.append(whole if function is F.OR else _negate(whole))
    return rest


def _read_membership(function: F, link: Expression) -> tuple[Expression | None, tuple[Literal, ...]]:
    """Return the value that a link compares with constants of its own kind, and the constants."""
    positive = link if function is F.OR else _negate_membership(link)
    match positive:
        case InSet(value=value, members=members):
            pass
        case Call(function=F.EQ, arguments=(value, Literal(value=constant) as member)) if constant is not None:
            members = (_fit_member(member, value.kind),)
        case _:
            return None, ()
    alike = not isinstance(value, Literal) and all(member.kind is value.kind for member in members)
    return (value, members) if alike else (None, ())


def _negate_membership(link: Expression) -> Expression | None:
    match link:
        case Call(function=F.NOT, arguments=(InSet() as inner,)):
            return inner
        case Call(function=F.NE, arguments=(left, right)):
            return call(F.EQ, left, right)
        case _:
            return None


def _build_membership(value: Expression, members: Sequence[Literal]) -> Expression:
    """Return whether a value is among constants, each once, in the order of their texts; = for one alone."""
    fitting = [_fit_member(member, value.kind) for member in members]
    if any(member.kind is not value.kind for member in fitting):
        fitting = list(members)  # an integer among reals: engines compare floats
    listed = _sort_links(fitting)
    return _compare(F.EQ, value, listed[0]) if len(listed) == 1 else InSet(value, tuple(listed))


def _sort_links(links: Iterable[AnyExpression]) -> list[AnyExpression]:
    """Return expressions in the order of their texts, each once."""
    unique = {canonical_text(link): link for link in links}
    return [unique[text] for text in sorted(unique)]


def _fit_member(member: Literal, kind: Kind) -> Literal:
    """Return a constant as it is written in a list: reals as floats beside reals."""
    fit = _fit_kind(member, kind)
    if kind is Kind.REAL and isinstance(fit.value, int) and abs(fit.value) < SATURATED:
        return Literal.of(float(fit.value))
    return fit
