"""Columns of Arrow and Parquet as sources of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from numbatok.errors import InvalidType, InvalidValue
from numbatok.training.blocks import BLOCK_BYTES, Block


class Column:
    """A pyarrow Array or ChunkedArray of strings or binary, or anything with an Arrow stream."""

    def __init__(self, column: Any) -> None:
        import pyarrow

        if not isinstance(column, (pyarrow.Array, pyarrow.ChunkedArray)):
            try:
                column = None if hasattr(column, "columns") else pyarrow.chunked_array(column)
            except (TypeError, pyarrow.ArrowInvalid):
                column = None
        if column is None:
            raise InvalidType("source is a table or a stream of several columns; pass one of them")
        self._chunks = column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]
        self.n_bytes: int | None = column.nbytes
        self.identity: list[Any] | None = None
        self._done = 0

    def blocks(self) -> Iterator[Block]:
        """Yield the rows. Errors: InvalidValue naming a null row; InvalidType for another type."""
        row = 0
        for chunk in self._chunks:
            yield from blocks_of_array(chunk, row, "the column")
            row += len(chunk)
            self._done += chunk.nbytes

    def position(self) -> int:
        """Return how many of n_bytes are read."""
        return self._done


def blocks_of_array(
    array: Any, first: int, place: str, advice: str = "drop nulls first: column.drop_null()"
) -> Iterator[Block]:
    """Yield the rows of a pyarrow Array, the first of which is row `first` of `place`."""
    import pyarrow

    if array.null_count:
        row = first + array.is_null().index(True).as_py()
        raise InvalidValue(f"row {row} of {place} is null; {advice}")
    try:
        array = array.cast(pyarrow.large_binary())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        raise InvalidType(
            f"{place} has the type {array.type}; strings or binary are needed"
        ) from None
    if len(array) == 0:
        return
    _, offsets, data = array.buffers()
    ends = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    text = np.frombuffer(data or b"", np.uint8)
    at = 0
    while at < len(array):
        stop = int(np.searchsorted(ends, ends[at] + BLOCK_BYTES, side="right")) - 1
        stop = min(max(stop, at + 1), len(array))
        yield Block(text[ends[at] : ends[stop]], ends[at + 1 : stop + 1] - ends[at])
        at = stop
