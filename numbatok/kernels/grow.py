"""The merge loop: take the best pair, merge it wherever it occurs, count the pairs it makes.

Only the cells where the pair occurs are touched. The counts of pairs that lose an occurrence are
lowered at once, their entries in the heap only when they come up. A pair with the new symbol gets
all the occurrences it will ever have now.
"""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.kernels.new_pairs import HALF, LOW, SIDE, finish_merge
from numbatok.kernels.pair_table import drop_top, sift_down
from numbatok.kernels.recount import open_growth, tie_of
from numbatok.kernels.train_tables import (
    ALLOWED,
    ANSWER,
    ASK,
    AT_PLACE,
    BOUNDARY,
    BY_PLACE,
    CONSUMED,
    FIRST_SYMBOL,
    HEAP_SIZE,
    IS_SHORT,
    LAST_SYMBOL,
    LEFT_SIZE,
    LEFT_WEIGHT,
    MERGE,
    MERGING,
    N_LEFT,
    N_MERGED,
    N_NEW,
    N_RIGHT,
    N_SYMBOLS,
    RECOUNT,
    RIGHT_SIZE,
    RIGHT_WEIGHT,
    SELF_SIZE,
    SELF_WEIGHT,
    SHIFT,
    STEP,
    THRESHOLD,
    UNASKED,
    VETOED,
    Growth,
)
from numbatok.tables import DONE, PAUSED
from numbatok.vector import natural, prefetch

AHEAD = 16  # occurrences that are fetched before they are looked at
COST_OF_CHOICE = 8  # in occurrences


@entry
def grow(growth_address: int, budget: int) -> int:
    """Merge until LAST_SYMBOL; return why no further.

    DONE; PAUSED after about `budget` occurrences or choices; RECOUNT: no pair that is known
    reaches the threshold, or a table is full; ASK: the caller decides about the pair on top.
    """
    growth = open_growth(growth_address)
    control = growth.control
    while budget > 0:
        if control[STEP] == MERGE:
            budget -= merge_places(growth, budget)
            if control[AT_PLACE] == growth.pairs.sizes[control[MERGING]]:
                finish_merge(growth)
            continue
        if control[N_SYMBOLS] >= control[LAST_SYMBOL]:
            return i64(DONE)
        why = choose(growth)
        if why != DONE:
            return why
        budget -= COST_OF_CHOICE
    return i64(PAUSED)


@kernel
def choose(growth: Growth) -> int:
    """Take the best pair off the heap and make it a merge; DONE, or RECOUNT or ASK."""
    control, pairs = growth.control, growth.pairs
    heap = pairs.heap
    while control[HEAP_SIZE] > 0 and control[IS_SHORT] == 0:
        slot = natural(i64(heap[2]))
        count = pairs.counts[slot]
        if count < control[THRESHOLD]:
            drop_top(growth)
            continue
        if control[BY_PLACE] != 0:
            skip_stale(growth, slot)
        tie = tie_of(growth, slot)
        if u64(count) != heap[0] or tie != heap[1]:
            heap[0], heap[1] = u64(count), tie
            sift_down(heap, control[HEAP_SIZE], i64(0))
            continue
        if control[ANSWER] != ALLOWED:
            if control[ANSWER] == VETOED:
                control[ANSWER] = UNASKED
                pairs.counts[slot] = 0
                continue
            if growth.asks[product_length(growth, slot)] != 0:
                return i64(ASK)
        control[ANSWER] = UNASKED
        drop_top(growth)
        start_merge(growth, slot)
        return i64(DONE)
    return i64(RECOUNT)


@part
def product_length(growth: Growth, slot: int) -> int:
    """Return how many bytes the product of a pair has."""
    key, lengths = growth.pairs.keys[slot], growth.corpus.lengths
    return i64(lengths[i64(key >> HALF)]) + i64(lengths[i64(key & LOW)])


