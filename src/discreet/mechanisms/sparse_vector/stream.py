"""The sparse vector technique while it runs: objects that hold secret noise and answer one query at a time."""

import threading
from fractions import Fraction
from typing import NoReturn

from discreet.core import Finished, WrongType, whole
from discreet.mechanisms.laplace import Laplace
from discreet.noise import Entropy, laplace, process_mark


class SparseStream:
    """Reports for one query after another whether it is above the noisy threshold, until its positives are used up.

    Made by `Sparse.start` and `AboveThreshold.start`, which state the guarantee. The noise on the threshold is drawn
    once and kept secret: it is not printed, and the stream is not copied, pickled or carried on in a forked child,
    where the same noise would serve twice.
    """

    __slots__ = ("_bar", "_entropy", "_left", "_lock", "_mark", "_positives", "_scale")

    def __init__(
        self, *, threshold: int, positives: int, threshold_scale: Fraction, query_scale: Fraction, entropy: Entropy
    ) -> None:
        self._entropy = entropy
        self._bar = threshold + laplace(threshold_scale, entropy=entropy)
        self._scale = query_scale
        self._positives = self._left = positives
        self._mark = process_mark()
        self._lock = threading.Lock()

    def ask(self, answer: int) -> bool:
        """Return whether a query's exact answer, with fresh noise, reaches the noisy threshold.

        Any integer will do: a refusal that depended on its size would tell about the data.
        """
        value = whole(answer, "answer", least=None)
        # First of all: in a forked child the lock may be held for ever by a thread that is not there.
        if process_mark() != self._mark:
            raise Finished(
                "This stream was started in another process.",
                fix="ask in the process that started it, or pay for a new stream and start it here",
            )
        with self._lock:  # or two threads could both be given the last positive answer
            if not self._left:
                raise Finished(
                    f"This stream has given all its positive answers: {self._positives}.",
                    fix="pay for a new stream and start it, or ask for more answers at the outset",
                )
            above = value + laplace(self._scale, entropy=self._entropy) >= self._bar
            self._left -= above
            return above

    @property
    def positives_left(self) -> int:
        """The number of positive answers still to come."""
        return self._left

    @property
    def finished(self) -> bool:
        """Whether the last positive answer has been given."""
        return self._left == 0

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._left} of {self._positives} positive answers left>"

    def __reduce__(self) -> NoReturn:
        raise refuse_copy()

    def __getstate__(self) -> NoReturn:
        raise refuse_copy()


class NumericSparseStream:
    """A `SparseStream` that gives a noisy value, instead of True, for a query above the threshold.

    Made by `NumericSparse.start`, which states the guarantee.
    """

    __slots__ = ("_comparisons", "_entropy", "_values")

    def __init__(self, *, comparisons: SparseStream, values: Laplace, entropy: Entropy) -> None:
        self._comparisons = comparisons
        self._values = values
        self._entropy = entropy

    def ask(self, answer: int) -> int | None:
        """Return a noisy value if a query's exact answer reaches the noisy threshold, and None if not."""
        if not self._comparisons.ask(answer):
            return None
        # The noise of the comparison is known to be large, so the value needs noise of its own.
        return self._values.perturb(int(answer), entropy=self._entropy)

    @property
    def positives_left(self) -> int:
        """The number of values still to come."""
        return self._comparisons.positives_left

    @property
    def finished(self) -> bool:
        """Whether the last value has been given."""
        return self._comparisons.finished

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.positives_left} values left>"

    def __reduce__(self) -> NoReturn:
        raise refuse_copy()

    def __getstate__(self) -> NoReturn:
        raise refuse_copy()


def refuse_copy() -> WrongType:
    """Return the refusal of what copy, deepcopy and pickle ask for; they expect a TypeError."""
    return WrongType(
        "A stream cannot be copied or pickled: its secret noise would serve twice.",
        fix="keep the mechanism, which can be copied, and start one stream for each payment",
    )
