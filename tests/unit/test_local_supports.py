"""The server's fast sums are the slow ones."""

import numpy as np
import pytest

from discreet.local import Hadamard, LocalHashing, Unary, encode_all, supports_of
from discreet.local.device.hashing import field_of, field_sizes
from discreet.local.server.packed import column_counts, pack_sets, sizes_of, unpack_sets
from discreet.local.server.supports import rows_of
from discreet.local.server.transforms import hadamard_transform


@pytest.mark.parametrize("size", [2, 3, 4, 5, 8, 16, 13, 256])
def test_a_field_has_sums_and_products_that_can_be_undone(size):
    field, numbers = field_of(size), range(size)
    some = numbers if size < 20 else range(0, size, 17)
    for first in some:
        assert sorted(field.plus(first, each) for each in numbers) == list(numbers)
        if first:
            assert sorted(field.times(first, each) for each in numbers) == list(numbers)
        for second in some:
            assert field.times(first, second) == field.times(second, first)
            for third in list(some)[:5]:
                left = field.times(third, field.plus(first, second))
                assert left == field.plus(field.times(third, first), field.times(third, second))


def test_sizes_of_fields_are_primes_and_powers_of_two():
    assert field_sizes()[:12] == (2, 3, 4, 5, 7, 8, 11, 13, 16, 17, 19, 23)
    assert [size for size in (1, 6, 9, 10, 15) if field_of(size)] == []


@pytest.mark.parametrize("order", [1, 2, 8, 64])
def test_the_transform_is_the_product_with_the_hadamard_matrix(order):
    values = np.random.default_rng(order).integers(-50, 50, order)
    matrix = [[(-1) ** (row & x).bit_count() for row in range(order)] for x in range(order)]
    assert hadamard_transform(values).tolist() == (np.array(matrix) @ values).tolist()


@pytest.mark.parametrize(("domain", "buckets"), [(10, 2), (10, 3), (60, 4), (30, 5), (100, 8), (50, 7)])
def test_supports_by_the_transform_are_those_of_every_report(domain, buckets):
    encoder = LocalHashing(domain=domain, epsilon=1, buckets=buckets)
    reports = [encoder.encode(value % domain) for value in range(40)]
    slow = [sum(encoder.supports(report, category) for report in reports) for category in range(domain)]
    # So many that the transform pays, and so few that it does not.
    many = supports_of(encoder, np.tile(rows_of(encoder, reports), (200, 1)))
    assert many.tolist() == [200 * count for count in slow]
    assert supports_of(encoder, rows_of(encoder, reports)).tolist() == slow
    assert supports_of(encoder, rows_of(encoder, reports), np.array([3, 1])).tolist() == [slow[3], slow[1]]


def test_supports_of_categories_that_are_whole_texts_are_counted_one_by_one():
    encoder = LocalHashing(domain=1 << 200, epsilon=1)
    values = [1 << 150, 5, (1 << 199) + 1]
    reports = [encoder.encode(value) for value in values * 5]
    slow = [sum(encoder.supports(report, value) for report in reports) for value in values]
    assert supports_of(encoder, rows_of(encoder, reports), np.array(values, object)).tolist() == slow


@pytest.mark.parametrize("domain", [2, 6, 64])
def test_supports_of_hadamard_reports_are_those_of_every_report(domain):
    encoder = Hadamard(domain=domain, epsilon=1)
    reports = [encoder.encode(value % domain) for value in range(60)]
    slow = [sum(encoder.supports(report, category) for report in reports) for category in range(domain)]
    assert supports_of(encoder, rows_of(encoder, reports)).tolist() == slow


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5, 100, 4096, 9001])
@pytest.mark.parametrize("domain", [3, 64, 130])
def test_how_often_each_bit_is_set_is_counted_right(rows, domain):
    bits = np.random.default_rng(rows).integers(0, 2, (rows, domain))
    sets = [sum(int(bit) << place for place, bit in enumerate(row)) for row in bits]
    packed = pack_sets(sets, domain)
    assert unpack_sets(packed) == sets
    assert column_counts(packed, domain).tolist() == bits.sum(axis=0).tolist()
    assert sizes_of(packed).tolist() == bits.sum(axis=1).tolist()


def test_bits_are_counted_without_numpy_2_as_well(monkeypatch):
    packed = pack_sets([0, 1, (1 << 70) - 1], 70)
    monkeypatch.delattr(np, "bitwise_count", raising=False)
    assert sizes_of(packed).tolist() == [0, 1, 70]


def test_a_set_holds_no_category_beyond_the_domain():
    rows = encode_all(Unary.optimal(domain=70, epsilon=1), np.zeros(500, int))
    assert max(unpack_sets(rows)) < 1 << 70
