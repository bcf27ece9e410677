"""Rewrites library messages so that they name command-line options, for people and programs alike."""

import json
import re
import shlex
from typing import Any

from discreet.cli.parsing import PROJECT

#: Arguments of the library that are options here, and what may stand around their values.
ARGUMENT = re.compile(r"\b(epsilon|rho|within|confidence|size|request|analyst|today|table)=([^\s;,){]+)")
LIMIT = re.compile(r"\blimit=(?:discreet\.)?Limit\(groups=([^,()]+), rows_per_group=([^,()]+)\)")
MATCHES = re.compile(r"\bmatches=(?:discreet\.)?Matches\(rows=([^,()]+), matches=([^,()]+)\)")
NO_PERSON = re.compile(r"person=\{[^{}]*\"([^\"{}]+)\": None\}")
BUY = re.compile(r"\bbuy_bounds\(\"([^\"]*)\", epsilon=…\)")
LEFT_OUT = re.compile(r"\bleave out (bias|limit|size|table|today)\b")
FRACTION, QUOTES = re.compile(r"Fraction\('([^']*)'\)"), "'\""
#: The declarations of columns, or of columns by tables.
KINDS = re.compile(r"\bkinds=(\{(?:[^{}]|\{[^{}]*\})*\})")
CSV = re.compile(r"\bcsv=(\{[^{}]*\})")
GROUPS = re.compile(r"\bgroups=\{\"([^\"{}]*)\": (\[[^\[\]{}]*\])\}")
BOUNDS = re.compile(r"\bbounds=\{\"([^\"{}]*)\": \(([^()]*)\)\}")
#: Where a table is opened here: in its settings, which are named already. "Here or when …" has no other place to name.
WHEN = re.compile(r"(?<!\bor) when the (?:dataset|table) is opened")


def name_options(text: str) -> str:
    """Return a text of the library with options for its arguments: --epsilon 0.3 for epsilon=0.3."""
    plain = (
        FRACTION.sub(r"\1", text)
        .replace("bias=True", "--bias")
        .replace("with size)", "with --size)")
        .replace(". session.participation", ". In Python, session.participation")
        .replace("table=,", "--table with")
    )
    plain = BUY.sub(lambda match: f"discreet buy-bounds {shlex.quote(match[1])} --epsilon 0.1", plain)
    plain = LIMIT.sub(r"--limit groups=\1,rows=\2", MATCHES.sub(r"--matches rows=\1,matches=\2", plain))
    plain = LEFT_OUT.sub(r"leave out --\1", NO_PERSON.sub(r"--person \1=-", plain))
    return ARGUMENT.sub(lambda match: f"--{match[1]} {match[2].strip(QUOTES)}", plain)


def reword_for_init(text: str) -> str:
    """Return a text in the words of `init`, which has options for what is declared: --kinds patients.id=integer."""
    reworded = KINDS.sub(lambda match: _format_options(_read_json(match[1])) or match[0], text)
    return name_options(CSV.sub(lambda match: _csv_options(_read_json(match[1])) or match[0], reworded))


def reword_for_settings(text: str) -> str:
    """Return a text in the words of a user who asks: declarations are in discreet.toml, to be changed."""
    reworded = KINDS.sub(lambda match: _format_settings(_read_json(match[1])) or match[0], text)
    reworded = CSV.sub(lambda match: _csv_settings(_read_json(match[1])) or match[0], reworded)
    reworded = GROUPS.sub(lambda match: _below("groups", f"{_key(match[1])} = {match[2]}"), reworded)
    reworded = BOUNDS.sub(lambda match: _below("bounds", f"{_key(match[1])} = [{match[2]}]"), reworded)
    reworded = NO_PERSON.sub(lambda match: _below("person", f"{_key(match[1])} = {{null = true}}"), reworded)
    return name_options(reworded if reworded == text else WHEN.sub("", reworded))


def _read_json(written: str) -> dict[str, Any]:
    """Return kinds by columns, or by tables; nothing, if they are not to be read: a name may have signs in it."""
    try:
        kinds: dict[str, Any] = json.loads(written)
    except ValueError:
        return {}
    return kinds


def _format_options(kinds: dict[str, Any]) -> str:
    """Return kinds as options."""
    options = []
    for name, value in kinds.items():
        below = (
            {f"{name}.{column}": kind for column, kind in value.items()} if isinstance(value, dict) else {name: value}
        )
        options += [f"--kinds {shlex.quote(f'{column}={kind}')}" for column, kind in below.items()]
    return " ".join(options)


def _csv_options(form: dict[str, Any]) -> str:
    """Return how a CSV file is written as options; a list of words has commas between them."""
    texts = {name: ",".join(value) if isinstance(value, list) else value for name, value in form.items()}
    return " ".join(f"--csv {shlex.quote(f'{name}={text}')}" for name, text in texts.items())


def _csv_settings(form: dict[str, Any]) -> str:
    """Return how a CSV file is written as lines of settings."""
    lines = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in form.items())
    return _below("csv", lines) if lines else ""


def _format_settings(declared: dict[str, Any]) -> str:
    """Return kinds as lines of settings."""
    tables = {name: value for name, value in declared.items() if isinstance(value, dict)}
    plain = {name: value for name, value in declared.items() if name not in tables}
    parts = [_below(f"kinds.{_key(table)}", _lines(kinds)) for table, kinds in tables.items()]
    return ", and ".join(([_below("kinds", _lines(plain))] if plain else []) + parts)


def _lines(kinds: dict[str, Any]) -> str:
    return ", ".join(f'{_key(name)} = "{kind}"' for name, kind in kinds.items())


def _below(heading: str, lines: str) -> str:
    return f"{lines} below [{heading}] in {PROJECT}"


def _key(name: str) -> str:
    """Return a name as TOML has it."""
    from discreet.session.settings.text import key  # noqa: PLC0415 - tomlkit, which only this refusal needs

    return key(name).as_string()
