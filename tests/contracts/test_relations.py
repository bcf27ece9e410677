"""What engines promise of relations: the plain engine's integers, and one unit moves them no farther than declared."""

from dataclasses import replace

import pytest
from hypothesis import strategies as st

from data_engines import sampled, worlds_of
from discreet.algebra.aggregates import Aggregation, Key, Load, People, PeopleBy, PeopleCut, Rows, Total
from discreet.algebra.expressions import ColumnValue, Literal, call
from discreet.algebra.functions import F
from discreet.algebra.relations import (
    Derived,
    First,
    Fold,
    Folded,
    JoinKind,
    MatchJoin,
    Named,
    PerUnit,
    PublicJoin,
    PublicScan,
    Scan,
    UnionAll,
    UnitJoin,
)
from discreet.core import Bounds, DiscreetError, InvalidInput, Limit, PrivacyUnit, WrongType
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from relation_checks import relation_breaches, relation_mismatches
from relation_engines import RELATION_ENGINES, RELATIONS_ONE_IN
from relation_worlds import RelationWorld, pointed_worlds, relation_world, relation_worlds


@pytest.fixture(params=RELATION_ENGINES)
def make(request):
    """How tables of an engine are made from schemas and plain rows."""
    return RELATION_ENGINES[request.param]


in_worlds = worlds_of(RELATION_ENGINES, RELATIONS_ONE_IN)


# --- the same as the plain engine ---


@in_worlds(40, drawn=relation_worlds())
def test_an_engine_computes_relations_as_the_plain_engine_does(make, drawn):
    assert not relation_mismatches(make, drawn)


@pytest.mark.parametrize("world", pointed_worlds(), ids=lambda world: type(world.aggregation.source).__name__)
def test_an_engine_computes_relations_as_the_plain_engine_does_where_it_is_rarely_told(make, world):
    assert not relation_mismatches(make, world)


@pytest.mark.slow
@in_worlds(400, drawn=relation_worlds(most_rows=20))
def test_an_engine_computes_relations_as_the_plain_engine_does_in_many_worlds(make, drawn):
    assert not relation_mismatches(make, drawn)


# --- one unit ---


@in_worlds(8, seed=st.integers(0, 2**32), depth=st.integers(1, 3))
def test_one_unit_moves_no_aggregate_of_a_relation_farther_than_declared(make, seed, depth):
    assert not relation_breaches(make, relation_world(seed, depth=depth), most=3)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
def test_one_unit_moves_no_aggregate_of_a_relation_farther_than_declared_in_many_worlds(make, part):
    for seed in sampled(make, range(30_000 + part * 20, 30_020 + part * 20), RELATION_ENGINES):
        assert not relation_breaches(make, relation_world(seed, depth=1 + seed % 3)), seed


# --- attacks by hand ---


def whole(name):
    return ColumnValue(name, Kind.INTEGER)


def integers(name, *columns, person=None):
    """Return the schema of a table of integers."""
    listed = tuple(Column(name=each, kind=Kind.INTEGER) for each in ((person, *columns) if person else columns))
    return Schema(table=name, columns=listed, unit=PrivacyUnit(column=person))


VISITS = integers("visits", "ward", "stay", person="patient")
PATIENTS = integers("patients", "age", "code", person="id")
CODES = integers("codes", "number", "price")
VISITED, KNOWN = Scan("visits", VISITS.columns[1:]), Scan("patients", PATIENTS.columns[1:])
PRICED = PublicScan("codes", CODES.columns)
COUNTED = (Rows(), People(), PeopleCut(), *(PeopleBy(load, 5) for load in Load))


def asked(source, *aggregates, keys=(), limit=None, where=None, salt=7):
    limit = limit or Limit(groups=2, rows_per_group=3)
    return Aggregation(where=where, keys=keys, aggregates=aggregates, limit=limit, salt=salt, source=source)


def clinic(aggregation, visits=(), patients=(), codes=()):
    tables = {"visits": (VISITS, visits), "patients": (PATIENTS, patients), "codes": (CODES, codes)}
    rows = {
        name: (schema, [dict(zip(schema.names, row, strict=True)) for row in rows])
        for name, (schema, rows) in tables.items()
    }
    return RelationWorld({name: rows[name] for name in ("visits", "patients")}, {"codes": rows["codes"]}, aggregation)


