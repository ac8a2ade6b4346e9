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
from numbatok.native import function
from numbatok.pages import borrow
from numbatok.tables import U8

NOWHERE = np.zeros(0, np.int64)
CARRIAGE_RETURN = ord("\r")
USUAL_ROW, LEAST_ROOM = 64, 1 << 10  # bytes of a row at least, mostly; separators
FEW_BYTES = 300  # a move takes 160 ns, a mask 0.5 ns a byte


@dataclass(frozen=True)
class _Rows:
    """Rows at the start of some bytes of a file: row i is data[starts[i] : ends[i]]."""

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    used: int  # bytes
    continues: bool = False  # the last one goes on

    def with_tail(self, stop: int, continues: bool = False) -> _Rows:
        """Return the rows and one more: what follows them up to `stop`."""
        starts, ends = np.append(self.starts, self.used), np.append(self.ends, stop)
        return _Rows(starts, ends, stop, continues)

    def gathered(self, data: U8) -> tuple[U8, NDArray[np.int64]]:
        """Move the rows together at the start of the data; return their bytes and their ends."""
        lengths = self.ends - self.starts
        ends = np.cumsum(lengths)
        gaps = np.flatnonzero(self.starts[1:] != self.ends[:-1]) + 1
        if gaps.size * FEW_BYTES > self.used:
            return data[self._is_text(data.size)], ends
        view = data.data
        first = int(self.starts[0])
        starts = [first, *self.starts[gaps].tolist()]
        stops = [*self.ends[gaps - 1].tolist(), int(self.ends[-1])]
        at = 0
        for start, stop in zip(starts, stops, strict=True):
            if start != at:
                view[at : at + stop - start] = view[start:stop]
            at += stop - start
        return data[:at], ends

    def _is_text(self, size: int) -> NDArray[np.bool_]:
        """Return which bytes belong to a row, bool[size]."""
        kept = np.ones(size, np.bool_)
        kept[: self.starts[0]] = kept[self.ends[-1] :] = False
        widths, at = self.starts[1:] - self.ends[:-1], self.ends[:-1]
        for k in range(int(widths.max(initial=0))):
            kept[at[widths > k] + k] = False
        return kept


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
            rest, row, row_bytes = np.zeros(0, np.uint8), start.row, start.row_bytes
            is_last = False
            while not is_last:
                wanted = max(blocks.BLOCK_BYTES, rest.size)
                buffer = borrow(rest.size + wanted)
                buffer[: rest.size] = rest
                n_read = stream.read_into(buffer[rest.size : rest.size + wanted])
                is_last = n_read < wanted
                data = buffer[: rest.size + n_read]
                found = self._rows(data, is_last, row, row_bytes)
                rest, n_rows = data[found.used :].copy(), len(found.ends)
                if n_rows == 0:
                    continue
                text, ends = found.gathered(data)
                yield Block(
                    text=text,
                    ends=ends,
                    valid=None,
                    kept=None,
                    start=Position(start.source, stream.at - data.size, row, row_bytes),
                    parts=(Part(start.source, row, n_rows),),
                    read_bytes=stream.position_in_file(),
                    continues=found.continues,
                )
                before = row_bytes if n_rows == 1 else 0
                last = int(found.ends[-1] - found.starts[-1])
                row_bytes = before + last if found.continues else 0
                row += n_rows - found.continues

    def _rows(self, data: U8, is_last: bool, row: int, row_bytes: int) -> _Rows:
        """Return the rows of the next bytes; `row_bytes` of the first one came before."""
        found = _Rows(NOWHERE, NOWHERE, 0)
        if self.separator is not None:
            found = self._separated(data)
        n_tail = data.size - found.used
        if is_last:
            unfinished = row_bytes > 0 and found.used == 0
            empty_file = self.separator is None and row == 0
            return found.with_tail(data.size) if n_tail or unfinished or empty_file else found
        if n_tail >= blocks.BLOCK_BYTES and self.can_cut:
            cut = self._cut(data, found.used)
            if cut > found.used:
                return found.with_tail(cut, continues=True)
        return found

    def _separated(self, data: U8) -> _Rows:
        """Return the rows that a separator ends."""
        assert self.separator is not None
        ends = _positions(data, self.separator)
        if ends.size == 0:
            return _Rows(NOWHERE, NOWHERE, 0)
        after = ends + len(self.separator)
        starts = np.concatenate([np.zeros(1, np.int64), after[:-1]])
        if self.by_line:
            ends = ends - ((ends > starts) & (data[ends - 1] == CARRIAGE_RETURN))
        return _Rows(starts, ends, int(after[-1]))

    def _cut(self, data: U8, start: int) -> int:
        """Return where to cut a long row, near the end of the data, or `start` for nowhere."""
        margin = len(self.separator) if self.separator else 1
        stop = data.size - margin
        target = max(start + 3, stop - blocks.BLOCK_BYTES // 4)
        while target < stop:
            cut = find_cut(data, target, stop)
            if cut < stop:
                return cut
            target += 1 << 16
        return start


def _positions(data: U8, separator: bytes) -> NDArray[np.int64]:
    """Return where a separator stands, not overlapping, from left to right."""
    wanted, find = np.frombuffer(separator, np.uint8), function("find_separators")
    parts, done = [NOWHERE], 0
    while True:
        room = np.empty(max(LEAST_ROOM, (data.size - done) // USUAL_ROW), np.int64)
        count = find(
            data.ctypes.data + done, data.size - done, wanted.ctypes.data, wanted.size,
            room.ctypes.data, room.size,
        )  # fmt: skip
        parts.append(room[:count] + done)
        if count < room.size:
            return np.concatenate(parts)
        done = int(parts[-1][-1]) + wanted.size
