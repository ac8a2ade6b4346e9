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

1 and 2 are looked up by byte in MergeRules.edges. Pairs that fail 3, of which real vocabularies
have none to a few, are kept from being certain there (numbatok/premerge.py), but in a pretoken of
these two bytes, where it does no harm.

Most of Chinese, Japanese, Korean and Hindi is characters of three bytes a, b, c. If (a, b) is
certain and then (P, c), P being the product, or (b, c) and then (a, Q), the character is one
symbol: the same argument once more, after the first step. In a pretoken of nothing else, perhaps
after one other byte, the symbols of a character are looked up in MergeRules.characters; unless
some merge takes its first byte with what ends as the byte before it, or its last byte with what
starts as the byte after it: one in 15 to 50 of Chinese, whose bytes stay apart.

The idea of a certificate by neighboring bytes is that of toks, which has one for characters and one
for pairs of ASCII, by classes of bytes; this one is by each byte, and for any pair.
"""

from __future__ import annotations

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.merge_long import WIDTH
from numbatok.kernels.pairs import find_rank, home_of_pair, may_merge, pack_pair
from numbatok.tables import (
    EDGE_BITS,
    EDGE_NONE,
    LANE_ROW,
    N_LANES,
    NO_RANK,
    SYMBOL_BITS,
    U8,
    U32,
    Batch,
    Lanes,
    MergeRules,
    Scan,
)
from numbatok.vector import low_bits, natural, popcount, prefetch

ZERO, ONE = u64(0), u64(1)
CONTINUATION, LEAD = 0x80, 0xE  # the least byte that is no ASCII; the highest four bits of a first
TO_BEFORE, TO_AFTER, EDGE_MASK = u64(EDGE_BITS), u64(2 * EDGE_BITS), u64(EDGE_NONE)
BEFORE, AFTER = u64(EDGE_NONE << EDGE_BITS), u64(EDGE_NONE << 2 * EDGE_BITS)
FREE = BEFORE | AFTER  # no merge takes a byte at this edge
SECOND, THIRD, SYMBOL_MASK = u64(SYMBOL_BITS), u64(2 * SYMBOL_BITS), u64((1 << SYMBOL_BITS) - 1)
AT_ONCE = 4  # pairs
AT_SYMBOLS, AT_RANKS = 8, 16  # where position 0 is
NO_PAIR = NO_RANK << 6  # at least this: no pair of a pretoken is left


@kernel
def start_lanes(
    scan: Scan,
    batch: Batch,
    item: int,
    n_new: int,
    n_lanes: int,
    merges: MergeRules,
    lanes: Lanes,
) -> int:
    """Put new pretokens from `item` on into the lanes that are free; return how many.

    Each starts as its bytes, but what is certain as one symbol. Step by step for all, not all steps
    for one: the look-ups of their pairs wait side by side, and the loops end less often.
    """
    n = min(N_LANES - n_lanes, n_new - item)
    none = merges.ids.size - 1  # NO_SYMBOL
    for k in range(n):
        lane = lanes.order[n_lanes + k]
        start = natural(i64(scan.starts[batch.new[item + k]]))
        end = natural(i64(scan.starts[batch.new[item + k] + 1]))
        symbols, at = lanes.symbols, lane * LANE_ROW + AT_SYMBOLS
        count = put_symbols(scan.window, start, end, merges, symbols, at)
        symbols[at - 1] = symbols[at + WIDTH] = none
        for beyond in range(AT_ONCE):
            symbols[at + count + beyond] = none
        lanes.alive[lane], lanes.items[lane] = low_bits(count), item + k
        lanes.widths[lane] = (count + 15) & ~15
    rank_pairs(n_lanes, n, merges, lanes)
    return n


@part
def put_symbols(text: U8, start: int, end: int, merges: MergeRules, symbols: U32, at: int) -> int:
    """Write the symbols of text[start:end] to symbols[at:]; return how many.

    Two more may be overwritten.
    """
    count = put_characters(text, start, end, merges, symbols, at)
    if count == 0:
        count = put_pairs(text, start, end, merges, symbols, at)
    return count


@part
def put_characters(
    text: U8, start: int, end: int, merges: MergeRules, symbols: U32, at: int
) -> int:
    """Write the symbols of characters of three bytes, and of one byte before them, if any.

    Return how many, or 0 if the pretoken is something else.
    """
    first = start + i64(text[start] < CONTINUATION)
    if i64(text[first]) >> 4 != LEAD or (end - first) % 3 != 0:
        return i64(0)
    begin, is_other = at, i64(0)
    a = i64(text[start])
    symbols[at] = a
    at += first - start
    edges = FREE if first == start else merges.edges[a << 8 | i64(text[first])]
    for pos in range(first, end, 3):
        a, b, c = i64(text[pos]), i64(text[pos + 1]), i64(text[pos + 2])
        is_other |= a >> 4 ^ LEAD | b >> 6 ^ 2 | c >> 6 ^ 2
        following = merges.edges[c << 8 | i64(text[pos + 3])] if pos + 3 < end else FREE
        parts = merges.characters[(a & 15) << 12 | (b & 63) << 6 | c & 63]
        if (edges & BEFORE != BEFORE) | (following < AFTER):
            parts = u64(a) | u64(b) << SECOND | u64(c) << THIRD
        edges = following
        second, third = parts >> SECOND & SYMBOL_MASK, parts >> THIRD
        symbols[at] = i64(parts & SYMBOL_MASK)
        symbols[at + 1] = i64(second)
        at += 1 + i64(second != ZERO)
        symbols[at] = i64(third)
        at += i64(third != ZERO)
    return at - begin if is_other == 0 else i64(0)


@part
def put_pairs(text: U8, start: int, end: int, merges: MergeRules, symbols: U32, at: int) -> int:
    """Write the bytes as symbols, those of certain pairs as one; return how many."""
    begin, is_taken, before = at, i64(0), EDGE_MASK
    left, right = i64(text[start]), i64(text[start + 1])
    edges = merges.edges[left << 8 | right]
    for pos in range(start, end - 1):
        beyond = i64(text[pos + 2])
        following = merges.edges[right << 8 | beyond]
        rank = edges & EDGE_MASK
        after = following >> TO_AFTER if pos + 2 < end else EDGE_MASK
        is_certain = i64(rank < before) & i64(rank < after)
        symbols[at] = 256 + i64(rank) if is_certain != 0 else left
        at += 1 - is_taken
        before, is_taken = edges >> TO_BEFORE & EDGE_MASK, is_certain
        edges, left, right = following, right, beyond
    symbols[at] = left
    return at + 1 - is_taken - begin


@part
def rank_pairs(first: int, n: int, merges: MergeRules, lanes: Lanes) -> None:
    """Rank the pairs of the symbols of n lanes."""
    n_likely = i64(0)
    for k in range(first, first + n):
        lane = lanes.order[k]
        symbols, ranks = lane * LANE_ROW + AT_SYMBOLS, lane * LANE_ROW + AT_RANKS
        for block in range(ranks, ranks + lanes.widths[lane], 16):
            for at in range(block, block + 16):
                lanes.ranks[at] = NO_PAIR
        count, position = popcount(lanes.alive[lane]), i64(0)
        left = i64(lanes.symbols[symbols])
        while position < count:
            for _ in range(AT_ONCE):  # beyond the end NO_SYMBOL follows, whose pairs have no rank
                right = i64(lanes.symbols[symbols + position + 1])
                lanes.likely[n_likely] = symbols + position << 6 | position
                n_likely += i64(may_merge(pack_pair(left, right), merges))
                left, position = right, position + 1
    for k in range(n_likely):
        place = i64(lanes.likely[k]) >> 6
        pair = pack_pair(i64(lanes.symbols[place]), i64(lanes.symbols[place + 1]))
        prefetch(merges.buckets, home_of_pair(pair, merges))
    for k in range(n_likely):
        place, position = i64(lanes.likely[k]) >> 6, i64(lanes.likely[k]) & 63
        pair = pack_pair(i64(lanes.symbols[place]), i64(lanes.symbols[place + 1]))
        rank = find_rank(pair, merges)
        lanes.ranks[place + AT_RANKS - AT_SYMBOLS] = rank << 6 | position
