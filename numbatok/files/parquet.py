"""Parquet files as rows, some thousands at a time, whatever the size of a row group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numbatok.errors import InvalidSource
from numbatok.files import blocks
from numbatok.files.blocks import Block, Position
from numbatok.files.kept import column_number, row_bytes, written_schema
from numbatok.files.rows import block_of_column
from numbatok.files.sources import Source
from numbatok.policy import Invalid

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 8192  # fewer if rows are long; more gained nothing
FIRST_ROWS = 32  # by which it is seen how long they are
# Rows are long here and short there, perhaps: each time a row group is begun anew.
MOST_RAISED = 8
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

        kept = None
        if self.kept is not None:
            kept = pa.Table.from_batches([batch]).select(list(self.keep)).cast(self.kept)
        column = batch.column(self.column)
        return block_of_column(column, kept, start, self.invalid, source.path, read_bytes)

    def _batches(self, file: Any, first_row: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows from one on, in batches of about half a block.

        What the metadata say of sizes is not what rows take: a dictionary has equal ones once.
        """
        row, n_rows, n_raised = first_row, FIRST_ROWS, 0
        while True:
            for batch in self._batches_of(n_rows, file, row):
                yield batch
                row += len(batch)
                fitting = _fitting_rows(batch)
                is_low = fitting > 4 * n_rows and n_raised < MOST_RAISED
                if is_low or 2 * fitting < n_rows:
                    n_rows, n_raised = fitting, n_raised + is_low
                    break
            else:
                return

    def _batches_of(self, n_rows: int, file: Any, first_row: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows from one on, without reading the row groups before it."""
        names = list(dict.fromkeys([self.column, *self.keep]))
        groups, skip = range(file.num_row_groups), first_row
        while groups and skip >= file.metadata.row_group(groups[0]).num_rows:
            skip -= file.metadata.row_group(groups[0]).num_rows
            groups = groups[1:]
        if not groups:
            return
        options = {"row_groups": list(groups), "columns": names, "use_threads": len(names) > 1}
        for batch in file.iter_batches(n_rows, **options):  # threads took 0.25 s/GB for one column
            if skip < len(batch):
                yield batch.slice(skip)
            skip = max(skip - len(batch), 0)

    def _check_columns(self, file: Any, source: Source) -> None:
        schema = file.schema_arrow
        for name in (self.column, *self.keep):
            column_number(schema, name, source.path)
        for field in self.kept or []:
            kind = written_schema(schema, [field.name]).field(0).type
            if kind != field.type:
                raise InvalidSource(
                    f"{source.path} has {kind} in column {field.name!r}, "
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


def _fitting_rows(batch: pa.RecordBatch) -> int:
    """Return how many rows like these have about half a block."""
    import pyarrow as pa

    mean = row_bytes(pa.Table.from_batches([batch])).mean()
    return max(1, min(BATCH_ROWS, int(blocks.BLOCK_BYTES / 2 / max(mean, 1))))


def _damaged(source: Source, error: Exception) -> Exception:
    if getattr(error, "errno", None) is not None:
        return error
    text = str(error)
    advice = "the file is encrypted; decrypt it first" if "crypt" in text else "write it again"
    return InvalidSource(f"{source.path} cannot be read as Parquet: {text}; {advice}")
