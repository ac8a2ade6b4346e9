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
from numbatok.kernels.utf8 import character_start, class_and_length
from numbatok.tables import (
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
    N_COLUMNS,
    STRIDE,
    U8,
    U16,
    UNKNOWN_FROM,
    UNKNOWN_START,
    Automaton,
    Finder,
    Scan,
    Walk,
)
from numbatok.vector import BLOCK, natural, non_ascii_mask

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
    if scan.dropped.size > 0:
        count = write_starts_and_drops(scan, start, known, at)
    else:
        count = write_starts(scan, start, known, at)
    flow[FLOW_WITHIN] = within_at(scan.window, i64(scan.starts[count - 1]), first, automaton)
    return count


# --- bytes to symbols -----------------------------------------------------------------------------


@part
def write_symbols(
    text: U8, start: int, stop: int, first: int, automaton: Automaton, symbols: U16
) -> None:
    """Write the symbol of byte start + k of a text to symbols[k].

    What is before `first` belongs to a character that begins earlier. Reads: MARGIN bytes after
    stop.
    """
    classes = automaton.classes
    for at in range(start, min(first, stop)):
        symbols[natural(at - start)] = 0
    pos = max(start, first)
    if pos > first and text[pos] & 0xC0 == 0x80:
        pos = character_start(text, pos, first, classes)
    while pos < stop:
        pos = natural(pos)
        if pos >= start and stop - pos >= BLOCK and non_ascii_mask(text, pos) == 0:
            for k in range(BLOCK):
                symbols[natural(pos - start + k)] = classes.classes[text[pos + k]]
            pos += BLOCK
            continue
        kind, length = class_and_length(text, pos, classes)
        for at in range(max(pos, start), min(pos + length, stop)):
            symbols[natural(at - start)] = 0
        if pos >= start:
            symbols[natural(pos - start)] = kind
        pos += length
    if automaton.joint.size > 0:
        for k in range(stop - start):
            symbols[k] = automaton.joint[i64(symbols[k]) << 8 | i64(text[start + k])]


@part
def within_at(text: U8, pos: int, first: int, automaton: Automaton) -> int:
    """Return how many bytes at pos belong to a character that begins before, as `first` says."""
    if pos <= first:
        return first - pos
    if automaton.joint.size == 0:  # pretokens are of whole characters
        return i64(0)
    begin = character_start(text, pos, first, automaton.classes)
    _, length = class_and_length(text, begin, automaton.classes)
    return i64(0) if begin == pos else begin + length - pos


# --- the two passes -------------------------------------------------------------------------------


@part
def look_back(
    symbols: U16, n: int, outlook: int, automaton: Automaton, columns: U16
) -> tuple[int, int]:
    """Read symbols[:n] from the end, behind which there is `outlook`, and write their columns.

    Return the outlook before the first symbol, and how many columns are known from the first on.
    """
    back, unknown_from = automaton.back, automaton.shape[UNKNOWN_FROM]
    row, i = i64(outlook), i64(n)
    while i > 0 and row >= unknown_from:
        i -= 1
        row = i64(back[natural(row + i64(symbols[i]))])
    known = i
    while i > 0:
        i -= 1
        index = natural(row + i64(symbols[natural(i)]))
        columns[natural(i)] = automaton.columns[index]
        row = i64(back[index])
    return row, known


@part
def write_starts(scan: Scan, start: int, n: int, at: int) -> int:
    """Read columns[:n] from the start and write where there are cuts; return how many then."""
    automaton, columns, starts, flow = scan.automaton, scan.walk.columns, scan.starts, scan.flow
    forward, cuts_from = automaton.forward, automaton.shape[CUTS_FROM]
    row = row_at_last = i64(flow[FLOW_ROW])
    starts[at] = start  # also if nothing is decided
    count = i64(at)
    for i in range(n):
        before = row
        row = i64(forward[natural(row + i64(columns[i]))])
        starts[natural(count)] = start + i
        is_cut = row >= cuts_from
        count += i64(is_cut)
        row_at_last = before if is_cut else row_at_last
    flow[FLOW_ROW] = row_at_last
    return max(count, at + 1)


@kernel
def write_starts_and_drops(scan: Scan, start: int, n: int, at: int) -> int:
    """Do the same, and tell of each pretoken whether it is dropped."""
    automaton, columns, starts, flow = scan.automaton, scan.walk.columns, scan.starts, scan.flow
    forward, shape, dropped = automaton.forward, automaton.shape, scan.dropped
    row = row_at_last = i64(flow[FLOW_ROW])
    starts[at] = start
    count = natural(at + 1)
    for i in range(n):
        before = row
        row = i64(forward[natural(row + i64(columns[i]))])
        if row >= shape[CUTS_FROM] and i > 0:  # at the first byte nothing ends that is ours
            starts[count] = start + i
            dropped[count - 1] = row >= shape[DROPS_FROM]
            count += 1
            row_at_last = before
    dropped[count - 1] = automaton.ends[row // shape[N_COLUMNS]] & ENDS_DROPPED
    flow[FLOW_ROW] = row_at_last
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
        scan.dropped[0] = automaton.ends[row // shape[N_COLUMNS]] & ENDS_DROPPED
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