def answers(make, world):
    return [answer.tolist() for answer in make(world.private, world.public).aggregate(world.aggregation).answers]


def test_a_person_who_matches_a_million_public_rows_is_cut_to_the_limit(make):
    join = PublicJoin(VISITED, PRICED, ((whole("ward"), whole("number")),))
    aggregation = asked(join, *COUNTED, Total(whole("price"), Bounds(0, 10, step=1)), limit=Limit(rows_per_group=3))
    visits = [(1, 5, n) for n in range(1000)] + [(2, 5, 0)]
    world = clinic(aggregation, visits, codes=[(5, 10)] * 1000)
    rows, people, cut, *_, total = answers(make, world)
    assert (rows, people, cut, total) == ([6], [2], [2], [60])


def test_a_person_whose_own_rows_match_a_million_times_is_cut_to_the_limit(make):
    join = UnitJoin(VISITED, KNOWN, ())
    world = clinic(
        asked(join, *COUNTED, limit=TotalLimit(4)),
        [(1, n % 7, n) for n in range(1000)] + [(2, 1, 1)],
        [(1, n, n) for n in range(1000)] + [(2, 30, 1)],
    )
    assert answers(make, world)[:3] == [[5], [2], [1]]


def test_a_value_that_everybody_has_is_cut_to_the_limit_of_a_match(make):
    """Nobody moves more rows than `moved`, though all match all."""
    other = Derived(KNOWN, (Named(Column(name="their age", kind=Kind.INTEGER), whole("age")),))
    join = MatchJoin(KNOWN, other, ((whole("age"), whole("their age")),), rows=2, matches=3)
    aggregates = (Rows(), Total(whole("code"), Bounds(0, 4, step=1)))
    patients = [(n % 12, 1, n % 5) for n in range(90)]
    world = clinic(asked(join, *aggregates, limit=TotalLimit(join.moved)), patients=patients)
    assert answers(make, world)[0] == [9]
    assert not relation_breaches(make, world)
    assert not relation_mismatches(make, world)


@pytest.mark.parametrize("kind", JoinKind, ids=lambda kind: kind.name)
def test_units_never_meet_others_in_a_join(make, kind):
    """Two people with the same values in both tables: each has only own matches, in every kind of join."""
    renamed = Derived(KNOWN, (Named(Column(name="years", kind=Kind.INTEGER), whole("age")),))
    join = UnitJoin(VISITED, renamed, ((whole("ward"), whole("years")),), kind)
    visits = [(1, 3, 1), (1, 4, 1), (2, 3, 1), (3, None, 1), (None, 3, 1)]
    patients = [(1, 3, 0), (1, 3, 0), (2, 4, 0), (3, None, 0), (4, 3, 0), (None, 3, 0)]
    world = clinic(asked(join, *COUNTED, limit=Limit(rows_per_group=99)), visits, patients)
    expected = {JoinKind.INNER: ([2], [1]), JoinKind.LEFT: ([5], [3]), JoinKind.SEMI: ([1], [1])}
    assert tuple(answers(make, world)[:2]) == expected.get(kind, ([3], [3]))
    assert not relation_mismatches(make, world)


@pytest.mark.parametrize("kind", [JoinKind.LEFT, JoinKind.SEMI, JoinKind.ANTI], ids=lambda kind: kind.name)
def test_a_condition_on_one_side_of_a_join_is_equal_to_true(make, kind):
    """What is NULL or false has no partner: left rows stay in LEFT and ANTI, and go in SEMI."""
    true, some = Literal.of(True), (whole("ward"), whole("number"))
    here = (call(F.LT, whole("stay"), Literal.of(3)), true)
    there = (true, call(F.GT, whole("price"), Literal.of(1)))
    years = Derived(KNOWN, (Named(Column(name="years", kind=Kind.INTEGER), whole("age")),))
    joins = (
        PublicJoin(VISITED, PRICED, (some, there), kind),
        PublicJoin(VISITED, PRICED, (some, here, there), kind),
        UnitJoin(VISITED, years, ((whole("ward"), whole("years")), here), kind),
    )
    visits = [(n % 4, [5, 6, 7, None][n % 3 if n % 5 else 3], [1, None, 3, 2][n % 4]) for n in range(30)]
    patients = [(n % 4, [5, None, 6][n % 3], n) for n in range(24)]
    codes = [(5, 2), (5, 2), (5, 0), (6, None), (7, 1), (7, 9), (None, 9)]
    found = []
    for join in joins:
        world = clinic(asked(join, *COUNTED, limit=Limit(rows_per_group=99)), visits, patients, codes)
        assert not relation_mismatches(make, world), join
        found += answers(make, world)[0]
    assert found == {JoinKind.LEFT: [38, 34, 39], JoinKind.SEMI: [16, 7, 9]}.get(kind, [14, 23, 21])


