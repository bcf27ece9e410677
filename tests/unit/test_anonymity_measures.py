"""Every figure about a table is that of the papers, counted row by row."""

from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import plain_anonymity as plain
from discreet.anonymity import (
    Anonymised,
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    Microdata,
    MostOfOne,
    RecursiveDiversity,
    discernibility_of,
    diversity_of,
    information_lost,
    journalist_risk,
    k_of,
    marketer_risk,
    meets,
    misclassified,
    mondrian,
    presence_of,
    prosecutor_risk,
    recursive_c,
)
from discreet.anonymity.classes import classes_of, join_codes, spread_of
from discreet.anonymity.requirements import mark_meeting_classes
from discreet.core import DiscreetError, InvalidInput, WrongType

QUASI = ["age", "ward"]


def tables(least=1, most=24):
    row = st.fixed_dictionaries(
        {
            "age": st.integers(0, 4),
            "ward": st.sampled_from("ABC"),
            "illness": st.sampled_from(["flu", "gout", "rash", "none"]),
            "cost": st.integers(0, 5),
        }
    )
    return st.lists(row, min_size=least, max_size=most)


def microdata(rows):
    return Microdata.of({name: [row[name] for row in rows] for name in rows[0]})


@given(tables())
def test_k_is_the_size_of_the_smallest_class(rows):
    assert k_of(microdata(rows), QUASI) == min(map(len, plain.classes_by(rows, QUASI)))


@given(tables())
def test_diversity_and_closeness_are_those_of_the_worst_class(rows):
    classes = plain.classes_by(rows, QUASI)
    for name in ("illness", "cost"):
        found = diversity_of(microdata(rows), name, QUASI)
        assert found.distinct == min(len(plain.counts(one, name)) for one in classes)
        assert found.entropy_l == pytest.approx(min(plain.entropy_l(one, name) for one in classes), rel=1e-11)
        assert found.alpha == max(plain.share_of_commonest(one, name) for one in classes)
        assert found.t == max(plain.equal_distance(one, rows, name) for one in classes)
        ordered = max(plain.ordered_distance(one, rows, name) for one in classes)
        assert found.t_ordered == (ordered if name == "cost" else None)


@given(tables(), st.integers(2, 4))
def test_recursive_diversity_is_that_of_the_worst_class(rows, rank):
    needed = [plain.least_c(one, "illness", rank) for one in plain.classes_by(rows, QUASI)]
    assert recursive_c(microdata(rows), "illness", rank, QUASI) == (None if None in needed else max(needed))


@pytest.mark.parametrize(("rank", "c"), [(2, Fraction(4, 6)), (3, Fraction(4, 3)), (4, Fraction(4, 1)), (5, None)])
def test_the_commonest_value_is_compared_with_those_from_rank_l_on(rank, c):
    table = Microdata.of({"q": [0] * 10, "s": [2, 2, 2, 0, 0, 0, 0, 1, 1, 3]})
    assert recursive_c(table, "s", rank, ["q"]) == c


@given(tables(), st.integers(1, 4), st.fractions(0, 1, max_denominator=12), st.integers(2, 4))
def test_a_requirement_is_met_by_exactly_the_classes_that_meet_its_definition(rows, wanted, share, rank):
    table = microdata(rows)
    classes = classes_of(table, QUASI)
    in_order = [
        [row for row, label in zip(rows, classes.labels, strict=True) if label == one] for one in range(classes.count)
    ]
    c = share + Fraction(1, 3)
    level = 1 + share

    def truth(check):
        return [check(one) for one in in_order]

    def answer(requirement):
        return mark_meeting_classes(requirement, spread_of(classes, table.attribute(requirement.of))).tolist()

    illness, cost = "illness", "cost"
    assert answer(DistinctDiversity(of=illness, l=wanted)) == truth(
        lambda one: len(plain.counts(one, illness)) >= wanted
    )
    assert answer(MostOfOne(of=illness, alpha=share)) == truth(
        lambda one: plain.share_of_commonest(one, illness) <= share
    )
    assert answer(Closeness(of=illness, t=share)) == truth(
        lambda one: plain.equal_distance(one, rows, illness) <= share
    )
    assert answer(Closeness(of=cost, t=share, ordered=True)) == truth(
        lambda one: plain.ordered_distance(one, rows, cost) <= share
    )
    assert answer(RecursiveDiversity(of=illness, c=c, l=rank)) == truth(
        lambda one: plain.least_c(one, illness, rank) is not None and plain.least_c(one, illness, rank) < c
    )
    near = truth(lambda one: plain.entropy_l(one, illness))
    told = answer(EntropyDiversity(of=illness, l=level))
    assert all(one == (value >= level) for one, value in zip(told, near, strict=True) if abs(value - level) > 1e-6)


