"""JSON Lines and Parquet -> blocks of documents."""

from __future__ import annotations

import io
import json  # names the byte of an error, and has no limit on a line
from collections.abc import Iterator
from typing import Any

from numbatok.errors import InvalidSource
from numbatok.training.blocks import BLOCK_BYTES, Block, documents
from numbatok.training.columns import blocks_of_array
from numbatok.training.opening import DAMAGE, Opened

ROWS = 1024  # of Parquet, decoded at once


def record_blocks(opened: Opened, field: str, skip_nulls: bool) -> Iterator[Block]:
    """Yield the texts of a JSON Lines file. Errors: InvalidSource naming the line."""
    rows: list[bytes] = []
    size = 0
    for number, line in _lines(opened):
        text = _text_of(line, field, f"{opened.path}, line {number}", skip_nulls)
        if text is not None:
            rows.append(text)
            size += len(text)
        if size >= BLOCK_BYTES:
            yield documents(rows)
            rows, size = [], 0
    if rows:
        yield documents(rows)


def _lines(opened: Opened) -> Iterator[tuple[int, bytes]]:
    raw: Any = opened.stream()
    stream = io.BufferedReader(raw, 1 << 20)
    number = 0
    while True:
        try:
            line = stream.readline()
        except DAMAGE as error:
            raise opened.damaged(f"in line {number + 1}: {error}") from error
        if not line:
            break
        number += 1
        if line.strip():
            yield number, line
    if opened.position() < opened.size:
        opened.check_length(opened.position())


def _text_of(line: bytes, field: str, place: str, skip_nulls: bool) -> bytes | None:
    """Return the text of a line, or None for a null that is skipped."""
    try:
        record = json.loads(line)
    except ValueError as error:  # also for bytes that are not UTF-8
        raise InvalidSource(f"{place}: this is no JSON: {error}") from None
    except RecursionError:
        raise InvalidSource(f"{place}: arrays or objects are nested too deeply") from None
    if not isinstance(record, dict) or field not in record:
        names = list(record) if isinstance(record, dict) else f"a {type(record).__name__}"
        raise InvalidSource(f"{place}: no field {field!r}; it has {names!r:.200}; pass field=")
    text = record[field]
    if text is None and skip_nulls:
        return None
    if not isinstance(text, str):
        advice = "; pass nulls='skip' to leave such lines out" if text is None else ""
        raise InvalidSource(f"{place}: field {field!r} is {text!r:.60}, no string{advice}")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def parquet_blocks(opened: Opened, field: str, skip_nulls: bool) -> Iterator[Block]:
    """Yield the texts of a column of a Parquet file. Errors: InvalidSource, InvalidValue."""
    import pyarrow
    import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(opened.file)
    except (pyarrow.ArrowException, OSError) as error:
        raise opened.damaged(f"it is no Parquet file: {error}") from error
    names = file.schema_arrow.names
    if field not in names:
        raise InvalidSource(f"{opened.path}: no column {field!r}; it has {names!r:.200}")
    row, batches = 0, file.iter_batches(ROWS, columns=[field])
    while (array := _next_column(opened, batches)) is not None:
        n_rows = len(array)
        rows = array.drop_null() if skip_nulls else array
        place = f"column {field!r} of {opened.path}"
        yield from blocks_of_array(rows, row, place, "pass nulls='skip' to leave such rows out")
        row += n_rows


def _next_column(opened: Opened, batches: Iterator[Any]) -> Any:
    import pyarrow

    try:
        batch = next(batches, None)
    except (pyarrow.ArrowException, OSError) as error:
        raise opened.damaged(f"{error}") from error
    return None if batch is None else batch.column(0)
