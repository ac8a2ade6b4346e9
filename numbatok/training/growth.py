"""The arrays of the merge loop, sized for a corpus."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import TrainingError
from numbatok.kernels.train_tables import (
    EMPTY,
    FIRST_SYMBOL,
    LAST_SYMBOL,
    MAX_BYTES,
    N_GROWTH,
    N_RANGES,
    N_SYMBOLS,
    SHIFT,
    Corpus,
    Growth,
    Pairs,
)
from numbatok.memory import aligned_zeros
from numbatok.tables import U64
from numbatok.training.pretokens import Pretokens

BLOCK_SHIFT = 5  # 32 cells share a weight, so that weights stay in the cache
MAX_CELLS = (1 << 32) - (1 << 20)  # a cell's number has 32 bits
MAX_WEIGHT = 1 << 62  # of all pairs together, in 64 bits
FIRST_SLOTS = 1 << 16
MAX_SKETCH_BITS = 22  # 32 MB; more cells than that gain little
SKETCH_SHARE = 2  # a sketch cell for every 4 cells of the corpus: fewer cost recounts, more misses
NO_LIMIT = 1 << 31  # bytes of a token
SLACK = 64  # cells behind the last pretoken


def chosen_order(pretokens: Pretokens, by_place: bool) -> NDArray[np.int64]:
    """Return the indexes of the pretokens that have pairs, as they are laid out.

    By place: as they occur first. Else the ones of one count together, the greatest count first.
    """
    indexes = np.flatnonzero(pretokens.lengths > 1)
    keys = pretokens.firsts_or_zeros()[indexes] if by_place else -pretokens.numbers[indexes]
    return indexes[np.argsort(keys, kind="stable" if by_place else None)]


def count_cells(pretokens: Pretokens, order: NDArray[np.int64], shift: int) -> int:
    """Return how many cells a corpus takes at most.

    Errors: TrainingError for more than 2^32 of them, or counts whose sum passes 2^62.
    """
    lengths, numbers = pretokens.lengths[order], pretokens.numbers[order]
    n_cells = int(lengths.sum()) + len(order) + SLACK
    if shift:
        n_cells += int(np.count_nonzero(np.diff(numbers)) + 1) << shift
    if n_cells > MAX_CELLS:
        raise TrainingError(
            f"{len(order):,} distinct pretokens have {n_cells:,} bytes, more than {MAX_CELLS:,}; "
            "leave rare ones out: counts.at_least(2)"
        )
    if float(np.dot(lengths.astype(np.float64), numbers.astype(np.float64))) > MAX_WEIGHT:
        raise TrainingError("the counts of all pairs add up to more than 2^62; divide the counts")
    return n_cells


def nbytes_foreseen(n_cells: int, n_symbols: int) -> int:
    """Return how much memory the merge loop takes about: cells, lists, neighbors, tables."""
    return n_cells * (4 + 4 + 2) + n_symbols * 80 + (8 << _bits(n_cells))


def make_growth(n_cells: int, n_symbols: int, n_first: int, shift: int, longest: int) -> Growth:
    """Make the arrays for symbols n_first ... n_symbols - 1 to come.

    Arrays whose size is only a bound take memory where they are used.
    """
    n_merges = n_symbols - n_first
    growth = Growth(
        corpus=Corpus(
            np.empty(n_cells, np.uint32),
            np.zeros((n_cells >> shift) + 1, np.int64),
            np.ones(n_symbols, np.uint32),
        ),
        pairs=make_pairs(FIRST_SLOTS, n_cells),
        sketch=aligned_zeros(1 << _bits(n_cells), np.uint64),
        histogram=np.zeros(N_RANGES, np.int64),
        sides=aligned_zeros(4 * n_symbols, np.int64),
        touched=np.empty(2 * n_symbols, np.uint32),
        neighbors=np.empty(2 * n_cells, np.uint32),
        merges=np.empty(2 * n_merges, np.uint32),
        merge_counts=np.empty(n_merges, np.int64),
        asks=np.zeros(longest + 1, np.uint8),
        vetoed=empty_keys(16),
        control=np.zeros(N_GROWTH, np.int64),
    )
    control = growth.control
    control[SHIFT] = shift
    control[N_SYMBOLS] = control[FIRST_SYMBOL] = n_first
    control[LAST_SYMBOL] = n_symbols
    control[MAX_BYTES] = NO_LIMIT
    return growth


def make_pairs(n_slots: int, n_cells: int) -> Pairs:
    """Make an empty table of pairs, with room for half as many; lists have room for all."""
    return Pairs(
        keys=empty_keys(n_slots),
        counts=np.zeros(n_slots, np.int64),
        starts=np.zeros(n_slots, np.int64),
        sizes=np.zeros(n_slots, np.int64),
        places=np.empty(2 * n_cells, np.uint32),
        heap=np.empty(3 * (n_slots // 2 + 1), np.uint64),
    )


def empty_keys(n_slots: int) -> U64:
    """Make an open-addressed table of pair keys without any."""
    keys = aligned_zeros(n_slots, np.uint64)
    keys[:] = EMPTY
    return keys


def keys_of(pairs: Iterable[tuple[int, int]]) -> U64:
    """Return an open-addressed table of pairs, at most half full."""
    numbers = [left << 32 | right for left, right in pairs]
    keys = empty_keys(1 << max(4, (2 * len(numbers)).bit_length()))
    for number in numbers:
        put_key(keys, number)
    return keys


def put_key(keys: U64, number: int) -> None:
    """Enter a pair, left << 32 | right, as `find_pair` looks it up."""
    mixed = (number ^ number >> 29) * 0x9E3779B97F4A7C15 & (1 << 64) - 1
    slot = mixed >> 32 & keys.size - 1
    while keys[slot] not in (EMPTY, number):
        slot = slot + 1 & keys.size - 1
    keys[slot] = number


def _bits(n_cells: int) -> int:
    return min(MAX_SKETCH_BITS, max(12, n_cells.bit_length() - SKETCH_SHARE))
