r"""Bloom's pattern.

 ?[^(\s|[.,!?…。，、।۔،])]+

The inner class is part of the outer one, so what a word may not contain is white space, the stops
in it, round brackets and the bar. What is between words ("gaps") is a pretoken, but for a space
before a word.

A scan of a window: whether a pretoken starts at a byte depends on the characters before and after
it. So every start is final.
"""

from __future__ import annotations

import numpy as np

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.kernels.scan.bits import ZERO, bit, carry, shift_in, shift_out
from numbatok.kernels.scan.blocks import LETTER, OTHER, SPACE, Block
from numbatok.kernels.scan.scalar import read_character, run_end
from numbatok.kernels.scan.wide import wide_mask
from numbatok.kernels.scan.windows import cut_window, find_end
from numbatok.tables import I64, U8, CharacterClasses
from numbatok.vector import byte_mask, non_ascii_mask, range_mask

# What is known of the characters before a block, bit by bit. Typed, as class bits are (blocks.py).
WORDS, GAPS, SPACES = map(u64, range(3))


@part
def read_rules(parameters: I64) -> int:
    """Return 0: there is one pattern in the family."""
    return i64(0)


@part
def block_starts(
    text: U8, pos: int, block: Block, kinds: U8, before: np.uint64, rules: int
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the starts in a block, where they are unsure, and what is before the next one."""
    last, spaces = u64(block.size - 1), byte_mask(text, pos, SPACE)
    stops = (
        range_mask(text, pos, ord("("), ord(")"))
        | byte_mask(text, pos, ord("|"))
        | byte_mask(text, pos, ord("."))
        | byte_mask(text, pos, ord(","))
        | byte_mask(text, pos, ord("!"))
        | byte_mask(text, pos, ord("?"))
    )
    words = ~(stops | block.white | non_ascii_mask(text, pos)) & block.inside
    if block.wide.leads != ZERO:
        words |= wide_mask(block.wide, kinds, LETTER)
    gaps = block.inside & ~words
    found = words & ~shift_in(words, bit(before, WORDS)) & ~shift_in(spaces, bit(before, SPACES))
    found |= spaces & shift_out(words, last, block.after & LETTER)
    found |= gaps & ~shift_in(gaps, bit(before, GAPS))
    after = carry(words, last, WORDS) | carry(gaps, last, GAPS) | carry(spaces, last, SPACES)
    return found, ZERO, after


# --- the same pattern, one character at a time: for giant pretokens, and the twin of the masks ----


@kernel
def pretoken_end(
    text: U8, pos: int, end: int, goes_on: int, rules: int, classes: CharacterClasses
) -> int:
    """Return where the pretoken at pos ends; `end` if the text goes on there and it may too."""
    kind, length = read_character(text, pos, end, goes_on, classes)
    after = pos + length
    if kind & LETTER != 0:
        return run_end(text, after, end, goes_on, LETTER, classes)
    if text[pos] == SPACE and after < end:
        kind, length = read_character(text, after, end, goes_on, classes)
        if kind & LETTER != 0:
            return run_end(text, after + length, end, goes_on, LETTER, classes)
    after = run_end(text, after, end, goes_on, OTHER, classes)
    if after < end and text[after - 1] == SPACE and after - 1 > pos:
        return after - 1
    return after


# --- entries -------------------------------------------------------------------------------------


@entry
def scan_bloom(state: int, start: int, stop: int, at: int) -> int:
    """Write where the pretokens of window[start:stop] start; return how many starts there are."""
    return cut_window(state, start, stop, at, read_rules, block_starts, pretoken_end)


@entry
def pretoken_end_bloom(state: int, text: int, pos: int, end: int) -> int:
    """Return where the pretoken at pos of the text at an address ends; the text ends at `end`."""
    return find_end(state, text, pos, end, read_rules, pretoken_end)
