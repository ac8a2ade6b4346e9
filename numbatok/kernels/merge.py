"""Byte-pair encoding of pretokens of up to 64 bytes: lowest rank first, leftmost on a tie.

All pairs of a pretoken are vectors of rank << 6 | position, whose minimum is the next merge.
What is certain to merge has merged before (see premerge). Sixteen to 64 pretokens take turns, so
that their table look-ups wait side by side: one at a time took twice as long for short ones, and
five times for those of 16 to 64 bytes.
"""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.pairs import find_rank, home_of_pair, pack_pair
from numbatok.kernels.premerge import AT_RANKS, AT_SYMBOLS, NO_PAIR, start_lanes
from numbatok.kernels.spill import pack_spilled
from numbatok.tables import LANE_ROW, U64, USED_SPILLED, Batch, Lanes, Memo, MergeRules, Scan
from numbatok.vector import (
    clear_lowest_bit,
    count_trailing_zeros,
    highest_bit,
    low_bits,
    minimum_of_sixteen,
    natural,
    popcount,
    prefetch,
)

ZERO, ONE, HALF = u64(0), u64(1), u64(32)
LEAST_LANES = 16  # with fewer, the free ones are filled
COUNT_SHIFT = u64(29)


@kernel
def merge_new(
    scan: Scan,
    batch: Batch,
    n_new: int,
    merges: MergeRules,
    lanes: Lanes,
    memo: Memo,
    answers: U64,
) -> None:
    """Write the ids of the new pretokens to answers, two u64 behind the key of each entry."""
    n_lanes, item = i64(0), i64(0)
    while n_lanes > 0 or item < n_new:
        if n_lanes < LEAST_LANES and item < n_new:
            n_started = start_lanes(scan, batch, item, n_new, n_lanes, merges, lanes)
            n_lanes, item = n_lanes + n_started, item + n_started
        k = i64(0)  # a plain 0 is a type of its own, and would compile every callee twice
        while k < n_lanes:
            lane = lanes.order[k]
            if choose_pair(lanes, lane, merges):
                k += 1
                continue
            entry = batch.new_entries[lanes.items[lane]] + 2
            answers[entry], answers[entry + 1] = pack_ids(lanes, lane, merges, memo)
            n_lanes -= 1
            lanes.order[k], lanes.order[n_lanes] = lanes.order[n_lanes], lane
        for k in range(n_lanes):
            rank_new_pairs(lanes, lanes.order[k], merges)


@part
def choose_pair(lanes: Lanes, lane: int, merges: MergeRules) -> bool:
    """Join the pair of lowest rank, note the two pairs that this makes; False if none is left.

    position          p   q   r          the pair at p joins: q dies, and the pairs to be ranked
    before      left  a   b  right       are (left, ab) at the left neighbour and (ab, right) at p
    after       left  ab  .  right
    """
    symbols, ranks = lanes.symbols, lane * LANE_ROW + AT_RANKS
    least = minimum_of_sixteen(lanes.ranks, ranks)
    for first in range(16, lanes.widths[lane], 16):
        least = min(least, minimum_of_sixteen(lanes.ranks, ranks + first))
    if least >= NO_PAIR:
        return False
    position, symbol = least & 63, 256 + (least >> 6)
    alive = lanes.alive[lane]
    after = clear_lowest_bit(alive & ~low_bits(position))  # the symbol at `position` is alive
    joined = count_trailing_zeros(after)
    alive &= ~(ONE << u64(joined))
    left = highest_bit(alive & low_bits(position))

    lanes.alive[lane] = alive
    lanes.ranks[ranks + joined] = NO_PAIR
    at = lane * LANE_ROW + AT_SYMBOLS
    symbols[at + position] = symbol
    right = count_trailing_zeros(clear_lowest_bit(after))  # 64 if none is left
    left_pair = pack_pair(i64(symbols[at + left]), symbol)
    right_pair = pack_pair(symbol, i64(symbols[at + right]))
    prefetch(merges.buckets, home_of_pair(left_pair, merges))
    prefetch(merges.buckets, home_of_pair(right_pair, merges))
    lanes.pairs[2 * lane], lanes.pairs[2 * lane + 1] = left_pair, right_pair
    lanes.positions[2 * lane], lanes.positions[2 * lane + 1] = left, position
    return True


@part
def rank_new_pairs(lanes: Lanes, lane: int, merges: MergeRules) -> None:
    """Rank the two pairs that `choose_pair` noted."""
    at = lane * LANE_ROW + AT_RANKS
    for side in range(2):
        position = lanes.positions[2 * lane + side]  # -1, before the row, if there is no left
        rank = find_rank(lanes.pairs[2 * lane + side], merges)
        lanes.ranks[at + position] = rank << 6 | (position & 63)


@part
def pack_ids(lanes: Lanes, lane: int, merges: MergeRules, memo: Memo) -> tuple[u64, u64]:
    """Return ids_low and ids_high of a lane that is done."""
    alive, at = lanes.alive[lane], lane * LANE_ROW + AT_SYMBOLS
    count = popcount(alive)
    if count > 4:
        start = memo.used[USED_SPILLED]
        for k in range(natural(start), start + count):
            memo.spilled[k] = merges.ids[lanes.symbols[at + count_trailing_zeros(alive)]]
            alive = clear_lowest_bit(alive)
        memo.used[USED_SPILLED] = start + count
        return pack_spilled(start, memo)
    low = next_id(lanes, at, alive, merges) | u64(count) << COUNT_SHIFT
    alive = clear_lowest_bit(alive)
    low |= next_id(lanes, at, alive, merges) << HALF
    alive = clear_lowest_bit(alive)
    high = next_id(lanes, at, alive, merges)
    alive = clear_lowest_bit(alive)
    return low, high | next_id(lanes, at, alive, merges) << HALF


@part
def next_id(lanes: Lanes, at: int, alive: np.uint64, merges: MergeRules) -> np.uint64:
    """Return the id of the first symbol alive, or 0 if none is."""
    symbol = lanes.symbols[at + count_trailing_zeros(alive)]  # NO_SYMBOL is at 64
    return u64(merges.ids[symbol])
