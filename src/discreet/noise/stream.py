"""The stream of random words that all noise is made of.

AES-256 in counter mode, keyed from the operating system. Every thread has its own key; a forked child, a copy
and an unpickled stream have new ones: no draw is ever repeated.
"""

import os
import threading
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from discreet.core import WrongType

#: A key is thrown away after this many bytes, so that who reads the memory learns no older noise, and a machine that
#: was cloned soon parts from its twin. At 2¹⁸ blocks, AES is told from a random function with advantage below 2⁻⁹²
#: (the birthday bound q²/2¹²⁹).
REKEY_AFTER = 1 << 22
#: Zeros to encrypt, and so the largest piece that one call to the cipher makes.
PIECE = memoryview(bytes(1 << 18))
#: Words kept at hand for scalar draws.
SPARE_WORDS = 512

Words = NDArray[np.uint64]


class _Forks:
    """The number of forks between the first use of a stream and this process."""

    count = 0
    watching = False

    @classmethod
    def watch(cls) -> None:
        if not cls.watching:
            cls.watching = True
            os.register_at_fork(after_in_child=cls._count_fork)

    @classmethod
    def _count_fork(cls) -> None:
        cls.count += 1


def process_mark() -> tuple[int, int]:
    """Return a value that differs between this process and any parent or child of it.

    The count of forks alone would miss a fork made by C code; the process number alone would miss a number
    that the system gave out again.
    """
    return _Forks.count, os.getpid()


class _Keyed(threading.local):
    """One thread's cipher. Thread-local, so that no lock can be left held in a forked child."""

    mark: tuple[int, int] | None = None
    left: int = 0
    cipher: CipherContext
    spare: list[tuple[int, float]]


class Entropy:
    """Random words for exact noise; the only source there is.

    There is nothing to configure and no seed: a seeded stream would be a way to take the noise off again.
    """

    __slots__ = ("_keyed",)

    def __init__(self) -> None:
        self._keyed = _Keyed()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), ()  # a copy starts afresh, or both would draw the same noise

    def fill(self, buffer: NDArray[Any]) -> None:
        """Overwrite a contiguous array with random bytes."""
        view = memoryview(buffer.data).cast("B")
        start, size = 0, len(view)
        while start < size:
            keyed = self._fresh()
            mark = keyed.mark
            piece = min(size - start, len(PIECE), keyed.left)
            keyed.left -= piece
            keyed.cipher.update_into(PIECE[:piece], view[start : start + piece])
            if process_mark() == mark:  # or a fork in between, by a signal handler say, has made two of this piece
                start += piece

    def words(self, count: int) -> Words:
        """Return `count` random 64-bit words."""
        words = np.empty(count, np.uint64)
        if count:
            self.fill(words)
        return words

    def word(self) -> int:
        """Return one random 64-bit word."""
        return self.uniform()[0]

    def uniform(self) -> tuple[int, float]:
        """Return a random 64-bit word, and the number in [0, 1] that it begins, as a float.

        Floats are made many at a time, because Python turns smaller integers into floats in less time.
        """
        while True:
            keyed = self._fresh()
            spare, mark = keyed.spare, keyed.mark
            try:
                # pop is one step of the interpreter: a signal handler that draws in between gets another word.
                drawn = spare.pop()
                if process_mark() == mark:  # or a fork in between has made two of this word
                    return drawn
            except IndexError:
                words = self.words(SPARE_WORDS)
                spare.extend(zip(words.tolist(), (words * 2.0**-64).tolist(), strict=True))

    def bits(self, count: int) -> int:
        """Return a random integer of `count` bits."""
        value, have = 0, 0
        while have < count:
            value |= self.word() << have
            have += 64
        return value >> (have - count)

    def _fresh(self) -> _Keyed:
        """Return this thread's cipher, with a new key if it is another process's or has been used up."""
        keyed = self._keyed
        mark = process_mark()
        if keyed.mark != mark or keyed.left <= 0:
            _Forks.watch()
            keyed.cipher = Cipher(algorithms.AES(os.urandom(32)), modes.CTR(os.urandom(16))).encryptor()
            keyed.spare = []
            keyed.left = REKEY_AFTER
            keyed.mark = mark
        return keyed


#: The stream that the public functions draw from; it has no key until its first use.
SYSTEM = Entropy()


def need_entropy(source: object) -> Entropy:
    """Return `source` if it is an Entropy; anything else could be a generator that repeats itself."""
    if not isinstance(source, Entropy):
        raise WrongType(
            f"{type(source).__name__} is not a source of noise.",
            fix="leave entropy out, or pass discreet.noise.Entropy(); other generators cannot be used",
        )
    return source
