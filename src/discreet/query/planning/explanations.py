"""Explanations: privacy unit, measurements, costs and errors of a question, as a tree of words."""

import html
from dataclasses import dataclass
from fractions import Fraction

from discreet.algebra.aggregates import (
    Distinct,
    Frequencies,
    Histogram,
    People,
    PeopleCut,
    PeopleWhere,
    Present,
    Rows,
    Total,
)
from discreet.algebra.expressions import Literal
from discreet.algebra.relations import (
    Derived,
    First,
    JoinKind,
    MatchJoin,
    Pair,
    PerUnit,
    PublicJoin,
    PublicScan,
    Relation,
    Scan,
    UnionAll,
    UnitJoin,
    matching,
    most_rows,
)
from discreet.core import Number
from discreet.core.exact import text_up
from discreet.core.limits import AnyLimit, Limit, TotalLimit
from discreet.mechanisms import GaussianThreshold, Laplace, LaplaceThreshold, TruncatedGeometricSelection
from discreet.query.planning.chosen_limits import ChosenLimit
from discreet.query.planning.measurements import DistinctTotal, End, KeySelection, Levels, Noisy, Part, words_of
from discreet.query.planning.plans import QueryPlan
from discreet.query.planning.predictions import predict
from discreet.query.planning.spending import Rho
from discreet.query.questions import Question

