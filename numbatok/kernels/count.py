"""Count distinct pretokens: text -> windows -> pretokens -> one table entry each."""

from __future__ import annotations

import numpy as np

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import opener, view_i64, view_u8
from numbatok.kernels.encode import fill_batch, open_state
from numbatok.kernels.long import LENGTH_MASK, find_long, hash_long, put_long
from numbatok.kernels.train_tables import (
    AT_ENTRY,
    COUNT,
    COUNTS_FULL,
    ENTRY,
    FIRST,
    MORE_TEXT,
    SHORT_BYTES,
    TOTAL,
    USED_LONG,
    USED_LONG_BYTES,
    USED_SHORT,
    Counts,
)
from numbatok.kernels.words import find_entry, first_of_bucket, hash_key
from numbatok.tables import AT_BYTE, AT_DOCUMENT, DONE, I64, MARGIN, PAUSED, U8, U64, State
from numbatok.vector import (
    KEY_BYTES,
    LONG_KEY,
    copy_bytes,
    load_u64,
    low_bits,
    natural,
    pack_eight_keys,
    prefetch,
    store_u64,
)

ZERO, ONE = u64(0), u64(1)
LONG, LENGTH_SHIFT = u64(LONG_KEY), u64(56)
EIGHT = 8

open_counts = opener(Counts)


@entry
def count_documents(
    state_address: int,
    counts_address: int,
    text_address: int,
    size: int,
    ends_address: int,
    n_documents: int,
    base: int,
    is_open: int,
    budget: int,
) -> int:
    """Count the pretokens of documents from where control says on; return why no further.

    Documents as in `encode_documents`; text[0] is byte `base` of the source. With is_open there is
    one document that goes on after the text. DONE; PAUSED after about `budget` bytes; COUNTS_FULL;
    WINDOW_SHORT: the pretoken at AT_BYTE is longer than the window; MORE_TEXT: what is left is
    less than a window, and open.
    """
    state, counts = open_state(state_address), open_counts(counts_address)
    control = state.control
    text, ends = view_u8(text_address, size), view_i64(ends_address, n_documents)
    window = i64(state.scan.window.size)
    pause_at = control[AT_BYTE] + budget
    while control[AT_DOCUMENT] < n_documents:
        start = control[AT_BYTE]
        if is_open != 0 and size - start < window + MARGIN:
            return i64(MORE_TEXT)
        if not counts_have_room(counts, window, window):
            return i64(COUNTS_FULL)
        count, _used, _n_breaks, why = fill_batch(state, state_address, text, ends, n_documents)
        if why != DONE:
            return why
        count_window(state, count, base + start, counts)
        if control[AT_BYTE] >= pause_at and control[AT_DOCUMENT] < n_documents:
            return i64(PAUSED)
    return i64(DONE)


