"""Options in the text of a question: the same question as with keywords, or a refusal before anything is paid."""

import pytest

import discreet
from clinic import BY_WARD, COUNT, opened
from discreet.core import DiscreetError, Limit
from discreet.core.limits import TotalLimit
from discreet.query import QueryRefused, split_privacy_options

BUDGET = discreet.Budget(epsilon=100, delta=1e-9)


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("clinic"), budget=BUDGET) as session:
        yield session


def with_options(options, rest="ward, COUNT(*) AS n FROM visits GROUP BY ward"):
    return f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) {rest}"


def test_the_clause_is_blanked_out_and_everything_else_stays_in_its_place():
    text = "SELECT\n WITH differential_privacy /* a, b */ Options(epsilon = 1e-2,\n delta=.01) ward, COUNT(*) FROM t"
    blank, options = split_privacy_options(text)
    assert len(blank) == len(text)
    assert [len(line) for line in blank.split("\n")] == [len(line) for line in text.split("\n")]
    assert blank.split() == ["SELECT", "ward,", "COUNT(*)", "FROM", "t"]
    assert {name: ("".join(option.words), option.line) for name, option in options.items()} == {
        "epsilon": ("1e-2", 2),
        "delta": (".01", 3),
    }


def test_no_clause_is_found_in_texts_names_and_comments():
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=9)"
    for text in (
        f"SELECT COUNT(*) FROM t WHERE a = '{clause} 1'",
        f'SELECT COUNT(*) AS "{clause}" FROM t',
        f"SELECT COUNT(*) FROM t -- {clause}",
        f"SELECT /* {clause} */ COUNT(*) FROM t",
        'SELECT WITH "DIFFERENTIAL_PRIVACY" COUNT(*) FROM t',
        "SELECT differential_privacy FROM t",
    ):
        assert split_privacy_options(text) == (text, {}), text


def test_a_question_with_options_is_the_question_with_keywords(clinic):
    by_ward = "ward, COUNT(*) AS n FROM visits GROUP BY ward"
    cases = [
        ("epsilon = 0.5", {"epsilon": 0.5}),
        ("epsilon=5E-1, delta=1e-9, privacy_unit_column = visits.`Patient_ID`", {"epsilon": 0.5}),
        ("epsilon=.25, max_groups_contributed=2", {"epsilon": 0.25, "limit": Limit(groups=2, rows_per_group=5)}),
        ("epsilon=.25, max_rows_contributed=4", {"epsilon": 0.25, "limit": TotalLimit(4)}),
        ("epsilon=.75, max_groups_contributed=NULL, group_selection_strategy=public_groups", {"epsilon": 0.75}),
        ("epsilon=.75, group_selection_strategy=LAPLACE_THRESHOLD", {"epsilon": 0.75}),
    ]
    for options, keywords in cases:
        asked, plain = clinic.preview(with_options(options)), clinic.preview(f"SELECT {by_ward}", **keywords)
        assert asked.plan.canonical() == plain.plan.canonical(), options
        assert asked.what == plain.what, options
    other = with_options("epsilon=0.5", "COUNT(*) FROM visits WHERE NOT age < 40")
    normal = clinic.preview("SELECT COUNT(*) FROM visits WHERE age >= 40", epsilon=0.5)
    assert clinic.preview(other).plan.canonical() == normal.plan.canonical()
    paid = clinic.sql(with_options("epsilon=0.5"))
    assert paid.fresh
    assert not clinic.sql(f"SELECT {by_ward}", epsilon=0.5).fresh
    assert not clinic.sql(with_options("epsilon=0.5"), epsilon=0.5).fresh
    assert clinic.explain(with_options("epsilon=0.5")).lines == clinic.explain(f"SELECT {by_ward}", epsilon=0.5).lines
    assert clinic.shape(with_options("epsilon=0.5")) == {"ward": "text", "n": "integer"}


def test_the_clause_may_stand_in_a_subquery_and_without_options(clinic):
    inner = with_options("epsilon = 0.5")
    assert clinic.preview(f"SELECT MAX(n) AS n FROM ({inner}) AS q").spend == discreet.query.Epsilon(0.5)
    text = COUNT.replace("SELECT", "SELECT WITH DIFFERENTIAL_PRIVACY", 1)
    assert clinic.preview(text, epsilon=0.5).what == clinic.preview(COUNT, epsilon=0.5).what


