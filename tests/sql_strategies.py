"""Random questions as texts, in the grammar that is accepted, with as few parentheses as SQL allows."""

from hypothesis import strategies as st

SIGNS = (" + ", " - ", " * ", " / ", " // ", " % ")
COMPARED = (" = ", " <> ", " < ", " <= ", " > ", " >= ")
#: The leaves of each kind, and what is made of smaller parts: {n} is a number, {t} a text, {d} a day, {b} a condition.
LEAVES = {
    "n": ("age", "stay", "cost", '"index"', "1", "2.5", "-3", "1e3", "visits.age"),
    "t": ("ward", "'A'", "'it''s'", '"Blood Group"', "'%'"),
    "d": ("day", "left_on", "DATE '2024-02-29'", "CAST(seen AS DATE)", "DATE_TRUNC('month', seen)"),
    "b": ("smoker", "TRUE", "FALSE", "patient_id = 7"),
}
FORMS = {
    "n": (
        *(f"{{n}}{sign}{{n}}" for sign in SIGNS),
        *(
            "({n})",
            "- ({n})",
            "CLAMP({n}, -1, 9.5)",
            "LENGTH({t})",
            "STRPOS({t}, 'a')",
            "POSITION('a' IN {t})",
            "DATE_DIFF('day', {d}, {d})",
        ),
        *(f"{name}({{n}})" for name in ("ABS", "FLOOR", "CEIL", "ROUND", "SQRT", "LN", "EXP", "LOG10", "LOG2", "SIGN")),
        *(f"{name}({{n}}, {{n}})" for name in ("LEAST", "GREATEST", "COALESCE", "NULLIF", "POWER")),
        *(f"{name}({{d}})" for name in ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "ISODOW")),
        *("CASE WHEN {b} THEN {n} ELSE {n} END", "CASE WHEN {b} THEN {n} END", "CASE {n} WHEN {n} THEN {n} END"),
        *("CAST({n} AS INTEGER)", "CAST({n} AS DOUBLE)", "CAST({b} AS INTEGER)", "CAST({t} AS DOUBLE)"),
    ),
    "t": (
        *("{t} || {t}", "LOWER({t})", "UPPER({t})", "TRIM({t})", "SUBSTRING({t}, 2, 3)", "COALESCE({t}, {t})"),
        *("RIGHT({t}, 2)", "REPLACE({t}, 'a', 'b')", "LTRIM({t})", "RTRIM({t})", "CONCAT_WS('-', {t}, {t}, age)"),
        *("CONCAT({t}, '-', {t}, age)", "LEFT({t}, 2)", "IF({b}, {t}, 'no')", "IFNULL({t}, 'none')"),
    ),
    "d": (
        *("{d} + INTERVAL 9 DAY", "{d} - INTERVAL 9 DAY", "DATE_TRUNC('year', {d})", "DATE_TRUNC('week', {d})"),
        *("{d} + INTERVAL 2 MONTH", "{d} - INTERVAL 1 YEAR"),
    ),
    "b": (
        *(f"{{n}}{sign}{{n}}" for sign in COMPARED),
        *(f"{{t}}{sign}{{t}}" for sign in COMPARED),
        *(f"{{d}}{sign}{{d}}" for sign in COMPARED),
        *("{b} AND {b}", "{b} OR {b}", "NOT {b}", "({b})", "({b}) = TRUE", "({b}) IS NOT TRUE", "({b}) IS FALSE"),
        *("{n} IS NULL", "{t} IS NOT NULL", "{n} BETWEEN {n} AND {n}", "{d} NOT BETWEEN {d} AND {d}"),
        *("{n} IN (1, -2, 3.5, 1)", "{t} NOT IN ('A', '''')", "{d} IN ('2024-01-01')"),
        *("{t} LIKE 'a%'", "{t} NOT LIKE '_''%'", "{t} ILIKE 'a'", "{t} NOT ILIKE ''", "STARTS_WITH({t}, 'it')"),
        *("{t} IS DISTINCT FROM {t}", "({n} IS NOT DISTINCT FROM {n})", "{d} IS DISTINCT FROM DATE '2024-01-05'"),
    ),
    "m": (
        *("COUNT(*)", "COUNT(*)", "COUNT(DISTINCT patient_id)", "COUNT({t})", "COUNT(DISTINCT {t})", "MEDIAN(age)"),
        *(
            f"{name}(stay + {{n}})"
            for name in ("SUM", "AVG", "VAR_SAMP", "VAR_POP", "STDDEV", "STDDEV_POP", "MIN", "MAX")
        ),
        *(
            "COUNT(*) FILTER (WHERE {b})",
            "SUM({n}) FILTER (WHERE {b})",
            "QUANTILE(age * {n}, 0.9)",
            "CORR(stay, age)",
            "REGR_SLOPE(stay, age + {n})",
        ),
    ),
    "o": ("{m}", "{m}", *(f"{{m}}{sign}{{m}}" for sign in SIGNS), "ROUND({m}, 2)", "({m} - {m}) * 2", "- ({m})"),
}


def grown(draw, kind, depth):
    """Draw a text of a kind that is at most so deep."""
    if depth == 0 and kind in LEAVES:
        return draw(st.sampled_from(LEAVES[kind]))
    text = draw(st.sampled_from(FORMS[kind] + LEAVES.get(kind, ()) * 2))
    for part in "ntdbm":
        while (hole := "{" + part + "}") in text:
            text = text.replace(hole, grown(draw, part, max(depth - 1, 0)), 1)
    return text


@st.composite
def conditions(draw, depth=2):
    """Draw a condition on rows."""
    return grown(draw, "b", depth)


