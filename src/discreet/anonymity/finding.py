"""Finds identifying columns: by name, by the form of values, and by the share of rows with a unique value."""

import re
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from discreet.algebra.names import literal, quote_name
from discreet.anonymity.reading import ROWS, Held, with_rows
from discreet.core.schema import Kind

#: So many rows are looked at for patterns, evenly from the first to the last.
LOOKED_AT = 20_000
#: A column is taken for what its values look like if so many of a hundred look so.
MOST_LOOK_SO = 80
#: A column in which so many of a hundred values are different numbers the rows, one by one.
NEARLY_ALL = 95
#: Fewer rows tell nothing about uniqueness.
FEWEST = 20


class Role(Enum):
    """The use of a column to an attacker who looks for a person."""

    DIRECT = "direct"
    QUASI = "quasi"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The findings about a column: its role, the reason, and the number of different values. For the steward.

    `alone` is the share of rows that no other row shares its value with.
    """

    column: str
    role: Role
    reasons: tuple[str, ...]
    distinct: int
    alone: Fraction


#: Words in names, in English and a few other languages, each whole between signs that are not letters.
DIRECT_NAMES = (
    "name|names|surname|firstname|lastname|forename|fullname|nachname|vorname|nom|prenom|apellido|nombre|email|e_?mail|mail"
    "|phone|telephone|telefon|mobile|fax|ssn|social_?security|passport|licen[cs]e|plate|vin|iban|bic|account|konto"
    "|card|credit_?card|address|street|strasse|rue|ip|mac|url|user|username|login|device|imei|national_?id|nhs|mrn"
    "|insurance|versicherungsnummer|steuer_?id|id|uuid|guid|photo|picture|fingerprint"
)
QUASI_NAMES = (
    "birth|birthday|birthdate|born|dob|date_?of_?birth|geburtsdatum|naissance|age|alter|zip|zip_?code|zipcode|post_?code"
    "|postcode|postal_?code|plz|sex|gender|geschlecht|race|ethnicity|ethnic|nationality|country|native_?country|city|town|village"
    "|county|district|region|state|occupation|job|profession|employer|school|education|degree|marital_?status|marital|religion"
    "|language|household|admission|discharge|death|height|weight|latitude|longitude|lat|lon|lng|location"
)
#: The look of values (RE2, of the whole value), and the role that it gives a column.
PATTERNS = {
    "e-mail addresses": (Role.DIRECT, r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}"),
    "telephone numbers": (Role.DIRECT, r"(\+|00)[0-9][0-9 ()/.-]{6,18}|\(?0[0-9]{1,5}\)?[ /-][0-9 -]{4,14}"),
    "social security numbers": (Role.DIRECT, r"[0-9]{3}-[0-9]{2}-[0-9]{4}"),
    "bank accounts (IBAN)": (Role.DIRECT, r"[A-Z]{2}[0-9]{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,4})?"),
    "card numbers": (Role.DIRECT, r"([0-9]{4}[ -]?){3}[0-9]{1,7}"),
    "addresses of machines": (Role.DIRECT, r"([0-9]{1,3}\.){3}[0-9]{1,3}|([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}"),
    "web addresses": (Role.DIRECT, r"(?i)(https?://|www\.)\S+"),
    "unique numbers (UUID)": (Role.DIRECT, r"(?i)[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}"),
    "a first and a last name": (Role.DIRECT, r"\p{Lu}\p{Ll}+([ -]\p{Lu}\p{Ll}+)*,? \p{Lu}[\p{L}'-]+"),
    "places on the map": (Role.QUASI, r"-?[0-9]{1,3}\.[0-9]{3,}, ?-?[0-9]{1,3}\.[0-9]{3,}"),
    "postcodes": (Role.QUASI, r"(?i)[A-Z]{1,2}[0-9][A-Z0-9]? ?[0-9][A-Z]{2}|[0-9]{5}(-[0-9]{4})?|[0-9]{4} ?[A-Z]{2}"),
}


def find_identifying(source: object, *, gap_texts: tuple[str, ...] = ()) -> tuple[Finding, ...]:
    """Return the role of each column of a file or frame, computed on DuckDB for large tables.

    It finds what it knows. A column of which nothing was found may identify people all the same, and columns that do
    not identify one by one may do so together: `prosecutor_risk` tells how many are alone with their values of several.

    Args:
        source: a CSV, Parquet or DuckDB file, or a pandas, Polars or Arrow frame.
        gap_texts: strings that stand for missing values.

    Returns:
        One finding for each column.

    Raises:
        DiscreetError: if the source cannot be read.

    """

    def use(engine: Held) -> tuple[Finding, ...]:
        ((rows,),) = engine.ask(f"SELECT count(*) FROM {ROWS}")  # noqa: S608 - our own words
        return tuple(_finding(engine, name, int(str(rows))) for name in engine.kinds)

    return with_rows(source, use, gaps=gap_texts)


def _finding(engine: Held, name: str, rows: int) -> Finding:
    kind = engine.kinds[name]
    filled, distinct, alone = _counts(engine, name)
    signs = [_by_name(name), *_by_pattern(engine, name, kind, rows), _by_uniqueness(kind, filled, distinct)]
    if kind.temporal:
        signs.append((Role.QUASI, "it holds days or moments, which others know, too"))
    known_signs = [sign for sign in signs if sign is not None]
    roles = [role for role, _ in known_signs]
    role = next((role for role in (Role.DIRECT, Role.QUASI) if role in roles), Role.NONE)
    return Finding(
        column=name,
        role=role,
        reasons=tuple(reason for _, reason in known_signs),
        distinct=distinct,
        alone=Fraction(alone, max(rows, 1)),
    )


def _counts(engine: Held, name: str) -> tuple[int, int, int]:
    """Return the numbers of rows with a value, of different values, and of values that occur once."""
    # S608, here and below: names are quoted, patterns are literals.
    counted = f"(SELECT count(*) AS n FROM {ROWS} WHERE {quote_name(name)} IS NOT NULL GROUP BY {quote_name(name)})"  # noqa: S608
    ((filled, distinct, alone),) = engine.ask(
        f"SELECT coalesce(sum(n), 0)::BIGINT, count(*), count(*) FILTER (n = 1) FROM {counted}"  # noqa: S608
    )
    return int(str(filled)), int(str(distinct)), int(str(alone))


def _by_name(name: str) -> tuple[Role, str] | None:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    for role, names in ((Role.DIRECT, DIRECT_NAMES), (Role.QUASI, QUASI_NAMES)):
        if re.search(rf"(?<![a-z])(?:{names})(?![a-z])", words.replace("-", "_").replace(" ", "_")):
            return role, "its name says so"
    return None


def _by_pattern(engine: Held, name: str, kind: Kind, rows: int) -> list[tuple[Role, str]]:
    if kind is not Kind.TEXT:
        return []
    every = max(1, rows // LOOKED_AT)
    looks = ", ".join(
        f"count(*) FILTER (regexp_full_match(cell, {literal(pattern)}))" for _, pattern in PATTERNS.values()
    )
    quoted = quote_name(name)
    cells = f"(SELECT {quoted}::VARCHAR AS cell FROM {ROWS} WHERE rowid % {every} = 0 AND {quoted} IS NOT NULL)"  # noqa: S608
    ((filled, *matches),) = engine.ask(f"SELECT count(*), {looks} FROM {cells}")  # noqa: S608
    return [
        (role, f"its values look like {description}")
        for (description, (role, _)), count in zip(PATTERNS.items(), matches, strict=True)
        if int(str(filled)) and 100 * int(str(count)) >= MOST_LOOK_SO * int(str(filled))
    ]


def _by_uniqueness(kind: Kind, filled: int, distinct: int) -> tuple[Role, str] | None:
    if filled < FEWEST or 100 * distinct < NEARLY_ALL * filled:
        return None
    # Measurements are all different by nature; an attacker who knows one knows the row, but few people know one.
    role = Role.QUASI if kind is Kind.REAL or kind.temporal else Role.DIRECT
    return role, "nearly every row has a value of its own"
