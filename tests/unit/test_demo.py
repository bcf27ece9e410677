"""The demo keeps what it says: the second asking is free, too much is refused, and no row is in what it writes."""

import re
import subprocess
import sys
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import discreet
from discreet.cli import main
from discreet.cli.demo import hospital, service, story
from discreet.core import InvalidInput
from discreet.gate import Ledger
from discreet.session.reports.charts import Axis, chart
from discreet.session.reports.report import write_report

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "demo.py"
#: Bars that may miss, as a share of all: at 95 % each, of fifty, more do so once in a million runs.
MISSES = 0.25


#: All in one process, which runs the demo once.
pytestmark = pytest.mark.xdist_group("demo")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Run the demo once, as its reader does; return its folder and what it printed."""
    place = tmp_path_factory.mktemp("demo")
    words = [sys.executable, "-W", "error", str(EXAMPLE), "--folder", "story"]
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return place / "story", done.stdout


@pytest.fixture(scope="module")
def report(told):
    return (told[0] / "report.html").read_text(encoding="utf-8")


def test_the_second_asking_is_free_and_the_same(told):
    assert "The same numbers: yes. Paid now: no." in told[1]


def test_the_ledger_has_a_payment_for_each_answer_and_none_for_the_repetition_or_the_refusal(told):
    with Ledger.open(told[0] / "hospital.ledger", anchors=[told[0] / "hospital.anchor"]) as ledger:
        served = 1 if service.is_installed() else 0
        assert (ledger.state.payments, ledger.state.releases) == (3 + served, 3 + served)
        assert 1 < ledger.spent < 2
        assert ledger.verify().sound


def test_more_than_is_left_is_refused_with_a_way_out(told):
    refusal = told[1].split("More than is left")[1]
    assert "error: " in refusal
    assert re.search(r"fix: ask with epsilon=0\.\d+", refusal)


def test_the_service_is_asked_and_stopped_and_leaves_nothing_outside_the_folder(told):
    said = told[1].split("Others ask a service")[1]
    if not service.is_installed():
        assert service.EXTRA in said
        return
    assert re.search(r"ward +visits +visits_low", said)
    assert (told[0] / "state").is_dir()
    with Ledger.open(told[0] / "hospital.ledger", anchors=[told[0] / "hospital.anchor"]) as ledger:
        assert ledger.recent(1)[0].request == "ada:demo"
        assert ledger.runs.state.open == ()


def test_a_demo_without_the_service_says_what_is_missing(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(service, "find_spec", lambda name: None)
    story._serve(tmp_path)
    assert service.EXTRA in capsys.readouterr().out


def test_the_error_bars_hold_what_is_true(told):
    right, bars = map(int, re.search(r"(\d+) of (\d+) bars hold", told[1]).groups())
    assert bars > 30
    assert right >= (1 - MISSES) * bars


def test_rare_groups_are_not_told(told):
    assert re.search(r"Of the \d{2,} that at most three patients have, 0 are\.", told[1])


def test_accuracy_is_as_it_was_ordered(told):
    section = told[1].split("Accuracy first")[1].split("──")[0]
    assert int(re.search(r"± (\d+)", section).group(1)) <= 150


class Tags(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))


def test_the_report_is_one_well_formed_page_that_asks_nothing_of_the_network(report):
    tree = ET.fromstring(report.removeprefix("<!DOCTYPE html>\n"))
    assert tree.tag == "html"
    tags = Tags()
    tags.feed(report)
    assert {"h1", "table", "svg", "pre"} <= {tag for tag, _ in tags.seen}
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in tags.seen}
    assert not any(name in attributes for _, attributes in tags.seen for name in ("src", "href", "onload"))
    assert "url(" not in report
    assert "http" not in report


def test_the_report_shows_the_promise_the_budget_the_answers_and_the_ledger(report):
    for words in ("ε = 2 at δ = 1e-07", "patient_id", "Visits and average stay by ward", "Cardiology", "The ledger"):
        assert words in report
    assert report.count("<svg") >= 5
    assert report.count('class="bar"') > 30


def test_nothing_that_is_written_or_printed_names_a_person_but_the_table(told):
    cards = set(hospital.identifiers())
    assert len(cards) == hospital.PATIENTS
    folder, printed = told
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != "visits.csv"]
    assert len(files) >= 4
    for path in files:
        found = set(re.findall(r"P[0-9a-f]{10}", path.read_bytes().decode("latin-1")))
        assert not found & cards, path.name
    assert not set(re.findall(r"P[0-9a-f]{10}", printed)) & cards


def test_the_folder_can_be_asked_in_afterwards(told, capsys, monkeypatch):
    monkeypatch.chdir(told[0])
    words = "SELECT ward, COUNT(*) AS visits, AVG(stay) AS stay FROM visits GROUP BY ward"
    assert main(["ask", words, "--epsilon", "0.5"]) == 0
    assert "free now" in capsys.readouterr().out


def test_a_folder_with_something_in_it_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["demo", "--folder", str(tmp_path)]) == 2
    assert "--folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_demo_without_pictures_has_its_tables(tmp_path, capsys):
    assert main(["demo", "--folder", str(tmp_path / "plain"), "--no-pictures"]) == 0
    text = (tmp_path / "plain" / "report.html").read_text(encoding="utf-8")
    assert "<svg" not in text
    assert text.count("<table>") >= 4
    capsys.readouterr()


def test_the_hospital_is_the_same_every_time_and_as_it_is_said_to_be():
    one, other = hospital.build_hospital(), hospital.build_hospital()
    assert all(np.array_equal(getattr(one, name), getattr(other, name)) for name in hospital.Hospital.__slots__)
    visits = np.bincount(one.patient, minlength=hospital.PATIENTS)
    assert (len(one.patient), visits.min(), visits.max()) == (hospital.VISITS, 1, hospital.MOST_VISITS)
    assert 0 <= one.stay.min() <= one.stay.max() <= hospital.LONGEST
    assert 0 <= one.age.min() <= one.age.max() < 110
    assert set(np.unique(one.ward)) == set(range(len(hospital.WARDS)))
    assert Fraction(len(np.unique(one.diagnosis)), 1) > 400


@pytest.fixture
def hostile(tmp_path):
    """Open a table with groups that would be HTML, if nobody watched."""
    path = tmp_path / "t.csv"
    rows = [f"{number},{'<b>&' if number % 2 else 'A'},{number % 7}" for number in range(500)]
    path.write_text("\n".join(["person,ward,stay", *rows]))
    with discreet.open(
        path,
        person="person",
        groups={"ward": ["<b>&", "A", "\x1b[31m]]>"]},
        bounds={"stay": (0, 7)},
        limit=1,
        budget=discreet.Budget(epsilon=10, delta=1e-6),
    ) as session:
        yield session


def test_a_report_shows_groups_as_text(hostile, tmp_path):
    answer = hostile.sql('SELECT ward, COUNT(*) AS "n<i>", MEDIAN(stay) AS m FROM t GROUP BY ward', epsilon=5)
    write_report(hostile, [answer], tmp_path / "r.html", title="<script>&")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    tree = ET.fromstring(text.removeprefix("<!DOCTYPE html>\n"))
    assert "<b>" not in text
    assert "<i>" not in text
    assert "\x1b" not in text
    assert tree.findtext(".//h1") == "<script>&"
    assert "<b>&" in [cell.text for cell in tree.iter("td")]


def test_a_picture_has_a_bar_from_the_lower_to_the_upper_end_of_each_row(hostile):
    answer = hostile.sql("SELECT ward, COUNT(*) AS n FROM t GROUP BY ward", epsilon=0.5)
    labels, measure = answer.result.columns
    marks = ET.fromstring(chart([labels], measure, known=[1, 2, 3]))
    bars = [line for line in marks.iter("line") if line.get("class") == "bar" and line.get("y1") == line.get("y2")]
    dots = list(marks.iter("circle"))
    axis = Axis.of([*measure.low, *measure.values, *measure.high, 1, 2, 3])
    assert (len(bars), len(dots), len(list(marks.iter("polygon")))) == (3, 3, 3)
    for index, (bar, dot) in enumerate(zip(bars, dots, strict=True)):
        assert float(bar.get("x1")) == pytest.approx(axis.place(measure.low[index]), abs=0.01)
        assert float(bar.get("x2")) == pytest.approx(axis.place(measure.high[index]), abs=0.01)
        assert float(dot.get("cx")) == pytest.approx(axis.place(measure.values[index]), abs=0.01)


@pytest.mark.parametrize("numbers", [[5], [0], [-3, -1], [-2, 7], [1e6, 1e6 + 1], [0, 1e-9], [3, 1e12]])
def test_an_axis_has_room_for_its_numbers_and_round_ticks(numbers):
    axis = Axis.of(numbers)
    assert all(axis.low <= number <= axis.high for number in numbers)
    assert 2 <= len(axis.ticks()) <= 12
    assert all(axis.low - 1e-9 * abs(axis.low) <= tick <= axis.high + 1e-9 * abs(axis.high) for tick in axis.ticks())


def test_a_report_goes_nowhere_else_than_said(hostile, tmp_path):
    with pytest.raises(InvalidInput):
        write_report(hostile, [], tmp_path / "none" / "r.html")
    write_report(hostile, [], tmp_path / "r.html")
    assert "0 answers" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_make_demo_runs_this_demo():
    root = Path(__file__).resolve().parents[2]
    assert "discreet demo" in (root / "Makefile").read_text() or "examples/demo.py" in (root / "Makefile").read_text()
    assert "discreet.cli import main" in (root / "examples" / "demo.py").read_text()
