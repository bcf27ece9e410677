"""A frame shows what it asks, in a line or two."""

from dataclasses import replace

from discreet.query.frames.frame import SHOWN, Frame
from discreet.query.frames.terms import count, mean
from sql_corpus import SCHEMAS, VISITS

FRAME = Frame(schema=VISITS, asker=None, schemas=tuple(SCHEMAS.values()))


def test_a_frame_shows_the_question_that_it_asks():
    asked = FRAME.filter("age >= 40").group_by("ward").agg(n=count(), stay=mean("stay"))
    first, second = repr(asked).splitlines()
    assert first == "Frame: SELECT ward, COUNT(*) AS n, AVG(stay) AS stay FROM visits WHERE age >= 40 GROUP BY ward"
    assert ".preview(" in second
    assert ".release(" in second


def test_a_frame_that_asks_nothing_yet_shows_its_rows_and_what_to_add():
    first, second = repr(FRAME.filter("age >= 40", "smoker").group_by("ward", month="MONTH(day)")).splitlines()
    assert first == "Frame of visits where age >= 40 and smoker by ward, month"
    assert ".agg(n=count())" in second
    assert repr(FRAME).startswith("Frame of visits\n")


def test_a_long_question_is_cut_and_commands_no_terminal():
    words = " OR ".join(f"ward = 'ward number {number}'" for number in range(100))
    for frame in (FRAME.filter(words), FRAME.filter(words).agg(count())):
        assert len(repr(frame)) < SHOWN + 100
        assert "…" in repr(frame)
    odd = Frame(schema=replace(VISITS, table="a\x1b[31m"), asker=None)
    assert "\x1b" not in repr(odd)
