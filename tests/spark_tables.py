"""Tables of a real Spark for the contract of engines: one session for all tests of a process, started when needed."""

import os
import shutil
import warnings
from dataclasses import replace
from functools import cache

import pyarrow as pa
import pytest

from data_engines import arrow_table
from discreet.data.reading.table_sources import Declaration
from discreet.data.spark.frames import SparkFrames, private_frame
from discreet.data.spark.sessions import spark_session
from discreet.data.spark.table import SparkTable, public_frame

from_arrow_schema = pytest.importorskip("pyspark.sql.pandas.types").from_arrow_schema

#: With this set, as .ci/run does, a missing Java fails the tests instead of skipping them.
NEEDED = "DISCREET_NEEDS_SPARK"
MISSING = "no Java on this machine: install openjdk-17-jre-headless (.ci/java does), and these tests run"
#: Nothing is compiled: a statement is asked once, of a few rows. `tests/unit/test_data_spark.py` compiles.
SETTINGS = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.memory": "1g",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
#: The column that keeps the order in which rows are given: rows of a frame have none.
PLACE = "__n"


def need_java():
    """Skip the test, or fail it where one is needed, if there is no Java."""
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        if os.environ.get(NEEDED):
            pytest.fail(MISSING)
        pytest.skip(MISSING)


@cache
def session():
    """Return the session of this process."""
    need_java()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PySpark's own, about versions of pandas
        return spark_session("local[2]", SETTINGS)


def frame_of(table, spark=None):
    """Return an Arrow table as a frame of Spark: of a session that is given, or of this process's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Connect does not know what is in a table without rows.
        types = None if table.num_rows else from_arrow_schema(table.schema)
        return (spark or session()).createDataFrame(table, types)


def private_of(schema, rows, spark=None):
    """Return rows as a private frame that keeps their order, though no column of its schema does."""
    table = arrow_table(schema, rows)
    ordered = table.append_column(PLACE, pa.array(range(len(rows)), pa.int64()))
    declaration = Declaration(
        table=schema.table,
        unit=schema.unit,
        bounds={column.name: column.bounds for column in schema.columns if column.bounds is not None},
        groups={column.name: column.groups for column in schema.columns if column.groups is not None},
        kinds={},
        complete=(),
        order=PLACE,
        rows_per_person=schema.rows_per_person,
    )
    made = private_frame(frame_of(ordered, spark), declaration)
    assert made.schema.columns[-1].name == PLACE
    return replace(made, schema=replace(made.schema, columns=made.schema.columns[:-1]))


def spark_table(schema, rows, spark=None):
    """Return a table of Spark."""
    return SparkTable(SparkFrames({schema.table: private_of(schema, rows, spark)}, {}))


def spark_tables(private, public, spark=None):
    """Return tables of Spark: for each name a schema and rows."""
    return SparkTable(
        SparkFrames(
            {name: private_of(schema, rows, spark) for name, (schema, rows) in private.items()},
            {
                name: public_frame(frame_of(arrow_table(schema, rows), spark), name, spark or session())
                for name, (schema, rows) in public.items()
            },
        )
    )
