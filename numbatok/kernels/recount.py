"""Lay the corpus out in cells, and count its pairs anew: those above a threshold get lists.

Three passes over the cells: `sketch_pairs` adds all counts up by hash, from which the caller
chooses the threshold; `count_pairs` counts exactly those pairs whose hash reaches it; `list_pairs`
writes down where they occur.
"""

from __future__ import annotations

import numpy as np

from numbatok._jit import entry, i64, part, u64
from numbatok.addresses import opener, view_i64, view_u8, view_u32
from numbatok.kernels.pair_table import (
    find_pair,
    hash_pair,
    is_vetoed,
    pair_key,
    sift_down,
)
from numbatok.kernels.train_tables import (
    AT_CELL,
    BOUNDARY,
    BY_PLACE,
    EMPTY,
    HEAP_SIZE,
    MAX_BYTES,
    N_TOKENS,
    N_WITHIN,
    NO_SLOT,
    SHIFT,
    THRESHOLD,
    USED_PAIRS,
    USED_PLACES,
    Growth,
)
from numbatok.vector import highest_bit, natural

FULL = -1

open_growth = opener(Growth)


@entry
def lay_out(
    growth_address: int,
    text_address: int,
    ends_address: int,
    numbers_address: int,
    n_pretokens: int,
    order_address: int,
    start: int,
    stop: int,
    symbols_address: int,
) -> int:
    """Write pretokens order[start] ... order[stop - 1] to cells as bytes, from AT_CELL on.

    symbols[byte] is the symbol of a byte. Where weights belong to blocks of cells, pretokens of
    one count come together: a block begins where it changes.
    """
    growth = open_growth(growth_address)
    corpus, control = growth.corpus, growth.control
    ends, numbers = view_i64(ends_address, n_pretokens + 1), view_i64(numbers_address, n_pretokens)
    text, order = view_u8(text_address, ends[n_pretokens]), view_i64(order_address, stop)
    symbols = view_u32(symbols_address, i64(256))
    cells, weights, shift = corpus.cells, corpus.weights, control[SHIFT]
    rest = (i64(1) << shift) - 1
    pos = control[AT_CELL]
    before = numbers[order[start - 1]] if start > 0 else i64(-1)
    for i in range(start, stop):
        which = order[i]
        if numbers[which] != before:
            before = numbers[which]
            while pos & rest != 0:
                cells[pos] = BOUNDARY
                pos += 1
        for at in range(ends[which], ends[which + 1]):
            cells[pos] = symbols[text[at]]
            weights[pos >> shift] = before
            pos += 1
        cells[pos] = BOUNDARY
        pos += 1
    control[AT_CELL] = pos
    return stop


@entry
def sketch_pairs(growth_address: int, start: int, stop: int) -> int:
    """Add the counts of the pairs that start in a range of cells to the sketch; return its end.

    The range starts where a symbol or a boundary does; so does the next one, at what is returned.
    """
    growth = open_growth(growth_address)
    corpus, sketch = growth.corpus, growth.sketch
    cells, lengths, weights = corpus.cells, corpus.lengths, corpus.weights
    shift, last = growth.control[SHIFT], u64(i64(sketch.size) - 1)
    pos = start
    while pos < stop:
        left = cells[natural(pos)]
        if left == BOUNDARY:
            pos += 1
            continue
        following = pos + i64(lengths[left])
        right = cells[following]
        if right != BOUNDARY:
            at = i64(hash_pair(pair_key(i64(left), i64(right))) & last)
            sketch[at] += u64(weights[pos >> shift])
        pos = following
    return pos


@entry
def choose_threshold(growth_address: int, wanted: int) -> int:
    """Return the least count of the range in which the `wanted` greatest values of the sketch end.

    N_WITHIN becomes how many values of the sketch reach it. The ranges have a width of 1/8 of
    their numbers or less.
    """
    growth = open_growth(growth_address)
    sketch, histogram = growth.sketch, growth.histogram
    for which in range(histogram.size):
        histogram[which] = 0
    for at in range(sketch.size):
        histogram[range_of(sketch[at])] += 1
    which = i64(histogram.size) - 1
    found = histogram[which]
    while which > 1 and found < wanted:  # 0: no pair
        which -= 1
        found += histogram[which]
    growth.control[N_WITHIN] = found
    return i64(which) if which < 16 else i64(8 | which & 7) << ((which >> 3) - 1)


@part
def range_of(count: np.uint64) -> int:
    """Return the number of the range of a count; counts below 16 have one each."""
    if count < u64(16):
        return i64(count)
    bit = highest_bit(count)
    return (bit - 2) << 3 | i64(count >> u64(bit - 3) & u64(7))


