"""Byte-pair encoding of one pretoken of any length, by whichever way is quickest."""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, u64
from numbatok.kernels.merge_by_rank import merge_by_rank
from numbatok.kernels.merge_long import WIDTH, merge_row, merge_symbols
from numbatok.kernels.premerge import put_symbols
from numbatok.kernels.spill import pack_spilled, spill_id
from numbatok.tables import U8, USED_SPILLED, Memo, MergeRules, Work
from numbatok.vector import clear_lowest_bit, count_trailing_zeros, natural

ZERO = u64(0)
BY_RANK = 256  # symbols from which lists are quicker than a heap


@kernel
def merge_and_spill(
    text: U8, start: int, length: int, merges: MergeRules, work: Work, memo: Memo
) -> tuple[np.uint64, np.uint64]:
    """Return ids_low and ids_high of the pretoken text[start : start + length]."""
    if length > WIDTH:
        count = put_symbols(text, natural(start), start + length, merges, work.symbols, i64(0))
        return spill_merged(count, merges, work, memo)
    spilled_from = memo.used[USED_SPILLED]
    alive = merge_row(text, start, length, merges, work)
    while alive != ZERO:
        spill_id(i64(work.symbols[count_trailing_zeros(alive)]), merges, memo)
        alive = clear_lowest_bit(alive)
    return pack_spilled(spilled_from, memo)


@kernel
def spill_merged(
    length: int, merges: MergeRules, work: Work, memo: Memo
) -> tuple[np.uint64, np.uint64]:
    """Merge the first `length` symbols of the work space; return ids_low and ids_high."""
    spilled_from = memo.used[USED_SPILLED]
    for at in range(merge_work(length, merges, work)):
        spill_id(i64(work.symbols[at]), merges, memo)
    return pack_spilled(spilled_from, memo)


@kernel
def merge_work(length: int, merges: MergeRules, work: Work) -> int:
    """Merge work.symbols[:length] in place; return how many symbols are left.

    Symbol k then started at position work.preceding[k].
    """
    if length >= BY_RANK:
        count = merge_by_rank(length, merges, work)
        if count >= 0:
            return count
    merge_symbols(length, merges, work)
    at, count = i64(0), i64(0)
    while at < length:
        work.symbols[count], work.preceding[count] = work.symbols[at], at
        at, count = i64(work.following[at]), count + 1
    return count