@part
def skip_stale(growth: Growth, slot: int) -> None:
    """Drop occurrences that are gone from the front of a list; one is left."""
    pairs, corpus = growth.pairs, growth.corpus
    key = pairs.keys[slot]
    left, right = i64(key >> HALF), i64(key & LOW)
    length = i64(corpus.lengths[left])
    while True:
        pos = i64(pairs.places[pairs.starts[slot]])
        if corpus.cells[pos] == left and corpus.cells[pos + length] == right:
            return
        pairs.starts[slot] += 1
        pairs.sizes[slot] -= 1


@part
def start_merge(growth: Growth, slot: int) -> None:
    """Give the product its number and prepare to work off the list of occurrences."""
    control, pairs, lengths = growth.control, growth.pairs, growth.corpus.lengths
    symbol, key = control[N_SYMBOLS], pairs.keys[slot]
    left, right = i64(key >> HALF), i64(key & LOW)
    n = symbol - control[FIRST_SYMBOL]
    growth.merges[2 * n], growth.merges[2 * n + 1] = left, right
    growth.merge_counts[n] = pairs.counts[slot]
    lengths[symbol] = i64(lengths[left]) + i64(lengths[right])
    control[N_SYMBOLS] = symbol + 1
    control[STEP], control[MERGING], control[AT_PLACE] = MERGE, slot, 0
    control[N_MERGED], control[SELF_WEIGHT], control[SELF_SIZE] = 0, 0, 0
    control[N_LEFT], control[N_RIGHT], control[N_NEW] = 0, 0, 0


@kernel
def merge_places(growth: Growth, budget: int) -> int:
    """Merge the pair at up to `budget` more of its places; return how many were looked at.

    What stood left and right is added up in sides, and kept in neighbors for `finish_merge`.
    """
    control, pairs, corpus = growth.control, growth.pairs, growth.corpus
    cells, weights, places = corpus.cells, corpus.weights, pairs.places
    sides, touched, neighbors = growth.sides, growth.touched, growth.neighbors
    slot, shift = control[MERGING], control[SHIFT]
    key, first = pairs.keys[slot], natural(pairs.starts[slot])
    left, right = i64(key >> HALF), i64(key & LOW)
    length, symbol = i64(corpus.lengths[left]), control[N_SYMBOLS] - 1
    whole = i64(corpus.lengths[symbol])
    n_left, n_right, n_merged = control[N_LEFT], control[N_RIGHT], control[N_MERGED]
    half = i64(touched.size) // 2
    start = control[AT_PLACE]
    stop = min(start + budget, pairs.sizes[slot])
    for k in range(start, stop):
        if k + AHEAD < stop:
            prefetch(cells, i64(places[first + k + AHEAD]))
        pos = i64(places[first + k])
        if cells[pos] != left or cells[pos + length] != right:
            continue
        before, after = cells[pos - 1], cells[pos + whole]
        cells[pos + length] = CONSUMED
        cells[pos] = symbol
        cells[pos + whole - 1] = symbol
        weight = weights[pos >> shift]
        places[first + n_merged] = pos
        neighbors[2 * n_merged], neighbors[2 * n_merged + 1] = before, after
        n_merged += 1
        if before == symbol:
            control[SELF_WEIGHT] += weight
            control[SELF_SIZE] += 1
        elif before != BOUNDARY:
            side = SIDE * i64(before)
            if sides[side + LEFT_SIZE] == 0:
                touched[n_left] = before
                n_left += 1
            sides[side + LEFT_WEIGHT] += weight
            sides[side + LEFT_SIZE] += 1
        if after != BOUNDARY:
            side = SIDE * i64(after)
            if sides[side + RIGHT_SIZE] == 0:
                touched[half + n_right] = after
                n_right += 1
            sides[side + RIGHT_WEIGHT] += weight
            sides[side + RIGHT_SIZE] += 1
    control[N_LEFT], control[N_RIGHT], control[N_MERGED] = n_left, n_right, n_merged
    control[AT_PLACE] = stop
    return stop - start
