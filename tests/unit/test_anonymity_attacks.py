"""The attacks: what they tell is what follows from the published table, and it is true."""

import importlib.util
import sys
from collections import Counter
from datetime import date
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plain_anonymity as plain
from discreet.anonymity import (
    Hierarchy,
    Microdata,
    beliefs,
    full_domain,
    homogeneous,
    in_both,
    link,
    mondrian,
    newcomers,
    reconstruct,
)
from discreet.core import DiscreetError

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
QUASI = ["age", "ward"]
TREES = {"age": Hierarchy.intervals(0, 6, widths=(2,)), "ward": Hierarchy.flat("ABC")}


def tables(least=4):
    row = st.fixed_dictionaries(
        {
            "age": st.integers(0, 6),
            "ward": st.sampled_from("ABC"),
            "illness": st.sampled_from(["flu", "gout", "rash"]),
        }
    )
    return st.lists(row, min_size=least, max_size=16)


def microdata(rows):
    return Microdata.of({name: [row[name] for row in rows] for name in rows[0]}, hierarchies=TREES)


def admits(published, name, value):
    """Say whether a cell that was published may be of somebody with a value, by its text alone."""
    if name == "age" and published in TREES["age"].levels[1]:
        low, high = published.split("-")
        return int(low) <= value <= int(high)
    if name == "age" and published != "*":
        low, _, high = published.partition(" to ")
        return int(low) <= value <= int(high or low)
    return published == "*" or str(value) in published.strip("{}").split(", ")


def candidates(made, known, rows):
    told = made.columns()
    return [
        told["illness"][place]
        for place in range(len(rows))
        if all(admits(told[name][place], name, value) for name, value in known.items())
    ]


def ways(rows, k):
    yield mondrian(microdata(rows), QUASI, k=k)
    yield mondrian(microdata(rows), QUASI, k=k, relaxed=True)
    yield full_domain(microdata(rows), QUASI, k=k)


@given(tables(), st.integers(1, 3), st.sets(st.sampled_from(["flu", "gout", "rash"]), max_size=2))
def test_beliefs_are_the_shares_among_rows_that_a_reader_of_the_table_cannot_tell_apart(rows, k, excluded):
    for made in ways(rows, k):
        for row in rows[:4]:
            known = {name: row[name] for name in QUASI}
            left = Counter(value for value in candidates(made, known, rows) if value not in excluded)
            found = beliefs(made, known, "illness", excluded=excluded)
            assert found == {value: Fraction(count, left.total()) for value, count in left.items()}
            assert row["illness"] in excluded or found[row["illness"]] > 0


@given(tables(), tables(least=1), st.integers(1, 3))
def test_linking_tells_exactly_those_whose_rows_share_a_value(rows, outside, k):
    for made in ways(rows, k):
        found = link(made, Microdata.of({name: [row[name] for row in outside] for name in QUASI}), "illness")
        each = [candidates(made, {name: row[name] for name in QUASI}, rows) for row in outside]
        assert found.people == len(outside)
        assert found.matched == sum(len(one) > 0 for one in each)
        assert found.alone == sum(len(one) == 1 for one in each)
        assert found.values == tuple(one[0] if len(set(one)) == 1 else None for one in each)
        assert found.told == sum(value is not None for value in found.values)


@given(tables(), st.integers(1, 3))
def test_homogeneous_classes_are_those_with_one_value(rows, k):
    for made in ways(rows, k):
        told = made.columns()
        published = [{name: cells[place] for name, cells in told.items()} for place in range(len(rows))]
        if made.method.startswith("full-domain"):  # whose classes can be read off the table
            alike = [len(one) for one in plain.classes_by(published, QUASI) if len(plain.counts(one, "illness")) == 1]
            assert homogeneous(made, "illness") == Fraction(sum(alike), len(rows))


@given(tables(least=6), st.integers(1, 3))
def test_two_tables_leave_what_both_allow_and_the_truth_is_among_it(rows, k):
    first, second = mondrian(microdata(rows), QUASI, k=k), full_domain(microdata(rows), ["age"], k=k)
    for row in rows:
        known = {name: row[name] for name in QUASI}
        left = in_both(first, second, known, "illness")
        one, two = (set(candidates(made, {name: row[name] for name in made.quasi}, rows)) for made in (first, second))
        assert left == tuple(sorted(one & two))
        assert row["illness"] in left


@given(tables(least=6))
def test_whoever_came_in_between_is_told_whatever_k(rows):
    before, after = mondrian(microdata(rows[1:]), QUASI, k=4), mondrian(microdata(rows), QUASI, k=4)
    assert newcomers(before, after, "illness") == {rows[0]["illness"]: 1}


@pytest.mark.parametrize("people", [1, 10, 60])
def test_enough_exact_counts_tell_everybody(people):
    rng = np.random.default_rng(people)
    secret = rng.random(people) < 0.3
    asked = rng.random((2 * people + 8, people)) < 0.5
    assert (reconstruct(asked, asked @ secret.astype(int)) == secret).all()


def test_counts_that_are_a_little_off_tell_nearly_everybody():
    rng = np.random.default_rng(4)
    secret = rng.random(100) < 0.5
    asked = rng.random((800, 100)) < 0.5
    off = rng.integers(-2, 3, 800)
    assert np.mean(reconstruct(asked, asked @ secret.astype(int) + off) == secret) > 0.95


def test_somebody_who_is_not_in_the_table_matches_nothing():
    table = Microdata.of({"born": np.array(["1990-01-01", "1991-01-01"], dtype="datetime64[D]"), "s": [1, 2]})
    made = mondrian(table, ["born"], k=2)
    assert beliefs(made, {"born": date(1990, 6, 1)}, "s") == {1: Fraction(1, 2), 2: Fraction(1, 2)}
    assert beliefs(made, {"born": date(1999, 1, 1)}, "s") == {}


MADE = mondrian(Microdata.of({"age": [1, 2], "s": ["a", "b"]}), ["age"], k=2)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: beliefs(MADE, {"s": 1}, "s"),
        lambda: beliefs(MADE, {"age": "old"}, "s"),
        lambda: beliefs(MADE, {"age": 1}, "age"),
        lambda: beliefs("a table", {}, "s"),
        lambda: link(MADE, Microdata.of({"x": [1]}), "s"),
        lambda: homogeneous(MADE, "nope"),
        lambda: reconstruct([[1, 0]], [1]),
        lambda: reconstruct(np.ones((2, 2), dtype=bool), [1]),
        lambda: reconstruct(np.ones((10**4, 10**4), dtype=bool), [1] * 10**4),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_fix(wrong):
    with pytest.raises(DiscreetError) as refused:
        wrong()
    assert refused.value.fix


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("anonymity_attacks", EXAMPLES / "anonymity_attacks.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["anonymity_attacks"] = module  # where its dataclasses look for their types
    spec.loader.exec_module(module)
    return module


def test_every_attack_of_the_example_succeeds_and_ends_in_a_private_answer(example, tmp_path, capsys):
    town = example.generate(1_000)
    assert example.linking(town, tmp_path) > 0.9
    assert example.homogeneity(town, tmp_path) > 0
    assert example.background(town, tmp_path) > 0.05
    assert example.differencing(town, tmp_path) == "HIV"
    exact, private = example.reconstruction(town, tmp_path)
    assert exact == 1
    assert private < 0.85
    said = capsys.readouterr().out
    assert said.count("under differential privacy") == 5
    assert said.count("can become at most") == 3
    assert "100 are answered, the next is refused" in said
