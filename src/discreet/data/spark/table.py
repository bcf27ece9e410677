"""Private and public tables on Spark: `algebra.aggregates.Table` and `algebra.contributions.PersonalTable`.

A question is one statement; where each unit is asked, it may be two, over what is kept meanwhile
(`discreet.data.spark.personal`). Rows are limited and added up by Spark, where they are; only bounded sums of groups
come to this process, as Arrow, and what each unit adds. Frames are known to the session under random names while a
question is asked, and not after. A question has its time: see `discreet.data.spark.sessions`.
"""

import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from discreet.algebra.aggregates import Aggregation, Exact, check_source, resolve_table
from discreet.algebra.contributions import Admission, need_accounts
from discreet.algebra.declarations import AnyBounds, AnyKind
from discreet.algebra.names import quote_name
from discreet.algebra.relations import Scan, scans_in
from discreet.algebra.row_caps import public_facts
from discreet.core import InvalidInput, OutOfRange, PrivacyUnit
from discreet.core.schema import ROWS_PER_PERSON, Column, PublicRows, Schema, Value
from discreet.data.engine_rules import SPARK_SETTINGS, EngineSettings, fail_quietly, quiet_opening
from discreet.data.reading.importing import load_separately
from discreet.data.reading.public_tables import (
    MOST_GROUPS,
    MOST_ROWS,
    ColumnSummary,
    has_ends,
    listed_columns,
    public_rows,
    public_schema,
)
from discreet.data.reading.sources import is_spark_frame
from discreet.data.reading.table_sources import (
    Entering,
    TableSource,
    declare_public_table,
    declare_table,
    need_names,
    need_one_kind,
)
from discreet.data.spark.dialect import SparkDialect
from discreet.data.spark.expressions import write_sql
from discreet.data.spark.frames import (
    SparkFrame,
    SparkFrames,
    need_frame,
    need_plain_frame,
    private_frame,
    private_frames,
    views,
)
from discreet.data.spark.personal import answer_among
from discreet.data.spark.sessions import hush_logs, need_answering, need_running, need_unlimited, run_within
from discreet.data.spark.statement import read_answers, spark_sql
from discreet.data.sql.dialect import check_aggregation_length
from discreet.data.sql.relations import fan_outs_sql
from discreet.data.sql.rows import PassedRows, build_passed_rows
from discreet.data.unit_work import check_unit_work

# Public tables on Spark: rows without a person, so that their bounds and groups are read off them.


def public_frame(source: object, table: str, session: Any) -> SparkFrame:
    """Return a public table, ordered by its columns: a frame of Spark, or a file or another frame that is put there."""
    entering = declare_public_table(table, source)
    frame: Any = entering.source if is_spark_frame(entering.source) else _put(entering, session)
    need_frame(frame)
    spark_frame = private_frame(frame, entering.declaration)
    bare = tuple(Column(name=column.name, kind=column.kind) for column in spark_frame.schema.columns)
    rows, summaries = _summarise_columns(spark_frame)
    listed = _list_rows(spark_frame, bare, rows)
    return replace(spark_frame, schema=public_schema(entering, bare, summaries, rows, listed))


def _list_rows(spark_frame: SparkFrame, columns: tuple[Column, ...], rows: int) -> PublicRows | None:
    """Return the rows, if they are few."""
    kept = listed_columns(columns, rows)
    if not kept:
        return None
    items = [f"{spark_frame.castings[place].text} AS x{place}" for place in kept]
    found = spark_frame.frame.selectExpr(*items).limit(MOST_ROWS + 1).toArrow()
    values = list(zip(*(column.to_pylist() for column in found.columns), strict=True))
    return public_rows(kept if len(values) <= MOST_ROWS else {}, values)


