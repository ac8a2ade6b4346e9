"""Any chain of pre-tokenizers, by the tables that `numbatok.regex` makes of it.

Every byte becomes a symbol: the class of the character that it begins, or 0 within one. Then the
text is read twice:

    from the end     row + symbol -> row before, column     what follows is known at every place
    from the start   row + column -> row after              is there a cut before the symbol?

so each byte takes the same time, whatever the text. Where the text goes on after what is scanned,
it is read from a row that stands for "anything may follow"; from the first place on where only one
thing can, all is decided, and the rest is left to the next scan.
"""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part
from numbatok.addresses import opener, view_i64, view_u8
from numbatok.kernels.scan.passes import (
    look_back,
    row_before,
    within_at,
    write_marks,
    write_symbols,
)
from numbatok.tables import (
    COLUMN_BITS,
    CUTS_FROM,
    DROPS_FROM,
    EMPTY_FROM,
    ENDS_DROPPED,
    FLOW_GOES_ON,
    FLOW_OUTLOOK,
    FLOW_ROW,
    FLOW_WITHIN,
    FORESEEN_FROM,
    FORESEEN_TO,
    I64,
    MARGIN,
    MARK_DROP,
    STRIDE,
    U8,
    UNKNOWN_START,
    Automaton,
    Finder,
    Scan,
    Walk,
)
from numbatok.vector import BLOCK, low_bits, natural, non_ascii_mask, write_positions

open_scan = opener(Scan)


@entry
def scan_automaton(state: int, start: int, stop: int, at: int) -> int:
    """Write where the pretokens of window[start:stop] start; return how many starts there are.

    Where the text goes on, the last start is that of the first pretoken that is not decided.
    """
    scan = open_scan(state)
    automaton, walk, flow = scan.automaton, scan.walk, scan.flow
    first = start + flow[FLOW_WITHIN]
    write_symbols(scan.window, start, stop, first, automaton, walk.symbols)
    outlook = i64(0)
    if flow[FLOW_GOES_ON] != 0:
        outlook = flow[FLOW_OUTLOOK]
        if outlook < 0:
            outlook = automaton.shape[UNKNOWN_START]
    _, known = look_back(walk.symbols, stop - start, outlook, automaton, walk.columns)
    count = write_starts(scan, start, known, at)
    flow[FLOW_WITHIN] = within_at(scan.window, i64(scan.starts[count - 1]), first, automaton)
    return count


@part
def write_starts(scan: Scan, start: int, n: int, at: int) -> int:
    """Read columns[:n] from the start and write where there are cuts; return how many then."""
    marks, starts, flow = scan.walk.marks, scan.starts, scan.flow
    row = write_marks(scan.walk, n, i64(flow[FLOW_ROW]), scan.automaton)
    starts[at] = start  # also if nothing is decided
    count = i64(at)
    for k in range(0, n, BLOCK):
        mask = non_ascii_mask(marks, k)  # MARK_CUT is the highest bit
        if n - k < BLOCK:
            mask &= low_bits(n - k)
        count += write_positions(mask, start + k, starts, count)
    count = max(count, at + 1)
    if scan.dropped.size > 0:
        for k in range(at + 1, count):  # at the first place nothing ends that is ours
            scan.dropped[natural(k - 1)] = marks[i64(starts[k]) - start] & MARK_DROP
        ends = scan.automaton.ends[row >> scan.automaton.shape[COLUMN_BITS]]
        scan.dropped[natural(count - 1)] = ends & ENDS_DROPPED
    if flow[FLOW_GOES_ON] != 0:
        flow[FLOW_ROW] = row_before(scan, i64(starts[count - 1]) - start)
    return count


# --- texts longer than a window -------------------------------------------------------------------