def test_one_row_for_each_person_is_one_row(make):
    """However many rows a person has, the limit of one row leaves nothing out."""
    each = PerUnit(VISITED, (), (Folded(Column(name="n", kind=Kind.INTEGER), Fold.ROWS),))
    world = clinic(
        asked(each, *COUNTED, Total(whole("n"), Bounds(0, 100, step=1)), limit=Limit()),
        [(1, 0, 0)] * 70 + [(2, 0, 0)] * 2 + [(None, 0, 0)] * 5,
    )
    rows, people, cut, *_, total = answers(make, world)
    assert (rows, people, cut, total) == ([2], [2], [0], [72])


def test_the_order_of_rows_decides_what_is_kept_of_them(make):
    """Of joins, unions, first rows and subqueries alike: where a limit chooses, all engines choose the same."""
    visits = [(n % 3, n * 7 % 11, n) for n in range(60)]
    patients = [(n % 3, n * 5 % 11, n * 3 % 4) for n in range(30)]
    codes = [(n % 4, n) for n in range(12)]
    renamed = Derived(KNOWN, (Named(Column(name="a", kind=Kind.INTEGER), whole("age")),))
    relations = (
        UnitJoin(VISITED, renamed, ((whole("ward"), whole("a")),), JoinKind.LEFT),
        PublicJoin(KNOWN, PRICED, ((whole("code"), whole("number")),)),
        First(VISITED, 7, whole("ward")),
        PerUnit(
            VISITED,
            (Named(VISITED.columns[0], whole("ward")),),
            (Folded(Column(name="n", kind=Kind.INTEGER), Fold.MOST, whole("stay")),),
        ),
        UnionAll(
            (
                Derived(VISITED, (Named(Column(name="x", kind=Kind.INTEGER), whole("stay")),)),
                Derived(KNOWN, (Named(Column(name="x", kind=Kind.INTEGER), whole("age")),)),
            )
        ),
    )
    for relation in relations:
        column = "x" if isinstance(relation, UnionAll) else "price" if isinstance(relation, PublicJoin) else "ward"
        for limit in (TotalLimit(3), Limit(groups=2, rows_per_group=2)):
            asking = asked(relation, Rows(), Total(whole(column), Bounds(0, 100, step=1)), keys=(Key(whole(column)),))
            world = clinic(replace(asking, limit=limit), visits, patients, codes)
            assert not relation_mismatches(make, world), relation


# --- caps ---

TWICE = Derived(VISITED, (Named(Column(name="x", kind=Kind.INTEGER), whole("stay")),))
OTHERS = Derived(KNOWN, (Named(Column(name="y", kind=Kind.INTEGER), whole("age")),))
CAPPED = {
    "table": TWICE,
    "union": UnionAll((TWICE, TWICE)),
    "join": UnitJoin(TWICE, OTHERS),
    "left-join": UnitJoin(TWICE, OTHERS, ((whole("x"), whole("y")),), JoinKind.LEFT),
    "joins": UnitJoin(UnitJoin(TWICE, OTHERS), VISITED),
    "public-join": PublicJoin(TWICE, PRICED, ()),
    "public-left-join": PublicJoin(TWICE, PRICED, ((whole("x"), whole("number")),), JoinKind.LEFT),
}


