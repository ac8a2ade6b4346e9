"""Rows on their way to a row group or record batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from numbatok.tables import U32

if TYPE_CHECKING:
    import pyarrow as pa

GROUP_ROWS = 1 << 20
GROUP_KEPT_BYTES = 1 << 26


@dataclass(frozen=True)
class Rows:
    """Whole rows, cut out of a block."""

    ids: U32
    offsets: NDArray[np.int64]
    valid: NDArray[np.bool_] | None
    kept: pa.Table | None
    kept_ends: NDArray[np.int64] | None  # [n + 1] bytes of what is kept before each row

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def cut(self, first: int, last: int) -> Rows:
        """Return rows first ... last - 1."""
        return Rows(
            self.ids,
            self.offsets[first : last + 1],
            None if self.valid is None else self.valid[first:last],
            None if self.kept is None else self.kept.slice(first, last - first),
            None if self.kept_ends is None else self.kept_ends[first : last + 1],
        )

    def end_of_group(self, first: int, n_ids: int, n_kept_bytes: int) -> int:
        """Return behind which row from `first` on there are so many ids or kept bytes.

        One past the last row + 1 if there are not.
        """
        ends = [int(np.searchsorted(self.offsets, self.offsets[first] + n_ids))]
        if self.kept_ends is not None:
            ends.append(int(np.searchsorted(self.kept_ends, self.kept_ends[first] + n_kept_bytes)))
        return max(min(ends), first + 1)

    @property
    def own_ids(self) -> U32:
        """The ids of these rows."""
        return self.ids[self.offsets[0] : self.offsets[-1]]


class RowGroup:
    """Rows that are copied together as they come: the memory of their blocks is used again."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self._ids = np.empty(0, dtype)
        self.clear()

    def clear(self) -> None:
        """Forget all rows; the memory of their ids stays."""
        self.n_ids = self.n_rows = self.n_kept_bytes = 0
        self._lengths: list[NDArray[np.int64]] = []
        self._valid: list[NDArray[np.bool_]] = []
        self._has_nulls = False
        self.kept: list[Any] = []  # tables

    def add(self, rows: Rows) -> None:
        """Append rows."""
        new = rows.own_ids
        needed = self.n_ids + new.size
        if needed > self._ids.size:
            larger = np.empty(max(needed, 2 * self._ids.size), self._ids.dtype)
            larger[: self.n_ids] = self.ids
            self._ids = larger
        self._ids[self.n_ids : needed] = new
        self.n_ids, self.n_rows = needed, self.n_rows + len(rows)
        self._lengths.append(np.diff(rows.offsets))
        self._valid.append(np.ones(len(rows), bool) if rows.valid is None else rows.valid)
        self._has_nulls |= rows.valid is not None
        self.kept.append(rows.kept)
        if rows.kept_ends is not None:
            self.n_kept_bytes += int(rows.kept_ends[-1] - rows.kept_ends[0])

    @property
    def ids(self) -> NDArray[Any]:
        """The ids of all rows, in the type they are written in; valid until `clear`."""
        return self._ids[: self.n_ids]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the rows start in the ids, and their end: int64[n + 1]."""
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.concatenate(self._lengths))])

    @property
    def valid(self) -> NDArray[np.bool_] | None:
        """Which rows are not null, bool[n]; None if all are."""
        return np.concatenate(self._valid) if self._has_nulls else None
