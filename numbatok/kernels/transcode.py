"""The UTF-8 of a str from its code units, which have 1, 2 or 4 bytes each, as its widest one needs.

CPython makes it at 1 GB/s, in new memory, copies that to other new memory and keeps it: 5 ms for
4 MB, of 25 for a first text. Here runs of ASCII are narrowed 32 units at a time, and what is
between them is spread and squeezed 16 characters at a time.
"""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import view_u8, view_u16, view_u32
from numbatok.tables import U8, U16, U32, UNITS
from numbatok.vector import LANES, narrow_ascii, natural, store_u64, write_characters

SURROGATE = -1  # instead of a size
CONTINUATION, SIX = u64(0x80), u64(63)


@entry
def write_utf8(units_address: int, n_units: int, width: int, text_address: int) -> int:
    """Write the UTF-8 of n units of `width` bytes; return its size, or -1 if one is a surrogate.

    Writes up to 64 bytes more. At most 2, 3 or 4 bytes come of a unit of 1, 2 or 4 bytes.
    """
    size = (2 if width == 1 else width + 1 if width == 2 else width) * n_units + 2 * UNITS
    text = view_u8(text_address, size)
    if width == 1:
        return write_units(view_u8(units_address, n_units), text)
    if width == 2:
        return write_units(view_u16(units_address, n_units), text)
    return write_units(view_u32(units_address, n_units), text)


@kernel
def write_units(units: U8 | U16 | U32, text: U8) -> int:
    """Write the UTF-8 of code units; see `write_utf8`."""
    at, to = i64(0), i64(0)
    while at + UNITS <= units.size:
        run = narrow_ascii(units, at, text, to)
        at, to = at + run, to + run
        if run < UNITS and at + LANES <= units.size:
            size = write_characters(units, at, text, to)
            if size < 0:
                return i64(SURROGATE)
            at, to = at + LANES, to + size
    for k in range(natural(at), units.size):
        character = u64(units[k])
        if character >> u64(11) == u64(0x1B):
            return i64(SURROGATE)
        store_u64(bytes_of(character), text, to)
        to += size_of(character)
    return to


@part
def size_of(character: u64) -> int:
    """Return how many bytes a character has in UTF-8."""
    return (
        i64(1)
        + i64(character >= u64(0x80))
        + i64(character >= u64(0x800))
        + i64(character >= u64(0x10000))
    )


@part
def bytes_of(character: u64) -> u64:
    """Return the UTF-8 of a character, its first byte lowest."""
    last, second = CONTINUATION | character & SIX, CONTINUATION | character >> u64(6) & SIX
    third = CONTINUATION | character >> u64(12) & SIX
    two = u64(0xC0) | character >> u64(6) | last << u64(8)
    three = u64(0xE0) | character >> u64(12) | second << u64(8) | last << u64(16)
    four = u64(0xF0) | character >> u64(18) | third << u64(8) | second << u64(16) | last << u64(24)
    if character >= u64(0x800):
        return three if character < u64(0x10000) else four
    return character if character < u64(0x80) else two
