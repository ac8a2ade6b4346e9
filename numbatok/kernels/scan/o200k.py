r"""The pattern of o200k and of those that vary it: Mistral Nemo, Kimi, ...

[^\r\n\p{L}\p{N}]?UPPER*LOWER+CONTRACTION?|[^\r\n\p{L}\p{N}]?UPPER+LOWER*CONTRACTION?
|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+

UPPER is Lu Lt Lm Lo M, LOWER is Ll Lm Lo M: a word ends where a capital follows a small letter.
Lm, Lo and M are both. A word of capitals alone that has such a character before its last capitals
ends after it, so that the first alternative matches. A mark is a part of words, and of punctuation
that has started otherwise. Kimi takes runs of Han characters first, whatever they are.

A scan of a window: as cl100k's; besides, whether the last capitals of a word are a pretoken of
their own depends on what follows them. If that is beyond LOOKAHEAD no start is written, and the
word's own is the last one. So every start but the last is final.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.kernels.scan.bits import (
    THREE,
    TWO,
    ZERO,
    all_or_none,
    bit,
    carry,
    fill_up,
    shift_in,
    spread,
)
from numbatok.kernels.scan.blocks import (
    IDEOGRAPH,
    LINE_FEED,
    LOWER,
    NEWLINE,
    NUMBER,
    OTHER,
    RETURN,
    SPACE,
    UPPER,
    Block,
)
from numbatok.kernels.scan.cased import CASED, case_starts, word_end
from numbatok.kernels.scan.contractions import (
    APOSTROPHE,
    IGNORE_CASE,
    contracted_letters,
    contractions,
    letters_after,
)
from numbatok.kernels.scan.digits import starts_of_three
from numbatok.kernels.scan.scalar import numbers_end, read_character, run_end
from numbatok.kernels.scan.white import WhiteRuns, white_end, white_starts
from numbatok.kernels.scan.wide import wide_mask
from numbatok.kernels.scan.windows import cut_window, find_end
from numbatok.tables import I64, U8, CharacterClasses
from numbatok.vector import (
    byte_mask,
    clear_lowest_bit,
    fill_runs,
    range_mask,
)

SLASH = i64(ord("/"))


class Rules(NamedTuple):
    """How the patterns of the family differ: Scan.parameters, in this order."""

    most_digits: int  # numbers in a pretoken, 1 or 3
    slash_tail: int  # 1: slashes after a line end after punctuation belong to it too
    suffix: int  # 1: a word takes the contraction after it
    han: int  # 1: there are Han characters apart from letters


# What is known of the characters before a block, bit by bit. Typed, as class bits are (blocks.py).
(
    WORDS,
    FALLING,  # a character of a word at which its small letters have begun
    RISING,  # a letter without case before that
    HAN,
    PREFIX,  # a character that words take as their prefix
    OTHERS,
    BODY,  # punctuation that cannot be a prefix
    SPACES,
    RUNS,  # white space that no punctuation has taken
    NEWLINES,  # line ends in it
    TAIL,  # line ends and slashes that punctuation has taken
    DIGITS,  # two bits: numbers of a pretoken that goes on
    _,
    CONTRACTION,  # two bits: first bytes of the block that belong to a contraction
) = map(u64, range(14))


@part
def read_rules(parameters: I64) -> Rules:
    """Return the rules of the pattern."""
    return Rules(parameters[0], parameters[1], parameters[2], parameters[3])


@part
def block_starts(
    text: U8, pos: int, block: Block, kinds: U8, before: np.uint64, rules: Rules
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the starts in a block, where they are unsure, and what is before the next one."""
    last, spaces = u64(block.size - 1), byte_mask(text, pos, SPACE)
    newlines = byte_mask(text, pos, LINE_FEED) | byte_mask(text, pos, RETURN)
    upper, lower, unsure = read_case(text, pos, block, kinds, rules)
    words, numbers = upper | lower, block.numbers
    marks, han = words & ~block.letters, block.letters & ~words
    if unsure != ZERO:  # an odd Han character after another one is of the same run
        joined = fill_runs(unsure & shift_in(han, bit(before, HAN)), unsure)
        han, numbers, unsure = han | joined, numbers & ~joined, unsure & ~joined
    others = ~(block.letters | numbers | block.white | words | han) & block.inside
    tail = punctuation_tail(text, pos, newlines, others, before, rules)
    others &= ~tail
    found = others & ~shift_in(others, bit(before, OTHERS)) & ~shift_in(spaces, bit(before, SPACES))
    firsts = spread(found, block.inner)
    inside_run = marks & shift_in(others & ~firsts, bit(before, BODY))
    if inside_run != ZERO:  # marks go on with punctuation that cannot be their prefix
        going_on = fill_up(inside_run, others | marks)
        unsure |= newlines & shift_in(going_on & marks, ZERO)
        found, firsts = found & ~going_on, firsts & ~going_on
        others, words = others | going_on, words & ~going_on

    contracted, after = before >> CONTRACTION, ZERO
    if rules.suffix != 0:
        candidates = byte_mask(text, pos, APOSTROPHE) & others
        candidates &= shift_in(words & ~contracted, bit(before, WORDS))
        if candidates != ZERO:
            short, long = suffixes(text, pos, candidates)
            found, firsts = found & ~(short | long), firsts & ~(short | long)
            others &= ~(short | long)
            contracted |= contracted_letters(short, long)
            after = letters_after(short, long, last) << CONTRACTION
    words &= ~contracted

    prefix, body = firsts | block.white & ~newlines, others & ~firsts
    found |= words & ~shift_in(words, bit(before, WORDS)) & ~shift_in(prefix, bit(before, PREFIX))
    found |= han & ~shift_in(han, bit(before, HAN))
    cased = case_starts(
        upper & words, lower & words, bit(before, FALLING), bit(before, RISING), block
    )

    runs = block.white & ~tail
    white = WhiteRuns(runs, newlines, ZERO, ZERO, bit(before, RUNS), bit(before, NEWLINES))
    whites = white_starts(block, white, i64(0), block.after & NEWLINE != 0)
    found, unsure = found | cased.starts | whites.starts, unsure | cased.unsure | whites.unsure
    if rules.most_digits == 1:
        found |= numbers & ~block.inner
    else:
        number_starts, digits = starts_of_three(numbers, block, i64(before >> DIGITS & THREE))
        found |= number_starts
        after |= u64(digits) << DIGITS
    after |= carry(words, last, WORDS) | carry(cased.falling, last, FALLING)
    after |= carry(cased.rising, last, RISING) | carry(han, last, HAN)
    after |= carry(prefix, last, PREFIX) | carry(others, last, OTHERS) | carry(body, last, BODY)
    after |= carry(spaces, last, SPACES) | carry(runs, last, RUNS)
    after |= carry(runs & newlines, last, NEWLINES) | carry(tail, last, TAIL)
    return found & block.inside, unsure, after


