"""A device's purse: paid before it answers, for life, whatever happens in between."""

import copy
import json
import os
import pickle
import subprocess
import sys
import threading
from fractions import Fraction

import pytest

from discreet.core import Bounds, BudgetExceeded, DiscreetError, InvalidInput, LedgerDamaged, LedgerUnavailable
from discreet.local import Hadamard, KaryResponse, NumberResponse, PrefixTree, Purse, Rappor, Survey, Unary
from discreet.noise import Coins

HALF = Fraction(1, 2)
YES = KaryResponse(domain=2, epsilon=HALF)
#: The first line of a purse of ε = 1.
FIRST = b'c3d66714ba08ba0c84f8626e38e8df89 {"epsilon": "1", "kind": "purse"}\n'


class Counted(Coins):
    """Counts how often it is asked."""

    __slots__ = ("asked",)

    def __init__(self):
        self.asked = 0

    def bits(self, count):
        self.asked += 1
        return super().bits(count)


@pytest.fixture(params=["memory", "file"])
def purse(request, tmp_path):
    return Purse(epsilon=1) if request.param == "memory" else Purse.create(tmp_path / "purse", epsilon=1)


def test_the_same_question_has_the_same_answer_and_is_paid_for_once(purse):
    encoder = Unary.optimal(domain=64, epsilon=HALF)
    first = purse.answer("browser", encoder, 3)
    assert {purse.answer("browser", encoder, value) for value in (3, 3, 5, 63)} == {first}
    assert purse.spent == purse.left == HALF


def test_an_answer_that_is_kept_draws_nothing(purse):
    purse.answer("browser", YES, 1)
    coins = Counted()
    purse.answer("browser", YES, 1, coins=coins)
    assert coins.asked == 0


def test_more_than_is_left_is_refused_and_nothing_is_drawn_or_paid(purse):
    purse.answer("a", YES, 1)
    coins = Counted()
    with pytest.raises(BudgetExceeded, match=r"costs ε=0.6; ε=0.5 of 1 is left"):
        purse.answer("b", Hadamard(domain=4, epsilon=Fraction(3, 5)), 1, coins=coins)
    assert coins.asked == 0
    assert purse.left == HALF
    purse.answer("c", YES, 1)
    assert purse.left == 0
    with pytest.raises(BudgetExceeded):
        purse.answer("d", KaryResponse(domain=2, epsilon=Fraction(1, 10**6)), 1)
    assert purse.answer("a", YES, 0) in (0, 1)  # what was answered stays so


def test_another_encoder_or_another_name_is_another_question(purse):
    purse.answer("a", YES, 1)
    purse.answer("a", KaryResponse(domain=3, epsilon=HALF), 1)
    assert purse.left == 0
    with pytest.raises(BudgetExceeded):
        purse.answer("A", YES, 1)


def test_rappor_keeps_its_permanent_answer_and_tells_fresh_copies_of_it():
    purse = Purse(epsilon=2)
    encoder = Rappor.for_epsilon(domain=200, epsilon=HALF, once=Fraction(1, 4))
    reports = [purse.answer("site", encoder, 7) for _ in range(60)]
    assert len(set(reports)) == 60
    assert purse.spent == encoder.epsilon
    # Bits of the permanent answer show in the copies, and are the same whatever the value is later on.
    later = [purse.answer("site", encoder, 150) for _ in range(60)]
    often = [sum(report >> place & 1 for report in reports) for place in range(200)]
    again = [sum(report >> place & 1 for report in later) for place in range(200)]
    mean = sum(often) / 200
    assert sum((a - mean) * (b - mean) for a, b in zip(often, again, strict=True)) > 0


@pytest.mark.parametrize(
    ("encoder", "value"),
    [
        (PrefixTree(length=3, epsilon=HALF), "abc"),
        (Survey(attributes={"a": 2, "b": 2}, epsilon=HALF), {"a": 1}),
        (NumberResponse.hybrid(bounds=Bounds(0, 1), epsilon=HALF), 0.3),
    ],
)
def test_every_kind_of_encoder_is_paid_for(purse, encoder, value):
    report = purse.answer("q", encoder, value)
    assert 0 <= report < encoder.outputs
    assert purse.answer("q", encoder, value) == report
    assert purse.left == HALF


# In a file.


def test_a_purse_outlives_its_process(tmp_path):
    first = Purse.create(tmp_path / "purse", epsilon=1)
    encoder = Unary.optimal(domain=100, epsilon=HALF)
    answer = first.answer("a", encoder, 3)
    again = Purse.open(tmp_path / "purse")
    assert again.epsilon == 1
    assert again.left == HALF
    assert again.answer("a", encoder, 50) == answer
    assert (tmp_path / "purse").stat().st_mode & 0o077 == 0


