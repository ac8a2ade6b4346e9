r"""GPT-2's pattern, and the same after a split that takes every digit alone.

'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

A scan of a window: whether a pretoken starts at a byte depends on what is before it in the window,
on the character after it, and on the two bytes after an apostrophe. So every start is final.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.kernels.scan.bits import ZERO, all_or_none, bit, carry, shift_in
from numbatok.kernels.scan.blocks import LETTER, NUMBER, OTHER, SPACE, Block
from numbatok.kernels.scan.contractions import (
    APOSTROPHE,
    EXACT_CASE,
    contracted_letters,
    contraction_length,
    contractions,
    letters_after,
)
from numbatok.kernels.scan.scalar import read_character, run_end
from numbatok.kernels.scan.white import WhiteRuns, white_end, white_starts
from numbatok.kernels.scan.windows import cut_window, find_end
from numbatok.tables import I64, U8, CharacterClasses
from numbatok.vector import byte_mask

# What is known of the characters before a block, bit by bit. Typed, as class bits are (blocks.py).
(
    LETTERS,
    NUMBERS,
    OTHERS,
    SPACES,
    WHITES,
    CONTRACTION,  # two bits: first bytes of the block that belong to a contraction
) = map(u64, range(6))


class Rules(NamedTuple):
    """How the patterns of the family differ: Scan.parameters."""

    digits_alone: int  # 1: a split before the pattern has made each number a pretoken


@part
def read_rules(parameters: I64) -> Rules:
    """Return the rules of the pattern."""
    return Rules(parameters[0])


@part
def block_starts(
    text: U8, pos: int, block: Block, kinds: U8, before: np.uint64, rules: Rules
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the starts in a block, where they are unsure, and what is before the next one.

    text     a b _ _ c 1 _ !         pretokens   a b | _ | _ c | 1 | _ !
    """
    last = u64(block.size - 1)
    spaces = byte_mask(text, pos, SPACE)
    others = ~(block.letters | block.numbers | block.white) & block.inside
    joined = shift_in(spaces, bit(before, SPACES))  # a space belongs to the run that it precedes
    found = others & ~(shift_in(others, bit(before, OTHERS)) | joined)
    contracted, after = before >> CONTRACTION, ZERO
    candidates = found & byte_mask(text, pos, APOSTROPHE)
    if candidates != ZERO:
        short, long = contractions(text, pos, candidates, EXACT_CASE)
        contracted |= contracted_letters(short, long)
        after = letters_after(short, long, last) << CONTRACTION
    letters, numbers = block.letters & ~contracted, block.numbers
    found |= letters & ~(shift_in(letters, bit(before, LETTERS)) | joined)
    if rules.digits_alone != 0:
        found |= numbers & ~block.inner
    else:
        found |= numbers & ~(shift_in(numbers, bit(before, NUMBERS)) | joined)
    stops = numbers & all_or_none(rules.digits_alone)
    runs = WhiteRuns(block.white, ZERO, ZERO, stops, bit(before, WHITES), ZERO)
    found |= white_starts(block, runs, NUMBER * rules.digits_alone, False).starts
    after |= carry(letters, last, LETTERS) | carry(numbers, last, NUMBERS)
    after |= carry(others, last, OTHERS) | carry(spaces, last, SPACES)
    after |= carry(block.white, last, WHITES)
    return found & block.inside, ZERO, after


# --- the same pattern, one character at a time: for giant pretokens, and the twin of the masks ----


@kernel
def pretoken_end(
    text: U8, pos: int, end: int, goes_on: int, rules: Rules, classes: CharacterClasses
) -> int:
    """Return where the pretoken at pos ends; `end` if the text goes on there and it may too."""
    length = contraction_length(text, pos, end, EXACT_CASE)
    if length != 0:
        return pos + length
    kind, length = read_character(text, pos, end, goes_on, classes)
    if kind & NUMBER != 0 and rules.digits_alone != 0:
        return pos + length
    after = pos + length
    if text[pos] == SPACE and after < end:
        kind, length = read_character(text, after, end, goes_on, classes)
        after += length
    if kind & (LETTER | OTHER) != 0 or (kind & NUMBER != 0 and rules.digits_alone == 0):
        return run_end(text, after, end, goes_on, kind, classes)
    stops = NUMBER * rules.digits_alone
    return white_end(text, pos, end, goes_on, stops, i64(0), i64(0), classes)


# --- entries -------------------------------------------------------------------------------------


@entry
def scan_gpt2(state: int, start: int, stop: int, at: int) -> int:
    """Write where the pretokens of window[start:stop] start; return how many starts there are."""
    return cut_window(state, start, stop, at, read_rules, block_starts, pretoken_end)


@entry
def pretoken_end_gpt2(state: int, text: int, pos: int, end: int) -> int:
    """Return where the pretoken at pos of the text at an address ends; the text ends at `end`."""
    return find_end(state, text, pos, end, read_rules, pretoken_end)
