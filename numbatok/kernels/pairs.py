"""The rank of a pair of symbols."""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.tables import EMPTY_PAIR, NO_RANK, RANK_BITS, SYMBOL_BITS, MergeRules
from numbatok.vector import SLOTS, find_slot, wrapping_multiply

ONE, HALF = u64(1), u64(32)
PAIR_MIX = u64(0x94D049BB133111EB)
PAIR_SHIFT = u64(SYMBOL_BITS)
RANK_MASK = u64((1 << RANK_BITS) - 1)
EMPTY = u64(EMPTY_PAIR)


@part
def pack_pair(left: int, right: int) -> np.uint64:
    """Return left and right as one u64."""
    return u64(left) << PAIR_SHIFT | u64(right)


@part
def home_of_pair(pair: np.uint64, merges: MergeRules) -> int:
    """Return the index of the first slot of the pair's bucket."""
    n_buckets = u64(merges.buckets.size >> 3)
    return i64((wrapping_multiply(pair, PAIR_MIX) >> HALF) * n_buckets >> HALF) << 3


@part
def place_in_filter(pair: np.uint64, merges: MergeRules) -> int:
    """Return which bit of the filter is the pair's: others of the same product."""
    n_bits = u64(merges.filter.size << 6)
    return i64(wrapping_multiply(pair, PAIR_MIX) >> HALF & n_bits - ONE)


@part
def may_merge(pair: np.uint64, merges: MergeRules) -> np.uint64:
    """Return 1 if the pair may have a rank, 0 if it has none: a tenth of the time of find_rank."""
    place = place_in_filter(pair, merges)
    return merges.filter[place >> 6] >> u64(place & 63) & ONE


@part
def find_rank(pair: np.uint64, merges: MergeRules) -> int:
    """Return the rank of the pair, or NO_RANK."""
    buckets, home = merges.buckets, home_of_pair(pair, merges)
    slot = find_slot(buckets, home, pair)
    if slot == SLOTS and buckets[home + SLOTS - 1] != EMPTY:
        return find_rank_further(pair, home, merges)
    rank = i64(buckets[home + (slot & 7)] & RANK_MASK)
    return rank if slot < SLOTS else NO_RANK


@kernel
def find_rank_further(pair: np.uint64, home: int, merges: MergeRules) -> int:
    """Return the rank of a pair whose home bucket is full of others, or NO_RANK."""
    buckets = merges.buckets
    while buckets[home + SLOTS - 1] != EMPTY:
        home = home + SLOTS if home + SLOTS < buckets.size else 0
        slot = find_slot(buckets, home, pair)
        if slot < SLOTS:
            return i64(buckets[home + slot] & RANK_MASK)
    return NO_RANK
