"""The two passes of an automaton over the symbols of a text, in one stretch or in four.

A step of a pass needs the one before it, which takes four times as long as the rest of its work; so
four stretches are read side by side. Where the last three begin, the row is found by reading the
few symbols beside that place from a row that stands for all.
"""

from __future__ import annotations

from numbatok._jit import i64, kernel
from numbatok.kernels.utf8 import character_start, class_and_length
from numbatok.tables import (
    FLOW_ROW,
    MARK_SHIFT,
    ROW_UNKNOWN_FROM,
    ROW_UNKNOWN_START,
    U8,
    U16,
    UNKNOWN_FROM,
    UNKNOWN_START,
    Automaton,
    Scan,
    Walk,
)
from numbatok.vector import BLOCK, natural, non_ascii_mask

REACH = 32  # symbols from which the outlook or the row at a place is mostly known
WORTH_FOUR = 128  # symbols in each of four stretches that are read side by side


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
    """Read four stretches of `size` symbols, behind which there are a, b, c and d."""
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
    """Read four stretches of `size` columns, before which there are a, b, c and d."""
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
