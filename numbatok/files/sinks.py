"""Encoded blocks -> shards.

Where a shard, a row group or a sequence ends depends on the rows alone, never on how they came in
blocks, so that a resumed run writes the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import numpy as np

from numbatok.files.encoded import Encoded
from numbatok.files.manifest import Resume, Totals
from numbatok.files.settings import Settings
from numbatok.files.shards import Shards
from numbatok.files.table_writers import Contents, open_table
from numbatok.files.writers import BinWriter, IdsWriter, LlmcWriter, NpyWriter
from numbatok.tables import U32

NO_LIMIT = 1 << 62


class Sink(Protocol):
    """Takes encoded blocks in order."""

    dropped_ids: int  # left out at the end, because they fill no sequence

    def take(self, encoded: Encoded, before: Totals) -> None:
        """Write a block; `before` is what the blocks before it amount to.

        What is kept for later is copied, so that the memory of the ids is used again.
        """

    def close(self) -> None:
        """Write what is left, and one empty shard if there was nothing at all."""


class StreamSink:
    """All documents as one stream of ids, cut into shards and sequences of exact length."""

    def __init__(self, settings: Settings, shards: Shards, skip: int, contents: Contents) -> None:
        self._settings, self._shards, self._contents = settings, shards, contents
        self._unit = settings.sequence_length or 1
        asked = settings.shard_ids or NO_LIMIT
        self._limit = max(asked // self._unit, 1) * self._unit
        self._skip, self._left = skip, np.zeros(0, np.uint32)  # left: an unfinished sequence
        self._writer: IdsWriter | None = None
        self._paths: list[Path] = []
        self._n_ids = 0
        self._resume = self._end = Resume()  # after what is written, and after what came
        self.dropped_ids = 0

    def take(self, encoded: Encoded, before: Totals) -> None:
        """See Sink."""
        stream = encoded.ids
        at = min(self._skip, stream.size)
        self._skip -= at
        while at < stream.size:
            room = self._limit - self._n_ids - self._left.size
            part, unwritten_from = stream[at : at + room], self._resume
            at += part.size
            self._resume = self._end = Resume(encoded.block.start, before, at)
            self._append(part)
            if self._left.size <= at:
                self._resume = Resume(encoded.block.start, before, at - self._left.size)
            else:  # the unfinished sequence began in an earlier block
                self._resume = unwritten_from
        if not self._left.size:
            self._resume = self._end = Resume(encoded.block.start, before, stream.size)

    def _append(self, part: U32) -> None:
        joined = np.concatenate([self._left, part]) if self._left.size else part
        whole = joined.size // self._unit * self._unit
        self._left = joined[whole:].copy() if whole < joined.size else self._left[:0]
        if whole:
            self._write(joined[:whole])

    def _write(self, ids: U32) -> None:
        if self._writer is None:
            self._paths = self._shards.begin()
            self._writer = self._open(self._paths)
        self._writer.write(ids)
        if self._writer.appends:
            self._shards.follow()
        self._n_ids += ids.size
        if self._n_ids == self._limit:
            self._end_shard()

    def _open(self, paths: list[Path]) -> IdsWriter:
        if self._settings.format in ("parquet", "arrow"):
            return open_table(paths[0], self._settings, self._contents)
        kinds: dict[str, Callable[..., IdsWriter]] = {
            "bin": BinWriter, "npy": NpyWriter, "llmc": LlmcWriter,
        }  # fmt: skip
        return kinds[self._settings.format](paths, self._settings)

    def _end_shard(self) -> None:
        assert self._writer is not None
        self._writer.close()
        self._shards.finish({"ids": self._n_ids}, self._resume)
        self._writer, self._n_ids = None, 0

    def close(self) -> None:
        """See Sink."""
        if self._left.size and self._settings.remainder == "pad":
            filler, self._resume = self._settings.eos or 0, self._end
            n_missing = self._unit - self._left.size
            self._append(np.full(n_missing, filler, np.uint32))
        self.dropped_ids = int(self._left.size)
        if self._writer is None and self._shards.count == 0:
            self._paths = self._shards.begin()
            self._writer = self._open(self._paths)
        if self._writer is not None:
            self._end_shard()
