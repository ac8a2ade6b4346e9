r"""GPT-2's pattern.

'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

A text counts as followed by spaces, so its end needs no rule of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import opener, view_u8
from numbatok.kernels.utf8 import character_start, class_and_length, class_at
from numbatok.tables import MARGIN, U8, CharacterClasses, Scan
from numbatok.vector import (
    BLOCK,
    byte_mask,
    count_trailing_zeros,
    digit_mask,
    letter_mask,
    low_bits,
    natural,
    non_ascii_mask,
    white_space_mask,
    write_positions,
)

OTHER, LETTER, DIGIT, WHITE = range(4)  # the family's classes of characters

ZERO, ONE, TWO, THREE = u64(0), u64(1), u64(2), u64(3)
TOP = u64(63)  # shift that leaves the last byte of a block
SPACE, APOSTROPHE = ord(" "), ord("'")
LOWER_D, LOWER_E, LOWER_L, LOWER_M = ord("d"), ord("e"), ord("l"), ord("m")
LOWER_R, LOWER_S, LOWER_T, LOWER_V = ord("r"), ord("s"), ord("t"), ord("v")

open_scan = opener(Scan)


class Masks(NamedTuple):
    """Classes of the 64 bytes of a block; every byte of a character has its class."""

    letters: np.uint64
    digits: np.uint64
    spaces: np.uint64
    white: np.uint64
    last_white: np.uint64  # first byte of white space that is followed by something else


@entry
def scan_gpt2(state: int, start: int, stop: int, at: int) -> int:
    """Write where the pretokens of window[start:stop] start; return how many starts there are."""
    scan = open_scan(state)
    text, classes, starts = scan.window, scan.classes, scan.starts
    before = Masks(ZERO, ZERO, ZERO, ZERO, ZERO)
    others_before = ends_before = contracted_before = ZERO
    count = at
    for pos in range(start, stop, BLOCK):
        masks = classify(text, pos, start, classes)
        others = ~(masks.letters | masks.digits | masks.white)
        found = run_starts(masks, before, others, others_before)
        found = (found & ~contracted_before) | ends_before
        contracted_before = ends_before = ZERO
        candidates = found & byte_mask(text, pos, APOSTROPHE)
        if candidates != ZERO:
            short, long = contractions(text, pos, candidates)
            either = short | long
            found = (found & ~(either << ONE)) | short << TWO | long << THREE
            contracted_before = either >> TOP
            ends_before = short >> u64(62) | long >> u64(61)
        if stop - pos < BLOCK:
            found &= low_bits(stop - pos)
        count += write_positions(found, pos, starts, count)
        before, others_before = masks, others
    return count


@kernel
def shift_in(mask: np.uint64, before: np.uint64) -> np.uint64:
    """Return the mask of the bytes whose previous byte is in the mask.

    mask   1 0 1 1 0 ...     before  ... 0 1     result  1 1 0 1 1 ...
    """
    return mask << ONE | before >> TOP


@kernel
def run_starts(
    masks: Masks, before: Masks, others: np.uint64, others_before: np.uint64
) -> np.uint64:
    """Return where runs of one class start, a space belonging to the run that it precedes.

    text     a   b _ _ c 1 _ !         runs     a   b   _   _c   1   _!
    result   1   0 1 1 0 1 1 0
    """
    letters, digits, white = masks.letters, masks.digits, masks.white
    same_class = (
        letters & shift_in(letters, before.letters)
        | digits & shift_in(digits, before.digits)
        | others & shift_in(others, others_before)
    )
    after_space = shift_in(masks.spaces, before.spaces)
    first_white = white & ~shift_in(white, before.white)
    return ~(white | same_class | after_space) | first_white | masks.last_white


@kernel
def contractions(text: U8, pos: int, candidates: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return which candidate apostrophes begin 's 'd 'm 't, and which 'll 've 're."""
    first, second = pos + 1, pos + 2
    short = (
        byte_mask(text, first, LOWER_S)
        | byte_mask(text, first, LOWER_D)
        | byte_mask(text, first, LOWER_M)
        | byte_mask(text, first, LOWER_T)
    )
    double_l = byte_mask(text, first, LOWER_L) & byte_mask(text, second, LOWER_L)
    v_or_r = byte_mask(text, first, LOWER_V) | byte_mask(text, first, LOWER_R)
    return candidates & short, candidates & (double_l | v_or_r & byte_mask(text, second, LOWER_E))


