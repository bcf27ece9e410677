"""Counts at every level of a hierarchy, nation → state → county, in one plan, with the best split of the budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.accounting import Composed, PrivacyLoss
from discreet.algebra import check_condition, check_expression, check_work, columns_by_name
from discreet.algebra.aggregates import Aggregation, Key, People, Rows, Table, sensitivity_of
from discreet.algebra.expressions import ColumnValue, Expression, Literal, call, column, kind_of_value
from discreet.algebra.functions import F
from discreet.algebra.row_hashes import salt_of
from discreet.core import InvalidInput, Limit, Number, Sensitivity, exact, whole
from discreet.core.canonical_text import canonical_name, canonical_text
from discreet.core.exact import flag
from discreet.core.limits import AnyLimit, TotalLimit
from discreet.core.schema import Kind, Schema, Value
from discreet.gate import Prospect
from discreet.mechanisms import Gaussian, Laplace, Tree, consistent
from discreet.noise import Entropy
from discreet.query.planning.charging import UNSALTED, PassCost, check_pass, choose_aggregate, noise_cost
from discreet.query.planning.measurements import words_of
from discreet.query.planning.plans import pack_answer
from discreet.query.planning.spending import Rho, Spend
from discreet.query.relations.schemas import cap_text
from discreet.query.workloads.batch_passes import check_spend

# Budget split over the levels of a hierarchy: the shares that make the final error least.
#
# The goal is the variances after the levels were made to agree: a nation is known better from its states than by a
# share of its own. Shares are public and any split is sound; this one is looked for in floats.

#: Shares are multiples of this part of the price, so that they are short, and every level gets one at least.
FINEST = 1000
#: Steps towards the best split, and by how much a share is changed to see what it does.
STEPS, NUDGE = 30, 1e-4


def level_shares(
    tree: Tree, bounds: Sequence[Sensitivity], weights: Sequence[Fraction] | None, spend: Spend, *, known: bool
) -> tuple[Fraction, ...]:
    """Return shares for which Σ weight·(mean variance of the level's final estimates) is about least; else even ones.

    A top that is known gets none.

    The rule: λ ← √(λ·e), where e is by how much the total falls as λ grows, in logarithms. It rests where all levels
    would gain alike from a little more. Reference: Titterington 1978; Yu 2010, for optimal designs.
    """
    shares = [1 / len(bounds)] * len(bounds)
    if weights is None:
        return _shares([0.0] * known + shares[known:], spend)
    in_rho = isinstance(spend, Rho)
    units = [float(bound.l2_squared) / 2 if in_rho else 2.0 * float(bound.l1) ** 2 for bound in bounds]
    zeros = [np.zeros(size) for size in tree.sizes]

    def total(shares: Sequence[float]) -> float:
        noise = [unit / (share if in_rho else share**2) for unit, share in zip(units, shares, strict=True)]
        if known:
            noise[0] = 0.0
        means = [float(level.mean()) for level in consistent(tree, zeros, noise).variances]
        return sum(float(weight) * mean for weight, mean in zip(weights, means, strict=True))

    for _ in range(STEPS):
        now = total(shares)
        steps = [
            [share * (1 + NUDGE * (at == level)) for at, share in enumerate(shares)] for level in range(len(shares))
        ]
        roots = [(share * max(now - total(step), 0.0)) ** 0.5 for share, step in zip(shares, steps, strict=True)]
        whole = sum(roots)
        if not whole:
            break
        shares = [max(root / whole, 1 / FINEST) for root in roots]
    return _shares([0.0] * known + shares[known:], spend)


def _shares(wanted: Sequence[float], spend: Spend) -> tuple[Fraction, ...]:
    """Return exact shares that sum to the price; what is left over goes to the largest."""
    whole = sum(wanted)
    parts = [max(round(FINEST * share / whole), 1) if share else 0 for share in wanted]
    parts[max(range(len(parts)), key=parts.__getitem__)] += FINEST - sum(parts)
    return tuple(spend.amount * part / FINEST for part in parts)


#: Changes whenever the same text would no longer give the same distribution of answers.
FORM = "discreet hierarchy 1"
#: Stands between the values of a path where it is one text. No value may contain it, so that no two paths are one text.
BETWEEN = "\x1f"

Path = tuple[Value, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchyPlan:
    """The number of rows, or people, in every node of a public tree: all of them, by state, by county.

    Guarantee: the composition of its levels, `cost`. Rows are counted once, at the leaves, under the limit; the levels
    above are sums of these exact counts. A unit has at most `limit.rows` rows that count, each of which is in one node
    of each level: so no level moves by more than a unit with all of them in one node (`sensitivity`). People are
    counted where each is in one leaf only, or a person in two counties would be two people in the state.
    """

    schema: Schema
    where: Expression | None
    keys: tuple[Expression, ...]
    #: The leaves, each with the values of all keys. All other nodes are beginnings of these.
    paths: tuple[Path, ...]
    counts: Rows | People
    limit: AnyLimit
    #: Of each level from the top down; 0 for a top that is known.
    shares: tuple[Fraction, ...]
    spend: Spend
    #: The count at the top, if it is public.
    total: int | None

    @property
    def tree(self) -> Tree:
        """The tree of all nodes."""
        return build_tree(self.paths)[0]

    @property
    def nodes(self) -> tuple[tuple[Path, ...], ...]:
        """The path of each node, level by level: () at the top."""
        return build_tree(self.paths)[1]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the keys."""
        return tuple(key.name if isinstance(key, ColumnValue) else words_of(key) for key in self.keys)

    def sensitivity(self, level: int) -> Sensitivity:
        """Return the distance by which one unit moves the counts of a level, all together."""
        return level_sensitivity(self.counts, self.limit, self.schema, leaves=level == len(self.keys))

    def noise(self, level: int) -> Laplace | Gaussian | None:
        """Return the noise that is added to the counts of a level; None if they are known."""
        share, sensitivity = self.shares[level], self.sensitivity(level)
        if not share:
            return None
        in_rho = isinstance(self.spend, Rho)
        return Gaussian.for_rho(share, sensitivity) if in_rho else Laplace.for_epsilon(share, sensitivity)

    @property
    def cost(self) -> PrivacyLoss:
        """The cost of all levels together."""
        losses = [noise.cost for noise in map(self.noise, range(len(self.shares))) if noise is not None]
        return losses[0] if len(losses) == 1 else Composed(losses)

    @property
    def personal(self) -> bool:
        """Whether each person can be charged for what it takes from that person."""
        return True

    def describe(self) -> str:
        """Return the counted noun, in words."""
        noun = "rows" if isinstance(self.counts, Rows) else "people"
        where = "" if self.where is None else f" where {words_of(self.where)}"
        return f"{noun} of {self.schema.table}{where} by {' → '.join(self.names)}, at every level"

    def canonical(self) -> str:
        """Return all that decides how answers are distributed, and nothing else."""
        fields = (self.schema.table, self.schema.unit, self.where, self.keys, self.paths, self.counts, self.limit)
        cap = cap_text(self.schema, ())
        return "\n".join([FORM, canonical_name(self.spend), *map(canonical_text, (*fields, self.shares)), *cap])

    def check(self, data: Table | Prospect, /) -> None:
        """Refuse, before anything is paid, tables that cannot be asked this now. Reads no row."""
        check_pass(data, self._aggregation(UNSALTED))

    def run(self, data: Table, entropy: Entropy, /) -> dict[str, Any]:
        """Return noisy counts of all levels that are measured, from the top down."""
        counts = [choose_aggregate(data, self._costs)(self.aggregation).answers[0]]
        for level in reversed(range(len(self.keys))):
            counts.insert(0, self.tree.sums(level, counts[0]))
        noises = [self.noise(level) for level in range(len(counts))]
        return {
            "levels": [
                None if noise is None else pack_answer(noise.perturb(exactly, entropy=entropy))
                for noise, exactly in zip(noises, counts, strict=True)
            ]
        }

    def _costs(self) -> list[PassCost]:
        """Return the cost of the levels to one person, with personal accounts: those above the leaves are added up."""
        noises = [(self.noise(level), level < len(self.keys)) for level in range(len(self.shares))]
        return [noise_cost(noise, self.counts, added_up=above) for noise, above in noises if noise is not None]

    @property
    def aggregation(self) -> Aggregation:
        """The one pass over the rows: it counts at the leaves."""
        return self._aggregation(salt_of(self.canonical()))

    def _aggregation(self, salt: int) -> Aggregation:
        return Aggregation(
            where=self.where,
            keys=(path_key(self.keys, self.paths),),
            aggregates=(self.counts,),
            limit=self.limit,
            salt=salt,
            table=self.schema.table,
        )

    def noisy(self, answer: dict[str, Any]) -> tuple[NDArray[Any], ...]:
        """Return the counts of an answer, level by level; a known top is exact."""
        known = np.array([self.total or 0], np.int64)
        return tuple(known if level is None else np.asarray(level) for level in answer["levels"])


def plan_hierarchy(  # noqa: PLR0913 - each is one thing that is declared or asked for
    schema: Schema,
    *,
    keys: Sequence[str | Expression],
    paths: Sequence[Sequence[Value]],
    spend: Spend,
    limit: AnyLimit | None = None,
    where: Expression | None = None,
    people: bool = False,
    weights: Sequence[Number] | None = None,
    even: bool = False,
    total: int | None = None,
) -> HierarchyPlan:
    """Return the plan that counts rows (or `people`) at every level of a hierarchy.

    `keys` go from coarse to fine, as in ("state", "county"), and `paths` are all leaves there are, as in
    ("Ohio", "Adams"): a public list, which is not read off the data. Rows that follow none of them do not count. The
    top, all rows, is a level of its own; `total`, if it is public, is taken for it. The price is split so that
    Σ weight·(mean variance of a level's final estimates) is small, with one weight for each level from the top down
    (all alike, if left out); or evenly.
    """
    check_spend(spend)
    expressions = tuple(column(schema, key) if isinstance(key, str) else key for key in keys)
    for key in expressions:
        check_expression(key, columns_by_name(schema.columns))
    if where is not None:
        check_condition(where, columns_by_name(schema.columns), "a hierarchy")
    leaves = tuple(tuple(path) for path in paths)
    _check_paths(expressions, leaves)
    counts = People() if flag(people, "people") else Rows()
    if isinstance(counts, People) and schema.unit.window is not None:
        raise InvalidInput(
            f"The privacy unit is a person in one {schema.unit.window.period.value}, so people cannot be counted.",
            fix="count rows; or open the table without a window",
        )
    fitted = _need_limit(schema, limit, counts, len(leaves))
    check_work(None, (*expressions, *(() if where is None else (where,))))
    known = None if total is None else whole(total, "total", least=0)
    bounds = [
        level_sensitivity(counts, fitted, schema, leaves=level == len(expressions))
        for level in range(len(expressions) + 1)
    ]
    weighed = None if flag(even, "even") else _need_weights(weights, len(bounds))
    return HierarchyPlan(
        schema=schema,
        where=where,
        keys=expressions,
        paths=leaves,
        counts=counts,
        limit=fitted,
        shares=level_shares(build_tree(leaves)[0], bounds, weighed, spend, known=known is not None),
        spend=spend,
        total=known,
    )


def level_sensitivity(counts: Rows | People, limit: AnyLimit, schema: Schema, *, leaves: bool) -> Sensitivity:
    """Return the distance by which one unit moves a level: the limit; above leaves, its leaves may share a node."""
    if leaves:
        return sensitivity_of(counts, limit, schema.unit.neighbours)
    most = limit.groups if isinstance(counts, People) else limit.rows
    return sensitivity_of(Rows(), TotalLimit(most), schema.unit.neighbours)


@lru_cache(maxsize=8)
def build_tree(paths: tuple[Path, ...]) -> tuple[Tree, tuple[tuple[Path, ...], ...]]:
    """Return the tree of paths, and the path of each node: in the order in which they are first met."""
    nodes: list[tuple[Path, ...]] = [((),)]
    parents: list[NDArray[np.int64]] = []
    for depth in range(1, len(paths[0]) + 1):
        level = tuple(dict.fromkeys(path[:depth] for path in paths))
        places = {node: place for place, node in enumerate(nodes[-1])}
        parents.append(np.array([places[node[:-1]] for node in level], np.int64))
        nodes.append(level)
    return Tree(1, tuple(parents)), tuple(nodes)


def path_key(keys: Sequence[Expression], paths: Sequence[Path]) -> Key:
    """Return one key whose groups are the paths, and no others."""
    if len(keys) == 1:
        return Key(keys[0], tuple(path[0] for path in paths))
    texts = [key if key.kind is Kind.TEXT else call(F.TO_TEXT, key) for key in keys]
    between = [part for text in texts for part in (Literal.of(BETWEEN), text)]
    return Key(call(F.CONCAT, *between[1:]), tuple(BETWEEN.join(map(_text, path)) for path in paths))


def _text(value: Value) -> str:
    """Return a value as CAST(… AS TEXT) writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def _check_paths(keys: tuple[Expression, ...], paths: tuple[Path, ...]) -> None:
    if not keys or not paths:
        raise InvalidInput("A hierarchy needs keys and paths.", fix='pass keys=("state", "county") and all paths')
    for key in keys:
        if not key.kind.groupable:
            raise InvalidInput(
                f"Rows cannot be grouped by {key.kind.value} values.", fix="use whole numbers, days, or texts"
            )
    kinds = tuple(key.kind for key in keys)
    if any(None in path or tuple(map(kind_of_value, path)) != kinds for path in paths):
        raise InvalidInput(
            "A path does not match the keys of the hierarchy.", fix="pass one value for each key, of its kind, in order"
        )
    if len(set(paths)) < len(paths):
        raise InvalidInput("A path is listed twice.", fix="list every leaf once")
    if any(BETWEEN in value for path in paths for value in path if isinstance(value, str)):
        raise InvalidInput("A path has a control character in it.", fix="take U+001F out of the names")


def _need_limit(schema: Schema, limit: AnyLimit | None, counts: Rows | People, leaves: int) -> AnyLimit:
    """Return the limit for these leaves."""
    if schema.unit.column is None:
        return Limit()
    if limit is None:
        raise InvalidInput(
            "A hierarchy needs a contribution bound.",
            fix="pass limit=Limit(groups=1, rows_per_group=…): one county per person, and so many rows",
        )
    if isinstance(counts, People) and limit.groups != 1:
        raise InvalidInput(
            "People in several leaves would be counted several times above them.",
            fix="pass limit=Limit(groups=1, rows_per_group=…), so that each person counts in one leaf; or count rows",
        )
    if isinstance(limit, TotalLimit):
        return limit
    return Limit(groups=min(limit.groups, leaves), rows_per_group=limit.rows_per_group)


def _need_weights(weights: Sequence[Number] | None, levels: int) -> tuple[Fraction, ...]:
    exact_weights = (
        (Fraction(1),) * levels if weights is None else tuple(exact(weight, "weights") for weight in weights)
    )
    if len(exact_weights) != levels or min(exact_weights) < 0 or not sum(exact_weights):
        raise InvalidInput(
            "The weights do not match the levels of the hierarchy.",
            fix=f"pass {levels} numbers, from the top down, none of them negative and one of them positive",
        )
    return exact_weights
