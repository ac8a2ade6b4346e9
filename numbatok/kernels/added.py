"""Find added tokens: the leftmost, of those the longest."""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.tables import (
    NEXT_ADDED,
    NEXT_ADDED_END,
    NEXT_ADDED_TOKEN,
    PLAIN,
    U8,
    AddedTokens,
    State,
)
from numbatok.vector import (
    BLOCK,
    byte_mask,
    clear_lowest_bit,
    count_trailing_zeros,
    wrapping_multiply,
)

ZERO, HALF, BYTE_BITS = u64(0), u64(32), u64(8)
TRIE_MIX = u64(0x9E3779B97F4A7C15)
NO_TOKEN = -1


@part
def child_of(node: int, byte: int, added: AddedTokens) -> int:
    """Return the child of a trie node by a byte, or -1."""
    slots = added.slots
    key = (u64(node) << BYTE_BITS | u64(byte)) + u64(1)
    slot = i64((wrapping_multiply(key, TRIE_MIX) >> HALF) * u64(slots.size) >> HALF)
    while slots[slot] != ZERO:
        if slots[slot] >> HALF == key:
            return i64(slots[slot] & u64(0xFFFF_FFFF))
        slot = slot + 1 if slot + 1 < slots.size else 0
    return -1


@kernel
def match_added(text: U8, pos: int, end: int, state: State) -> bool:
    """Tell whether an added token that the call does not take as plain starts at pos.

    Writes: control[NEXT_ADDED ...] of the longest.
    """
    added, actions, control = state.added, state.actions, state.control
    node, at = i64(0), pos
    found = i64(NO_TOKEN)
    while at < end:
        node = child_of(node, i64(text[at]), added)
        if node < 0:
            break
        at += 1
        token = added.tokens[node]
        if token >= 0 and actions[token] != PLAIN:
            found = token
            control[NEXT_ADDED], control[NEXT_ADDED_END] = pos, at
    control[NEXT_ADDED_TOKEN] = found
    return found >= 0


@part
def first_byte_mask(text: U8, pos: int, added: AddedTokens) -> np.uint64:
    """Return the mask of the bytes that start an added token in the 64 bytes at pos."""
    mask = ZERO
    if added.few_first.size > 0:
        for k in range(added.few_first.size):
            mask |= byte_mask(text, pos, i64(added.few_first[k]))
        return mask
    for k in range(BLOCK):
        mask |= u64(added.first_bytes[i64(text[pos + k])]) << u64(k)
    return mask


@kernel
def find_added(text: U8, pos: int, stop: int, end: int, state: State) -> None:
    """Find the first added token that starts in text[pos:stop] and ends by `end`.

    Writes: control[NEXT_ADDED], NEXT_ADDED_END and NEXT_ADDED_TOKEN; none: stop, stop, NO_TOKEN.
    """
    added, control = state.added, state.control
    at = pos
    while at + BLOCK <= stop:
        mask = first_byte_mask(text, at, added)
        while mask != ZERO:
            if match_added(text, at + count_trailing_zeros(mask), end, state):
                return
            mask = clear_lowest_bit(mask)
        at += BLOCK
    while at < stop:
        if added.first_bytes[i64(text[at])] != 0 and match_added(text, at, end, state):
            return
        at += 1
    control[NEXT_ADDED], control[NEXT_ADDED_END] = stop, stop
    control[NEXT_ADDED_TOKEN] = NO_TOKEN
