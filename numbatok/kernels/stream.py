"""Ids on their way to memory that is not looked at soon."""

from __future__ import annotations

from numbatok._jit import kernel
from numbatok.addresses import view_u32
from numbatok.tables import U32
from numbatok.vector import natural, stream_sixteen

LINE = 64  # bytes


@kernel
def stream_ids(source: U32, n_ids: int, address: int) -> None:
    """Copy ids to an address, a multiple of four; whole cache lines past the caches.

    So what the caches know stays there, and lines are not fetched to be overwritten.
    """
    ids = view_u32(address, n_ids)
    at = min(-address % LINE >> 2, n_ids)
    for k in range(at):
        ids[k] = source[k]
    while at + 16 <= n_ids:
        stream_sixteen(source, natural(at), ids, natural(at))
        at += 16
    for k in range(at, n_ids):
        ids[k] = source[k]
