"""Column rules that hold for all engines: a column is of its own kind, of the declared one, or a person's id.

An engine says how each step is written.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discreet.core import InvalidInput
from discreet.core.schema import Column, Kind
from discreet.data.reading.column_types import CASTS, Casting


@dataclass(frozen=True, slots=True, kw_only=True)
class CanonicalRules:
    """How one engine writes values of one type as those of another. `own` is the column's SQL, `kind` its type."""

    #: (own, kind): what the column becomes by itself; None if it has no place here.
    casting: Callable[[str, str], Casting | None]
    #: (own, kind, made): a value as a text.
    as_text: Callable[[str, str, Casting], str]
    #: (text, wanted): what a text says.
    from_text: Callable[[str, Kind], str]
    #: (own, kind, made, wanted): a value of one kind as one of another, where neither is text.
    turned: Callable[[str, str, Casting, Kind], str]
    #: (number, own, kind, made): whether a number says all of the text or real that it was read from.
    same: Callable[[str, str, str, Casting], str]

    def identity(self, own: str, kind: str, wanted: Kind | None) -> Casting | None:
        """Return what the column becomes that says who is protected: different values must stay different.

        Or two people would be one unit, and share its limit. Decimals, reals and moments do not fit their kinds here
        without loss, or are no keys, and become texts; so does everything that is to become one of them. What is
        declared an integer is one only if it is written as one: "1.4" and "007" are nobody.
        """
        casting = self.casting(own, kind)
        if casting is None:
            return None
        if casting.kind not in (Kind.REAL, Kind.TIMESTAMP) and wanted in (None, casting.kind):
            return casting
        if wanted in (Kind.BOOLEAN, Kind.DATE):
            return None
        if wanted is Kind.INTEGER:
            number = self.cast_declared(own, kind, wanted)
            return None if number is None else Casting(Kind.INTEGER, self._exactly(number.text, own, kind, casting))
        return Casting(Kind.TEXT, self.as_text(own, kind, casting))

    def _exactly(self, number: str, own: str, kind: str, casting: Casting) -> str:
        """Return a number where it says all of the value that it was read from."""
        if casting.kind not in (Kind.TEXT, Kind.REAL):
            return number
        return f"(CASE WHEN {self.same(number, own, kind, casting)} THEN {number} END)"

    def cast_declared(self, own: str, kind: str, wanted: Kind) -> Casting | None:
        """Return how a column becomes one of a declared kind; NULL is what does not fit. None: it has no meaning."""
        casting = self.casting(own, kind)
        if casting is None or casting.kind is wanted:
            return casting
        if wanted not in CASTS[casting.kind]:
            return None
        if wanted is Kind.TEXT:
            return Casting(wanted, self.as_text(own, kind, casting))
        if casting.kind is Kind.TEXT:
            return Casting(wanted, self.from_text(casting.text, wanted))
        return Casting(wanted, self.turned(own, kind, casting, wanted))

    def column(self, name: str, own: str, kind: str, wanted: Kind | None, *, is_person: bool) -> Casting | None:
        """Return what a column becomes: as declared, or as it is."""
        if is_person:
            return self.identity(own, kind, wanted)
        return (
            self.casting(own, kind)
            if wanted is None
            else need_casting(name, wanted, self.cast_declared(own, kind, wanted))
        )


def need_casting(name: str, wanted: Kind, casting: Casting | None) -> Casting:
    """Return how a column becomes one of a declared kind; refuse a kind that it cannot be."""
    if casting is None:
        raise InvalidInput(
            f"The values of {name!r} cannot be read as {wanted.value}.",
            fix="declare the kind that it has, leave it out of `kinds`, or change the column before it is opened",
        )
    return casting


def cast_columns(castings: Mapping[str, Casting | None]) -> tuple[Column, ...]:
    """Return the columns that have a place in a schema."""
    columns = tuple(Column(name=name, kind=cast.kind) for name, cast in castings.items() if cast is not None)
    if not columns:
        raise InvalidInput("No column can be asked about.", fix="pass a table with columns of numbers, texts or dates")
    return columns
