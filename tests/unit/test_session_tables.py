"""How answers look: rounded to their errors, never more certain than they are, and harmless in a terminal."""

from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core import DiscreetError
from discreet.core.schema import Kind
from discreet.query import ResultColumn
from discreet.session.answers.cells import (
    TextColumn,
    ceiling,
    deviations,
    error_cells,
    error_text,
    floor,
    html_table,
    plain,
    text_table,
    value_cells,
)

MOMENT = datetime(2024, 2, 29, 1, 2)  # noqa: DTZ001 - as a table has them


def numbers(values, low=None, high=None, ranks=None, kind=Kind.REAL):
    return ResultColumn(name="x", kind=kind, values=tuple(values), low=low, high=high, ranks=ranks)


def shown(column):
    return [f"{value} {error}".strip() for value, error in zip(value_cells(column), error_cells(column), strict=True)]


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1234, 26, "1,234 ± 26"),
        (1234.0, 26.0, "1,234 ± 26"),
        (6.93817, 0.4271, "6.94 ± 0.43"),
        (6.93817, 3.0, "6.9 ± 3.0"),
        (-0.0123456, 0.00031, "-0.01235 ± 0.00031"),
        (12345678.9, 98765.4, "12,345,679 ± 98,766"),
        (0.5, 1e-12, "0.500000 ± 0.000001"),
        (7, 0, "7 ± 0"),
    ],
)
def test_a_number_is_rounded_to_its_error(value, error, text):
    assert shown(numbers([value], (value - error,), (value + error,))) == [text]


def test_lopsided_bars_are_shown_by_their_ends():
    assert shown(numbers([2.0], (1.5,), (9.25,))) == ["2.0 1.5 … 9.3"]
    assert shown(numbers([9.97], (-1e-12,), (60.0,))) == ["10 0 … 60"]


def test_bars_that_are_a_little_lopsided_are_shown_by_their_longer_side():
    assert shown(numbers([10.0, 10.0], (8.0, 7.6), (12.4, 12.0))) == ["10.0 ± 2.4", "10.0 ± 2.4"]


def test_what_is_not_known_is_not_shown_as_a_number():
    assert shown(numbers([None, 3.0, 2.0], (None, None, 1.0), (None, None, 3.0))) == ["–", "3.0", "2.0 ± 1.0"]


def test_quantiles_have_their_errors_in_rows():
    column = numbers([41, 57], ranks=(12, 1), kind=Kind.INTEGER)
    assert shown(column) == ["41 ± 12 rows", "57 ± 1 row"]
    assert deviations(column) == [12.0, 1.0]


def test_one_column_has_one_number_of_decimals():
    assert value_cells(numbers([1.0, 100.0], (0.9, 90.0), (1.1, 110.0))) == ["1.00", "100.00"]


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 6))
def test_an_error_is_never_shown_smaller_than_it_is(number, decimals):
    up, down = (Fraction(rounded(number, decimals).replace(",", "")) for rounded in (ceiling, floor))
    assert down <= Fraction(repr(number)) <= up
    assert up - down <= Fraction(1, 10**decimals)


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_an_error_by_itself_has_three_digits_rounded_up(error):
    text = error_text(error).replace(",", "")
    assert Fraction(text) >= Fraction(repr(error))
    assert Fraction(text) <= Fraction(repr(error)) * Fraction(101, 100) + Fraction(1, 10**6)


def test_groups_are_shown_as_they_are_and_command_no_terminal():
    values = (None, True, 3, "A\x1b[31mB", date(2024, 2, 29), MOMENT, "x" * 99, 1.5)
    texts = [plain(value) for value in values]
    assert texts[:3] == ["NULL", "true", "3"]
    assert "\x1b" not in texts[3]
    assert texts[4:6] == ["2024-02-29", "2024-02-29 01:02:00"]
    assert len(texts[6]) == 40
    assert texts[7] == "1.5"


def test_tables_are_aligned_and_long_ones_are_cut():
    table = text_table([TextColumn("ward", ["A", "Bee"]), TextColumn("n", ["7", "1,000"], right=True)], 1)
    assert table == ["ward  n", "A     7", "… and 1 more rows"]
    whole = text_table([TextColumn("ward", ["A", "Bee"]), TextColumn("n", ["7", "1,000"], right=True)], 5)
    assert whole == ["ward      n", "A         7", "Bee   1,000"]


def test_a_notebook_shows_texts_and_runs_nothing():
    table = html_table([TextColumn("<b>", ["<script>alert(1)</script>", "x"])], 1)
    assert "<script>" not in table
    assert "&lt;script&gt;" in table
    assert "and 1 more rows" in table


def test_what_has_no_number_is_not_drawn():
    from discreet.session.answers.plotting import draw_figure

    with pytest.raises(DiscreetError, match="no number"):
        draw_figure([], [numbers([None], (None,), (None,))], title="", caption="", path=None)
