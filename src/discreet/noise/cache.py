"""Tables that have proved their worth: built once a shape is drawn from often enough, then kept."""

from typing import TypeVar

from discreet.noise.shapes import Shape
from discreet.noise.table import BlockTable, build

Name = TypeVar("Name")
Kept = TypeVar("Kept")

#: Building a table takes about as long as this many single draws.
WORTH = 384
#: A request this small is always faster without a table.
FEW = 8
#: Shapes remembered; a table takes about half a megabyte.
MOST = 128


class TableCache:
    """The tables of the shapes that came to need one last.

    Which path a draw takes depends on public numbers only: shape, size and how often they were asked for. There is no
    lock: two threads may build the same table at once, which costs time and nothing else.
    """

    __slots__ = ("_tables", "_wanted")

    def __init__(self) -> None:
        self._tables: dict[tuple[Shape, bool], BlockTable] = {}
        self._wanted: dict[Shape, int] = {}

    def find(self, shape: Shape, count: int) -> BlockTable | None:
        """Return the shape's table, or None if `count` draws are cheaper without."""
        if count <= FEW:
            return None
        if (shape, False) not in self._tables:
            wanted = self._wanted.get(shape, 0) + count
            if wanted < WORTH:
                _remember(self._wanted, shape, wanted)
                return None
        return self.kept(shape)

    def kept(self, shape: Shape, *, rounded: bool = False) -> BlockTable:
        """Return the shape's table, built if it is not there."""
        table = self._tables.get((shape, rounded))
        if table is None:
            table = build(shape, rounded=rounded)
            _remember(self._tables, (shape, rounded), table)
        return table


def _remember(store: dict[Name, Kept], name: Name, value: Kept) -> None:
    store[name] = value
    for oldest in list(store)[:-MOST]:
        store.pop(oldest, None)


TABLES = TableCache()
