r"""Runs of numbers cut into pretokens of up to three, in masks: \p{N}{1,3}."""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.scan.bits import ONE, THREE, TWO, ZERO, shift_in
from numbatok.kernels.scan.blocks import Block
from numbatok.vector import clear_lowest_bit, count_trailing_zeros, highest_bit, low_bits

MOST = 3  # numbers in a pretoken


@part
def starts_of_three(numbers: np.uint64, block: Block, taken: int) -> tuple[np.uint64, int]:
    """Return where pretokens of up to three numbers start, and how many the last one has so far.

    `taken` numbers before the block, 0 to 3, belong to a pretoken that goes on; so do as many of
    the result after it.

    numbers  1 1 1 1 1 0 1     taken  2     result  0 1 0 0 1 0 1     1
    """
    if numbers == ZERO:
        return ZERO, i64(0)
    if numbers & block.wide.leads != ZERO:
        return count_numbers(numbers, block.inner, taken, block.size)
    starts = numbers & ~shift_in(numbers, u64(taken != 0))
    pairs = numbers & numbers << ONE
    if taken != 0 or pairs & pairs << TWO != ZERO:  # a run may be longer than three
        starts = split_runs(numbers, starts, taken)
    if numbers >> u64(block.size - 1) == ZERO:
        return starts, i64(0)
    return starts, block.size - highest_bit(starts)


@kernel
def split_runs(numbers: np.uint64, starts: np.uint64, taken: int) -> np.uint64:
    """Add to the starts of runs of ASCII digits every third digit after them."""
    if taken != 0 and numbers & low_bits(MOST - taken) == low_bits(MOST - taken):
        starts |= ONE << u64(MOST - taken) & numbers
    after_three = numbers & numbers << ONE & numbers << TWO
    chain = starts
    while chain != ZERO:
        chain = chain << THREE & after_three
        starts |= chain
    return starts


@kernel
def count_numbers(
    numbers: np.uint64, inner: np.uint64, taken: int, size: int
) -> tuple[np.uint64, int]:
    """Return the same for numbers of any length in bytes, one at a time."""
    rest, joined = numbers & ~inner, shift_in(numbers, u64(taken != 0))
    starts, count = ZERO, i64(taken)
    while rest != ZERO:
        place = ONE << u64(count_trailing_zeros(rest))
        rest = clear_lowest_bit(rest)
        if joined & place == ZERO or count == MOST:
            starts |= place
            count = i64(0)
        count += 1
    return starts, count if numbers >> u64(size - 1) != ZERO else i64(0)