@part
def counts_have_room(counts: Counts, n_pretokens: int, n_bytes: int) -> bool:
    """Tell whether so many new pretokens fit; a long one has more than 15 bytes."""
    used = counts.used
    return (
        (used[USED_SHORT] + n_pretokens) * 4 < i64(counts.slots.size) // ENTRY * 3
        and (used[USED_LONG] + n_bytes // KEY_BYTES) * 4 < i64(counts.long_slots.size) // ENTRY * 3
        and used[USED_LONG_BYTES] + n_bytes < counts.long_bytes.size
    )


@kernel
def count_window(state: State, count: int, position: int, counts: Counts) -> None:
    """Count the first `count` pretokens of the window, whose byte 0 is at `position`."""
    scan, batch, slots = state.scan, state.batch, counts.slots
    key_low, key_high, buckets, starts = batch.key_low, batch.key_high, batch.buckets, scan.starts
    for i in range(0, count, 8):
        pack_eight_keys(scan.window, starts, i, key_low, key_high)
    for i in range(natural(count)):
        buckets[i] = first_of_bucket(hash_key(key_low[i], key_high[i]), slots)
    for i in range(count):
        prefetch(slots, natural(buckets[i]))
    n_new, new_bytes, n_dropped = i64(0), i64(0), i64(0)
    for i in range(count):
        if scan.dropped.size > 0 and scan.dropped[i] != 0:
            n_dropped += 1
            continue
        low, high = key_low[i], key_high[i]
        if high == LONG:
            start = i64(starts[i])
            length = i64(starts[i + 1]) - start
            add_long(scan.window, start, length, ONE, u64(position + start), counts)
            continue
        at = find_entry(slots, natural(buckets[i]), low, high)
        if at < 0:
            at = -1 - at
            slots[at], slots[at + 1] = low, high
            slots[at + COUNT], slots[at + FIRST] = ZERO, u64(position + i64(starts[i]))
            n_new += 1
            new_bytes += i64(high >> LENGTH_SHIFT)
        slots[at + COUNT] += ONE
    counts.used[USED_SHORT] += n_new
    counts.used[SHORT_BYTES] += new_bytes
    counts.used[TOTAL] += count - n_dropped


@kernel
def add_long(
    text: U8, start: int, length: int, count: np.uint64, first: np.uint64, counts: Counts
) -> None:
    """Count a pretoken of more than 15 bytes `count` times."""
    slots, stored, used = counts.long_slots, counts.long_bytes, counts.used
    hashed = hash_long(text, start, length)
    at = find_long(text, start, length, hashed, slots, stored)
    if at < 0:
        at = -1 - at
        put_long(text, start, length, hashed, at, slots, stored, used[USED_LONG_BYTES])
        used[USED_LONG_BYTES] += length
        used[USED_LONG] += 1
        slots[at + COUNT], slots[at + FIRST] = ZERO, first
    slots[at + COUNT] += count
    slots[at + FIRST] = min(slots[at + FIRST], first)


@part
def add_short(
    low: np.uint64, high: np.uint64, count: np.uint64, first: np.uint64, counts: Counts
) -> None:
    """Count a pretoken of up to 15 bytes `count` times."""
    slots, used = counts.slots, counts.used
    at = find_entry(slots, first_of_bucket(hash_key(low, high), slots), low, high)
    if at < 0:
        at = -1 - at
        slots[at], slots[at + 1] = low, high
        slots[at + COUNT], slots[at + FIRST] = ZERO, first
        used[USED_SHORT] += 1
        used[SHORT_BYTES] += i64(high >> LENGTH_SHIFT)
    slots[at + COUNT] += count
    slots[at + FIRST] = min(slots[at + FIRST], first)


@entry
def add_pretokens(
    counts_address: int,
    text_address: int,
    ends_address: int,
    numbers_address: int,
    firsts_address: int,
    start: int,
    stop: int,
) -> int:
    """Add pretokens start ... stop - 1, each with its count; return how far there was room.

    Pretoken i is text[ends[i] : ends[i + 1]], with MARGIN readable bytes after the last.
    """
    counts = open_counts(counts_address)
    ends = view_i64(ends_address, stop + 1)
    numbers, firsts = view_i64(numbers_address, stop), view_i64(firsts_address, stop)
    text = view_u8(text_address, ends[stop] + MARGIN)
    for i in range(start, stop):
        at, length = ends[i], ends[i + 1] - ends[i]
        if not counts_have_room(counts, i64(1), length + KEY_BYTES):
            return i
        if length > KEY_BYTES:
            add_long(text, at, length, u64(numbers[i]), u64(firsts[i]), counts)
        elif length > 0:
            low, high = pack_key(text, at, length)
            add_short(low, high, u64(numbers[i]), u64(firsts[i]), counts)
        counts.used[TOTAL] += numbers[i]
    return stop


@part
def pack_key(text: U8, start: int, length: int) -> tuple[np.uint64, np.uint64]:
    """Return key_low and key_high of 1 to 15 bytes."""
    low, high = load_u64(text, start), load_u64(text, start + EIGHT)
    if length <= EIGHT:
        low &= low_bits(8 * length)
        high = ZERO
    else:
        high &= low_bits(8 * (length - EIGHT))
    return low, high | u64(length) << LENGTH_SHIFT


@entry
def merge_counts(counts_address: int, other_address: int, budget: int) -> int:
    """Add the counts of another table, from its AT_ENTRY on; return why no further.

    DONE; PAUSED after `budget` entries; COUNTS_FULL. TOTAL is added at the end.
    """
    counts, other = open_counts(counts_address), open_counts(other_address)
    slots, long_slots = other.slots, other.long_slots
    n_short = i64(slots.size) // ENTRY
    n_entries = n_short + i64(long_slots.size) // ENTRY
    at = other.used[AT_ENTRY]
    stop = min(at + budget, n_entries)
    while at < stop:
        if at < n_short:
            done = merge_short(slots, at * ENTRY, counts)
        else:
            done = merge_long_entry(long_slots, (at - n_short) * ENTRY, other.long_bytes, counts)
        if not done:
            other.used[AT_ENTRY] = at
            return i64(COUNTS_FULL)
        at += 1
    other.used[AT_ENTRY] = at
    if at < n_entries:
        return i64(PAUSED)
    counts.used[TOTAL] += other.used[TOTAL]
    return i64(DONE)


@part
def merge_short(slots: U64, at: int, counts: Counts) -> bool:
    """Add one entry of up to 15 bytes if there is one; return whether there was room."""
    if slots[at + 1] != ZERO:
        if not counts_have_room(counts, i64(1), i64(0)):
            return False
        add_short(slots[at], slots[at + 1], slots[at + COUNT], slots[at + FIRST], counts)
    return True


@part
def merge_long_entry(slots: U64, at: int, stored: U8, counts: Counts) -> bool:
    """Add one entry of more than 15 bytes if there is one; return whether there was room."""
    where = i64(slots[at + 1])
    if where != 0:
        length = where & LENGTH_MASK
        if not counts_have_room(counts, i64(0), length + KEY_BYTES):
            return False
        add_long(stored, where >> 32, length, slots[at + COUNT], slots[at + FIRST], counts)
    return True


@entry
def export_counts(
    counts_address: int,
    text_address: int,
    ends_address: int,
    numbers_address: int,
    firsts_address: int,
) -> int:
    """Write all pretokens one after the other with their ends, counts and first places.

    Bounds: as many as USED_SHORT + USED_LONG, of SHORT_BYTES + USED_LONG_BYTES bytes, and 16 bytes
    more are overwritten. Return how many.
    """
    counts = open_counts(counts_address)
    used, slots = counts.used, counts.slots
    n_pretokens = used[USED_SHORT] + used[USED_LONG]
    text = view_u8(text_address, used[SHORT_BYTES] + used[USED_LONG_BYTES] + 16)
    ends = view_i64(ends_address, n_pretokens + 1)
    numbers, firsts = view_i64(numbers_address, n_pretokens), view_i64(firsts_address, n_pretokens)
    ends[0] = 0
    n = i64(0)
    for at in range(0, slots.size, ENTRY):
        if slots[at + 1] != ZERO:
            store_u64(slots[at], text, ends[n])
            store_u64(slots[at + 1], text, ends[n] + EIGHT)
            ends[n + 1] = ends[n] + i64(slots[at + 1] >> LENGTH_SHIFT)
            numbers[n], firsts[n] = i64(slots[at + COUNT]), i64(slots[at + FIRST])
            n += 1
    return export_long(counts, n, text, ends, numbers, firsts)


@kernel
def export_long(counts: Counts, n: int, text: U8, ends: I64, numbers: I64, firsts: I64) -> int:
    """Write the pretokens of more than 15 bytes as number n and on; return how many there are."""
    slots = counts.long_slots
    for at in range(0, slots.size, ENTRY):
        where = i64(slots[at + 1])
        if where != 0:
            length = where & LENGTH_MASK
            copy_bytes(counts.long_bytes, where >> 32, text, ends[n], length)
            ends[n + 1] = ends[n] + length
            numbers[n], firsts[n] = i64(slots[at + COUNT]), i64(slots[at + FIRST])
            n += 1
    return n
