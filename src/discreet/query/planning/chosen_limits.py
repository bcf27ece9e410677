"""Limits that nobody gave: chosen privately, within a question or once before it."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.accounting import Composed, PrivacyLoss
from discreet.algebra.aggregates import Aggregation, Key, Load, PeopleBy, Table
from discreet.algebra.expressions import Expression
from discreet.algebra.relations import Relation
from discreet.algebra.row_hashes import salt_of
from discreet.core import Limit
from discreet.core.canonical_text import Record, canonical_name, canonical_text
from discreet.core.schema import Schema
from discreet.gate import Prospect
from discreet.noise import Entropy
from discreet.query.planning.charging import UNSALTED, PassCost, can_be_charged, check_pass, choose_aggregate
from discreet.query.planning.pricing import Pricing
from discreet.query.planning.spending import Spend
from discreet.query.relations.schemas import cap_text

FORM = "discreet limits 1"


@dataclass(frozen=True, slots=True)
class ChosenLimit:
    """A limit of at most so many groups, and rows in each, that is chosen for a share of a price.

    The rule: quantiles of what people have, at a level of 19/20, by `discreet.mechanisms.LimitChoice`.
    """

    __canonical__: ClassVar[Record] = Record("ChosenLimit", "share", "groups", "rows")

    share: Fraction
    groups: int
    rows: int

    @property
    def loads(self) -> tuple[PeopleBy, ...]:
        """What it is chosen from: people by the rows in their fullest group, and by groups if there are several."""
        rows = PeopleBy(Load.ROWS_PER_GROUP, self.rows)
        return (rows,) if self.groups == 1 else (PeopleBy(Load.GROUPS, self.groups), rows)

    def losses(self, pricing: Pricing) -> list[PrivacyLoss]:
        """Return what the choice costs: the same for each load."""
        return [pricing.choice_loss(self.share / len(self.loads)) for _ in self.loads]

    def choose(self, data: Table, passing: Aggregation, pricing: Pricing, entropy: Entropy) -> Limit:
        """Return a limit for the rows that pass."""
        counts = choose_aggregate(data, lambda: [PassCost(loss) for loss in self.losses(pricing)])(passing).answers
        share = self.share / len(self.loads)
        limits = {
            load.load: pricing.choice(share, load.most).choose(load_counts, entropy=entropy)
            for load, load_counts in zip(self.loads, counts, strict=True)
        }
        return Limit(groups=limits.get(Load.GROUPS, 1), rows_per_group=limits[Load.ROWS_PER_GROUP])

    def passing(
        self, where: Expression | None, keys: tuple[Key, ...], salt: int, source: Relation | None, table: str
    ) -> Aggregation:
        """Return the pass that counts loads. They are counted before limits, so that any limit serves."""
        return Aggregation(
            where=where, keys=keys, aggregates=self.loads, limit=Limit(), salt=salt, source=source, table=table
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitsPlan:
    """Choose a limit for the rows and groups of a question, and nothing else.

    Guarantee: one choice, or two, on counts in which every unit is once: `ChosenLimit.losses`.
    """

    schema: Schema
    where: Expression | None
    keys: tuple[Key, ...]
    chosen: ChosenLimit
    spend: Spend
    what: str
    #: None: the rows of the schema's own table.
    source: Relation | None = None

    @property
    def _pricing(self) -> Pricing:
        return Pricing(self.spend, None, self.schema.unit.neighbours)

    @property
    def cost(self) -> PrivacyLoss:
        """What it costs."""
        losses = self.chosen.losses(self._pricing)
        return losses[0] if len(losses) == 1 else Composed(losses)

    @property
    def personal(self) -> bool:
        """Whether each person can be charged for what it takes from that person."""
        return can_be_charged(self.source)

    def describe(self) -> str:
        """Return what is asked, in words."""
        return f"limits for {self.what}"

    def canonical(self) -> str:
        """Return all that decides how answers are distributed."""
        fields = (self.schema.table, self.schema.unit, self.where, self.keys, self.chosen)
        source = () if self.source is None else (self.source,)
        cap = cap_text(self.schema, (self.source,))
        return "\n".join([FORM, canonical_name(self.spend), *map(canonical_text, (*fields, *source)), *cap])

    def check(self, data: Table | Prospect, /) -> None:
        """Refuse, before anything is paid, tables that cannot be asked this now. Reads no row."""
        check_pass(data, self.chosen.passing(self.where, self.keys, UNSALTED, self.source, self.schema.table))

    def run(self, data: Table, entropy: Entropy, /) -> dict[str, Any]:
        """Return the limit."""
        salt = salt_of(self.canonical())
        passing = self.chosen.passing(self.where, self.keys, salt, self.source, self.schema.table)
        limit = self.chosen.choose(data, passing, self._pricing, entropy)
        return {"limit": [limit.groups, limit.rows_per_group]}


def read_bought_limit(answer: dict[str, Any]) -> Limit:
    """Return the limit that an answer says."""
    groups, rows = answer["limit"]
    return Limit(groups=groups, rows_per_group=rows)
