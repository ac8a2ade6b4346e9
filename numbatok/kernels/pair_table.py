"""The trainer's pairs: keys, an open-addressed table, a heap whose entries may be out of date."""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.train_tables import EMPTY, HEAP_SIZE, Growth
from numbatok.tables import U64
from numbatok.vector import natural, wrapping_multiply

NOTHING = u64(EMPTY)
MIX, FOLD, HALF = u64(0x9E3779B97F4A7C15), u64(29), u64(32)
ENTRY = 3  # u64 of the heap: count, tie, slot


@part
def pair_key(left: int, right: int) -> np.uint64:
    """Return the key of a pair; keys sort as (left, right)."""
    return u64(left) << HALF | u64(right)


@part
def hash_pair(key: np.uint64) -> np.uint64:
    """Return 32 well mixed bits."""
    return wrapping_multiply(key ^ key >> FOLD, MIX) >> HALF


@part
def find_pair(keys: U64, key: np.uint64) -> int:
    """Return the slot of a pair, or -1 - (the empty slot where it belongs)."""
    last = i64(keys.size) - 1
    slot = i64(hash_pair(key)) & last
    while True:
        found = keys[natural(slot)]
        if found == key:
            return slot
        if found == NOTHING:
            return -1 - slot
        slot = (slot + 1) & last


@part
def is_vetoed(vetoed: U64, key: np.uint64) -> bool:
    """Tell whether a pair is never to be merged."""
    return find_pair(vetoed, key) >= 0


@part
def comes_before(heap: U64, a: int, count: np.uint64, tie: np.uint64) -> bool:
    """Tell whether entry a is to be merged before one of this count and tie."""
    first = heap[natural(ENTRY * a)]
    return first > count or (first == count and heap[ENTRY * a + 1] < tie)


@kernel
def sift_down(heap: U64, size: int, at: int) -> None:
    """Move the entry at a place of the heap down to where it belongs."""
    count, tie, slot = heap[ENTRY * at], heap[ENTRY * at + 1], heap[ENTRY * at + 2]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size:
            right = ENTRY * (child + 1)
            if not comes_before(heap, child, heap[right], heap[right + 1]):
                child += 1
        if not comes_before(heap, child, count, tie):
            break
        for k in range(ENTRY):
            heap[ENTRY * at + k] = heap[ENTRY * child + k]
        at = child
    heap[ENTRY * at], heap[ENTRY * at + 1], heap[ENTRY * at + 2] = count, tie, slot


@kernel
def push(heap: U64, size: int, count: np.uint64, tie: np.uint64, slot: int) -> None:
    """Add an entry to a heap of `size` entries."""
    at = size
    while at > 0:
        parent = (at - 1) // 2
        if comes_before(heap, parent, count, tie):
            break
        for k in range(ENTRY):
            heap[ENTRY * at + k] = heap[ENTRY * parent + k]
        at = parent
    heap[ENTRY * at], heap[ENTRY * at + 1], heap[ENTRY * at + 2] = count, tie, u64(slot)


@part
def drop_top(growth: Growth) -> None:
    """Remove the entry on top of the heap."""
    heap, control = growth.pairs.heap, growth.control
    size = control[HEAP_SIZE] - 1
    control[HEAP_SIZE] = size
    for k in range(ENTRY):
        heap[k] = heap[ENTRY * size + k]
    if size > 0:
        sift_down(heap, size, i64(0))
