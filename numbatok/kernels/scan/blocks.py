"""Blocks of up to 64 bytes of text with the classes that every family asks for.

A block holds whole characters only: it is 64 bytes of ASCII, and up to three bytes shorter
otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numbatok._jit import i64, part
from numbatok.kernels.scan.bits import ZERO
from numbatok.kernels.scan.wide import Wide, read_wide, wide_mask
from numbatok.kernels.utf8 import class_at
from numbatok.tables import U8, CharacterClasses
from numbatok.vector import (
    BLOCK,
    digit_mask,
    letter_mask,
    low_bits,
    non_ascii_mask,
    white_space_mask,
)

# Bits of a class; a line feed is WHITE | NEWLINE. Typed, as Numba would compile a function for
# each value of a plain int.
LETTER, NUMBER, WHITE, NEWLINE, OTHER, UPPER, LOWER, IDEOGRAPH = (i64(1 << k) for k in range(8))

SPACE, LINE_FEED, RETURN = i64(ord(" ")), i64(ord("\n")), i64(ord("\r"))


class Block(NamedTuple):
    """The classes that every family asks for."""

    size: int  # bytes that the block covers, at most 64
    inside: np.uint64  # those bytes
    inner: np.uint64  # the bytes of a character after its first
    wide: Wide  # the characters beyond ASCII
    letters: np.uint64
    numbers: np.uint64
    white: np.uint64
    after: int  # class of the character after the block


@part
def read_block(text: U8, pos: int, classes: CharacterClasses, kinds: U8) -> Block:
    """Return the classes of the block at pos, where a character starts. Reads: 72 bytes."""
    letters, numbers = letter_mask(text, pos), digit_mask(text, pos)
    white, hard = white_space_mask(text, pos), non_ascii_mask(text, pos)
    wide, inside, inner = Wide(i64(BLOCK), ZERO, ZERO, ZERO, ZERO), ~ZERO, ZERO
    if hard != ZERO:
        wide = read_wide(text, pos, hard, classes, kinds)
        letters |= wide_mask(wide, kinds, LETTER)
        numbers |= wide_mask(wide, kinds, NUMBER)
        white |= wide_mask(wide, kinds, WHITE)
        inside, inner = low_bits(wide.size), wide.second | wide.third | wide.fourth
    after = class_at(text, pos + wide.size, classes)
    return Block(wide.size, inside, inner, wide, letters, numbers, white, after)
