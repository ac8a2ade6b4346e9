"""The texts of a batch one after the other, from their bytes or their code units.

Several threads join some rows each: none writes behind its own.
"""

from __future__ import annotations

from numbatok._jit import entry, i64, kernel, part, u64
from numbatok.addresses import view_i64, view_u8, view_u16, view_u32
from numbatok.kernels.transcode import bytes_of, size_of, write_units
from numbatok.tables import U8, U16, U32, UNITS
from numbatok.vector import copy_bytes, natural

BYTE = u64(0xFF)
SPILL = 2 * UNITS  # bytes that vectors may write too many
SURROGATES = 0x1B  # code unit >> 11


@entry
def measure_rows(
    addresses_address: int, counts_address: int, widths_address: int, n_rows: int,
    sizes_address: int,
) -> int:  # fmt: skip
    """Write how many bytes of UTF-8 each row has; return the first row with surrogates, or -1.

    A row is counts[row] bytes if widths[row] is 0, else so many code units of that many bytes.
    """
    addresses, counts = view_i64(addresses_address, n_rows), view_i64(counts_address, n_rows)
    widths, sizes = view_i64(widths_address, n_rows), view_i64(sizes_address, n_rows)
    for row in range(n_rows):
        address, count, width = addresses[row], counts[row], widths[row]
        size = count
        if width == 1:
            size = measure_bytes(view_u8(address, count))
        elif width == 2:
            size = measure_units(view_u16(address, count))
        elif width == 4:
            size = measure_units(view_u32(address, count))
        if size < 0:
            return i64(row)
        sizes[row] = size
    return i64(-1)


@kernel
def measure_bytes(units: U8) -> int:
    """Return how many bytes of UTF-8 code units of one byte have."""
    size = i64(units.size)
    for k in range(units.size):
        size += i64(units[k] >> 7)
    return size


@kernel
def measure_units(units: U16 | U32) -> int:
    """Return how many bytes of UTF-8 code units have, -1 if one is a surrogate."""
    size, surrogates = i64(units.size), i64(0)
    for k in range(units.size):
        unit = i64(units[k])
        size += i64(unit >= 0x80) + i64(unit >= 0x800) + i64(unit >= 0x10000)
        surrogates += i64(unit >> 11 == SURROGATES)
    return i64(-1) if surrogates > 0 else size


@entry
def join_rows(
    addresses_address: int, counts_address: int, widths_address: int, n_rows: int,
    text_address: int, size: int,
) -> int:  # fmt: skip
    """Write rows that were measured one after the other to a text of `size` bytes; return size."""
    addresses, counts = view_i64(addresses_address, n_rows), view_i64(counts_address, n_rows)
    widths, at = view_i64(widths_address, n_rows), i64(0)
    for row in range(n_rows):
        address, count, width = addresses[row], counts[row], widths[row]
        text = view_u8(text_address + at, size - at)
        if width == 0:
            copy_bytes(view_u8(address, count), i64(0), text, i64(0), count)
            at += count
        elif width == 1:
            at += write_row(view_u8(address, count), text)
        elif width == 2:
            at += write_row(view_u16(address, count), text)
        else:
            at += write_row(view_u32(address, count), text)
    return at


@kernel
def write_row(units: U8 | U16 | U32, text: U8) -> int:
    """Write the UTF-8 of code units to text, and perhaps more, but not behind it; return its size.

    As many units as there may be bytes too many are left for the end if that is close.
    """
    n_first = units.size
    if text.size < 4 * units.size + SPILL:
        n_first = max(units.size - SPILL, 0)
    to = write_units(units[:n_first], text)
    for k in range(natural(n_first), units.size):
        to += write_exactly(u64(units[k]), text, to)
    return to


@part
def write_exactly(character: u64, text: U8, to: int) -> int:
    """Write one character to text[to:]; return its size."""
    rest, size = bytes_of(character), size_of(character)
    for k in range(size):
        text[to + k] = rest >> u64(8 * k) & BYTE
    return size
