"""Groups as numbers: each row's group is a code, the same order as that of the groups.

Public keys have their lists. Private ones are listed first, all that occur, in the order of
`discreet.algebra.row_hashes.group_order`; integers of a small range are counted off, and those that occur found on the
way.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.algebra.aggregates import Aggregation, Key
from discreet.algebra.expressions import ColumnValue, Expression
from discreet.algebra.row_hashes import KEYS, MASK, OTHERS, Words, word_of
from discreet.core.schema import Kind, Value, day_number, day_of
from discreet.data.duckdb.batch import Fetched, Selected, SelectStatement
from discreet.data.duckdb.expressions import compile_sql

#: Codes are counted off up to this many, without listing first which of them occur.
COUNTED = 1 << 13
#: A table of codes by value is at most so long.
TABLE = 1 << 20

#: Runs a statement with its parameters, and returns its rows.
Ask = Callable[[str, dict[str, object]], list[tuple[Any, ...]]]
Ints = NDArray[np.intp]


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class KeyCodes:
    """How a key's values become codes 0, 1, …: by their place among sorted values, then by a table of places."""

    selected: Selected
    #: All values of the key, in the order of their codes.
    values: Sequence[Value]
    #: The sorted numbers of the values, and the code of each; for a key of texts the engine's own numbers 0, 1, ….
    numbers: NDArray[np.int64]
    places: Ints
    #: The code of NULL; −1 if it is none.
    null: int

    def codes(self, columns: list[Fetched]) -> Ints:
        """Return the code of each row; −1 where it has none."""
        column = columns[self.selected.index]
        data = column.data
        if self.selected.clamp is not None:
            data = np.clip(data, *self.selected.clamp)
        codes = self._by_table(data) if self._tabled else self._by_search(data)
        if column.valid is not None:
            codes[~column.valid] = self.null
        return codes

    @property
    def _tabled(self) -> bool:
        return len(self.numbers) > 0 and int(self.numbers[-1]) - int(self.numbers[0]) < TABLE

    def _by_table(self, data: NDArray[Any]) -> Ints:
        low, high = int(self.numbers[0]), int(self.numbers[-1])
        dense = len(self.numbers) == high - low + 1
        within = data.min(initial=high) >= low and data.max(initial=low) <= high
        if not within:
            outside = (data < low) | (data > high)
            data = np.where(outside, low, data)
        offsets: Ints = np.subtract(data, low, dtype=np.intp)
        if not (dense and np.array_equal(self.places, np.arange(len(self.places)) + self.places[0])):
            table = np.full(high - low + 1, -1, dtype=np.intp)
            table[self.numbers - low] = self.places
            offsets = table[offsets]
        elif self.places[0]:
            offsets += self.places[0]
        if not within:
            offsets[outside] = -1
        return offsets

    def _by_search(self, data: NDArray[Any]) -> Ints:
        if not len(self.numbers):
            return np.full(len(data), -1, dtype=np.intp)
        places = np.minimum(np.searchsorted(self.numbers, data), len(self.numbers) - 1)
        return np.where(self.numbers[places] == data, self.places[places], -1)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GroupCodes:
    """All groups of an aggregation: products of the keys' values, or a sorted list of some of them."""

    keys: tuple[KeyCodes, ...]
    #: For each key but the first, the sorted pairs of the code so far and the key's that occur; None: all of them.
    pairs: tuple[NDArray[np.int64], ...] | None = None

    @property
    def size(self) -> int:
        """The number of codes."""
        if self.pairs:
            return len(self.pairs[-1])
        return prod(len(key.values) for key in self.keys)

    def codes(self, columns: list[Fetched]) -> Ints | None:
        """Return the code of each row, −1 where it is in no group; None without keys."""
        if not self.keys:
            return None
        codes = self.keys[0].codes(columns)
        for place, key in enumerate(self.keys[1:]):
            own = key.codes(columns)
            nowhere = (codes < 0) | (own < 0)
            codes = codes * len(key.values) + own
            if self.pairs is not None:
                codes = np.searchsorted(self.pairs[place], codes)
            codes[nowhere] = -1
        return codes

    def groups(self, codes: Ints) -> tuple[tuple[Value, ...], ...]:
        """Return the groups of some codes."""
        if not self.keys:
            return ((),) * len(codes)
        columns = [
            [key.values[code] for code in own.tolist()]
            for key, own in zip(reversed(self.keys), self._key_codes(codes), strict=True)
        ]
        return tuple(zip(*reversed(columns), strict=True))

    def _key_codes(self, codes: Ints) -> Iterator[Ints]:
        """Return the codes that each key has in some groups, the last key first."""
        for place in reversed(range(1, len(self.keys))):
            if self.pairs is not None:
                codes = self.pairs[place - 1][codes]
            codes, own = np.divmod(codes, len(self.keys[place].values))
            yield own
        if self.keys:
            yield codes

    def words(self) -> Words:
        """Return the names of all groups, times the constant that marks multiply them by."""
        names = np.zeros(self.size, dtype=np.uint32)
        scale = OTHERS
        for key, own in zip(reversed(self.keys), self._key_codes(np.arange(self.size)), strict=True):
            words = np.array([word_of(value) for value in key.values], dtype=np.uint32)
            names += words[own] * np.uint32(scale)
            scale = scale * KEYS & MASK
        return names


