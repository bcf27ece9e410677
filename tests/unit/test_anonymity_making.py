"""What is made: every class has its k rows, cuts go as far as they may, and no choice of levels is better."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import plain_anonymity as plain
from discreet.anonymity import (
    Closeness,
    DistinctDiversity,
    EntropyDiversity,
    Hierarchy,
    Microdata,
    MostOfOne,
    Recoding,
    RecursiveDiversity,
    full_domain,
    k_of,
    mondrian,
    read_hierarchy,
    suppress,
)
from discreet.anonymity.mondrian import Rules, cut_up
from discreet.anonymity.regions import covers
from discreet.core import DiscreetError, InvalidInput

QUASI = ["age", "ward", "sex"]
AGES = Hierarchy.intervals(0, 7, widths=(2, 4))
WARDS = Hierarchy([("C", "old"), ("A", "new"), ("D", "old"), ("B", "new")])
SEXES = Hierarchy.flat("fm")
ILLNESSES = ["flu", "gout", "rash"]
TREES = {"age": AGES, "ward": WARDS, "sex": SEXES}


def tables(least=1, most=20):
    row = st.fixed_dictionaries(
        {
            "age": st.integers(0, 7),
            "ward": st.sampled_from("ABCD"),
            "sex": st.sampled_from("fm"),
            "illness": st.sampled_from(ILLNESSES),
            "cost": st.integers(0, 3),
        }
    )
    return st.lists(row, min_size=least, max_size=most)


def tables_with_k(largest, least=1, most=20):
    """Draw a table and a k for which it has rows."""
    return st.integers(1, largest).flatmap(lambda k: st.tuples(tables(max(k, least), most), st.just(k)))


def microdata(rows, hierarchies=None):
    return Microdata.of({name: [row[name] for row in rows] for name in rows[0]}, hierarchies=hierarchies)


def groups(rows, made):
    labels = made.classes.labels.tolist()
    return [[row for row, label in zip(rows, labels, strict=True) if label == one] for one in range(made.classes.count)]


REQUIREMENTS = [
    DistinctDiversity(of="illness", l=2),
    EntropyDiversity(of="illness", l=Fraction(3, 2)),
    RecursiveDiversity(of="illness", c=2, l=2),
    Closeness(of="illness", t=Fraction(2, 5)),
    Closeness(of="cost", t=Fraction(1, 4), ordered=True),
    MostOfOne(of="illness", alpha=Fraction(2, 3)),
]


def meets(requirement, one, rows):
    """Say whether rows meet a requirement, as the papers have it."""
    match requirement:
        case DistinctDiversity(of=name, l=wanted):
            return len(plain.counts(one, name)) >= wanted
        case EntropyDiversity(of=name, l=level):
            return plain.entropy_l(one, name) >= level - 1e-12
        case RecursiveDiversity(of=name, c=c, l=rank):
            needed = plain.least_c(one, name, rank)
            return needed is not None and needed < c
        case Closeness(of=name, t=t, ordered=ordered):
            distance = plain.ordered_distance if ordered else plain.equal_distance
            return distance(one, rows, name) <= t
        case MostOfOne(of=name, alpha=alpha):
            return plain.share_of_commonest(one, name) <= alpha


@given(tables_with_k(5), st.booleans())
def test_every_class_of_mondrian_has_k_rows_and_every_row_a_class(table_and_k, relaxed):
    rows, k = table_and_k
    made = mondrian(microdata(rows), QUASI, k=k, relaxed=relaxed)
    found = groups(rows, made)
    assert sum(map(len, found)) == len(rows)
    assert min(map(len, found)) == made.k >= k
    published = Microdata.of(made.columns())
    assert k_of(published, QUASI) >= k  # as somebody counts who has nothing else


@given(tables_with_k(4))
def test_strict_mondrian_leaves_no_cut_and_parts_no_equals(table_and_k):
    rows, k = table_and_k
    found = groups(rows, mondrian(microdata(rows), QUASI, k=k))
    assert not any(True for one in found for name in QUASI for _ in plain.cuts(one, rows, name, k))
    places = [tuple(row[name] for name in QUASI) for one in found for row in one]
    owners = [number for number, one in enumerate(found) for _ in one]
    assert len(set(zip(places, owners, strict=True))) == len(set(places))


@given(tables(least=4), st.integers(1, 3))
def test_relaxed_mondrian_cuts_all_that_is_not_alike(rows, k):
    found = groups(rows, mondrian(microdata(rows), QUASI, k=k, relaxed=True))
    assert all(len(one) < 2 * k or len({tuple(row[name] for name in QUASI) for row in one}) == 1 for one in found)


@given(tables_with_k(4), st.booleans(), st.sampled_from(list(Recoding)))
def test_what_is_published_of_a_row_covers_its_values(table_and_k, relaxed, recoding):
    rows, k = table_and_k
    made = mondrian(microdata(rows, TREES), QUASI, k=k, relaxed=relaxed, recoding=recoding)
    for name in QUASI:
        attribute = made.table.attribute(name)
        assert [attribute.values[code] for code in attribute.codes] == [row[name] for row in rows]
        for label, code in zip(made.classes.labels, attribute.codes, strict=True):
            assert covers(made.regions[name], int(code))[label]


@given(tables_with_k(4))
def test_sets_and_intervals_hold_what_occurs_and_nothing_else(table_and_k):
    rows, k = table_and_k
    made = mondrian(microdata(rows), QUASI, k=k)
    told = made.columns()
    for number, one in enumerate(groups(rows, made)):
        place = made.classes.labels.tolist().index(number)
        ages, wards = sorted({row["age"] for row in one}), sorted({row["ward"] for row in one})
        assert told["age"][place] == (str(ages[0]) if len(ages) == 1 else f"{ages[0]} to {ages[-1]}")
        assert told["ward"][place] == (wards[0] if len(wards) == 1 else "{" + ", ".join(wards) + "}")
    assert told["illness"] == [row["illness"] for row in rows]


@given(tables_with_k(4))
def test_an_ancestor_is_the_lowest_label_that_covers_a_class(table_and_k):
    rows, k = table_and_k
    made = mondrian(microdata(rows, TREES), QUASI, k=k, recoding=Recoding.ANCESTORS)
    told = made.columns()["ward"]
    for number, one in enumerate(groups(rows, made)):
        labels = [{WARDS.levels[level][WARDS.leaves.index(row["ward"])] for row in one} for level in range(3)]
        expected = next(min(level) for level in labels if len(level) == 1)
        assert told[made.classes.labels.tolist().index(number)] == expected


@st.composite
def tables_that_meet(draw):
    """Draw a requirement, a table that meets it as a whole, and a k for which the table has rows."""
    requirement, (rows, k) = draw(st.sampled_from(REQUIREMENTS)), draw(tables_with_k(3, least=2))
    if not meets(requirement, rows, rows):  # with all illnesses alike often it does
        rows = [{**row, "illness": illness} for row in rows for illness in ILLNESSES]
    return requirement, rows, k


@settings(max_examples=60, phases=[Phase.generate])
@given(tables_that_meet(), st.booleans())
def test_every_class_of_mondrian_meets_what_is_required(drawn, relaxed):
    requirement, rows, k = drawn
    assert meets(requirement, rows, rows)
    made = mondrian(microdata(rows), QUASI, k=k, requirements=[requirement], relaxed=relaxed)
    assert made.k >= k
    assert all(meets(requirement, one, rows) for one in groups(rows, made))


def test_a_box_is_cut_where_it_is_widest_relative_to_the_table():
    """Ages 0 to 7 and two sexes: the sexes are as far apart as the table allows, the ages of a half are not."""
    rows = [{"age": age, "sex": sex} for age in (0, 1, 6, 7) for sex in "fm" for _ in range(2)]
    made = mondrian(microdata(rows), ["age", "sex"], k=4)
    assert sorted(set(made.columns()["age"])) == ["0 to 1", "6 to 7"]
    assert sorted(set(made.columns()["sex"])) == ["f", "m"]


def test_common_values_are_parted_from_rare_ones_first():
    """A and D are common: by letters B and C would stand between them, and the first cut would join a rare to each."""
    rows = [{"ward": ward} for ward in "AAAAAABCDDDDDD"]
    told = mondrian(microdata(rows), ["ward"], k=2).columns()["ward"]
    assert sorted(set(told)) == ["A", "D", "{B, C}"]


def test_a_cut_is_at_the_median():
    codes = np.array([[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]])
    rules = Rules(k=5, relaxed=False, places=[np.linspace(0, 1, 10)], admitted=None)
    assert cut_up(codes, rules).tolist() == [0] * 5 + [1] * 5


def cut(codes, k, admitted=None, *, relaxed=False):
    """Return the classes of one attribute's rows, by its codes."""
    rows = np.array([codes])
    rules = Rules(k=k, relaxed=relaxed, places=[np.linspace(0, 1, max(codes) + 1)], admitted=admitted)
    return cut_up(rows, rules).tolist()


