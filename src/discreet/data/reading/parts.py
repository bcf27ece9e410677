"""Files that are parts of one table: those of a folder, of folders in it, or of a pattern such as `visits/*.parquet`.

Names of files and folders are public, and so is their number. Parts have the same columns, of the same types, which is
checked by their first lines or footers before any row is read.
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from discreet.core import InvalidInput

#: Signs that stand for others in the name of a file.
SIGNS = "*?["
#: How names of files end that may be parts.
CSV_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
PART_ENDINGS = (*CSV_ENDINGS, ".parquet")
MOST_PARTS = 10_000
#: What stands between a column and its value in the name of a folder (`discreet.data.reading.partitions`).
SIGN = "="
#: Folders within each other; more are a link that leads back.
MOST_LEVELS = 20


def is_several(path: Path) -> bool:
    """Whether a path means the files of a folder, or of a pattern."""
    several = path.is_dir() or any(sign in path.name for sign in SIGNS)
    return several and bool(path.name) and not path.is_file()  # an empty path is the folder where the process runs


def list_parts(path: Path) -> tuple[Path, ...]:
    """Return the files of a table in the order of their names; of a path to one file, that file."""
    if not is_several(path):
        if not path.is_file():
            raise _no_file(path)
        return (_need_plain(path),)
    found = _find_inside(path) if path.is_dir() else _find_matching(path)
    parts = [_need_plain(part) for part in islice(found, MOST_PARTS + 1)]
    if not parts:
        raise _no_file(path)
    if len(parts) > MOST_PARTS:
        raise InvalidInput(f"A table has more than {MOST_PARTS:,} files.", fix="write fewer, larger files")
    if len({_is_named_csv(part) for part in parts}) > 1:
        raise InvalidInput(
            f"Files of different kinds are in {path.name!r}.",
            fix="pass a pattern of one kind, such as visits/*.parquet",
        )
    return tuple(parts)


def _find_inside(folder: Path, level: int = 1) -> Iterator[Path]:
    """Return the files of a folder, or of the folders in it, if their names are columns with values."""
    files, folders = _sort_out(folder.iterdir())
    unnamed = any(not part.name.partition(SIGN)[0] or SIGN not in part.name for part in folders)
    if unnamed or level > MOST_LEVELS or (files and folders):
        raise _needless_folders(folder)
    yield from files
    for inner in folders:
        yield from _find_inside(inner, level + 1)


def _find_matching(path: Path) -> Iterator[Path]:
    """Return the files that a pattern matches."""
    files, folders = _sort_out(_need_folder(path).glob(path.name))
    if folders:
        raise _needless_folders(path)
    yield from files


def _sort_out(found: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return the files that may be parts, and the folders, in the order of their names."""
    inside = sorted((part for part in found if not part.name.startswith((".", "_"))), key=lambda part: part.name)
    folders = [part for part in inside if part.is_dir()]
    files = [part for part in inside if part not in folders and part.name.lower().endswith(PART_ENDINGS)]
    return files, folders


def _needless_folders(path: Path) -> InvalidInput:
    return InvalidInput(
        f"There are folders in {path.name!r} that are no parts of a table.",
        fix="pass one folder of files, or a pattern such as visits/*.parquet; or a folder in which all files are in "
        "folders that are named after a column and its value, such as year=2024",
    )


def has_csv_parts(path: Path) -> bool:
    """Whether the name of a file, or the names of the files in a folder or of a pattern, say that they are CSV."""
    if not is_several(path) or _is_named_csv(path):
        return _is_named_csv(path)
    return _is_named_csv(list_parts(path)[0])


def different_columns(first: Path, other: Path) -> InvalidInput:
    """Return the refusal of two parts with different columns. A first line may be a row, and is not quoted."""
    return InvalidInput(
        f"The files {first.name!r} and {other.name!r} have different columns.",
        fix="write the same columns, in the same order and of the same types, into all files of a table",
    )


def _is_named_csv(path: Path) -> bool:
    return path.name.lower().endswith(CSV_ENDINGS)


def _need_folder(path: Path) -> Path:
    if any(sign in str(path.parent) for sign in SIGNS):
        raise InvalidInput(
            "The path has one of * ? [ in the name of a folder.",
            fix="use them in the names of files only; of folders such as year=2024, pass the folder that they are in",
        )
    return path.parent


def _need_plain(path: Path) -> Path:
    if any(sign in str(path) for sign in SIGNS):
        raise InvalidInput("The path has one of * ? [ in it, which stand for other files.", fix="rename the file")
    return path


def _no_file(path: Path) -> InvalidInput:
    return InvalidInput(f"There is no file {path.name!r} there.", fix="check the path to the data")
