"""Columns that go with the ids, on their way from the files to row groups.

What is written depends on the values alone, not on the batches that they came in: a resumed run
reads other batches, and must write the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import InvalidSource

if TYPE_CHECKING:
    import pyarrow as pa


def written_schema(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    """Return the types of some columns as they are written: dictionaries have indices of 32 bits.

    All may be null: one of the next files may have nulls where the first has none.
    """
    import pyarrow as pa

    fields = []
    for name in names:
        kind = schema.field(name).type
        if pa.types.is_dictionary(kind):
            kind = pa.dictionary(pa.int32(), kind.value_type)
        fields.append(pa.field(name, kind))
    return pa.schema(fields)


def column_number(schema: pa.Schema, name: str, path: str) -> int:
    """Return the number of a column. Errors: InvalidSource unless exactly one has the name."""
    found = schema.get_all_field_indices(name)
    if len(found) == 1:
        return int(found[0])
    if found:
        raise InvalidSource(f"{path} has {len(found)} columns {name!r}; rename all but one of them")
    raise InvalidSource(
        f"{path} has no column {name!r}; there is {', '.join(map(repr, schema.names))}"
    )


def row_bytes(table: pa.Table) -> NDArray[np.int64]:
    """Return about how many bytes each row has, int64[n]; of equal rows equally many."""
    sizes = np.zeros(table.num_rows, np.int64)
    for column in table.columns:
        at = 0
        for chunk in column.chunks:
            sizes[at : at + len(chunk)] += _bytes_of(chunk)
            at += len(chunk)
    return sizes


def _bytes_of(array: pa.Array) -> NDArray[np.int64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _bytes_of(array.storage)
    if pa.types.is_dictionary(kind):
        sizes = np.append(_bytes_of(array.dictionary), 0)
        return sizes[array.indices.fill_null(len(array.dictionary)).to_numpy()]
    if _is_text(kind):
        return _numbers(pc.binary_length(_plain(array)))
    if pa.types.is_struct(kind):
        return sum((_bytes_of(child) for child in array.flatten()), np.zeros(len(array), np.int64))
    if pa.types.is_map(kind):
        entries = pa.StructArray.from_arrays([array.keys, array.items], ["key", "item"])
        array = pa.ListArray.from_arrays(array.offsets, entries)
        kind = array.type
    if pa.types.is_nested(kind) and hasattr(array, "flatten"):
        lengths = _numbers(pc.list_value_length(array))
        inner = np.append(0, np.cumsum(_bytes_of(array.flatten())))
        ends = np.cumsum(lengths)
        return inner[ends] - inner[ends - lengths]
    try:
        width = -(-kind.bit_width // 8)
    except ValueError:
        width = 8
    return np.full(len(array), width, np.int64)


def _numbers(array: pa.Array) -> NDArray[np.int64]:
    return array.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    is_ = pa.types
    views = (pa.string_view(), pa.binary_view())
    large = is_.is_large_string(kind) or is_.is_large_binary(kind)
    return large or is_.is_string(kind) or is_.is_binary(kind) or kind in views


def _plain(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return text with offsets, not with views into whatever it was read with."""
    import pyarrow as pa

    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return column.cast(plain[column.type]) if column.type in plain else column


def joined(tables: list[pa.Table]) -> list[pa.Array]:
    """Return the columns of some tables of one schema, each as one array."""
    import pyarrow as pa

    return [_joined(column) for column in pa.concat_tables(tables).columns]


def _joined(column: pa.ChunkedArray) -> pa.Array:
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return _joined(column.cast(kind.value_type)).dictionary_encode().cast(kind)
    whole = _plain(column).combine_chunks()
    if isinstance(whole, pa.ChunkedArray):  # older versions, and of no chunk
        whole = pa.concat_arrays(whole.chunks) if whole.num_chunks else pa.array([], whole.type)
    return whole.cast(kind)
