"""Find the stretches of a text that a Unicode normalization may change."""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import opener, view_i64, view_u8
from numbatok.kernels.utf8 import class_within
from numbatok.tables import (
    FIRST_IDEOGRAPH,
    LAST_IDEOGRAPH,
    LONGEST_UNCHANGED,
    MAY_CHANGE,
    N_UNCHANGED,
    U8,
    Changes,
)
from numbatok.vector import (
    BLOCK,
    clear_lowest_bit,
    count_trailing_zeros,
    range_mask,
    wrapping_multiply,
)

ZERO = u64(0)
FIRST_LEAD, LAST_LEAD = 0xC0, 0xFF  # first bytes of characters beyond ASCII, and some of none
WALK = 8  # places where a stretch may be
MIX, SHIFT = u64(0x9E3779B97F4A7C15), u64(65 - N_UNCHANGED.bit_length())

open_changes = opener(Changes)


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
            if not is_unchanged(text, first, stop, changes):
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


@part
def is_unchanged(text: U8, first: int, stop: int, changes: Changes) -> bool:
    """Tell whether a stretch is known to stay as it is."""
    if stop - first > LONGEST_UNCHANGED:
        return False
    low, high = pack_stretch(text, first, stop)
    slot = find_stretch(low, high, changes)
    return slot >= 0 and changes.unchanged[2 * slot + 1] == high


@entry
def learn_unchanged(changes_address: int, text_address: int, size: int) -> int:
    """Remember a stretch that stays as it is; 1 if it is new and there was a place for it.

    Others may look meanwhile: the half that tells a used place is written last.
    """
    changes = open_changes(changes_address)
    low, high = pack_stretch(view_u8(text_address, size), i64(0), size)
    slot = find_stretch(low, high, changes)
    if slot < 0 or changes.unchanged[2 * slot + 1] == high:
        return i64(0)
    changes.unchanged[2 * slot] = low
    changes.unchanged[2 * slot + 1] = high
    return i64(1)


@part
def pack_stretch(text: U8, first: int, stop: int) -> tuple[u64, u64]:
    """Return up to 15 bytes as two u64, the last byte of which is their number."""
    low, high = ZERO, u64(stop - first) << u64(56)
    for k in range(stop - first):
        if k < 8:
            low |= u64(text[first + k]) << u64(8 * k)
        else:
            high |= u64(text[first + k]) << u64(8 * (k - 8))
    return low, high


@part
def find_stretch(low: u64, high: u64, changes: Changes) -> int:
    """Return the place of a stretch, or the empty one where it belongs; -1 if there is neither."""
    mixed = wrapping_multiply(low ^ wrapping_multiply(high, MIX), MIX)
    slot = i64(mixed >> SHIFT)
    for _ in range(WALK):
        known = changes.unchanged[2 * slot + 1]
        if known == ZERO or (known == high and changes.unchanged[2 * slot] == low):
            return slot
        slot = (slot + 1) & (N_UNCHANGED - 1)
    return i64(-1)
