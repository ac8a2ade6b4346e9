"""Stretches of text that come again, such as the prompts that a chat server gets: their ids whole.

A stretch is what the driver would take as one window: a full one inside a document, or the rest of
a document of SHORTEST bytes and more. Its ids depend on nothing but its bytes, those that the scan
looks ahead, and whether the document ends there; all of that is compared, so a hit is exact. The
hash of a few places finds the candidate. Text that comes once costs that hash (some 15 ns for
8 KB): a stretch is kept only when it is met the second time.
"""

from __future__ import annotations

import numpy as np

from numbatok._jit import i64, kernel, part, u64
from numbatok.tables import (
    EPOCH,
    MARGIN,
    SEGMENT_BYTES,
    SEGMENT_EPOCH,
    SEGMENT_HASH,
    SEGMENT_IDS_AT,
    SEGMENT_N_IDS,
    SEGMENT_SLOT,
    SEGMENT_TAKEN,
    SEGMENT_TEXT_AT,
    U8,
    U32,
    Segments,
)
from numbatok.vector import copy_bytes, load_u64, natural, wrapping_multiply

ZERO, HALF = u64(0), u64(32)
MIX, FINAL_MIX, FOLD = u64(0x9E3779B97F4A7C15), u64(0xBF58476D1CE4E5B9), u64(29)
SHORTEST = 256  # bytes: shorter texts are looked up word by word as fast
PLACE = 64  # bytes that are hashed at the start, in the middle and at the end
WAYS = 4  # slots that a stretch may be in
BLOCK = 256  # bytes that are compared before a look at the result


@part
def hash_segment(text: U8, pos: int, n_bytes: int) -> np.uint64:
    """Hash three places of a stretch and its length."""
    middle, last = pos + (n_bytes >> 1), pos + n_bytes - PLACE
    a, b, c = u64(n_bytes), MIX, FINAL_MIX
    for at in range(0, PLACE, 8):
        a = wrapping_multiply(a ^ load_u64(text, pos + at), MIX)
        b = wrapping_multiply(b ^ load_u64(text, middle - PLACE + at), MIX)
        c = wrapping_multiply(c ^ load_u64(text, last + at), MIX)
        a, b, c = a ^ a >> FOLD, b ^ b >> FOLD, c ^ c >> FOLD
    mixed = wrapping_multiply(a ^ (b << HALF | b >> HALF) ^ wrapping_multiply(c, FINAL_MIX), MIX)
    return mixed


@part
def find_segment(text: U8, pos: int, n_bytes: int, hashed: np.uint64, segments: Segments) -> int:
    """Return the place of a stretch in the slots, or -1."""
    slots, slot = segments.slots, home_of(hashed, segments)
    for _ in range(WAYS):
        is_valid = slots[slot + SEGMENT_EPOCH] == u64(segments.used[EPOCH])
        is_valid &= i64(slots[slot + SEGMENT_BYTES]) == n_bytes
        if is_valid & (slots[slot + SEGMENT_HASH] == hashed):
            where = i64(slots[slot + SEGMENT_TEXT_AT])
            return slot if is_equal(text, pos, segments.text, where, n_bytes) else i64(-1)
        slot += SEGMENT_SLOT
    return i64(-1)


@part
def home_of(hashed: np.uint64, segments: Segments) -> int:
    """Return the place of the first of the slots that a hash may be in."""
    n_homes = u64(segments.slots.size // SEGMENT_SLOT - WAYS + 1)
    return natural(i64((hashed >> HALF) * n_homes >> HALF) * SEGMENT_SLOT)


@part
def slot_for(hashed: np.uint64, segments: Segments) -> int:
    """Return the place of the first free one of the slots that a hash may be in, else the first."""
    home = home_of(hashed, segments)
    for way in range(WAYS):
        slot = home + way * SEGMENT_SLOT
        if segments.slots[slot + SEGMENT_EPOCH] != u64(segments.used[EPOCH]):
            return slot
    return home


@kernel
def is_equal(left: U8, left_at: int, right: U8, right_at: int, n_bytes: int) -> bool:
    """Compare at least eight bytes; the last eight overlap."""
    at = i64(0)
    while at + BLOCK <= n_bytes:
        differing = ZERO
        for k in range(natural(at), at + BLOCK, 8):
            differing |= load_u64(left, left_at + k) ^ load_u64(right, right_at + k)
        if differing != ZERO:
            return False
        at += BLOCK
    differing = ZERO
    for k in range(natural(at), n_bytes - 7, 8):
        differing |= load_u64(left, left_at + k) ^ load_u64(right, right_at + k)
    last = n_bytes - 8
    differing |= load_u64(left, left_at + last) ^ load_u64(right, right_at + last)
    return differing == ZERO


@kernel
def copy_segment(slot: int, segments: Segments, ids: U32, at: int) -> int:
    """Write the ids of a known stretch to ids[at:]; return where they end."""
    first, n_ids = segments.slots[slot + SEGMENT_IDS_AT], i64(segments.slots[slot + SEGMENT_N_IDS])
    start, at = natural(i64(first)), natural(at)
    for k in range(n_ids):
        ids[at + k] = segments.ids[start + k]
    return at + n_ids


@part
def is_met_again(hashed: np.uint64, segments: Segments) -> bool:
    """Tell whether a stretch was met before, and note that it was now."""
    seen, mark = segments.seen, hashed ^ u64(segments.used[EPOCH])
    at = natural(i64((hashed >> HALF) * u64(seen.size) >> HALF))
    was_seen = seen[at] == mark
    seen[at] = mark
    return was_seen


@kernel
def keep_segment(
    text: U8, pos: int, n_bytes: int, taken: int, hashed: np.uint64, ids: U32, at: int,
    n_ids: int, segments: Segments,
) -> None:  # fmt: skip
    """Keep a stretch of which `taken` bytes have the ids ids[at : at + n_ids].

    When there is no more room all are let go.
    """
    used, slots = segments.used, segments.slots
    if used[0] + n_bytes + MARGIN > segments.text.size or used[1] + n_ids > segments.ids.size:
        used[0], used[1] = 0, 0
        used[EPOCH] += 1
    copy_bytes(text, pos, segments.text, used[0], n_bytes)
    for k in range(n_ids):
        segments.ids[natural(used[1] + k)] = ids[natural(at + k)]
    slot = slot_for(hashed, segments)
    slots[slot + SEGMENT_HASH], slots[slot + SEGMENT_BYTES] = hashed, u64(n_bytes)
    slots[slot + SEGMENT_TEXT_AT], slots[slot + SEGMENT_TAKEN] = u64(used[0]), u64(taken)
    slots[slot + SEGMENT_IDS_AT], slots[slot + SEGMENT_N_IDS] = u64(used[1]), u64(n_ids)
    slots[slot + SEGMENT_EPOCH] = u64(used[EPOCH])
    used[0] += n_bytes
    used[1] += n_ids
