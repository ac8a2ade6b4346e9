"""Pretokens of more than 15 bytes: found in the words, else in the memo, else merged."""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.merge_long import merge_long
from numbatok.tables import U8, U64, USED_LONG, USED_LONG_BYTES, State
from numbatok.vector import LONG_KEY, copy_bytes, load_u64, wrapping_multiply

ZERO, ONE, HALF = u64(0), u64(1), u64(32)
LONG = u64(LONG_KEY)
MIX, FINAL_MIX, FOLD = u64(0x9E3779B97F4A7C15), u64(0xBF58476D1CE4E5B9), u64(29)
SLOT = 4  # u64 in a slot
LENGTH_MASK = (1 << 32) - 1


@kernel
def look_up_long(n_missed: int, state: State) -> None:
    """Write the ids of the missed pretokens of more than 15 bytes."""
    scan, batch = state.scan, state.batch
    for m in range(n_missed):
        i = i64(batch.missed[m])
        if batch.key_high[i] == LONG:
            start = i64(scan.starts[i])
            length = i64(scan.starts[i + 1]) - start
            low, high = find_or_merge(scan.window, start, length, state)
            batch.ids[2 * i], batch.ids[2 * i + 1] = low, high


@part
def hash_long(text: U8, start: int, length: int) -> np.uint64:
    """Hash at least eight bytes, eight at a time; the last eight overlap."""
    hashed = u64(length)
    for at in range(0, length - 7, 8):
        hashed = wrapping_multiply(hashed ^ load_u64(text, start + at), MIX)
        hashed ^= hashed >> FOLD
    return wrapping_multiply(hashed ^ load_u64(text, start + length - 8), FINAL_MIX)


@part
def same_bytes(text: U8, start: int, stored: U8, stored_at: int, length: int) -> bool:
    """Compare at least eight bytes, eight at a time; the last eight overlap."""
    for at in range(0, length - 7, 8):
        if load_u64(text, start + at) != load_u64(stored, stored_at + at):
            return False
    last = length - 8
    return load_u64(text, start + last) == load_u64(stored, stored_at + last)


@kernel
def find_long(text: U8, start: int, length: int, hashed: np.uint64, slots: U64, stored: U8) -> int:
    """Return the slot of a pretoken, or -1 - (the empty slot where it belongs)."""
    slot = i64((hashed >> HALF) * u64(slots.size >> 2) >> HALF) << 2
    while slots[slot + 1] != ZERO:
        where = i64(slots[slot + 1])
        if slots[slot] == hashed and where & LENGTH_MASK == length:
            if same_bytes(text, start, stored, where >> 32, length):
                return slot
        slot = slot + SLOT if slot + SLOT < slots.size else 0
    return -1 - slot


@kernel
def put_long(
    text: U8, start: int, length: int, hashed: np.uint64, slot: int, slots: U64, stored: U8, at: int
) -> None:
    """Fill an empty slot, the pretoken's bytes going to stored[at:]."""
    copy_bytes(text, start, stored, at, length)
    slots[slot], slots[slot + 1] = hashed, u64(at) << HALF | u64(length)


@kernel
def find_or_merge(text: U8, start: int, length: int, state: State) -> tuple[np.uint64, np.uint64]:
    """Return ids_low and ids_high of a pretoken, merged now if it is new."""
    hashed = hash_long(text, start, length)
    words = state.long_words
    slot = find_long(text, start, length, hashed, words, state.long_word_bytes)
    if slot >= 0:
        return words[slot + 2], words[slot + 3]
    memo = state.memo
    slots, used = memo.long_slots, memo.used
    slot = find_long(text, start, length, hashed, slots, memo.long_bytes)
    if slot >= 0:
        return slots[slot + 2], slots[slot + 3]
    slot = -1 - slot
    put_long(text, start, length, hashed, slot, slots, memo.long_bytes, used[USED_LONG_BYTES])
    used[USED_LONG_BYTES] += length
    used[USED_LONG] += 1
    low, high = merge_long(text, start, length, state.merges, state.work, memo)
    slots[slot + 2], slots[slot + 3] = low, high
    return low, high
