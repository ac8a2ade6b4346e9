"""Ids of pretokens that an entry refers to: the spilled ids of the memo."""

from __future__ import annotations

import numpy as np

from numbatok._jit import part, u64
from numbatok.tables import SPILLED, USED_SPILLED, Memo, MergeRules

COUNT_SHIFT, HALF = u64(29), u64(32)


@part
def spill_id(symbol: int, merges: MergeRules, memo: Memo) -> None:
    """Append the id of a symbol to the spilled ids."""
    memo.spilled[memo.used[USED_SPILLED]] = merges.ids[symbol]
    memo.used[USED_SPILLED] += 1


@part
def pack_spilled(start: int, memo: Memo) -> tuple[np.uint64, np.uint64]:
    """Return ids_low and ids_high of the ids spilled from `start` on; up to four move inside."""
    spilled, count = memo.spilled, memo.used[USED_SPILLED] - start
    if count > 4:
        return u64(SPILLED) << COUNT_SHIFT | u64(count) << HALF, u64(start)
    memo.used[USED_SPILLED] = start
    if count == 0:
        return u64(0), u64(0)
    low = u64(spilled[start]) | u64(count) << COUNT_SHIFT
    if count > 1:
        low |= u64(spilled[start + 1]) << HALF
    high = u64(spilled[start + 2]) if count > 2 else u64(0)
    if count > 3:
        high |= u64(spilled[start + 3]) << HALF
    return low, high
