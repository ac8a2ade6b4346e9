"""Move what a memo has learned to a larger one."""

from __future__ import annotations

from numbatok._jit import entry, i64, u64
from numbatok.addresses import opener
from numbatok.kernels.long import home_of_long
from numbatok.kernels.words import ENTRY, find_entry, first_of_bucket, hash_key
from numbatok.tables import N_USED, USED_LONG_BYTES, USED_SPILLED, Memo
from numbatok.vector import copy_bytes

ZERO = u64(0)
LONG_SLOT = 4

open_memo = opener(Memo)


@entry
def move_memo(source_address: int, target_address: int) -> int:
    """Copy everything from one memo to an empty one with more room; return how many pretokens."""
    source, target = open_memo(source_address), open_memo(target_address)
    moved, old, new = i64(0), source.entries.slots, target.entries.slots
    for at in range(0, old.size, ENTRY):
        low, high = old[at], old[at + 1]
        if high != ZERO:
            place = -1 - find_entry(new, first_of_bucket(hash_key(low, high), new), low, high)
            for k in range(ENTRY):
                new[place + k] = old[at + k]
            moved += 1
    old, new = source.long_slots, target.long_slots
    for at in range(0, old.size, LONG_SLOT):
        if old[at + 1] != ZERO:
            place = home_of_long(old[at], new)
            while new[place + 1] != ZERO:
                place = place + LONG_SLOT if place + LONG_SLOT < new.size else 0
            for k in range(LONG_SLOT):
                new[place + k] = old[at + k]
            moved += 1
    for k in range(source.used[USED_SPILLED]):
        target.spilled[k] = source.spilled[k]
    copy_bytes(source.long_bytes, i64(0), target.long_bytes, i64(0), source.used[USED_LONG_BYTES])
    for k in range(N_USED):
        target.used[k] = source.used[k]
    return moved