@pytest.mark.parametrize(
    "codes", [[0, 0, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, 0, 0], [0, 1, 1, 1, 1, 1, 2], [0, 0, 1, 1, 2]]
)
def test_a_box_stays_whole_where_a_cut_would_leave_one_row_too_few(codes):
    assert cut(codes, 3) == [0] * len(codes)


def test_a_box_is_cut_where_exactly_k_rows_are_left():
    assert cut([0, 0, 0, 1, 1, 1, 1], 3) == [0] * 3 + [1] * 4
    assert cut([0, 0, 0, 0, 1, 1, 1], 3) == [0] * 4 + [1] * 3


def test_the_other_cut_is_tried_where_the_nearer_one_is_not_admitted():
    """Rows 0 and 1 are alike in what is sensitive: they may not be a class, but rows 0 to 3 may."""
    made = mondrian(
        Microdata.of({"age": [0, 0, 1, 1, 2, 2], "s": ["a", "a", "a", "b", "a", "b"]}),
        ["age"],
        k=2,
        requirements=[DistinctDiversity(of="s", l=2)],
    )
    assert made.classes.labels.tolist() == [0, 0, 0, 0, 1, 1]


def exhaustive(rows, k, most, requirement):
    def fails(one):
        return len(one) < k or not (requirement is None or meets(requirement, one, rows))

    return plain.full_domain_penalties(rows, QUASI, TREES, most, fails)


