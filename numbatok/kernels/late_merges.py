"""Learn merges that stand in the file before the merges that make their parts.

Every conversion of a rank file has such: llama3's tokenizer.json lists 49,592 merges with a part
that is made later, and 81 of them do happen. Each product is merged by definition, with all merges
of the file: 280,147 of them in 0.1 s (3.6 s in plain Python).
"""

from __future__ import annotations

import numpy as np

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import opener
from numbatok.kernels.build import put_pair
from numbatok.kernels.encode import open_state
from numbatok.kernels.pairs import find_rank, pack_pair
from numbatok.tables import EMPTY_PAIR, NO_RANK, NOT_LATE, TOO_MUCH, U8, LateMerges, MergeRules
from numbatok.vector import load_u64, low_bits, natural, wrapping_multiply

ZERO, HALF, EMPTY = u64(0), u64(32), u64(EMPTY_PAIR)
MIX, FOLD = u64(0x9E3779B97F4A7C15), u64(29)
LOW_HALF = u64((1 << 32) - 1)

open_late = opener(LateMerges)


@entry
def learn_late_merges(
    state_address: int, late_address: int, n_merges: int, in_order: int, most_work: int
) -> int:
    """Replace the learned merges by all that can happen; return how many there are.

    in_order: those that happen in order are learned already, and if no other can, they stay.

    NOT_LATE: no merge can have a part that is made later, and nothing was changed.
    TOO_MUCH: the squares of the lengths of the products sum to more than most_work.
    """
    merges, late = open_state(state_address).merges, open_late(late_address)
    name_products(n_merges, late)
    if in_order != 0:
        found = has_late_part(n_merges, late, most_work)
        if found <= 0:
            return NOT_LATE if found == 0 else TOO_MUCH
    work = i64(0)
    for m in range(n_merges):
        length = late.ends[m + 1] - late.ends[m]
        work += length * length
    if work > most_work:
        return TOO_MUCH
    for m in range(n_merges):
        put_splits(m, late)
        late.splits[m] = 0
    for m in range(n_merges):
        if i64(late.first[m]) == m:
            find_last_merge(late.ends[m], late.ends[m + 1] - late.ends[m], late)
    return put_those_that_happen(n_merges, merges, late)


@part
def name_products(n_merges: int, late: LateMerges) -> None:
    """Fill `names`, and `first` with the first merge of the same product."""
    for m in range(n_merges):
        slot = find_name(late.ends[m], late.ends[m + 1] - late.ends[m], late)
        if slot < 0:
            slot = -1 - slot
            hashed = hash_bytes(late.text, late.ends[m], late.ends[m + 1] - late.ends[m])
            late.names[slot] = hashed & ~LOW_HALF | u64(m + 1)
        late.first[m] = i64(late.names[slot] & LOW_HALF) - 1
    for m in range(n_merges):
        late.made[m] = 0
    for m in range(n_merges):
        if late.ranks[m] >= 0:
            late.made[late.first[m]] = m + 1


@kernel
def find_name(start: int, length: int, late: LateMerges) -> int:
    """Return the slot of a product, or -1 - (the empty slot where it belongs)."""
    hashed = hash_bytes(late.text, start, length)
    last = i64(late.names.size) - 1
    slot = i64(hashed >> HALF) & last
    while late.names[natural(slot)] != ZERO:
        name = late.names[natural(slot)]
        if name >> HALF == hashed >> HALF:
            m = i64(name & LOW_HALF) - 1
            other = late.ends[m]
            if late.ends[m + 1] - other == length and same(late.text, start, other, length):
                return slot
        slot = (slot + 1) & last
    return -1 - slot


@kernel
def hash_bytes(text: U8, start: int, length: int) -> np.uint64:
    """Hash bytes, eight at a time."""
    hashed = u64(length)
    for at in range(0, length, 8):
        word = load_u64(text, start + at)
        if length - at < 8:
            word &= low_bits(8 * (length - at))
        hashed = wrapping_multiply(hashed ^ word, MIX)
        hashed ^= hashed >> FOLD
    return wrapping_multiply(hashed, MIX)


@part
def same(text: U8, start: int, other: int, length: int) -> bool:
    """Compare bytes."""
    k = i64(0)
    while k < length and text[natural(start + k)] == text[natural(other + k)]:
        k += 1
    return k == length


