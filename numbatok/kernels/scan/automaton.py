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
    MARK_SHIFT,
    ROW_UNKNOWN_FROM,
    ROW_UNKNOWN_START,
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
from numbatok.vector import BLOCK, low_bits, natural, non_ascii_mask, write_positions

REACH = 32  # symbols from which the outlook or the row at a place is mostly known
WORTH_FOUR = 128  # symbols in each of four stretches that are read side by side

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


# --- bytes to symbols -----------------------------------------------------------------------------


@kernel
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


@kernel
def within_at(text: U8, pos: int, first: int, automaton: Automaton) -> int:
    """Return how many bytes at pos belong to a character that begins before, as `first` says."""
    if pos <= first:
        return first - pos
    if automaton.joint.size == 0:  # pretokens are of whole characters
        return i64(0)
    begin = character_start(text, pos, first, automaton.classes)
    _, length = class_and_length(text, begin, automaton.classes)
    return i64(0) if begin == pos else begin + length - pos


# --- from the end ---------------------------------------------------------------------------------


@kernel
def look_back(
    symbols: U16, n: int, outlook: int, automaton: Automaton, columns: U16
) -> tuple[int, int]:
    """Read symbols[:n] from the end, behind which there is `outlook`, and write their columns.

    Return the outlook before the first symbol, and how many columns are known from the first on.
    """
    back, unknown_from = automaton.back, automaton.shape[UNKNOWN_FROM]
    row, known = i64(outlook), i64(n)
    while known > 0 and row >= unknown_from:
        known -= 1
        row = i64(back[natural(row + i64(symbols[natural(known)]))])
    size, i = known // 4, known
    if size >= WORTH_FOUR:
        first = outlook_near(symbols, size, automaton)
        second = outlook_near(symbols, 2 * size, automaton)
        third = outlook_near(symbols, 3 * size, automaton)
        if max(first, second, third) < unknown_from:
            while i > 4 * size:
                i -= 1
                index = natural(row + i64(symbols[i]))
                columns[i], row = automaton.columns[index], i64(back[index])
            row = look_back_in_four(symbols, size, first, second, third, row, automaton, columns)
            return row, known
    while i > 0:
        i -= 1
        index = natural(row + i64(symbols[natural(i)]))
        columns[natural(i)], row = automaton.columns[index], i64(back[index])
    return row, known


@kernel
def outlook_near(symbols: U16, at: int, automaton: Automaton) -> int:
    """Return the outlook at a place as far as the REACH symbols after it tell."""
    row = i64(automaton.shape[UNKNOWN_START])
    for i in range(at + REACH - 1, at - 1, -1):
        row = i64(automaton.back[natural(row + i64(symbols[natural(i)]))])
    return row


@kernel
def look_back_in_four(
    symbols: U16, size: int, a: int, b: int, c: int, d: int, automaton: Automaton, columns: U16
) -> int:
    """Read four stretches of `size` symbols side by side, behind which there are a, b, c and d.

    A step needs the one before it, which takes four times as long as the rest of its work.
    """
    back, written = automaton.back, automaton.columns
    second, third, fourth = size, 2 * size, 3 * size
    for i in range(size - 1, -1, -1):
        i = natural(i)
        at_a = natural(a + i64(symbols[i]))
        at_b = natural(b + i64(symbols[natural(second + i)]))
        at_c = natural(c + i64(symbols[natural(third + i)]))
        at_d = natural(d + i64(symbols[natural(fourth + i)]))
        columns[i], columns[natural(second + i)] = written[at_a], written[at_b]
        columns[natural(third + i)], columns[natural(fourth + i)] = written[at_c], written[at_d]
        a, b, c, d = i64(back[at_a]), i64(back[at_b]), i64(back[at_c]), i64(back[at_d])
    return a


# --- from the start -------------------------------------------------------------------------------


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


@kernel
def row_before(scan: Scan, at: int) -> int:
    """Return the row before the symbol at a place, reading no more than is needed to know it."""
    automaton, columns = scan.automaton, scan.walk.columns
    reach = i64(REACH)
    while reach < at:
        row = row_near(columns, at, reach, automaton)
        if row < automaton.shape[ROW_UNKNOWN_FROM]:
            return row
        reach *= 4
    row = i64(scan.flow[FLOW_ROW])
    for i in range(at):
        row = i64(automaton.forward[natural(row + i64(columns[i]))])
    return row


@kernel
def row_near(columns: U16, at: int, reach: int, automaton: Automaton) -> int:
    """Return the row before the symbol at a place as far as the `reach` symbols before it tell."""
    row = i64(automaton.shape[ROW_UNKNOWN_START])
    for i in range(natural(at - reach), at):
        row = i64(automaton.forward[natural(row + i64(columns[i]))])
    return row


@kernel
def write_marks(walk: Walk, n: int, row: int, automaton: Automaton) -> int:
    """Read columns[:n] from a row on and write what is at each; return the row behind them."""
    columns, marks, shape = walk.columns, walk.marks, automaton.shape
    forward, shift = automaton.forward, shape[MARK_SHIFT]
    size, i = n // 4, i64(0)
    if size >= WORTH_FOUR:
        second = row_near(columns, size, REACH, automaton)
        third = row_near(columns, 2 * size, REACH, automaton)
        fourth = row_near(columns, 3 * size, REACH, automaton)
        if max(second, third, fourth) < shape[ROW_UNKNOWN_FROM]:
            row = write_marks_in_four(walk, size, row, second, third, fourth, automaton)
            i = 4 * size
    while i < n:
        row = i64(forward[natural(row + i64(columns[natural(i)]))])
        marks[natural(i)] = row >> shift
        i += 1
    return row


@kernel
def write_marks_in_four(
    walk: Walk, size: int, a: int, b: int, c: int, d: int, automaton: Automaton
) -> int:
    """Read four stretches of `size` columns side by side, before which there are a, b, c and d."""
    columns, marks = walk.columns, walk.marks
    forward, shift = automaton.forward, automaton.shape[MARK_SHIFT]
    second, third, fourth = natural(size), natural(2 * size), natural(3 * size)
    for i in range(size):
        a = i64(forward[natural(a + i64(columns[i]))])
        b = i64(forward[natural(b + i64(columns[second + i]))])
        c = i64(forward[natural(c + i64(columns[third + i]))])
        d = i64(forward[natural(d + i64(columns[fourth + i]))])
        marks[i], marks[second + i] = a >> shift, b >> shift
        marks[third + i], marks[fourth + i] = c >> shift, d >> shift
    return d


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
