"""DuckDB as the reader of files and frames: how an instance is started, before any row is in it."""

from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from weakref import finalize

from discreet.data.engine_rules import MEBIBYTE, EngineSettings

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

#: What is set before the first statement.
AT_FIRST = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "preserve_insertion_order": "true",
}


def connect(
    database: str, settings: EngineSettings, *, read_only: bool = False, spill: str = ""
) -> "DuckDBPyConnection":
    """Start an engine. Rows that do not fit its memory are spilt to a directory; there is none by default."""
    import duckdb  # noqa: PLC0415 - slow to load, and not needed before there is a table

    configuration = {**_configuration(settings), "temp_directory": spill}
    return duckdb.connect(database, read_only=read_only, config=configuration)


def connect_spilling(database: str, settings: EngineSettings, *, read_only: bool = False) -> "DuckDBPyConnection":
    """Start an engine that spills rows to a folder for their owner alone, which goes with the engine.

    Otherwise whether a question fits into memory would depend on rows.
    """
    folder = mkdtemp(prefix="discreet-")
    try:
        connection = connect(database, settings, read_only=read_only, spill=folder)
    except BaseException:
        rmtree(folder, ignore_errors=True)
        raise
    finalize(connection, rmtree, folder, ignore_errors=True)
    return connection


def _configuration(settings: EngineSettings) -> dict[str, Any]:
    """Return what DuckDB is told when it is started."""
    limits = {} if settings.threads is None else {"threads": str(settings.threads)}
    if settings.memory is not None:
        limits["memory_limit"] = f"{settings.memory // MEBIBYTE}MiB"
    return {**AT_FIRST, **limits}
