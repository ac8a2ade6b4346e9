"""Text files as rows: whole, by line, or by a separator. Memory does not grow with the file.

A row that is longer than a block is handed on in pieces, cut where a cut changes no id, if the
tokenizer allows cuts; else it grows until it is whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numbatok.cuts import find_cut
from numbatok.files import blocks
from numbatok.files.blocks import Block, Part, Position
from numbatok.files.sources import Source
from numbatok.files.streams import ByteStream


@dataclass(frozen=True)
class _Rows:
    """Rows at the start of some bytes of a file."""

    text: bytes
    lengths: NDArray[np.int64]
    used: int  # bytes
    continues: bool  # the last one goes on

    def with_tail(self, data: bytes, stop: int, continues: bool = False) -> _Rows:
        """Return the rows and one more: what follows them up to `stop`."""
        tail = data[self.used : stop]
        text = self.text + tail if self.text else tail
        return _Rows(text, np.append(self.lengths, len(tail)), stop, continues)


@dataclass(frozen=True)
class TextReader:
    """How text files become rows."""

    separator: bytes | None  # None: a file is one row
    by_line: bool  # "\r\n" ends a line too
    can_cut: bool

    def read(self, source: Source, start: Position) -> Iterator[Block]:
        """Yield the rows of a file from a position on.

        What stands behind the last separator is a row unless it is empty; a whole file is always
        one row.
        """
        with ByteStream(source) as stream:
            stream.skip_to(start.at)
            rest, row, row_bytes = b"", start.row, start.row_bytes
            while True:
                wanted = max(blocks.BLOCK_BYTES, len(rest))
                data = stream.read(wanted)
                is_last = len(data) < wanted
                at = stream.at - len(data) - len(rest)
                data = rest + data if rest else data
                found = self._rows(data, is_last, row, row_bytes)
                n_rows = len(found.lengths)
                if n_rows:
                    yield Block(
                        text=np.frombuffer(found.text, np.uint8),
                        ends=np.cumsum(found.lengths, dtype=np.int64),
                        valid=None,
                        kept=None,
                        start=Position(start.source, at, row, row_bytes),
                        parts=(Part(start.source, row, n_rows),),
                        read_bytes=stream.position_in_file(),
                        continues=found.continues,
                    )
                    before = row_bytes if n_rows == 1 else 0
                    row_bytes = before + int(found.lengths[-1]) if found.continues else 0
                    row += n_rows - found.continues
                rest = data[found.used :]
                if is_last:
                    return

    def _rows(self, data: bytes, is_last: bool, row: int, row_bytes: int) -> _Rows:
        """Return the rows of the next bytes; `row_bytes` of the first one came before."""
        found = _Rows(b"", np.zeros(0, np.int64), 0, False)
        if self.separator is not None:
            found = self._separated(data)
        n_tail = len(data) - found.used
        if is_last:
            unfinished = row_bytes > 0 and found.used == 0
            empty_file = self.separator is None and row == 0
            return found.with_tail(data, len(data)) if n_tail or unfinished or empty_file else found
        if n_tail >= blocks.BLOCK_BYTES and self.can_cut:
            cut = self._cut(data, found.used)
            if cut > found.used:
                return found.with_tail(data, cut, continues=True)
        return found

    def _separated(self, data: bytes) -> _Rows:
        """Return the rows that a separator ends."""
        assert self.separator is not None
        width = len(self.separator)
        at = _positions(data, self.separator)
        if at.size == 0:
            return _Rows(b"", at, 0, False)
        used = int(at[-1]) + width
        rows = data[:used]
        if self.by_line and b"\r" in rows:
            rows = rows.replace(b"\r\n", b"\n")
            at = _positions(rows, self.separator)
        lengths = np.diff(at, prepend=-width) - width
        return _Rows(rows.replace(self.separator, b""), lengths, used, False)

    def _cut(self, data: bytes, start: int) -> int:
        """Return where to cut a long row, near the end of the data, or `start` for nowhere."""
        margin = len(self.separator) if self.separator else 1
        text = np.frombuffer(data, np.uint8)
        stop = len(data) - margin
        target = max(start + 3, stop - blocks.BLOCK_BYTES // 4)
        while target < stop:
            cut = find_cut(text, target, stop)
            if cut < stop:
                return cut
            target += 1 << 16
        return start


def _positions(data: bytes, separator: bytes) -> NDArray[np.int64]:
    """Return where a separator stands, not overlapping, as bytes.replace takes it."""
    if len(separator) == 1:
        return np.flatnonzero(np.frombuffer(data, np.uint8) == separator[0])
    found, at = [], data.find(separator)
    while at >= 0:
        found.append(at)
        at = data.find(separator, at + len(separator))
    return np.array(found, np.int64)
