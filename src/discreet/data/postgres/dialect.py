"""PostgreSQL's SQL: implements `discreet.data.sql.dialect.BoundedDialect`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from discreet.algebra.expressions import Expression
from discreet.algebra.names import quote_name
from discreet.algebra.row_caps import NOTHING_KNOWN, RowFacts, unit_keys
from discreet.algebra.row_hashes import FIRST, KEYS, MASK, NULL, SECOND, SHIFTS
from discreet.core import Bounds
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind
from discreet.data.postgres.catalogue import OWN, PostgresSources, Relation
from discreet.data.postgres.expressions import as_kind, compile_sql
from discreet.data.postgres.literals import BYTES, real, whole, wide
from discreet.data.postgres.numbers import SATURATED, bind_pieces
from discreet.data.sql.dialect import DAY, Scanned, Typed

#: A hundredth of a table's blocks; the same ones each time.
SAMPLE = "TABLESAMPLE SYSTEM (1) REPEATABLE (0)"


@dataclass(frozen=True, slots=True)
class PostgresDialect:
    """The SQL of one statement over some tables. Constants are written out."""

    sources: PostgresSources
    facts: RowFacts = NOTHING_KNOWN

    def scan_private(self, table: str, alias: str, *, whole: bool = False) -> Scanned:
        """Return a private table under an alias; rows without a person are still in it."""
        del whole  # nothing was set aside
        relation = self.sources.need_private(table)
        scanned = _scan_relation(relation, alias)
        units = tuple(Typed(self.value(key, scanned.columns), key.kind) for key in unit_keys(relation.schema))
        sample = f"{scanned.text} {SAMPLE}" if relation.kept else ""
        return Scanned(scanned.text, scanned.columns, scanned.order, units, sample)

    def scan_public(self, table: str, alias: str) -> Scanned:
        """Return a public table under an alias, ordered by its columns."""
        return _scan_relation(self.sources.need_public(table), alias)

    def value(self, expression: Expression, columns: Mapping[str, str]) -> str:
        """Return an expression over columns."""
        return compile_sql(expression, columns).text

    def truth(self, expression: Expression, columns: Mapping[str, str]) -> str:
        """Return whether a condition is true: never NULL."""
        return f"({as_kind(expression, Kind.BOOLEAN, columns).text} IS TRUE)"

    def number(self, piece: Typed) -> str:
        """Return a value as a number."""
        match piece.kind:
            case Kind.DATE:
                return f"CAST({piece.text} - '1970-01-01'::date AS bigint)"
            case Kind.BOOLEAN:
                return f"CAST(CAST({piece.text} AS integer) AS bigint)"
            case Kind.TIMESTAMP:
                return f"CAST(extract(epoch FROM {piece.text}) * 1000000 AS bigint)"  # of exact numbers
            case _:
                return piece.text

    def point(self, piece: Typed, bounds: Bounds) -> str:
        """Return the grid point of a value. Most values are within the bounds: they are tried first."""
        ends = [_point(end, bounds) for end in (bounds.low, bounds.high)]
        if piece.kind in (Kind.REAL, Kind.TIMESTAMP):
            number = piece.text
            if piece.kind is Kind.TIMESTAMP:
                number = f"({self.real(self.number(piece))} / {real(float(DAY))})"
            low, high = (real(nearest_float(end)) for end in (bounds.low, bounds.high))
            inside = _of_real("{x}", bounds)
        else:
            number = self.number(piece)
            low, high = (wide(end) for end in (math.ceil(bounds.low), math.floor(bounds.high)))
            inside = "{x}" if bounds.step == 1 else _of_real("{x}::float8", bounds)
        form = (
            f"(CASE WHEN {{x}} BETWEEN {low} AND {high} THEN {inside}"
            f" WHEN {{x}} < {low} THEN {whole(ends[0])} WHEN {{x}} > {high} THEN {whole(ends[1])} END)"
        )
        return bind_pieces(form, x=number)

    def real(self, text: str) -> str:
        """Return a number as float64."""
        return f"CAST({text} AS double precision)"

    def wide_sum(self, text: str) -> str:
        """Return a sum: PostgreSQL's own of 64-bit integers is an exact number without end."""
        return f"sum({text})"

    def short_sum(self, text: str) -> str:
        """Return a sum of 32-bit integers, which is one of 64 bits, and fast."""
        return f"sum(CAST({text} AS integer))"

    def quotient(self, text: str, divisor: int) -> str:
        """Return a number divided by a constant."""
        return f"({text} / {whole(divisor)})"

    def clip_sum(self, text: str) -> str:
        """Return a wide sum within ±2⁵³; NULL stays what it is."""
        most, least = whole(SATURATED), whole(-SATURATED)
        ends = f"WHEN {text} > {most} THEN {most} WHEN {text} < {least} THEN {least}"
        return f"(CASE {ends} ELSE CAST({text} AS bigint) END)"

    def divide(self, text: str, divisor: str) -> str:
        """Return a quotient of integers."""
        return f"({text} / {divisor})"

    @property
    def keeps_subqueries(self) -> bool:
        """Yes: they are materialised."""
        return True

    def define_subquery(self, name: str, text: str, *, once: bool) -> str:
        """Return the definition of a subquery."""
        return f"{name} AS {'' if once else 'NOT '}MATERIALIZED ({text})"

    def word(self, piece: Typed) -> str:
        """Return the word of a value."""
        if piece.kind is Kind.TEXT:
            return f"coalesce(('x' || left(md5({piece.text}), 8))::bit(32)::bigint, {NULL})"
        number = self.number(piece)
        return f"coalesce(({number} # (({number} >> 32) * {KEYS})) & {MASK}, {NULL})"

    def mix(self, text: str) -> str:
        """Return `mix` of a number."""
        low = f"({text} & {MASK})"
        first = f"((({low} # ({low} >> {SHIFTS[0]})) * {FIRST}) & {MASK})"
        return f"((({first} # ({first} >> {SHIFTS[1]})) * {SECOND}) & {MASK})"

    def sorting(self, piece: Typed) -> str:
        """Return the text after ORDER BY."""
        return f"{piece.text}{f' {BYTES}' if piece.kind is Kind.TEXT else ''} ASC NULLS FIRST"

    def quote_name(self, name: str) -> str:
        """Return a name as an identifier."""
        return quote_name(name)


