r"""Words that their case cuts: UPPER*LOWER+|UPPER+LOWER*, in masks and one character at a time.

A word ends where a capital follows a small letter. What is UPPER and LOWER at once, a letter
without case or a mark, goes on with either. A word that ends in capitals, with such a character
before them and no small letter, ends after that character, as the first alternative needs a LOWER.

text     a B c 中 D E 中 F !        pretokens   a | B c 中 | D E 中 | F | !
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.scan.bits import ONE, ZERO, fill_down, shift_in
from numbatok.kernels.scan.blocks import LOWER, UPPER, Block
from numbatok.kernels.scan.contractions import IGNORE_CASE, contraction_length
from numbatok.kernels.scan.scalar import read_character, run_end
from numbatok.tables import U8, CharacterClasses
from numbatok.vector import fill_runs, highest_bit

CASED = UPPER | LOWER


class Cased(NamedTuple):
    """Where the case of letters cuts the words of a block."""

    starts: np.uint64
    unsure: np.uint64
    falling: np.uint64  # from the first small letter of a pretoken on
    rising: np.uint64  # letters without case, and marks, before that


@part
def case_starts(
    upper: np.uint64,
    lower: np.uint64,
    falling_before: np.uint64,
    rising_before: np.uint64,
    block: Block,
) -> Cased:
    """Return where pretokens start within words: at a capital after small letters.

    Letters without case go on with what is before them. The two masks `before` are of the first
    byte, for what is before the block.
    """
    both, capitals, falling = upper & lower, upper & ~lower, lower & ~upper
    falling |= fill_runs(both & shift_in(falling, falling_before), both)
    starts = capitals & shift_in(falling, falling_before)
    rising = both & ~falling
    risen = capitals & shift_in(rising, rising_before)
    if risen == ZERO:
        return Cased(starts, ZERO, falling, rising)
    last_starts, unsure = last_capitals(risen, capitals, lower, block)
    return Cased(starts | last_starts, unsure, falling, rising)


@kernel
def last_capitals(
    risen: np.uint64, capitals: np.uint64, lower: np.uint64, block: Block
) -> tuple[np.uint64, np.uint64]:
    """Return which runs of capitals after a letter without case are pretokens; which are unsure.

    They are if they end the word: a small letter after them, or one without case, keeps it whole.
    """
    last = u64(block.size - 1)
    run = fill_runs(risen, capitals)
    before_lower = run & lower >> ONE
    unsure = ZERO
    if run >> last != ZERO:
        if block.after & LOWER != 0:
            before_lower |= ONE << last
        elif block.after & UPPER != 0:
            unsure = ONE << u64(highest_bit(risen))
    return risen & ~fill_down(before_lower, run), unsure


@part
def word_end(
    text: U8, start: int, end: int, goes_on: int, suffix: int, classes: CharacterClasses
) -> int:
    """Return where the word ends whose letters start at `start`, its contraction if `suffix`."""
    pos, after_both, kind = i64(start), i64(0), UPPER
    while pos < end:
        kind, length = read_character(text, pos, end, goes_on, classes)
        if kind & UPPER == 0:
            break
        pos += length
        if kind & LOWER != 0:
            after_both = pos
    if pos < end and kind & LOWER != 0:
        pos = run_end(text, pos, end, goes_on, LOWER, classes)
    elif after_both != 0 and (pos < end or goes_on == 0):
        pos = after_both
    if suffix != 0 and pos < end:
        pos += contraction_length(text, pos, end, IGNORE_CASE)
    return min(pos, end)
