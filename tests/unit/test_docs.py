"""The documentation names what there is, and nothing of the machine it was written on."""

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)
TEXTS = [*PAGES, *sorted(ROOT.glob("*.md"))]
ROOMS = [
    "discreet",
    "discreet.core",
    "discreet.noise",
    "discreet.accounting",
    "discreet.mechanisms",
    "discreet.gate",
    "discreet.data",
    "discreet.query",
    "discreet.learn",
    "discreet.learn.torch",
    "discreet.session",
    "discreet.local",
    "discreet.market",
    "discreet.anonymity",
]
#: Directories that only somebody's machine has; system ones would not be a leak, but do not belong in prose either.
MACHINE_PATH = re.compile(
    r"(?<![\w.~-])/(?:home|root|work|workspace|tmp|Users|opt|mnt|srv|var|private)/\w|\b[A-Z]:\\\w|~/\w"
)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def name_of(path):
    return str(path.relative_to(ROOT))


def need_packages(room):
    """Skip a room that needs an extra that is not installed."""
    if room == "discreet.learn.torch":
        pytest.importorskip("torch")


@pytest.mark.parametrize("room", ROOMS)
def test_every_public_name_is_in_the_documentation(room):
    need_packages(room)
    words = set(re.findall(r"\w+", "\n".join(page.read_text(encoding="utf-8") for page in PAGES)))
    assert set(import_module(room).__all__) <= words


@pytest.mark.parametrize("room", ROOMS[1:])
def test_the_reference_lists_exactly_the_public_names_of_a_room(room):
    """What autodoc is told to show, from one `currentmodule` to the next, is the room's face."""
    need_packages(room)
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    sections = re.split(r"^\.\. currentmodule:: (\S+)$", text, flags=re.MULTILINE)
    section = dict(zip(sections[1::2], sections[2::2], strict=True))[room]
    listed = re.findall(r"^\.\. (?:auto\w+|py:data):: (\w+)$", section, flags=re.MULTILINE)
    assert sorted(listed) == sorted(import_module(room).__all__)


def test_every_verb_of_the_makefile_is_explained():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    verbs = re.search(r"^\.PHONY: (.+)$", makefile, flags=re.MULTILINE).group(1).split()
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "CONTRIBUTING.md"))
    assert verbs
    assert [verb for verb in verbs if not re.search(rf"\bmake {verb}\b", text)] == []


def test_every_room_is_in_the_architecture():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [path.parent.name for path in (ROOT / "src" / "discreet").glob("*/__init__.py")]
    assert len(rooms) == 17
    assert [room for room in rooms if f"`{room}`" not in text] == []


#: The most modules that a folder may have before it is one that nobody looks through.
MOST_MODULES = 25


def described():
    """Return the paragraph of each room whose modules are listed."""
    text = (ROOT / "docs" / "modules.md").read_text(encoding="utf-8")
    inside = text.split("\n## Inside the built rooms\n", 1)[1].split("\n## ", 1)[0]
    return dict(re.findall(r"^`(\w+)`: (.+?)(?=\n\n|\Z)", inside, flags=re.MULTILINE | re.DOTALL))


def named_in(paragraph):
    """Return patterns of the modules that are named: `sql_…` are all that begin so, `report` and its parts its own."""
    words = re.findall(r"`([\w…]+)`(\s+and\s+its\s+parts)?", paragraph)
    return [word.replace("…", r"\w+") + (r"(_\w+)?" if parts else "") for word, parts in words]


@pytest.mark.parametrize("room", described())
def test_every_module_of_a_room_is_listed_and_no_other(room):
    folder = ROOT / "src" / "discreet" / room
    modules = [path.stem for path in folder.glob("*.py") if path.stem != "__init__"]
    modules += [path.parent.name for path in folder.glob("*/__init__.py")]
    named = named_in(described()[room])
    assert [each for each in modules if not any(re.fullmatch(pattern, each) for pattern in named)] == []
    assert [pattern for pattern in named if not any(re.fullmatch(pattern, each) for each in modules)] == []


@pytest.mark.parametrize("room", described())
def test_modules_of_folders_that_are_listed_are_there(room):
    named = re.findall(r"`(\w+)\.(\w+)`", described()[room])
    folder = ROOT / "src" / "discreet" / room
    places = [folder / each[0] / each[1] for each in named]
    assert [place for place in places if not place.is_dir() and not place.with_suffix(".py").exists()] == []


def test_no_folder_has_too_many_modules():
    sizes = {path.parent: len(list(path.parent.glob("*.py"))) for path in (ROOT / "src").rglob("__init__.py")}
    assert {folder.name for folder, size in sizes.items() if size > MOST_MODULES} == set()


def test_all_rooms_that_are_built_are_listed():
    assert set(described()) >= {
        "core",
        "algebra",
        "noise",
        "accounting",
        "mechanisms",
        "data",
        "gate",
        "query",
        "session",
        "cli",
    }


@pytest.mark.parametrize("name", ["docs/architecture.md", "docs/modules.md", "CONTRIBUTING.md"])
def test_no_line_of_prose_is_longer_than_the_code_may_be(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > 120 and not line.startswith("|")] == []


def test_every_example_program_is_mentioned():
    text = "".join(path.read_text(encoding="utf-8") for path in TEXTS)
    programs = [
        path.name for path in (ROOT / "examples").glob("*.py") if "__main__" in path.read_text(encoding="utf-8")
    ]
    assert programs
    assert [name for name in programs if name not in text] == []


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_no_page_names_a_path_of_somebodys_machine(path):
    assert MACHINE_PATH.findall(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_every_link_between_files_leads_somewhere(path):
    targets = [link.split("#")[0] for link in LINK.findall(path.read_text(encoding="utf-8")) if ":" not in link]
    assert [target for target in targets if target and not (path.parent / target).exists()] == []


@pytest.mark.parametrize("path", TEXTS, ids=name_of)
def test_no_fence_follows_an_example_without_a_blank_line(path):
    """Or pytest would take the fence for output, and fail; or for part of an exception's text, and pass."""
    blocks = re.findall(
        r"^```(?:\{doctest\}|python)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
    )
    assert [block for block in blocks if ">>>" in block and not block.endswith("\n\n")] == []


@pytest.mark.parametrize("planted", ["see /home/ada/data", "C:\\Users\\ada", "in ~/notes", "`/tmp/x`"])
def test_a_machine_path_would_be_seen(planted):
    assert MACHINE_PATH.search(planted)


def test_every_attack_is_in_the_threat_table():
    """The table of SECURITY.md names every file of attacks, and no other."""
    table = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    attacks = {path.name for path in (ROOT / "tests" / "attacks").glob("test_*.py")}
    assert set(re.findall(r"`(test_\w+\.py)`", table)) == attacks
