"""Group commit: whoever comes first works for all who wait, and each hears of its own."""

import errno
import gc
import os
import resource
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core import LedgerUnavailable
from discreet.gate.stores import process_queue as queues
from discreet.gate.stores.process_queue import ProcessQueue
from discreet.gate.stores.protocol import Accepted, Refused
from discreet.gate.stores.thread_queue import ThreadQueue
from group_commits import accepted, asked, joined, submitted

#: Nothing here takes longer, unless it hangs.
SECONDS = 30
#: More files than `select` has room for.
MANY = 1100


@given(st.lists(st.tuples(st.binary(max_size=9), st.none() | st.binary(max_size=9))))
def test_proposals_are_read_back_from_a_slot(proposals):
    assert queues._unpack_proposals(queues._pack_proposals(proposals)) == proposals


@given(
    st.lists(
        st.builds(Accepted, st.integers(1), st.text(), fresh=st.booleans())
        | st.builds(Refused, st.text(), st.text(), st.text())
    )
)
def test_outcomes_are_read_back_from_a_slot(outcomes):
    assert queues._unpack_outcomes(queues._pack_outcomes(outcomes)) == outcomes


def placed(queue, commit, at_work, first, others):
    """Let threads ask when the first is at work; return what each gave or met, by name."""
    met = {}

    def ask(name):
        try:
            met[name] = asked(queue, (name.encode(), None), commit)
        except BaseException as error:  # noqa: BLE001 - an interrupt is what is looked for
            met[name] = error

    threads = [threading.Thread(target=ask, args=[name]) for name in [first, *others]]
    threads[0].start()
    assert at_work.wait(SECONDS)
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    return met


def test_threads_that_wait_are_served_together():
    groups, queue, at_work = [], None, threading.Event()

    def commit(proposals):
        groups.append(len(proposals))
        at_work.set()
        while len(groups) == 1 and len(queue._waiting) < 4:
            pass
        return accepted(proposals)

    queue = ThreadQueue(joined)
    met = placed(queue, commit, at_work, "a", ["bb", "ccc", "dddd", "eeeee"])
    assert groups == [1, 4]
    assert {name: one.number for name, one in met.items()} == {name: len(name) for name in met}


def test_an_interrupt_is_heard_by_one_and_the_others_may_ask_again():
    calls, queue, at_work = [], None, threading.Event()

    def commit(proposals):
        calls.append(len(proposals))
        at_work.set()
        while len(calls) == 1 and len(queue._waiting) < 3:
            pass
        if len(calls) == 2:
            raise KeyboardInterrupt
        return accepted(proposals)

    queue = ThreadQueue(joined)
    met = placed(queue, commit, at_work, "a", ["bb", "ccc", "dddd"])
    kinds = sorted(type(one).__name__ for one in met.values())
    assert kinds == ["Accepted", "KeyboardInterrupt", "LedgerUnavailable", "LedgerUnavailable"]
    assert asked(queue, (b"again", None), commit).number == 5


def test_a_folder_without_room_is_a_refusal(tmp_path, monkeypatch):
    queue = ProcessQueue(tmp_path / "queue")
    real = os.pwrite

    def full(handle, data, at):
        if len(data) > 20:
            raise OSError(errno.ENOSPC, "no room")
        return real(handle, data, at)

    def half(handle, data, at):
        return real(handle, data[: len(data) // 2] if len(data) > 20 else data, at)

    for broken in (full, half):
        monkeypatch.setattr(os, "pwrite", broken)
        with pytest.raises(LedgerUnavailable, match="cannot be used"):
            submitted(queue, [(b"x" * 50, None)], accepted)
        monkeypatch.setattr(os, "pwrite", real)
        assert submitted(queue, [(b"x" * 50, None)], accepted)[0].number == 50
    queue.close()
    assert [one.name for one in (tmp_path / "queue").iterdir() if one.name != "lock"] == []


def test_a_busy_server_has_room_for_one_more_file(tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 2 * MANY:
        pytest.skip("this machine allows no more files than select has room for")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 2 * MANY), hard))
    others = [os.open(os.devnull, os.O_RDONLY) for _ in range(MANY)]
    queue = ProcessQueue(tmp_path / "queue")
    try:
        queue._wait(0.001)
        assert submitted(queue, [(b"four", None)], accepted)[0].number == 4
    finally:
        queue.close()
        for other in others:
            os.close(other)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_queue_that_was_dropped_leaves_nothing_behind(tmp_path):
    kept = ProcessQueue(tmp_path / "queue")
    gc.collect()  # what other tests left
    before = len(list(Path("/dev/fd").iterdir()))
    for _ in range(5):
        ProcessQueue(tmp_path / "queue")
    gc.collect()
    assert len(list(Path("/dev/fd").iterdir())) == before
    assert sum(one.name.startswith("slot-") for one in (tmp_path / "queue").iterdir()) == 1
    kept.close()
