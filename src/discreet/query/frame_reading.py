"""From a frame to its question: by the same parts that SQL is taken apart into."""

from discreet.query.frames import Frame
from discreet.query.questions import Question
from discreet.query.sql_reading import read_piece
from discreet.query.sql_select import Parts, question_of


def read_frame(frame: Frame) -> Question:
    """Return what a frame asks."""
    schema = frame.schema
    groups = tuple((name, read_piece(text, schema)) for name, text in frame.groups)
    return question_of(
        Parts(
            schema=schema,
            qualifiers=(schema.table,),
            outputs=(*groups, *((name, read_piece(text, schema)) for name, text in frame.outputs)),
            where=tuple(read_piece(text, schema) for text in frame.conditions),
            groups=tuple(piece for _, piece in groups),
            having=tuple(read_piece(text, schema) for text in frame.wanted),
            order=tuple((read_piece(text, schema), descending) for text, descending in frame.sorting),
            most=frame.most,
        )
    )
