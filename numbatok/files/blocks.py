"""Blocks: rows of text on their way from the files to the kernels, about 4 MB at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from numbatok.pages import borrow
from numbatok.tables import U8

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 1 << 22  # of text: many parts for all cores, and memory that stays in the caches
BLOCK_ROWS = 1 << 20


@dataclass(frozen=True)
class Position:
    """Where a block starts, so that reading can go on there."""

    source: int = 0  # number of the file
    at: int = 0  # decompressed byte of a text or JSON Lines file, row of a Parquet file
    row: int = 0  # of the file
    row_bytes: int = 0  # how many bytes of that row came before
    line: int = 0  # of a JSON Lines file, blank lines counted


@dataclass(frozen=True)
class Part:
    """Which file some rows of a block are from."""

    source: int
    first_row: int  # of the file
    n_rows: int


@dataclass(frozen=True)
class Block:
    """Rows of text; row i is text[ends[i - 1] : ends[i]]."""

    text: U8
    ends: NDArray[np.int64]
    valid: NDArray[np.bool_] | None  # [n] which rows are not null; None if all are
    kept: pa.Table | None  # the columns that go with them
    start: Position
    parts: tuple[Part, ...]
    read_bytes: int  # of the file itself, how many are used after this block
    continues: bool = False  # the last row goes on in the next block

    @property
    def n_bytes(self) -> int:
        """How many bytes the block holds, of text and of what is kept."""
        return self.text.size + (0 if self.kept is None else int(self.kept.nbytes))

    @property
    def opens(self) -> bool:
        """Whether the first row began in an earlier block."""
        return self.start.row_bytes > 0

    def place(self, row: int) -> tuple[int, int]:
        """Return the file's number and the row in it of a row of the block."""
        for part in self.parts:
            if row < part.n_rows:
                return part.source, part.first_row + row
            row -= part.n_rows
        raise IndexError(row)


def merged(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the same rows in blocks that are not small, whatever the number of files."""
    waiting: list[Block] = []
    n_bytes = n_rows = 0
    for block in blocks:
        size = block.n_bytes
        full = n_bytes + size > BLOCK_BYTES or n_rows + len(block.ends) > BLOCK_ROWS
        alone = size > BLOCK_BYTES // 4  # not worth a copy
        if waiting and (full or alone or block.opens):
            yield _joined(waiting)
            waiting, n_bytes, n_rows = [], 0, 0
        waiting.append(block)
        n_bytes, n_rows = n_bytes + size, n_rows + len(block.ends)
        if alone or block.continues:
            yield _joined(waiting)
            waiting, n_bytes, n_rows = [], 0, 0
    if waiting:
        yield _joined(waiting)


def _joined(blocks: list[Block]) -> Block:
    """Return the rows of some blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    sizes = np.cumsum([0] + [block.text.size for block in blocks])
    ends = [block.ends + start for block, start in zip(blocks, sizes, strict=False)]
    text = np.concatenate([block.text for block in blocks], out=borrow(int(sizes[-1])))
    return replace(
        blocks[-1],
        text=text,
        ends=np.concatenate(ends),
        valid=_joined_valid(blocks),
        kept=_joined_kept(blocks),
        start=blocks[0].start,
        parts=tuple(part for block in blocks for part in block.parts),
    )


def _joined_valid(blocks: list[Block]) -> NDArray[np.bool_] | None:
    if all(block.valid is None for block in blocks):
        return None
    return np.concatenate(
        [np.ones(len(b.ends), bool) if b.valid is None else b.valid for b in blocks]
    )


def _joined_kept(blocks: list[Block]) -> Any:
    if blocks[0].kept is None:
        return None
    import pyarrow as pa

    return pa.concat_tables([block.kept for block in blocks])
