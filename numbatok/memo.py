"""The memo of a thread: how large it is, and how it grows.

Tables of 32 bytes a pretoken, and what they point to: ids of pretokens that have more than a table
holds, and the bytes of those longer than 15. The kernels in kernels/words.py and kernels/long.py
read and write it.
"""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from numbatok.errors import InvalidValue
from numbatok.memory import aligned_zeros, private_bytes
from numbatok.tables import (
    N_USED,
    USED_ENTRIES,
    USED_LONG,
    USED_LONG_BYTES,
    USED_SPILLED,
    Entries,
    Memo,
)


class MemoSizes(NamedTuple):
    """How many pretokens a memo has places for."""

    entries: int  # of up to 15 bytes
    long: int  # of more


def memo_sizes(memo: Memo) -> MemoSizes:
    """Return how many pretokens a memo has places for."""
    return MemoSizes(memo.entries.slots.size // 4, memo.long_slots.size // 4)


def grown(size: int, largest: int) -> int:
    """Return the next size of a table: few moves while it is small, few pages when it is large."""
    return min(8 * size if size < 1 << 15 else 2 * size, largest)


def full_tables(memo: Memo, count: int) -> list[str]:
    """Return which tables of a memo have no room for `count` more pretokens, as the driver sees."""
    sizes = memo_sizes(memo)
    entries, long = int(memo.used[USED_ENTRIES]), int(memo.used[USED_LONG])
    lacks_room = {
        "entries": 4 * (entries + count) >= 3 * sizes.entries,
        "long": 4 * (long + count) >= 3 * sizes.long,
    }
    return [name for name, lacks in lacks_room.items() if lacks]


def is_spilled_full(memo: Memo, size: int) -> bool:
    """Tell whether a memo lacks room for the ids or the bytes of another window of `size` bytes."""
    spilled, long_bytes = int(memo.used[USED_SPILLED]), int(memo.used[USED_LONG_BYTES])
    return spilled + size >= memo.spilled.size or long_bytes + size >= memo.long_bytes.size


FIRST_MEMO = MemoSizes(1 << 10, 1 << 10)
LEAST = 1 << 14  # places, enough for any window
USUAL_MEGABYTES = 48  # 2^20 places for up to 15 bytes, half as many for more
# What the tables point to is address space of which pages are taken when used. When one is full
# the memo is emptied, as when a table cannot grow: about then for text of any language.
MOST_SPILLED, MOST_LONG_BYTES = 1 << 23, 1 << 24


def largest_memo() -> MemoSizes:
    """Return how large the tables may become: NUMBATOK_MEMO_MB megabytes together, else 48.

    Errors: InvalidValue if that is no number from 1 to 65,536.
    """
    chosen = os.environ.get("NUMBATOK_MEMO_MB") or str(USUAL_MEGABYTES)
    if not chosen.isdecimal() or len(chosen) > 5 or not 1 <= int(chosen) <= 1 << 16:
        raise InvalidValue(
            f"NUMBATOK_MEMO_MB is {chosen!r}; a whole number of megabytes from 1 to 65536 is needed"
        )
    places = int(chosen) * (1 << 20) // 32
    entries = 1 << (2 * places // 3).bit_length() - 1  # two thirds of it, or the power of two below
    return MemoSizes(max(entries, LEAST), max(entries // 2, LEAST))


def make_memo(sizes: MemoSizes) -> Memo:
    """Make an empty memo. Its pages cost nothing until they are used: a us each then."""
    return Memo(
        Entries(aligned_zeros(4 * sizes.entries, np.uint64)),
        private_bytes(4 * MOST_SPILLED).view(np.uint32),
        aligned_zeros(4 * sizes.long, np.uint64),
        private_bytes(MOST_LONG_BYTES),
        np.zeros(N_USED, np.int64),
    )


def resized(memo: Memo, sizes: MemoSizes) -> Memo:
    """Return a memo with empty tables in the place of those that have another size."""
    old = memo_sizes(memo)
    if sizes.entries != old.entries:
        memo = memo._replace(entries=Entries(aligned_zeros(4 * sizes.entries, np.uint64)))
    if sizes.long != old.long:
        memo = memo._replace(long_slots=aligned_zeros(4 * sizes.long, np.uint64))
    return memo
