"""Which planted bugs a quick run plants: none that a change may have let loose is left out."""

import subprocess

import pytest

from mutant import Mutant
from mutant_choice import SHARE, choose

MUTANTS = [
    Mutant(
        f"bug {number} of file {number % 10}",
        f"room/{number % 10}.py",
        "a",
        "b",
        f"unit/test_{number % 10}.py::test_it",
    )
    for number in range(100)
]
TOLD = "\n".join(mutant.bug for mutant in MUTANTS[:90])


def git(root, *words):
    settings = ("-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *settings, *words], cwd=root, check=True, capture_output=True, text=True).stdout


def write(root, name, text):
    place = root / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)


@pytest.fixture
def root(tmp_path):
    for number in range(10):
        write(tmp_path, f"src/discreet/room/{number}.py", "old")
        write(tmp_path, f"tests/unit/test_{number}.py", "old")
    write(tmp_path, "tests/room_mutants.py", TOLD)
    git(tmp_path, "init", "-q")
    commit(tmp_path)
    write(tmp_path, ".git/base", git(tmp_path, "rev-parse", "HEAD"))
    return tmp_path


def commit(root):
    git(root, "add", ".")
    git(root, "commit", "-qm", "room: change something", "--allow-empty")


def chosen(root):
    return set(choose(MUTANTS, root, root / ".git/base")[0])


@pytest.mark.parametrize("name", ["src/discreet/room/3.py", "tests/unit/test_3.py"])
@pytest.mark.parametrize("committed", [False, True])
def test_all_bugs_near_a_change_are_planted(root, name, committed):
    write(root, name, "new")
    if committed:
        commit(root)
    near = {mutant for mutant in MUTANTS if mutant.file == "room/3.py"} | set(MUTANTS[90:])
    assert near <= chosen(root)
    assert len(chosen(root) - near) == -(-(len(MUTANTS) - len(near)) // SHARE)


def test_bugs_that_were_not_there_before_are_planted(root):
    assert set(MUTANTS[90:]) <= chosen(root)


def test_a_share_of_the_others_is_drawn_anew_by_every_commit_and_the_same_by_one(root):
    first = chosen(root)
    assert chosen(root) == first
    commit(root)
    assert chosen(root) != first


def test_all_bugs_are_planted_where_nothing_is_known(root, tmp_path_factory):
    assert len(choose(MUTANTS, root, root / "no file")[0]) == len(MUTANTS)
    write(root, ".git/base", "0" * 40)
    assert len(chosen(root)) == len(MUTANTS)
    assert len(choose(MUTANTS, tmp_path_factory.mktemp("no-repository"), root / ".git/base")[0]) == len(MUTANTS)
