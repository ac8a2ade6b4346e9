"""Encoded blocks -> shards of whole rows, in row groups; see numbatok.files.sinks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from numbatok.files.encoded import Encoded
from numbatok.files.id_pages import IdRows
from numbatok.files.kept import joined, row_bytes
from numbatok.files.manifest import Resume, Totals
from numbatok.files.row_groups import GROUP_KEPT_BYTES, GROUP_ROWS, RowGroup, Rows
from numbatok.files.settings import Settings
from numbatok.files.shards import Shards
from numbatok.files.sinks import NO_LIMIT
from numbatok.files.table_writers import (
    GROUP_IDS,
    Contents,
    TableWriter,
    open_table,
    waiting_dtype,
)
from numbatok.files.writers import MegatronWriter
from numbatok.tables import U32


class RowSink:
    """Whole rows, in groups that are closed by the row with which they have enough ids."""

    def __init__(self, settings: Settings, shards: Shards, skip: int, dtype: np.dtype[Any]) -> None:
        """Take rows whose ids wait in a dtype until they are written."""
        self._settings, self._shards, self._skip = settings, shards, skip
        self._limit = settings.shard_ids or NO_LIMIT
        self._open_ids: list[U32] = []  # of a row that goes on
        self._group = RowGroup(dtype)
        self._paths: list[Path] = []
        self._writer: Any = None
        self._counts = {"rows": 0, "ids": 0}
        self._resume = Resume()
        self.dropped_ids = 0

    def take(self, encoded: Encoded, before: Totals) -> None:
        """See Sink."""
        rows = self._whole_rows(encoded)
        at = min(self._skip, len(rows))
        self._skip -= at
        while at < len(rows):
            n_ids = min(GROUP_IDS, self._limit - self._counts["ids"]) - self._group.n_ids
            n_kept_bytes = GROUP_KEPT_BYTES - self._group.n_kept_bytes
            last = rows.end_of_group(at, n_ids, n_kept_bytes)
            last = min(last, at + GROUP_ROWS - self._group.n_rows)
            is_group = last <= len(rows)
            last = min(last, len(rows))
            self._group.add(rows.cut(at, last))
            at = last
            self._resume = Resume(encoded.block.start, before, at)
            if is_group:
                self._write_group()
        self._resume = Resume(encoded.block.start, before, len(rows))

    def _whole_rows(self, encoded: Encoded) -> Rows:
        """Return the rows that end in the block, the first one with what came before of it."""
        block, ids, offsets, n = encoded.block, encoded.ids, encoded.offsets, encoded.n_ended
        if self._open_ids and n:
            n_before = sum(part.size for part in self._open_ids)
            ids = np.concatenate([*self._open_ids, ids])
            offsets = np.concatenate([offsets[:1], offsets[1:] + n_before])
            self._open_ids = []
        if block.continues:
            self._open_ids.append(ids[offsets[n] :].copy())
        valid = None if block.valid is None else block.valid[:n]
        kept_ends = None
        if block.kept is not None:
            kept_ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(row_bytes(block.kept))])
        return Rows(ids, offsets[: n + 1], valid, block.kept, kept_ends)

    def _write_group(self) -> None:
        self._counts["rows"] += self._group.n_rows
        self._counts["ids"] += self._group.n_ids
        if self._writer is None:
            self._paths = self._shards.begin()
            self._writer = self._open_writer()
        self._write(self._group)
        self._shards.follow()
        self._group.clear()
        if self._counts["ids"] >= self._limit:
            self._end_shard()

    def _open_writer(self) -> Any:
        raise NotImplementedError

    def _write(self, group: RowGroup) -> None:
        raise NotImplementedError

    def _end_shard(self) -> None:
        self._writer.close()
        self._shards.finish(dict(self._counts), self._resume)
        self._writer, self._counts = None, {"rows": 0, "ids": 0}

    def close(self) -> None:
        """See Sink."""
        if self._group.n_rows:
            self._write_group()
        if self._writer is None and self._shards.count == 0:
            self._paths = self._shards.begin()
            self._writer = self._open_writer()
        if self._writer is not None:
            self._end_shard()


class TableSink(RowSink):
    """Rows of ids beside the kept columns."""

    def __init__(self, settings: Settings, shards: Shards, skip: int, contents: Contents) -> None:
        super().__init__(settings, shards, skip, waiting_dtype(settings, contents))
        self._contents = contents

    def _open_writer(self) -> TableWriter:
        return open_table(self._paths[0], self._settings, self._contents)

    def _write(self, group: RowGroup) -> None:
        kept = [] if self._contents.kept is None else joined(group.kept)
        self._writer.write_rows(IdRows(group.ids, group.offsets, group.valid), kept)


class MegatronSink(RowSink):
    """Documents one after the other, with an index. Null rows are left out."""

    def _open_writer(self) -> MegatronWriter:
        return MegatronWriter(self._paths, self._settings)

    def _write(self, group: RowGroup) -> None:
        lengths = np.diff(group.offsets)
        valid = group.valid
        self._writer.write(group.ids, lengths if valid is None else lengths[valid])
