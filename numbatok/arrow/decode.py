"""Columns of ids -> columns of text."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from numbatok.arrow.buffers import bitmap
from numbatok.arrow.columns import Column
from numbatok.arrow.utf8 import replaced
from numbatok.decoding import as_ids
from numbatok.errors import InvalidType, InvalidValue, UnknownIdError
from numbatok.tables import U32

if TYPE_CHECKING:
    import pyarrow as pa

    from numbatok.tokenizer import Tokenizer

BLOCK_IDS = 1 << 22  # decoded at a time: their byte positions take 32 MB


def decode_column(column: Column, tokenizer: Tokenizer, skip_special: bool) -> Any:
    """Return the text of a column of ids; see `numbatok.arrow.decode_arrow`."""
    import pyarrow as pa

    _check_type(column.type)
    return column.map(
        lambda chunk, first_row: _decoded(chunk, first_row, tokenizer, skip_special),
        pa.large_string(),
    )


def _check_type(kind: pa.DataType) -> None:
    import pyarrow as pa

    tests = (
        pa.types.is_list, pa.types.is_large_list, pa.types.is_list_view,
        pa.types.is_large_list_view, pa.types.is_fixed_size_list,
    )  # fmt: skip
    if pa.types.is_null(kind):
        return
    if not any(test(kind) for test in tests) or not pa.types.is_integer(kind.value_type):
        raise InvalidType(f"the column has type {kind}; lists of integers are needed")


def _decoded(array: pa.Array, first_row: int, tokenizer: Tokenizer, skip_special: bool) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_null(array.type):
        return pa.nulls(len(array), pa.large_string())
    ids, offsets = _rows_of_ids(array, first_row)
    if tokenizer._decoder.by_steps:
        return _decoded_by_steps(array, ids, offsets, first_row, tokenizer, skip_special)
    parts, ends = [], np.zeros(len(array) + 1, np.int64)
    for first, last in _blocks(offsets):
        block = ids[offsets[first] : offsets[last]]
        data, lengths = _bytes_of(block, tokenizer, skip_special, offsets, first, first_row)
        at = np.concatenate([[0], np.cumsum(lengths)])
        ends[first + 1 : last + 1] = (
            ends[first] + at[offsets[first + 1 : last + 1] - offsets[first]]
        )
        parts.append(data)
    buffers = [bitmap(array), pa.py_buffer(ends), pa.py_buffer(b"".join(parts))]
    binary = pa.Array.from_buffers(pa.large_binary(), len(array), buffers)
    text = replaced(binary, lambda data, _row: data.decode(errors="replace").encode())
    return text.cast(pa.large_string())


def _decoded_by_steps(
    array: pa.Array,
    ids: U32,
    offsets: NDArray[np.int64],
    first_row: int,
    tokenizer: Tokenizer,
    skip_special: bool,
) -> pa.Array:
    """Return the text of rows whose ids have no bytes of their own."""
    import pyarrow as pa

    decoder = tokenizer._decoder
    rows = pairwise(offsets.tolist())
    texts = [
        decoder.decode(ids[first:last], skip_special, first_row + row)
        for row, (first, last) in enumerate(rows)
    ]
    return pa.array(texts, pa.large_string(), mask=array.is_null().to_numpy(zero_copy_only=False))


def _rows_of_ids(array: pa.Array, first_row: int) -> tuple[U32, NDArray[np.int64]]:
    """Return the ids of all rows and their offsets from 0, int64[n + 1].

    Errors: InvalidValue for damaged offsets and for a null among the ids, UnknownIdError for an id
    that is negative or above 32 bits.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        array.validate(full=True)
    except pa.ArrowException as error:
        raise InvalidValue(f"the chunk at row {first_row} is damaged: {error}") from None
    values = array.flatten()
    lengths = pc.list_value_length(array).fill_null(0).to_numpy()
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    if values.null_count:
        position = int(np.argmax(values.is_null().to_numpy(zero_copy_only=False)))
        row = int(np.searchsorted(offsets, position, "right")) - 1
        raise InvalidValue(f"row {first_row + row} has a null among its ids")
    numbers = values.to_numpy()
    wrong = np.flatnonzero((numbers < 0) | (numbers > 0xFFFF_FFFF))
    if wrong.size:
        row = int(np.searchsorted(offsets, wrong[0], "right")) - 1
        as_ids(numbers[offsets[row] : offsets[row + 1]], first_row + row)  # raises
    return np.ascontiguousarray(numbers, np.uint32), offsets


def _blocks(offsets: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield first and last + 1 of rows that have about BLOCK_IDS ids together."""
    first, n_rows = 0, len(offsets) - 1
    while first < n_rows:
        last = int(np.searchsorted(offsets, offsets[first] + BLOCK_IDS, "right")) - 1
        last = min(max(last, first + 1), n_rows)
        yield first, last
        first = last


def _bytes_of(
    ids: U32,
    tokenizer: Tokenizer,
    skip_special: bool,
    offsets: NDArray[np.int64],
    first: int,
    first_row: int,
) -> tuple[bytes, NDArray[np.int64]]:
    """Return the bytes of ids and how many each one has. Errors: UnknownIdError names the row."""
    decoder = tokenizer._decoder
    try:
        data = decoder.read(decoder.text, ids, skip_special)
    except UnknownIdError:
        for row in range(first, len(offsets) - 1):
            row_ids = ids[offsets[row] - offsets[first] : offsets[row + 1] - offsets[first]]
            decoder.decode_bytes(row_ids, skip_special, first_row + row)
        raise
    lengths = decoder.text.lengths[ids]
    if skip_special:
        lengths[decoder.text.special[ids] != 0] = 0
    return data, lengths
