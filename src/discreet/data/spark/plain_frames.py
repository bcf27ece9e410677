"""Plain frames of Spark: they compute nothing that a row could make fail.

A cast in a frame (`frame.selectExpr("CAST(stay AS INT) AS stay")`, in ANSI mode) fails for one cell, and the failure
tells of that row. So the analysed plan of a frame is read, which Spark has made from names and types alone: files in
columns, rows that are held, plain columns under other names, and conditions that have a value for every row are taken;
everything else is not. Of a session of Spark Connect the plan is on the server, and cannot be read.
"""

from collections.abc import Iterator
from typing import Any

from discreet.core import InvalidInput

CATALYST = "org.apache.spark.sql.catalyst."
#: Where rows are held, or counted: nothing is computed from a value. What made an RDD is not known.
HELD = frozenset(
    {
        f"{CATALYST}plans.logical.LocalRelation",
        f"{CATALYST}plans.logical.Range",
        "org.apache.spark.sql.execution.LogicalRDD",
    }
)
FILES = "org.apache.spark.sql.execution.datasources.LogicalRelation"
#: Formats whose values have types: no text of a row has to be understood.
FORMATS = frozenset(
    {
        "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat",
        "org.apache.spark.sql.execution.datasources.orc.OrcFileFormat",
    }
)
#: What has rows of one other plan, each as it was, or not at all.
NAMING = frozenset({f"{CATALYST}plans.logical.{name}" for name in ("Project", "Filter", "SubqueryAlias", "View")})
#: Expressions that have a value for every row: columns, constants, comparisons and what joins them.
TOTAL = frozenset(
    f"{CATALYST}expressions.{name}"
    for name in (
        *("AttributeReference", "Alias", "Literal", "And", "Or", "Not", "IsNull", "IsNotNull", "In"),
        *("EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual", "GreaterThan", "GreaterThanOrEqual"),
    )
)


def need_plain_frame(frame: Any, table: str) -> None:
    """Refuse a private frame that computes something: a row may make that fail."""
    reason = next(_reasons(frame), None)
    if reason is None:
        return
    raise InvalidInput(
        f"A row may make reading {table!r} fail, and a failure tells of that row: {reason}.",
        fix="pass a frame that reads Parquet or ORC files and names columns (what columns hold is declared by kinds=…, "
        "and what does not fit is NULL); or, if you know that no row that can ever be there makes it fail, promise "
        f"that: never_fails=[{table!r}]",
    )


def _reasons(frame: Any) -> Iterator[str]:
    """Yield why computing a frame may fail."""
    if not hasattr(frame, "_jdf"):
        yield "what a frame of Spark Connect computes is known to its server alone"
        return
    waiting = [frame._jdf.queryExecution().analyzed()]  # noqa: SLF001 - PySpark has no other way to a plan
    while waiting:
        plan = waiting.pop()
        kind = plan.getClass().getName()
        if kind == FILES:
            yield from _reasons_of_files(plan.relation())
        elif kind in NAMING:
            yield from (
                reason for expression in _list_items(plan.expressions()) for reason in _reasons_of_value(expression)
            )
            waiting += _list_items(plan.children())
        elif kind not in HELD:
            yield f"the frame is made by {plan.nodeName()}, which is more than naming columns and comparing them"


def _reasons_of_files(relation: Any) -> Iterator[str]:
    """Yield why reading a source may fail."""
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        yield "the frame is read from a source that may compute something"
    elif relation.fileFormat().getClass().getName() not in FORMATS:
        yield "the frame is read from files that are neither Parquet nor ORC, and are understood row by row"


def _reasons_of_value(expression: Any) -> Iterator[str]:
    """Yield why an expression may have no value."""
    waiting = [expression]
    while waiting:
        node = waiting.pop()
        if node.getClass().getName() not in TOTAL:
            yield f"the frame computes {node.prettyName()}"
        waiting += _list_items(node.children())


def _list_items(sequence: Any) -> list[Any]:
    """Return what is in a sequence of the JVM."""
    return [sequence.apply(place) for place in range(sequence.size())]