@entry
def pretoken_end_automaton(state: int, address: int, pos: int, end: int) -> int:
    """Return where the pretoken that starts at pos ends; the text ends at `end`.

    If the text goes on there (FLOW_GOES_ON), `end` may also mean that it is not decided. Tells in
    dropped[0], if there is one, whether the pretoken is dropped. Bound: Walk.outlooks has a place
    for every STRIDE bytes from pos to end, and two more.
    """
    scan, text = open_scan(state), view_u8(address, end + MARGIN)
    automaton, walk, flow = scan.automaton, scan.walk, scan.flow
    shape, first = automaton.shape, pos + flow[FLOW_WITHIN]
    if flow[FORESEEN_TO] != end or flow[FORESEEN_FROM] > first:
        foresee(text, first, end, automaton, walk, flow)
    row, at, drops_from = i64(flow[FLOW_ROW]), i64(pos), shape[DROPS_FROM]
    while at < end:
        stop, known = read_stretch(text, at, automaton, walk, flow)
        for i in range(known):
            before = row
            row = i64(automaton.forward[natural(row + i64(walk.columns[i]))])
            if row >= shape[CUTS_FROM] and at + i > pos:
                flow[FLOW_ROW] = before
                flow[FLOW_WITHIN] = within_at(text, at + i, first, automaton)
                if scan.dropped.size > 0:
                    scan.dropped[0] = row >= drops_from
                return at + i
        if known < stop - at:
            return end
        at = stop
    if scan.dropped.size > 0:
        scan.dropped[0] = automaton.ends[row >> shape[COLUMN_BITS]] & ENDS_DROPPED
    return end


@kernel
def foresee(text: U8, start: int, end: int, automaton: Automaton, walk: Walk, flow: I64) -> None:
    """Write the outlook at every STRIDE bytes of a text from `start` on, and at its end."""
    k = (end - start + STRIDE - 1) // STRIDE
    outlook = i64(0) if flow[FLOW_GOES_ON] == 0 else i64(automaton.shape[UNKNOWN_START])
    walk.outlooks[k] = outlook
    stop = i64(end)
    while k > 0:
        k -= 1
        at = start + k * STRIDE
        write_symbols(text, at, stop, start, automaton, walk.symbols)
        outlook, _ = look_back(walk.symbols, stop - at, outlook, automaton, walk.columns)
        walk.outlooks[k] = outlook
        stop = at
    flow[FORESEEN_FROM], flow[FORESEEN_TO] = start, end


@kernel
def read_stretch(text: U8, at: int, automaton: Automaton, walk: Walk, flow: I64) -> tuple[int, int]:
    """Write the columns from `at` to the next place with an outlook.

    Return the place, and how many columns are known.
    """
    start, end = flow[FORESEEN_FROM], flow[FORESEEN_TO]
    k = (at - start) // STRIDE + 1
    stop = min(end, start + k * STRIDE)
    write_symbols(text, at, stop, start, automaton, walk.symbols)
    outlook = i64(walk.outlooks[k])
    _, known = look_back(walk.symbols, stop - at, outlook, automaton, walk.columns)
    return stop, known


# --- all matches, for normalizers -----------------------------------------------------------------

open_finder = opener(Finder)


@entry
def find_marks(finder: int, address: int, pos: int, end: int, marks_address: int) -> int:
    """Write the places with a cut in a stretch of a text from pos on; return how many there are.

    A mark is place << 2 | what: 1, a gap ends; 2, a match; 3, there is an empty match. The stretch
    is one of STRIDE bytes; flow[FLOW_ROW] becomes the row behind it. Reads: MARGIN bytes after end.
    """
    parts, text = open_finder(finder), view_u8(address, end + MARGIN)
    automaton, walk, flow = parts.automaton, parts.walk, parts.flow
    shape, marks = automaton.shape, view_i64(marks_address, STRIDE)
    if flow[FORESEEN_TO] != end:
        foresee(text, pos, end, automaton, walk, flow)
    stop, _ = read_stretch(text, pos, automaton, walk, flow)
    row, count = i64(flow[FLOW_ROW]), i64(0)
    for i in range(stop - pos):
        row = i64(automaton.forward[natural(row + i64(walk.columns[i]))])
        if row >= shape[CUTS_FROM]:
            what = 1 + i64(row >= shape[DROPS_FROM]) + i64(row >= shape[EMPTY_FROM])
            marks[natural(count)] = (pos + i) << 2 | what
            count += 1
    flow[FLOW_ROW] = row
    return count
