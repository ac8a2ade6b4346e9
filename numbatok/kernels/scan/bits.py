"""Algebra of masks: one u64 for 64 bytes, bit k for the byte at pos + k.

Every byte of a character has the character's class, so neighboring bytes are neighboring
characters. `inner` are the bytes of characters after their first.
"""

from __future__ import annotations

import numpy as np

from numbatok._jit import part, u64

ZERO, ONE, TWO, THREE = u64(0), u64(1), u64(2), u64(3)


@part
def shift_in(mask: np.uint64, before: np.uint64) -> np.uint64:
    """Return the mask of the bytes whose previous byte is in the mask.

    mask   1 0 1 1 0 ...     before  1     result  1 1 0 1 1 ...
    """
    return mask << ONE | before


@part
def shift_out(mask: np.uint64, last: np.uint64, after: int) -> np.uint64:
    """Return the mask of the bytes whose next byte is in the mask; after the block, if not 0."""
    return mask >> ONE | u64(after != 0) << last


@part
def bit(bits: np.uint64, place: np.uint64) -> np.uint64:
    """Return one bit as a mask of the first byte."""
    return bits >> place & ONE


@part
def carry(mask: np.uint64, last: np.uint64, place: np.uint64) -> np.uint64:
    """Return whether the last byte of a block is in the mask, as bit `place`.

    What is known of the characters before a block travels in one u64: a dozen variables did not
    fit into registers, and the scan of o200k took twice the time for some layouts of the stack.
    """
    return mask >> last << place


@part
def all_or_none(flag: int) -> np.uint64:
    """Return the full mask for 1, the empty one for 0."""
    return ~ZERO if flag != 0 else ZERO


@part
def spread(first: np.uint64, inner: np.uint64) -> np.uint64:
    """Return the mask of all bytes of the characters whose first bytes are given."""
    whole = first | first << ONE & inner
    whole |= whole << ONE & inner
    return whole | whole << ONE & inner


@part
def first_bytes(last: np.uint64, inner: np.uint64) -> np.uint64:
    """Return the mask of the first bytes of the characters whose last bytes are given."""
    whole = last & inner
    if whole == ZERO:
        return last
    second = whole >> ONE
    third = (second & inner) >> ONE
    return (last | second | third | (third & inner) >> ONE) & ~inner


@part
def fill_up(seeds: np.uint64, members: np.uint64) -> np.uint64:
    """Return the members that can be reached upward from seeds, which are members, over members.

    members  1 1 1 0 1 1 0     seeds  0 1 0 0 0 0 0     result  0 1 1 0 0 0 0
    """
    reach, step = seeds, members
    reach |= reach << ONE & step
    step &= step << ONE
    reach |= reach << TWO & step
    step &= step << TWO
    reach |= reach << u64(4) & step
    step &= step << u64(4)
    reach |= reach << u64(8) & step
    step &= step << u64(8)
    reach |= reach << u64(16) & step
    step &= step << u64(16)
    return reach | reach << u64(32) & step


@part
def fill_down(seeds: np.uint64, members: np.uint64) -> np.uint64:
    """Return the members that can be reached downward from seeds, which are members."""
    reach, step = seeds, members
    reach |= reach >> ONE & step
    step &= step >> ONE
    reach |= reach >> TWO & step
    step &= step >> TWO
    reach |= reach >> u64(4) & step
    step &= step >> u64(4)
    reach |= reach >> u64(8) & step
    step &= step >> u64(8)
    reach |= reach >> u64(16) & step
    step &= step >> u64(16)
    return reach | reach >> u64(32) & step
