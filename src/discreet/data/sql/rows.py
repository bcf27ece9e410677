"""Rows and group keys of an aggregation, as SQL: whose each row is, its group, and what is asked of it.

Columns have safe names: u0, … of the unit, g0, … of the group, c0, … of the table, x0, … of values made of those, k0, …
of cells made of values, o0, … of what orders rows; w and z are what marks are made of.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from discreet.algebra.aggregates import Aggregation, Key
from discreet.algebra.expressions import Expression, Literal
from discreet.algebra.row_caps import is_plain
from discreet.algebra.row_hashes import KEYS, MASK, NULL, OTHERS, UNITS, group_order, word_of
from discreet.core.schema import Kind, Value
from discreet.data.sql.dialect import BoundedDialect, Dialect, Typed
from discreet.data.sql.relations import relation_sql

# The keys of groups as SQL: private ones by their values, public ones by their places in the list of values.
#
# The words of public values (`discreet.algebra.row_hashes`) are known beforehand, and looked up together with their
# places, so that no engine has to hash them.


@dataclass(frozen=True, slots=True)
class GroupKey:
    """One of the keys, and the column that holds it."""

    name: str
    kind: Kind
    #: Public values in the order of groups, by which ties are broken: the column holds their places. None: private.
    values: tuple[Value, ...] | None

    @property
    def column_kind(self) -> Kind:
        """The kind of the column's values."""
        return self.kind if self.values is None else Kind.INTEGER

    @property
    def order(self) -> str:
        """By what ties of groups are broken: NULL comes first, whatever an engine takes for granted."""
        return f"{self.name} NULLS FIRST"

    def read(self, cell: object) -> Value:
        """Return the value that a cell of the column stands for."""
        if self.values is not None:
            return self.values[int(cell)]  # type: ignore[call-overload]
        return cell  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class KeySql:
    """The expression of a key's column, its word, and the condition for rows with one of the public values."""

    column: str
    word: str
    join: str = ""
    condition: str = ""


def private_key(value: Typed, dialect: Dialect) -> KeySql:
    """Return a key whose values are its own."""
    return KeySql(value.text, dialect.word(value))


def public_key(value: Typed, values: tuple[Value, ...], alias: str, dialect: Dialect) -> KeySql:
    """Return a key of public values; NULL may be one of them."""
    listed = [
        f"({dialect.value(Literal(member, value.kind), {})}, {place}, {_whole(word_of(member), dialect)})"
        for place, member in enumerate(values)
        if member is not None
    ]
    nothing = _whole(word_of(None), dialect)
    if not listed:
        return KeySql("0", nothing, condition=f"{value.text} IS NULL")
    table = f"(VALUES {', '.join(listed)}) AS {alias}(v, c, w) ON {value.text} = {alias}.v"
    if None not in values:
        return KeySql(f"{alias}.c", f"{alias}.w", f" JOIN {table}")
    return KeySql(
        f"coalesce({alias}.c, {values.index(None)})",
        f"coalesce({alias}.w, {nothing})",
        f" LEFT JOIN {table}",
        f"({alias}.c IS NOT NULL OR {value.text} IS NULL)",
    )


def _whole(number: int, dialect: Dialect) -> str:
    return dialect.value(Literal(number, Kind.INTEGER), {})


def name_of_words(words: list[str]) -> str:
    """Return the name of several words (`discreet.algebra.row_hashes`); each step below 2⁶³."""
    name = words[0]
    for word in words[1:]:
        name = f"(({name} * {KEYS} + {word}) & {MASK})"
    return name


# ruff: noqa: S608 - names are our own, and constants are written by the dialect


#: A longer value is computed once, in a subquery that is left alone.
SHORT = 300
#: No limit at all, but PostgreSQL leaves such a subquery alone. Otherwise it would write what is selected out wherever
#: it is named, and compute it as often.
FENCE = " LIMIT ALL"


