"""Exact numbers: what people type, rounding against us, exponentials as intervals."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import iv

from discreet.core import (
    DiscreetError,
    InvalidInput,
    OutOfRange,
    WrongType,
    exact,
    exp_down,
    exp_minus,
    exp_up,
    log_up,
    positive,
    probability,
    round_down,
    round_up,
    whole,
)

RATIONALS = st.fractions(Fraction(0), Fraction(10**6), max_denominator=10**9)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (0.1, Fraction(1, 10)),
        (1e-9, Fraction(1, 10**9)),
        (3, Fraction(3)),
        (2.5, Fraction(5, 2)),
        (Decimal("0.3"), Fraction(3, 10)),
        (Fraction(1, 3), Fraction(1, 3)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.int32(7), Fraction(7)),
        (np.uint8(7), Fraction(7)),
        (0, Fraction(0)),
        (-0.25, Fraction(-1, 4)),
        (1e22, Fraction(10**22)),
    ],
)
def test_a_number_means_what_was_typed(typed, meant):
    assert exact(typed, "x") == meant


@pytest.mark.parametrize(
    "wrong", [True, False, "0.1", None, 1j, [1], np.True_, object(), b"1", np.array([1.0]), np.timedelta64(3)]
)
def test_what_is_no_number_is_refused(wrong):
    with pytest.raises(WrongType, match="not a number") as caught:
        exact(wrong, "epsilon")
    assert "epsilon" in str(caught.value)


@pytest.mark.parametrize(
    "wrong", [math.nan, math.inf, -math.inf, Decimal("NaN"), Decimal("Infinity"), np.float32("nan"), Decimal("sNaN")]
)
def test_what_is_not_finite_is_refused(wrong):
    with pytest.raises(InvalidInput, match="finite"):
        exact(wrong, "epsilon")


@pytest.mark.parametrize(
    "wrong",
    [
        5e-324,
        1e-308,
        1e-101,
        1e101,
        1e308,
        -1e200,
        10**101,
        Decimal("1E-100000000"),
        Decimal("-1E+100000000"),
        Fraction(1, 10**101),
        Fraction(3**5000, 3**5000 + 1),
    ],
)
def test_numbers_beyond_sane_ranges_are_refused(wrong):
    with pytest.raises(OutOfRange):
        exact(wrong, "epsilon")


def test_signs_and_ranges_are_checked_by_name():
    for wrong in (0, -1, -0.0):
        with pytest.raises(InvalidInput, match="scale must be above 0"):
            positive(wrong, "scale")
    for wrong in (0, 1, 1.5, -0.1):
        with pytest.raises(InvalidInput, match="strictly between"):
            probability(wrong, "confidence")
    for wrong in (1.0, "1", True, None, np.float64(1), np.timedelta64(1)):
        with pytest.raises(WrongType, match="whole number"):
            whole(wrong, "size")
    with pytest.raises(InvalidInput, match="at least 1"):
        whole(0, "size")
    with pytest.raises(OutOfRange, match="at most 5"):
        whole(6, "size", most=5)
    assert whole(np.uint16(3), "size") == 3


@given(st.fractions())
def test_rounding_up_and_down_brackets_a_number_by_neighbouring_floats(number):
    up, down = round_up(number), round_down(number)
    assert exact_text(down) <= number <= exact_text(up)
    # In binary, too, unless the text is the number itself.
    assert down <= number <= up or exact_text(up) == exact_text(down) == number
    # At most one float farther out than the neighbours, for the sake of the text.
    assert math.nextafter(math.nextafter(math.nextafter(down, math.inf), math.inf), math.inf) >= up


def exact_text(number):
    return Fraction(repr(number))


def test_rounding_beyond_floats_is_infinite_on_the_safe_side():
    assert round_up(Fraction(10**400)) == math.inf
    assert round_down(Fraction(-(10**400))) == -math.inf


@given(RATIONALS, st.integers(1, 300))
def test_exponentials_lie_within_their_interval(exponent, bits):
    """Against mpmath's interval arithmetic, which shares no code with ours."""
    low, high = exp_minus(exponent, bits)
    assert 0 <= high - low <= 3
    iv.prec = bits + 60
    reference = iv.exp(-iv.mpf(exponent.numerator) / exponent.denominator) * iv.mpf(2) ** bits
    assert iv.mpf(low).a <= reference.b
    assert iv.mpf(high).b >= reference.a


@given(RATIONALS)
def test_exponentials_round_to_the_stated_side(exponent):
    small = min(exponent, Fraction(2000))
    assert exp_down(small) <= exp_up(small)
    assert exp_up(small) <= exp_down(small) * (1 + Fraction(1, 1 << 55))
    assert exp_down(-small) * exp_down(small) <= 1 <= exp_up(-small) * exp_up(small)


@given(st.fractions(Fraction(1), Fraction(10**30)))
def test_logarithms_are_rounded_up_by_less_than_two_steps(number):
    logarithm = log_up(number)
    assert exp_up(logarithm) >= number
    assert abs(float(logarithm) - math.log(number)) <= 3e-15 * max(1, float(logarithm))
    assert (logarithm * 10**15).denominator == 1


def test_an_error_says_what_happened_and_what_to_do_and_survives_pickling():
    import pickle

    error = InvalidInput("epsilon must be above 0.", fix="pass a positive epsilon")
    assert str(error) == "epsilon must be above 0.\n  fix: pass a positive epsilon"
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is InvalidInput
    assert str(again) == str(error)
    with pytest.raises(TypeError):
        DiscreetError("no fix")
