r"""White space: \s*[\r\n]+|\s+(?!\S)|\s+, in masks and one character at a time.

A run of white space ends after its last line end; what follows that is a pretoken of its own; and
where something else follows the run, its last character is for that, unless it is a line end.

text     a \n \t \n _ _ b        pretokens   a | \n \t \n | _ | _b

With line cuts (Laguna) the text is cut before every run of \r?\n, as if it ended there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.scan.bits import ONE, ZERO, fill_down, first_bytes, shift_in
from numbatok.kernels.scan.blocks import LINE_FEED, NEWLINE, RETURN, WHITE, Block
from numbatok.kernels.scan.scalar import read_character
from numbatok.tables import U8, CharacterClasses
from numbatok.vector import byte_mask, highest_bit


class WhiteRuns(NamedTuple):
    """The white space of a block."""

    runs: np.uint64  # without the line ends that belong to the punctuation before them
    newlines: np.uint64  # all line ends
    cuts: np.uint64  # those that the text is cut before
    stops: np.uint64  # characters that end the text for the white space before them
    before: np.uint64  # 1 if the block follows one of the runs
    newline_before: np.uint64  # 1 if it follows a line end of one


class WhiteStarts(NamedTuple):
    """Where pretokens of white space start in a block."""

    starts: np.uint64
    unsure: np.uint64  # one of them, if only what follows the block tells whether it is one


@part
def white_starts(
    block: Block, white: WhiteRuns, stops_after: int, newline_after: bool
) -> WhiteStarts:
    """Return where pretokens of white space start.

    stops_after    classes that end the text for the white space before them
    newline_after  whether a line end that is not a cut follows the block
    """
    last = u64(block.size - 1)
    blanks = block.white & ~white.newlines
    taken = (block.white | white.stops) >> ONE
    if block.after & (WHITE | stops_after) != 0:
        taken |= ONE << last
    starts = white.runs & (~shift_in(white.runs, white.before) | white.cuts)
    starts |= first_bytes(blanks & ~taken, block.inner)
    rests = blanks & shift_in(white.newlines & white.runs, white.newline_before)
    if rests == ZERO:
        return WhiteStarts(starts, ZERO)
    before_newline = blanks & (white.newlines & ~white.cuts) >> ONE
    if newline_after:
        before_newline |= blanks & ONE << last
    if before_newline != ZERO:
        rests &= ~fill_down(before_newline, blanks)
    unsure = ZERO
    if blanks >> last != ZERO and block.after & (WHITE | NEWLINE) == WHITE:
        unsure = rests & ONE << u64(highest_bit(block.inside & ~blanks) + 1)
    return WhiteStarts(starts | rests, unsure)


# --- Laguna's cuts -------------------------------------------------------------------------------


@part
def line_cuts(text: U8, pos: int, before: np.uint64) -> tuple[np.uint64, np.uint64]:
    r"""Return where runs of \r?\n start, and all of their bytes.

    `before` is 1 if the block follows such a run.
    """
    feeds, next_feeds = byte_mask(text, pos, LINE_FEED), byte_mask(text, pos + 1, LINE_FEED)
    line_ends = feeds | byte_mask(text, pos, RETURN) & next_feeds
    return line_ends & ~shift_in(line_ends, before), line_ends


@part
def starts_line_end(text: U8, pos: int) -> bool:
    r"""Tell whether \r?\n starts at pos."""
    return text[pos] == LINE_FEED or (text[pos] == RETURN and text[pos + 1] == LINE_FEED)


@part
def is_line_cut(text: U8, pos: int, end: int) -> bool:
    r"""Tell whether a run of \r?\n starts at pos, at a line end; text[pos - 1] is known."""
    here, before = text[pos], text[pos - 1]
    if here == RETURN and (pos + 1 >= end or text[pos + 1] != LINE_FEED):
        return False
    return before != LINE_FEED and not (before == RETURN and here == LINE_FEED)


# --- one character at a time ---------------------------------------------------------------------


@kernel
def white_end(
    text: U8,
    start: int,
    end: int,
    goes_on: int,
    stops: int,
    line_cuts: int,
    whole_at_end: int,
    classes: CharacterClasses,
) -> int:
    r"""Return where the pretoken of white space at start ends.

    whole_at_end  whether \s++$ comes first: white space at the end of the text is one pretoken
    """
    pos = last = i64(start)
    after_newline, kind, is_cut = i64(-1), i64(WHITE), False
    while pos < end:
        kind, length = read_character(text, pos, end, goes_on, classes)
        if kind & WHITE == 0:
            break
        if kind & NEWLINE != 0:
            is_cut = line_cuts != 0 and pos > start and is_line_cut(text, pos, end)
            if is_cut:
                break
            after_newline = pos + 1
        last = pos
        pos += length
    if pos >= end and (goes_on != 0 or whole_at_end != 0):
        return end
    if after_newline >= 0:
        return after_newline
    if pos >= end or is_cut or kind & stops != 0 or last == start:
        return pos
    return last