#: Options, keywords beside them, and words of the refusal.
REFUSED = [
    ("epsilon = 0.5", {"epsilon": 1}, "two prices"),
    ("epsilon = 0.5", {"rho": 1}, "two prices: this one, and rho"),
    ("epsilon = 0.5", {"within": 10}, "two prices: this one, and within"),
    ("epsilon = 0", {}, "above 0"),
    ("epsilon = -1", {}, "not a number"),
    ("epsilon = 1e999999999", {}, "not a number"),
    ("epsilon = 'a'", {}, "not a number"),
    ("epsilon = 1, epsilon = 1", {}, "stands twice"),
    ("epsilon", {}, "name = value"),
    ("epsilon = 1,, delta = 1e-9", {}, "name = value"),
    ("epsilon = 1, delta = 1e-5", {}, "The δ of a question"),
    ("epsilon = 1, delta = 0", {}, "The δ of a question"),
    ("epsilon = 1, privacy_unit_column = ward", {}, "The privacy unit differs"),
    ("epsilon = 1, privacy_unit_column = nobody", {}, "The privacy unit differs"),
    ("epsilon = 1, max_groups_contributed = 0", {}, "whole number above 0"),
    ("epsilon = 1, max_groups_contributed = 2.5", {}, "whole number above 0"),
    ("epsilon = 1, max_groups_contributed = 2, max_rows_contributed = 3", {}, "both groups and rows"),
    ("epsilon = 1, max_groups_contributed = 2", {"limit": Limit(groups=3)}, "two contribution bounds"),
    ("epsilon = 1, max_rows_contributed = 2", {"limit": 3}, "two contribution bounds"),
    ("epsilon = 1, max_rows_contributed = 2", {"limit": Limit(groups=2)}, "two contribution bounds"),
    ("epsilon = 1, max_groups_contributed = 2", {"limit": TotalLimit(3)}, "does not bound rows"),
    ("epsilon = 1, group_selection_strategy = best", {}, "Unknown strategy"),
    ("epsilon = 1, min_privacy_units_per_group = 5", {}, "Unknown option"),
    ("epsilom = 1", {}, "Unknown option"),
]


def test_options_that_cannot_be_kept_are_refused_with_their_place_and_nothing_is_paid(clinic):
    before = clinic.ledger.state.payments
    for options, keywords, words in REFUSED:
        for ask in (clinic.sql, clinic.preview, clinic.explain):
            with pytest.raises(QueryRefused, match=words) as caught:
                ask(with_options(options), **keywords)
            assert caught.value.fix, options
    with pytest.raises(QueryRefused, match="stands twice"):
        clinic.sql(f"SELECT WITH DIFFERENTIAL_PRIVACY MAX(n) FROM ({with_options('epsilon=1')}) AS q")
    with pytest.raises(QueryRefused, match="groups of this question are private"):
        clinic.sql(with_options("epsilon=1, group_selection_strategy=PUBLIC_GROUPS", "note FROM visits GROUP BY note"))
    with pytest.raises(QueryRefused, match="read by session"):
        clinic.batch([with_options("epsilon=1")], epsilon=1)
    assert clinic.ledger.state.payments == before


def test_places_of_errors_are_those_of_the_text_as_it_was_written(clinic):
    text = with_options("epsilon = 1", "wrad, COUNT(*) FROM visits GROUP BY ward")
    with pytest.raises(QueryRefused) as caught:
        clinic.sql(text)
    assert caught.value.column == text.index("wrad") + 1


def test_without_a_bound_on_rows_a_number_of_groups_is_not_enough(tmp_path):
    groups, rows = "epsilon = 1, max_groups_contributed = 2", "epsilon = 1, max_rows_contributed = 2"
    with opened(tmp_path, limit=None, ledger=tmp_path / "a.ledger") as session:
        with pytest.raises(QueryRefused, match="does not bound rows"):
            session.preview(with_options(groups))
        assert session.preview(with_options(groups), limit=Limit(groups=2)).plan.limit == Limit(groups=2)
        assert session.preview(with_options(rows)).plan.limit == TotalLimit(2)
    with opened(tmp_path, limit=2, ledger=tmp_path / "b.ledger") as session:
        assert session.preview(with_options(groups)).plan.limit == TotalLimit(2)


def test_where_every_row_is_a_unit_there_is_nothing_to_bound_and_no_column_of_persons(tmp_path):
    with opened(tmp_path, person=None, row=True, limit=None) as session:
        for bound in ("max_groups_contributed = 7", "max_rows_contributed = 7"):
            asked = session.preview(with_options(f"epsilon = 1, {bound}"))
            assert asked.plan.canonical() == session.preview(with_options("epsilon = 1")).plan.canonical()
        with pytest.raises(QueryRefused, match="privacy unit") as caught:
            session.preview(with_options("epsilon = 1, privacy_unit_column = patient_id"))
        assert "every row is a unit of its own" in caught.value.fix


def test_the_unit_is_that_of_the_tables_in_the_question(tmp_path):
    """A column that names persons in one table may be anything in another one."""
    import pandas as pd

    visits = pd.DataFrame({"patient": ["a", "b"], "doctor": ["x", "y"]})
    doctors = pd.DataFrame({"doctor": ["x", "y"], "age": [40, 50]})
    with discreet.open(
        {"visits": visits, "doctors": doctors},
        person={"visits": "patient", "doctors": "doctor"},
        budget=BUDGET,
        limit=1,
        ledger=tmp_path / "a.ledger",
        anchors=[],
    ) as session:
        options = "epsilon = 1, privacy_unit_column = doctor"
        assert session.preview(with_options(options, "COUNT(*) FROM doctors")).fits
        with pytest.raises(QueryRefused, match="privacy unit"):
            session.preview(with_options(options, "COUNT(*) FROM visits"))


def test_a_question_without_rows_needs_no_price_to_be_previewed(clinic):
    for text in ("SELECT 1 AS n", f"{BY_WARD} LIMIT 0", with_options("epsilon = 1", "1 AS n")):
        preview = clinic.preview(text)
        assert (preview.free, preview.plan) == (True, None), text
    with pytest.raises(DiscreetError, match="Pass exactly one"):
        clinic.preview(BY_WARD)
