"""Frozen public values and their canonical text: the written form of a plan, independent of names in the code.

A ledger knows a plan by the hash of its canonical text, and the rows that a plan chooses are seeded with the same text.
So a text is kept for life: were it to change, stored answers would be paid for again, and other rows would be chosen.
Classes, fields and members of enumerations may be renamed, moved and reordered at any time; what is written of them may
not. Each class that occurs in a text says in `__canonical__` what it is called there:

    class Total:
        __canonical__: ClassVar[Record] = Record("Total", "value", "bounds", "centred", "squared")

**Syntax.** A value of such a class is written `Total(value=…, bounds=…)`, every field in the order that is said there.
A field whose attribute was renamed since is said as "written=attribute". A member of an enumeration is written
`<Kind.REAL: 'real'>`. Tuples, lists, numbers, fractions, texts, truth values, None, dates and moments are written as
Python shows them. A number, text or moment of another library's class (NumPy's, say) is written as that library shows
it. This is how dataclasses showed themselves when the first ledgers were written; their `repr` is free to change.

**What is refused.** A value of any other class has no canonical text: nothing is ever written by its `repr` in silence.
The exceptions are fields that hold values of a caller's own class (`Record(…, foreign=…)`), which are known by their
`repr`, and a class of the caller's that derives from one of ours is such a class.

**Versions.** Each kind of plan begins its text with a line of its own, such as "discreet query 2". The line changes if,
and only if, the same text would no longer give the same distribution of answers: where other rows count, noise is
drawn otherwise, or a field gets another meaning. Then plans of that kind are new questions, answers that are stored
under the old line are handed out no more, and the CHANGELOG says so. A field that is added to a class later is written
only where it differs from what was meant before there was one, so that texts of old questions stay as they are; until
then it is named as `unwritten`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from fractions import Fraction
from numbers import Number
from types import NoneType
from typing import Any

from discreet.core.errors import WrongType, kind_of

# Frozen values whose fields are checked at birth.


def settle(value: object, **fields: object) -> None:
    """Set the fields of a frozen value in its `__init__`, and nowhere else."""
    for name, content in fields.items():
        object.__setattr__(value, name, content)


#: Types whose `repr` the language fixes. Of exactly these: a class that derives from one may show anything.
PLAIN = frozenset({NoneType, bool, int, float, str, bytes, Fraction, date, datetime})
#: The classes that other libraries derive their numbers, texts and moments from; and those with a `repr` of each value.
LEAVES = (str, bytes, date, Number)
LIBRARIES = frozenset({"builtins", "datetime", "decimal", "fractions", "numpy", "pandas"})


class Verbatim(str):
    """A piece of text that is written as it stands."""

    __slots__ = ()


CLOSING, COMMA = Verbatim(")"), Verbatim(", ")


@dataclass(frozen=True, slots=True, init=False)
class Record:
    """The written name of a class and of its fields, in their order.

    Args:
        name: the name of the class in a text.
        fields: the written name of each field; "written=attribute" where the attribute is called otherwise today.
        unwritten: attributes that are not part of a text.
        foreign: written fields that may hold values of a caller's own class, which are known by their `repr`.

    """

    name: str
    fields: tuple[tuple[str, str], ...]
    unwritten: tuple[str, ...]
    foreign: tuple[str, ...]
    #: The text before each field, its attribute, and whether it is foreign; from the last one to the first.
    pieces: tuple[tuple[Verbatim, str, bool], ...] = field(repr=False, compare=False)

    def __init__(self, name: str, *fields: str, unwritten: Sequence[str] = (), foreign: Sequence[str] = ()) -> None:
        halves = (field.partition("=") for field in fields)
        pairs = tuple((written, attribute or written) for written, _, attribute in halves)
        heads = [f"{name}(", *[", "] * (len(pairs) - 1)]
        pieces = [
            (Verbatim(f"{head}{written}="), attribute, written in foreign)
            for head, (written, attribute) in zip(heads, pairs, strict=False)
        ]
        settle(self, name=name, fields=pairs, unwritten=tuple(unwritten), foreign=tuple(foreign))
        settle(self, pieces=tuple(reversed(pieces)))

    def parts(self, value: object) -> list[object]:
        """Return the pieces of a value's text, from the end to the beginning."""
        if not self.pieces:
            return [Verbatim(f"{self.name}()")]
        parts: list[object] = [CLOSING]
        for before, attribute, foreign in self.pieces:
            part = getattr(value, attribute)
            parts += (Verbatim(repr(part)) if foreign and _is_foreign(part) else part, before)
        return parts


@dataclass(frozen=True, slots=True)
class Choices:
    """The written name of an enumeration, and by the values of its members the text of each."""

    name: str
    texts: Mapping[object, str]

    def parts(self, value: Enum) -> list[object]:
        """Return the text of a member."""
        text = self.texts.get(value.value)
        if text is None:
            raise _unwritten(value)
        return [Verbatim(f"<{self.name}.{text}>")]


@dataclass(frozen=True, slots=True)
class OwnText:
    """A class whose text is not a list of its fields."""

    name: str
    text: Callable[[Any], str]

    def parts(self, value: object) -> list[object]:
        """Return the text of a value."""
        return [Verbatim(self.text(value))]


def canonical_text(value: object) -> str:
    """Return the canonical text of a value, or refuse one that has none."""
    written: list[str] = []
    waiting = [value]  # a stack, as trees may be deeper than Python's own
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind is Verbatim:
            written.append(item)  # type: ignore[arg-type]
        elif kind in PLAIN:
            written.append(repr(item))
        else:
            waiting += _parts(item)
    return "".join(written)


def canonical_name(value: object) -> str:
    """Return the written name of a value's class."""
    form = _form_of(value)
    if form is None:
        raise _unwritten(value)
    return str(form.name)


def foreign_text(value: object) -> str:
    """Return the canonical text of a value, or the `repr` of one of a caller's own class."""
    return repr(value) if _is_foreign(value) else canonical_text(value)


def _parts(value: object) -> list[object]:
    """Return the writers of a value, from the end to the beginning."""
    form = _form_of(value)
    if form is not None:
        parts: list[object] = form.parts(value)
        return parts
    kind = type(value)
    if kind is tuple or kind is list:
        return _list_parts(value)  # type: ignore[arg-type]
    if isinstance(value, LEAVES) and kind.__module__.partition(".")[0] in LIBRARIES:
        return [Verbatim(repr(value))]
    raise _unwritten(value)


def _list_parts(values: Sequence[object]) -> list[object]:
    opening, closing = "[]" if isinstance(values, list) else "()"
    if not isinstance(values, list) and len(values) == 1:
        closing = ",)"
    parts: list[object] = [Verbatim(closing)]
    for value in reversed(values):
        parts += (value, COMMA)
    if values:
        parts.pop()
    return [*parts, Verbatim(opening)]


def _form_of(value: object) -> Any:
    """Return the record that a class declares; a class that derives from it is another class, and declares none."""
    return vars(type(value)).get("__canonical__")


def _is_foreign(value: object) -> bool:
    return _form_of(value) is None and type(value) not in PLAIN and not _is_ours(value)


def _is_ours(value: object) -> bool:
    return type(value).__module__.partition(".")[0] == __name__.partition(".")[0]


def _unwritten(value: object) -> WrongType:
    return WrongType(
        f"{kind_of(value)} has no canonical text, by which a ledger could know it.",
        fix="use numbers, texts, dates, lists, and classes of discreet that are part of plans",
    )
