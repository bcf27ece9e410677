"""What every engine promises of personal accounts: who is asked, with what, and whose rows count."""

from dataclasses import replace
from datetime import date

import numpy as np
import pytest
from hypothesis import strategies as st

from contribution_checks import Recorder, Some, among_mismatches, everybody
from data_engines import ENGINES, ONE_IN, worlds_of
from data_worlds import PERSON, World, worlds
from discreet.algebra.aggregates import (
    Aggregation,
    Distinct,
    Extremes,
    Frequencies,
    Histogram,
    Key,
    Load,
    People,
    PeopleBy,
    PeopleCut,
    PeopleWhere,
    Present,
    Rows,
    Total,
)
from discreet.algebra.expressions import ColumnValue, Literal, call
from discreet.algebra.functions import F
from discreet.algebra.relations import (
    Derived,
    Fold,
    Folded,
    Named,
    PerUnit,
    PublicJoin,
    PublicScan,
    Scan,
    UnionAll,
    is_owned,
)
from discreet.core import Bounds, InvalidInput, Limit, Period, PrivacyUnit, Window
from discreet.core.limits import TotalLimit
from discreet.core.schema import Column, Kind, Schema
from discreet.data.postgres.catalogue import PostgresSources, private_relation
from discreet.data.postgres.table import PostgresTables
from plain_engine import PlainTable
from plain_relations import PlainTables
from postgres_tables import PLACE, declared, writer
from relation_engines import RELATION_ENGINES, RELATIONS_ONE_IN
from relation_worlds import pointed_worlds, relation_worlds

#: The engines, all of which can ask each unit.
TABLES, RELATIONS = ENGINES, RELATION_ENGINES
#: How far above the true square an engine may be, of the square, where it has no exact number that holds it.
ABOVE = {ENGINES["spark"]: 1e-9, RELATION_ENGINES["spark"]: 1e-9}

in_worlds, in_relations = worlds_of(TABLES, ONE_IN), worlds_of(RELATIONS, RELATIONS_ONE_IN)
rules = st.one_of(
    st.just(everybody),
    st.builds(Some, seed=st.integers(0, 99), always=st.integers(0, 15), most=st.sampled_from([0, 1, 5, 1e6, 1e300])),
)


@pytest.fixture(params=TABLES)
def make(request):
    """How a table of an engine is made from a schema and plain rows."""
    return TABLES[request.param]


@pytest.fixture(params=RELATIONS)
def make_tables(request):
    """How tables of an engine are made from schemas and plain rows."""
    return RELATIONS[request.param]


def differences(make, world, rule=everybody):
    """Return where an engine differs from the plain one; it refuses what has no people."""
    table = make(world.schema, world.rows)
    if world.schema.unit.column is None:
        with pytest.raises(InvalidInput, match="whose each row is"):
            table.aggregate_among(world.aggregation, Recorder(rule))
        return []
    return among_mismatches(PlainTable(world.schema, world.rows), table, world.aggregation, rule, ABOVE.get(make, 0.0))


def relation_differences(make, world, rule=everybody):
    """Return where an engine differs from the plain one; it refuses what is not one person's."""
    tables, plain = make(world.private, world.public), PlainTables(world.private, world.public)
    if not plain.people or not is_owned(world.aggregation.source):
        recorder = Recorder(rule)
        with pytest.raises(InvalidInput, match=r"whose each row is|two people's"):
            tables.aggregate_among(world.aggregation, recorder)
        assert not recorder.asked
        return []
    return among_mismatches(plain, tables, world.aggregation, rule, ABOVE.get(make, 0.0))


# --- the same as the plain engine ---


@in_worlds(120, drawn=worlds(), rule=rules)
def test_an_engine_asks_whom_the_plain_engine_asks_and_counts_the_same(make, drawn, rule):
    assert not differences(make, drawn, rule)


@in_relations(30, drawn=relation_worlds(), rule=rules)
def test_an_engine_asks_units_of_relations_as_the_plain_engine_does(make, drawn, rule):
    assert not relation_differences(make, drawn, rule)


@pytest.mark.slow
@in_worlds(1000, drawn=worlds(most_rows=80), rule=rules)
def test_an_engine_asks_whom_the_plain_engine_asks_in_many_worlds(make, drawn, rule):
    assert not differences(make, drawn, rule)