def _scan_relation(relation: Relation, alias: str) -> Scanned:
    columns = {name: text.replace(OWN, alias) for name, text in relation.columns.items()}
    return Scanned(
        f"{relation.origin} AS {alias}{relation.listed}",
        {column.name: columns[column.name] for column in relation.schema.columns},
        tuple(Typed(columns[name], kind) for name, kind in relation.order),
        (),
    )


def _of_real(text: str, bounds: Bounds) -> str:
    """Return the point of a real within the bounds."""
    scale = nearest_float(1 / bounds.step)
    scaled = f"{text} * {real(scale)}"
    if scale < 1:  # the smallest numbers would be too small for PostgreSQL, and are at the point of zero
        scaled = f"(CASE WHEN abs({text}) > {real(1e-200)} THEN {scaled} ELSE {real(0)} END)"
    inside = f"CAST(floor({scaled} + {real(0.5)}) AS bigint)"
    first, last = (_round_to_grid(end, bounds) for end in (bounds.low, bounds.high))
    if first >= bounds.low_steps and last <= bounds.high_steps:
        return inside  # all others are between the ends' points
    return f"greatest(least({inside}, {whole(bounds.high_steps)}), {whole(bounds.low_steps)})"


def _round_to_grid(end: object, bounds: Bounds) -> int:
    return math.floor(nearest_float(end) * nearest_float(1 / bounds.step) + 0.5)  # type: ignore[arg-type]


def _point(end: object, bounds: Bounds) -> int:
    return min(max(_round_to_grid(end, bounds), bounds.low_steps), bounds.high_steps)