JOINED = {
    JoinKind.INNER: "joined with",
    JoinKind.LEFT: "joined, where there is a match, with",
    JoinKind.SEMI: "those that are also in",
    JoinKind.ANTI: "those that are not in",
}


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of the tree, and what hangs on it."""

    text: str
    below: tuple["Branch", ...] = ()


def rows_branch(relation: Relation) -> Branch:
    """Return the rows that a question is about, in words."""
    return Branch("rows", (_branch(relation),))


def _branch(relation: Relation | PublicScan) -> Branch:
    match relation:
        case Scan(table=table):
            return Branch(f"{table}")
        case PublicScan(table=table):
            return Branch(f"{table}, which is public")
        case Derived(source=source, where=where):
            heading = "columns computed from" if where is None else f"where {words_of(where)}, of"
            return Branch(heading, (_branch(source),))
        case PerUnit(source=source, keys=keys):
            key_words = "".join(f" and {words_of(key.expression)}" for key in keys)
            return Branch(f"one for each person{key_words}, from", (_branch(source),))
        case First(source=source, rows=rows):
            return Branch(f"the first {rows:,} of each person, from", (_branch(source),))
        case UnionAll(parts=parts):
            return Branch("all of", tuple(_branch(part) for part in parts))
        case _:
            return _join(relation)


def _join(join: PublicJoin | UnitJoin | MatchJoin) -> Branch:
    sides = (_branch(join.left), _branch(join.right))
    match join:
        case PublicJoin(kind=kind):
            return Branch(f"{JOINED[kind]} a public table, {_equal(join.on)}", sides)
        case UnitJoin(kind=kind, on=on):
            besides = f", and {_equal(on)}" if on else ""
            return Branch(f"{JOINED[kind]} the same person's rows{besides}", sides)
        case MatchJoin(rows=rows, matches=matches, moved=moved):
            limits = f"at most {rows:,} rows of a person on each side, with at most {matches:,} partners each"
            return Branch(
                f"people joined with each other, {_equal(join.on)}: {limits}; one moves {moved:,} rows", sides
            )


def _equal(pairs: tuple[Pair, ...]) -> str:
    return "where " + " and ".join(map(_pair, pairs))


def _pair(pair: Pair) -> str:
    """Return what is equal; a condition on one side alone is equal to TRUE."""
    alone = [words_of(side) for side in pair if not (isinstance(side, Literal) and side.value is True)]
    return " = ".join(alone)


RULE_NAMES: dict[type, str] = {
    TruncatedGeometricSelection: "optimal partition selection",
    LaplaceThreshold: "a threshold on counts with Laplace noise",
    GaussianThreshold: "a threshold on counts with Gaussian noise",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """A question explained. `str` draws the tree."""

    tree: tuple[Branch, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """The tree, line by line."""
        return tuple(line for branch in self.tree for line in _render_branch(branch))

    def __str__(self) -> str:
        return "\n".join(self.lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def explain(question: Question, plan: QueryPlan, *, confidence: Number = 0.95, size: int | None = None) -> Explanation:
    """Return what a plan does, in words. Free, and no data is looked at."""
    return Explanation(
        (
            Branch(plan.describe()),
            *([] if plan.source is None else [rows_branch(plan.source)]),
            Branch("privacy unit", (Branch(f"{plan.schema.unit}"), Branch(_limit_words(plan)))),
            _groups(plan),
            Branch(f"measured, for {plan.spend} in all", tuple(_build_part_branches(plan))),
            *(
                Branch(f"measured besides: {' '.join(other.what.split())}", tuple(_build_part_branches(other)))
                for other in plan.others
            ),
            Branch(f"answered, at {float(confidence):.4g} confidence", _answers(question, plan, confidence, size)),
            Branch("to halve the error", tuple(Branch(text) for text in _halving(plan))),
        )
    )


def _render_branch(branch: Branch, indent: str = "") -> list[str]:
    lines = [f"{indent}{branch.text}"]
    for place, child in enumerate(branch.below):
        last = place == len(branch.below) - 1
        first, *rest = _render_branch(child)
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{first}")
        lines += [f"{indent}{'   ' if last else '│  '}{line}" for line in rest]
    return lines


def _limit_words(plan: QueryPlan) -> str:
    match = None if plan.source is None else matching(plan.source)
    if match is not None:
        return f"one unit moves at most {match.moved:,} rows of the join"
    if plan.source is not None and most_rows(plan.source) == 1:
        return "one row per unit: no contribution bound is needed"
    match plan.limit:
        case ChosenLimit(share=share):
            return f"contribution bound: chosen privately, for {_amount(plan, share)}"
        case limit if plan.schema.unit.column is None:
            return f"every row is a unit: {limit}"
        case limit:
            return f"contribution bound: {limit}; rows are sampled from each unit's own"


def _groups(plan: QueryPlan) -> Branch:
    if not plan.keys:
        return Branch("one group: all rows that match")
    below = []
    for key in plan.keys:
        words = words_of(key.expression)
        below.append(
            Branch(
                f"{words}: private, shown by partition selection"
                if key.values is None
                else f"{words}: {len(key.values):,} public values"
            )
        )
    shown = "groups: all of them, also empty ones" if plan.public else "groups: those with enough people"
    if plan.tuples is not None:
        shown = f"groups: the {len(plan.tuples):,} combinations that rows can have, also empty ones"
    return Branch(shown, tuple(below))


def _build_part_branches(plan: QueryPlan) -> list[Branch]:
    limit = None if isinstance(plan.limit, ChosenLimit) else plan.limit
    return [
        Branch(
            f"{part_words(part)}, for {_amount(plan, share)} ({float(share / plan.spend.amount):.0%})",
            tuple(Branch(text) for text in _details(plan, part, share, limit)),
        )
        for part, share in zip(plan.parts, plan.shares, strict=True)
    ]


def _details(plan: QueryPlan, part: Part, share: Fraction, limit: AnyLimit | None) -> list[str]:
    """Return the sensitivity and the mechanism of a part; both hang on the limit."""
    if limit is None:
        return ["noise in proportion to the contribution bound, once it is chosen"]
    pricing = plan.pricing(limit)
    match part:
        case Noisy(aggregate=aggregate):
            known = pricing.sensitivity(part)
            noise = pricing.noise(part, share)
            kind = "Laplace" if isinstance(noise, Laplace) else "Gaussian"
            unit = " grid steps" if isinstance(aggregate, Total) and aggregate.bounds.step != 1 else ""
            moved = f"sensitivity: {known.l1:,}{unit} in all (l1), {known.linf:,} in one group"
            return [moved, f"discrete {kind} noise, standard deviation {noise.deviation:,.4g}{unit}"]
        case DistinctTotal():
            known = pricing.sensitivity(part)
            noise = pricing.noise(part, share)
            kind = "Laplace" if isinstance(noise, Laplace) else "Gaussian"
            return [
                f"sensitivity: {known.l1:,} in all (l1), {known.linf:,} in one group",
                f"discrete {kind} noise, standard deviation {noise.deviation:,.4g}",
            ]
        case Levels() | End():
            choice = pricing.choices(part, share)
            per_group = f"ε = {text_up(choice.epsilon, 4)} in each group"
            return [
                f"one unit has at most {choice.rows:,} {'row' if choice.rows == 1 else 'rows'} in a group",
                f"exponential mechanism over {part.aggregate.cells:,} cells, {per_group}",
            ]
        case KeySelection(delta=delta):
            rule = pricing.selection(part, share)
            shown = f"a group of {rule.least_kept():,} people is shown with probability one half"
            return [f"{RULE_NAMES[type(rule)]} at δ = {text_up(delta, 3)}: {shown}"]


def _answers(question: Question, plan: QueryPlan, confidence: Number, size: int | None) -> tuple[Branch, ...]:
    predictions = predict(question, plan, confidence=confidence, size=size)
    return tuple(Branch(f"{prediction.name}: {prediction.words}") for prediction in predictions)


def _half(number: int, noun: str) -> str:
    """Return half of a number, rounded up, with its noun."""
    half = -(-number // 2)
    return f"{half:,} {noun}" if half == 1 else f"{half:,} {noun}s"


def _halving(plan: QueryPlan) -> list[str]:
    """Return what would halve the noise."""
    factor = 4 if isinstance(plan.spend, Rho) else 2
    symbol = "ρ" if isinstance(plan.spend, Rho) else "ε"
    ways = [f"pay {symbol} = {text_up(factor * plan.spend.amount, 4)}"]
    match plan.limit:
        case Limit(groups=groups, rows_per_group=rows) if rows > 1:
            ways.append(f"or limit each unit to {_half(rows, 'row')} in a group (rows above are dropped)")
            ways += [f"or to {_half(groups, 'group')}"] if groups > 1 and symbol == "ε" else []
        case Limit(groups=groups) if groups > 1 and symbol == "ε":
            ways.append(f"or limit each unit to {_half(groups, 'group')} (others are dropped)")
        case TotalLimit() if plan.source is not None and matching(plan.source) is not None:
            ways.append("or halve the rows, or the matches, with which people are joined (the others would not count)")
        case TotalLimit(rows=rows) if rows > 1:
            ways.append(f"or limit each unit to {_half(rows, 'row')} (more would not count)")
    if len(plan.parts) > 1:
        ways.append("or ask for less at once: the price is split over what is measured")
    return ways


def _amount(plan: QueryPlan, share: Fraction) -> str:
    return f"{'ρ' if isinstance(plan.spend, Rho) else 'ε'} = {text_up(share, 4)}"


def part_words(part: Part) -> str:  # noqa: C901 - one case a kind
    """Return what is measured, in words."""
    match part:
        case Noisy(aggregate=Rows()):
            return "how many rows"
        case Noisy(aggregate=People()):
            return "how many people"
        case Noisy(aggregate=Present(value=value)):
            return f"how many rows have {words_of(value)}"
        case Noisy(aggregate=Distinct(value=value)):
            return f"how many different values of {words_of(value)}"
        case Noisy(aggregate=Total(value=value, bounds=bounds, centred=centred, squared=squared)):
            around = f" around {float(bounds.centre * bounds.step):g}" if centred or squared else ""
            which = "squares of " if squared else ""
            ends = f"clamped to [{float(bounds.low):g}, {float(bounds.high):g}]"
            return f"the sum of {which}{words_of(value)}{around}, {ends}"
        case DistinctTotal(total=Total(value=value, centred=centred, squared=squared)):
            return f"the sum of {'squares of ' if squared else ''}the different values of {words_of(value)}" + (
                " around their middle" if centred or squared else ""
            )
        case Noisy(aggregate=Histogram(value=value)):
            return f"how many rows have {words_of(value)} between the edges"
        case Noisy(aggregate=PeopleCut()):
            return "how many people lose rows to the contribution bound"
        case Noisy(aggregate=PeopleWhere()):
            return "how many people have values outside their bounds"
        case Levels(aggregate=Frequencies(value=value), levels=levels):
            return f"quantiles of {words_of(value)} at {', '.join(f'{float(level):g}' for level in levels)}"
        case End(aggregate=Frequencies(value=value), largest=largest):
            return f"the {'largest' if largest else 'smallest'} {words_of(value)}"
        case _:
            return "which groups are shown"
