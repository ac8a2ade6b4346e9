"""ids -> bytes."""

from __future__ import annotations

from numbatok._jit import entry, i64
from numbatok.addresses import view_i64, view_u8, view_u32
from numbatok.vector import copy_bytes


@entry
def measure_ids(
    ids_address: int, n_ids: int, starts_address: int, n_vocabulary: int, known_address: int
) -> int:
    """Return how many bytes ids decode to, or -1 - (the position of the first unknown id).

    The bytes of id i are starts[i] : starts[i + 1]; known[i] is 0 where the vocabulary has a hole.
    """
    ids, starts = view_u32(ids_address, n_ids), view_i64(starts_address, n_vocabulary + 1)
    known = view_u8(known_address, n_vocabulary)
    total = i64(0)
    for k in range(n_ids):
        token = i64(ids[k])
        if token >= n_vocabulary or known[token] == 0:
            return -1 - k
        total += starts[token + 1] - starts[token]
    return total


@entry
def decode_ids(
    ids_address: int, n_ids: int, starts_address: int, n_vocabulary: int, bytes_address: int,
    skip_address: int, text_address: int, size: int,
) -> int:  # fmt: skip
    """Write the bytes of ids, without those whose `skip` is 1; return how many bytes.

    Reads: ids that `measure_ids` took. Bound: `size`, which it returned.
    """
    ids, starts = view_u32(ids_address, n_ids), view_i64(starts_address, n_vocabulary + 1)
    token_bytes = view_u8(bytes_address, starts[n_vocabulary])
    skip = view_u8(skip_address, n_vocabulary)
    text = view_u8(text_address, size)
    at = i64(0)
    for k in range(n_ids):
        token = i64(ids[k])
        if skip[token] == 0:
            length = starts[token + 1] - starts[token]
            copy_bytes(token_bytes, starts[token], text, at, length)
            at += length
    return at