@pytest.mark.slow
@in_relations(400, drawn=relation_worlds(most_rows=20), rule=rules)
def test_an_engine_asks_units_of_relations_as_the_plain_engine_does_in_many_worlds(make, drawn, rule):
    assert not relation_differences(make, drawn, rule)


@pytest.mark.parametrize("world", pointed_worlds(), ids=lambda world: type(world.aggregation.source).__name__)
def test_an_engine_asks_units_of_relations_where_it_is_rarely_told(make_tables, world):
    assert not relation_differences(make_tables, world, Some(seed=1, always=7, most=3))


# --- by hand ---

SCHEMA = Schema(
    table="visits",
    columns=(
        Column(name=PERSON, kind=Kind.TEXT),
        Column(name="x", kind=Kind.INTEGER),
        Column(name="y", kind=Kind.INTEGER),
    ),
    unit=PrivacyUnit(column=PERSON),
)
X, Y, Z = (ColumnValue(name, Kind.INTEGER) for name in "xyz")
BY_Y = (Key(Y),)
TENS = Bounds(-10, 10, step=1)
WIDE = Bounds(-(2**53), 2**53, step=1)
EVERYTHING = (
    *(Rows(), People(), Present(X), Total(X, TENS), Total(X, TENS, centred=True), Total(X, TENS, squared=True)),
    *(Total(X, WIDE), Total(X, WIDE, squared=True), Histogram(X, (0, 5, 10)), PeopleCut(), Extremes(X, upper=True)),
    *(PeopleWhere(call(F.GT, X, Literal.of(3))), *(PeopleBy(load, 3) for load in Load)),
)
#: Those of them, and others, that only rows that count decide; some look at the same values.
OF_GROUPS = (
    *(one for one in EVERYTHING if isinstance(one, Rows | People | Present | Total | Histogram)),
    *(Distinct(X), Frequencies(X, TENS, 3), Distinct(Y), Histogram(Y, (0, 4, 9)), Present(Y), Total(Y, TENS)),
)


def rows_of(*rows):
    return tuple(dict(zip(SCHEMA.names, row, strict=True)) for row in rows)


def asked(*aggregates, limit=None, where=None, keys=BY_Y):
    limit = limit or Limit(groups=2, rows_per_group=2)
    return Aggregation(where=where, keys=keys, aggregates=aggregates, limit=limit, salt=5)


MANY = rows_of(*((f"p{n % 37}", [n * 31 % 23 - 8, None, 2**53 - n][n % 3 if n % 2 else 0], n % 11) for n in range(400)))


@pytest.mark.parametrize("keys", [(), (Key(Y),), (Key(Y, tuple(range(9))),)], ids=["one group", "private", "public"])
@pytest.mark.parametrize(
    "limit",
    [Limit(), Limit(groups=3, rows_per_group=2), Limit(groups=50, rows_per_group=50), TotalLimit(5), TotalLimit(500)],
    ids=str,
)
def test_everything_is_asked_of_those_who_take_part(make, limit, keys):
    world = World(SCHEMA, MANY, asked(*EVERYTHING, limit=limit, keys=keys))
    for rule in (everybody, Some(seed=3, always=8, most=0), Some(seed=4, always=0, most=30)):
        assert not differences(make, world, rule)


def nobody(name, told):
    return False


@pytest.mark.parametrize("keys", [(), (Key(Y),), (Key(Y, tuple(range(9))),)], ids=["one group", "private", "public"])
@pytest.mark.parametrize("aggregates", [OF_GROUPS, OF_GROUPS[3:4]], ids=["all", "one"])
def test_groups_are_counted_among_those_who_stay_few_many_or_none(make, aggregates, keys):
    """What is known of rows before it is known who is left out is told of those who stay, and of no others."""
    world = World(SCHEMA, MANY, asked(*aggregates, limit=Limit(groups=3, rows_per_group=2), keys=keys))
    for always in (1, 15):
        assert not differences(make, world, Some(seed=6, always=always, most=0))
    assert not differences(make, world, nobody)


def test_what_is_added_is_told_after_limits_group_by_group(make):
    rows = rows_of(("a", 3, 1), ("a", 4, 1), ("a", 5, 1), ("a", -2, 2), ("b", None, 1), ("b", 99, 1), ("c", 1, 7))
    recorder = Recorder()
    where = call(F.LT, Y, Literal.of(5))
    aggregation = asked(Rows(), People(), Present(X), Total(X, TENS), where=where, limit=Limit(groups=9))
    make(SCHEMA, rows).aggregate_among(aggregation, recorder)
    told = sorted(recorder.asked.values())
    assert len(told) == 2, "nobody is asked whose rows do not pass"
    assert told[0][:2] == ((1, 1), (1, 1))
    assert told[1][:3] == ((2, 2), (2, 2), (2, 2))
    assert told[1][3] in {(x + 2, x * x + 4) for x in (3, 4, 5)}


