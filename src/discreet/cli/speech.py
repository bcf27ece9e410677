"""What the library says, in the words that are typed here: options for arguments. The same for people and programs."""

import json
import re
import shlex

#: Arguments of the library that are options here, and what may stand around their values.
ARGUMENT = re.compile(r"\b(epsilon|rho|within|confidence|size|request|analyst|today|table)=([^\s;,){]+)")
LIMIT = re.compile(r"\blimit=(?:discreet\.)?Limit\(groups=([^,()]+), rows_per_group=([^,()]+)\)")
MATCHES = re.compile(r"\bmatches=(?:discreet\.)?Matches\(rows=([^,()]+), matches=([^,()]+)\)")
NOBODY = re.compile(r"person=\{[^{}]*\"([^\"{}]+)\": None\}")
LEFT_OUT = re.compile(r"\bleave out (bias|limit|size|table|today)\b")
FRACTION, QUOTES = re.compile(r"Fraction\('([^']*)'\)"), "'\""
#: Kinds of columns, or of columns by tables.
KINDS = re.compile(r"\bkinds=(\{(?:[^{}]|\{[^{}]*\})*\})")


def spoken(text: str) -> str:
    """Return a text of the library with options for its arguments: --epsilon 0.3 for epsilon=0.3."""
    plain = (
        FRACTION.sub(r"\1", text)
        .replace("bias=True", "--bias")
        .replace("with size)", "with --size)")
        .replace("table=,", "--table with")
    )
    plain = LIMIT.sub(r"--limit groups=\1,rows=\2", MATCHES.sub(r"--matches rows=\1,matches=\2", plain))
    plain = LEFT_OUT.sub(r"leave out --\1", NOBODY.sub(r"--person \1=-", plain))
    return ARGUMENT.sub(lambda found: f"--{found[1]} {found[2].strip(QUOTES)}", plain)


def with_kinds(text: str) -> str:
    """Return a text with the option that says kinds, which `init` alone has: --kinds patients.id=integer."""
    return KINDS.sub(lambda found: _typed(found[1]) or found[0], text)


def _typed(written: str) -> str:
    """Return kinds as options; nothing, if they are not to be read: a name may have signs in it."""
    try:
        said = json.loads(written)
    except ValueError:
        return ""
    options = []
    for name, one in said.items():
        below = {f"{name}.{column}": kind for column, kind in one.items()} if isinstance(one, dict) else {name: one}
        options += [f"--kinds {shlex.quote(f'{column}={kind}')}" for column, kind in below.items()]
    return " ".join(options)