# Not shrunk: every step would go through all combinations again, row by row.
@settings(max_examples=120, phases=[Phase.generate])
@given(
    tables_with_k(4, most=14),
    st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 5), Fraction(1, 2), Fraction(1)]),
    st.sampled_from([None, None, *REQUIREMENTS]),
)
def test_full_domain_search_finds_a_least_penalty_of_all_combinations(table_and_k, suppress, requirement):
    rows, k = table_and_k
    possible = exhaustive(rows, k, int(suppress * len(rows)), requirement)
    required = [] if requirement is None else [requirement]
    try:
        made = full_domain(microdata(rows, TREES), QUASI, k=k, suppress=suppress, requirements=required)
    except InvalidInput:
        assert not possible
        return
    assert made.penalty() == pytest.approx(float(min(possible.values())))
    assert made.classes.suppressed <= suppress * len(rows)
    assert made.k >= k
    assert requirement is None or all(meets(requirement, one, rows) for one in groups(rows, made))


@given(tables_with_k(4, most=14))
def test_full_domain_publishes_every_column_at_one_level(table_and_k):
    rows, k = table_and_k
    told = full_domain(microdata(rows, TREES), QUASI, k=k).columns()
    for name in QUASI:
        levels = TREES[name].levels
        assert any(told[name] == [level[levels[0].index(str(row[name]))] for row in rows] for level in levels)


def test_the_search_looks_at_few_of_many_nodes(monkeypatch):
    """Pruning is a claim, too: of 5 · 5 · 5 · 5 nodes fewer than a fifth are looked at."""
    from discreet.anonymity.full_domain import Node

    rng = np.random.default_rng(5)
    names = ["a", "b", "c", "d"]
    tree = Hierarchy.intervals(0, 31, widths=(2, 4, 8))
    table = Microdata.of({name: rng.integers(0, 32, 400) for name in names}, hierarchies=dict.fromkeys(names, tree))
    looks, plainly = [], Node.look
    monkeypatch.setattr(Node, "look", lambda node, levels: (looks.append(levels), plainly(node, levels))[1])
    full_domain(table, names, k=5)
    assert len(looks) < 5**4 / 5


