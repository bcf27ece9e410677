"""Values that attack: what real tables hold, and what a clever engine gets wrong."""

from datetime import date, datetime, timedelta
from fractions import Fraction

from discreet.core import Bounds
from discreet.core.schema import Kind

INTEGERS = (
    *(0, 1, -1, 2, 3, -3, 5, 7, 10, 12, 99, -100, 2024, 1_000_003),
    *(2**31, -(2**31) - 1, 2**32, 2**53, 2**53 - 1, 2**53 + 1, -(2**53), -(2**53) - 1, -(2**53) + 1),
    *(2**62, 2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 1),
)
REALS = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, -0.49999999999999994, 0.1, 0.3, 1 / 3),
    *(7.25, -3.75, 60.0, 99.999999, 1e6, 4503599627370495.5, 4503599627370497.5, 2.0**53, 2.0**53 + 2, -(2.0**53) - 2),
    *(2.0**63, -(2.0**63), 1e18, 1e19, 1e100, -1e300, 1.7976931348623157e308, 5e-324, -1e-310, 1e-300, 709.8, -745.2),
    *(float("nan"), float("inf"), float("-inf")),
)
ASCII_TEXTS = (
    *(
        "",
        " ",
        "  ",
        "a",
        "A",
        "b",
        "ab",
        "aB",
        "Abc",
        "a b",
        " a",
        "a ",
        "%",
        "_",
        "a%b",
        "a_b",
        "a\\b",
        "\\%",
        "100%",
    ),
    *(
        "'",
        "''",
        '"',
        'it\'s "x"',
        "--",
        ";",
        "x'; DROP",
        "a\nb",
        "a\tb",
        "\t",
        "null",
        "NULL",
        "true",
        "n",
        "0:",
        "1:a",
    ),
    *(
        "0",
        "7",
        "+7",
        "-7",
        "007",
        " 12 ",
        "1 2",
        "--1",
        "1_000",
        "123456789012345",
        "1234567890123456",
        "99999999999999999999",
    ),
    *(
        "1.5",
        "-1.5",
        ".5",
        "5.",
        "1e3",
        "1E+3",
        "1e-3",
        "1e999",
        "1e1000",
        "1e",
        "e1",
        ".",
        "+.5e-10",
        "0x10",
        "nan",
        "inf",
    ),
    *("Infinity", "-inf", "1,5", "2024-02-29", "2023-02-29", "2024-2-9", "2024-13-01", "0000-01-01", "0001-01-01"),
    *("9999-12-31", "10000-01-01", "2024-02-29 10:00:00", " 2024-02-29", "epoch", "infinity", "x" * 300, "a" * 33),
)
WIDE_TEXTS = (
    *(
        "é",
        "e\u0301",
        "É",
        "ß",
        "İ",
        "ı",
        "ñandú",
        "日本",
        "😀",
        "a😀b",
        "👩\u200d👩\u200d👧",
        "\u00a0",
        "\u00a01",
        "\ufeff",
    ),
    *("١٢", "１２", "\U0010ffff", "\uffff", "\ud7ff", "\ue000", "−1", "a\u0300%", "\x01", "\x7f", "\u2028"),
)
DAYS = (
    *(date(1970, 1, 1), date(1969, 12, 31), date(2000, 2, 29), date(2024, 2, 29), date(2024, 3, 1), date(2024, 12, 30)),
    *(date(2023, 1, 1), date(2021, 1, 3), date(2020, 12, 31), date(1900, 2, 28), date(1582, 10, 10), date(1, 1, 1)),
    *(date(1, 1, 2), date(9999, 12, 31), date(9999, 12, 1), date(2024, 7, 15), date(2024, 10, 1)),
)
MIDNIGHT = datetime(1970, 1, 1)  # noqa: DTZ001 - timestamps are UTC, without saying so
MOMENTS = tuple(
    MIDNIGHT + timedelta(days=day.toordinal() - date(1970, 1, 1).toordinal(), microseconds=extra)
    for day, extra in zip(
        DAYS,
        (0, 86_399_999_999, 1, 43_200_000_000, 3_599_999_999, 86_399_999_999, 60_000_000, 500_000, 82_800_000_000) * 2,
        strict=False,
    )
)
VALUES = {
    Kind.INTEGER: INTEGERS,
    Kind.REAL: REALS,
    Kind.TEXT: ASCII_TEXTS + WIDE_TEXTS,
    Kind.BOOLEAN: (True, False),
    Kind.DATE: DAYS,
    Kind.TIMESTAMP: MOMENTS,
}
#: Values that rows share often enough to meet in a group.
COMMON = {
    Kind.INTEGER: (0, 1, 2, 3, -1, 7),
    Kind.REAL: (0.0, 0.5, 1.0, 2.5, -1.5, 3.25),
    Kind.TEXT: ("a", "b", "A", "ab", "", "12"),
    Kind.BOOLEAN: (True, False),
    Kind.DATE: (date(2024, 2, 29), date(2024, 3, 1), date(1970, 1, 1)),
    Kind.TIMESTAMP: (MOMENTS[0], MOMENTS[3], MOMENTS[4]),
}
WHOLE_BOUNDS = (
    Bounds(0, 10),
    Bounds(0, 10, step=1),
    Bounds(-5, 5, step=1),
    Bounds(-3, 2000, step=1),
    Bounds(5, 7, step=1),
    Bounds(-7, -5, step=1),
    Bounds(0, 2**53, step=1),
    Bounds(-(2**53), 2**53, step=1),
    Bounds(0, 1),
)
REAL_BOUNDS = (
    *WHOLE_BOUNDS,
    Bounds(0, 1, step=Fraction(1, 2)),
    Bounds(-2.5, 2.5, step=0.5),
    Bounds(0, 60),
    Bounds(0, Fraction(10, 3), step=Fraction(1, 3)),
    Bounds(-0.3, 0.7, step=0.1),
    Bounds(10**18, 10**19, step=10**16),
    Bounds(-1e-9, 1e-9),
)
DAY_BOUNDS = (Bounds(0, 20_000, step=1), Bounds(19_780, 19_785, step=1), Bounds(-800_000, 2_900_000, step=1))
#: Days that are counted in parts of days.
HOUR_BOUNDS = (Bounds(0, 20_000, step=Fraction(1, 24)), Bounds(19_782, 19_783, step=Fraction(1, 1440)))
BOUNDS = {
    Kind.INTEGER: WHOLE_BOUNDS,
    Kind.REAL: REAL_BOUNDS,
    Kind.DATE: DAY_BOUNDS,
    Kind.TIMESTAMP: DAY_BOUNDS,
}
#: Edges of histograms, in order.
EDGES = tuple(Fraction(edge) for edge in ("-1e300", "-9007199254740993", "-1", "0", "1/3", "0.5", "1", "2.5", "7"))
EDGES += tuple(Fraction(edge) for edge in ("60", "9007199254740992", "9007199254740993", "1e19"))
EDGES += tuple(Fraction(edge) for edge in ("19782", "19782.5"))
