"""What a merge does to the other pairs: some lose occurrences, those with the product begin."""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.pair_table import find_pair, pair_key, push
from numbatok.kernels.recount import tie_of
from numbatok.kernels.train_tables import (
    BOUNDARY,
    CHOOSE,
    HEAP_SIZE,
    IS_SHORT,
    LEFT_SIZE,
    LEFT_WEIGHT,
    MAX_BYTES,
    MERGING,
    N_LEFT,
    N_MERGED,
    N_NEW,
    N_RIGHT,
    N_SYMBOLS,
    NO_SLOT,
    RIGHT_SIZE,
    RIGHT_WEIGHT,
    SELF_SIZE,
    SELF_WEIGHT,
    STEP,
    THRESHOLD,
    USED_PAIRS,
    USED_PLACES,
    Growth,
)
from numbatok.vector import natural

HALF, LOW = u64(32), u64(0xFFFFFFFF)
SIDE = 4  # values in sides for one symbol


@kernel
def finish_merge(growth: Growth) -> None:
    """Lower the counts of pairs that lost occurrences; list the new ones that are frequent."""
    control, pairs, sides, touched = growth.control, growth.pairs, growth.sides, growth.touched
    key, symbol = pairs.keys[control[MERGING]], control[N_SYMBOLS] - 1
    left, right = i64(key >> HALF), i64(key & LOW)
    half = i64(touched.size) // 2
    for k in range(control[N_LEFT]):
        other = i64(touched[k])
        side = SIDE * other + LEFT_WEIGHT
        lose(growth, pair_key(other, left), sides[side])
        sides[side + 1] = gain(growth, other, symbol, sides[side], sides[side + 1])
    for k in range(control[N_RIGHT]):
        other = i64(touched[half + k])
        side = SIDE * other + RIGHT_WEIGHT
        lose(growth, pair_key(right, other), sides[side])
        weight = sides[side]
        if other == left:
            weight -= control[SELF_WEIGHT]  # there it was merged in its turn
        sides[side + 1] = gain(growth, symbol, other, weight, sides[side + 1])
    twice = gain(growth, symbol, symbol, control[SELF_WEIGHT], control[SELF_SIZE])
    pairs.counts[control[MERGING]] = 0
    if control[N_NEW] > 0:
        write_lists(growth, twice)
    for k in range(control[N_LEFT]):
        push_and_clear(growth, SIDE * i64(touched[k]) + LEFT_WEIGHT)
    for k in range(control[N_RIGHT]):
        push_and_clear(growth, SIDE * i64(touched[half + k]) + RIGHT_WEIGHT)
    if twice != NO_SLOT:
        push_pair(growth, twice)
    control[STEP] = CHOOSE


@part
def lose(growth: Growth, key: np.uint64, weight: int) -> None:
    """Lower the count of a pair if it is known."""
    slot = find_pair(growth.pairs.keys, key)
    if slot >= 0:
        growth.pairs.counts[slot] -= weight


@part
def gain(growth: Growth, left: int, right: int, weight: int, size: int) -> int:
    """Enter a pair with the new symbol, if it is frequent enough; return its slot or NO_SLOT."""
    control, pairs, lengths = growth.control, growth.pairs, growth.corpus.lengths
    if weight < control[THRESHOLD]:
        return i64(NO_SLOT)
    if i64(lengths[left]) + i64(lengths[right]) > control[MAX_BYTES]:
        return i64(NO_SLOT)
    start = control[USED_PLACES]
    n_entries = control[HEAP_SIZE] + control[N_NEW] + 1
    if (
        start + size > pairs.places.size
        or 3 * n_entries > pairs.heap.size
        or 2 * control[USED_PAIRS] >= pairs.keys.size
    ):
        control[IS_SHORT] = 1
        return i64(NO_SLOT)
    key = pair_key(left, right)
    slot = -1 - find_pair(pairs.keys, key)
    pairs.keys[slot], pairs.counts[slot] = key, weight
    pairs.starts[slot], pairs.sizes[slot] = start, 0
    control[USED_PLACES] = start + size
    control[USED_PAIRS] += 1
    control[N_NEW] += 1
    return slot


@kernel
def write_lists(growth: Growth, twice: int) -> None:
    """Write where the new pairs occur; `twice` is the slot of (product, product) or NO_SLOT."""
    control, pairs, lengths = growth.control, growth.pairs, growth.corpus.lengths
    sides, neighbors, places = growth.sides, growth.neighbors, pairs.places
    symbol, first = control[N_SYMBOLS] - 1, natural(pairs.starts[control[MERGING]])
    for k in range(control[N_MERGED]):
        pos = i64(places[first + k])
        before, after = i64(neighbors[2 * k]), i64(neighbors[2 * k + 1])
        if before != BOUNDARY:
            slot = twice if before == symbol else sides[SIDE * before + LEFT_SIZE]
            if slot >= 0:
                places[pairs.starts[slot] + pairs.sizes[slot]] = pos - i64(lengths[before])
                pairs.sizes[slot] += 1
        if after != BOUNDARY:
            slot = sides[SIDE * after + RIGHT_SIZE]
            if slot >= 0:
                places[pairs.starts[slot] + pairs.sizes[slot]] = pos
                pairs.sizes[slot] += 1


@part
def push_and_clear(growth: Growth, side: int) -> None:
    """Put the new pair of one side into the heap, and forget the side."""
    slot = growth.sides[side + 1]
    if slot != NO_SLOT:
        push_pair(growth, slot)
    growth.sides[side], growth.sides[side + 1] = 0, 0


@part
def push_pair(growth: Growth, slot: int) -> None:
    """Put a new pair into the heap."""
    control, pairs = growth.control, growth.pairs
    push(pairs.heap, control[HEAP_SIZE], u64(pairs.counts[slot]), tie_of(growth, slot), slot)
    control[HEAP_SIZE] += 1
