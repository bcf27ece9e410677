"""The keys of groups as SQL: private ones by their values, public ones by their places in the list of values.

The words of public values (`discreet.algebra.row_hashes`) are known beforehand, and looked up together with their
places, so that no engine has to hash them.
"""

from dataclasses import dataclass

from discreet.algebra.expressions import Literal
from discreet.algebra.row_hashes import KEYS, MASK, word_of
from discreet.core.schema import Kind, Value
from discreet.data.sql.dialect import Dialect, Typed


@dataclass(frozen=True, slots=True)
class GroupKey:
    """One of the keys, and the column that holds it."""

    name: str
    kind: Kind
    #: Public values in the order of groups, by which ties are broken: the column holds their places. None: private.
    values: tuple[Value, ...] | None

    @property
    def column_kind(self) -> Kind:
        """What the column holds."""
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
    """What a key's column holds, its word, and what lets rows pass that have one of the public values."""

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
