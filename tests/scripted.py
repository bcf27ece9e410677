"""Streams whose words a test chooses. They live here, out of reach of the package."""

from collections.abc import Iterable

import numpy as np

from discreet.noise import Entropy


class Scripted(Entropy):
    """Hands out the given 64-bit words one after another, to scalar and array draws alike.

    Array draws of narrower types take their bytes from the words' lowest bytes: one word an element.
    Running out of words is an error, so that a test knows exactly how much was consumed.
    """

    def __init__(self, words: Iterable[int]) -> None:
        super().__init__()
        self._script = list(words)[::-1]

    @property
    def left(self) -> int:
        return len(self._script)

    def uniform(self) -> tuple[int, float]:
        word = self._script.pop()
        return word, word * 2.0**-64

    def fill(self, buffer) -> None:
        flat = buffer.reshape(-1)
        mask = (1 << (8 * flat.itemsize)) - 1
        flat[:] = np.array([self._script.pop() & mask for _ in range(len(flat))], np.uint64).astype(flat.dtype)


class Seeded(Entropy):
    """A reproducible stream for statistical tests, so that a passing test keeps passing."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._generator = np.random.Generator(np.random.Philox(seed))

    def __reduce__(self):
        raise TypeError("a test stream is not copied")

    def uniform(self) -> tuple[int, float]:
        word = int(self._generator.integers(0, 1 << 64, dtype=np.uint64))
        return word, word * 2.0**-64

    def fill(self, buffer) -> None:
        flat = buffer.reshape(-1)
        flat.view(np.uint8)[:] = np.frombuffer(self._generator.bytes(flat.nbytes), np.uint8)
