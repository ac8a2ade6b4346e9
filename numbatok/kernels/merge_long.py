"""Byte-pair encoding of one pretoken of any length: lowest rank first, leftmost on a tie.

Up to 64 bytes: the minimum of a row of rank << 6 | position, as in a lane. Longer: a heap with
stale entries over a linked list, O(n log n) for every input.
"""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.pairs import find_rank, pack_pair
from numbatok.tables import NO_RANK, U8, U64, MergeRules, Work
from numbatok.vector import (
    clear_lowest_bit,
    count_trailing_zeros,
    highest_bit,
    low_bits,
    minimum_of_sixteen,
    natural,
)

ZERO, ONE, HALF = u64(0), u64(1), u64(32)
WIDTH = 64  # bytes of the longest pretoken whose positions fit one mask
UNRANKED = NO_RANK << 6  # at least this: no pair
POSITION_MASK = (1 << 32) - 1


# --- up to 64 bytes -------------------------------------------------------------------------------


@kernel
def merge_row(text: U8, start: int, length: int, merges: MergeRules, work: Work) -> np.uint64:
    """Merge; return the mask of the positions where a symbol starts."""
    symbols, ranks = work.symbols, work.ranks
    rank_bytes(text, start, length, merges, work)
    alive = low_bits(length)
    while True:
        least = minimum_of_sixteen(ranks, 0)
        for first in range(16, length, 16):
            least = min(least, minimum_of_sixteen(ranks, first))
        if least >= UNRANKED:
            return alive
        position, symbol = least & 63, 256 + (least >> 6)
        after = alive & ~(ONE << u64(position)) & ~low_bits(position)
        joined, after = count_trailing_zeros(after), clear_lowest_bit(after)
        alive &= ~(ONE << u64(joined))
        symbols[position], ranks[joined], ranks[position] = symbol, UNRANKED, UNRANKED
        if after != ZERO:
            right = i64(symbols[count_trailing_zeros(after)])
            ranks[position] = rank_at(position, symbol, right, merges)
        left = highest_bit(alive & low_bits(position))
        if left >= 0:
            ranks[left] = rank_at(left, i64(symbols[left]), symbol, merges)


@part
def rank_bytes(text: U8, start: int, length: int, merges: MergeRules, work: Work) -> None:
    """Fill the row: the bytes are the symbols."""
    start = natural(start)
    for position in range(length):
        work.symbols[position] = text[start + position]
    for position in range(length - 1):
        pair = i64(text[start + position]) << 8 | i64(text[start + position + 1])
        work.ranks[position] = i64(merges.byte_ranks[pair]) << 6 | position
    for position in range(length - 1, WIDTH):
        work.ranks[position] = UNRANKED


@part
def rank_at(position: int, left: int, right: int, merges: MergeRules) -> int:
    """Return rank << 6 | position of a pair, or at least UNRANKED."""
    return find_rank(pack_pair(left, right), merges) << 6 | position


# --- any length -----------------------------------------------------------------------------------


@kernel
def merge_list(text: U8, start: int, length: int, merges: MergeRules, work: Work) -> None:
    """Merge. Bound: length pushes at the start and two per merge, each O(log length)."""
    for at in range(length):
        work.symbols[at] = text[start + at]
    merge_symbols(length, merges, work)


@kernel
def merge_symbols(length: int, merges: MergeRules, work: Work) -> None:
    """Merge the first `length` symbols of the work space."""
    heap, n_heap = work.heap, start_list(length, merges, work)
    while n_heap > 0:
        least = heap[0]
        n_heap = pop_heap(heap, n_heap)
        n_heap = join_if_fresh(least, length, merges, work, n_heap)


@part
def start_list(length: int, merges: MergeRules, work: Work) -> int:
    """Link the symbols and push their pairs; return the size of the heap."""
    n_heap = i64(0)  # not 0: see merge_new
    for at in range(length):
        work.following[at], work.preceding[at] = at + 1, at
    for at in range(length - 1):
        n_heap = push_pair(at, at + 1, merges, work, n_heap)
    return n_heap


@part
def join_if_fresh(
    least: np.uint64, length: int, merges: MergeRules, work: Work, n_heap: int
) -> int:
    """Join the pair of a heap entry unless it is stale; return the heap's size.

    An entry is stale when its pair is no longer there; a merged token has one rank, so the rank
    tells.
    """
    symbols, following, preceding = work.symbols, work.following, work.preceding
    rank, at = i64(least >> HALF), natural(i64(least) & POSITION_MASK)
    gone, joined = merges.ids.size - 1, natural(i64(following[at]))
    if symbols[at] == gone or joined >= length:
        return n_heap
    if find_rank(pack_pair(i64(symbols[at]), i64(symbols[joined])), merges) != rank:
        return n_heap
    right, left = natural(i64(following[joined])), i64(preceding[at]) - 1
    symbols[at], symbols[joined], following[at] = 256 + rank, gone, right
    if right < length:
        preceding[right] = at + 1
        n_heap = push_pair(at, right, merges, work, n_heap)
    if left >= 0:
        n_heap = push_pair(left, at, merges, work, n_heap)
    return n_heap


@kernel
def push_pair(left: int, right: int, merges: MergeRules, work: Work, n_heap: int) -> int:
    """Push the pair of the symbols at two positions, if it merges; return the heap's size."""
    symbols, heap = work.symbols, work.heap
    rank = find_rank(pack_pair(i64(symbols[left]), i64(symbols[right])), merges)
    if rank == NO_RANK:
        return n_heap
    value, child = u64(rank) << HALF | u64(left), n_heap
    while child > 0 and heap[(child - 1) >> 1] > value:
        heap[child] = heap[(child - 1) >> 1]
        child = (child - 1) >> 1
    heap[child] = value
    return n_heap + 1


@kernel
def pop_heap(heap: U64, n_heap: int) -> int:
    """Remove the least value; return the heap's new size."""
    last = n_heap - 1
    value = heap[last]
    parent, child = i64(0), i64(1)
    while child < last:
        if child + 1 < last and heap[child + 1] < heap[child]:
            child += 1
        if value <= heap[child]:
            break
        heap[parent] = heap[child]
        parent, child = child, 2 * child + 1
    heap[parent] = value
    return last
