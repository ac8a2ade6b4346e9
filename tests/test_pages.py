"""Memory of large results is lent to one at a time, used again, and given back."""

import gc
import subprocess
import sys
import threading

import numpy as np
import pytest

from numbatok import pages
from numbatok.memory import HUGE_PAGE
from numbatok.pages import LARGE, lend, settle

pytestmark = pytest.mark.skipif(lend(LARGE) is None, reason="this system lends no pages of 2 MB")


@pytest.fixture(autouse=True)
def _nothing_kept(monkeypatch):
    monkeypatch.setattr(pages, "_kept", {})


def address(memory):
    return memory.ctypes.data


def test_small_memory_is_not_lent():
    assert lend(LARGE - 1) is None
    assert lend(LARGE).size == LARGE


def test_memory_is_lent_again_once_the_last_view_is_gone():
    memory = lend(LARGE)
    place, view = address(memory), memory.view(np.uint32)[5:10]
    del memory
    other = lend(LARGE)
    assert address(other) != place
    del view
    gc.collect()
    assert address(lend(LARGE)) == place


def test_memory_of_another_size_is_not_lent():
    memory = lend(4 * LARGE)
    place = address(memory)
    del memory
    small = lend(LARGE)
    assert address(small) != place
    assert address(lend(3 * LARGE)) == place  # a power of two holds both


def test_what_is_behind_a_small_result_goes_back_to_the_system():
    memory = lend(8 * LARGE)
    memory[:] = 7
    place = address(memory)
    del memory
    memory = lend(8 * LARGE)
    assert address(memory) == place
    memory[:10] = 9
    settle(memory, 10)
    assert (memory[:10] == 9).all()
    assert (memory[HUGE_PAGE:] == 0).all()


def test_what_is_behind_a_result_of_about_the_same_size_stays():
    memory = lend(8 * LARGE)
    memory[:] = 7
    del memory
    memory = lend(8 * LARGE)
    memory[: 5 * LARGE] = 9
    settle(memory, 5 * LARGE)
    assert (memory[: 5 * LARGE] == 9).all()


def test_no_more_is_kept_than_the_bound(monkeypatch):
    monkeypatch.setattr(pages, "KEPT_BYTES", 3 * LARGE)
    lent = [lend(LARGE) for _ in range(5)]
    lent.append(lend(4 * LARGE))
    del lent[:]
    gc.collect()
    kept = [n for rows in pages._kept.values() for _, n in rows]
    assert 0 < sum(kept) <= 3 * LARGE


def test_settle_leaves_other_arrays_alone():
    settle(np.zeros(10, np.uint8), 3)


def test_two_results_share_no_memory(gpt2):
    text = "Hello, world. " * 120_000
    first = gpt2.encode(text)
    second = gpt2.encode(text)
    assert not np.shares_memory(first, second)
    expected = first.copy()
    del first
    gc.collect()
    third = gpt2.encode(text)
    assert np.array_equal(second, expected) and np.array_equal(third, expected)
    assert not np.shares_memory(second, third)


def test_threads_never_hold_the_same_memory():
    wrong = []

    def work(mark):
        for _ in range(50):
            memory = lend(LARGE)
            memory[::4096] = mark
            if not (memory[::4096] == mark).all():
                wrong.append(mark)
            del memory

    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


LIMITED = """
import resource, numpy as np, numbatok
tok = numbatok.load("gpt2")
first = tok.encode(" hello" * 4_000_000)
del first
resource.setrlimit(resource.RLIMIT_AS, (2_000_000_000, resource.RLIM_INFINITY))
user = np.empty(500_000_000, np.uint8)
for n in (8_000_000, 20_000_000, 1_000_000, 20_000_000):
    ids = tok.encode(" hello" * n)
    assert ids.size == n and int(ids[-1]) == int(ids[0])
    del ids
"""

LOCKED = """
import ctypes, numbatok
from numbatok import pages
libc = ctypes.CDLL(None)
tok = numbatok.load("gpt2")
ids = tok.encode(" b c" * 1_300_000)
place = ids.ctypes.data
del ids
if libc.mlock(ctypes.c_void_p(place + (6 << 20)), 4096) == 0:
    ids = tok.encode(" hello" * 900_000)
    assert ids.size == 900_000
    del ids
    assert tok.encode(" hello" * 900_000).size == 900_000
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits and locks of Linux")
@pytest.mark.parametrize("program", [LIMITED, LOCKED])
def test_where_memory_is_limited_or_locked(program):
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
