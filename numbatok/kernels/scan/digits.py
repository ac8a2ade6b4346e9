r"""Runs of ASCII digits cut into pretokens of up to three, in masks: \p{N}{1,3}."""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.scan.bits import ONE, THREE, TWO, ZERO, shift_in
from numbatok.vector import highest_bit, low_bits

MOST = 3  # digits in a pretoken


@part
def starts_of_three(numbers: np.uint64, taken: int) -> np.uint64:
    """Return where pretokens of up to three digits start.

    `taken` digits before the block, 0 to 3, belong to a pretoken that goes on.

    numbers  1 1 1 1 1 0 1     taken  2     result  0 1 0 0 1 0 1
    """
    starts = numbers & ~shift_in(numbers, u64(taken != 0))
    pairs = numbers & numbers << ONE
    if taken == 0 and pairs & pairs << TWO == ZERO:  # no run is longer than three
        return starts
    return split_runs(numbers, starts, taken)


@kernel
def split_runs(numbers: np.uint64, starts: np.uint64, taken: int) -> np.uint64:
    """Add to the starts of runs every third digit after them."""
    if taken != 0 and numbers & low_bits(MOST - taken) == low_bits(MOST - taken):
        starts |= ONE << u64(MOST - taken) & numbers
    after_three = numbers & numbers << ONE & numbers << TWO
    chain = starts
    while chain != ZERO:
        chain = chain << THREE & after_three
        starts |= chain
    return starts


@part
def taken_after(numbers: np.uint64, starts: np.uint64, size: int) -> int:
    """Return how many digits at the end of a block of `size` bytes belong to one pretoken."""
    if numbers >> u64(size - 1) == ZERO:
        return i64(0)
    return size - highest_bit(starts)
