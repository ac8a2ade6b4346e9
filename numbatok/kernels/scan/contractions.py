"""The contractions 's 't 'm 'd 're 've 'll, in masks and one at a time.

`fold` is 0x20 where the case does not count: U+017F (long s), C5 BF, is an `s` then. 0 otherwise.
"""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part
from numbatok.kernels.scan.bits import ONE, TWO
from numbatok.tables import U8
from numbatok.vector import byte_mask, folded_mask

IGNORE_CASE, EXACT_CASE = i64(0x20), i64(0)
APOSTROPHE = ord("'")
D, E, L, M, R, S, T, V = map(ord, "delmrstv")
LONG_S = (0xC5, 0xBF)
FIRST_OF_LONG_S, SECOND_OF_LONG_S = LONG_S


@kernel
def contractions(
    text: U8, pos: int, candidates: np.uint64, fold: int
) -> tuple[np.uint64, np.uint64]:
    """Return which candidates, apostrophes, begin contractions of two bytes, and of three."""
    first, second = pos + 1, pos + 2
    short = (
        folded_mask(text, first, fold, S)
        | folded_mask(text, first, fold, T)
        | folded_mask(text, first, fold, M)
        | folded_mask(text, first, fold, D)
    )
    double_l = folded_mask(text, first, fold, L) & folded_mask(text, second, fold, L)
    v_or_r = folded_mask(text, first, fold, V) | folded_mask(text, first, fold, R)
    long = double_l | v_or_r & folded_mask(text, second, fold, E)
    if fold != EXACT_CASE:
        long |= byte_mask(text, first, FIRST_OF_LONG_S) & byte_mask(text, second, SECOND_OF_LONG_S)
    return candidates & short, candidates & long


@kernel
def contraction_length(text: U8, start: int, end: int, fold: int) -> int:
    """Return the length in bytes of the contraction at start, or 0."""
    if text[start] != APOSTROPHE or start + 1 >= end:
        return 0
    first = text[start + 1] | fold
    if first == S or first == D or first == M or first == T:
        return 2
    if start + 2 >= end:
        return 0
    second = text[start + 2] | fold
    if (first == L and second == L) or ((first == V or first == R) and second == E):
        return 3
    if fold != EXACT_CASE:
        if text[start + 1] == FIRST_OF_LONG_S and text[start + 2] == SECOND_OF_LONG_S:
            return 3
    return 0


@part
def contracted_letters(short: np.uint64, long: np.uint64) -> np.uint64:
    """Return the bytes of contractions after the apostrophe."""
    return (short | long) << ONE | long << TWO


@part
def letters_after(short: np.uint64, long: np.uint64, last: np.uint64) -> np.uint64:
    """Return the same for the first two bytes of the next block."""
    return (short | long) >> last | long >> (last - ONE)
