"""Pretokens of more than 15 bytes: found in the words, else in the memo, else merged."""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.merge_any import merge_and_spill
from numbatok.kernels.merge_long import WIDTH
from numbatok.kernels.premerge import put_characters
from numbatok.tables import U8, U64, USED_LONG, USED_LONG_BYTES, Batch, Memo, State
from numbatok.vector import LONG_KEY, copy_bytes, load_u64, natural, prefetch, wrapping_multiply

ZERO, ONE, HALF = u64(0), u64(1), u64(32)
LONG = u64(LONG_KEY)
MIX, FINAL_MIX, FOLD = u64(0x9E3779B97F4A7C15), u64(0xBF58476D1CE4E5B9), u64(29)
SLOT = 4  # u64 in a slot
LENGTH_MASK = (1 << 32) - 1


@kernel
def look_up_long(n_missed: int, state: State) -> int:
    """Find or make a slot for each missed pretoken of more than 15 bytes; return how many are new.

    Writes: ids of those in the words; batch.entries, the slot of the others; batch.new and
    batch.new_entries. Longer ones than a lane takes are merged at once.
    """
    scan, batch = state.scan, state.batch
    hash_missed(n_missed, state)
    n_new = i64(0)
    for m in range(n_missed):
        i = i64(batch.missed[m])
        if batch.key_high[i] != LONG:
            continue
        start = natural(i64(scan.starts[i]))
        length = i64(scan.starts[i + 1]) - start
        hashed, words = batch.key_low[i], state.long_words
        word = find_long(scan.window, start, length, hashed, words, state.long_word_bytes)
        if word >= 0:
            batch.ids[2 * i], batch.ids[2 * i + 1] = words[word + 2], words[word + 3]
            continue
        slot, is_new = find_or_learn(scan.window, start, length, hashed, state.memo)
        batch.entries[m] = slot
        if is_new and fits_lane(scan.window, start, length, state):
            batch.new[n_new], batch.new_entries[n_new] = i, slot
            n_new += 1
        elif is_new:
            low, high = merge_and_spill(
                scan.window, start, length, state.merges, state.work, state.memo
            )
            slots = state.memo.long_slots
            slots[slot + 2], slots[slot + 3] = low, high
    return n_new


@part
def fits_lane(text: U8, start: int, length: int, state: State) -> bool:
    """Tell whether a pretoken fits a lane: by its bytes, or of Chinese by its symbols."""
    if length <= WIDTH:
        return True
    symbols = state.work.symbols
    count = put_characters(text, start, start + length, state.merges, symbols, i64(0))
    return 0 < count <= WIDTH


@part
def hash_missed(n_missed: int, state: State) -> None:
    """Hash the missed pretokens of more than 15 bytes into batch.key_low, and fetch their slots."""
    scan, batch = state.scan, state.batch
    words, learned = state.long_words, state.memo.long_slots
    for m in range(n_missed):
        i = i64(batch.missed[m])
        if batch.key_high[i] == LONG:
            start = natural(i64(scan.starts[i]))
            hashed = hash_long(scan.window, start, i64(scan.starts[i + 1]) - start)
            batch.key_low[i] = hashed
            prefetch(words, home_of_long(hashed, words))
            prefetch(learned, home_of_long(hashed, learned))


@part
def home_of_long(hashed: np.uint64, slots: U64) -> int:
    """Return the index of the first u64 of the home slot of a hash."""
    return i64((hashed >> HALF) * u64(slots.size >> 2) >> HALF) << 2


@kernel
def copy_long(n_missed: int, batch: Batch, memo: Memo) -> None:
    """Copy the ids of the missed pretokens of more than 15 bytes from their slots."""
    slots = memo.long_slots
    for m in range(n_missed):
        i, slot = i64(batch.missed[m]), batch.entries[m]
        if batch.key_high[i] == LONG and slot >= 0:
            batch.ids[2 * i], batch.ids[2 * i + 1] = slots[slot + 2], slots[slot + 3]


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
    slot = home_of_long(hashed, slots)
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


@part
def find_or_learn(
    text: U8, start: int, length: int, hashed: np.uint64, memo: Memo
) -> tuple[int, bool]:
    """Return the slot of a pretoken in the memo, and whether it was made now."""
    slots, used = memo.long_slots, memo.used
    slot = find_long(text, start, length, hashed, slots, memo.long_bytes)
    if slot >= 0:
        return slot, False
    slot = -1 - slot
    put_long(text, start, length, hashed, slot, slots, memo.long_bytes, used[USED_LONG_BYTES])
    used[USED_LONG_BYTES] += length
    used[USED_LONG] += 1
    return slot, True
