"""Any column to pyarrow chunks, and pyarrow chunks back to what the caller had."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numbatok.errors import InvalidType, InvalidValue

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Column:
    """Chunks of one type; `single` if the caller gave an array, not a chunked one."""

    chunks: list[pa.Array]
    type: pa.DataType
    single: bool

    def rows(self) -> Iterator[tuple[int, pa.Array]]:
        """Yield each chunk with the number of its first row."""
        first = 0
        for chunk in self.chunks:
            yield first, chunk
            first += len(chunk)

    def __len__(self) -> int:
        return sum(map(len, self.chunks))

    def map(self, function: Callable[[pa.Array, int], pa.Array], result: pa.DataType) -> Any:
        """Return the column of what a function makes of each chunk and its first row's number."""
        import pyarrow as pa

        made = [function(chunk, first) for first, chunk in self.rows()]
        return made[0] if self.single else pa.chunked_array(made, result)


def open_column(column: Any) -> Column:
    """Return the chunks of anything that is a column.

    Errors: InvalidType for what is none, with the way to one; InvalidValue if the object's own
    export fails.
    """
    import pyarrow as pa

    if isinstance(column, pa.ChunkedArray):
        return Column([_storage(chunk) for chunk in column.chunks], _plain(column.type), False)
    if isinstance(column, pa.Array):
        array = _storage(column)
        return Column([array], array.type, True)
    _refuse(column)
    try:
        return open_column(_export(column))
    except pa.ArrowException as error:
        raise InvalidValue(f"column: {_shown(column)} gives no Arrow column: {error}") from None


def _export(column: Any) -> pa.Array | pa.ChunkedArray:
    import pyarrow as pa

    if hasattr(column, "__arrow_c_stream__"):
        stream = pa.chunked_array(column)
        return _only_field(stream) if pa.types.is_struct(stream.type) else stream
    return pa.array(column, from_pandas=True)  # __arrow_c_array__, __arrow_array__, NumPy, lists


def _only_field(table: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the one column of a table that came as a stream, as DuckDB's relations do."""
    import pyarrow as pa

    names = [field.name for field in table.type]
    if len(names) != 1:
        raise InvalidType(f"column is a table with the columns {', '.join(names)}; pass one column")
    return pa.chunked_array([chunk.field(0) for chunk in table.chunks], table.type[0].type)


def _refuse(column: Any) -> None:
    import pyarrow as pa

    if isinstance(column, (pa.Table, pa.RecordBatch)):
        names = ", ".join(map(repr, column.column_names))
        raise InvalidType(
            f"column is a {type(column).__name__} with the columns {names}; "
            f"pass one column, such as table[{column.column_names[0]!r}]"
            if column.column_names
            else f"column is a {type(column).__name__} without columns"
        )
    exports = ("__arrow_c_stream__", "__arrow_c_array__", "__arrow_array__", "__array__")
    if isinstance(column, (list, tuple)) or any(hasattr(column, name) for name in exports):
        return
    advice = "pass a pyarrow Array or ChunkedArray, a Series, or a list of str"
    if isinstance(column, (str, bytes)):
        advice = "for one text use encode"
    elif hasattr(column, "__iter__"):
        advice = "for an iterable of texts use encode_batch, or pass list(...)"
    raise InvalidType(f"column is {_shown(column)}; {advice}")


def _shown(value: object) -> str:
    return f"{repr(value)[:60]} ({type(value).__module__}.{type(value).__qualname__})"


def _plain(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _storage(array: pa.Array) -> pa.Array:
    """Return the array that an extension type, such as arrow.json, is made of."""
    import pyarrow as pa

    return array.storage if isinstance(array, pa.ExtensionArray) else array
