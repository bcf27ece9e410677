"""Engine settings of a session: time and memory of one question."""

import re
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.core import InvalidInput, OutOfRange
from discreet.core.canonical_text import settle
from discreet.core.exact import nearest_float, positive, whole
from discreet.data import EngineSettings

MEMORY = re.compile(r"([0-9]{1,9}) ?(MB|GB)", re.ASCII | re.IGNORECASE)
UNITS = {"MB": 10**6, "GB": 10**9}
#: DuckDB does not work with less.
LEAST_MEMORY = 64 << 20
#: Three years. Clocks of threads do not count much farther.
MOST_SECONDS = 10**8


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """The time of one question in seconds, and the memory in bytes; None is what is usual with an engine.

    Memory may be said as a text, such as 4GB or 512MB.
    """

    seconds: Fraction | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        settle(
            self,
            seconds=None if self.seconds is None else _seconds(self.seconds),
            memory=None if self.memory is None else _memory(self.memory),
        )

    def settings(self, usual: EngineSettings) -> EngineSettings:
        """Return the settings of an engine: the usual ones, but for what was said."""
        timed = usual if self.seconds is None else replace(usual, seconds=nearest_float(self.seconds))
        return timed if self.memory is None else replace(timed, memory=self.memory)

    def settings_elsewhere(self, usual: EngineSettings) -> EngineSettings:
        """Return the settings of an engine that is not ours: its memory is its operator's."""
        if self.memory is not None:
            raise InvalidInput(
                "memory has no effect here: rows stay on their server.",
                fix="leave out `memory`; the server, or Spark, has a setting of its own for it",
            )
        return self.settings(usual)


def _seconds(value: object) -> Fraction:
    seconds = positive(value, "seconds")
    if seconds > MOST_SECONDS:
        raise OutOfRange("seconds is longer than three years.", fix="pass the time of one question, such as seconds=60")
    return seconds


def _memory(value: object) -> int:
    if isinstance(value, str):
        match = MEMORY.fullmatch(value.strip())
        if match is None:
            raise InvalidInput("memory is not an amount of memory.", fix="write 4GB, or 512MB")
        value = int(match[1]) * UNITS[match[2].upper()]
    memory = whole(value, "memory", least=None)
    if memory < LEAST_MEMORY:
        raise InvalidInput("memory is less than DuckDB needs.", fix="write 512MB, or more")
    return memory


def memory_text(memory: int) -> str:
    """Return an amount of memory as TOML: in words, unless it is not whole megabytes."""
    for unit in ("GB", "MB"):
        if memory % UNITS[unit] == 0:
            return f'"{memory // UNITS[unit]}{unit}"'
    return str(memory)
