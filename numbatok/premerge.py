"""Which merges are certain whatever is around them: the tables that kernels/premerge looks up.

Why they are certain is proved there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numbatok.tables import (
    EDGE_BITS,
    EDGE_NONE,
    EMPTY_PAIR,
    I64,
    NO_RANK,
    RANK_BITS,
    SYMBOL_BITS,
    U8,
    MergeRules,
)


def certify(merges: MergeRules, first: U8, last: U8) -> None:
    """Fill `edges` and `characters` of merges.

    `first` and `last` are the first and the last byte of each symbol.
    """
    left, right, ranks = pairs_of(merges)
    taken_left = least_ranks(left, ranks, first.size)  # by a merge of which it is the left part
    taken_right = least_ranks(right, ranks, first.size)
    is_byte_right, is_byte_left = right < 256, left < 256
    before = least_ranks(
        last[left[is_byte_right]].astype(np.int64) << 8 | right[is_byte_right],
        ranks[is_byte_right], 65536,
    )  # fmt: skip
    after = least_ranks(
        left[is_byte_left] << 8 | first[right[is_byte_left]], ranks[is_byte_left], 65536
    )
    taken = np.minimum(taken_left, taken_right)
    is_early = is_byte_left & is_byte_right & (taken[256 + ranks] <= ranks)
    for a, b, rank in zip(left[is_early], right[is_early], ranks[is_early], strict=True):
        # never certain beside anything: a byte before it, a byte after it
        before[a::256] = np.minimum(before[a::256], rank)
        after[b << 8 : b + 1 << 8] = np.minimum(after[b << 8 : b + 1 << 8], rank)
    for k, field in enumerate((merges.byte_ranks.astype(np.int64), before, after)):
        limited = np.minimum(field, EDGE_NONE).astype(np.uint64)
        merges.edges[:] |= limited << np.uint64(EDGE_BITS * k)
    merges.characters[:] = certain_parts(merges, before, after, taken_left, taken_right)


def certain_parts(
    merges: MergeRules, before: I64, after: I64, taken_left: I64, taken_right: I64
) -> I64:
    """Return the symbols of each three bytes of UTF-8, by code point, once the certain ones merged.

    They are certain where no merge takes a symbol before them with their first byte, nor their last
    byte with a symbol after them.
    """
    codes = np.arange(1 << 16)
    a, b, c = 0xE0 | codes >> 12, 0x80 | codes >> 6 & 63, 0x80 | codes & 63
    ranks = merges.byte_ranks.astype(np.int64)
    ab, bc = ranks[a << 8 | b], ranks[b << 8 | c]
    opening = np.flatnonzero(ab < after[b << 8 | c])
    closing = np.flatnonzero(bc < before[a << 8 | b])
    first, last = 256 + ab[opening], 256 + bc[closing]
    symbols, taken = np.stack([a, b, c]), np.minimum(taken_left, taken_right)
    for places, left, right, least in (
        (opening, first, c[opening], taken_right[first]),
        (closing, a[closing], last, taken_left[last]),
    ):
        symbols[0, places], symbols[1, places], symbols[2, places] = left, right, 0
        rank = ranks_of(merges, left, right)
        is_sure = rank < np.minimum(least, taken[256 + np.where(rank < NO_RANK, rank, 0)])
        sure = places[is_sure]
        symbols[0, sure], symbols[1, sure] = 256 + rank[is_sure], 0
    return symbols[0] | symbols[1] << SYMBOL_BITS | symbols[2] << 2 * SYMBOL_BITS


def ranks_of(merges: MergeRules, left: I64, right: I64) -> I64:
    """Return the rank of each pair, NO_RANK where there is none."""
    known_left, known_right, ranks = pairs_of(merges)
    known = np.append(known_left << SYMBOL_BITS | known_right, -1)
    order = np.argsort(known)
    wanted = left << SYMBOL_BITS | right
    places = order[np.minimum(np.searchsorted(known[order], wanted), known.size - 1)]
    return np.where(known[places] == wanted, np.append(ranks, NO_RANK)[places], NO_RANK)


def pairs_of(merges: MergeRules) -> tuple[I64, I64, I64]:
    """Return left, right and rank of every merge, in no order."""
    slots = merges.buckets[merges.buckets != np.uint64(EMPTY_PAIR)].astype(np.int64)
    pairs = slots >> RANK_BITS & (1 << 2 * SYMBOL_BITS) - 1
    ranks = slots & (1 << RANK_BITS) - 1
    return pairs >> SYMBOL_BITS, pairs & (1 << SYMBOL_BITS) - 1, ranks


def least_ranks(places: NDArray[np.int64], ranks: I64, size: int) -> I64:
    """Return the least rank at each place, NO_RANK where there is none."""
    least = np.full(size, NO_RANK, np.int64)
    np.minimum.at(least, places, ranks)
    return least
