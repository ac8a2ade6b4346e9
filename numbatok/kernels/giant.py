"""Pretokens that are longer than a window."""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, u64
from numbatok.addresses import call_at, view_u8, view_u32
from numbatok.kernels.added import find_added
from numbatok.kernels.encode import open_state
from numbatok.kernels.merge_any import merge_work
from numbatok.kernels.odd import has_odd, known_symbols
from numbatok.tables import (
    MARGIN,
    NEXT_ADDED,
    NEXT_ADDED_TOKEN,
    OVERLAP,
    PRETOKEN_END,
    U32,
    MergeRules,
    Work,
)

HALF, LOW_HALF = u64(32), u64((1 << 32) - 1)


@entry
def giant_end(state_address: int, text_address: int, first: int, pos: int, end: int) -> int:
    """Return where the pretoken at pos of the document text[first:end] ends.

    Reads: MARGIN bytes after `end`.
    """
    state = open_state(state_address)
    control, stop = state.control, end
    if state.actions.size > 0:
        if control[NEXT_ADDED] < pos or (
            control[NEXT_ADDED_TOKEN] < 0 and control[NEXT_ADDED] < end
        ):
            text = view_u8(text_address, end)
            find_added(text, first, pos, end, end, state.added, state.actions, control)
        stop = control[NEXT_ADDED]
    return i64(call_at(state.functions[PRETOKEN_END], state_address, text_address, pos, stop))


@entry
def merge_giant(state_address: int, text_address: int, length: int, ids_address: int) -> int:
    """Write the ids of one pretoken of any length (none if ids is 0); return how many, or -1.

    It is merged in windows that fit the work space and overlap. Two windows are joined at a symbol
    that both have at the same place. That is exact, in whatever order the merges are. Until a merge
    joins over the end of a token, each token goes through the merges that it goes through alone,
    and these sequences are interleaved by lowest rank: a merge that is higher than all before it in
    its token is done, with the lower ones that follow it at once, when every other token is as far
    as below its rank. So at each such step two neighbors are in the same state whatever is around
    them, and the first merge over the end between them happens wherever they are neighbors, or
    nowhere; by it happening nowhere in some window they are known to stay two. Here every two
    neighbors are next to each other in the result of a window.

    -1: bytes without tokens are there, or two windows have no symbol in common; see `merge_whole`.
    """
    state = open_state(state_address)
    merges, work = state.merges, state.work
    text = view_u8(text_address, length)
    ids = view_u32(ids_address, length if ids_address != 0 else 0)
    start, first, n_saved = i64(0), i64(0), i64(0)
    odd = merges.odd.size > 0 and has_odd(text, i64(0), length, merges)
    n_ids = i64(-1 if odd else 0)
    while n_ids >= 0:
        stop = min(length, start + work.symbols.size - MARGIN)
        for at in range(stop - start):
            work.symbols[at] = text[start + at]
        count = merge_work(stop - start, merges, work)
        if start > 0:
            n_saved, first = find_common(n_saved, count, work)
            n_ids = write_saved(n_saved, work, merges, ids, n_ids)
        last = count if stop == length else overlap_from(stop - start, count, work)
        if first < 0 or last < first:
            return i64(-1)
        for k in range(first, last):
            if ids.size > 0:
                ids[n_ids + k - first] = merges.ids[work.symbols[k]]
        n_ids += last - first
        if stop == length:
            return n_ids
        n_saved = save_overlap(last, count, work)
        start += i64(work.preceding[last])
    return n_ids


@kernel
def overlap_from(size: int, count: int, work: Work) -> int:
    """Return the number of the first symbol of the overlap with the next window, or -1."""
    at = count - 1
    while at > 0 and work.preceding[at] > size - OVERLAP:
        at -= 1
    return at if at > 0 else i64(-1)


@kernel
def save_overlap(last: int, count: int, work: Work) -> int:
    """Keep the symbols of the overlap, by where they start in the next window; return how many.

    They are at the end of the heap, where no merge of a window comes.
    """
    start, saved = i64(work.preceding[last]), work.heap.size - OVERLAP
    for k in range(last, count):
        work.heap[saved + k - last] = u64(work.preceding[k] - start) << HALF | u64(work.symbols[k])
    return count - last


@kernel
def find_common(n_saved: int, count: int, work: Work) -> tuple[int, int]:
    """Return how many saved symbols to take, and from which of the window to go on; or 0 and -1."""
    new = i64(0)
    for old in range(n_saved):
        saved = work.heap[work.heap.size - OVERLAP + old]
        while new < count and i64(work.preceding[new]) < i64(saved >> HALF):
            new += 1
        if new < count and u64(work.preceding[new]) << HALF | u64(work.symbols[new]) == saved:
            return old + 1, new + 1
    return i64(0), i64(-1)


@kernel
def write_saved(n_saved: int, work: Work, merges: MergeRules, ids: U32, n_ids: int) -> int:
    """Write the ids of saved symbols; return where they end."""
    saved = work.heap.size - OVERLAP
    for k in range(n_saved):
        if ids.size > 0:
            ids[n_ids + k] = merges.ids[i64(work.heap[saved + k] & LOW_HALF)]
    return n_ids + n_saved


@entry
def merge_whole(state_address: int, text_address: int, length: int, ids_address: int) -> int:
    """Write the ids of one pretoken of any length (none if ids is 0); return how many.

    Reads: State.work of the pretoken's length.
    """
    state = open_state(state_address)
    merges, work = state.merges, state.work
    text, n_symbols = view_u8(text_address, length), length
    if merges.odd.size > 0:
        n_symbols = known_symbols(text, i64(0), length, merges, work)
    else:
        for at in range(length):
            work.symbols[at] = text[at]
    count = merge_work(n_symbols, merges, work)
    if ids_address != 0:
        ids = view_u32(ids_address, count)
        for at in range(count):
            ids[at] = merges.ids[work.symbols[at]]
    return count