#: What NULL is taken for where rows are hashed.
STANDS: Mapping[Kind, Value] = {
    Kind.TEXT: "",
    Kind.INTEGER: 0,
    Kind.REAL: 0.0,
    Kind.BOOLEAN: False,
    Kind.DATE: date(1970, 1, 1),
    Kind.TIMESTAMP: datetime(1970, 1, 1),  # noqa: DTZ001 - as in tables
}


class Used(Mapping[str, str]):
    """The columns of a table under short names, and which of them were asked for."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self._given, self._names = columns, dict[str, str]()

    def __getitem__(self, name: str) -> str:
        self._given[name]  # there is no other
        return self._names.setdefault(name, f"c{len(self._names)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The SQL of columns that were asked for, and their short names."""
        return [(self._given[name], short) for name, short in self._names.items()]

    @property
    def asked(self) -> list[str]:
        """The columns that were asked for."""
        return list(self._names)


@dataclass(slots=True)
class PassedRows:
    """A SELECT in the making."""

    dialect: BoundedDialect
    #: The text after FROM.
    origin: str
    units: tuple[Typed, ...]
    order: tuple[Typed, ...]
    #: The SQL of columns, in FROM.
    given: Mapping[str, str]
    #: Whether it may be read twice, as a table may; what is made of joins is kept instead.
    plain: bool
    salt: int
    #: Whether the words of texts are computed once for each text that occurs, and looked up.
    look_up: bool = False
    #: The replacement of `origin` that yields some of the rows, soon; empty if there is none.
    some: str = ""
    keys: tuple[GroupKey, ...] = ()
    columns: Used = field(init=False)
    _conditions: list[str] = field(default_factory=list)
    _groups: list[KeySql] = field(default_factory=list)
    #: Values by their SQL, so that the same one twice is one column; and cells, over the names of values.
    _items: dict[str, str] = field(default_factory=dict)
    _cells: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.columns = Used(self.given)

    def value(self, expression: Expression) -> Typed:
        """Return an expression over the row."""
        return Typed(self.dialect.value(expression, self.columns), expression.kind)

    def item(self, text: str) -> str:
        """Return the name of a column that holds a value."""
        return self._items.setdefault(text, f"x{len(self._items)}")

    def cell(self, text: str) -> str:
        """Return the name of a column that holds a cell, made of values by their names."""
        return self._cells.setdefault(text, f"k{len(self._cells)}")

    def add_condition(self, text: str) -> None:
        """Let only rows pass where this is true."""
        if text:
            self._conditions.append(text)

    def leave_out(self, leavers: str) -> None:
        """Let only rows pass whose unit is not in a table, with the columns v0, … of ids; without one, all."""
        if not leavers:
            return
        self.add_condition(stays(leavers, [piece.text for piece in self.units]))

    def add_key(self, key: Key, *, public: bool) -> None:
        """Group by a key; rows whose value is none of the public ones are left out."""
        value, place = Typed(self.dialect.value(key.expression, self.given), key.expression.kind), len(self.keys)
        if key.values is None:
            values, key_sql = None, private_key(value, self.dialect)
        else:
            # If other keys are private, groups are sorted by their values.
            values = key.values if public else tuple(sorted(key.values, key=lambda member: group_order((member,))))
            key_sql = public_key(value, values, f"j{place}", self.dialect)
        self.keys = (*self.keys, GroupKey(f"g{place}", value.kind, values))
        self._groups.append(key_sql)
        self.origin += key_sql.join
        self.some += key_sql.join if self.some else ""
        self.add_condition(key_sql.condition)

    @property
    def unit_names(self) -> list[str]:
        """The columns that tell units apart."""
        return [f"u{place}" for place in range(len(self.units))]

    @property
    def group_names(self) -> list[str]:
        """The columns of groups."""
        return [key.name for key in self.keys]

    @property
    def group_columns(self) -> list[tuple[str, str]]:
        """The SQL of private keys, and the columns that hold them."""
        return [
            (key_sql.column, key.name)
            for key_sql, key in zip(self._groups, self.keys, strict=True)
            if key.values is None
        ]

    @property
    def own_names(self) -> list[str]:
        """The columns of units, groups and the table."""
        return [*self.unit_names, *self.group_names, *(short for _, short in self.columns.pairs)]

    @property
    def group_order(self) -> list[str]:
        """By what groups are ordered, where they are ranked."""
        return [key.order for key in self.keys]

    @property
    def ordering(self) -> str:
        """The ORDER BY of one unit's rows."""
        pieces = [Typed(f"o{place}", piece.kind) for place, piece in enumerate(self.order)]
        return f" ORDER BY {', '.join(map(self.dialect.sorting, pieces))}" if pieces else ""

    def select_rows(self, *, ranks: bool, ordered: bool, among: str = "") -> str:
        """Return the SELECT of rows as they come.

        With `ranks`, z is what the mark of a group is mixed of. With `ordered`, there is what orders rows, and w is
        what the mark of a row is mixed of, less its number. `among`: only rows of these persons.
        """
        joins = ""
        pairs = [
            *zip((piece.text for piece in self.units), self.unit_names, strict=True),
            *zip((key_sql.column for key_sql in self._groups), self.group_names, strict=True),
            *self.columns.pairs,
        ]
        if ranks:
            words, joins = self._words(once=not ordered)
            pairs.append((f"{self.salt & MASK} + {self._unit_part} + {name_of_words(words)} * {OTHERS}", "z"))
        if ordered:
            pairs.append((f"{(self.salt + 1) & MASK} + {self._unit_part}", "w"))
            pairs += [(piece.text, f"o{place}") for place, piece in enumerate(self.order)]
        conditions = [*self._conditions, *([f"{self.units[0].text} IN ({among})"] if among else [])]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        items = ", ".join(f"{text} AS {name}" for text, name in pairs) or "1 AS nothing"
        return f"SELECT {items} FROM {self.origin}{joins}{where}{FENCE if ranks or ordered else ''}"

    def pin_to_view(self, view: str, *, ordered: bool) -> tuple[str, "PassedRows"]:
        """Return a SELECT of these rows, and the same rows, as they are in a view of what it selects.

        They have what was asked of them so far: what aggregates need, and with `ordered` what orders them.
        """
        names: dict[str, str] = {}  # what is the same has one column, and is known to be the same

        def name_column(text: str) -> str:
            return f"r.{names.setdefault(text, f'p{len(names)}')}"

        rows = PassedRows(
            self.dialect,
            f"{view} AS r",
            tuple(Typed(name_column(piece.text), piece.kind) for piece in self.units),
            tuple(Typed(name_column(piece.text), piece.kind) for piece in self.order if ordered),
            {name: name_column(self.given[name]) for name in self.columns.asked},
            plain=True,
            salt=self.salt,
            keys=self.keys,
        )
        for key, key_sql in zip(self.keys, self._groups, strict=True):
            column = name_column(key_sql.column)
            # The words of public values were looked up where their places were.
            word = self.dialect.word(Typed(column, key.kind)) if key.values is None else name_column(key_sql.word)
            rows._groups.append(KeySql(column, word))
        where = f" WHERE {' AND '.join(self._conditions)}" if self._conditions else ""
        items = ", ".join(f"{text} AS {name}" for text, name in names.items())
        return f"SELECT {items} FROM {self.origin}{where}", rows

    def is_among(self, others: str, names: list[str]) -> str:
        """Return whether a row in `i` agrees on some columns of units and groups with one of `others`, a table `k`.

        NULL agrees with NULL. Rows can be hashed by the equalities: a unit may have a million groups.
        """
        kinds = {key.name: key.kind for key in self.keys if key.values is None}
        kinds |= {name: piece.kind for name, piece in zip(self.unit_names[1:], self.units[1:], strict=True)}
        agreed = []
        for name in names:
            if name not in kinds:  # it is never NULL
                agreed.append(f"k.{name} = i.{name}")
                continue
            stands = self.dialect.value(Literal(STANDS[kinds[name]], kinds[name]), {})
            agreed.append(f"coalesce(k.{name}, {stands}) = coalesce(i.{name}, {stands})")
            agreed.append(f"(k.{name} IS NULL) = (i.{name} IS NULL)")
        return f"EXISTS (SELECT 1 FROM {others} WHERE {' AND '.join(agreed)})"

    def _words(self, *, once: bool) -> tuple[list[str], str]:
        """Return the words of the keys, and what has to be joined for them; `once`: where looking up is worth it.

        Most texts are met among some of the rows. A text that is not found is hashed where it stands: it is the same
        word.
        """
        words, joins = [sql.word for sql in self._groups], ""
        where = f" WHERE {' AND '.join(self._conditions)}" if self._conditions else ""
        for place, (key, sql) in enumerate(zip(self.keys, self._groups, strict=True)):
            if self.look_up and once and self.plain and key.values is None and key.kind is Kind.TEXT:
                different = f"SELECT {sql.column} AS v FROM {self.some or self.origin}{where} GROUP BY {sql.column}"
                word = self.dialect.word(Typed("v", Kind.TEXT))
                joins += f" LEFT JOIN (SELECT v, {word} AS w FROM ({different}) AS f) AS t{place}"
                joins += f" ON {sql.column} = t{place}.v"
                # A value that is equal to none is NULL, or was not among those that were looked at.
                words[place] = f"coalesce(t{place}.w, {sql.word if self.some else NULL})"
        return words, joins

    @property
    def _unit_part(self) -> str:
        return f"{name_of_words([self.dialect.word(piece) for piece in self.units])} * {UNITS}"

    def select_values(self, source: str, *more: str) -> str:
        """Return the SELECT of values and cells, from rows that have columns of the table and some more."""
        names = [*self.unit_names, *self.group_names, *more]
        items = [*names, *(f"{text} AS {name}" for text, name in self._items.items())]
        values = f"SELECT {', '.join(items) or '1 AS nothing'} FROM {source}"
        if self._cells or any(len(text) > SHORT for text in self._items):
            values += FENCE
        if not self._cells:
            return values
        items = [*names, *self._items.values(), *(f"{text} AS {name}" for text, name in self._cells.items())]
        return f"SELECT {', '.join(items)} FROM ({values}) AS d"


