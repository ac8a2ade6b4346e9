r"""The pattern of cl100k and of those that vary it: Llama 3, Qwen, OLMo, ...

(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*
|\s*[\r\n]+|\s+(?!\S)|\s+

As rules, P being what is neither a letter nor a number nor white space: a contraction; letters
with any one character before them that is no line end; numbers; P with a space before and line
ends after; white space (white.py).

A scan of a window: whether a pretoken starts at a byte depends on what is before it in the window,
on the character after it, on the two bytes after an apostrophe, and, for the white space after the
last line end of a run, on where that run ends. If that is beyond LOOKAHEAD no start is written, and
the run's own is the last one. So every start but the last is final.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.kernels.scan.bits import (
    THREE,
    ZERO,
    all_or_none,
    bit,
    carry,
    shift_in,
    spread,
)
from numbatok.kernels.scan.blocks import (
    LETTER,
    LINE_FEED,
    NEWLINE,
    NUMBER,
    OTHER,
    RETURN,
    SPACE,
    Block,
)
from numbatok.kernels.scan.contractions import (
    APOSTROPHE,
    IGNORE_CASE,
    contracted_letters,
    contraction_length,
    contractions,
    letters_after,
)
from numbatok.kernels.scan.digits import starts_of_three
from numbatok.kernels.scan.scalar import numbers_end, read_character, run_end
from numbatok.kernels.scan.white import (
    WhiteRuns,
    is_line_cut,
    line_cuts,
    starts_line_end,
    white_end,
    white_starts,
)
from numbatok.kernels.scan.windows import cut_window, find_end
from numbatok.tables import I64, U8, CharacterClasses
from numbatok.vector import byte_mask, fill_runs


class Rules(NamedTuple):
    """How the patterns of the family differ: Scan.parameters, in this order."""

    most_digits: int  # numbers in a pretoken, 1 or 3
    newline_tail: int  # 1: line ends after punctuation belong to it
    stops: int  # NUMBER if an earlier split ends the text before numbers, or 0
    line_cuts: int  # 1: an earlier split cuts before line ends
    whole_at_end: int  # 1: white space at the end of the text is one pretoken


# What is known of the characters before a block, bit by bit. Typed, as class bits are (blocks.py).
(
    LETTERS,
    PREFIX,  # a character that letters take as their prefix
    OTHERS,
    SPACES,
    RUNS,  # white space that no punctuation has taken
    NEWLINES,  # line ends in it
    TAIL,  # line ends that punctuation has taken
    LINE_ENDS,
    DIGITS,  # two bits: numbers of a pretoken that goes on
    _,
    CONTRACTION,  # two bits: first bytes of the block that belong to a contraction
) = map(u64, range(11))


@part
def read_rules(parameters: I64) -> Rules:
    """Return the rules of the pattern."""
    return Rules(parameters[0], parameters[1], parameters[2], parameters[3], parameters[4])


@part
def block_starts(
    text: U8, pos: int, block: Block, kinds: U8, before: np.uint64, rules: Rules
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the starts in a block, where they are unsure, and what is before the next one."""
    last = u64(block.size - 1)
    spaces = byte_mask(text, pos, SPACE)
    newlines = byte_mask(text, pos, LINE_FEED) | byte_mask(text, pos, RETURN)
    others = ~(block.letters | block.numbers | block.white) & block.inside
    after_other = shift_in(others, bit(before, OTHERS))
    found = others & ~(after_other | shift_in(spaces, bit(before, SPACES)))

    contracted, after = before >> CONTRACTION, ZERO
    candidates = found & byte_mask(text, pos, APOSTROPHE)
    if candidates != ZERO:
        short, long = contractions(text, pos, candidates, IGNORE_CASE)
        contracted |= contracted_letters(short, long)
        after = letters_after(short, long, last) << CONTRACTION
    letters = block.letters & ~contracted
    prefix = spread(found, block.inner) | block.white & ~newlines
    joined = shift_in(letters, bit(before, LETTERS)) | shift_in(prefix, bit(before, PREFIX))
    found |= letters & ~joined

    newline_after = block.after & NEWLINE != 0
    cuts = line_ends = ZERO
    if rules.line_cuts != 0:
        cuts, line_ends = line_cuts(text, pos, bit(before, LINE_ENDS))
        newline_after = newline_after and not starts_line_end(text, pos + block.size)
    free = newlines & ~cuts & all_or_none(rules.newline_tail)
    tail = fill_runs(free & (after_other | bit(before, TAIL)), free)
    runs = block.white & ~tail
    white = WhiteRuns(
        runs, newlines, cuts, block.numbers & all_or_none(rules.stops),
        bit(before, RUNS), bit(before, NEWLINES),
    )  # fmt: skip
    whites = white_starts(block, white, rules.stops, newline_after)
    unsure, found = whites.unsure, found | whites.starts

    if rules.most_digits == 1:
        found |= block.numbers & ~block.inner
    else:
        number_starts, digits = starts_of_three(block.numbers, block, i64(before >> DIGITS & THREE))
        found |= number_starts
        after |= u64(digits) << DIGITS
    after |= carry(letters, last, LETTERS) | carry(prefix, last, PREFIX)
    after |= carry(others, last, OTHERS) | carry(spaces, last, SPACES)
    after |= carry(runs, last, RUNS) | carry(runs & newlines, last, NEWLINES)
    after |= carry(tail, last, TAIL) | carry(line_ends, last, LINE_ENDS)
    return found & block.inside, unsure, after


