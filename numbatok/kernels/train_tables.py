"""Flat arrays of the trainer: shape, dtype, sentinel and meaning, once. NumPy only."""

from __future__ import annotations

from typing import NamedTuple

from numbatok.tables import I64, U8, U64


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
