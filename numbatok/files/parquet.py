"""Parquet files as rows, some thousands at a time, whatever the size of a row group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numbatok.errors import InvalidSource
from numbatok.files import blocks
from numbatok.files.blocks import Block, Position
from numbatok.files.rows import block_of_column
from numbatok.files.sources import Source
from numbatok.policy import Invalid

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 8192  # fewer if rows are long; more gained nothing
PAGE_BUFFER = 1 << 20  # column chunks are read page by page: a row group may be larger than memory


@dataclass(frozen=True)
class ParquetReader:
    """How Parquet files become rows."""

    column: str
    keep: tuple[str, ...]
    kept: pa.Schema | None  # the types that the kept columns must have
    invalid: Invalid

    def read(self, source: Source, start: Position) -> Iterator[Block]:
        """Yield the rows of a file from a position on.

        Errors: InvalidSource for a file that is damaged, encrypted or lacks a column.
        """
        import pyarrow as pa

        with open_parquet(source) as file:
            self._check_columns(file, source)
            row = start.row
            try:
                for batch in self._batches(file, row):
                    read_bytes = source.size * (row + len(batch)) // max(file.metadata.num_rows, 1)
                    yield self._block(batch, Position(start.source, row, row), source, read_bytes)
                    row += len(batch)
            except (pa.ArrowException, OSError) as error:
                raise _damaged(source, error) from error

    def _block(
        self, batch: pa.RecordBatch, start: Position, source: Source, read_bytes: int
    ) -> Block:
        import pyarrow as pa

        kept = pa.Table.from_batches([batch]).select(list(self.keep)) if self.keep else None
        column = batch.column(self.column)
        return block_of_column(column, kept, start, self.invalid, source.path, read_bytes)

    def _batches(self, file: Any, first_row: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows from one on, without reading the row groups before it."""
        names = list(dict.fromkeys([self.column, *self.keep]))
        groups, skip = range(file.num_row_groups), first_row
        while groups and skip >= file.metadata.row_group(groups[0]).num_rows:
            skip -= file.metadata.row_group(groups[0]).num_rows
            groups = groups[1:]
        if not groups:
            return
        rows = _batch_rows(file, self.column)
        options = {"row_groups": list(groups), "columns": names, "use_threads": len(names) > 1}
        for batch in file.iter_batches(rows, **options):  # handing one column over took 0.25 s/GB
            if skip < len(batch):
                yield batch.slice(skip)
            skip = max(skip - len(batch), 0)

    def _check_columns(self, file: Any, source: Source) -> None:
        schema, names = file.schema_arrow, file.schema_arrow.names
        for name in (self.column, *self.keep):
            if name not in names:
                raise InvalidSource(
                    f"{source.path} has no column {name!r}; there is {', '.join(map(repr, names))}"
                )
        for field in self.kept or []:
            if schema.field(field.name).type != field.type:
                raise InvalidSource(
                    f"{source.path} has {schema.field(field.name).type} in column {field.name!r}, "
                    f"the files before it {field.type}; leave it out of keep, or cast it"
                )


def open_parquet(source: Source) -> Any:
    """Return a pyarrow ParquetFile. Errors: InvalidSource for a damaged or encrypted file."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        return pyarrow.parquet.ParquetFile(
            source.path, pre_buffer=False, buffer_size=PAGE_BUFFER, page_checksum_verification=True
        )
    except (pa.ArrowException, OSError) as error:
        raise _damaged(source, error) from error


def _batch_rows(file: Any, column: str) -> int:
    """Return how many rows have about half a block of text, as the metadata has it."""
    metadata = file.metadata
    at = file.schema_arrow.names.index(column)
    sizes = 0
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(number)
            if chunk.path_in_schema.split(".")[0] == file.schema_arrow.names[at]:
                sizes += chunk.total_uncompressed_size
    mean = sizes / max(metadata.num_rows, 1)
    return max(1, min(BATCH_ROWS, int(blocks.BLOCK_BYTES / 2 / max(mean, 1))))


def _damaged(source: Source, error: Exception) -> Exception:
    if getattr(error, "errno", None) is not None:
        return error
    text = str(error)
    advice = "the file is encrypted; decrypt it first" if "ncrypt" in text else "write it again"
    return InvalidSource(f"{source.path} cannot be read as Parquet: {text}; {advice}")
