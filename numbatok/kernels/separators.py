"""Find the separators of a text, such as the ends of its lines."""

from __future__ import annotations

from numbatok._jit import entry, i64, part, u64
from numbatok.addresses import view_i64, view_u8
from numbatok.tables import U8
from numbatok.vector import BLOCK, byte_mask, clear_lowest_bit, count_trailing_zeros

ZERO = u64(0)


@entry
def find_separators(
    text_address: int,
    size: int,
    separator_address: int,
    length: int,
    places_address: int,
    capacity: int,
) -> int:
    """Write where a separator of 1 and more bytes starts, from left to right; return how many.

    None overlaps the one before. As many as the capacity: there may be more.
    """
    text, separator = view_u8(text_address, size), view_u8(separator_address, length)
    places = view_i64(places_address, capacity)
    first, last = i64(separator[0]), i64(separator[length - 1])
    pos, done, count = i64(0), i64(0), i64(0)
    while pos + BLOCK + length - 1 <= size:
        found = byte_mask(text, pos, first)
        if length > 1:
            found &= byte_mask(text, pos + length - 1, last)
        while found != ZERO:
            at = pos + count_trailing_zeros(found)
            found = clear_lowest_bit(found)
            if at >= done and is_at(text, at, separator, length):
                places[count] = at
                count, done = count + 1, at + length
                if count == capacity:
                    return count
        pos += BLOCK
    pos = max(pos, done)
    while pos + length <= size:
        if is_at(text, pos, separator, length):
            places[count] = pos
            count += 1
            if count == capacity:
                return count
            pos += length
        else:
            pos += 1
    return count


@part
def is_at(text: U8, pos: int, separator: U8, length: int) -> bool:
    """Tell whether a separator stands at a position."""
    k = i64(0)
    while k < length and text[pos + k] == separator[k]:
        k += 1
    return k == length