def test_a_purse_is_neither_begun_again_nor_made_by_opening_it(tmp_path):
    Purse.create(tmp_path / "purse", epsilon=1).answer("a", YES, 1)
    with pytest.raises(InvalidInput, match="a purse is for life"):
        Purse.create(tmp_path / "purse", epsilon=5)
    assert Purse.open(tmp_path / "purse").left == HALF
    with pytest.raises(LedgerUnavailable):
        Purse.open(tmp_path / "nothing")
    with pytest.raises(LedgerUnavailable):
        Purse.create(tmp_path / "no" / "folder", epsilon=1)


@pytest.mark.parametrize("left", [b"", FIRST[:1], FIRST[:-1]])
def test_a_purse_that_a_crash_kept_from_being_begun_can_be_begun(tmp_path, left):
    path = tmp_path / "purse"
    path.write_bytes(left)
    with pytest.raises(LedgerDamaged, match="not a purse"):
        Purse.open(path)
    Purse.create(path, epsilon=1).answer("a", YES, 1)
    assert Purse.open(path).left == HALF


def test_a_file_that_is_something_else_is_not_begun_over(tmp_path):
    path = tmp_path / "letter"
    for text in ("dear diary\n", "dear diary", "3f2a", "\n"):
        path.write_text(text)
        path.chmod(0o644)
        with pytest.raises(InvalidInput, match="already exists at this path"):
            Purse.create(path, epsilon=1)
        assert path.read_text() == text
        assert path.stat().st_mode & 0o777 == 0o644


def test_vectors_within_other_bounds_are_other_questions(purse):
    from discreet.local import VectorResponse

    wide, narrow = (VectorResponse(size=2, bounds=Bounds(0, high), epsilon=HALF) for high in (9, 1))
    purse.answer("v", wide, [1, 2])
    purse.answer("v", narrow, [1, 2])
    assert purse.left == 0


def test_a_purse_whose_file_is_gone_answers_nothing(tmp_path):
    purse = Purse.create(tmp_path / "purse", epsilon=1)
    (tmp_path / "purse").unlink()
    with pytest.raises(LedgerUnavailable):
        purse.answer("a", YES, 1)


def lines(path):
    return path.read_bytes().splitlines(keepends=True)


def test_the_payment_is_on_the_disk_before_the_value_is_looked_at(tmp_path, monkeypatch):
    path = tmp_path / "purse"
    purse = Purse.create(path, epsilon=1)
    seen = []

    class Watching(Coins):
        __slots__ = ()

        def bits(self, count):
            seen.append(json.loads(lines(path)[-1].split(b" ", 1)[1])["kind"])
            return super().bits(count)

    synced = []
    real = os.fsync
    monkeypatch.setattr(os, "fsync", lambda handle: (synced.append(len(lines(path))), real(handle)))
    purse.answer("a", YES, 1, coins=Watching())
    assert set(seen) == {"paid"}
    assert synced == [2, 3]  # the payment by itself, and then the answer


def test_an_answer_that_was_paid_for_and_not_kept_is_drawn_again_for_nothing(tmp_path):
    """As after a crash in between: nobody has seen the first one."""
    path = tmp_path / "purse"
    purse = Purse.create(path, epsilon=1)

    class Crash(Coins):
        __slots__ = ()

        def bits(self, count):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        purse.answer("a", YES, 1, coins=Crash())
    again = Purse.open(path)
    assert again.left == HALF
    again.answer("a", YES, 1)
    assert again.left == HALF


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_torn_last_line_counts_as_never_written(tmp_path, cut):
    path = tmp_path / "purse"
    purse = Purse.create(path, epsilon=1)
    answer = purse.answer("a", YES, 1)
    whole = path.read_bytes()
    purse.answer("b", YES, 1)
    torn = whole + path.read_bytes()[len(whole) :][:cut]
    path.write_bytes(torn)
    again = Purse.open(path)
    assert again.left == HALF
    assert again.answer("a", YES, 0) == answer
    again.answer("b", YES, 1)
    assert Purse.open(path).left == 0


@pytest.mark.parametrize("damage", [lambda data: data.replace(b"1/2", b"1/9", 1), lambda data: b"\n" + data])
def test_a_purse_that_was_changed_answers_nothing(tmp_path, damage):
    path = tmp_path / "purse"
    Purse.create(path, epsilon=1).answer("a", YES, 1)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(LedgerDamaged):
        Purse.open(path).answer("b", YES, 1)


def test_lines_that_were_taken_out_are_missed(tmp_path):
    path = tmp_path / "purse"
    purse = Purse.create(path, epsilon=1)
    purse.answer("a", YES, 1)
    purse.answer("b", YES, 1)
    kept = lines(path)
    path.write_bytes(b"".join([kept[0], *kept[3:]]))
    with pytest.raises(LedgerDamaged):
        Purse.open(path).answer("c", YES, 1)


