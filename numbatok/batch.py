"""TokenBatch: the ids of many texts as two arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from numbatok.errors import InvalidType, InvalidValue

if TYPE_CHECKING:
    import pyarrow

Side = Literal["left", "right"]


@dataclass(frozen=True, eq=False)
class TokenBatch:
    """The ids of a sequence of texts.

    ids       uint32[n], all texts one after the other
    offsets   int64[m + 1]; text i has ids[offsets[i] : offsets[i + 1]]
    """

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, row: int) -> NDArray[np.uint32]: ...
    @overload
    def __getitem__(self, row: slice) -> TokenBatch: ...

    def __getitem__(self, row: int | slice) -> NDArray[np.uint32] | TokenBatch:
        """Return the ids of one text without a copy, or a batch of some texts."""
        if isinstance(row, slice):
            start, stop, step = row.indices(len(self))
            if step == 1:
                offsets = self.offsets[start : max(start, stop) + 1]
                return TokenBatch(self.ids[offsets[0] : offsets[-1]], offsets - offsets[0])
            return join_rows([self[i] for i in range(start, stop, step)])
        n_rows = len(self)
        if not -n_rows <= row < n_rows:
            raise IndexError(f"row {row} of a batch of {n_rows}")
        row %= n_rows
        return self.ids[self.offsets[row] : self.offsets[row + 1]]

    def __iter__(self) -> Iterator[NDArray[np.uint32]]:
        return (self[i] for i in range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TokenBatch):
            return NotImplemented
        same = np.array_equal(self.offsets, other.offsets)
        return same and np.array_equal(self.ids, other.ids)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"TokenBatch({len(self)} texts, {self.ids.size} ids)"

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of ids of each text, int64[m]."""
        return np.diff(self.offsets)

    def to_list(self) -> list[list[int]]:
        """Return the ids as lists of Python integers."""
        return [row.tolist() for row in self]

    def to_arrow(self) -> pyarrow.LargeListArray:
        """Return a pyarrow large_list<uint32> array that shares the ids."""
        import pyarrow

        return pyarrow.LargeListArray.from_arrays(self.offsets, pyarrow.array(self.ids))

    def truncate(self, length: int, side: Side = "right") -> TokenBatch:
        """Return the batch with at most `length` ids a text, cut off at `side`.

        Errors: InvalidValue for a negative length or another side, InvalidType for a length that
        is no integer.
        """
        length = _at_least(0, "truncate: length", length)
        _check_side(side)
        kept = np.minimum(self.lengths, length)
        first = self.offsets[:-1] if side == "right" else self.offsets[1:] - kept
        offsets = np.zeros(len(self) + 1, np.int64)
        np.cumsum(kept, out=offsets[1:])
        return TokenBatch(self.ids[_ranges(first, kept, offsets)], offsets)

    def pad(
        self,
        length: int | None = None,
        multiple_of: int | None = None,
        side: Side = "right",
        value: int = 0,
    ) -> Padded:
        """Return a matrix of the ids, each row filled up at `side` with `value`.

        `length` is that of the longest text unless given; `multiple_of` rounds it up. Longer texts
        are an error: truncate first.

        Errors: InvalidValue, and InvalidType for what is no integer.
        """
        _check_side(side)
        longest = int(self.lengths.max(initial=0))
        width = longest if length is None else _at_least(0, "pad: length", length)
        if width < longest:
            row = int(np.argmax(self.lengths))
            raise InvalidValue(
                f"pad: row {row} has {longest} ids, more than length={length}; "
                f"call .truncate({length}) first"
            )
        if multiple_of is not None:
            multiple_of = _at_least(1, "pad: multiple_of", multiple_of)
            width = -(-width // multiple_of) * multiple_of
        value = _integer("pad: value", value)
        if not 0 <= value < 1 << 32:
            raise InvalidValue(f"pad: value is {value}, an id from 0 to 4294967295 is needed")
        ids = np.full((len(self), width), value, np.uint32)
        columns = np.arange(width)
        lengths = self.lengths[:, None]
        mask = columns < lengths if side == "right" else columns >= width - lengths
        ids[mask] = self.ids[self.offsets[0] : self.offsets[-1]]
        return Padded(ids, mask.astype(np.uint8))


@dataclass(frozen=True, eq=False)
class Padded:
    """A padded batch.

    ids    uint32[m, width]
    mask   uint8[m, width], 1 where an id stands and 0 where padding does

    Both work with `numpy.asarray`, `torch.from_dlpack(padded.ids)` and the array interface.
    """

    ids: NDArray[np.uint32]
    mask: NDArray[np.uint8]


def join_rows(rows: list[NDArray[np.uint32]]) -> TokenBatch:
    """Return a batch of arrays of ids."""
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    ids = np.concatenate(rows) if rows else np.zeros(0, np.uint32)
    return TokenBatch(ids.astype(np.uint32, copy=False), offsets)


def insert_around(
    ids: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    before: NDArray[np.uint32],
    after: NDArray[np.uint32],
    rows: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return ids and offsets with `before` and `after` put around each row, or those in `rows`."""
    first, last = offsets[:-1], offsets[1:]
    if rows is not None:
        first, last = first[rows], last[rows]
    n_before, n_around = before.size, before.size + after.size
    places = np.empty((len(first), n_around), np.int64)
    places[:, :n_before], places[:, n_before:] = first[:, None], last[:, None]
    around = np.tile(np.concatenate([before, after]), len(first))
    counts: Any = n_around if rows is None else np.where(rows, n_around, 0)
    longer = offsets.copy()
    longer[1:] += np.cumsum(np.broadcast_to(counts, len(offsets) - 1))
    return np.insert(ids, places.reshape(-1), around), longer


def _check_side(side: Any) -> None:
    if side not in ("left", "right"):
        raise InvalidValue(f"side is {side!r}, 'left' or 'right' is needed")


def _at_least(least: int, name: str, value: Any) -> int:
    number = _integer(name, value)
    if number < least:
        raise InvalidValue(f"{name} is {number}, at least {least} is needed")
    return number


def _integer(name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise InvalidType(f"{name} is {value!r:.60}, an integer is needed") from None


def _ranges(
    first: NDArray[np.int64], lengths: NDArray[np.int64], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the indexes first[i] ... first[i] + lengths[i] - 1 of all i, one after the other."""
    return np.repeat(first - offsets[:-1], lengths) + np.arange(offsets[-1])
