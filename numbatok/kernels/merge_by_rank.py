"""Byte-pair encoding of a long pretoken rank by rank, instead of by a heap.

Where every merge comes after the merges that make its parts, a merge only ever makes pairs of
higher ranks, so one pass over the ranks sees every pair: each rank has a list of the positions of
its pair, in the order in which they were found. A rank is one pair of symbols. Two occurrences
overlap only if the two symbols are equal; only then the order within the list matters, and it is
made the order of positions. That is O(length + ranks / 64), where a heap takes
O(length log length), most of it cache misses: 1 MB of "^" takes 17 ms instead of 124. A pair that
comes before its time shows that the merges are not so ordered: then the heap does the work.
"""

from __future__ import annotations

from numbatok._jit import i64, kernel, part, u64
from numbatok.kernels.pairs import find_rank, pack_pair
from numbatok.tables import NO_RANK, U32, MergeRules, RankLists, Work
from numbatok.vector import clear_lowest_bit, count_trailing_zeros, natural

ZERO, ONE, HALF = u64(0), u64(1), u64(32)
AT_MASK = u64((1 << 32) - 1)
# A cell is four numbers, so that what a merge touches is mostly one cache line.
CELL, FOLLOWING, PRECEDING, RANK = 4, 1, 2, 3  # and the symbol at 0; PRECEDING: position + 1, or 0


@kernel
def merge_by_rank(length: int, merges: MergeRules, work: Work) -> int:
    """Merge work.symbols[:length] in place; return how many are left, or -1 with nothing changed.

    Symbol k then started at position work.preceding[k]. -1: the merges are not in an order that
    allows it.
    """
    lists = work.lists
    cells, present = lists.cells, lists.present
    n_entries = list_pairs(work.symbols, length, merges, lists)
    for block in range(present.size):
        while present[block] != ZERO:
            rank = block << 6 | count_trailing_zeros(present[block])
            present[block] = clear_lowest_bit(present[block])
            entry = in_order(i64(lists.heads[rank]), rank, lists)
            while entry != 0:
                value = lists.entries[natural(entry)]
                entry, at = i64(value >> HALF), i64(value & AT_MASK)
                if cells[natural(CELL * at + RANK)] == rank:
                    n_entries = join_at(at, rank, length, merges, lists, n_entries)
                    if n_entries < 0:
                        present[:] = ZERO
                        return i64(-1)
    return write_left(length, work)


@part
def list_pairs(symbols: U32, length: int, merges: MergeRules, lists: RankLists) -> int:
    """Fill the cells and list all pairs; return the number of the next entry."""
    cells, n_entries = lists.cells, i64(1)  # entry 0 is none
    for at in range(length):
        cell = natural(CELL * at)
        cells[cell], cells[cell + FOLLOWING], cells[cell + PRECEDING] = symbols[at], at + 1, at
    for at in range(length - 1):
        rank = find_rank(pack_pair(i64(symbols[at]), i64(symbols[at + 1])), merges)
        n_entries = list_pair(at, rank, lists, n_entries)
    cells[natural(CELL * (length - 1) + RANK)] = NO_RANK
    return n_entries


@part
def list_pair(at: int, rank: int, lists: RankLists, n_entries: int) -> int:
    """Note the rank of the pair at a position, and list it if it merges."""
    lists.cells[natural(CELL * at + RANK)] = rank
    if rank == NO_RANK:
        return n_entries
    rank, bit = natural(rank), ONE << u64(rank & 63)
    lists.entries[n_entries] = u64(at)
    if lists.present[rank >> 6] & bit == ZERO:
        lists.present[rank >> 6] |= bit
        lists.heads[rank] = n_entries
    else:
        lists.entries[natural(i64(lists.tails[rank]))] |= u64(n_entries) << HALF
    lists.tails[rank] = n_entries
    return n_entries + 1


@kernel
def join_at(
    at: int, rank: int, length: int, merges: MergeRules, lists: RankLists, n_entries: int
) -> int:
    """Join the pair at a position and list the pairs it makes; return the next entry, or -1."""
    cells, cell = lists.cells, natural(CELL * at)
    joined = natural(CELL * i64(cells[cell + FOLLOWING]))
    right, left = i64(cells[joined + FOLLOWING]), i64(cells[cell + PRECEDING]) - 1
    symbol = 256 + rank
    cells[cell], cells[cell + FOLLOWING] = symbol, right
    cells[cell + RANK], cells[joined + RANK] = NO_RANK, NO_RANK
    if right < length:
        cells[natural(CELL * right + PRECEDING)] = at + 1
        found = find_rank(pack_pair(symbol, i64(cells[natural(CELL * right)])), merges)
        if found <= rank:
            return i64(-1)
        n_entries = list_pair(at, found, lists, n_entries)
    if left >= 0:
        found = find_rank(pack_pair(i64(cells[natural(CELL * left)]), symbol), merges)
        if found <= rank:
            return i64(-1)
        n_entries = list_pair(left, found, lists, n_entries)
    return n_entries


@kernel
def in_order(first: int, rank: int, lists: RankLists) -> int:
    """Return the first entry of a list, put in the order of positions if that matters."""
    entry, before, is_sorted = i64(first), i64(-1), True
    while entry != 0:
        value = lists.entries[natural(entry)]
        entry, at = i64(value >> HALF), i64(value & AT_MASK)
        if lists.cells[natural(CELL * at + RANK)] == rank:
            if not has_equal_symbols(at, lists.cells):
                return first
            is_sorted &= at > before
            before = at
    return first if is_sorted else sort_entries(first, rank, lists)


@part
def has_equal_symbols(at: int, cells: U32) -> bool:
    """Tell whether the pair at a position is of equal symbols."""
    cell = natural(CELL * at)
    return cells[cell] == cells[natural(CELL * i64(cells[cell + FOLLOWING]))]


@kernel
def sort_entries(first: int, rank: int, lists: RankLists) -> int:
    """Sort a list by position, without its stale entries, through a bit for every position."""
    entries, marks = lists.entries, lists.marks
    entry, low, high = i64(first), i64(marks.size), i64(0)
    while entry != 0:
        value = entries[natural(entry)]
        entry, at = i64(value >> HALF), natural(i64(value & AT_MASK))
        if lists.cells[natural(CELL * at + RANK)] == rank:
            marks[at >> 6] |= ONE << u64(at & 63)
            low, high = min(low, at >> 6), max(high, at >> 6)
    entry, last = i64(first), i64(first)
    for block in range(low, high + 1):
        mask = marks[block]
        marks[block] = ZERO
        while mask != ZERO:
            at, mask = block << 6 | count_trailing_zeros(mask), clear_lowest_bit(mask)
            last, value = entry, entries[natural(entry)]
            entries[natural(last)] = value & ~AT_MASK | u64(at)
            entry = i64(value >> HALF)
    entries[natural(last)] &= AT_MASK
    return first


@part
def write_left(length: int, work: Work) -> int:
    """Write the symbols that are left, and where they start; return how many."""
    at, count, cells = i64(0), i64(0), work.lists.cells
    while at < length:
        cell, count = natural(CELL * at), natural(count)
        work.symbols[count], work.preceding[count] = cells[cell], at
        at, count = i64(cells[cell + FOLLOWING]), count + 1
    return count
