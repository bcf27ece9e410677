"""Measures the processor time of `make test` by room, as a table: `python tests/room_times.py`.

A test file belongs to the room that its name begins with, as `test_gate_views.py` does, or else to the room from which
it imports most often; pages, examples and what concerns the whole tree belong to the house. The processor time of
servers that outlive a test, such as PostgreSQL, is not in the table.
"""

import re
import resource
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable

from case_times import ROOT, measure

#: Seconds of processor time that `make test` may take: six minutes on two cores, which do not end at once.
MOST_OF_ALL = 680
ROOMS = frozenset(path.parent.name for path in (ROOT / "src" / "discreet").glob("*/__init__.py")) - {"core"}
HOUSE, COLLECTING = "the house", "collecting, starting"
#: Seconds of them that each room may take (`docs/ci-times.md`), and that a new one may.
BUDGETS = {
    COLLECTING: 85,
    "gate": 70,
    HOUSE: 70,
    "data": 65,
    "algebra": 60,
    "accounting": 50,
    "cli": 50,
    "learn": 50,
    "query": 40,
    "session": 30,
    "mechanisms": 25,
    "anonymity": 15,
    "local": 15,
    "market": 15,
    "noise": 10,
}
NEW_ROOM = 30
IMPORTED = re.compile(r"^\s*(?:from|import) discreet\.(\w+)", flags=re.MULTILINE)


def room_of(name: str, text: str) -> str:
    """Return the room of a test file."""
    first = name.removeprefix("test_").removesuffix(".py").partition("_")[0]
    if first in ROOMS:
        return first
    imported = Counter(room for room in IMPORTED.findall(text) if room in ROOMS)
    return min(imported, key=lambda room: (-imported[room], room), default=HOUSE)


def by_room(times: Iterable[tuple[float, str]]) -> dict[str, list[float]]:
    """Return the times of all tests of each room; names of tests begin with their files."""
    found, rooms = defaultdict[str, list[float]](list), dict[str, str]()
    for seconds, name in times:
        file = name.partition("::")[0]
        if file not in rooms:
            path = ROOT / "tests" / file
            rooms[file] = room_of(path.name, path.read_text()) if path.suffix == ".py" and path.exists() else HOUSE
        found[rooms[file]].append(seconds)
    return found


def to_table(rooms: dict[str, list[float]], others: float) -> str:
    """Write the times as a table, the largest first, beside what a room may take; what takes more is in bold."""
    seconds = {room: sum(times) for room, times in rooms.items()} | {COLLECTING: others}
    lines = ["| room | tests | seconds | of |", "|---|--:|--:|--:|"]
    for room, taken in sorted(seconds.items(), key=lambda one: -one[1]):
        most = BUDGETS.get(room, NEW_ROOM)
        shown = f"{taken:.0f}" if taken <= most else f"**{taken:.0f}**"
        lines.append(f"| {room} | {f'{len(rooms[room]):,}' if room in rooms else ''} | {shown} | {most} |")
    lines.append(f"| all | {sum(map(len, rooms.values())):,} | {sum(seconds.values()):.0f} | {MOST_OF_ALL} |")
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Run what `make test` runs, and print the table."""
    status, lines = measure(words, {"PYTHONDONTWRITEBYTECODE": ""})
    rooms = by_room((seconds, name) for seconds, _, name in lines)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = used.ru_utime + used.ru_stime
    print(to_table(rooms, max(0.0, spent - sum(map(sum, rooms.values())))))
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
