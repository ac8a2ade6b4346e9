"""Pretokens with bytes that the vocabulary has no token for: dropped, or the unknown token."""

from __future__ import annotations

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.long import find_long, hash_long
from numbatok.kernels.merge_any import spill_merged
from numbatok.kernels.words import find_entry
from numbatok.tables import DROPPED, FUSED, KNOWN, U8, MergeRules, State, Work
from numbatok.vector import LONG_KEY

ODD_KEY = LONG_KEY - 1  # key_high of such a pretoken; no real key is so large
ODD, LONG = u64(ODD_KEY), u64(LONG_KEY)


@kernel
def has_odd(text: U8, start: int, length: int, merges: MergeRules) -> bool:
    """Tell whether a pretoken has a byte without a token."""
    found = False
    for at in range(start, start + length):
        found |= merges.odd[i64(text[at])] != KNOWN
    return found


@kernel
def merge_odd(n_missed: int, state: State) -> None:
    """Merge the missed pretokens that have odd bytes, and mark them as done by their key.

    With ignore_merges they may be words, of which a probe sees the short ones in their home bucket.
    """
    scan, batch, merges, memo = state.scan, state.batch, state.merges, state.memo
    for m in range(n_missed):
        i = i64(batch.missed[m])
        start = i64(scan.starts[i])
        length = i64(scan.starts[i + 1]) - start
        if has_odd(scan.window, start, length, merges):
            if not find_odd_word(i, start, length, state):
                n_symbols = known_symbols(scan.window, start, length, merges, state.work)
                low, high = spill_merged(n_symbols, merges, state.work, memo)
                batch.ids[2 * i], batch.ids[2 * i + 1] = low, high
            batch.key_high[i] = ODD


@part
def find_odd_word(i: int, start: int, length: int, state: State) -> bool:
    """Write the ids of a pretoken that is a word; tell whether it is one."""
    batch, slots = state.batch, state.words.slots
    if batch.key_high[i] == LONG:
        slots, window = state.long_words, state.scan.window
        hashed = hash_long(window, start, length)
        found = find_long(window, start, length, hashed, slots, state.long_word_bytes)
    else:
        found = find_entry(slots, i64(batch.buckets[i]), batch.key_low[i], batch.key_high[i])
    if found >= 0:
        batch.ids[2 * i], batch.ids[2 * i + 1] = slots[found + 2], slots[found + 3]
    return found >= 0


@kernel
def known_symbols(text: U8, start: int, length: int, merges: MergeRules, work: Work) -> int:
    """Write the symbols of a pretoken, odd bytes dropped or unknown; return how many."""
    unknown, count, fusing = merges.ids.size - 2, i64(0), False
    for at in range(start, start + length):
        byte = i64(text[at])
        kind = merges.odd[byte]
        if kind == KNOWN:
            work.symbols[count] = byte
            count += 1
        elif kind != DROPPED and not (kind == FUSED and fusing):
            work.symbols[count] = unknown
            count += 1
        fusing = kind == FUSED
    return count
