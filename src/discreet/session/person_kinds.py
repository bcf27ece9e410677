"""By what people are named where each has an account: one person must have one name for life, or has two accounts.

A name is made of the text of an id. Of whole numbers, texts, days and truth values that text stays the same. A real is
written as 3.0 where a whole number is 3, and pandas makes reals of whole numbers as soon as one is missing; decimals
have as many zeros as their type; a moment has as many digits as its type, and a time zone or none.
"""

import json
import re
from collections.abc import Mapping
from typing import Protocol

from discreet.core import InvalidInput
from discreet.core.schema import Kind, Schema

#: What texts may be written from: see `discreet.data.reading.column_types.spelling`. Spark tells its own types.
STABLE = re.compile(r"plain|numeric|text|boolean|tinyint|smallint|int|bigint|decimal\(\d+, *0\)", re.IGNORECASE)
NUMBERS = re.compile(r"float|double|decimal\(.*", re.IGNORECASE)
#: Whole numbers and texts are one: 3 and "3" are the same name.
PLAIN = "whole numbers or texts"
WORDS = {Kind.INTEGER: PLAIN, Kind.TEXT: PLAIN, Kind.DATE: "days", Kind.BOOLEAN: "truth values"}


class NamedPeople(Protocol):
    """Tables that tell how ids are written."""

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """What is public about each private table."""
        ...

    @property
    def spellings(self) -> Mapping[str, str]:
        """What the ids of each private table are written from, where people are named by texts."""
        ...


def kind_of_people(tables: NamedPeople) -> str:
    """Return by what people are named, in words; refuse ids whose text may change. Tables have one kind of them."""
    kind = PLAIN
    for table, schema in tables.schemas.items():
        column = None if schema.unit.column is None else schema.find(schema.unit.column)
        if column is None:
            continue
        spelt = tables.spellings[table]
        if column.kind not in WORDS or (column.kind is Kind.TEXT and not STABLE.fullmatch(spelt)):
            raise _unstable(column.name, table, spelt, several=len(tables.schemas) > 1)
        kind = WORDS[column.kind]
    return kind


def _unstable(column: str, table: str, spelt: str, *, several: bool) -> InvalidInput:
    if NUMBERS.fullmatch(spelt):
        kinds = {column: "integer"}
        example = json.dumps({table: kinds} if several else kinds, ensure_ascii=False)
        return InvalidInput(
            f"{column!r} of {table} holds reals or decimals: 3 and 3.0 would be two accounts of one person.",
            fix=f"declare whole numbers, kinds={example}: rows with another id, or none, are then ignored",
        )
    return InvalidInput(
        f"{column!r} of {table} holds timestamps, or values without a stable text: accounts cannot be named by them.",
        fix="use ids that are whole numbers, texts or dates",
    )
