"""Frames under the names of views, so that statements can name them: for as long as they are asked, and no longer."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from discreet.data.spark.frames import SparkFrame


@contextmanager
def views(frames: Mapping[str, SparkFrame], names: Mapping[str, str]) -> Iterator[None]:
    """Let statements name frames, for as long as this lasts."""
    try:
        for table, frame in frames.items():
            frame.frame.createTempView(names[table])
        yield
    finally:
        for table, frame in frames.items():
            with suppress(Exception):  # a session that is gone has no views
                frame.frame.sparkSession.catalog.dropTempView(names[table])