def build_group_codes(aggregation: Aggregation, statement: SelectStatement, ask: Ask) -> GroupCodes:
    """Return the groups of an aggregation, and select what they are found by."""
    for key in aggregation.keys:
        if key.values is not None and key.expression.kind is Kind.TEXT:
            statement.conditions.append(_among(key, statement))
    if aggregation.public:
        return GroupCodes(
            tuple(_build_key_codes(key, list(key.values or ()), statement, ask) for key in aggregation.keys)
        )
    counted = [_count_off(key, statement, ask) for key in aggregation.keys]
    if all(values is not None for values in counted) and prod(len(values or ()) for values in counted) <= COUNTED:
        values = zip(aggregation.keys, counted, strict=True)
        return GroupCodes(tuple(_build_key_codes(key, listed or [], statement, ask) for key, listed in values))
    return _list_groups(aggregation, statement, ask)


def _among(key: Key, statement: SelectStatement) -> str:
    """Return the condition that a text is one of a key's values: the engine is slow to turn down others later."""
    text = compile_sql(key.expression, statement.scope).text
    constants = [statement.scope.constant(value) for value in key.values or () if value is not None]
    tests = [f"{text} IN ({', '.join(f'CAST({constant} AS VARCHAR)' for constant in constants)})"] if constants else []
    if None in (key.values or ()):
        tests.append(f"{text} IS NULL")
    return f"({' OR '.join(tests) or 'false'})"


def _count_off(key: Key, statement: SelectStatement, ask: Ask) -> list[Value] | None:
    """Return all values that a key could have, NULL first; None if they are texts, or too many to count off."""
    kind = key.expression.kind
    if key.values is not None and kind is not Kind.TEXT:
        return _sort_values(key.values)
    if kind is Kind.TEXT:
        return None
    text = statement.number_text(key.expression)
    where = f" WHERE {' AND '.join(statement.conditions)}" if statement.conditions else ""
    ((low, high),) = ask(f"SELECT min({text}), max({text}) FROM {statement.table}{where}", statement.scope.parameters)  # noqa: S608
    if low is None:
        return [None]
    if high - low >= COUNTED:
        return None
    return [None, *(_value(number, kind) for number in range(low, high + 1))]


def _sort_values(values: Sequence[Value]) -> list[Value]:
    present: list[Any] = sorted(value for value in values if value is not None)
    return [None, *present] if None in values else present


def _value(number: int, kind: Kind) -> Value:
    """Return the value of a key that is fetched as a number."""
    match kind:
        case Kind.DATE:
            return day_of(number)
        case Kind.BOOLEAN:
            return bool(number)
        case _:
            return number


def _number(value: Value) -> int:
    return day_number(value) if isinstance(value, date) else int(value)  # type: ignore[arg-type]


def _build_key_codes(key: Key, values: list[Value], statement: SelectStatement, ask: Ask) -> KeyCodes:
    """Return the codes of a key with these values, in this order."""
    null = values.index(None) if None in values else -1
    places = np.array([place for place, value in enumerate(values) if value is not None], dtype=np.intp)
    present = [value for value in values if value is not None]
    if key.expression.kind is Kind.TEXT:
        selected = Selected(statement.select(_enumerate_texts(key.expression, present, statement, ask)))
        return KeyCodes(selected, values, np.arange(len(present)), places, null)
    numbers = np.array([_number(value) for value in present], dtype=np.int64)
    order = np.argsort(numbers)
    return KeyCodes(_select_numbers(key, numbers, statement), values, numbers[order], places[order], null)


