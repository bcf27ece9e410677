"""Functions of public values and of released cells are the same functions, wherever both have a value."""

from datetime import date

from hypothesis import assume, given
from hypothesis import strategies as st

from discreet.algebra import evaluation
from discreet.algebra.evaluation import NotEvaluable
from discreet.algebra.functions import LONGEST_TEXT, F
from discreet.algebra.value_functions import DAY_FUNCTIONS, TEXT_FUNCTIONS, clamp
from discreet.query.cell_functions import CELL_FUNCTIONS
from discreet.query.questions import STRICT

TEXTS = st.text("aB ,xé\U0001f926", max_size=8)
PLACES = st.integers(1, 9)
ARGUMENTS = {
    F.SUBSTRING: st.tuples(TEXTS, PLACES, PLACES),
    F.RIGHT: st.tuples(TEXTS, PLACES),
    F.POSITION: st.tuples(TEXTS, TEXTS),
    F.REPLACE: st.tuples(TEXTS, TEXTS.filter(len), TEXTS),
    F.CONCAT: st.tuples(TEXTS, TEXTS, TEXTS),
    F.ADD_DAYS: st.tuples(st.dates(), st.integers(-4_000_000, 4_000_000)),
    F.ADD_MONTHS: st.tuples(st.dates(), st.integers(-130_000, 130_000)),
    F.DAYS_BETWEEN: st.tuples(st.dates(), st.dates()),
    F.TO_TEXT: st.tuples(st.booleans() | TEXTS | st.integers() | st.dates()),
    F.TO_DATE: st.tuples(st.dates()),
    **dict.fromkeys(DAY_FUNCTIONS, st.tuples(st.dates())),
}


@given(data=st.data(), function=st.sampled_from(sorted(set(evaluation.STRICT) & set(CELL_FUNCTIONS), key=str)))
def test_a_public_value_and_a_cell_have_the_same_functions(data, function):
    arguments = data.draw(ARGUMENTS.get(function, st.tuples(TEXTS)))
    try:
        public = evaluation.STRICT[function](*arguments)
    except NotEvaluable:
        assume(False)
    assert public == CELL_FUNCTIONS[function](*arguments)


def test_a_text_that_grows_is_cut_and_a_week_before_the_calendar_has_no_first_day():
    long = "x" * LONGEST_TEXT
    grown = [TEXT_FUNCTIONS[F.CONCAT](long, "y"), TEXT_FUNCTIONS[F.REPLACE](long, "x", "xy")]
    assert [len(text) for text in grown] == [LONGEST_TEXT, LONGEST_TEXT]
    assert len(TEXT_FUNCTIONS[F.UPPER]("ß" * LONGEST_TEXT)) == LONGEST_TEXT
    assert DAY_FUNCTIONS[F.TRUNC_WEEK](date(1, 1, 1)) == date(1, 1, 1)  # a Monday
    assert DAY_FUNCTIONS[F.TRUNC_WEEK](date(2024, 12, 31)) == date(2024, 12, 30)


@given(value=st.integers(), ends=st.tuples(st.integers(), st.integers()).map(sorted))
def test_clamping_is_one_function(value, ends):
    clamped = clamp(value, *ends)
    assert ends[0] <= clamped <= ends[1]
    assert clamped == value or not ends[0] <= value <= ends[1]
    assert STRICT[F.CLAMP] is clamp
