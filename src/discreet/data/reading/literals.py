"""Literals of DuckDB: values in the text of a statement, of the types that the client gives to bound values.

DuckDB's client loads pandas, where it is installed, as soon as a Python value is bound: that takes longer than a small
answer. No option turns it off. So values are written into statements instead. Texts are quoted, and a parameter within
quotes is left alone, so that no value can end the literal in which it stands.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime

#: A quoted text or name, which is skipped, or a parameter.
TOKEN = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|\$([a-z]+[0-9]*)""")


def fill_parameters(text: str, values: Mapping[str, object]) -> str:
    """Return a statement in which each parameter is replaced by the literal of its value.

    Args:
        text: a statement with parameters such as $first.
        values: a value for each parameter; others are ignored.

    Returns:
        The statement without parameters.

    Raises:
        KeyError: if a parameter has no value.
        TypeError: if a value is of a type that has no literal here.

    """

    def fill(token: re.Match[str]) -> str:
        name = token[1]
        return token[0] if name is None else write_literal(values[name])

    return TOKEN.sub(fill, text)


def write_literal(value: object) -> str:
    """Return the literal of a value: of the same type, and equal to it, as if the client had bound it."""
    match value:
        case None | bool():
            return str(value).upper() if value is not None else "NULL"
        case int():
            return f"CAST('{value}' AS {_integer_type(value)})"
        case float():
            return f"CAST('{value!r}' AS DOUBLE)"
        case str():
            return f"CAST({_quote_text(value)} AS VARCHAR)"
        case datetime() if value.tzinfo is None:
            return f"CAST('{value.isoformat(' ')}' AS TIMESTAMP)"
        case date() if not isinstance(value, datetime):
            return f"CAST('{value.isoformat()}' AS DATE)"
        case [_, *_]:
            return _write_list([_need_text(part) for part in value])
        case _:
            raise TypeError(type(value).__name__)


def _need_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    return value


def _integer_type(value: int) -> str:
    if -(2**31) <= value < 2**31:
        return "INTEGER"
    return "BIGINT" if -(2**63) <= value < 2**63 else "HUGEINT"


def _write_list(texts: list[str]) -> str:
    """Return a list of texts: one text that is split where none of them is. A list of literals is parsed slowly."""
    joined = "".join(texts)
    between = next(sign for sign in map(chr, range(1, 0xD800)) if sign not in joined)
    return f"string_split({_quote_text(between.join(texts))}, chr({ord(between)}))"


def _quote_text(text: str) -> str:
    """Return a quoted text. The parser ends at a NUL, so that these are written as chr(0)."""
    parts = ["'" + part.replace("'", "''") + "'" for part in text.split("\0")]
    return " || chr(0) || ".join(parts)
