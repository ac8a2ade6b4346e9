"""Block: a stretch of a source, cut into documents."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from numbatok.tables import I64, U8

BLOCK_BYTES = 1 << 22  # read at once: 4 MB; less costs time, more only memory


@dataclass(frozen=True)
class Block:
    """Some documents, one after the other.

    text      uint8[n], read only
    ends      int64[m] where each ends in text, the last one at n
    is_open   the last document goes on in the next block
    """

    text: U8
    ends: I64
    is_open: bool = False


def one_document(data: bytes | U8, is_open: bool = False) -> Block:
    """Return a block of one document or of a stretch of one."""
    text = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
    return Block(text, np.array([text.size], np.int64), is_open)


def documents(rows: list[bytes]) -> Block:
    """Return a block of whole documents."""
    ends = np.cumsum(np.fromiter(map(len, rows), np.int64, len(rows)), dtype=np.int64)
    return Block(np.frombuffer(b"".join(rows), np.uint8), ends)
