"""EXISTS (SELECT …): rows that have, or have not, a partner among the same person's rows, or in a public table.

EXISTS is never NULL, unlike IN: a row that is compared with NULL has no partner.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from discreet.algebra.relations import JoinKind, Pair, PublicJoin, UnitJoin, matching
from discreet.query.refusals import QueryRefused
from discreet.query.sql.expressions import row
from discreet.query.sql.join_sides import TRUE, Conditions, Side, conditions_of
from discreet.query.sql.joins import filtered, need_people, person_name, same_person
from discreet.query.sql.known_tables import Known, Public, Source
from discreet.query.sql.scope import Scope

#: What a SELECT after EXISTS may not have, and what to write instead.
ODD = {
    "group": "write person IN (SELECT person FROM … GROUP BY person HAVING …)",
    "having": "write person IN (SELECT person FROM … GROUP BY person HAVING …)",
    "order": "leave it out: EXISTS asks whether there is a row",
    "limit": "leave it out: EXISTS asks whether there is a row",
    "with_": "put WITH before the first SELECT",
}


def need_plain(node: exp.Expr, known: Known) -> exp.Select:
    """Return the SELECT of EXISTS, if it has nothing but tables and conditions."""
    select = node.this.unnest() if isinstance(node.this, exp.Subquery) else node.this
    if not isinstance(select, exp.Select):
        raise known.refuse(node, "EXISTS takes one SELECT.", "write EXISTS (SELECT 1 FROM b WHERE b.x = a.x)")
    for name, fix in ODD.items():
        part = select.args.get(name)
        if part is not None:
            raise known.refuse(part, "EXISTS takes only tables and conditions.", fix)
    if any(each.find(exp.Anonymous) for each in select.expressions):
        raise known.refuse(
            select, "EXISTS takes only tables and conditions.", "write EXISTS (SELECT 1 FROM b WHERE b.x = a.x)"
        )
    return select


def with_partners(
    source: Source, inner: Source | Public, tests: list[exp.Expr], node: exp.Exists, known: Known, *, negated: bool
) -> Source:
    """Return the rows that have a partner for which all tests are true; or those that have none."""
    left = known.fresh(source)
    right = known.fresh(inner) if isinstance(inner, Source) else inner
    sides = (Side(left), Side(right))
    schema = known.schema(left.relation)
    scope = Scope(known.page, schema, sides[1].items, table=sides[1].words, outer=sides[0].items)
    for output in need_plain(node, known).expressions:
        if not output.find(exp.Star):
            row(output.unalias(), scope)  # it means nothing here, but it must be there
    found = conditions_of(tests, sides, scope)
    if found.mixed:
        raise known.refuse(
            found.mixed[0],
            "EXISTS can compare with outer rows only for equality.",
            "join the tables, and compare after WHERE: then a row counts once for each partner",
        )
    partners = Partners(left, found, JoinKind.ANTI if negated else JoinKind.SEMI, node, known)
    made = partners.public(right) if isinstance(right, Public) else partners.private(right)
    return replace(left, relation=made)


@dataclass(frozen=True, slots=True)
class Partners:
    """What EXISTS says of the rows outside of it."""

    left: Source
    found: Conditions
    kind: JoinKind
    node: exp.Expr
    known: Known

    @property
    def alone(self) -> tuple[Pair, ...]:
        """Conditions on the rows outside."""
        return tuple((each, TRUE) for each, _ in self.found.left)

    def public(self, right: Public) -> PublicJoin:
        """Return rows by what is in a public table."""
        if not self.found.pairs:
            raise self.known.refuse(
                self.node,
                "EXISTS does not refer to the outer rows.",
                "write EXISTS (SELECT 1 FROM b WHERE b.x = a.x)",
            )
        pairs = tuple(pair for pair, _ in self.found.pairs)
        listed = tuple((TRUE, each) for each, _ in self.found.right)
        return PublicJoin(self.left.relation, right.scan, (*pairs, *self.alone, *listed), self.kind)

    def private(self, right: Source) -> UnitJoin:
        """Return rows by what the same person has elsewhere."""
        if matching(right.relation) is not None:
            raise self.known.refuse(
                self.node,
                "A row of a join of people with each other has no single owner.",
                "put this join last, and only filter, group and sum its rows",
            )
        left = self.left.relation
        need_people(left, right.relation, self.node, self.known)
        people = self.known.people(left), self.known.people(right.relation)
        others = tuple(pair for pair, _ in self.found.pairs if not same_person(pair, people))
        if len(others) == len(self.found.pairs):
            raise self._others(right)
        inner = filtered(right.relation, [each for each, _ in self.found.right])
        return UnitJoin(left, inner, (*others, *self.alone), self.kind)

    def _others(self, right: Source) -> QueryRefused:
        names = [person_name(side, self.known) for side in (right, self.left)]
        clear = all(names) and len({name.casefold() for name in names}) == len(names)
        fix = f"write in it, after WHERE: {' = '.join(names)}" if clear else "compare the persons: b.person = a.person"
        return self.known.refuse(self.node, "The subquery compares rows of different people.", fix)
