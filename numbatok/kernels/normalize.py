"""Normalize a text to a Unicode form: stretches that may change are found by vectors, and done.

A stretch is a character and the marks after it, or what may compose with it: nothing outside
changes places or composes with anything inside.
"""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import opener, view_i64, view_u8
from numbatok.kernels.compose import normalize_stretch, stays
from numbatok.kernels.utf8 import class_within
from numbatok.tables import (
    DONE,
    ENDS_TOKEN,
    FIRST_IDEOGRAPH,
    I64,
    INSIDE_TOKEN,
    LAST_IDEOGRAPH,
    MAY_CHANGE,
    MOST_BYTES,
    N_NORMALIZE,
    NEAR_TOKEN,
    NO_ROOM,
    NO_WORK,
    NORMALIZE_COPIED,
    NORMALIZE_DOCUMENT,
    NORMALIZE_ENDS,
    NORMALIZE_FIRST,
    NORMALIZE_FOUND,
    NORMALIZE_MARKS,
    NORMALIZE_N_DOCUMENTS,
    NORMALIZE_NEEDED,
    NORMALIZE_NEW_ENDS,
    NORMALIZE_OUT,
    NORMALIZE_ROOM,
    NORMALIZE_STOP,
    NORMALIZE_WORK,
    NORMALIZE_WRITTEN,
    PAUSED,
    U8,
    Changes,
    Stretch,
)
from numbatok.vector import (
    BLOCK,
    clear_lowest_bit,
    copy_bytes,
    count_trailing_zeros,
    range_mask,
)

ZERO = u64(0)
FIRST_LEAD, LAST_LEAD = 0xC0, 0xFF  # first bytes of characters beyond ASCII, and some of none
BUDGET = 4 << 20  # bytes that change between two chances to stop: some 50 ms

open_changes, open_stretch = opener(Changes), opener(Stretch)


@entry
def normalize(changes_address: int, text_address: int, size: int, flow_address: int) -> int:
    """Write a text to flow[NORMALIZE_OUT] as the form has it, each of its documents for itself.

    If nothing changes nothing is written: NORMALIZE_COPIED is 0. Returns why no further: DONE, or
    NO_WORK for so many bytes, NO_ROOM, NEAR_TOKEN: where an added token may be, or PAUSED; the
    caller sees to it and calls again.
    """
    changes, text = open_changes(changes_address), view_u8(text_address, size)
    flow = view_i64(flow_address, N_NORMALIZE)
    first, stretch_address = flow[NORMALIZE_FOUND], flow_address + 8 * NORMALIZE_FIRST
    while find_change(changes_address, text_address, flow[NORMALIZE_FOUND], size, stretch_address):
        while flow[NORMALIZE_FIRST] < flow[NORMALIZE_STOP]:
            stop = flow[NORMALIZE_STOP]
            if flow[NORMALIZE_N_DOCUMENTS] > 0:
                stop = min(stop, pass_documents(flow[NORMALIZE_FIRST], flow))
            why = change_stretch(text, stop, changes, flow)
            if why != DONE:
                return why
            flow[NORMALIZE_FIRST] = flow[NORMALIZE_FOUND] = stop
        if flow[NORMALIZE_FOUND] - first > BUDGET:
            return i64(PAUSED)
    if flow[NORMALIZE_COPIED] > 0 and not write(text, size, i64(0), flow):
        return i64(NO_ROOM)
    pass_documents(size, flow)
    return i64(DONE)


@kernel
def pass_documents(pos: int, flow: I64) -> int:
    """Write the new ends of documents that end at `pos` or before; return where the next ends."""
    n, document = flow[NORMALIZE_N_DOCUMENTS], flow[NORMALIZE_DOCUMENT]
    ends, new_ends = view_i64(flow[NORMALIZE_ENDS], n), view_i64(flow[NORMALIZE_NEW_ENDS], n)
    growth = flow[NORMALIZE_WRITTEN] - flow[NORMALIZE_COPIED]
    while document < n and ends[document] <= pos:
        new_ends[document] = ends[document] + growth
        document += 1
    flow[NORMALIZE_DOCUMENT] = document
    return ends[document] if document < n else i64(pos)


