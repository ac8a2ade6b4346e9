"""The characters beyond ASCII in a block of 64 bytes, and their classes.

A class is a set of bits. The classes of the characters of a block go to a row of bytes, and one
vector compare makes a mask of them: three times the speed of one mask operation per character.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.scan.bits import ONE, THREE, TWO, ZERO
from numbatok.kernels.utf8 import class_of
from numbatok.tables import U8, CharacterClasses
from numbatok.vector import (
    BLOCK,
    any_bits_mask,
    byte_mask,
    choose_bytes,
    clear_lowest_bit,
    count_trailing_zeros,
    highest_bit,
    load_u64,
    low_bits,
    range_mask,
)

# In every family these have the class of all of U+4E00 to U+9F7F and U+AC00 to U+D77F.
IDEOGRAPH, HANGUL = u64(0x4E00), u64(0xAC00)
BITS_3, BITS_4, BITS_5, BITS_6 = u64(0x7), u64(0xF), u64(0x1F), u64(0x3F)


class Wide(NamedTuple):
    """Where the characters beyond ASCII are in a block."""

    size: int
    leads: np.uint64  # their first bytes, and bytes that are part of no character
    second: np.uint64  # their other bytes
    third: np.uint64
    fourth: np.uint64


@part
def wide_mask(wide: Wide, kinds: U8, bits: int) -> np.uint64:
    """Return the mask of the characters beyond ASCII whose class has one of the bits."""
    first = any_bits_mask(kinds, i64(0), bits) & wide.leads
    return (
        first
        | first << ONE & wide.second
        | first << TWO & wide.third
        | first << THREE & wide.fourth
    )


@kernel
def read_wide(text: U8, pos: int, hard: np.uint64, classes: CharacterClasses, kinds: U8) -> Wide:
    """Find the characters beyond ASCII of the block at pos; write their classes to kinds.

    `hard` are the bytes beyond ASCII. kinds[k] becomes the class of the character whose first byte
    is pos + k. Reads: 72 bytes.
    """
    two, three, four = well_formed(text, pos)
    leads = two | three | four
    size = i64(BLOCK)
    if two >> u64(63) | three >> u64(62) | four >> u64(61) != ZERO:
        size = highest_bit(leads)  # the last character goes on after the block
        inside = low_bits(size)
        hard, leads = hard & inside, leads & inside
        two, three, four = two & inside, three & inside, four & inside
    second, third, fourth = leads << ONE, (three | four) << TWO, four << THREE
    stray = hard & ~(leads | second | third | fourth)
    if three != ZERO:
        ideographs, hangul = find_ideographs(text, pos), find_hangul(text, pos)
        one, other = i64(class_of(IDEOGRAPH, classes)), i64(class_of(HANGUL, classes))
        choose_bytes(ideographs, one, other, kinds, i64(0))
        read_three_bytes(text, pos, three & ~(ideographs | hangul), classes, kinds)
    read_two_bytes(text, pos, two, classes, kinds)
    if four | stray != ZERO:
        read_four_bytes(text, pos, four, classes, kinds)
        read_stray_bytes(text, pos, stray, classes, kinds)
    return Wide(size, leads | stray, second, third, fourth)


@part
def well_formed(text: U8, pos: int) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return where well-formed characters of two, three and four bytes start (Unicode table 3-7).

    Such a character starts wherever its bytes stand: no other one can contain its first byte.
    """
    second, third = range_mask(text, pos + 1, 0x80, 0xBF), range_mask(text, pos + 2, 0x80, 0xBF)
    two = range_mask(text, pos, 0xC2, 0xDF) & second
    low = range_mask(text, pos + 1, 0x80, 0x9F)  # E0 80-9F is overlong, ED A0-BF a surrogate
    three = range_mask(text, pos, 0xE0, 0xEF) & second & third
    three &= ~(byte_mask(text, pos, 0xE0) & low | byte_mask(text, pos, 0xED) & ~low)
    four = range_mask(text, pos, 0xF0, 0xF4)
    if four != ZERO:
        low = range_mask(text, pos + 1, 0x80, 0x8F)  # F0 80-8F is overlong, F4 90-BF too large
        four &= second & third & range_mask(text, pos + 3, 0x80, 0xBF)
        four &= ~(byte_mask(text, pos, 0xF0) & low | byte_mask(text, pos, 0xF4) & ~low)
    return two, three, four


@part
def find_ideographs(text: U8, pos: int) -> np.uint64:
    """Return where U+4E00 to U+9F7F may start: E4 B8 80 to E9 BD BF."""
    return (
        range_mask(text, pos, 0xE5, 0xE8)
        | byte_mask(text, pos, 0xE4) & range_mask(text, pos + 1, 0xB8, 0xFF)
        | byte_mask(text, pos, 0xE9) & range_mask(text, pos + 1, 0x00, 0xBD)
    )


@part
def find_hangul(text: U8, pos: int) -> np.uint64:
    """Return where U+AC00 to U+D77F may start: EA B0 80 to ED 9D BF."""
    return (
        range_mask(text, pos, 0xEB, 0xEC)
        | byte_mask(text, pos, 0xEA) & range_mask(text, pos + 1, 0xB0, 0xFF)
        | byte_mask(text, pos, 0xED) & range_mask(text, pos + 1, 0x00, 0x9D)
    )


@part
def read_two_bytes(
    text: U8, pos: int, leads: np.uint64, classes: CharacterClasses, kinds: U8
) -> None:
    """Write the classes of the characters of two bytes, 110aaaaa 10bbbbbb."""
    while leads != ZERO:
        at = count_trailing_zeros(leads)
        leads = clear_lowest_bit(leads)
        word = load_u64(text, pos + at)
        kinds[at] = class_of((word & BITS_5) << u64(6) | word >> u64(8) & BITS_6, classes)


@part
def read_three_bytes(
    text: U8, pos: int, leads: np.uint64, classes: CharacterClasses, kinds: U8
) -> None:
    """Write the classes of the characters of three bytes, 1110aaaa 10bbbbbb 10cccccc."""
    while leads != ZERO:
        at = count_trailing_zeros(leads)
        leads = clear_lowest_bit(leads)
        word = load_u64(text, pos + at)
        point = (word & BITS_4) << u64(12) | (word >> u64(8) & BITS_6) << u64(6)
        kinds[at] = class_of(point | word >> u64(16) & BITS_6, classes)


@part
def read_four_bytes(
    text: U8, pos: int, leads: np.uint64, classes: CharacterClasses, kinds: U8
) -> None:
    """Write the classes of the characters of four bytes, 11110aaa 10bbbbbb 10cccccc 10dddddd."""
    while leads != ZERO:
        at = count_trailing_zeros(leads)
        leads = clear_lowest_bit(leads)
        word = load_u64(text, pos + at)
        point = (word & BITS_3) << u64(18) | (word >> u64(8) & BITS_6) << u64(12)
        point |= (word >> u64(16) & BITS_6) << u64(6) | word >> u64(24) & BITS_6
        kinds[at] = class_of(point, classes)


@part
def read_stray_bytes(
    text: U8, pos: int, bytes_: np.uint64, classes: CharacterClasses, kinds: U8
) -> None:
    """Write the classes of the bytes that are part of no well-formed character."""
    while bytes_ != ZERO:
        at = count_trailing_zeros(bytes_)
        bytes_ = clear_lowest_bit(bytes_)
        kinds[at] = classes.ill_formed[text[pos + at]]