def test_wide_numbers_are_told_exactly_and_rounded_up(make):
    rows = rows_of(("a", 2**53, 1), ("a", 2**53 - 1, 1), ("a", -2, 2), ("b", 2**40 + 1, 1), ("b", 3, 2))
    for form in ({}, {"centred": True}, {"squared": True}):
        world = World(SCHEMA, rows, asked(Total(X, WIDE, **form)))
        assert not differences(make, world)
    recorder = Recorder()
    make(SCHEMA, rows).aggregate_among(asked(Total(X, WIDE)), recorder)
    # The nearest floats of 2⁵⁴ + 1 and of (2⁵⁴ − 1)² + 4 are below them.
    ((reach, square),) = max(recorder.asked.values())
    assert reach == 2.0**54 + 4
    assert 2.0**108 <= square <= 2.0**108 * (1 + ABOVE.get(make, 0.0))


def test_who_is_left_out_is_in_no_aggregate(make):
    """The answers are those of a table that never had them."""
    aggregation = asked(*EVERYTHING)
    rule = Some(seed=9, always=6, most=0)
    recorder = Recorder(rule)
    table = make(SCHEMA, MANY)
    found = table.aggregate_among(aggregation, recorder)
    plain = PlainTable(SCHEMA, MANY)
    staying = {
        row[PERSON]
        for row in MANY
        if rule(name := plain.account_name(recorder.key, (row[PERSON],)), recorder.asked[name])
    }
    assert 0 < len(staying) < len(recorder.asked)
    without = make(SCHEMA, tuple(row for row in MANY if row[PERSON] in staying)).aggregate(aggregation)
    assert found.groups == without.groups
    assert all(np.array_equal(one, other) for one, other in zip(found.answers, without.answers, strict=True))


def test_if_nobody_takes_part_the_answer_is_that_of_no_rows(make):
    for keys in ((), (Key(Y),), (Key(Y, (1, 2)),)):
        aggregation = asked(*EVERYTHING, keys=keys)
        found = make(SCHEMA, MANY).aggregate_among(aggregation, Recorder(lambda name, told: False))
        nothing = make(SCHEMA, ()).aggregate_among(aggregation, Recorder())
        assert found.groups == nothing.groups
        assert all(np.array_equal(one, other) for one, other in zip(found.answers, nothing.answers, strict=True))


def test_the_same_person_has_the_same_name_in_all_tables_and_another_with_another_key(make):
    names = []
    for rows, key in ((MANY, "one"), (MANY[:50], "one"), (MANY, "two")):
        recorder = Recorder(key=key)
        make(SCHEMA, rows).aggregate_among(asked(Rows()), recorder)
        names.append(set(recorder.asked))
    assert names[1] <= names[0]
    assert not names[0] & names[2]


def test_asking_everybody_is_asking_nobody(make):
    """`aggregate` is what everybody's answer is."""
    table, aggregation = make(SCHEMA, MANY), asked(*EVERYTHING)
    one, other = table.aggregate_among(aggregation, Recorder()), table.aggregate(aggregation)
    assert one.groups == other.groups
    assert all(np.array_equal(a, b) for a, b in zip(one.answers, other.answers, strict=True))


def test_a_unit_with_a_window_has_a_name_for_each_stretch_of_time_in_all_relations(make_tables):
    columns = (
        Column(name=PERSON, kind=Kind.TEXT),
        Column(name="day", kind=Kind.DATE),
        Column(name="x", kind=Kind.INTEGER),
    )
    unit = PrivacyUnit(column=PERSON, window=Window(period=Period.MONTH, time="day"))
    schema = Schema(table="visits", columns=columns, unit=unit)
    rows = [
        {PERSON: f"p{n % 3}", "day": None if n % 7 == 0 else date(2025, 1 + n % 4, 1 + n % 9), "x": n}
        for n in range(60)
    ]
    scan = Scan("visits", columns[2:])
    folded = PerUnit(scan, (), (Folded(Column(name="n", kind=Kind.INTEGER), Fold.ROWS),))
    doubled = Derived(scan, (Named(Column(name="n", kind=Kind.INTEGER), X),))
    names = []
    for source in (scan, folded, UnionAll((doubled, doubled))):
        asking = Aggregation(where=None, keys=(), aggregates=(Rows(),), limit=Limit(), salt=1, source=source)
        private = {"visits": (schema, rows)}
        for rule in (everybody, Some(seed=1, always=8, most=0)):
            above = ABOVE.get(make_tables, 0.0)
            assert not among_mismatches(PlainTables(private, {}), make_tables(private, {}), asking, rule, above)
        recorder = Recorder()
        make_tables(private, {}).aggregate_among(asking, recorder)
        names.append(set(recorder.asked))
    assert len(names[0]) == 15
    assert names[0] == names[1] == names[2]


