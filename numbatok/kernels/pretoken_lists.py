"""Lists of pretokens: gather them, mark equal neighbors, make numbers that sort like them."""

from __future__ import annotations

import numpy as np

from numbatok._jit import entry, i64, part, u64
from numbatok.addresses import view_i64, view_u8, view_u64
from numbatok.vector import copy_bytes, load_u64, low_bits

ZERO = u64(0)
EIGHT = 8


@entry
def gather_pretokens(
    text_address: int,
    ends_address: int,
    n_pretokens: int,
    order_address: int,
    n_chosen: int,
    to_address: int,
    to_ends_address: int,
) -> int:
    """Copy the pretokens order[0], order[1] ... to places that end at to_ends[1], to_ends[2] ..."""
    order, to_ends = view_i64(order_address, n_chosen), view_i64(to_ends_address, n_chosen + 1)
    ends = view_i64(ends_address, n_pretokens + 1)
    text = view_u8(text_address, ends[n_pretokens])
    to = view_u8(to_address, to_ends[n_chosen])
    for i in range(n_chosen):
        copy_bytes(text, ends[order[i]], to, to_ends[i], to_ends[i + 1] - to_ends[i])
    return n_chosen


@entry
def mark_repeated(
    text_address: int, ends_address: int, n_pretokens: int, equal_address: int
) -> int:
    """Set equal[i] to 1 where pretoken i equals pretoken i - 1."""
    ends, equal = view_i64(ends_address, n_pretokens + 1), view_u8(equal_address, n_pretokens)
    text = view_u8(text_address, ends[n_pretokens])
    for i in range(1, n_pretokens):
        before, start, end = ends[i - 1], ends[i], ends[i + 1]
        if start - before == end - start:
            k = i64(0)
            while start + k < end and text[before + k] == text[start + k]:
                k += 1
            equal[i] = start + k == end
    return n_pretokens


@entry
def sort_keys(
    text_address: int, ends_address: int, n_pretokens: int, first_address: int, second_address: int
) -> int:
    """Write bytes 0-7 and 8-15 of each pretoken as numbers that sort like them; 0 behind its end.

    Reads: 16 bytes after the last pretoken.
    """
    ends = view_i64(ends_address, n_pretokens + 1)
    text = view_u8(text_address, ends[n_pretokens] + 16)
    first, second = view_u64(first_address, n_pretokens), view_u64(second_address, n_pretokens)
    for i in range(n_pretokens):
        at, length = ends[i], ends[i + 1] - ends[i]
        low = load_u64(text, at) & low_bits(8 * min(length, 8))
        high = load_u64(text, at + EIGHT) & low_bits(8 * max(min(length, 16) - 8, 0))
        first[i], second[i] = big_endian(low), big_endian(high)
    return n_pretokens


@part
def big_endian(number: np.uint64) -> np.uint64:
    """Return the number with its eight bytes in reverse order."""
    swapped = ZERO
    for _ in range(8):
        swapped = swapped << u64(8) | number & u64(255)
        number >>= u64(8)
    return swapped