# --- the same pattern, one character at a time: for giant pretokens, and the twin of the masks ----


@kernel
def pretoken_end(
    text: U8, pos: int, end: int, goes_on: int, rules: Rules, classes: CharacterClasses
) -> int:
    """Return where the pretoken at pos ends; `end` if the text goes on there and it may too."""
    length = contraction_length(text, pos, end, IGNORE_CASE)
    if length != 0:
        return pos + length
    kind, length = read_character(text, pos, end, goes_on, classes)
    after = pos + length
    if kind & LETTER != 0:
        return run_end(text, after, end, goes_on, LETTER, classes)
    if kind & NUMBER != 0:
        return numbers_end(text, pos, end, goes_on, NUMBER, rules.most_digits, classes)
    next_kind = i64(0)
    if after < end:
        next_kind, _ = read_character(text, after, end, goes_on, classes)
    if next_kind & LETTER != 0 and kind & NEWLINE == 0:
        return run_end(text, after, end, goes_on, LETTER, classes)
    if kind & OTHER != 0 or (text[pos] == SPACE and next_kind & OTHER != 0):
        after = run_end(text, after, end, goes_on, OTHER, classes)
        return tail_end(text, after, end, rules)
    return white_end(
        text, pos, end, goes_on, rules.stops, rules.line_cuts, rules.whole_at_end, classes
    )


@part
def tail_end(text: U8, start: int, end: int, rules: Rules) -> int:
    """Return where the line ends after punctuation that belong to it end."""
    pos = i64(start)
    if rules.newline_tail == 0:
        return pos
    while pos < end and (text[pos] == LINE_FEED or text[pos] == RETURN):
        if rules.line_cuts != 0 and is_line_cut(text, pos, end):
            break
        pos += 1
    return pos


# --- entries -------------------------------------------------------------------------------------


@entry
def scan_cl100k(state: int, start: int, stop: int, at: int) -> int:
    """Write where the pretokens of window[start:stop] start; return how many starts there are."""
    return cut_window(state, start, stop, at, read_rules, block_starts, pretoken_end)


@entry
def pretoken_end_cl100k(state: int, text: int, pos: int, end: int) -> int:
    """Return where the pretoken at pos of the text at an address ends; the text ends at `end`."""
    return find_end(state, text, pos, end, read_rules, pretoken_end)