@given(tables_with_k(4), st.sampled_from([None, *REQUIREMENTS]))
def test_suppression_leaves_out_exactly_the_rows_of_classes_that_fail(table_and_k, requirement):
    rows, k = table_and_k
    good = [
        one
        for one in plain.classes_by(rows, QUASI)
        if len(one) >= k and (requirement is None or meets(requirement, one, rows))
    ]
    try:
        made = suppress(microdata(rows), QUASI, k=k, requirements=[] if requirement is None else [requirement])
    except InvalidInput:
        assert not good
        return
    told = made.columns()
    published = sorted(zip(*(map(str, told[name]) for name in rows[0]), strict=True))
    assert published == sorted(tuple(str(row[name]) for name in rows[0]) for one in good for row in one)


def test_suppressed_rows_are_not_published():
    table = Microdata.of(
        {"ward": ["A"] * 5 + ["B"], "illness": ["flu"] * 5 + ["rare"]}, hierarchies={"ward": Hierarchy.flat("AB")}
    )
    made = full_domain(table, ["ward"], k=5, suppress=Fraction(1, 3))
    assert made.classes.suppressed == 1
    assert made.columns() == {"ward": ["A"] * 5, "illness": ["flu"] * 5}


def test_a_hierarchy_stands_in_the_order_of_its_tree_and_ends_in_one_label():
    assert WARDS.leaves == ("C", "D", "A", "B")
    assert WARDS.height == 2
    assert WARDS.labels(1) == ("old", "new")
    assert WARDS.labels(2) == ("*",)
    assert Hierarchy.prefixes(["1305", "1306", "2200"], keep=(3, 1)).levels == (
        ("1305", "1306", "2200"),
        ("130*", "130*", "220*"),
        ("1***", "1***", "2***"),
        ("*", "*", "*"),
    )


def test_a_hierarchy_is_read_from_a_file_as_others_write_it(tmp_path):
    place = tmp_path / "ward.csv"
    place.write_text("C;old;*\nA;new;*\n\nD;old;*\n", encoding="utf-8")
    assert read_hierarchy(place).levels == (("C", "D", "A"), ("old", "old", "new"), ("*", "*", "*"))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Hierarchy([]),
        lambda: Hierarchy([("a", "x"), ("a", "y")]),
        lambda: Hierarchy([("a", "x"), ("b",)]),
        lambda: Hierarchy([("a", "x", "p"), ("b", "x", "q")]),
        lambda: Hierarchy([(1, "x")]),
        lambda: Hierarchy.intervals(0, 9, widths=(2, 3)),
        lambda: Hierarchy.prefixes(["ab"], keep=(1, 2)),
        lambda: read_hierarchy("nowhere.csv"),
        lambda: WARDS.labels(9),
        lambda: microdata([{"age": 99}], {"age": AGES}),
        lambda: full_domain(microdata([{"age": 1}]), ["age"], k=1),
        lambda: full_domain(microdata([{"age": 1}], {"age": AGES}), ["age"], k=1, suppress=2),
        lambda: mondrian(microdata([{"age": 1}]), ["age"], k=2),
        lambda: mondrian(microdata([{"age": 1}]), ["age"], k=0),
        lambda: mondrian(microdata([{"age": 1}]), ["age"], k=1, relaxed=1),
        lambda: mondrian(microdata([{"age": 1}]), ["age"], k=1, recoding="sets"),
        lambda: mondrian(microdata([{"age": 1}]), ["age"], k=1, requirements=["l"]),
        lambda: mondrian(microdata([{"age": 1}]), ["age"], k=1, requirements=[DistinctDiversity(of="age", l=1)]),
        lambda: mondrian(microdata([{"age": 1, "s": 1}]), ["age"], k=1, requirements=[DistinctDiversity(of="s", l=2)]),
        lambda: mondrian(microdata([{"w": "A"}]), ["w"], k=1, recoding=Recoding.ANCESTORS),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_fix(wrong):
    with pytest.raises(DiscreetError) as refused:
        wrong()
    assert refused.value.fix


def test_values_that_a_hierarchy_lacks_are_counted_and_not_quoted():
    with pytest.raises(InvalidInput, match="no place for 2 of its values") as refused:
        Microdata.of({"ward": ["A", "secret", "rare"]}, hierarchies={"ward": WARDS})
    assert "secret" not in str(refused.value)
