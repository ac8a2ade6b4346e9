r"""DeepSeek v3's chain of three splits as one list of rules.

First \p{N}{1,3}, then [一-龥぀-ゟ゠-ヿ]+ (a region of Chinese or kana, which may hold punctuation),
then in each of what these have cut apart, as if the text ended there:

[!-/:-@[-`{-~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+
|\s+(?!\S)|\s+

No rule takes controls, formats and unassigned characters alone ("gaps"): a run of them is a
pretoken, but if letters follow, its last one is their prefix.

A scan of a window: whether a pretoken starts at a byte depends on what is before it in the window,
on the character after it, and, for the white space after the last line end of a run, on where that
run ends. If that is beyond LOOKAHEAD no start is written, and the run's own is the last one. So
every start but the last is final.
"""

from __future__ import annotations

import numpy as np

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.kernels.scan.bits import THREE, ZERO, bit, carry, first_bytes, shift_in, shift_out
from numbatok.kernels.scan.blocks import (
    IDEOGRAPH,
    LETTER,
    LINE_FEED,
    NEWLINE,
    NUMBER,
    OTHER,
    RETURN,
    SPACE,
    WHITE,
    Block,
)
from numbatok.kernels.scan.digits import MOST, starts_of_three
from numbatok.kernels.scan.scalar import numbers_end, read_character
from numbatok.kernels.scan.white import WhiteRuns, white_end, white_starts
from numbatok.kernels.scan.wide import wide_mask
from numbatok.kernels.scan.windows import cut_window, find_end
from numbatok.tables import I64, U8, CharacterClasses
from numbatok.vector import byte_mask, fill_runs, letter_mask, range_mask

STOPS = NUMBER | IDEOGRAPH  # an earlier split has ended the text before these

# What is known of the characters before a block, bit by bit. Typed, as class bits are (blocks.py).
(
    LETTERS,
    PREFIX,  # white space or a gap, which letters take as their prefix
    ASCII_PREFIX,  # ASCII punctuation at the start of a pretoken
    ASCII_WORD,  # a letter after that
    REGION,  # a character of Chinese or kana
    OTHERS,
    GAPS,
    SPACES,
    RUNS,  # white space that no punctuation has taken
    NEWLINES,  # line ends in it
    TAIL,  # line ends that punctuation has taken
    DIGITS,  # two bits: numbers of a pretoken that goes on
) = map(u64, range(12))


@part
def read_rules(parameters: I64) -> int:
    """Return 0: there is one pattern in the family."""
    return i64(0)


