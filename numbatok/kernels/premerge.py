"""Merges that are certain, made before any rank is compared: half of all, in Chinese nine of ten.

A pair (a, b) of rank r is certain between the bytes x and y if

1. no merge (s, a) has a rank up to r, s being any symbol that ends with x,
2. no merge (b, s) has a rank up to r, s being any symbol that starts with y, and
3. no merge has a rank up to r of which the product t of (a, b) is a part.

To start with t instead of a and b gives the same symbols:

- While a and b are apart, what could take one of them is a merge of 1 or 2, whatever was merged
  around them. Its rank is above r, and the pair of least rank comes first: so a and b are joined.
- The merges elsewhere before that have ranks below r, or r itself. With t in place from the start
  the candidates elsewhere are the same, and those with t have ranks above r by 3. So the same ones
  come first in the same order, and both ways meet in the same symbols.
- Several such pairs are taken one after another: the argument used only that x and y are the bytes
  beside the pair, not which symbols they belong to. Two that overlap are never both certain, by 1
  of the one and 2 of the other.

1 and 2 are looked up by byte in MergeRules.before and after. Pairs that fail 3, of which real
vocabularies have none to a few, are kept from being certain there (numbatok/premerge.py).

A character of three bytes a, b, c is one symbol if (a, b) is certain and then (P, c), P being the
product: the same argument once more, after the first step. Its conditions hold for any x in
MergeRules.characters, which is 0 for all others; only what follows c is looked up.

The idea of a certificate by neighboring bytes is that of toks, which has one for characters and one
for pairs of ASCII, by classes of bytes; this one is by each byte, and for any pair.
"""

from __future__ import annotations

from numbatok._jit import i64, part, u64
from numbatok.kernels.merge_long import WIDTH
from numbatok.kernels.pairs import find_rank, pack_pair
from numbatok.tables import NO_RANK, U8, Batch, Lanes, MergeRules, Scan
from numbatok.vector import (
    clear_lowest_bit,
    count_trailing_zeros,
    join_sixteen,
    low_bits,
    natural,
)

ZERO, ONE, TWO, THREE = u64(0), u64(1), u64(2), u64(3)
CONTINUATION = 0x80  # from here on a byte is no ASCII
ROW = 80  # values of a lane in symbols and in ranks
AT_SYMBOLS, AT_RANKS = 8, 16  # where position 0 is
NO_PAIR = NO_RANK << 6  # at least this: no pair of a pretoken is left


@part
def start_lane(
    scan: Scan, batch: Batch, item: int, lane: int, merges: MergeRules, lanes: Lanes
) -> None:
    """Put new pretoken `item` into a lane: its bytes are its symbols, or what is certain."""
    text, start = scan.window, natural(i64(scan.starts[batch.new[item]]))
    length = i64(scan.starts[batch.new[item] + 1]) - start
    symbols, ranks, certain = lane * ROW + AT_SYMBOLS, lane * ROW + AT_RANKS, ZERO
    for first in range(0, length, 16):
        mask = join_sixteen(
            text, start, length, first, certain >> u64(first - 1 & 63), merges.byte_ranks,
            merges.before, merges.after, lanes.symbols, symbols + first, lanes.ranks, ranks + first,
        )  # fmt: skip
        certain |= mask << u64(first)
    no_symbol = merges.ids.size - 1
    lanes.symbols[symbols - 1] = lanes.symbols[symbols + WIDTH] = no_symbol
    alive = low_bits(length) & ~(certain << ONE)
    if text[start + length - 1] >= CONTINUATION and certain != ZERO:
        alive &= ~put_characters(text, start, length, certain, lane, merges, lanes)
    lanes.alive[lane] = alive
    lanes.items[lane], lanes.widths[lane] = item, (length + 15) & ~15
    rank_pairs(certain | before_each(certain, alive), lanes, lane, merges)


@part
def before_each(symbols: u64, alive: u64) -> u64:
    """Return a mask of the symbols right before some; a symbol has three bytes at most."""
    single, double = alive & alive >> ONE, alive & ~(alive >> ONE)
    triple = double & ~(alive >> TWO)
    return single & symbols >> ONE | double & symbols >> TWO | triple & symbols >> THREE


@part
def put_characters(
    text: U8, start: int, length: int, certain: u64, lane: int, merges: MergeRules, lanes: Lanes
) -> u64:
    """Join the third byte of characters that are certain; return a mask of these bytes."""
    symbols, ranks, taken = lane * ROW + AT_SYMBOLS, lane * ROW + AT_RANKS, ZERO
    while certain != ZERO:
        position = count_trailing_zeros(certain)
        certain = clear_lowest_bit(certain)
        symbol = character_at(text, start + position, length - position, merges)
        if symbol > 0:
            lanes.symbols[symbols + position] = symbol
            lanes.ranks[ranks + position + 2] = NO_PAIR
            taken |= ONE << u64(position + 2)
    return taken


@part
def character_at(text: U8, pos: int, length: int, merges: MergeRules) -> int:
    """Return the symbol of the three bytes at pos, of which the first two join, if it is certain.

    Else 0. The pretoken has `length` bytes from pos on.
    """
    first, second, third = i64(text[pos]), i64(text[pos + 1]), i64(text[pos + 2])
    if length < 3 or first >> 4 != 0xE or second >> 6 != 2 or third >> 6 != 2:
        return i64(0)
    symbol = i64(merges.characters[(first & 15) << 12 | (second & 63) << 6 | third & 63])
    after = i64(merges.after[third << 8 | i64(text[pos + 3])]) if length > 3 else NO_RANK
    return symbol if symbol - 256 < after else i64(0)


@part
def pair_at(lanes: Lanes, lane: int, position: int) -> u64:
    """Return the symbol at a position, which is alive, and the next as a pair."""
    symbols = lane * ROW + AT_SYMBOLS
    after = clear_lowest_bit(lanes.alive[lane] & ~low_bits(position))
    right = lanes.symbols[symbols + count_trailing_zeros(after)]  # NO_SYMBOL is at 64
    return pack_pair(i64(lanes.symbols[symbols + position]), i64(right))


@part
def rank_pairs(positions: u64, lanes: Lanes, lane: int, merges: MergeRules) -> None:
    """Rank the pairs that start at some positions."""
    ranks = lane * ROW + AT_RANKS
    while positions != ZERO:
        position = count_trailing_zeros(positions)
        rank = find_rank(pair_at(lanes, lane, position), merges)
        lanes.ranks[ranks + position] = rank << 6 | position
        positions = clear_lowest_bit(positions)