@part
def classify(text: U8, pos: int, first: int, classes: CharacterClasses) -> Masks:
    """Return the class masks of the block at pos of a text that starts at `first`."""
    letters, digits = letter_mask(text, pos), digit_mask(text, pos)
    spaces, white = byte_mask(text, pos, SPACE), white_space_mask(text, pos)
    last_white, hard = ZERO, non_ascii_mask(text, pos)
    if hard != ZERO:
        wide = classify_wide(text, pos, first, hard, classes)
        letters, digits, white = letters | wide.letters, digits | wide.digits, white | wide.white
        last_white = wide.last_white
        ascii_white = white & ~wide.white
    else:
        ascii_white = white
    not_white_next = ~white >> ONE
    if white >> TOP != ZERO and class_at(text, pos + BLOCK, classes) != WHITE:
        not_white_next |= ONE << TOP
    return Masks(letters, digits, spaces, white, last_white | ascii_white & not_white_next)


@kernel
def classify_wide(
    text: U8, pos: int, first: int, hard: np.uint64, classes: CharacterClasses
) -> Masks:
    """Return the class masks of the non-ASCII characters of the block at pos, one at a time."""
    letters = digits = white = last_white = ZERO
    at = pos + count_trailing_zeros(hard)
    if at == pos:
        at = character_start(text, pos, first, classes)  # it may begin in the block before
    while True:
        at = natural(at)
        kind, length = class_and_length(text, at, classes)
        bits = low_bits(length)
        bits = bits << u64(at - pos) if at >= pos else bits >> u64(pos - at)
        if kind == LETTER:
            letters |= bits
        elif kind == DIGIT:
            digits |= bits
        elif kind == WHITE:
            white |= bits
            if at >= pos and class_at(text, at + length, classes) != WHITE:
                last_white |= ONE << u64(at - pos)
        hard &= ~bits
        if hard == ZERO:
            return Masks(letters, digits, ZERO, white, last_white)
        at = pos + count_trailing_zeros(hard)


# --- the same pattern, one character at a time: for giant pretokens, and the twin of the masks ----


@entry
def pretoken_end_gpt2(state: int, address: int, pos: int, end: int) -> int:
    """Return where the pretoken that starts at pos ends; the text counts as ending at `end`."""
    classes, text = open_scan(state).classes, view_u8(address, end + MARGIN)
    length = contraction_length(text, pos, end)
    if length != 0:
        return pos + length
    at = pos + 1 if text[pos] == SPACE and pos + 1 < end else pos
    kind, length = class_and_length(text, at, classes)
    if kind == WHITE:
        return white_run_end(text, pos, end, classes)
    same = kind
    while at < end and kind == same:
        at += length
        kind, length = class_and_length(text, at, classes)
    return at


@kernel
def contraction_length(text: U8, start: int, end: int) -> int:
    """Return the length of the contraction at start, or 0."""
    if text[start] != APOSTROPHE or start + 1 >= end:
        return 0
    first = text[start + 1]
    if first == LOWER_S or first == LOWER_D or first == LOWER_M or first == LOWER_T:
        return 2
    if start + 2 >= end:
        return 0
    second = text[start + 2]
    if first == LOWER_L and second == LOWER_L:
        return 3
    return 3 if (first == LOWER_V or first == LOWER_R) and second == LOWER_E else 0


@part
def white_run_end(text: U8, start: int, end: int, classes: CharacterClasses) -> int:
    r"""Return where \s+(?!\S)|\s+ ends: one character early, if more white space precedes it."""
    pos = last = i64(start)
    kind, length = class_and_length(text, pos, classes)
    while pos < end and kind == WHITE:
        last = pos
        pos += length
        kind, length = class_and_length(text, pos, classes)
    return last if pos < end and last > start else pos
