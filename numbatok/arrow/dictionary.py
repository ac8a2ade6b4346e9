"""Dictionary columns: each value that occurs is encoded once, whatever the chunks share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.arrow.buffers import gathered, is_valid, is_view, text_rows
from numbatok.arrow.columns import Column
from numbatok.arrow.encode import (
    Refused,
    Request,
    Rows,
    check_fit,
    encode_rows,
    list_array,
    rows_with,
)
from numbatok.errors import InvalidValue
from numbatok.policy import special_token_error

if TYPE_CHECKING:
    import pyarrow as pa


class Coded(NamedTuple):
    """A dictionary column as numbers of the values that occur, in the order of their first row."""

    values: pa.Array  # none is null
    codes: list[pa.Array]  # of each chunk, int64 with nulls
    single: bool


def encode_dictionary(column: Column, request: Request) -> Any:
    """Return the ids of a dictionary column."""
    coded = _coded(column)
    rows = _encoded(coded, request, counting=False)
    lengths = np.diff(rows.offsets)
    for codes in coded.codes:
        check_fit(int(lengths[codes.drop_null().to_numpy()].sum()), request)
    lists = list_array(rows, coded.values, request)
    return _result(coded, [lists.take(codes) for codes in coded.codes], request.result_type)


def count_dictionary(column: Column, request: Request) -> Any:
    """Return the number of ids of each row of a dictionary column."""
    import pyarrow as pa

    coded = _coded(column)
    rows = _encoded(coded, request, counting=True)
    counts = pa.array(np.diff(rows.offsets))
    return _result(coded, [counts.take(codes) for codes in coded.codes], pa.int64())


def _result(coded: Coded, chunks: list[pa.Array], kind: pa.DataType) -> Any:
    import pyarrow as pa

    return chunks[0] if coded.single else pa.chunked_array(chunks, kind)


def _coded(column: Column) -> Coded:
    import pyarrow as pa

    if not column.chunks:
        return Coded(pa.array([], column.type.value_type), [], column.single)
    for first_row, chunk in column.rows():  # everything is checked before pyarrow follows it
        _check_indices(chunk, first_row)
        text_rows(chunk.dictionary)
    chunks = pa.chunked_array([_unifiable(chunk) for chunk in column.chunks])
    chunks = chunks.unify_dictionaries()
    dictionary = chunks.chunk(0).dictionary
    used = pa.chunked_array([chunk.indices for chunk in chunks.chunks]).unique().drop_null()
    number = np.zeros(len(dictionary) + 1, np.int64)
    number[used.to_numpy()] = np.arange(len(used))
    codes = [_renumbered(chunk.indices, number) for chunk in chunks.chunks]
    return Coded(dictionary.take(used), codes, column.single)


def _renumbered(indices: pa.Array, number: NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    null = indices.is_null().to_numpy(zero_copy_only=False)
    return pa.array(number[indices.fill_null(0).to_numpy()], mask=null)


def _unifiable(chunk: pa.DictionaryArray) -> pa.DictionaryArray:
    """Return the chunk with a dictionary that pyarrow can unify: no views, and none is null."""
    import pyarrow as pa

    indices, values = chunk.indices, chunk.dictionary
    if is_view(values.type):
        values = gathered(values)
    if values.null_count:
        valid = is_valid(values)
        kept = indices.is_valid().to_numpy(zero_copy_only=False)
        old = indices.fill_null(0).to_numpy()
        kept &= valid[old]
        number = (np.cumsum(valid) - 1).astype(old.dtype)
        indices = pa.array(number[old], mask=~kept)
        values = values.drop_null()
    return pa.DictionaryArray.from_arrays(indices, values, safe=False)  # they are checked


def _check_indices(chunk: pa.DictionaryArray, first_row: int) -> None:
    indices = chunk.indices.fill_null(0).to_numpy()
    null = chunk.indices.is_null().to_numpy(zero_copy_only=False)
    outside = np.flatnonzero(((indices < 0) | (indices >= len(chunk.dictionary))) & ~null)
    if outside.size:
        row = int(outside[0])
        raise InvalidValue(
            f"row {first_row + row} is damaged: it has value {int(indices[row])} of a dictionary "
            f"of {len(chunk.dictionary)}"
        )


def _encoded(coded: Coded, request: Request, counting: bool) -> Rows:
    """Return the ids of the values; errors name the first row that has the value."""
    try:
        return encode_rows(coded.values, 0, request, counting)
    except Refused as error:
        token = request.tokenizer._spec.added_tokens[error.refusal.token]
        codes = np.concatenate([c.fill_null(-1).to_numpy() for c in coded.codes])
        row = int(np.argmax(codes == error.refusal.document))
        has = rows_with(coded.values, token.content)
        n_rows = int(has[codes[codes >= 0]].sum())
        raise special_token_error(error.refusal, token, row, (n_rows, len(codes))) from None
