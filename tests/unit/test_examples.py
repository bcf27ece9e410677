"""Every example runs as its reader would run it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: Parts of others, which tell nothing themselves; and what ends with where to find its data, if there is none.
PARTS = {"people.py", "adult_table.py", "mnist_plans.py", "mnist_report.py", "scattering.py"}
OF_DATA = {"mnist.py"}
SCRIPTS = sorted({path.name for path in EXAMPLES.glob("*.py")} - PARTS - OF_DATA)


@pytest.mark.parametrize("script", SCRIPTS)
def test_an_example_runs_and_tells_its_story(script, tmp_path):
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


def test_the_mechanisms_show_exact_beside_private_with_error_bars_and_a_picture(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "noise_demo.py")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=120,
        check=True,
    )
    for word in ("exact", "private", "±", "ε = 2"):
        assert word in done.stdout
    picture = tmp_path / "demo-noise.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000


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
