"""Rows of a binary chunk that are not UTF-8. pyarrow checks at memory speed, row by row."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

SPLIT_ROWS = 64  # fewer are looked at one by one: a cast of a slice costs as much as 10 of them


def is_utf8(array: pa.Array) -> bool:
    """Tell whether every row of a binary or large_binary array is UTF-8."""
    import pyarrow as pa

    wide = array.type == pa.large_binary()
    try:
        array.cast(pa.large_string() if wide else pa.string())
    except pa.ArrowInvalid:
        return False
    return True


def invalid_rows(array: pa.Array) -> Iterator[int]:
    """Yield, in order, the numbers of the rows of a binary array that are not UTF-8."""
    remaining = [(0, len(array))]
    while remaining:
        start, stop = remaining.pop()
        part = array.slice(start, stop - start)
        if is_utf8(part):
            continue
        if stop - start > SPLIT_ROWS:
            middle = (start + stop) // 2
            remaining += [(middle, stop), (start, middle)]
            continue
        yield from (start + row for row, data in enumerate(part.to_pylist()) if _is_bad(data))


def _is_bad(data: bytes | None) -> bool:
    try:
        return data is not None and data.decode() is None
    except UnicodeDecodeError:
        return True


def replaced(array: pa.Array, change: Callable[[bytes, int], bytes]) -> pa.Array:
    """Return a binary array with each row that is not UTF-8 replaced by change(data, row)."""
    import pyarrow as pa

    parts, at = [], 0
    for row in invalid_rows(array):
        new = pa.array([change(array[row].as_py(), row)], array.type)
        parts += [array.slice(at, row - at), new]
        at = row + 1
    return pa.concat_arrays([*parts, array.slice(at)]) if parts else array