def _put(entering: Entering, session: Any) -> Any:
    """Return a file or a frame of another library as one of Spark's. Its contents are read as everywhere, by DuckDB."""
    with load_separately(entering) as (connection, imported):
        items = ", ".join(f"c{place} AS {quote_name(column.name)}" for place, column in enumerate(imported.columns))
        rows = connection.sql(f"SELECT {items} FROM {entering.rows}")  # noqa: S608 - our own names, and quoted ones
        return _frame(rows.to_arrow_table(), session)


def _frame(rows: Any, session: Any) -> Any:
    """Return an Arrow table as a frame. One without a row has no batch, of which Connect would know the types."""
    if rows.num_rows:
        return session.createDataFrame(rows)
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 - an extra, loaded with the frame

    return session.createDataFrame([], from_arrow_schema(rows.schema))


def _summarise_columns(spark_frame: SparkFrame) -> tuple[int, list[ColumnSummary]]:
    """Return the number of rows, and what they say of each column."""
    items = [f"{cast.text} AS x{place}" for place, cast in enumerate(spark_frame.castings)]
    values = spark_frame.frame.selectExpr(*items)
    aggregates = ["count(*) AS n"]
    for place, column in enumerate(spark_frame.schema.columns):
        number = f"x{place}" if has_ends(column.kind) else "NULL"
        many = f"approx_count_distinct(x{place})" if column.kind.groupable else "NULL"
        aggregates += [f"count(x{place}) AS n{place}", f"min({number}) AS a{place}", f"max({number}) AS b{place}"]
        aggregates += [f"{many} AS d{place}"]
    facts = values.selectExpr(*aggregates).toArrow().to_pylist()[0]
    return facts["n"], [
        ColumnSummary(
            facts[f"a{place}"],
            facts[f"b{place}"],
            facts[f"n{place}"] == facts["n"],
            _values(values, place, facts[f"d{place}"]),
        )
        for place in range(len(spark_frame.castings))
    ]


def _values(values: Any, place: int, about: int | None) -> list[Value] | None:
    """Return the values of a column; None if they cannot be groups, or are far too many: about as many as that."""
    if about is None or about > 2 * MOST_GROUPS:
        return None
    distinct: list[Value] = values.select(f"x{place}").distinct().limit(MOST_GROUPS + 1).toArrow().column(0).to_pylist()
    return distinct


#: Tables that a statement reads at most where subqueries are written out as often as they are named, as Spark's planner
#: does. A join whose sides may have to be cut names both of them twice, so that six joins in a row read 190 tables.
MOST_READS = 200


