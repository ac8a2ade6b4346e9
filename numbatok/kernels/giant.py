"""Pretokens that are longer than a window."""

from __future__ import annotations

from numbatok._jit import entry, i64
from numbatok.addresses import call_at, view_u8, view_u32
from numbatok.kernels.added import find_added
from numbatok.kernels.encode import open_state
from numbatok.kernels.merge_long import merge_list, merge_symbols
from numbatok.kernels.odd import known_symbols
from numbatok.tables import NEXT_ADDED, NEXT_ADDED_TOKEN, PRETOKEN_END


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
    """Write the ids of one pretoken of any length (none if ids is 0); return how many.

    Reads: State.work of the pretoken's length.
    """
    state = open_state(state_address)
    merges, work = state.merges, state.work
    text = view_u8(text_address, length)
    if merges.odd.size > 0:
        n_symbols = known_symbols(text, i64(0), length, merges, work)
        merge_symbols(n_symbols, merges, work)
    else:
        n_symbols = length
        merge_list(text, i64(0), length, merges, work)
    ids = view_u32(ids_address, length)
    at, count = i64(0), i64(0)
    while at < n_symbols:
        if ids_address != 0:
            ids[count] = merges.ids[work.symbols[at]]
        count += 1
        at = i64(work.following[at])
    return count