def test_a_full_disk_lets_nothing_out(tmp_path, monkeypatch):
    purse = Purse.create(tmp_path / "purse", epsilon=1)
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[:10]))
    with pytest.raises(LedgerUnavailable):
        purse.answer("a", YES, 1)
    monkeypatch.undo()
    assert purse.left == 1
    purse.answer("a", YES, 1)
    assert Purse.open(tmp_path / "purse").left == HALF


def test_a_disk_that_cannot_keep_lets_nothing_out(tmp_path, monkeypatch):
    purse = Purse.create(tmp_path / "purse", epsilon=1)

    def fail(handle):
        raise OSError

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(LedgerUnavailable):
        purse.answer("a", YES, 1)


def test_a_line_that_the_disk_would_not_keep_is_not_read_again(tmp_path, monkeypatch):
    """Told from what is only in memory, and lost with the power, it would be drawn twice and paid for once."""
    path = tmp_path / "purse"
    purse, real, calls = Purse.create(path, epsilon=1), os.fsync, []

    def second_fails(handle):
        calls.append(handle)
        if len(calls) == 2:
            raise OSError
        real(handle)

    monkeypatch.setattr(os, "fsync", second_fails)
    with pytest.raises(LedgerUnavailable):
        purse.answer("a", YES, 1)
    assert [b"paid" in line for line in lines(path)] == [False, True]
    told = purse.answer("a", YES, 1)
    assert len(lines(path)) == 3
    assert Purse.open(path).answer("a", YES, 0) == told


def test_a_line_of_somebody_else_is_on_the_disk_before_it_is_told(tmp_path, monkeypatch):
    """Whoever wrote it may have been killed before it was."""
    path, synced = tmp_path / "purse", []
    one, other = Purse.create(path, epsilon=1), Purse.open(path)
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    answer = one.answer("a", YES, 1)
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(len(lines(path))))
    assert other.answer("a", YES, 0) == answer
    assert synced == [3]


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_who_is_interrupted_while_reading_forgets_nothing_that_was_paid(tmp_path, monkeypatch, after):
    path = tmp_path / "purse"
    one, other = Purse.create(path, epsilon=1), Purse.open(path)
    answer = one.answer("a", YES, 1)
    real, seen = Purse._note, []

    def interrupted(self, record):
        seen.append(record)
        if len(seen) == after + 1:
            raise KeyboardInterrupt
        real(self, record)

    monkeypatch.setattr(Purse, "_note", interrupted)
    with pytest.raises(KeyboardInterrupt):
        other.answer("b", YES, 1)
    monkeypatch.undo()
    assert other.answer("a", YES, 0) == answer
    assert other.spent == Purse.open(path).spent
    assert one.spent == other.spent


KILLED = """
import os, signal, sys
from fractions import Fraction
from discreet.local import KaryResponse, Purse

path, call, last = sys.argv[1], sys.argv[2], int(sys.argv[3])
real, done = getattr(os, call), 0


def dying(handle, *rest):
    global done
    done += 1
    if done < last:
        return real(handle, *rest)
    if call == "write":
        real(handle, rest[0][:25])  # torn
    os.kill(os.getpid(), signal.SIGKILL)


purse = Purse.open(path)
setattr(os, call, dying)
for number in range(4):
    told = purse.answer(f"q{number}", KaryResponse(domain=1000, epsilon=Fraction(1, 4)), 7)
    os.writev(1, [f"{number} {told}\\n".encode()])
"""


