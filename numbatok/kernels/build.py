"""Fill the tables of a tokenizer: merges that can happen, words with the ids that merging gives."""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import view_i64, view_u8, view_u32
from numbatok.kernels.encode import COUNT_MASK, COUNT_SHIFT, open_state
from numbatok.kernels.long import find_long, hash_long, put_long
from numbatok.kernels.merge_any import merge_and_spill
from numbatok.kernels.merge_long import WIDTH, merge_list, merge_row
from numbatok.kernels.odd import has_odd
from numbatok.kernels.pairs import home_of_pair, pack_pair, place_in_filter
from numbatok.kernels.words import find_entry, first_of_bucket, hash_key
from numbatok.tables import (
    EMPTY_PAIR,
    RANK_BITS,
    SPILLED,
    U8,
    U64,
    USED_LONG_BYTES,
    USED_SPILLED,
    MergeRules,
    State,
    Work,
)
from numbatok.vector import (
    clear_lowest_bit,
    count_trailing_zeros,
    load_u64,
    low_bits,
    popcount,
)

ZERO, ONE, EIGHT, LENGTH_SHIFT = u64(0), u64(1), 8, u64(56)
EMPTY, RANK_SHIFT = u64(EMPTY_PAIR), u64(RANK_BITS)


@entry
def build_merges(
    state_address: int, text_address: int, ends_address: int, lefts_address: int,
    ids_address: int, n_merges: int, ranks_address: int,
) -> int:  # fmt: skip
    """Learn merges in rank order, those that can happen; return how many there are.

    Merge m makes the token text[ends[m] : ends[m + 1]] of id ids[m], its left part being lefts[m]
    bytes long (0: of any length). ranks[m] becomes its rank among the merges that can happen, or
    -1. A merge can happen exactly if merging the token's bytes with the merges before it leaves
    its two parts: what surrounds the token in a text does not change the order inside.
    """
    state = open_state(state_address)
    merges, work = state.merges, state.work
    ends, lefts = view_i64(ends_address, n_merges + 1), view_i64(lefts_address, n_merges)
    text = view_u8(text_address, ends[n_merges])
    ids, ranks = view_u32(ids_address, n_merges), view_i64(ranks_address, n_merges)
    rank = i64(0)
    for m in range(n_merges):
        start, length = ends[m], ends[m + 1] - ends[m]
        left_length = two_parts(text, start, length, merges, work)
        ranks[m] = -1
        if left_length > 0 and (lefts[m] == 0 or lefts[m] == left_length):
            left, right = i64(work.symbols[0]), i64(work.symbols[left_length])
            put_pair(left, right, rank, merges)
            merges.ids[256 + rank] = ids[m]
            ranks[m] = rank
            rank += 1
    return rank


@kernel
def two_parts(text: U8, start: int, length: int, merges: MergeRules, work: Work) -> int:
    """Merge bytes; return the length of the first symbol if there are two, else 0."""
    if length <= WIDTH:
        alive = merge_row(text, start, length, merges, work)
        second = clear_lowest_bit(alive)
        return count_trailing_zeros(second) if popcount(alive) == 2 else 0
    merge_list(text, start, length, merges, work)
    second_start = i64(work.following[0])
    if second_start >= length or i64(work.following[second_start]) < length:
        return 0
    return second_start


@part
def put_pair(left: int, right: int, rank: int, merges: MergeRules) -> None:
    """Put a pair into the first free slot from its home bucket on."""
    buckets, pair = merges.buckets, pack_pair(left, right)
    slot = home_of_pair(pair, merges)
    while buckets[slot] != EMPTY:
        slot = slot + 1 if slot + 1 < buckets.size else 0
    buckets[slot] = pair << RANK_SHIFT | u64(rank)
    place = place_in_filter(pair, merges)
    merges.filter[place >> 6] |= ONE << u64(place & 63)
    if left < 256 and right < 256:
        merges.byte_ranks[left << 8 | right] = rank


@entry
def build_words(
    state_address: int, text_address: int, ends_address: int, ids_address: int,
    n_words: int, whole: int,
) -> int:  # fmt: skip
    """Put words into the words tables; return how many found a place.

    Word w is text[ends[w] : ends[w + 1]], with 16 readable bytes after the last. Its value is what
    merging gives, or with `whole` its own id ids[w]. Left out: words with more than four ids, and
    when the table is full (3/4) the last ones.
    """
    state = open_state(state_address)
    ends, ids = view_i64(ends_address, n_words + 1), view_u32(ids_address, n_words)
    text = view_u8(text_address, ends[n_words] + 16)
    room = i64(state.words.slots.size // 16 * 3)
    n_short, n_long = i64(0), i64(0)
    for w in range(n_words):
        start, length = ends[w], ends[w + 1] - ends[w]
        if whole != 0:
            low, high = u64(ids[w]) | u64(1) << COUNT_SHIFT, ZERO
        elif state.merges.odd.size > 0 and has_odd(text, start, length, state.merges):
            continue
        else:
            low, high = merge_word(text, start, length, state)
        if i64(low >> COUNT_SHIFT & COUNT_MASK) == SPILLED:
            continue
        if length > 15:
            n_long += put_long_word(text, start, length, low, high, state)
        elif n_short < room or whole != 0:
            n_short += put_word(text, start, length, low, high, state.words.slots)
    return n_short + n_long


@kernel
def merge_word(text: U8, start: int, length: int, state: State) -> tuple[u64, u64]:
    """Return ids_low and ids_high of a word; spilled ids are forgotten at once."""
    memo = state.memo
    spilled_from = memo.used[USED_SPILLED]
    low, high = merge_and_spill(text, start, length, state.merges, state.work, memo)
    memo.used[USED_SPILLED] = spilled_from
    return low, high


@part
def put_word(text: U8, start: int, length: int, low: u64, high: u64, slots: U64) -> int:
    """Put a word of 1 to 15 bytes into the table unless it is there; return 1 if it was not."""
    key_low = load_u64(text, start)
    key_high = load_u64(text, start + EIGHT)
    if length <= EIGHT:
        key_low &= low_bits(8 * length)
        key_high = ZERO
    else:
        key_high &= low_bits(8 * (length - EIGHT))
    key_high |= u64(length) << LENGTH_SHIFT
    home = first_of_bucket(hash_key(key_low, key_high), slots)
    entry_at = find_entry(slots, home, key_low, key_high)
    if entry_at >= 0:
        return 0
    entry_at = -1 - entry_at
    slots[entry_at], slots[entry_at + 1] = key_low, key_high
    slots[entry_at + 2], slots[entry_at + 3] = low, high
    return 1


@part
def put_long_word(text: U8, start: int, length: int, low: u64, high: u64, state: State) -> int:
    """Put a word of more than 15 bytes into its table unless it is there."""
    slots, stored = state.long_words, state.long_word_bytes
    hashed = hash_long(text, start, length)
    slot = find_long(text, start, length, hashed, slots, stored)
    if slot >= 0:
        return 0
    slot = -1 - slot
    stored_at = state.memo.used[USED_LONG_BYTES]
    put_long(text, start, length, hashed, slot, slots, stored, stored_at)
    state.memo.used[USED_LONG_BYTES] += length
    slots[slot + 2], slots[slot + 3] = low, high
    return 1
