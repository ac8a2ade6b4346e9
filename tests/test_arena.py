"""Ids of short texts are in blocks of an arena: each is somebody's alone, and comes back."""

import os
import random
import subprocess
import sys
import threading

import numpy as np
import pytest

import numbatok
from numbatok import arena as arena_module
from numbatok.arena import block_sizes
from numbatok.built_in import word
from numbatok.small_calls import SMALL_TEXT
from numbatok.tables import (
    ARENA_CLASSES,
    ARENA_EMPTY,
    ARENA_FIRST,
    ARENA_N_EMPTY,
    ARENA_N_PAGES,
    ARENA_N_USED,
    ARENA_PAGES,
    ARENA_SELF,
    BLOCK_STEP,
    EMPTY_KEPT,
    LARGEST_BLOCK,
    LEAST_BLOCK,
    PAGE_BITS,
    PAGE_NEXT,
    PAGE_ROW,
    PAGE_TAKEN,
)

LONG = "hello world, "  # 3 ids


@pytest.fixture
def arena(gpt2):
    gpt2.encode("a")
    found = arena_module._arena()
    if found is None:
        pytest.skip("this system has no arena")
    return found


def taken(arena):
    return int(arena[ARENA_PAGES + PAGE_TAKEN :: PAGE_ROW].sum())


def is_in(arena, ids):
    size = int(arena[ARENA_N_PAGES]) << PAGE_BITS
    return 0 <= ids.ctypes.data - int(arena[ARENA_FIRST]) < size


def test_every_size_has_a_block(arena):
    sizes = np.array(block_sizes())
    assert sizes[0] == LEAST_BLOCK and sizes[-1] == LARGEST_BLOCK
    for n_bytes in range(LEAST_BLOCK, LARGEST_BLOCK + 1, 4):
        size = sizes[arena[ARENA_CLASSES + -(-n_bytes // BLOCK_STEP)]]
        assert n_bytes <= size <= max(1.25 * (n_bytes + BLOCK_STEP), LEAST_BLOCK)


def test_short_results_are_not_in_the_arena(arena, gpt2):
    assert not is_in(arena, gpt2.encode(LONG * 100))  # 1,201 bytes of ids
    ids = gpt2.encode(LONG * 200)
    assert is_in(arena, ids) and ids.ctypes.data % 64 == 0
    assert ids.flags.writeable and ids.flags.c_contiguous and ids.flags.aligned


def test_a_view_keeps_a_block(arena, gpt2):
    before = taken(arena)
    ids = gpt2.encode(LONG * 500)
    view, place = ids[3:9], ids.ctypes.data
    expected = view.tolist()
    del ids
    assert taken(arena) == before + 1
    others = [gpt2.encode("b c " * 500) for _ in range(10)]
    assert view.tolist() == expected
    assert place not in [ids.ctypes.data for ids in others]
    del others, view
    assert taken(arena) == before


def test_results_that_come_and_go(arena, gpt2):
    chance = random.Random(1)
    texts = [LONG * chance.randint(1, 1250) for _ in range(200)]
    expected = [np.array(gpt2.encode_batch([text]).ids) for text in texts]
    before, held = taken(arena), []
    for _ in range(20_000):
        number = chance.randrange(len(texts))
        held.append((number, gpt2.encode(texts[number])))
        while len(held) > 500 or (held and chance.random() < 0.4):
            at = chance.randrange(len(held))
            held[at], held[-1] = held[-1], held[at]
            number, ids = held.pop()
            assert np.array_equal(ids, expected[number])
    held.clear()
    del ids
    assert taken(arena) == before


def test_empty_pages_give_their_memory_back(arena, gpt2):
    held = [gpt2.encode(LONG * 1250) for _ in range(3 * EMPTY_KEPT * (1 << PAGE_BITS) // 16_000)]
    n_used = int(arena[ARENA_N_USED])
    held.clear()
    empty, page = [], int(arena[ARENA_EMPTY])
    while page:
        empty.append(page - 1)
        page = int(arena[ARENA_PAGES + PAGE_ROW * (page - 1) + PAGE_NEXT])
    assert len(empty) == arena[ARENA_N_EMPTY] > 2 * EMPTY_KEPT
    assert len(set(empty)) == len(empty) and max(empty) < n_used
    starts = [word(int(arena[ARENA_FIRST]) + (k << PAGE_BITS)) for k in empty]
    assert sum(start == arena[ARENA_SELF] for start in starts) <= EMPTY_KEPT
    again = [gpt2.encode(LONG * 1250) for _ in range(3000)]
    assert all(np.array_equal(ids, again[0]) for ids in again)
    assert arena[ARENA_N_USED] == n_used


def test_a_full_arena_leaves_results_to_numpy(arena, gpt2):
    expected, n_pages = gpt2.encode(LONG * 1000).copy(), int(arena[ARENA_N_PAGES])
    arena[ARENA_N_PAGES] = arena[ARENA_N_USED]
    try:
        n = (int(arena[ARENA_N_USED]) << PAGE_BITS) // 12_000 + 100
        results = [gpt2.encode(LONG * 1000) for _ in range(n)]
        assert results[-1].flags.owndata and not results[0].flags.owndata
        assert all(np.array_equal(ids, expected) for ids in results)
    finally:
        arena[ARENA_N_PAGES] = n_pages


def test_threads_share_the_arena(arena, gpt2):
    texts = [chr(97 + k) + LONG * (200 + 150 * k) for k in range(6)]
    expected = [gpt2.encode(text).copy() for text in texts]
    wrong = []

    def work(k):
        held = []
        for _ in range(2000):
            held.append(gpt2.encode(texts[k]))
            if len(held) > 20:
                wrong.extend(k for ids in held if not np.array_equal(ids, expected[k]))
                held.clear()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(texts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_after_a_fork_has_its_own(arena, gpt2):
    ids = gpt2.encode(LONG * 700)
    expected = ids.tolist()
    child = os.fork()
    if child == 0:
        del ids
        others = [gpt2.encode("x y z " * 700) for _ in range(200)]
        os._exit(0 if others[0].tolist() == others[-1].tolist() else 1)
    _, status = os.waitpid(child, 0)
    assert status == 0 and ids.tolist() == expected


AT_EXIT = """
import atexit, sys, numbatok
tok = numbatok.load("gpt2")
kept = [tok.encode("hello world, " * 500) for _ in range(1000)]
sys.kept = kept[:10]
atexit.register(lambda: kept.pop())
class Late:
    def __del__(self):
        self.ids = None
late = Late(); late.ids = kept[30]; late.me = late
"""


def test_arrays_that_outlive_the_interpreter_do_no_harm():
    ran = subprocess.run([sys.executable, "-c", AT_EXIT], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_another_tokenizer_uses_the_same_arena(arena, gpt2):
    other = numbatok.load("gpt2")
    before = taken(arena)
    results = [tokenizer.encode(LONG * 300) for tokenizer in (gpt2, other)]
    assert taken(arena) == before + 2
    assert np.array_equal(*results)


def test_a_result_that_is_too_large_is_of_numpy(arena, gpt2):
    text = b" \x01" * (SMALL_TEXT // 2)  # an id a byte
    ids = gpt2.encode(text)
    assert ids.nbytes == 4 * SMALL_TEXT > LARGEST_BLOCK and ids.flags.owndata
    assert gpt2.decode_bytes(ids) == text
    ids = gpt2.encode(text[: LARGEST_BLOCK // 4])
    assert ids.nbytes == LARGEST_BLOCK and not ids.flags.owndata