def _select_numbers(key: Key, numbers: NDArray[np.int64], statement: SelectStatement) -> Selected:
    """Select a key's numbers; in half the bits if they are known to fit, which is quicker to fetch."""
    narrow = len(numbers) > 0 and numbers.min() >= -(2**31) and numbers.max() < 2**31
    clamped = isinstance(key.expression, ColumnValue) and key.expression.bounds is not None
    if key.values is not None or clamped or not narrow:
        return statement.number(key.expression)
    # A value that does not fit belongs to a row that another key leaves out.
    return Selected(statement.select(f"TRY_CAST({statement.number_text(key.expression)} AS INTEGER)"))


def number_texts(expression: Expression, statement: SelectStatement, ask: Ask) -> Selected:
    """Select texts as numbers, in no particular order."""
    text = compile_sql(expression, statement.scope).text
    where = " AND ".join([f"{text} IS NOT NULL", *statement.conditions])
    rows = ask(f"SELECT DISTINCT {text} FROM {statement.table} WHERE {where}", statement.scope.parameters)  # noqa: S608
    return Selected(statement.select(_enumerate_texts(expression, [row[0] for row in rows], statement, ask)))


def _enumerate_texts(expression: Expression, texts: Sequence[Value], statement: SelectStatement, ask: Ask) -> str:
    """Return SQL for the place of a text among others; the engine keeps them as a type, for this question."""
    if not texts:
        return "CAST(NULL AS BIGINT)"
    name = f"texts{len(statement.items)}"
    ask(f"CREATE TEMP TYPE {name} AS ENUM (SELECT unnest($texts::VARCHAR[]))", {"texts": texts})
    text = compile_sql(expression, statement.scope).text
    return f"CAST(enum_code(TRY_CAST({text} AS {name})) AS BIGINT)"


def _list_groups(aggregation: Aggregation, statement: SelectStatement, ask: Ask) -> GroupCodes:
    """Ask which groups there are, before any limit."""
    rows = ask(*_question(aggregation, statement))
    kinds = [key.expression.kind for key in aggregation.keys]
    columns = list(zip(*rows, strict=True)) or [()] * len(kinds)
    keys = []
    for key, kind, column in zip(aggregation.keys, kinds, columns, strict=True):
        values: list[Value] = [None] if None in column else []
        present: list[Any] = sorted({value for value in column if value is not None}, key=_by_bytes)
        values += present if kind is Kind.TEXT else [_value(number, kind) for number in present]
        keys.append(_build_key_codes(key, values, statement, ask))
    return GroupCodes(tuple(keys), _pairs(keys, kinds, columns))


def _question(aggregation: Aggregation, statement: SelectStatement) -> tuple[str, dict[str, object]]:
    """Return the statement that lists all groups that occur."""
    scope, items = statement.scope, []
    conditions = list(statement.conditions)
    for place, key in enumerate(aggregation.keys):
        text = key.expression.kind is Kind.TEXT
        number = compile_sql(key.expression, scope).text if text else statement.number_text(key.expression)
        items.append(f"{number} AS n{place}")
        if key.values is not None and not text:
            conditions.append(_one_of(number, key.values, statement))
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"SELECT DISTINCT {', '.join(items)} FROM {statement.table}{where}", scope.parameters  # noqa: S608 - made of our own names


def _one_of(number: str, values: Sequence[Value], statement: SelectStatement) -> str:
    constants = [statement.scope.constant(_number(value)) for value in values if value is not None]
    tests = [f"{number} IN ({', '.join(f'CAST({constant} AS BIGINT)' for constant in constants)})"] if constants else []
    if None in values:
        tests.append(f"{number} IS NULL")
    return f"({' OR '.join(tests) or 'false'})"


def _pairs(keys: list[KeyCodes], kinds: list[Kind], columns: list[tuple[Any, ...]]) -> tuple[NDArray[np.int64], ...]:
    """Return for each key but the first the pairs that occur."""
    codes = np.zeros(0, dtype=np.int64)
    pairs: list[NDArray[np.int64]] = []
    for place, (key, kind) in enumerate(zip(keys, kinds, strict=True)):
        known = {value: code for code, value in enumerate(key.values)}
        values = (
            columns[place] if kind is Kind.TEXT else [None if n is None else _value(n, kind) for n in columns[place]]
        )
        own = np.array([known[value] for value in values], dtype=np.int64)
        if place:
            unique, codes = np.unique(codes * len(key.values) + own, return_inverse=True)
            pairs.append(unique)
        else:
            codes = own
    return tuple(pairs)


def _by_bytes(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value