class SparkTable:
    """Private rows of Spark frames. Safe to be asked from several threads."""

    def __init__(self, frames: SparkFrames, settings: EngineSettings = SPARK_SETTINGS) -> None:
        self._frames, self._settings, self._open = frames, settings, True

    @property
    def schema(self) -> Schema:
        """The public facts about the only table."""
        return self._only().schema

    @property
    def schemas(self) -> Mapping[str, Schema]:
        """The public facts about each private table."""
        return {name: frame.schema for name, frame in self._frames.private.items()}

    @property
    def publics(self) -> Mapping[str, Schema]:
        """The columns of each public table."""
        return {name: frame.schema for name, frame in self._frames.public.items()}

    @property
    def left_out(self) -> Mapping[str, Mapping[str, str]]:
        """The columns of each frame that are not in its schema, and why."""
        return {name: frame.left_out for name, frame in {**self._frames.private, **self._frames.public}.items()}

    @property
    def spellings(self) -> Mapping[str, str]:
        """The kinds that ids are written from, by table: see `SparkFrame.spelling`."""
        return {name: frame.spelling for name, frame in self._frames.private.items()}

    @fail_quietly
    def aggregate(self, aggregation: Aggregation, /) -> Exact:
        """Return exact integers."""
        end = time.monotonic() + self._settings.seconds
        asked = resolve_table(aggregation, self.schemas)
        used, names = self._name_views(asked)
        capped, rows = self._cap_rows(asked, used, names)
        bounded = spark_sql(capped, rows)
        return read_answers(bounded.layout, self._ask(bounded.text, used, names, end - time.monotonic()))

    @fail_quietly
    def aggregate_among(self, aggregation: Aggregation, admission: Admission, /) -> Exact:
        """Return exact integers of the units that take part: each unit is asked."""
        need_accounts(aggregation, self.schemas.values())
        end = time.monotonic() + self._settings.seconds
        asked = resolve_table(aggregation, self.schemas)
        used, names = self._name_views(asked)
        session = next(iter(used.values())).frame.sparkSession
        need_running(session)
        need_unlimited(session)
        capped, rows = self._cap_rows(asked, used, names)
        return answer_among(capped, rows, used, names, admission, max(end - time.monotonic(), 0))

    def check(self, aggregation: Aggregation, /) -> None:
        """Refuse, before anything is paid, what cannot be asked now. Reads no row."""
        self._need_ready(resolve_table(aggregation, self.schemas))

    def check_among(self, aggregation: Aggregation, /) -> None:
        """Refuse the same where each unit is asked, and sessions that fail large results. Reads no row."""
        need_accounts(aggregation, self.schemas.values())
        need_unlimited(self._need_ready(resolve_table(aggregation, self.schemas)))

    def _need_ready(self, aggregation: Aggregation) -> Any:
        """Return the session of a pass that can be made."""
        used, names = self._name_views(aggregation)
        # As if nothing were known of the rows.
        rows = build_passed_rows(aggregation, next(iter(used), ""), SparkDialect(self._frames, names), look_up=False)
        spark_sql(aggregation, rows)
        check_aggregation_length(aggregation, write_sql)
        check_unit_work(aggregation, self.schemas, self._settings.seconds)
        self._need_short_plan(aggregation)
        session = next(iter(used.values())).frame.sparkSession
        need_answering(session)
        return session

    def _need_short_plan(self, aggregation: Aggregation) -> None:
        """Refuse a question that Spark would plan for too long. Declared caps alone decide that."""
        if aggregation.source is None or public_facts(self.schemas, (), {}).reads(aggregation.source) <= MOST_READS:
            return
        raise OutOfRange(
            "The question joins one person's rows so often that Spark would plan for too long: both sides of each "
            "join may have to be cut to rows_per_person.",
            fix="join fewer tables, or first make one row for each person of them (GROUP BY the person), "
            "as joins of these need no cut",
        )

    def _ask(self, text: str, used: Mapping[str, SparkFrame], names: Mapping[str, str], seconds: float) -> Any:
        """Return the Arrow table of a statement about some frames."""
        session = next(iter(used.values())).frame.sparkSession
        need_running(session)

        def run_statement() -> object:
            with hush_logs(), views(used, names):
                return session.sql(text).toArrow()

        return run_within(session, max(seconds, 0), run_statement)

    def _name_views(self, aggregation: Aggregation) -> tuple[Mapping[str, SparkFrame], Mapping[str, str]]:
        """Return the frames that are asked, and the names of their views."""
        if not self._open:
            raise InvalidInput("This table was closed.", fix="open it again")
        check_source(aggregation, self.schemas, self.publics)
        if aggregation.source is None:
            used = {self._only().schema.table: self._only()}
        else:
            tables = {scan.table for scan in scans_in(aggregation.source)}
            known = {**self._frames.public, **self._frames.private}
            used = {name: known[name] for name in tables if name in known}
        return used, {name: f"discreet_{uuid.uuid4().hex}" for name in used}

    def _cap_rows(
        self, aggregation: Aggregation, used: Mapping[str, SparkFrame], names: Mapping[str, str]
    ) -> tuple[Aggregation, PassedRows]:
        """Return an aggregation, and the rows that pass, capped. Of public tables it is asked first how they agree."""
        source = aggregation.source or Scan(self._only().schema.table, self._only().schema.columns)
        tables = tuple(dict.fromkeys(scan.table for scan in scans_in(source) if isinstance(scan, Scan)))
        fan_outs, text = fan_outs_sql(source, SparkDialect(self._frames, names))
        numbers: dict[int, int] = {}
        if fan_outs:
            columns = self._ask(text, used, names, self._settings.seconds).to_pydict()
            numbers = dict(zip(columns["part"], columns["n"], strict=True))
        facts = public_facts(self.schemas, fan_outs, numbers)
        dialect = SparkDialect(self._frames, names, facts)
        if aggregation.source is not None or facts.is_cut(Scan(tables[0], ())):
            aggregation = replace(aggregation, source=source)
        return aggregation, build_passed_rows(aggregation, tables[0], dialect, look_up=False)

    def _only(self) -> SparkFrame:
        if len(self._frames.private) != 1:
            raise InvalidInput("It is not said which table is asked.", fix="pass source=Scan(table, columns)")
        return next(iter(self._frames.private.values()))

    def close(self) -> None:
        """Forget the frames. The session is the caller's, and goes on."""
        self._frames, self._open = SparkFrames({}, {}), False

    def __repr__(self) -> str:
        return f"SparkTable({', '.join(map(repr, self._frames.private))})"


