"""JSON Lines files: one field of each object is the text, others may be kept.

pyarrow parses blocks of whole lines (it skips fields that nobody asked for). Where it refuses a
block, and for rows that come out null, Python's json reads the lines again one by one: it names
the line, tells null from absent, and takes lone surrogates, which pyarrow refuses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from numbatok.errors import InvalidSource, InvalidUtf8
from numbatok.files import blocks
from numbatok.files.blocks import Block, Position
from numbatok.files.rows import block_of_column
from numbatok.files.sources import Source
from numbatok.files.streams import ByteStream
from numbatok.policy import Invalid, to_bytes

if TYPE_CHECKING:
    import pyarrow as pa

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SHOWN_FIELDS = 20


@dataclass(frozen=True)
class JsonLinesReader:
    """How JSON Lines files become rows."""

    field: str
    schema: pa.Schema  # the text and the kept fields
    keep: tuple[str, ...]
    invalid: Invalid

    def read(self, source: Source, start: Position) -> Iterator[Block]:
        """Yield the rows of a file from a position on; a row is a line that is not blank.

        Errors: InvalidSource names the line.
        """
        with ByteStream(source) as stream:
            stream.skip_to(start.at)
            rest, row, line = b"", start.row, start.line
            while True:
                wanted = max(blocks.BLOCK_BYTES, len(rest))
                data = stream.read(wanted)
                is_last = len(data) < wanted
                at = stream.at - len(data) - len(rest)
                data = rest + data if rest else data
                used = len(data) if is_last else data.rfind(b"\n") + 1
                if used:
                    lines = Lines(source.path, data[:used], line, self)
                    column, kept = lines.parse()
                    place = Position(start.source, at, row, line=line)
                    yield block_of_column(
                        column, kept, place, self.invalid, source.path, stream.position_in_file()
                    )
                    row, line = row + len(column), line + data.count(b"\n", 0, used)
                rest = data[used:]
                if is_last:
                    return


def schema_of(source: Source, field: str, keep: tuple[str, ...]) -> pa.Schema:
    """Return the types of the text and of the kept fields, as the first lines of a file have them.

    Errors: InvalidSource if no line has a kept field, naming those there are.
    """
    import pyarrow as pa

    text = pa.field(field, pa.large_string())
    if not keep:
        return pa.schema([text])
    with ByteStream(source) as stream:
        data = stream.read(blocks.BLOCK_BYTES)
    if len(data) == blocks.BLOCK_BYTES:
        data = data[: data.rfind(b"\n") + 1]
    try:
        found = _parsed(data, pa.schema([text]), "infer").schema
    except pa.ArrowException:
        values = [json.loads(line) for line in data.splitlines() if line.strip()]
        found = pa.Table.from_pylist(values).schema
    missing = [name for name in keep if name not in found.names]
    if missing:
        raise InvalidSource(
            _missing(f"{source.path}: the first lines have", missing[0], found.names)
        )
    fields = [found.field(name) for name in keep if name != field]
    known = [f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in fields]
    return pa.schema([text, *known])


def _parsed(data: bytes, schema: pa.Schema, unexpected: str) -> pa.Table:
    import pyarrow as pa
    import pyarrow.json

    return pyarrow.json.read_json(
        pa.BufferReader(data.removeprefix(BYTE_ORDER_MARK)),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pyarrow.json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior=unexpected
        ),
    )


@dataclass(frozen=True)
class Lines:
    """Some whole lines of a file; `first` is the number of the first one, from 0."""

    path: str
    data: bytes
    first: int
    reader: JsonLinesReader

    def parse(self) -> tuple[pa.Array, pa.Table | None]:
        """Return the text and the kept fields of the lines that are not blank."""
        import pyarrow as pa

        reader = self.reader
        if not self.data.strip():
            return pa.array([], pa.large_string()), self._kept(reader.schema.empty_table())
        try:
            table = _parsed(self.data, reader.schema, "ignore")
        except pa.ArrowException:
            return self._parse_one_by_one()
        column = pa.concat_arrays(table.column(reader.field).chunks)
        if column.null_count:
            self._check_absent(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)))
        return column, self._kept(table)

    def _kept(self, table: pa.Table) -> pa.Table | None:
        return table.select(list(self.reader.keep)) if self.reader.keep else None

    def _rows(self) -> list[tuple[int, bytes]]:
        """Return number and content of every line that is not blank."""
        lines = self.data.removeprefix(BYTE_ORDER_MARK).split(b"\n")
        return [(self.first + i, line) for i, line in enumerate(lines) if line.strip()]

    def _check_absent(self, rows: Any) -> None:
        """Errors: InvalidSource if a row that came out null has no such field."""
        lines = self._rows()
        for row in rows.tolist():
            self._value(*lines[row])

    def _parse_one_by_one(self) -> tuple[pa.Array, pa.Table | None]:
        import pyarrow as pa

        texts, objects = [], []
        for number, line in self._rows():
            content = self._value(number, line)
            text = content[self.reader.field]
            try:
                texts.append(None if text is None else to_bytes(text, self.reader.invalid))
            except InvalidUtf8 as error:
                raise InvalidUtf8(f"{self.path}, line {number + 1}: {error}") from None
            objects.append(content)
        column = pa.array(texts, pa.large_binary())
        if not self.reader.keep:
            return column, None
        kept = pa.schema([self.reader.schema.field(name) for name in self.reader.keep])
        try:
            return column, pa.Table.from_pylist(objects, kept)
        except (pa.ArrowException, TypeError) as error:
            raise InvalidSource(
                f"{self.path}, lines {self.first + 1} and after: a kept field has a value that is "
                f"not of its type in the first lines ({kept.to_string()}): {error}"
            ) from None

    def _value(self, number: int, line: bytes) -> dict[str, Any]:
        """Return the object of a line. Errors: InvalidSource names the line."""
        place = f"{self.path}, line {number + 1}"
        try:
            content = json.loads(line.decode(errors="surrogateescape"))
        except (json.JSONDecodeError, RecursionError) as error:
            raise InvalidSource(f"{place}: {line[:60]!r} is not JSON: {error}") from None
        if not isinstance(content, dict):
            raise InvalidSource(f"{place}: {line[:60]!r} is no JSON object")
        field = self.reader.field
        if field not in content:
            raise InvalidSource(_missing(f"{place} has", field, list(content)))
        value = content[field]
        if value is not None and not isinstance(value, str):
            raise InvalidSource(
                f"{place}: field {field!r} is {value!r:.60} ({type(value).__name__}); "
                "a string or null is needed"
            )
        return content


def _missing(what: str, name: str, known: list[str]) -> str:
    shown = ", ".join(map(repr, known[:SHOWN_FIELDS])) or "none"
    more = f" and {len(known) - SHOWN_FIELDS} more" if len(known) > SHOWN_FIELDS else ""
    return f"{what} no field {name!r}; there is {shown}{more}"
