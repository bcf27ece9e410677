"""What the pages say about anonymity: what pruning rests on, what cuts leave, and how fast it is."""

import gzip
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    Microdata,
    MostOfOne,
    RecursiveDiversity,
    diversity_of,
    k_of,
    mondrian,
    read_hierarchy,
)
from discreet.anonymity.classes import Classes, spread_of
from discreet.anonymity.requirements import distances, mark_meeting_classes

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult"
#: What a busy machine may add to processor time.
SLACK = 3

REQUIREMENTS = st.one_of(
    st.builds(DistinctDiversity, of=st.just("s"), l=st.integers(1, 4)),
    st.builds(EntropyDiversity, of=st.just("s"), l=st.fractions(1, 4, max_denominator=6)),
    st.builds(
        RecursiveDiversity, of=st.just("s"), c=st.fractions(Fraction(1, 4), 4, max_denominator=4), l=st.integers(2, 4)
    ),
    st.builds(Closeness, of=st.just("s"), t=st.fractions(0, 1, max_denominator=10), ordered=st.booleans()),
    st.builds(MostOfOne, of=st.just("s"), alpha=st.fractions(0, 1, max_denominator=8)),
)
VALUES = st.lists(st.integers(0, 4), min_size=1, max_size=8)


@given(VALUES, VALUES, VALUES, st.data())
def test_a_union_of_classes_meets_what_its_parts_meet(first, second, rest, data):
    """On this rests that nodes below one that fails are not looked at."""
    cells = np.array([*first, *second, *rest])
    apart = Classes.of(np.repeat([0, 1, 2], [len(first), len(second), len(rest)]))
    joint = Classes.of(np.repeat([0, 1], [len(first) + len(second), len(rest)]))
    attribute = Microdata.of({"s": cells}).attribute("s")
    parts = spread_of(apart, attribute)
    requirement = data.draw(REQUIREMENTS.filter(lambda one: mark_meeting_classes(one, parts)[:2].all()))
    assert mark_meeting_classes(requirement, spread_of(joint, attribute))[0]


@pytest.mark.parametrize(
    "requirement",
    [
        EntropyDiversity(of="s", l=2),
        RecursiveDiversity(of="s", c=2, l=2),
        MostOfOne(of="s", alpha=Fraction(1, 2)),
        Closeness(of="s", t=Fraction(1, 10)),
    ],
)
def test_but_a_good_class_may_be_spoilt_by_a_bad_one(requirement):
    """So that with suppression a node that fails says nothing about those below it."""
    cells = np.array([0, 1] + [0] * 6 + [1] * 6)
    attribute = Microdata.of({"s": cells}).attribute("s")
    apart = Classes.of(np.array([0, 0] + [1] * 6 + [2] * 6))
    joint = Classes.of(np.array([0] * 8 + [1] * 6))
    assert mark_meeting_classes(requirement, spread_of(apart, attribute)).tolist() == [True, False, False]
    assert mark_meeting_classes(requirement, spread_of(joint, attribute)).tolist() == [False, False]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=1, max_size=30))
def test_distances_are_between_nothing_and_one_and_of_the_whole_table_nothing(rows):
    table = Microdata.of({"q": [0 for _ in rows], "s": [value for _, value in rows]})
    assert diversity_of(table, "s", ["q"]).t == diversity_of(table, "s", ["q"]).t_ordered == 0
    parted = Microdata.of({"q": [part for part, _ in rows], "s": [value for _, value in rows]})
    for ordered in (True, False):
        labels = np.unique(parted.attribute("q").codes, return_inverse=True)[1]
        parts, wholes = distances(spread_of(Classes.of(labels), parted.attribute("s")), ordered=ordered)
        assert (parts >= 0).all()
        assert (parts <= wholes).all()


def made_up(rows, seed=1):
    rng = np.random.default_rng(seed)
    sizes = (7, 16, 7, 14, 5, 2, 41)
    columns = {"age": rng.integers(17, 91, rows)}
    for place, size in enumerate(sizes):
        shares = 1 / np.arange(1, size + 1) ** 1.5
        columns[f"c{place}"] = np.array([f"v{i}" for i in range(size)])[rng.choice(size, rows, p=shares / shares.sum())]
    return Microdata.of(columns)


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("k", [2, 5, 50])
def test_thirty_thousand_rows_have_k_in_every_class_and_take_a_fraction_of_a_second(k, relaxed):
    table = made_up(30_000)
    quasi = list(table.attributes)
    start = time.process_time()
    made = mondrian(table, quasi, k=k, relaxed=relaxed)
    assert time.process_time() - start < 0.3 * SLACK
    assert made.k >= k
    assert made.classes.published == table.rows
    assert k_of(Microdata.of(made.columns()), quasi) >= k


@pytest.mark.slow
def test_a_million_rows_take_seconds():
    table = made_up(10**6)
    start = time.process_time()
    made = mondrian(table, list(table.attributes), k=5)
    assert time.process_time() - start < 10 * SLACK
    assert made.k >= 5


@pytest.mark.slow
@pytest.mark.skipif(not ADULT.is_dir(), reason="Adult is not part of the project")
@pytest.mark.parametrize(("k", "penalty"), [(5, 0.048), (10, 0.083)])
@pytest.mark.parametrize("trees", [False, True])
def test_adult_loses_no_more_than_the_page_says(k, penalty, trees):
    places = {"age": 0, "workclass": 1, "education": 3, "marital-status": 5, "occupation": 6, "race": 8, "sex": 9}
    places["native-country"] = 13
    with gzip.open(ADULT / "adult.data.gz", "rt") as file:
        lines = [line.strip().split(", ") for line in file if line.strip() and "?" not in line]
    assert len(lines) == 30_162
    columns = {name: [line[place] for line in lines] for name, place in places.items()}
    columns["age"] = list(map(int, columns["age"]))
    known = {name: read_hierarchy(ADULT / "hierarchies" / f"adult_hierarchy_{name}.csv") for name in places}
    made = mondrian(Microdata.of(columns, hierarchies=known if trees else None), list(places), k=k)
    assert made.k >= k
    assert made.penalty() <= penalty
