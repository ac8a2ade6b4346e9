"""Which merges are certain whatever is around them: the tables that kernels/premerge looks up.

Why they are certain is proved there.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from numbatok.tables import (
    EMPTY_PAIR,
    I64,
    NO_RANK,
    RANK_BITS,
    SYMBOL_BITS,
    U8,
    MergeRules,
)


def certify(merges: MergeRules, first: U8, last: U8) -> None:
    """Fill `before`, `after` and `characters` of merges.

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
    merges.before[:], merges.after[:] = before, after
    merges.characters[:] = certain_characters(merges, taken, taken_right)


def certain_characters(merges: MergeRules, taken: I64, taken_right: I64) -> I64:
    """Return the symbol of each three bytes of UTF-8, by code point, that is certain, or 0.

    That is, once its first two bytes are joined, before any symbol.
    """
    left, right, ranks = pairs_of(merges)
    codes = np.arange(1 << 16)
    a, b, c = 0xE0 | codes >> 12, 0x80 | codes >> 6 & 63, 0x80 | codes & 63
    first_ranks = merges.byte_ranks[a << 8 | b].astype(np.int64)
    codes = np.flatnonzero(first_ranks < NO_RANK)
    prefixes = 256 + first_ranks[codes]
    order = np.argsort(left << SYMBOL_BITS | right)
    keys = (left << SYMBOL_BITS | right)[order]
    wanted = prefixes << SYMBOL_BITS | c[codes]
    places = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    found = np.zeros(1 << 16, np.int64)
    if len(keys):
        whole = ranks[order][places]
        is_certain = (
            (keys[places] == wanted)
            & (whole < taken_right[prefixes])
            & (whole < taken[256 + whole])
        )
        found[codes[is_certain]] = 256 + whole[is_certain]
    return found


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