@pytest.mark.parametrize(("counts", "level", "meets"), [
    ([7, 7, 7], 3, True),
    ([1, 1], 2, True),
    ([7, 7, 7], Fraction(3) + Fraction(1, 10**15), False),
    ([7, 7, 7], Fraction(3) - Fraction(1, 10**15), True),
    ([1000, 1000, 999], 3, False),
])  # fmt: skip
def test_entropies_too_near_for_floats_are_compared_in_integers(counts, level, meets):
    values = [value for value, count in enumerate(counts) for _ in range(count)]
    table = Microdata.of({"q": [0] * len(values), "s": values})
    classes = classes_of(table, ["q"])
    assert mark_meeting_classes(
        EntropyDiversity(of="s", l=level), spread_of(classes, table.attribute("s"))
    ).tolist() == [meets]


def test_a_value_at_the_edge_of_a_requirement_meets_it_and_one_beyond_does_not():
    table = Microdata.of({"q": [0] * 5, "s": [0, 0, 1, 1, 2]})
    spread = spread_of(classes_of(table, ["q"]), table.attribute("s"))
    huge = 10**40
    for alpha, expected in ((Fraction(2, 5), True), (Fraction(2, 5) - Fraction(1, huge), False)):
        assert mark_meeting_classes(MostOfOne(of="s", alpha=alpha), spread).tolist() == [expected]
    # r₁ = 2 must be strictly below c · (2 + 1).
    assert mark_meeting_classes(RecursiveDiversity(of="s", c=Fraction(2, 3), l=2), spread).tolist() == [False]
    assert mark_meeting_classes(
        RecursiveDiversity(of="s", c=Fraction(2, 3) + Fraction(1, huge), l=2), spread
    ).tolist() == [True]


@given(tables(), st.lists(st.booleans(), min_size=24, max_size=24))
def test_presence_is_the_share_of_a_class_that_is_in_the_table(rows, inside):
    for row, member in zip(rows, inside, strict=False):
        row["in"] = member
    found = presence_of(microdata(rows), [row["in"] for row in rows], QUASI)
    shares = [Fraction(sum(row["in"] for row in one), len(one)) for one in plain.classes_by(rows, QUASI)]
    assert (found.least, found.most) == (min(shares), max(shares))


@given(tables(), st.fractions(0, 1, max_denominator=6))
def test_risk_of_people_known_to_be_in_the_table_is_one_in_the_size_of_their_class(rows, limit):
    sizes = [len(one) for one in plain.classes_by(rows, QUASI)]
    chances = [Fraction(1, size) for size in sizes for _ in range(size)]
    found = prosecutor_risk(microdata(rows), QUASI, limit=limit)
    assert found.highest == max(chances)
    assert (
        found.mean
        == sum(chances) / len(chances)
        == Fraction(len(sizes), len(rows))
        == marketer_risk(microdata(rows), QUASI)
    )
    assert found.above == Fraction(sum(chance > limit for chance in chances), len(rows))
    assert found.unique == sizes.count(1)


@given(tables(), tables())
def test_risk_of_people_known_to_be_in_the_population_counts_the_population(rows, others):
    population = rows + others
    found = journalist_risk(microdata(rows), microdata(population), QUASI)
    sizes = {tuple(one[0][name] for name in QUASI): len(one) for one in plain.classes_by(population, QUASI)}
    chances = [Fraction(1, sizes[tuple(row[name] for name in QUASI)]) for row in rows]
    assert found.highest == max(chances)
    assert found.mean == sum(chances) / len(chances)
    assert found.mean <= prosecutor_risk(microdata(rows), QUASI).mean


def test_a_population_that_lacks_rows_of_the_table_is_refused():
    table = Microdata.of({"q": ["a", "a"]})
    with pytest.raises(InvalidInput, match="more rows in the table"):
        journalist_risk(table, Microdata.of({"q": ["a", "b"]}), ["q"])


@given(st.integers(1, 4).flatmap(lambda k: st.tuples(tables(least=k, most=16), st.just(k))))
def test_what_is_lost_is_what_the_definitions_say(table_and_k):
    rows, k = table_and_k
    made = mondrian(microdata(rows), QUASI, k=k)
    found = information_lost(made, k=k)
    groups = [
        [row for row, label in zip(rows, made.classes.labels, strict=True) if label == one]
        for one in range(made.classes.count)
    ]
    cells = {
        name: sum(
            len(one)
            * plain.cell_penalty([row[name] for row in one], [row[name] for row in rows], measured=name == "age")
            for one in groups
        )
        for name in QUASI
    }
    assert found.penalty == pytest.approx(float(sum(cells.values()) / (2 * len(rows))))
    assert dict(found.by_column) == pytest.approx({name: float(told / len(rows)) for name, told in cells.items()})
    assert found.discernibility == sum(len(one) ** 2 for one in groups) == discernibility_of(made)
    assert found.average_size == Fraction(len(rows), len(groups) * k)
    assert 0 <= found.entropy <= 1
    right = sum(max(plain.counts(one, "illness").values()) for one in groups)
    assert misclassified(made, "illness") == 1 - Fraction(right, len(rows))


