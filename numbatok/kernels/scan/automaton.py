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
from numbatok.addresses import opener, view_u8
from numbatok.kernels.utf8 import character_start, class_and_length
from numbatok.tables import (
    CUTS_FROM,
    DROPS_FROM,
    ENDS_DROPPED,
    FLOW_GOES_ON,
    FLOW_OUTLOOK,
    FLOW_ROW,
    FORESEEN_FROM,
    FORESEEN_TO,
    MARGIN,
    N_COLUMNS,
    STRIDE,
    U8,
    U16,
    UNKNOWN_FROM,
    UNKNOWN_START,
    Automaton,
    Scan,
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
    write_symbols(scan.window, start, stop, start, automaton, walk.symbols)
    outlook = i64(0)
    if flow[FLOW_GOES_ON] != 0:
        outlook = flow[FLOW_OUTLOOK]
        if outlook < 0:
            outlook = automaton.shape[UNKNOWN_START]
    _, known = look_back(walk.symbols, stop - start, outlook, automaton, walk.columns)
    if scan.dropped.size > 0:
        return write_starts_and_drops(scan, start, known, at)
    return write_starts(scan, start, known, at)


# --- bytes to symbols -----------------------------------------------------------------------------


@part
def write_symbols(
    text: U8, start: int, stop: int, first: int, automaton: Automaton, symbols: U16
) -> None:
    """Write the symbol of byte start + k of a text that is known from `first` on to symbols[k].

    Reads: MARGIN bytes after stop.
    """
    classes = automaton.classes
    pos = i64(start)
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
        if is_cut:
            row_at_last = before
    flow[FLOW_ROW] = row_at_last
    return max(count, at + 1)