@pytest.mark.parametrize("call", ["write", "fsync", "ftruncate"])
@pytest.mark.parametrize("last", range(1, 8))
def test_a_device_that_is_killed_has_paid_for_all_that_it_told_and_keeps_it(tmp_path, call, last):
    """Killed at each write, before each of them is on the disk, and with each of them torn."""
    path = tmp_path / "purse"
    Purse.create(path, epsilon=1)
    command = [sys.executable, "-c", KILLED, str(path), call, str(last)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -9
    told = dict(map(int, line.split()) for line in done.stdout.splitlines())
    assert len(told) == (last - 1) // 2  # each takes a payment and an answer
    purse = Purse.open(path)
    encoder = KaryResponse(domain=1000, epsilon=Fraction(1, 4))
    assert purse.spent >= Fraction(len(told), 4)
    assert {number: purse.answer(f"q{number}", encoder, 900) for number in told} == told
    for number in range(4):
        purse.answer(f"q{number}", encoder, 7)
    assert purse.left == 0


def test_two_that_opened_the_same_purse_spend_it_once(tmp_path):
    one, other = Purse.create(tmp_path / "purse", epsilon=1), Purse.open(tmp_path / "purse")
    answer = one.answer("a", YES, 1)
    assert other.answer("a", YES, 0) == answer
    other.answer("b", YES, 1)
    with pytest.raises(BudgetExceeded):
        one.answer("c", YES, 1)


def test_who_comes_second_waits_until_the_first_has_paid(tmp_path):
    """The rival holds the lock, spends all there is, and lets go."""
    path = tmp_path / "purse"
    rival, late, refused = Purse.create(path, epsilon=HALF), Purse.open(path), []

    def ask():
        try:
            late.answer("b", YES, 1)
        except BudgetExceeded:
            refused.append("b")

    with rival._file.lock():
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join(0.2)
        assert thread.is_alive()
        list(rival._file.new())
        rival._pay(("a", "somebody's"), HALF)
    thread.join(20)
    assert refused == ["b"]


def test_threads_at_the_same_time_spend_no_more_than_there_is():
    purse, refused = Purse(epsilon=Fraction(3, 10)), []

    def ask(name):
        try:
            purse.answer(name, KaryResponse(domain=2, epsilon=Fraction(1, 10)), 1)
        except BudgetExceeded:
            refused.append(name)

    threads = [threading.Thread(target=ask, args=(f"q{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert purse.left == 0
    assert len(refused) == 5


def test_a_purse_is_not_copied():
    purse = Purse(epsilon=1)
    for make in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(DiscreetError, match="a second budget"):
            make(purse)


@pytest.mark.parametrize("epsilon", [0, -1, 21, "1", None, float("nan")])
def test_a_purse_of_no_sane_size_is_refused(epsilon):
    with pytest.raises(DiscreetError):
        Purse(epsilon=epsilon)


@pytest.mark.parametrize(
    ("question", "encoder"), [(1, YES), ("", YES), ("x" * 300, YES), ("a", "encoder"), ("a", None)]
)
def test_what_is_no_question_is_refused_and_not_paid(question, encoder):
    purse = Purse(epsilon=1)
    with pytest.raises(DiscreetError):
        purse.answer(question, encoder, 1)
    assert purse.spent == 0


class Giver:
    """What says that it costs less than nothing."""

    def __init__(self, epsilon):
        self.epsilon = epsilon

    def encode(self, value, coins):
        return value

    def __repr__(self):
        return "Giver()"


@pytest.mark.parametrize("cost", [Fraction(-5), Fraction(0)])
def test_what_costs_nothing_or_less_does_not_fill_a_purse(cost):
    purse = Purse(epsilon=1)
    with pytest.raises(DiscreetError):
        purse.answer("a", Giver(cost), 1)
    assert purse.left == 1


# Without NumPy.

DEVICE = """
import sys
for gone in ("numpy", "cryptography", "apsw", "duckdb", "sqlglot", "scipy", "pandas"):
    sys.modules[gone] = None
from fractions import Fraction
from discreet.core import Bounds
from discreet.local import *
"""
USED = """
encoders = [
    (KaryResponse(domain=4, epsilon=1), 2), (Unary(domain=40, epsilon=1), 2), (Unary.symmetric(domain=9, epsilon=1), 2),
    (SubsetSelection(domain=40, epsilon=1), 2), (Hadamard(domain=40, epsilon=1), 2),
    (LocalHashing(domain=40, epsilon=1), 2),
    (Rappor.for_epsilon(domain=40, epsilon=2, once=1), 2), (NumberResponse.hybrid(bounds=Bounds(0, 9), epsilon=2), 4.5),
    (VectorResponse(size=3, bounds=Bounds(0, 9), epsilon=2), [1, 2, 3]), (PrefixTree(length=5, epsilon=1), "word"),
    (Survey(attributes={"a": 2, "b": 5}, epsilon=1), {"a": 1, "b": 4}), (best_encoder(domain=100, epsilon=1), 99),
]
purse = Purse.create(sys.argv[1], epsilon=20)
for number, (encoder, value) in enumerate(encoders):
    report = purse.answer(f"q{number}", encoder, value)
    assert unpack(encoder, pack(encoder, report)) == report
assert Purse.open(sys.argv[1]).spent == purse.spent
assert not [name for name, module in sys.modules.items() if name.split(".")[0] == "numpy" and module]
print(len(encoders))
"""


def test_a_device_needs_nothing_but_python(tmp_path):
    from discreet.local import _FETCHED, __all__

    imports = DEVICE.replace("import *", "import " + ", ".join(sorted(set(__all__) - set(_FETCHED))))
    command = [sys.executable, "-c", imports + USED, str(tmp_path / "purse")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stderr, done.stdout) == ("", "12\n")
