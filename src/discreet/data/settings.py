"""Engine settings: the memory, threads and seconds that an engine may take."""

from dataclasses import dataclass

from discreet.core.exact import positive, whole
from discreet.core.frozen import settle

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How much an engine may take: memory in bytes, threads, seconds for a question; None leaves it to the engine."""

    memory: int | None = None
    threads: int | None = None
    seconds: float = 600

    def __post_init__(self) -> None:
        settle(
            self,
            memory=None if self.memory is None else whole(self.memory, "memory", least=64 * MEBIBYTE),
            threads=None if self.threads is None else whole(self.threads, "threads"),
            seconds=float(positive(self.seconds, "seconds")),
        )


DEFAULT_SETTINGS = EngineSettings()
#: Tables on Spark are large, so a question may take an hour.
SPARK_SETTINGS = EngineSettings(seconds=3600)
