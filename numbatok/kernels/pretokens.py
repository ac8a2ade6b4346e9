"""Texts -> pretoken ends, without ids."""

from __future__ import annotations

from numbatok._jit import entry, i64
from numbatok.addresses import call_at, view_i64, view_u8
from numbatok.kernels.encode import fill_window, foreseen, open_state
from numbatok.tables import (
    AT_BYTE,
    AT_ID,
    DONE,
    FLOW_GOES_ON,
    MARGIN,
    PAUSED,
    SCAN_WINDOW,
    WINDOW_SHORT,
)


@entry
def find_pretokens(
    state_address: int, text_address: int, size: int, ends_address: int, budget: int
) -> int:
    """Write where the pretokens of a text end, from where control says to ends[control[AT_ID]:].

    The end of one that is dropped is negated.

    Return DONE; PAUSED after about `budget` bytes; WINDOW_SHORT: the pretoken at control[AT_BYTE]
    is longer than the window. Bound: one end per byte.
    """
    state = open_state(state_address)
    control, scan = state.control, state.scan
    text, ends = view_u8(text_address, size), view_i64(ends_address, size)
    segment, pos, at = scan.window.size - MARGIN, control[AT_BYTE], control[AT_ID]
    pause_at = pos + budget
    while pos < size and pos < pause_at:
        n_bytes = foreseen(scan, pos, min(size - pos, segment), size)
        scan.flow[FLOW_GOES_ON] = i64(n_bytes < size - pos)
        fill_window(text, pos, n_bytes, size, scan.window, i64(0))
        count = call_at(state.functions[SCAN_WINDOW], state_address, i64(0), n_bytes, i64(0))
        if n_bytes < size - pos:
            count -= 1
        else:
            scan.starts[count] = n_bytes
        if count == 0:
            control[AT_BYTE], control[AT_ID] = pos, at
            return i64(WINDOW_SHORT)
        for i in range(1, count + 1):
            ends[at + i - 1] = pos + i64(scan.starts[i])
            if scan.dropped.size > 0 and scan.dropped[i - 1] != 0:
                ends[at + i - 1] = -(pos + i64(scan.starts[i]))
        at += count
        pos += i64(scan.starts[count])
    control[AT_BYTE], control[AT_ID] = pos, at
    return i64(DONE) if pos == size else i64(PAUSED)
