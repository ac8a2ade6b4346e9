"""Flat arrays of the trainer: shape, dtype, sentinel and meaning, once. NumPy only."""

from __future__ import annotations

from typing import NamedTuple

from numbatok.tables import I64, U8, U32, U64


class Counts(NamedTuple):
    """How often each distinct pretoken occurs: two open-addressed tables, at most 3/4 full.

    An entry is four u64. Pretokens of 1 to 15 bytes, in buckets of two entries:

        key_low    bytes 0-7
        key_high   bytes 8-14, length << 56; 0 is an empty entry
        count
        first      where the pretoken occurs first, in bytes of the whole source

    Longer ones: hash; start << 32 | length in long_bytes, 0 being an empty entry; count; first.
    """

    slots: U64  # [8 << bits]
    long_slots: U64  # [4 << bits]
    long_bytes: U8  # [capacity]
    used: I64  # [N_COUNTED]


ENTRY = 4  # u64 in an entry
COUNT, FIRST = 2, 3  # places in an entry
(
    USED_SHORT,  # entries taken in slots
    USED_LONG,  # entries taken in long_slots
    USED_LONG_BYTES,
    SHORT_BYTES,  # bytes of the pretokens in slots
    TOTAL,  # pretokens counted, repetitions included
    AT_ENTRY,  # where `merge_counts` is: entries of slots, then of long_slots
    N_COUNTED,
) = range(7)

# Why a counting kernel came back, besides DONE, PAUSED and WINDOW_SHORT of tables.py.
COUNTS_FULL, MORE_TEXT = 16, 17


class Corpus(NamedTuple):
    """Distinct pretokens as cells, one per byte, in which merges are made.

    A symbol of n bytes takes n cells: the first and the last hold it, those between mean nothing.
    BOUNDARY stands before the first pretoken, between two, and after the last.

        a b c | a b        merge (a, b) -> X        X X c | X X
    """

    cells: U32  # [n_cells]
    weights: I64  # [(n_cells >> shift) + 1] count of the pretoken to which cell i >> shift belongs
    lengths: (
        U32  # [n_symbols] bytes of each symbol; symbols 0-255 are the bytes in the order of ties
    )


BOUNDARY = (1 << 32) - 1
CONSUMED = (1 << 32) - 2  # a cell where a symbol started that was merged into the one before it


class Pairs(NamedTuple):
    """The pairs that occur `threshold` times or more: an open-addressed table, and a heap.

    Rarer pairs are not here. Only a recount can bring them: no merge makes a pair more frequent,
    except those with its own product, whose counts are known at once.
    """

    keys: U64  # [1 << bits] left << 32 | right, or EMPTY
    counts: I64  # [1 << bits] occurrences, weighted
    starts: I64  # [1 << bits] where the list of its occurrences starts
    sizes: I64  # [1 << bits] how many there are, some of them gone by now
    places: U32  # [capacity] the lists: the cell where each occurrence starts, ascending
    heap: U64  # [3 << bits - 1] count, tie, slot; the greatest count, then the least tie, on top


EMPTY = (1 << 64) - 1
N_RANGES = 64 * 8  # of a count: its highest bit and the three bits after that


class Growth(NamedTuple):
    """All that the merge loop needs; it travels as one array of addresses."""

    corpus: Corpus
    pairs: Pairs
    sketch: U64  # [1 << bits] counts of all pairs that share a hash: no pair occurs more often
    histogram: I64  # [N_RANGES] how many values of the sketch are in each range
    sides: I64  # [4 * n_symbols] what stands beside a merge: see LEFT_WEIGHT and on
    touched: U32  # [2 * n_symbols] symbols met on the left, then those met on the right
    neighbors: U32  # [2 * n_cells] the symbols left and right of each merged occurrence
    merges: U32  # [2 * n_merges] left and right symbol of each merge
    merge_counts: I64  # [n_merges] how often the pair occurred then
    asks: U8  # [longest + 1] 1 for token lengths of which the caller decides
    vetoed: U64  # [1 << bits] keys of pairs never to be merged, or EMPTY
    control: I64  # [N_GROWTH]


LEFT_WEIGHT, LEFT_SIZE, RIGHT_WEIGHT, RIGHT_SIZE = range(4)  # sizes become slots, or NO_SLOT
NO_SLOT = -1
(
    N_SYMBOLS,
    FIRST_SYMBOL,  # number of the first product
    LAST_SYMBOL,  # stop when there are as many symbols
    THRESHOLD,
    N_WITHIN,  # values of the sketch that reach it
    MAX_BYTES,  # of a token
    SHIFT,  # of weights
    AT_CELL,  # where the next pretoken is laid out
    BY_PLACE,  # ties: 1 the first occurrence, 0 the smaller pair
    HEAP_SIZE,
    USED_PAIRS,
    USED_PLACES,
    STEP,  # CHOOSE, or MERGE: an occurrence list is being worked off
    MERGING,  # slot of its pair
    AT_PLACE,  # how many of its occurrences are looked at
    N_MERGED,  # how many of them are merged
    SELF_WEIGHT,  # occurrences of (product, product)
    SELF_SIZE,
    N_LEFT,  # symbols in touched
    N_RIGHT,
    N_NEW,  # pairs that the merge brought into the table
    IS_SHORT,  # 1 when a new pair found no room: only a recount helps
    ANSWER,  # of the caller: UNASKED, ALLOWED or VETOED
    N_TOKENS,  # symbols in all the text that was counted
    N_GROWTH,
) = range(25)
CHOOSE, MERGE = range(2)
UNASKED, ALLOWED, VETOED = range(3)

# Why the merge loop came back, besides DONE and PAUSED.
RECOUNT, ASK = 18, 19
