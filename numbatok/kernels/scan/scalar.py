"""Characters one at a time: what the scalar twins of all pattern families share.

A twin reads text up to `end`. Either the text ends there, or it goes on (`goes_on` 1): then a
result of `end` means that more text is needed, and characters near `end` are read to their own end.
"""

from __future__ import annotations

from numbatok._jit import i64, part
from numbatok.kernels.utf8 import class_and_length
from numbatok.tables import U8, CharacterClasses


@part
def read_character(
    text: U8, pos: int, end: int, goes_on: int, classes: CharacterClasses
) -> tuple[int, int]:
    """Return the class of the character at pos and its length in bytes."""
    kind, length = class_and_length(text, pos, classes)
    if pos + length > end and goes_on == 0:  # its other bytes belong to another text
        return i64(classes.ill_formed[text[pos]]), i64(1)
    return kind, length


@part
def run_end(
    text: U8, start: int, end: int, goes_on: int, bits: int, classes: CharacterClasses
) -> int:
    """Return where the run of characters whose class has one of the bits ends."""
    pos = i64(start)
    while pos < end:
        kind, length = read_character(text, pos, end, goes_on, classes)
        if kind & bits == 0:
            return pos
        pos += length
    return end


@part
def numbers_end(
    text: U8, start: int, end: int, goes_on: int, bits: int, most: int, classes: CharacterClasses
) -> int:
    """Return where the run of at most `most` characters with one of the bits ends."""
    pos, count = i64(start), i64(0)
    while pos < end and count < most:
        kind, length = read_character(text, pos, end, goes_on, classes)
        if kind & bits == 0:
            return pos
        pos += length
        count += 1
    return min(pos, end)
