"""DuckDB's SQL: implements `discreet.data.sql.dialect.Dialect` on top of what compiles expressions for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.algebra.expressions import Expression
from discreet.algebra.names import quote_name
from discreet.algebra.row_caps import unit_keys
from discreet.core import Bounds
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind
from discreet.data.duckdb.clustering import UnitColumn, mix_sql, word_sql
from discreet.data.duckdb.connection import Holding, Holdings
from discreet.data.duckdb.expressions import Scope, as_kind, compile_sql
from discreet.data.sql.dialect import DAY, Scanned, Typed

#: A folded sum ends here.
MOST = 2**53


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class DuckDialect:
    """One statement over tables of a locked engine, and its parameters."""

    holdings: Holdings
    parameters: dict[str, object] = field(default_factory=dict)

    def scan_private(self, table: str, alias: str, *, whole: bool = False) -> Scanned:
        """Return a private table: its rows stand in their order, and those beyond the cap behind them."""
        scanned = _scan_table(self.holdings.private[table], alias, whole=whole)
        keys = unit_keys(self.holdings.schemas[table])
        units = tuple(Typed(self.value(key, scanned.columns), key.kind) for key in keys)
        return Scanned(scanned.text, scanned.columns, scanned.order, units)

    def scan_public(self, table: str, alias: str) -> Scanned:
        """Return a public table: its rows were sorted by all columns when it came in."""
        return _scan_table(self.holdings.public[table], alias)

    def value(self, expression: Expression, columns: Mapping[str, str]) -> str:
        """Return an expression."""
        return compile_sql(expression, Scope(columns, self.parameters)).text

    def truth(self, expression: Expression, columns: Mapping[str, str]) -> str:
        """Return whether a condition is true."""
        return f"coalesce({as_kind(expression, Kind.BOOLEAN, Scope(columns, self.parameters)).text}, false)"

    def number(self, piece: Typed) -> str:
        """Return a value as a number."""
        match piece.kind:
            case Kind.DATE:
                return f"({piece.text} - DATE '1970-01-01')"
            case Kind.TIMESTAMP:
                return f"epoch_us({piece.text})"
            case Kind.BOOLEAN:
                return f"CAST({piece.text} AS BIGINT)"
            case _:
                return piece.text

    def point(self, piece: Typed, bounds: Bounds) -> str:
        """Return the grid point of a value. Of NULL, the least and the greatest would be the bounds themselves."""
        number = self.number(piece)
        if piece.kind in (Kind.INTEGER, Kind.DATE) and bounds.step == 1:
            clipped = _clip(number, bounds.low_steps, bounds.high_steps)
        else:
            days = f" / {DAY}::DOUBLE" if piece.kind is Kind.TIMESTAMP else ""
            real = _clip(f"CAST({number} AS DOUBLE){days}", _real(bounds.low), _real(bounds.high))
            points = f"floor({real} * {_real(1 / bounds.step)} + 0.5::DOUBLE)"
            clipped = _clip(points, _real(bounds.low_steps), _real(bounds.high_steps))
        return f"(CASE WHEN {piece.text} IS NOT NULL THEN CAST({clipped} AS BIGINT) END)"

    def real(self, text: str) -> str:
        """Return a number as float64."""
        return f"CAST({text} AS DOUBLE)"

    def wide_sum(self, text: str) -> str:
        """Return a sum in 128 bits."""
        return f"sum(CAST({text} AS BIGINT))"

    def clip_sum(self, text: str) -> str:
        """Return a wide sum within ±2⁵³; NULL stays what it is."""
        ends = f"WHEN {text} > {MOST} THEN {MOST} WHEN {text} < -{MOST} THEN -{MOST}"
        return f"CAST((CASE {ends} ELSE {text} END) AS BIGINT)"

    def divide(self, text: str, divisor: str) -> str:
        """Return a quotient of integers."""
        return f"({text} // {divisor})"

    @property
    def keeps_subqueries(self) -> bool:
        """Yes: they are materialised."""
        return True

    def define_subquery(self, name: str, text: str, *, once: bool) -> str:
        """Return the definition of a subquery."""
        return f"{name} AS {'' if once else 'NOT '}MATERIALIZED ({text})"

    def word(self, piece: Typed) -> str:
        """Return the word of a value."""
        return word_sql(UnitColumn(piece.text, piece.kind))

    def mix(self, text: str) -> str:
        """Return `mix` of a number."""
        return mix_sql(text)

    def sorting(self, piece: Typed) -> str:
        """Return the sort key of a column: texts go by their bytes anyway."""
        return f"{piece.text} NULLS FIRST"

    def quote_name(self, name: str) -> str:
        """Return a name as an identifier."""
        return quote_name(name)


def _scan_table(holding: Holding, alias: str, *, whole: bool = False) -> Scanned:
    columns = {name: f"{alias}.{own}" for name, own in holding.columns.items()}
    if whole and holding.beyond:
        own = ", ".join(holding.columns.values())
        # S608: names are our own.
        rows = (
            f"SELECT rowid AS place, {own} FROM {holding.table} UNION ALL "  # noqa: S608
            f"SELECT {holding.rows} + rowid, {own} FROM {holding.beyond}"
        )
        return Scanned(f"({rows}) AS {alias}", columns, (Typed(f"{alias}.place", Kind.INTEGER),), ())
    # Half the bits are quicker to sort by.
    number = f"CAST({alias}.rowid AS {'INTEGER' if holding.rows < 2**31 else 'BIGINT'})"
    return Scanned(f"{holding.table} AS {alias}", columns, (Typed(number, Kind.INTEGER),), ())


def _clip(text: str, low: object, high: object) -> str:
    return f"least(greatest({text}, {low}), {high})"


def _real(number: object) -> str:
    """Return a constant exactly: Python writes as many digits as tell floats apart."""
    return f"'{nearest_float(number)!r}'::DOUBLE"  # type: ignore[arg-type]
