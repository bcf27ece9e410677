"""From a frame to its question: by the same parts that SQL is taken apart into."""

from discreet.core import InvalidInput
from discreet.query.frames.frame import Frame
from discreet.query.questions import Question
from discreet.query.refusals import QueryRefused
from discreet.query.sql.known_tables import Known, Source
from discreet.query.sql.passes import question_about, read_piece, read_rows
from discreet.query.sql.select import Parts
from discreet.query.sql_writing.expressions import quoted


def read_frame(frame: Frame) -> Question:
    """Return what a frame asks."""
    source, known = rows_of_frame(frame)
    names = tuple(seen.name for seen in source.seen)
    groups = tuple((name, read_piece(text, names)) for name, text in frame.groups)
    parts = Parts(
        schema=known.schema(source.relation),
        items=source.items,
        outputs=(*groups, *((name, read_piece(text, names)) for name, text in frame.outputs)),
        where=tuple(read_piece(text, names) for text in frame.conditions),
        groups=tuple(piece for _, piece in groups),
        having=tuple(read_piece(text, names) for text in frame.wanted),
        order=tuple((read_piece(text, names), descending) for text, descending in frame.sorting),
        most=frame.most,
    )
    return question_about(source, parts, known)


def rows_of_frame(frame: Frame) -> tuple[Source, Known]:
    """Return the rows that a frame is about."""
    schemas = {schema.table: schema for schema in (*frame.schemas, frame.schema)}
    publics = {scan.table: scan for scan in frame.publics}
    try:
        return read_rows(frame.origin or quoted(frame.schema.table), schemas, publics, frame.matches)
    except QueryRefused as error:
        # Its place is in a text that nobody wrote.
        raise InvalidInput(error.plain, fix=error.fix) from None
