"""JSON Lines files: one field of each object is the text, others may be kept.

pyarrow parses blocks of whole lines (it skips fields that nobody asked for). Where it refuses a
block, and for rows that come out null, Python's json reads the lines again one by one: it names
the line, tells null from absent, and takes lone surrogates, which pyarrow refuses. pyarrow itself
does not look at lines: `count_objects` sees to it that each has one object.
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
LINE_FEED, CARRIAGE_RETURN, OPENING, CLOSING = b"\n\r{}"
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
                    breaks = np.frombuffer(data, np.uint8, used) == LINE_FEED
                    row, line = row + len(column), line + int(np.count_nonzero(breaks))
                rest = data[used:]
                if is_last:
                    return


def parsed(data: bytes, schema: pa.Schema, unexpected: str) -> pa.Table:
    """Return lines as pyarrow reads them. Errors: pa.ArrowException."""
    import pyarrow as pa
    import pyarrow.json

    return pyarrow.json.read_json(
        pa.BufferReader(data.removeprefix(BYTE_ORDER_MARK)),
        read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=pyarrow.json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior=unexpected
        ),
    )


def numbered(data: bytes, first: int) -> list[tuple[int, bytes]]:
    """Return number and content of every line that is not blank."""
    lines = data.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    return [(first + i, line) for i, line in enumerate(lines) if line.strip()]


def count_objects(data: bytes) -> int | None:
    """Return how many lines are not blank, or None if one does not start with { and end with }.

    Between } and { no object goes on in the next line. So where pyarrow finds as many objects as
    are counted here, each line has one. It would also crash on null in the first line.
    """
    data = data.removeprefix(BYTE_ORDER_MARK)
    text = np.frombuffer(data, np.uint8)
    if text.size == 0:
        return 0
    breaks = np.flatnonzero(text == LINE_FEED)
    starts, ends = np.append(0, breaks + 1), np.append(breaks, text.size)
    ends -= (ends > starts) & (text[ends - 1] == CARRIAGE_RETURN)
    usual = (text[np.minimum(starts, text.size - 1)] == OPENING) & (text[ends - 1] == CLOSING)
    others = zip(starts[~usual].tolist(), ends[~usual].tolist(), strict=True)
    lines = [line for start, end in others if (line := data[start:end].strip())]
    if any(line[0] != OPENING or line[-1] != CLOSING for line in lines):
        return None
    return int(usual.sum()) + len(lines)


def read_object(path: str, number: int, line: bytes) -> dict[str, Any]:
    """Return the object of a line. Errors: InvalidSource names the line."""
    place = f"{path}, line {number + 1}"
    try:
        content = json.loads(line.decode(errors="surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise InvalidSource(
            f"{place}: {line[:60]!r} is not JSON: {error}; JSON Lines has one whole object in each "
            "line, as `jq -c .` writes it"
        ) from None
    if not isinstance(content, dict):
        raise InvalidSource(f"{place}: {line[:60]!r} is no JSON object")
    return content


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
        n_objects = count_objects(self.data)
        if n_objects == 0:
            return pa.array([], pa.large_string()), self._kept(reader.schema.empty_table())
        if n_objects is None:
            return self._parse_one_by_one()
        try:
            table = parsed(self.data, reader.schema, "ignore")
        except pa.ArrowException:
            return self._parse_one_by_one()
        if len(table) != n_objects:
            return self._parse_one_by_one()
        column = pa.concat_arrays(table.column(reader.field).chunks)
        if column.null_count:
            self._check_absent(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False)))
        return column, self._kept(table)

    def _kept(self, table: pa.Table) -> pa.Table | None:
        return table.select(list(self.reader.keep)) if self.reader.keep else None

    def _check_absent(self, rows: Any) -> None:
        """Errors: InvalidSource if a row that came out null has no such field."""
        lines = numbered(self.data, self.first)
        for row in rows.tolist():
            self._value(*lines[row])

    def _parse_one_by_one(self) -> tuple[pa.Array, pa.Table | None]:
        import pyarrow as pa

        texts, objects = [], []
        for number, line in numbered(self.data, self.first):
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
        except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
            raise InvalidSource(
                f"{self.path}, lines {self.first + 1} and after: a kept field has a value that is "
                f"not of its type in the first lines ({kept.to_string()}): {error}"
            ) from None

    def _value(self, number: int, line: bytes) -> dict[str, Any]:
        """Return the object of a line, whose text is a string or null.

        Errors: InvalidSource names the line.
        """
        content = read_object(self.path, number, line)
        place, field = f"{self.path}, line {number + 1}", self.reader.field
        if field not in content:
            raise InvalidSource(missing_field(f"{place} has", field, list(content)))
        value = content[field]
        if value is not None and not isinstance(value, str):
            raise InvalidSource(
                f"{place}: field {field!r} is {value!r:.60} ({type(value).__name__}); "
                "a string or null is needed"
            )
        return content


def missing_field(what: str, name: str, known: list[str]) -> str:
    """Return in words that a field is missing, and some that there are."""
    shown = ", ".join(map(repr, known[:SHOWN_FIELDS])) or "none"
    more = f" and {len(known) - SHOWN_FIELDS} more" if len(known) > SHOWN_FIELDS else ""
    return f"{what} no field {name!r}; there is {shown}{more}"
