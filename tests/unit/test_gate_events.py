"""Events and answers as bytes: one value, one text."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from discreet.core import DiscreetError, Neighbours, PrivacyUnit, WrongType
from discreet.gate import Budget, Policy
from discreet.gate.entries.chain import GENESIS, check_chain, link_entry
from discreet.gate.entries.events import (
    Annotated,
    Birth,
    Checkpoint,
    Disclosed,
    Payment,
    Released,
    Resized,
    from_body,
    kind_name,
    to_body,
)
from discreet.gate.releases import decode, encode
from loss_strategies import losses

TEXTS = st.text(max_size=20)
NUMBERS = st.integers(0, 2**63)
POSITIVE = st.fractions(Fraction(1, 10**6), 100, max_denominator=10**6)
UNITS = st.builds(
    PrivacyUnit, column=st.none() | st.text("abc_", min_size=1, max_size=5), neighbours=st.sampled_from(Neighbours)
)
BUDGETS = st.one_of(
    st.builds(Budget, POSITIVE, unit=UNITS),
    st.builds(Budget, POSITIVE, st.just(1e-9), unit=UNITS),
    st.builds(lambda rho, unit: Budget(rho=rho, unit=unit), POSITIVE, UNITS),
)
EVENTS = st.one_of(
    st.builds(Birth, at=TEXTS, title=TEXTS, budget=BUDGETS, policy=st.sampled_from(Policy), key=TEXTS, nonce=TEXTS),
    st.builds(Payment, at=TEXTS, request=TEXTS, analyst=TEXTS, plan=TEXTS, what=TEXTS, cost=losses()),
    st.builds(Released, at=TEXTS, payment=NUMBERS, answer=TEXTS, size=NUMBERS),
    st.builds(Resized, at=TEXTS, by=TEXTS, reason=TEXTS, limit=st.none() | POSITIVE, analyst=st.none() | TEXTS),
    st.builds(Annotated, at=TEXTS, by=TEXTS, text=TEXTS),
    st.builds(Disclosed, at=TEXTS, by=TEXTS, reason=TEXTS, cost=st.none() | losses()),
    st.builds(Checkpoint, at=TEXTS, account=TEXTS, payments=NUMBERS, releases=NUMBERS, signature=TEXTS),
)
NOTE = Annotated(at="now", by="ann", text="well")


@given(EVENTS)
def test_an_event_is_read_back_from_its_bytes(event):
    body = to_body(event)
    assert from_body(body) == event
    assert to_body(from_body(body)) == body
    assert json.loads(body)["kind"] == kind_name(event)


@given(EVENTS, st.data())
def test_a_changed_byte_is_refused_or_another_event(event, data):
    body = bytearray(to_body(event))
    place = data.draw(st.integers(0, len(body) - 1))
    body[place] ^= data.draw(st.integers(1, 255))
    try:
        assert to_body(from_body(bytes(body))) == bytes(body)
    except DiscreetError:
        return
    assert from_body(bytes(body)) != event


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b"{}",
        b"\xff",
        to_body(NOTE) + b" ",
        to_body(NOTE).replace(b",", b", "),
        to_body(NOTE).replace(b'"at":"now",', b""),
        to_body(NOTE).replace(b'"at":"now"', b'"at":"now","at":"now"'),
        to_body(NOTE).replace(b'"at":"now"', b'"and":1,"at":"now"'),
        to_body(NOTE).replace(b"well", "wäll".encode()),
        to_body(NOTE).replace(b'"well"', b"NaN"),
        to_body(NOTE).replace(b'"version":1', b'"version":2'),
        to_body(NOTE).replace(b'"version":1', b'"version":1.0'),
        to_body(NOTE).replace(b"annotation", b"forgiveness"),
        b'{"at":"now","by":"ann","kind":"annotation","version":1,"text":"well"}',
    ],
)
def test_bytes_that_no_event_has_are_refused(body):
    with pytest.raises(DiscreetError):
        from_body(body)


@given(st.lists(st.binary(max_size=8), min_size=1, max_size=6), st.data())
def test_a_chain_with_a_changed_entry_is_refused(bodies, data):
    head, entries = GENESIS, []
    for number, body in enumerate(bodies, 1):
        entries.append(link_entry(head, number, body))
        head = entries[-1].head
    assert list(check_chain(entries, 0, GENESIS)) == entries
    place = data.draw(st.integers(0, len(entries) - 1))
    other = link_entry(entries[place].head, entries[place].number, bodies[place])
    for wrong in ([*entries[:place], other, *entries[place + 1 :]], [*entries[:place], *entries[place + 1 :], other]):
        with pytest.raises(DiscreetError, match="does not continue"):
            list(check_chain(wrong, 0, GENESIS))


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(2**52, 2**200),
    st.floats(),
    st.fractions(),
    st.text(),
    st.binary(),
)
ANSWERS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text(max_size=5), inner, max_size=4),
    ),
    max_leaves=12,
)
KINDS = st.one_of(
    arrays.boolean_dtypes(),
    arrays.integer_dtypes(endianness="?"),
    arrays.unsigned_integer_dtypes(endianness="?"),
    arrays.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
)


def same(one, other):
    """Tell whether two answers are the same, types and NaNs included."""
    if type(one) is not type(other):
        return False
    match one:
        case float():
            return repr(one) == repr(other)
        case list() | tuple():
            return len(one) == len(other) and all(map(same, one, other))
        case dict():
            return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
        case _:
            return one == other


@given(ANSWERS)
def test_an_answer_is_read_back_from_its_bytes(answer):
    packed = encode(answer)
    assert same(decode(packed), answer)
    assert encode(decode(packed)) == packed


@given(arrays.arrays(KINDS, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
def test_an_array_is_read_back_from_its_bytes(answer):
    found = decode(encode({"a": answer}))["a"]
    assert (found.shape, found.dtype) == (answer.shape, answer.dtype.newbyteorder("<"))
    assert found.tobytes() == answer.astype(found.dtype).tobytes()
    found[...] = 0  # nobody else's memory


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, -0.0, 5e-324, 1e308])
def test_odd_floats_are_kept(number):
    assert repr(decode(encode(number))) == repr(number)
    assert repr(decode(encode(np.float64(number)))) == repr(number)


def test_a_whole_number_of_many_digits_is_kept():
    assert decode(encode([10**5000, -(10**5000)])) == [10**5000, -(10**5000)]


def test_scalars_of_numpy_become_plain_ones():
    assert same(decode(encode([np.int64(7), np.bool_(True), np.float32(0.5), np.uint8(1)])), [7, True, 0.5, 1])


@pytest.mark.parametrize(
    "answer",
    [
        object(),
        {1: "a"},
        {1, 2},
        print,
        1j,
        np.array([object()]),
        np.array(["a"]),
        np.array([1j]),
        np.longdouble(1.5),
        np.datetime64("2020-01-01"),
        np.ma.array([1, 2], mask=[True, False]),
        [1, [2, object()]],
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_what_cannot_be_stored_is_refused_without_a_word_of_it(answer):
    with pytest.raises(WrongType) as caught:
        encode(answer)
    assert str(caught.value).count("cannot be stored") == 1
