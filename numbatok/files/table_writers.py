"""Writers of one shard of rows: Parquet and Arrow IPC."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from numbatok.files import thrift
from numbatok.files.id_pages import Chunk, IdPages, IdRows, stored_dtype
from numbatok.files.settings import Settings
from numbatok.files.thrift import I32, I64, LIST, Value
from numbatok.tables import U32

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_IDS = 1 << 22  # of a row group or record batch: 16 MB
MAGIC = b"PAR1"
# fields of parquet.thrift: FileMetaData, RowGroup, ColumnChunk, ColumnMetaData
FILE_ROW_GROUPS = 4
GROUP_COLUMNS, GROUP_PLAIN_BYTES, GROUP_BYTES = 1, 2, 6
CHUNK_METADATA = 3
COLUMN_ENCODINGS, COLUMN_VALUES, COLUMN_PLAIN_BYTES, COLUMN_BYTES = 2, 5, 6, 7
COLUMN_DATA_AT, COLUMN_DICTIONARY_AT = 9, 11
COLUMN_STATISTICS = (12, 13, 16)  # of values, of encodings, of sizes
FINGERPRINT_KEY, VERSION_KEY = b"numbatok.tokenizer", b"numbatok.version"


class Contents(NamedTuple):
    """What the columns of a table hold."""

    kept: pa.Schema | None  # the columns beside the ids
    fingerprint: str  # of the tokenizer
    vocab_size: int


def waiting_dtype(settings: Settings, contents: Contents) -> np.dtype[Any]:
    """Return the type that ids have until they are written."""
    return stored_dtype(contents.vocab_size) if settings.format == "parquet" else settings.dtype


def open_table(path: Path, settings: Settings, contents: Contents) -> TableWriter:
    """Return a writer of a new file. Errors: OSError."""
    kind = ParquetWriter if settings.format == "parquet" else ArrowWriter
    return kind(path, settings, contents)


class TableWriter:
    """Rows of ids, a row group or record batch at a time."""

    appends = True

    def __init__(self, path: Path, settings: Settings, contents: Contents) -> None:
        self._settings, self._schema = settings, table_schema(settings, contents)
        length = settings.sequence_length or 1
        self._group = max(GROUP_IDS // length, 1) * length  # ids of a group of sequences
        self._waiting: list[U32] = []
        self._n_waiting = 0
        self._file: BinaryIO = open(path, "wb")  # noqa: SIM115 - closed by close
        self._dtype = waiting_dtype(settings, contents)

    def write_rows(self, rows: IdRows, kept: list[pa.Array]) -> None:
        """Append rows as one row group or record batch.

        Args:
            rows: their ids are in `waiting_dtype`.
            kept: the other columns.

        Errors: OSError.
        """
        raise NotImplementedError

    def write(self, ids: U32) -> None:
        """Append sequences of one length."""
        self._waiting.append(ids.astype(self._dtype))  # a copy: the memory of the ids is used again
        self._n_waiting += ids.size
        if self._n_waiting >= self._group:
            joined = np.concatenate(self._waiting)
            whole = joined.size // self._group * self._group
            for start in range(0, whole, self._group):
                self._write_sequences(joined[start : start + self._group])
            self._waiting, self._n_waiting = [joined[whole:]], joined.size - whole

    def _write_sequences(self, ids: NDArray[Any]) -> None:
        length = self._settings.sequence_length
        self.write_rows(IdRows(ids, np.arange(0, ids.size + 1, length), None), [])

    def close(self) -> None:
        """Write what waits and the footer, and close the file. Errors: OSError."""
        if self._n_waiting:
            self._write_sequences(np.concatenate(self._waiting))
        self._write_footer()
        self._file.close()

    def _write_footer(self) -> None:
        raise NotImplementedError


class ArrowWriter(TableWriter):
    """Arrow IPC, all of it by pyarrow."""

    def __init__(self, path: Path, settings: Settings, contents: Contents) -> None:
        import pyarrow as pa

        super().__init__(path, settings, contents)
        compression = None if settings.compression in ("none", "snappy") else settings.compression
        options = pa.ipc.IpcWriteOptions(compression=compression)
        self._writer = pa.ipc.new_file(self._file, self._schema, options=options)

    def write_rows(self, rows: IdRows, kept: list[pa.Array]) -> None:
        """See TableWriter."""
        import pyarrow as pa

        kind = self._schema.field(self._settings.ids_column).type
        ids = pa.array(rows.ids)
        if self._settings.packed:
            column = pa.FixedSizeListArray.from_arrays(ids, type=kind)
        else:
            mask = None if rows.valid is None else pa.array(~rows.valid)
            column = pa.LargeListArray.from_arrays(rows.offsets, ids, type=kind, mask=mask)
        self._writer.write_table(pa.Table.from_arrays([*kept, column], schema=self._schema))

    def _write_footer(self) -> None:
        self._writer.close()


class ParquetWriter(TableWriter):
    """Parquet: the pages of the ids by `id_pages`, all else by pyarrow.

    pyarrow writes null rows in place of the ids, some 50 bytes to a row group that nothing refers
    to any more once the footer tells where the ids are.
    """

    def __init__(self, path: Path, settings: Settings, contents: Contents) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        super().__init__(path, settings, contents)
        self._pages = IdPages(contents.vocab_size, settings.compression)
        self._chunks: list[Chunk] = []
        self._sink = _Sink(self._file)
        self._stream = pa.PythonFile(self._sink, "w")  # pyarrow counts what passes through it
        self._writer = pq.ParquetWriter(
            self._stream, self._schema, compression=settings.compression
        )

    def write_rows(self, rows: IdRows, kept: list[pa.Array]) -> None:
        """See TableWriter."""
        import pyarrow as pa

        n_rows = len(rows.offsets) - 1
        nulls = pa.nulls(n_rows, self._schema.field(self._settings.ids_column).type)
        table = pa.Table.from_arrays([*kept, nulls], schema=self._schema)
        self._writer.write_table(table, row_group_size=max(n_rows, 1))
        self._chunks.append(self._pages.write(self._stream, rows))

    def _write_footer(self) -> None:
        footer = self._sink.divert()
        self._writer.close()
        metadata = with_chunks(footer.getvalue(), self._chunks)
        self._file.write(metadata + len(metadata).to_bytes(4, "little") + MAGIC)


class _Sink(io.RawIOBase):
    """A file as pyarrow writes it, but for the footer."""

    def __init__(self, file: BinaryIO) -> None:
        self._target: BinaryIO = file

    def divert(self) -> io.BytesIO:
        """Return where all that is written from now on goes, instead of the file."""
        self._target = footer = io.BytesIO()
        return footer

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any) -> int:
        """Append bytes. Errors: OSError."""
        return self._target.write(data)


def with_chunks(footer: bytes, chunks: list[Chunk]) -> bytes:
    """Return the metadata of a file whose last column is where the chunks say.

    Args:
        footer: as pyarrow wrote it: the metadata, their size, and "PAR1".
        chunks: one for each row group.
    """
    metadata = thrift.read(footer[: -len(MAGIC) - 4])
    groups = metadata[FILE_ROW_GROUPS].content.content
    for group, chunk in zip(groups, chunks, strict=True):
        column = group[GROUP_COLUMNS].content.content[-1][CHUNK_METADATA].content
        for of_column, of_group, size in (
            (COLUMN_PLAIN_BYTES, GROUP_PLAIN_BYTES, chunk.n_plain_bytes),
            (COLUMN_BYTES, GROUP_BYTES, chunk.n_bytes),
        ):
            others = group[of_group].content - column[of_column].content
            group[of_group] = Value(I64, others + size)
            column[of_column] = Value(I64, size)
        column[COLUMN_ENCODINGS] = Value(LIST, Value(I32, chunk.encodings))
        column[COLUMN_VALUES] = Value(I64, chunk.n_entries)
        column[COLUMN_DATA_AT] = Value(I64, chunk.data_at)
        column.pop(COLUMN_DICTIONARY_AT, None)
        if chunk.dictionary_at is not None:
            column[COLUMN_DICTIONARY_AT] = Value(I64, chunk.dictionary_at)
        for of_null_rows in COLUMN_STATISTICS:
            column.pop(of_null_rows, None)
    return thrift.write(metadata)


def table_schema(settings: Settings, contents: Contents) -> pa.Schema:
    """Return the schema of the rows: the kept columns, then the ids."""
    import pyarrow as pa

    from numbatok.version import __version__

    item = pa.field("element", pa.from_numpy_dtype(settings.dtype), nullable=False)
    kind = pa.list_(item, settings.sequence_length) if settings.packed else pa.large_list(item)
    fields = [*(contents.kept or []), pa.field(settings.ids_column, kind)]
    return pa.schema(
        fields, {FINGERPRINT_KEY: contents.fingerprint.encode(), VERSION_KEY: __version__.encode()}
    )
