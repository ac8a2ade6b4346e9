"""Find the stretches of a text that a Unicode normalization may change."""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, u64
from numbatok.addresses import opener, view_i64, view_u8
from numbatok.kernels.utf8 import class_within
from numbatok.tables import MAY_CHANGE, U8, CharacterClasses
from numbatok.vector import BLOCK, count_trailing_zeros, non_ascii_mask

ZERO = u64(0)

open_classes = opener(CharacterClasses)


@entry
def find_change(
    classes_address: int, text_address: int, start: int, end: int, stretch_address: int
) -> int:
    """Find the first stretch of text[start:end] that normalization may change; 1 if there is one.

    stretch[0] and stretch[1] become its start and its end. What is outside is normalized, and
    nothing in it composes or changes places with anything outside.
    """
    classes = open_classes(classes_address)
    text, stretch = view_u8(text_address, end), view_i64(stretch_address, 2)
    pos, starter, last = i64(start), i64(start), i64(0)
    while pos < end:
        if last == 0:
            pos, starter = skip_ascii(text, pos, end, starter)
            if pos >= end:
                break
        kind, length = class_within(text, pos, end, classes)
        if kind == MAY_CHANGE or (kind != 0 and kind < last):
            stretch[0], stretch[1] = starter, stretch_end(text, pos, end, classes)
            return i64(1)
        if kind == 0:
            starter = pos
        last = kind
        pos += length
    return i64(0)


@kernel
def skip_ascii(text: U8, pos: int, end: int, starter: int) -> tuple[int, int]:
    """Return the next position that is not ASCII and the last character before it."""
    at = pos
    while at + BLOCK <= end:
        wide = non_ascii_mask(text, at)
        if wide != ZERO:
            at += count_trailing_zeros(wide)
            return at, at - 1 if at > pos else starter
        at += BLOCK
    while at < end and text[at] < 0x80:
        at += 1
    return at, at - 1 if at > pos else starter


@kernel
def stretch_end(text: U8, pos: int, end: int, classes: CharacterClasses) -> int:
    """Return where the next character starts that begins anew whatever was before it."""
    kind, length = class_within(text, pos, end, classes)
    pos += length
    while pos < end:
        kind, length = class_within(text, pos, end, classes)
        if kind == 0:
            break
        pos += length
    return pos
