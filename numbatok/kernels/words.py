"""Look pretokens up: pack them into keys, probe the words table, then the memo."""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.tables import NOT_IN_MEMO, U64, USED_ENTRIES, Batch, Entries, Memo, Scan
from numbatok.vector import LONG_KEY, natural, pack_eight_keys, prefetch, wrapping_multiply

ZERO = u64(0)
LONG, ODD = u64(LONG_KEY), u64(LONG_KEY - 1)
MIX_LOW, MIX_HIGH = u64(0x9E3779B97F4A7C15), u64(0xBF58476D1CE4E5B9)  # odd, well spread bits
HALF = u64(32)
BUCKET, ENTRY = 8, 4  # u64 in a bucket, in an entry
AHEAD = 64  # buckets that are fetched before they are looked at: 4 KB, which stay in the cache


@part
def hash_key(low: np.uint64, high: np.uint64) -> np.uint64:
    """Return 64 well mixed bits; the best ones are the highest."""
    mixed = wrapping_multiply(high, MIX_HIGH)
    return wrapping_multiply(low ^ (mixed << HALF | mixed >> HALF), MIX_LOW)


@part
def first_of_bucket(hashed: np.uint64, slots: U64) -> int:
    """Return the index of the first u64 of the home bucket, from the highest bits of a hash."""
    return i64((hashed >> HALF) * u64(slots.size >> 3) >> HALF) << 3


@kernel
def pack_keys(scan: Scan, batch: Batch, count: int, words: Entries) -> None:
    """Write the keys and home buckets of the first `count` pretokens, and keys of up to 7 more."""
    key_low, key_high, buckets = batch.key_low, batch.key_high, batch.buckets
    window, starts = scan.window, scan.starts
    for i in range(0, count, 8):
        pack_eight_keys(window, starts, i, key_low, key_high)
    for i in range(natural(count)):  # LLVM makes vectors of this loop as long as it fetches nothing
        buckets[i] = first_of_bucket(hash_key(key_low[i], key_high[i]), words.slots)


@kernel
def probe_words(batch: Batch, count: int, words: Entries) -> int:
    """Write the ids of pretokens in their home bucket, list the others; return how many missed.

    No branch depends on a table, so that many loads wait side by side.
    """
    slots, ids, missed = words.slots, batch.ids, batch.missed
    key_low, key_high, buckets = batch.key_low, batch.key_high, batch.buckets
    n_missed = 0
    for i in range(min(count, AHEAD)):
        prefetch(slots, natural(buckets[i]))
    for i in range(count):
        prefetch(slots, natural(buckets[i + AHEAD]))  # what is behind the last one does no harm
        bucket, low, high = natural(buckets[i]), key_low[i], key_high[i]
        first = (slots[bucket] ^ low) | (slots[bucket + 1] ^ high)
        second = (slots[bucket + ENTRY] ^ low) | (slots[bucket + ENTRY + 1] ^ high)
        entry = bucket if first == ZERO else bucket + ENTRY
        ids[2 * i], ids[2 * i + 1] = slots[entry + 2], slots[entry + 3]
        missed[n_missed] = i
        n_missed += i64((first != ZERO) & (second != ZERO))
    return n_missed


@part
def find_entry(slots: U64, bucket: int, low: np.uint64, high: np.uint64) -> int:
    """Return the entry of the key, or -1 - (the empty entry where it belongs)."""
    while True:
        for entry in range(bucket, bucket + BUCKET, ENTRY):
            found = slots[entry + 1]
            if found == high and slots[entry] == low:
                return entry
            if found == ZERO:
                return -1 - entry
        bucket = bucket + BUCKET if bucket + BUCKET < slots.size else 0


@kernel
def probe_memo(batch: Batch, n_missed: int, memo: Memo) -> int:
    """Write the ids of missed pretokens in their home bucket of the memo; return how many are left.

    Branch-free as `probe_words`. Writes: batch.missed, those that are left.
    """
    slots, ids, missed = memo.entries.slots, batch.ids, batch.missed
    key_low, key_high = batch.key_low, batch.key_high
    n_left = 0
    for m in range(n_missed):
        i = i64(missed[m])
        bucket = natural(first_of_bucket(hash_key(key_low[i], key_high[i]), slots))
        batch.entries[m] = bucket
        prefetch(slots, bucket)
    for m in range(n_missed):
        i = i64(missed[m])
        low, high = key_low[i], key_high[i]
        bucket = natural(batch.entries[m])
        first = (slots[bucket] ^ low) | (slots[bucket + 1] ^ high)
        second = (slots[bucket + ENTRY] ^ low) | (slots[bucket + ENTRY + 1] ^ high)
        entry = bucket if first == ZERO else bucket + ENTRY
        ids[2 * i], ids[2 * i + 1] = slots[entry + 2], slots[entry + 3]
        missed[n_left] = i
        n_left += i64((first != ZERO) & (second != ZERO))
    return n_left


@kernel
def look_up_missed(batch: Batch, n_missed: int, words: Entries, memo: Memo) -> int:
    """Find or make an entry for each missed pretoken of up to 15 bytes; return how many are new.

    Writes: batch.entries, batch.new, batch.new_entries. A word that its home bucket had no place
    for is copied to the memo, where the next probe finds it.
    """
    slots, learned = words.slots, memo.entries.slots
    missed, key_low, key_high = batch.missed, batch.key_low, batch.key_high
    n_new, n_learned = i64(0), i64(0)
    for m in range(n_missed):
        i = i64(missed[m])
        low, high = key_low[i], key_high[i]
        batch.entries[m] = NOT_IN_MEMO
        if high >= ODD:  # LONG or ODD
            continue
        entry = find_entry(learned, first_of_bucket(hash_key(low, high), learned), low, high)
        if entry < 0:
            entry = -1 - entry
            learned[entry], learned[entry + 1] = low, high
            n_learned += 1
            word = i64(-1)
            bucket = natural(batch.buckets[i])
            if slots[bucket + ENTRY + 1] != ZERO:  # the home bucket is full: look further
                word = find_entry(slots, bucket, low, high)
            if word >= 0:
                learned[entry + 2], learned[entry + 3] = slots[word + 2], slots[word + 3]
            else:
                batch.new[n_new], batch.new_entries[n_new] = i, entry
                n_new += 1
        batch.entries[m] = entry
    memo.used[USED_ENTRIES] += n_learned
    return n_new


@kernel
def copy_from_memo(batch: Batch, n_missed: int, memo: Memo) -> int:
    """Copy the ids of the missed pretokens from their entries; return how many have no key."""
    learned, n_long = memo.entries.slots, i64(0)
    for m in range(n_missed):
        entry, i = batch.entries[m], i64(batch.missed[m])
        n_long += i64(batch.key_high[i] == LONG)
        if entry >= 0:
            batch.ids[2 * i], batch.ids[2 * i + 1] = learned[entry + 2], learned[entry + 3]
    return n_long
