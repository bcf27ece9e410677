"""Purchases of people in shops, made up by Spark: ten rows a person. Knows the standard library only: peers run it."""

from pathlib import Path

#: Rows a person has on average, and shops that there are.
ROWS_EACH, GROUPS = 10, 1000
#: What prices are clamped to; they go up to 100.
LOW, HIGH = 0, 60
#: The contribution bound of one person.
LIMIT_GROUPS, LIMIT_ROWS = 3, 5


#: What sessions of Spark are given, ours and others'.
SETTINGS = {"spark.driver.memory": "6g", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


def written(session, rows: int, folder: str | Path) -> str:
    """Return a folder of Parquet files with so many rows; it is written if there is none yet."""
    place = Path(folder) / f"rows-{rows}"
    if not (place / "_SUCCESS").exists():
        session.range(rows).selectExpr(
            f"pmod(xxhash64(id, 1), {max(rows // ROWS_EACH, 1)}) AS person",
            f"CAST(pmod(xxhash64(id, 2), {GROUPS}) AS INT) AS shop",
            "pmod(xxhash64(id, 3), 10000) / 100D AS price",
        ).write.mode("overwrite").parquet(str(place))
    return str(place)
