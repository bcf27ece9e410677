"""The sparse vector technique as people use and misuse it: wrong calls, finished streams, copies, forks, threads."""

import copy
import dataclasses
import pickle
import runpy
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from discreet.accounting import Pure
from discreet.core import DiscreetError, Finished, WrongType
from discreet.mechanisms import AboveThreshold, NumericSparse, Sparse
from discreet.noise import Entropy
from scripted import Seeded

#: So far from the threshold that noise of scale 20 or less does not matter.
SURE = 10**6
SPARSE = Sparse(epsilon=1, threshold=100, answers=2)
NUMERIC = NumericSparse(epsilon=1, threshold=100, answers=2)
MECHANISMS = [SPARSE, NUMERIC, AboveThreshold(epsilon=1, threshold=100)]

WRONG = {
    "no budget": lambda: Sparse(epsilon=0, threshold=1, answers=1),
    "negative budget": lambda: AboveThreshold(epsilon=-1, threshold=1),
    "budget that is no number": lambda: Sparse(epsilon="1", threshold=1, answers=1),
    "budget that is not finite": lambda: Sparse(epsilon=float("nan"), threshold=1, answers=1),
    "budget that is true": lambda: NumericSparse(epsilon=True, threshold=1, answers=1),
    "budget too small to be meant": lambda: Sparse(epsilon=1e-99, threshold=1, answers=100),
    "real threshold": lambda: Sparse(epsilon=1, threshold=1.5, answers=1),
    "threshold as text": lambda: AboveThreshold(epsilon=1, threshold="high"),
    "no answers": lambda: Sparse(epsilon=1, threshold=1, answers=0),
    "half an answer": lambda: NumericSparse(epsilon=1, threshold=1, answers=0.5),
    "answers without end": lambda: Sparse(epsilon=1, threshold=1, answers=10**13),
    "no sensitivity": lambda: Sparse(epsilon=1, threshold=1, answers=1, sensitivity=0),
    "real sensitivity": lambda: AboveThreshold(epsilon=1, threshold=1, sensitivity=0.5),
    "monotone as a number": lambda: Sparse(epsilon=1, threshold=1, answers=1, monotone=1),
    "monotone as text": lambda: NumericSparse(epsilon=1, threshold=1, answers=1, monotone="yes"),
    "all for the threshold": lambda: Sparse(epsilon=1, threshold=1, answers=1, threshold_share=1),
    "nothing for the values": lambda: NumericSparse(epsilon=1, threshold=1, answers=1, value_share=0),
    "noise from elsewhere": lambda: SPARSE.start(entropy=np.random.default_rng()),
    "no noise": lambda: NUMERIC.start(entropy=None),
    "certainty": lambda: SPARSE.error(1, queries=10),
    "no queries": lambda: SPARSE.error(0.95, queries=0),
    "half a query": lambda: NUMERIC.error(0.95, queries=0.5),
    "certain values": lambda: NUMERIC.value_error(1),
    "answers that are no list": lambda: SPARSE.probability(7, [True]),
    "answers that are not whole": lambda: SPARSE.probability([0.5], [True]),
    "pattern of numbers": lambda: SPARSE.probability([1], [1]),
    "pattern that is no list": lambda: SPARSE.probability([1], None),
    "pattern longer than its answers": lambda: SPARSE.probability([1], [True, False]),
    "answers out of reach": lambda: SPARSE.probability([10**9], [True]),
    "outputs that are truths": lambda: NUMERIC.probability([1], [True]),
    "outputs that are no list": lambda: NUMERIC.probability([1], "5"),
    "truth asked": lambda: SPARSE.start().ask(True),
    "NumPy's truth asked": lambda: SPARSE.start().ask(np.True_),
    "float asked": lambda: SPARSE.start().ask(100.0),
    "NaN asked": lambda: NUMERIC.start().ask(float("nan")),
    "text asked": lambda: SPARSE.start().ask("100"),
    "nothing asked": lambda: NUMERIC.start().ask(None),
    "list asked": lambda: SPARSE.start().ask([100]),
    "array asked": lambda: SPARSE.start().ask(np.array([100, 101])),
    "duration asked": lambda: SPARSE.start().ask(np.timedelta64(100, "D")),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_is_refused_with_a_way_out(case):
    with pytest.raises(DiscreetError) as refusal:
        WRONG[case]()
    assert refusal.value.problem
    assert refusal.value.fix


def test_a_refused_question_does_not_quote_what_it_was_asked():
    with pytest.raises(WrongType) as refusal:
        SPARSE.start().ask(123456.75)
    assert "123456" not in str(refusal.value)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_a_refused_question_changes_nothing(mechanism):
    plain, pestered = mechanism.start(entropy=Seeded(1)), mechanism.start(entropy=Seeded(1))
    for answer in range(60, 140, 5):
        for nonsense in (True, 1.5, "7", None):
            with pytest.raises(WrongType):
                pestered.ask(nonsense)
        assert pestered.ask(answer) == plain.ask(answer)
        assert pestered.positives_left == plain.positives_left
        if plain.finished:
            break


def test_an_answer_of_any_size_and_any_integer_type_is_taken():
    """An error that depended on the size of an exact answer would tell about the data."""
    assert SPARSE.start().ask(10**400) is True
    assert SPARSE.start().ask(-(10**400)) is False
    assert SPARSE.start().ask(np.int16(-30000)) is False
    assert SPARSE.start().ask(np.uint64(2**64 - 1)) is True
    assert type(NUMERIC.start().ask(np.uint64(2**64 - 1))) is int


def test_a_stream_ends_with_its_last_positive_answer_and_not_before():
    stream = SPARSE.start()
    for _ in range(100):
        assert stream.ask(-SURE) is False
    assert stream.positives_left == 2
    assert stream.ask(SURE) is True
    assert (stream.positives_left, stream.finished) == (1, False)
    assert stream.ask(-SURE) is False
    assert stream.ask(SURE) is True
    assert (stream.positives_left, stream.finished) == (0, True)
    for answer in (SURE, -SURE):
        with pytest.raises(Finished):
            stream.ask(answer)


def test_a_stream_of_values_ends_with_its_last_value_and_not_before():
    stream = NUMERIC.start()
    assert stream.ask(-SURE) is None
    values = [stream.ask(SURE), stream.ask(SURE)]
    assert all(abs(value - SURE) < SURE / 2 for value in values)
    assert stream.finished
    with pytest.raises(Finished):
        stream.ask(-SURE)


def test_above_threshold_ends_with_its_first_positive_answer():
    stream = AboveThreshold(epsilon=1, threshold=100).start()
    assert [stream.ask(-SURE), stream.ask(SURE), stream.finished] == [False, True, True]


def test_above_threshold_is_sparse_with_one_answer():
    above = AboveThreshold(epsilon=0.4, threshold=3, sensitivity=2, monotone=True)
    sparse = Sparse(epsilon=0.4, threshold=3, answers=1, sensitivity=2, monotone=True)
    assert above.sparse == sparse
    assert above.cost == sparse.cost == Pure(0.4)
    assert above.error(0.9, queries=5) == sparse.error(0.9, queries=5)
    assert above.probability([1, 5], [False, True]) == sparse.probability([1, 5], [False, True])
    asked = [mechanism.start(entropy=Seeded(2)).ask(3) for mechanism in (above, sparse)]
    assert asked[0] == asked[1]


def test_mechanisms_are_frozen_values_that_read_back_and_can_be_changed_in_one_place():
    for mechanism in MECHANISMS:
        assert pickle.loads(pickle.dumps(mechanism)) == copy.deepcopy(mechanism) == mechanism
        assert hash(mechanism) == hash(copy.copy(mechanism))
        assert dataclasses.replace(mechanism, epsilon=0.1).cost == Pure(Fraction(1, 10))
        with pytest.raises(dataclasses.FrozenInstanceError):
            mechanism.epsilon = 2


def test_extreme_parameters_neither_fail_nor_overflow():
    faint = Sparse(epsilon=1e-90, threshold=0, answers=10)
    assert faint.error(0.95, queries=10**9) > 10**91
    assert faint.start().ask(10**99) is True
    loud = NumericSparse(epsilon=1e50, threshold=0, answers=10)
    assert loud.error(0.95, queries=10**9) == loud.value_error(0.95) == 0
    assert loud.start().ask(3) == 3
    assert loud.probability([3, -3], [3, None]) == pytest.approx(1)
    sure = 1 - Fraction(1, 10**90)
    assert SPARSE.error(0.95, queries=10) < SPARSE.error(sure, queries=10) < 100 * SPARSE.error(0.95, queries=10)


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
def test_a_stream_shows_none_of_its_noise(mechanism):
    shown = {repr(mechanism.start()) + str(mechanism.start()) for _ in range(20)}
    assert len(shown) == 1
    assert not hasattr(mechanism.start(), "__dict__")


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: type(mechanism).__name__)
@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, pickle.dumps, lambda stream: stream.__getstate__()],
    ids=["copy", "deepcopy", "pickle", "getstate"],
)
def test_a_stream_is_not_copied(mechanism, duplicate):
    stream = mechanism.start()
    with pytest.raises(WrongType, match="twice"):
        duplicate(stream)
    assert stream.ask(-SURE) in (False, None)