@pytest.mark.parametrize("what", CAPPED)
def test_nobody_has_more_rows_than_the_cap_in_any_relation(make, what):
    """As many as may stay are there, and the same ones on every engine; whoever has fewer loses none."""
    visits = [(1, n % 5, n % 7) for n in range(30)] + [(2, 1, 1)] * 2
    patients = [(1, n % 7, 0) for n in range(25)] + [(2, 1, 0)]
    codes = [(n % 3, n) for n in range(15)]
    total = Total(whole("x"), Bounds(0, 99, step=1))
    for cap in (2, 10):
        world = clinic(asked(CAPPED[what], *COUNTED, total, limit=TotalLimit(5000)), visits, patients, codes)
        private = {name: (replace(schema, rows_per_person=cap), rows) for name, (schema, rows) in world.private.items()}
        world = replace(world, private=private)
        assert not relation_mismatches(make, world)
        assert answers(make, world)[0][0] <= 2 * cap
    assert not relation_breaches(make, world)


# --- refusals ---


def refused(make, world):
    with pytest.raises(DiscreetError) as caught:
        make(world.private, world.public).aggregate(world.aggregation)
    return caught.value


MATCHED = MatchJoin(
    KNOWN,
    Derived(KNOWN, (Named(Column(name="other", kind=Kind.INTEGER), whole("age")),)),
    ((whole("age"), whole("other")),),
    rows=2,
    matches=2,
)


@pytest.mark.parametrize(
    "aggregation",
    [
        asked(None, Rows()),
        asked(Scan("nowhere", ()), Rows()),
        asked(Scan("visits", (Column(name="nothing", kind=Kind.INTEGER),)), Rows()),
        asked(VISITED, Total(whole("nothing"), Bounds(0, 1, step=1))),
        asked(UnitJoin(VISITED, VISITED), Rows()),
        asked(MATCHED, Rows(), limit=TotalLimit(MATCHED.moved - 1)),
        asked(MATCHED, Rows(), limit=Limit(groups=99, rows_per_group=99)),
        asked(MATCHED, People(), limit=TotalLimit(MATCHED.moved)),
        asked(First(MATCHED, 1, whole("age")), Rows(), limit=TotalLimit(MATCHED.moved)),
        asked(UnionAll((VISITED, KNOWN)), Rows()),
    ],
    ids=[
        *("no source", "no such table", "no such column", "no such value", "the same names", "a limit too small"),
        *("another limit", "people of a match", "above a match", "parts that differ"),
    ],
)
def test_what_has_no_meaning_is_refused_alike_with_and_without_rows(make, aggregation):
    found = {
        (type(error), str(error))
        for error in (
            refused(make, clinic(aggregation, visits, [(1, 1, 1)] * len(visits)))
            for visits in ((), [(1, 1, 1)], [(n, n, n) for n in range(9)])
        )
    }
    assert len(found) == 1
    assert issubclass(found.pop()[0], InvalidInput | WrongType)


@pytest.mark.parametrize("kind", [JoinKind.INNER, JoinKind.LEFT], ids=lambda kind: kind.name)
def test_rows_that_are_units_cannot_become_several(make, kind):
    rows = integers("rows", "ward")
    scan = Scan("rows", rows.columns)
    join = PublicJoin(scan, PRICED, ((whole("ward"), whole("number")),), kind)
    twice = UnionAll((scan, scan))
    public = {"codes": (CODES, [{"number": 1, "price": 2}] * 2)}
    for source in (join, twice, First(scan, 1, whole("ward"))):
        world = RelationWorld({"rows": (rows, [{"ward": 1}])}, public, asked(source, Rows()))
        assert isinstance(refused(make, world), InvalidInput)
    there = replace(join, kind=JoinKind.SEMI)
    world = RelationWorld({"rows": (rows, [{"ward": 1}, {"ward": 2}])}, public, asked(there, Rows()))
    assert answers(make, world) == [[1]]


def test_a_condition_on_a_relation_leaves_rows_out_before_they_are_chosen(make):
    join = PublicJoin(VISITED, PRICED, ((whole("ward"), whole("number")),))
    odd = call(F.EQ, call(F.MODULO, whole("price"), Literal.of(2)), Literal.of(1))
    asking = asked(join, *COUNTED, Total(whole("price"), Bounds(0, 99, step=1)), where=odd, limit=TotalLimit(4))
    world = clinic(asking, [(n % 2, n % 3, n) for n in range(20)], codes=[(n % 3, n) for n in range(30)])
    assert not relation_mismatches(make, world)
