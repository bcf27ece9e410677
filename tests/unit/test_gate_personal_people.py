"""Names, numbers, and what is stored of persons: found again, and whatever was changed is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core import DiscreetError, LedgerDamaged
from discreet.gate.people import Directory, halves
from discreet.gate.people_blobs import HEADER, SALT, People, pack, unpack

NAMES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), unique=True, max_size=30)


def split(names):
    table = np.array(names, np.uint64).reshape(len(names), 2)
    # Many first halves are alike, far apart from the others.
    return (table[:, 0] << np.uint64(62)), table[:, 1].astype(np.uint32)


def people_of(chance, known=0, new=1000, charged=500, values="many"):
    numbers = np.sort(chance.choice(known + new, charged, replace=False)).astype(np.int64)
    amounts = {
        "same": np.full(charged, 7),
        "few": chance.integers(0, 200, charged),
        "many": chance.integers(0, 2**32, charged),
    }[values].astype(np.uint32)
    return People(
        known,
        chance.integers(0, 2**64, new, dtype=np.uint64),
        chance.integers(0, 2**32, new, dtype=np.uint32),
        numbers,
        amounts,
        (amounts % 3).astype(np.uint32),
    )


def same(one, other):
    fields = ("high", "low", "accounts", "amounts", "failures")
    return one.known == other.known and all(np.array_equal(getattr(one, f), getattr(other, f)) for f in fields)


# Numbers.


@given(st.lists(NAMES, max_size=6))
def test_a_name_has_one_number_for_good_also_among_those_whose_first_half_is_alike(batches):
    directory, known = Directory(), {}
    for names in batches:
        for name, number in zip(names, directory.numbers(*split(names)), strict=True):
            assert known.setdefault(name, number) == number
    assert sorted(known.values()) == list(range(len(known))) == list(range(len(directory)))
    high, low = directory.names(np.arange(len(known)))
    order = sorted(known, key=known.get)
    assert np.array_equal(high, split(order)[0])
    assert np.array_equal(low, split(order)[1])


def test_a_name_that_was_never_seen_has_no_number_and_gets_none_by_being_looked_for():
    directory = Directory()
    directory.numbers(*split([(0, 1), (3, 3)]))
    assert list(directory.known(*split([(3, 3), (3, 4), (1, 1), (0, 0), (0, 1)]))) == [1, -1, -1, -1, 0]
    assert len(directory) == 2


def test_all_handles_of_a_ledger_in_a_process_have_one_directory():
    assert Directory.of("some ledger") is Directory.of("some ledger")
    assert Directory.of("some ledger") is not Directory.of("another")


def test_names_are_split_as_they_are_stored():
    high, low = halves(np.array([[2**63 + 1, 2**32 - 1]], np.uint64))
    assert (high[0], low[0], low.dtype) == (2**63 + 1, 2**32 - 1, np.uint32)


# What is stored.


@pytest.mark.parametrize("values", ["same", "few", "many"])
@pytest.mark.parametrize(("known", "new", "charged"), [(0, 0, 0), (0, 1, 1), (5000, 0, 3), (9, 1000, 1009), (7, 70, 0)])
def test_people_are_read_back_as_they_were(values, known, new, charged):
    people = people_of(np.random.default_rng(known + new), known, new, charged, values)
    assert same(unpack(pack(people)), people)


@settings(max_examples=10)
@given(st.integers(0, 2**32), st.integers(0, 400))
def test_a_table_holds_what_comes_late_and_seldom(odd, count):
    people = people_of(np.random.default_rng(count), 0, 70_000, 70_000, "same")
    people.amounts[70_000 - count :] = np.arange(count) + odd % 2**31
    assert same(unpack(pack(people)), people)


def test_what_is_stored_of_a_million_is_small():
    chance = np.random.default_rng(1)
    charged = [people_of(chance, 10**6, 0, 10**6, values) for values in ("same", "few", "many")]
    sizes = [len(pack(people)) for people in charged]
    assert sizes[0] < 400_000  # failures have three values
    assert sizes[1] < 1_500_000
    assert sizes[2] < 4_500_000
    few = people_of(chance, 10**6, 0, 100, "many")
    assert len(pack(few)) < 1500


def test_the_same_people_are_never_stored_as_the_same_bytes():
    """Their hash is public: without salt, whoever knows everybody but one could tell by it whether they are there."""
    people = people_of(np.random.default_rng(2))
    one, other = pack(people), pack(people)
    assert one[:SALT] != other[:SALT]
    assert one[SALT:] == other[SALT:]


@pytest.mark.parametrize("at", [SALT, SALT + 2, SALT + 10, SALT + 18, SALT + HEADER.size, SALT + HEADER.size + 1, -1])
def test_bytes_that_were_changed_in_their_frame_are_refused(at):
    packed = bytearray(pack(people_of(np.random.default_rng(3), 0, 100, 50, "few")))
    if at == -1:
        packed = packed[:-1]
    else:
        packed[at] ^= 0x11
    with pytest.raises(LedgerDamaged):
        unpack(bytes(packed))


@given(st.data())
def test_no_bytes_make_reading_fail_in_another_way(data):
    packed = bytearray(pack(people_of(np.random.default_rng(4), 3, 40, 30, "few")))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(SALT, len(packed) - 1))] = data.draw(st.integers(0, 255))
    try:
        found = unpack(bytes(packed[: data.draw(st.integers(0, len(packed)))]))
    except DiscreetError:
        return
    assert len(found.accounts) == len(found.amounts) == len(found.failures)
    assert np.all(np.diff(found.accounts) > 0)
    assert not len(found.accounts) or found.accounts[-1] < found.known + len(found.high)