@kernel
def change_stretch(text: U8, stop: int, changes: Changes, flow: I64) -> int:
    """Normalize the text from NORMALIZE_FIRST to `stop`; return why not, or DONE."""
    start, work = flow[NORMALIZE_FIRST], open_stretch(flow[NORMALIZE_WORK])
    if MOST_BYTES * (stop - start) > work.out.size:
        flow[NORMALIZE_NEEDED] = stop - start
        return i64(NO_WORK)
    size = normalize_stretch(text, start, stop, changes, work)
    if size == stop - start and is_same(text, start, work.out, size):
        return i64(DONE)
    if flow[NORMALIZE_MARKS] != 0:
        marks = view_u8(flow[NORMALIZE_MARKS], 256)
        if may_overlap(text, start, stop, marks) or may_overlap(work.out, i64(0), size, marks):
            return i64(NEAR_TOKEN)
    if not write(text, start, size, flow):
        return i64(NO_ROOM)
    flow[NORMALIZE_COPIED] = stop
    return i64(DONE)


@part
def is_same(text: U8, start: int, other: U8, size: int) -> bool:
    """Tell whether text[start:] starts with other[:size]."""
    k = i64(0)
    while k < size and text[start + k] == other[k]:
        k += 1
    return k == size


@part
def may_overlap(text: U8, start: int, stop: int, marks: U8) -> bool:
    """Tell whether an added token may overlap text[start:stop], which holds none.

    The end of one may be an ASCII character that marks follow.
    """
    found, lead = i64(0), i64(text[start])
    if stop - start < 2 or lead >= 0x80:
        found = i64(marks[lead]) & INSIDE_TOKEN
    elif marks[lead] & ENDS_TOKEN != 0:
        return True
    for k in range(start + 1, stop):
        found |= i64(marks[i64(text[k])]) & INSIDE_TOKEN
    return found != 0


@kernel
def write(text: U8, stop: int, size: int, flow: I64) -> bool:
    """Write the text up to `stop`, then `size` bytes of the work space; tell if there is room."""
    start, at = flow[NORMALIZE_COPIED], flow[NORMALIZE_WRITTEN]
    end = at + stop - start + size
    if end > flow[NORMALIZE_ROOM]:
        flow[NORMALIZE_NEEDED] = end
        return False
    out, changed = view_u8(flow[NORMALIZE_OUT], end), open_stretch(flow[NORMALIZE_WORK]).out
    copy_bytes(text, start, out, at, stop - start)
    copy_bytes(changed, i64(0), out, end - size, size)
    flow[NORMALIZE_COPIED], flow[NORMALIZE_WRITTEN] = stop, end
    return True


@entry
def find_change(
    changes_address: int, text_address: int, start: int, end: int, stretch_address: int
) -> int:
    """Find the first stretch of text[start:end] that normalization may change; 1 if there is one.

    stretch[0] and stretch[1] become its start and its end. What is outside is normalized, and
    nothing in it composes or changes places with anything outside.
    """
    changes = open_changes(changes_address)
    text, stretch = view_u8(text_address, end), view_i64(stretch_address, 2)
    done = i64(start)
    while True:
        pos = next_mark(text, done, end, changes)
        if pos >= end:
            return i64(0)
        stop, in_order = run_of_marks(text, pos, end, changes)
        if not in_order:
            first = start_before(text, pos, done)
            if not stays(text, first, stop, changes):
                stretch[0], stretch[1] = first, stop
                return i64(1)
        done = stop


@kernel
def next_mark(text: U8, pos: int, end: int, changes: Changes) -> int:
    """Return where the next character stands whose class is not 0, or `end`."""
    while pos + BLOCK < end:
        leads = range_mask(text, pos, FIRST_LEAD, LAST_LEAD)
        if leads != ZERO:
            leads &= ~range_mask(text, pos, FIRST_IDEOGRAPH, LAST_IDEOGRAPH)
        while leads != ZERO:
            at = pos + count_trailing_zeros(leads)
            if changes.pages[(text[at] & 0x3F) << 6 | text[at + 1] & 0x3F] != 0:
                kind, _ = class_within(text, at, end, changes.classes)
                if kind != 0:
                    return at
            leads = clear_lowest_bit(leads)
        pos += BLOCK
    while pos < end:
        kind, length = class_within(text, pos, end, changes.classes)
        if kind != 0:
            return pos
        pos += length
    return i64(end)


@part
def run_of_marks(text: U8, pos: int, end: int, changes: Changes) -> tuple[int, bool]:
    """Return where the characters end whose class is not 0, and whether these surely stay."""
    last, in_order = i64(0), True
    while pos < end:
        kind, length = class_within(text, pos, end, changes.classes)
        if kind == 0:
            break
        in_order = in_order and kind != MAY_CHANGE and kind >= last
        last = i64(kind)
        pos += length
    return pos, in_order


@part
def start_before(text: U8, pos: int, first: int) -> int:
    """Return where the character before pos starts, or some byte of none before it.

    Looks at text[first:] only.
    """
    at = pos
    while at > first and pos - at < 4:
        at -= 1
        if text[at] & 0xC0 != 0x80:
            return at
    return at
