"""The character at a byte position, of any bytes.

A character is one well-formed UTF-8 scalar (Unicode 16.0, table 3-7), or one byte of a sequence
that is not well-formed: so every byte sequence is a sequence of characters.
"""

from __future__ import annotations

from typing import Union

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.tables import U8, CharacterClasses, WideClasses
from numbatok.vector import load_u64

FOUR_BYTES = u64(0xFFFF_FFFF)
STRAY = 0xDC00  # and a byte that is no character: a code point that no text has

Classes = Union[CharacterClasses, WideClasses]


@part
def class_and_length(text: U8, pos: int, classes: Classes) -> tuple[int, int]:
    """Return the class of the character at pos and its length in bytes. Reads: 8 bytes."""
    return class_of_word(i64(load_u64(text, pos) & FOUR_BYTES), classes)


@part
def class_within(text: U8, pos: int, end: int, classes: Classes) -> tuple[int, int]:
    """Return the class of the character at pos and its length, reading nothing from `end` on."""
    return class_of_word(word_within(text, pos, end), classes)


@part
def point_within(text: U8, pos: int, end: int) -> tuple[int, int]:
    """Return the code point at pos, or STRAY and the byte, and its length; as `class_within`."""
    word = word_within(text, pos, end)
    lead = word & 0xFF
    if lead < 0x80:
        return lead, i64(1)
    point, length = point_of_word(word)
    if point < 0:
        return STRAY | lead, i64(1)
    return point, length


@part
def word_within(text: U8, pos: int, end: int) -> int:
    """Return up to four bytes from pos on, none from `end` on."""
    word = i64(0)
    for k in range(min(4, end - pos)):
        word |= i64(text[pos + k]) << 8 * k
    return word


@part
def class_of_word(word: int, classes: Classes) -> tuple[int, int]:
    """Return the class and the length of the character that four bytes start with."""
    lead = word & 0xFF
    if lead < 0x80:
        return i64(classes.classes[i64(classes.blocks[0]) << 7 | lead]), 1
    point, length = point_of_word(word)
    if point < 0:
        return i64(classes.ill_formed[lead]), 1
    return i64(classes.classes[i64(classes.blocks[point >> 7]) << 7 | point & 127]), length


@part
def point_of_word(word: int) -> tuple[int, int]:
    """Return the code point beyond ASCII that four bytes start with, or -1, and its length.

    110aaaaa 10bbbbbb | 1110aaaa 10bbbbbb 10cccccc | 11110aaa 10bbbbbb 10cccccc 10dddddd
    """
    lead = word & 0xFF
    if lead < 0xE0:
        point = (lead & 0x1F) << 6 | word >> 8 & 0x3F
        well_formed = (word & 0xC000 == 0x8000) & (lead >= 0xC2)
        length = i64(2)
    elif lead < 0xF0:
        point = (lead & 0x0F) << 12 | (word >> 8 & 0x3F) << 6 | word >> 16 & 0x3F
        well_formed = (word & 0xC0C000 == 0x808000) & (point >= 0x800) & (point >> 11 != 0x1B)
        length = i64(3)
    else:
        point = (lead & 0x07) << 18 | (word >> 8 & 0x3F) << 12
        point |= (word >> 16 & 0x3F) << 6 | word >> 24 & 0x3F
        well_formed = (word & 0xC0C0C000 == 0x80808000) & (lead < 0xF5)
        well_formed &= (point >= 0x10000) & (point < 0x110000)
        length = i64(4)
    return point if well_formed else i64(-1), length


@part
def class_of(point: np.uint64, classes: CharacterClasses) -> int:
    """Return the class of a code point."""
    block = u64(classes.blocks[point >> u64(7)])
    return classes.classes[block << u64(7) | point & u64(127)]


@part
def class_at(text: U8, pos: int, classes: Classes) -> int:
    """Return the class of the character at pos."""
    kind, _ = class_and_length(text, pos, classes)
    return kind


@kernel
def character_start(text: U8, pos: int, first: int, classes: Classes) -> int:
    """Return where the character that covers the byte at pos starts; text[first:] is known."""
    for back in range(1, 4):
        at = pos - back
        if at < first:
            return pos
        byte = text[at]
        if byte & 0xC0 != 0x80:
            if byte < 0x80:
                return pos
            _, length = class_and_length(text, at, classes)
            return at if at + length > pos else pos
    return pos
