"""Move what a memo has learned to a larger one."""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, u64
from numbatok.addresses import opener
from numbatok.kernels.long import home_of_long
from numbatok.kernels.words import ENTRY, find_entry, first_of_bucket, hash_key
from numbatok.tables import U64, Memo

ZERO = u64(0)
LONG_SLOT = 4

open_memo = opener(Memo)


@entry
def move_memo(source_address: int, target_address: int) -> int:
    """Copy what one memo has to the empty tables of another size that the other has; return 0."""
    source, target = open_memo(source_address), open_memo(target_address)
    if source.entries.slots.size != target.entries.slots.size:
        move_entries(source.entries.slots, target.entries.slots)
    if source.long_slots.size != target.long_slots.size:
        move_long(source.long_slots, target.long_slots)
    return i64(0)


@kernel
def move_entries(old: U64, new: U64) -> None:
    """Copy the entries of pretokens of up to 15 bytes."""
    for at in range(0, old.size, ENTRY):
        low, high = old[at], old[at + 1]
        if high != ZERO:
            place = -1 - find_entry(new, first_of_bucket(hash_key(low, high), new), low, high)
            for k in range(ENTRY):
                new[place + k] = old[at + k]


@kernel
def move_long(old: U64, new: U64) -> None:
    """Copy the slots of longer pretokens."""
    for at in range(0, old.size, LONG_SLOT):
        if old[at + 1] != ZERO:
            place = home_of_long(old[at], new)
            while new[place + 1] != ZERO:
                place = place + LONG_SLOT if place + LONG_SLOT < new.size else 0
            for k in range(LONG_SLOT):
                new[place + k] = old[at + k]
