"""Adult in one command: what it does without the data, and with a table of the same shape that is made up."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "adult.py"


def run(folder, *words):
    command = [sys.executable, "-W", "error", str(EXAMPLE), "--data", str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=120, check=True)
    return done.stdout


def write(place, rows, draws):
    """Write made-up people: those who are married, and studied long, are rich."""
    lines = ["|1x3 a comment"]
    for _ in range(rows):
        married, years = draws.integers(2), draws.integers(1, 17)
        marital = "Married-civ-spouse" if married else "Never-married"
        rich = ">50K" if married and years > 9 else "<=50K"
        lines.append(
            f"39, Private, 77516, HS-grad, {years}, {marital}, Sales, Husband, White, Male, 0, 0, 40, Cuba, {rich}."
        )
    place.write_bytes(gzip.compress(("\n".join(lines) + "\n\n").encode()))


def test_without_the_data_it_says_what_to_bring(tmp_path):
    said = run(tmp_path)
    assert "UCI Adult is not here" in said
    assert "adult.test.gz" in said


def test_it_fits_pays_tells_and_draws(tmp_path):
    draws = np.random.default_rng(1)
    write(tmp_path / "adult.data.gz", 2000, draws)
    write(tmp_path / "adult.test.gz", 500, draws)
    said = run(tmp_path, "--epsilon", "0.2", "2", "--seeds", "1")
    assert "paid: logistic regression of 2 classes on 22 features by 100 steps" in said
    assert "paid: logistic regression of two classes on 65 features by a perturbed objective" in said
    rows = [line.split() for line in said.splitlines() if line.strip().startswith("2 ")]
    table = [row for row in rows if row[1] != "s"]  # a duration may begin alike
    assert [row[1] for row in table] == ["descent", "objective"]
    assert all(float(row[2]) > 80 for row in table)
    assert (tmp_path / "adult.png").read_bytes().startswith(b"\x89PNG")
