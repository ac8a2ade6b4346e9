"""Ids in as many bits as the largest one needs: what Parquet calls bit-packed."""

from __future__ import annotations

from numbatok._jit import entry, i64, u64
from numbatok.addresses import view_u8, view_u32
from numbatok.vector import store_u64


@entry
def pack_ids(ids_address: int, n_ids: int, width: int, packed_address: int, size: int) -> int:
    """Write ids of some bits each, the first in the lowest bits; return how many bytes.

    Reads: ids[n_ids], a multiple of eight, each less than 1 << width; 17 <= width <= 31, so that
    no shift reaches 64.
    Bound: `size`, `width` bytes for every eight ids and PACK_SPARE_BYTES.
    """
    ids, packed = view_u32(ids_address, n_ids), view_u8(packed_address, size)
    one, two, four = u64(width), u64(2 * width), u64(4 * width - 64)
    from_two, from_four = u64(64 - 2 * width), u64(128 - 4 * width)
    at = i64(0)
    for k in range(0, n_ids, 8):
        a = u64(ids[k]) | u64(ids[k + 1]) << one
        b = u64(ids[k + 2]) | u64(ids[k + 3]) << one
        c = u64(ids[k + 4]) | u64(ids[k + 5]) << one
        d = u64(ids[k + 6]) | u64(ids[k + 7]) << one
        low, high = c | d << two, d >> from_two  # of the last four
        store_u64(a | b << two, packed, at)
        store_u64(b >> from_two | low << four, packed, at + 8)
        store_u64(low >> from_four | high << four, packed, at + 16)
        store_u64(high >> from_four, packed, at + 24)
        at += width
    return at
