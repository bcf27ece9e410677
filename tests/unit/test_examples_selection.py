"""The worked examples of selection run, and tell the story that they promise."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def told(name, capsys):
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    return capsys.readouterr().out


def test_the_two_good_prices_of_an_apple_come_out_about_equally_often(capsys):
    lines = told("apples.py", capsys).splitlines()
    table = [line.replace("$", "").replace("%", "").split() for line in lines[2:6]]
    assert [row[1] for row in table] == ["4.00", "1.01", "4.01", "0.00"]
    few, many = ([float(row[column]) for row in table] for column in (2, 4))
    assert few[0] == pytest.approx(few[2], abs=0.2)
    assert few[0] > 2 * few[1] > 2 * few[3]
    assert 40 < many[0] < many[2] < 60
    assert many[1] == many[3] == 0
    assert lines[-1].endswith(("costs $1.00.", "costs $4.01."))


def test_the_most_common_marital_status_is_married_most_of_the_time(capsys):
    lines = told("marital_status.py", capsys).splitlines()
    assert len(lines) == 7
    assert all(float(line.split("%")[1]) > 96 for line in lines[1:4])
    assert lines[-1].startswith("The most common marital status, at ε = 0.5: ")


def test_three_different_films_are_recommended(capsys):
    lines = told("films.py", capsys).splitlines()
    films = lines[-1].removesuffix(".").split(": ")[1].split(", ")
    assert len(set(films)) == 3
    assert any(line.startswith("Recommended, at ε = 1: ") for line in lines)
