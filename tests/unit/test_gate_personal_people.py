"""Names, numbers, and what is stored of persons: found again, and whatever was changed is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core import DiscreetError, InvalidInput, LedgerDamaged
from discreet.gate.accounts import account_names as packed_numbers
from discreet.gate.accounts.account_names import (
    SECOND,
    Directory,
    decode_names,
    encode_names,
    halves,
    in_order,
    order_of,
    pack_bits,
    size_of,
    sizes_of,
    unpack_bits,
)
from discreet.gate.accounts.charge_files import HEADER, NAMES, SALT, ChargeRecord, Enrolled, pack, unpack

BATCH = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), unique=True, max_size=30)


def split(names):
    table = np.array(names, np.uint64).reshape(len(names), 2)
    # Many first halves are alike, far apart from the others.
    return (table[:, 0] << np.uint64(62)), table[:, 1].astype(np.uint32)


def some_names(chance, count):
    """Return names in their order; some share their first part."""
    high, low = chance.integers(0, 2**64, count, dtype=np.uint64), chance.integers(0, 2**SECOND, count, dtype=np.uint32)
    high[1::7] = high[: len(high[1::7]) * 7 : 7]
    order = np.lexsort((low, high))
    return high[order], low[order]


def people_of(chance, known=0, new=1000, charged=500, values="many"):
    numbers = np.sort(chance.choice(known + new, charged, replace=False)).astype(np.int64)
    amounts = {
        "same": np.full(charged, 7),
        "few": chance.integers(0, 200, charged),
        "many": chance.integers(0, 2**32, charged),
    }[values].astype(np.uint32)
    return ChargeRecord(
        known,
        *some_names(chance, new),
        numbers,
        amounts,
        (amounts % 3).astype(np.uint32),
    )


def same(one, other):
    if one.enrolled != other.enrolled:
        return False
    fields = ("high", "low", "accounts", "amounts", "failures")
    return one.known == other.known and all(np.array_equal(getattr(one, f), getattr(other, f)) for f in fields)


# Numbers.


@given(st.lists(BATCH, max_size=6))
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


@given(BATCH.filter(bool), st.data())
def test_names_that_come_together_are_numbered_in_their_order_whatever_order_they_come_in(names, data):
    directory, first = Directory(), data.draw(st.sets(st.sampled_from(names)))
    directory.numbers(*split(sorted(first)))
    numbers = directory.numbers(*split(names))
    new = [name for name in names if name not in first]
    assert [int(numbers[names.index(name)]) for name in sorted(new)] == list(range(len(first), len(names)))


@pytest.mark.parametrize("names", [[(1, 1), (1, 1)], [(3, 2), (0, 1), (3, 2)], [(0, 0), (0, 0), (0, 0)]])
def test_two_units_of_one_name_are_refused_and_neither_gets_a_number(names):
    directory = Directory()
    with pytest.raises(InvalidInput, match="Two units have one name"):
        directory.numbers(*split(names))
    assert len(directory) == 0


def test_those_who_were_refused_before_are_refused_among_those_who_are_known():
    directory = Directory()
    directory.numbers(*split([(1, 1), (2, 2), (3, 3)]))
    with pytest.raises(InvalidInput, match="Two units have one name"):
        directory.numbers(*split([(3, 3), (1, 1), (3, 3)]))


@given(st.lists(BATCH.filter(bool), min_size=1, max_size=3), st.randoms(use_true_random=False))
def test_names_that_are_all_known_are_found_without_sorting_as_with_it(batches, chance):
    directory = Directory()
    for names in batches:
        directory.numbers(*split(names))
    known = sorted({name for names in batches for name in names})
    chance.shuffle(known)
    asked = known[: len(known) // 2 + 1]
    found = directory._find_numbers(*split(asked))
    with directory._lock:
        order = order_of(*split(asked))
        sorted_names = tuple(part[order] for part in split(asked))
        numbers = np.empty(len(asked), np.int64)
        numbers[order] = directory._assign_numbers(*sorted_names)
    assert (found is None) == (len(known) < 2)
    assert found is None or np.array_equal(found, numbers)
    for other in ((2**64 - 1, 2**20 - 1), (0, 0), (known[0][0], known[0][1] ^ 1)):
        if other not in known:
            assert directory._find_numbers(*split([*asked, other])) is None


def test_all_handles_of_a_ledger_in_a_process_have_one_directory():
    assert Directory.of("some ledger") is Directory.of("some ledger")
    assert Directory.of("some ledger") is not Directory.of("another")


def test_a_name_is_the_first_84_bits_of_what_engines_give():
    high, low = halves(np.array([[2**63 + 1, 2**32 - 1], [5, 0xABCDE << 12 | 0xFFF]], np.uint64))
    assert (high.tolist(), low.tolist(), low.dtype) == ([2**63 + 1, 5], [2**20 - 1, 0xABCDE], np.uint32)


# In order.


@given(st.lists(st.tuples(st.sampled_from([0, 1, 2, 7, 8, 2**32, 2**40, 2**63, 2**64 - 1]), st.integers(0, 5))))
def test_the_order_of_names_is_that_of_their_first_parts_and_then_of_their_second(names):
    high, low = np.array([n for n, _ in names], np.uint64), np.array([n for _, n in names], np.uint32)
    order = order_of(high, low)
    assert list(zip(high[order].tolist(), low[order].tolist(), strict=True)) == sorted(names)
    assert in_order(high, low) is (names == sorted(set(names)))


# As bits.


@given(st.integers(0, 64), st.integers(0, 50), st.data())
def test_numbers_are_read_back_from_as_many_bits_as_they_need(width, count, data):
    numbers = data.draw(st.lists(st.integers(0, 2**width - 1), min_size=count, max_size=count))
    kind = np.uint32 if width <= 32 else np.uint64
    content = b"".join(pack_bits(np.array(numbers, kind), width))
    assert unpack_bits(content, count, width, kind).tolist() == numbers
    assert len(content) == size_of(count, width) <= count * width / 8 + 7


@pytest.mark.parametrize("width", [1, 3, 20, 37])
def test_numbers_that_are_written_in_blocks_are_read_back(width, monkeypatch):
    monkeypatch.setattr(packed_numbers, "BLOCK", 16)
    numbers = np.random.default_rng(width).integers(0, 2**width, 100, dtype=np.uint64)
    content = b"".join(pack_bits(numbers, width))
    assert np.array_equal(unpack_bits(content, 100, width, np.uint64), numbers)
    assert b"".join(pack_bits(numbers + np.uint64(9), width, least=9)) == content
    with pytest.raises(ValueError, match=r"^$"):
        unpack_bits(content[:-1], 100, width, np.uint64)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 100, 5000])
def test_names_are_read_back_as_they_were(count):
    high, low = some_names(np.random.default_rng(count), count)
    content = b"".join(encode_names(high, low))
    assert all(map(np.array_equal, decode_names(content, count), (high, low)))
    assert len(content) == sum(sizes_of(count))


def test_the_first_and_the_last_names_there_are_can_be_stored():
    high, low = (
        np.array([0, 0, 2**64 - 1, 2**64 - 1], np.uint64),
        np.array([0, 1, 2**SECOND - 2, 2**SECOND - 1], np.uint32),
    )
    assert all(map(np.array_equal, decode_names(b"".join(encode_names(high, low)), 4), (high, low)))


def test_names_take_hardly_more_bits_than_any_way_to_write_them_must():
    """log₂ of how many sets of n names there are is n (84 − log₂ n + log₂ e), but for less than a bit a name."""
    count = 2**17
    least = 84 - 17 + np.log2(np.e)
    assert least < 8 * sum(sizes_of(count)) / count < least + 1.6


@pytest.mark.parametrize("low", [[3, 3, 0], [3, 2, 0]])
def test_names_that_are_stored_twice_or_out_of_order_are_refused(low):
    content = b"".join(encode_names(np.array([5, 5, 2**63], np.uint64), np.array(low, np.uint32)))
    with pytest.raises(ValueError, match=r"^$"):
        decode_names(content, 3)


# What is stored.


@pytest.mark.parametrize("values", ["same", "few", "many"])
@pytest.mark.parametrize(("known", "new", "charged"), [(0, 0, 0), (0, 1, 1), (5000, 0, 3), (9, 1000, 1009), (7, 70, 0)])
def test_people_are_read_back_as_they_were(values, known, new, charged):
    people = people_of(np.random.default_rng(known + new), known, new, charged, values)
    assert same(unpack(pack(people)), people)


def test_where_names_are_stored_is_read_back():
    people = ChargeRecord(
        9,
        *some_names(np.random.default_rng(0), 0),
        *np.zeros((3, 0), int),
        enrolled=(Enrolled(3, 9, bytes(range(32))),),
    )
    assert same(unpack(pack(people)), people)


def test_names_stand_where_they_can_be_read_by_themselves():
    people = people_of(np.random.default_rng(5))
    names = b"".join(encode_names(people.high, people.low))
    assert pack(people)[NAMES : NAMES + len(names)] == names


def test_an_amount_that_nobody_had_before_is_stored_as_it_is():
    people = people_of(np.random.default_rng(6), 0, 70_000, 70_000, "few")
    people.amounts[69_999] = 2**31
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
    assert sizes[1] < 1_300_000  # a byte each, and two bits
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