@part
def read_case(
    text: U8, pos: int, block: Block, kinds: U8, rules: Rules
) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Return the characters that are UPPER, those that are LOWER, and Kimi's odd Han characters.

    A mark and a letter without case is both. A Han character that is no letter belongs to a run of
    punctuation or numbers before it, else to one of Han.
    """
    upper = range_mask(text, pos, ord("A"), ord("Z"))
    lower, odd = range_mask(text, pos, ord("a"), ord("z")), ZERO
    if block.wide.leads != ZERO:
        upper |= wide_mask(block.wide, kinds, UPPER)
        lower |= wide_mask(block.wide, kinds, LOWER)
        if rules.han != 0:
            odd = wide_mask(block.wide, kinds, IDEOGRAPH) & ~block.letters
    return upper, lower, odd


@part
def punctuation_tail(
    text: U8, pos: int, newlines: np.uint64, others: np.uint64, before: np.uint64, rules: Rules
) -> np.uint64:
    r"""Return the line ends and slashes after punctuation that belong to it.

    text     ! / \n / \n a        result  0 0 1 1 1 0
    """
    first, goes_on = newlines & shift_in(others, bit(before, OTHERS)), bit(before, TAIL)
    if first | goes_on == ZERO:
        return ZERO
    takes = newlines | byte_mask(text, pos, SLASH) & all_or_none(rules.slash_tail)
    return fill_up(first | goes_on & takes, takes)


@kernel
def suffixes(text: U8, pos: int, candidates: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return which apostrophes after words begin contractions of two bytes, and which of three.

    A word takes one: in `it's's` the second begins a word.
    """
    short, long = contractions(text, pos, candidates, IGNORE_CASE)
    rest, taken = short | long, ZERO
    if rest & (short << TWO | long << THREE) == ZERO:
        return short, long
    while rest != ZERO:
        one = rest & ~clear_lowest_bit(rest)
        rest = clear_lowest_bit(rest)
        if one & taken == ZERO:
            taken |= (one & short) << TWO | (one & long) << THREE
        else:
            short, long = short & ~one, long & ~one
    return short, long


# --- the same pattern, one character at a time: for giant pretokens, and the twin of the masks ----


@kernel
def pretoken_end(
    text: U8, pos: int, end: int, goes_on: int, rules: Rules, classes: CharacterClasses
) -> int:
    """Return where the pretoken at pos ends; `end` if the text goes on there and it may too."""
    kind, length = read_character(text, pos, end, goes_on, classes)
    after, next_kind = pos + length, i64(0)
    if kind & IDEOGRAPH != 0:
        return run_end(text, after, end, goes_on, IDEOGRAPH, classes)
    if kind & CASED != 0:
        return word_end(text, pos, end, goes_on, rules.suffix, classes)
    if kind & NUMBER != 0:
        return numbers_end(text, pos, end, goes_on, NUMBER, rules.most_digits, classes)
    if after < end:
        next_kind, _ = read_character(text, after, end, goes_on, classes)
    if next_kind & CASED != 0 and kind & NEWLINE == 0:
        return word_end(text, after, end, goes_on, rules.suffix, classes)
    if kind & OTHER != 0 or (text[pos] == SPACE and next_kind & OTHER != 0):
        after = run_end(text, after, end, goes_on, OTHER, classes)
        return tail_end(text, after, end, rules)
    return white_end(text, pos, end, goes_on, i64(0), i64(0), i64(0), classes)


@part
def tail_end(text: U8, start: int, end: int, rules: Rules) -> int:
    """Return where the line ends and slashes after punctuation that belong to it end."""
    pos = i64(start)
    if pos >= end or (text[pos] != LINE_FEED and text[pos] != RETURN):
        return pos
    while pos < end:
        byte = text[pos]
        if byte != LINE_FEED and byte != RETURN and (byte != SLASH or rules.slash_tail == 0):
            break
        pos += 1
    return pos


# --- entries -------------------------------------------------------------------------------------


@entry
def scan_o200k(state: int, start: int, stop: int, at: int) -> int:
    """Write where the pretokens of window[start:stop] start; return how many starts there are."""
    return cut_window(state, start, stop, at, read_rules, block_starts, pretoken_end)


@entry
def pretoken_end_o200k(state: int, text: int, pos: int, end: int) -> int:
    """Return where the pretoken at pos of the text at an address ends; the text ends at `end`."""
    return find_end(state, text, pos, end, read_rules, pretoken_end)
