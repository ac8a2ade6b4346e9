"""Chunks of a text file -> blocks of documents: the whole file, its lines, or by a separator."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from numbatok.tables import U8
from numbatok.training.blocks import Block, documents, one_document

LINE_FEED = ord("\n")


def whole_blocks(chunks: Iterable[U8]) -> Iterator[Block]:
    """Yield a file as one document."""
    for chunk in chunks:
        yield one_document(chunk, is_open=True)
    yield one_document(b"")


def line_blocks(chunks: Iterable[U8]) -> Iterator[Block]:
    """Yield the lines of a file, each with its line feed."""
    is_open = False
    for chunk in chunks:
        ends = np.flatnonzero(chunk == LINE_FEED) + 1
        is_open = len(ends) == 0 or int(ends[-1]) < chunk.size
        if is_open:
            ends = np.append(ends, chunk.size)
        yield Block(chunk, ends, is_open)
    if is_open:
        yield one_document(b"")


def separated_blocks(chunks: Iterable[U8], separator: bytes) -> Iterator[Block]:
    """Yield what stands between separators; the separators belong to no document."""
    held, is_open = b"", False
    for chunk in chunks:
        *closed, last = (held + chunk.tobytes()).split(separator)
        if closed:
            yield documents(closed)
        kept = max(0, len(last) - len(separator) + 1)  # the rest may start a separator
        held, is_open = last[kept:], True
        if kept:
            yield one_document(last[:kept], is_open=True)
    if is_open:
        yield one_document(held)
