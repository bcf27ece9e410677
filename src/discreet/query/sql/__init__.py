"""Questions in SQL: from a text to a question, pass by pass."""

import re
from collections.abc import Callable, Mapping, Sequence

from discreet.algebra.relations import PublicScan
from discreet.core import WrongType
from discreet.core.errors import kind_of
from discreet.core.limits import Matches
from discreet.core.schema import Schema, Value
from discreet.query.questions import PublicQuestion, QueryRefused, Question, WrittenOption
from discreet.query.remedies import confirm_edit


def read_sql(
    text: str,
    schemas: Mapping[str, Schema],
    publics: Mapping[str, PublicScan] | None = None,
    matches: Matches | None = None,
    paths: Mapping[str, str] | None = None,
    answer: "Callable[[PublicQuestion], Sequence[Value]] | None" = None,
) -> Question:
    """Return the question that a text asks of tables, or refuse it with line and column.

    `publics` are public tables, which may be joined on anything. With `matches`, people may be joined with each other.
    `paths` say what tables are called where they come from, such as `public.visits`: a schema that a question names
    has to be that one. `answer` returns the values of a question about public tables with one column; one value is a
    constant of the question around it.

    Guarantee: whatever the text, the answer is a `Question` or an error; no row is looked at.
    """
    if not isinstance(text, str):
        raise WrongType(
            f"The question is {kind_of(text)}, not a text.", fix='pass SQL, such as "SELECT COUNT(*) FROM visits"'
        )
    from discreet.query.sql.passes import read  # noqa: PLC0415 - sqlglot takes a fifth of a second to load

    def try_read(tried: str) -> Question:
        return read(tried, schemas, publics or {}, matches, paths or {}, answer)

    try:
        return try_read(text)
    except QueryRefused as refusal:
        unchecked = refusal
    raise confirm_edit(unchecked, text, try_read)


def find_public_question(
    text: str,
    schemas: Mapping[str, Schema],
    publics: Mapping[str, PublicScan],
    paths: Mapping[str, str] | None = None,
) -> PublicQuestion | None:
    """Return the question that a text asks of public tables alone; None if it names any other table, or none."""
    folded = text.casefold()
    if not any(scan.table.casefold() in folded for scan in publics.values()):
        return None
    from discreet.query.sql.passes import find_public_question as find  # noqa: PLC0415 - as above

    try:
        return find(text, schemas, publics, paths or {})
    except QueryRefused as refusal:
        unchecked = refusal
    raise confirm_edit(unchecked, text, lambda tried: find(tried, schemas, publics, paths or {}))


#: What drivers ask for when they connect, and what they are told: there is one database, and no user is known here.
PROBES = {
    "version": "discreet",
    "current_database": "discreet",
    "current_catalog": "discreet",
    "database": "discreet",
    "current_schema": "main",
}
PROBE = re.compile(
    rf"\s*SELECT\s+(?P<name>(?:{'|'.join(PROBES)})\(\)|current_schema|current_catalog)\s*;?\s*", re.IGNORECASE
)


def find_constants(text: str) -> tuple[tuple[str, Value], ...] | None:
    """Return the names and values of a question without tables, such as SELECT 1; None for any other text."""
    if not isinstance(text, str) or re.search(r"\bfrom\b", text, re.IGNORECASE):
        return None
    probe = PROBE.fullmatch(text)
    if probe is not None:
        name = probe["name"].casefold().removesuffix("()")
        return ((name, PROBES[name]),)
    from discreet.query.sql.passes import find_constants as find  # noqa: PLC0415 - as above

    return find(text)


def split_privacy_options(text: str) -> tuple[str, dict[str, WrittenOption]]:
    """Return a question with blanks in place of WITH DIFFERENTIAL_PRIVACY OPTIONS(…), and its options by name."""
    if "differential_privacy" not in text.casefold():
        return text, {}
    from discreet.query.sql.parsing.privacy_options import split_privacy_options as split  # noqa: PLC0415 - as above

    return split(text)