def open_spark(  # noqa: PLR0913 - all but the first are named
    frame: object,
    *,
    table: str,
    unit: PrivacyUnit,
    bounds: Mapping[str, AnyBounds] | None = None,
    groups: Mapping[str, Sequence[Value]] | None = None,
    kinds: Mapping[str, AnyKind] | None = None,
    complete: Iterable[str] = (),
    order: str | None = None,
    rows_per_person: int = ROWS_PER_PERSON,
    never_fails: bool = False,
    public: Mapping[str, object] | None = None,
    settings: EngineSettings = SPARK_SETTINGS,
) -> SparkTable:
    """Return a table with the rows of a Spark frame, classic or Connect. No private row is read.

    Arguments are those of `discreet.data.open_table`. A unit's rows are in the order of the column `order`, then of all
    columns, the first one first. A frame that computes something, and one of Spark Connect, is refused unless
    `never_fails` promises that no row makes it fail. `public` names tables without people: frames of the same session,
    or sources that `open_table` takes. Memory and threads are the session's: of `settings` only `seconds` says
    something here.
    """
    source = TableSource(
        source=frame,
        bounds=bounds or {},
        groups=groups or {},
        kinds=kinds or {},
        complete=complete,
        order=order,
        rows_per_person=rows_per_person,
        never_fails=never_fails,
    )
    return open_frames({table: source}, unit=unit, public=public, settings=settings)


def open_frames(
    sources: Mapping[str, object],
    *,
    unit: PrivacyUnit,
    public: Mapping[str, object] | None = None,
    settings: EngineSettings = SPARK_SETTINGS,
) -> SparkTable:
    """Return private tables, and public ones, by name: see `discreet.data.open_tables`."""
    need_names(sources, public or {})
    private = [declare_table(name, source, unit, "") for name, source in sources.items()]
    for source in (*[entry.source for entry in private], *(public or {}).values()):
        if is_spark_frame(source):
            need_running(source.sparkSession)  # type: ignore[attr-defined]
    for entry in private:
        need_frame(entry.source)
    return quiet_opening(lambda: _open_frames(private, public or {}, settings))


def _open_frames(private: Sequence[Entering], public: Mapping[str, object], settings: EngineSettings) -> SparkTable:
    session = private[0].source.sparkSession  # type: ignore[attr-defined]
    with hush_logs():
        for entry in private:
            if not entry.declaration.never_fails:
                need_plain_frame(entry.source, entry.declaration.table)
        frames = SparkFrames(
            private_frames(private),
            {name: public_frame(source, name, session) for name, source in public.items()},
        )
    every = (*frames.private.values(), *frames.public.values())
    if any(frame.frame.sparkSession is not session for frame in every):
        raise InvalidInput("The frames are of different sessions.", fix="make all of them in one session")
    pairs = frames.private.items()
    need_one_kind({name: frame.schema for name, frame in pairs}, {name: frame.spelling for name, frame in pairs})
    return SparkTable(frames, settings)
