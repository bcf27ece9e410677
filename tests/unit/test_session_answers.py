"""What can be done with an answer, all of it free."""

import importlib

import pytest

from clinic import BY_WARD, COUNT, opened
from discreet import Budget
from discreet.accounting import Composed
from discreet.core import DiscreetError
from discreet.core.exact import nearest_float

NAMES = ["ward", "n", "n_low", "n_high", "stay", "stay_low", "stay_high"]


@pytest.fixture(scope="module")
def clinic(tmp_path_factory):
    with opened(tmp_path_factory.mktemp("clinic"), budget=Budget(1000, 1e-9)) as session:
        yield session


@pytest.fixture(scope="module")
def answer(clinic):
    return clinic.sql(BY_WARD, epsilon=50)


def test_rows_have_every_column_and_its_bar(answer):
    rows = answer.rows()
    assert [list(row) for row in rows] == [NAMES] * 3
    assert all(row["n_low"] <= row["n"] <= row["n_high"] for row in rows)
    assert all(abs(row["n"] - 20) <= 5 for row in rows)


def test_an_answer_says_what_it_cost(answer):
    assert isinstance(answer.cost, Composed)
    assert answer.receipt == answer.release.receipt
    assert answer.receipt.what.startswith("SELECT ward")
    assert "ε = 50, paid now · release #" in repr(answer)


def test_a_table_has_a_line_for_every_row_with_its_errors(answer):
    lines = answer.lines()
    assert lines[0].split() == ["ward", "n", "±", "stay", "±"]
    assert [line.split()[0] for line in lines[1:4]] == ["A", "B", "C"]
    assert all("±" in line or "…" in line for line in lines[1:4])
    assert "± at 95 % confidence, per cell" in lines[-1]
    assert all(note in lines for note in answer.notes)
    assert answer.notes


def test_a_notebook_shows_a_table(answer):
    page = answer._repr_html_()
    assert page.count("<tr>") == 4
    assert "95 % confidence" in page


def test_other_bars_are_free_and_of_the_same_answer(clinic, answer):
    spent = clinic.ledger.spent
    wider, together = answer.confidence(0.999), answer.confidence(0.95, simultaneous=True)
    assert [row["n"] for row in wider.rows()] == [row["n"] for row in answer.rows()]
    for row, before in zip(wider.error("n"), answer.error("n"), strict=True):
        assert row > before
    for row, before in zip(together.error("n"), answer.error("n"), strict=True):
        assert row > before
    assert "99.9 % confidence" in repr(wider)
    assert "all cells at once" in repr(together)
    assert clinic.ledger.spent == spent


def test_frames_of_others_hold_the_same(answer):
    rows = answer.rows()
    assert answer.to_pandas().columns.tolist() == NAMES
    assert answer.to_pandas()["n"].tolist() == [row["n"] for row in rows]
    assert answer.to_polars().columns == NAMES
    assert answer.to_polars()["n_low"].to_list() == [row["n_low"] for row in rows]
    assert answer.to_arrow().column_names == NAMES
    assert answer.to_arrow().to_pylist() == rows


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
def test_a_library_that_is_missing_is_named(answer, monkeypatch, name):
    def missing(module, *more):
        if module == name:
            raise ImportError(module)
        return importlib.import_module(module, *more)

    monkeypatch.setattr("discreet.session.answers.answer.import_module", missing)
    verb = {"pandas": "to_pandas", "polars": "to_polars", "pyarrow": "to_arrow"}[name]
    with pytest.raises(DiscreetError, match=f"needs {name}, which is not installed") as caught:
        getattr(answer, verb)()
    assert f"pip install {name}" in caught.value.fix


def test_a_drawing_without_its_library_says_what_to_install(answer, monkeypatch):
    def missing(module):
        raise ImportError(module)

    monkeypatch.setattr("discreet.session.answers.plotting.import_module", missing)
    with pytest.raises(DiscreetError) as caught:
        answer.plot()
    assert caught.value.fix == "pip install 'discreet[plot]'"


def test_a_picture_has_a_panel_for_every_measure_and_a_bar_for_every_row(answer, tmp_path):
    figure = answer.plot(tmp_path / "wards.png")
    assert (tmp_path / "wards.png").stat().st_size > 1000
    assert len(figure.axes) == 2
    assert [len(axes.patches) for axes in figure.axes] == [3, 3]
    assert [label.get_text() for label in figure.axes[1].get_xticklabels()] == ["A", "B", "C"]
    heights = [patch.get_height() for patch in figure.axes[0].patches]
    assert heights == [row["n"] for row in answer.rows()]
    spans = [line.get_ydata() for line in figure.axes[0].lines]
    assert [tuple(span) for span in spans] == [(row["n_low"], row["n_high"]) for row in answer.rows()]
    assert len(answer.plot(column="stay").axes) == 1


def test_one_number_is_one_value(clinic):
    answer = clinic.sql(COUNT, epsilon=50)
    assert answer.value == answer.rows()[0]["n"]
    assert len(answer.error()) == 1
    assert answer.plot().axes[0].get_ylabel() == "n"


def test_quantiles_show_their_error_in_rows(clinic):
    answer = clinic.sql("SELECT MEDIAN(stay) AS m FROM visits", epsilon=50)
    assert list(answer.rows()[0]) == ["m", "m_low", "m_high", "m_ranks"]
    assert "row" in repr(answer)


def test_names_of_bars_do_not_hide_other_columns(clinic):
    answer = clinic.sql("SELECT COUNT(*) AS n, SUM(stay) AS n_low FROM visits", epsilon=50)
    assert list(answer.rows()[0]) == ["n", "n_low_", "n_high", "n_low", "n_low_low", "n_low_high"]


def test_sums_beyond_64_bits_fit_into_frames():
    from discreet.session.answers.answer import arrow_table, pandas_frame, polars_frame

    columns = {"total": (2**70, None), "n": (1, 2)}
    for frame in (arrow_table(columns).to_pylist(), polars_frame(columns).to_dicts()):
        assert frame[0] == {"total": nearest_float(2**70), "n": 1}
    assert pandas_frame(columns)["total"][0] == nearest_float(2**70)


def test_a_plain_import_of_an_answer_loads_no_frames():
    """Whoever only reads rows() pays for no library."""
    import subprocess
    import sys

    code = "import sys, discreet.session; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"pandas", "polars", "pyarrow", "matplotlib", "duckdb", "sqlglot"}


def test_a_bought_group_is_shown_with_its_delta(tmp_path):
    with opened(tmp_path, groups=None, delta=1e-11) as session:
        assert "δ = 1e-11" in repr(session.sql(BY_WARD, epsilon=1))
        assert "δ = 1e-11" in repr(session.preview(BY_WARD, epsilon=1))