def stays(leavers: str, units: Sequence[str]) -> str:
    """Return whether a unit, by the SQL of its id, is not in a table with the columns v0, … of ids."""
    agreed = [f"leavers.v0 = {units[0]}"]  # a person is never NULL, and rows can be hashed by it
    agreed += [
        f"(leavers.v{place} = {unit} OR (leavers.v{place} IS NULL AND {unit} IS NULL))"
        for place, unit in enumerate(units[1:], 1)
    ]
    return f"NOT EXISTS (SELECT 1 FROM {leavers} WHERE {' AND '.join(agreed)})"


def build_passed_rows(aggregation: Aggregation, table: str, dialect: BoundedDialect, *, look_up: bool) -> PassedRows:
    """Return the rows that pass an aggregation's condition and keys; `table` is asked if there is no relation."""
    salt, source = aggregation.salt, aggregation.source
    if source is None:
        scanned = dialect.scan_private(table, "r")
        rows = PassedRows(dialect, scanned.text, scanned.units, scanned.order, scanned.columns, plain=True, salt=salt)
        rows.some = scanned.some
    else:
        relation = relation_sql(source, dialect, salt, dialect.facts).under("r")
        plain = is_plain(source, dialect.facts)
        rows = PassedRows(
            dialect, relation.text, relation.units, relation.order, relation.texts, plain=plain, salt=salt
        )
    rows.look_up = look_up
    if rows.units:
        rows.add_condition(f"{rows.units[0].text} IS NOT NULL")  # a row without a person could be any person's
    if aggregation.where is not None:
        rows.add_condition(dialect.truth(aggregation.where, rows.given))
    for key in aggregation.keys:
        rows.add_key(key, public=aggregation.public)
    return rows