@st.composite
def questions(draw, depth=2):
    """Draw the text of a question. Some are refused: a constant is summed up, or a day subtracted from a number."""
    some = st.booleans()
    groups = [
        draw(
            st.sampled_from([grown(draw, "t", 1), grown(draw, "b", 1), f"FLOOR({grown(draw, 'n', 1)})", "ward", "day"])
        )
        for _ in range(draw(st.integers(0, 2)))
    ]
    terms = [grown(draw, "o", depth) for _ in range(draw(st.integers(1, 3)))]
    items = [*(group for group in groups if draw(some)), *terms]
    outputs = [f"{item} AS o{index}" if draw(some) else item for index, item in enumerate(items)]
    clauses = [
        f" WHERE {grown(draw, 'b', depth)}" if draw(some) else "",
        f" GROUP BY {', '.join(groups)}" if groups else "",
        f" HAVING {grown(draw, 'o', 1)}{draw(st.sampled_from(COMPARED))}3 OR COUNT(*) IS NULL" if draw(some) else "",
        f" ORDER BY {draw(st.sampled_from([terms[0], '1', *groups]))} DESC, COUNT(*)" if draw(some) else "",
        " LIMIT 5" if draw(some) else "",
    ]
    return f"SELECT {', '.join(outputs)} FROM visits{''.join(clauses)}"


#: Selections with a person, a number x and a text y: of a table, and of smaller ones.
SELECTED = "SELECT patient_id, CAST({n} AS DOUBLE) AS x, {t} AS y FROM visits"
MADE = (
    "SELECT patient_id, CAST(CLAMP(COUNT(*), 0, 9) AS DOUBLE) AS x, y FROM ({r}) r GROUP BY patient_id, y",
    "SELECT patient_id, MAX(x) AS x, 'k' AS y FROM ({r}) r GROUP BY patient_id HAVING COUNT(*) > 1",
    "SELECT patient_id, k + 0.5 AS x, y FROM (SELECT DISTINCT patient_id, CAST(x AS INTEGER) AS k, y FROM ({r}) r) d",
    "{r} UNION ALL {r}",
    "SELECT a.patient_id, a.x, b.y FROM ({r}) a JOIN ({r}) b ON a.patient_id = b.patient_id",
    "SELECT a.patient_id, b.x, a.y FROM ({r}) a LEFT JOIN ({r}) b ON a.patient_id = b.patient_id AND a.y = b.y",
    "SELECT r.patient_id, r.x + w.floor AS x, w.kind AS y FROM ({r}) r JOIN wards w ON r.y = w.code",
    "SELECT r.patient_id, w.rate AS x, r.y FROM ({r}) r LEFT JOIN wards w ON w.code = r.y",
    "SELECT * FROM ({r}) r WHERE patient_id IN (SELECT patient_id FROM ({r}) q WHERE x > 1)",
    "SELECT * FROM ({r}) r WHERE x > 2 AND patient_id NOT IN (SELECT person FROM drugs)",
    "SELECT * FROM ({r}) a WHERE EXISTS (SELECT 1 FROM ({r}) b WHERE b.patient_id = a.patient_id AND b.y = a.y)",
    "SELECT * FROM ({r}) a WHERE NOT EXISTS (SELECT * FROM ({r}) WHERE a.patient_id = patient_id AND x > 1 AND y=a.y)",
    "SELECT * FROM ({r}) r WHERE NOT EXISTS (SELECT * FROM wards WHERE code = y AND floor > 1)",
    "SELECT * FROM ({r}) r WHERE y IN (SELECT code FROM wards WHERE floor < 3) AND x > 0",
    "SELECT a.patient_id, a.x, b.y FROM ({r}) a, ({r}) b WHERE a.patient_id = b.patient_id AND a.y = b.y AND b.x > a.x",
    "SELECT a.patient_id, b.x, a.y FROM ({r}) a JOIN ({r}) b ON a.patient_id = b.patient_id AND a.x < b.x AND b.y > ''",
    "SELECT a.patient_id, b.x, a.y FROM ({r}) a LEFT JOIN ({r}) b ON a.patient_id = b.patient_id AND a.x > 1 AND b.x<9",
    "SELECT b.patient_id, a.x, b.y FROM ({r}) a RIGHT JOIN ({r}) b ON a.patient_id = b.patient_id AND a.y = b.y",
    "SELECT r.patient_id, w.rate AS x, r.y FROM wards w RIGHT JOIN ({r}) r ON w.code = r.y AND w.floor > 1 AND x > 1",
    "SELECT r.patient_id, x + 1 AS x, LOWER(y) AS y FROM ({r}) r JOIN patients p USING (patient_id) WHERE p.age > 20",
)


def relation(draw, depth):
    """Draw a selection that is at most so deep."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        text = SELECTED
        for part in "nt":
            text = text.replace("{" + part + "}", grown(draw, part, 1))
        return f"{text} WHERE {grown(draw, 'b', 1)}" if draw(st.booleans()) else text
    text = draw(st.sampled_from(MADE))
    while "{r}" in text:
        text = text.replace("{r}", relation(draw, depth - 1), 1)
    return text


@st.composite
def relation_questions(draw, depth=2):
    """Draw a question about a subquery, with its own inside."""
    where = draw(st.sampled_from(["", " WHERE x > 1 OR y IS NULL", " WHERE y <> 'A'"]))
    output = draw(st.sampled_from(["COUNT(*) AS n", "COUNT(x) AS n, COUNT(DISTINCT t.patient_id) AS p"]))
    return f"SELECT y, {output} FROM ({relation(draw, depth)}) AS t{where} GROUP BY y"
