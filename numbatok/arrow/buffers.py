"""The text of a chunk as the kernels read it: bytes and where each row ends.

Buffers may come from anywhere: every offset is checked before a kernel sees it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import InvalidType, InvalidValue
from numbatok.tables import U8

if TYPE_CHECKING:
    import pyarrow as pa


class TextRows(NamedTuple):
    """The text of a chunk; row i is text[ends[i - 1] : ends[i]], and a null row has no bytes."""

    text: U8
    ends: NDArray[np.int64]


def is_text(kind: pa.DataType) -> bool:
    """Tell whether a type is string or binary in any layout of variable length."""
    import pyarrow as pa

    tests = (
        pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view,
        pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def is_view(kind: pa.DataType) -> bool:
    """Tell whether a type is string_view or binary_view."""
    import pyarrow as pa

    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def check_text_type(kind: pa.DataType) -> None:
    """Errors: InvalidType for a column that holds no text, with the way to one that does."""
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    if is_text(value) or pa.types.is_null(kind):
        return
    advice = "cast it to pyarrow.large_string() if its values are text"
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        advice = "encode its flattened values, or decode_arrow if they are ids"
    elif pa.types.is_struct(kind):
        names = ", ".join(repr(field.name) for field in kind)
        advice = f"pass one of its fields: {names}"
    elif pa.types.is_run_end_encoded(kind):
        advice = "decode it first with pyarrow.compute.run_end_decode"
    raise InvalidType(f"the column has type {kind}; string or binary is needed: {advice}")


def text_rows(array: pa.Array, first_row: int = 0) -> TextRows:
    """Return the text of a chunk of string, binary or null type, without a copy if possible.

    Views are gathered, and a chunk whose null rows hold bytes is packed without them.
    Errors: InvalidValue for damaged buffers, naming the row.
    """
    import pyarrow as pa

    if pa.types.is_null(array.type) or len(array) == 0:
        return TextRows(np.empty(0, np.uint8), np.zeros(len(array), np.int64))
    if is_view(array.type):
        array = gathered(array, first_row)
    text, offsets = _buffers(array, first_row)
    if array.null_count:
        valid = is_valid(array)
        lengths = np.diff(offsets)
        if lengths[~valid].any():
            text, _ = _buffers(as_binary(array).filter(array.is_valid()), first_row)
            lengths[~valid] = 0
            return TextRows(text, np.cumsum(lengths))
    return TextRows(text, offsets[1:])


def _buffers(array: pa.Array, first_row: int) -> tuple[U8, NDArray[np.int64]]:
    """Return the bytes of a chunk and its offsets from 0, int64[n + 1]."""
    import pyarrow as pa

    _, offsets_buffer, values = array.buffers()
    wide = pa.types.is_large_string(array.type) or pa.types.is_large_binary(array.type)
    kind: Any = np.int64 if wide else np.int32
    try:
        found = np.frombuffer(offsets_buffer, kind, len(array) + 1, array.offset * kind().itemsize)
    except (ValueError, TypeError, AttributeError):
        raise InvalidValue(
            f"the chunk at row {first_row} is damaged: its offsets are cut short"
        ) from None
    text = np.zeros(0, np.uint8) if values is None else np.frombuffer(values, np.uint8)
    _check(found, text.size, first_row)
    offsets = found.astype(np.int64)
    first, last = int(offsets[0]), int(offsets[-1])
    if first:
        offsets -= first
    return text[first:last], offsets


def _check(offsets: NDArray[Any], size: int, first_row: int) -> None:
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if falls.size or offsets[0] < 0 or offsets[-1] > size:
        row = int(falls[0]) if falls.size else 0
        if not falls.size and offsets[0] >= 0:
            row = int(np.argmax(offsets > size)) - 1
        raise InvalidValue(
            f"row {first_row + max(row, 0)} is damaged: it goes from byte {int(offsets[row])} to "
            f"{int(offsets[row + 1])} of a buffer of {size} bytes"
        )


def gathered(array: pa.Array, first_row: int = 0) -> pa.Array:
    """Return a view array as large_binary. Errors: InvalidValue for views out of bounds."""
    import pyarrow as pa

    try:
        views = as_binary(array)
        views.validate(full=True)
        return views.cast(pa.large_binary())
    except pa.ArrowException as error:
        raise InvalidValue(f"the chunk at row {first_row} is damaged: {error}") from None


def as_binary(array: pa.Array) -> pa.Array:
    """Return a string array as the binary array of the same buffers."""
    import pyarrow as pa

    kinds = {
        pa.string(): pa.binary(),
        pa.large_string(): pa.large_binary(),
        pa.string_view(): pa.binary_view(),
    }
    if array.type not in kinds:
        return array
    return pa.Array.from_buffers(
        kinds[array.type], len(array), array.buffers(), array.null_count, array.offset
    )


def is_valid(array: pa.Array) -> NDArray[np.bool_]:
    """Return which rows are not null, bool[n]."""
    return np.asarray(array.is_valid().to_numpy(zero_copy_only=False), np.bool_)


def bitmap(array: pa.Array) -> pa.Buffer | None:
    """Return the validity of an array as a bitmap from bit 0, or None if no row is null."""
    import pyarrow as pa

    if array.null_count == 0:
        return None
    return pa.py_buffer(np.packbits(is_valid(array), bitorder="little"))
