"""Which planted bugs a quick run plants: none that a change may have let loose is left out."""

import subprocess
from dataclasses import replace

import pytest

from mutants.changed_code import make_bugs
from mutants.choice import SHARE, choose
from mutants.mutant import Mutant

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


FUNCTION = "import os\n\n\ndef first():\n    return 1\n\n\nclass Second:\n    def inside(self):\n        return {}\n"
INSIDE = Mutant("a bug in a method", "room/code.py::Second.inside", "return 2", "return 3", "unit/test_code.py")


@pytest.fixture
def code(root):
    """Add a module with two definitions, of which the second has a bug that is guarded by tests in a file."""
    write(root, "src/discreet/room/code.py", FUNCTION.format(2))
    write(root, "tests/unit/test_code.py", "from discreet.room.code import first\n\nassert first() == 1\n")
    write(root, "tests/room_mutants.py", f"{TOLD} {INSIDE.bug}")
    commit(root)
    write(root, ".git/base", git(root, "rev-parse", "HEAD"))
    return root


def near(root, mutant=INSIDE):
    return choose([mutant], root, root / ".git/base")[1].startswith("1 near")


def test_moved_files_imports_and_docstrings_are_no_changes(code):
    write(code, "src/discreet/room/code.py", FUNCTION.format(2).replace("import os", "import sys\nfrom os import path"))
    write(code, "tests/unit/test_code.py", '"""Words."""\n\nfrom discreet.other import first\n\nassert first() == 1\n')
    assert not near(code)
    (code / "src/discreet/other").mkdir()
    git(code, "mv", "src/discreet/room/code.py", "src/discreet/other/code.py")
    assert not near(code, replace(INSIDE, place="other/code.py::Second.inside"))


def test_a_change_of_another_function_is_not_near_and_one_of_the_same_is(code):
    write(code, "src/discreet/room/code.py", FUNCTION.format(2).replace("return 1", "return 7"))
    assert not near(code)
    write(code, "src/discreet/room/code.py", FUNCTION.format("2 + 2"))
    assert near(code, replace(INSIDE, old="return 2 + 2"))


def test_changed_tests_are_near(code):
    write(code, "tests/unit/test_code.py", "from discreet.room.code import first\n\nassert first() != 1\n")
    assert near(code)


def test_random_bugs_are_made_on_changed_lines_and_change_what_runs(code):
    changed = FUNCTION.format(2).replace("return 1", "return 7 if not None < -3 else sum([])")
    write(code, "src/discreet/room/code.py", changed)
    bugs, _ = make_bugs([INSIDE], 100, code, code / ".git/base")
    assert {bug.plant(changed).splitlines()[4].strip() for bug in bugs} == {
        "return 8 if not None < -3 else sum([])",
        "return (sum([]) if not None < -3 else 7)",
        "return 7 if (None < -3) else sum([])",
        "return 7 if not (None <= -3) else sum([])",
        "return 7 if not None < (3) else sum([])",
        "return 7 if not None < -4 else sum([])",
    }
    assert {bug.tests for bug in bugs} == {"unit/test_code.py"}
    assert len(make_bugs([INSIDE], 2, code, code / ".git/base")[0]) == 2


def test_no_random_bug_is_made_where_it_could_not_be_observed(code):
    silent = "import os\n\n\ndef first(most: 3 = 1) -> 2:\n    raise ValueError(f'{1}', 2)\n"
    write(code, "src/discreet/room/code.py", silent)
    assert make_bugs([INSIDE], 100, code, code / ".git/base")[0] == []