FORK = """
import os, signal, sys, threading
from discreet.core import Finished
from discreet.mechanisms import NumericSparse, Sparse

for mechanism in (Sparse(epsilon=1, threshold=0, answers=1), NumericSparse(epsilon=1, threshold=0, answers=1)):
    stream = mechanism.start()
    lock = getattr(stream, "_comparisons", stream)._lock
    with lock:  # as if another thread were asking at this moment
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # or a child that waits for the lock would wait for ever
            try:
                stream.ask(5)
            except Finished as refusal:
                mechanism.start().ask(5)  # a stream of one's own is fine
                os._exit(0 if refusal.fix else 2)
            os._exit(1)
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        sys.exit("the child went on")
    stream.ask(-(10**9))  # the parent may go on
print("refused")
"""


def test_a_forked_child_is_refused_even_while_the_lock_is_held():
    run = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60, check=False)
    assert (run.stdout, run.stderr) == ("refused\n", "")


class Rival(Entropy):
    """A source of noise that lets another thread ask while the first one is drawing."""

    def __init__(self):
        super().__init__()
        self.thread = None

    def word(self) -> int:
        thread, self.thread = self.thread, None
        if thread is not None:
            thread.start()
            thread.join(timeout=0.3)  # long enough to finish, if nothing holds it back
        return super().word()


def test_two_threads_cannot_both_get_the_last_positive_answer():
    entropy, got = Rival(), []
    stream = AboveThreshold(epsilon=1, threshold=100).start(entropy=entropy)

    def ask():
        try:
            got.append(stream.ask(SURE))
        except Finished:
            got.append("refused")

    rival = entropy.thread = threading.Thread(target=ask)
    ask()
    rival.join()
    assert got == [True, "refused"]


def test_many_threads_share_the_positive_answers():
    stream, got = Sparse(epsilon=1, threshold=100, answers=5).start(), []
    start = threading.Barrier(8)

    def ask():
        start.wait()
        with pytest.raises(Finished):
            got.extend(stream.ask(SURE) for _ in range(50))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [True] * 5


def test_the_example_runs(capsys):
    example = Path(__file__).parents[2] / "examples" / "watch_threshold.py"
    runpy.run_path(str(example))["main"]()
    told = capsys.readouterr().out
    assert "ε = 1" in told
    assert "days of 60" in told
