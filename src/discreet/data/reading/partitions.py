"""Columns whose values stand in the names of folders, as in `visits/year=2024/month=3/*.parquet` (Hive partitions).

Names of folders are public, and so are the values in them: that there is a folder `ward=B` says that there is such a
ward. In which folder a row is, is as private as the row. So the column that says whose a row is cannot stand there.
Values are texts, unless their kind is declared; `__HIVE_DEFAULT_PARTITION__`, or nothing behind the sign, is NULL.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from discreet.algebra.names import literal, quote_name
from discreet.core import InvalidInput
from discreet.data.reading.parts import SIGN, list_parts

#: What stands in place of a value that is missing.
MISSING = ("", "__HIVE_DEFAULT_PARTITION__")


@dataclass(frozen=True, slots=True)
class Partitions:
    """The columns that folders name, from the outermost on, and what each file has in them. Public."""

    names: tuple[str, ...] = ()
    #: For each file, in the order of the parts, one value for each name.
    values: tuple[tuple[str | None, ...], ...] = ()

    @classmethod
    def of(cls, path: Path) -> "Partitions":
        """Read them off the names of folders; refuse files that do not have the same ones."""
        if not path.is_dir():
            return cls()
        pairs = [_read_folders(part.relative_to(path).parts[:-1]) for part in list_parts(path)]
        names = tuple(name for name, _ in pairs[0])
        if len({name.casefold() for name in names}) < len(names) or not all(names):
            raise InvalidInput(
                "Names of folders name one column twice, or none.",
                fix="name a column of its own on each level, as in visits/year=2024/month=3",
            )
        if any(tuple(name for name, _ in own) != names for own in pairs):
            raise InvalidInput(
                f"The folders in {path.name!r} do not all name the same columns.",
                fix="put all files under folders of the same columns, in one order, as in visits/year=2024/month=3",
            )
        return cls(names, tuple(tuple(value for _, value in own) for own in pairs))

    def check_apart(self, columns: Iterable[str]) -> None:
        """Refuse names that columns of the files have, too: it would be open which of the two is meant."""
        folded = {name.casefold() for name in columns}
        for name in self.names:
            if name.casefold() in folded:
                raise InvalidInput(
                    f"Folders name the column {name!r}, which the files have, too.",
                    fix="rename the folders, or leave the column out of the files",
                )

    def check_nobodys(self, columns: Iterable[str | None]) -> None:
        """Refuse a column that leads to the person and stands in the names of folders."""
        leading = {name.casefold() for name in columns if name is not None}
        for name in self.names:
            if name.casefold() in leading:
                raise InvalidInput(
                    f"{name!r} leads to the person, and stands in the names of folders, which are public.",
                    fix="write it into the files as a column, and name folders after something else, such as the month",
                )

    def select(self, part: str) -> str:
        """Return the SQL of the columns, each with a comma before it; `part` is the number of a row's file, from 0."""
        columns = zip(self.names, zip(*self.values, strict=True), strict=True)
        return "".join(f", ({_list(values)})[{part} + 1] AS {quote_name(name)}" for name, values in columns)


def _list(values: Sequence[str | None]) -> str:
    """Return SQL of a list of texts."""
    return f"[{', '.join('NULL' if value is None else literal(value) for value in values)}]::VARCHAR[]"


def _read_folders(folders: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
    """Return the columns that folders name, and their values: what has a sign of paths in it is written as %2F."""
    pairs = (folder.split(SIGN, maxsplit=1) for folder in folders)
    return tuple((_decode(name), None if value in MISSING else _decode(value)) for name, value in pairs)


def _decode(text: str) -> str:
    try:
        text.encode()
        return unquote(text, errors="strict")
    except UnicodeError:
        raise InvalidInput("The name of a folder is not UTF-8.", fix="rename the folder") from None
