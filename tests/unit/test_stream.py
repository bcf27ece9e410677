"""The stream of random words: never the same draw twice, whatever is forked, copied, pickled or threaded."""

import copy
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from discreet import noise
from discreet.core import WrongType
from discreet.noise import Entropy, stream

FORK = """
import os, sys
from discreet import noise
source = noise.Entropy()
source.words(4), source.word(), noise.laplace(1000)          # keyed, with words to spare
read, write = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        grandchild = os.fork() == 0
        line = " ".join(map(str, [*source.words(4).tolist(), source.word(), noise.SYSTEM.word()]))
        os.write(write, (line + "\\n").encode())
        if not grandchild:
            os.wait()
        os._exit(0)
for _ in range(3):
    os.wait()
os.close(write)
print(os.read(read, 100000).decode(), *source.words(4).tolist(), source.word(), noise.SYSTEM.word())
"""


def test_no_word_is_shared_by_a_process_its_children_and_grandchildren():
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True, timeout=60)
    words = done.stdout.split()
    assert len(words) == 7 * 6
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda source: pickle.loads(pickle.dumps(source))])
def test_a_copy_draws_other_words(again):
    source = Entropy()
    source.word()
    twin = again(source)
    assert not set(source.words(100).tolist()) & set(twin.words(100).tolist())
    assert source.word() != twin.word()


def test_a_pickle_holds_no_key():
    source = Entropy()
    source.word()
    fresh = Entropy()
    assert pickle.dumps(source) == pickle.dumps(fresh)


def test_threads_that_share_a_stream_share_no_word():
    source = Entropy()
    seen: list[int] = []

    def work():
        for _ in range(50):
            seen.extend([source.word(), *source.words(20).tolist()])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8 * 50 * 21
    assert len(set(seen)) == len(seen)


def test_a_key_is_thrown_away_when_it_is_used_up(monkeypatch):
    monkeypatch.setattr(stream, "REKEY_AFTER", 1000)
    source = Entropy()
    source.words(1)
    first = source._keyed.cipher
    words = source.words(1000)  # 8,000 bytes: eight keys
    assert source._keyed.cipher is not first
    assert source._keyed.left <= 1000
    assert len(set(words.tolist())) == 1000


def test_key_and_nonce_come_from_the_operating_system(monkeypatch):
    asked = []

    def urandom(size):
        asked.append(size)
        return bytes(range(size))

    monkeypatch.setattr(stream.os, "urandom", urandom)
    source = Entropy()
    assert asked == []  # no key before the first use
    first = source.words(4)
    assert asked == [32, 16]
    # AES-256-CTR with this key and nonce, from the cipher itself.
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    made = Cipher(algorithms.AES(bytes(range(32))), modes.CTR(bytes(range(16)))).encryptor().update(bytes(32))
    assert first.tobytes() == made


def test_bits_have_the_length_asked_for():
    source = Entropy()
    for count in (0, 1, 63, 64, 65, 200):
        values = [source.bits(count) for _ in range(50)]
        assert all(0 <= value < 1 << count for value in values)
    assert len({source.bits(200) for _ in range(50)}) == 50


def test_every_byte_of_a_buffer_is_overwritten():
    source = Entropy()
    total = np.zeros(300_001, np.uint8)
    for _ in range(4):
        part = np.zeros(300_001, np.uint8)
        source.fill(part)
        total |= part
    assert np.count_nonzero(total == 0) == 0 or np.count_nonzero(total == 0) < 5  # (1/256)⁴ a byte


@pytest.mark.parametrize("impostor", [np.random.default_rng(1), 7, None, "entropy", object()])
def test_nothing_but_the_stream_can_make_noise(impostor):
    with pytest.raises(WrongType, match="not a source of noise"):
        noise.laplace(1, entropy=impostor)


def test_there_is_no_seed_in_the_public_interface():
    with pytest.raises(TypeError):
        Entropy(7)
    assert not any("seed" in name.lower() for name in dir(noise) + dir(Entropy))


FORK_INSIDE = """
import os, sys
from discreet.noise import Entropy, stream
source = Entropy()
source.word()
real, done = stream.process_mark, []
def forking():
    mark = real()
    if len(done) == {when}:
        done.append(0)
        global child
        child = os.fork()
    else:
        done.append(0)
    return mark
stream.process_mark = forking
word = {draw}
stream.process_mark = real
os.write(1, f"{{word}}\\n".encode())
if child:
    os.wait()
else:
    os._exit(0)
"""


@pytest.mark.parametrize("draw", ["source.word()", "int(source.words(1)[0])"])
def test_a_fork_in_the_middle_of_a_draw_repeats_no_word(draw):
    """As a signal handler or a finaliser might do: after the stream was found fresh, before the word is taken."""
    code = FORK_INSIDE.format(when=0, draw=draw)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    words = done.stdout.split()
    assert len(words) == 2
    assert words[0] != words[1]
