"""Imports that the command line keeps: a second question about an unchanged file does not read the file again.

There is one for each settings file, in the folder `imports` of the user's state; `discreet.data.duckdb.importing` says
what it was made of, and replaces it when that is something else. It is a copy of private rows, for its owner alone.
"""

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from shutil import disk_usage

from discreet.core import DiscreetError
from discreet.core.private_files import PRIVATE_FOLDER, discard_abandoned, narrow_files, state_folder
from discreet.session import Settings
from discreet.session.source_columns import list_parts

#: How names of imports end.
ENDING = ".rows"
#: Smaller files are imported sooner than a copy of them is written.
LEAST_BYTES = 1_000_000
#: An import is kept if the disk has room for so many times the source.
ROOM = 10
#: For how long an import is kept, in seconds: thirty days.
LONGEST = 30 * 24 * 3600


def imports_folder() -> Path:
    """Return the folder of imports that are kept."""
    return state_folder() / "imports"


def keep_import(project: Path, settings: Settings) -> Settings:
    """Return settings that name the place of the import, if one is to be kept; otherwise rows stay in memory."""
    with suppress(OSError, DiscreetError):  # what is wrong with the source is said when it is opened
        size = _size_of_sources(settings)
        if settings.cache and settings.store is None and size >= LEAST_BYTES:
            folder = _make_folder()
            if disk_usage(folder).free >= ROOM * size:
                return replace(settings, store=place_of_import(project))
    return settings


def place_of_import(project: Path) -> Path:
    """Return the folder of a settings file's import, whichever its rows and declarations are now."""
    return imports_folder() / f"{sha256(bytes(project.resolve())).hexdigest()[:32]}{ENDING}"


def list_imports() -> list[Path]:
    """Return the imports that are kept."""
    return sorted(imports_folder().glob(f"*{ENDING}"))


def clear_imports() -> int:
    """Delete all imports, and what killed processes have left of theirs; return how many there were."""
    places = list_imports()
    for place in places:
        place.unlink(missing_ok=True)
    discard_abandoned(imports_folder())
    return len(places)


def _make_folder() -> Path:
    """Return the folder, for its owner alone, without what is too old."""
    folder = imports_folder()
    folder.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    narrow_files([folder])
    discard_abandoned(folder)
    for place in list_imports():
        if place.stat().st_mtime < time.time() - LONGEST:
            place.unlink(missing_ok=True)
    return folder


def _size_of_sources(settings: Settings) -> int:
    """Return the bytes of all private files; tables of a server have none."""
    places = settings.source.values() if isinstance(settings.source, Mapping) else (settings.source,)
    files = [part for place in places if isinstance(place, Path) for part in list_parts(place)]
    return sum(file.stat().st_size for file in files)
