"""Every example runs: in this process with `make test`, and as its reader would run it with `make slow`."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: Parts of others, which tell nothing themselves; and what ends with where to find its data, if there is none.
PARTS = {"people.py", "adult_table.py", "mnist_plans.py", "mnist_report.py", "scattering.py"}
OF_DATA = {"mnist.py"}
SCRIPTS = sorted({path.name for path in EXAMPLES.glob("*.py")} - PARTS - OF_DATA)
#: Run by tests of their own, with more to say about what they tell.
ELSEWHERE = {
    "adult.py",
    "apples.py",
    "demo.py",
    "films.py",
    "marital_status.py",
    "noise_demo.py",
    "noise_plot.py",
    "personal_year.py",
}
#: Ten seconds of work each; the pictures and the attacks have tests of their own.
LONG = {"accounting_pictures.py", "anonymity_attacks.py"}
#: Words with which an example has less to do.
SMALLER = {"census.py": ("20000", "50", "300")}


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs an example in this process, and returns its output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    monkeypatch.setenv("DISCREET_STATE", str(tmp_path))

    def run_example(script):
        monkeypatch.setattr(sys, "argv", [script, *SMALLER.get(script, ())])
        runpy.run_path(str(EXAMPLES / script), run_name="__main__")
        return capsys.readouterr().out

    yield run_example
    for name in {Path(script).stem for script in (*PARTS, *SCRIPTS)} & set(sys.modules):
        del sys.modules[name]


@pytest.mark.parametrize("script", sorted(set(SCRIPTS) - ELSEWHERE - LONG))
def test_an_example_tells_its_story(script, run):
    assert run(script).count("\n") >= 1


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS)
def test_an_example_runs_as_its_reader_runs_it(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / script)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
        env={**os.environ, "MPLCONFIGDIR": str(tmp_path), "DISCREET_STATE": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") >= 1


def test_the_mechanisms_show_exact_beside_private_with_error_bars_and_a_picture(run, tmp_path):
    said = run("noise_demo.py")
    for word in ("exact", "private", "±", "ε = 2"):
        assert word in said
    picture = tmp_path / "demo-noise.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000


@pytest.mark.slow
@pytest.mark.parametrize("script", sorted(OF_DATA))
def test_an_example_without_its_data_says_what_to_pass(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / script)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=False,
    )
    assert done.returncode == 1
    assert "--data FOLDER" in done.stderr
