"""Batches, hierarchies and counters through a session: one price, one release, tables that add up."""

from datetime import date, timedelta

import pyarrow as pa
import pytest

import discreet
from discreet import Budget, Limit
from discreet.core import BudgetExceeded, InvalidInput, WrongType

START = date(2024, 1, 1)
COUNT = "SELECT COUNT(*) AS n FROM visits"
BY_WARD = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
BY_BOTH = "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex"
BY_CITY = "SELECT city, COUNT(*) AS n FROM visits GROUP BY city"
#: Patient n comes on day n % 20, and again five days later.
VISITS = [
    {"who": n, "ward": "AB"[n % 2], "sex": "fm"[n % 3 % 2], "city": f"c{n % 7}" if n else "home", "day": day}
    for n in range(400)
    for day in (START + timedelta(days=n % 20), START + timedelta(days=n % 20 + 5))
]
PATHS = [("A", "f"), ("A", "m"), ("B", "f"), ("B", "m")]
SURE = 10**4


@pytest.fixture
def clinic(tmp_path):
    with discreet.open(
        pa.Table.from_pylist(VISITS),
        table="visits",
        person="who",
        groups={"ward": ["A", "B"], "sex": ["f", "m"]},
        budget=Budget(epsilon=10**6, delta=1e-9),
        ledger=tmp_path / "visits.ledger",
        limit=Limit(groups=1, rows_per_group=2),
    ) as session:
        yield session


# Batches


def test_a_batch_answers_all_its_questions_at_one_price(clinic):
    found = clinic.batch([COUNT, BY_WARD, BY_BOTH], rho=0.5)
    assert len(found) == 3
    total, by_ward, by_both = found
    assert clinic.ledger.state.payments == 1
    assert total.value == pytest.approx(sum(row["n"] for row in by_both.rows()), abs=1e-6)
    assert total.value == pytest.approx(sum(row["n"] for row in by_ward.rows()), abs=1e-6)
    assert found.saving.factor > 1
    wider = by_both.confidence(0.999)
    assert wider.columns == by_both.columns
    assert wider.error("n")[0] > by_both.error("n")[0]
    assert "times as much" in repr(found)
    assert found._repr_html_()
    again = clinic.batch([COUNT, BY_WARD, BY_BOTH], rho=0.5)
    assert not again.fresh
    assert clinic.ledger.state.payments == 1


def test_a_batch_is_right_where_noise_is_small(clinic):
    total, by_both = clinic.batch([COUNT, BY_BOTH], epsilon=SURE)
    assert total.value == pytest.approx(800, abs=0.1)
    assert [row["n"] for row in by_both.rows()] == pytest.approx(
        [sum((row["ward"], row["sex"]) == path for row in VISITS) for path in PATHS], abs=0.1
    )


def test_what_is_not_shown_can_be_bought(clinic):
    (answer,) = found = clinic.batch([BY_CITY], epsilon=SURE, other=True)
    shown = sum(row["n"] for row in answer.rows())
    assert found.others[0].column("n").values[0] == pytest.approx(800 - shown, abs=0.1)
    assert "groups that are not shown" in repr(found)


def test_a_preview_of_a_batch_costs_nothing(clinic):
    preview = clinic.preview_batch([COUNT, BY_WARD], rho=0.5)
    assert preview.fits
    assert preview.saving.factor > 1
    assert preview.predicted[1][0].error > 0
    assert clinic.ledger.state.payments == 0


@pytest.mark.parametrize(
    ("questions", "how", "error"),
    [
        ([], {"rho": 1}, InvalidInput),
        ([COUNT], {"within": 5}, InvalidInput),
        ([COUNT], {"rho": 1, "weights": [1, 2]}, InvalidInput),
        ([3], {"rho": 1}, WrongType),
        ([COUNT], {"rho": 10**9}, BudgetExceeded),
    ],
)
def test_a_batch_that_makes_no_sense_is_refused_and_not_paid_for(clinic, questions, how, error):
    with pytest.raises(error) as caught:
        clinic.batch(questions, **how)
    assert caught.value.fix
    assert clinic.ledger.state.payments == 0


# Hierarchies


def test_a_hierarchy_adds_up_at_every_level(clinic):
    found = clinic.hierarchy(("ward", "sex"), PATHS, rho=0.5)
    nation, wards, leaves = found.levels
    assert nation.count[0] == wards.count.sum() == leaves.count.sum()
    assert leaves.count.min() >= 0
    assert [row["level"] for row in found.rows()] == ["all", "ward", "ward", "sex", "sex", "sex", "sex"]
    assert found.level("ward").error[0] < found.confidence(0.999).level("ward").error[0]
    assert "by ward → sex" in repr(found)
    assert len(found.to_pandas()) == 7
    assert not clinic.hierarchy(("ward", "sex"), PATHS, rho=0.5).fresh
    with pytest.raises(InvalidInput):
        found.level("county")


def test_a_hierarchy_of_some_rows_counts_these(clinic):
    found = clinic.hierarchy(("ward", "sex"), PATHS, where="sex = 'f'", epsilon=SURE)
    assert found.level("all").count[0] == sum(row["sex"] == "f" for row in VISITS)


# Counters


def test_a_counter_is_refreshed_for_one_price(clinic):
    counter = clinic.counter("day", start=START, steps=30, rho=50)
    assert counter.price.fits
    assert clinic.ledger.state.payments == 0
    first = counter.refresh(START + timedelta(days=10))
    assert len(first) == 10
    later = counter.refresh(START + timedelta(days=20))
    assert clinic.ledger.state.payments == 1
    assert later.answers[:10] == first.answers
    people = [sum(n % 20 <= step for n in range(400)) for step in range(20)]
    for row, exactly in zip(later.rows(), people, strict=True):
        assert abs(row["so_far"] - exactly) <= 3 * row["so_far_error"] + 1
    assert "so far" in repr(later)
    assert len(later.to_pandas()) == 20


def test_only_days_that_are_over_are_counted(clinic):
    counter = clinic.counter("day", start=START, steps=30, epsilon=1)
    assert len(counter.refresh(START + timedelta(days=3))) == 3
    with pytest.raises(InvalidInput, match="No period is over"):
        counter.refresh(START)


def test_a_counter_goes_on_in_another_session(clinic):
    before = clinic.counter("day", start=START, steps=30, epsilon=1).refresh(START + timedelta(days=3))
    other = clinic.for_analyst("bob").counter("day", start=START, steps=30, epsilon=1)
    assert other.refresh(START + timedelta(days=4)).answers[:3] == before.answers
    assert clinic.ledger.state.payments == 1


def test_a_count_between_days_is_told_with_its_error(clinic):
    counts = clinic.counter("day", start=START, steps=30, rho=500).refresh(START + timedelta(days=25))
    count, error = counts.between(START + timedelta(days=2), START + timedelta(days=6))
    assert abs(count - 100) <= 3 * error + 1
    with pytest.raises(InvalidInput):
        counts.between(date(2023, 1, 1), date(2023, 2, 1))
    with pytest.raises(WrongType):
        clinic.counter("day", start=START, steps=30, rho=1).refresh("2024-01-05")


def test_days_to_come_are_not_released(clinic):
    counter = clinic.counter("day", start=START, steps=30, epsilon=1)
    with pytest.raises(InvalidInput, match="lies in the future"):
        counter.refresh(date(2999, 1, 1))
    assert clinic.ledger.state.payments == 0


def test_biases_are_not_bought_for_many_questions_at_once(clinic):
    with pytest.raises(InvalidInput, match="single question"):
        clinic.batch([COUNT], rho=1, bias=True)