@entry
def count_pairs(growth_address: int, start: int, stop: int) -> int:
    """Count the pairs in a range of cells whose sketch reaches the threshold; return its end.

    FULL: the table is half full.
    """
    growth = open_growth(growth_address)
    corpus, sketch, control, pairs = growth.corpus, growth.sketch, growth.control, growth.pairs
    cells, lengths, weights = corpus.cells, corpus.lengths, corpus.weights
    shift, last = control[SHIFT], u64(i64(sketch.size) - 1)
    threshold = u64(control[THRESHOLD])
    keys, counts, sizes = pairs.keys, pairs.counts, pairs.sizes
    pos = start
    while pos < stop:
        left = cells[natural(pos)]
        if left == BOUNDARY:
            pos += 1
            continue
        following = pos + i64(lengths[left])
        right = cells[following]
        if right != BOUNDARY:
            key = pair_key(i64(left), i64(right))
            if sketch[i64(hash_pair(key) & last)] >= threshold:
                slot = find_pair(keys, key)
                if slot < 0:
                    if 2 * control[USED_PAIRS] >= keys.size:
                        return i64(FULL)
                    slot = -1 - slot
                    keys[slot], counts[slot], sizes[slot] = key, 0, 0
                    control[USED_PAIRS] += 1
                counts[slot] += weights[pos >> shift]
                sizes[slot] += 1
        pos = following
    return pos


@entry
def place_lists(growth_address: int) -> int:
    """Give every counted pair that reaches the threshold a list; return how many do.

    Pairs that are vetoed or make too long a token get none. FULL: places has no room for them.
    """
    growth = open_growth(growth_address)
    control, pairs = growth.control, growth.pairs
    keys, counts, starts, sizes = pairs.keys, pairs.counts, pairs.starts, pairs.sizes
    used, n_listed = i64(0), i64(0)
    for slot in range(keys.size):
        if keys[slot] == u64(EMPTY):
            continue
        starts[slot] = NO_SLOT
        if counts[slot] >= control[THRESHOLD] and is_allowed(growth, slot):
            if used + sizes[slot] > pairs.places.size:
                return i64(FULL)
            starts[slot] = used
            used += sizes[slot]
            n_listed += 1
        else:
            counts[slot] = 0
        sizes[slot] = 0
    control[USED_PLACES] = used
    return n_listed


@part
def is_allowed(growth: Growth, slot: int) -> bool:
    """Tell whether a pair may be merged: not vetoed, not too long."""
    key, lengths = growth.pairs.keys[slot], growth.corpus.lengths
    length = i64(lengths[i64(key >> u64(32))]) + i64(lengths[i64(key & u64(0xFFFFFFFF))])
    return length <= growth.control[MAX_BYTES] and not is_vetoed(growth.vetoed, key)


@entry
def list_pairs(growth_address: int, start: int, stop: int) -> int:
    """Write the listed pairs of a range of cells to their lists; return its end."""
    growth = open_growth(growth_address)
    corpus, sketch, control, pairs = growth.corpus, growth.sketch, growth.control, growth.pairs
    cells, lengths = corpus.cells, corpus.lengths
    threshold, last = u64(control[THRESHOLD]), u64(i64(sketch.size) - 1)
    keys, starts, sizes, places = pairs.keys, pairs.starts, pairs.sizes, pairs.places
    pos = start
    while pos < stop:
        left = cells[natural(pos)]
        if left == BOUNDARY:
            pos += 1
            continue
        following = pos + i64(lengths[left])
        right = cells[following]
        if right != BOUNDARY:
            key = pair_key(i64(left), i64(right))
            if sketch[i64(hash_pair(key) & last)] >= threshold:
                slot = find_pair(keys, key)
                if slot >= 0 and starts[slot] >= 0:
                    places[starts[slot] + sizes[slot]] = pos
                    sizes[slot] += 1
        pos = following
    return pos


@entry
def fill_heap(growth_address: int) -> int:
    """Make the heap of all listed pairs; return how many, or FULL if it has no room for them."""
    growth = open_growth(growth_address)
    control, pairs = growth.control, growth.pairs
    heap, keys, starts = pairs.heap, pairs.keys, pairs.starts
    size = i64(0)
    for slot in range(keys.size):
        if keys[slot] != u64(EMPTY) and starts[slot] >= 0:
            if 3 * size + 3 > heap.size:
                return i64(FULL)
            heap[3 * size] = u64(pairs.counts[slot])
            heap[3 * size + 1] = tie_of(growth, slot)
            heap[3 * size + 2] = u64(slot)
            size += 1
    for at in range(size // 2 - 1, -1, -1):
        sift_down(heap, size, at)
    control[HEAP_SIZE] = size
    return size


@part
def tie_of(growth: Growth, slot: int) -> u64:
    """Return what decides between pairs of one count: the first place, or the key."""
    pairs = growth.pairs
    if growth.control[BY_PLACE] != 0:
        return u64(pairs.places[pairs.starts[slot]])
    return pairs.keys[slot]


@entry
def count_symbols(growth_address: int, start: int, stop: int) -> int:
    """Add the symbols in a range of cells to N_TOKENS, each as often as its pretoken occurs."""
    growth = open_growth(growth_address)
    corpus, shift = growth.corpus, growth.control[SHIFT]
    cells, lengths, weights = corpus.cells, corpus.lengths, corpus.weights
    total, pos = i64(0), start
    while pos < stop:
        symbol = cells[natural(pos)]
        if symbol == BOUNDARY:
            pos += 1
            continue
        total += weights[pos >> shift]
        pos += i64(lengths[symbol])
    growth.control[N_TOKENS] += total
    return pos