def test_units_that_a_relation_has_no_rows_of_do_not_pay_for_others(make_tables):
    """Of joins whose rows stand in the order of a table's: the first units of it have no match, and others have."""
    integers = {name: Column(name=name, kind=Kind.INTEGER) for name in (PERSON, "x", "z")}
    schema = Schema(table="visits", columns=(integers[PERSON], integers["x"]), unit=PrivacyUnit(column=PERSON))
    codes = Schema(table="codes", columns=(integers["z"],), unit=PrivacyUnit())
    private = {"visits": (schema, [{PERSON: n % 20, "x": n % 20} for n in range(100)])}
    public = {"codes": (codes, [{"z": n} for n in (7, 8, 8, 13)])}
    join = PublicJoin(Scan("visits", schema.columns[1:]), PublicScan("codes", codes.columns), ((X, Z),))
    asking = Aggregation(where=None, keys=(), aggregates=(Rows(),), limit=Limit(rows_per_group=99), salt=1, source=join)
    recorder, plain = Recorder(), PlainTable(schema, ())
    make_tables(private, public).aggregate_among(asking, recorder)
    expected = {plain.account_name(recorder.key, (n,)): ((rows, rows**2),) for n, rows in ((7, 5), (8, 10), (13, 5))}
    assert recorder.asked == expected


@pytest.mark.parametrize("more", [(), (Histogram(X, (0, 5, 10)),)], ids=["one statement", "two statements"])
def test_who_comes_between_the_asking_and_the_counting_does_not_count(more):
    """On a server others write meanwhile: whoever was not asked is not in the answer."""
    name = writer().fill(SCHEMA, MANY)
    relation = private_relation(writer().catalogue, name, declared(SCHEMA), (PLACE,))
    table = PostgresTables(writer().sessions, PostgresSources({SCHEMA.table: relation}, {}))
    aggregation = asked(Rows(), People(), *more)

    class Meanwhile(Recorder):
        def admit(self, accounts, contributions, /):
            writer().connection.execute(f"INSERT INTO {name} SELECT 'a stranger', 1, n, n FROM generate_series(1, 9) n")
            writer().connection.execute(f"UPDATE {name} SET y = 77 WHERE {PERSON} = 'p1'")
            return super().admit(accounts, contributions)

    expected = table.aggregate(aggregation)
    for rule in (everybody, Some(seed=9, always=15, most=0)):
        recorder = Meanwhile(rule)
        found = table.aggregate_among(aggregation, recorder)
        assert (77,) not in found.groups
        if rule is everybody:
            assert found.groups == expected.groups
            assert [a.tolist() for a in found.answers] == [a.tolist() for a in expected.answers]
        writer().connection.execute(f"UPDATE {name} SET y = 1 WHERE y = 77")
    assert (77,) not in table.aggregate(aggregation).groups
    assert table.aggregate(aggregation).answers[0].sum() > expected.answers[0].sum(), "the stranger did come"


# --- refusals ---


@pytest.mark.parametrize("rows", [(), MANY[:5]], ids=["no rows", "rows"])
def test_rows_that_are_units_have_no_accounts(make, rows):
    schema = replace(SCHEMA, unit=PrivacyUnit())
    recorder = Recorder()
    with pytest.raises(InvalidInput, match="whose each row is"):
        make(schema, rows).aggregate_among(asked(Rows()), recorder)
    assert not recorder.lookups


def test_an_admission_that_fails_tells_nothing_of_rows(make):
    class Failing(Recorder):
        def admit(self, accounts, contributions, /):
            raise ValueError("p1 adds 7")

    with pytest.raises(Exception, match="The engine could not answer") as caught:
        make(SCHEMA, MANY).aggregate_among(asked(Rows()), Failing())
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