@part
def symbol_of(start: int, length: int, late: LateMerges) -> int:
    """Return a byte, or 256 + the first merge that makes these bytes, or -1."""
    if length == 1:
        return i64(late.text[natural(start)])
    slot = find_name(start, length, late)
    return 255 + i64(late.names[slot] & LOW_HALF) if slot >= 0 else i64(-1)


@kernel
def has_late_part(n_merges: int, late: LateMerges, most_work: int) -> int:
    """Return 1 if a merge that was not learned has a part that a later one makes, else 0.

    -1: more splits would have to be tried than most_work allows.
    """
    work = i64(0)
    for m in range(n_merges):
        if late.ranks[m] >= 0:
            continue
        start, length, left = late.ends[m], late.ends[m + 1] - late.ends[m], late.lefts[m]
        work += length if left > 0 else length * length
        if work > most_work:
            return i64(-1)
        for k in range(left if left > 0 else 1, left + 1 if left > 0 else length):
            a = symbol_of(start, k, late)
            b = symbol_of(start + k, length - k, late)
            if a >= 0 and b >= 0 and max(made_by(a, late), made_by(b, late)) > m:
                return i64(1)
    return i64(0)


@part
def made_by(symbol: int, late: LateMerges) -> int:
    """Return the learned merge that makes a symbol, -1 for a byte and for what none makes."""
    return i64(late.made[symbol - 256]) - 1 if symbol >= 256 else i64(-1)


@part
def put_splits(m: int, late: LateMerges) -> None:
    """Put the pair that merge m joins, or every pair whose product it is, among the pairs."""
    start, length, left = late.ends[m], late.ends[m + 1] - late.ends[m], late.lefts[m]
    for k in range(left if left > 0 else 1, left + 1 if left > 0 else length):
        a = symbol_of(start, k, late)
        b = symbol_of(start + k, length - k, late)
        if a >= 0 and b >= 0:
            put_pair(a, b, m, late.pairs)


@kernel
def find_last_merge(start: int, length: int, late: LateMerges) -> None:
    """Merge a product's bytes by definition, O(length^2); note the last merge and its left part."""
    symbols, lengths, ranks, pairs = late.symbols, late.lengths, late.pair_ranks, late.pairs
    for k in range(length):
        symbols[k], lengths[k] = late.text[natural(start + k)], 1
    for k in range(length - 1):
        ranks[k] = find_rank(pack_pair(i64(symbols[k]), i64(symbols[k + 1])), pairs)
    n = length
    while True:
        at, least = i64(0), i64(NO_RANK)
        for k in range(n - 1):
            if i64(ranks[k]) < least:
                at, least = i64(k), i64(ranks[k])
        if least == NO_RANK:
            return
        if n == 2:
            late.splits[least] = lengths[0]
            return
        symbols[at] = 256 + i64(late.first[least])
        lengths[at] += lengths[at + 1]
        n -= 1
        for k in range(at + 1, n):
            symbols[k], lengths[k], ranks[k - 1] = symbols[k + 1], lengths[k + 1], ranks[k]
        for k in range(max(at - 1, 0), min(at + 1, n - 1)):
            ranks[k] = find_rank(pack_pair(i64(symbols[k]), i64(symbols[k + 1])), pairs)


@part
def put_those_that_happen(n_merges: int, merges: MergeRules, late: LateMerges) -> int:
    """Number the merges that happen, and put them into the emptied table."""
    n_happen = i64(0)
    for m in range(n_merges):
        late.ranks[m] = -1
        if late.splits[m] > 0:
            late.ranks[m], late.made[late.first[m]] = n_happen, 256 + n_happen
            n_happen += 1
    for slot in range(merges.buckets.size):
        merges.buckets[slot] = EMPTY
    for pair in range(merges.byte_ranks.size):
        merges.byte_ranks[pair] = NO_RANK
    for m in range(n_merges):
        rank = late.ranks[m]
        if rank >= 0:
            start, left = late.ends[m], i64(late.splits[m])
            a = symbol_of(start, left, late)
            b = symbol_of(start + left, late.ends[m + 1] - start - left, late)
            put_pair(numbered(a, late), numbered(b, late), rank, merges)
            merges.ids[256 + rank] = late.ids[m]
    return n_happen


@part
def numbered(symbol: int, late: LateMerges) -> int:
    """Return a byte, or 256 + the rank of the merge that makes a product."""
    return symbol if symbol < 256 else i64(late.made[symbol - 256])