@part
def block_starts(
    text: U8, pos: int, block: Block, kinds: U8, before: np.uint64, rules: int
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the starts in a block, where they are unsure, and what is before the next one."""
    last = u64(block.size - 1)
    spaces = byte_mask(text, pos, SPACE)
    newlines = byte_mask(text, pos, LINE_FEED) | byte_mask(text, pos, RETURN)
    ascii_letters = letter_mask(text, pos)
    taken = block.letters | block.numbers | block.white
    ascii_others = range_mask(text, pos, ord("!"), ord("~")) & ~taken
    others, region = ascii_others, ZERO
    if block.wide.leads != ZERO:
        others |= wide_mask(block.wide, kinds, OTHER)
        region = wide_mask(block.wide, kinds, IDEOGRAPH)
    edges = region ^ shift_in(region, bit(before, REGION))
    gaps = block.inside & ~(taken | others)

    after_other = shift_in(others, bit(before, OTHERS)) & ~edges
    found = edges | others & ~(after_other | shift_in(spaces, bit(before, SPACES)))
    ascii_prefix = found & ascii_others
    seeds = ascii_letters & shift_in(ascii_prefix, bit(before, ASCII_PREFIX))
    ascii_word = fill_runs(seeds | ascii_letters & bit(before, ASCII_WORD), ascii_letters)
    prefix = gaps | block.white & ~newlines
    joined = shift_in(block.letters, bit(before, LETTERS)) | shift_in(prefix, bit(before, PREFIX))
    after_word = shift_in(ascii_word, bit(before, ASCII_WORD))
    found |= block.letters & ~(joined | seeds) | block.letters & ~ascii_letters & after_word
    if gaps != ZERO:
        found |= gaps & ~shift_in(gaps, bit(before, GAPS))
        next_letter = shift_out(block.letters, last, block.after & LETTER)
        next_region = shift_out(region, last, block.after & IDEOGRAPH)
        found |= first_bytes(gaps & next_letter & ~(region ^ next_region), block.inner)

    tail = fill_runs(newlines & (after_other | bit(before, TAIL)), newlines)
    runs = block.white & ~tail
    stops = block.numbers | region
    white = WhiteRuns(runs, newlines, ZERO, stops, bit(before, RUNS), bit(before, NEWLINES))
    whites = white_starts(block, white, STOPS, block.after & NEWLINE != 0)
    number_starts, digits = starts_of_three(block.numbers, block, i64(before >> DIGITS & THREE))
    found |= whites.starts | number_starts

    after = u64(digits) << DIGITS | carry(block.letters, last, LETTERS)
    after |= carry(prefix, last, PREFIX)
    after |= carry(ascii_prefix, last, ASCII_PREFIX) | carry(ascii_word, last, ASCII_WORD)
    after |= carry(region, last, REGION) | carry(others, last, OTHERS)
    after |= carry(gaps, last, GAPS) | carry(spaces, last, SPACES) | carry(runs, last, RUNS)
    after |= carry(runs & newlines, last, NEWLINES) | carry(tail, last, TAIL)
    return found & block.inside, whites.unsure, after


# --- the same pattern, one character at a time: for giant pretokens, and the twin of the masks ----


@kernel
def pretoken_end(
    text: U8, pos: int, end: int, goes_on: int, rules: int, classes: CharacterClasses
) -> int:
    """Return where the pretoken at pos ends; `end` if the text goes on there and it may too."""
    kind, length = read_character(text, pos, end, goes_on, classes)
    after, next_kind, region = pos + length, i64(0), kind & IDEOGRAPH
    if kind & LETTER != 0:
        return region_run_end(text, after, end, goes_on, LETTER, region, classes)
    if kind & NUMBER != 0:
        return numbers_end(text, pos, end, goes_on, NUMBER, i64(MOST), classes)
    if after < end:
        next_kind, _ = read_character(text, after, end, goes_on, classes)
    if next_kind & (LETTER | IDEOGRAPH) == LETTER | region:
        if kind & OTHER != 0 and text[pos] < 0x80 and is_ascii_letter(text, after):
            return ascii_letters_end(text, after, end)
        if kind & (OTHER | NEWLINE) == 0:
            return region_run_end(text, after, end, goes_on, LETTER, region, classes)
    if kind & OTHER != 0 or (text[pos] == SPACE and next_kind & (OTHER | IDEOGRAPH) == OTHER):
        after = region_run_end(text, after, end, goes_on, OTHER, region, classes)
        while region == 0 and after < end and is_newline(text, after):
            after += 1
        return after
    if kind & WHITE != 0:
        return white_end(text, pos, end, goes_on, STOPS, i64(0), i64(0), classes)
    return gap_end(text, pos, end, goes_on, region, classes)


@part
def region_run_end(
    text: U8,
    start: int,
    end: int,
    goes_on: int,
    bits: int,
    region: int,
    classes: CharacterClasses,
) -> int:
    """Return where the run of characters ends that have one of the bits and are of the region."""
    pos = i64(start)
    while pos < end:
        kind, length = read_character(text, pos, end, goes_on, classes)
        if kind & bits == 0 or kind & IDEOGRAPH != region:
            return pos
        pos += length
    return end


@part
def is_newline(text: U8, pos: int) -> bool:
    """Tell whether a line feed or a carriage return stands at pos."""
    return text[pos] == LINE_FEED or text[pos] == RETURN


@part
def is_ascii_letter(text: U8, pos: int) -> bool:
    """Tell whether the byte at pos is an ASCII letter."""
    return ord("a") <= text[pos] | 0x20 <= ord("z")


@part
def ascii_letters_end(text: U8, start: int, end: int) -> int:
    """Return where the run of ASCII letters at start ends."""
    pos = i64(start)
    while pos < end and is_ascii_letter(text, pos):
        pos += 1
    return pos


@part
def gap_end(
    text: U8, start: int, end: int, goes_on: int, region: int, classes: CharacterClasses
) -> int:
    """Return where the gap at start ends: before its last character, if letters follow that."""
    last = pos = i64(start)
    while pos < end:
        kind, length = read_character(text, pos, end, goes_on, classes)
        if kind != region:
            return last if kind & (LETTER | IDEOGRAPH) == LETTER | region and last != start else pos
        last = pos
        pos += length
    return end


# --- entries -------------------------------------------------------------------------------------


@entry
def scan_deepseek_v3(state: int, start: int, stop: int, at: int) -> int:
    """Write where the pretokens of window[start:stop] start; return how many starts there are."""
    return cut_window(state, start, stop, at, read_rules, block_starts, pretoken_end)


@entry
def pretoken_end_deepseek_v3(state: int, text: int, pos: int, end: int) -> int:
    """Return where the pretoken at pos of the text at an address ends; the text ends at `end`."""
    return find_end(state, text, pos, end, read_rules, pretoken_end)