def test_uncertainty_of_a_cell_is_that_of_its_value_among_those_that_are_published():
    """One class of {A, B}, one of C alone: A and B are 2 and 1 of 4 rows, so that −ln(2/3) and −ln(1/3) are lost."""
    from math import log

    table = Microdata.of({"ward": ["A", "A", "B", "C", "C", "C"]})
    made = mondrian(table, ["ward"], k=3)
    assert sorted(made.columns()["ward"]) == ["C"] * 3 + ["{A, B}"] * 3
    lost = -2 * log(2 / 3) - log(1 / 3)
    everything = -2 * log(2 / 6) - log(1 / 6) - 3 * log(3 / 6)
    assert information_lost(made, k=3).entropy == pytest.approx(lost / everything)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=30))
@example([(0, 0), (8, 0), (1, 3), (9, 3)])  # 8 · 2⁶¹ is 0 in 64 bits
@example([(number, 0) for number in range(9)])  # so it is of the ninth class, however it is numbered
def test_rows_are_of_one_class_exactly_if_they_agree_however_wide_the_codes(rows):
    import numpy as np

    wide = 2**61  # so that keys do not fit at once, and are numbered in between
    columns = [(np.array([row[place] for row in rows]), wide) for place in (0, 1)]
    labels = join_codes(columns, len(rows))
    assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
    for one, first in zip(rows, labels, strict=True):
        assert [other == one for other in rows] == (labels == first).tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: k_of(microdata([{"a": 1}])),
        lambda: k_of("a table"),
        lambda: k_of(microdata([{"a": 1}]), ["b"]),
        lambda: k_of(microdata([{"a": 1}]), "a"),
        lambda: k_of(microdata([{"a": 1}]), []),
        lambda: k_of(microdata([{"a": 1}]), ["a", "a"]),
        lambda: diversity_of(microdata([{"a": 1}]), "a", ["a"]),
        lambda: presence_of(microdata([{"a": 1}]), [1], ["a"]),
        lambda: presence_of(microdata([{"a": 1}]), [True, False], ["a"]),
        lambda: k_of(mondrian(microdata([{"a": 1, "b": 1}]), ["a"], k=1), ["b"]),
        lambda: information_lost("a table", k=1),
        lambda: EntropyDiversity(of="a", l=0),
        lambda: RecursiveDiversity(of="a", c=0, l=2),
        lambda: RecursiveDiversity(of="a", c=1, l=1),
        lambda: Closeness(of="a", t=2),
        lambda: Closeness(of="a", t=1, ordered=1),
        lambda: diversity_of(microdata([{"a": 1}]), 7, ["a"]),
        lambda: MostOfOne(of="a", alpha=-1),
        lambda: DistinctDiversity(of="a", l=0),
        lambda: prosecutor_risk(microdata([{"a": 1}]), ["a"], limit=3),
        lambda: Microdata.of({}),
        lambda: Microdata.of({"a": []}),
        lambda: Microdata.of({"a": [1], "b": [1, 2]}),
        lambda: Microdata.of({"a": [1, None]}),
        lambda: Microdata.of({"a": [1.0, float("nan")]}),
        lambda: Microdata.of({"a": [1.0, float("inf")]}),
        lambda: Microdata.of({"a": ["b", float("nan"), None]}),
        lambda: Microdata.of({"a": [[1], [2]]}),
        lambda: Microdata.of([1]),
        lambda: Microdata.of({"a": [1]}, hierarchies={"b": None}),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_fix(wrong):
    with pytest.raises(DiscreetError) as refused:
        wrong()
    assert refused.value.fix


def test_no_repr_shows_a_row():
    table = Microdata.of({"name": ["Ada", "Bob"], "ward": ["secret", "secret"]})
    made = mondrian(table, ["ward"], k=2)
    assert isinstance(made, Anonymised)
    for shown in (repr(table), repr(made), repr(table.attribute("name")), str(made), repr(made.classes)):
        assert "Ada" not in shown
        assert "secret" not in shown


def test_a_missing_value_is_not_quoted_and_neither_is_what_stands_beside_it():
    with pytest.raises((InvalidInput, WrongType)) as refused:
        Microdata.of({"illness": ["a rare one", None]})
    assert "rare" not in str(refused.value)


@pytest.mark.parametrize("small", [Fraction(1, 10**30), Fraction(1, 3**50)])
def test_a_limit_of_many_digits_is_compared_exactly(small):
    table = Microdata.of({"q": [1, 1], "s": ["a", "b"]})
    assert meets(table, Closeness(of="s", t=small), ["q"])
    assert not meets(table, MostOfOne(of="s", alpha=small), ["q"])
