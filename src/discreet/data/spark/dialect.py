"""Spark's SQL: implements `discreet.data.sql.dialect.BoundedDialect`.

A table is a frame whose columns are called x0, x1, …; what they become stands in a projection below everything else. So
no name of a table, and no setting that says how names are read, is part of a statement.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from discreet.algebra.expressions import Expression
from discreet.algebra.row_caps import NOTHING_KNOWN, RowFacts, unit_keys
from discreet.algebra.row_hashes import FIRST, KEYS, MASK, NULL, OTHERS, SECOND, SHIFTS
from discreet.core import Bounds
from discreet.core.exact import nearest_float
from discreet.core.schema import Kind
from discreet.data.spark.expressions import as_kind, compile_sql
from discreet.data.spark.frames import SparkFrame, SparkFrames
from discreet.data.spark.literals import real, whole
from discreet.data.sql.dialect import DAY, Scanned, Typed

#: A folded sum ends here.
MOST = 2**53


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SparkDialect:
    """One statement over frames of a session, which are known under the names of views."""

    frames: SparkFrames
    #: The view of each frame, by the name of its table; private ones and public ones.
    views: Mapping[str, str]
    facts: RowFacts = NOTHING_KNOWN

    def scan_private(self, table: str, alias: str, *, whole: bool = False) -> Scanned:
        """Return a private table, ordered by what was declared, and then by all columns."""
        del whole  # nothing was set aside
        frame = self.frames.need_private(table)
        scanned = self._scan_frame(frame, table, alias)
        units = tuple(Typed(self.value(key, scanned.columns), key.kind) for key in unit_keys(frame.schema))
        return Scanned(scanned.text, scanned.columns, scanned.order, units)

    def scan_public(self, table: str, alias: str) -> Scanned:
        """Return a public table, ordered by its columns."""
        return self._scan_frame(self.frames.need_public(table), table, alias)

    def _scan_frame(self, frame: SparkFrame, table: str, alias: str) -> Scanned:
        items = ", ".join(f"{cast.text} AS x{place}" for place, cast in enumerate(frame.castings))
        columns = {column.name: f"{alias}.x{place}" for place, column in enumerate(frame.schema.columns)}
        order = tuple(Typed(f"{alias}.x{place}", frame.castings[place].kind) for place in frame.order)
        # S608: the view's name and the columns' are our own.
        return Scanned(f"(SELECT {items} FROM {self.views[table]}) AS {alias}", columns, order, ())  # noqa: S608

    def value(self, expression: Expression, columns: Mapping[str, str]) -> str:
        """Return an expression."""
        return as_kind(expression, expression.kind, columns).text

    def truth(self, expression: Expression, columns: Mapping[str, str]) -> str:
        """Return whether a condition is true."""
        return f"coalesce({compile_sql(expression, columns).text}, false)"

    def number(self, piece: Typed) -> str:
        """Return a value as a number; moments are numbers already."""
        match piece.kind:
            case Kind.DATE:
                return f"CAST(unix_date({piece.text}) AS BIGINT)"
            case Kind.BOOLEAN:
                return f"CAST({piece.text} AS BIGINT)"
            case _:
                return piece.text

    def point(self, piece: Typed, bounds: Bounds) -> str:
        """Return the grid point of a value. Of NULL, the least and the greatest would be the bounds themselves."""
        number = self.number(piece)
        if piece.kind in (Kind.INTEGER, Kind.DATE) and bounds.step == 1:
            clipped = _clip_number(number, whole(bounds.low_steps), whole(bounds.high_steps))
        else:
            number = f"{self.real(number)} / {real(float(DAY))}" if piece.kind is Kind.TIMESTAMP else self.real(number)
            inside = _clip_number(number, _real(bounds.low), _real(bounds.high))
            points = f"{inside} * {_real(1 / bounds.step)} + {real(0.5)}"
            # Clipped before it is rounded down, to whole numbers: that is the same, and can be no error.
            clipped = f"floor({_clip_number(points, _real(bounds.low_steps), _real(bounds.high_steps))})"
        return f"(CASE WHEN {piece.text} IS NOT NULL THEN {clipped} END)"

    def real(self, text: str) -> str:
        """Return a number as float64."""
        return f"CAST({text} AS DOUBLE)"

    def wide_sum(self, text: str) -> str:
        """Return a sum of 38 digits: 2⁶³ numbers of 64 bits have no more."""
        return f"sum(CAST({text} AS DECIMAL(38, 0)))"

    def short_sum(self, text: str) -> str:
        """Return a sum in 64 bits."""
        return f"sum(CAST({text} AS BIGINT))"

    def quotient(self, text: str, divisor: int) -> str:
        """Return a number divided by a constant."""
        return f"({text} div {whole(divisor)})"

    def clip_sum(self, text: str) -> str:
        """Return a wide sum within ±2⁵³; NULL stays what it is."""
        ends = f"WHEN {text} > {MOST}L THEN {MOST}L WHEN {text} < -{MOST}L THEN -{MOST}L"
        return f"(CASE {ends} ELSE CAST({text} AS BIGINT) END)"

    def divide(self, text: str, divisor: str) -> str:
        """Return a quotient of integers."""
        return f"({text} div {divisor})"

    @property
    def keeps_subqueries(self) -> bool:
        """No: plans hold a copy for each name, although results are reused."""
        return False

    def define_subquery(self, name: str, text: str, *, once: bool) -> str:
        """Return the definition of a subquery."""
        return f"{name} AS ({compute_once(text) if once else text})"

    def word(self, piece: Typed) -> str:
        """Return the word of a value."""
        if piece.kind is Kind.TEXT:
            word = f"CAST(conv(substring(md5({piece.text}), 1, 8), 16, 10) AS BIGINT)"
        else:
            number = self.number(piece)
            word = f"(({number} ^ (shiftright({number}, 32) * {KEYS}L)) & {MASK}L)"
        return f"coalesce({word}, {NULL}L)"

    def mix(self, text: str) -> str:
        """Return `mix` of a number. An expression that is written twice is computed once."""
        # Spark numbers rows in 32 bits, and takes a product with a small constant for one of 32 bits.
        first = f"({text.replace(f'* {OTHERS}', f'* {OTHERS}L')} & {MASK}L)"
        second = f"((({first} ^ shiftright({first}, {SHIFTS[0]})) * {FIRST}L) & {MASK}L)"
        return f"((({second} ^ shiftright({second}, {SHIFTS[1]})) * {SECOND}L) & {MASK}L)"

    def sorting(self, piece: Typed) -> str:
        """Return the sort key of a column: texts go by their bytes anyway."""
        return f"{piece.text} ASC NULLS FIRST"

    def quote_name(self, name: str) -> str:
        """Return a name as an identifier that is read alike in every session: its bytes, but for plain names."""
        plain = name.isascii() and name.islower() and name.isidentifier()
        return f"`{name}`" if plain else f"`n_{name.encode().hex()}`"


def _clip_number(text: str, low: str, high: str) -> str:
    return f"least(greatest({text}, {low}), {high})"


def _real(number: object) -> str:
    return real(nearest_float(number))  # type: ignore[arg-type]


def compute_once(text: str) -> str:
    """Return a subquery that is computed once, wherever it is named: Spark does so for what may differ each time."""
    return f"SELECT * FROM ({text}) AS computed WHERE rand(0) < 2"  # noqa: S608 - our own statement
